package apps

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/hiveblas/hiveblas/apps/centrality"
	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/apps/lasso"
	"github.com/hiveblas/hiveblas/apps/project"
	"github.com/hiveblas/hiveblas/apps/scan"
	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/generate"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
)

// Method Pipeline and a limit of gathered bytes keep the operations of the group.
func TestRangesNot(t *testing.T) {
	t.Parallel()
	ranks := sure.Get(comm.Local(2))
	at := sure.Get(comm.NewGroup(ranks, comm.GatherLimit(100)))
	whole := samples.RangeGraph(t, 8, at)
	for _, tc := range []struct {
		g      samples.GroupGraph
		method workflow.Method
		want   bool
		reason string
	}{
		{whole, workflow.Auto, true, "every process has the graph"},
		{whole, workflow.Pipeline, false, "Method Pipeline"},
		{samples.InBlocks(t, whole, at), workflow.Auto, false, "the graph exceeds the limit"},
	} {
		ran := false
		run := workflow.Run{Method: tc.method, Trace: func(tr ops.Trace) { ran = ran || tr.Method == workflow.ByRanges }}
		_, err := project.Projection[float32](tc.g, project.ProjectionOptions{Run: workflow.Tuned(run, small)})
		if err != nil || ran != tc.want {
			t.Errorf("%s: ranges is %v (%v)", tc.reason, ran, err)
		}
	}
	for _, hops := range []scan.ScanHops{scan.ScanOneHop, scan.ScanTwoHops} { // products under masks in many pieces
		o := scan.ScanOptions{Hops: hops, Run: workflow.Run{Method: workflow.Pipeline}}
		want, err := scan.ScanStatistics(samples.RangeGraph(t, 7, nil), o)
		if err != nil {
			t.Fatal(err)
		}
		got, err := scan.ScanStatistics(samples.InBlocks(t, samples.RangeGraph(t, 7, at), at), o)
		if err != nil {
			t.Fatal(err)
		}
		if g, w := samples.ResultWords(got), samples.ResultWords(want); !slices.Equal(g, w) {
			t.Errorf("radius %v in pieces: results differ", hops)
		}
	}
}

// Replicas of a graph that equals its transpose are known to do so: no workflow compares them.
func TestReplicasAreSymmetric(t *testing.T) {
	t.Parallel()
	edges := sure.Get(generate.RMAT(5, 100, generate.RMATOptions{}))
	for _, p := range []int{1, 3} {
		at := sure.Get(comm.LocalGroup(p))
		for _, undirected := range []bool{true, false} {
			opts := []generate.MatrixOption{generate.On(at)}
			if undirected {
				opts = append(opts, generate.Undirected())
			}
			g := sure.Get(generate.Matrix[float32](edges, opts...))
			if undirected { // as graphs that are made on devices do
				access.MarkSymmetric(g)
			}
			whole, err := access.Replicas(nil, g.View(), at)
			shape, err2 := access.Replicas(nil, matrix.AsView[bool](g.View().Pattern()), at)
			if err = errors.Join(err, err2); err != nil {
				t.Fatal(err)
			}
			for k := range whole {
				if access.Symmetric(whole[k]) != undirected || access.Symmetric(shape[k]) != undirected {
					t.Errorf("%d ranks, undirected %v: rank %d has %v and %v", p, undirected, k, access.Symmetric(whole[k]), access.Symmetric(shape[k]))
				}
			}
		}
	}
}

// Nothing to search from, fewer vertices than ranks, and arguments that are wrong on all ranks,
// after which the group goes on.
func TestSumsByRangesEdges(t *testing.T) {
	t.Parallel()
	list, errs := samples.Processes(t, 3, func(at *comm.Group) (any, error) {
		g := samples.RangeGraph(t, 1, at)
		n, _ := g.Dims()
		if c, err := centrality.Closeness(g, centrality.ClosenessOptions{Targets: []int{}}); err != nil || c.Targets != 0 || c.Reached.NVals() != int64(n) {
			return nil, fmt.Errorf("no targets: %v, %w", c, err)
		}
		if b, err := centrality.Betweenness(g, centrality.BetweennessOptions{Sources: []int{}}); err != nil || b.Sources != 0 {
			return nil, fmt.Errorf("no sources: %v, %w", b, err)
		}
		if l, err := lasso.FusedLassoPath(g, lassoValues(n, 0), nil); err != nil || l == nil || len(l) != 0 {
			return nil, fmt.Errorf("no λ₁: %v, %w", l, err)
		}
		var bad *workflow.ParameterError
		if _, err := lasso.FusedLasso(g, lassoValues(n, 0), lasso.FusedLassoOptions{Lambda1: -1}); !errors.As(err, &bad) {
			return nil, fmt.Errorf("a negative λ₁: %w", err)
		}
		var shape *matrix.DimensionError
		if _, err := lasso.FusedLasso(g, lassoValues(n+1, 0)); !errors.As(err, &shape) {
			return nil, fmt.Errorf("too many values: %w", err)
		}
		if _, err := lasso.FusedLasso(g, lassoValues(n, 0), lasso.FusedLassoOptions{Run: workflow.Run{Method: workflow.Fused}}); !errors.As(err, &bad) {
			return nil, fmt.Errorf("fused on the host: %w", err)
		}
		down, err := matrix.FromTuples(2, 2, []int{0}, []int{1}, []float32{-1}, nil)
		if err != nil {
			return nil, err
		}
		if err := down.Move(at); err != nil {
			return nil, err
		}
		var weight *workflow.WeightError
		if _, err := lasso.FusedLasso(down, lassoValues(2, 0), lasso.FusedLassoOptions{Lambda1: 1}); !errors.As(err, &weight) {
			return nil, fmt.Errorf("a negative weight: %w", err)
		}
		res, err := lasso.FusedLasso(g, lassoValues(n, 0), lasso.FusedLassoOptions{Lambda1: math.Inf(1), Undirected: true})
		if err != nil {
			return nil, err
		}
		return samples.ResultWords(res), nil
	})
	for k := range list {
		if errs[k] != nil {
			t.Errorf("process %d: %v", k, errs[k])
		} else if w := list[k].([]string); len(w) < 8 || !slices.Equal(w, list[0].([]string)) {
			t.Errorf("process %d has %v", k, w)
		}
	}
}
