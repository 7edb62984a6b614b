package gpu

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/bench/internal/gpuside"
	"github.com/hiveblas/hiveblas/bench/internal/inputs"
	"github.com/hiveblas/hiveblas/matrix"
)

// Workflows on graphs whose rows stay in host memory; a note says how long the same takes with the
// rows in device memory.

// hostRows times a workflow on a graph in the two kinds of memory. Edges have values of type T.
// The workflow returns a value of each vertex, and how often it reads all rows, 0 where that
// depends.
type hostRows[T, R comparable] struct {
	values func(g *gen.Graph) []T
	work   func(a *matrix.Matrix[T], source int) (*matrix.Vector[R], int, error)
	same   func(x, y R) bool
	size   int64 // bytes of an entry that are read
}

func (h hostRows[T, R]) plan(b *gpuBench, in *inputs.GPU) (*gpuPlan, error) {
	g := in.Graph
	source := inputs.SourcesOf(g, 1)[0]
	bytes := h.size * g.NNZ()
	place := func() (*matrix.Matrix[T], error) {
		a, err := matrix.FromCSR(g.NRows, g.NCols, g.Ptr, g.Idx, h.values(g))
		if err != nil {
			return nil, err
		}
		if !a.IsSymmetric() {
			return nil, fmt.Errorf("bench: the graph is not symmetric")
		}
		return a, a.Move(b.dev)
	}
	near, err := place()
	if err != nil {
		return nil, err
	}
	var want *matrix.Vector[R]
	var took []float64
	passes := 0
	for range 4 {
		d, err := gpuside.Wall(func() (err error) {
			want, passes, err = h.work(near, source)
			return errors.Join(err, b.dev.Sync())
		})
		if err != nil {
			return nil, err
		}
		took = append(took, d.Seconds())
	}
	if err := errors.Join(want.Move(nil), near.Move(nil)); err != nil {
		return nil, err
	}
	// There is no room for the rows, nor for copies of them that products would pack.
	b.dev.Limit(1) // gives back what was forgotten
	b.dev.Limit(b.dev.Memory().InUse + 1<<20 + uint64(max(bytes/2, 64*int64(g.NRows))))
	b.dev.KeepRowsInHost(true)
	far, err := place()
	plan := &gpuPlan{close: func() {
		b.dev.KeepRowsInHost(false)
		b.dev.Limit(0)
	}}
	if err == nil && b.shrink == 0 && b.dev.Memory().Host == 0 {
		err = fmt.Errorf("bench: the rows went to device memory")
	}
	if err != nil {
		plan.close()
		return nil, err
	}
	var got *matrix.Vector[R]
	plan.ours = []gpuside.Contender{{Name: "hiveblas", Once: true, Clock: gpuside.Wall, Do: func() (err error) {
		got, _, err = h.work(far, source)
		return errors.Join(err, b.dev.Sync())
	}}}
	plan.check = func() (string, error) { return differs(got, want, h.same), nil }
	plan.notes = func() []string {
		text := fmt.Sprintf("the rows have %.3f GB; in device memory the call takes %.3g ms", float64(bytes)/1e9, 1e3*slices.Min(took))
		if passes > 0 {
			text += fmt.Sprintf("; they are read %d times", passes)
		}
		return []string{text}
	}
	return plan, nil
}

// hostRowsCases are searches, ranks and components.
func hostRowsCases() (cases []gpuCase) {
	pattern := func(g *gen.Graph) []bool { return inputs.Values(g, anyEntry) }
	equal := func(x, y int32) bool { return x == y }
	for _, scale := range []int{22, 24} {
		// Bars are for reading rows of 4 bytes an entry so many times, at .7 of 55 GB/s.
		add := func(what string, times float64, plan func(b *gpuBench, in *inputs.GPU) (*gpuPlan, error)) {
			bar := Bar{Ms: times * 13 * float64(int(1)<<(scale-22))}
			cases = append(cases, gpuCase{fmt.Sprintf("%s host rows rmat%d", what, scale), bar, fmt.Sprintf("symmetric%d", scale), plan})
		}
		add("bfs", 1, hostRows[bool, int32]{pattern, func(a *matrix.Matrix[bool], source int) (*matrix.Vector[int32], int, error) {
			r, err := apps.BFS(a, source)
			if err != nil {
				return nil, 0, err
			}
			return r.Level, 0, nil
		}, equal, 4}.plan)
		add("components", 1, hostRows[bool, int32]{pattern, func(a *matrix.Matrix[bool], _ int) (*matrix.Vector[int32], int, error) {
			r, err := apps.ConnectedComponents(a)
			if err != nil {
				return nil, 0, err
			}
			return r.Label, 0, nil
		}, equal, 4}.plan)
		add("pagerank", 5, hostRows[bool, float64]{pattern, func(a *matrix.Matrix[bool], _ int) (*matrix.Vector[float64], int, error) {
			r, err := apps.PageRank(a, apps.PageRankOptions{Tolerance: 1e-300, MaxIterations: 5})
			if err != nil {
				return nil, 0, err
			}
			return r.Rank, r.Iterations, nil
		}, func(x, y float64) bool { return math.Abs(x-y) <= 1e-9*math.Abs(y) }, 4}.plan)
		add("sssp", 4, hostRows[int32, int32]{weightsOf, func(a *matrix.Matrix[int32], source int) (*matrix.Vector[int32], int, error) {
			v, err := apps.SSSP(a, []int{source}, apps.SSSPOptions[int32]{Trusted: true})
			return v, 0, err
		}, equal, 8}.plan)
	}
	return cases
}
