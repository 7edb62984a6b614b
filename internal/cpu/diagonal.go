package cpu

import (
	"github.com/hiveblas/hiveblas/internal/fresh"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// IsDiagonal reports whether all entries of a listed s are on its diagonal. O(rows), and O(1) in
// most matrices that are not diagonal.
func IsDiagonal(s *sparse.Structure) bool {
	if !s.Sparse() || s.NVals == 0 || s.NVals > int64(min(s.NRows, s.NCols)) {
		return false
	}
	for k := range s.Vecs() {
		if lo, hi := s.Ptr[k], s.Ptr[k+1]; lo < hi && (hi > lo+1 || int(s.Idx[lo]) != s.RowID(k)) {
			return false
		}
	}
	return true
}

// diagonalRoom reports whether an array with a place for each of n positions is small beside the
// entries of both operands.
func diagonalRoom(n int, entries int64) bool { return n <= 1<<22 || int64(n) <= 4*entries }

// ScaleColumns computes a·d for a listed a and a diagonal d: column j of a is multiplied by d(j,j).
// It returns nil if an array of d's size is too large for the entries. O(entries of a + columns).
// If d has all entries, the result shares the structure of a.
func ScaleColumns(env Env, s *Semiring, c *sparse.Type, a, d *sparse.Store) (*sparse.Store, error) {
	s = guardSemiring(env, s, c, a.Type, d.Type)
	if !diagonalRoom(d.NRows, a.NVals+d.NVals) {
		return nil, nil
	}
	x := d.Val
	if d.NVals < int64(d.NRows) || d.NRows != d.NCols {
		present := make([]uint8, d.NRows)
		for _, j := range d.Idx {
			present[j] = 1
		}
		if !x.None() {
			x = d.Type.Zeroed(int64(d.NRows))
			d.Type.Move(x, d.Idx, d.Val, nil)
		}
		var err error
		if a, err = sift(env, a, func(keep []uint8, _ int, ci []int32, _, _ int64) {
			for p, j := range ci {
				keep[p] = present[j]
			}
		}); err != nil {
			return nil, err
		}
	}
	out := &sparse.Store{Structure: a.Structure, Val: c.Make(a.NVals), Type: c}
	out.NCols = d.NCols
	err := parallel.Range(env.Ctx, env.Threads, len(a.Idx), 1<<15, func(_, from, to int) {
		for lo := from; lo < to; lo += denseChunk {
			hi := min(lo+denseChunk, to)
			from, to := int64(lo), int64(hi)
			y, ci := out.Part(from, to), a.Idx[lo:hi]
			if s.DotRows != nil {
				s.DotRows(y, s.Identity.Pointer(), singles[:hi-lo+1], ci, a.Part(from, to), x)
				continue
			}
			c.Fill(y, s.Identity)
			for p := from; p < to; p++ {
				s.Dot(c.At(out.Val, p), a.Idx[p:p+1], a.Part(p, p+1), x)
			}
		}
	})
	if err == nil {
		err = env.stopped(s.User)
	}
	return out, err
}

// singles are the offsets of rows of one entry.
var singles = func() (ptr [denseChunk + 1]int64) {
	for p := range ptr {
		ptr[p] = int64(p)
	}
	return ptr
}()

// ScaleRows computes d·a for a diagonal d and a listed a: row i of a is multiplied by d(i,i). It
// returns nil if d is not square or an array of its size is too large for the entries. O(entries of
// a + rows). If d has all entries, the result shares the structure of a.
func ScaleRows(env Env, s *Semiring, c *sparse.Type, d, a *sparse.Store) (*sparse.Store, error) {
	s = guardSemiring(env, s, c, d.Type, a.Type)
	if d.NRows != d.NCols || !diagonalRoom(d.NCols, a.NVals+d.NVals) {
		return nil, nil
	}
	vecs := a.Vecs()
	place := make([]int32, d.NCols) // 1 + the place of the entry in d, 0 for none
	for p, i := range d.Idx {
		place[i] = int32(p) + 1
	}
	out := &sparse.Store{Structure: a.Structure, Type: c}
	complete := d.NVals == int64(d.NCols)
	if !complete {
		out.Ptr = make([]int64, vecs+1)
		for k := range vecs {
			if place[a.RowID(k)] != 0 {
				out.Ptr[k+1] = a.Ptr[k+1] - a.Ptr[k]
			}
		}
		parallel.Sum(env.Threads, out.Ptr)
		out.NVals = out.Ptr[vecs]
		out.Idx = fresh.Make[int32](out.NVals)
	}
	out.Val = c.Make(out.NVals)
	err := a.RowBlocks(env.Ctx, env.Threads, func(_, from, to int) {
		for k := from; k < to; k++ {
			lo, hi, q := a.Ptr[k], a.Ptr[k+1], out.Ptr[k]
			if out.Ptr[k+1] == q {
				continue
			}
			y := out.Part(q, q+hi-lo)
			c.Fill(y, s.Identity)
			if !complete {
				copy(out.Idx[q:], a.Idx[lo:hi])
			}
			s.Axpy(y, d.Type.At(d.Val, int64(place[a.RowID(k)]-1)), a.Part(lo, hi))
		}
	})
	if err == nil {
		err = env.stopped(s.User)
	}
	if err != nil {
		return nil, err
	}
	if out.NVals < a.NVals && out.Format == sparse.Hypersparse {
		dropEmptyRows(out)
	}
	return out.Settle(), nil
}
