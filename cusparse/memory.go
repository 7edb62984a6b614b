package cusparse

import (
	"errors"
	"fmt"
	"math/bits"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/internal/device"
)

// mem is a block of device memory. Stores share blocks; the last one that is
// dropped gives a block back, and the collector does so for stores that were
// forgotten. A nil *mem is no memory, address 0.
type mem struct {
	addr  driver.Ptr
	class uint64 // bytes, as the pool rounds them
	refs  atomic.Int32
	pool  *pool // nil: the memory is somebody else's
	whole *mem  // nil, or the block that this is a part of
	// host is nil, or addr as the host sees it: pinned memory of its own, which kernels read in
	// place.
	host unsafe.Pointer
}

// part returns a part of a block, from byte at on, which has a use of the block.
func (m *mem) part(at int64) *mem {
	p := &mem{addr: m.addr + driver.Ptr(at), whole: m.share()}
	p.refs.Store(1)
	return p
}

func (m *mem) ptr() driver.Ptr {
	if m == nil {
		return 0
	}
	return m.addr
}

// share counts another user.
func (m *mem) share() *mem {
	if m != nil {
		m.refs.Add(1)
	}
	return m
}

// release gives up one use.
func (m *mem) release() {
	if m == nil || m.refs.Add(-1) != 0 {
		return
	}
	if m.whole != nil {
		m.whole.release()
	}
	if m.pool != nil {
		runtime.SetFinalizer(m, nil)
		m.pool.put(m)
	}
}

// pool is the caching allocator: blocks given back are kept by size and handed
// out again. All work of a device is on one stream, so a block may be handed
// out while kernels that read its former contents are still queued.
type pool struct {
	ctx    driver.Context
	stream driver.Stream
	async  bool

	mu    sync.Mutex
	free  map[uint64][]driver.Ptr
	given []unsafe.Pointer // pinned memory of the host, which freeHosts frees
	unpin atomic.Bool      // there is some
	stats MemoryStats
	since uint64 // bytes handed out since the collector last ran on our account
	fresh uint64 // of these from the driver
	limit uint64 // of what is handed out; 0 is none
	high  uint64 // the most that was handed out since peak was asked
}

// MemoryStats says what the allocator of a device holds. All are bytes but the counts.
type MemoryStats struct {
	InUse     uint64 // handed out
	Cached    uint64 // given back and kept
	Peak      uint64 // the most that was handed out at a time
	Allocs    uint64 // requests
	FromCache uint64 // requests that the cache met
	Host      uint64 // of pinned host memory, which holds rows of matrices; see KeepRowsInHost
}

func newPool(ctx driver.Context, s driver.Stream, async bool) *pool {
	return &pool{ctx: ctx, stream: s, async: async, free: map[uint64][]driver.Ptr{}}
}

// classOf rounds a size up, so that blocks fit again: to 512 bytes, then to
// quarters of the power of two below, which wastes a quarter at most.
func classOf(n uint64) uint64 {
	if n <= 4096 {
		return max(512, (n+511)&^511)
	}
	step := uint64(1) << (bits.Len64(n-1) - 3)
	return (n + step - 1) / step * step
}

// exactly rounds a size up as little as the driver does itself.
func exactly(n uint64) uint64 { return (n + 511) &^ 511 }

// collectAfter is how many bytes the driver gives before the collector is worth a run: new memory
// of the driver's costs 2 µs a megabyte (16 MB: 33 µs, a sixth of a breadth-first search of R-MAT
// 22), a run some hundred, beside large graphs on the host milliseconds. What the cache gives does
// not count: scratch memory that each call takes and gives back is not forgotten.
const collectAfter = 512 << 20

