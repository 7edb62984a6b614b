package sage

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/apps/sage/internal/neural"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
)

// widened returns a model with layers of h1 and h2 columns.
func widened(a SAGEAggregator, d, h1, h2, classes int) *SAGEModel {
	n := newNet[float32](a, d, []int{h1, h2}, classes, 11)
	return modelOf(n)
}

// hubbed is a star beside a path, so that a row is cut into pieces, with edges in one direction and
// vertices without any.
func hubbed(n int) samples.Sample {
	s := samples.Blank(n)
	for v := 1; v < n-3; v++ {
		s.Edges = append(s.Edges, samples.Edge{From: 0, To: v, Weight: 1 + v%5})
		if v%3 > 0 {
			s.Edges = append(s.Edges, samples.Edge{From: v, To: (7*v + 1) % n, Weight: 2})
		}
		if v%4 == 1 {
			s.Edges = append(s.Edges, samples.Edge{From: v, To: 0, Weight: 1}, samples.Edge{From: v, To: n - 2, Weight: 3})
		}
	}
	return s
}

// Kernels give the embeddings of the host, to rounding.
func TestGraphSAGEOnDevice(t *testing.T) {
	t.Parallel()
	d := samples.RealOrEmulated(t)
	host := samples.Build[float64](t, hubbed(300), matrix.CSR)
	there := samples.Build[float64](t, hubbed(300), matrix.CSR)
	if err := there.Move(d.Device); err != nil {
		t.Fatal(err)
	}
	type width struct{ d, h1, h2 int }
	full := samples.DrawFeatures(t, 300, 12, 1, matrix.Full)
	// Norm amplifies the rounding of products where a row is short: 0.011 in float16 in one of 300
	// rows.
	cases := []struct {
		reason    string
		x         *matrix.Matrix[float32]
		w         width
		o         SAGEOptions
		tolerance float64
	}{
		{"all neighbours, narrow then wide", full, width{12, 4, 16}, SAGEOptions{}, 1e-4},
		{"wide first, and odd columns", full, width{12, 19, 5}, SAGEOptions{}, 1e-4},
		{"rows wider than a warp's", full, width{12, 140, 6}, SAGEOptions{}, 1e-4},
		{"odd features", samples.DrawFeatures(t, 300, 7, 1, matrix.Full), width{7, 8, 12}, SAGEOptions{}, 1e-4},
		{"features with gaps", samples.DrawFeatures(t, 300, 8, .5, matrix.Bitmap), width{8, 6, 3}, SAGEOptions{}, 1e-4},
		{"sparse features", samples.DrawFeatures(t, 300, 40, .1, matrix.CSR), width{40, 6, 8}, SAGEOptions{}, 1e-4},
		{"sparse features, wide", samples.DrawFeatures(t, 300, 10, .1, matrix.CSR), width{10, 150, 8}, SAGEOptions{}, 1e-4},
		{"samples", full, width{12, 4, 16}, SAGEOptions{Samples: []int{5, 8}, Seed: 3}, 1e-4},
		{"samples with replacement", full, width{12, 4, 16}, SAGEOptions{Samples: []int{3, 9}, Replace: true, Seed: 1 << 63}, 1e-4},
		{"samples by weight, on the host", full, width{12, 4, 16}, SAGEOptions{Samples: []int{3, 9}, Sampling: SampleByWeight}, 1e-4},
		{"samples by walks, on the host", full, width{12, 16, 4}, SAGEOptions{Samples: []int{3, 9}, Sampling: SampleByWalks}, 1e-4},
		{"some vertices", full, width{12, 4, 16}, SAGEOptions{Samples: []int{4, 4}, Vertices: []int{5, 0, 299, 5}}, 1e-4},
		{"TF32", full, width{12, 4, 16}, SAGEOptions{Precision: SAGETF32}, 5e-3},
		{"float16", full, width{12, 4, 16}, SAGEOptions{Precision: SAGEFloat16}, 2e-2},
		{"float16, narrow then odd columns", full, width{12, 3, 21}, SAGEOptions{Precision: SAGEFloat16}, 2e-2},
		{"bfloat16, narrow then wide", full, width{12, 6, 300}, SAGEOptions{Precision: SAGEBFloat16}, 8e-2},
		{"float16, samples, odd columns", full, width{12, 19, 5}, SAGEOptions{Samples: []int{5, 8}, Precision: SAGEFloat16}, 2e-2},
		{"bfloat16", samples.DrawFeatures(t, 300, 7, 1, matrix.Full), width{7, 20, 6}, SAGEOptions{Precision: SAGEBFloat16}, 8e-2},
	}
	for _, c := range cases {
		for _, a := range []SAGEAggregator{AggregateMean, AggregatePool, AggregateGCN} {
			if !longtest.Enabled() && d.E != nil && (c.w.d+c.w.h1+c.w.h2+int(a))%3 != 0 && a != AggregateMean {
				continue
			}
			what := fmt.Sprintf("%s, %v", c.reason, a)
			m := widened(a, c.w.d, c.w.h1, c.w.h2, 3)
			plain := c.o
			plain.Precision, plain.Method = SAGEFloat32, workflow.Auto
			want := samples.Must[*SAGEResult](t)(GraphSAGE(host, c.x, m, plain))
			c.o.Method = workflow.Fused
			got := samples.Must[*SAGEResult](t)(GraphSAGE(there, c.x, m, c.o))
			if got.Embeddings.Place() != matrix.Place(d.Device) || got.Logits.Place() != matrix.Place(d.Device) {
				t.Errorf("%s: the result lives at %v", what, got.Embeddings.Place())
			}
			near(t, what, got.Embeddings, table(want.Embeddings), c.tolerance)
			near(t, what+", logits", got.Logits, table(want.Logits), 4*c.tolerance)
			if got.ZeroRows != want.ZeroRows {
				t.Errorf("%s: %d rows of zeros, want %d", what, got.ZeroRows, want.ZeroRows)
			}
		}
	}
}

