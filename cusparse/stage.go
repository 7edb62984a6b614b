package cusparse

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/internal/device"
)

// This file copies results to the host on a stream of its own, while the device goes on computing.

// Limit bounds what the allocator may hand out; see MemoryError. 0 is no bound.
func (d *Device) Limit(bytes uint64) (before uint64) {
	if d.missing() {
		return 0
	}
	return d.pool.bound(bytes)
}

// Peak returns the most memory in use since the last call, in bytes.
func (d *Device) Peak() uint64 {
	if d.missing() {
		return 0
	}
	return d.pool.peak()
}

const (
	// stagePieces is how many pieces the pinned memory has: some are filled
	// while others are emptied.
	stagePieces = 8
	// copyShare is what a goroutine moves from a piece at a time.
	copyShare = 1 << 20
)

// stage is device.Stage: pieces of pinned memory between the device and pageable memory, since
// copies to that would not run beside anything. A pool of goroutines empties them: one core moves
// some 5 GB/s into fresh memory, where a bus of 55 has to be kept up with. Pinning the arrays
// themselves took longer than all of it (24 GB: 5 s).
type stage struct {
	d      *Device
	stream driver.Stream
	pinned unsafe.Pointer
	piece  int64
	pieces [stagePieces]piecewise
	next   int
	copies []*copying // on their way, in order
	moves  chan move
	movers sync.WaitGroup
}

// copying is a call of Fetch.
type copying struct {
	left  bool          // all is in pinned memory, or beyond
	moves atomic.Int64  // shares on their way from there
	took  time.Duration // that the copy engine was busy
	done  func(time.Duration) error
}

// piecewise is a piece: its copy from the device runs from one event to the
// other, then it is moved to dst.
type piecewise struct {
	from, to driver.Event
	dst      unsafe.Pointer
	bytes    int64
	of       *copying // the copy was begun, and nobody has waited for it
	moving   sync.WaitGroup
}

// move is a share of a piece on its way.
type move struct {
	to, from []byte
	piece    *piecewise
	of       *copying
}

// Stage returns a stage of so many bytes of pinned memory.
func (d backend) Stage(bytes int64) (device.Stage, error) {
	if d.missing() {
		return nil, errNoDevice
	}
	s := &stage{d: d.Device, piece: max(bytes/stagePieces, 1<<12) &^ 63, moves: make(chan move, 256)}
	err := s.bound(func() (err error) {
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
		s.pinned, err = d.pin(stagePieces * s.piece)
		return err
	})
	if err != nil {
		return nil, err
	}
	// Some processors are left to who computes: all 16 made that wait.
	for range max(1, runtime.GOMAXPROCS(0)*3/4) {
		s.movers.Go(func() {
			for m := range s.moves {
				copy(m.to, m.from)
				m.of.moves.Add(-1)
				m.piece.moving.Done()
			}
		})
	}
	return s, nil
}

// pinnedBlock is pinned memory of the host.
type pinnedBlock struct {
	at    unsafe.Pointer
	bytes int64
}

// pin returns pinned memory of so many bytes: the memory of the last stage if it has the size,
// since pinning takes longer than a copy.
func (d *Device) pin(bytes int64) (unsafe.Pointer, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.pinLocked(bytes)
}

// pinLocked is pin with the device locked.
func (d *Device) pinLocked(bytes int64) (unsafe.Pointer, error) {
	old := d.spare
	d.spare = pinnedBlock{}
	if old.bytes == bytes {
		return old.at, nil
	}
	if old.at != nil {
		if err := d.ctx.FreeHost(old.at); err != nil {
			return nil, err
		}
	}
	return d.ctx.AllocHost(uint64(bytes))
}

// unpin keeps pinned memory for the next stage, or gives it back.
func (d *Device) unpin(p unsafe.Pointer, bytes int64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.unpinLocked(p, bytes)
}

