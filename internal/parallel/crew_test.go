package parallel

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestConcurrentLoops: loops of many callers at once, more than there are slots, some within
// others, run every piece once with worker numbers below their limit, and no two workers of a loop
// share a number.
func TestConcurrentLoops(t *testing.T) {
	const callers = slots + 16
	var wg sync.WaitGroup
	for k := range callers {
		wg.Go(func() {
			threads := 1 + k%5
			for range 20 {
				var ran [17]atomic.Int32
				busy := make([]atomic.Bool, threads)
				_ = Pieces(nil, threads, len(ran), func(w, p int) {
					if !busy[w].CompareAndSwap(false, true) {
						t.Errorf("two workers are number %d", w)
					}
					if k%7 == 0 && p == 3 {
						var sum atomic.Int64
						Do(3, func(q int) { sum.Add(int64(q + 1)) })
						if sum.Load() != 6 {
							t.Errorf("a loop within a loop ran parts of sum %d", sum.Load())
						}
					}
					ran[p].Add(1)
					busy[w].Store(false)
				})
				for p := range ran {
					if n := ran[p].Load(); n != 1 {
						t.Errorf("piece %d ran %d times", p, n)
					}
				}
			}
		})
	}
	wg.Wait()
}

// TestHelpersShare: the helpers of concurrent loops are not more than one loop may have.
func TestHelpersShare(t *testing.T) {
	const threads = 3
	for helpers.total.Load() > 0 { // helpers of earlier tests end by themselves
		time.Sleep(time.Millisecond)
	}
	var running, most atomic.Int32
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			_ = Pieces(nil, threads, 60, func(w, _ int) {
				if w == 0 {
					time.Sleep(100 * time.Microsecond)
					return
				}
				n := running.Add(1)
				for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
				}
				time.Sleep(100 * time.Microsecond)
				running.Add(-1)
			})
		})
	}
	wg.Wait()
	if n, limit := int(most.Load()), max(runtime.GOMAXPROCS(0), threads)-1; n == 0 || n > limit {
		t.Errorf("up to %d helpers at once, want 1 to %d", n, limit)
	}
}

// TestHelpersEnd: helpers without work end.
func TestHelpersEnd(t *testing.T) {
	_ = Pieces(nil, 4, 100, func(int, int) { time.Sleep(10 * time.Microsecond) })
	for deadline := time.Now().Add(20 * retirement); helpers.total.Load() > 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d helpers are left", helpers.total.Load())
		}
	}
}

func BenchmarkLoop(b *testing.B) {
	for _, threads := range []int{2, 4, 8, 16, 32} {
		if threads > runtime.GOMAXPROCS(0) {
			break
		}
		b.Run(fmt.Sprint(threads), func(b *testing.B) {
			for b.Loop() {
				Do(threads, func(int) {})
			}
		})
	}
}

// BenchmarkLoopAfterPause times a loop with 500 µs of work for each thread after its helpers have
// slept.
func BenchmarkLoopAfterPause(b *testing.B) {
	for _, threads := range []int{2, 4, 8, 16, 32, 64} {
		if threads > runtime.GOMAXPROCS(0) {
			break
		}
		for _, pause := range []time.Duration{time.Millisecond, 20 * time.Millisecond} {
			b.Run(fmt.Sprint(threads, "÷", pause), func(b *testing.B) {
				var taken time.Duration
				for b.Loop() {
					time.Sleep(pause)
					since := time.Now()
					_ = Pieces(nil, threads, 10*threads, func(int, int) {
						for begin := time.Now(); time.Since(begin) < 50*time.Microsecond; {
						}
					})
					taken += time.Since(since)
				}
				b.ReportMetric(float64(taken.Microseconds())/float64(b.N), "µs/loop")
			})
		}
	}
}
