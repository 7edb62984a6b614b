package cpu

import "github.com/hiveblas/hiveblas/internal/sparse"

// This file looks up the positions of a small listed row in an array of marks, one byte for each
// position. A merge by comparison is a chain of dependent loads; marks are independent of each
// other.

const (
	// maxMarks is the largest number of positions for which marks are used.
	maxMarks = 1 << 16
	// markRatio is the largest ratio of positions to entries for which marks are used.
	markRatio = 64
)

// marksPay reports whether marks are faster than a merge for rows of n positions that have this
// number of entries together.
func marksPay(n, entries int) bool { return n <= maxMarks && n <= markRatio*entries }

// marksFor returns n marks, all 0. The caller clears the marks that it sets.
func (m *scratch) marksFor(n int) []uint8 {
	if len(m.marks) < n {
		m.marks = make([]uint8, n)
	}
	return m.marks[:n]
}

// unmark clears the marks at the positions of list.
func unmark(marks []uint8, list []int32) {
	if len(marks) <= 16*len(list) {
		clear(marks)
		return
	}
	for _, j := range list {
		marks[j] = 0
	}
}

// intersectMarked is intersect for rows of n positions.
func (m *scratch) intersectMarked(ci, ai, bi []int32, n int) (matches int) {
	if len(ai) < len(bi) { // mark the longer row, visit the shorter one
		matches = m.intersectMarked(ci, bi, ai, n)
		m.matchA, m.matchB = m.matchB, m.matchA
		return matches
	}
	m.room(len(bi), len(bi))
	if len(m.places) < n {
		m.places = make([]int32, n)
	}
	marks, places := m.marksFor(n), m.places[:n]
	for i, j := range ai {
		marks[j], places[j] = 1, int32(i)
	}
	k, mA, mB := 0, m.matchA, m.matchB
	for i, j := range bi {
		mA[k], mB[k], ci[k] = places[j], int32(i), j
		k += int(marks[j])
	}
	unmark(marks, ai)
	return k
}

// removeRow returns the entries of a small listed row at the positions that are not in list.
func removeRow(s *sparse.Store, list []int32) *sparse.Store {
	m := getScratch()
	defer m.release()
	marks := m.marksFor(s.NCols)
	for _, j := range list {
		marks[j] = 1
	}
	keep := m.keep[:len(s.Idx)]
	for p, j := range s.Idx {
		keep[p] = marks[j] ^ 1
	}
	unmark(marks, list)
	return m.compress(s, keep)
}