// get hands out n bytes. The context is bound.
func (p *pool) get(n uint64) (*mem, error) {
	class := classOf(n)
	p.mu.Lock()
	p.stats.Allocs++
	p.since += class
	if addr, ok := p.take(class); ok {
		p.stats.FromCache++
		p.mu.Unlock()
		return p.made(addr, class), nil
	}
	if p.fresh += class; p.fresh > max(collectAfter, 4*class) {
		// The collector does not see device memory: before the driver is asked
		// for more, forgotten stores are looked for.
		p.since, p.fresh = 0, 0
		p.mu.Unlock()
		collect(1)
		p.mu.Lock()
	}
	p.mu.Unlock()
	addr, err := p.within(class)
	if err != nil && isOutOfMemory(err) && p.worthLooking(class) {
		collect(2)
		p.mu.Lock()
		if addr, ok := p.take(class); ok {
			p.mu.Unlock()
			return p.made(addr, class), nil
		}
		p.mu.Unlock()
		p.trim()
		// What is left may do for the size itself.
		class = exactly(n)
		addr, err = p.within(class)
	}
	if err != nil {
		if isOutOfMemory(err) {
			free, total, _ := p.left()
			return nil, &MemoryError{Asked: n, Free: free, Total: total, err: err}
		}
		return nil, err
	}
	p.mu.Lock()
	p.use(class)
	p.mu.Unlock()
	return p.made(addr, class), nil
}

func (p *pool) made(addr driver.Ptr, class uint64) *mem {
	return (&mem{addr: addr, class: class, pool: p}).used()
}

// used returns m with one use, given back by the collector if nobody else does.
func (m *mem) used() *mem {
	m.refs.Store(1)
	runtime.SetFinalizer(m, func(m *mem) { m.pool.put(m) })
	return m
}

// hosted hands out n bytes of pinned host memory. The context is bound.
func (p *pool) hosted(n uint64) (*mem, error) {
	m := &mem{class: exactly(n), pool: p}
	var err error
	if m.host, err = p.ctx.AllocHost(m.class); isOutOfMemory(err) {
		return nil, &MemoryError{Asked: n, Host: true, err: err}
	} else if err != nil {
		return nil, err
	}
	m.addr = driver.Ptr(uintptr(m.host))
	p.mu.Lock()
	p.stats.Host += m.class
	p.mu.Unlock()
	return m.used(), nil
}

// freeHosts frees the pinned memory that was given back, after all kernels that may read it.
func (p *pool) freeHosts() {
	p.mu.Lock()
	list := p.given
	p.given = nil
	p.unpin.Store(false)
	p.mu.Unlock()
	if len(list) > 0 {
		_ = p.ctx.Sync(p.stream)
	}
	for _, at := range list {
		_ = p.ctx.FreeHost(at)
	}
}

func (p *pool) use(class uint64) {
	p.stats.InUse += class
	p.stats.Peak = max(p.stats.Peak, p.stats.InUse)
	p.high = max(p.high, p.stats.InUse)
}

// take finds a kept block, within the limit; p.mu is held.
func (p *pool) take(class uint64) (driver.Ptr, bool) {
	list := p.free[class]
	if len(list) == 0 || p.limit != 0 && p.stats.InUse+class > p.limit {
		return 0, false
	}
	addr := list[len(list)-1]
	p.free[class] = list[:len(list)-1]
	p.stats.Cached -= class
	p.use(class)
	return addr, true
}

// within is raw, within the limit: what is kept for later counts too.
func (p *pool) within(class uint64) (driver.Ptr, error) {
	p.mu.Lock()
	over := p.limit != 0 && p.stats.InUse+p.stats.Cached+class > p.limit
	alone := p.limit == 0 || p.stats.InUse+class <= p.limit
	p.mu.Unlock()
	if over && alone {
		p.trim()
	}
	if !alone {
		return 0, errLimit
	}
	return p.raw(class)
}

// worthLooking reports whether collecting what was forgotten may make room: no
// more than was handed out since that was done last.
func (p *pool) worthLooking(class uint64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	forgotten := min(p.since, p.stats.InUse)
	p.since = 0
	return p.limit == 0 || p.stats.InUse-forgotten+class <= p.limit
}

// errLimit is an allocation beyond the limit.
var errLimit = errors.New("beyond the limit that was set")

