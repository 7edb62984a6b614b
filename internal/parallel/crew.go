package parallel

import (
	"runtime"
	"sync/atomic"
	"time"
)

// Operations on small inputs are chains of loops of some microseconds each, which is less than the
// time to wake a thread. So a helper stays awake for a while after a loop and looks for the next
// one, as the threads of OpenMP do. All loops of a process share the helpers: a loop publishes its
// crew in a slot, and helpers that find it join it until it has enough. A loop does not wait for
// helpers that have not joined, so a loop for which no helper is free runs on its caller alone.

// awake is the time for which a helper or a caller waits actively before it sleeps.
// GNU's OpenMP waits for milliseconds.
const awake = 200 * time.Microsecond

// waking is the time for which a loop must go on for a helper to be woken: about that which it
// takes.
const waking = 100 * time.Microsecond

// retirement is the time after which a sleeping helper ends.
const retirement = time.Second

// crew is the workers of one loop: its caller, worker 0, and the helpers that have joined.
type crew struct {
	work   func(worker int)
	limit  int           // of helpers
	pieces int64         // of the loop
	next   atomic.Int64  // the piece that starts next
	_      [48]byte      // every piece changes next, every helper state
	state  atomic.Uint64 // see oneActive
	done   chan struct{} // receives when no helper of a closed crew is active
	failed atomic.Pointer[panicked]

	since  time.Time
	placed bool // every helper has joined, or makeRoom cannot help
}

type panicked struct{ value any }

// The state of a crew: the number of active helpers in the lower half, above it the number of
// helpers that have ever joined, and the highest bit once no further helper may join.
const (
	oneActive = 1
	oneJoined = 1 << 32
	closed    = 1 << 63
)

func activeOf(state uint64) int { return int(uint32(state)) }
func joinedOf(state uint64) int { return int(state &^ closed >> 32) }

// newCrew returns a crew of so many threads for a loop of so many pieces.
func newCrew(threads, pieces int) *crew {
	return &crew{limit: threads - 1, pieces: int64(pieces), done: make(chan struct{}, 1), since: time.Now(), placed: hopeless(threads - 1)}
}

// take returns the piece that starts next, and whether there was one.
func (c *crew) take() (piece int, ok bool) {
	p := c.next.Add(1) - 1
	return int(p), p < c.pieces
}

// allStarted reports whether all pieces have started.
func (c *crew) allStarted() bool { return c.next.Load() >= c.pieces }

// lasts reports whether the loop, at its pace so far, goes on for the time that it takes to wake a
// helper. A loop without a finished piece lasts.
func (c *crew) lasts() bool {
	started := c.next.Load()
	left, ended := c.pieces-started, started-int64(activeOf(c.state.Load()))-1
	if left <= 0 || ended <= 0 {
		return left > 0
	}
	return time.Since(c.since)*time.Duration(left) > waking*time.Duration(ended)
}

// run runs work on the caller and on the helpers that join, and returns when all have finished.
func (c *crew) run(work func(worker int)) {
	c.work = work
	slot := helpers.publish(c)
	c.runWorker(0)
	if slot != nil {
		slot.Store(nil)
	}
	if s := c.state.Or(closed); activeOf(s) > 0 {
		c.await()
	}
	if p := c.failed.Load(); p != nil {
		panic(p.value)
	}
}

// runWorker runs the work of a worker and keeps the first panic.
func (c *crew) runWorker(worker int) {
	defer func() {
		if v := recover(); v != nil {
			c.failed.CompareAndSwap(nil, &panicked{v})
		}
	}()
	c.work(worker)
}

// join adds a helper and returns its number, or 0 if the crew needs none. Helpers that find a crew
// come all at once, and an addition serves one after the other, where of comparisons and swaps all
// but one fail each time.
func (c *crew) join() int {
	if s := c.state.Load(); s&closed != 0 || joinedOf(s) >= c.limit {
		return 0
	}
	s := c.state.Add(oneJoined + oneActive)
	if s&closed != 0 || joinedOf(s) > c.limit {
		c.end(oneJoined + oneActive)
		return 0
	}
	return joinedOf(s)
}

// leave is the end of a helper's work.
func (c *crew) leave() { c.end(oneActive) }

// end takes back from the state what a helper has added, and tells the caller if none is active.
func (c *crew) end(added uint64) {
	if s := c.state.Add(-added); s&closed != 0 && activeOf(s) == 0 {
		select {
		case c.done <- struct{}{}:
		default: // told already, or nobody waits
		}
	}
}

