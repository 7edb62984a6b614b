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
	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
)

// lassoValues are positive observations of n vertices.
func lassoValues(n, seed int) *matrix.Vector[float64] {
	list := make([]float64, n)
	for v := range list {
		list[v] = 1 + float64((v*v+31*seed)%17)/4
	}
	y, _ := matrix.VectorOf(list)
	return y
}

func lassoWords(list []*lasso.FusedLassoResult) (words []string) {
	for _, res := range list {
		words = append(words, samples.ResultWords(res)...)
	}
	return words
}

// Sums over sources and paths of λ₁ on groups agree with one place: distances exactly, sums of
// floats but for their order, solutions to the tolerance.
func TestSumsByRanges(t *testing.T) {
	t.Parallel()
	paths := []float64{.9, 0, .2, math.Inf(1), .05, .5}
	type results struct {
		c     *centrality.ClosenessResult
		b     *centrality.BetweennessResult
		lasso []*lasso.FusedLassoResult
	}
	all := func(g samples.GroupGraph, run workflow.Run) (any, error) {
		var r results
		var err error
		if r.c, err = centrality.Closeness(g, centrality.ClosenessOptions{Run: run, Samples: 90, Seed: 2}); err != nil {
			return nil, err
		}
		if r.b, err = centrality.Betweenness(g, centrality.BetweennessOptions{Run: run, Normalised: true}); err != nil {
			return nil, err
		}
		n, _ := g.Dims()
		r.lasso, err = lasso.FusedLassoPath(g, lassoValues(n, 3), paths, lasso.FusedLassoOptions{Run: run, Undirected: true, Exact: true})
		return &r, err
	}
	const scale = 7
	one, err := all(samples.RangeGraph(t, scale, nil), workflow.Run{})
	if err != nil {
		t.Fatal(err)
	}
	want := one.(*results)
	check := func(where string, got *results) {
		t.Helper()
		for _, v := range []struct {
			name      string
			got, want *matrix.Vector[int64]
		}{{"reached", got.c.Reached, want.c.Reached}, {"distances", got.c.Distances, want.c.Distances}} {
			if g, w := samples.ResultWords(v.got), samples.ResultWords(v.want); !slices.Equal(g, w) {
				t.Errorf("%s: %s differ%s", where, v.name, firstDifference(g, w))
			}
		}
		switch {
		case !samples.SameSums(got.c.Closeness, want.c.Closeness, 1e-14) || !samples.SameSums(got.c.Harmonic, want.c.Harmonic, 1e-13) || got.c.Targets != want.c.Targets:
			t.Errorf("%s: the closeness differs", where)
		case !samples.SameSums(got.b.Centrality, want.b.Centrality, 1e-12) || got.b.Sources != want.b.Sources:
			t.Errorf("%s: the betweenness differs", where)
		case len(got.lasso) != len(want.lasso):
			t.Fatalf("%s: %d solutions, want %d", where, len(got.lasso), len(want.lasso))
		}
		for k, res := range got.lasso {
			w := want.lasso[k]
			if res.Lambda1 != w.Lambda1 || res.Regions != w.Regions || res.Zeros != w.Zeros || res.Proven != w.Proven ||
				!samples.SameSums(res.B, w.B, 1e-9) || math.Abs(res.Objective-w.Objective) > 1e-9*w.Objective {
				t.Errorf("%s: the solution for λ₁ = %v is %+v, want %+v", where, paths[k], res, w)
			}
		}
	}
	for _, p := range []int{1, 3, 7} {
		for _, blocks := range []bool{false, true} {
			at, err := comm.LocalGroup(p)
			if err != nil {
				t.Fatal(err)
			}
			g := samples.RangeGraph(t, scale, at)
			if blocks {
				g = samples.InBlocks(t, g, at)
			}
			divided := map[string]bool{}
			res, err := all(g, workflow.Run{Trace: func(tr ops.Trace) { divided[tr.Op] = divided[tr.Op] || tr.Method == workflow.ByRanges }})
			if err != nil {
				t.Fatal(err)
			}
			if !divided["Closeness"] || !divided["Betweenness"] || !divided["FusedLasso"] {
				t.Errorf("%d ranks: divided are %v", p, divided)
			}
			got := res.(*results)
			if got.c.Harmonic.Place() != matrix.Place(at) || got.b.Centrality.Place() != matrix.Place(at) || got.lasso[0].B.Place() != matrix.Place(at) {
				t.Errorf("%d ranks: results are not on the group", p)
			}
			check(fmt.Sprint(p, " ranks, blocks ", blocks), got)
		}
	}
	list, errs := samples.Processes(t, 3, func(at *comm.Group) (any, error) {
		res, err := all(samples.RangeGraph(t, scale, at), workflow.Run{})
		if err != nil {
			return nil, err
		}
		r := res.(*results) // reads are collectives
		for _, v := range []*matrix.Vector[float64]{r.c.Closeness, r.c.Harmonic, r.b.Centrality} {
			err = errors.Join(err, v.Move(nil))
		}
		err = errors.Join(err, r.c.Reached.Move(nil), r.c.Distances.Move(nil))
		for _, s := range r.lasso {
			err = errors.Join(err, s.B.Move(nil))
		}
		return r, err
	})
	for k, res := range list {
		if errs[k] != nil {
			t.Fatal(errs[k])
		}
		check(fmt.Sprint("process ", k), res.(*results))
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
