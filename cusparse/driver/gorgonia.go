//go:build gorgonia && cgo

package driver

// #cgo LDFLAGS: -lcuda
// #include <cuda.h>
// #include <stdint.h>
//
// // These are not in gorgonia.org/cu, or take parameters of 8 bytes only. The
// // addresses are numbers, since cgo would refuse pointers to Go's pointers.
// static CUresult hb_launch(uintptr_t f, const unsigned *grid, const unsigned *block, unsigned
// shared, uintptr_t s, uintptr_t args) {
// 	return cuLaunchKernel((CUfunction)f, grid[0], grid[1], grid[2], block[0], block[1], block[2], shared, (CUstream)s, (void **)args, 0);
// }
// static CUresult hb_set_shared(uintptr_t f, int bytes) {
// 	return cuFuncSetAttribute((CUfunction)f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes);
// }
import "C"

import (
	"fmt"
	"reflect"
	"runtime"
	"sync"
	"unsafe"

	"gorgonia.org/cu"
)

// OpenGorgonia returns the driver that calls CUDA by way of gorgonia.org/cu,
// so that hiveblas shares contexts and device memory with programs of the
// Gorgonia family. It is built under the tag gorgonia only, with cgo and the
// headers of CUDA 11; a program with gorgonia.org/cu in it ends at its start
// where there is no GPU. Graphs and stream-ordered allocation are not in that
// package: those calls answer with ErrNotSupported.
func OpenGorgonia() (Driver, error) {
	if v := cu.Version(); v < oldestDriver {
		return nil, oldDriver(v)
	}
	return gorgoniaDriver{}, nil
}

// FromContext makes a context of gorgonia.org/cu one of hiveblas, which shares
// its memory. It stays the caller's: Close does not destroy it.
func FromContext(ctx cu.CUContext) (Context, error) {
	if handle(ctx) == 0 {
		return nil, fmt.Errorf("FromContext: %w", gorgoniaError("cuCtxSetCurrent", cu.InvalidContext))
	}
	return &gorgoniaContext{ctx: ctx, release: func() error { return nil }}, nil
}

// WrapPtr makes an address of gorgonia.org/cu one of hiveblas.
func WrapPtr(p cu.DevicePtr) Ptr { return Ptr(p) }

// UnwrapPtr makes an address of hiveblas one of gorgonia.org/cu.
func UnwrapPtr(p Ptr) cu.DevicePtr { return cu.DevicePtr(p) }

// handled are the types of gorgonia.org/cu that hold one handle of the driver.
type handled interface {
	cu.CUContext | cu.Stream | cu.Event | cu.Module | cu.Function
}

func handle[T handled](v T) uintptr { return *(*uintptr)(unsafe.Pointer(&v)) }

func wrap[T handled](h uintptr) T { return *(*T)(unsafe.Pointer(&h)) }

// gorgoniaError is err, of a type that gorgonia.org/cu does not export, as an
// *Error.
func gorgoniaError(call string, err error) error {
	if err == nil {
		return nil
	}
	v := reflect.ValueOf(err)
	if v.Kind() != reflect.Int {
		return fmt.Errorf("%s: %w", call, err)
	}
	return gorgoniaResult(call, C.CUresult(v.Int()))
}

func gorgoniaResult(call string, code C.CUresult) error {
	if code == C.CUDA_SUCCESS {
		return nil
	}
	var name, text *C.char
	C.cuGetErrorName(code, &name)
	C.cuGetErrorString(code, &text)
	return resultError(call, uint32(code), C.GoString(name), C.GoString(text))
}

func unsupported(call string) error {
	return fmt.Errorf("%s: %w: gorgonia.org/cu does not have it", call, ErrNotSupported)
}

type gorgoniaDriver struct{}

func (gorgoniaDriver) Name() string { return "gorgonia" }

func (gorgoniaDriver) Version() (int, error) { return cu.Version(), nil }

func (gorgoniaDriver) Devices() (int, error) {
	n, err := cu.NumDevices()
	return n, gorgoniaError("cuDeviceGetCount", err)
}

func (gorgoniaDriver) Describe(i int) (Properties, error) {
	var p Properties
	d, err := cu.GetDevice(i)
	if err != nil {
		return p, gorgoniaError("cuDeviceGet", err)
	}
	if p.Name, err = d.Name(); err != nil {
		return p, gorgoniaError("cuDeviceGetName", err)
	}
	memory, err := d.TotalMem()
	if err != nil {
		return p, gorgoniaError("cuDeviceTotalMem", err)
	}
	p.Memory = uint64(memory)
	for attribute, to := range map[cu.DeviceAttribute]*int{
		cu.ComputeCapabilityMajor: &p.Major, cu.ComputeCapabilityMinor: &p.Minor,
		cu.MultiprocessorCount: &p.Multiprocessors, cu.L2CacheSize: &p.L2,
		C.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:    &p.SharedPerBlock,
		C.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR: &p.SharedPerSM,
		C.CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:       &p.ThreadsPerSM,
		cu.GlobalMemoryBusWidth:                                    &p.MemoryBusWidthBits, cu.MemoryClockRate: &p.MemoryClockKHz,
	} {
		if *to, err = d.Attribute(attribute); err != nil {
			return p, gorgoniaError("cuDeviceGetAttribute", err)
		}
	}
	return p, nil
}

