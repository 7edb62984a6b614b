package sage

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/hiveblas/hiveblas/apps/internal/lines"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/apps/sage/internal/neural"
	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/internal/npy"
	"github.com/hiveblas/hiveblas/matrix"
)

// model returns the parameters as a model.
func modelOf[F workflow.Real](n *neural.Net[F]) *SAGEModel {
	m := &SAGEModel{Aggregator: SAGEAggregator(n.Aggregator)}
	if n.Attends() {
		m.Heads = n.Heads
	}
	single := func(p *neural.Param[F]) []float32 {
		list := make([]float32, len(p.Value.Val))
		for i, x := range p.Value.Val {
			list[i] = float32(x)
		}
		return list
	}
	full := func(p *neural.Param[F]) *matrix.Matrix[float32] {
		if p == nil {
			return nil
		}
		return neural.AsMatrix(neural.Panel[float32]{Rows: p.Value.Rows, Cols: p.Value.Cols, Val: single(p)})
	}
	for _, l := range n.Layers {
		to := SAGELayer{Self: full(l.Self), Neighbour: full(l.Neighbour)}
		switch {
		case n.Pools():
			to.Pool, to.PoolBias = full(l.Pool), single(l.PoolBias)
		case n.Recurs():
			to.Gates, to.Recurrent, to.GateBias = full(l.Pool), full(l.Recur), single(l.PoolBias)
		}
		if l.AttendSelf != nil {
			to.AttendSelf, to.AttendNeighbour = single(l.AttendSelf), single(l.AttendNeighbour)
		}
		m.Layers = append(m.Layers, to)
	}
	if n.Out != nil {
		m.Classifier, m.Bias = full(n.Out), single(n.Bias)
	}
	return m
}

// RandomSAGEModel returns a network with random weights (Glorot, Bengio: Understanding the
// difficulty of training deep feedforward neural networks, AISTATS 2010, uniform) for features of
// so many columns, a layer for each number of hidden, in the layout of SAGELayer; without a
// classifier. The same seed gives the same weights. A network of attention has one head; Heads of
// the model sets another number. It is for measurements, and for embeddings without training.
func RandomSAGEModel(aggregator SAGEAggregator, columns int, hidden []int, seed uint64) (*SAGEModel, error) {
	bad := func(arg string, got any, want string) error {
		return &workflow.ParameterError{App: "RandomSAGEModel", Arg: arg, Got: fmt.Sprint(got), Want: want}
	}
	if err := checkAggregator("RandomSAGEModel", aggregator); err != nil {
		return nil, err
	}
	switch {
	case columns < 0 || columns > 1<<24:
		return nil, bad("the number of columns", columns, "0 to 16777216")
	case len(hidden) == 0 || slices.Min(hidden) < 1 || slices.Max(hidden) > 1<<16:
		return nil, bad("the hidden columns", hidden, "1 to 65536 for each layer, one layer or more")
	}
	return modelOf(neural.Random[float32](neural.Aggregator(aggregator), 1, columns, hidden, 0, seed)), nil
}

// SetInside makes m the model of a network, for the packages of this module.
func (m *SAGEModel) SetInside(n *neural.Net[float32]) { *m = *modelOf(n) }

// Write writes a model as a .npz file, which NumPy reads: float32 arrays wf1, wa1, wf2, wa2 and so
// on; for AggregatePool wp and bp, for AggregateAttention al and ar and the number heads, for
// AggregateLSTM lx, lh and lb (Gates, Recurrent and GateBias), for a classifier wc and bc;
// aggregator, a number; and classes, the names of the classes, if there are any. A name that is not
// UTF-8 is an error.
func (m *SAGEModel) Write(w io.Writer) error {
	const app = "SAGEModel.Write"
	if lines.IsNil(w) {
		return &workflow.ParameterError{App: app, Arg: "the writer", Got: "nil", Want: "a writer"}
	}
	d := 0
	if m != nil && len(m.Layers) > 0 && m.Layers[0].Self != nil {
		d, _ = m.Layers[0].Self.Dims()
	}
	n, err := netOf(app, m, d)
	if err != nil {
		return err
	}
	all := map[string]*npy.Array{"aggregator": {Rows: 1, Cols: 1, Dims: 1, Val: []float64{float64(m.Aggregator)}}}
	if n.Attends() {
		all["heads"] = &npy.Array{Rows: 1, Cols: 1, Dims: 1, Val: []float64{float64(n.Heads)}}
	}
	for _, p := range n.All {
		all[p.Name] = neural.ArrayOf(p.Value, p.Dims)
	}
	z := &npy.Zip{Arrays: all}
	if m.Classes != nil {
		z.Texts = map[string][]string{"classes": m.Classes}
	}
	return z.Write(w, func(string) bool { return false })
}

// ReadSAGEModel reads a model that Write wrote, or a .npz file of NumPy with the same arrays.
// Without aggregator it is AggregateMean. ReadSAGEModel returns a *graphio.ParseError with the name
// of the file if it is no model, has weights of another aggregator or a number that is not finite.
func ReadSAGEModel(r io.Reader, name string) (*SAGEModel, error) {
	const app = "ReadSAGEModel"
	if lines.IsNil(r) {
		return nil, &workflow.ParameterError{App: app, Arg: "the reader", Got: "nil", Want: "a reader"}
	}
	bad := func(err error) error {
		return &graphio.ParseError{File: name, Msg: err.Error(), Err: err, Remedy: "give a .npz file with arrays wf1, wa1, wf2, wa2"}
	}
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, bad(err)
	}
	z, err := npy.ReadZip(data)
	if err != nil {
		return nil, bad(err)
	}
	all := z.Arrays
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if _, err := neural.FiniteList(all[name], "array "+name); err != nil {
			return nil, bad(err)
		}
	}
	m := &SAGEModel{}
	if a := all["aggregator"]; a != nil && len(a.Val) == 1 {
		m.Aggregator = SAGEAggregator(a.Val[0])
	}
	if a := all["heads"]; a != nil && len(a.Val) == 1 {
		m.Heads = int(a.Val[0])
	}
	matrixOf := func(name string) *matrix.Matrix[float32] {
		a := all[name]
		if a == nil {
			return nil
		}
		return neural.AsMatrix(neural.Panel[float32]{Rows: a.Rows, Cols: a.Cols, Val: neural.ListOf(a)})
	}
	for k := 1; ; k++ {
		l := SAGELayer{Self: matrixOf(fmt.Sprint("wf", k)), Neighbour: matrixOf(fmt.Sprint("wa", k)), Pool: matrixOf(fmt.Sprint("wp", k)),
			Gates: matrixOf(fmt.Sprint("lx", k)), Recurrent: matrixOf(fmt.Sprint("lh", k))}
		for name, to := range map[string]*[]float32{"bp": &l.PoolBias, "lb": &l.GateBias, "al": &l.AttendSelf, "ar": &l.AttendNeighbour} {
			if a := all[fmt.Sprint(name, k)]; a != nil {
				*to = neural.ListOf(a)
			}
		}
		if l.Self == nil {
			break
		}
		m.Layers = append(m.Layers, l)
	}
	if m.Classifier = matrixOf("wc"); m.Classifier != nil && all["bc"] != nil {
		m.Bias = neural.ListOf(all["bc"])
	}
	m.Classes = z.Texts["classes"]
	if len(m.Layers) == 0 {
		return nil, bad(errors.New("the file has no array wf1"))
	}
	d, _ := m.Layers[0].Self.Dims()
	if _, err := netOf(app, m, d); err != nil {
		return nil, bad(err)
	}
	return m, nil
}
