package substitution

import (
	"slices"

	"github.com/hiveblas/hiveblas/internal/parallel"
)

// Levels are the rows of a triangular matrix by levels: the level of a row is 0 if it has no entry
// beside the diagonal, else 1 more than the largest level of the rows that its columns name. Rows
// of one level do not depend on each other.
type Levels struct {
	Order []int32 // the rows, by level and within a level by number
	First []int64 // where the rows of each level begin in Order, and the number of rows
}

// LevelsOf returns the levels of a triangle without its diagonal, by rows. It takes O(entries).
func LevelsOf(ptr []int64, idx []int32, upper bool) Levels {
	n := len(ptr) - 1
	level := make([]int32, n)
	first := []int64{0}
	for k := range n {
		i := k
		if upper {
			i = n - 1 - k
		}
		var most int32
		for _, j := range idx[ptr[i]:ptr[i+1]] {
			most = max(most, level[j]+1)
		}
		level[i] = most
		if int(most)+1 == len(first) {
			first = append(first, 0)
		}
		first[most+1]++
	}
	for l := 1; l < len(first); l++ {
		first[l] += first[l-1]
	}
	next := slices.Clone(first)
	order := make([]int32, n)
	for i, l := range level {
		order[next[l]] = int32(i)
		next[l]++
	}
	return Levels{order, first}
}

// Count returns the number of levels.
func (l Levels) Count() int { return len(l.First) - 1 }

// Width returns the number of rows of the level that a row is in, as a mean over the rows.
func (l Levels) Width() float64 {
	var squares float64
	for k := range l.Count() {
		rows := float64(l.First[k+1] - l.First[k])
		squares += rows * rows
	}
	return squares / max(float64(len(l.Order)), 1)
}

// Sorted returns a triangle, by rows without its diagonal, with rows and columns numbered by their
// places in the order of the levels. The columns of a row ascend, so that the row that is solved
// last comes last.
func Sorted[T any](l Levels, ptr []int64, idx []int32, val []T, threads int) (toPtr []int64, toIdx []int32, toVal []T) {
	n := len(l.Order)
	place, toPtr := make([]int32, n), make([]int64, n+1)
	for r, i := range l.Order {
		place[i] = int32(r)
	}
	for i := range n {
		toPtr[place[i]+1] = ptr[i+1] - ptr[i]
	}
	for r := range n {
		toPtr[r+1] += toPtr[r]
	}
	toIdx, toVal = make([]int32, len(idx)), make([]T, len(idx))
	_ = parallel.Range(nil, threads, n, 1024, func(_, lo, hi int) {
		var keys []uint64 // the new column, and the entry of the row
		for i := lo; i < hi; i++ {
			keys = keys[:0]
			row, values, to := idx[ptr[i]:ptr[i+1]], val[ptr[i]:ptr[i+1]], toPtr[place[i]]
			for k, j := range row {
				keys = append(keys, uint64(place[j])<<32|uint64(k))
			}
			sort(keys)
			for k, key := range keys {
				toIdx[to+int64(k)], toVal[to+int64(k)] = int32(key>>32), values[uint32(key)]
			}
		}
	})
	return toPtr, toIdx, toVal
}

// sort sorts a list that is short as a rule.
func sort(keys []uint64) {
	if len(keys) > 24 {
		slices.Sort(keys)
		return
	}
	for k := 1; k < len(keys); k++ {
		x, at := keys[k], k
		for ; at > 0 && keys[at-1] > x; at-- {
			keys[at] = keys[at-1]
		}
		keys[at] = x
	}
}
