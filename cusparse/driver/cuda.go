package driver

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"sync"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/dl"
)

// api holds the addresses of libcuda's functions. Names with _v2 are the names that cuda.h gives
// the plain names to.
type api struct {
	path   string
	handle uintptr // of the library

	cuInit, cuDriverGetVersion, cuGetErrorName, cuGetErrorString                         uintptr
	cuDeviceGetCount, cuDeviceGet, cuDeviceGetName, cuDeviceTotalMem, cuDeviceGetAttr    uintptr
	cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRelease, cuCtxSetCurrent                 uintptr
	cuMemGetInfo, cuMemAlloc, cuMemFree, cuMemAllocAsync, cuMemFreeAsync                 uintptr
	cuMemHostAlloc, cuMemFreeHost, cuMemcpyHtoDAsync, cuMemcpyDtoHAsync                  uintptr
	cuMemcpyDtoDAsync, cuMemsetD8Async, cuMemsetD32Async                                 uintptr
	cuStreamCreate, cuStreamDestroy, cuStreamSynchronize, cuStreamWaitEvent              uintptr
	cuStreamQuery                                                                        uintptr // optional
	cuEventCreate, cuEventDestroy, cuEventRecord, cuEventSynchronize, cuEventElapsedTime uintptr
	cuModuleLoadDataEx, cuModuleUnload, cuModuleGetFunction                              uintptr
	cuFuncSetAttribute, cuFuncGetAttribute, cuOccupancyMaxActiveBlocks, cuLaunchKernel   uintptr
	cuStreamBeginCapture, cuStreamEndCapture, cuGraphDestroy                             uintptr
	cuGraphInstantiateWithFlags, cuGraphInstantiate, cuGraphLaunch, cuGraphExecDestroy   uintptr
}

// symbols lists what is needed of libcuda by the name it is exported under.
func (a *api) symbols() map[string]*uintptr {
	return map[string]*uintptr{
		"cuInit": &a.cuInit, "cuDriverGetVersion": &a.cuDriverGetVersion,
		"cuGetErrorName": &a.cuGetErrorName, "cuGetErrorString": &a.cuGetErrorString,
		"cuDeviceGetCount": &a.cuDeviceGetCount, "cuDeviceGet": &a.cuDeviceGet, "cuDeviceGetName": &a.cuDeviceGetName,
		"cuDeviceTotalMem_v2": &a.cuDeviceTotalMem, "cuDeviceGetAttribute": &a.cuDeviceGetAttr,
		"cuDevicePrimaryCtxRetain": &a.cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRelease_v2": &a.cuDevicePrimaryCtxRelease,
		"cuCtxSetCurrent": &a.cuCtxSetCurrent, "cuMemGetInfo_v2": &a.cuMemGetInfo, "cuMemAlloc_v2": &a.cuMemAlloc,
		"cuMemFree_v2": &a.cuMemFree, "cuMemAllocAsync": &a.cuMemAllocAsync, "cuMemFreeAsync": &a.cuMemFreeAsync,
		"cuMemHostAlloc": &a.cuMemHostAlloc, "cuMemFreeHost": &a.cuMemFreeHost,
		"cuMemcpyHtoDAsync_v2": &a.cuMemcpyHtoDAsync, "cuMemcpyDtoHAsync_v2": &a.cuMemcpyDtoHAsync,
		"cuMemcpyDtoDAsync_v2": &a.cuMemcpyDtoDAsync, "cuMemsetD8Async": &a.cuMemsetD8Async, "cuMemsetD32Async": &a.cuMemsetD32Async,
		"cuStreamCreate": &a.cuStreamCreate, "cuStreamDestroy_v2": &a.cuStreamDestroy,
		"cuStreamSynchronize": &a.cuStreamSynchronize, "cuStreamQuery": &a.cuStreamQuery, "cuStreamWaitEvent": &a.cuStreamWaitEvent,
		"cuEventCreate": &a.cuEventCreate, "cuEventDestroy_v2": &a.cuEventDestroy, "cuEventRecord": &a.cuEventRecord,
		"cuEventSynchronize": &a.cuEventSynchronize, "cuEventElapsedTime": &a.cuEventElapsedTime,
		"cuModuleLoadDataEx": &a.cuModuleLoadDataEx, "cuModuleUnload": &a.cuModuleUnload, "cuModuleGetFunction": &a.cuModuleGetFunction,
		"cuFuncSetAttribute": &a.cuFuncSetAttribute, "cuFuncGetAttribute": &a.cuFuncGetAttribute,
		"cuOccupancyMaxActiveBlocksPerMultiprocessor": &a.cuOccupancyMaxActiveBlocks, "cuLaunchKernel": &a.cuLaunchKernel,
		"cuStreamBeginCapture_v2": &a.cuStreamBeginCapture, "cuStreamEndCapture": &a.cuStreamEndCapture,
		"cuGraphDestroy": &a.cuGraphDestroy, "cuGraphLaunch": &a.cuGraphLaunch, "cuGraphExecDestroy": &a.cuGraphExecDestroy,
		// The former since CUDA 11.4, the latter before.
		"cuGraphInstantiateWithFlags": &a.cuGraphInstantiateWithFlags, "cuGraphInstantiate_v2": &a.cuGraphInstantiate,
	}
}

