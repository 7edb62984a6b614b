package sage

import (
	"slices"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/apps/sage/internal/neural"
	"github.com/hiveblas/hiveblas/apps/sage/internal/ondevice"
	"github.com/hiveblas/hiveblas/apps/sage/internal/sampled"
	"github.com/hiveblas/hiveblas/internal/device"
)

// sageChunk is the bytes of the rows that products write before norm reads them. Chunks that stay
// in the cache are slower: 32, 128, 512 MB take 3.98, 3.66, 3.52 ms (H200, "graphsage all fp32").
const sageChunk = 512 << 20

// sageTogether is the columns up to which both products of a layer are one: a tile of cuBLAS has as
// many, and the features are read once (3.41 → 3.17 ms, H200, "graphsage all fp32"; fp16 the same).
const sageTogether = 32

// sageInputs says where the columns of the input of a layer stand in its panel: of a row of the
// weights, the row of the padded weights.
type sageInputs struct {
	parts []int // columns of each part
	d     *ondevice.Device
}

// spread returns weights with rows of zeros where the input has padding.
func (in sageInputs) spread(w neural.Panel[float32]) neural.Panel[float32] {
	rows := 0
	for _, p := range in.parts {
		rows += in.d.Padded(p)
	}
	to := neural.NewPanel[float32](rows, w.Cols)
	from, at := 0, 0
	for _, p := range in.parts {
		copy(to.Val[at*w.Cols:], w.Val[from*w.Cols:(from+p)*w.Cols])
		from, at = from+p, at+in.d.Padded(p)
	}
	return to
}

// layerOf computes a layer. The output is a panel, or floats without padding at last, if that is
// not zero. length is null, or float[n] for the lengths before norm.
func layerOf(d *ondevice.Device, net *neural.Net[float32], k int, x ondevice.Panel, in sageInputs, last device.Buffer) ondevice.Panel {
	l, c := &net.Layers[k], &d.Choices
	own := l.Self.Value.Cols
	wide := l.Width() // of the result without padding
	gcn := net.GCN()
	near := 0
	if !gcn {
		near = l.Neighbour.Value.Cols
	}
	end := last.Addr != 0
	from, to := rowsOf(d, end)
	out := ondevice.Panel{At: last, Rows: to - from, Cols: wide, Step: wide, Kind: device.Float32}
	if !end {
		step := d.Padded(own) + d.Padded(near)
		out = d.Alloc(d.N, step)
		out.Cols = wide
	}
	zeros := d.Zeros
	if !end {
		zeros = device.Buffer{}
	}
	items, floats := out.At, device.Buffer{}
	if end {
		items, floats = device.Buffer{}, out.At
	}
	columns := d.Padded(own)
	if net.AtOnce(k, d.Per) && c.Val.Addr == 0 && projectsFirst(x, own) {
		wf, wa := in.spread(l.Self.Value), neural.Panel[float32]{}
		if !gcn {
			wa = in.spread(l.Neighbour.Value)
		}
		var p []ondevice.Panel
		var mine, source ondevice.Panel
		if !gcn && 2*columns <= sageTogether {
			both := neural.NewPanel[float32](wf.Rows, 2*columns)
			for i := range wf.Rows {
				copy(neural.Row(both, i), neural.Row(wf, i))
				copy(neural.Row(both, i)[columns:], neural.Row(wa, i))
			}
			p = d.Times(x, d.Upload(both, 2*columns))
			mine, source = p[0], p[0]
			source.At = source.At.At(int64(columns) * d.ItemSize())
		} else { // the gathered rows stand apart: as much of them as possible is to stay in the cache
			ws := []ondevice.Panel{d.Upload(wf, columns)}
			if !gcn {
				ws = append(ws, d.Upload(wa, columns))
			}
			p = d.Times(x, ws...)
			mine, source = p[0], p[len(p)-1]
		}
		if gcn {
			mine = ondevice.Panel{}
		}
		partial := d.Pieces(c, source.At, source.Step, columns, ondevice.Mean)
		var lists device.Buffer
		if partial.Addr != 0 {
			lists = c.Cuts.First.At(8 * int64(from))
		}
		ptr, list := c.Ptr, c.List // of the first row
		if ptr.Addr != 0 {
			ptr = ptr.At(8 * int64(from))
		} else {
			list = list.At(4 * int64(from) * int64(c.Samples))
		}
		var who device.Buffer // the vertices of the rows
		if to-from < d.N {
			who = numbers(d, from, to)
		}
		lanes := max(d.Lanes(columns), 2)
		d.Launch(d.Kernel("layer", columns), int64(to-from), lanes, columns, int64(to-from), ptr, list, int32(c.Samples), mine.At, int64(mine.Step),
			source.At, int64(source.Step), int32(columns), lists, partial, int32(own), items, floats, int64(out.Step), device.Buffer{}, zeros, who)
		for _, p := range append(p, ondevice.Panel{At: partial}, ondevice.Panel{At: who}) {
			d.Free(p)
		}
		return out
	}
	productsThenGathers(d, net, k, x, in, out, end, zeros)
	return out
}

