package parallel

import (
	"context"
	"errors"
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
	got := Cut(ptr, 3, 1)
	if got[0] != 0 || got[len(got)-1] != 6 || !slices.IsSorted(got) {
		t.Fatalf("bounds %v", got)
	}
	if !slices.Contains(got, 2) {
		t.Errorf("bounds %v: the long row is not separate from its successors", got)
	}
}
