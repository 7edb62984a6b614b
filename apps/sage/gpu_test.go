package sage

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/apps/sage/internal/neural"
	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
)

// widened returns a model with layers of h1 and h2 columns.
func widened(a SAGEAggregator, d, h1, h2, classes int) *SAGEModel {
	n := neural.Random[float32](neural.Aggregator(a), 1, d, []int{h1, h2}, classes, 11)
	return modelOf(n)
}

// Kernels give the embeddings of the host, to rounding.
func TestGraphSAGEOnDevice(t *testing.T) {
	t.Parallel()
	d := samples.RealOrEmulated(t)
	host := samples.Build[float64](t, samples.Hubbed(300), matrix.CSR)
	there := samples.Build[float64](t, samples.Hubbed(300), matrix.CSR)
	sure.Do(there.Move(d.Device))
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
			samples.SameRows(t, what, got.Embeddings, samples.Rows64(want.Embeddings), c.tolerance)
			samples.SameRows(t, what+", logits", got.Logits, samples.Rows64(want.Logits), 4*c.tolerance)
			if got.ZeroRows != want.ZeroRows {
				t.Errorf("%s: %d rows of zeros, want %d", what, got.ZeroRows, want.ZeroRows)
			}
		}
	}
}

// Attention and LSTMs run on a device as operations, and have no fused form.
func TestGraphAttentionOnDevice(t *testing.T) {
	t.Parallel()
	d := samples.RealOrEmulated(t)
	host, there := samples.Build[float64](t, samples.Hubbed(60), matrix.CSR), samples.Build[float64](t, samples.Hubbed(60), matrix.CSR)
	sure.Do(there.Move(d.Device))
	x := samples.DrawFeatures(t, 60, 12, .4, matrix.CSR)
	m, lstm := randomModel(AggregateAttention, 12, 4, 3, 7), randomModel(AggregateLSTM, 12, 4, 3, 7)
	for _, m := range []*SAGEModel{m, lstm} {
		for _, o := range []SAGEOptions{{}, {Samples: []int{3, 4}, Replace: true, Vertices: []int{5, 0, 59, 5}}} {
			want := sure.Get(GraphSAGE(host, x, m, o))
			got := sure.Get(GraphSAGE(there, x, m, o))
			if got.Embeddings.Place() != matrix.Place(d.Device) {
				t.Errorf("the result lives at %v", got.Embeddings.Place())
			}
			samples.SameRows(t, fmt.Sprint(o.Samples), got.Embeddings, samples.Rows64(want.Embeddings), 1e-4)
			o.Method = workflow.Fused
			var bad *workflow.ParameterError
			if _, err := GraphSAGE(there, x, m, o); !errors.As(err, &bad) || bad.Arg != "the method" {
				t.Errorf("fused: %v", err)
			}
		}
	}
	var bad *workflow.ParameterError
	m.Heads = 3
	if _, err := GraphSAGE(host, x, m); !errors.As(err, &bad) || bad.Arg != "the heads" {
		t.Errorf("3 heads of 4 columns: %v", err)
	}
	m.Heads, m.Layers[0].AttendSelf = 2, m.Layers[0].AttendSelf[1:]
	var shape *matrix.DimensionError
	if _, err := GraphSAGE(host, x, m); !errors.As(err, &shape) {
		t.Errorf("too few numbers: %v", err)
	}
}

