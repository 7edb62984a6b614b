package train

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/hiveblas/hiveblas/apps/embed/links"
	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/apps/sage"
	"github.com/hiveblas/hiveblas/apps/sage/internal/neural"
	"github.com/hiveblas/hiveblas/apps/sage/internal/sampled"
	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/testdata"
)

// The gradient of every parameter equals finite differences, in float64.
func TestSAGEGradient(t *testing.T) {
	t.Parallel()
	g := samples.Build[float64](t, samples.DirectedHub(), matrix.CSR)
	for _, a := range []sage.SAGEAggregator{sage.AggregateMean, sage.AggregatePool, sage.AggregateGCN, sage.AggregateAttention, sage.AggregateLSTM} {
		for _, sparse := range []bool{false, true} {
			for _, goal := range []SAGETrainOptions{{}, {Links: &SAGELinks{}}, {Pairs: 1}} { // classes, links, pairs
				supervised, like := goal.Links == nil && goal.Pairs == 0, (&sageTrainer{o: goal}).likeness()
				at, err := sampled.NewGraph("test", g, workflow.Run{}, sampled.Uniform, false, 3, neural.Aggregator(a))
				if err != nil {
					t.Fatal(err)
				}
				rng := rand.New(rand.NewPCG(4, 4))
				full := neural.NewPanel[float64](14, 5)
				for i := range full.Val {
					full.Val[i] = rng.NormFloat64()
				}
				x := neural.Input[float64]{Full: full}
				if sparse {
					b := matrix.NewBuilder[float64](14, 5)
					for i, y := range full.Val {
						if i%3 == 0 {
							b.Add(i/5, i%5, y)
						}
					}
					a, err := b.Build(nil)
					if err == nil {
						err = a.SetFormat(matrix.CSR)
					}
					if err != nil {
						t.Fatal(err)
					}
					x = neural.Input[float64]{Sparse: access.Store(a)}
				}
				heads, hidden := 1, []int{4, 3}
				if a == sage.AggregateAttention {
					heads, hidden = 2, []int{4, 2}
				}
				net := neural.Random[float64](neural.Aggregator(a), heads, 5, hidden, 3, 8)
				net.Training = true
				for _, p := range net.All {
					for i := range p.Value.Val {
						p.Value.Val[i] += .1 * rng.NormFloat64()
					}
				}
				targets, class := []int32{1, 4, 0, 13, 7}, []int32{0, 2, 1, 1, 0}
				pairs := []sagePair{{0, 1, 1}, {2, 3, -1}, {4, 0, 1}, {1, 1, -1}}
				o := goal
				o.Samples, o.Dropout = []int{3, 2}, .3
				pass := func(back bool) float64 {
					tapes, masks, err := tapeTrees(net, at, x, targets, 17, o)
					if err != nil {
						t.Fatal(err)
					}
					z := tapes[1].Out
					var loss float64
					var grad neural.Panel[float64]
					if supervised {
						logits := net.Classify(z, workflow.Run{})
						loss, _, _ = neural.CrossEntropy(logits, class, len(class), workflow.Run{})
						if back {
							grad = net.Unclassify(z, logits, workflow.Run{})
						}
					} else {
						loss, grad = alike(z, pairs, alikeCount(pairs), like)
					}
					if back {
						if err := net.Untape(tapes, masks, grad, workflow.Run{}); err != nil {
							t.Fatal(err)
						}
					}
					return loss
				}
				pass(true)
				moving := 0
				for _, p := range net.All {
					for i := range p.Value.Val {
						const h = 1e-6
						old := p.Value.Val[i]
						p.Value.Val[i] = old + h
						up := pass(false)
						p.Value.Val[i] = old - h
						down := pass(false)
						p.Value.Val[i] = old
						want := (up - down) / (2 * h)
						if want != 0 {
							moving++
						}
						if got := p.Grad.Val[i]; math.Abs(got-want) > 1e-7+1e-5*math.Abs(want) {
							t.Fatalf("%v, sparse %v, supervised %v: ∂%s[%d] is %v, differences give %v", a, sparse, supervised, p.Name, i, got, want)
						}
					}
				}
				if moving < 20 {
					t.Errorf("%v: only %d parameters move the loss", a, moving)
				}
			}
		}
	}
}

// twoSides are two cliques with few edges between them, classes that are the cliques, and
// drawn features.
func twoSides(t testing.TB) (g *matrix.Matrix[float64], x *matrix.Matrix[float32], classes []int32) {
	s := samples.Clique(8, false).Beside(samples.Clique(8, false))
	s.Edges = append(s.Edges, samples.Edge{From: 0, To: 8, Weight: 1}, samples.Edge{From: 8, To: 0, Weight: 1})
	g = samples.Build[float64](t, s, matrix.CSR)
	for v := range 16 {
		classes = append(classes, int32(v/8))
	}
	return g, samples.DrawFeatures(t, 16, 8, 1, matrix.Full), classes
}

