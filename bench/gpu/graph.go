package gpu

import (
	"fmt"
	"slices"
	"time"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/bench"
	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/bench/internal/gpuside"
	"github.com/hiveblas/hiveblas/bench/internal/inputs"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// ran keeps the method of the last traversal, and where it ran.
type ran struct{ last ops.Trace }

func (r *ran) run() apps.Run { return apps.Run{Trace: func(t ops.Trace) { r.last = t }} }

func (r *ran) method() string { return string(r.last.Method) }

// where notes the place of a run that was not on the device.
func where(b *gpuBench, p matrix.Place) func() []string {
	if p == b.dev {
		return nil
	}
	return func() []string {
		return []string{"the result lives on the host: this was not one traversal on the device"}
	}
}

// undirectedOn is the pattern of a symmetric input on the device.
func undirectedOn(b *gpuBench, in *inputs.GPU) (*matrix.Matrix[bool], error) {
	return inputs.Kept(in, "undirected", func() (*matrix.Matrix[bool], error) {
		g := in.Graph
		a, err := matrix.FromCSR(g.NRows, g.NCols, g.Ptr, g.Idx, inputs.Values(g, anyEntry))
		if err != nil {
			return nil, err
		}
		if !a.IsSymmetric() {
			return nil, fmt.Errorf("bench: the graph is not symmetric")
		}
		return a, a.Move(b.dev)
	})
}

// gpuSources is the number of sources of the searches.
const gpuSources = 16

// gpuBFS is the median time of searches from 16 sources, from call to return.
func gpuBFS(b *gpuBench, in *inputs.GPU) (*gpuPlan, error) {
	a, err := undirectedOn(b, in)
	if err != nil {
		return nil, err
	}
	sources := inputs.SourcesOf(in.Graph, gpuSources)
	results := make([]*apps.BFSResult, len(sources))
	var r ran
	plan := &gpuPlan{}
	plan.ours = []gpuside.Contender{{Name: "hiveblas", Method: r.method, Timed: func() (time.Duration, error) {
		took := make([]float64, len(sources))
		for k, v := range sources {
			d, err := gpuside.Wall(func() (err error) { results[k], err = apps.BFS(a, v, apps.BFSOptions{}); return err })
			if err != nil {
				return 0, err
			}
			took[k] = float64(d)
		}
		return time.Duration(bench.QuartilesOf(took).Median), nil
	}}}
	plan.check = func() (string, error) {
		plan.notes = where(b, results[0].Level.Place())
		if _, err := apps.BFS(a, sources[0], apps.BFSOptions{Run: r.run()}); err != nil { // for its method
			return "", err
		}
		for k, v := range sources {
			if k > 0 && results[k].Reached == results[0].Reached {
				continue // in the same component
			}
			got := sure.Get(results[k].Level.Dense(-1))
			for i, want := range levelsOf(in.Graph, v) {
				if got[i] != want {
					return fmt.Sprintf("from %d: the level of %d is %d, want %d", v, i, got[i], want), nil
				}
			}
		}
		return "", nil
	}
	return plan, nil
}

// levelsOf is the textbook search; −1 means not reached.
func levelsOf(g *gen.Graph, source int) []int32 {
	level := slices.Repeat([]int32{-1}, g.NRows)
	level[source] = 0
	for queue := []int32{int32(source)}; len(queue) > 0; queue = queue[1:] {
		for _, j := range g.Row(int(queue[0])) {
			if level[j] < 0 {
				level[j] = level[queue[0]] + 1
				queue = append(queue, j)
			}
		}
	}
	return level
}

// gpuSSSP is shortest paths over integer weights from one source with edges.
func gpuSSSP(b *gpuBench, in *inputs.GPU) (*gpuPlan, error) {
	g := in.Graph
	val := make([]int32, g.NNZ())
	for p, w := range gen.UniformInts(g, 1, 63, 3, true) {
		val[p] = int32(w)
	}
	here, err := matrix.FromCSR(g.NRows, g.NCols, g.Ptr, g.Idx, val)
	if err != nil {
		return nil, err
	}
	there, err := onDevice(b, g, val)
	if err != nil {
		return nil, err
	}
	source := inputs.SourcesOf(g, 1)[0]
	var r ran
	var dist *matrix.Vector[int32]
	search := func(run apps.Run) (err error) {
		dist, err = apps.SSSP(there, []int{source}, apps.SSSPOptions[int32]{Run: run, Trusted: true})
		return err
	}
	plan := &gpuPlan{bytes: func() float64 { return 8*float64(g.NNZ()) + 16*float64(g.NRows) }}
	plan.ours = []gpuside.Contender{{Name: "hiveblas", Once: true, Clock: b.dev.Time, Method: r.method, Do: func() error { return search(apps.Run{}) }}}
	plan.check = func() (string, error) {
		plan.notes = where(b, dist.Place())
		if err := search(r.run()); err != nil {
			return "", err
		}
		want, err := apps.SSSP(here, []int{source}, apps.SSSPOptions[int32]{Trusted: true})
		if err != nil {
			return "", err
		}
		return differs(dist, want, func(x, y int32) bool { return x == y }), nil
	}
	return plan, nil
}

func gpuComponents(b *gpuBench, in *inputs.GPU) (*gpuPlan, error) {
	a, err := undirectedOn(b, in)
	if err != nil {
		return nil, err
	}
	var r ran
	var found *apps.Components
	search := func(run apps.Run) (err error) {
		found, err = apps.ConnectedComponents(a, apps.ComponentsOptions{Run: run})
		return err
	}
	g := in.Graph
	plan := &gpuPlan{bytes: func() float64 { return 4*float64(g.NNZ()) + 16*float64(g.NRows) }}
	plan.ours = []gpuside.Contender{{Name: "hiveblas", Once: true, Clock: b.dev.Time, Method: r.method, Do: func() error { return search(apps.Run{}) }}}
	plan.check = func() (string, error) {
		plan.notes = where(b, found.Label.Place())
		if err := search(r.run()); err != nil {
			return "", err
		}
		count, largest := componentsOf(g)
		if found.Count != count || found.Largest != largest {
			return fmt.Sprintf("%d components, the largest of %d; want %d and %d", found.Count, found.Largest, count, largest), nil
		}
		return "", nil
	}
	return plan, nil
}

// componentsOf counts components by union and find.
func componentsOf(g *gen.Graph) (count int, largest int64) {
	parent := make([]int32, g.NRows)
	for v := range parent {
		parent[v] = int32(v)
	}
	find := func(v int32) int32 {
		for parent[v] != v {
			parent[v] = parent[parent[v]]
			v = parent[v]
		}
		return v
	}
	for i := range g.NRows {
		for _, j := range g.Row(i) {
			if a, b := find(int32(i)), find(j); a != b {
				parent[max(a, b)] = min(a, b)
			}
		}
	}
	size := make([]int64, g.NRows)
	for v := range parent {
		size[find(int32(v))]++
	}
	for _, n := range size {
		if n > 0 {
			count++
		}
	}
	return count, slices.Max(size)
}

// gpuTriangles counts over the edges towards hubs, made beforehand: a masked
// product and its sum.
func gpuTriangles(b *gpuBench, in *inputs.GPU) (*gpuPlan, error) {
	lower := gen.CSR(inputs.TuplesOf(in.Graph, inputs.ByDegree(in.Graph), true))
	val := inputs.Values(lower, anyEntry)
	l, err := onDevice(b, lower, val)
	if err != nil {
		return nil, err
	}
	c := matrix.New[int64](lower.NRows, lower.NRows, matrix.On(b.dev))
	var count int64
	var trace ops.Trace
	plan := &gpuPlan{bytes: func() float64 { return 4*float64(lower.NNZ()) + 8*float64(lower.NRows) }}
	plan.ours = []gpuside.Contender{{Name: "hiveblas", Once: true, Clock: b.dev.Time, Method: func() string { return string(trace.Method) }, Do: func() error {
		var with ops.Option = ops.WithOptions()
		if trace.Method == "" {
			with = ops.WithTrace(&trace)
		}
		err := ops.MxM(c.Masked(l.Structure()).Replace(), semiring.PlusPair[int64](), l.Pattern(), l.Pattern().T(), with)
		if err != nil {
			return err
		}
		count, err = ops.ReduceScalar(semiring.Plus[int64](), c)
		return err
	}}}
	plan.check = func() (string, error) {
		a, err := matrix.FromCSR(in.Graph.NRows, in.Graph.NCols, in.Graph.Ptr, in.Graph.Idx, inputs.Values(in.Graph, anyEntry))
		if err != nil {
			return "", err
		}
		want, err := apps.TriangleCount(a, apps.TriangleOptions{})
		if err != nil || count == want {
			return "", err
		}
		return fmt.Sprintf("%d triangles, want %d", count, want), nil
	}
	plan.notes = func() []string { return []string{fmt.Sprintf("%d triangles", count)} }
	return plan, nil
}

// gpuPageRank is the time of one of many iterations, beside our SpMV of the same kind:
// float64 ranks, and no values read.
func gpuPageRank(b *gpuBench, in *inputs.GPU) (*gpuPlan, error) {
	plain, err := spmvOn(b, in, plainCSR, inputs.Unit[float32], inputs.Unit[float32])
	if err != nil {
		return nil, err
	}
	a, g := plain.a, plain.graph
	var r ran
	var found *apps.PageRankResult
	iterate := func(run apps.Run, n int) error {
		found, err = apps.PageRank(a, apps.PageRankOptions{Run: run, Tolerance: 1e-300, MaxIterations: n})
		return err
	}
	const few, many = 4, 24
	plan := &gpuPlan{bytes: func() float64 { return 4*float64(g.NNZ()) + (8+8+8)*float64(g.NRows) }}
	plan.ours = []gpuside.Contender{{Name: "hiveblas", Method: r.method, Timed: func() (time.Duration, error) {
		long, err := b.dev.Time(func() error { return iterate(apps.Run{}, many) })
		if err != nil {
			return 0, err
		}
		short, err := b.dev.Time(func() error { return iterate(apps.Run{}, few) })
		return (long - short) / (many - few), err
	}}}
	plan.check = func() (string, error) {
		plan.notes = where(b, found.Rank.Place())
		if err := iterate(r.run(), few); err != nil {
			return "", err
		}
		here, err := matrix.FromCSR(g.NRows, g.NCols, g.Ptr, g.Idx, plain.val)
		if err != nil {
			return "", err
		}
		want, err := apps.PageRank(here, apps.PageRankOptions{Tolerance: 1e-300, MaxIterations: few})
		if err != nil {
			return "", err
		}
		return differs(found.Rank, want.Rank, closeTo[float64]), nil
	}
	x, err := vectorOn(b, slices.Repeat([]float64{1}, g.NCols))
	if err != nil {
		return nil, err
	}
	p := &product[bool, float64, float64]{s: semiring.PlusSecond[float64](), a: a.Pattern().T(), x: x, w: matrix.NewVector[float64](g.NCols, matrix.On(b.dev))}
	plan.others = []gpuside.Contender{p.contender(b, "our plus_second fp64", ops.Pull)}
	return plan, nil
}