// left returns what may still be handed out, and all there is.
func (p *pool) left() (free, total uint64, err error) {
	free, total, err = p.ctx.MemInfo()
	s := p.snapshot()
	free += s.Cached
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.limit != 0 {
		free, total = min(free, p.limit-min(p.limit, s.InUse)), min(total, p.limit)
	}
	return free, total, err
}

// bound sets the limit, and looks for forgotten stores if those in use take a good part of it.
func (p *pool) bound(bytes uint64) (before uint64) {
	p.mu.Lock()
	before, p.limit = p.limit, bytes
	look := bytes != 0 && p.stats.InUse > bytes/8
	p.mu.Unlock()
	if look {
		collect(2)
	}
	return before
}

// collect runs the collector so many times, and waits after each until the finalizers that it found
// have given memory back, but not for long: finalizers of others run in the same goroutine. What
// the first finds may be held by what only the second does.
func collect(times int) {
	for range times {
		done := make(chan struct{})
		runtime.SetFinalizer(&sentinel{done: done}, func(s *sentinel) { close(s.done) })
		runtime.GC()
		select {
		case <-done:
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// sentinel is garbage, found by the collector along with all other.
type sentinel struct{ done chan struct{} }

// limited returns the limit, 0 if there is none.
func (p *pool) limited() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.limit
}

// peak returns the most that was in use since it was last asked.
func (p *pool) peak() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	high := p.high
	p.high = p.stats.InUse
	return high
}

func (p *pool) raw(class uint64) (driver.Ptr, error) {
	if p.async {
		return p.ctx.AllocAsync(class, p.stream)
	}
	return p.ctx.Alloc(class)
}

func (p *pool) put(m *mem) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if m.host != nil {
		p.given = append(p.given, m.host)
		p.unpin.Store(true)
		p.stats.Host -= m.class
		return
	}
	p.free[m.class] = append(p.free[m.class], m.addr)
	p.stats.InUse -= m.class
	p.stats.Cached += m.class
}

// trim returns all kept blocks to the driver.
func (p *pool) trim() {
	p.mu.Lock()
	kept := p.free
	p.free = map[uint64][]driver.Ptr{}
	p.stats.Cached = 0
	p.mu.Unlock()
	for _, list := range kept {
		for _, addr := range list {
			if p.async {
				_ = p.ctx.FreeAsync(addr, p.stream)
			} else {
				_ = p.ctx.Free(addr)
			}
		}
	}
	_ = p.ctx.Sync(p.stream)
	p.freeHosts()
}

func (p *pool) snapshot() MemoryStats {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stats
}

// ErrMemory is the sentinel of MemoryError.
var ErrMemory = device.ErrMemory

// A MemoryError says that a device could not hold what an operation needs.
// Nothing was changed, and the device stays usable.
type MemoryError struct {
	Asked, Free, Total uint64 // bytes
	Host               bool   // pinned host memory is out; Free and Total are not known
	err                error
}

func (e *MemoryError) Error() string {
	if e.Host {
		return fmt.Sprintf("out of pinned host memory: %s asked for; free memory of the host, or use a smaller matrix", bytesText(e.Asked))
	}
	return fmt.Sprintf("out of device memory: %s asked for, %s of %s free; free matrices that are no longer needed, or use package chunked, which works block by block",
		bytesText(e.Asked), bytesText(e.Free), bytesText(e.Total))
}

// Is reports whether target is ErrMemory.
func (e *MemoryError) Is(target error) bool { return target == ErrMemory }

// Unwrap returns the driver's error.
func (e *MemoryError) Unwrap() error { return e.err }

func bytesText(n uint64) string {
	const units = "KMGTPE"
	if n < 1024 {
		return fmt.Sprintf("%d bytes", n)
	}
	x, u := float64(n)/1024, 0
	for x >= 1024 && u < len(units)-1 {
		x, u = x/1024, u+1
	}
	return fmt.Sprintf("%.1f %ciB", x, units[u])
}
