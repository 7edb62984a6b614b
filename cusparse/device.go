// Package cusparse makes an NVIDIA GPU a place where matrices live:
//
//	dev, err := cusparse.Open(0)
//	c := matrix.New[float32](m, n, matrix.On(dev))
//	err = ops.MxM(c, semiring.PlusTimes[float32](), a, b) // runs on the GPU
//
// Operations run where their destination lives. Operands that live elsewhere
// are copied to the device once, and the copy is kept until they change.
// Reading a device matrix on the host, by an iterator or a writer, brings it
// back once.
//
// CUDA is found at run time: a program that imports this package is built
// without CUDA and runs without a GPU, where Open returns an error that says
// what is missing. Kernels are composed from the element types and operators
// of a call, compiled for the device, and kept on disk.
//
// docs/gpu.md explains execution, methods, memory, errors and determinism.
package cusparse

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"unsafe"

	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/cusparse/internal/tuned"
	"github.com/hiveblas/hiveblas/cusparse/jit"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/matrix"
)

// Device is an opened GPU. It is a matrix.Place; all methods may be called by any number of
// goroutines. Operations run one after the other.
type Device struct {
	index int
	props driver.Properties
	ctx   driver.Context
	cache *jit.Cache
	own   bool // the context is ours to close

	mu       sync.Mutex // one operation at a time
	stream   driver.Stream
	pool     *pool
	pinned   unsafe.Pointer // staging for small read-backs
	spare    pinnedBlock    // of the last stage
	modules  map[string]*module
	vendor   *vendor
	noVendor bool             // cuSPARSE is never chosen
	blas     driver.Gemmer    // opened at the first product
	blasWork *mem             // memory that blas works in; nil without
	programs map[any]*program // composed before, by what of
	cacheDir string           // of compiled kernels and tuned plans, "" for none
	compiler string           // identity of the compiler, which goes with the driver
	tunings  *tuned.Plans
	choice   choice
	forms    []keptForm   // of matrices
	serial   uint64       // of the operation under way
	spgemm   spgemmLimits // zero but in tests
	masked   maskedLimits // likewise
	spmv     spmvTuning
	gridY    int64 // of spmm; 0 but in tests: mostGridY

	counter    driver.Ptr    // room of hb_count, zero; 0 before the first use
	passes     []*passCache  // programs of recorded loops
	passRooms  []*passRoom   // that no loop uses
	passStream driver.Stream // by which a loop is stopped; 0 before the first stop
	closed     bool
	hostRows   bool // large matrices keep their rows in the memory of the host
}

// backend is a device as the packages of hiveblas use it, by device.Of.
type backend struct{ *Device }

var (
	_ device.Runner   = backend{}
	_ device.Sizer    = backend{}
	_ device.Streamer = backend{}
)

func init() {
	device.Register(func(place any) device.Runner {
		if p, ok := place.(interface{ itself() *Device }); ok { // also a type that embeds a device
			return backend{p.itself()}
		}
		return nil
	})
}

func (d *Device) itself() *Device { return d }

// Place returns the device.
func (d backend) Place() fmt.Stringer { return d.Device }

// ErrClosed is what operations on a closed device return.
var ErrClosed = errors.New("the device is closed")

// Sentinels of driver errors, beside [ErrMemory]: the GPU is held by another process, or a kernel
// or the hardware failed and the process must leave the GPU alone.
var (
	ErrBusy   = driver.ErrBusy
	ErrFailed = driver.ErrFailed
)

// errNoDevice is the error of the methods of a nil or zero Device.
var errNoDevice = &matrix.InvalidError{
	Op: "cusparse.Device", Reason: "the device is nil or zero; open one with cusparse.Open",
}

// missing reports whether the device is nil or zero.
func (d *Device) missing() bool { return d == nil || d.ctx == nil }

// An Option of Open.
type Option func(*settings)

type settings struct {
	driver   driver.Driver
	compiler func() (driver.Compiler, error)
	version  string
	cacheDir string
	noVendor bool
}

// WithDriver uses another implementation of the driver, such as that for
// programs of the Gorgonia family.
func WithDriver(d driver.Driver) Option { return func(s *settings) { s.driver = d } }

// WithCompiler uses another compiler of kernels; version tells its products apart from others'.
func WithCompiler(version string, open func() (driver.Compiler, error)) Option {
	return func(s *settings) { s.version, s.compiler = version, open }
}

// WithKernelCache keeps compiled kernels in dir; "off" keeps them in memory
// only. The default is hiveblas/kernels in os.UserCacheDir.
func WithKernelCache(dir string) Option { return func(s *settings) { s.cacheDir = dir } }

// WithoutVendor forbids cuSPARSE: [Tune] does not time it, and products take another plan where an
// earlier search chose it. ops.Using(ops.Vendor) still asks for it by name. The environment
// variable HIVEBLAS_CUSPARSE=off does the same for all devices of a process, by name too.
func WithoutVendor() Option { return func(s *settings) { s.noVendor = true } }

