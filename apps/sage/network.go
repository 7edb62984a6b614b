package sage

import (
	"fmt"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/apps/sage/internal/neural"
	"github.com/hiveblas/hiveblas/matrix"
)

// checkAggregator returns the error of an aggregator that is none.
func checkAggregator(app string, a SAGEAggregator) error {
	if a < AggregateMean || a > AggregateLSTM {
		return &workflow.ParameterError{App: app, Arg: "the aggregator", Got: a.String(),
			Want: "AggregateMean, AggregatePool, AggregateGCN, AggregateAttention or AggregateLSTM"}
	}
	return nil
}

// A taker makes the parameters of a network of the weights of a model.
type taker struct {
	app string
	net *neural.Net[float32]
	err error // the first one
}

// matrix takes weights of so many rows and columns, −1 for any number.
func (t *taker) matrix(name string, a *matrix.Matrix[float32], rows, cols int) *neural.Param[float32] {
	if t.err != nil {
		return nil
	}
	if t.err = workflow.Usable(t.app, name, a); t.err != nil {
		return nil
	}
	m, k := a.Dims()
	if rows >= 0 && m != rows || cols >= 0 && k != cols {
		want := func(x int) string {
			if x < 0 {
				return "any"
			}
			return fmt.Sprint(x)
		}
		t.err = &matrix.DimensionError{Op: t.app, Arg: name, Got: fmt.Sprintf("%d×%d", m, k),
			Want: want(rows) + "×" + want(cols), Remedy: "give weights whose rows are the columns of their input"}
		return nil
	}
	if t.err = a.Fetch(); t.err != nil {
		return nil
	}
	return t.net.Param(name, 2, neural.AsPanel(a))
}

// list takes so many numbers.
func (t *taker) list(name string, x []float32, want int) *neural.Param[float32] {
	if t.err == nil && len(x) != want {
		t.err = &matrix.DimensionError{Op: t.app, Arg: name, Got: fmt.Sprintf("%d numbers", len(x)), Want: fmt.Sprint(want),
			Remedy: "give a number for each column of the weights"}
	}
	if t.err != nil {
		return nil
	}
	return t.net.Param(name, 1, neural.Panel[float32]{Rows: 1, Cols: len(x), Val: x})
}

// cols returns the columns of weights, 0 for nil.
func (t *taker) cols(p *neural.Param[float32]) int {
	if p == nil {
		return 0
	}
	return p.Value.Cols
}

// others fails if a layer has weights that its aggregator does not read.
func (t *taker) others(l SAGELayer, a SAGEAggregator, k int) {
	for _, w := range []struct {
		name string
		has  bool
		of   SAGEAggregator
	}{
		{"Pool", l.Pool != nil || l.PoolBias != nil, AggregatePool},
		{"AttendSelf and AttendNeighbour", l.AttendSelf != nil || l.AttendNeighbour != nil, AggregateAttention},
		{"Gates and Recurrent", l.Gates != nil || l.Recurrent != nil || l.GateBias != nil, AggregateLSTM},
	} {
		if t.err == nil && w.has && w.of != a {
			t.err = &workflow.ParameterError{App: t.app, Arg: fmt.Sprintf("the weights %s of layer %d", w.name, k+1),
				Got: "given with the aggregator " + a.String(), Want: "nil, or the aggregator " + w.of.String()}
		}
	}
}

// layer takes the weights of layer k for inputs of d columns.
func (t *taker) layer(l SAGELayer, k, d int) (to neural.Layer[float32]) {
	name := func(what string) string { return fmt.Sprintf("%s%d", what, k+1) }
	n := t.net
	t.others(l, SAGEAggregator(n.Aggregator), k)
	to.Self = t.matrix(name("wf"), l.Self, d, -1)
	switch {
	case n.Pools():
		to.Pool = t.matrix(name("wp"), l.Pool, d, -1)
		d = t.cols(to.Pool)
		to.PoolBias = t.list(name("bp"), l.PoolBias, d)
	case n.Recurs():
		p := 0 // components of the state
		if workflow.Usable(t.app, name("lh"), l.Recurrent) == nil {
			p, _ = l.Recurrent.Dims()
		}
		to.Recur = t.matrix(name("lh"), l.Recurrent, p, 4*p)
		to.Pool = t.matrix(name("lx"), l.Gates, d, 4*p)
		to.PoolBias = t.list(name("lb"), l.GateBias, 4*p)
		d = p
	}
	if !n.GCN() {
		to.Neighbour = t.matrix(name("wa"), l.Neighbour, d, -1)
	}
	if h := t.cols(to.Neighbour); n.Attends() && t.err == nil {
		if t.err = neural.CheckHeads(t.app, n.Heads, h); t.err == nil {
			to.AttendSelf = t.list(name("al"), l.AttendSelf, h)
			to.AttendNeighbour = t.list(name("ar"), l.AttendNeighbour, h)
		}
	}
	return to
}

// netOf returns the network of a model for features of d columns.
func netOf(app string, model *SAGEModel, d int) (*neural.Net[float32], error) {
	if model == nil || len(model.Layers) == 0 {
		return nil, &workflow.ParameterError{App: app, Arg: "the model", Got: "without layers", Want: "one of ReadSAGEModel or TrainGraphSAGE, or with weights for each layer"}
	}
	if err := checkAggregator(app, model.Aggregator); err != nil {
		return nil, err
	}
	if model.Heads != 0 && model.Aggregator != AggregateAttention {
		return nil, &workflow.ParameterError{App: app, Arg: "the heads", Got: fmt.Sprintf("%d with the aggregator %v", model.Heads, model.Aggregator),
			Want: "0 for an aggregator without attention"}
	}
	heads := model.Heads
	if heads == 0 {
		heads = 1
	}
	n := &neural.Net[float32]{Aggregator: neural.Aggregator(model.Aggregator), Heads: heads}
	t := &taker{app: app, net: n}
	for k, l := range model.Layers {
		to := t.layer(l, k, d)
		if t.err != nil {
			return nil, t.err
		}
		n.Layers = append(n.Layers, to)
		d = to.Width()
	}
	if model.Classifier != nil {
		n.Out = t.matrix("wc", model.Classifier, d, -1)
		n.Bias = t.list("bc", model.Bias, t.cols(n.Out))
		if t.err != nil {
			return nil, t.err
		}
	}
	if count := len(model.Bias); model.Classes != nil && len(model.Classes) != count {
		return nil, &matrix.DimensionError{Op: app, Arg: "classes", Got: fmt.Sprintf("%d names", len(model.Classes)), Want: fmt.Sprint(count),
			Remedy: "give a name for each column of the classifier"}
	}
	return n, nil
}
