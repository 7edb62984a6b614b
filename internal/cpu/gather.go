package cpu

import (
	"math/bits"

	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/internal/stream"
)

// gather writes the positions marked in the words from wlo on, ascending, and their sums to idx and
// val, and resets the sums in the accumulator.
func (s *spa) gather(wlo int, marks []uint64, idx []int32, val Values) int64 {
	switch s.t.Class {
	case sparse.Bytes1:
		return gatherMarked[sparse.E1](s, wlo, marks, idx, val)
	case sparse.Bytes2:
		return gatherMarked[sparse.E2](s, wlo, marks, idx, val)
	case sparse.Bytes4:
		return gatherMarked[sparse.E4](s, wlo, marks, idx, val)
	case sparse.Bytes8:
		return gatherMarked[sparse.E8](s, wlo, marks, idx, val)
	case sparse.Bytes16:
		return gatherMarked[sparse.E16](s, wlo, marks, idx, val)
	}
	n := listMarked(wlo, marks, idx)
	s.t.Move(val, nil, s.acc, idx[:n])
	s.t.FillAt(s.acc, idx[:n], s.id)
	return int64(n)
}

// listMarked writes the positions marked in the words from wlo on, ascending, to idx.
func listMarked(wlo int, marks []uint64, idx []int32) int {
	q := 0
	for w, word := range marks {
		base := (wlo + w) << 6
		for ; word != 0; word &= word - 1 {
			idx[q] = int32(base + bits.TrailingZeros64(word))
			q++
		}
	}
	return q
}

func gatherMarked[E sparse.Sized](s *spa, wlo int, marks []uint64, idx []int32, values Values) int64 {
	acc, id := sparse.SliceOf[E](s.acc), sparse.SliceOf[E](s.id)[0]
	val := sparse.SliceOf[E](values)[:len(idx)]
	q := 0
	for w, word := range marks {
		base := (wlo + w) << 6
		for ; word != 0; word &= word - 1 {
			j := base + bits.TrailingZeros64(word)
			idx[q] = int32(j)
			val[q] = acc[j]
			acc[j] = id
			q++
		}
	}
	return int64(q)
}

// gatherPast is gather for a result that is stored past the caches. S·S of R-MAT 14, 490 MB, on 32
// threads of an Intel Xeon, four runs of each by turns: gather .28, .28, .25 and .28 of the time of
// SuiteSparse:GraphBLAS in the same run, gatherPast .23, .24, .24 and .25. On two threads of an AMD
// EPYC they take the same time.
func (s *spa) gatherPast(wlo int, marks []uint64, idx []int32, val Values) int64 {
	switch s.t.Class {
	case sparse.Bytes1:
		return gatherStreamed[sparse.E1](s, wlo, marks, idx, val)
	case sparse.Bytes2:
		return gatherStreamed[sparse.E2](s, wlo, marks, idx, val)
	case sparse.Bytes4:
		return gatherStreamed[sparse.E4](s, wlo, marks, idx, val)
	case sparse.Bytes8:
		return gatherStreamed[sparse.E8](s, wlo, marks, idx, val)
	case sparse.Bytes16:
		return gatherStreamed[sparse.E16](s, wlo, marks, idx, val)
	}
	return s.gather(wlo, marks, idx, val)
}

func gatherStreamed[E sparse.Sized](s *spa, wlo int, marks []uint64, idx []int32, values Values) int64 {
	const room = 512
	var cols [room]int32
	var sums [room]E
	acc, id, val := sparse.SliceOf[E](s.acc), sparse.SliceOf[E](s.id)[0], sparse.SliceOf[E](values)
	n, q := 0, 0 // stored, and not yet
	for w, word := range marks {
		base := (wlo + w) << 6
		for ; word != 0; word &= word - 1 {
			j := base + bits.TrailingZeros64(word)
			cols[q&(room-1)], sums[q&(room-1)] = int32(j), acc[j]
			acc[j] = id
			q++
		}
		if q > room-64 {
			stream.Copy(idx[n:n+q], cols[:q])
			stream.Copy(val[n:n+q], sums[:q])
			n, q = n+q, 0
		}
	}
	stream.Copy(idx[n:n+q], cols[:q])
	stream.Copy(val[n:n+q], sums[:q])
	return int64(n + q)
}
