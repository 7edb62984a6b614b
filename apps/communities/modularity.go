package communities

import (
	"fmt"
	"math"
	"sync/atomic"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/fresh"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

// ModularityOptions are the settings of Modularity.
type ModularityOptions struct {
	workflow.Run
	Resolution float64 // γ; 0 means 1
}

// Modularity returns the modularity of a partition of the vertices of an undirected graph,
//
//	Q = Σ_uv [ A(u,v)/2m − γ k(u)k(v)/(2m)² ] δ(c(u), c(v)),   k = A1,  2m = Σ A
//
// (Newman, Girvan: Finding and evaluating community structure in networks, Phys. Rev. E 69, 2004; γ
// by Reichardt, Bornholdt, Phys. Rev. E 74, 2006). membership gives the community of each vertex by
// any numbers ≥ 0; a vertex without an entry, or beyond the end, is a community of its own.
// Self-loops and weights are as in Communities: A has twice the weight of a loop on its diagonal. A
// graph without weight has modularity 0.
//
// It sums in float64, in an order that does not depend on the number of threads; weights that are
// integers of sum below 2⁵² exactly. Modularity returns a *ParameterError if the number of a
// community is negative or the graph is directed, a *WeightError if a weight is negative, infinite
// or NaN, and a *matrix.DimensionError if there are more entries than vertices. O(vertices +
// entries), on the host.
func Modularity[T semiring.Element](g matrix.Source[T], membership *matrix.Vector[int32], opts ...ModularityOptions) (float64, error) {
	return modularityOf(g, membership, opts)
}

// modularityOf is Modularity of a graph with values of any type.
func modularityOf(g workflow.Operand, membership *matrix.Vector[int32], opts []ModularityOptions) (float64, error) {
	const app = "Modularity"
	o, err := workflow.OnlyPipeline(app, opts)
	if err != nil {
		return 0, err
	}
	n, err := workflow.Square(app, g)
	if err != nil {
		return 0, err
	}
	if o.Resolution == 0 {
		o.Resolution = 1
	}
	if !(o.Resolution > 0 && o.Resolution <= math.MaxFloat64) {
		return 0, &workflow.ParameterError{App: app, Arg: "the resolution", Got: fmt.Sprint(o.Resolution), Want: "a positive number"}
	}
	part, count, err := membershipOf(app, "the membership", membership, n)
	if err != nil {
		return 0, err
	}
	if err := workflow.Fetch(g.Inside()); err != nil {
		return 0, err
	}
	rows := g.Inside().Rows()
	if err := workflow.Usable(app, "the graph", g); err != nil {
		return 0, err
	}
	e := &modularityEdges{app: app, ptr: workflow.RowOffsets(&rows.Structure), idx: rows.Idx,
		val: workflow.NumbersIn(rows.Type, rows.Val), part: part, count: count, run: o.Run, symmetric: g.Inside().Symmetric()}
	in, squares, err := e.sums(1)
	return in - float64(o.Resolution*squares), err
}

// modularityEdges are the edges of a graph, and a partition.
type modularityEdges struct {
	app       string
	ptr       []int64
	idx       []int32
	val       workflow.WeightReader
	part      []int32
	count     int // of communities
	run       workflow.Run
	symmetric bool // is known
}

// sums returns Σ in(c)/2m and Σ (tot(c)/2m)² for weights multiplied by unit, 0 for a graph without
// weight.
func (e *modularityEdges) sums(unit float64) (in, squares float64, err error) {
	bounds := workflow.RowBlocks(e.run, e.ptr)
	type part struct {
		inside, total float64
		fraction      bool
		bad           *workflow.WeightError
	}
	parts, degree := make([]part, len(bounds)-1), fresh.Make[float64](int64(len(e.part)))
	buffers := make([][]float64, parallel.Threads(e.run.Threads))
	var difference atomic.Uint64
	err = workflow.EachBlock(e.run, bounds, func(w, b, lo, hi int) {
		var skew asymmetry
		var p part // neighbours in parts share cache lines
		for v := lo; v < hi; v++ {
			list := e.val(buffers[w], e.ptr[v], e.ptr[v+1])
			if cap(list) > cap(buffers[w]) {
				buffers[w] = list
			}
			sum := 0.0
			for k, u := range e.idx[e.ptr[v]:e.ptr[v+1]] {
				x := list[k]
				if !(x >= 0 && x <= math.MaxFloat64) && p.bad == nil {
					p.bad = &workflow.WeightError{App: e.app, Row: v, Col: int(u), Got: fmt.Sprint(x), Want: "a finite weight of 0 or more"}
				}
				if !e.symmetric {
					skew.add(v, u, math.Float64bits(x+0)) // −0 as 0
				}
				p.fraction = p.fraction || x != math.Trunc(x)
				x *= unit
				if int(u) == v {
					x *= 2
				}
				sum += x
				if e.part[u] == e.part[v] {
					p.inside += x
				}
			}
			degree[v] = sum
			p.total += sum
		}
		parts[b] = p
		difference.Add(uint64(skew))
	})
	if err != nil {
		return 0, 0, err
	}
	total, whole := 0.0, true
	for _, p := range parts {
		if p.bad != nil {
			return 0, 0, p.bad
		}
		in += p.inside
		total += p.total
		whole = whole && !p.fraction
	}
	if difference.Load() != 0 {
		return 0, 0, e.directed()
	}
	tot := make([]float64, e.count)
	for v, k := range degree {
		tot[e.part[v]] += k
	}
	switch {
	case total == 0:
		return 0, 0, nil
	case math.IsInf(total, 1) && unit == 1: // the weights are near the largest float64
		return e.sums(math.Ldexp(1, -200))
	}
	if whole && unit == 1 && total < 1<<weightBits { // all sums are exact, in any order
		whole := make([]int64, len(tot))
		for c, t := range tot {
			whole[c] = int64(t)
		}
		return in / total, squaresOf(whole, int64(total)), nil
	}
	for _, t := range tot {
		squares += float64((t / total) * (t / total))
	}
	return in / total, squares, nil
}

// directed returns the error of a directed graph.
func (e *modularityEdges) directed() error {
	l := &levelGraph{n: len(e.part), ptr: e.ptr, idx: e.idx, weight: make([]int64, len(e.idx))}
	for k, x := range e.val(nil, 0, int64(len(e.idx))) {
		l.weight[k] = int64(math.Float64bits(x + 0))
	}
	return directedError(e.app, l)
}
