package collect

import (
	"slices"

	"github.com/hiveblas/hiveblas/internal/sparse"
)

// Within returns the places of a list with items lo … hi−1, and these items from lo on.
func Within(list []int32, lo, hi int) (at, items []int32) {
	at, items = []int32{}, []int32{}
	for p, i := range list {
		if int(i) >= lo && int(i) < hi {
			at, items = append(at, int32(p)), append(items, i-int32(lo))
		}
	}
	return at, items
}

// Set returns a list in ascending order without repeats.
func Set(list []int32) []int32 {
	set, _ := Sorted(list, false)
	return set
}

// Sorted returns a list in ascending order without repeats, and if places is set the place of each
// item in it. A list of many of the rows is sorted by marks of the rows.
func Sorted(list []int32, places bool) (set, at []int32) {
	if len(list) == 0 {
		return []int32{}, []int32{}
	}
	if top := int(slices.Max(list)) + 1; top <= 32*len(list) {
		place := make([]int32, top)
		for _, i := range list {
			place[i] = 1
		}
		for i, marked := range place {
			if marked != 0 {
				place[i] = int32(len(set))
				set = append(set, int32(i))
			}
		}
		if places {
			at = make([]int32, len(list))
			for p, i := range list {
				at[p] = place[i]
			}
		}
		return set, at
	}
	set = slices.Clone(list)
	slices.Sort(set)
	set = slices.Compact(set)
	if places {
		at = make([]int32, len(list))
		for p, i := range list {
			q, _ := slices.BinarySearch(set, i)
			at[p] = int32(q)
		}
	}
	return set, at
}

// Columns returns the columns below n in which a list has entries, ascending.
func Columns(s *sparse.Structure, n int) []int32 {
	if len(s.Idx) < n/64 {
		set := slices.Clone(s.Idx)
		slices.Sort(set)
		return slices.Compact(set)
	}
	used, count := make([]bool, n), 0
	for _, j := range s.Idx {
		if !used[j] {
			used[j] = true
			count++
		}
	}
	set := make([]int32, 0, count)
	for j, is := range used {
		if is {
			set = append(set, int32(j))
		}
	}
	return set
}