var openCuda = sync.OnceValues(loadCuda)

// Open loads libcuda and starts it. Its errors wrap ErrNoDriver, ErrOldDriver
// or ErrNoDevice. The driver is loaded once in a process; with the environment
// variable HIVEBLAS_CUDA set, at every call.
func Open() (Driver, error) {
	load := openCuda
	if os.Getenv(cudaLibrary.variable) != "" {
		load = loadCuda
	}
	a, err := load()
	if err != nil {
		return nil, err
	}
	return &cudaDriver{a}, nil
}

func loadCuda() (*api, error) {
	handle, path, err := cudaLibrary.open(nil)
	if err != nil {
		return nil, err
	}
	a := &api{path: path, handle: handle}
	// The version comes first: an old driver lacks functions too.
	if a.cuDriverGetVersion, err = dlsym(handle, "cuDriverGetVersion"); err != nil {
		return nil, missing(ErrNoDriver, []string{path + ", which is no libcuda: " + err.Error()})
	}
	version, err := a.version()
	if err != nil {
		return nil, err
	}
	if version < oldestDriver {
		return nil, oldDriver(version)
	}
	for name, p := range a.symbols() {
		if *p, err = dlsym(handle, name); err != nil && p != &a.cuGraphInstantiateWithFlags && p != &a.cuGraphInstantiate && p != &a.cuStreamQuery {
			return nil, missing(ErrNoDriver, []string{path + ", which has no " + name})
		}
	}
	if err := a.check("cuInit", call(a.cuInit, 0)); err != nil {
		switch e := err.(*Error); e.Code {
		case 100: // CUDA_ERROR_NO_DEVICE
			return nil, fmt.Errorf("%w: %w", ErrNoDevice, err)
		case 34: // CUDA_ERROR_STUB_LIBRARY
			return nil, fmt.Errorf("%w (%s is the toolkit's stub of it): %w", ErrNoDriver, path, err)
		}
		return nil, err
	}
	return a, nil
}

// check turns a CUresult into an error.
func (a *api) check(name string, code uint32) error {
	if code == 0 {
		return nil
	}
	return a.failure(name, code)
}

// failure is apart from check to keep that small.
func (a *api) failure(name string, code uint32) error {
	text := func(fn uintptr) string {
		p := new(unsafe.Pointer)
		if fn == 0 || call(fn, uintptr(code), uintptr(unsafe.Pointer(p))) != 0 {
			return ""
		}
		return dl.String(*p)
	}
	return resultError(name, code, text(a.cuGetErrorName), text(a.cuGetErrorString))
}

