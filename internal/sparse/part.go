package sparse

import (
	"slices"
	"sort"
)

// Part copies the rows lo … hi−1 of a store, or positions lo … hi−1 of a
// vector. Rows count from lo. st has values.
func Part[T any](st *Store[T], vector bool, lo, hi int) *Store[T] {
	out := &Store[T]{Structure: Structure{NRows: hi - lo, NCols: st.NCols, Format: st.Format}}
	if vector {
		out.NRows, out.NCols = 1, hi-lo
		if st.NRows == 0 {
			return Empty[T](1, 0)
		}
	}
	switch {
	case !st.Sparse():
		width := st.NCols
		if vector {
			width = 1
		}
		out.Val = slices.Clone(st.Val[lo*width : hi*width])
		if out.NVals = int64((hi - lo) * width); st.Format == Bitmap {
			out.Present, out.NVals = slices.Clone(st.Present[lo*width:hi*width]), 0
			for _, b := range out.Present {
				out.NVals += int64(b)
			}
		}
	case vector:
		from, _ := slices.BinarySearch(st.Idx, int32(lo))
		to := from + sort.Search(len(st.Idx)-from, func(p int) bool { return int(st.Idx[from+p]) >= hi })
		out.Format, out.Idx, out.Val = CSR, make([]int32, to-from), slices.Clone(st.Val[from:to])
		for p, j := range st.Idx[from:to] {
			out.Idx[p] = j - int32(lo)
		}
		out.NVals = int64(to - from)
		out.Ptr = []int64{0, out.NVals}
	default:
		from, to := lo, hi
		if st.Format == Hypersparse {
			from = sort.Search(len(st.RowIDs), func(k int) bool { return int(st.RowIDs[k]) >= lo })
			to = from + sort.Search(len(st.RowIDs)-from, func(k int) bool { return int(st.RowIDs[from+k]) >= hi })
			out.RowIDs = make([]int32, to-from)
			for k, i := range st.RowIDs[from:to] {
				out.RowIDs[k] = i - int32(lo)
			}
		}
		out.Ptr = make([]int64, to-from+1)
		for k := range out.Ptr {
			out.Ptr[k] = st.Ptr[from+k] - st.Ptr[from]
		}
		a, b := st.Ptr[from], st.Ptr[to]
		out.Idx, out.Val, out.NVals = slices.Clone(st.Idx[a:b]), slices.Clone(st.Val[a:b]), b-a
		if out.Idx == nil {
			out.Idx, out.Val = []int32{}, []T{}
		}
		return Settle(out)
	}
	return out
}
