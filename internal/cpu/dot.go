package cpu

import (
	"math"
	"slices"
	"sync/atomic"

	"github.com/hiveblas/hiveblas/internal/fresh"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// dotExchange is how many times as long as the row of a the row of bt must be for MaskedDot to look
// up the row of a in the row of bt, and not the other way round.
const dotExchange = 4

// MaskedDot computes a·b only at the positions of the listed mask, with one dot product per
// position. Row i of a is scattered into a dense vector once; the columns of b in row i of the mask
// are then looked up in it. Where these are much longer, they are scattered in turn, and the rows
// of a are looked up: products of hubs with others cost the length of the others. bt is the
// transpose of b, s is the semiring with its operands exchanged, and flip the semiring; without
// flip, all columns of b are looked up. Sums have the same order either way.
func MaskedDot(env Env, s, flip *Semiring, c *sparse.Type, a, bt *sparse.Store, mask *sparse.Structure) (*sparse.Store, error) {
	d := &dots{flip: flip, c: c, a: a, bt: bt, mask: mask, threads: parallel.Threads(env.Threads)}
	if s.User || mask.NCols > len(mask.Idx) {
		d.flip = nil
	}
	d.s = guardSemiring(env, s, c, bt.Type, a.Type)
	vecs := mask.Vecs()
	out := &sparse.Store{Structure: sparse.Structure{NRows: mask.NRows, NCols: mask.NCols, Format: mask.Format, RowIDs: mask.RowIDs}, Type: c}
	out.Ptr = make([]int64, vecs+1)
	copy(out.Ptr, mask.Ptr)
	out.Idx, out.Val = fresh.Make[int32](int64(len(mask.Idx))), c.Make(int64(len(mask.Idx)))
	d.out, d.rows = out, make([]dotRow, d.threads+1)
	bounds := parallel.Cut(d.threads, dotWork(&a.Structure, &bt.Structure, mask, d.threads, d.flip != nil), d.threads*32, 8)
	err := parallel.Pieces(env.Ctx, d.threads, len(bounds)-1, func(w, p int) {
		for k := bounds[p]; k < bounds[p+1]; k++ {
			d.row(&d.rows[w], k)
		}
	})
	if err == nil {
		err = d.columns(env)
	}
	if err != nil {
		return nil, err
	}
	lens := make([]int64, vecs)
	_ = mask.RowBlocks(nil, d.threads, func(_, from, to int) {
		var hits []int32
		for k := from; k < to; k++ {
			hits = hits[:0]
			lo, hi := mask.Ptr[k], mask.Ptr[k+1]
			idx := out.Idx[lo:hi]
			for p, j := range idx {
				if j >= 0 {
					hits = append(hits, int32(p))
				}
			}
			if lens[k] = int64(len(hits)); len(hits) < len(idx) {
				for q, p := range hits {
					idx[q] = idx[p]
				}
				c.Move(out.Part(lo, lo+lens[k]), nil, out.Part(lo, hi), hits)
			}
		}
	})
	compact(d.threads, out, lens)
	if out.Format == sparse.Hypersparse {
		dropEmptyRows(out)
	}
	return out.Settle(), nil
}

// dots are the products of MaskedDot. The result has a place for each entry of the mask, with the
// index −1 where the product has no terms.
type dots struct {
	s, flip *Semiring
	c       *sparse.Type
	a, bt   *sparse.Store
	mask    *sparse.Structure
	out     *sparse.Store
	threads int
	rows    []dotRow // of the workers
}

// dotRow is a scattered row.
type dotRow struct {
	x       Values
	present []uint8
	left    []dotLeft
}

// dotLeft is an entry of the mask that the first pass leaves to columns: its column, the number of
// its row among the rows of the mask, and its place.
type dotLeft struct {
	col, row int32
	place    int64
}

// set scatters the row lo … hi of st, with its values if they are read, or clears it.
func (r *dotRow) set(st *sparse.Store, lo, hi int64, values bool, to uint8) {
	if len(r.present) < st.NCols {
		r.present = make([]uint8, st.NCols)
	}
	idx := st.Idx[lo:hi]
	for _, j := range idx {
		r.present[j] = to
	}
	if values && to == 1 && !st.Val.None() {
		if r.x.None() {
			r.x = st.Type.Zeroed(int64(st.NCols))
		}
		st.Type.Move(r.x, idx, st.Part(lo, hi), nil)
	}
}

// row computes the k-th row of the result, but for the products with long columns.
func (d *dots) row(r *dotRow, k int) {
	mlo, mhi := d.mask.Ptr[k], d.mask.Ptr[k+1]
	idx := d.out.Idx[mlo:mhi]
	alo, ahi := d.a.Span(d.mask.RowID(k))
	if alo == ahi {
		for p := range idx {
			idx[p] = -1
		}
		return
	}
	r.set(d.a, alo, ahi, d.s.UsesY, 1)
	d.c.Fill(d.out.Part(mlo, mhi), d.s.Identity)
	longest := int64(math.MaxInt64)
	if d.flip != nil {
		longest = dotExchange * (ahi - alo)
	}
	bt := d.bt
	for p, j := range d.mask.Idx[mlo:mhi] {
		var lo, hi int64
		if bt.Format == sparse.CSR { // what Span does, which is not inlined
			lo, hi = bt.Ptr[j], bt.Ptr[j+1]
		} else {
			lo, hi = bt.Span(int(j))
		}
		q := mlo + int64(p)
		idx[p] = -1
		switch {
		case lo == hi:
		case hi-lo > longest:
			r.left = append(r.left, dotLeft{j, int32(k), q})
		case d.s.DotPresent(d.c.At(d.out.Val, q), bt.Idx[lo:hi], bt.Part(lo, hi), r.x, r.present):
			idx[p] = j
		}
	}
	r.set(d.a, alo, ahi, d.s.UsesY, 0)
}

// columns computes the products with long columns, column by column.
func (d *dots) columns(env Env) error {
	n, total := d.mask.NCols, 0
	for w := range d.rows {
		total += len(d.rows[w].left)
	}
	if total == 0 {
		return nil
	}
	ends, work := make([]int64, n+1), make([]int64, n+1)
	for w := range d.rows {
		for _, l := range d.rows[w].left {
			lo, hi := d.a.Span(d.mask.RowID(int(l.row)))
			ends[l.col+1]++
			work[l.col+1] += hi - lo + dotExchange
		}
	}
	for j := range n {
		if work[j+1] > 0 {
			lo, hi := d.bt.Span(j)
			work[j+1] += 2 * (hi - lo)
		}
		ends[j+1] += ends[j]
		work[j+1] += work[j]
	}
	left, at := fresh.Make[dotLeft](int64(total)), slices.Clone(ends)
	for w := range d.rows {
		for _, l := range d.rows[w].left {
			left[at[l.col]] = l
			at[l.col]++
		}
	}
	d.rows = nil
	rows := make([]dotRow, d.threads+1)
	bounds := parallel.Cut(d.threads, work, d.threads*32, 0)
	return parallel.Pieces(env.Ctx, d.threads, len(bounds)-1, func(w, p int) {
		r := &rows[w]
		for j := bounds[p]; j < bounds[p+1]; j++ {
			if ends[j] == ends[j+1] {
				continue
			}
			blo, bhi := d.bt.Span(j)
			r.set(d.bt, blo, bhi, d.flip.UsesY, 1)
			for _, l := range left[ends[j]:ends[j+1]] {
				lo, hi := d.a.Span(d.mask.RowID(int(l.row)))
				if d.flip.DotPresent(d.c.At(d.out.Val, l.place), d.a.Idx[lo:hi], d.a.Part(lo, hi), r.x, r.present) {
					d.out.Idx[l.place] = int32(j)
				}
			}
			r.set(d.bt, blo, bhi, d.flip.UsesY, 0)
		}
	})
}

// dotWork returns the prefix sums of the work of each mask row. exchange is whether MaskedDot looks
// up the shorter one of two rows.
func dotWork(a, bt, mask *sparse.Structure, threads int, exchange bool) []int64 {
	vecs := mask.Vecs()
	work := make([]int64, vecs+1)
	_ = mask.RowBlocks(nil, threads, func(_, lo, hi int) {
		for k := lo; k < hi; k++ {
			alo, ahi := a.Span(mask.RowID(k))
			f, longest := 2*(ahi-alo), int64(math.MaxInt64)
			if exchange {
				longest = dotExchange * (ahi - alo)
			}
			if f > 0 {
				for _, j := range mask.Idx[mask.Ptr[k]:mask.Ptr[k+1]] {
					blo, bhi := bt.Span(int(j))
					f += min(bhi-blo, longest) + 2
				}
			}
			work[k+1] = f
		}
	})
	parallel.Sum(threads, work)
	return work
}

// DotCost returns about the number of products that MaskedDot examines, with flip or without.
func DotCost(a, bt, mask *sparse.Structure, threads int, flip bool) int64 {
	w := dotWork(a, bt, mask, threads, flip)
	return w[len(w)-1]
}

// SaxpyCost returns the number of products of a·b, which is the cost of MxM.
func SaxpyCost(env Env, a, b *sparse.Structure) int64 {
	var total atomic.Int64
	_ = parallel.Range(nil, env.Threads, len(a.Idx), 1<<15, func(_, lo, hi int) {
		var f int64
		for _, c := range a.Idx[lo:hi] {
			blo, bhi := b.Span(int(c))
			f += bhi - blo
		}
		total.Add(f)
	})
	return total.Load()
}

// SpMM computes a·b for a listed a and a full b: each entry of a adds a multiple of a row of b to a
// row of the result. The result is full if every row of a has entries, and a bitmap otherwise.
func SpMM(env Env, s *Semiring, c *sparse.Type, a, b *sparse.Store) (*sparse.Store, error) {
	s = guardSemiring(env, s, c, a.Type, b.Type)
	n := b.NCols
	cells, _ := sparse.Cells(a.NRows, n)
	out := &sparse.Store{Structure: sparse.Structure{NRows: a.NRows, NCols: n, Format: sparse.Full, NVals: int64(cells)}, Val: zeroed(c, env.Threads, cells), Type: c}
	var rowsUsed atomic.Int64
	threads := parallel.Threads(env.Threads)
	bounds := parallel.Cut(threads, a.Ptr, threads*16, 1)
	err := parallel.Pieces(env.Ctx, threads, len(bounds)-1, func(_, p int) {
		used := int64(0)
		for k := bounds[p]; k < bounds[p+1]; k++ {
			if a.Ptr[k] == a.Ptr[k+1] {
				continue
			}
			used++
			i := a.RowID(k)
			y := out.Part(int64(i)*int64(n), int64(i+1)*int64(n))
			if !c.IsZero(s.Identity) {
				c.Fill(y, s.Identity)
			}
			for p := a.Ptr[k]; p < a.Ptr[k+1]; p++ {
				from := int64(a.Idx[p]) * int64(n)
				s.Axpy(y, a.Type.At(a.Val, p), b.Part(from, from+int64(n)))
			}
		}
		rowsUsed.Add(used)
	})
	if err != nil || rowsUsed.Load() == int64(a.NRows) {
		return out, err
	}
	out.Format = sparse.Bitmap
	out.NVals = rowsUsed.Load() * int64(n)
	out.Present = zeros[uint8](threads, cells)
	return out, a.RowBlocks(env.Ctx, threads, func(_, lo, hi int) {
		for k := lo; k < hi; k++ {
			if a.Ptr[k] < a.Ptr[k+1] {
				i := a.RowID(k)
				row := out.Present[i*n : (i+1)*n]
				for j := range row {
					row[j] = 1
				}
			}
		}
	})
}