func (a *api) version() (int, error) {
	v := new(int32)
	err := a.check("cuDriverGetVersion", call(a.cuDriverGetVersion, uintptr(unsafe.Pointer(v))))
	return int(*v), err
}

type cudaDriver struct{ a *api }

func (d *cudaDriver) Name() string { return "dlopen" }

func (d *cudaDriver) Version() (int, error) { return d.a.version() }

func (d *cudaDriver) Devices() (int, error) {
	n := new(int32)
	err := d.a.check("cuDeviceGetCount", call(d.a.cuDeviceGetCount, uintptr(unsafe.Pointer(n))))
	return int(*n), err
}

// device returns the CUdevice of device i.
func (d *cudaDriver) device(i int) (uintptr, error) {
	if i < 0 || i > math.MaxInt32 {
		return 0, d.a.failure("cuDeviceGet", 101) // CUDA_ERROR_INVALID_DEVICE
	}
	dev := new(int32)
	err := d.a.check("cuDeviceGet", call(d.a.cuDeviceGet, uintptr(unsafe.Pointer(dev)), uintptr(i)))
	return uintptr(*dev), err
}

func (d *cudaDriver) Describe(i int) (Properties, error) {
	var p Properties
	dev, err := d.device(i)
	if err != nil {
		return p, err
	}
	name := new([256]byte)
	if err := d.a.check("cuDeviceGetName", call(d.a.cuDeviceGetName, uintptr(unsafe.Pointer(name)), 255, dev)); err != nil {
		return p, err
	}
	p.Name = dl.String(unsafe.Pointer(name))
	memory := new(uint64)
	if err := d.a.check("cuDeviceTotalMem", call(d.a.cuDeviceTotalMem, uintptr(unsafe.Pointer(memory)), dev)); err != nil {
		return p, err
	}
	p.Memory = *memory
	async := 0
	for _, q := range []struct {
		attribute uintptr // CU_DEVICE_ATTRIBUTE_…
		to        *int
	}{
		{75, &p.Major}, {76, &p.Minor}, // COMPUTE_CAPABILITY_MAJOR, _MINOR
		{16, &p.Multiprocessors},    // MULTIPROCESSOR_COUNT
		{97, &p.SharedPerBlock},     // MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
		{81, &p.SharedPerSM},        // MAX_SHARED_MEMORY_PER_MULTIPROCESSOR
		{38, &p.L2},                 // L2_CACHE_SIZE
		{39, &p.ThreadsPerSM},       // MAX_THREADS_PER_MULTIPROCESSOR
		{37, &p.MemoryBusWidthBits}, // GLOBAL_MEMORY_BUS_WIDTH
		{36, &p.MemoryClockKHz},     // MEMORY_CLOCK_RATE
		{115, &async},               // MEMORY_POOLS_SUPPORTED
	} {
		v := new(int32)
		if err := d.a.check("cuDeviceGetAttribute", call(d.a.cuDeviceGetAttr, uintptr(unsafe.Pointer(v)), q.attribute, dev)); err != nil {
			return p, err
		}
		*q.to = int(*v)
	}
	p.AsyncAlloc = async != 0
	return p, nil
}

func (d *cudaDriver) Open(i int) (Context, error) {
	dev, err := d.device(i)
	if err != nil {
		return nil, err
	}
	raw := new(uintptr)
	if err := d.a.check("cuDevicePrimaryCtxRetain", call(d.a.cuDevicePrimaryCtxRetain, uintptr(unsafe.Pointer(raw)), dev)); err != nil {
		return nil, err
	}
	return &cudaContext{a: d.a, device: dev, raw: *raw}, nil
}

// cudaContext is the primary context of a device.
type cudaContext struct {
	a      *api
	device uintptr
	raw    uintptr
	close  sync.Once
}

