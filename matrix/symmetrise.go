package matrix

import (
	"github.com/hiveblas/hiveblas/internal/fresh"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// symmetrise returns the union of a sparse s and its transpose. For two entries of
// a pair off the diagonal it takes the smaller, or with combine the combination of
// the entry above the diagonal and the one below. O(entries + rows).
func symmetrise[T comparable](s *sparse.Typed[T], e element[T], combine Combiner[T], threads int) *sparse.Typed[T] {
	return unionOf(s, sparse.Transpose(s, threads), 0, e, combine, threads)
}

// unionOf is symmetrise for the rows of a block that begins at row first: s has those of the
// matrix, t those of its transpose.
func unionOf[T comparable](s, t *sparse.Typed[T], first int, e element[T], combine Combiner[T], threads int) *sparse.Typed[T] {
	both := func(i, j int32, v, mirrored T) T {
		i += int32(first)
		switch {
		case i == j:
			return v
		case combine == nil:
			if e.less(mirrored, v) {
				return mirrored
			}
			return v
		case i < j:
			return combine.Combine(v, mirrored)
		}
		return combine.Combine(mirrored, v)
	}
	if s.Format != sparse.CSR || t.Format != sparse.CSR {
		return sparse.Settle(unionHyper(sparse.ToHyper(s), sparse.ToHyper(t), both))
	}
	u := &sparse.Typed[T]{Structure: sparse.Structure{NRows: s.NRows, NCols: s.NCols, Ptr: make([]int64, s.NRows+1)}}
	const grain = 4096
	_ = parallel.Range(nil, threads, s.NRows, grain, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			u.Ptr[i+1] = unionCount(s.Idx[s.Ptr[i]:s.Ptr[i+1]], t.Idx[t.Ptr[i]:t.Ptr[i+1]])
		}
	})
	parallel.Sum(threads, u.Ptr)
	u.NVals = u.Ptr[s.NRows]
	u.Idx, u.Val = fresh.Make[int32](u.NVals), fresh.Make[T](u.NVals)
	_ = parallel.Range(nil, threads, s.NRows, grain, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			at := u.Ptr[i]
			union(s, t, i, i, both, func(j int32, v T) {
				u.Idx[at], u.Val[at] = j, v
				at++
			})
		}
	})
	return u
}

func unionCount(x, y []int32) (n int64) {
	p, q := 0, 0
	for p < len(x) && q < len(y) {
		a, b := x[p], y[q]
		if a <= b {
			p++
		}
		if b <= a {
			q++
		}
		n++
	}
	return n + int64(len(x)-p+len(y)-q)
}

// union merges stored row ks of s with stored row kt of t; −1 is an empty row.
func union[T comparable](s, t *sparse.Typed[T], ks, kt int, both func(i, j int32, v, mirrored T) T, put func(j int32, v T)) {
	var i int32
	if ks >= 0 {
		i = int32(s.RowID(ks))
	}
	var p, pe, q, qe int64
	if ks >= 0 {
		p, pe = s.Ptr[ks], s.Ptr[ks+1]
	}
	if kt >= 0 {
		q, qe = t.Ptr[kt], t.Ptr[kt+1]
	}
	for p < pe || q < qe {
		switch {
		case q == qe || (p < pe && s.Idx[p] < t.Idx[q]):
			put(s.Idx[p], s.Val[p])
			p++
		case p == pe || t.Idx[q] < s.Idx[p]:
			put(t.Idx[q], t.Val[q])
			q++
		default:
			put(s.Idx[p], both(i, s.Idx[p], s.Val[p], t.Val[q]))
			p++
			q++
		}
	}
}

// unionHyper returns the union of two hypersparse stores.
func unionHyper[T comparable](s, t *sparse.Typed[T], both func(i, j int32, v, mirrored T) T) *sparse.Typed[T] {
	shape := sparse.Structure{NRows: s.NRows, NCols: s.NCols, Format: sparse.Hypersparse}
	u := &sparse.Typed[T]{Structure: shape}
	u.Ptr, u.RowIDs, u.Idx, u.Val = []int64{0}, []int32{}, []int32{}, []T{}
	for x, y := 0, 0; x < len(s.RowIDs) || y < len(t.RowIDs); {
		kx, ky := x, y
		switch {
		case y == len(t.RowIDs) || (x < len(s.RowIDs) && s.RowIDs[x] < t.RowIDs[y]):
			ky = -1
			u.RowIDs = append(u.RowIDs, s.RowIDs[x])
		case x == len(s.RowIDs) || t.RowIDs[y] < s.RowIDs[x]:
			kx = -1
			u.RowIDs = append(u.RowIDs, t.RowIDs[y])
		default:
			u.RowIDs = append(u.RowIDs, s.RowIDs[x])
		}
		if kx >= 0 {
			x++
		}
		if ky >= 0 {
			y++
		}
		union(s, t, kx, ky, both, func(j int32, v T) {
			u.Idx = append(u.Idx, j)
			u.Val = append(u.Val, v)
		})
		u.Ptr = append(u.Ptr, int64(len(u.Idx)))
	}
	u.NVals = int64(len(u.Idx))
	return u
}
