package cpu

import (
	"github.com/hiveblas/hiveblas/internal/fresh"
)

// merger holds the positions found by merging two rows: the place of each entry of a and b in the
// result, and the matches (columns in both). The merge has no data-dependent branches and reads no
// values. The arithmetic is three passes over these lists.
type merger struct {
	posA, posB             []int32
	matchA, matchB, matchQ []int32
}

func (m *merger) room(la, lb int) {
	n := min(la, lb) + 1
	if len(m.posA) < la+1 {
		m.posA = fresh.Make[int32](int64(2*la + 64))
	}
	if len(m.posB) < lb+1 {
		m.posB = fresh.Make[int32](int64(2*lb + 64))
	}
	if len(m.matchA) < n {
		room := int64(2*n + 64)
		m.matchA, m.matchB, m.matchQ = fresh.Make[int32](room), fresh.Make[int32](room), fresh.Make[int32](room)
	}
}

// union merges the ascending ai and bi into ci, which has room for both. It returns the length of
// the result and the number of matches.
func (m *merger) union(ci, ai, bi []int32) (n, matches int) {
	m.room(len(ai), len(bi))
	posA, posB, mA := m.posA[:len(ai)], m.posB[:len(bi)], m.matchA
	i, j, q := 0, 0, 0 // i + j - q is the number of matches
	if len(ai) > 0 && len(bi) > 0 {
		// The loop loads the next columns before it compares the current ones, so that loads
		// overlap comparisons.
		x, y := ai[0], bi[0]
		for i+1 < len(ai) && j+1 < len(bi) {
			nextX, nextY := ai[i+1], bi[j+1]
			posA[i], posB[j] = int32(q), int32(q)
			mA[i+j-q] = int32(i)
			ci[q] = min(x, y)
			le, ge, newX := 0, 0, x
			if x <= y {
				le = 1
			}
			if y <= x {
				ge = 1
			}
			if x <= y {
				newX = nextX
			}
			if y <= x {
				y = nextY
			}
			x = newX
			i += le
			j += ge
			q++
		}
	}
	return m.finish(ci, ai, bi, posA, posB, mA, i, j, q)
}

// finish merges what a loop of union leaves, from ai[i], bi[j] and ci[q] on, and completes the
// matches; matchA lists their places in a.
func (m *merger) finish(ci, ai, bi, posA, posB, matchA []int32, i, j, q int) (n, matches int) {
	for i < len(ai) && j < len(bi) {
		x, y := ai[i], bi[j]
		posA[i], posB[j] = int32(q), int32(q)
		matchA[i+j-q] = int32(i)
		ci[q] = min(x, y)
		q++
		if x <= y {
			i++
		}
		if y <= x {
			j++
		}
	}
	matches = i + j - q
	for ; i < len(ai); i++ {
		posA[i], ci[q] = int32(q), ai[i]
		q++
	}
	for ; j < len(bi); j++ {
		posB[j], ci[q] = int32(q), bi[j]
		q++
	}
	matchB, matchQ := m.matchB[:matches], m.matchQ[:matches]
	for p, i := range matchA[:matches] {
		matchQ[p] = posA[i]
		matchB[p] = posA[i] - i + int32(p)
	}
	return q, matches
}

// insertFrom is the ratio of lengths from which a union copies runs of the longer list between the
// entries of the shorter.
const insertFrom = 16

// insert is union for a short list and a long one. It calls run(q, lo, hi) for each run of long
// that is copied to the places from q on. posB and matchB refer to short, matchA to long.
func (m *merger) insert(ci, long, short []int32, run func(q, lo, hi int)) (n, matches int) {
	m.room(len(short), len(short))
	i, q, k := 0, 0, 0
	upto := func(end int) {
		if end > i {
			run(q, i, end)
			q += copy(ci[q:], long[i:end])
			i = end
		}
	}
	for j, y := range short {
		upto(i + seek(long[i:], y))
		m.posB[j], ci[q] = int32(q), y
		if i < len(long) && long[i] == y {
			m.matchA[k], m.matchB[k], m.matchQ[k] = int32(i), int32(j), int32(q)
			k++
			i++
		}
		q++
	}
	upto(len(long))
	return q, k
}

// seek is search by galloping, for a result near the front.
func seek(ci []int32, c int32) int {
	step := 1
	for step < len(ci) && ci[step] < c {
		step *= 2
	}
	from := step / 2
	return from + search(ci[from:min(step+1, len(ci))], int(c))
}

// gallop is the ratio of lengths from which an intersection by binary search is faster than a
// merge.
const gallop = 32

// lopsided reports whether an intersection of lists of these lengths searches the longer one.
func lopsided(la, lb int) bool { return la > gallop*lb || lb > gallop*la }

// intersect stores the matches of ai and bi in matchA and matchB, and their columns in ci. It
// returns the number of matches.
func (m *merger) intersect(ci, ai, bi []int32) (matches int) {
	m.room(0, 0)
	if n := min(len(ai), len(bi)) + 1; len(m.matchA) < n {
		m.room(n, n)
	}
	if lopsided(len(ai), len(bi)) {
		return m.intersectSearch(ci, ai, bi)
	}
	matches = mergeIntersection(ai, bi, m.matchA, m.matchB)
	for q, i := range m.matchA[:matches] {
		ci[q] = ai[i]
	}
	return matches
}

func (m *merger) intersectSearch(ci, ai, bi []int32) (k int) {
	mA, mB := m.matchA, m.matchB
	if len(ai) <= len(bi) {
		base := 0
		for i, x := range ai {
			base += search(bi[base:], int(x))
			if base == len(bi) {
				break
			}
			if bi[base] == x {
				mA[k], mB[k], ci[k] = int32(i), int32(base), x
				k++
			}
		}
		return k
	}
	base := 0
	for j, y := range bi {
		base += search(ai[base:], int(y))
		if base == len(ai) {
			break
		}
		if ai[base] == y {
			mA[k], mB[k], ci[k] = int32(base), int32(j), y
			k++
		}
	}
	return k
}
