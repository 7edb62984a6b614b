package cusparse

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"unsafe"

	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// This file runs kernels of other packages: it makes a frame a session.

// Run calls use with a session on the device.
func (d backend) Run(c device.Call, use func(s *device.Session)) error {
	f := d.begin(c)
	defer f.end()
	if f.err != nil {
		return f.err
	}
	use(device.NewSession(session{f}, &f.args))
	if f.err != nil { // kernels that are queued may write to the numbers of Results
		_ = d.ctx.Sync(d.stream)
	}
	return f.err
}

// session is a frame as other packages use it.
type session struct{ f *frame }

func (s session) Err() error     { return s.f.err }
func (s session) Fail(err error) { s.f.fail(err) }
func (s session) Check()         { s.f.check() }
func (s session) Sync()          { s.f.sync() }

// Release gives up a use of the memory.
func (m *mem) Release() { m.release() }

// buffer describes a block for other packages.
func buffer(m *mem) device.Buffer {
	if m == nil {
		return device.Buffer{}
	}
	return device.Buffer{Addr: uint64(m.addr), Mem: m}
}

// memOf returns the block of a buffer, nil if it has none.
func memOf(b device.Buffer) *mem {
	m, _ := b.Mem.(*mem)
	return m
}

func (s session) Alloc(n int64) device.Buffer { return buffer(s.f.alloc(n)) }
func (s session) Zeros(n int64) device.Buffer { return buffer(s.f.zeros(n)) }

func (s session) Upload(from unsafe.Pointer, n int64) device.Buffer {
	return buffer(s.f.upload(from, n))
}

func (s session) Download(to unsafe.Pointer, from device.Buffer, n int64) {
	s.f.download(to, driver.Ptr(from.Addr), n)
}

func (s session) Read(b device.Buffer, i int64) (x int64) {
	s.f.download(unsafe.Pointer(&x), driver.Ptr(b.Addr)+driver.Ptr(8*i), 8)
	return x
}

func (s session) Fill(b device.Buffer, value byte, n int64) {
	if s.f.err == nil && n > 0 {
		s.f.fail(s.f.d.ctx.Fill(driver.Ptr(b.Addr), value, uint64(n), s.f.d.stream))
	}
}

func (s session) Copy(to, from device.Buffer, n int64) {
	s.f.copy(driver.Ptr(to.Addr), driver.Ptr(from.Addr), n)
}

func (s session) Free(b device.Buffer) { s.f.free(memOf(b)) }

func (s session) Retain(b device.Buffer) device.Buffer {
	memOf(b).share()
	return b
}

func (s session) RetainView(v device.View) device.View {
	for _, b := range []device.Buffer{v.Ptr, v.Idx, v.Present, v.Val} {
		s.Retain(b)
	}
	v.Store = nil
	return v
}

// Program composes a program of another package.
func (s session) Program(key any, compose func() device.Program) device.Code {
	if s.f.err != nil {
		return nil
	}
	type foreign struct{ key any } // apart from the keys of this package
	p := s.f.d.programs[foreign{key}]
	if p != nil {
		return p
	}
	p, err := composed(compose())
	if err != nil {
		s.f.fail(err)
		return nil
	}
	s.f.d.programs[foreign{key}] = p
	return p
}

// composed translates a program of another package.
func composed(from device.Program) (*program, error) {
	p := compose(from.File, from.Of)
	p.own = from.Head
	for _, part := range from.Parts {
		text, ok := kernelText[part]
		if !ok {
			return nil, fmt.Errorf("the program %s: the backend has no part %q", p.title(), part)
		}
		p.own += text
	}
	p.own += from.Body
	for _, t := range from.Types {
		p.typ(t.Name, t.Type)
	}
	for _, name := range slices.Sorted(maps.Keys(from.Defines)) {
		p.define(name, from.Defines[name])
	}
	return p, nil
}

func (s session) Kernel(c device.Code, name string) device.Kernel {
	p, ok := c.(*program)
	if !ok || s.f.err != nil {
		return nil
	}
	return s.f.kernel(p, name)
}

func (s session) Queue(k device.Kernel, grid, block [3]uint32, shared int, args []unsafe.Pointer) {
	if s.f.err == nil {
		s.f.queue(k.(*kernel), grid, block, shared, args)
	}
}

func (s session) Multiprocessors() int { return max(s.f.d.props.Multiprocessors, 1) }
func (s session) Together() bool       { return !s.f.d.props.OneByOne }
func (s session) SharedMemory() int    { return s.f.d.props.SharedPerBlock }

