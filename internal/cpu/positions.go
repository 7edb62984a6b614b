package cpu

import (
	"sync/atomic"

	"github.com/hiveblas/hiveblas/internal/fresh"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// GatherDense returns the entries of a dense vector at the positions of idx.
func GatherDense(u *sparse.Store, idx Indices, threads int) *sparse.Store {
	t := u.Type
	out := &sparse.Store{Structure: sparse.Structure{NRows: 1, NCols: idx.N, Format: u.Format}, Val: t.Make(int64(idx.N)), Type: t}
	val := u.Valued().Val
	if u.Format == sparse.Bitmap {
		out.Present = fresh.Make[uint8](int64(idx.N))
	}
	var entries atomic.Int64
	_ = parallel.Range(nil, threads, idx.N, 1<<14, func(_, lo, hi int) {
		part := out.Part(int64(lo), int64(hi))
		if idx.List == nil {
			t.Copy(part, t.Slice(val, int64(idx.Lo+lo), int64(idx.Lo+hi)))
			if out.Present != nil {
				entries.Add(int64(copyPresent(out.Present[lo:hi], u.Present[idx.Lo+lo:])))
			}
			return
		}
		t.Move(part, nil, val, idx.List[lo:hi])
		if out.Present == nil {
			return
		}
		var count int64
		for p, i := range idx.List[lo:hi] {
			out.Present[lo+p] = u.Present[i]
			count += int64(u.Present[i])
		}
		entries.Add(count)
	})
	if out.NVals = entries.Load(); u.Format == sparse.Full {
		out.NVals = int64(idx.N)
	}
	return out
}

// copyPresent copies presence bytes and returns the number of entries.
func copyPresent(to, from []uint8) (entries int) {
	for p := range to {
		to[p] = from[p]
		entries += int(from[p])
	}
	return entries
}

// DenseRow returns row i of a dense matrix, which it shares.
func DenseRow(st *sparse.Store, i int) *sparse.Store {
	n := st.NCols
	row := &sparse.Store{Structure: sparse.Structure{NRows: 1, NCols: n, Format: st.Format, NVals: int64(n)}, Type: st.Type}
	row.Val = st.Part(int64(i)*int64(n), int64(i+1)*int64(n))
	if st.Format == sparse.Bitmap {
		row.Present, row.NVals = st.Present[i*n:(i+1)*n], 0
		for _, b := range row.Present {
			row.NVals += int64(b)
		}
	}
	return row
}

// AtPlaces returns the indices at the places.
func AtPlaces(idx, places []int32) []int32 {
	some := make([]int32, len(places))
	for q, p := range places {
		some[q] = idx[p]
	}
	return some
}

// PutLine overwrites the positions from, from+step, … of a dense matrix with a vector.
func PutLine(st, line *sparse.Store, from, step int) *sparse.Store {
	line = line.Valued().ToBitmap()
	if st.Format == sparse.Full && line.NVals < int64(line.NCols) {
		st = st.ToBitmap()
	}
	to := make([]int64, line.NCols)
	for p, has := range line.Present {
		q := from + p*step
		to[p] = int64(q)
		if st.Present != nil {
			st.NVals += int64(has) - int64(st.Present[q])
			st.Present[q] = has
		}
	}
	st.Type.MoveWide(st.Val, to, line.Val, nil)
	return st
}

// AllDiffer reports whether no index repeats, by a bit for each of n: a map takes several times as
// long.
func AllDiffer(list []int32, n, threads int) bool {
	bits := make([]uint64, n/64+1)
	var repeats atomic.Bool
	_ = parallel.Range(nil, threads, len(list), 1<<14, func(_, lo, hi int) {
		for _, i := range list[lo:hi] {
			if bit := uint64(1) << (i % 64); atomic.OrUint64(&bits[i/64], bit)&bit != 0 {
				repeats.Store(true)
				return
			}
		}
	})
	return !repeats.Load()
}

// Rising reports whether each index is greater than the one before.
func Rising(list []int32) bool {
	for p := 1; p < len(list); p++ {
		if list[p] <= list[p-1] {
			return false
		}
	}
	return true
}
