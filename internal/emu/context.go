package emu

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/hiveblas/hiveblas/cusparse/driver"
)

// Emulator is an emulated driver. It is safe for concurrent use.
type Emulator struct {
	memory   uint64
	devices  int
	reversed bool
	shuffle  *rand.Rand // nil: blocks in order
	noAsync  bool
	runtime  *runtime

	mu       sync.Mutex
	contexts map[int]*Context // of each opened device
	bound    map[int]*Context // of each OS thread
	calls    map[string]int
	launches uint64    // of all devices
	copied   [2]uint64 // bytes of ToDevice and of ToHost
	faults   []*Fault
}

var (
	_ driver.Driver   = (*Emulator)(nil)
	_ driver.Context  = (*Context)(nil)
	_ driver.Peers    = (*Context)(nil)
	_ driver.Compiler = (*Compiler)(nil)
)

// New returns a driver that shares nothing with others. Its errors wrap ErrUnavailable where the
// emulator cannot run.
func New(options ...Option) (*Emulator, error) {
	r, err := loadRuntime()
	if err != nil {
		return nil, err
	}
	e := &Emulator{
		memory: 4 << 30, devices: 1, runtime: r,
		contexts: map[int]*Context{}, bound: map[int]*Context{}, calls: map[string]int{},
	}
	for _, o := range options {
		o(e)
	}
	return e, nil
}

// Name is "emulator".
func (e *Emulator) Name() string { return "emulator" }

// Version is 13.0.
func (e *Emulator) Version() (int, error) { return 13000, nil }

// Devices returns the number of devices.
func (e *Emulator) Devices() (int, error) { return e.devices, nil }

// Describe returns the properties of a small device of compute capability 9.0.
func (e *Emulator) Describe(i int) (driver.Properties, error) {
	if i < 0 || i >= e.devices {
		return driver.Properties{}, failure("cuDeviceGet", 101, "CUDA_ERROR_INVALID_DEVICE", fmt.Sprintf("there is no device %d", i))
	}
	return driver.Properties{
		Name: "emulated device", Major: 9, Minor: 0, Memory: e.memory, Multiprocessors: 2, OneByOne: true,
		SharedPerBlock: maxShared, SharedPerSM: maxShared + 1024, L2: 1 << 20, AsyncAlloc: !e.noAsync,
		ThreadsPerSM: 2048, MemoryBusWidthBits: 256, MemoryClockKHz: 1000000,
	}, nil
}

// Limits of an H100.
const (
	maxShared     = 227 << 10
	defaultShared = 48 << 10
	maxThreads    = 1024
)

// Open returns the context of device i, which all its openers share.
func (e *Emulator) Open(i int) (driver.Context, error) {
	if _, err := e.Describe(i); err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	c := e.contexts[i]
	if c == nil {
		c = &Context{
			e: e, index: i, device: newHeap(), host: newHeap(),
			streams: map[driver.Stream]*stream{}, events: map[driver.Event]*event{},
			modules: map[driver.Module]*library{}, functions: map[driver.Function]*function{},
			graphs: map[driver.Graph][]func() error{},
		}
		e.contexts[i] = c
	}
	c.references++
	return c, nil
}

// Context is an emulated device's context.
type Context struct {
	e          *Emulator
	index      int
	references int
	next       uintptr // handle

	device, host heap
	launched     []string // the kernels since the last check of all canaries
	checked      uint64   // launches of the emulator at that check
	damage       error    // found by a free
	main         stream   // the default stream
	streams      map[driver.Stream]*stream
	events       map[driver.Event]*event
	modules      map[driver.Module]*library
	functions    map[driver.Function]*function
	graphs       map[driver.Graph][]func() error
}

// stream runs its work at once, or records it during a capture.
type stream struct {
	capture *capture
}

// capture is a recording for a graph.
type capture struct {
	origin *stream
	steps  []func() error
	done   bool
}

// event is a point in time, or in a capture.
type event struct {
	at      time.Time
	capture *capture
}

// capturing returns the active capture, nil if there is none.
func (s *stream) capturing() *capture {
	if s.capture == nil || s.capture.done {
		return nil
	}
	return s.capture
}