// Close gives the context back, the first time.
func (c *cudaContext) Close() (err error) {
	c.close.Do(func() {
		err = c.a.check("cuDevicePrimaryCtxRelease", call(c.a.cuDevicePrimaryCtxRelease, c.device))
	})
	return err
}

func (c *cudaContext) Bind() error {
	return c.a.check("cuCtxSetCurrent", call4(c.a.cuCtxSetCurrent, c.raw, 0, 0, 0))
}

func (c *cudaContext) Raw() uintptr { return c.raw }

func (c *cudaContext) MemInfo() (free, total uint64, err error) {
	v := new([2]uint64)
	err = c.a.check("cuMemGetInfo", call(c.a.cuMemGetInfo, uintptr(unsafe.Pointer(&v[0])), uintptr(unsafe.Pointer(&v[1]))))
	return v[0], v[1], err
}

func (c *cudaContext) Alloc(bytes uint64) (Ptr, error) {
	p := new(Ptr)
	err := c.a.check("cuMemAlloc", call(c.a.cuMemAlloc, uintptr(unsafe.Pointer(p)), uintptr(bytes)))
	return *p, err
}

func (c *cudaContext) Free(p Ptr) error {
	return c.a.check("cuMemFree", call(c.a.cuMemFree, uintptr(p)))
}

func (c *cudaContext) AllocAsync(bytes uint64, s Stream) (Ptr, error) {
	p := new(Ptr)
	err := c.a.check("cuMemAllocAsync", call(c.a.cuMemAllocAsync, uintptr(unsafe.Pointer(p)), uintptr(bytes), uintptr(s)))
	return *p, err
}

func (c *cudaContext) FreeAsync(p Ptr, s Stream) error {
	return c.a.check("cuMemFreeAsync", call(c.a.cuMemFreeAsync, uintptr(p), uintptr(s)))
}

func (c *cudaContext) AllocHost(bytes uint64) (unsafe.Pointer, error) {
	p := new(unsafe.Pointer)
	const portable = 1 // pinned for all contexts
	err := c.a.check("cuMemHostAlloc", call(c.a.cuMemHostAlloc, uintptr(unsafe.Pointer(p)), uintptr(bytes), portable))
	return *p, err
}

func (c *cudaContext) FreeHost(p unsafe.Pointer) error {
	return c.a.check("cuMemFreeHost", call(c.a.cuMemFreeHost, uintptr(p)))
}

func (c *cudaContext) ToDevice(dst Ptr, src unsafe.Pointer, n uint64, s Stream) error {
	return c.a.check("cuMemcpyHtoDAsync", call4(c.a.cuMemcpyHtoDAsync, uintptr(dst), uintptr(src), uintptr(n), uintptr(s)))
}

func (c *cudaContext) ToHost(dst unsafe.Pointer, src Ptr, n uint64, s Stream) error {
	return c.a.check("cuMemcpyDtoHAsync", call4(c.a.cuMemcpyDtoHAsync, uintptr(dst), uintptr(src), uintptr(n), uintptr(s)))
}

func (c *cudaContext) Copy(dst, src Ptr, n uint64, s Stream) error {
	return c.a.check("cuMemcpyDtoDAsync", call4(c.a.cuMemcpyDtoDAsync, uintptr(dst), uintptr(src), uintptr(n), uintptr(s)))
}

func (c *cudaContext) Fill(dst Ptr, b byte, n uint64, s Stream) error {
	return c.a.check("cuMemsetD8Async", call4(c.a.cuMemsetD8Async, uintptr(dst), uintptr(b), uintptr(n), uintptr(s)))
}

func (c *cudaContext) Fill32(dst Ptr, w uint32, n uint64, s Stream) error {
	return c.a.check("cuMemsetD32Async", call4(c.a.cuMemsetD32Async, uintptr(dst), uintptr(w), uintptr(n), uintptr(s)))
}

