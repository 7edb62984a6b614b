package train

import (
	"bytes"
	"fmt"
	"math"
	"path/filepath"
	"testing"

	"github.com/hiveblas/hiveblas/apps/embed/links"
	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/apps/sage"
	"github.com/hiveblas/hiveblas/apps/sage/internal/neural"
	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
)

// goals are settings of training for classes, pairs and links.
func goals() map[string]SAGETrainOptions {
	return map[string]SAGETrainOptions{
		"classes": {},
		"pairs":   {Pairs: 2, Negatives: 2},
		"links":   {Pairs: 2, Negatives: 2, Links: &SAGELinks{}},
	}
}

// beginTraining returns a training of a graph after begin.
func beginTraining(t *testing.T, g *matrix.Matrix[float64], x *matrix.Matrix[float32], classes []int32, o SAGETrainOptions) *sageTrainer {
	t.Helper()
	n, d := x.Dims()
	sure.Do(o.complete())
	count := 0
	if classes != nil {
		count = 3
	}
	s := &sageTrainer{o: o, classes: classes, net: neural.Random[float32](neural.Aggregator(o.Aggregator), o.Heads, d, o.Hidden, count, o.Seed)}
	for _, p := range s.net.All {
		for i := range p.Value.Val { // no bias is 0, where relu of a row of zeros has no slope
			p.Value.Val[i] += .02 * float32(i%5+1)
		}
	}
	if err := s.begin("test", workflow.Inside(g), x, n); err != nil {
		t.Fatal(err)
	}
	return s
}

// differences returns the gradient of each parameter by differences, in float64.
func differences(t *testing.T, s *sageTrainer, targets []int32, pairs []sagePair) map[string][]float64 {
	t.Helper()
	net := neural.Random[float64](neural.Aggregator(s.o.Aggregator), s.o.Heads, s.net.Layers[0].Input(), s.o.Hidden, 3, 0)
	wide := func(x []float32) []float64 {
		y := make([]float64, len(x))
		for i, v := range x {
			y[i] = float64(v)
		}
		return y
	}
	for k, p := range s.net.All { // without classes the classifier is not used
		copy(net.All[k].Value.Val, wide(p.Value.Val))
	}
	x := neural.Input[float64]{Full: neural.Panel[float64]{Rows: s.x.Full.Rows, Cols: s.x.Full.Cols, Val: wide(s.x.Full.Val)}}
	if of := s.x.Sparse; of != nil {
		x = neural.Input[float64]{Sparse: &sparse.Typed[float64]{Structure: of.Structure, Val: wide(of.Val)}}
	}
	loss := func() float64 {
		net.Kept.Reset()
		tapes, _, err := tapeTrees(net, s.graph, x, targets, 0, s.o)
		if err != nil {
			t.Fatal(err)
		}
		z := tapes[len(tapes)-1].Out
		if s.classes == nil {
			l, _ := alike(z, pairs, alikeCount(pairs), s.likeness())
			return l
		}
		l, _, _ := neural.CrossEntropy(net.Classify(z, workflow.Run{}), s.classesOf(targets), len(targets), workflow.Run{})
		return l
	}
	all := map[string][]float64{}
	for k := range s.net.All {
		p := net.All[k]
		for i, old := range p.Value.Val {
			const h = 1e-6
			p.Value.Val[i] = old + h
			up := loss()
			p.Value.Val[i] = old - h
			all[p.Name] = append(all[p.Name], (up-loss())/(2*h))
			p.Value.Val[i] = old
		}
	}
	return all
}

