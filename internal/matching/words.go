package matching

import (
	"context"
	"math"
	"slices"

	"github.com/hiveblas/hiveblas/internal/splitmix"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

// A Pair is two graphs of n vertices in a form without element types: the weight of an edge is a
// word, and edges of weight 0 are left out. Equal weights have equal words, and loops words of
// their own.
type Pair struct {
	N int
	// Context, if it is not nil and ends, ends Align and Grow, which then return what they have.
	Context context.Context
	// A and B are the rows of each graph, and the columns if a graph is directed.
	A, B []Words
}

// Words are the rows of a matrix of words.
type Words struct {
	Ptr  []int64
	Idx  []int32
	Word []uint64
}

// row returns the neighbours of a vertex and the words of the edges.
func (g Words) row(v int32) ([]int32, []uint64) {
	lo, hi := g.Ptr[v], g.Ptr[v+1]
	return g.Idx[lo:hi], g.Word[lo:hi]
}

func (g Words) degree(v int32) int { return int(g.Ptr[v+1] - g.Ptr[v]) }

// Plain reports whether all edges of A between two vertices have one weight.
func (p *Pair) Plain() bool {
	one := uint64(0)
	for v := range int32(p.N) {
		near, word := p.A[0].row(v)
		for k, u := range near {
			if u == v {
				continue
			}
			if one != 0 && word[k] != one {
				return false
			}
			one = word[k]
		}
	}
	return true
}

// ended reports whether the context has ended.
func (p *Pair) ended() bool { return p.Context != nil && p.Context.Err() != nil }

// PairOf returns two graphs on the host as words. symmetric says that both are.
func PairOf[T semiring.Float](a, b *matrix.View[T], symmetric bool) *Pair {
	n, _ := a.Dims()
	p := &Pair{N: n, A: []Words{wordsOf(edgeListsOf(a))}, B: []Words{wordsOf(edgeListsOf(b))}}
	if !symmetric {
		p.A = append(p.A, wordsOf(edgeListsOf(a.T())))
		p.B = append(p.B, wordsOf(edgeListsOf(b.T())))
	}
	return p
}

func wordsOf[T semiring.Float](g edgeLists[T]) Words {
	word := make([]uint64, len(g.idx))
	zero := false
	for k, x := range g.val {
		word[k] = splitmix.Mix(math.Float64bits(float64(x))) | 1
		zero = zero || x == 0
	}
	for v := range len(g.ptr) - 1 { // a loop is no edge to another vertex of the same colour
		row := g.idx[g.ptr[v]:g.ptr[v+1]]
		if k, ok := slices.BinarySearch(row, int32(v)); ok {
			word[g.ptr[v]+int64(k)] = splitmix.Mix(word[g.ptr[v]+int64(k)]) | 1
		}
	}
	if !zero {
		return Words{g.ptr, g.idx, word}
	}
	w := Words{Ptr: make([]int64, len(g.ptr))}
	for v := range len(g.ptr) - 1 {
		for k := g.ptr[v]; k < g.ptr[v+1]; k++ {
			if g.val[k] != 0 {
				w.Idx, w.Word = append(w.Idx, g.idx[k]), append(w.Word, word[k])
			}
		}
		w.Ptr[v+1] = int64(len(w.Idx))
	}
	return w
}
