package comm

import (
	"context"
	"errors"
	"fmt"
	"unsafe"
)

// Peers returns a group of GPUs of this process, one rank for each, in the order of devices; use
// each rank in a goroutine of its own. Buffers are memory of the rank's device, or host memory,
// which all ranks of a collective then use. Every rank pulls what it receives from the others'
// memory: where the devices reach each other directly (NVLink, PCIe) by a kernel that reads from
// all of them at once, elsewhere by the copy engines, through the host. A collective costs two
// meetings of goroutines and one launch, a few microseconds, where NCCL costs tens: prefer it
// within a host.
//
// Reduce folds buffers on devices by a kernel that reads its block of every rank's source, in the
// order of ranks. It returns ErrNoOp if a device has no kernels, if some devices do not reach each
// other directly, or for more than 16 ranks; AllReduce then folds by the caller's Folder. Every
// collective checks that the ranks agree. Devices may be repeated: a device can be several ranks.
func Peers(devices []Device, opts ...Option) ([]Comm, error) {
	if len(devices) < 1 || len(devices) > maxLocal {
		return nil, &ArgumentError{"Peers", "devices", fmt.Sprintf("has %d devices", len(devices)), "give one or more"}
	}
	for i, d := range devices {
		if d == nil {
			return nil, &ArgumentError{"Peers", "devices", fmt.Sprintf("has no device at %d", i), "open it with cusparse.Open"}
		}
	}
	direct, folding, pulling := true, true, true
	for _, d := range devices {
		_, ok := d.(FoldingDevice)
		folding = folding && ok
		p, ok := d.(PullingDevice)
		pulling = pulling && ok && p.Pulls()
		err := d.Do(func() error {
			for _, peer := range devices {
				if peer.Number() == d.Number() {
					continue
				}
				reached, err := d.Reach(peer)
				direct = direct && reached
				if err != nil {
					return fmt.Errorf("device %d does not reach device %d: %w", d.Number(), peer.Number(), err)
				}
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("Peers: %w", err)
		}
	}
	copiers := make([]copier, len(devices))
	for i, d := range devices {
		copiers[i] = &deviceCopier{d: d, ranks: len(devices), folding: folding && direct, pulling: pulling && direct}
	}
	return inProcess(NewLife(opts...), copiers), nil
}

// deviceCopier copies by kernels of a GPU or by its copy engines, and folds by its kernels.
type deviceCopier struct {
	d       Device
	ranks   int
	folding bool
	pulling bool
	moves   []Move         // for one kernel
	queued  []func() error // within Do when the rank waits, so that one binding of the context serves all
}

func (m *deviceCopier) accepts(Buffer) error { return nil }

func (m *deviceCopier) copy(dst, src Buffer) error {
	if dst.OnHost() && src.OnHost() {
		return hostCopier{}.copy(dst, src)
	}
	if dst.n == 0 || dst.Same(src) {
		return nil
	}
	if m.pulling && !dst.OnHost() && !src.OnHost() {
		m.moves = append(m.moves, Move{dst.device, src.device, dst.Size()})
		return nil
	}
	m.queued = append(m.queued, func() error {
		switch size := dst.Size(); {
		case dst.OnHost():
			return m.d.ToHost(dst.host, src.device, size)
		case src.OnHost():
			return m.d.ToDevice(dst.device, src.host, size)
		default:
			return m.d.Copy(dst.device, src.device, size)
		}
	})
	return nil
}

func (m *deviceCopier) fold(dst Buffer, srcs []Buffer, op Op) error {
	addresses := make([]uint64, len(srcs))
	for i, s := range srcs {
		if s.OnHost() != dst.OnHost() {
			return errors.New("the ranks reduce buffers of devices and of the host")
		}
		addresses[i] = s.device
	}
	if dst.OnHost() {
		return FoldHost(dst, srcs, op)
	}
	m.queued = append(m.queued, func() error {
		return m.d.(FoldingDevice).Fold(dst.device, addresses, dst.n, dst.dtype, op)
	})
	return nil
}

func (m *deviceCopier) folds(c *Collective) bool {
	if c.Dst.OnHost() && c.Src.OnHost() {
		return true
	}
	return m.folding && m.d.(FoldingDevice).Folds(c.Dst.dtype, c.Op, m.ranks)
}

// begin waits for what was queued on the device before: others are about to read its memory.
func (m *deviceCopier) begin(ctx context.Context, c *Collective) error {
	if c.Dst.OnHost() && c.Src.OnHost() {
		return nil
	}
	return m.d.Do(func() error { return AwaitDevice(ctx, m.d, nil) })
}

func (m *deviceCopier) wait(ctx context.Context) error {
	if len(m.moves) > 0 {
		moves := m.moves
		m.queued = append(m.queued, func() error { return m.d.(PullingDevice).Pull(moves) })
		m.moves = nil
	}
	if len(m.queued) == 0 {
		return nil
	}
	list := m.queued
	m.queued = nil
	return m.d.Do(func() (err error) {
		for _, f := range list {
			if err = f(); err != nil {
				break
			}
		}
		if err == nil {
			if err = AwaitDevice(ctx, m.d, nil); err == nil {
				return nil
			}
		}
		// What was queued ends whatever happens, and no memory may be touched after the call.
		return errors.Join(err, AwaitDevice(context.Background(), m.d, nil))
	})
}

func (m *deviceCopier) close() error { return nil }

// StagingFolder returns a Folder that folds buffers of a device on the host: for small buffers, and
// where no kernel is at hand. A nil device folds buffers of the host.
func StagingFolder(d Device) Folder {
	if d == nil {
		return hostFolder{}
	}
	return &stagingFolder{d: d}
}

type stagingFolder struct {
	d       Device
	scratch uint64
	bytes   int64
}

func (f *stagingFolder) Scratch(t DType, n int) (Buffer, error) {
	need := int64(t.Size()) * int64(n)
	if need <= 0 {
		return Buffer{dtype: t}, nil
	}
	err := f.d.Do(func() (err error) {
		if need <= f.bytes {
			return nil
		}
		if f.bytes > 0 {
			if err := f.d.Free(f.scratch); err != nil {
				return err
			}
			f.bytes = 0
		}
		if f.scratch, err = f.d.Alloc(need); err == nil {
			f.bytes = need
		}
		return err
	})
	return OnDevice(f.scratch, t, n), err
}

func (f *stagingFolder) Fold(dst Buffer, srcs []Buffer, op Op) error {
	on := make([]Buffer, len(srcs))
	return f.d.Do(func() error {
		for i, s := range srcs {
			on[i], _ = hostFolder{}.Scratch(s.dtype, s.n)
			if err := f.d.ToHost(on[i].host, s.device, s.Size()); s.n > 0 && err != nil {
				return err
			}
		}
		if err := AwaitDevice(context.Background(), f.d, nil); err != nil {
			return err
		}
		out, _ := hostFolder{}.Scratch(dst.dtype, dst.n)
		if err := FoldHost(out, on, op); err != nil || dst.n == 0 {
			return err
		}
		if err := f.d.ToDevice(dst.device, unsafe.Pointer(out.host), dst.Size()); err != nil {
			return err
		}
		return AwaitDevice(context.Background(), f.d, nil)
	})
}
