package generate

import (
	"cmp"
	_ "embed"
	"fmt"
	"unsafe"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/matrix"
)

//go:embed kernels/draw.cu
var drawText string

// drawing is how kernels draw the edges of a graph: a function of kernels/draw.cu and its
// constants.
type drawing struct {
	function  string
	constants []uint64
	scrambled *feistel // renames the vertices
}

// list returns the constants as the kernels read them.
func (w *drawing) list() []uint64 {
	k := append([]uint64(nil), w.constants...)
	if f := w.scrambled; f != nil {
		k = append(append(k, uint64(f.n), uint64(f.half)), f.keys[:]...)
	}
	return k
}

// drawKey tells the programs of kernels/draw.cu apart.
type drawKey struct {
	function                      string
	scrambled, undirected, simple bool
	values                        string
}

// program returns the kernels for values of type t.
func (w *drawing) program(o matrixOptions, t device.Type) (key drawKey, compose func() device.Program) {
	key = drawKey{w.function, w.scrambled != nil, o.undirected, o.simple, t.Name}
	return key, func() device.Program {
		flag := func(is bool) int {
			if is {
				return 1
			}
			return 0
		}
		return device.Program{File: "draw", Of: "random graphs", Body: drawText,
			Types: []device.Typedef{{Name: "HB_V", Type: t}},
			Defines: map[string]any{"HB_DRAW": w.function, "HB_CONSTANTS": len(w.constants), "HB_SCRAMBLED": flag(key.scrambled),
				"HB_UNDIRECTED": flag(o.undirected), "HB_SIMPLE": flag(o.simple)}}
	}
}

func init() { device.Describe("generate", kernels) }

// kernels returns the programs that draw graphs on a device with values of type t.
func kernels(t device.Type) (list []device.Program) {
	for _, function := range []string{"hb_draw_rmat", "hb_draw_uniform", "hb_draw_grid", "hb_draw_ring"} {
		w := &drawing{function: function}
		_, compose := w.program(matrixOptions{undirected: true, simple: true}, t)
		list = append(list, compose())
	}
	return list
}

// pieceKeys is the number of edges, repeated ones too, of the rows that a pass over all edges
// makes: 3.5 GB of keys and scratch. A row alone may have more.
const pieceKeys = 1 << 27

// exactBytes is the size of the columns up to which they move to memory without room for repeated
// edges.
const exactBytes = 8 << 30

// drawnOn makes the matrix of a graph on a device or a group of devices. Its memory there is 4
// bytes and the size of T an edge, 24 a row and the scratch of a piece.
func drawnOn[T matrix.Element](g *Graph, o matrixOptions, t device.Type) (*matrix.Matrix[T], error) {
	m, n := g.Dims()
	a := matrix.New[T](m, n, matrix.On(o.place))
	var group *comm.Group
	places := []comm.Place{o.place}
	if on, ok := o.place.(*comm.Group); ok {
		group, places = on, nil
		for k := range on.Ranks() {
			places = append(places, on.PlaceOf(k))
		}
	}
	homes, cuts := make([]device.Store, len(places)), make([]int, 2)
	each := func(f func(k int, c comm.Comm) error) error { return f(0, nil) }
	if group != nil {
		each = func(f func(k int, c comm.Comm) error) error { return group.Apart(f, nil) }
	}
	err := each(func(k int, c comm.Comm) error {
		return device.Of(places[k]).Run(device.Call{Context: o.ctx, Op: "generate.Matrix"}, func(s *device.Session) {
			d := newDrawer(s, g, o, t)
			lo, hi := 0, m
			if group != nil {
				own := d.cuts(group)
				lo, hi = own[c.Rank()], own[c.Rank()+1]
				if k == 0 {
					cuts = own
				}
			}
			homes[k] = d.rows(lo, hi)
		})
	})
	if err != nil {
		return nil, err
	}
	if group == nil {
		access.SetRemote(a, homes[0])
	} else {
		access.SetBlocks(a, group, cuts, homes)
	}
	if o.undirected {
		access.MarkSymmetric(a)
	}
	return a, nil
}

// drawer makes rows of a graph in a session.
type drawer struct {
	s         *device.Session
	g         *Graph
	t         device.Type
	code      device.Code
	constants device.Buffer
	bits      int32         // of a column
	before    device.Buffer // edges before each row, repeated ones too
	most      int64         // edges of a pass; see pieceKeys
}

