package parallel

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
)

func TestPieces(t *testing.T) {
	for _, threads := range []int{0, 1, 2, 7} {
		for _, n := range []int{0, 1, 2, 100} {
			times := make([]atomic.Int32, n)
			if err := Pieces(context.Background(), threads, n, func(_, p int) { times[p].Add(1) }); err != nil {
				t.Fatal(err)
			}
			for p := range times {
				if got := times[p].Load(); got != 1 {
					t.Errorf("%d threads: piece %d of %d ran %d times", threads, p, n, got)
				}
			}
		}
	}
}

func TestDo(t *testing.T) {
	for _, procs := range []int{1, runtime.GOMAXPROCS(0)} { // on one processor the caller does not wait
		old := runtime.GOMAXPROCS(procs)
		var ran [5]atomic.Int32
		Do(len(ran), func(w int) { ran[w].Add(1) })
		runtime.GOMAXPROCS(old)
		for w := range ran {
			if got := ran[w].Load(); got != 1 {
				t.Errorf("worker %d ran %d times", w, got)
			}
		}
	}
}

func TestPanicReachesTheCaller(t *testing.T) {
	for at := range 3 { // a part of the caller and of helpers
		func() {
			defer func() {
				if v := recover(); v != at {
					t.Errorf("recovered %v, want %d", v, at)
				}
			}()
			Do(3, func(w int) {
				if w == at {
					panic(at)
				}
			})
		}()
	}
}

func TestContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for _, threads := range []int{1, 2} {
		var done atomic.Int32
		err := Pieces(ctx, threads, 1000, func(int, int) {
			done.Add(1)
			cancel()
		})
		if !errors.Is(err, context.Canceled) || done.Load() > 2 {
			t.Errorf("%d threads: %v after %d pieces", threads, err, done.Load())
		}
	}
}

func TestCut(t *testing.T) {
	ptr := []int64{0, 0, 100, 101, 102, 103, 104}
	got := Cut(2, ptr, 3, 1)
	if got[0] != 0 || got[len(got)-1] != 6 || !slices.IsSorted(got) {
		t.Fatalf("bounds %v", got)
	}
	if !slices.Contains(got, 2) {
		t.Errorf("bounds %v: the long row is not separate from its successors", got)
	}
}

// Cut and CutAt end each piece at the first row with its share of the work before it, whatever the
// number of threads.
func TestCutEnds(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, rows := range []int{1, 2, 15, 16, 17, 1000, 5000} {
		for _, perRow := range []int64{0, 2} {
			ptr := make([]int64, rows+1)
			ptr[0] = 7
			for i := range rows {
				ptr[i+1] = ptr[i]
				if r.IntN(3) > 0 {
					ptr[i+1] += r.Int64N(40) * r.Int64N(40)
				}
			}
			before := func(i int) int64 { return ptr[i] - ptr[0] + perRow*int64(i) }
			for _, pieces := range []int{0, 1, 2, 16, 17, 18, 300, 6000} {
				count := max(1, min(pieces, rows))
				want := []int{0}
				for p := 1; p < count; p++ {
					i := 0
					for before(i) < before(rows)/int64(count)*int64(p) {
						i++
					}
					if i > want[len(want)-1] && i < rows {
						want = append(want, i)
					}
				}
				want = append(want, rows)
				for _, threads := range []int{1, 2, 8} {
					if got := Cut(threads, ptr, pieces, perRow); !slices.Equal(got, want) {
						t.Fatalf("%d rows, %d pieces, %d threads: %v, want %v", rows, pieces, threads, got, want)
					}
					if got := CutAt(threads, rows, pieces, before); !slices.Equal(got, want) {
						t.Fatalf("CutAt of %d rows, %d pieces, %d threads: %v, want %v", rows, pieces, threads, got, want)
					}
				}
			}
		}
	}
}

// Each item is in one range, also if items have no work or all of it.
func TestRangeAt(t *testing.T) {
	for name, work := range map[string]func(i int) int64{
		"equal":    func(i int) int64 { return int64(i) },
		"none":     func(int) int64 { return 0 },
		"squares":  func(i int) int64 { return int64(i) * int64(i) },
		"the last": func(i int) int64 { return int64(i / 100 * 1000) },
	} {
		for _, n := range []int{0, 1, 2, 100} {
			for _, pieces := range []int{0, 1, 7, 1000} {
				times := make([]atomic.Int32, n)
				var ranges atomic.Int32
				err := RangeAt(context.Background(), 3, n, pieces, work, func(_, lo, hi int) {
					ranges.Add(1)
					for i := lo; i < hi; i++ {
						times[i].Add(1)
					}
				})
				if err != nil || int(ranges.Load()) > max(pieces, 1) {
					t.Errorf("%s: %d ranges of %d items, at most %d allowed, %v", name, ranges.Load(), n, pieces, err)
				}
				for i := range times {
					if got := times[i].Load(); got != 1 {
						t.Errorf("%s: item %d of %d is in %d ranges", name, i, n, got)
					}
				}
			}
		}
	}
}
