package cusparse

import (
	"errors"
	"unsafe"

	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/internal/device"
)

// feedPieces is the number of pieces under way: one is filled or copied while kernels read the
// other.
const feedPieces = 2

// feedPiece is pinned host memory and device memory of a piece.
type feedPiece struct {
	host         []byte
	at           *mem
	copied, used driver.Event // ends of the copy and of the kernels
}

// Feed copies host memory through pinned pieces, on a stream of its own. See device.SessionBackend.
func (s session) Feed(count int, bytes int64, fill func(k int, to []byte), use func(k int, at device.Buffer)) {
	f, c := s.f, s.f.d.ctx
	if f.err != nil || count <= 0 || bytes <= 0 {
		return
	}
	bytes = (bytes + 255) &^ 255
	stream, err := c.NewStream()
	if err != nil {
		f.fail(err)
		return
	}
	defer func() { f.fail(c.CloseStream(stream)) }()
	pinned, err := f.d.pinLocked(feedPieces * bytes)
	if err != nil {
		f.fail(err)
		return
	}
	var pieces [feedPieces]feedPiece
	var begun driver.Event
	defer func() {
		f.fail(errors.Join(c.Sync(stream), f.d.unpinLocked(pinned, feedPieces*bytes)))
		if begun != 0 {
			f.fail(c.CloseEvent(begun))
		}
		for _, p := range pieces {
			for _, e := range []driver.Event{p.copied, p.used} {
				if e != 0 {
					f.fail(c.CloseEvent(e))
				}
			}
			f.free(p.at)
		}
	}()
	for i := range pieces {
		p := &pieces[i]
		p.host = unsafe.Slice((*byte)(unsafe.Add(pinned, int64(i)*bytes)), bytes)
		if p.at = f.alloc(bytes); f.err != nil {
			return
		}
		for _, e := range []*driver.Event{&p.copied, &p.used} {
			if *e, err = c.NewEvent(); err != nil {
				f.fail(err)
				return
			}
		}
	}
	if begun, err = c.NewEvent(); err != nil {
		f.fail(err)
		return
	}
	// Memory of the allocator may be in use by what is queued already.
	f.fail(errors.Join(c.Record(begun, f.d.stream), c.Wait(stream, begun)))
	for k := 0; k < count && f.err == nil; k++ {
		p := &pieces[k%feedPieces]
		if k >= feedPieces {
			f.fail(errors.Join(c.SyncEvent(p.copied), c.Wait(stream, p.used)))
		}
		if f.check(); f.err != nil {
			return
		}
		fill(k, p.host)
		f.fail(errors.Join(c.ToDevice(p.at.addr, unsafe.Pointer(&p.host[0]), uint64(bytes), stream), c.Record(p.copied, stream),
			c.Wait(f.d.stream, p.copied)))
		use(k, device.Buffer{Addr: uint64(p.at.addr)})
		if f.err == nil {
			f.fail(c.Record(p.used, f.d.stream))
		}
	}
}