// Rows of 16 bits before norm: of hidden layers, and with weights that make products too large or
// too small for 16 bits.
func TestGraphSAGENarrowRowsOnDevice(t *testing.T) {
	t.Parallel()
	d := samples.RealOrEmulated(t)
	host := samples.Build[float64](t, hubbed(300), matrix.CSR)
	there := samples.Build[float64](t, hubbed(300), matrix.CSR)
	if err := there.Move(d.Device); err != nil {
		t.Fatal(err)
	}
	x := samples.DrawFeatures(t, 300, 12, 1, matrix.Full)
	for _, scale := range []float32{1, 200000, 1e-3} {
		for _, a := range []SAGEAggregator{AggregateMean, AggregateGCN} {
			net := newNet[float32](a, 12, []int{4, 19, 50}, 3, 11)
			for _, p := range []*neural.Param[float32]{net.Layers[2].Self, net.Layers[2].Neighbour} {
				for i := 0; p != nil && i < len(p.Value.Val); i++ {
					p.Value.Val[i] *= scale
				}
			}
			if got := bounded(&net.Layers[2]); got != (scale == 1) {
				t.Errorf("%v, weights times %g: bounded is %v", a, scale, got)
			}
			m := modelOf(net)
			want := samples.Must[*SAGEResult](t)(GraphSAGE(host, x, m, SAGEOptions{}))
			got := samples.Must[*SAGEResult](t)(GraphSAGE(there, x, m, SAGEOptions{Precision: SAGEFloat16, Run: workflow.Run{Method: workflow.Fused}}))
			near(t, fmt.Sprintf("%v, weights times %g", a, scale), got.Embeddings, table(want.Embeddings), 2e-2)
			if got.ZeroRows != want.ZeroRows {
				t.Errorf("%v, weights times %g: %d rows of zeros, want %d", a, scale, got.ZeroRows, want.ZeroRows)
			}
		}
	}
}

