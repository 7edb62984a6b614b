package paths

import (
	"slices"
	"unsafe"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/comm/spmd"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/semiring"
)

// hostSearch searches on the host, one rank's part.
type hostSearch[T semiring.Number] struct {
	q       *searchRun
	in      rep.View // edges by their targets, the own vertices
	lo, own int

	out             *sparse.Store // edges by their sources
	dist            []T
	next, pile      []int32 // own vertices, each at most once
	listed, piled   []bool
	all, mine       []frontierRecord[T]
	words, ownWords []uint32
}

func newHostSearch[T semiring.Number](q *searchRun, in rep.View, lo, own int) rankSearch {
	return &hostSearch[T]{q: q, in: in, lo: lo, own: own}
}

func (r *hostSearch[T]) start(sources []int32) (rankNumbers, error) {
	r.out = r.in.Cols()
	r.dist = slices.Repeat([]T{semiring.MaxValue[T]()}, r.own)
	r.listed, r.piled = make([]bool, r.own), make([]bool, r.own)
	for _, v := range sources {
		if v := int(v) - r.lo; v >= 0 && v < r.own {
			r.dist[v], r.listed[v] = 0, true
			r.next = append(r.next, int32(v))
		}
	}
	return r.frontierNumbers(0), nil
}

// frontierNumbers returns the numbers of the next frontier, after steps up to bound.
func (r *hostSearch[T]) frontierNumbers(bound T) rankNumbers {
	least := semiring.MaxValue[T]()
	for _, v := range r.pile {
		if d := r.dist[v]; len(r.next) == 0 && d > bound {
			least = min(least, d)
		}
	}
	return rankNumbers{listed: int64(len(r.next)), least: numberOf(least)}
}

func (r *hostSearch[T]) records(all, own int64) (whole, mine comm.Buffer) {
	r.all, r.mine = make([]frontierRecord[T], all), make([]frontierRecord[T], 0, own)
	for _, v := range r.next {
		r.mine = append(r.mine, frontierRecord[T]{r.dist[v], uint32(r.lo + int(v))})
	}
	return spmd.Memory(r.all), spmd.Memory(r.mine)
}

func (r *hostSearch[T]) bitmap() (whole, mine comm.Buffer) {
	total := 0
	for _, b := range bitmapBytes(r.q.w) {
		total += b / 4
	}
	r.words, r.ownWords = make([]uint32, total), make([]uint32, (r.own+31)/32)
	for _, v := range r.next {
		r.ownWords[v/32] |= 1 << (v % 32)
	}
	return spmd.Memory(r.words), spmd.Memory(r.ownWords)
}

func (r *hostSearch[T]) Push(_ int64, to, _ number) (rankNumbers, error) {
	bound := valueOf[T](to)
	r.next = r.next[:0]
	clear(r.listed)
	var lengths []T
	if !r.q.levels {
		lengths = sparse.As[T](r.out).Val
	}
	for _, x := range r.all {
		from, to := r.out.Span(int(x.v))
		for p := from; p < to; p++ {
			u, d := r.out.Idx[p], x.d
			if r.q.levels {
				d++
			} else {
				d += lengths[p]
			}
			if !(d < r.dist[u]) {
				continue
			}
			r.dist[u] = d
			if list, is := &r.next, r.listed; d <= bound {
				r.list(list, is, u)
			} else {
				r.list(&r.pile, r.piled, u)
			}
		}
	}
	return r.frontierNumbers(bound), nil
}

// list adds an own vertex to a list once.
func (r *hostSearch[T]) list(list *[]int32, is []bool, v int32) {
	if !is[v] {
		is[v] = true
		*list = append(*list, v)
	}
}

func (r *hostSearch[T]) pull(depth number) (rankNumbers, error) {
	r.all = r.all[:0]
	word := 0
	for p := range r.q.w.Group.Size() {
		lo, hi := r.q.w.Cuts[p], r.q.w.Cuts[p+1]
		for v := lo; v < hi; v++ {
			if r.words[word+(v-lo)/32]>>((v-lo)%32)&1 != 0 {
				r.all = append(r.all, frontierRecord[T]{valueOf[T](depth) - 1, uint32(v)})
			}
		}
		word += (hi - lo + 31) / 32
	}
	return r.Push(0, r.q.of.most, depth)
}

func (r *hostSearch[T]) split(above, to number) (rankNumbers, error) {
	settled, bound := valueOf[T](above), valueOf[T](to)
	r.next = r.next[:0]
	clear(r.listed)
	kept := r.pile[:0]
	for _, v := range r.pile {
		if r.dist[v] > bound {
			kept = append(kept, v)
			continue
		}
		if r.piled[v] = false; r.dist[v] > settled {
			r.list(&r.next, r.listed, v)
		}
	}
	r.pile = kept
	return r.frontierNumbers(bound), nil
}

func (r *hostSearch[T]) finish(c comm.Comm, parents bool) ([]workflow.Block, int64, error) {
	results := make([]workflow.Block, 2)
	shape := sparse.Structure{Format: sparse.Bitmap, NRows: 1, NCols: r.own, Present: make([]uint8, r.own)}
	for v, d := range r.dist {
		if d < semiring.MaxValue[T]() {
			shape.Present[v] = 1
			shape.NVals++
		}
	}
	if parents {
		levels := make([]T, r.q.n)
		if err := c.AllGatherV(r.q.w.Wait, spmd.Memory(levels), r.q.w.Bytes(int(unsafe.Sizeof(T(0)))), spmd.Memory(r.dist)); err != nil {
			return nil, 0, err
		}
		before := &sparse.Typed[int32]{Structure: shape, Val: make([]int32, r.own)}
		before.Present = slices.Clone(shape.Present)
		results[1].Host = sparse.Untyped(before)
		in := r.in.Rows()
		for v, d := range r.dist {
			if shape.Present[v] == 0 {
				continue
			}
			before.Val[v] = int32(r.lo + v)
			from, to := in.Span(v)
			for p := from; p < to && d > 0; p++ {
				if u := in.Idx[p]; levels[u] == d-1 {
					before.Val[v] = u
					break
				}
			}
		}
	}
	for v := range r.dist { // the value of a position without an entry is 0
		if shape.Present[v] == 0 {
			r.dist[v] = 0
		}
	}
	results[0].Host = sparse.Untyped(&sparse.Typed[T]{Structure: shape, Val: r.dist})
	return results, shape.NVals, nil
}
