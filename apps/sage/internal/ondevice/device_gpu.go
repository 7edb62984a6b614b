// Package ondevice is GraphSAGE on a device: rows, choices of neighbours, gathers and products, for
// embeddings and for training.
package ondevice

import (
	_ "embed"
	"unsafe"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/apps/sage/internal/neural"
	"github.com/hiveblas/hiveblas/apps/sage/internal/sampled"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/philox"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

//go:embed kernels/sage.cu
var sageText string

// Constants of kernels/sage.cu.
const (
	sagePiece  = 128 // neighbours
	sagePieces = 256 // of a row, at most
)

// sageKey is the key of a program.
type sageProgramKey struct {
	precision device.Precision
	lanes     int
}

func sageProgram(k sageProgramKey) device.Program {
	item := map[device.Precision]int{device.Float16: 1, device.BFloat16: 2}[k.precision]
	return workflow.GraphProgram("sage", "GraphSAGE", workflow.PhiloxText+sageText, map[string]any{
		"HB_SAGE_ITEM": item, "HB_SAGE_LANES": k.lanes, "HB_SAGE_PIECE": sagePiece, "HB_SAGE_PIECES": sagePieces,
		"HB_PHILOX_ROUNDS": philox.Rounds,
	})
}

// Programs are the programs of GraphSAGE for the widths of the report.
func Programs(device.Type) (list []device.Program) {
	for _, p := range []device.Precision{device.Float32, device.Float16} {
		for _, lanes := range []int{2, 4, 8, 16, 32} {
			list = append(list, sageProgram(sageProgramKey{p, lanes}))
		}
	}
	return list
}

// Cuts are the pieces of the long rows of a graph, kept with it.
type Cuts struct {
	First, owner device.Buffer // zero without long rows
	Begin, Count int64         // of the pieces: count from begin on
}

// Drop frees the buffers.
func (c *Cuts) Drop() {
	c.First.Release()
	c.owner.Release()
	*c = Cuts{}
}

// A Panel is rows on a device: items of a precision, or entries.
type Panel struct {
	At         device.Buffer
	Rows, Cols int
	Step       int // items from a row to the next
	Kind       device.Precision
	Sparse     device.View // with Ptr, in place of at
	Fed        *sageFed    // in place of both
}

// A Device is GraphSAGE on a device within a session.
type Device struct {
	S    *device.Session
	Kind device.Precision // of hidden rows, features and weights
	Per  int              // items of 16 bytes

	Graph   device.Operand
	Rows    device.View
	N       int
	Zeros   device.Buffer
	Choices Choices
	From    int // of the rows of the last layer: those before to; 0 and 0 for all
	To      int
	held    [][]float32      // host memory of uploads
	inputs  []device.Operand // panels share its memory: it is freed with the last reference
}

// Choices are the neighbours of a layer.
type Choices struct {
	Ptr, List, Val device.Buffer
	Samples        int
	Cuts           *Cuts // of rows of ptr; nil without
	Self           int32 // a constant of the kernels, for the mean
}

// Constants of kernels/sage.cu.
const (
	Sum int32 = iota
	Mean
	Max
)

const (
	Lonely int32 = iota
	Self
	Others
)

// NewDevice returns GraphSAGE over a graph of n vertices, with rows in a precision.
func NewDevice(s *device.Session, kind device.Precision, g device.Operand, n int) *Device {
	return &Device{S: s, Kind: kind, Per: ItemsOf(kind), Graph: g, Rows: s.Rows(g), N: n, Zeros: s.Zeros(8)}
}

// ItemsOf returns the items of 16 bytes.
func ItemsOf(p device.Precision) int {
	if p == device.Float16 || p == device.BFloat16 {
		return 8
	}
	return 4
}

// ItemSize returns the bytes of an item.
func (d *Device) ItemSize() int64 {
	if d.Kind == device.Float16 || d.Kind == device.BFloat16 {
		return 2
	}
	return 4
}

// Padded returns a number of columns that fills 16 bytes.
func (d *Device) Padded(cols int) int { return (cols + d.Per - 1) / d.Per * d.Per }

// Lanes returns the threads that share a row of so many columns, at most 32.
func (d *Device) Lanes(columns int) int {
	lanes := 1
	for lanes < 32 && lanes*d.Per < columns {
		lanes *= 2
	}
	return lanes
}

// Kernel returns a kernel for rows of so many columns.
func (d *Device) Kernel(name string, columns int) device.Kernel {
	kind := d.Kind
	if kind == device.TF32 {
		kind = device.Float32
	}
	key := sageProgramKey{kind, max(d.Lanes(columns), 2)}
	code := d.S.Program(key, func() device.Program { return sageProgram(key) })
	return d.S.Kernel(code, "hb_sage_"+name)
}

// KernelOfAnyWidth returns a kernel that does not depend on the columns.
func (d *Device) KernelOfAnyWidth(name string) device.Kernel { return d.Kernel(name, 16*d.Per/4) }

// Launch queues a kernel with a group of threads a row.
func (d *Device) Launch(k device.Kernel, rows int64, lanes, columns int, args ...any) {
	per := int64(workflow.GraphBlock / lanes)
	grid := uint32(min((rows+per-1)/per, 1<<30))
	across := (columns + lanes*d.Per - 1) / (lanes * d.Per)
	d.S.Launch(k, [3]uint32{grid, uint32(across), 1}, [3]uint32{workflow.GraphBlock, 1, 1}, 0, args...)
}

// Alloc returns rows of items.
func (d *Device) Alloc(rows, step int) Panel {
	return Panel{At: d.S.Alloc(max(int64(rows)*int64(step), 1) * d.ItemSize()), Rows: rows, Cols: step, Step: step, Kind: d.Kind}
}

// Free frees a panel of the session.
func (d *Device) Free(p Panel) {
	if p.At.Mem != nil {
		d.S.Free(p.At)
	}
}

// Upload copies numbers to the device as items. A row has step of them, 0 behind cols.
func (d *Device) Upload(a neural.Panel[float32], step int) Panel {
	x := neural.NewPanel[float32](a.Rows, step)
	for i := range a.Rows {
		copy(neural.Row(x, i), neural.Row(a, i))
	}
	p := Panel{Rows: a.Rows, Cols: a.Cols, Step: step, Kind: d.Kind}
	raw := d.Floats(x.Val)
	if d.ItemSize() == 4 {
		p.At = raw
		return p
	}
	p.At = d.Alloc(a.Rows, step).At
	d.S.Each(d.KernelOfAnyWidth("convert"), int64(len(x.Val)), int64(a.Rows), int32(step), raw, device.Buffer{}, p.At, int32(step))
	return p
}

// Floats uploads numbers, which must not change in the session.
func (d *Device) Floats(list []float32) device.Buffer {
	if len(list) == 0 {
		return d.S.Alloc(4)
	}
	d.held = append(d.held, list)
	return d.S.Upload(unsafe.Pointer(&list[0]), 4*int64(len(list)))
}

// convertedFeatures are features in another form, kept with them.
type convertedFeatures struct{ at device.Buffer }

// Drop frees the buffer.
func (c *convertedFeatures) Drop() { c.at.Release() }

// Features returns features as rows that kernels and products read.
func (d *Device) Features(x device.Operand, n, cols int, dense bool) Panel {
	d.inputs = append(d.inputs, x)
	if !dense {
		v := d.S.Rows(x)
		return Panel{Rows: n, Cols: cols, Sparse: v}
	}
	step := d.Padded(cols)
	p := Panel{Rows: n, Cols: cols, Step: step, Kind: d.Kind}
	key := map[device.Precision]string{device.Float16: "apps: features in float16", device.BFloat16: "apps: features in bfloat16"}[d.Kind]
	v := d.S.Dense(x)
	if key == "" && v.Format == sparse.Full && (step == cols) {
		p.At = device.Buffer{Addr: v.Val.Addr}
		return p
	}
	if key == "" {
		key = "apps: features with whole rows"
	}
	kept := d.S.Kept(x, key, func() device.Dropper {
		to := d.Alloc(n, step)
		d.S.Each(d.KernelOfAnyWidth("convert"), int64(n)*int64(step), int64(n), int32(cols), v.Val, v.Present, to.At, int32(step))
		return &convertedFeatures{d.S.Retain(to.At)}
	})
	if c, ok := kept.(*convertedFeatures); ok {
		p.At = device.Buffer{Addr: c.at.Addr}
	}
	return p
}

// CutsOf returns the pieces of the long rows of a graph.
func (d *Device) CutsOf(o device.Operand, rows device.View, key string) *Cuts {
	kept := d.S.Kept(o, key, func() device.Dropper { return d.newCuts(rows) })
	c, _ := kept.(*Cuts)
	return c
}

func (d *Device) newCuts(rows device.View) *Cuts {
	s, n := d.S, int64(rows.Rows)
	if n == 0 {
		return &Cuts{}
	}
	cuts := s.Alloc(4 * n)
	s.Each(d.KernelOfAnyWidth("cuts"), n, int32(n), rows.Ptr, cuts)
	first := s.Scan(cuts, n, 4)
	count := s.Read(first, n)
	if count == 0 || s.Err() != nil {
		return &Cuts{}
	}
	owner := s.Alloc(4 * count)
	s.Each(d.KernelOfAnyWidth("owners"), n, int32(n), first, owner)
	return &Cuts{First: s.Retain(first), owner: s.Retain(owner), Count: count}
}

// Pieces sums up the pieces of the long rows of c, and returns them; a zero buffer without.
func (d *Device) Pieces(c *Choices, x device.Buffer, step, columns int, how int32) device.Buffer {
	if c.Cuts == nil || c.Cuts.Count == 0 {
		return device.Buffer{}
	}
	partial := d.S.Alloc(4 * c.Cuts.Count * int64(d.Padded(columns)))
	d.PiecesTo(partial, c, x, step, columns, how)
	return partial
}

// PiecesTo is pieces into memory of the caller.
func (d *Device) PiecesTo(partial device.Buffer, c *Choices, x device.Buffer, step, columns int, how int32) {
	lanes := max(d.Lanes(columns), 2)
	blocks := (c.Cuts.Count + workflow.GraphBlock/32 - 1) / (workflow.GraphBlock / 32)
	across := (columns + lanes*d.Per - 1) / (lanes * d.Per)
	d.S.Launch(d.Kernel("pieces", columns), [3]uint32{uint32(min(blocks, 1<<30)), uint32(across), 1}, [3]uint32{workflow.GraphBlock, 1, 1}, 0,
		c.Cuts.Begin, c.Cuts.Count, c.Cuts.First, c.Cuts.owner, c.Ptr, c.List, c.Val, x, int64(step), int32(columns), how, partial)
}

// Gather sums up neighbours' rows of x for rows from begin on; the result is items, or floats.
func (d *Device) Gather(c *Choices, begin, rows int64, x device.Buffer, step, columns int, how, self int32,
	partial, items, floats device.Buffer, toStep int) {
	lanes := max(d.Lanes(columns), 2)
	var first device.Buffer
	if partial.Addr != 0 {
		first = c.Cuts.First
	}
	d.Launch(d.Kernel("gather", columns), rows, lanes, columns, begin, rows, c.Ptr, c.List, int32(c.Samples), c.Val, x, int64(step),
		int32(columns), how, self, first, partial, items, floats, int64(toStep))
}

// Product queues c = a·w.
func (d *Device) Product(a Panel, w Panel, cols int, to device.Buffer, toStep int, output device.Precision) {
	d.S.Gemm(device.Gemm{M: a.Rows, N: cols, K: w.Rows, A: a.At, B: w.At, C: to, StepA: a.Step, StepB: w.Step, StepC: toStep,
		Input: d.Kind, Output: output})
}

// Plain is the precision of a result in float32.
func (d *Device) Plain() device.Precision {
	if d.Kind == device.TF32 {
		return device.TF32
	}
	return device.Float32
}

// Times returns x·w of rows for each w, as items with the columns of w's step.
func (d *Device) Times(x Panel, ws ...Panel) []Panel {
	to := make([]Panel, len(ws))
	for i, w := range ws {
		to[i] = d.Alloc(x.Rows, w.Step)
		to[i].Cols = w.Cols
		if x.Fed == nil {
			d.timesTo(to[i].At, x, w)
		}
	}
	if x.Fed != nil {
		x.Fed.each(d, x, func(part Panel, first int) {
			for i, w := range ws {
				d.timesTo(to[i].At.At(int64(first)*int64(w.Step)*d.ItemSize()), part, w)
			}
		})
	}
	return to
}

// timesTo queues x·w to memory of the caller.
func (d *Device) timesTo(to device.Buffer, x, w Panel) {
	if x.Sparse.Ptr.Addr == 0 {
		d.Product(x, w, w.Step, to, w.Step, d.Kind)
		return
	}
	list := Choices{Ptr: x.Sparse.Ptr, List: x.Sparse.Idx, Val: x.Sparse.Val}
	d.Gather(&list, 0, int64(x.Rows), w.At, w.Step, w.Step, Sum, Others, device.Buffer{}, to, device.Buffer{}, w.Step)
}

// Choose sets the neighbours of a layer. g is for choices that the host makes, and nil for others.
func (d *Device) Choose(g *sampled.Graph, seed uint64, replace bool, layer, samples int, gcn bool) error {
	s := d.S
	self := Lonely
	if gcn {
		self = Self
	}
	switch {
	case g != nil:
		b, _, err := sampled.BlockOf[float32](g, nil, 0, layer, samples)
		if err != nil {
			return err
		}
		c := Choices{Ptr: s.Upload(unsafe.Pointer(&b.Ptr[0]), 8*int64(len(b.Ptr))), List: s.Ints(b.Idx), Val: d.Floats(b.Weights()), Self: Others}
		s.Sync()
		d.Choices = c
	case samples < 0:
		d.Choices = Choices{Ptr: d.Rows.Ptr, List: d.Rows.Idx, Cuts: d.CutsOf(d.Graph, d.Rows, "apps: pieces of long rows"), Self: self}
	default:
		if d.Choices.Samples > 0 {
			s.Free(d.Choices.List)
		}
		list := s.Alloc(4 * max(int64(d.N)*int64(samples), 1))
		args := []any{int32(d.N), d.Rows.Ptr, d.Rows.Idx, int64(seed), device.Buffer{}, int32(layer), int32(samples), list}
		if replace {
			s.Each(d.KernelOfAnyWidth("choose_again"), int64(d.N)*int64((samples+1)/2), args...)
		} else {
			s.Each(d.KernelOfAnyWidth("choose"), int64(d.N), args...)
		}
		d.Choices = Choices{List: list, Samples: samples, Self: self}
	}
	return nil
}
