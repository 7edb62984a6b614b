package cusparse

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// This file runs whole traversals: many steps, each of which finds on the
// device what the one before has decided, so that the host waits once for a
// row of them. The kernels are in kernels/bfs.cu, sssp.cu and cc.cu.

var _ device.Graph = (*Device)(nil)

var int32Type, _ = device.TypeOf[int32]()

// traversal is what is kept with a matrix for searches over it.
type traversal struct {
	out, in     *store // CSR: rows are out-edges, in-edges; in is nil without a transpose
	owned       []*store
	searches    int
	words       int64 // of a bitmap of vertices
	idle, first *mem  // see kernels/bfs.cu
}

func (t *traversal) drop() {
	t.idle.release()
	t.first.release()
	for _, s := range t.owned {
		s.drop()
	}
	*t = traversal{}
}

// pushes is the number of searches over a directed matrix after which its
// transpose has been worth making, so that searches can pull: sorting the
// entries takes as long as about so many searches save (R-MAT 22 on an H200:
// 1.7 ms pushing, 0.17 ms with pulls).
const pushes = 8

// traversal returns what is kept for searches over an operand.
func (f *frame) traversal(o device.Operand) *traversal {
	s := f.here(o)
	if s == nil {
		return nil
	}
	o.Pattern = false
	key := "traversal"
	if o.Transposed && !o.Symmetric {
		key = "traversal of the transpose"
	}
	t, _ := s.extra[key].(*traversal)
	if t == nil {
		t = &traversal{}
		t.out = t.offsets(f, f.rows(o))
		if f.err != nil {
			return nil
		}
		if s.extra == nil {
			s.extra = map[string]dropper{}
		}
		s.extra[key] = t
	}
	if t.in == nil {
		switch {
		case o.Symmetric:
			t.in = t.out
		case hasCols(o) || t.searches >= pushes:
			t.in = t.offsets(f, f.cols(o))
		}
		if t.in != nil {
			t.idle.release() // it can be told better now
			t.idle = nil
		}
	}
	t.searches++
	if f.err != nil {
		return nil
	}
	return t
}

// offsets returns a listed store with offsets of every row, keeping it.
func (t *traversal) offsets(f *frame, s *store) *store {
	out := f.csr(s)
	if f.err != nil {
		return nil
	}
	if out != s {
		t.owned = append(t.owned, f.result(out))
	}
	return out
}

// prepare makes what breadth-first search keeps.
func (t *traversal) prepare(f *frame, p *program) {
	n := int64(t.out.m)
	if t.idle == nil {
		t.words = 8 * ((n + 255) / 256)
		idle := f.alloc(4 * t.words)
		inptr, _ := t.inEdges()
		f.blocks(f.kernel(p, "hb_bfs_idle"), (32*t.words+255)/256, 256, int32(n), t.out.ptr, inptr, idle, int32(t.words))
		if f.err == nil {
			t.idle = idle.share()
		}
	}
	if t.in != nil && t.first == nil {
		first := f.alloc(16 * n)
		f.blocks(f.kernel(p, "hb_bfs_first"), (n+31)/32, 256, int32(n), t.out.ptr, t.in.ptr, t.in.idx, first)
		if f.err == nil {
			t.first = first.share()
		}
	}
}

func (t *traversal) inEdges() (ptr, idx *mem) {
	if t.in == nil {
		return nil, nil
	}
	return t.in.ptr, t.in.idx
}

// resident returns how many blocks of k fit the device at a time, at most 8 a
// multiprocessor.
func (f *frame) resident(k *kernel) uint32 {
	if f.err != nil {
		return 1
	}
	if k.blocks == 0 {
		each, err := f.d.ctx.Occupancy(k.fn, threads, 0)
		f.fail(err)
		k.blocks = uint32(min(max(each, 1), 8) * max(f.d.props.Multiprocessors, 1))
	}
	return k.blocks
}

// told is where in the pinned buffer kernels of a traversal leave their
// result; frame.read and frame.tell use what is before it.
const told = 2048

// results returns four numbers that a kernel can write to, all 0.
func (f *frame) results() ([]int64, driver.Ptr) {
	p := unsafe.Add(f.d.pinned, told)
	r := unsafe.Slice((*int64)(p), 4)
	clear(r)
	return r, driver.Ptr(uintptr(p))
}

// drain waits for what a failed traversal has queued: it would write to the
// pinned buffer.
func (f *frame) drain() {
	if f.err != nil {
		_ = f.d.ctx.Sync(f.d.stream)
	}
}

// A search queues some steps one by one, twice as many when it still goes on,
// and so on; from graphSteps on they are made a graph. Most searches end in
// the first round.
const (
	bfsSteps   = 8
	ssspSteps  = 24
	graphSteps = 64
)

