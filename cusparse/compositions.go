package cusparse

import (
	"slices"
	"strings"
	"sync"
	"unsafe"

	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/cusparse/space"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/fresh"
	"github.com/hiveblas/hiveblas/matrix"
)

// A Composition is the text of kernels that operations need.
type Composition struct {
	Name   string // what it is composed of
	Source string
}

// Compositions returns the programs of other packages, and those that operations compose when use
// works with matrices on a device of the given properties, each once, by name. There is no such
// device: kernels do nothing, and read-backs return made-up numbers. Compositions calls use once
// for each entry of readbacks, so that it takes several ways where counts decide; a product of a
// matrix and a vector runs by every plan that it may choose. Results of operations mean nothing,
// and use may fail or panic over them.
func Compositions(p driver.Properties, programs []device.Program, use func(at matrix.Place)) ([]Composition, error) {
	r := &recordingCompiler{sources: map[string]string{}}
	for _, x := range programs {
		c, err := composed(x)
		if err != nil {
			return nil, err
		}
		r.record(c.source(), c.title())
	}
	for _, numbers := range readbacks {
		d, err := Open(0, WithDriver(&fakeDriver{props: p, numbers: numbers}), WithKernelCache("off"),
			WithCompiler("recording", func() (driver.Compiler, error) { return r, nil }))
		if err != nil {
			return nil, err
		}
		d.choice.all, d.choice.mostRead = true, mostRead
		fresh.Cleared(func() { attempt(func() { use(d) }) })
	}
	var out []Composition
	for source, name := range r.sources {
		out = append(out, Composition{name, source})
	}
	slices.SortFunc(out, func(a, b Composition) int {
		if c := strings.Compare(a.Name, b.Name); c != 0 {
			return c
		}
		return strings.Compare(a.Source, b.Source)
	})
	return out, nil
}

// mostRead limits what use reads of matrices without contents. use goes on with an empty matrix in
// place of a larger one: copies of made-up numbers took most of the time of Compositions.
const mostRead = 1 << 17

// runAll runs the product by each plan of the table that its operands allow, but for diagonals:
// their kernels depend on the matrix.
func (w *walk) runAll() {
	f := w.frame
	for _, plan := range space.Table() {
		x := w.facts[plan.Direction]
		if plan.Layout == space.DIA || x == nil || plan.Legal(*x) != nil {
			continue
		}
		one := *w
		one.plan, one.a = plan, w.walkable(w.rows[plan.Direction], plan.Layout)
		one.product(&device.Ran{})
		f.err = nil
	}
}

// readbacks are the 64-bit numbers that read-backs return, cyclically: zero, one, few, many, and
// few or many without a special one.
var readbacks = [][]int64{{0}, {1}, {1 << 12}, {1 << 22}, {0, 1 << 12, 1 << 12, 1 << 12}, {0, 1 << 22, 1 << 22, 1 << 22}}

// attempt runs f and ignores panics.
func attempt(f func()) {
	defer func() { _ = recover() }()
	f()
}

// recordingCompiler keeps the sources that it is given.
type recordingCompiler struct {
	mu      sync.Mutex
	sources map[string]string // names by source
}

func (r *recordingCompiler) Name() string    { return "recording" }
func (r *recordingCompiler) Version() string { return "0" }
func (r *recordingCompiler) Compile(source, name, _ string) ([]byte, error) {
	r.record(source, name)
	return []byte{0}, nil
}

func (r *recordingCompiler) record(source, name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if old, ok := r.sources[source]; !ok || name < old {
		r.sources[source] = name
	}
}

// fakeDriver is a driver of a device. Its calls do nothing. Its addresses are not memory, except
// for pinned host memory.
type fakeDriver struct {
	props    driver.Properties
	numbers  []int64 // of read-backs
	next     uint64
	pinned   [][]byte
	toPinned driver.Function // hb_to_host
}

