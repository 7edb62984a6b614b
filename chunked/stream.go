package chunked

import (
	"time"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// part is a computed rectangle.
type part[C comparable] struct {
	index    int
	row, col int
	c        *matrix.Matrix[C]
	last     bool // of its block
}

// stream computes, copies and writes blocks, one goroutine per stage.
func (r *run[A, B, C]) stream() error {
	start := time.Now()
	visit, _ := r.sink.(visiting[C])
	if visit == nil && r.at != nil {
		stage, err := r.at.Stage(r.pinned())
		if err != nil {
			return err
		}
		r.stage = stage
		defer stage.Close()
	}
	stop := make(chan struct{})
	computed, copied := make(chan part[C]), make(chan *Block[C])
	computeErr, copyErr := make(chan error, 1), make(chan error, 1)
	go func() {
		defer close(computed)
		computeErr <- r.compute(computed, stop)
	}()
	var err error
	if visit != nil {
		err = r.visitAll(visit, computed)
	} else {
		go func() {
			defer close(copied)
			copyErr <- r.copyAll(computed, copied, stop)
		}()
		for b := range copied {
			if err = r.write(b); err != nil {
				break
			}
		}
	}
	close(stop)
	for p := range computed {
		p.c.Clear()
	}
	if visit == nil {
		for range copied {
		}
		if e := <-copyErr; err == nil {
			err = e
		}
	}
	if e := <-computeErr; err == nil {
		err = e
	}
	if err == nil {
		err = r.ctx.Err()
	}
	r.report.Wall = time.Since(start)
	if r.at != nil {
		r.report.PeakDevice = r.at.Peak()
	}
	if err != nil {
		return err
	}
	begin := time.Now()
	err = r.sink.End()
	r.report.Writing += time.Since(begin)
	return err
}

// pinned returns the size of the pinned buffers.
func (r *run[A, B, C]) pinned() int64 {
	if r.o.hostMemory > 0 {
		return min(pinnedBytes, int64(r.o.hostMemory/16))
	}
	return pinnedBytes
}

// compute computes the blocks in order, at most one ahead of the copying.
func (r *run[A, B, C]) compute(out chan<- part[C], stop <-chan struct{}) error {
	for k := r.done; k < len(r.bounds)-1; k++ {
		lo, hi := r.bounds[k], r.bounds[k+1]
		begin := time.Now()
		var held *part[C]
		send := func(last bool) error {
			if held == nil {
				return nil
			}
			held.last = last
			p := *held
			held = nil
			select {
			case out <- p:
				return nil
			case <-stop:
				p.c.Clear()
				return errStopped
			}
		}
		err := r.block(lo, hi, func(c *matrix.Matrix[C], row, col int) (err error) {
			p := part[C]{index: k, row: row, col: col, c: c}
			if r.at != nil {
				if err := r.at.Sync(); err != nil {
					return err
				}
			}
			r.report.Computing += time.Since(begin)
			err = send(false)
			held = &p
			begin = time.Now()
			return err
		})
		if err == nil {
			err = send(true)
		}
		if err == errStopped {
			return nil
		}
		if err != nil {
			return err
		}
		if err := r.ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

type stopped struct{}

func (stopped) Error() string { return "stopped" }

var errStopped error = stopped{}

// visitAll passes the parts to a sink that reads them in place.
func (r *run[A, B, C]) visitAll(v visiting[C], parts <-chan part[C]) error {
	for p := range parts {
		begin := time.Now()
		n := p.c.NVals()
		err := p.c.Err()
		if err == nil {
			err = v.visit(p.row, p.c)
		}
		p.c.Clear()
		r.report.Writing += time.Since(begin)
		if err != nil {
			return err
		}
		r.report.Entries += n
		if p.last {
			r.finished(p.index)
		}
	}
	return nil
}

// copyAll copies blocks to the host.
func (r *run[A, B, C]) copyAll(parts <-chan part[C], out chan<- *Block[C], stop <-chan struct{}) error {
	var pieces []*piece[C]
	ready := func(p part[C], x *piece[C]) error {
		pieces = append(pieces, x)
		if !p.last {
			return nil
		}
		b := &Block[C]{Index: p.index, Lo: r.bounds[p.index], Hi: r.bounds[p.index+1]}
		switch {
		case len(pieces) == 1:
			b.Ptr, b.Idx, b.Val = x.ptr, x.idx, x.val
		case r.ordered():
			b.concat(pieces)
		default:
			r.join(b, pieces)
		}
		pieces = pieces[:0]
		select {
		case out <- b:
			return nil
		case <-stop:
			return errStopped
		}
	}
	begins := true // of a block
	for {
		p, ok, err := r.next(parts)
		if ok && err == nil {
			whole := begins && p.last
			begins = p.last
			err = r.bring(p, whole || r.ordered(), func(x *piece[C]) error { return ready(p, x) })
			if p.last && !whole && !r.ordered() && err == nil { // join assigns its memory
				err = r.flush()
			}
		}
		if err == errStopped {
			return nil
		}
		if !ok || err != nil {
			return err
		}
	}
}

// next returns the next part. It completes pending copies before it waits and after the last part.
func (r *run[A, B, C]) next(parts <-chan part[C]) (p part[C], ok bool, err error) {
	select {
	case p, ok = <-parts:
	default:
		if err = r.flush(); err == nil {
			p, ok = <-parts
		}
	}
	if !ok && err == nil {
		err = r.flush()
	}
	return p, ok, err
}

func (r *run[A, B, C]) flush() error {
	if r.stage == nil {
		return nil
	}
	return r.stage.Flush()
}

// piece is a part on the host.
type piece[C comparable] struct {
	row, col int
	ptr      []int64
	idx      []int32
	val      []C
	placed   bool // in the memory of the sink
}

// ordered reports whether the entries of a part follow those of the parts before it. They do unless
// Y is tiled.
func (r *run[A, B, C]) ordered() bool { return r.tile >= r.n }

// bring copies a part to the host and then calls ready, possibly later, in the order of the parts.
// With inPlace it copies to the memory of the sink, if the sink provides it.
func (r *run[A, B, C]) bring(p part[C], inPlace bool, ready func(*piece[C]) error) error {
	rows, _ := p.c.Dims()
	x := &piece[C]{row: p.row, col: p.col}
	if r.at == nil {
		st := sparse.ToCSR(access.Rows(p.c.View()))
		x.ptr, x.idx, x.val = st.Ptr, st.Idx, st.Val
		if idx, val, ok := r.roomFor(int64(len(x.idx)), inPlace); ok {
			copy(idx, x.idx)
			copy(val, x.val)
			x.idx, x.val, x.placed = idx, val, true
		}
		if err := p.c.Err(); err != nil {
			return err
		}
		return ready(x)
	}
	defer p.c.Clear()
	s, err := access.RemoteOn(p.c, r.at)
	if err != nil {
		return err
	}
	n, err := s.NVals()
	if err != nil {
		return err
	}
	x.ptr = make([]int64, rows+1)
	if idx, val, ok := r.roomFor(n, inPlace); ok {
		x.idx, x.val, x.placed = idx, val, true
	} else {
		x.idx, x.val = make([]int32, n), make([]C, n)
	}
	return r.stage.Fetch(s, x.ptr, x.idx, unsafe.Pointer(unsafe.SliceData(x.val)), func(took time.Duration) error {
		r.report.Copying += took
		return ready(x)
	})
}

// roomFor returns the memory of the sink for the next entries, if inPlace asks for it and the sink
// provides it.
func (r *run[A, B, C]) roomFor(n int64, inPlace bool) (idx []int32, val []C, ok bool) {
	if place, is := r.sink.(roomy[C]); is && inPlace {
		return place.room(n)
	}
	return nil, nil, false
}

// offsetsOf computes the row offsets of a block from those of its pieces.
func (b *Block[C]) offsetsOf(pieces []*piece[C]) (entries int64) {
	b.Ptr = make([]int64, b.Hi-b.Lo+1)
	for _, x := range pieces {
		for k := range len(x.ptr) - 1 {
			b.Ptr[x.row-b.Lo+k+1] += x.ptr[k+1] - x.ptr[k]
		}
	}
	for k := range b.Hi - b.Lo {
		b.Ptr[k+1] += b.Ptr[k]
	}
	return b.Ptr[b.Hi-b.Lo]
}

// concat joins pieces of a block that follow each other, such as some rows, or parts of a row. In
// the memory of a sink they are already adjacent.
func (b *Block[C]) concat(pieces []*piece[C]) {
	n := b.offsetsOf(pieces)
	for _, x := range pieces {
		if x.col > 0 {
			for q := range x.idx {
				x.idx[q] += int32(x.col)
			}
		}
		switch {
		case len(x.idx) == 0:
		case !x.placed:
			if b.Idx == nil {
				b.Idx, b.Val = make([]int32, 0, n), make([]C, 0, n)
			}
			b.Idx, b.Val = append(b.Idx, x.idx...), append(b.Val, x.val...)
		case b.Idx == nil:
			b.Idx, b.Val = unsafe.Slice(unsafe.SliceData(x.idx), n), unsafe.Slice(unsafe.SliceData(x.val), n)
		}
	}
}

// join joins the pieces of a block: rows below each other, tiles side by side.
func (r *run[A, B, C]) join(b *Block[C], pieces []*piece[C]) {
	n := b.offsetsOf(pieces)
	var ok bool
	if b.Idx, b.Val, ok = r.roomFor(n, true); !ok {
		b.Idx, b.Val = make([]int32, n), make([]C, n)
	}
	at := append([]int64(nil), b.Ptr[:b.Hi-b.Lo]...)
	for _, x := range pieces { // in the order of their columns
		for k := range len(x.ptr) - 1 {
			i := x.row - b.Lo + k
			lo, hi := x.ptr[k], x.ptr[k+1]
			for q, j := range x.idx[lo:hi] {
				b.Idx[at[i]+int64(q)] = j + int32(x.col)
			}
			copy(b.Val[at[i]:], x.val[lo:hi])
			at[i] += hi - lo
		}
	}
}

// write passes a block to the sink.
func (r *run[A, B, C]) write(b *Block[C]) error {
	begin := time.Now()
	err := r.sink.Block(b)
	r.report.Writing += time.Since(begin)
	if err != nil {
		return err
	}
	r.report.Entries += int64(len(b.Idx))
	r.report.PeakHost = max(r.report.PeakHost, heap())
	r.finished(b.Index)
	return nil
}

func (r *run[A, B, C]) finished(index int) {
	r.report.Blocks, r.report.Rows = index+1, r.bounds[index+1]
	if r.o.progress != nil {
		r.o.progress(r.report.Progress)
	}
}
