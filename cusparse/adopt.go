package cusparse

import (
	"runtime"
	"sync"
	"unsafe"
)

// adoption is host memory that is being pinned where it lies, part by part, so
// that results are copied to it directly. Pinning runs ahead of the copies, by
// all processors: it is clearing the pages that takes the time.
type adoption struct {
	d     *Device
	parts []*adopted
	wg    sync.WaitGroup
	stop  chan struct{}
}

// adopted is a part; ok is set before done is closed.
type adopted struct {
	p     unsafe.Pointer
	bytes int64
	done  chan struct{}
	ok    bool
}

const (
	adoptPart = 128 << 20
	adoptFrom = 256 << 20 // bytes from which it pays
)

// Adopt begins to pin arrays that results will be fetched to. They must not be
// let go before Close.
func (s *stage) Adopt(arrays ...[]byte) {
	var total int64
	for _, a := range arrays {
		total += int64(len(a))
	}
	if total < adoptFrom || s.adoption != nil {
		return
	}
	ad := &adoption{d: s.d, stop: make(chan struct{})}
	// In the order in which they are filled: the same part of each.
	steps := (total + adoptPart - 1) / adoptPart
	for k := range steps {
		for _, a := range arrays {
			n := int64(len(a))
			lo, hi := n*k/steps&^4095, n*(k+1)/steps&^4095
			if k == steps-1 {
				hi = n
			}
			if hi > lo {
				ad.parts = append(ad.parts, &adopted{p: unsafe.Pointer(&a[lo]), bytes: hi - lo, done: make(chan struct{})})
			}
		}
	}
	for _, a := range arrays {
		largePages(unsafe.Pointer(unsafe.SliceData(a)), int64(len(a)))
	}
	var mu sync.Mutex
	next := 0
	for range runtime.GOMAXPROCS(0) {
		ad.wg.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			bound := ad.d.ctx.Bind() == nil
			for {
				mu.Lock()
				k := next
				next++
				mu.Unlock()
				if k >= len(ad.parts) {
					return
				}
				a := ad.parts[k]
				select {
				case <-ad.stop:
				default:
					a.ok = bound && ad.d.ctx.Register(a.p, uint64(a.bytes)) == nil
				}
				close(a.done)
			}
		})
	}
	s.adoption = ad
}

// release unpins all parts.
func (ad *adoption) release() {
	close(ad.stop)
	ad.wg.Wait()
	var wg sync.WaitGroup
	for w := range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			_ = ad.d.ctx.Bind()
			for k := w; k < len(ad.parts); k += runtime.GOMAXPROCS(0) {
				if a := ad.parts[k]; a.ok {
					_ = ad.d.ctx.Unregister(a.p)
				}
			}
		})
	}
	wg.Wait()
}

// run returns how many of the bytes at p can be copied at once, and whether
// directly, waiting until that is known.
func (ad *adoption) run(p unsafe.Pointer, bytes int64) (n int64, direct bool) {
	if ad == nil {
		return bytes, false
	}
	for _, a := range ad.parts {
		off := int64(uintptr(p)) - int64(uintptr(a.p))
		if off >= 0 && off < a.bytes {
			<-a.done
			return min(bytes, a.bytes-off), a.ok
		}
	}
	return bytes, false
}
