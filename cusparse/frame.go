package cusparse

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"unsafe"

	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/internal/device"
)

// frame is one operation under way on a device. Its methods do nothing once
// one of them has failed; the first error is in err. Memory it allocates is
// given back at its end, unless a store shares it.
type frame struct {
	d   *Device
	c   device.Call
	err error
	// serial is the number of the operation.
	serial uint64
	temps  []*mem
	made   []*store // those not kept are dropped at the end
	args   device.Args
}

// begin takes the device: the OS thread is locked and the context bound until end.
func (d *Device) begin(c device.Call) *frame {
	if d == nil {
		d = new(Device) // for end and the methods of frame
	}
	runtime.LockOSThread()
	d.mu.Lock()
	d.serial++
	f := &frame{d: d, c: c, serial: d.serial}
	if d.ctx == nil {
		f.err = errNoDevice
		return f
	}
	if d.closed {
		f.err = ErrClosed
		return f
	}
	f.err = d.ctx.Bind()
	if d.pool.unpin.Load() {
		d.pool.freeHosts()
	}
	f.check()
	return f
}

func (f *frame) end() {
	for _, s := range f.made {
		if !s.keep {
			s.drop()
		}
	}
	for _, m := range f.temps {
		m.release()
	}
	f.d.mu.Unlock()
	runtime.UnlockOSThread()
}

// check stops the operation if its context has ended.
func (f *frame) check() {
	if f.err == nil && f.c.Context != nil {
		f.err = f.c.Context.Err()
	}
}

func (f *frame) fail(err error) {
	if f.err == nil && err != nil {
		if f.c.Op != "" {
			err = fmt.Errorf("%s on %s: %w", f.c.Op, f.d, err)
		}
		f.err = err
	}
}

// alloc returns n bytes for the time of the operation.
func (f *frame) alloc(n int64) *mem {
	if f.err != nil || n == 0 {
		return nil
	}
	if n < 0 || n > 1<<50 {
		f.fail(&MemoryError{Asked: uint64(n), err: errTooLarge})
		return nil
	}
	m, err := f.d.pool.get(uint64(n))
	for errors.Is(err, ErrMemory) && f.evict() {
		m, err = f.d.pool.get(uint64(n))
	}
	if err != nil {
		f.fail(err)
		return nil
	}
	f.temps = append(f.temps, m)
	return m
}

var errTooLarge = fmt.Errorf("larger than any device")

// zeros returns n bytes of zero.
func (f *frame) zeros(n int64) *mem {
	m := f.alloc(n)
	f.fill(m, 0, n)
	return m
}

func (f *frame) fill(m *mem, b byte, n int64) {
	if f.err == nil && n > 0 {
		f.fail(f.d.ctx.Fill(m.addr, b, uint64(n), f.d.stream))
	}
}

// upload copies host memory to a new block.
func (f *frame) upload(p unsafe.Pointer, n int64) *mem {
	m := f.alloc(n)
	if f.err == nil && n > 0 {
		f.fail(f.d.ctx.ToDevice(m.addr, p, uint64(n), f.d.stream))
	}
	return m
}

// tooLarge reports whether n bytes of rows are to stay in the memory of the host.
func (f *frame) tooLarge(n int64) bool {
	if f.err != nil || !f.d.hostRows {
		return false
	}
	free, _, err := f.d.pool.left()
	f.fail(err)
	return uint64(n) > free/4*3
}

// pin copies host memory to a new block of pinned host memory.
func (f *frame) pin(p unsafe.Pointer, n int64) *mem {
	if f.err != nil {
		return nil
	}
	m, err := f.d.pool.hosted(uint64(n))
	if err != nil {
		f.fail(err)
		return nil
	}
	f.temps = append(f.temps, m)
	copy(unsafe.Slice((*byte)(m.host), n), unsafe.Slice((*byte)(p), n))
	return m
}

// ints uploads a list. An empty one has an address too, since none means all.
func (f *frame) ints(list []int32) *mem {
	if len(list) == 0 {
		return f.alloc(4)
	}
	return f.upload(unsafe.Pointer(unsafe.SliceData(list)), 4*int64(len(list)))
}

// download copies n bytes to pageable host memory and waits.
func (f *frame) download(to unsafe.Pointer, from driver.Ptr, n int64) {
	if f.err != nil || n == 0 {
		return
	}
	if n <= resultsAt { // a copy to pinned memory starts sooner; the numbers of Results are behind
		f.toPinned(from, n)
		f.sync()
		if f.err == nil {
			copy(unsafe.Slice((*byte)(to), n), unsafe.Slice((*byte)(f.d.pinned), n))
		}
		return
	}
	f.fail(f.d.ctx.ToHost(to, from, uint64(n), f.d.stream))
	f.sync()
}

type toPinnedKey struct{}