// The gradients by operations equal the gradients of the fast form and differences, on the host, a
// device and a group.
func TestGradientsByOperations(t *testing.T) {
	t.Parallel()
	const n = 40
	places := []matrix.Place{nil, samples.RealOrEmulated(t).Device, sure.Get(comm.LocalGroup(3))}
	turn := longtest.Turn()
	classes := make([]int32, n)
	for v := range classes {
		classes[v] = int32(v * 7 % 3)
	}
	for _, a := range []sage.SAGEAggregator{sage.AggregateMean, sage.AggregatePool, sage.AggregateGCN, sage.AggregateAttention, sage.AggregateLSTM} {
		for goal, o := range goals() {
			for k, x := range []*matrix.Matrix[float32]{samples.DrawFeatures(t, n, 5, 1, matrix.Full), samples.DrawFeatures(t, n, 9, .15, matrix.CSR)} {
				if !longtest.Takes(k+int(a)+len(goal), 2) {
					continue
				}
				for _, list := range [][]int{nil, {3, 2}} { // layers of all vertices, and trees
					o.Aggregator, o.Hidden, o.Seed, o.Dropout, o.Samples = a, []int{4, 3}, 6, .3, list
					if a == sage.AggregateAttention {
						o.Heads, o.Hidden = 2, []int{4, 2}
					}
					batch, some := []int{0, 39, 7, 12, 20, 21}, classes
					if goal != "classes" {
						some = nil
					}
					host := samples.Build[float64](t, samples.Hubbed(n), matrix.CSR)
					fast := beginTraining(t, host, x, some, o)
					targets, pairs := fast.targets(batch, 1)
					loss, right, err := fast.gradients(targets, pairs)
					if err != nil {
						t.Fatal(err)
					}
					slopes := differences(t, fast, targets, pairs)
					turn++
					for k, at := range places {
						if k > 0 && turn%4 != k && !longtest.Enabled() { // the quick form has some on devices and groups
							continue
						}
						if k == 1 && a == sage.AggregateLSTM && list == nil && !longtest.Enabled() { // a hub has 39 steps
							continue
						}
						what := fmt.Sprintf("%v, %s, %v features, samples %v at %v", a, goal, x.Format(), list, at)
						g := samples.Build[float64](t, samples.Hubbed(n), matrix.CSR)
						sure.Do(g.Move(at))
						o.Method = workflow.Pipeline
						s := beginTraining(t, g, x, some, o)
						l, r, err := s.operations.gradients(targets, pairs)
						if err == nil {
							err = s.operations.Store()
						}
						if err != nil {
							t.Fatalf("%s: %v", what, err)
						}
						if math.Abs(l-loss) > 1e-5 || r != right {
							t.Errorf("%s: loss %v, %d right, want %v, %d", what, l, r, loss, right)
						}
						for k, p := range s.net.All {
							most := 1e-3
							for _, y := range slopes[p.Name] {
								most = max(most, math.Abs(y))
							}
							for i, y := range p.Grad.Val {
								want := float64(fast.net.All[k].Grad.Val[i])
								if math.Abs(float64(y)-want) > 1e-4*most || math.Abs(float64(y)-slopes[p.Name][i]) > 1e-4*most {
									t.Fatalf("%s: ∂%s[%d] is %v, the fast form gives %v, differences %v", what, p.Name, i, y, want, slopes[p.Name][i])
								}
							}
						}
					}
				}
			}
		}
	}
}

