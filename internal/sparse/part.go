package sparse

import (
	"slices"
	"sort"
)

// Rows copies the rows lo … hi−1 of a store, or positions lo … hi−1 of a
// vector. Rows count from lo. s has values.
func (s *Store) Rows(vector bool, lo, hi int) *Store {
	shape, from, to := PartShape(&s.Structure, vector, lo, hi)
	return &Store{Structure: *shape, Val: s.Type.Clone(s.Part(from, to)), Type: s.Type}
}

// PartShape is Rows for a structure. It also returns the range of the values that the part has.
func PartShape(st *Structure, vector bool, lo, hi int) (part *Structure, from, to int64) {
	out := &Structure{NRows: hi - lo, NCols: st.NCols, Format: st.Format}
	if vector {
		out.NRows, out.NCols = 1, hi-lo
		if st.NRows == 0 {
			return shapeOf(1, 0), 0, 0
		}
	}
	switch {
	case !st.Sparse():
		width := st.NCols
		if vector {
			width = 1
		}
		from, to = int64(lo*width), int64(hi*width)
		if out.NVals = to - from; st.Format == Bitmap {
			out.Present, out.NVals = slices.Clone(st.Present[from:to]), 0
			for _, b := range out.Present {
				out.NVals += int64(b)
			}
		}
	case vector:
		first, _ := slices.BinarySearch(st.Idx, int32(lo))
		last := first + sort.Search(len(st.Idx)-first, func(p int) bool { return int(st.Idx[first+p]) >= hi })
		from, to = int64(first), int64(last)
		out.Format, out.Idx = CSR, make([]int32, to-from)
		for p, j := range st.Idx[from:to] {
			out.Idx[p] = j - int32(lo)
		}
		out.NVals = to - from
		out.Ptr = []int64{0, out.NVals}
	default:
		first, last := lo, hi
		if st.Format == Hypersparse {
			first = sort.Search(len(st.RowIDs), func(k int) bool { return int(st.RowIDs[k]) >= lo })
			last = first + sort.Search(len(st.RowIDs)-first, func(k int) bool { return int(st.RowIDs[first+k]) >= hi })
			out.RowIDs = make([]int32, last-first)
			for k, i := range st.RowIDs[first:last] {
				out.RowIDs[k] = i - int32(lo)
			}
		}
		out.Ptr = make([]int64, last-first+1)
		for k := range out.Ptr {
			out.Ptr[k] = st.Ptr[first+k] - st.Ptr[first]
		}
		from, to = st.Ptr[first], st.Ptr[last]
		out.Idx, out.NVals = slices.Clone(st.Idx[from:to]), to-from
		if out.Idx == nil {
			out.Idx = []int32{}
		}
		out = SettleShape(out)
	}
	return out, from, to
}

func shapeOf(m, n int) *Structure {
	s := EmptyShape(m, n)
	return &s
}
