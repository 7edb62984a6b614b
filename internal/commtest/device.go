package commtest

import (
	"fmt"
	"runtime"
	"sync"
	"unsafe"

	"github.com/hiveblas/hiveblas/comm"
)

// HostDevice is a comm.Device with host memory; copies are done at once.
type HostDevice struct {
	Ordinal int
	mu      sync.Mutex
	state   sync.Mutex
	memory  map[uint64][]uint64
}

var _ comm.Device = (*HostDevice)(nil)

// Number returns Ordinal.
func (d *HostDevice) Number() int { return d.Ordinal }

// Do calls f on a locked thread, as the groups of calls of NCCL need.
func (d *HostDevice) Do(f func() error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return f()
}

// Stream returns 0.
func (d *HostDevice) Stream() uintptr { return 0 }

// Done returns true.
func (d *HostDevice) Done() (bool, error) { return true, nil }

func at(p uint64, n int64) []byte {
	return unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&p))), n)
}

// Copy copies.
func (d *HostDevice) Copy(dst, src uint64, bytes int64) error {
	copy(at(dst, bytes), at(src, bytes))
	return nil
}

// ToHost copies.
func (d *HostDevice) ToHost(dst unsafe.Pointer, src uint64, bytes int64) error {
	copy(unsafe.Slice((*byte)(dst), bytes), at(src, bytes))
	return nil
}

// ToDevice copies.
func (d *HostDevice) ToDevice(dst uint64, src unsafe.Pointer, bytes int64) error {
	copy(at(dst, bytes), unsafe.Slice((*byte)(src), bytes))
	return nil
}

// Alloc returns memory that Free, or nobody, gives back.
func (d *HostDevice) Alloc(bytes int64) (uint64, error) {
	if bytes <= 0 {
		return 0, fmt.Errorf("an allocation of %d bytes", bytes)
	}
	words := make([]uint64, (bytes+7)/8)
	p := uint64(uintptr(unsafe.Pointer(&words[0])))
	d.state.Lock()
	defer d.state.Unlock()
	if d.memory == nil {
		d.memory = map[uint64][]uint64{}
	}
	d.memory[p] = words
	return p, nil
}

// Free gives memory back.
func (d *HostDevice) Free(p uint64) error {
	d.state.Lock()
	defer d.state.Unlock()
	if d.memory[p] == nil {
		return fmt.Errorf("%#x is no allocation", p)
	}
	delete(d.memory, p)
	return nil
}

// Used returns the number of allocations.
func (d *HostDevice) Used() int {
	d.state.Lock()
	defer d.state.Unlock()
	return len(d.memory)
}

// Reach returns true.
func (d *HostDevice) Reach(comm.Device) (bool, error) { return true, nil }

// DeviceMemory is the Memory of a device. It allocates by megabytes, since an allocation on a GPU
// that peers reach takes a millisecond.
type DeviceMemory struct {
	Device comm.Device
	all    []uint64
	size   int64 // of the last of all
	free   int64 // bytes at its end
}

const arena = 4 << 20

func (m *DeviceMemory) wait() error {
	for {
		if done, err := m.Device.Done(); done || err != nil {
			return err
		}
	}
}

// take returns n bytes. It is called within Do.
func (m *DeviceMemory) take(n int64) (uint64, error) {
	n = (n + 255) &^ 255
	if n > m.free {
		p, err := m.Device.Alloc(max(n, arena))
		if err != nil {
			return 0, err
		}
		m.all, m.size = append(m.all, p), max(n, arena)
		m.free = m.size
	}
	p := m.all[len(m.all)-1] + uint64(m.size-m.free)
	m.free -= n
	return p, nil
}

// Put copies to new memory, which Free gives back.
func (m *DeviceMemory) Put(b []byte, t comm.DType, n int) (out comm.Buffer, err error) {
	out = comm.OnDevice(0, t, 0)
	if n == 0 {
		return out, nil
	}
	err = m.Device.Do(func() error {
		p, err := m.take(int64(len(b)))
		if err != nil {
			return err
		}
		out = comm.OnDevice(p, t, n)
		if err := m.Device.ToDevice(p, unsafe.Pointer(&b[0]), int64(len(b))); err != nil {
			return err
		}
		return m.wait()
	})
	return out, err
}

// Get copies to the host.
func (m *DeviceMemory) Get(b comm.Buffer) (out []byte, err error) {
	if b.Len() == 0 {
		return nil, nil
	}
	out = make([]byte, b.Size())
	err = m.Device.Do(func() error {
		if err := m.Device.ToHost(unsafe.Pointer(&out[0]), b.Device(), b.Size()); err != nil {
			return err
		}
		return m.wait()
	})
	return out, err
}

// Free gives back all memory of Put.
func (m *DeviceMemory) Free() error {
	return m.Device.Do(func() error {
		for _, p := range m.all {
			if err := m.Device.Free(p); err != nil {
				return err
			}
		}
		m.all, m.free = nil, 0
		return nil
	})
}
