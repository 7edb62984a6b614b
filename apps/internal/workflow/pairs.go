package workflow

import (
	"fmt"
	"math"
	"sync/atomic"

	"github.com/hiveblas/hiveblas/internal/parallel"
)

// A PairGraph has an arc in both directions for each pair of vertices with an entry in either. The
// arcs of vertex v are ptr[v] to ptr[v+1], with ascending heads.
type PairGraph struct {
	N      int
	Ptr    []int32
	Head   []int32
	Sister []int32   // the opposite arc
	Value  []float64 // of the entry in this direction, 0 if there is none
}

// PairsOf returns the pairs of a square matrix without the diagonal and zeros. use, which may be
// nil, maps the value at (row, column) to the one to keep; it reports false for an error.
func PairsOf(app, want string, g Operand, run Run, use func(x float64) bool) (*PairGraph, error) {
	v := Inside(g)
	if err := Fetch(v); err != nil {
		return nil, err
	}
	rows, cols := v.Rows(), v.Cols()
	if err := Usable(app, "the graph", Pattern(g)); err != nil {
		return nil, err
	}
	rp, cp := RowOffsets(&rows.Structure), RowOffsets(&cols.Structure)
	n := len(rp) - 1
	if 2*rp[n] > math.MaxInt32 {
		return nil, &ParameterError{app, "the graph", fmt.Sprintf("of %d entries", rp[n]), "2³⁰ entries or fewer"}
	}
	out, in := NumbersIn(rows.Type, rows.Val)(nil, 0, rp[n]), NumbersIn(cols.Type, cols.Val)(nil, 0, cp[n])
	p := &PairGraph{N: n, Ptr: make([]int32, n+1)}
	// each merges the row and the column of a vertex.
	each := func(v int, f func(u int32, forth, back float64)) {
		ri, ci := rows.Idx[rp[v]:rp[v+1]], cols.Idx[cp[v]:cp[v+1]]
		ro, co := out[rp[v]:rp[v+1]], in[cp[v]:cp[v+1]]
		for i, j := 0, 0; i < len(ri) || j < len(ci); {
			var u int32
			forth, back := 0.0, 0.0
			switch {
			case j == len(ci) || i < len(ri) && ri[i] < ci[j]:
				u, forth = ri[i], ro[i]
				i++
			case i == len(ri) || ci[j] < ri[i]:
				u, back = ci[j], co[j]
				j++
			default:
				u, forth, back = ri[i], ro[i], co[j]
				i, j = i+1, j+1
			}
			if int(u) != v && (forth != 0 || back != 0) {
				f(u, forth, back)
			}
		}
	}
	var bad atomic.Pointer[WeightError]
	err := parallel.Range(run.Context, run.Threads, n, RowGrain, func(_, lo, hi int) {
		for v := lo; v < hi; v++ {
			for k, x := range out[rp[v]:rp[v+1]] {
				if !use(x) && (bad.Load() == nil || bad.Load().Row > v) {
					bad.Store(&WeightError{app, v, int(rows.Idx[rp[v]+int64(k)]), fmt.Sprint(x), want})
				}
			}
			count := int32(0)
			each(v, func(int32, float64, float64) { count++ })
			p.Ptr[v+1] = count
		}
	})
	if err != nil {
		return nil, err
	}
	if e := bad.Load(); e != nil {
		return nil, e
	}
	for v := range n {
		p.Ptr[v+1] += p.Ptr[v]
	}
	p.Head, p.Sister, p.Value = make([]int32, p.Ptr[n]), make([]int32, p.Ptr[n]), make([]float64, p.Ptr[n])
	err = parallel.Range(run.Context, run.Threads, n, RowGrain, func(_, lo, hi int) {
		for v := lo; v < hi; v++ {
			at := p.Ptr[v]
			each(v, func(u int32, forth, _ float64) {
				p.Head[at], p.Value[at] = u, forth
				at++
			})
		}
	})
	if err != nil {
		return nil, err
	}
	p.pair()
	return p, nil
}

// pair finds the sister of each arc.
func (p *PairGraph) pair() {
	// Heads ascend, so the arcs to a vertex are met in the order of its own arcs.
	next := make([]int32, p.N)
	copy(next, p.Ptr)
	for v := range int32(p.N) {
		for a := p.Ptr[v]; a < p.Ptr[v+1]; a++ {
			u := p.Head[a]
			p.Sister[next[u]] = a
			next[u]++
		}
	}
}