func (gorgoniaDriver) Open(i int) (Context, error) {
	d, err := cu.GetDevice(i)
	if err != nil {
		return nil, gorgoniaError("cuDeviceGet", err)
	}
	ctx, err := d.RetainPrimaryCtx()
	if err != nil {
		return nil, gorgoniaError("cuDevicePrimaryCtxRetain", err)
	}
	return &gorgoniaContext{ctx: ctx, release: sync.OnceValue(func() error {
		return gorgoniaError("cuDevicePrimaryCtxRelease", d.ReleasePrimaryCtx())
	})}, nil
}

type gorgoniaContext struct {
	ctx     cu.CUContext
	release func() error
}

func (c *gorgoniaContext) Close() error { return c.release() }

func (c *gorgoniaContext) Bind() error {
	return gorgoniaError("cuCtxSetCurrent", cu.SetCurrentContext(c.ctx))
}

func (c *gorgoniaContext) Raw() uintptr { return handle(c.ctx) }

func (c *gorgoniaContext) MemInfo() (free, total uint64, err error) {
	f, t, err := cu.MemInfo()
	return uint64(f), uint64(t), gorgoniaError("cuMemGetInfo", err)
}

func (c *gorgoniaContext) Alloc(bytes uint64) (Ptr, error) {
	p, err := cu.MemAlloc(int64(bytes))
	return WrapPtr(p), gorgoniaError("cuMemAlloc", err)
}

func (c *gorgoniaContext) Free(p Ptr) error {
	return gorgoniaError("cuMemFree", cu.MemFree(UnwrapPtr(p)))
}

func (c *gorgoniaContext) AllocAsync(uint64, Stream) (Ptr, error) {
	return 0, unsupported("cuMemAllocAsync")
}

func (c *gorgoniaContext) FreeAsync(Ptr, Stream) error { return unsupported("cuMemFreeAsync") }

func (c *gorgoniaContext) AllocHost(bytes uint64) (unsafe.Pointer, error) {
	var p unsafe.Pointer
	err := gorgoniaResult("cuMemHostAlloc", C.cuMemHostAlloc(&p, C.size_t(bytes), C.CU_MEMHOSTALLOC_PORTABLE))
	return p, err
}

func (c *gorgoniaContext) FreeHost(p unsafe.Pointer) error {
	return gorgoniaError("cuMemFreeHost", cu.MemFreeHost(p))
}

func (c *gorgoniaContext) ToDevice(dst Ptr, src unsafe.Pointer, n uint64, s Stream) error {
	return gorgoniaError("cuMemcpyHtoDAsync", cu.MemcpyHtoDAsync(UnwrapPtr(dst), src, int64(n), wrap[cu.Stream](uintptr(s))))
}

func (c *gorgoniaContext) ToHost(dst unsafe.Pointer, src Ptr, n uint64, s Stream) error {
	return gorgoniaError("cuMemcpyDtoHAsync", cu.MemcpyDtoHAsync(dst, UnwrapPtr(src), int64(n), wrap[cu.Stream](uintptr(s))))
}

func (c *gorgoniaContext) Copy(dst, src Ptr, n uint64, s Stream) error {
	return gorgoniaError("cuMemcpyDtoDAsync", cu.MemcpyDtoDAsync(UnwrapPtr(dst), UnwrapPtr(src), int64(n), wrap[cu.Stream](uintptr(s))))
}

func (c *gorgoniaContext) Fill(dst Ptr, b byte, n uint64, s Stream) error {
	return gorgoniaError("cuMemsetD8Async", cu.MemsetD8Async(UnwrapPtr(dst), b, int64(n), wrap[cu.Stream](uintptr(s))))
}

func (c *gorgoniaContext) Fill32(dst Ptr, w uint32, n uint64, s Stream) error {
	return gorgoniaError("cuMemsetD32Async", cu.MemsetD32Async(UnwrapPtr(dst), uint(w), int64(n), wrap[cu.Stream](uintptr(s))))
}

func (c *gorgoniaContext) NewStream() (Stream, error) {
	s, err := cu.MakeStream(cu.NonBlocking)
	return Stream(handle(s)), gorgoniaError("cuStreamCreate", err)
}