func (s session) Room() int64 {
	free, _, err := s.f.d.pool.left()
	if err != nil {
		s.f.fail(err)
		return 0
	}
	return int64(min(free, math.MaxInt64))
}

func (s session) Resident(k device.Kernel, threads int) uint32 {
	if s.f.err != nil {
		return 1
	}
	c := k.(*kernel)
	if c.blocks == 0 {
		each, err := s.f.d.ctx.Occupancy(c.fn, threads, 0)
		s.f.fail(err)
		c.blocks = uint32(min(max(each, 1), 8) * s.Multiprocessors())
	}
	return c.blocks
}

// resultsAt is the offset of the numbers of Results in the pinned buffer. The
// bytes before it are for read-backs.
const resultsAt = pinnedBytes - 64

func (s session) Results() ([]int64, device.Buffer) {
	p := unsafe.Add(s.f.d.pinned, resultsAt)
	numbers := unsafe.Slice((*int64)(p), 4)
	clear(numbers)
	return numbers, device.Buffer{Addr: uint64(uintptr(p))}
}

// graphSteps is the number of steps of a CUDA graph. Repeat queues fewer steps
// one by one, since most loops end in the first round. It is even: see device.Session.
const graphSteps = 64

// Repeat queues steps in rounds, each as long as all before it, and from
// graphSteps on as a CUDA graph that is captured once.
func (s session) Repeat(first int, step func()) {
	f := s.f
	done := (*int64)(unsafe.Add(f.d.pinned, resultsAt))
	var graph driver.Graph
	ran := 0
	for n := max(first, 1); f.err == nil && *done == 0; n = min(ran, graphSteps) {
		ran += n
		switch {
		case n < graphSteps:
			for range n {
				step()
			}
		case graph == 0:
			graph = f.capture(step)
		}
		if graph != 0 && f.err == nil {
			f.fail(f.d.ctx.LaunchGraph(graph, f.d.stream))
		}
		f.sync()
	}
	if graph == 0 {
		return
	}
	if f.err != nil {
		_ = f.d.ctx.Sync(f.d.stream) // the graph may still run
	}
	f.fail(f.d.ctx.CloseGraph(graph))
}

// capture returns a graph of graphSteps steps. A driver without graphs gets the steps one by one.
func (f *frame) capture(step func()) driver.Graph {
	if f.err != nil {
		return 0
	}
	err := f.d.ctx.BeginCapture(f.d.stream)
	for range graphSteps {
		step()
	}
	if errors.Is(err, driver.ErrNotSupported) {
		return 0
	}
	if err != nil {
		f.fail(err)
		return 0
	}
	g, err := f.d.ctx.EndCapture(f.d.stream)
	if f.err != nil && g != 0 {
		_ = f.d.ctx.CloseGraph(g)
		return 0
	}
	f.fail(err)
	return g
}

// viewOf describes a store for other packages.
func (f *frame) viewOf(s *store) device.View {
	if f.err != nil || s == nil {
		return device.View{}
	}
	return device.View{
		Rows: s.m, Cols: s.n, Format: s.format, Type: s.typ, Entries: s.known(), Store: s,
		Ptr: buffer(s.ptr), Idx: buffer(s.idx), Present: buffer(s.present), Val: buffer(s.val),
	}
}

// storeOf returns the store of a view.
func (f *frame) storeOf(v device.View) *store { return f.here(device.Operand{Store: v.Store}) }

func (s session) Rows(o device.Operand) device.View { return s.f.viewOf(s.f.csrOf(s.f.rows(o))) }
func (s session) Cols(o device.Operand) device.View { return s.f.viewOf(s.f.csrOf(s.f.cols(o))) }

// csrOf is csr of a store that is nil after an error.
func (f *frame) csrOf(s *store) *store {
	if f.err != nil {
		return nil
	}
	return f.csr(s)
}

func (s session) HasCols(o device.Operand) bool { return s.f.here(o) != nil && hasCols(o) }

func (s session) Dense(o device.Operand) device.View {
	st := s.f.oriented(o)
	if s.f.err != nil {
		return device.View{}
	}
	return s.f.viewOf(s.f.dense(st))
}

func (s session) NewFull(rows, cols int, t device.Type) device.View {
	cells := int64(rows) * int64(cols)
	st := s.f.newStore(rows, cols, sparse.Full, t, cells)
	s.values(st, cells)
	return s.f.viewOf(st)
}

func (s session) NewBitmap(n int, t device.Type, present device.Buffer) device.View {
	return s.NewBitmapMatrix(1, n, t, present)
}