// toPinned queues a copy of n bytes to the pinned memory.
func (f *frame) toPinned(from driver.Ptr, n int64) {
	if n > toPinnedMost || n%4 != 0 || from%4 != 0 {
		f.fail(f.d.ctx.ToHost(f.d.pinned, from, uint64(n), f.d.stream))
		return
	}
	p := f.once(toPinnedKey{}, func() *program { return compose("tohost", "numbers for the host") })
	f.blocks(f.kernel(p, toPinnedKernel), 1, 64, from, int32(n/4), driver.Ptr(uintptr(f.d.pinned)))
}

// toPinnedMost is the number of bytes up to which a kernel is faster than a copy.
const toPinnedMost = 2048

const toPinnedKernel = "hb_to_host"

// copy copies n bytes on the device.
func (f *frame) copy(to, from driver.Ptr, n int64) {
	if f.err == nil && n > 0 {
		f.fail(f.d.ctx.Copy(to, from, uint64(n), f.d.stream))
	}
}

func (f *frame) sync() {
	if f.err == nil {
		f.fail(f.d.ctx.Sync(f.d.stream))
		f.check()
	}
}

// read returns the 64-bit number at m plus off items, waiting for it.
func (f *frame) read(m *mem, off int64) int64 {
	if f.err != nil || m == nil {
		return 0
	}
	f.toPinned(m.addr+driver.Ptr(8*off), 8)
	f.sync()
	if f.err != nil {
		return 0
	}
	return *(*int64)(f.d.pinned)
}

// launch queues a kernel. Arguments are *mem, driver.Ptr, int64, int32, uint32, float64, and
// structs of a layout that the kernel shares, given as pointers.
func (f *frame) launch(k *kernel, grid, block [3]uint32, shared int, args ...any) {
	if f.err != nil || grid[0] == 0 || grid[1] == 0 {
		return
	}
	list := &f.args
	list.Reset()
	for _, a := range args {
		switch a := a.(type) {
		case *mem:
			p := a.ptr()
			list.Add(unsafe.Pointer(&p), 8)
		case driver.Ptr:
			list.Add(unsafe.Pointer(&a), 8)
		case int64:
			list.Add(unsafe.Pointer(&a), 8)
		case int32:
			list.Add(unsafe.Pointer(&a), 4)
		case uint32:
			list.Add(unsafe.Pointer(&a), 4)
		case float64:
			list.Add(unsafe.Pointer(&a), 8)
		case *descriptor:
			list.Add(unsafe.Pointer(a), unsafe.Sizeof(*a))
		case *maskArg:
			list.Add(unsafe.Pointer(a), unsafe.Sizeof(*a))
		case *regionArg:
			list.Add(unsafe.Pointer(a), unsafe.Sizeof(*a))
		case device.Scalar:
			list.Add(a.P, uintptr(a.Type.Size))
		default: // reflect.TypeOf, unlike fmt, does not move the arguments to the heap
			panic("cusparse: kernel argument of type " + reflect.TypeOf(a).String())
		}
	}
	f.queue(k, grid, block, shared, list.Pointers())
}

// queue launches a kernel with packed arguments.
func (f *frame) queue(k *kernel, grid, block [3]uint32, shared int, args []unsafe.Pointer) {
	if shared > max(k.shared, plainShared) {
		f.fail(f.d.ctx.SetShared(k.fn, shared))
		if f.err != nil {
			return
		}
		k.shared = shared
	}
	f.fail(f.d.ctx.Launch(k.fn, grid, block, uint32(shared), f.d.stream, args))
}

// plainShared is the dynamic shared memory a kernel may have without asking;
// what it declares counts too.
const plainShared = 40 << 10

// threads is the block size of kernels that take one item a thread.
const threads = device.Threads

// each queues a kernel over n items, a thread each, in a loop beyond what fills the device.
func (f *frame) each(k *kernel, n int64, args ...any) {
	if f.err != nil || n <= 0 {
		return
	}
	blocks := min((n+threads-1)/threads, int64(f.d.props.Multiprocessors)*32)
	f.launch(k, [3]uint32{uint32(max(blocks, 1)), 1, 1}, [3]uint32{threads, 1, 1}, 0, args...)
}

// spare returns the bytes that an operation may take for its convenience: a
// quarter of what is free.
func (f *frame) spare() int64 {
	if f.err != nil {
		return 0
	}
	free, _, err := f.d.pool.left()
	f.fail(err)
	return int64(free) / 4
}

// affords reports whether n bytes of convenience are to be had. Few are not worth the question.
func (f *frame) affords(n int64) bool {
	few := min(1<<30, int64(f.d.props.Memory/256))
	if limit := f.d.pool.limited(); limit != 0 {
		few = min(few, int64(limit/256))
	}
	return n <= few || n <= f.spare()
}

// blocks queues a kernel of n blocks of size threads.
func (f *frame) blocks(k *kernel, n int64, size int, args ...any) {
	if f.err != nil || n <= 0 {
		return
	}
	f.launch(k, [3]uint32{uint32(n), 1, 1}, [3]uint32{uint32(size), 1, 1}, 0, args...)
}