// NewStream returns a stream that does not wait for the default one.
func (c *cudaContext) NewStream() (Stream, error) {
	s := new(Stream)
	const nonBlocking = 1
	err := c.a.check("cuStreamCreate", call(c.a.cuStreamCreate, uintptr(unsafe.Pointer(s)), nonBlocking))
	return *s, err
}

func (c *cudaContext) CloseStream(s Stream) error {
	return c.a.check("cuStreamDestroy", call(c.a.cuStreamDestroy, uintptr(s)))
}

func (c *cudaContext) Sync(s Stream) error {
	return c.a.check("cuStreamSynchronize", call4(c.a.cuStreamSynchronize, uintptr(s), 0, 0, 0))
}

func (c *cudaContext) NewEvent() (Event, error) {
	e := new(Event)
	err := c.a.check("cuEventCreate", call(c.a.cuEventCreate, uintptr(unsafe.Pointer(e)), 0))
	return *e, err
}

func (c *cudaContext) CloseEvent(e Event) error {
	return c.a.check("cuEventDestroy", call(c.a.cuEventDestroy, uintptr(e)))
}

func (c *cudaContext) Record(e Event, s Stream) error {
	return c.a.check("cuEventRecord", call4(c.a.cuEventRecord, uintptr(e), uintptr(s), 0, 0))
}

func (c *cudaContext) SyncEvent(e Event) error {
	return c.a.check("cuEventSynchronize", call(c.a.cuEventSynchronize, uintptr(e)))
}

func (c *cudaContext) Wait(s Stream, e Event) error {
	return c.a.check("cuStreamWaitEvent", call4(c.a.cuStreamWaitEvent, uintptr(s), uintptr(e), 0, 0))
}

func (c *cudaContext) Elapsed(from, to Event) (float32, error) {
	ms := new(float32)
	err := c.a.check("cuEventElapsedTime", call(c.a.cuEventElapsedTime, uintptr(unsafe.Pointer(ms)), uintptr(from), uintptr(to)))
	return *ms, err
}

// Load takes a cubin, or PTX that ends with a zero byte. If it fails, the
// error's text is the log of the driver's own compiler, where there is one.
func (c *cudaContext) Load(image []byte) (Module, error) {
	if len(image) == 0 {
		return 0, c.a.failure("cuModuleLoadData", 200) // CUDA_ERROR_INVALID_IMAGE
	}
	m := new(Module)
	log := make([]byte, 8192)
	// CU_JIT_ERROR_LOG_BUFFER and its _SIZE_BYTES. The value of the latter is passed in the place
	// of a pointer.
	options := &[2]uint32{5, 6}
	values := &[2]uintptr{0, uintptr(len(log) - 1)}
	var pin runtime.Pinner
	defer pin.Unpin()
	pin.Pin(&log[0])
	values[0] = uintptr(unsafe.Pointer(&log[0]))
	code := call(c.a.cuModuleLoadDataEx, uintptr(unsafe.Pointer(m)), uintptr(unsafe.Pointer(&image[0])), 2,
		uintptr(unsafe.Pointer(options)), uintptr(unsafe.Pointer(values)))
	err := c.a.check("cuModuleLoadData", code)
	if text := dl.String(unsafe.Pointer(&log[0])); err != nil && text != "" {
		err.(*Error).Text += ": " + text
	}
	return *m, err
}

func (c *cudaContext) Unload(m Module) error {
	return c.a.check("cuModuleUnload", call(c.a.cuModuleUnload, uintptr(m)))
}

func (c *cudaContext) Function(m Module, name string) (Function, error) {
	f := new(Function)
	err := c.a.check("cuModuleGetFunction", call(c.a.cuModuleGetFunction, uintptr(unsafe.Pointer(f)), uintptr(m), uintptr(unsafe.Pointer(dl.CString(name)))))
	if err != nil {
		err.(*Error).Text += ": " + name
	}
	return *f, err
}

