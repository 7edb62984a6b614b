// Package driver is what hiveblas asks of a CUDA installation: some thirty
// calls of the driver, and a compiler. The default implementation opens
// libcuda and libnvrtc with dlopen when [Open] is called, so that a program
// is built without CUDA, runs without it, and finds a GPU when there is one.
//
// Everything here is low: addresses are numbers, contexts belong to OS
// threads. Package cusparse is what to use.
package driver

import "unsafe"

// Ptr is an address in device memory; 0 is none.
type Ptr uint64

// Handles of the driver; 0 is none. Stream 0 is the default stream.
type (
	Stream   uintptr
	Event    uintptr
	Module   uintptr
	Function uintptr
	Graph    uintptr // an instantiated graph, ready to launch
)

// Properties describes a device.
type Properties struct {
	Name               string
	Major, Minor       int    // compute capability
	Memory             uint64 // bytes in all
	Multiprocessors    int
	OneByOne           bool // the blocks of a launch run one after the other, as on the emulator
	SharedPerBlock     int  // bytes of shared memory a block may have at most, opted into
	SharedPerSM        int
	L2                 int // bytes
	AsyncAlloc         bool
	ThreadsPerSM       int
	MemoryBusWidthBits int
	MemoryClockKHz     int
}

// Driver is an opened CUDA driver.
type Driver interface {
	// Name says which implementation this is, such as "dlopen" or "gorgonia".
	Name() string
	// Version returns the version of CUDA that the driver supports, as
	// 1000·major + 10·minor.
	Version() (int, error)
	// Devices returns the number of devices.
	Devices() (int, error)
	// Describe returns the properties of device i.
	Describe(i int) (Properties, error)
	// Open returns the primary context of device i, retained until Close.
	Open(i int) (Context, error)
}

// Context is a device's context. Every call but Bind and Close needs it to be
// bound to the calling OS thread, which must be locked.
type Context interface {
	Close() error
	// Bind makes the context current on the calling OS thread.
	Bind() error
	// Raw returns the driver's own handle, a CUcontext.
	Raw() uintptr

	MemInfo() (free, total uint64, err error)
	Alloc(bytes uint64) (Ptr, error)
	Free(Ptr) error
	// AllocAsync and FreeAsync are in the order of a stream; they fail on
	// devices without AsyncAlloc.
	AllocAsync(bytes uint64, s Stream) (Ptr, error)
	FreeAsync(p Ptr, s Stream) error
	// AllocHost returns pinned host memory, which is not Go's to collect.
	AllocHost(bytes uint64) (unsafe.Pointer, error)
	FreeHost(unsafe.Pointer) error

	// ToDevice, ToHost and Copy queue a copy of n bytes. A copy from or to
	// pageable memory may return only once it is done.
	ToDevice(dst Ptr, src unsafe.Pointer, n uint64, s Stream) error
	ToHost(dst unsafe.Pointer, src Ptr, n uint64, s Stream) error
	Copy(dst, src Ptr, n uint64, s Stream) error
	// Fill sets n bytes to b, Fill32 n words of 32 bits to w.
	Fill(dst Ptr, b byte, n uint64, s Stream) error
	Fill32(dst Ptr, w uint32, n uint64, s Stream) error

	NewStream() (Stream, error)
	CloseStream(Stream) error
	// Sync waits until all that was queued on s is done, and returns the
	// error of what failed.
	Sync(s Stream) error

	NewEvent() (Event, error)
	CloseEvent(Event) error
	Record(e Event, s Stream) error
	SyncEvent(Event) error
	// Wait makes what is queued on s from now on wait for e.
	Wait(s Stream, e Event) error
	// Elapsed returns the milliseconds between two recorded events.
	Elapsed(from, to Event) (float32, error)

	// Load loads what a compiler made.
	Load(image []byte) (Module, error)
	Unload(Module) error
	Function(m Module, name string) (Function, error)
	// SetShared allows f a block's dynamic shared memory of so many bytes.
	SetShared(f Function, bytes int) error
	// Occupancy returns how many blocks of f fit a multiprocessor at a time.
	Occupancy(f Function, threads, shared int) (int, error)
	// Registers returns registers and bytes of local memory of a thread.
	Registers(f Function) (registers, local int, err error)
	// Launch queues f. args points to one pointer per parameter, in order.
	Launch(f Function, grid, block [3]uint32, shared uint32, s Stream, args []unsafe.Pointer) error

	// BeginCapture makes s record what is queued on it, and EndCapture
	// returns that as a graph.
	BeginCapture(s Stream) error
	EndCapture(s Stream) (Graph, error)
	LaunchGraph(g Graph, s Stream) error
	CloseGraph(Graph) error
}

// Compiler turns CUDA C++ into what Context.Load takes.
type Compiler interface {
	// Name says which compiler this is and where it was found, such as
	// "libnvrtc.so.13".
	Name() string
	// Version returns the version, such as "13.0". It is part of the key under
	// which compiled kernels are kept.
	Version() string
	// Compile compiles source, which is named name in messages, for an
	// architecture such as "sm_90". A *CompileError holds the log.
	Compile(source, name, arch string) ([]byte, error)
}

// CompileError is a kernel that does not compile.
type CompileError struct {
	Name string // of the kernel
	Log  string // what the compiler said
}

func (e *CompileError) Error() string { return e.Name + " does not compile:\n" + e.Log }

// Error is a return code of the driver other than success.
type Error struct {
	Call string // such as "cuMemAlloc"
	Code int    // such as 2
	Name string // such as "CUDA_ERROR_OUT_OF_MEMORY"
	Text string // the driver's own words
}

func (e *Error) Error() string {
	return e.Call + ": " + e.Name + ": " + e.Text
}

// sticky are the codes after which a context is lost: errors of hardware, of addresses in kernels,
// of launches, and of the driver itself.
var sticky = map[int]bool{
	214: true, 220: true, 221: true, 226: true, // ECC, NVLink, hardware, contained error
	700: true, 702: true, 710: true, 714: true, 715: true, 716: true, 717: true, 718: true, 719: true, 999: true,
}

// Is reports whether target is ErrBusy or ErrFailed and the code says so.
func (e *Error) Is(target error) bool {
	switch target {
	case ErrBusy:
		return e.Code == 46 || e.Code == 3012 // CUDA_ERROR_DEVICE_UNAVAILABLE, of MPS
	case ErrFailed:
		return sticky[e.Code]
	}
	return false
}

// OutOfMemory reports whether the device had no memory left.
func (e *Error) OutOfMemory() bool { return e.Code == 2 }