// await returns when the last helper has left.
func (c *crew) await() {
	if !helpers.spin(func() bool { return activeOf(c.state.Load()) == 0 }) {
		<-c.done
	}
}

// slots is the number of loops that can have helpers at the same time. A loop beyond that runs on
// its caller alone.
const slots = 64

// helperSet is the state of all helpers.
type helperSet struct {
	_         [64]byte // helpers read published all the time: it has a cache line of its own
	published atomic.Uint64
	_         [56]byte
	working   atomic.Int32 // in a crew; every helper of a loop changes it
	_         [60]byte
	asleep    atomic.Int32
	total     atomic.Int32
	procs     atomic.Int32 // GOMAXPROCS at the last loop
	slots     [slots]atomic.Pointer[crew]
}

var helpers helperSet

// wake has a permit for each helper that shall wake.
var wake semaphore

// publish lets helpers join a crew. It returns nil if no slot is free.
func (h *helperSet) publish(c *crew) *atomic.Pointer[crew] {
	for k := range h.slots {
		slot := &h.slots[k]
		if slot.Load() != nil || !slot.CompareAndSwap(nil, c) {
			continue
		}
		if procs := int32(runtime.GOMAXPROCS(0)); h.procs.Load() != procs {
			h.procs.Store(procs)
		}
		h.published.Add(1)
		if h.recruit(c, 4) == 0 && h.free() == 0 {
			c.placed = true // do not wait for a helper
		}
		return slot
	}
	return nil
}

// free returns the number of helpers that are awake and have no work.
func (h *helperSet) free() int {
	return int(h.total.Load() - h.asleep.Load() - h.working.Load())
}

// recruit wakes or starts up to most helpers if those that are free are too few for a crew, and
// returns their number. Each helper that joins recruits as well, as long as the loop lasts: the
// number grows quickly at little cost for each, and a short loop wakes few.
func (h *helperSet) recruit(c *crew, most int) (recruited int) {
	most = min(most, c.limit-joinedOf(c.state.Load())-h.free())
	for recruited < most && takeOne(&h.asleep) {
		recruited++
	}
	if recruited > 0 {
		wake.release(recruited)
	}
	for ; recruited < most; recruited++ {
		if h.total.Add(1) > max(h.procs.Load()-1, int32(c.limit)) {
			h.total.Add(-1)
			break
		}
		go h.help()
	}
	return recruited
}

// takeOne decrements a counter that is above 0, and reports whether it was.
func takeOne(n *atomic.Int32) bool {
	for {
		x := n.Load()
		if x <= 0 {
			return false
		}
		if n.CompareAndSwap(x, x-1) {
			return true
		}
	}
}

// help is the life of a helper.
func (h *helperSet) help() {
	for {
		seen := h.published.Load()
		if h.serve() {
			continue
		}
		if h.spin(func() bool { return h.published.Load() != seen }) {
			continue
		}
		h.asleep.Add(1)
		if h.published.Load() != seen { // its publisher may have seen nobody asleep
			if !takeOne(&h.asleep) {
				wake.acquire(-1)
			}
			continue
		}
		if !wake.acquire(retirement) {
			if takeOne(&h.asleep) {
				h.total.Add(-1)
				return
			}
			wake.acquire(-1)
		}
	}
}

// serve works for every crew that needs a helper, and reports whether there was one.
func (h *helperSet) serve() (served bool) {
	for k := range h.slots {
		c := h.slots[k].Load()
		if c == nil || c.allStarted() {
			continue
		}
		if w := c.join(); w > 0 {
			h.working.Add(1)
			if c.lasts() {
				h.recruit(c, 4)
			}
			c.runWorker(w)
			c.leave()
			h.working.Add(-1)
			served = true
		}
	}
	return served
}

// spin waits actively until ready, and reports whether that was within the time awake. It returns
// at once if the helpers that are awake need all processors.
func (h *helperSet) spin(ready func() bool) bool {
	var since time.Time
	for i := 0; ; i++ {
		if ready() {
			return true
		}
		pause()
		if i%32 != 0 {
			continue
		}
		if i == 0 {
			since = time.Now()
		}
		if h.total.Load()-h.asleep.Load() >= h.procs.Load() || time.Since(since) > awake {
			return false
		}
	}
}