// Trees of their own have the embeddings of the host.
func TestGraphSAGEOwnTreesOnDevice(t *testing.T) {
	t.Parallel()
	d := samples.RealOrEmulated(t)
	host := samples.Build[float64](t, hubbed(300), matrix.CSR)
	there := samples.Build[float64](t, hubbed(300), matrix.CSR)
	if err := there.Move(d.Device); err != nil {
		t.Fatal(err)
	}
	full, thin := samples.DrawFeatures(t, 300, 12, 1, matrix.Full), samples.DrawFeatures(t, 300, 40, .1, matrix.CSR)
	some := []int{5, 0, 299, 5, 150, 7, 8}
	for _, c := range []struct {
		reason    string
		x         *matrix.Matrix[float32]
		h1, h2    int
		o         SAGEOptions
		tolerance float64
	}{
		{"products first", full, 4, 16, SAGEOptions{Samples: []int{3, 4}, Replace: true, Vertices: some}, 1e-4},
		{"all vertices, without replacement", full, 8, 6, SAGEOptions{Samples: []int{2, 5}, Seed: 1 << 63}, 1e-4},
		{"rows first", full, 20, 5, SAGEOptions{Samples: []int{3, 2}, Vertices: some}, 1e-4},
		{"sparse features", thin, 6, 8, SAGEOptions{Samples: []int{2, 3}, Replace: true, Vertices: some}, 1e-4},
		{"features in pieces", full, 4, 8, SAGEOptions{Samples: []int{2, 3}, FeatureMemory: 3000, Vertices: some}, 1e-4},
		{"float16", full, 8, 8, SAGEOptions{Samples: []int{4, 3}, Precision: SAGEFloat16, Vertices: some}, 2e-2},
		{"by weight, on the host", full, 4, 4, SAGEOptions{Samples: []int{2, 2}, Sampling: SampleByWeight, Vertices: some}, 1e-4},
	} {
		for _, a := range []SAGEAggregator{AggregateMean, AggregateGCN, AggregatePool} {
			_, cols := c.x.Dims()
			m := widened(a, cols, c.h1, c.h2, 3)
			c.o.PerSource = true
			plain, ran := c.o, ""
			plain.Precision, plain.FeatureMemory = SAGEFloat32, 0
			what := fmt.Sprintf("%s, %v", c.reason, a)
			c.o.Trace = func(x ops.Trace) { ran = x.Place + " " + string(x.Method) }
			x := c.x.Clone()
			got, err := GraphSAGE(there, x, m, c.o)
			if c.o.FeatureMemory > 0 && a == AggregatePool { // pools gather features, which do not fit
				var e *workflow.ParameterError
				if !errors.As(err, &e) {
					t.Errorf("%s: %v", what, err)
				}
				continue
			}
			want := samples.Must[*SAGEResult](t)(GraphSAGE(host, c.x, m, plain))
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			onHost := c.o.Sampling != SampleUniform || c.x == thin && a == AggregatePool
			if !strings.Contains(ran, "own trees") || strings.HasPrefix(ran, " ") != onHost {
				t.Errorf("%s: the trace says %q", what, ran)
			}
			near(t, what, got.Embeddings, table(want.Embeddings), c.tolerance)
			near(t, what+", logits", got.Logits, table(want.Logits), 4*c.tolerance)
			if got.ZeroRows != want.ZeroRows {
				t.Errorf("%s: %d rows of zeros, want %d", what, got.ZeroRows, want.ZeroRows)
			}
			if c.o.Method = workflow.Fused; onHost {
				var e *workflow.ParameterError
				if _, err := GraphSAGE(there, x, m, c.o); !errors.As(err, &e) {
					t.Errorf("%s, fused: %v", what, err)
				}
			}
			c.o.Method = workflow.Auto
		}
	}
	deep := modelOf(newNet[float32](AggregateMean, 12, []int{4, 6, 5}, 3, 11))
	o := SAGEOptions{Samples: []int{2, 3, 2}, PerSource: true, Vertices: some}
	want := samples.Must[*SAGEResult](t)(GraphSAGE(host, full, deep, o))
	got := samples.Must[*SAGEResult](t)(GraphSAGE(there, full, deep, o))
	near(t, "three layers", got.Embeddings, table(want.Embeddings), 1e-4)
}