// Training for links keeps the epoch of the largest AUC of the validation links, measures the test
// links by the embeddings of the model, and resumes from a checkpoint.
func TestTrainForLinks(t *testing.T) {
	t.Parallel()
	b := matrix.NewBuilder[float64](60, 60)
	rng := rand.New(rand.NewPCG(8, 1))
	for u := range 60 { // three groups
		for v := range u {
			if chance := rng.Float64(); u%3 == v%3 && chance < .4 || chance < .02 {
				b.Add(u, v, 1)
				b.Add(v, u, 1)
			}
		}
	}
	unit := make([]float32, 60*60)
	for v := range 60 {
		unit[61*v] = 1
	}
	x := sure.Get(matrix.FromDense(60, 60, unit))
	rest, test, err := links.HoldOutLinks(sure.Get(b.Build(nil)), links.HoldOutOptions{Share: .2, Seed: 1})
	sure.Do(err)
	rest, validate, err := links.HoldOutLinks(rest, links.HoldOutOptions{Share: .1, Seed: 2})
	sure.Do(err)
	for _, a := range []sage.SAGEAggregator{sage.AggregateMean, sage.AggregateGCN} {
		var best SAGEProgress
		o := SAGETrainOptions{Aggregator: a, Hidden: []int{16, 8}, Epochs: 60, Seed: 3, Links: &SAGELinks{Validate: validate, Test: test}}
		o.Each = func(p SAGEProgress) error {
			if p.Epoch == 1 || p.Validate > best.Validate {
				best = p
			}
			return nil
		}
		res, err := TrainGraphSAGE(rest, x, nil, SAGESplit{}, o)
		if err != nil {
			t.Fatal(err)
		}
		if res.Validate != best.Validate || res.Best < best.Epoch || !(res.Test > .75) {
			t.Errorf("%v: validation %v in epoch %d, test %v; the best epoch is %+v", a, res.Validate, res.Best, res.Test, best)
		}
		z := sure.Get(sage.GraphSAGE(rest, x, res.Model))
		q := sure.Get(links.MeasureLinks(z.Embeddings, test))
		if math.Abs(q.AUC-res.Test) > 1e-3 || math.Abs(q.MRR-res.TestMRR) > 1e-3 {
			t.Errorf("%v: the model has %+v, training reports %v and %v", a, q, res.Test, res.TestMRR)
		}
		o.Each, o.Checkpoint, o.Epochs = nil, filepath.Join(t.TempDir(), "links.npz"), 25
		sure.Get(TrainGraphSAGE(rest, x, nil, SAGESplit{}, o))
		o.Epochs = 60
		again, err := TrainGraphSAGE(rest, x, nil, SAGESplit{}, o)
		if err != nil || again.Test != res.Test || again.Loss != res.Loss || again.Best != res.Best {
			t.Errorf("%v: a resumed run has test %v and loss %v, want %v and %v (%v)", a, again.Test, again.Loss, res.Test, res.Loss, err)
		}
		o.Links = nil
		if _, err := TrainGraphSAGE(rest, x, nil, SAGESplit{}, o); err == nil {
			t.Error("a checkpoint of links resumes training without")
		}
	}
}

func TestTrainGraphSAGE(t *testing.T) {
	t.Parallel()
	g, x, classes := twoSides(t)
	split := SAGESplit{Train: []int{0, 1, 2, 8, 9, 10}, Validate: []int{3, 11}, Test: []int{4, 5, 6, 7, 12, 13, 14, 15}}
	for _, a := range []sage.SAGEAggregator{sage.AggregateMean, sage.AggregatePool, sage.AggregateGCN, sage.AggregateLSTM} {
		var losses []float64
		res, err := TrainGraphSAGE(g, x, classes, split, SAGETrainOptions{Aggregator: a, Hidden: []int{8, 8}, Epochs: 60, Batch: 4,
			Samples: []int{4, 4}, Dropout: -1, Each: func(p SAGEProgress) error { losses = append(losses, p.Loss); return nil }})
		if err != nil {
			t.Fatal(err)
		}
		if last := losses[len(losses)-1]; last > losses[0]/2 || res.Test < .85 || res.Epochs != len(losses) || res.Best > res.Epochs {
			t.Errorf("%v: loss %v to %v in %d epochs, test %v", a, losses[0], last, res.Epochs, res.Test)
		}
		out, err := sage.GraphSAGE(g, x, res.Model)
		if err != nil {
			t.Fatal(err)
		}
		right := 0
		for v, y := range samples.Rows64(out.Logits) {
			if slices.Contains(split.Test, v) && (y[1] > y[0]) == (classes[v] == 1) {
				right++
			}
		}
		if float64(right)/8 != res.Test {
			t.Errorf("%v: the model gets %d of 8 right, and training says %v", a, right, res.Test)
		}
	}
	// Without classes: vertices of a clique are more alike than of two.
	res, err := TrainGraphSAGE(g, x, nil, SAGESplit{}, SAGETrainOptions{Hidden: []int{8, 8}, Epochs: 60, Dropout: -1})
	if err != nil {
		t.Fatal(err)
	}
	out, err := sage.GraphSAGE(g, x, res.Model)
	if err != nil {
		t.Fatal(err)
	}
	z, within, across := samples.Rows64(out.Embeddings), 0.0, 0.0
	for u := range 16 {
		for v := range 16 {
			dot := 0.0
			for j := range z[u] {
				dot += z[u][j] * z[v][j]
			}
			if classes[u] == classes[v] {
				within += dot / 128
			} else {
				across += dot / 128
			}
		}
	}
	if within < across+.2 || res.Model.Classifier != nil || !math.IsNaN(res.Test) {
		t.Errorf("products within a side are %v, across %v", within, across)
	}
}

