// Package parallel holds the parallel loops of hiveblas.
//
// Every loop distributes ranges dynamically through one atomic counter, so that a slow range delays
// only its worker. A loop tests its context between ranges, and panics in the caller if a worker
// panics. The workers of all loops are one set of helpers (see crew.go), so that concurrent calls
// share the processors.
package parallel

import (
	"context"
	"runtime"
	"sort"
)

// Threads returns n when it is positive and GOMAXPROCS otherwise.
func Threads(n int) int {
	if n > 0 {
		return n
	}
	return runtime.GOMAXPROCS(0)
}

// Share returns how many of the threads a loop is worth that has so much work, if each must have at
// least so much: 1 or more.
func Share(threads int, work, least int64) int {
	return int(max(1, min(int64(Threads(threads)), work/least)))
}

// Do runs fn(part) once for each part in [0, parts), in parallel on as many threads as are free,
// and waits for all. If a part panics, Do panics with its value.
func Do(parts int, fn func(part int)) {
	if parts <= 1 {
		fn(0)
		return
	}
	c := newCrew(parts, parts)
	c.run(func(w int) {
		if w == 0 {
			c.gather()
		}
		for p, ok := c.take(); ok; p, ok = c.take() {
			fn(p)
		}
	})
}

// Range divides [0, n) into pieces of about grain and runs fn on them with the given number of
// workers. It returns ctx.Err() if the context ends before all pieces have started; started pieces
// complete. A nil context never ends.
func Range(ctx context.Context, threads, n, grain int, fn func(worker, lo, hi int)) error {
	if n <= 0 {
		return err(ctx)
	}
	grain = max(grain, 1)
	pieces := (n-1)/grain + 1
	return Pieces(ctx, threads, pieces, func(w, p int) {
		lo := p * grain
		fn(w, lo, min(lo+grain, n))
	})
}

// Pieces runs fn(worker, piece) for every piece in [0, pieces), and starts them in ascending order.
func Pieces(ctx context.Context, threads, pieces int, fn func(worker, piece int)) error {
	threads = min(Threads(threads), pieces)
	if threads <= 1 {
		for p := 0; p < pieces; p++ {
			if e := err(ctx); e != nil {
				return e
			}
			fn(0, p)
		}
		return err(ctx)
	}
	c := newCrew(threads, pieces)
	c.run(func(w int) {
		for p, ok := c.take(); ok && err(ctx) == nil; p, ok = c.take() {
			fn(w, p)
			if w == 0 {
				c.makeRoom()
			}
		}
	})
	return err(ctx)
}

func err(ctx context.Context) error {
	if ctx == nil {
		return nil
	}
	return ctx.Err()
}

// RowWork is the number of entries that a row counts for where the rows of a matrix are divided
// among the ranks of a group: besides its entries a rank reads and writes a few numbers of each
// row. R-MAT 26 on two H100s takes 77 ms for shortest paths with 4 and 80 with 1, and 313 for
// PageRank with both.
const RowWork = 4

// Cut divides the rows of a prefix-sum array ptr (len rows+1) into at most pieces contiguous blocks
// of about equal work, where the weight of a row is its length plus perRow. It returns the
// boundaries: bounds[b] ≤ row < bounds[b+1]. With many pieces it uses the threads.
//
// A binary search of a piece's end mispredicts a branch at every second step and waits for cold
// memory at every step, so cutLanes searches proceed together, without branches.
func Cut(threads int, ptr []int64, pieces int, perRow int64) []int {
	rows := len(ptr) - 1
	if rows <= 0 {
		return []int{0, 0}
	}
	pieces = max(1, min(pieces, rows))
	ends := make([]int, pieces+1)
	share := (ptr[rows] - ptr[0] + perRow*int64(rows)) / int64(pieces)
	_ = Range(nil, threads, pieces-1, cutGrain, func(_, lo, hi int) {
		for ; lo < hi; lo += cutLanes {
			cutEnds(ends[lo+1:min(lo+cutLanes, hi)+1], ptr, perRow, share, lo+1)
		}
	})
	return distinct(ends, rows)
}

// distinct returns the first of the ascending ends, 0, those above the one before and below rows,
// and rows.
func distinct(ends []int, rows int) []int {
	bounds := ends[:1]
	for _, end := range ends[1 : len(ends)-1] {
		if end > bounds[len(bounds)-1] && end < rows {
			bounds = append(bounds, end)
		}
	}
	return append(bounds, rows)
}

// cutLanes is the number of searches of Cut that proceed together: 4096 take 1.5 ms with 4, 1.2
// with 8, 0.95 with 16, 0.98 with 32.
const cutLanes = 16

// cutGrain is the number of searches of Cut for which a thread is worth waking: 128 take 75 µs in
// cold memory.
const cutGrain = 128

// cutEnds sets ends[k], up to cutLanes of them, to the first row i with a weight of share·(first+k)
// or more before it.
func cutEnds(ends []int, ptr []int64, perRow, share int64, first int) {
	var at [cutLanes]int
	var want [cutLanes]int64
	for k := range ends {
		want[k] = ptr[0] + share*int64(first+k)
	}
	n := len(ptr) // of the rows that are left from at[k]
	for ; n > 1; n -= n / 2 {
		half := n / 2
		for k := range ends {
			k &= cutLanes - 1
			i := at[k] + half - 1
			at[k] += half & int((ptr[i]+perRow*int64(i)-want[k])>>63)
		}
	}
	for k := range ends {
		i := at[k]
		if ptr[i]+perRow*int64(i) < want[k] {
			i++
		}
		ends[k] = i
	}
}

// CutAt is Cut for rows with work at(i) of the first i, ascending from at(0) = 0.
func CutAt(threads, rows, pieces int, at func(i int) int64) []int {
	if rows <= 0 {
		return []int{0, 0}
	}
	pieces = max(1, min(pieces, rows))
	ends := make([]int, pieces+1)
	share := at(rows) / int64(pieces)
	_ = Range(nil, threads, pieces-1, cutGrain/4, func(_, lo, hi int) {
		for p := lo + 1; p <= hi; p++ {
			want := share * int64(p)
			ends[p] = sort.Search(rows, func(i int) bool { return at(i) >= want })
		}
	})
	return distinct(ends, rows)
}

// RangeAt divides [0, n) into at most pieces ranges of about equal work, where the first i items
// have work at(i), ascending from at(0) = 0, and runs fn on them as [Range] does. Each worker looks
// for the ends of its ranges: one worker would take 250 µs for 128 ranges of 2¹⁷ items in cold
// memory.
func RangeAt(ctx context.Context, threads, n, pieces int, at func(i int) int64, fn func(worker, lo, hi int)) error {
	if n <= 0 {
		return err(ctx)
	}
	pieces = max(1, min(pieces, n))
	total := at(n)
	bound := func(p int) int {
		switch p {
		case 0:
			return 0
		case pieces:
			return n
		}
		want := total / int64(pieces) * int64(p)
		return sort.Search(n, func(i int) bool { return at(i) >= want })
	}
	return Pieces(ctx, threads, pieces, func(w, p int) {
		if lo, hi := bound(p), bound(p+1); lo < hi {
			fn(w, lo, hi)
		}
	})
}