// Features beyond a budget are copied in pieces, with the result of those that fit.
func TestGraphSAGEFedFeatures(t *testing.T) {
	t.Parallel()
	d := samples.RealOrEmulated(t)
	there := samples.Build[float64](t, hubbed(300), matrix.CSR)
	if err := there.Move(d.Device); err != nil {
		t.Fatal(err)
	}
	even := samples.DrawFeatures(t, 300, 12, 1, matrix.Full)
	for _, c := range []struct {
		reason    string
		x         *matrix.Matrix[float32]
		h1        int
		o         SAGEOptions
		pieces    int // 0 for more than 2
		tolerance float64
	}{
		{"full rows", even, 8, SAGEOptions{FeatureMemory: 1 << 12}, 8, 1e-5},
		{"odd columns, gaps", samples.DrawFeatures(t, 300, 7, .5, matrix.Bitmap), 8, SAGEOptions{FeatureMemory: 3000, Samples: []int{3, 4}}, 6, 1e-5},
		{"wider than the features", even, 20, SAGEOptions{FeatureMemory: 9000}, 0, 1e-5},
		{"entries", samples.DrawFeatures(t, 300, 40, .1, matrix.CSR), 8, SAGEOptions{FeatureMemory: 2000}, 0, 1e-5},
		{"a row a piece", even, 4, SAGEOptions{FeatureMemory: 1}, 300, 1e-5},
		{"float16", samples.DrawFeatures(t, 300, 9, 1, matrix.Full), 8, SAGEOptions{FeatureMemory: 5000, Precision: SAGEFloat16}, 0, 2e-2},
	} {
		for _, a := range []SAGEAggregator{AggregateMean, AggregatePool, AggregateGCN} {
			if !longtest.Enabled() && d.E != nil && a != AggregateMean && c.reason != "wider than the features" {
				continue
			}
			_, cols := c.x.Dims()
			m := widened(a, cols, c.h1, 5, 3)
			whole := c.o
			whole.FeatureMemory, whole.Method = 0, workflow.Fused
			kept := c.x.Clone() // a copy on the device would be taken in place of pieces
			want := samples.Must[*SAGEResult](t)(GraphSAGE(there, kept, m, whole))
			var traced string
			c.o.Method, c.o.Trace = workflow.Fused, func(x ops.Trace) { traced = string(x.Method) }
			got := samples.Must[*SAGEResult](t)(GraphSAGE(there, c.x, m, c.o))
			what := fmt.Sprintf("%s, %v", c.reason, a)
			near(t, what, got.Embeddings, table(want.Embeddings), c.tolerance)
			if got.ZeroRows != want.ZeroRows {
				t.Errorf("%s: %d rows of zeros, want %d", what, got.ZeroRows, want.ZeroRows)
			}
			if c.pieces == 0 && got.Pieces <= 2 || c.pieces > 0 && got.Pieces != c.pieces || want.Pieces != 0 {
				t.Errorf("%s: %d pieces, want %d; %d with room for all", what, got.Pieces, c.pieces, want.Pieces)
			}
			if said := fmt.Sprintf("features from the host in %d pieces", got.Pieces); !strings.Contains(traced, said) {
				t.Errorf("%s: the trace says %q, want %q", what, traced, said)
			}
			again := samples.Must[*SAGEResult](t)(GraphSAGE(there, kept, m, c.o))
			if again.Pieces != 0 {
				t.Errorf("%s: features that lie on the device came in %d pieces", what, again.Pieces)
			}
		}
	}
	var e *workflow.ParameterError
	if _, err := GraphSAGE(there, even, widened(AggregateMean, 12, 4, 4, 2), SAGEOptions{FeatureMemory: -1}); !errors.As(err, &e) {
		t.Errorf("a negative budget: %v", err)
	}
}

// A trainingCase is a training; its forms on devices are compared. method is the method that runs.
type trainingCase struct {
	reason  string
	s       samples.Sample
	x       *matrix.Matrix[float32]
	a       SAGEAggregator
	hidden  []int
	dropout float64
	split   SAGESplit
	o       SAGETrainOptions
	method  string
}

// trainingBy returns settings of batches and samples.
func trainingBy(batch int, replace bool, samples ...int) SAGETrainOptions {
	return SAGETrainOptions{Batch: batch, Samples: samples, Replace: replace, Pairs: 2, Negatives: 2}
}

