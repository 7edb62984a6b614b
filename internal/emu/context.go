package emu

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"
	"unsafe"

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

// MemInfo returns the free part of the limit set by Memory.
func (c *Context) MemInfo() (free, total uint64, err error) {
	defer c.end()
	if err := c.begin("MemInfo", "cuMemGetInfo"); err != nil {
		return 0, 0, err
	}
	return c.e.memory - c.device.bytes, c.e.memory, nil
}

// Alloc returns memory filled with 0xA5.
func (c *Context) Alloc(bytes uint64) (driver.Ptr, error) {
	defer c.end()
	if err := c.begin("Alloc", "cuMemAlloc"); err != nil {
		return 0, err
	}
	return c.alloc("cuMemAlloc", bytes)
}

func (c *Context) alloc(call string, bytes uint64) (driver.Ptr, error) {
	if bytes == 0 {
		return 0, invalidValue(call, "an allocation of 0 bytes")
	}
	if bytes > c.e.memory-c.device.bytes {
		err := OutOfMemory
		err.Call = call
		return 0, &err
	}
	b, err := c.device.alloc(bytes)
	if err != nil {
		return 0, failure(call, 2, "CUDA_ERROR_OUT_OF_MEMORY", err.Error())
	}
	return driver.Ptr(b.start), nil
}

// Free frees p and reports writes beside it that are not reported yet.
func (c *Context) Free(p driver.Ptr) error {
	defer c.end()
	if err := c.begin("Free", "cuMemFree"); err != nil {
		return err
	}
	return c.free("cuMemFree", p)
}

func (c *Context) free(call string, p driver.Ptr) error {
	b := c.device.blocks[uintptr(p)]
	if err := c.device.free(uintptr(p)); err != nil {
		if b != nil && c.damage == nil { // callers may ignore errors of frees
			c.damage = err
		}
		return invalidValue(call, err.Error())
	}
	return nil
}

// intact checks the canaries of all allocations, once after a launch on any device: a kernel may
// write to others. Its error names the kernels of this device since the last check.
func (c *Context) intact(call string) error {
	if c.checked == c.e.launches && c.damage == nil {
		return nil
	}
	err, kernels := c.damage, c.launched
	if found := c.device.intact(); err == nil {
		err = found
	}
	c.checked, c.launched, c.damage = c.e.launches, nil, nil
	if err == nil {
		return nil
	}
	return failure(call, 700, "CUDA_ERROR_ILLEGAL_ADDRESS", "one of "+strings.Join(kernels, ", ")+": "+err.Error())
}

// AllocAsync is Alloc. It fails on a capturing stream.
func (c *Context) AllocAsync(bytes uint64, s driver.Stream) (driver.Ptr, error) {
	defer c.end()
	if err := c.begin("AllocAsync", "cuMemAllocAsync"); err != nil {
		return 0, err
	}
	if err := c.async("cuMemAllocAsync", s); err != nil {
		return 0, err
	}
	return c.alloc("cuMemAllocAsync", bytes)
}

// FreeAsync is Free.
func (c *Context) FreeAsync(p driver.Ptr, s driver.Stream) error {
	defer c.end()
	if err := c.begin("FreeAsync", "cuMemFreeAsync"); err != nil {
		return err
	}
	if err := c.async("cuMemFreeAsync", s); err != nil {
		return err
	}
	return c.free("cuMemFreeAsync", p)
}

