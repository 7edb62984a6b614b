package sage

import (
	_ "embed"
	"fmt"
	"unsafe"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/apps/sage/internal/neural"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/philox"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

//go:embed kernels/sage.cu
var sageText string

// Constants of kernels/sage.cu.
const (
	sagePiece  = 128 // neighbours
	sagePieces = 256 // of a row, at most
)

// sageChunk is the bytes of the rows that products write before norm reads them. Chunks that stay
// in the cache are slower: 32, 128, 512 MB take 3.98, 3.66, 3.52 ms (H200, "graphsage all fp32").
const sageChunk = 512 << 20

// sageTogether is the columns up to which both products of a layer are one: a tile of cuBLAS has as
// many, and the features are read once (3.41 → 3.17 ms, H200, "graphsage all fp32"; fp16 the same).
const sageTogether = 32

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

func init() { device.Describe("sage", sagePrograms) }

// sagePrograms are the programs of GraphSAGE for the widths of the report.
func sagePrograms(device.Type) (list []device.Program) {
	for _, p := range []device.Precision{device.Float32, device.Float16} {
		for _, lanes := range []int{2, 4, 8, 16, 32} {
			list = append(list, sageProgram(sageProgramKey{p, lanes}))
		}
	}
	return append(list, sageTrainProgram())
}

// sageCuts are the pieces of the long rows of a graph, kept with it.
type sageCuts struct {
	first, owner device.Buffer // zero without long rows
	begin, count int64         // of the pieces: count from begin on
}

// Drop frees the buffers.
func (c *sageCuts) Drop() {
	c.first.Release()
	c.owner.Release()
	*c = sageCuts{}
}

// sagePanel is rows on a device: items of a precision, or entries.
type sagePanel struct {
	at         device.Buffer
	rows, cols int
	step       int // items from a row to the next
	kind       device.Precision
	sparse     device.View // with Ptr, in place of at
	fed        *sageFed    // in place of both
}

// sageDevice is GraphSAGE on a device within a session.
type sageDevice struct {
	s    *device.Session
	kind device.Precision // of hidden rows, features and weights
	per  int              // items of 16 bytes

	graph   device.Operand
	rows    device.View
	n       int
	zeros   device.Buffer
	choices sageChoices
	from    int // of the rows of the last layer: those before to; 0 and 0 for all
	to      int
	held    [][]float32      // host memory of uploads
	inputs  []device.Operand // panels share its memory: it is freed with the last reference
}

// sageChoices are the neighbours of a layer.
type sageChoices struct {
	ptr, list, val device.Buffer
	samples        int
	cuts           *sageCuts // of rows of ptr; nil without
	self           int32     // a constant of the kernels, for the mean
}

// Constants of kernels/sage.cu.
const (
	sageSum int32 = iota
	sageMean
	sageMax
)

const (
	sageLonely int32 = iota
	sageSelf
	sageOthers
)

func newSageDevice(s *device.Session, kind device.Precision, g device.Operand, n int) *sageDevice {
	return &sageDevice{s: s, kind: kind, per: itemsOf(SAGEPrecision(kind)), graph: g, rows: s.Rows(g), n: n, zeros: s.Zeros(8)}
}

// itemsOf returns the items of 16 bytes.
func itemsOf(p SAGEPrecision) int {
	if p == SAGEFloat16 || p == SAGEBFloat16 {
		return 8
	}
	return 4
}

// itemSize returns the bytes of an item.
func (d *sageDevice) itemSize() int64 {
	if d.kind == device.Float16 || d.kind == device.BFloat16 {
		return 2
	}
	return 4
}

// padded returns a number of columns that fills 16 bytes.
func (d *sageDevice) padded(cols int) int { return (cols + d.per - 1) / d.per * d.per }

// lanes returns the threads that share a row of so many columns, at most 32.
func (d *sageDevice) lanes(columns int) int {
	lanes := 1
	for lanes < 32 && lanes*d.per < columns {
		lanes *= 2
	}
	return lanes
}

// kernel returns a kernel for rows of so many columns.
func (d *sageDevice) kernel(name string, columns int) device.Kernel {
	kind := d.kind
	if kind == device.TF32 {
		kind = device.Float32
	}
	key := sageProgramKey{kind, max(d.lanes(columns), 2)}
	code := d.s.Program(key, func() device.Program { return sageProgram(key) })
	return d.s.Kernel(code, "hb_sage_"+name)
}

// kernelOfAnyWidth returns a kernel that does not depend on the columns.
func (d *sageDevice) kernelOfAnyWidth(name string) device.Kernel { return d.kernel(name, 16*d.per/4) }

// launch queues a kernel with a group of threads a row.
func (d *sageDevice) launch(k device.Kernel, rows int64, lanes, columns int, args ...any) {
	per := int64(workflow.GraphBlock / lanes)
	grid := uint32(min((rows+per-1)/per, 1<<30))
	across := (columns + lanes*d.per - 1) / (lanes * d.per)
	d.s.Launch(k, [3]uint32{grid, uint32(across), 1}, [3]uint32{workflow.GraphBlock, 1, 1}, 0, args...)
}

// alloc returns rows of items.
func (d *sageDevice) alloc(rows, step int) sagePanel {
	return sagePanel{at: d.s.Alloc(max(int64(rows)*int64(step), 1) * d.itemSize()), rows: rows, cols: step, step: step, kind: d.kind}
}

// free frees a panel of the session.
func (d *sageDevice) free(p sagePanel) {
	if p.at.Mem != nil {
		d.s.Free(p.at)
	}
}

// upload copies numbers to the device as items. A row has step of them, 0 behind cols.
func (d *sageDevice) upload(a neural.Panel[float32], step int) sagePanel {
	x := neural.NewPanel[float32](a.Rows, step)
	for i := range a.Rows {
		copy(neural.Row(x, i), neural.Row(a, i))
	}
	p := sagePanel{rows: a.Rows, cols: a.Cols, step: step, kind: d.kind}
	raw := d.floats(x.Val)
	if d.itemSize() == 4 {
		p.at = raw
		return p
	}
	p.at = d.alloc(a.Rows, step).at
	d.s.Each(d.kernelOfAnyWidth("convert"), int64(len(x.Val)), int64(a.Rows), int32(step), raw, device.Buffer{}, p.at, int32(step))
	return p
}

// floats uploads numbers, which must not change in the session.
func (d *sageDevice) floats(list []float32) device.Buffer {
	if len(list) == 0 {
		return d.s.Alloc(4)
	}
	d.held = append(d.held, list)
	return d.s.Upload(unsafe.Pointer(&list[0]), 4*int64(len(list)))
}

// convertedFeatures are features in another form, kept with them.
type convertedFeatures struct{ at device.Buffer }

// Drop frees the buffer.
func (c *convertedFeatures) Drop() { c.at.Release() }

// features returns features as rows that kernels and products read.
func (d *sageDevice) features(x device.Operand, n, cols int, dense bool) sagePanel {
	d.inputs = append(d.inputs, x)
	if !dense {
		v := d.s.Rows(x)
		return sagePanel{rows: n, cols: cols, sparse: v}
	}
	step := d.padded(cols)
	p := sagePanel{rows: n, cols: cols, step: step, kind: d.kind}
	key := map[device.Precision]string{device.Float16: "apps: features in float16", device.BFloat16: "apps: features in bfloat16"}[d.kind]
	v := d.s.Dense(x)
	if key == "" && v.Format == sparse.Full && (step == cols) {
		p.at = device.Buffer{Addr: v.Val.Addr}
		return p
	}
	if key == "" {
		key = "apps: features with whole rows"
	}
	kept := d.s.Kept(x, key, func() device.Dropper {
		to := d.alloc(n, step)
		d.s.Each(d.kernelOfAnyWidth("convert"), int64(n)*int64(step), int64(n), int32(cols), v.Val, v.Present, to.at, int32(step))
		return &convertedFeatures{d.s.Retain(to.at)}
	})
	if c, ok := kept.(*convertedFeatures); ok {
		p.at = device.Buffer{Addr: c.at.Addr}
	}
	return p
}

// cutsOf returns the pieces of the long rows of a graph.
func (d *sageDevice) cutsOf(o device.Operand, rows device.View, key string) *sageCuts {
	kept := d.s.Kept(o, key, func() device.Dropper { return d.newCuts(rows) })
	c, _ := kept.(*sageCuts)
	return c
}

func (d *sageDevice) newCuts(rows device.View) *sageCuts {
	s, n := d.s, int64(rows.Rows)
	if n == 0 {
		return &sageCuts{}
	}
	cuts := s.Alloc(4 * n)
	s.Each(d.kernelOfAnyWidth("cuts"), n, int32(n), rows.Ptr, cuts)
	first := s.Scan(cuts, n, 4)
	count := s.Read(first, n)
	if count == 0 || s.Err() != nil {
		return &sageCuts{}
	}
	owner := s.Alloc(4 * count)
	s.Each(d.kernelOfAnyWidth("owners"), n, int32(n), first, owner)
	return &sageCuts{first: s.Retain(first), owner: s.Retain(owner), count: count}
}

// pieces sums up the pieces of the long rows of c, and returns them; a zero buffer without.
func (d *sageDevice) pieces(c *sageChoices, x device.Buffer, step, columns int, how int32) device.Buffer {
	if c.cuts == nil || c.cuts.count == 0 {
		return device.Buffer{}
	}
	partial := d.s.Alloc(4 * c.cuts.count * int64(d.padded(columns)))
	d.piecesTo(partial, c, x, step, columns, how)
	return partial
}

// piecesTo is pieces into memory of the caller.
func (d *sageDevice) piecesTo(partial device.Buffer, c *sageChoices, x device.Buffer, step, columns int, how int32) {
	lanes := max(d.lanes(columns), 2)
	blocks := (c.cuts.count + workflow.GraphBlock/32 - 1) / (workflow.GraphBlock / 32)
	across := (columns + lanes*d.per - 1) / (lanes * d.per)
	d.s.Launch(d.kernel("pieces", columns), [3]uint32{uint32(min(blocks, 1<<30)), uint32(across), 1}, [3]uint32{workflow.GraphBlock, 1, 1}, 0,
		c.cuts.begin, c.cuts.count, c.cuts.first, c.cuts.owner, c.ptr, c.list, c.val, x, int64(step), int32(columns), how, partial)
}

// gather sums up neighbours' rows of x for rows from begin on; the result is items, or floats.
func (d *sageDevice) gather(c *sageChoices, begin, rows int64, x device.Buffer, step, columns int, how, self int32,
	partial, items, floats device.Buffer, toStep int) {
	lanes := max(d.lanes(columns), 2)
	var first device.Buffer
	if partial.Addr != 0 {
		first = c.cuts.first
	}
	d.launch(d.kernel("gather", columns), rows, lanes, columns, begin, rows, c.ptr, c.list, int32(c.samples), c.val, x, int64(step),
		int32(columns), how, self, first, partial, items, floats, int64(toStep))
}

// product queues c = a·w.
func (d *sageDevice) product(a sagePanel, w sagePanel, cols int, to device.Buffer, toStep int, output device.Precision) {
	d.s.Gemm(device.Gemm{M: a.rows, N: cols, K: w.rows, A: a.at, B: w.at, C: to, StepA: a.step, StepB: w.step, StepC: toStep,
		Input: d.kind, Output: output})
}

// plain is the precision of a result in float32.
func (d *sageDevice) plain() device.Precision {
	if d.kind == device.TF32 {
		return device.TF32
	}
	return device.Float32
}

// times returns x·w of rows for each w, as items with the columns of w's step.
func (d *sageDevice) times(x sagePanel, ws ...sagePanel) []sagePanel {
	to := make([]sagePanel, len(ws))
	for i, w := range ws {
		to[i] = d.alloc(x.rows, w.step)
		to[i].cols = w.cols
		if x.fed == nil {
			d.timesTo(to[i].at, x, w)
		}
	}
	if x.fed != nil {
		x.fed.each(d, x, func(part sagePanel, first int) {
			for i, w := range ws {
				d.timesTo(to[i].at.At(int64(first)*int64(w.step)*d.itemSize()), part, w)
			}
		})
	}
	return to
}

// timesTo queues x·w to memory of the caller.
func (d *sageDevice) timesTo(to device.Buffer, x, w sagePanel) {
	if x.sparse.Ptr.Addr == 0 {
		d.product(x, w, w.step, to, w.step, d.kind)
		return
	}
	list := sageChoices{ptr: x.sparse.Ptr, list: x.sparse.Idx, val: x.sparse.Val}
	d.gather(&list, 0, int64(x.rows), w.at, w.step, w.step, sageSum, sageOthers, device.Buffer{}, to, device.Buffer{}, w.step)
}

// fusedSAGE is GraphSAGE on a device: layers for all vertices. host chooses neighbours where the
// kernels do not; nil else.
func fusedSAGE(at device.Runner, a rep.View, features matrix.View[float32], net *neural.Net[float32], n int, host *sageGraph, o SAGEOptions) (*SAGEResult, error) {
	g, err := a.Operand(at)
	if err != nil {
		return nil, err
	}
	_, cols := features.Dims()
	entries := features.NVals()
	dense := entries*4 > int64(n)*int64(cols)
	fed, err := feedSAGE(at, features, net, n, dense, o)
	if err != nil {
		return nil, err
	}
	var x device.Operand
	if fed == nil {
		if x, err = access.Operand(features, at); err != nil {
			return nil, err
		}
	}
	width := net.Layers[len(net.Layers)-1].Width()
	rows := o.embeds(n)
	res := &SAGEResult{}
	var found, scores device.Store
	ran := device.Ran{Method: "layers"}
	if host != nil {
		ran.Method = "layers, chosen on the host"
	}
	if o.PerSource {
		ran.Method = "own trees"
		if fed != nil && !net.AtOnce(0, itemsOf(o.Precision)) {
			return nil, &workflow.ParameterError{App: "GraphSAGE", Arg: "the features with PerSource", Got: "larger than the memory for them, for layers that gather them",
				Want: "more FeatureMemory, samples without PerSource, or the pipeline"}
		}
	}
	if fed != nil {
		res.Pieces = fed.count()
		ran.Method += fmt.Sprintf(", features from the host in %d pieces", res.Pieces)
	}
	err = at.Run(workflow.Call(o.Run, "GraphSAGE"), func(s *device.Session) {
		g.Pattern = true
		d := newSageDevice(s, device.Precision(o.Precision), g, n)
		p := sagePanel{rows: n, cols: cols, fed: fed}
		if fed == nil {
			p = d.features(x, n, cols, dense)
		}
		in := sageInputs{parts: []int{cols}, d: d}
		if !dense { // products of entries have no padding
			in = sageInputs{parts: []int{cols}, d: &sageDevice{per: 1}}
		}
		var out device.View
		if o.PerSource {
			out = d.ownTrees(net, p, in, o, width)
		} else {
			out = d.allLayers(net, p, in, host, o, width)
		}
		if net.Out != nil {
			classes := net.Out.Value.Cols
			y := s.NewFull(rows, classes, workflow.FloatType)
			w := d.floats(net.Out.Value.Val)
			s.Gemm(device.Gemm{M: rows, N: classes, K: width, A: out.Val, B: w, C: y.Val, StepA: width, StepB: classes, StepC: classes})
			s.Each(d.kernelOfAnyWidth("add"), int64(rows)*int64(classes), int64(rows), int32(classes), y.Val, d.floats(net.Bias.Value.Val))
			scores = s.Result(y, int64(rows)*int64(classes))
		}
		if n > 0 {
			res.ZeroRows = int(s.Read(d.zeros, 0))
		}
		found = s.Result(out, int64(rows)*int64(width))
	})
	if err != nil {
		return nil, err
	}
	res.Embeddings = matrix.New[float32](rows, width, matrix.On(at.Place()))
	access.SetRemote(res.Embeddings, found)
	if net.Out != nil {
		res.Logits = matrix.New[float32](rows, net.Out.Value.Cols, matrix.On(at.Place()))
		access.SetRemote(res.Logits, scores)
	}
	workflow.TraceRan(o.Run, at, "GraphSAGE", ran, int64(rows)*int64(width))
	return res, nil
}

// Listed returns the numbers of the vertices to embed.
func (d *sageDevice) Listed(o SAGEOptions, rows int) device.Buffer {
	if o.Vertices != nil {
		return d.s.Ints(workflow.Numbers(o.Vertices))
	}
	return d.numbers(o.part.from, o.part.from+rows)
}

// numbers returns from … to−1 as a list.
func (d *sageDevice) numbers(from, to int) device.Buffer {
	list := d.s.Alloc(4 * int64(max(to-from, 1)))
	d.s.Each(d.kernelOfAnyWidth("numbers"), int64(to-from), int64(to-from), int32(from), list)
	return list
}

// inputsOf says where the columns of the output of a layer stand.
func (d *sageDevice) inputsOf(l *neural.Layer[float32]) sageInputs {
	in := sageInputs{parts: []int{l.Self.Value.Cols}, d: d}
	if l.Neighbour != nil {
		in.parts = append(in.parts, l.Neighbour.Value.Cols)
	}
	return in
}
