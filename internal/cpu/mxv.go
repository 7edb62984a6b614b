package cpu

import (
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// Pull computes the vector w with w[i] = Σ a(i,k) ⊗ u[k], one dot product per
// row of a (CSR or hypersparse) that mask allows. u is 1×n in any format; the
// result is 1×m: full, bitmap or a list, by how much of it is there.
func Pull[A, B, C any](env Env, s *Semiring[A, B, C], a *sparse.Store[A], u *sparse.Store[B], mask *Mask) (*sparse.Store[C], error) {
	m := a.NRows
	threads := parallel.Threads(env.Threads)
	if u.Format == sparse.Full && mask == nil && a.Format == sparse.CSR {
		return pullFull(env, s, a, u.Val, make([]C, m), threads)
	}
	x, present := dense(u)
	absorb := s.IsIdentity != nil
	if absorb {
		filled := s.FillIdentity(u.NCols)
		for j, b := range present {
			if b != 0 {
				filled[j] = x[j]
			}
		}
		x = filled
	}
	var allow []uint8
	if mask != nil {
		allow = mask.bytes(m)
	}
	// Every block lists what it finds in its own part of these arrays.
	vecs := a.Vecs()
	idx, y := make([]int32, vecs), make([]C, vecs)
	bounds := parallel.Cut(a.Ptr, threads*16, 4)
	counts := make([]int, len(bounds)-1)
	err := parallel.Pieces(env.Ctx, threads, len(bounds)-1, func(_, b int) {
		q := bounds[b]
		for k := bounds[b]; k < bounds[b+1]; k++ {
			lo, hi := a.Ptr[k], a.Ptr[k+1]
			i := a.RowID(k)
			if lo == hi || allow != nil && (allow[i] != 0) == mask.Comp {
				continue
			}
			ci := a.Idx[lo:hi]
			var v C
			var hit bool
			if absorb {
				v = s.Dot(s.Identity, ci, a.Val[lo:hi], x)
				hit = !s.IsIdentity(v) || meets(ci, present)
			} else {
				v, hit = s.DotPresent(s.Identity, ci, window(a.Val, lo, hi), x, present)
			}
			if hit {
				idx[q], y[q] = int32(i), v
				q++
			}
		}
		counts[b] = q - bounds[b]
	})
	if err != nil {
		return nil, err
	}
	return pulled(m, bounds, counts, idx, y), nil
}

// pulled makes a vector of the lists that blocks left in idx and val: a list,
// or a bitmap when more than half of the positions are there.
func pulled[C any](m int, bounds, counts []int, idx []int32, val []C) *sparse.Store[C] {
	total := 0
	for _, n := range counts {
		total += n
	}
	out := &sparse.Store[C]{Structure: sparse.Structure{NRows: 1, NCols: m, NVals: int64(total)}}
	if 2*total > m {
		out.Format = sparse.Bitmap
		out.Present, out.Val = make([]uint8, m), make([]C, m)
		for b, n := range counts {
			v := val[bounds[b] : bounds[b]+n]
			for p, i := range idx[bounds[b] : bounds[b]+n] {
				out.Present[i], out.Val[i] = 1, v[p]
			}
		}
		return out
	}
	out.Ptr = []int64{0, int64(total)}
	out.Idx, out.Val = make([]int32, 0, total), make([]C, 0, total)
	for b, n := range counts {
		out.Idx = append(out.Idx, idx[bounds[b]:bounds[b]+n]...)
		out.Val = append(out.Val, val[bounds[b]:bounds[b]+n]...)
	}
	return out
}

func pullFull[A, B, C any](env Env, s *Semiring[A, B, C], a *sparse.Store[A], x []B, y []C, threads int) (*sparse.Store[C], error) {
	m := a.NRows
	bounds := parallel.Cut(a.Ptr, threads*8, 2)
	var empty atomic.Int64
	err := parallel.Pieces(env.Ctx, threads, len(bounds)-1, func(_, b int) {
		lo, hi := bounds[b], bounds[b+1]
		if s.DotRows != nil {
			s.DotRows(y[lo:hi], s.Identity, a.Ptr[lo:hi+1], a.Idx, a.Val, x)
		}
		none := int64(0)
		for i := lo; i < hi; i++ {
			if a.Ptr[i] == a.Ptr[i+1] {
				none++
			} else if s.DotRows == nil {
				y[i] = s.Dot(s.Identity, a.Idx[a.Ptr[i]:a.Ptr[i+1]], window(a.Val, a.Ptr[i], a.Ptr[i+1]), x)
			}
		}
		if none > 0 {
			empty.Add(none)
		}
	})
	out := &sparse.Store[C]{Structure: sparse.Structure{NRows: 1, NCols: m, NVals: int64(m), Format: sparse.Full}, Val: y}
	if empty.Load() > 0 {
		out.Format = sparse.Bitmap
		out.NVals -= empty.Load()
		out.Present = make([]uint8, m)
		for i := range y {
			if a.Ptr[i] < a.Ptr[i+1] {
				out.Present[i] = 1
			} else {
				y[i] = *new(C)
			}
		}
	}
	return out, err
}

// meets reports whether one of the columns is present.
func meets(ci []int32, present []uint8) bool {
	for _, j := range ci {
		if present[j] != 0 {
			return true
		}
	}
	return false
}

// window returns v[lo:hi], or nil for the values of a pattern.
func window[T any](v []T, lo, hi int64) []T {
	if v == nil {
		return nil
	}
	return v[lo:hi]
}

// dense returns the values of a 1×n vector by position, and its presence
// bytes. x is nil for a pattern.
func dense[T any](u *sparse.Store[T]) (x []T, present []uint8) {
	switch u.Format {
	case sparse.Bitmap:
		return u.Val, u.Present
	case sparse.Full:
		present = make([]uint8, u.NCols)
		for i := range present {
			present[i] = 1
		}
		return u.Val, present
	}
	present = make([]uint8, u.NCols)
	if u.Val != nil {
		x = make([]T, u.NCols)
	}
	sparse.Scatter(u, present, x)
	return x, present
}

// pushSerialWork is the number of products below which one thread is quicker.
const pushSerialWork = 1 << 14

// Push computes w[j] = Σ u[k] ⊗ a(k,j) by scattering the rows of a (CSR or
// hypersparse) for which u has an entry. Threads share the columns, not the
// rows: each scatters its range of columns for all of u, so sums are taken in
// one order whatever the number of threads, and nothing is merged.
// The result is 1×n: listed, or bitmap when a good part of it is there.
func Push[A, B, C any](env Env, s *Semiring[A, B, C], u *sparse.Store[A], a *sparse.Store[B], mask *Mask) (*sparse.Store[C], error) {
	n := a.NCols
	ks, uv := entries(u)
	los, his := make([]int64, len(ks)), make([]int64, len(ks))
	var work int64
	for p, k := range ks {
		los[p], his[p] = a.Span(int(k))
		work += his[p] - los[p]
	}
	threads := parallel.Threads(env.Threads)
	if work < pushSerialWork {
		threads = 1
	}
	if int64(n) > 1<<22 && work < int64(n)/1024 {
		return pushSorted(env, s, ks, uv, los, his, a, mask)
	}
	cuts := columnCuts(a, los, his, work, n, threads)
	pieces := len(cuts) - 1
	sp := getSPA(n, s.Identity)
	var allow []uint8
	comp := false
	if mask != nil {
		allow, comp = mask.bytes(n), mask.Comp
	}
	// A result that fills a good part of the vector is left as a bitmap.
	dense := work > int64(n)/4
	out := &sparse.Store[C]{Structure: sparse.Structure{NRows: 1, NCols: n}}
	if dense {
		out.Format = sparse.Bitmap
		out.Present = make([]uint8, n)
		out.Val = make([]C, n)
	}
	idx := make([][]int32, pieces)
	val := make([][]C, pieces)
	counts := make([]int64, pieces)
	err := parallel.Pieces(env.Ctx, threads, pieces, func(_, piece int) {
		clo, chi := cuts[piece], cuts[piece+1]
		whole := pieces == 1
		var zero A
		for p := range ks {
			lo, hi := los[p], his[p]
			if !whole {
				ci := a.Idx[lo:hi]
				hi = lo + int64(search(ci, chi))
				lo += int64(search(ci, clo))
			}
			if lo == hi {
				continue
			}
			x := zero
			if uv != nil {
				x = uv[p]
			}
			s.Scatter(sp.acc, sp.marks, x, a.Idx[lo:hi], window(a.Val, lo, hi))
		}
		if dense {
			counts[piece] = sp.drainDense(clo, chi, allow, comp, out.Present, out.Val)
		} else {
			idx[piece], val[piece] = sp.drain(clo, chi, allow, comp)
		}
	})
	if err != nil {
		return nil, err // the accumulator is not clean: leave it to the collector
	}
	sp.release()
	if dense {
		for _, c := range counts {
			out.NVals += c
		}
		return out, nil
	}
	out.Idx, out.Val = idx[0], val[0]
	if pieces > 1 {
		out.Idx, out.Val = slices.Concat(idx...), slices.Concat(val...)
	}
	if out.Val == nil {
		out.Idx, out.Val = []int32{}, []C{}
	}
	out.NVals = int64(len(out.Idx))
	out.Ptr = []int64{0, out.NVals}
	return out, nil
}

// search returns the first position of the ascending ci with ci[p] ≥ c.
func search(ci []int32, c int) int {
	if len(ci) == 0 || c <= int(ci[0]) {
		return 0
	}
	if c > int(ci[len(ci)-1]) {
		return len(ci)
	}
	lo, hi := 0, len(ci)
	for lo < hi {
		mid := int(uint(lo+hi) / 2)
		if int(ci[mid]) < c {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// columnCuts splits the columns into ranges of about equal work, at multiples
// of 64 so that threads never share a word of marks, from a sample.
func columnCuts[B any](a *sparse.Store[B], los, his []int64, work int64, n, pieces int) []int {
	if pieces <= 1 || work == 0 {
		return []int{0, n}
	}
	const sample = 256
	picks := make([]int32, 0, sample+1)
	step := max(1, work/sample)
	var next, seen int64
	for p := range los {
		d := his[p] - los[p]
		for next < seen+d {
			picks = append(picks, a.Idx[los[p]+next-seen])
			next += step
		}
		seen += d
	}
	slices.Sort(picks)
	cuts := []int{0}
	for k := 1; k < pieces; k++ {
		c := int(picks[len(picks)*k/pieces]) &^ 63
		if c > cuts[len(cuts)-1] && c < n {
			cuts = append(cuts, c)
		}
	}
	return append(cuts, n)
}

// entries returns the positions and values of a 1×n vector; uv is nil for a
// pattern.
func entries[T any](u *sparse.Store[T]) (ks []int32, uv []T) {
	if u.Sparse() {
		return u.Idx, u.Val
	}
	r := sparse.ToSparse(u)
	return r.Idx, r.Val
}

// drain lists the marked positions of columns clo … chi−1 that the mask
// allows, and leaves the accumulator clean there.
func (s *spa[C]) drain(clo, chi int, allow []uint8, comp bool) (idx []int32, val []C) {
	count := 0
	wlo, whi := clo/64, (chi+63)/64
	for _, w := range s.marks[wlo:whi] {
		count += bits.OnesCount64(w)
	}
	idx, val = make([]int32, 0, count), make([]C, 0, count)
	for w := wlo; w < whi; w++ {
		word := s.marks[w]
		if word == 0 {
			continue
		}
		s.marks[w] = 0
		for ; word != 0; word &= word - 1 {
			j := w*64 + bits.TrailingZeros64(word)
			if allow == nil || (allow[j] != 0) != comp {
				idx = append(idx, int32(j))
				val = append(val, s.acc[j])
			}
			s.acc[j] = s.id
		}
	}
	return idx, val
}

// drainDense is drain into presence bytes and values by position.
func (s *spa[C]) drainDense(clo, chi int, allow []uint8, comp bool, present []uint8, val []C) (count int64) {
	for w := clo / 64; w < (chi+63)/64; w++ {
		word := s.marks[w]
		if word == 0 {
			continue
		}
		s.marks[w] = 0
		for ; word != 0; word &= word - 1 {
			j := w*64 + bits.TrailingZeros64(word)
			if allow == nil || (allow[j] != 0) != comp {
				present[j] = 1
				val[j] = s.acc[j]
				count++
			}
			s.acc[j] = s.id
		}
	}
	return count
}

// pushSorted is Push for few products into a very wide result: list, sort,
// add up.
func pushSorted[A, B, C any](env Env, s *Semiring[A, B, C], ks []int32, uv []A, los, his []int64, a *sparse.Store[B], mask *Mask) (*sparse.Store[C], error) {
	var l list[C]
	for p := range ks {
		var x A
		if uv != nil {
			x = uv[p]
		}
		appendProducts(&l, s, x, a, los[p], his[p])
	}
	out := &sparse.Store[C]{Structure: sparse.Structure{NRows: 1, NCols: a.NCols}}
	l.sum(s.Add, s.Identity)
	out.Idx, out.Val = append([]int32{}, l.idx...), append([]C{}, l.val...)
	out.NVals = int64(len(out.Idx))
	out.Ptr = []int64{0, out.NVals}
	if mask != nil {
		return Filter(env, out, mask)
	}
	return out, nil
}