// A run that resumes gives the same weights to the bit.
func TestTrainGraphSAGEResumes(t *testing.T) {
	t.Parallel()
	g, x, classes := twoSides(t)
	split := SAGESplit{Train: []int{0, 1, 2, 8, 9, 10}, Validate: []int{3, 11}}
	for _, c := range [][]int32{classes, nil} {
		o := SAGETrainOptions{Hidden: []int{4, 4}, Epochs: 12, Batch: 4, Samples: []int{3, 3}, Seed: 1 << 40, Run: workflow.Run{Threads: 1}}
		straight, err := TrainGraphSAGE(g, x, c, split, o)
		if err != nil {
			t.Fatal(err)
		}
		o.Checkpoint, o.Every = filepath.Join(t.TempDir(), "run.npz"), 3
		stop := errors.New("stop")
		o.Each = func(p SAGEProgress) error {
			if p.Epoch == 7 { // after the checkpoint of epoch 6
				return stop
			}
			return nil
		}
		if _, err := TrainGraphSAGE(g, x, c, split, o); !errors.Is(err, stop) {
			t.Fatal(err)
		}
		first := 0
		o.Each = func(p SAGEProgress) error {
			if first == 0 {
				first = p.Epoch
			}
			return nil
		}
		resumed, err := TrainGraphSAGE(g, x, c, split, o)
		if err != nil {
			t.Fatal(err)
		}
		var a, b bytes.Buffer
		sure.Do(straight.Model.Write(&a), resumed.Model.Write(&b))
		if first != 7 || !bytes.Equal(a.Bytes(), b.Bytes()) || resumed.Best != straight.Best || resumed.Loss != straight.Loss {
			t.Errorf("resumed at epoch %d: loss %v, best %d; straight %v, %d", first, resumed.Loss, resumed.Best, straight.Loss, straight.Best)
		}
		var e *graphio.ParseError
		o.Rate = .5
		if _, err := TrainGraphSAGE(g, x, c, split, o); !errors.As(err, &e) {
			t.Errorf("a checkpoint of other settings: %v", err)
		}
		sure.Do(os.WriteFile(o.Checkpoint, []byte("PK"), 0o666))
		if _, err := TrainGraphSAGE(g, x, c, split, o); !errors.As(err, &e) {
			t.Errorf("a cut checkpoint: %v", err)
		}
	}
}

func TestTrainGraphSAGEErrors(t *testing.T) {
	t.Parallel()
	g := samples.Own(t, testdata.Karate)
	x := samples.DrawFeatures(t, 34, 3, 1, matrix.Full)
	var dim *matrix.DimensionError
	var param *workflow.ParameterError
	some := make([]int32, 34)
	for _, c := range []struct {
		reason  string
		classes []int32
		split   SAGESplit
		o       SAGETrainOptions
		want    any
	}{
		{"classes of other vertices", make([]int32, 3), SAGESplit{}, SAGETrainOptions{}, &dim},
		{"a class below −1", slices.Repeat([]int32{-2}, 34), SAGESplit{}, SAGETrainOptions{}, &param},
		{"no class", slices.Repeat([]int32{-1}, 34), SAGESplit{}, SAGETrainOptions{}, &param},
		{"a vertex beyond", some, SAGESplit{Train: []int{34}}, SAGETrainOptions{}, new(*matrix.IndexError)},
		{"no training vertices", some, SAGESplit{Train: []int{}}, SAGETrainOptions{}, &param},
		{"hidden", some, SAGESplit{}, SAGETrainOptions{Hidden: []int{0}}, &param},
		{"epochs", some, SAGESplit{}, SAGETrainOptions{Epochs: -1}, &param},
		{"batch", some, SAGESplit{}, SAGETrainOptions{Batch: -1}, &param},
		{"rate", some, SAGESplit{}, SAGETrainOptions{Rate: -1}, &param},
		{"dropout", some, SAGESplit{}, SAGETrainOptions{Dropout: 1}, &param},
		{"patience", some, SAGESplit{}, SAGETrainOptions{Patience: -1}, &param},
		{"aggregator", some, SAGESplit{}, SAGETrainOptions{Aggregator: 7}, &param},
		{"links and classes", some, SAGESplit{}, SAGETrainOptions{Links: &SAGELinks{}}, &param},
		{"a link beyond", nil, SAGESplit{}, SAGETrainOptions{Links: &SAGELinks{Validate: &links.LinkSet{Edges: [][2]int32{{0, 34}}}}}, new(*matrix.IndexError)},
	} {
		if _, err := TrainGraphSAGE(g, x, c.classes, c.split, c.o); !errors.As(err, c.want) {
			t.Errorf("%s: %v", c.reason, err)
		}
	}
}