func (c *gorgoniaContext) CloseStream(s Stream) error {
	t := wrap[cu.Stream](uintptr(s))
	return gorgoniaError("cuStreamDestroy", t.Destroy())
}

func (c *gorgoniaContext) Sync(s Stream) error {
	return gorgoniaError("cuStreamSynchronize", wrap[cu.Stream](uintptr(s)).Synchronize())
}

func (c *gorgoniaContext) NewEvent() (Event, error) {
	e, err := cu.MakeEvent(cu.DefaultEvent)
	return Event(handle(e)), gorgoniaError("cuEventCreate", err)
}

func (c *gorgoniaContext) CloseEvent(e Event) error {
	t := wrap[cu.Event](uintptr(e))
	return gorgoniaError("cuEventDestroy", cu.DestroyEvent(&t))
}

func (c *gorgoniaContext) Record(e Event, s Stream) error {
	return gorgoniaError("cuEventRecord", wrap[cu.Event](uintptr(e)).Record(wrap[cu.Stream](uintptr(s))))
}

func (c *gorgoniaContext) SyncEvent(e Event) error {
	return gorgoniaError("cuEventSynchronize", wrap[cu.Event](uintptr(e)).Synchronize())
}

func (c *gorgoniaContext) Wait(s Stream, e Event) error {
	return gorgoniaError("cuStreamWaitEvent", wrap[cu.Stream](uintptr(s)).Wait(wrap[cu.Event](uintptr(e)), 0))
}

func (c *gorgoniaContext) Elapsed(from, to Event) (float32, error) {
	ms, err := wrap[cu.Event](uintptr(from)).Elapsed(wrap[cu.Event](uintptr(to)))
	return float32(ms), gorgoniaError("cuEventElapsedTime", err)
}

func (c *gorgoniaContext) Load(image []byte) (Module, error) {
	m, err := cu.LoadData(string(image))
	return Module(handle(m)), gorgoniaError("cuModuleLoadData", err)
}

func (c *gorgoniaContext) Unload(m Module) error {
	return gorgoniaError("cuModuleUnload", wrap[cu.Module](uintptr(m)).Unload())
}

func (c *gorgoniaContext) Function(m Module, name string) (Function, error) {
	f, err := wrap[cu.Module](uintptr(m)).Function(name)
	if err != nil {
		return 0, fmt.Errorf("kernel %s: %w", name, gorgoniaError("cuModuleGetFunction", err))
	}
	return Function(handle(f)), nil
}

func (c *gorgoniaContext) SetShared(f Function, bytes int) error {
	return gorgoniaResult("cuFuncSetAttribute", C.hb_set_shared(C.uintptr_t(f), C.int(bytes)))
}

func (c *gorgoniaContext) Occupancy(f Function, threads, shared int) (int, error) {
	n, err := wrap[cu.Function](uintptr(f)).MaxActiveBlocksPerMultiProcessor(threads, int64(shared))
	return n, gorgoniaError("cuOccupancyMaxActiveBlocksPerMultiprocessor", err)
}

func (c *gorgoniaContext) Registers(f Function) (registers, local int, err error) {
	if registers, err = wrap[cu.Function](uintptr(f)).Attribute(cu.NumRegs); err == nil {
		local, err = wrap[cu.Function](uintptr(f)).Attribute(cu.LocalSizeBytes)
	}
	return registers, local, gorgoniaError("cuFuncGetAttribute", err)
}

func (c *gorgoniaContext) Launch(f Function, grid, block [3]uint32, shared uint32, s Stream, args []unsafe.Pointer) error {
	// cu's own Launch reads 8 bytes of every parameter, no more and no less.
	var first C.uintptr_t
	if len(args) > 0 {
		first = C.uintptr_t(uintptr(unsafe.Pointer(&args[0])))
	}
	code := C.hb_launch(C.uintptr_t(f), (*C.uint)(unsafe.Pointer(&grid)), (*C.uint)(unsafe.Pointer(&block)), C.uint(shared), C.uintptr_t(s), first)
	runtime.KeepAlive(args)
	return gorgoniaResult("cuLaunchKernel", code)
}

func (c *gorgoniaContext) BeginCapture(Stream) error { return unsupported("cuStreamBeginCapture") }

func (c *gorgoniaContext) EndCapture(Stream) (Graph, error) {
	return 0, unsupported("cuStreamEndCapture")
}

func (c *gorgoniaContext) LaunchGraph(Graph, Stream) error { return unsupported("cuGraphLaunch") }

func (c *gorgoniaContext) CloseGraph(Graph) error { return unsupported("cuGraphExecDestroy") }
