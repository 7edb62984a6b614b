package sage

import (
	_ "embed"
	"fmt"
	"slices"
	"unsafe"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
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
	inputs  []device.Operand // whose memory panels share: it is freed with the last reference
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

// any returns a kernel that does not depend on the columns.
func (d *sageDevice) any(name string) device.Kernel { return d.kernel(name, 16*d.per/4) }

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
func (d *sageDevice) upload(a panel[float32], step int) sagePanel {
	x := newPanel[float32](a.Rows, step)
	for i := range a.Rows {
		copy(row(x, i), row(a, i))
	}
	p := sagePanel{rows: a.Rows, cols: a.Cols, step: step, kind: d.kind}
	raw := d.floats(x.Val)
	if d.itemSize() == 4 {
		p.at = raw
		return p
	}
	p.at = d.alloc(a.Rows, step).at
	d.s.Each(d.any("convert"), int64(len(x.Val)), int64(a.Rows), int32(step), raw, device.Buffer{}, p.at, int32(step))
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
		d.s.Each(d.any("convert"), int64(n)*int64(step), int64(n), int32(cols), v.Val, v.Present, to.at, int32(step))
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
	s.Each(d.any("cuts"), n, int32(n), rows.Ptr, cuts)
	first := s.Scan(cuts, n, 4)
	count := s.Read(first, n)
	if count == 0 || s.Err() != nil {
		return &sageCuts{}
	}
	owner := s.Alloc(4 * count)
	s.Each(d.any("owners"), n, int32(n), first, owner)
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

// sageInputs says where the columns of the input of a layer stand in its panel: of a row of the
// weights, the row of the padded weights.
type sageInputs struct {
	parts []int // columns of each part
	d     *sageDevice
}

// spread returns weights with rows of zeros where the input has padding.
func (in sageInputs) spread(w panel[float32]) panel[float32] {
	rows := 0
	for _, p := range in.parts {
		rows += in.d.padded(p)
	}
	to := newPanel[float32](rows, w.Cols)
	from, at := 0, 0
	for _, p := range in.parts {
		copy(to.Val[at*w.Cols:], w.Val[from*w.Cols:(from+p)*w.Cols])
		from, at = from+p, at+in.d.padded(p)
	}
	return to
}

// layer computes a layer. The output is a panel, or floats without padding at last, if that is not
// zero. length is null, or float[n] for the lengths before norm.
func (d *sageDevice) layer(net *sageNet[float32], k int, x sagePanel, in sageInputs, last device.Buffer) sagePanel {
	l, c := &net.layers[k], &d.choices
	own := l.self.value.Cols
	wide := l.width() // of the result without padding
	gcn := net.aggregator == AggregateGCN
	near := 0
	if !gcn {
		near = l.neighbour.value.Cols
	}
	end := last.Addr != 0
	from, to := d.rowsOf(end)
	out := sagePanel{at: last, rows: to - from, cols: wide, step: wide, kind: device.Float32}
	if !end {
		step := d.padded(own) + d.padded(near)
		out = d.alloc(d.n, step)
		out.cols = wide
	}
	zeros := d.zeros
	if !end {
		zeros = device.Buffer{}
	}
	items, floats := out.at, device.Buffer{}
	if end {
		items, floats = device.Buffer{}, out.at
	}
	columns := d.padded(own)
	if net.atOnce(k, d.per) && c.val.Addr == 0 && projectsFirst(x, own) {
		wf, wa := in.spread(l.self.value), panel[float32]{}
		if !gcn {
			wa = in.spread(l.neighbour.value)
		}
		var p []sagePanel
		var mine, source sagePanel
		if !gcn && 2*columns <= sageTogether {
			both := newPanel[float32](wf.Rows, 2*columns)
			for i := range wf.Rows {
				copy(row(both, i), row(wf, i))
				copy(row(both, i)[columns:], row(wa, i))
			}
			p = d.times(x, d.upload(both, 2*columns))
			mine, source = p[0], p[0]
			source.at = source.at.At(int64(columns) * d.itemSize())
		} else { // the gathered rows stand apart: as much of them as possible is to stay in the cache
			ws := []sagePanel{d.upload(wf, columns)}
			if !gcn {
				ws = append(ws, d.upload(wa, columns))
			}
			p = d.times(x, ws...)
			mine, source = p[0], p[len(p)-1]
		}
		if gcn {
			mine = sagePanel{}
		}
		partial := d.pieces(c, source.at, source.step, columns, sageMean)
		var lists device.Buffer
		if partial.Addr != 0 {
			lists = c.cuts.first.At(8 * int64(from))
		}
		ptr, list := c.ptr, c.list // of the first row
		if ptr.Addr != 0 {
			ptr = ptr.At(8 * int64(from))
		} else {
			list = list.At(4 * int64(from) * int64(c.samples))
		}
		var who device.Buffer // the vertices of the rows
		if to-from < d.n {
			who = d.numbers(from, to)
		}
		lanes := max(d.lanes(columns), 2)
		d.launch(d.kernel("layer", columns), int64(to-from), lanes, columns, int64(to-from), ptr, list, int32(c.samples), mine.at, int64(mine.step),
			source.at, int64(source.step), int32(columns), lists, partial, int32(own), items, floats, int64(out.step), device.Buffer{}, zeros, who)
		for _, p := range append(p, sagePanel{at: partial}, sagePanel{at: who}) {
			d.free(p)
		}
		return out
	}
	d.apart(net, k, x, in, out, end, zeros)
	return out
}

// rowsOf returns the rows to compute of a layer, which may be the last.
func (d *sageDevice) rowsOf(end bool) (from, to int) {
	if end && d.to > 0 {
		return d.from, d.to
	}
	return 0, d.n
}

// atOnce reports whether a kernel computes layer k after its products, with so many items in 16
// bytes.
func (n *sageNet[F]) atOnce(k, per int) bool {
	l := &n.layers[k]
	own := l.self.value.Cols
	return own <= 32*per && n.aggregator != AggregatePool && (n.aggregator == AggregateGCN || own == l.neighbour.value.Cols)
}

// projectsFirst reports whether rows are gathered after products, since they are narrower then, or
// as entries and pieces of rows cannot be gathered.
func projectsFirst(x sagePanel, own int) bool {
	return x.sparse.Ptr.Addr != 0 || x.fed != nil || own <= x.cols
}

// apart computes a layer by products and gathers one after the other: rows are in float32 before
// norm, a chunk of them at a time where their neighbours are gathered first.
func (d *sageDevice) apart(net *sageNet[float32], k int, x sagePanel, in sageInputs, out sagePanel, end bool, zeros device.Buffer) {
	s, l, c := d.s, &net.layers[k], &d.choices
	gcn, pool := net.aggregator == AggregateGCN, net.aggregator == AggregatePool
	own, wide := l.self.value.Cols, l.width()
	self := c.self
	how := sageMean
	if c.val.Addr != 0 {
		how = sageSum
	}
	step, behind := wide, own // of rows before norm, and the column of the second part
	if !end {
		step, behind = out.step, d.padded(own)
	}
	direct := end || d.itemSize() == 4 // rows before norm stand where the result does
	before := projectsFirst(x, own) && !pool
	var wa, wf sagePanel
	wf = d.upload(in.spread(l.self.value), d.padded(own))
	var source sagePanel // what is gathered
	var mine sagePanel   // x·Wf, of entries and of pieces
	project := func(w sagePanel) sagePanel {
		if gcn || x.sparse.Ptr.Addr == 0 && x.fed == nil {
			return d.times(x, w)[0]
		}
		both := d.times(x, w, wf)
		mine = both[1]
		return both[0]
	}
	switch {
	case pool:
		source = project(d.upload(in.spread(l.pool.value), d.padded(l.pool.value.Cols)))
		bias := newPanel[float32](1, source.step)
		copy(bias.Val, l.poolBias.value.Val)
		s.Each(d.any("bias"), int64(source.rows)*int64(source.step), int64(source.rows), int32(source.step), source.at, d.floats(bias.Val))
		how, self = sageMax, sageLonely
		wa = d.upload(l.neighbour.value, d.padded(l.neighbour.value.Cols))
	case gcn && before:
		source = project(wf)
	case gcn:
		source = x
	case before:
		source = project(d.upload(in.spread(l.neighbour.value), d.padded(l.neighbour.value.Cols)))
	default:
		source = x
		wa = d.upload(in.spread(l.neighbour.value), d.padded(l.neighbour.value.Cols))
	}
	columns := source.step // that are gathered
	if before {
		columns = d.width(l, gcn)
	}
	partial := d.pieces(c, source.at, source.step, columns, how)
	// Rows before norm that 16 bits hold are written and read in them (2.34 → 2.12 ms, H200,
	// "graphsage all fp16").
	narrow := d.itemSize() == 2 && k > 0 && !before && !pool && how == sageMean && l.bounded()
	if narrow {
		direct = !end
		step, behind = d.padded(own), d.padded(own)
		if !gcn {
			step += d.padded(l.neighbour.value.Cols)
		}
	}
	from, until := d.rowsOf(end)
	chunk := int(max(1, min(int64(until-from), sageChunk/(4*int64(step)))))
	if before {
		chunk = max(until-from, 1)
	}
	var mean sagePanel
	if !before {
		mean = d.alloc(chunk, source.step)
	}
	var rows device.Buffer
	size, kind := int64(4), d.plain()
	if narrow {
		size, kind = d.itemSize(), d.kind
	}
	if !direct {
		rows = s.Alloc(size * int64(chunk) * int64(step))
	}
	for lo := from; lo < until && s.Err() == nil; lo += chunk {
		count := min(chunk, until-lo)
		to, first := rows, int64(lo-from) // of the result
		if direct {
			to = out.at.At(size * first * int64(step))
		}
		if step > wide { // columns of padding are 0
			s.Fill(to, 0, size*int64(count)*int64(step))
		}
		near := to
		if !gcn {
			near = to.At(size * int64(behind))
			if mine.at.Addr != 0 {
				s.Each(d.any("copy"), int64(count)*int64(own), int64(count), int32(own), mine.at.At(int64(lo)*int64(mine.step)*d.itemSize()), int64(mine.step), to, int64(step))
			} else {
				part := x
				part.at, part.rows = x.at.At(int64(lo)*int64(x.step)*d.itemSize()), count
				d.product(part, wf, own, to, step, kind)
			}
		}
		if before {
			d.gather(c, int64(lo), int64(count), source.at, source.step, columns, how, self, partial, device.Buffer{}, near, step)
		} else {
			d.gather(c, int64(lo), int64(count), source.at, source.step, columns, how, self, partial, mean.at, device.Buffer{}, mean.step)
			part := mean
			part.rows = count
			w, cols := wa, 0
			if gcn {
				w = wf
			}
			if cols = own; !gcn {
				cols = l.neighbour.value.Cols
			}
			part.cols = w.rows
			d.product(part, w, cols, near, step, kind)
		}
		if narrow {
			var floats device.Buffer
			if end {
				floats = out.at.At(4 * first * int64(wide))
			}
			d.normItems(int64(count), to, step, behind, floats, own, wide-own, zeros)
			s.Check()
			continue
		}
		var items device.Buffer
		if !direct {
			items = out.at.At(first * int64(out.step) * d.itemSize())
		}
		s.Blocks(d.any("norm"), (int64(count)+workflow.GraphBlock/32-1)/(workflow.GraphBlock/32), workflow.GraphBlock, int64(count), int32(step), to, int64(step),
			items, int64(out.step), device.Buffer{}, zeros)
		s.Check()
	}
	if !pool && source.at.Addr != x.at.Addr || pool {
		d.free(source)
	}
	for _, p := range []sagePanel{mine, mean, {at: partial}, {at: rows}} {
		d.free(p)
	}
}

// Products of rows of norm 1 are stored as float16 where the largest norm of a column of the
// weights is between these: the largest float16 is 65504, and below 6e-5 float16 loses digits.
const (
	sageLeast = 1.0 / 64
	sageMost  = 32768
)

// bounded reports whether the largest norm of a column of the weights is within sageLeast and
// sageMost.
func (l *sageLayer[F]) bounded() bool {
	largest := 0.0
	for _, p := range []*sageParam[F]{l.self, l.neighbour} {
		if p == nil {
			continue
		}
		squares := make([]float64, p.value.Cols)
		for i := range p.value.Rows {
			for j, x := range row(p.value, i) {
				squares[j] += float64(x) * float64(x)
			}
		}
		largest = slices.Max(append(squares, largest)) // NaN if one is
	}
	return largest >= sageLeast*sageLeast && largest <= sageMost*sageMost
}

// normItems queues norm(relu(row)) of rows of items, in place or to floats.
func (d *sageDevice) normItems(rows int64, x device.Buffer, step, behind int, floats device.Buffer, own, near int, zeros device.Buffer) {
	per := int64(workflow.GraphBlock / max(d.lanes(step), 2))
	d.s.Blocks(d.kernel("norm_items", step), (rows+per-1)/per, workflow.GraphBlock, rows, int32(step), int32(behind), x, int64(step),
		floats, int32(own), int32(near), int64(own+near), zeros)
}

// width returns the columns that are gathered after a product.
func (d *sageDevice) width(l *sageLayer[float32], gcn bool) int {
	if gcn {
		return l.self.value.Cols
	}
	return l.neighbour.value.Cols
}

// choose sets the neighbours of a layer. g is for choices that the host makes, and nil for others.
func (d *sageDevice) choose(g *sageGraph, o SAGEOptions, layer, samples int, a SAGEAggregator) error {
	s := d.s
	self := sageLonely
	if a == AggregateGCN {
		self = sageSelf
	}
	switch {
	case g != nil:
		b, _, err := blockOf[float32](g, nil, 0, layer, samples)
		if err != nil {
			return err
		}
		c := sageChoices{ptr: s.Upload(unsafe.Pointer(&b.ptr[0]), 8*int64(len(b.ptr))), list: s.Ints(b.idx), val: d.floats(b.weights()), self: sageOthers}
		s.Sync()
		d.choices = c
	case samples < 0:
		d.choices = sageChoices{ptr: d.rows.Ptr, list: d.rows.Idx, cuts: d.cutsOf(d.graph, d.rows, "apps: pieces of long rows"), self: self}
	default:
		if d.choices.samples > 0 {
			s.Free(d.choices.list)
		}
		list := s.Alloc(4 * max(int64(d.n)*int64(samples), 1))
		args := []any{int32(d.n), d.rows.Ptr, d.rows.Idx, int64(o.Seed), device.Buffer{}, int32(layer), int32(samples), list}
		if o.Replace {
			s.Each(d.any("choose_again"), int64(d.n)*int64((samples+1)/2), args...)
		} else {
			s.Each(d.any("choose"), int64(d.n), args...)
		}
		d.choices = sageChoices{list: list, samples: samples, self: self}
	}
	return nil
}

// fusedSAGE is GraphSAGE on a device: layers for all vertices. host chooses neighbours where the
// kernels do not; nil else.
func fusedSAGE(at device.Runner, a rep.View, features matrix.View[float32], net *sageNet[float32], n int, host *sageGraph, o SAGEOptions) (*SAGEResult, error) {
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
	width := net.layers[len(net.layers)-1].width()
	rows := o.embeds(n)
	res := &SAGEResult{}
	var found, scores device.Store
	ran := device.Ran{Method: "layers"}
	if host != nil {
		ran.Method = "layers, chosen on the host"
	}
	if o.PerSource {
		ran.Method = "own trees"
		if fed != nil && !net.atOnce(0, itemsOf(o.Precision)) {
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
		if net.out != nil {
			classes := net.out.value.Cols
			y := s.NewFull(rows, classes, workflow.FloatType)
			w := d.floats(net.out.value.Val)
			s.Gemm(device.Gemm{M: rows, N: classes, K: width, A: out.Val, B: w, C: y.Val, StepA: width, StepB: classes, StepC: classes})
			s.Each(d.any("add"), int64(rows)*int64(classes), int64(rows), int32(classes), y.Val, d.floats(net.bias.value.Val))
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
	if net.out != nil {
		res.Logits = matrix.New[float32](rows, net.out.value.Cols, matrix.On(at.Place()))
		access.SetRemote(res.Logits, scores)
	}
	workflow.TraceRan(o.Run, at, "GraphSAGE", ran, int64(rows)*int64(width))
	return res, nil
}

// allLayers computes the layers for all vertices, and returns the rows of those that are wanted.
func (d *sageDevice) allLayers(net *sageNet[float32], p sagePanel, in sageInputs, host *sageGraph, o SAGEOptions, width int) device.View {
	s := d.s
	d.from, d.to = o.part.from, o.part.to
	lo, hi := d.rowsOf(true)
	all := s.NewFull(hi-lo, width, workflow.FloatType)
	for k := range net.layers {
		samples := samplesOf(o.Samples, len(net.layers)-1-k)
		if k == 0 || samples >= 0 || host != nil {
			if err := d.choose(host, o, k, samples, net.aggregator); err != nil {
				s.Fail(err)
				return all
			}
		}
		var last device.Buffer
		if k == len(net.layers)-1 {
			last = all.Val
		}
		next := d.layer(net, k, p, in, last)
		if k > 0 {
			d.free(p)
		}
		p = next
		in = d.inputsOf(&net.layers[k])
		s.Check()
	}
	if o.Vertices == nil { // of all rows, or of the part
		return all
	}
	rows := len(o.Vertices)
	out := s.NewFull(rows, width, workflow.FloatType)
	s.Each(d.any("pick"), int64(rows)*int64(width), int64(rows), int32(width), d.Listed(o, rows), all.Val, out.Val)
	s.Fill(d.zeros, 0, 8)
	s.Blocks(d.any("count"), (int64(rows)+workflow.GraphBlock/32-1)/(workflow.GraphBlock/32), workflow.GraphBlock, int64(rows), int32(width), out.Val, d.zeros)
	s.Drop(all)
	return out
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
	d.s.Each(d.any("numbers"), int64(to-from), int64(to-from), int32(from), list)
	return list
}

// inputsOf says where the columns of the output of a layer stand.
func (d *sageDevice) inputsOf(l *sageLayer[float32]) sageInputs {
	in := sageInputs{parts: []int{l.self.value.Cols}, d: d}
	if l.neighbour != nil {
		in.parts = append(in.parts, l.neighbour.value.Cols)
	}
	return in
}