// repeat queues step until it has told the host, in *done, that all is done.
// The first round has n steps.
func (f *frame) repeat(done *int64, n int, step func()) {
	var graph driver.Graph
	for ; f.err == nil && *done == 0; n = min(2*n, graphSteps) {
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
	f.drain()
	if graph != 0 {
		f.fail(f.d.ctx.CloseGraph(graph))
	}
}

// capture returns a graph of steps. A driver that has no graphs gets the steps
// one by one.
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

// vertices returns a vector store of n values, without presence bytes.
func (f *frame) vertices(n int, format sparse.Format, t device.Type) *store {
	s := f.newStore(1, n, format, t, int64(n))
	s.val = f.alloc(max(int64(n), 1) * int64(t.Size)).share()
	return s
}

// BFS searches breadth-first from the sources.
func (d *Device) BFS(c device.Call, a device.Operand, sources []int32, parents bool) (out device.Levels, err error) {
	f := d.begin(c)
	defer f.end()
	t := f.traversal(a)
	if f.err != nil {
		return out, f.err
	}
	p := f.fixed("bfs", "breadth-first search")
	t.prepare(f, p)
	n, words := t.out.m, int32(t.words)
	inptr, inidx := t.inEdges()
	level := f.vertices(n, sparse.Bitmap, int32Type)
	level.present = f.alloc(int64(n)).share()
	visited, state := f.alloc(8*t.words), f.alloc(16*8)
	queue := f.alloc(8 * (int64(n) + t.out.known()/256 + 1)) // HB_BFS_CHUNK
	step := f.kernel(p, "hb_bfs_step")
	grid, block := [3]uint32{f.resident(step), 1, 1}, [3]uint32{threads, 1, 1}
	result, resultPtr := f.results()
	f.launch(f.kernel(p, "hb_bfs_start"), grid, block, 0, int32(n), t.out.ptr, t.idle, words, sources[0], visited, level.val, level.present, queue, state)
	if len(sources) > 1 {
		f.blocks(f.kernel(p, "hb_bfs_sources"), 1, threads, t.out.ptr, f.ints(sources), int32(len(sources)), visited, level.val, level.present, queue, state)
	}
	f.repeat(&result[0], bfsSteps, func() {
		f.launch(step, grid, block, 0, words, t.out.ptr, t.out.idx, inptr, inidx, t.first, visited, level.val, level.present, queue, state, resultPtr)
	})
	runtime.KeepAlive(sources)
	if f.err != nil {
		return out, f.err
	}
	level.count.Store(result[1])
	out = device.Levels{Level: level, Reached: result[1], MaxLevel: int32(result[2]), Ran: device.Ran{Method: "push", Work: t.out.known()}}
	if result[3] > 0 {
		out.Ran.Method = "push+pull"
	}
	if parents {
		parent := f.vertices(n, sparse.Bitmap, int32Type)
		parent.count.Store(result[1])
		parent.present = level.present.share()
		f.launch(f.kernel(p, "hb_bfs_parents_pull"), grid, block, 0, int32(n), inptr, inidx, level.val, state, parent.val)
		f.launch(f.kernel(p, "hb_bfs_parents_push"), grid, block, 0, t.out.ptr, t.out.idx, level.val, queue, state, parent.val)
		if f.err != nil {
			return device.Levels{}, f.err
		}
		out.Parent = f.result(parent)
	}
	f.result(level)
	return out, nil
}

// SSSP finds shortest paths from the nearest of the sources.
func (d *Device) SSSP(c device.Call, a device.Operand, sources []int32, delta device.Scalar) (device.Store, device.Ran, error) {
	f := d.begin(c)
	defer f.end()
	ran := device.Ran{Method: "near-far"}
	typ := delta.Type
	if !typ.Number() || typ.Size < 4 {
		f.fail(fmt.Errorf("shortest paths over %s: elements of 32 or 64 bits are wanted", typ.Go))
	}
	t := f.traversal(a)
	if f.err != nil {
		return nil, ran, f.err
	}
	ran.Work = t.out.known()
	_, most := typ.Limits()
	p := f.once([2]string{"sssp", typ.Name}, func() *program {
		return compose("sssp", "shortest paths over "+typ.Go).typ("HB_T", typ).define("HB_MAX", most)
	})
	n, size := t.out.m, int64(typ.Size)
	dist := f.vertices(n, sparse.Bitmap, typ)
	dist.present = f.alloc(int64(n)).share()
	room := int64(n) + t.out.known()/64 + 1 // HB_SSSP_CHUNK
	queue, far := f.alloc(16*room), f.alloc(8*int64(n))
	flags, bounds, state := f.alloc(12*((int64(n)+31)/32)), f.alloc(4*size), f.alloc(16*8)
	from := f.ints(sources)
	step := f.kernel(p, "hb_sssp_step")
	grid, block := [3]uint32{f.resident(step), 1, 1}, [3]uint32{threads, 1, 1}
	result, resultPtr := f.results()
	f.launch(f.kernel(p, "hb_sssp_start"), grid, block, 0, int32(n), delta, dist.val, flags, bounds, state)
	f.blocks(f.kernel(p, "hb_sssp_sources"), 1, threads, t.out.ptr, from, int32(len(sources)), dist.val, flags, queue, state)
	f.repeat(&result[0], ssspSteps, func() {
		f.launch(step, grid, block, 0, int32(n), t.out.ptr, t.out.idx, t.out.val, room, dist.val, dist.present, queue, far, flags, bounds, state, resultPtr)
	})
	runtime.KeepAlive(sources)
	if f.err != nil {
		return nil, ran, f.err
	}
	dist.count.Store(result[1])
	return f.result(dist), ran, nil
}

// Components finds connected components.
func (d *Device) Components(c device.Call, a device.Operand) (out device.Labels, err error) {
	f := d.begin(c)
	defer f.end()
	s := f.here(a)
	if f.err != nil {
		return out, f.err
	}
	a.Pattern, a.Transposed = false, false // directions do not matter
	turned := s.turned
	edges := f.csr(f.rows(a))
	if f.err != nil {
		return out, f.err
	}
	n := edges.m
	label := f.vertices(n, sparse.Full, int32Type)
	out = device.Labels{Ran: device.Ran{Method: "hook", Work: edges.known()}}
	if n > 0 {
		size, state := f.alloc(4*int64(n)), f.alloc(8*8)
		p := f.fixed("cc", "connected components")
		link := f.kernel(p, "hb_cc_link")
		grid, block := [3]uint32{f.resident(link), 1, 1}, [3]uint32{threads, 1, 1}
		result, resultPtr := f.results()
		compress := func() { f.launch(f.kernel(p, "hb_cc_compress"), grid, block, 0, int32(n), label.val) }
		hook := func(e *store, symmetric bool) {
			f.launch(link, grid, block, 0, int32(n), e.ptr, e.idx, label.val, state, flagOf(symmetric))
		}
		f.launch(f.kernel(p, "hb_cc_start"), grid, block, 0, int32(n), edges.ptr, edges.idx, label.val, size, state)
		compress()
		f.launch(f.kernel(p, "hb_cc_sample"), grid, block, 0, int32(n), edges.ptr, edges.idx, label.val)
		compress()
		f.blocks(f.kernel(p, "hb_cc_guess"), 1, 1024, int32(n), label.val, state)
		switch {
		case a.Symmetric:
			hook(edges, true)
		case turned != nil: // rows of the largest component can be passed over
			hook(edges, true)
			hook(f.csr(turned), true)
		default:
			hook(edges, false)
		}
		compress()
		f.launch(f.kernel(p, "hb_cc_count"), grid, block, 0, int32(n), label.val, size, state, resultPtr)
		f.sync()
		f.drain()
		out.Count, out.Largest = result[0], result[1]
	}
	if f.err != nil {
		return device.Labels{}, f.err
	}
	out.Label = f.result(label)
	return out, nil
}

// degreesType is a pointer to the offsets of rows, handed to a predicate.
var degreesType = device.Type{Name: "hb_degrees", Def: "struct hb_degrees { const hb_i64 *ptr; };\n", Size: 8, Go: "degrees"}

// TowardsHubs keeps the edges that lead to vertices of higher degree.
func (d *Device) TowardsHubs(c device.Call, a device.Operand) (device.Store, error) {
	f := d.begin(c)
	defer f.end()
	a.Pattern = true
	s := f.csr(f.rows(a))
	if f.err != nil {
		return nil, f.err
	}
	p := compose("select", "edges towards hubs").typ("HB_A", boolType).pattern("A", false, true).
		flag("HB_USES_POSITION", true).flag("HB_USES_I", true).typ("HB_Y", degreesType)
	p.function("hb_keep", "bool", "HB_A, HB_Y y, hb_i64 i, hb_i64 j",
		"hb_i64 di = y.ptr[i + 1] - y.ptr[i], dj = y.ptr[j + 1] - y.ptr[j];", "di < dj || (di == dj && i < j)")
	ptr := s.ptr.ptr()
	out := f.selected(s, p, device.Scalar{Type: degreesType, P: unsafe.Pointer(&ptr)}, false)
	if f.err != nil {
		return nil, f.err
	}
	return f.result(out), nil
}