// Training by operations gives the losses and weights of the fast form, and a resumed run the bits
// of a straight one, on the host, a device and a group.
func TestTrainByOperations(t *testing.T) {
	t.Parallel()
	const n = 40
	classes := make([]int32, n)
	for v := range classes {
		classes[v] = int32(v * 7 % 3)
	}
	split := SAGESplit{Train: []int{0, 3, 3, 7, 30, 39, 12, 13, 14, 15}, Validate: []int{1, 2, 36, 37}, Test: []int{20, 21, 22, 23, 24}}
	graph := func(at matrix.Place) samples.GroupGraph {
		g := samples.Build[float32](t, samples.Hubbed(n).Both(), matrix.CSR)
		sure.Do(g.Move(at))
		return g
	}
	rest, test, err := links.HoldOutLinks(graph(nil), links.HoldOutOptions{Share: .2, Seed: 1})
	sure.Do(err)
	full, thin := samples.DrawFeatures(t, n, 8, 1, matrix.Full), samples.DrawFeatures(t, n, 20, .2, matrix.CSR)
	d := samples.RealOrEmulated(t).Device
	for k, c := range []struct {
		reason  string
		x       *matrix.Matrix[float32]
		classes []int32
		o       SAGETrainOptions
		at      matrix.Place
	}{
		{"layers", full, classes, SAGETrainOptions{}, nil},
		{"batches of trees, GCN", thin, classes, SAGETrainOptions{Aggregator: sage.AggregateGCN, Batch: 4, Samples: []int{3, 2}}, nil},
		{"pools on a device", full, classes, SAGETrainOptions{Aggregator: sage.AggregatePool, Batch: 5}, d},
		{"attention on a device", thin, classes, SAGETrainOptions{Aggregator: sage.AggregateAttention, Samples: []int{3, 2}, Replace: true}, d},
		{"attention on a group", full, classes, SAGETrainOptions{Aggregator: sage.AggregateAttention, Batch: 5}, sure.Get(comm.LocalGroup(3))},
		{"LSTM on a device", thin, classes, SAGETrainOptions{Aggregator: sage.AggregateLSTM, Samples: []int{3, 2}, Replace: true}, d},
		{"LSTM on a group", full, classes, SAGETrainOptions{Aggregator: sage.AggregateLSTM, Samples: []int{4, 3}}, sure.Get(comm.LocalGroup(3))},
		{"choices by degree on a group", thin, classes, SAGETrainOptions{Samples: []int{3, 2}, Sampling: sage.SampleByDegree}, sure.Get(comm.LocalGroup(3))},
		{"pairs on a group", full, nil, SAGETrainOptions{Pairs: 2, Negatives: 2}, sure.Get(comm.LocalGroup(2))},
		{"links on a device", thin, nil, SAGETrainOptions{Pairs: 1, Links: &SAGELinks{Validate: test, Test: test}}, d},
	} {
		if !longtest.Takes(k, 10) {
			continue
		}
		g, there := graph(nil), graph(c.at)
		split := split
		if c.classes == nil {
			split = SAGESplit{}
		}
		if c.o.Links != nil {
			g, there = rest, rest.Clone()
			sure.Do(there.Move(c.at))
		}
		o := c.o
		o.Hidden, o.Epochs, o.Dropout, o.Decay, o.Seed, o.Threads = []int{5, 4}, 4, .3, 1e-3, 77, 2
		want, err := trainOn(g, c.x, c.classes, split, o)
		sure.Do(err)
		o.Method = workflow.Pipeline
		got, err := trainOn(there, c.x, c.classes, split, o)
		if err != nil {
			t.Fatalf("%s: %v", c.reason, err)
		}
		if got.method != "" {
			t.Errorf("%s: the trace has the method %q of the fast form", c.reason, got.method)
		}
		same := func(x, y float64) bool { return math.Abs(x-y) <= 1e-4*math.Abs(y) || math.IsNaN(x) && math.IsNaN(y) }
		if len(got.epochs) != 4 || got.Best != want.Best || !same(got.Test, want.Test) || !same(got.TestMRR, want.TestMRR) {
			t.Errorf("%s: %d epochs, %+v, want %+v", c.reason, len(got.epochs), *got.SAGETraining, *want.SAGETraining)
		}
		for k, p := range got.epochs {
			q := want.epochs[k]
			if !same(p.Loss, q.Loss) || p.Accuracy != q.Accuracy || !same(p.Validate, q.Validate) {
				t.Errorf("%s: epoch %+v, want %+v", c.reason, p, q)
			}
		}
		for k, l := range want.Model.Layers {
			samples.SameRows(t, fmt.Sprint(c.reason, ", weights ", k), got.Model.Layers[k].Self, samples.Rows64(l.Self), 1e-3)
		}
		o.Checkpoint, o.Epochs = filepath.Join(t.TempDir(), "run.npz"), 3
		sure.Get(trainOn(there, c.x, c.classes, split, o))
		o.Epochs = 4
		again, err := trainOn(there, c.x, c.classes, split, o)
		if err != nil {
			t.Fatalf("%s: %v", c.reason, err)
		}
		var a, b bytes.Buffer
		sure.Do(got.Model.Write(&a), again.Model.Write(&b))
		if len(again.epochs) != 1 || !bytes.Equal(a.Bytes(), b.Bytes()) || again.Loss != got.Loss {
			t.Errorf("%s: a resumed run has loss %v after %d epochs, want %v", c.reason, again.Loss, len(again.epochs), got.Loss)
		}
	}
}