// Kernels train as the host does: the same losses and weights, to rounding.
func TestTrainGraphSAGEOnDevice(t *testing.T) {
	t.Parallel()
	d := samples.RealOrEmulated(t)
	directed, even := hubbed(200), hubbed(200).Both()
	classes := make([]int32, 200)
	for v := range classes {
		classes[v] = int32(v * 7 % 3)
	}
	classes[50] = -1
	split := SAGESplit{Train: []int{0, 3, 3, 7, 150, 199, 12, 13, 14, 15}, Validate: []int{1, 2, 60, 70}, Test: []int{80, 81, 82, 83, 84}}
	full, thin := samples.DrawFeatures(t, 200, 8, 1, matrix.Full), samples.DrawFeatures(t, 200, 30, .1, matrix.CSR)
	odd := samples.DrawFeatures(t, 200, 7, 1, matrix.Full)
	unsupervised := SAGESplit{Train: []int{0, 3, 5, 7, 150, 199, 12, 13}}
	with := trainingBy
	again := map[string]bool{}
	for _, c := range []trainingCase{
		{"directed", directed, full, AggregateMean, []int{5, 8}, -1, split, SAGETrainOptions{}, "layers"},
		{"symmetric, dropout", even, odd, AggregateMean, []int{8, 6}, .4, split, SAGETrainOptions{}, "layers"},
		{"sparse features", directed, thin, AggregateMean, []int{6, 4}, .5, split, SAGETrainOptions{}, "layers"},
		{"GCN", directed, samples.DrawFeatures(t, 200, 9, 1, matrix.Full), AggregateGCN, []int{7, 4}, .3, SAGESplit{Train: split.Train}, SAGETrainOptions{}, "layers"},
		{"three layers", even, samples.DrawFeatures(t, 200, 12, .1, matrix.CSR), AggregateGCN, []int{4, 5, 6}, -1, split, SAGETrainOptions{}, "layers"},
		{"batches", directed, full, AggregateMean, []int{5, 8}, .3, split, with(4, false), "layers"},
		{"samples of all", even, odd, AggregateMean, []int{8, 6}, .4, split, with(0, false, 3, 9), "layers of samples"},
		{"samples of all, directed GCN", directed, thin, AggregateGCN, []int{6, 7}, .4, split, with(0, false, 3, 9), "layers of samples"},
		{"samples with replacement of batches", directed, thin, AggregateMean, []int{8, 6}, .4, split, with(3, true, 3, 9), "layers of samples"},
		{"trees", directed, odd, AggregateMean, []int{5, 8}, .3, split, with(4, false, 4, 3), "trees"},
		{"trees with replacement", even, full, AggregateMean, []int{6, 4}, .4, split, with(4, true, 3, 4), "trees"},
		{"trees, GCN, a batch of all", directed, odd, AggregateGCN, []int{6, 4}, .4, split, with(0, false, 3, 2), "trees"},
		{"three layers of trees", even, full, AggregateMean, []int{4, 5, 6}, .2, split, with(3, false, 2, 3, 1), "trees"},
		{"pairs", directed, full, AggregateMean, []int{5, 8}, .3, unsupervised, with(0, false), "layers, pairs drawn on the host"},
		{"pairs of batches, samples", even, thin, AggregateGCN, []int{6, 8}, -1, unsupervised, with(3, false, 3, 2), "layers of samples, pairs drawn on the host"},
		{"pairs by trees", directed, odd, AggregateMean, []int{6, 8}, .3, unsupervised, with(2, false, 2, 3), "trees, pairs drawn on the host"},
	} {
		host := samples.Build[float64](t, c.s, matrix.CSR)
		there := samples.Build[float64](t, c.s, matrix.CSR)
		if c.reason != "directed" {
			there.IsSymmetric()
		}
		if err := there.Move(d.Device); err != nil {
			t.Fatal(err)
		}
		var want, got []SAGEProgress
		o, classes := c.o, classes
		o.Aggregator, o.Hidden, o.Epochs, o.Dropout, o.Decay, o.Seed = c.a, c.hidden, 9, c.dropout, 1e-3, 77
		if strings.Contains(c.method, "pairs") {
			classes = nil
		}
		o.Each = func(p SAGEProgress) error { want = append(want, p); return nil }
		one := samples.Must[*SAGETraining](t)(TrainGraphSAGE(host, c.x, classes, c.split, o))
		o.Method = workflow.Fused
		var ran ops.Trace
		o.Trace = func(x ops.Trace) { ran = x }
		o.Each = func(p SAGEProgress) error { got = append(got, p); return nil }
		two := samples.Must[*SAGETraining](t)(TrainGraphSAGE(there, c.x, classes, c.split, o))
		if len(got) != len(want) || one.Epochs != two.Epochs || one.Best != two.Best {
			t.Fatalf("%s: %d epochs, best %d; want %d, best %d", c.reason, two.Epochs, two.Best, one.Epochs, one.Best)
		}
		if string(ran.Method) != c.method || ran.Place != d.Device.String() {
			t.Errorf("%s: ran %q at %q, want %q", c.reason, ran.Method, ran.Place, c.method)
		}
		same := func(x, y float64) bool { return math.Abs(x-y) <= 2e-4 || math.IsNaN(x) && math.IsNaN(y) }
		for k, p := range want {
			q := got[k]
			if q.Epoch != p.Epoch || !same(q.Loss, p.Loss) || !same(q.Accuracy, p.Accuracy) || !same(q.Validate, p.Validate) {
				t.Errorf("%s: epoch %+v, want %+v", c.reason, q, p)
			}
		}
		if !same(one.Test, two.Test) || !same(one.Validate, two.Validate) {
			t.Errorf("%s: test %v, validation %v, want %v, %v", c.reason, two.Test, two.Validate, one.Test, one.Validate)
		}
		for k, l := range one.Model.Layers {
			near(t, fmt.Sprint(c.reason, ", weights ", k), two.Model.Layers[k].Self, table(l.Self), 2e-3)
		}
		if classes != nil {
			near(t, c.reason+", classifier", two.Model.Classifier, table(one.Model.Classifier), 2e-3)
		}
		// Without looks at each epoch, and with a checkpoint in between, the weights are the same
		// bits. The quick form tests this once for each method.
		if again[c.method] && !longtest.Enabled() {
			continue
		}
		again[c.method] = true
		o.Each = nil
		straight := samples.Must[*SAGETraining](t)(TrainGraphSAGE(there, c.x, classes, c.split, o))
		o.Checkpoint, o.Every = filepath.Join(t.TempDir(), "run.npz"), 4
		stop := errors.New("stop")
		o.Each = func(p SAGEProgress) error {
			if p.Epoch == 6 {
				return stop
			}
			return nil
		}
		if _, err := TrainGraphSAGE(there, c.x, classes, c.split, o); !errors.Is(err, stop) {
			t.Fatalf("%s: %v", c.reason, err)
		}
		o.Each = nil
		resumed := samples.Must[*SAGETraining](t)(TrainGraphSAGE(there, c.x, classes, c.split, o))
		for _, again := range []*SAGETraining{straight, resumed} {
			var a, b bytes.Buffer
			if err := errors.Join(two.Model.Write(&a), again.Model.Write(&b)); err != nil || !bytes.Equal(a.Bytes(), b.Bytes()) || again.Loss != two.Loss || again.Best != two.Best {
				t.Errorf("%s: another run gives loss %v, best %d, want %v, %d (%v)", c.reason, again.Loss, again.Best, two.Loss, two.Best, err)
			}
		}
	}
	// What the kernels lack is an error, or runs on the host.
	there := samples.Build[float64](t, directed, matrix.CSR)
	if err := there.Move(d.Device); err != nil {
		t.Fatal(err)
	}
	x := samples.DrawFeatures(t, 200, 8, 1, matrix.Full)
	o := SAGETrainOptions{Hidden: []int{4, 4}, Epochs: 2, Samples: []int{2, 2}, Sampling: SampleByDegree}
	samples.Must[*SAGETraining](t)(TrainGraphSAGE(there, x, classes, split, o))
	o.Method = workflow.Fused
	var e *workflow.ParameterError
	if _, err := TrainGraphSAGE(there, x, classes, split, o); !errors.As(err, &e) {
		t.Errorf("fused training with samples by degree: %v", err)
	}
}