// unpinLocked is unpin with the device locked.
func (d *Device) unpinLocked(p unsafe.Pointer, bytes int64) error {
	if d.closed || d.spare.at != nil {
		return d.ctx.FreeHost(p)
	}
	d.spare = pinnedBlock{p, bytes}
	return nil
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
	close(s.moves)
	s.movers.Wait()
	return s.bound(func() error {
		err := s.d.ctx.Sync(s.stream)
		for i := range s.pieces {
			err = errors.Join(err, s.d.ctx.CloseEvent(s.pieces[i].from), s.d.ctx.CloseEvent(s.pieces[i].to))
		}
		return errors.Join(err, s.d.unpin(s.pinned, stagePieces*s.piece), s.d.ctx.CloseStream(s.stream))
	})
}

// Fetch copies a listed store. See device.Stage.
func (s *stage) Fetch(st device.Store, ptr []int64, idx []int32, val unsafe.Pointer, done func(time.Duration) error) error {
	x, ok := st.(*store)
	if !ok || x.d != s.d || !x.isListed() {
		return fmt.Errorf("cusparse: a store that is to be fetched is not listed, or not here")
	}
	return s.bound(func() error {
		c := &copying{done: done}
		s.copies = append(s.copies, c)
		for _, part := range []struct {
			to    unsafe.Pointer
			from  *mem
			bytes int64
		}{
			{unsafe.Pointer(unsafe.SliceData(ptr)), x.ptr, 8 * int64(x.nvec+1)},
			{unsafe.Pointer(unsafe.SliceData(idx)), x.idx, 4 * x.known()},
			{val, x.val, int64(x.typ.Size) * x.known()},
		} {
			for off := int64(0); off < part.bytes; off += s.piece {
				if err := s.queue(c, unsafe.Add(part.to, off), part.from.ptr()+driver.Ptr(off), min(s.piece, part.bytes-off)); err != nil {
					return err
				}
			}
		}
		for range s.pieces {
			if err := s.arrived(s.next); err != nil {
				return err
			}
			s.next = (s.next + 1) % stagePieces
		}
		c.left = true
		return s.deliver()
	})
}

// Flush waits for all copies.
func (s *stage) Flush() error {
	for i := range s.pieces {
		s.pieces[i].moving.Wait()
	}
	return s.deliver()
}

// deliver tells of the copies that are whole.
func (s *stage) deliver() error {
	for len(s.copies) > 0 {
		c := s.copies[0]
		if !c.left || c.moves.Load() > 0 {
			return nil
		}
		s.copies = s.copies[1:]
		if err := c.done(c.took); err != nil {
			return err
		}
	}
	return nil
}

// queue begins the copy of a piece, once what was in its place has gone. One that was begun half a
// round before is then waited for and moved on, beside the copies of those between.
func (s *stage) queue(of *copying, to unsafe.Pointer, from driver.Ptr, bytes int64) error {
	p, c := &s.pieces[s.next], s.d.ctx
	if err := s.arrived(s.next); err != nil {
		return err
	}
	p.moving.Wait()
	buf := unsafe.Add(s.pinned, int64(s.next)*s.piece)
	if err := errors.Join(c.Record(p.from, s.stream), c.ToHost(buf, from, uint64(bytes), s.stream), c.Record(p.to, s.stream)); err != nil {
		return err
	}
	p.dst, p.bytes, p.of = to, bytes, of
	s.next = (s.next + 1) % stagePieces
	if err := s.arrived((s.next + stagePieces/2) % stagePieces); err != nil {
		return err
	}
	return s.deliver()
}

// arrived waits for the copy to a piece and has it moved to its place.
func (s *stage) arrived(i int) error {
	p := &s.pieces[i]
	c := p.of
	if c == nil {
		return nil
	}
	p.of = nil
	if err := s.d.ctx.SyncEvent(p.to); err != nil {
		return err
	}
	if ms, err := s.d.ctx.Elapsed(p.from, p.to); err == nil {
		c.took += time.Duration(float64(ms) * float64(time.Millisecond))
	}
	to, from := unsafe.Slice((*byte)(p.dst), p.bytes), unsafe.Slice((*byte)(unsafe.Add(s.pinned, int64(i)*s.piece)), p.bytes)
	for len(to) > 0 {
		n := min(copyShare, len(to))
		p.moving.Add(1)
		c.moves.Add(1)
		s.moves <- move{to[:n], from[:n], p, c}
		to, from = to[n:], from[n:]
	}
	return nil
}
