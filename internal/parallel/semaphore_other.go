//go:build !linux || go1.28 || hiveblas_portable

package parallel

import (
	"sync"
	"time"
)

// semaphore counts permits, for which goroutines wait. Its zero value has none.
type semaphore struct {
	once    sync.Once
	permits chan struct{}
}

func (s *semaphore) channel() chan struct{} {
	s.once.Do(func() { s.permits = make(chan struct{}, 1<<16) })
	return s.permits
}

// release adds permits and wakes as many waiters.
func (s *semaphore) release(permits int) {
	for c := s.channel(); permits > 0; permits-- {
		c <- struct{}{}
	}
}

// acquire takes a permit, and reports whether there was one within the time, which is without limit
// if negative.
func (s *semaphore) acquire(within time.Duration) bool {
	c := s.channel()
	if within < 0 {
		<-c
		return true
	}
	select {
	case <-c:
		return true
	default: // below, a permit and the end of no time would both be ready
	}
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-c:
		return true
	case <-timer.C:
		return false
	}
}