func (s session) NewBitmapMatrix(rows, cols int, t device.Type, present device.Buffer) device.View {
	st := s.f.newStore(rows, cols, sparse.Bitmap, t, -1)
	s.values(st, int64(rows)*int64(cols))
	st.present = memOf(present).share()
	return s.f.viewOf(st)
}

func (s session) NewCSR(rows, cols int, t device.Type, ptr, idx device.Buffer, entries int64) device.View {
	pattern := t.Size == 0
	if pattern {
		t = boolType
	}
	st := s.f.newStore(rows, cols, sparse.CSR, t, entries)
	st.nvec = rows
	st.ptr, st.idx = memOf(ptr).share(), memOf(idx).share()
	if !pattern {
		s.values(st, entries)
	}
	return s.f.viewOf(st)
}

// values gives a store room for its values, which goes with the store.
func (s session) values(st *store, cells int64) {
	m := s.f.alloc(max(cells, 1) * int64(st.typ.Size))
	st.val = m.share()
	s.f.free(m)
}

func (s session) AllPresent(v device.View) device.View {
	st := s.f.storeOf(v)
	if st == nil || st.isListed() {
		return device.View{}
	}
	st.present.release()
	st.present, st.format = nil, sparse.Full
	st.count.Store(st.cells())
	return s.f.viewOf(st)
}

func (s session) Selected(v device.View, keep device.Buffer) device.View {
	st := s.f.storeOf(v)
	if st == nil {
		return device.View{}
	}
	return s.f.viewOf(s.f.compacted(st, memOf(keep), st.typ, st.val))
}

func (s session) Drop(v device.View) {
	if st := s.f.storeOf(v); st != nil && !st.keep {
		st.drop()
	}
}

func (s session) Result(v device.View, entries int64) device.Store {
	st := s.f.storeOf(v)
	if st == nil {
		return nil
	}
	if st.format == sparse.Bitmap {
		st.count.Store(entries)
	}
	return s.f.result(st)
}

// keptByOthers is what another package keeps with a store.
type keptByOthers struct{ device.Dropper }

func (k keptByOthers) drop() { k.Drop() }

// ownedStore is a store that something kept with another store owns.
type ownedStore struct{ s *store }

// Drop is called while the device is locked.
func (o ownedStore) Drop() { o.s.drop() }

func (s session) Owned(x device.Store) device.Dropper {
	st, _ := x.(*store)
	if st == nil {
		return nil
	}
	return ownedStore{st}
}

func (s session) Kept(o device.Operand, key string, create func() device.Dropper) device.Dropper {
	st := s.f.here(o)
	if st == nil {
		return nil
	}
	if k, ok := formOf[keptByOthers](s.f, st, key); ok {
		return k.Dropper
	}
	k := create()
	if s.f.err != nil {
		return nil
	}
	s.f.keepForm(st, key, keptByOthers{k})
	return k
}

// Pull frees what the product needed, but for the result.
func (s session) Pull(m device.Semiring, a, x device.View) device.View {
	f := s.f
	as, xs := f.storeOf(a), f.storeOf(x)
	temps, made := len(f.temps), len(f.made)
	y, _ := f.mxv(methodPull, m, false, device.Operand{Store: as}, xs, nil, &device.Ran{})
	if f.err != nil {
		return device.View{}
	}
	f.freeSince(temps)
	for _, st := range f.made[made:] {
		if st != y && !st.keep {
			st.drop()
		}
	}
	f.made = append(f.made[:made], y)
	return f.viewOf(y)
}

func (s session) Product(
	method string, m device.Semiring, a device.Operand, x device.View, mask *device.Mask,
) (device.View, device.Ran) {
	f, ran := s.f, device.Ran{}
	xs := f.storeOf(x)
	if xs == nil {
		return device.View{}, ran
	}
	if x.Entries >= 0 {
		xs.count.Store(x.Entries)
	}
	temps, made := len(f.temps), len(f.made)
	y, _ := f.mxv(method, m, false, a, xs, mask, &ran)
	if f.err != nil {
		return device.View{}, ran
	}
	y = f.dense(y)
	f.freeSince(temps)
	kept := f.made[:made]
	for _, st := range f.made[made:] {
		if st == y || st.keep {
			kept = append(kept, st)
		} else {
			st.drop()
		}
	}
	f.made = kept
	return f.viewOf(y), ran
}

func (s session) Scan(items device.Buffer, n int64, size int) device.Buffer {
	return buffer(s.f.scan(memOf(items), n, size))
}

func (s session) Sort(keys device.Buffer, n int64, size, bits int) (sorted, places device.Buffer) {
	a, b := s.f.sort(memOf(keys), n, size, bits)
	return buffer(a), buffer(b)
}
