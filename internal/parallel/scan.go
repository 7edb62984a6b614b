package parallel

// scanGrain is the number of items of a piece of Sum. A piece takes about 10 µs.
const scanGrain = 1 << 15

// Sum replaces ptr[i] by ptr[0] + … + ptr[i], for every i.
func Sum(threads int, ptr []int64) {
	pieces := (len(ptr) + scanGrain - 1) / scanGrain
	if threads = min(Threads(threads), pieces); threads <= 2 { // two passes pay from three threads on
		sum := int64(0)
		for i, n := range ptr {
			sum += n
			ptr[i] = sum
		}
		return
	}
	before := make([]int64, pieces)
	_ = Range(nil, threads, len(ptr), scanGrain, func(_, lo, hi int) {
		sum := int64(0)
		for _, n := range ptr[lo:hi] {
			sum += n
		}
		before[lo/scanGrain] = sum
	})
	sum := int64(0)
	for k, n := range before {
		before[k], sum = sum, sum+n
	}
	_ = Range(nil, threads, len(ptr), scanGrain, func(_, lo, hi int) {
		sum := before[lo/scanGrain]
		for i := lo; i < hi; i++ {
			sum += ptr[i]
			ptr[i] = sum
		}
	})
}

// Gather runs fn on ranges of [0, n) of about grain and returns their lists one after the other. fn
// appends its finds to the empty list that it gets.
func Gather[T any](threads, n, grain int, fn func(lo, hi int, found []T) []T) []T {
	if n <= grain || Threads(threads) <= 1 {
		return fn(0, n, nil)
	}
	found := make([][]T, (n-1)/grain+1)
	starts := make([]int64, len(found)+1)
	_ = Range(nil, threads, n, grain, func(_, lo, hi int) {
		found[lo/grain] = fn(lo, hi, nil)
		starts[lo/grain+1] = int64(len(found[lo/grain]))
	})
	Sum(1, starts)
	all := make([]T, starts[len(found)])
	_ = Pieces(nil, threads, len(found), func(_, k int) { copy(all[starts[k]:], found[k]) })
	return all
}

// Offsets turns the counts of a stable counting sort into offsets. counts[w][j] is the number of
// items with key j in part w of the input. Offsets sets ptr[j] to the number of items with keys
// below j, for j in [0, len(ptr)), and counts[w][j] to the place of the first of those items in the
// sorted order. It takes O(len(counts)·len(ptr)) time, shared by the threads.
func Offsets[P uint32 | int64](threads int, counts [][]P, ptr []int64) {
	n := len(ptr) - 1
	const grain = 1 << 12 // the sums of a piece stay in the L1 cache
	ptr[0] = 0
	_ = Range(nil, threads, n, grain, func(_, lo, hi int) {
		sums := ptr[lo+1 : hi+1]
		clear(sums)
		for _, c := range counts {
			c = c[lo:hi]
			for j := range sums {
				sums[j] += int64(c[j])
			}
		}
	})
	Sum(threads, ptr)
	_ = Range(nil, threads, n, grain, func(_, lo, hi int) {
		var next [grain]P
		for j, p := range ptr[lo:hi] {
			next[j] = P(p)
		}
		for _, c := range counts {
			c = c[lo:hi]
			next := next[:len(c)]
			for j, x := range c {
				c[j] = next[j]
				next[j] += x
			}
		}
	})
}
