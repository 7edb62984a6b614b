package collect

import "slices"

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
