package parallel

// sortGrain is the number of items below which a sort takes one thread.
const sortGrain = 1 << 13

// insertionRun is the length of the runs that a sort makes by insertion.
const insertionRun = 16

// SortStable sorts a list by compare, equal items in their order, on as many threads as are worth
// it. It is a merge sort with memory for a second list; ranges of a merge are found by binary
// search. compare must be safe for concurrent use.
func SortStable[E any](threads int, list []E, compare func(a, b E) int) {
	n := len(list)
	if n < 2 {
		return
	}
	buf := make([]E, n)
	pieces := max(1, min(Threads(threads), n/sortGrain))
	at := func(p int) int { return int(int64(n) * int64(min(p, pieces)) / int64(pieces)) }
	_ = Pieces(nil, pieces, pieces, func(_, p int) {
		mergeSort(list[at(p):at(p+1)], buf[at(p):at(p+1)], compare)
	})
	src, dst := list, buf
	for width := 1; width < pieces; width *= 2 {
		pairs := (pieces + 2*width - 1) / (2 * width)
		parts := (pieces + pairs - 1) / pairs // of each merge
		_ = Pieces(nil, pieces, pairs*parts, func(_, task int) {
			lo := at(task / parts * 2 * width)
			mid, hi := at((task/parts*2+1)*width), at((task/parts*2+2)*width)
			a, b, out := src[lo:mid], src[mid:hi], dst[lo:hi]
			from := int(int64(len(out)) * int64(task%parts) / int64(parts))
			to := int(int64(len(out)) * int64(task%parts+1) / int64(parts))
			i, iEnd := mergeRank(a, b, from, compare), mergeRank(a, b, to, compare)
			merge(out[from:to], a[i:iEnd], b[from-i:to-iEnd], compare)
		})
		src, dst = dst, src
	}
	if &src[0] != &list[0] {
		_ = Range(nil, pieces, n, sortGrain, func(_, lo, hi int) { copy(list[lo:hi], src[lo:hi]) })
	}
}

// mergeSort sorts a list on one thread with a buffer of its length.
func mergeSort[E any](list, buf []E, compare func(a, b E) int) {
	n := len(list)
	for lo := 0; lo < n; lo += insertionRun {
		run := list[lo:min(lo+insertionRun, n)]
		for i := 1; i < len(run); i++ {
			x, j := run[i], i
			for ; j > 0 && compare(run[j-1], x) > 0; j-- {
				run[j] = run[j-1]
			}
			run[j] = x
		}
	}
	src, dst := list, buf
	for width := insertionRun; width < n; width *= 2 {
		for lo := 0; lo < n; lo += 2 * width {
			mid, hi := min(lo+width, n), min(lo+2*width, n)
			merge(dst[lo:hi], src[lo:mid], src[mid:hi], compare)
		}
		src, dst = dst, src
	}
	if n > 0 && &src[0] != &list[0] {
		copy(list, src)
	}
}

// merge merges two sorted lists into out; among equals the items of a come first.
func merge[E any](out, a, b []E, compare func(a, b E) int) {
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		if compare(b[j], a[i]) < 0 {
			out[i+j] = b[j]
			j++
		} else {
			out[i+j] = a[i]
			i++
		}
	}
	copy(out[i+j:], a[i:])
	copy(out[i+j:], b[j:])
}

// mergeRank returns how many of the first k items of the merge of a and b come from a.
func mergeRank[E any](a, b []E, k int, compare func(a, b E) int) int {
	lo, hi := max(0, k-len(b)), min(k, len(a))
	for lo < hi {
		mid := int(uint(lo+hi) / 2)
		if compare(b[k-mid-1], a[mid]) < 0 {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}
