package cpu

import (
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/sparse"
)

// mergeUnion merges the rows (ai, av) and (bi, bv) into ci and cv, which have exactly the room for
// the columns of the union (unionLen). Where both rows have an entry, cv gets the entry of a. Match
// p of these is at ci[matchQ[p]] and in a at matchA[p]; matchA and matchQ have room for one more.
// It returns the number of matches. The values are bit patterns, which are selected without a
// branch.
//
// The loop has no branch that depends on the data, so that it waits for its last comparison. It
// therefore merges from both ends at once.
func mergeUnion[U uint32 | uint64](ci, ai, bi []int32, cv, av, bv []U, matchA, matchQ []int32) int {
	i, j, q := 0, 0, 0                         // the first that are not merged
	k, l, r := len(ai)-1, len(bi)-1, len(ci)-1 // the last
	total := len(ai) + len(bi) - len(ci)
	_, _, _, _, _ = cv[:len(ci)], av[:len(ai)], bv[:len(bi)], matchA[:total+1], matchQ[:total+1]
	ais, bis, cis := unsafe.SliceData(ai), unsafe.SliceData(bi), unsafe.SliceData(ci)
	avs, bvs, cvs := unsafe.SliceData(av), unsafe.SliceData(bv), unsafe.SliceData(cv)
	mas, mqs := unsafe.SliceData(matchA), unsafe.SliceData(matchQ)
	for i <= k && j <= l {
		x, y, xv := *item(ais, i), *item(bis, j), *item(avs, i)
		z, v, le, ge := y, *item(bvs, j), 0, 0
		if x <= y {
			z = x
		}
		if x <= y {
			v = xv
		}
		if x <= y {
			le = 1
		}
		if y <= x {
			ge = 1
		}
		m := i + j - q // matches so far; kept if this is one
		*item(mas, m), *item(mqs, m) = int32(i), int32(q)
		*item(cis, q), *item(cvs, q) = z, v
		i += le
		j += ge
		q++
		if i > k || j > l {
			break
		}

		x, y, xv = *item(ais, k), *item(bis, l), *item(avs, k)
		z, v, le, ge = y, *item(bvs, l), 0, 0
		if x >= y {
			z = x
		}
		if x >= y {
			v = xv
		}
		if x >= y {
			ge = 1
		}
		if y >= x {
			le = 1
		}
		m = k + l - r + 1 // one place after its own, which may be the place of a match of the first end
		*item(mas, m), *item(mqs, m) = int32(k), int32(r)
		*item(cis, r), *item(cvs, r) = z, v
		k -= ge
		l -= le
		r--
	}
	if last := i + j - q; last < total { // the matches from the end
		copy(matchA[last:total], matchA[last+1:total+1])
		copy(matchQ[last:total], matchQ[last+1:total+1])
	}
	copy(cv[q:], av[i:k+1])
	q += copy(ci[q:], ai[i:k+1])
	copy(cv[q:], bv[j:l+1])
	copy(ci[q:], bi[j:l+1])
	return total
}

// mergeIntersection stores the positions of the common columns of ai and bi in matchA and matchB,
// which have room for one more than the shorter list, and returns their number. It merges from both
// ends at once, as mergeUnion: ewisemult of R-MAT 18 by one and two threads .79 and .85 of the
// time. Each step passes an entry of a list, so that this reads and writes within the lists and the
// room even if a list is not ascending.
func mergeIntersection(ai, bi, matchA, matchB []int32) int {
	total := min(len(ai), len(bi)) + 1
	_, _ = matchA[:total], matchB[:total]
	ais, bis := unsafe.SliceData(ai), unsafe.SliceData(bi)
	mas, mbs := unsafe.SliceData(matchA), unsafe.SliceData(matchB)
	i, j, q := 0, 0, 0                       // q matches from the front
	k, l, r := len(ai)-1, len(bi)-1, total-1 // those from the back are after r
	for i <= k && j <= l {
		x, y, le, ge := *item(ais, i), *item(bis, j), 0, 0
		*item(mas, q), *item(mbs, q) = int32(i), int32(j)
		if x <= y {
			le = 1
		}
		if y <= x {
			ge = 1
		}
		i += le
		j += ge
		q += le & ge
		if i > k || j > l {
			break
		}

		x, y, le, ge = *item(ais, k), *item(bis, l), 0, 0
		*item(mas, r), *item(mbs, r) = int32(k), int32(l)
		if x <= y {
			le = 1
		}
		if y <= x {
			ge = 1
		}
		k -= ge
		l -= le
		r -= le & ge
	}
	copy(matchA[q:], matchA[r+1:total])
	return q + copy(matchB[q:], matchB[r+1:total])
}