// Open returns GPU number i. Errors say what is missing: the driver, a GPU, a driver new enough.
func Open(i int, opts ...Option) (*Device, error) {
	s := gather(opts)
	if s.driver == nil {
		d, err := driver.Open()
		if err != nil {
			return nil, err
		}
		s.driver = d
	}
	n, err := s.driver.Devices()
	if err != nil {
		return nil, err
	}
	if i < 0 || i >= n {
		return nil, fmt.Errorf("cusparse.Open: %w: GPU %d asked for, this machine has %d", driver.ErrNoDevice, i, n)
	}
	props, err := s.driver.Describe(i)
	if err != nil {
		return nil, err
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	ctx, err := s.driver.Open(i)
	if err != nil {
		return nil, err
	}
	d, err := newDevice(i, props, ctx, s)
	if err != nil {
		_ = ctx.Close()
		return nil, err
	}
	d.own = true
	return d, nil
}

func gather(opts []Option) (s settings) {
	for _, o := range opts {
		if o != nil {
			o(&s)
		}
	}
	return s
}

func newDevice(i int, props driver.Properties, ctx driver.Context, s settings) (*Device, error) {
	if ctx == nil {
		return nil, &matrix.InvalidError{
			Op: "cusparse.Open", Reason: "the driver returned no context; give WithDriver one that opens contexts",
		}
	}
	if err := ctx.Bind(); err != nil {
		return nil, err
	}
	stream, err := ctx.NewStream()
	if err != nil {
		return nil, err
	}
	pinned, err := ctx.AllocHost(pinnedBytes)
	if err != nil {
		return nil, err
	}
	d := &Device{index: i, props: props, ctx: ctx, stream: stream, pinned: pinned, modules: map[string]*module{}, programs: map[any]*program{}, choice: choiceDefaults, spmv: spmvDefaults, noVendor: s.noVendor}
	d.pool = newPool(ctx, stream, props.AsyncAlloc)
	if s.compiler == nil {
		s.compiler, s.version = driver.OpenCompiler, driver.CompilerIdentity()
	}
	arch := fmt.Sprintf("sm_%d%d", props.Major, props.Minor)
	d.cache = jit.Open(s.cacheDir, arch, s.version, s.compiler)
	d.cacheDir, d.compiler = jit.Dir(s.cacheDir), s.version
	return d, nil
}

// pinnedBytes is the size of the staging buffer for small read-backs.
const pinnedBytes = 64 << 10

// String names the device, such as "gpu:0 (NVIDIA H200)".
func (d *Device) String() string {
	if d.missing() {
		return "no device"
	}
	return fmt.Sprintf("gpu:%d (%s)", d.index, d.props.Name)
}

// Index returns the number of the device.
func (d *Device) Index() int {
	if d == nil {
		return 0
	}
	return d.index
}

// Properties describes the device.
func (d *Device) Properties() driver.Properties {
	if d == nil {
		return driver.Properties{}
	}
	return d.props
}

// Memory returns what the device's allocator holds.
func (d *Device) Memory() MemoryStats {
	if d.missing() {
		return MemoryStats{}
	}
	return d.pool.snapshot()
}

// Free returns the bytes of device memory that are free, with what the allocator keeps counted as
// free, and all there are; within the limit, if one was set.
func (d *Device) Free() (free, total uint64, err error) {
	f := d.begin(device.Call{})
	defer f.end()
	if f.err != nil {
		return 0, 0, f.err
	}
	return d.pool.left()
}

// KeepRowsInHost decides what becomes of matrices whose columns and values would take more than
// three quarters of the free device memory when they move there. If on, these stay in pinned host
// memory, where kernels read them over the bus, in place (Min et al., EMOGI, VLDB 2021); the
// beginnings of rows, vectors and results are in device memory. Otherwise, as on a new device, such
// a move is a *MemoryError unless it fits. Rows that are read over and over belong into device
// memory.
func (d *Device) KeepRowsInHost(on bool) {
	if d.missing() {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.hostRows = on
}

// Sync waits until all that was queued on the device is done.
func (d *Device) Sync() error {
	f := d.begin(device.Call{})
	defer f.end()
	f.sync()
	return f.err
}

// Close gives the device back. Matrices that live on it can no longer be
// read: bring them to the host first, with Move(nil).
func (d *Device) Close() error {
	f := d.begin(device.Call{})
	defer f.end()
	if f.err != nil {
		return f.err
	}
	d.closed = true
	for _, r := range d.passRooms {
		r.control.release()
		_ = d.ctx.FreeHost(r.host)
	}
	d.passRooms = nil
	if d.passStream != 0 {
		_ = d.ctx.CloseStream(d.passStream)
	}
	if d.counter != 0 {
		_ = d.ctx.Free(d.counter)
	}
	d.pool.trim()
	err := d.ctx.Sync(d.stream)
	for _, m := range d.modules {
		_ = d.ctx.Unload(m.handle)
	}
	if d.blas != nil {
		_ = d.blas.Close()
	}
	if d.vendor != nil && d.vendor.handle != nil {
		_ = d.vendor.handle.Close()
	}
	_ = d.ctx.FreeHost(d.pinned)
	if d.spare.at != nil {
		_ = d.ctx.FreeHost(d.spare.at)
	}
	_ = d.ctx.CloseStream(d.stream)
	if d.own {
		err = errors.Join(err, d.ctx.Close())
	}
	return err
}

func isOutOfMemory(err error) bool {
	var e *driver.Error
	return errors.Is(err, errLimit) || errors.As(err, &e) && e.OutOfMemory()
}
