package chunked

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// An Error says how far a product got before it failed, and wraps the cause.
type Error struct {
	Done Progress
	Kept int    // finished blocks that the next run of the same product keeps; 0 if the sink keeps none
	File string // where they are; "" if there are none
	Err  error
}

func (e *Error) Error() string {
	s := fmt.Sprintf("chunked product, after %d of %d blocks (%d of %d rows): %v", e.Done.Blocks, e.Done.AllBlocks, e.Done.Rows, e.Done.AllRows, e.Err)
	if e.Kept > 0 {
		s += fmt.Sprintf("; %s keeps %d finished blocks, and the same product resumes there", e.File, e.Kept)
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// MxM computes X ⊕.⊗ Y in blocks of rows of X and passes the blocks to sink, in order. The factors
// may live anywhere and may be views. MxM takes the time of ops.MxM plus its first pass once more,
// for the plan, or the time to copy or write the result if that takes longer.
//
// MxM returns the errors of ops.MxM if an argument is wrong. It returns an *Error that wraps the
// error of the operation, the error of the sink, or ctx.Err() if the run fails. When MxM returns,
// it has called End or Abort of the sink. A nil context is context.Background.
func MxM[A, B, C comparable](ctx context.Context, sink Sink[C], s semiring.Semiring[A, B, C], x matrix.Source[A], y matrix.Source[B], opts ...Option) (*Report, error) {
	return multiply(ctx, doorOf(sink), operationsOf(s), viewOf(x), viewOf(y), opts)
}

// multiply is MxM of views, which are without a matrix for nil.
func multiply(ctx context.Context, sink *door, s *operations, x, y rep.View, opts []Option) (*Report, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	r := &run{ctx: ctx, sink: sink, s: s, x: x, y: y}
	for _, o := range opts {
		if o != nil {
			o(&r.o)
		}
	}
	if err := r.check(); err != nil {
		return nil, err
	}
	if r.o.hostMemory > 0 {
		before := debug.SetMemoryLimit(int64(r.o.hostMemory))
		defer debug.SetMemoryLimit(before)
	}
	r.restore = func() {}
	err := r.plan()
	defer func() { r.restore() }()
	if err == nil {
		err = r.stream()
	}
	if err != nil {
		sink.Abort()
		e := &Error{Done: r.report.Progress, Err: err}
		if sink.resuming != nil {
			e.Kept, e.File = sink.resuming.kept()
		}
		return &r.report, e
	}
	return &r.report, nil
}

// run is one execution of MxM.
type run struct {
	ctx     context.Context
	sink    *door
	s       *operations
	x, y    rep.View
	o       options
	m, n    int
	group   *comm.Group // of devices that share the work; nil on one place
	lanes   []*lane
	bounds  []int
	tile    int  // columns of Y at a time
	spared  bool // rows of X are extracted on the host, because the device cannot hold X
	done    int  // blocks that earlier runs finished
	restore func()
	turns   *turns
	mu      sync.Mutex // of the times and the splits of the report
	report  Report
}

type streamer interface {
	device.Backend
	device.Streamer
}

func shape(m, n int) string { return fmt.Sprintf("%d×%d", m, n) }

func (r *run) check() error {
	if r.sink == nil {
		return &matrix.InvalidError{Op: "chunked.MxM", Reason: "the sink is nil"}
	}
	if !r.s.valid {
		return &ops.OperatorError{Op: "chunked.MxM", Reason: "the semiring is the zero value; make it with a constructor of package semiring"}
	}
	if r.x.Matrix == nil || r.y.Matrix == nil {
		return &matrix.InvalidError{Op: "chunked.MxM", Reason: "x or y is nil"}
	}
	if err := errors.Join(r.x.Err(), r.y.Err()); err != nil {
		return err
	}
	var k, k2 int
	r.m, k = r.x.Dims()
	k2, r.n = r.y.Dims()
	if k != k2 {
		return &matrix.DimensionError{Op: "chunked.MxM", Arg: "y", Got: shape(k2, r.n), Want: fmt.Sprintf("%d×any", k), Remedy: "the columns of x are the rows of y; perhaps one of them needs T()"}
	}
	if r.o.masked() {
		if mm, mn := r.o.mask.Dims(); mm != r.m || mn != r.n {
			return &matrix.DimensionError{Op: "chunked.MxM", Arg: "the mask", Got: shape(mm, mn), Want: shape(r.m, r.n), Remedy: "it has the shape of the product"}
		}
	}
	places := []matrix.Place{r.o.place}
	if g, ok := r.o.place.(*comm.Group); ok {
		if g.Size() == 0 || len(g.Ranks()) < g.Size() {
			return &matrix.InvalidError{Op: "chunked.MxM", Reason: fmt.Sprintf("%s has no ranks, or some in other processes; use devices of this process", g)}
		}
		r.group, places = g, nil
		for k := range g.Ranks() {
			places = append(places, g.PlaceOf(k))
		}
	}
	for _, p := range places {
		l := &lane{run: r, place: p, x: r.x, y: r.y, mask: r.o.mask}
		if p != nil || r.group != nil {
			var ok bool
			if l.at, ok = device.Of(p).(streamer); !ok {
				return &matrix.InvalidError{Op: "chunked.MxM", Reason: fmt.Sprintf("%s cannot compute block by block; use the host, or devices of package cusparse", r.o.place)}
			}
		}
		r.lanes = append(r.lanes, l)
	}
	return r.ctx.Err()
}

func (r *run) with() ops.Option {
	return ops.WithOptions(ops.WithContext(r.ctx), ops.WithThreads(r.o.threads))
}

// tileShare: Y is tiled if it exceeds 1/tileShare of the device's budget.
const tileShare = 2

// plan counts the entries of the product and chooses the blocks.
func (r *run) plan() error {
	start := time.Now()
	b := budget{entry: 4 + r.s.of.Size, least: r.o.chunks}
	if n := len(r.lanes); n > 1 {
		b.least = max(b.least, laneBlocks*n)
	}
	r.tile = r.n
	tiled := false
	if r.onDevices() {
		b.row = int64(r.n)/8 + 16 // a bitmap of its columns, and its offset
		free, err := r.free()
		if err != nil {
			return err
		}
		if r.o.deviceMemory == 0 {
			r.o.deviceMemory = free / 5 * 4
		}
		for _, l := range r.lanes {
			before, inner := l.at.Limit(r.o.deviceMemory), r.restore
			r.restore = func() {
				l.at.Limit(before)
				inner()
			}
			l.at.Peak()
		}
		r.spared = r.x.Place() == nil && uint64(bytesOf(r.x)) > r.o.deviceMemory/4
		if need := bytesOf(r.y); placeOf(r.y) != r.o.place && uint64(need) > r.o.deviceMemory/tileShare {
			tiled = true
			r.tile = max(int(uint64(r.n)*(r.o.deviceMemory/(2*tileShare))/uint64(need)), 1)
		}
		if err := r.replicate(tiled); err != nil {
			return err
		}
	}
	sizes, exact, err := r.sizes(tiled)
	if err != nil {
		return err
	}
	if b.most, err = r.room(tiled); err != nil {
		return err
	}
	p := Plan{Rows: r.m, Cols: r.n, Exact: exact}
	for _, k := range sizes {
		p.Entries += k
	}
	r.report.Expected = p.Entries
	if r.sink.counts && !exact {
		if p.Entries, err = r.count(b.cut(sizes)); err != nil {
			return err
		}
		p.Exact = true
	}
	if c := r.sink.resuming; c != nil {
		if p.Job, err = r.job(); err != nil {
			return err
		}
		p.Bounds = c.bounds(p.Job, r.m, r.n)
	}
	if p.Bounds == nil {
		p.Bounds = b.cut(sizes)
	}
	r.bounds = p.Bounds
	r.report.AllBlocks, r.report.AllRows = len(p.Bounds)-1, r.m
	r.report.Plan = time.Since(start)
	if err := r.ctx.Err(); err != nil {
		return err
	}
	r.done, err = r.sink.Begin(p)
	r.report.Resumed, r.report.Blocks = r.done, r.done
	r.report.Rows = r.bounds[r.done]
	return err
}

// laneBlocks is the least number of blocks of each of several devices. More do not pay: AᵀA of 20M
// ratings takes 56 to 59 ms on four H200s in 14 and in 25 blocks.
const laneBlocks = 3

// onDevices reports whether devices compute.
func (r *run) onDevices() bool { return r.lanes[0].at != nil }

// free returns the bytes that are free on every device.
func (r *run) free() (least uint64, err error) {
	for i, l := range r.lanes {
		free, _, err := l.at.Free()
		if err != nil {
			return 0, err
		}
		if i == 0 || free < least {
			least = free
		}
	}
	return least, nil
}

// replicate gives each of several devices the factors that are to be on devices.
func (r *run) replicate(tiled bool) error {
	if r.group == nil {
		return nil
	}
	if !r.spared {
		xs, err := r.x.Replicas(r.ctx, r.group)
		if err != nil {
			return err
		}
		for i, l := range r.lanes {
			l.x = xs[i]
		}
	}
	if r.o.masked() {
		masks, err := r.o.mask.Replicas(r.ctx, r.group)
		if err != nil {
			return err
		}
		for i, l := range r.lanes {
			l.mask = masks[i]
		}
	}
	if tiled {
		return nil
	}
	ys, err := r.y.Replicas(r.ctx, r.group)
	for i, l := range r.lanes {
		if err == nil {
			l.y = ys[i]
		}
	}
	return err
}

// sizes returns the entries of each row of the product, or upper bounds.
func (r *run) sizes(tiled bool) (sizes []int64, exact bool, err error) {
	if !tiled && !r.spared {
		l := r.lanes[0]
		sizes, exact, err = r.s.sizes(l.x, l.y, l.place, r.with())
	} else {
		sizes, err = mostEntries(r.x, r.y, r.with())
	}
	if err != nil {
		return nil, false, err
	}
	if r.o.masked() && !r.o.complement {
		mask := r.o.mask.Rows()
		for i := range sizes {
			lo, hi := mask.Span(i)
			sizes[i] = min(sizes[i], hi-lo)
		}
	}
	return sizes, exact && !r.o.masked() && !r.o.offDiagonal, nil
}

// room returns the largest size of a block in bytes.
func (r *run) room(tiled bool) (most int64, err error) {
	if r.o.hostMemory > 0 {
		runtime.GC()
		left := int64(r.o.hostMemory) - int64(heap())
		// One block each is computed, copied and written; the rest is slack for the collector.
		most = max(left/4, 1)
	}
	if !r.onDevices() {
		return most, nil
	}
	if len(r.lanes) > 1 {
		most = (most + int64(len(r.lanes)) - 1) / int64(len(r.lanes))
	}
	free, err := r.free()
	if err != nil {
		return 0, err
	}
	// One block is computed, with its workspace, and one copied: halves, less a quarter that the
	// allocator may round away. A block that runs out of memory is split.
	parts := uint64(3)
	if r.o.offDiagonal || r.o.masked() {
		parts = 6
	}
	if tiled {
		free -= min(free, r.o.deviceMemory/tileShare)
	}
	there := max(int64(free/parts), 1)
	if most == 0 || there < most {
		most = there
	}
	return most, nil
}

// count computes the product once to count its entries.
func (r *run) count(bounds []int) (int64, error) {
	t := newTurns(0)
	counts, errs := make([]int64, len(r.lanes)), make([]error, len(r.lanes))
	var all sync.WaitGroup
	for i, l := range r.lanes {
		all.Go(func() {
			for errs[i] == nil {
				k, ok := t.take(len(bounds) - 1)
				if !ok {
					return
				}
				errs[i] = l.block(bounds[k], bounds[k+1], func(c rep.Matrix, _, _ int) error {
					counts[i] += c.NVals()
					defer release(c)
					return c.Err()
				})
			}
			t.end()
		})
	}
	all.Wait()
	n := int64(0)
	for _, k := range counts {
		n += k
	}
	return n, errors.Join(errs...)
}

// block computes rows lo to hi in tiles of columns and passes each part to take, with its first row
// and column.
func (l *lane) block(lo, hi int, take func(c rep.Matrix, row, col int) error) error {
	for col := 0; ; col += l.tile {
		if err := l.part(lo, hi, col, min(col+l.tile, l.n), take); err != nil {
			return err
		}
		if col+l.tile >= l.n {
			return nil
		}
	}
}

// part computes a rectangle of the product and halves it if memory runs out.
func (l *lane) part(lo, hi, clo, chi int, take func(c rep.Matrix, row, col int) error) error {
	c, err := l.multiply(lo, hi, clo, chi)
	if err == nil {
		return take(c, lo, clo)
	}
	if !errors.Is(err, device.ErrMemory) {
		return err
	}
	l.mu.Lock()
	l.report.Splits++
	l.mu.Unlock()
	switch mid, cmid := lo+(hi-lo)/2, clo+(chi-clo)/2; {
	case hi-lo > 1:
		if err := l.part(lo, mid, clo, chi, take); err != nil {
			return err
		}
		return l.part(mid, hi, clo, chi, take)
	case chi-clo > 1:
		if err := l.part(lo, hi, clo, cmid, take); err != nil {
			return err
		}
		return l.part(lo, hi, cmid, chi, take)
	}
	return err
}

// multiply computes a rectangle of the product.
func (l *lane) multiply(lo, hi, clo, chi int) (rep.Matrix, error) {
	with := l.with()
	c := matrix.NewInside(l.s.of, hi-lo, chi-clo, matrix.On(l.place))
	x, y, drop, err := l.factors(lo, hi, clo, chi)
	defer drop()
	if err != nil {
		return nil, err
	}
	var mask matrix.Mask
	switch {
	case l.o.masked():
		m, drop, err := l.o.allowed(l.mask, lo, hi, clo, chi, l.place, with)
		if err != nil {
			return nil, err
		}
		defer drop()
		mask = m
	case l.o.offDiagonal && l.at == nil:
		if mask, err = offDiagonal(lo, hi, clo, chi); err != nil {
			return nil, err
		}
	}
	err = l.s.mxm(c, mask, x, y, with)
	if err == nil && l.o.offDiagonal && (l.at != nil || l.o.masked()) {
		err = l.s.offDiagonal(c, lo-clo, with)
	}
	if err == nil && l.at != nil {
		err = l.s.toCSR(c)
	}
	return c, err
}

// factors returns the rows of X and the columns of Y for a rectangle, without a copy where all are
// needed. drop frees the copies.
func (l *lane) factors(lo, hi, clo, chi int) (x, y rep.View, drop func(), err error) {
	x, y = l.x, l.y
	var made []rep.Matrix
	drop = func() {
		for _, m := range made {
			release(m)
		}
	}
	if lo != 0 || hi != l.m {
		_, k := l.x.Dims()
		rows := matrix.NewInside(l.x.Type(), hi-lo, k, matrix.On(l.placeOfX()))
		made = append(made, rows)
		if err := l.s.extractX(rows, l.x, ops.Span(lo, hi), ops.All(), l.with()); err != nil {
			return x, y, drop, err
		}
		x = rep.View{Matrix: rows}
	}
	if clo != 0 || chi != l.n {
		k, _ := l.y.Dims()
		cols := matrix.NewInside(l.y.Type(), k, chi-clo)
		made = append(made, cols)
		if err := l.s.extractY(cols, l.y, ops.All(), ops.Span(clo, chi), l.with()); err != nil {
			return x, y, drop, err
		}
		y = rep.View{Matrix: cols}
	}
	return x, y, drop, nil
}

// placeOfX returns the place where rows of X are extracted.
func (l *lane) placeOfX() matrix.Place {
	if l.spared {
		return nil
	}
	return l.place
}

// bytesOf estimates the memory of a factor on a device.
func bytesOf(a rep.View) int64 {
	m, _ := a.Dims()
	return 8*int64(m) + a.NVals()*(4+a.Type().Size)
}
