package sage

import (
	"errors"
	"fmt"
	"testing"

	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// sageRangeRuns are settings of GraphSAGE on n vertices.
func sageRangeRuns(n int) map[string]SAGEOptions {
	return map[string]SAGEOptions{
		"all":         {},
		"samples":     {Samples: []int{3, 4}, Seed: 2},
		"weights":     {Samples: []int{2, 5}, Sampling: SampleByWeight, Replace: true, Seed: 3},
		"walks":       {Samples: []int{2, 2}, Sampling: SampleByWalks},
		"some":        {Vertices: []int{1, n - 1, 0, 1, 7}, Samples: []int{2, 2}, Seed: 1},
		"many listed": {Vertices: append([]int{5, 5}, workflow.AsInts(make([]int64, n))...)},
		"per source":  {PerSource: true, Samples: []int{2, 3}, Seed: 8},
		"nothing":     {Vertices: []int{}},
	}
}

// sameSAGE compares results on a group with results of one place.
func sameSAGE(t *testing.T, what string, got, want *SAGEResult) {
	t.Helper()
	samples.SameRows(t, what, got.Embeddings, samples.Rows64(want.Embeddings), 1e-5)
	samples.SameRows(t, what+", logits", got.Logits, samples.Rows64(want.Logits), 1e-5)
	if got.ZeroRows != want.ZeroRows {
		t.Errorf("%s: %d zero rows, want %d", what, got.ZeroRows, want.ZeroRows)
	}
}

// GraphSAGE by ranges gives the embeddings of one place but for rounding, for features on the host
// and on the group, full and sparse.
func TestGraphSAGEByRanges(t *testing.T) {
	t.Parallel()
	const scale = 6
	one := samples.RangeGraph(t, scale, nil)
	n, _ := one.Dims()
	for k, a := range []SAGEAggregator{AggregateMean, AggregatePool, AggregateGCN, AggregateAttention, AggregateLSTM} {
		x := samples.DrawFeatures(t, n, 6, []float64{1, .2, .2, 1, .2}[k], []matrix.Format{matrix.Full, matrix.CSR, matrix.Hypersparse, matrix.Full, matrix.CSR}[k])
		model := randomModel(a, 6, 5, 3, 5)
		for name, o := range sageRangeRuns(n) {
			want, err := GraphSAGE(one, x, model, o)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range []int{1, 3, 7} {
				for _, blocks := range []bool{false, true} {
					at := sure.Get(comm.LocalGroup(p))
					g, own := samples.RangeGraph(t, scale, at), x
					if blocks {
						g = samples.InBlocks(t, g, at)
						own = matrix.New[float32](n, 6)
						sure.Do(ops.Apply(own, semiring.Identity[float32](), x), own.Move(at))
					}
					divided := false
					o.Trace = func(tr ops.Trace) { divided = divided || tr.Method == workflow.ByRanges }
					got, err := GraphSAGE(g, own, model, o)
					if err != nil {
						t.Fatalf("%s, %d ranks: %v", name, p, err)
					}
					what := fmt.Sprint(a, ", ", name, ", ", p, " ranks, blocks ", blocks)
					if !divided || got.Embeddings.Place() != matrix.Place(at) || got.Logits.Place() != matrix.Place(at) {
						t.Errorf("%s: divided is %v, on %v", what, divided, got.Embeddings.Place())
					}
					sameSAGE(t, what, got, want)
				}
			}
		}
	}
}

// Processes agree, also with fewer vertices than ranks and after wrong arguments.
func TestGraphSAGEByProcesses(t *testing.T) {
	t.Parallel()
	for _, scale := range []int{1, 5} {
		one := samples.RangeGraph(t, scale, nil)
		n, _ := one.Dims()
		x, model := samples.DrawFeatures(t, n, 4, 1, matrix.Full), randomModel(AggregateMean, 4, 3, 2, 1)
		want, err := GraphSAGE(one, x, model)
		if err != nil {
			t.Fatal(err)
		}
		list, errs := samples.Processes(t, 3, func(at *comm.Group) (any, error) {
			g := samples.RangeGraph(t, scale, at)
			for _, o := range []SAGEOptions{{Run: workflow.Run{Method: workflow.Fused}}, {Precision: SAGEFloat16}, {Vertices: []int{n}}} {
				var bad *workflow.ParameterError
				var index *matrix.IndexError
				if _, err := GraphSAGE(g, x, model, o); !errors.As(err, &bad) && !errors.As(err, &index) {
					return nil, fmt.Errorf("wrong argument %+v: %w", o, err)
				}
			}
			res, err := GraphSAGE(g, x, model)
			if err != nil {
				return nil, err
			}
			return res, errors.Join(res.Embeddings.Move(nil), res.Logits.Move(nil))
		})
		for k, res := range list {
			if errs[k] != nil {
				t.Fatalf("process %d: %v", k, errs[k])
			}
			sameSAGE(t, fmt.Sprint("process ", k), res.(*SAGEResult), want)
		}
	}
}

// Ranks on devices embed ranges of the vertices by the fused form.
func TestGraphSAGEByGPUs(t *testing.T) {
	if testing.Short() {
		t.Skip("the emulator is slow")
	}
	group, one, _ := samples.GroupOfGPUs(t)
	const scale = 5
	whole := samples.RangeGraph(t, scale, one)
	n, _ := whole.Dims()
	x := samples.DrawFeatures(t, n, 8, 1, matrix.Full)
	compare := func(what string, whole, parts samples.GroupGraph, x *matrix.Matrix[float32], model *SAGEModel, o SAGEOptions, blocks bool) {
		t.Helper()
		own := x
		if blocks { // features in blocks
			n, d := x.Dims()
			own = matrix.New[float32](n, d)
			sure.Do(ops.Apply(own, semiring.Identity[float32](), x), own.Move(group))
		}
		want, err := GraphSAGE(whole, x, model, o)
		if err != nil {
			t.Fatal(err)
		}
		divided := false
		o.Trace = func(tr ops.Trace) { divided = divided || tr.Method == workflow.ByRanges }
		got, err := GraphSAGE(parts, own, model, o)
		if err != nil || !divided {
			t.Fatalf("%s: divided is %v, %v", what, divided, err)
		}
		sameSAGE(t, what, got, want)
	}
	for name, o := range map[string]SAGEOptions{
		"all":        {Run: workflow.Run{Method: workflow.Fused}},
		"samples":    {Samples: []int{3, 2}, Seed: 4},
		"per source": {PerSource: true, Samples: []int{2, 2}},
		"some":       {Vertices: []int{n - 1, 0, 3, 3}, Samples: []int{2, 2}},
		"nothing":    {Vertices: []int{}},
	} {
		compare(name, whole, samples.RangeGraph(t, scale, group), x, randomModel(AggregateMean, 8, 8, 3, 5), o, name == "all")
	}
	for _, a := range []SAGEAggregator{AggregateAttention, AggregateLSTM} { // by operations on each device
		o := SAGEOptions{Samples: []int{3, 2}, Seed: 4}
		compare(a.String(), whole, samples.RangeGraph(t, scale, group), x, randomModel(a, 8, 8, 3, 5), o, true)
	}
	// The last layer is computed for a range of the rows: all ways of a layer, and a hub with more
	// neighbours than a piece of a row.
	const size = 200
	build32 := func(at matrix.Place) samples.GroupGraph {
		g := samples.Build[float32](t, samples.Hubbed(size).Both(), matrix.CSR)
		sure.Do(g.Move(at))
		return g
	}
	wide := samples.DrawFeatures(t, size, 8, 1, matrix.Full)
	for _, a := range []SAGEAggregator{AggregateMean, AggregateGCN, AggregatePool} {
		for name, o := range map[string]SAGEOptions{
			"all":     {},
			"samples": {Samples: []int{3, 2}, Seed: 4},
			"half":    {Precision: SAGEFloat16},
			"walks":   {Samples: []int{2, 2}, Sampling: SampleByWalks},
		} {
			compare(fmt.Sprint(a, ", ", name), build32(one), build32(group), wide, randomModel(a, 8, 8, 24, 5), o, false)
		}
	}
}
