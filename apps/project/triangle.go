package project

import (
	"math/bits"
	"slices"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/cpu"
	"github.com/hiveblas/hiveblas/internal/hostmem"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

// leastTriangle is the number of products of a triangle from which it is computed.
const leastTriangle = 1 << 16

// mirrorBand is the number of rows that the mirror fills at a time: a cache line of indices and one
// of values of each stay in the second-level cache.
const mirrorBand = 4096

// projectTriangle computes a symmetric projection on the host by its upper triangle, which it
// mirrors: half of the products, and equal values, since the products of an entry commute and are
// summed in the same order. The result is nil for other projections, and where the triangle has
// fewer products than least or than the square of the number of vertices: then it may have few of
// them an entry, and the mirror costs more (two cores, medians: 5.7 an entry 1.3 to 2.3 times as
// fast, 4.1 an entry 0.8; bench/results/2026-11-28-projection-2core.txt).
func projectTriangle[T semiring.Number](right *matrix.View[T], least int64, o ProjectionOptions) (*matrix.Matrix[T], error) {
	if o.Method == workflow.Pipeline || right.Place() != nil {
		return nil, nil
	}
	v, ring := right.Inside(), semiring.PlusTimes[T]().Inside()
	switch o.Weighting {
	case WeightCount:
		v, ring = right.Pattern().Inside(), semiring.PlusPair[T]().Inside()
	case WeightRatio:
		return nil, nil
	}
	out, err := triangleOf(v, ring.Semiring, sparse.TypeOf[T](), least, o)
	if out == nil || err != nil {
		return nil, err
	}
	return matrix.OfInside[T](out), nil
}

// triangle is a product Rᵀ·R by its upper triangle.
type triangle struct {
	s        *cpu.Semiring
	c        *sparse.Type
	r        *sparse.Store     // R by rows
	cols     *sparse.Structure // the rows of Rᵀ
	at       []int64           // of an entry of cols: its place in r
	diagonal bool
	threads  int
	run      workflow.Run

	n     int
	work  []int64   // prefix sums of the products of each row
	upper [][]int32 // entries of each row from the diagonal on: a sixth of the memory of the result
	out   *sparse.Store
}

// triangleOf is projectTriangle of a view with elements of type c.
func triangleOf(v rep.View, s *cpu.Semiring, c *sparse.Type, least int64, o ProjectionOptions) (rep.Matrix, error) {
	if err := v.Err(); err != nil || s == nil || s.User {
		return nil, err
	}
	t := &triangle{s: s, c: c, r: v.Rows(), diagonal: o.Diagonal, threads: parallel.Threads(o.Threads), run: o.Run}
	if err := v.Err(); err != nil || t.r.Format != sparse.CSR {
		return nil, err
	}
	if t.n = t.r.NCols; t.n == 0 || t.products() < least || least > 0 && t.products() < int64(t.n)*int64(t.n) {
		return nil, nil
	}
	if t.cols = v.ColsShape(); t.cols.Format != sparse.CSR {
		return nil, v.Err()
	}
	t.place()
	workflow.Report(o.Run, "project", 0, 0)
	if err := t.count(); err != nil {
		return nil, err
	}
	if t.out == nil {
		return nil, nil // the product says how much memory there is
	}
	if err := t.compute(); err != nil {
		return nil, err
	}
	t.mirror()
	workflow.Traced(o.Run, "Projection", "triangle", t.n, 2*t.work[t.n])
	m := matrix.NewInside(c, t.n, t.n)
	m.SetResult(t.out)
	return m, workflow.Expired(o.Run)
}

// products returns the number of products of the triangle.
func (t *triangle) products() (sum int64) {
	for k := range t.r.NRows {
		n := t.r.Ptr[k+1] - t.r.Ptr[k]
		sum += n * (n - 1) / 2
	}
	return sum
}

// place finds the entries of cols in r, and the products of each row: row u takes row k of r from
// column u on, or after it, for each entry (k, u).
func (t *triangle) place() {
	next := slices.Clone(t.r.Ptr[:t.r.NRows])
	t.at, t.work = make([]int64, len(t.cols.Idx)), make([]int64, t.n+1)
	for u := range t.n {
		sum := int64(0)
		for q := t.cols.Ptr[u]; q < t.cols.Ptr[u+1]; q++ {
			k := t.cols.Idx[q]
			p := next[k]
			next[k]++
			t.at[q] = p
			sum += t.r.Ptr[k+1] - t.from(p)
		}
		t.work[u+1] = t.work[u] + sum
	}
}

// from returns the first entry of a row that counts, by the place of the vertex in the row.
func (t *triangle) from(p int64) int64 {
	if t.diagonal {
		return p
	}
	return p + 1
}

// pieces runs f for ranges of rows of about equal work.
func (t *triangle) pieces(f func(worker, lo, hi int)) error {
	return parallel.RangeAt(t.run.Context, t.threads, t.n, 16*t.threads, func(i int) int64 { return t.work[i] + int64(i) }, f)
}

// count finds the entries of each row, and makes room for the result, if there is memory.
func (t *triangle) count() error {
	t.upper = make([][]int32, t.n)
	lower := make([]int64, t.n+1) // of row v in v + 1: entries before the diagonal
	words := (t.n + 63) / 64
	workers := make([]*counter, t.threads)
	err := t.pieces(func(w, lo, hi int) {
		if workers[w] == nil {
			workers[w] = &counter{marks: make([]uint64, words), counts: make([]int32, t.n)}
		}
		for u := lo; u < hi; u++ {
			t.upper[u] = t.countRow(u, workers[w])
		}
	})
	if err != nil {
		return err
	}
	_ = parallel.Range(nil, t.threads, t.n, 1<<12, func(_, lo, hi int) {
		for _, w := range workers {
			for v := lo; v < hi && w != nil; v++ {
				lower[v+1] += int64(w.counts[v])
			}
		}
	})
	ptr := make([]int64, t.n+1)
	for v := range t.n {
		ptr[v+1] = ptr[v] + lower[v+1] + int64(len(t.upper[v]))
	}
	entries := ptr[t.n]
	if _, _, ok := hostmem.Fits(entries, 4+t.c.Size); !ok {
		return nil
	}
	t.out = &sparse.Store{Structure: sparse.Structure{NRows: t.n, NCols: t.n, NVals: entries, Format: sparse.CSR, Ptr: ptr, Idx: make([]int32, entries)},
		Type: t.c, Val: t.c.Make(entries)}
	return nil
}

// counter is the scratch memory of a thread of count.
type counter struct {
	marks  []uint64
	counts []int32 // of each column: its entries in the rows of the thread, without the diagonal
	room   []int32
}

// countRow returns the columns of row u, and counts them.
func (t *triangle) countRow(u int, w *counter) []int32 {
	first, last := u>>6, u>>6
	for q := t.cols.Ptr[u]; q < t.cols.Ptr[u+1]; q++ {
		lo, hi := t.from(t.at[q]), t.r.Ptr[t.cols.Idx[q]+1]
		if lo >= hi {
			continue
		}
		list := t.r.Idx[lo:hi]
		last = max(last, int(list[len(list)-1]>>6))
		for _, j := range list {
			w.marks[j>>6] |= 1 << (j & 63)
		}
	}
	const chunk = 1 << 16
	most := min(t.n-u, int(t.work[u+1]-t.work[u]))
	if len(w.room) < most {
		w.room = make([]int32, max(most, chunk))
	}
	set, idx, n := w.marks[first:last+1], w.room[:most], 0
	for k, word := range set {
		for base := int32(first+k) << 6; word != 0; word &= word - 1 {
			v := base + int32(bits.TrailingZeros64(word))
			idx[n] = v
			n++
			w.counts[v]++
		}
	}
	clear(set)
	if n > 0 && int(idx[0]) == u {
		w.counts[u]--
	}
	w.room = w.room[n:]
	return idx[:n:n]
}

// compute writes the upper triangle into the ends of the rows of the result.
func (t *triangle) compute() error {
	sums := make([]sparse.Values, t.threads)
	return t.pieces(func(w, lo, hi int) {
		if sums[w].None() {
			sums[w] = t.c.Filled(int64(t.n), t.s.Identity)
		}
		acc := sums[w]
		for u := lo; u < hi; u++ {
			for q := t.cols.Ptr[u]; q < t.cols.Ptr[u+1]; q++ {
				p := t.at[q]
				if from, to := t.from(p), t.r.Ptr[t.cols.Idx[q]+1]; from < to {
					t.s.ScatterAll(acc, t.r.Type.At(t.r.Val, p), t.r.Idx[from:to], t.r.Part(from, to))
				}
			}
			idx, end := t.upper[u], t.out.Ptr[u+1]
			begin := end - int64(len(idx))
			copy(t.out.Idx[begin:end], idx)
			t.c.Move(t.out.Part(begin, end), nil, acc, idx)
			t.c.FillAt(acc, idx, t.s.Identity)
		}
	})
}

// mirror copies the upper triangle to the lower one: entry (u, v) becomes the next entry of row v,
// for ascending u.
func (t *triangle) mirror() {
	switch t.c.Size {
	case 1:
		mirrored(t, sparse.SliceOf[sparse.E1](t.out.Val))
	case 2:
		mirrored(t, sparse.SliceOf[sparse.E2](t.out.Val))
	case 4:
		mirrored(t, sparse.SliceOf[sparse.E4](t.out.Val))
	default:
		mirrored(t, sparse.SliceOf[sparse.E8](t.out.Val))
	}
}

func mirrored[E any](t *triangle, val []E) {
	ptr, idx := t.out.Ptr, t.out.Idx
	next := slices.Clone(ptr[:t.n])
	// A band costs a search in each row before its end.
	bands := max(t.threads, min(t.n/mirrorBand, int(ptr[t.n]/int64(16*t.n))))
	_ = parallel.RangeAt(nil, t.threads, t.n, bands, func(i int) int64 { return ptr[i] + int64(i) }, func(_, lo, hi int) {
		for u := range hi {
			list := t.upper[u]
			begin, at := ptr[u+1]-int64(len(list)), 0
			if lo > u {
				at, _ = slices.BinarySearch(list, int32(lo))
			} else if len(list) > 0 && int(list[0]) == u {
				at = 1
			}
			for _, v := range list[at:] {
				if int(v) >= hi {
					break
				}
				q := next[v]
				next[v]++
				idx[q], val[q] = int32(u), val[begin+int64(at)]
				at++
			}
		}
	})
}
