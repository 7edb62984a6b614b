package chunked

import (
	"errors"
	"sync"
	"time"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// part is a computed rectangle.
type part struct {
	index    int
	row, col int
	c        rep.Matrix
	last     bool // of its block
}

// lane computes blocks at a place, and copies them to the host.
type lane struct {
	*run
	place    matrix.Place
	at       streamer // nil on the host
	x, y     rep.View // the factors, at the place or on the host
	mask     rep.View
	stage    device.Stage
	computed chan part
	pieces   []*piece
}

// turns gives blocks to lanes, and lets them reserve memory of the sink in the order of the blocks.
type turns struct {
	mu    sync.Mutex
	moved sync.Cond
	next  int // block to compute
	turn  int // block to reserve memory for next
	ended bool
}

func newTurns(first int) *turns {
	t := &turns{next: first, turn: first}
	t.moved.L = &t.mu
	return t
}

// take returns the next of n blocks to compute.
func (t *turns) take(n int) (k int, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	k = t.next
	t.next++
	return k, k < n && !t.ended
}

// wait waits until it is the turn of block k. It returns false if the run ends.
func (t *turns) wait(k int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.turn != k && !t.ended {
		t.moved.Wait()
	}
	return !t.ended
}

// pass ends the turn of block k.
func (t *turns) pass(k int) {
	t.mu.Lock()
	t.turn = k + 1
	t.mu.Unlock()
	t.moved.Broadcast()
}

// end ends all waits.
func (t *turns) end() {
	t.mu.Lock()
	t.ended = true
	t.mu.Unlock()
	t.moved.Broadcast()
}

// stream computes, copies and writes blocks: two goroutines for each lane, and this one, which
// writes.
func (r *run) stream() error {
	start := time.Now()
	for _, l := range r.lanes {
		l.computed = make(chan part)
		if r.sink.visit == nil && l.at != nil {
			stage, err := l.at.Stage(r.pinned())
			if err != nil {
				return err
			}
			l.stage = stage
			defer stage.Close()
		}
	}
	visits, copied, halt, outcome := r.start(r.sink.visit != nil)
	err := r.visitAll(visits, halt)
	if err == nil {
		err = r.writeAll(copied, halt)
	}
	for p := range visits {
		release(p.c)
	}
	for range copied {
	}
	if err == nil {
		err = outcome()
	}
	if err == nil {
		err = r.ctx.Err()
	}
	r.report.Wall = time.Since(start)
	r.report.Computing /= time.Duration(len(r.lanes))
	r.report.Copying /= time.Duration(len(r.lanes))
	for _, l := range r.lanes {
		if l.at != nil {
			r.report.PeakDevice = max(r.report.PeakDevice, l.at.Peak())
		}
	}
	if err != nil {
		return err
	}
	begin := time.Now()
	err = r.sink.End()
	r.report.Writing += time.Since(begin)
	return err
}

// start starts the lanes, which give parts to visits, or blocks to copied unless toVisits. It
// returns a function that ends them early, and one that returns their errors once both channels are
// closed.
func (r *run) start(toVisits bool) (visits chan part, copied chan *block, halt func(), outcome func() error) {
	r.turns = newTurns(r.done)
	stop := make(chan struct{})
	halt = sync.OnceFunc(func() {
		close(stop)
		r.turns.end()
	})
	var lanes sync.WaitGroup
	var failed error
	run := func(f func() error) {
		lanes.Add(1)
		go func() {
			defer lanes.Done()
			if err := f(); err != nil && err != errStopped {
				r.mu.Lock()
				failed = errors.Join(failed, err)
				r.mu.Unlock()
				halt()
			}
		}()
	}
	visits, copied = make(chan part), make(chan *block)
	for _, l := range r.lanes {
		run(func() error {
			defer close(l.computed)
			return l.compute(stop)
		})
		run(func() error {
			if toVisits {
				return l.passOn(visits, stop)
			}
			return l.copyAll(copied, stop)
		})
	}
	go func() {
		lanes.Wait()
		close(visits)
		close(copied)
	}()
	return visits, copied, halt, func() error { return failed }
}

// pinned returns the size of the pinned buffers of a lane.
func (r *run) pinned() int64 {
	if r.o.hostMemory > 0 {
		return min(pinnedBytes, int64(r.o.hostMemory/16)/int64(len(r.lanes)))
	}
	return pinnedBytes
}

// compute computes blocks, at most one ahead of the copying.
func (l *lane) compute(stop <-chan struct{}) error {
	for {
		k, ok := l.turns.take(len(l.bounds) - 1)
		if !ok {
			return nil
		}
		lo, hi := l.bounds[k], l.bounds[k+1]
		begin := time.Now()
		var held *part
		send := func(last bool) error {
			if held == nil {
				return nil
			}
			held.last = last
			p := *held
			held = nil
			select {
			case l.computed <- p:
				return nil
			case <-stop:
				release(p.c)
				return errStopped
			}
		}
		err := l.block(lo, hi, func(c rep.Matrix, row, col int) (err error) {
			p := part{index: k, row: row, col: col, c: c}
			if l.at != nil {
				if err := l.at.Sync(); err != nil {
					return err
				}
			}
			l.spent(&l.report.Computing, time.Since(begin))
			err = send(false)
			held = &p
			begin = time.Now()
			return err
		})
		if err == nil {
			err = send(true)
		}
		if err == nil {
			err = l.ctx.Err()
		}
		if err != nil {
			return err
		}
	}
}

// spent adds to a time of the report.
func (r *run) spent(sum *time.Duration, took time.Duration) {
	r.mu.Lock()
	*sum += took
	r.mu.Unlock()
}

type stopped struct{}

func (stopped) Error() string { return "stopped" }

var errStopped error = stopped{}

// passOn passes the parts of the lane on in the order of the blocks.
func (l *lane) passOn(out chan<- part, stop <-chan struct{}) error {
	for p := range l.computed {
		if !l.turns.wait(p.index) {
			release(p.c)
			return errStopped
		}
		select {
		case out <- p:
		case <-stop:
			release(p.c)
			return errStopped
		}
		if p.last {
			l.turns.pass(p.index)
		}
	}
	return nil
}

// visitAll passes the parts to a sink that reads them in place.
func (r *run) visitAll(parts <-chan part, halt func()) error {
	if r.sink.visit == nil {
		return nil
	}
	for p := range parts {
		begin := time.Now()
		n := p.c.NVals()
		err := p.c.Err()
		if err == nil {
			err = r.sink.visit(p.row, p.c)
		}
		release(p.c)
		r.report.Writing += time.Since(begin)
		if err != nil {
			halt()
			return err
		}
		r.report.Entries += n
		if p.last {
			r.finished(p.index)
		}
	}
	return nil
}

// writeAll passes blocks to the sink in their order.
func (r *run) writeAll(blocks <-chan *block, halt func()) error {
	early, next := map[int]*block{}, r.done // no more than one of each lane
	for b := range blocks {
		for early[b.Index] = b; early[next] != nil; next++ {
			if err := r.write(early[next]); err != nil {
				halt()
				return err
			}
			delete(early, next)
		}
	}
	return nil
}

// copyAll copies the blocks of the lane to the host.
func (l *lane) copyAll(out chan<- *block, stop <-chan struct{}) error {
	ready := func(p part, x *piece) error {
		l.pieces = append(l.pieces, x)
		if !p.last {
			return nil
		}
		b := &block{Index: p.index, Lo: l.bounds[p.index], Hi: l.bounds[p.index+1]}
		switch {
		case len(l.pieces) == 1:
			b.Ptr, b.Idx, b.Val = x.ptr, x.idx, x.val
		case l.ordered():
			b.concat(l.s.of, l.pieces)
		default:
			l.join(b, l.pieces)
			l.turns.pass(p.index)
		}
		l.pieces = l.pieces[:0]
		select {
		case out <- b:
			return nil
		case <-stop:
			return errStopped
		}
	}
	begins := true // of a block
	for {
		p, ok, err := l.nextPart()
		if ok && err == nil {
			if begins && !l.turns.wait(p.index) {
				release(p.c)
				return errStopped
			}
			whole := begins && p.last
			begins = p.last
			err = l.toHost(p, whole || l.ordered(), func(x *piece) error { return ready(p, x) })
			if p.last && !whole && !l.ordered() && err == nil { // join assigns its memory
				err = l.flush()
			}
		}
		if !ok || err != nil {
			return err
		}
	}
}

// nextPart returns the next part. It completes pending copies before it waits and after the last
// part.
func (l *lane) nextPart() (p part, ok bool, err error) {
	select {
	case p, ok = <-l.computed:
	default:
		if err = l.flush(); err == nil {
			p, ok = <-l.computed
		}
	}
	if !ok && err == nil {
		err = l.flush()
	}
	return p, ok, err
}

func (l *lane) flush() error {
	if l.stage == nil {
		return nil
	}
	return l.stage.Flush()
}

// piece is a part on the host.
type piece struct {
	row, col int
	ptr      []int64
	idx      []int32
	val      sparse.Values
	placed   bool // in the memory of the sink
}

// ordered reports whether the entries of a part follow the entries of the parts before it. They do
// unless Y is tiled.
func (r *run) ordered() bool { return r.tile >= r.n }

// toHost copies a part to the host and then calls ready, possibly later, in the order of the parts.
// With inPlace it copies to the memory of the sink, if the sink provides it. The turn of a block
// ends when all of its memory is reserved; with tiles join ends it.
func (l *lane) toHost(p part, inPlace bool, ready func(*piece) error) error {
	rows, _ := p.c.Dims()
	x := &piece{row: p.row, col: p.col}
	reserved := func() {
		if p.last && inPlace {
			l.turns.pass(p.index)
		}
	}
	if l.at == nil {
		st := p.c.Rows().ToCSR()
		x.ptr, x.idx, x.val = st.Ptr, st.Idx, st.Val
		if idx, val, ok := l.roomFor(int64(len(x.idx)), inPlace); ok {
			copy(idx, x.idx)
			l.s.of.Copy(val, x.val)
			x.idx, x.val, x.placed = idx, val, true
		}
		if err := p.c.Err(); err != nil {
			return err
		}
		reserved()
		return ready(x)
	}
	defer release(p.c)
	s, err := p.c.RemoteOn(l.at)
	if err != nil {
		return err
	}
	n, err := s.NVals()
	if err != nil {
		return err
	}
	x.ptr = make([]int64, rows+1)
	idx, val, ok := l.roomFor(n, inPlace)
	reserved()
	if ok {
		x.idx, x.val, x.placed = idx, val, true
	} else {
		x.idx, x.val = make([]int32, n), l.s.of.Zeroed(n)
	}
	return l.stage.Fetch(s, x.ptr, x.idx, x.val.Pointer(), func(took time.Duration) error {
		l.spent(&l.report.Copying, took)
		return ready(x)
	})
}

// roomFor returns the memory of the sink for the next entries, if inPlace asks for it and the sink
// provides it.
func (r *run) roomFor(n int64, inPlace bool) (idx []int32, val sparse.Values, ok bool) {
	if r.sink.room != nil && inPlace {
		return r.sink.room(n)
	}
	return nil, val, false
}

// offsetsOf computes the row offsets of a block from the row offsets of its pieces.
func (b *block) offsetsOf(pieces []*piece) (entries int64) {
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
func (b *block) concat(t *sparse.Type, pieces []*piece) {
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
				b.Idx, b.Val = make([]int32, 0, n), t.Zeroed(n)
			}
			at := int64(len(b.Idx))
			b.Idx = append(b.Idx, x.idx...)
			t.Copy(t.Slice(b.Val, at, at+int64(len(x.idx))), x.val)
		case b.Idx == nil:
			b.Idx, b.Val = unsafe.Slice(unsafe.SliceData(x.idx), n), sparse.ValuesOf(unsafe.Slice((*struct{})(x.val.Pointer()), n))
		}
	}
}

