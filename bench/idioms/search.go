package idioms

import (
	"math"

	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/bench/internal/inputs"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// Traversals as in the GraphBLAS user guide, each beside its plain loop.

// bfsLevelsIdiom is the README's breadth-first search.
func bfsLevelsIdiom(g *gen.Graph, a *matrix.View[bool]) (*idiomRun, error) {
	n, source := g.NRows, busiest(g)
	var level *matrix.Vector[int32]
	ours := func() error {
		var s ops.Steps
		level = matrix.NewVector[int32](n)
		frontier := matrix.NewVector[bool](n)
		s.Do(frontier.Set(source, true))
		for depth := int32(0); s.NVals(frontier) > 0; depth++ {
			s.Do(ops.AssignVectorScalar(level.Masked(frontier.Structure()), depth, ops.All()))
			s.Do(ops.VxM(frontier.Masked(level.Structure().Not()).Replace(), semiring.AnyPair[bool](), frontier.Pattern(), a))
		}
		return s.Err()
	}
	want := make([]int32, n)
	queue := make([]int32, 0, n)
	loop := func() {
		for v := range want {
			want[v] = -1
		}
		want[source] = 0
		queue = append(queue[:0], int32(source))
		for k := 0; k < len(queue); k++ {
			v := queue[k]
			for _, w := range g.Row(int(v)) {
				if want[w] < 0 {
					want[w] = want[v] + 1
					queue = append(queue, w)
				}
			}
		}
	}
	return &idiomRun{ours: ours, loop: loop, agree: func() error {
		return agree("level", level, 0, func(i int) (int32, bool) { return want[i], want[i] >= 0 })
	}}, nil
}

// bfsParentsIdiom finds the least-numbered parent of each vertex.
func bfsParentsIdiom(g *gen.Graph, a *matrix.View[bool]) (*idiomRun, error) {
	n, source := g.NRows, busiest(g)
	var parent *matrix.Vector[int32]
	ours := func() error {
		var s ops.Steps
		parent = matrix.NewVector[int32](n)
		frontier := matrix.NewVector[int32](n) // the parents of the vertices found last
		s.Do(parent.Set(source, int32(source)))
		s.Do(frontier.Set(source, int32(source)))
		for s.NVals(frontier) > 0 {
			s.Do(ops.VxM(frontier.Masked(parent.Structure().Not()).Replace(), semiring.MinSecondi[int32](0), frontier.Pattern(), a))
			s.Do(ops.AssignVector(parent.Masked(frontier.Structure()), frontier, ops.All()))
		}
		return s.Err()
	}
	want, level := make([]int32, n), make([]int32, n)
	queue := make([]int32, 0, n)
	loop := func() {
		for v := range want {
			want[v] = -1
		}
		want[source], level[source] = int32(source), 0
		queue = append(queue[:0], int32(source))
		for k := 0; k < len(queue); k++ {
			v := queue[k]
			for _, w := range g.Row(int(v)) {
				switch {
				case want[w] < 0:
					want[w], level[w] = v, level[v]+1
					queue = append(queue, w)
				case level[w] == level[v]+1 && v < want[w]:
					want[w] = v
				}
			}
		}
	}
	return &idiomRun{ours: ours, loop: loop, agree: func() error {
		return agree("parent", parent, 0, func(i int) (int32, bool) { return want[i], want[i] >= 0 })
	}}, nil
}

// ssspIdiom is the method of Bellman and Ford over min.plus, until nothing changes.
func ssspIdiom(in *idiomInput) (*idiomRun, error) {
	g := in.graph
	n, source := g.NRows, busiest(g)
	weight := gen.UniformFloats(g, 2, true)
	a, err := matrix.FromCSR(n, n, g.Ptr, g.Idx, weight)
	if err != nil {
		return nil, err
	}
	a.IsSymmetric()
	var dist *matrix.Vector[float64]
	ours := func() error {
		var s ops.Steps
		dist = matrix.NewVector[float64](n)
		s.Do(dist.Set(source, 0))
		for s.OK() {
			before := dist.Clone()
			s.Do(ops.VxM(dist.Accum(semiring.Min[float64]()), semiring.MinPlus[float64](), dist, a))
			if dist.Equal(before) {
				break
			}
		}
		return s.Err()
	}
	want := make([]float64, n)
	loop := func() {
		for v := range want {
			want[v] = math.Inf(1)
		}
		want[source] = 0
		for changed := true; changed; {
			changed = false
			for v, d := range want {
				if math.IsInf(d, 1) {
					continue
				}
				for p := g.Ptr[v]; p < g.Ptr[v+1]; p++ {
					if w := g.Idx[p]; d+weight[p] < want[w] {
						want[w] = d + weight[p]
						changed = true
					}
				}
			}
		}
	}
	return &idiomRun{ours: ours, loop: loop, agree: func() error {
		return agree("distance", dist, 0, func(i int) (float64, bool) { return want[i], !math.IsInf(want[i], 1) })
	}}, nil
}

// betweennessIdiom is Brandes' algorithm for a batch of sources, one row of each matrix for each.
func betweennessIdiom(g *gen.Graph, a *matrix.View[bool]) (*idiomRun, error) {
	const batch = 8
	n, sources := g.NRows, inputs.SourcesOf(g, batch)
	var centrality *matrix.Vector[float64]
	ours := func() error {
		var s ops.Steps
		paths := matrix.New[float64](batch, n)
		for k, v := range sources {
			s.Do(paths.Set(k, v, 1))
		}
		plus := semiring.Plus[float64]()
		frontier := paths.Clone()
		var levels []*matrix.Matrix[float64]
		for s.OK() {
			s.Do(ops.MxM(frontier.Masked(paths.Structure().Not()).Replace(), semiring.PlusFirst[float64](), frontier, a))
			if frontier.NVals() == 0 {
				break
			}
			s.Do(ops.EWiseAdd(paths, plus, paths, frontier))
			levels = append(levels, frontier.Clone())
		}
		share, err := matrix.NewFull(batch, n, 1.0)
		s.Do(err)
		w := matrix.New[float64](batch, n)
		for i := len(levels) - 1; s.OK() && i > 0; i-- {
			s.Do(ops.EWiseMult(w.Masked(levels[i].Structure()).Replace(), semiring.Div[float64](), share, paths))
			s.Do(ops.MxM(w.Masked(levels[i-1].Structure()).Replace(), semiring.PlusFirst[float64](), w, a))
			s.Do(ops.EWiseMult(share.Accum(plus), semiring.Times[float64](), w, paths))
		}
		centrality = matrix.NewVector[float64](n)
		s.Do(ops.Reduce(centrality, plus, share.T()))
		s.Do(ops.ApplySecond(centrality, semiring.Minus[float64](), centrality, batch))
		return s.Err()
	}
	want := make([]float64, n)
	loop := brandes(g, sources, want)
	return &idiomRun{ours: ours, loop: loop, agree: func() error {
		return agree("centrality", centrality, 1e-9, func(i int) (float64, bool) { return want[i], true })
	}}, nil
}

// brandes returns the plain loop of Brandes' algorithm, which fills in centrality. The sources
// themselves count for nothing.
func brandes(g *gen.Graph, sources []int, centrality []float64) func() {
	n := g.NRows
	level, paths, share := make([]int32, n), make([]float64, n), make([]float64, n)
	queue := make([]int32, 0, n)
	return func() {
		clear(centrality)
		for _, source := range sources {
			for v := range level {
				level[v], paths[v], share[v] = -1, 0, 0
			}
			level[source], paths[source] = 0, 1
			queue = append(queue[:0], int32(source))
			for k := 0; k < len(queue); k++ {
				v := queue[k]
				for _, w := range g.Row(int(v)) {
					if level[w] < 0 {
						level[w] = level[v] + 1
						queue = append(queue, w)
					}
					if level[w] == level[v]+1 {
						paths[w] += paths[v]
					}
				}
			}
			for k := len(queue) - 1; k > 0; k-- {
				w := queue[k]
				for _, v := range g.Row(int(w)) {
					if level[v] == level[w]-1 {
						share[v] += paths[v] / paths[w] * (1 + share[w])
					}
				}
				centrality[w] += share[w]
			}
		}
	}
}