// CU_FUNC_ATTRIBUTE_…
const (
	localSizeBytes            = 3
	numRegs                   = 4
	maxDynamicSharedSizeBytes = 8
)

func (c *cudaContext) SetShared(f Function, bytes int) error {
	return c.a.check("cuFuncSetAttribute", call(c.a.cuFuncSetAttribute, uintptr(f), maxDynamicSharedSizeBytes, uintptr(bytes)))
}

func (c *cudaContext) Occupancy(f Function, threads, shared int) (int, error) {
	n := new(int32)
	err := c.a.check("cuOccupancyMaxActiveBlocksPerMultiprocessor",
		call(c.a.cuOccupancyMaxActiveBlocks, uintptr(unsafe.Pointer(n)), uintptr(f), uintptr(threads), uintptr(shared)))
	return int(*n), err
}

func (c *cudaContext) Registers(f Function) (registers, local int, err error) {
	v := new([2]int32)
	err = c.a.check("cuFuncGetAttribute", call(c.a.cuFuncGetAttribute, uintptr(unsafe.Pointer(&v[0])), numRegs, uintptr(f)))
	if err == nil {
		err = c.a.check("cuFuncGetAttribute", call(c.a.cuFuncGetAttribute, uintptr(unsafe.Pointer(&v[1])), localSizeBytes, uintptr(f)))
	}
	return int(v[0]), int(v[1]), err
}

func (c *cudaContext) Launch(f Function, grid, block [3]uint32, shared uint32, s Stream, args []unsafe.Pointer) error {
	// The array of args is on the heap, see call11, and so is all that it
	// points to; both are alive while args is.
	code := call11(c.a.cuLaunchKernel, uintptr(f),
		uintptr(grid[0]), uintptr(grid[1]), uintptr(grid[2]),
		uintptr(block[0]), uintptr(block[1]), uintptr(block[2]),
		uintptr(shared), uintptr(s), uintptr(unsafe.Pointer(unsafe.SliceData(args))), 0)
	runtime.KeepAlive(args)
	return c.a.check("cuLaunchKernel", code)
}

func (c *cudaContext) BeginCapture(s Stream) error {
	// Others may allocate meanwhile, and so may we.
	const relaxed = 2
	return c.a.check("cuStreamBeginCapture", call(c.a.cuStreamBeginCapture, uintptr(s), relaxed))
}

func (c *cudaContext) EndCapture(s Stream) (Graph, error) {
	recorded := new(uintptr)
	if err := c.a.check("cuStreamEndCapture", call(c.a.cuStreamEndCapture, uintptr(s), uintptr(unsafe.Pointer(recorded)))); err != nil {
		return 0, err
	}
	g := new(Graph)
	var err error
	switch {
	case c.a.cuGraphInstantiateWithFlags != 0:
		err = c.a.check("cuGraphInstantiateWithFlags", call(c.a.cuGraphInstantiateWithFlags, uintptr(unsafe.Pointer(g)), *recorded, 0))
	case c.a.cuGraphInstantiate != 0:
		err = c.a.check("cuGraphInstantiate", call(c.a.cuGraphInstantiate, uintptr(unsafe.Pointer(g)), *recorded, 0, 0, 0))
	default:
		err = fmt.Errorf("graphs: %w: libcuda has no cuGraphInstantiate", ErrNotSupported)
	}
	if e := c.a.check("cuGraphDestroy", call(c.a.cuGraphDestroy, *recorded)); err == nil {
		err = e
	}
	return *g, err
}

func (c *cudaContext) LaunchGraph(g Graph, s Stream) error {
	return c.a.check("cuGraphLaunch", call4(c.a.cuGraphLaunch, uintptr(g), uintptr(s), 0, 0))
}

func (c *cudaContext) CloseGraph(g Graph) error {
	return c.a.check("cuGraphExecDestroy", call(c.a.cuGraphExecDestroy, uintptr(g)))
}