func (c *Context) async(call string, s driver.Stream) error {
	if c.e.noAsync {
		return failure(call, 801, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported")
	}
	return c.idle(call, s)
}

// AllocHost returns host memory filled with 0xA5.
func (c *Context) AllocHost(bytes uint64) (unsafe.Pointer, error) {
	defer c.end()
	if err := c.begin("AllocHost", "cuMemHostAlloc"); err != nil {
		return nil, err
	}
	if bytes == 0 {
		return nil, invalidValue("cuMemHostAlloc", "an allocation of 0 bytes")
	}
	b, err := c.host.alloc(bytes)
	if err != nil {
		return nil, failure("cuMemHostAlloc", 2, "CUDA_ERROR_OUT_OF_MEMORY", err.Error())
	}
	return unsafe.Pointer(&b.mapping[margin]), nil
}

// FreeHost frees p.
func (c *Context) FreeHost(p unsafe.Pointer) error {
	defer c.end()
	if err := c.begin("FreeHost", "cuMemFreeHost"); err != nil {
		return err
	}
	if err := c.host.free(uintptr(p)); err != nil {
		return invalidValue("cuMemFreeHost", err.Error())
	}
	return nil
}

// ToDevice copies n bytes, which must lie within one allocation.
func (c *Context) ToDevice(dst driver.Ptr, src unsafe.Pointer, n uint64, s driver.Stream) error {
	defer c.end()
	if err := c.begin("ToDevice", "cuMemcpyHtoDAsync"); err != nil {
		return err
	}
	c.e.copied[0] += n
	return c.onDevice("cuMemcpyHtoDAsync", s, dst, n, func(d []byte) { copy(d, unsafe.Slice((*byte)(src), n)) })
}

// ToHost copies n bytes, which must lie within one allocation.
func (c *Context) ToHost(dst unsafe.Pointer, src driver.Ptr, n uint64, s driver.Stream) error {
	defer c.end()
	if err := c.begin("ToHost", "cuMemcpyDtoHAsync"); err != nil {
		return err
	}
	if err := c.intact("cuMemcpyDtoHAsync"); err != nil {
		return err
	}
	c.e.copied[1] += n
	return c.onDevice("cuMemcpyDtoHAsync", s, src, n, func(d []byte) { copy(unsafe.Slice((*byte)(dst), n), d) })
}

// Copy copies n bytes; either side must lie within one allocation. The source may be on another
// device.
func (c *Context) Copy(dst, src driver.Ptr, n uint64, s driver.Stream) error {
	defer c.end()
	if err := c.begin("Copy", "cuMemcpyDtoDAsync"); err != nil {
		return err
	}
	from, err := c.device.find(uintptr(src), n)
	for _, peer := range c.e.contexts {
		if err != nil && peer != c {
			from, err = peer.device.find(uintptr(src), n)
		}
	}
	if n > 0 && err != nil {
		return invalidValue("cuMemcpyDtoDAsync", err.Error())
	}
	return c.onDevice("cuMemcpyDtoDAsync", s, dst, n, func(d []byte) { copy(d, from) })
}

// Fill sets n bytes to b.
func (c *Context) Fill(dst driver.Ptr, b byte, n uint64, s driver.Stream) error {
	defer c.end()
	if err := c.begin("Fill", "cuMemsetD8Async"); err != nil {
		return err
	}
	return c.onDevice("cuMemsetD8Async", s, dst, n, func(d []byte) { fill(d, b) })
}

// Fill32 sets n words to w.
func (c *Context) Fill32(dst driver.Ptr, w uint32, n uint64, s driver.Stream) error {
	defer c.end()
	if err := c.begin("Fill32", "cuMemsetD32Async"); err != nil {
		return err
	}
	if dst%4 != 0 {
		return invalidValue("cuMemsetD32Async", "the address is not a multiple of 4")
	}
	return c.onDevice("cuMemsetD32Async", s, dst, 4*n, func(d []byte) {
		if n > 0 {
			words := unsafe.Slice((*uint32)(unsafe.Pointer(&d[0])), n)
			for i := range words {
				words[i] = w
			}
		}
	})
}

// onDevice queues f on n bytes of device memory.
func (c *Context) onDevice(call string, s driver.Stream, p driver.Ptr, n uint64, f func([]byte)) error {
	if n == 0 {
		_, err := c.stream(call, s)
		return err
	}
	d, err := c.device.find(uintptr(p), n)
	if err != nil {
		return invalidValue(call, err.Error())
	}
	return c.queue(call, s, func() error { f(d); return nil })
}

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