func (n *fakeDriver) Name() string                                  { return "fake" }
func (n *fakeDriver) Version() (int, error)                         { return 13000, nil }
func (n *fakeDriver) Devices() (int, error)                         { return 1, nil }
func (n *fakeDriver) Describe(int) (driver.Properties, error)       { return n.props, nil }
func (n *fakeDriver) Open(int) (driver.Context, error)              { return n, nil }
func (n *fakeDriver) Close() error                                  { return nil }
func (n *fakeDriver) Bind() error                                   { return nil }
func (n *fakeDriver) Raw() uintptr                                  { return 1 }
func (n *fakeDriver) MemInfo() (free, total uint64, err error)      { return 1 << 50, 1 << 50, nil }
func (n *fakeDriver) Free(driver.Ptr) error                         { return nil }
func (n *fakeDriver) FreeAsync(driver.Ptr, driver.Stream) error     { return nil }
func (n *fakeDriver) FreeHost(unsafe.Pointer) error                 { return nil }
func (n *fakeDriver) NewStream() (driver.Stream, error)             { return driver.Stream(n.handle()), nil }
func (n *fakeDriver) CloseStream(driver.Stream) error               { return nil }
func (n *fakeDriver) NewEvent() (driver.Event, error)               { return driver.Event(n.handle()), nil }
func (n *fakeDriver) CloseEvent(driver.Event) error                 { return nil }
func (n *fakeDriver) Record(driver.Event, driver.Stream) error      { return nil }
func (n *fakeDriver) SyncEvent(driver.Event) error                  { return nil }
func (n *fakeDriver) Wait(driver.Stream, driver.Event) error        { return nil }
func (n *fakeDriver) Load([]byte) (driver.Module, error)            { return driver.Module(n.handle()), nil }
func (n *fakeDriver) Unload(driver.Module) error                    { return nil }
func (n *fakeDriver) SetShared(driver.Function, int) error          { return nil }
func (n *fakeDriver) BeginCapture(driver.Stream) error              { return nil }
func (n *fakeDriver) LaunchGraph(driver.Graph, driver.Stream) error { return nil }
func (n *fakeDriver) CloseGraph(driver.Graph) error                 { return nil }

func (n *fakeDriver) Elapsed(_, _ driver.Event) (float32, error) { return 1, nil }
func (n *fakeDriver) Occupancy(driver.Function, int, int) (int, error) {
	return 1, nil
}
func (n *fakeDriver) Registers(driver.Function) (registers, local int, err error) { return 32, 0, nil }
func (n *fakeDriver) EndCapture(driver.Stream) (driver.Graph, error) {
	return driver.Graph(n.handle()), nil
}

// Function records the kernel of read-backs.
func (n *fakeDriver) Function(_ driver.Module, name string) (driver.Function, error) {
	f := driver.Function(n.handle())
	if name == toPinnedKernel {
		n.toPinned = f
	}
	return f, nil
}

func (n *fakeDriver) Launch(f driver.Function, _, _ [3]uint32, _ uint32, _ driver.Stream, args []unsafe.Pointer) error {
	if f == n.toPinned {
		return n.ToHost(*(*unsafe.Pointer)(args[2]), 0, 4*uint64(*(*int32)(args[1])), 0)
	}
	return nil
}

func (n *fakeDriver) Fill(driver.Ptr, byte, uint64, driver.Stream) error     { return nil }
func (n *fakeDriver) Fill32(driver.Ptr, uint32, uint64, driver.Stream) error { return nil }
func (n *fakeDriver) Copy(_, _ driver.Ptr, _ uint64, _ driver.Stream) error  { return nil }
func (n *fakeDriver) ToDevice(driver.Ptr, unsafe.Pointer, uint64, driver.Stream) error {
	return nil
}

func (n *fakeDriver) handle() uintptr {
	n.next++
	return uintptr(n.next)
}

func (n *fakeDriver) Alloc(bytes uint64) (driver.Ptr, error) {
	n.next += bytes + 512
	return driver.Ptr(n.next &^ 255), nil
}

func (n *fakeDriver) AllocAsync(bytes uint64, _ driver.Stream) (driver.Ptr, error) {
	return n.Alloc(bytes)
}

func (n *fakeDriver) AllocHost(bytes uint64) (unsafe.Pointer, error) {
	b := make([]byte, bytes)
	n.pinned = append(n.pinned, b)
	return unsafe.Pointer(unsafe.SliceData(b)), nil
}

// ToHost returns the made-up numbers.
func (n *fakeDriver) ToHost(to unsafe.Pointer, _ driver.Ptr, bytes uint64, _ driver.Stream) error {
	b := unsafe.Slice((*byte)(to), bytes)
	written := min(len(b), 8*len(n.numbers))
	for i := range written {
		b[i] = byte(n.numbers[i/8] >> (i % 8 * 8))
	}
	for written < len(b) && written > 0 { // doubling keeps the period
		written += copy(b[written:], b[:written])
	}
	return nil
}

// Sync sets the first number of Results, so that Session.Repeat ends.
func (n *fakeDriver) Sync(driver.Stream) error {
	for _, b := range n.pinned {
		if len(b) > resultsAt {
			b[resultsAt] = 1
		}
	}
	return nil
}
