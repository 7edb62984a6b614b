package cpu

import (
	"sync/atomic"

	"github.com/hiveblas/hiveblas/internal/fresh"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// MaskedDot computes a·b only at the positions of the listed mask, with one dot product per
// position. Row i of a is scattered into a dense vector once; the columns of b in row i of the mask
// are then looked up in it. bt is the transpose of b, and s is the semiring with its operands
// exchanged.
func MaskedDot(env Env, s *Semiring, c *sparse.Type, a, bt *sparse.Store, mask *sparse.Structure) (*sparse.Store, error) {
	s = guardSemiring(env, s, c, bt.Type, a.Type)
	vecs := mask.Vecs()
	out := &sparse.Store{Structure: sparse.Structure{NRows: mask.NRows, NCols: mask.NCols, Format: mask.Format, RowIDs: mask.RowIDs}, Type: c}
	out.Ptr = make([]int64, vecs+1)
	copy(out.Ptr, mask.Ptr)
	out.Idx, out.Val = fresh.Make[int32](int64(len(mask.Idx))), c.Make(int64(len(mask.Idx)))
	lens := make([]int64, vecs)
	threads := parallel.Threads(env.Threads)
	bounds := parallel.Cut(threads, dotWork(&a.Structure, &bt.Structure, mask, threads), threads*32, 8)
	type row struct {
		x       Values
		present []uint8
	}
	rows := make([]row, threads+1)
	err := parallel.Pieces(env.Ctx, threads, len(bounds)-1, func(w, p int) {
		r := &rows[w]
		if r.present == nil {
			r.present = make([]uint8, a.NCols)
			if !a.Val.None() && s.UsesY {
				r.x = a.Type.Zeroed(int64(a.NCols))
			}
		}
		for k := bounds[p]; k < bounds[p+1]; k++ {
			mlo, mhi := mask.Ptr[k], mask.Ptr[k+1]
			alo, ahi := a.Span(mask.RowID(k))
			if mlo == mhi || alo == ahi {
				continue
			}
			ai := a.Idx[alo:ahi]
			for _, j := range ai {
				r.present[j] = 1
			}
			if !r.x.None() {
				a.Type.Move(r.x, ai, a.Part(alo, ahi), nil)
			}
			q := mlo
			c.Fill(out.Part(mlo, mhi), s.Identity)
			for _, j := range mask.Idx[mlo:mhi] {
				var lo, hi int64
				if bt.Format == sparse.CSR { // what Span does, which is not inlined
					lo, hi = bt.Ptr[j], bt.Ptr[j+1]
				} else {
					lo, hi = bt.Span(int(j))
				}
				if lo == hi {
					continue
				}
				if s.DotPresent(c.At(out.Val, q), bt.Idx[lo:hi], bt.Part(lo, hi), r.x, r.present) {
					out.Idx[q] = j
					q++
				}
			}
			lens[k] = q - mlo
			for _, j := range ai {
				r.present[j] = 0
			}
		}
	})
	if err != nil {
		return nil, err
	}
	compact(threads, out, lens)
	if out.Format == sparse.Hypersparse {
		dropEmptyRows(out)
	}
	return out.Settle(), nil
}

// dotWork returns the prefix sums of the work of each mask row.
func dotWork(a, bt, mask *sparse.Structure, threads int) []int64 {
	vecs := mask.Vecs()
	work := make([]int64, vecs+1)
	_ = mask.RowBlocks(nil, threads, func(_, lo, hi int) {
		for k := lo; k < hi; k++ {
			alo, ahi := a.Span(mask.RowID(k))
			f := 2 * (ahi - alo)
			if f > 0 {
				for _, j := range mask.Idx[mask.Ptr[k]:mask.Ptr[k+1]] {
					blo, bhi := bt.Span(int(j))
					f += bhi - blo + 2
				}
			}
			work[k+1] = f
		}
	})
	parallel.Sum(threads, work)
	return work
}

// DotCost returns the number of products that MaskedDot examines.
func DotCost(a, bt, mask *sparse.Structure, threads int) int64 {
	w := dotWork(a, bt, mask, threads)
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
