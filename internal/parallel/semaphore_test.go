package parallel

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Each permit lets one goroutine go on, whether it waits already or comes later.
func TestSemaphore(t *testing.T) {
	const waiters, rounds = 20, 50
	var s semaphore
	var through atomic.Int32
	var wg sync.WaitGroup
	for range waiters {
		wg.Go(func() {
			for range rounds {
				s.acquire(-1)
				through.Add(1)
			}
		})
	}
	released := 0
	for k := 1; released < waiters*rounds; k = k%7 + 1 {
		k = min(k, waiters*rounds-released)
		s.release(k)
		released += k
		if n := int(through.Load()); n > released {
			t.Fatalf("%d went on with %d permits", n, released)
		}
		runtime.Gosched()
	}
	wg.Wait()
	if n := through.Load(); n != waiters*rounds {
		t.Errorf("%d went on, want %d", n, waiters*rounds)
	}
	if s.acquire(0) {
		t.Error("a permit is left")
	}
}

func TestSemaphoreTimeout(t *testing.T) {
	var s semaphore
	for _, within := range []time.Duration{0, time.Microsecond, 3 * time.Millisecond} {
		since := time.Now()
		if s.acquire(within) {
			t.Fatal("a permit from nowhere")
		}
		if d := time.Since(since); d < within {
			t.Errorf("acquire gave up after %v of %v", d, within)
		}
	}
	s.release(1)
	if !s.acquire(0) {
		t.Error("a permit was there and was not taken")
	}
}

// Others run beside more waiting goroutines than there are processors, and a collection does not
// wait for them.
func TestSemaphoreGivesUpProcessor(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	var s semaphore
	var wg sync.WaitGroup
	const waiters = 8
	for range waiters {
		wg.Go(func() { s.acquire(-1) })
	}
	time.Sleep(time.Millisecond)
	var ran atomic.Bool
	go ran.Store(true)
	for since := time.Now(); !ran.Load(); runtime.Gosched() {
		if time.Since(since) > 10*time.Second {
			t.Fatal("a goroutine does not run beside those that wait")
		}
	}
	runtime.GC()
	s.release(waiters)
	wg.Wait()
}