// Rows of 16 bits before norm: of hidden layers, and with weights that make products too large or
// too small for 16 bits.
func TestGraphSAGENarrowRowsOnDevice(t *testing.T) {
	t.Parallel()
	d := samples.RealOrEmulated(t)
	host := samples.Build[float64](t, samples.Hubbed(300), matrix.CSR)
	there := samples.Build[float64](t, samples.Hubbed(300), matrix.CSR)
	sure.Do(there.Move(d.Device))
	x := samples.DrawFeatures(t, 300, 12, 1, matrix.Full)
	for _, scale := range []float32{1, 200000, 1e-3} {
		for _, a := range []SAGEAggregator{AggregateMean, AggregateGCN} {
			net := neural.Random[float32](neural.Aggregator(a), 1, 12, []int{4, 19, 50}, 3, 11)
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
			samples.SameRows(t, fmt.Sprintf("%v, weights times %g", a, scale), got.Embeddings, samples.Rows64(want.Embeddings), 2e-2)
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
	host := samples.Build[float64](t, samples.Hubbed(300), matrix.CSR)
	there := samples.Build[float64](t, samples.Hubbed(300), matrix.CSR)
	sure.Do(there.Move(d.Device))
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
			samples.SameRows(t, what, got.Embeddings, samples.Rows64(want.Embeddings), c.tolerance)
			samples.SameRows(t, what+", logits", got.Logits, samples.Rows64(want.Logits), 4*c.tolerance)
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
	deep := modelOf(neural.Random[float32](neural.Aggregator(AggregateMean), 1, 12, []int{4, 6, 5}, 3, 11))
	o := SAGEOptions{Samples: []int{2, 3, 2}, PerSource: true, Vertices: some}
	want := samples.Must[*SAGEResult](t)(GraphSAGE(host, full, deep, o))
	got := samples.Must[*SAGEResult](t)(GraphSAGE(there, full, deep, o))
	samples.SameRows(t, "three layers", got.Embeddings, samples.Rows64(want.Embeddings), 1e-4)
}

// Features beyond a budget are copied in pieces, with the result of those that fit.
func TestGraphSAGEFedFeatures(t *testing.T) {
	t.Parallel()
	d := samples.RealOrEmulated(t)
	there := samples.Build[float64](t, samples.Hubbed(300), matrix.CSR)
	sure.Do(there.Move(d.Device))
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
			samples.SameRows(t, what, got.Embeddings, samples.Rows64(want.Embeddings), c.tolerance)
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

// The operations compute where the graph lives: on a device, and on a group, all vertices, trees
// and trees of their own.
func TestGraphSAGEByOperations(t *testing.T) {
	t.Parallel()
	d := samples.RealOrEmulated(t)
	const n = 90
	graph := func(at matrix.Place) *matrix.Matrix[float64] {
		g := samples.Build[float64](t, samples.Hubbed(n), matrix.CSR)
		sure.Do(g.Move(at))
		return g
	}
	for _, x := range []*matrix.Matrix[float32]{samples.DrawFeatures(t, n, 5, 1, matrix.Full), samples.DrawFeatures(t, n, 9, .2, matrix.CSR)} {
		_, cols := x.Dims()
		for _, a := range []SAGEAggregator{AggregateMean, AggregatePool, AggregateGCN, AggregateLSTM} {
			m := widened(a, cols, 4, 6, 3)
			for _, o := range []SAGEOptions{
				{},
				{Samples: []int{2, 3}, Replace: true, Vertices: []int{5, 0, 89, 5}, Batch: 3},
				{Samples: []int{2, 3}, PerSource: true, Vertices: []int{7, 7, 30}},
			} {
				want := samples.Must[*SAGEResult](t)(GraphSAGE(graph(nil), x, m, o))
				o.Method = workflow.Pipeline
				for k, at := range []matrix.Place{d.Device, sure.Get(comm.LocalGroup(3))} {
					if !longtest.Takes(k+cols+int(a)+len(o.Samples)+len(o.Vertices), 5) {
						continue
					}
					got := samples.Must[*SAGEResult](t)(GraphSAGE(graph(at), x, m, o))
					what := fmt.Sprintf("%v, %+v at %v", a, o, at)
					if got.Embeddings.Place() != at || got.Logits.Place() != at {
						t.Errorf("%s: the embeddings are at %v, the logits at %v", what, got.Embeddings.Place(), got.Logits.Place())
					}
					samples.SameRows(t, what, got.Embeddings, samples.Rows64(want.Embeddings), 1e-5)
					samples.SameRows(t, what, got.Logits, samples.Rows64(want.Logits), 1e-4)
					if got.ZeroRows != want.ZeroRows {
						t.Errorf("%s: %d rows of zeros, want %d", what, got.ZeroRows, want.ZeroRows)
					}
				}
			}
		}
	}
}