// rowsOf returns the rows to compute of a layer, which may be the last.
func rowsOf(d *ondevice.Device, end bool) (from, to int) {
	if end && d.To > 0 {
		return d.From, d.To
	}
	return 0, d.N
}

// projectsFirst reports whether rows are gathered after products, since they are narrower then, or
// as entries and pieces of rows cannot be gathered.
func projectsFirst(x ondevice.Panel, own int) bool {
	return x.Sparse.Ptr.Addr != 0 || x.Fed != nil || own <= x.Cols
}

// productsThenGathers computes a layer by products and gathers one after the other: rows are in
// float32 before norm, a chunk of them at a time where their neighbours are gathered first.
func productsThenGathers(d *ondevice.Device, net *neural.Net[float32], k int, x ondevice.Panel, in sageInputs, out ondevice.Panel, end bool, zeros device.Buffer) {
	s, l, c := d.S, &net.Layers[k], &d.Choices
	gcn, pool := net.GCN(), net.Pools()
	own, wide := l.Self.Value.Cols, l.Width()
	self := c.Self
	how := ondevice.Mean
	if c.Val.Addr != 0 {
		how = ondevice.Sum
	}
	step, behind := wide, own // of rows before norm, and the column of the second part
	if !end {
		step, behind = out.Step, d.Padded(own)
	}
	direct := end || d.ItemSize() == 4 // rows before norm stand where the result does
	before := projectsFirst(x, own) && !pool
	var wa, wf ondevice.Panel
	wf = d.Upload(in.spread(l.Self.Value), d.Padded(own))
	var source ondevice.Panel // what is gathered
	var mine ondevice.Panel   // x·Wf, of entries and of pieces
	project := func(w ondevice.Panel) ondevice.Panel {
		if gcn || x.Sparse.Ptr.Addr == 0 && x.Fed == nil {
			return d.Times(x, w)[0]
		}
		both := d.Times(x, w, wf)
		mine = both[1]
		return both[0]
	}
	switch {
	case pool:
		source = project(d.Upload(in.spread(l.Pool.Value), d.Padded(l.Pool.Value.Cols)))
		bias := neural.NewPanel[float32](1, source.Step)
		copy(bias.Val, l.PoolBias.Value.Val)
		s.Each(d.KernelOfAnyWidth("bias"), int64(source.Rows)*int64(source.Step), int64(source.Rows), int32(source.Step), source.At, d.Floats(bias.Val))
		how, self = ondevice.Max, ondevice.Lonely
		wa = d.Upload(l.Neighbour.Value, d.Padded(l.Neighbour.Value.Cols))
	case gcn && before:
		source = project(wf)
	case gcn:
		source = x
	case before:
		source = project(d.Upload(in.spread(l.Neighbour.Value), d.Padded(l.Neighbour.Value.Cols)))
	default:
		source = x
		wa = d.Upload(in.spread(l.Neighbour.Value), d.Padded(l.Neighbour.Value.Cols))
	}
	columns := source.Step // that are gathered
	if before {
		columns = gatheredWidth(d, l, gcn)
	}
	partial := d.Pieces(c, source.At, source.Step, columns, how)
	// Rows before norm are written and read in 16 bits if these hold them.
	narrow := d.ItemSize() == 2 && k > 0 && !before && !pool && how == ondevice.Mean && bounded(l)
	if narrow {
		direct = !end
		step, behind = d.Padded(own), d.Padded(own)
		if !gcn {
			step += d.Padded(l.Neighbour.Value.Cols)
		}
	}
	from, until := rowsOf(d, end)
	chunk := int(max(1, min(int64(until-from), sageChunk/(4*int64(step)))))
	if before {
		chunk = max(until-from, 1)
	}
	var mean ondevice.Panel
	if !before {
		mean = d.Alloc(chunk, source.Step)
	}
	var rows device.Buffer
	size, kind := int64(4), d.Plain()
	if narrow {
		size, kind = d.ItemSize(), d.Kind
	}
	if !direct {
		rows = s.Alloc(size * int64(chunk) * int64(step))
	}
	for lo := from; lo < until && s.Err() == nil; lo += chunk {
		count := min(chunk, until-lo)
		to, first := rows, int64(lo-from) // of the result
		if direct {
			to = out.At.At(size * first * int64(step))
		}
		if step > wide { // columns of padding are 0
			s.Fill(to, 0, size*int64(count)*int64(step))
		}
		near := to
		if !gcn {
			near = to.At(size * int64(behind))
			if mine.At.Addr != 0 {
				s.Each(d.KernelOfAnyWidth("copy"), int64(count)*int64(own), int64(count), int32(own), mine.At.At(int64(lo)*int64(mine.Step)*d.ItemSize()), int64(mine.Step), to, int64(step))
			} else {
				part := x
				part.At, part.Rows = x.At.At(int64(lo)*int64(x.Step)*d.ItemSize()), count
				d.Product(part, wf, own, to, step, kind)
			}
		}
		if before {
			d.Gather(c, int64(lo), int64(count), source.At, source.Step, columns, how, self, partial, device.Buffer{}, near, step)
		} else {
			d.Gather(c, int64(lo), int64(count), source.At, source.Step, columns, how, self, partial, mean.At, device.Buffer{}, mean.Step)
			part := mean
			part.Rows = count
			w, cols := wa, 0
			if gcn {
				w = wf
			}
			if cols = own; !gcn {
				cols = l.Neighbour.Value.Cols
			}
			part.Cols = w.Rows
			d.Product(part, w, cols, near, step, kind)
		}
		if narrow {
			var floats device.Buffer
			if end {
				floats = out.At.At(4 * first * int64(wide))
			}
			normItems(d, int64(count), to, step, behind, floats, own, wide-own, zeros)
			s.Check()
			continue
		}
		var items device.Buffer
		if !direct {
			items = out.At.At(first * int64(out.Step) * d.ItemSize())
		}
		s.Blocks(d.KernelOfAnyWidth("norm"), (int64(count)+workflow.GraphBlock/32-1)/(workflow.GraphBlock/32), workflow.GraphBlock, int64(count), int32(step), to, int64(step),
			items, int64(out.Step), device.Buffer{}, zeros)
		s.Check()
	}
	if !pool && source.At.Addr != x.At.Addr || pool {
		d.Free(source)
	}
	for _, p := range []ondevice.Panel{mine, mean, {At: partial}, {At: rows}} {
		d.Free(p)
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
func normItems(d *ondevice.Device, rows int64, x device.Buffer, step, behind int, floats device.Buffer, own, near int, zeros device.Buffer) {
	per := int64(workflow.GraphBlock / max(d.Lanes(step), 2))
	d.S.Blocks(d.Kernel("norm_items", step), (rows+per-1)/per, workflow.GraphBlock, rows, int32(step), int32(behind), x, int64(step),
		floats, int32(own), int32(near), int64(own+near), zeros)
}

// gatheredWidth returns the columns that are gathered after a product.
func gatheredWidth(d *ondevice.Device, l *neural.Layer[float32], gcn bool) int {
	if gcn {
		return l.Self.Value.Cols
	}
	return l.Neighbour.Value.Cols
}

// allLayers computes the layers for all vertices, and returns the rows of the wanted ones.
func allLayers(d *ondevice.Device, net *neural.Net[float32], p ondevice.Panel, in sageInputs, host *sampled.Graph, o SAGEOptions, width int) device.View {
	s := d.S
	d.From, d.To = o.part.from, o.part.to
	lo, hi := rowsOf(d, true)
	all := s.NewFull(hi-lo, width, workflow.FloatType)
	for k := range net.Layers {
		samples := sampled.SamplesOf(o.Samples, len(net.Layers)-1-k)
		if k == 0 || samples >= 0 || host != nil {
			if err := d.Choose(host, o.Seed, o.Replace, k, samples, net.GCN()); err != nil {
				s.Fail(err)
				return all
			}
		}
		var last device.Buffer
		if k == len(net.Layers)-1 {
			last = all.Val
		}
		next := layerOf(d, net, k, p, in, last)
		if k > 0 {
			d.Free(p)
		}
		p = next
		in = inputsOf(d, &net.Layers[k])
		s.Check()
	}
	if o.Vertices == nil { // of all rows, or of the part
		return all
	}
	rows := len(o.Vertices)
	out := s.NewFull(rows, width, workflow.FloatType)
	s.Each(d.KernelOfAnyWidth("pick"), int64(rows)*int64(width), int64(rows), int32(width), listed(d, o, rows), all.Val, out.Val)
	s.Fill(d.Zeros, 0, 8)
	s.Blocks(d.KernelOfAnyWidth("count"), (int64(rows)+workflow.GraphBlock/32-1)/(workflow.GraphBlock/32), workflow.GraphBlock, int64(rows), int32(width), out.Val, d.Zeros)
	s.Drop(all)
	return out
}