func newDrawer(s *device.Session, g *Graph, o matrixOptions, t device.Type) *drawer {
	key, compose := g.device.program(o, t)
	d := &drawer{s: s, g: g, t: t, code: s.Program(key, compose), most: cmp.Or(o.pieceKeys, pieceKeys)}
	list := g.device.list()
	d.constants = s.Upload(unsafe.Pointer(unsafe.SliceData(list)), 8*int64(len(list)))
	for 1<<d.bits < int64(g.cols) {
		d.bits++
	}
	count := s.Zeros(8 * int64(max(g.rows, 1)))
	s.Each(s.Kernel(d.code, "hb_draw_count"), g.edges, g.edges, d.constants, count)
	d.before = s.Scan(count, int64(g.rows), 8)
	s.Sync() // the constants are uploaded
	s.Free(count)
	return d
}

// rowAt returns the first row from lo on before which there are w edges, counted with perRow for
// each row.
func (d *drawer) rowAt(lo int, w, perRow int64) int {
	hi := d.g.rows
	for lo < hi {
		mid := int(uint(lo+hi) / 2)
		if d.s.Read(d.before, int64(mid))+perRow*int64(mid) < w {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// cuts divides the rows among the ranks of a group by their edges.
func (d *drawer) cuts(group *comm.Group) []int {
	m := d.g.rows
	work := d.s.Read(d.before, int64(m)) + parallel.RowWork*int64(m)
	return group.CutBy(m, work, func(w int64) int { return d.rowAt(0, w, parallel.RowWork) })
}

// rows makes rows lo to hi−1.
func (d *drawer) rows(lo, hi int) device.Store {
	s := d.s
	begin, end := s.Read(d.before, int64(lo)), s.Read(d.before, int64(hi))
	ptr, idx := s.Alloc(8*int64(hi-lo+1)), s.Alloc(4*max(end-begin, 1))
	used, entries := s.Alloc(8), int64(0)
	for from := lo; from < hi && s.Err() == nil || from == lo; {
		first := s.Read(d.before, int64(from))
		to := hi
		if end-first > d.most { // the last row before which at most so many are
			to = max(d.rowAt(from, first+d.most+1, 0)-1, from+1)
		}
		n := s.Read(d.before, int64(to)) - first
		at := ptr.At(8 * int64(from-lo))
		entries += d.piece(from, to, n, entries, used, at, idx)
		if from = to; from >= hi {
			break
		}
	}
	s.Free(d.before)
	if unused := end - begin - entries; unused > 0 && 4*entries <= exactBytes {
		exact := s.Alloc(4 * max(entries, 1))
		s.Copy(exact, idx, 4*entries)
		s.Free(idx)
		idx = exact
	}
	out := s.NewCSR(hi-lo, d.g.cols, d.t, ptr, idx, entries)
	s.Each(s.Kernel(d.code, "hb_draw_ones"), entries, entries, out.Val)
	if s.Err() != nil {
		return nil
	}
	return s.Result(out, entries)
}

// piece makes rows lo to hi−1, which have n edges with the repeated ones, from place base of idx
// on, and returns the number of entries. It writes hi−lo+1 offsets.
func (d *drawer) piece(lo, hi int, n, base int64, used, ptr, idx device.Buffer) int64 {
	s := d.s
	s.Check()
	keys := s.Alloc(8 * max(n, 1))
	s.Fill(used, 0, 8)
	s.Each(s.Kernel(d.code, "hb_draw_keys"), d.g.edges, d.g.edges, d.constants, int32(lo), int32(hi), d.bits, keys, used)
	if got := s.Read(used, 0); got != n && s.Err() == nil {
		s.Fail(fmt.Errorf("generate.Matrix: rows %d to %d have %d edges, and %d were drawn; this is a bug of hiveblas", lo, hi, n, got))
		return 0
	}
	rowBits := int32(0)
	for 1<<rowBits < int64(hi-lo) {
		rowBits++
	}
	sorted, places := s.Sort(keys, n, 8, int(d.bits+rowBits))
	s.Free(places)
	head := s.Alloc(max(n, 1))
	s.Each(s.Kernel(d.code, "hb_draw_heads"), n, n, sorted, head)
	at := s.Scan(head, n, 1)
	s.Each(s.Kernel(d.code, "hb_draw_rows"), n+1, n, sorted, head, at, base, int32(hi-lo), d.bits, ptr, idx)
	entries := s.Read(at, n)
	for _, b := range []device.Buffer{head, at, sorted} {
		s.Free(b)
	}
	if sorted.Addr != keys.Addr {
		s.Free(keys)
	}
	return entries
}
