package cusparse

import (
	"slices"
	"strings"
	"sync"
	"unsafe"

	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/internal/fresh"
	"github.com/hiveblas/hiveblas/matrix"
)

// A Composition is the text of kernels that operations need.
type Composition struct {
	Name   string // what it is composed of
	Source string
}

// Compositions returns what is composed when use works with matrices on a
// device of the given properties, each once, by name. There is no such device:
// kernels do nothing, and what is read back is made up. use is called once for
// each of the answers, so that several ways are seen to be taken where counts
// decide. Results mean nothing, and use may fail or panic over them.
func Compositions(p driver.Properties, use func(at matrix.Place)) ([]Composition, error) {
	r := &notebook{sources: map[string]string{}}
	for _, answer := range answers {
		n := &nothing{props: p, answer: answer}
		d, err := Open(0, WithDriver(n), WithKernelCache("off"), WithCompiler("nothing", func() (driver.Compiler, error) { return r, nil }))
		if err != nil {
			return nil, err
		}
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

// answers are the 64-bit numbers that are read back, over and over: nothing,
// one, few, many, and few or many of which none is special.
var answers = [][]int64{{0}, {1}, {1 << 12}, {1 << 22}, {0, 1 << 12, 1 << 12, 1 << 12}, {0, 1 << 22, 1 << 22, 1 << 22}}

func attempt(f func()) {
	defer func() { _ = recover() }()
	f()
}

// notebook is a compiler that notes what it is given.
type notebook struct {
	mu      sync.Mutex
	sources map[string]string // names by source
}

func (r *notebook) Name() string    { return "nothing" }
func (r *notebook) Version() string { return "0" }
func (r *notebook) Compile(source, name, _ string) ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if old, ok := r.sources[source]; !ok || name < old {
		r.sources[source] = name
	}
	return []byte{0}, nil
}

// nothing is a driver of a device that does nothing. Its addresses are no
// memory but for what the host pins.
type nothing struct {
	props  driver.Properties
	answer []int64
	next   uint64
	pinned [][]byte
	tell   driver.Function // hb_tell
}

func (n *nothing) Name() string                                  { return "nothing" }
func (n *nothing) Version() (int, error)                         { return 13000, nil }
func (n *nothing) Devices() (int, error)                         { return 1, nil }
func (n *nothing) Describe(int) (driver.Properties, error)       { return n.props, nil }
func (n *nothing) Open(int) (driver.Context, error)              { return n, nil }
func (n *nothing) Close() error                                  { return nil }
func (n *nothing) Bind() error                                   { return nil }
func (n *nothing) Raw() uintptr                                  { return 1 }
func (n *nothing) MemInfo() (free, total uint64, err error)      { return 1 << 50, 1 << 50, nil }
func (n *nothing) Free(driver.Ptr) error                         { return nil }
func (n *nothing) FreeAsync(driver.Ptr, driver.Stream) error     { return nil }
func (n *nothing) FreeHost(unsafe.Pointer) error                 { return nil }
func (n *nothing) NewStream() (driver.Stream, error)             { return driver.Stream(n.handle()), nil }
func (n *nothing) CloseStream(driver.Stream) error               { return nil }
func (n *nothing) NewEvent() (driver.Event, error)               { return driver.Event(n.handle()), nil }
func (n *nothing) CloseEvent(driver.Event) error                 { return nil }
func (n *nothing) Record(driver.Event, driver.Stream) error      { return nil }
func (n *nothing) SyncEvent(driver.Event) error                  { return nil }
func (n *nothing) Wait(driver.Stream, driver.Event) error        { return nil }
func (n *nothing) Load([]byte) (driver.Module, error)            { return driver.Module(n.handle()), nil }
func (n *nothing) Unload(driver.Module) error                    { return nil }
func (n *nothing) SetShared(driver.Function, int) error          { return nil }
func (n *nothing) BeginCapture(driver.Stream) error              { return nil }
func (n *nothing) LaunchGraph(driver.Graph, driver.Stream) error { return nil }
func (n *nothing) CloseGraph(driver.Graph) error                 { return nil }

func (n *nothing) Elapsed(_, _ driver.Event) (float32, error) { return 1, nil }
func (n *nothing) Occupancy(driver.Function, int, int) (int, error) {
	return 1, nil
}
func (n *nothing) Registers(driver.Function) (registers, local int, err error) { return 32, 0, nil }
func (n *nothing) EndCapture(driver.Stream) (driver.Graph, error) {
	return driver.Graph(n.handle()), nil
}

// Function notes the kernel that answers.
func (n *nothing) Function(_ driver.Module, name string) (driver.Function, error) {
	f := driver.Function(n.handle())
	if name == tellKernel {
		n.tell = f
	}
	return f, nil
}

func (n *nothing) Launch(f driver.Function, _, _ [3]uint32, _ uint32, _ driver.Stream, args []unsafe.Pointer) error {
	if f == n.tell {
		return n.ToHost(*(*unsafe.Pointer)(args[2]), 0, 4*uint64(*(*int32)(args[1])), 0)
	}
	return nil
}

func (n *nothing) Fill(driver.Ptr, byte, uint64, driver.Stream) error     { return nil }
func (n *nothing) Fill32(driver.Ptr, uint32, uint64, driver.Stream) error { return nil }
func (n *nothing) Copy(_, _ driver.Ptr, _ uint64, _ driver.Stream) error  { return nil }
func (n *nothing) ToDevice(driver.Ptr, unsafe.Pointer, uint64, driver.Stream) error {
	return nil
}

func (n *nothing) handle() uintptr {
	n.next++
	return uintptr(n.next)
}

func (n *nothing) Alloc(bytes uint64) (driver.Ptr, error) {
	n.next += bytes + 512
	return driver.Ptr(n.next &^ 255), nil
}

func (n *nothing) AllocAsync(bytes uint64, _ driver.Stream) (driver.Ptr, error) {
	return n.Alloc(bytes)
}

func (n *nothing) AllocHost(bytes uint64) (unsafe.Pointer, error) {
	b := make([]byte, bytes)
	n.pinned = append(n.pinned, b)
	return unsafe.Pointer(unsafe.SliceData(b)), nil
}

// ToHost answers.
func (n *nothing) ToHost(to unsafe.Pointer, _ driver.Ptr, bytes uint64, _ driver.Stream) error {
	b := unsafe.Slice((*byte)(to), bytes)
	for i := range b {
		b[i] = byte(n.answer[i/8%len(n.answer)] >> (i % 8 * 8))
	}
	return nil
}

// Sync tells traversals that they are done.
func (n *nothing) Sync(driver.Stream) error {
	for _, b := range n.pinned {
		if len(b) > told {
			b[told] = 1
		}
	}
	return nil
}