// join joins the pieces of a block: rows below each other, tiles side by side.
func (r *run) join(b *block, pieces []*piece) {
	n := b.offsetsOf(pieces)
	var ok bool
	if b.Idx, b.Val, ok = r.roomFor(n, true); !ok {
		b.Idx, b.Val = make([]int32, n), r.s.of.Zeroed(n)
	}
	at := append([]int64(nil), b.Ptr[:b.Hi-b.Lo]...)
	for _, x := range pieces { // in the order of their columns
		for k := range len(x.ptr) - 1 {
			i := x.row - b.Lo + k
			lo, hi := x.ptr[k], x.ptr[k+1]
			for q, j := range x.idx[lo:hi] {
				b.Idx[at[i]+int64(q)] = j + int32(x.col)
			}
			r.s.of.Copy(r.s.of.Slice(b.Val, at[i], at[i]+hi-lo), r.s.of.Slice(x.val, lo, hi))
			at[i] += hi - lo
		}
	}
}

// write passes a block to the sink.
func (r *run) write(b *block) error {
	begin := time.Now()
	err := r.sink.block(b)
	r.report.Writing += time.Since(begin)
	if err != nil {
		return err
	}
	r.report.Entries += int64(len(b.Idx))
	r.report.PeakHost = max(r.report.PeakHost, heap())
	r.finished(b.Index)
	return nil
}

func (r *run) finished(index int) {
	r.report.Blocks, r.report.Rows = index+1, r.bounds[index+1]
	if r.o.progress != nil {
		r.o.progress(r.report.Progress)
	}
}
