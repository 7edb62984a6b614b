package cusparse

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"
	"unsafe"

	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/internal/device"
)

// This file copies results to the host on a stream of its own, while the
// device goes on computing.

var _ device.Streamer = (*Device)(nil)

// Limit bounds what the allocator may hand out; see MemoryError. 0 is no bound.
func (d *Device) Limit(bytes uint64) (before uint64) { return d.pool.bound(bytes) }

// Peak returns the most memory in use since the last call, in bytes.
func (d *Device) Peak() uint64 { return d.pool.peak() }

// Mark notes the point that the stream of the device has reached.
func (d *Device) Mark() (device.Mark, error) { return d.mark() }

// stagePieces is how many pieces the pinned memory has: one is filled while
// the others are emptied.
const stagePieces = 4

// stage is device.Stage: pieces of pinned memory between the device and
// pageable memory, since copies to that would not run beside anything.
type stage struct {
	d      *Device
	stream driver.Stream
	pinned unsafe.Pointer
	piece  int64
	pieces [stagePieces]struct {
		from, to driver.Event
		dst      unsafe.Pointer // where the piece goes, nil if it is empty
		bytes    int64
	}
	next int
	took time.Duration
}

// Stage returns a stage of so many bytes of pinned memory.
func (d *Device) Stage(bytes int64) (device.Stage, error) {
	s := &stage{d: d, piece: max(bytes/stagePieces, 1<<12) &^ 63}
	return s, s.bound(func() (err error) {
		if s.stream, err = d.ctx.NewStream(); err != nil {
			return err
		}
		for i := range s.pieces {
			for _, e := range []*driver.Event{&s.pieces[i].from, &s.pieces[i].to} {
				if *e, err = d.ctx.NewEvent(); err != nil {
					return err
				}
			}
		}
		s.pinned, err = d.ctx.AllocHost(uint64(stagePieces * s.piece))
		return err
	})
}

// bound runs calls of CUDA on a thread with the context.
func (s *stage) bound(calls func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := s.d.ctx.Bind(); err != nil {
		return err
	}
	return calls()
}

// Close gives the memory back.
func (s *stage) Close() error {
	return s.bound(func() error {
		err := s.d.ctx.Sync(s.stream)
		for i := range s.pieces {
			err = errors.Join(err, s.d.ctx.CloseEvent(s.pieces[i].from), s.d.ctx.CloseEvent(s.pieces[i].to))
		}
		return errors.Join(err, s.d.ctx.FreeHost(s.pinned), s.d.ctx.CloseStream(s.stream))
	})
}

// Fetch copies a listed store. See device.Stage.
func (s *stage) Fetch(at device.Mark, st device.Store, ptr []int64, idx []int32, val unsafe.Pointer) (took time.Duration, err error) {
	x, ok := st.(*store)
	if !ok || x.d != s.d || !x.isListed() {
		return 0, fmt.Errorf("cusparse: a store that is to be fetched is not listed, or not here")
	}
	err = s.bound(func() error {
		event := at.(driver.Event)
		err := errors.Join(s.d.ctx.Wait(s.stream, event), s.d.ctx.CloseEvent(event))
		s.took = 0
		for _, part := range []struct {
			to    unsafe.Pointer
			from  *mem
			bytes int64
		}{
			{unsafe.Pointer(unsafe.SliceData(ptr)), x.ptr, 8 * int64(x.nvec+1)},
			{unsafe.Pointer(unsafe.SliceData(idx)), x.idx, 4 * x.known()},
			{val, x.val, int64(x.typ.Size) * x.known()},
		} {
			for off := int64(0); off < part.bytes && err == nil; off += s.piece {
				err = s.queue(unsafe.Add(part.to, off), part.from.ptr()+driver.Ptr(off), min(s.piece, part.bytes-off))
			}
		}
		for range s.pieces {
			err = errors.Join(err, s.empty(s.next))
			s.next = (s.next + 1) % stagePieces
		}
		if e := s.d.ctx.Sync(s.stream); err == nil {
			err = e
		}
		return err
	})
	return s.took, err
}

// queue begins the copy of a piece, once the one before it in its place is
// where it belongs.
func (s *stage) queue(to unsafe.Pointer, from driver.Ptr, bytes int64) error {
	p := &s.pieces[s.next]
	if err := s.empty(s.next); err != nil {
		return err
	}
	buf := unsafe.Add(s.pinned, int64(s.next)*s.piece)
	s.next = (s.next + 1) % stagePieces
	c := s.d.ctx
	if err := errors.Join(c.Record(p.from, s.stream), c.ToHost(buf, from, uint64(bytes), s.stream), c.Record(p.to, s.stream)); err != nil {
		return err
	}
	p.dst, p.bytes = to, bytes
	return nil
}

// empty waits for a piece and moves it to its place.
func (s *stage) empty(i int) error {
	p := &s.pieces[i]
	if p.dst == nil {
		return nil
	}
	if err := s.d.ctx.SyncEvent(p.to); err != nil {
		p.dst = nil
		return err
	}
	if ms, err := s.d.ctx.Elapsed(p.from, p.to); err == nil {
		s.took += time.Duration(float64(ms) * float64(time.Millisecond))
	}
	copyParallel(unsafe.Slice((*byte)(p.dst), p.bytes), unsafe.Slice((*byte)(unsafe.Add(s.pinned, int64(i)*s.piece)), p.bytes))
	p.dst = nil
	return nil
}

// copyShare is what a goroutine copies at least.
const copyShare = 1 << 20

// copyParallel copies by as many goroutines as it is worth: one core moves some
// 10 GB/s into fresh memory, where a bus of 50 has to be kept up with.
func copyParallel(to, from []byte) {
	parts := min(runtime.GOMAXPROCS(0), len(to)/copyShare)
	if parts < 2 {
		copy(to, from)
		return
	}
	var wg sync.WaitGroup
	for w := range parts {
		lo, hi := len(to)/parts*w, len(to)/parts*(w+1)
		if w == parts-1 {
			hi = len(to)
		}
		wg.Go(func() { copy(to[lo:hi], from[lo:hi]) })
	}
	wg.Wait()
}
