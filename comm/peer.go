package comm

import (
	"context"
	"errors"
	"fmt"
	"unsafe"
)

// Peers returns a group of GPUs of this process, one rank for each, in the order of devices; use
// each rank in a goroutine of its own. Buffers are memory of the rank's device, or host memory,
// which all ranks of a collective then use. Data move by the copy engines: every rank pulls what it
// receives from the others' memory, directly where the devices reach each other (NVLink, PCIe),
// through the host elsewhere. A collective costs two meetings of goroutines and one copy for each
// rank, a few microseconds, where NCCL costs tens: prefer it within a host.
//
// Reduce returns ErrNoOp for buffers on devices; AllReduce folds them by the caller's Folder. Every
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
	for _, d := range devices {
		err := d.Do(func() error {
			for _, peer := range devices {
				if peer.Number() == d.Number() {
					continue
				}
				if _, err := d.Reach(peer); err != nil {
					return fmt.Errorf("device %d does not reach device %d: %w", d.Number(), peer.Number(), err)
				}
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("Peers: %w", err)
		}
	}
	movers := make([]mover, len(devices))
	for i, d := range devices {
		movers[i] = &deviceMover{d: d}
	}
	opt := gather(opts)
	return inProcess(newLife(), &opt, movers), nil
}

// deviceMover copies by the copy engines of a GPU.
type deviceMover struct {
	d      Device
	queued []copyOf
}

// copyOf is a copy to make when the rank waits, so that one binding of the context serves all.
type copyOf struct{ dst, src Buffer }

func (m *deviceMover) accepts(Buffer) error { return nil }

func (m *deviceMover) copy(dst, src Buffer) error {
	switch {
	case dst.n == 0 || dst.same(src):
	case dst.OnHost() && src.OnHost():
		return hostMover{}.copy(dst, src)
	default:
		m.queued = append(m.queued, copyOf{dst, src})
	}
	return nil
}

func (m *deviceMover) fold(dst Buffer, srcs []Buffer, op Op) error {
	if !dst.OnHost() {
		return errors.New("the ranks reduce buffers of devices and of the host")
	}
	return FoldHost(dst, srcs, op)
}

func (m *deviceMover) folds(c *call) bool { return c.dst.OnHost() && c.src.OnHost() }

func (m *deviceMover) wait(ctx context.Context) error {
	if len(m.queued) == 0 {
		return nil
	}
	list := m.queued
	m.queued = nil
	return m.d.Do(func() error {
		for _, q := range list {
			var err error
			switch size := q.dst.Size(); {
			case q.dst.OnHost():
				err = m.d.ToHost(q.dst.host, q.src.device, size)
			case q.src.OnHost():
				err = m.d.ToDevice(q.dst.device, q.src.host, size)
			default:
				err = m.d.Copy(q.dst.device, q.src.device, size)
			}
			if err != nil {
				return errors.Join(err, awaitDevice(context.Background(), m.d, nil))
			}
		}
		// The copies end whatever happens, and the memory may not be touched after the call.
		if err := awaitDevice(ctx, m.d, nil); err != nil {
			return errors.Join(err, awaitDevice(context.Background(), m.d, nil))
		}
		return nil
	})
}

func (m *deviceMover) close() error { return nil }

// StagingFolder returns a Folder that folds buffers of a device on the host: for small buffers, and
// where no kernel is at hand. A nil device folds those of the host.
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
		if err := awaitDevice(context.Background(), f.d, nil); err != nil {
			return err
		}
		out, _ := hostFolder{}.Scratch(dst.dtype, dst.n)
		if err := FoldHost(out, on, op); err != nil || dst.n == 0 {
			return err
		}
		if err := f.d.ToDevice(dst.device, unsafe.Pointer(out.host), dst.Size()); err != nil {
			return err
		}
		return awaitDevice(context.Background(), f.d, nil)
	})
}
