package build

import (
	"github.com/hiveblas/hiveblas/graphio/internal/core"
	"github.com/hiveblas/hiveblas/internal/fresh"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// Symmetrise returns the union of a sparse s and its transpose. For two entries of
// a pair off the diagonal it takes the smaller, or with combine the combination of
// the entry above the diagonal and the one below. O(entries + rows).
func Symmetrise(s *sparse.Store, e core.Element, combine sparse.Combine, threads int) *sparse.Store {
	return unionOf(s, s.Transpose(threads), 0, e, combine, threads)
}

// unionOf is symmetrise for the rows of a block that begins at row first: s has the rows of the
// matrix, t the rows of its transpose.
func unionOf(s, t *sparse.Store, first int, e core.Element, combine sparse.Combine, threads int) *sparse.Store {
	u := &union{s: s, t: t, first: int32(first), e: e, combine: combine}
	if s.Format != sparse.CSR || t.Format != sparse.CSR {
		u.s, u.t = s.ToHyper(), t.ToHyper()
		return u.hyper().Settle()
	}
	out := &sparse.Store{Structure: sparse.Structure{NRows: s.NRows, NCols: s.NCols, Ptr: make([]int64, s.NRows+1)}, Type: s.Type}
	const grain = 4096
	_ = parallel.Range(nil, threads, s.NRows, grain, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			out.Ptr[i+1] = unionCount(s.Idx[s.Ptr[i]:s.Ptr[i+1]], t.Idx[t.Ptr[i]:t.Ptr[i+1]])
		}
	})
	parallel.Sum(threads, out.Ptr)
	out.NVals = out.Ptr[s.NRows]
	out.Idx, out.Val = fresh.Make[int32](out.NVals), s.Type.Make(out.NVals)
	_ = parallel.Range(nil, threads, s.NRows, grain, func(_, lo, hi int) {
		var pairs [2][]int64
		for i := lo; i < hi; i++ {
			u.row(out, out.Ptr[i], i, i, &pairs)
		}
		u.combined(out, pairs)
	})
	return out
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

// union merges two stores.
type union struct {
	s, t    *sparse.Store
	first   int32
	e       core.Element
	combine sparse.Combine
}

// row merges stored row ks of s with stored row kt of t into the entries of out from at on; −1 is
// an empty row. Two entries that combine combines are left to combined: pairs has their places in
// out and in t.
func (u *union) row(out *sparse.Store, at int64, ks, kt int, pairs *[2][]int64) {
	switch u.e.T.Size {
	case 1:
		mergeRow[sparse.E1](u, out, at, ks, kt, pairs)
	case 2:
		mergeRow[sparse.E2](u, out, at, ks, kt, pairs)
	case 4:
		mergeRow[sparse.E4](u, out, at, ks, kt, pairs)
	default:
		mergeRow[sparse.E8](u, out, at, ks, kt, pairs)
	}
}

func mergeRow[E sparse.Sized](u *union, out *sparse.Store, at int64, ks, kt int, pairs *[2][]int64) {
	s, t := u.s, u.t
	var i int32
	var p, pe, q, qe int64
	if ks >= 0 {
		i = int32(s.RowID(ks)) + u.first
		p, pe = s.Ptr[ks], s.Ptr[ks+1]
	}
	if kt >= 0 {
		q, qe = t.Ptr[kt], t.Ptr[kt+1]
	}
	sv, tv, val := sparse.SliceOf[E](s.Val), sparse.SliceOf[E](t.Val), sparse.SliceOf[E](out.Val)
	for ; p < pe || q < qe; at++ {
		switch {
		case q == qe || (p < pe && s.Idx[p] < t.Idx[q]):
			out.Idx[at], val[at] = s.Idx[p], sv[p]
			p++
		case p == pe || t.Idx[q] < s.Idx[p]:
			out.Idx[at], val[at] = t.Idx[q], tv[q]
			q++
		default:
			j := s.Idx[p]
			out.Idx[at], val[at] = j, sv[p]
			switch {
			case i == j:
			case u.combine == nil:
				if u.e.Less(u.e.At(t.Val, q), u.e.At(s.Val, p)) {
					val[at] = tv[q]
				}
			default:
				pairs[0], pairs[1] = append(pairs[0], at), append(pairs[1], q)
				if i > j { // the entry above the diagonal comes first
					pairs[1][len(pairs[1])-1] = -1 - q
				}
			}
			p++
			q++
		}
	}
}

// combined combines the pairs that row has left.
func (u *union) combined(out *sparse.Store, pairs [2][]int64) {
	n := int64(len(pairs[0]))
	if n == 0 {
		return
	}
	t, val := u.e.T, u.e.T.Make(2*n) // the first operands, then the second ones
	to, from := make([]int64, n), make([]int64, n)
	for k := range n {
		at, q := pairs[0][k], pairs[1][k]
		to[k], from[k] = k, n+k
		if q < 0 {
			q = -1 - q
			t.Copy(t.One(val, k), t.One(u.t.Val, q))
			t.Copy(t.One(val, n+k), t.One(out.Val, at))
			continue
		}
		t.Copy(t.One(val, k), t.One(out.Val, at))
		t.Copy(t.One(val, n+k), t.One(u.t.Val, q))
	}
	u.combine(val, to, from)
	for k, at := range pairs[0] {
		t.Copy(t.One(out.Val, at), t.One(val, int64(k)))
	}
}

// hyper returns the union of two hypersparse stores.
func (u *union) hyper() *sparse.Store {
	s, t := u.s, u.t
	out := &sparse.Store{Structure: sparse.Structure{NRows: s.NRows, NCols: s.NCols, Format: sparse.Hypersparse}, Type: s.Type}
	most := s.NVals + t.NVals
	out.Ptr, out.RowIDs, out.Idx, out.Val = []int64{0}, []int32{}, make([]int32, most), s.Type.Make(most)
	var pairs [2][]int64
	for x, y := 0, 0; x < len(s.RowIDs) || y < len(t.RowIDs); {
		kx, ky := x, y
		switch {
		case y == len(t.RowIDs) || (x < len(s.RowIDs) && s.RowIDs[x] < t.RowIDs[y]):
			ky = -1
			out.RowIDs = append(out.RowIDs, s.RowIDs[x])
		case x == len(s.RowIDs) || t.RowIDs[y] < s.RowIDs[x]:
			kx = -1
			out.RowIDs = append(out.RowIDs, t.RowIDs[y])
		default:
			out.RowIDs = append(out.RowIDs, s.RowIDs[x])
		}
		var a, b []int32
		if kx >= 0 {
			a = s.Idx[s.Ptr[x]:s.Ptr[x+1]]
			x++
		}
		if ky >= 0 {
			b = t.Idx[t.Ptr[y]:t.Ptr[y+1]]
			y++
		}
		u.row(out, out.NVals, kx, ky, &pairs)
		out.NVals += unionCount(a, b)
		out.Ptr = append(out.Ptr, out.NVals)
	}
	u.combined(out, pairs)
	out.Idx, out.Val = out.Idx[:out.NVals:out.NVals], s.Type.Slice(out.Val, 0, out.NVals)
	return out
}