// function is a kernel of a loaded module.
type function struct {
	name   string
	lib    *library
	entry  uintptr
	sizes  []uint32
	shared int // limit of its dynamic shared memory
}

// begin locks the context for a method, which it names after the driver's function, and makes the
// checks of every call.
func (c *Context) begin(method, call string) error {
	c.e.mu.Lock()
	if err := c.e.counted(method); err != nil {
		return err
	}
	if c.references == 0 {
		return failure(call, 709, "CUDA_ERROR_CONTEXT_IS_DESTROYED", "the context was closed")
	}
	if c.e.bound[thread()] != c {
		return failure(call, 201, "CUDA_ERROR_INVALID_CONTEXT", "the context is not bound to this OS thread: call Bind on a locked thread")
	}
	return nil
}

func (c *Context) end() { c.e.mu.Unlock() }

func (c *Context) handle() uintptr {
	c.next++
	return c.next<<4 | 0xE0000000 // distinct from other kinds of handles
}

// stream finds s, during a capture or not. The lock is held.
func (c *Context) stream(call string, s driver.Stream) (*stream, error) {
	if s == 0 {
		return &c.main, nil
	}
	if t := c.streams[s]; t != nil {
		return t, nil
	}
	return nil, invalidHandle(call)
}

// idle finds s, which must not be capturing.
func (c *Context) idle(call string, s driver.Stream) error {
	t, err := c.stream(call, s)
	if err == nil && t.capturing() != nil {
		err = failure(call, 900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "operation not permitted when stream is capturing")
	}
	return err
}

// queue runs f, or records it if s is capturing.
func (c *Context) queue(call string, s driver.Stream, f func() error) error {
	t, err := c.stream(call, s)
	if err != nil {
		return err
	}
	if k := t.capturing(); k != nil {
		k.steps = append(k.steps, f)
		return nil
	}
	return f()
}

// Close undoes one Open. The last Close frees everything.
func (c *Context) Close() error {
	c.e.mu.Lock()
	defer c.e.mu.Unlock()
	if err := c.e.counted("Close"); err != nil {
		return err
	}
	if c.references == 0 {
		return failure("cuDevicePrimaryCtxRelease", 201, "CUDA_ERROR_INVALID_CONTEXT", "the context was closed before")
	}
	if c.references--; c.references > 0 {
		return nil
	}
	for _, h := range []*heap{&c.device, &c.host} {
		for p := range h.blocks {
			_ = h.free(p)
		}
	}
	for _, l := range c.modules {
		l.unload()
	}
	delete(c.e.contexts, c.index)
	return nil
}

// Bind makes the context current on the calling OS thread.
func (c *Context) Bind() error {
	c.e.mu.Lock()
	defer c.e.mu.Unlock()
	if err := c.e.counted("Bind"); err != nil {
		return err
	}
	if c.references == 0 {
		return failure("cuCtxSetCurrent", 709, "CUDA_ERROR_CONTEXT_IS_DESTROYED", "the context was closed")
	}
	c.e.bound[thread()] = c
	return nil
}

// Raw returns a number that identifies the context.
func (c *Context) Raw() uintptr { return uintptr(c.index) + 1 }

// NewStream returns a stream.
func (c *Context) NewStream() (driver.Stream, error) {
	defer c.end()
	if err := c.begin("NewStream", "cuStreamCreate"); err != nil {
		return 0, err
	}
	s := driver.Stream(c.handle())
	c.streams[s] = &stream{}
	return s, nil
}

// CloseStream closes s.
func (c *Context) CloseStream(s driver.Stream) error {
	defer c.end()
	if err := c.begin("CloseStream", "cuStreamDestroy"); err != nil {
		return err
	}
	if c.streams[s] == nil {
		return invalidHandle("cuStreamDestroy")
	}
	delete(c.streams, s)
	return nil
}

// Sync returns at once: all work is done. It reports writes beside allocations.
func (c *Context) Sync(s driver.Stream) error {
	defer c.end()
	if err := c.begin("Sync", "cuStreamSynchronize"); err != nil {
		return err
	}
	if err := c.idle("cuStreamSynchronize", s); err != nil {
		return err
	}
	return c.intact("cuStreamSynchronize")
}

