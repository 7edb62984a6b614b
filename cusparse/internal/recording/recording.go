// Package recording is a driver and a compiler that do nothing but keep the texts of kernels.
package recording

import (
	"sync"
	"unsafe"

	"github.com/hiveblas/hiveblas/cusparse/driver"
)

// Compiler keeps the sources that it is given.
type Compiler struct {
	mu      sync.Mutex
	Sources map[string]string // names by source
}

// Name returns "recording".
func (r *Compiler) Name() string { return "recording" }

// Version returns "0".
func (r *Compiler) Version() string { return "0" }

// Compile records a source.
func (r *Compiler) Compile(source, name, _ string) ([]byte, error) {
	r.Record(source, name)
	return []byte{0}, nil
}

// Record keeps a source, by the least of its names.
func (r *Compiler) Record(source, name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if old, ok := r.Sources[source]; !ok || name < old {
		r.Sources[source] = name
	}
}

// Driver is a driver of a device. Its calls do nothing. Its addresses are not memory, except
// for pinned host memory.
type Driver struct {
	Props   driver.Properties
	Numbers []int64 // of read-backs
	Reads   string  // the name of the kernel that copies numbers to the host
	Results int     // where results of a loop are in pinned memory
	next    uint64
	pinned  [][]byte
	reads   driver.Function
}

func (n *Driver) Name() string                                  { return "fake" }
func (n *Driver) Version() (int, error)                         { return 13000, nil }
func (n *Driver) Devices() (int, error)                         { return 1, nil }
func (n *Driver) Describe(int) (driver.Properties, error)       { return n.Props, nil }
func (n *Driver) Open(int) (driver.Context, error)              { return n, nil }
func (n *Driver) Close() error                                  { return nil }
func (n *Driver) Bind() error                                   { return nil }
func (n *Driver) Raw() uintptr                                  { return 1 }
func (n *Driver) MemInfo() (free, total uint64, err error)      { return 1 << 50, 1 << 50, nil }
func (n *Driver) Free(driver.Ptr) error                         { return nil }
func (n *Driver) FreeAsync(driver.Ptr, driver.Stream) error     { return nil }
func (n *Driver) FreeHost(unsafe.Pointer) error                 { return nil }
func (n *Driver) NewStream() (driver.Stream, error)             { return driver.Stream(n.handle()), nil }
func (n *Driver) CloseStream(driver.Stream) error               { return nil }
func (n *Driver) NewEvent() (driver.Event, error)               { return driver.Event(n.handle()), nil }
func (n *Driver) CloseEvent(driver.Event) error                 { return nil }
func (n *Driver) Record(driver.Event, driver.Stream) error      { return nil }
func (n *Driver) SyncEvent(driver.Event) error                  { return nil }
func (n *Driver) Wait(driver.Stream, driver.Event) error        { return nil }
func (n *Driver) Load([]byte) (driver.Module, error)            { return driver.Module(n.handle()), nil }
func (n *Driver) Unload(driver.Module) error                    { return nil }
func (n *Driver) SetShared(driver.Function, int) error          { return nil }
func (n *Driver) BeginCapture(driver.Stream) error              { return nil }
func (n *Driver) LaunchGraph(driver.Graph, driver.Stream) error { return nil }
func (n *Driver) CloseGraph(driver.Graph) error                 { return nil }

func (n *Driver) Elapsed(_, _ driver.Event) (float32, error) { return 1, nil }
func (n *Driver) Occupancy(driver.Function, int, int) (int, error) {
	return 1, nil
}
func (n *Driver) Registers(driver.Function) (registers, local int, err error) { return 32, 0, nil }
func (n *Driver) EndCapture(driver.Stream) (driver.Graph, error) {
	return driver.Graph(n.handle()), nil
}

// Function records the kernel of read-backs.
func (n *Driver) Function(_ driver.Module, name string) (driver.Function, error) {
	f := driver.Function(n.handle())
	if name == n.Reads {
		n.reads = f
	}
	return f, nil
}

func (n *Driver) Launch(f driver.Function, _, _ [3]uint32, _ uint32, _ driver.Stream, args []unsafe.Pointer) error {
	if f == n.reads {
		return n.ToHost(*(*unsafe.Pointer)(args[2]), 0, 4*uint64(*(*int32)(args[1])), 0)
	}
	return nil
}

func (n *Driver) Fill(driver.Ptr, byte, uint64, driver.Stream) error     { return nil }
func (n *Driver) Fill32(driver.Ptr, uint32, uint64, driver.Stream) error { return nil }
func (n *Driver) Copy(_, _ driver.Ptr, _ uint64, _ driver.Stream) error  { return nil }
func (n *Driver) ToDevice(driver.Ptr, unsafe.Pointer, uint64, driver.Stream) error {
	return nil
}

func (n *Driver) handle() uintptr {
	n.next++
	return uintptr(n.next)
}

func (n *Driver) Alloc(bytes uint64) (driver.Ptr, error) {
	n.next += bytes + 512
	return driver.Ptr(n.next &^ 255), nil
}

func (n *Driver) AllocAsync(bytes uint64, _ driver.Stream) (driver.Ptr, error) {
	return n.Alloc(bytes)
}

func (n *Driver) AllocHost(bytes uint64) (unsafe.Pointer, error) {
	b := make([]byte, bytes)
	n.pinned = append(n.pinned, b)
	return unsafe.Pointer(unsafe.SliceData(b)), nil
}

// ToHost returns the made-up numbers.
func (n *Driver) ToHost(to unsafe.Pointer, _ driver.Ptr, bytes uint64, _ driver.Stream) error {
	b := unsafe.Slice((*byte)(to), bytes)
	written := min(len(b), 8*len(n.Numbers))
	for i := range written {
		b[i] = byte(n.Numbers[i/8] >> (i % 8 * 8))
	}
	for written < len(b) && written > 0 { // doubling keeps the period
		written += copy(b[written:], b[:written])
	}
	return nil
}

// Sync sets the first number of Results, so that Session.Repeat ends.
func (n *Driver) Sync(driver.Stream) error {
	for _, b := range n.pinned {
		if len(b) > n.Results {
			b[n.Results] = 1
		}
	}
	return nil
}
