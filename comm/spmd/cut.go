package spmd

// CutEvenly cuts n items into p ranges of about equally many, at multiples of align: range r is
// items cuts[r] … cuts[r+1]−1. Every range but the last with items has least or more; the ranges
// after it are empty. p, align and least below 1 are 1.
func CutEvenly(n int64, p int, align, least int64) []int64 {
	p, align, n = max(p, 1), max(align, 1), max(n, 0)
	units := (n + align - 1) / align
	parts := min(int64(p), max(1, n/max(least, 1)))
	cuts := make([]int64, p+1)
	for r := range cuts {
		part := min(int64(r), parts)
		cuts[r] = min(n, align*(units/parts*part+units%parts*part/parts))
	}
	return cuts
}

// CutByWork cuts the items of a prefix sum of work into p ranges of about equal work, with least or
// more for each range that has any. work[i] is the work before item i, and its last number the work
// of all. p and least below 1 are 1.
func CutByWork(work []int64, p int, least int64) []int64 {
	p, least = max(p, 1), max(least, 1)
	cuts, at := make([]int64, p+1), 0
	if len(work) == 0 {
		return cuts
	}
	n := len(work) - 1
	total := work[n] - work[0]
	parts := min(int64(p), max(1, total/least))
	for r := 1; r <= p; r++ {
		part := min(int64(r), parts)
		goal := total/parts*part + total%parts*part/parts
		for at < n && (work[at+1]-work[0] <= goal || 2*(goal-(work[at]-work[0])) > work[at+1]-work[at]) {
			at++
		}
		if part == parts {
			at = n
		}
		cuts[r] = int64(at)
	}
	return cuts
}

// Unevenness returns the largest share of the work of ranges, times their number: 1 if all have
// equal work, or none.
func Unevenness(cuts []int64, work func(lo, hi int64) int64) float64 {
	if work == nil {
		return 1
	}
	most, total := int64(0), int64(0)
	for r := range len(cuts) - 1 {
		w := work(cuts[r], cuts[r+1])
		most, total = max(most, w), total+w
	}
	if total == 0 {
		return 1
	}
	return float64(most) * float64(len(cuts)-1) / float64(total)
}