// CanAccess is true for different devices.
func (e *Emulator) CanAccess(from, to int) (bool, error) {
	for _, i := range []int{from, to} {
		if _, err := e.Describe(i); err != nil {
			return false, err
		}
	}
	return from != to, nil
}

// CanAccess is true for other devices.
func (c *Context) CanAccess(i int) (bool, error) {
	if _, err := c.e.Describe(i); err != nil {
		return false, err
	}
	return i != c.index, nil
}

// EnableAccess does nothing: all devices have one address space.
func (c *Context) EnableAccess(peer driver.Context) error {
	defer c.end()
	if err := c.begin("EnableAccess", "cuCtxEnablePeerAccess"); err != nil {
		return err
	}
	if p, ok := peer.(*Context); !ok || p == nil || p.e != c.e {
		return invalidValue("cuCtxEnablePeerAccess", "the peer is of another driver")
	}
	return nil
}

// Done is true: all work is done.
func (c *Context) Done(s driver.Stream) (bool, error) {
	defer c.end()
	if err := c.begin("Done", "cuStreamQuery"); err != nil {
		return false, err
	}
	return true, c.idle("cuStreamQuery", s)
}

// NewEvent returns an event.
func (c *Context) NewEvent() (driver.Event, error) {
	defer c.end()
	if err := c.begin("NewEvent", "cuEventCreate"); err != nil {
		return 0, err
	}
	e := driver.Event(c.handle())
	c.events[e] = new(event)
	return e, nil
}

func (c *Context) event(call string, e driver.Event) (*event, error) {
	if t := c.events[e]; t != nil {
		return t, nil
	}
	return nil, invalidHandle(call)
}

// CloseEvent closes e.
func (c *Context) CloseEvent(e driver.Event) error {
	defer c.end()
	if err := c.begin("CloseEvent", "cuEventDestroy"); err != nil {
		return err
	}
	_, err := c.event("cuEventDestroy", e)
	delete(c.events, e)
	return err
}

// Record records the time.
func (c *Context) Record(e driver.Event, s driver.Stream) error {
	defer c.end()
	if err := c.begin("Record", "cuEventRecord"); err != nil {
		return err
	}
	t, err := c.event("cuEventRecord", e)
	if err != nil {
		return err
	}
	if q, err := c.stream("cuEventRecord", s); err == nil {
		t.capture = q.capturing()
	}
	return c.queue("cuEventRecord", s, func() error { t.at = time.Now(); return nil })
}

// SyncEvent returns at once: all work is done. It reports writes beside allocations.
func (c *Context) SyncEvent(e driver.Event) error {
	defer c.end()
	if err := c.begin("SyncEvent", "cuEventSynchronize"); err != nil {
		return err
	}
	if _, err := c.event("cuEventSynchronize", e); err != nil {
		return err
	}
	return c.intact("cuEventSynchronize")
}

// Wait returns at once. If the stream of e is capturing, s joins the capture.
func (c *Context) Wait(s driver.Stream, e driver.Event) error {
	defer c.end()
	if err := c.begin("Wait", "cuStreamWaitEvent"); err != nil {
		return err
	}
	t, err := c.event("cuStreamWaitEvent", e)
	if err != nil {
		return err
	}
	q, err := c.stream("cuStreamWaitEvent", s)
	if err == nil && t.capture != nil && !t.capture.done {
		q.capture = t.capture
	}
	return err
}

// Elapsed returns the milliseconds between two recorded events.
func (c *Context) Elapsed(from, to driver.Event) (float32, error) {
	defer c.end()
	if err := c.begin("Elapsed", "cuEventElapsedTime"); err != nil {
		return 0, err
	}
	a, err := c.event("cuEventElapsedTime", from)
	if err != nil {
		return 0, err
	}
	b, err := c.event("cuEventElapsedTime", to)
	if err != nil {
		return 0, err
	}
	if a.at.IsZero() || b.at.IsZero() {
		return 0, invalidHandle("cuEventElapsedTime")
	}
	return float32(b.at.Sub(a.at).Seconds() * 1e3), nil
}
