package cpu

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/hiveblas/hiveblas/internal/sparse"
)

// marksOf sets the bits of a list of several pieces that end within words, on any number of
// threads.
func TestMarksOfList(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, every := range []int{1, 2, 70} {
		n := 3*positionGrain*every + 100
		u := &sparse.Structure{NRows: 1, NCols: n}
		want := make([]uint64, (n+63)/64)
		for j := range n {
			if r.IntN(every) == 0 {
				u.Idx = append(u.Idx, int32(j))
				want[j/64] |= 1 << (j % 64)
			}
		}
		u.NVals, u.Ptr = int64(len(u.Idx)), []int64{0, int64(len(u.Idx))}
		for _, threads := range []int{1, 2, 8} {
			if !slices.Equal(marksOf(u, threads), want) {
				t.Errorf("one in %d, %d threads: wrong marks", every, threads)
			}
		}
	}
}

// compact closes the gaps of rows by any number of threads.
func TestCompact(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	const rows = 5000
	for _, threads := range []int{1, 2, 8} {
		s := &sparse.Typed[int64]{Structure: sparse.Structure{NRows: rows, NCols: 1 << 20, Ptr: make([]int64, rows+1)}}
		lens := make([]int64, rows)
		var wantIdx []int32
		var wantVal []int64
		for k := range rows {
			room := r.IntN(60)
			lens[k] = int64(r.IntN(room + 1))
			for e := range room {
				j, x := int32(len(s.Idx)), r.Int64()
				s.Idx, s.Val = append(s.Idx, j), append(s.Val, x)
				if e < int(lens[k]) {
					wantIdx, wantVal = append(wantIdx, j), append(wantVal, x)
				}
			}
			s.Ptr[k+1] = int64(len(s.Idx))
		}
		compact(threads, sparse.Untyped(s), lens)
		if !slices.Equal(s.Idx, wantIdx) || !slices.Equal(s.Val, wantVal) || s.NVals != int64(len(wantIdx)) {
			t.Errorf("%d threads: wrong entries", threads)
		}
		for k, n := range lens {
			if s.Ptr[k+1]-s.Ptr[k] != n {
				t.Fatalf("%d threads: row %d has %d entries, want %d", threads, k, s.Ptr[k+1]-s.Ptr[k], n)
			}
		}
	}
}