// item returns the address of p[i], without a check.
func item[T any](p *T, i int) *T {
	return (*T)(unsafe.Add(unsafe.Pointer(p), i*int(unsafe.Sizeof(*p))))
}

// unionLen returns the length of the union of two ascending lists. It searches from both ends at
// once, for two independent chains of comparisons. It takes the same steps as mergeUnion, so that
// mergeUnion writes within its room even if a list is not ascending.
func unionLen(ai, bi []int32) int64 {
	n := len(ai) + len(bi)
	if lopsided(len(ai), len(bi)) {
		return int64(n - matchesOf(ai, bi))
	}
	i, j, k, l := 0, 0, len(ai)-1, len(bi)-1
	for i <= k && j <= l {
		le, ge := order(ai[i], bi[j])
		n -= le & ge
		i += le
		j += ge
		if i > k || j > l {
			break
		}
		le, ge = order(ai[k], bi[l])
		n -= le & ge
		k -= ge
		l -= le
	}
	return int64(n)
}

// order returns whether x ≤ y and whether x ≥ y, as numbers.
func order(x, y int32) (le, ge int) {
	if x <= y {
		le = 1
	}
	if y <= x {
		ge = 1
	}
	return le, ge
}

// matchesOf counts the columns that are in both lists. One list is much longer.
func matchesOf(ai, bi []int32) (n int) {
	if len(ai) > len(bi) {
		ai, bi = bi, ai
	}
	base := 0
	for _, x := range ai {
		base += seek(bi[base:], x)
		if base == len(bi) {
			break
		}
		if bi[base] == x {
			n++
		}
	}
	return n
}

// A valueMerge is mergeUnion for rows of values of a type; nil if it is not for them.
type valueMerge func(ci, ai, bi []int32, cv, av, bv Values, matchA, matchQ []int32) int

// valueMergeOf returns the merge of rows that copies values.
func valueMergeOf(t *sparse.Type) valueMerge {
	switch {
	case t.Plain && t.Size == 4:
		return mergePatterns[sparse.E4]
	case t.Plain && t.Size == 8:
		return mergePatterns[sparse.E8]
	}
	return nil
}

func mergePatterns[U uint32 | uint64](ci, ai, bi []int32, cv, av, bv Values, matchA, matchQ []int32) int {
	return mergeUnion(ci, ai, bi, sparse.SliceOf[U](cv), sparse.SliceOf[U](av), sparse.SliceOf[U](bv), matchA, matchQ)
}

// mergeRows merges two rows, with copies of their values, into exactly the room for their union,
// lists the matches in m, and returns their number.
func mergeRows(m *merger, merge valueMerge, ci, ai, bi []int32, cv, av, bv Values) int {
	if n := min(len(ai), len(bi)) + 1; len(m.matchA) < n {
		m.room(n, n)
	}
	matches := merge(ci, ai, bi, cv, av, bv, m.matchA, m.matchQ)
	matchB, matchQ := m.matchB[:matches], m.matchQ[:matches]
	for p, i := range m.matchA[:matches] {
		matchB[p] = matchQ[p] - i + int32(p)
	}
	return matches
}
