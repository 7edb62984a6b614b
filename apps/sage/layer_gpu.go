package sage

import (
	"slices"
	"unsafe"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/apps/sage/internal/neural"
	"github.com/hiveblas/hiveblas/internal/device"
)

// sageInputs says where the columns of the input of a layer stand in its panel: of a row of the
// weights, the row of the padded weights.
type sageInputs struct {
	parts []int // columns of each part
	d     *sageDevice
}

// spread returns weights with rows of zeros where the input has padding.
func (in sageInputs) spread(w neural.Panel[float32]) neural.Panel[float32] {
	rows := 0
	for _, p := range in.parts {
		rows += in.d.padded(p)
	}
	to := neural.NewPanel[float32](rows, w.Cols)
	from, at := 0, 0
	for _, p := range in.parts {
		copy(to.Val[at*w.Cols:], w.Val[from*w.Cols:(from+p)*w.Cols])
		from, at = from+p, at+in.d.padded(p)
	}
	return to
}

// layer computes a layer. The output is a panel, or floats without padding at last, if that is not
// zero. length is null, or float[n] for the lengths before norm.
func (d *sageDevice) layer(net *neural.Net[float32], k int, x sagePanel, in sageInputs, last device.Buffer) sagePanel {
	l, c := &net.Layers[k], &d.choices
	own := l.Self.Value.Cols
	wide := l.Width() // of the result without padding
	gcn := net.GCN()
	near := 0
	if !gcn {
		near = l.Neighbour.Value.Cols
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
	if net.AtOnce(k, d.per) && c.val.Addr == 0 && projectsFirst(x, own) {
		wf, wa := in.spread(l.Self.Value), neural.Panel[float32]{}
		if !gcn {
			wa = in.spread(l.Neighbour.Value)
		}
		var p []sagePanel
		var mine, source sagePanel
		if !gcn && 2*columns <= sageTogether {
			both := neural.NewPanel[float32](wf.Rows, 2*columns)
			for i := range wf.Rows {
				copy(neural.Row(both, i), neural.Row(wf, i))
				copy(neural.Row(both, i)[columns:], neural.Row(wa, i))
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
	d.productsThenGathers(net, k, x, in, out, end, zeros)
	return out
}

// rowsOf returns the rows to compute of a layer, which may be the last.
func (d *sageDevice) rowsOf(end bool) (from, to int) {
	if end && d.to > 0 {
		return d.from, d.to
	}
	return 0, d.n
}

// projectsFirst reports whether rows are gathered after products, since they are narrower then, or
// as entries and pieces of rows cannot be gathered.
func projectsFirst(x sagePanel, own int) bool {
	return x.sparse.Ptr.Addr != 0 || x.fed != nil || own <= x.cols
}

// productsThenGathers computes a layer by products and gathers one after the other: rows are in
// float32 before norm, a chunk of them at a time where their neighbours are gathered first.
func (d *sageDevice) productsThenGathers(net *neural.Net[float32], k int, x sagePanel, in sageInputs, out sagePanel, end bool, zeros device.Buffer) {
	s, l, c := d.s, &net.Layers[k], &d.choices
	gcn, pool := net.GCN(), net.Pools()
	own, wide := l.Self.Value.Cols, l.Width()
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
	wf = d.upload(in.spread(l.Self.Value), d.padded(own))
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
		source = project(d.upload(in.spread(l.Pool.Value), d.padded(l.Pool.Value.Cols)))
		bias := neural.NewPanel[float32](1, source.step)
		copy(bias.Val, l.PoolBias.Value.Val)
		s.Each(d.kernelOfAnyWidth("bias"), int64(source.rows)*int64(source.step), int64(source.rows), int32(source.step), source.at, d.floats(bias.Val))
		how, self = sageMax, sageLonely
		wa = d.upload(l.Neighbour.Value, d.padded(l.Neighbour.Value.Cols))
	case gcn && before:
		source = project(wf)
	case gcn:
		source = x
	case before:
		source = project(d.upload(in.spread(l.Neighbour.Value), d.padded(l.Neighbour.Value.Cols)))
	default:
		source = x
		wa = d.upload(in.spread(l.Neighbour.Value), d.padded(l.Neighbour.Value.Cols))
	}
	columns := source.step // that are gathered
	if before {
		columns = d.width(l, gcn)
	}
	partial := d.pieces(c, source.at, source.step, columns, how)
	// Rows before norm are written and read in 16 bits if these hold them.
	narrow := d.itemSize() == 2 && k > 0 && !before && !pool && how == sageMean && bounded(l)
	if narrow {
		direct = !end
		step, behind = d.padded(own), d.padded(own)
		if !gcn {
			step += d.padded(l.Neighbour.Value.Cols)
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
				s.Each(d.kernelOfAnyWidth("copy"), int64(count)*int64(own), int64(count), int32(own), mine.at.At(int64(lo)*int64(mine.step)*d.itemSize()), int64(mine.step), to, int64(step))
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
				cols = l.Neighbour.Value.Cols
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
		s.Blocks(d.kernelOfAnyWidth("norm"), (int64(count)+workflow.GraphBlock/32-1)/(workflow.GraphBlock/32), workflow.GraphBlock, int64(count), int32(step), to, int64(step),
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
func bounded[F workflow.Real](l *neural.Layer[F]) bool {
	largest := 0.0
	for _, p := range []*neural.Param[F]{l.Self, l.Neighbour} {
		if p == nil {
			continue
		}
		squares := make([]float64, p.Value.Cols)
		for i := range p.Value.Rows {
			for j, x := range neural.Row(p.Value, i) {
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
func (d *sageDevice) width(l *neural.Layer[float32], gcn bool) int {
	if gcn {
		return l.Self.Value.Cols
	}
	return l.Neighbour.Value.Cols
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
		c := sageChoices{ptr: s.Upload(unsafe.Pointer(&b.Ptr[0]), 8*int64(len(b.Ptr))), list: s.Ints(b.Idx), val: d.floats(b.Weights()), self: sageOthers}
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
			s.Each(d.kernelOfAnyWidth("choose_again"), int64(d.n)*int64((samples+1)/2), args...)
		} else {
			s.Each(d.kernelOfAnyWidth("choose"), int64(d.n), args...)
		}
		d.choices = sageChoices{list: list, samples: samples, self: self}
	}
	return nil
}

// allLayers computes the layers for all vertices, and returns the rows of those that are wanted.
func (d *sageDevice) allLayers(net *neural.Net[float32], p sagePanel, in sageInputs, host *sageGraph, o SAGEOptions, width int) device.View {
	s := d.s
	d.from, d.to = o.part.from, o.part.to
	lo, hi := d.rowsOf(true)
	all := s.NewFull(hi-lo, width, workflow.FloatType)
	for k := range net.Layers {
		samples := samplesOf(o.Samples, len(net.Layers)-1-k)
		if k == 0 || samples >= 0 || host != nil {
			if err := d.choose(host, o, k, samples, SAGEAggregator(net.Aggregator)); err != nil {
				s.Fail(err)
				return all
			}
		}
		var last device.Buffer
		if k == len(net.Layers)-1 {
			last = all.Val
		}
		next := d.layer(net, k, p, in, last)
		if k > 0 {
			d.free(p)
		}
		p = next
		in = d.inputsOf(&net.Layers[k])
		s.Check()
	}
	if o.Vertices == nil { // of all rows, or of the part
		return all
	}
	rows := len(o.Vertices)
	out := s.NewFull(rows, width, workflow.FloatType)
	s.Each(d.kernelOfAnyWidth("pick"), int64(rows)*int64(width), int64(rows), int32(width), d.Listed(o, rows), all.Val, out.Val)
	s.Fill(d.zeros, 0, 8)
	s.Blocks(d.kernelOfAnyWidth("count"), (int64(rows)+workflow.GraphBlock/32-1)/(workflow.GraphBlock/32), workflow.GraphBlock, int64(rows), int32(width), out.Val, d.zeros)
	s.Drop(all)
	return out
}
