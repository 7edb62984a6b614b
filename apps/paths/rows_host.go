package paths

import (
	"slices"
	"unsafe"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

// hostSearch searches on the host, one rank's part.
type hostSearch[T semiring.Number, A comparable] struct {
	q       *searchRun[T]
	in      matrix.View[A] // edges by their targets, the own vertices
	lo, own int

	out             *sparse.Typed[A] // edges by their sources
	dist            []T
	next, pile      []int32 // own vertices, each at most once
	listed, piled   []bool
	all, mine       []frontierRecord[T]
	words, ownWords []uint32

	values  *sparse.Typed[T] // the results
	parents *sparse.Typed[int32]
}

func (r *hostSearch[T, A]) start(sources []int32) (rankNumbers[T], error) {
	r.out = access.Cols(r.in)
	r.dist = slices.Repeat([]T{semiring.MaxValue[T]()}, r.own)
	r.listed, r.piled = make([]bool, r.own), make([]bool, r.own)
	for _, v := range sources {
		if v := int(v) - r.lo; v >= 0 && v < r.own {
			r.dist[v], r.listed[v] = 0, true
			r.next = append(r.next, int32(v))
		}
	}
	return r.told(0), nil
}

// told returns the numbers of the next frontier, after steps up to bound.
func (r *hostSearch[T, A]) told(bound T) rankNumbers[T] {
	now := rankNumbers[T]{listed: int64(len(r.next)), least: semiring.MaxValue[T]()}
	for _, v := range r.pile {
		if d := r.dist[v]; now.listed == 0 && d > bound {
			now.least = min(now.least, d)
		}
	}
	return now
}

func (r *hostSearch[T, A]) records(all, own int64) (whole, mine comm.Buffer) {
	r.all, r.mine = make([]frontierRecord[T], all), make([]frontierRecord[T], 0, own)
	for _, v := range r.next {
		r.mine = append(r.mine, frontierRecord[T]{r.dist[v], uint32(r.lo + int(v))})
	}
	return workflow.MemoryOf(r.all), workflow.MemoryOf(r.mine)
}

func (r *hostSearch[T, A]) bitmap() (whole, mine comm.Buffer) {
	total := 0
	for _, b := range bitmapBytes(r.q.w) {
		total += b / 4
	}
	r.words, r.ownWords = make([]uint32, total), make([]uint32, (r.own+31)/32)
	for _, v := range r.next {
		r.ownWords[v/32] |= 1 << (v % 32)
	}
	return workflow.MemoryOf(r.words), workflow.MemoryOf(r.ownWords)
}

func (r *hostSearch[T, A]) Push(_ int64, bound, _ T) (rankNumbers[T], error) {
	r.next = r.next[:0]
	clear(r.listed)
	lengths, _ := any(r.out.Val).([]T)
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
	return r.told(bound), nil
}

// list adds an own vertex to a list once.
func (r *hostSearch[T, A]) list(list *[]int32, is []bool, v int32) {
	if !is[v] {
		is[v] = true
		*list = append(*list, v)
	}
}

func (r *hostSearch[T, A]) pull(depth T) (rankNumbers[T], error) {
	r.all = r.all[:0]
	word := 0
	for p := range r.q.w.G.Size() {
		lo, hi := r.q.w.Cuts[p], r.q.w.Cuts[p+1]
		for v := lo; v < hi; v++ {
			if r.words[word+(v-lo)/32]>>((v-lo)%32)&1 != 0 {
				r.all = append(r.all, frontierRecord[T]{depth - 1, uint32(v)})
			}
		}
		word += (hi - lo + 31) / 32
	}
	return r.Push(0, semiring.MaxValue[T](), depth)
}

func (r *hostSearch[T, A]) split(settled, bound T) (rankNumbers[T], error) {
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
	return r.told(bound), nil
}

func (r *hostSearch[T, A]) finish(c comm.Comm, parents bool) (int64, error) {
	shape := sparse.Structure{Format: sparse.Bitmap, NRows: 1, NCols: r.own, Present: make([]uint8, r.own)}
	for v, d := range r.dist {
		if d < semiring.MaxValue[T]() {
			shape.Present[v] = 1
			shape.NVals++
		}
	}
	if parents {
		levels := make([]T, r.q.n)
		if err := c.AllGatherV(r.q.w.Wait, workflow.MemoryOf(levels), r.q.w.Bytes(int(unsafe.Sizeof(T(0)))), workflow.MemoryOf(r.dist)); err != nil {
			return 0, err
		}
		r.parents = &sparse.Typed[int32]{Structure: shape, Val: make([]int32, r.own)}
		r.parents.Present = slices.Clone(shape.Present)
		in := access.Rows(r.in)
		for v, d := range r.dist {
			if shape.Present[v] == 0 {
				continue
			}
			r.parents.Val[v] = int32(r.lo + v)
			from, to := in.Span(v)
			for p := from; p < to && d > 0; p++ {
				if u := in.Idx[p]; levels[u] == d-1 {
					r.parents.Val[v] = u
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
	r.values = &sparse.Typed[T]{Structure: shape, Val: r.dist}
	return shape.NVals, nil
}
