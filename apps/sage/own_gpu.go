package sage

import (
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/apps/sage/internal/neural"
	"github.com/hiveblas/hiveblas/internal/device"
)

// ownTreeRows bounds the rows of the widest layer of the trees of a batch on a device.
const ownTreeRows = 1 << 22

// fusesOwn reports whether a device has PerSource for these settings: its kernels make the choices,
// and the first layer multiplies before it gathers or has features with rows that can be gathered.
func (o *SAGEOptions) fusesOwn(net *neural.Net[float32], dense bool) bool {
	return o.Sampling == SampleUniform && (dense || net.AtOnce(0, itemsOf(o.Precision)))
}

// ownTrees computes embeddings batch by batch; each tree makes its own choices. A tree is a list of
// vertices: its root, the choices of the root, then the choices of all vertices so far, and so on.
// The targets of a layer are the first of its sources.
func (d *sageDevice) ownTrees(net *neural.Net[float32], x sagePanel, in sageInputs, o SAGEOptions, width int) device.View {
	s := d.s
	count := o.embeds(d.n)
	out := s.NewFull(count, width, workflow.FloatType)
	if count == 0 {
		return out
	}
	layers, gcn := len(net.Layers), net.GCN()
	self := sageLonely
	if gcn {
		self = sageSelf
	}
	direct := net.AtOnce(0, d.per) && projectsFirst(x, net.Layers[0].Self.Value.Cols)
	rows := 1 // of the targets of the first layer of a tree, or of its sources
	for k, samples := range o.Samples {
		if k < layers-1 || !direct {
			rows = min(rows*(1+min(samples, ownTreeRows)), ownTreeRows)
		}
	}
	batch := min(count, max(1, ownTreeRows/rows))
	list := d.Listed(o, count)
	var projected []sagePanel
	l := &net.Layers[0]
	if direct { // once for all batches
		columns := d.padded(l.Self.Value.Cols)
		ws := []sagePanel{d.upload(in.spread(l.Self.Value), columns)}
		if !gcn {
			ws = append(ws, d.upload(in.spread(l.Neighbour.Value), columns))
		}
		projected = d.times(x, ws...)
	}
	all := d.n
	defer func() { d.n, d.choices = all, sageChoices{} }()
	for lo := 0; lo < count && s.Err() == nil; lo += batch {
		var used []device.Buffer
		alloc := func(n int) device.Buffer {
			b := s.Alloc(4 * int64(max(n, 1)))
			used = append(used, b)
			return b
		}
		targets := make([]int, layers) // of each layer
		targets[layers-1] = min(batch, count-lo)
		for k := layers - 1; k > 0; k-- {
			targets[k-1] = targets[k] * (1 + o.Samples[layers-1-k])
		}
		last := o.Samples[layers-1] // of the first layer
		// The choices of the first layer stand behind its targets where both are gathered.
		size := targets[0]
		if !direct {
			size *= 1 + last
		}
		node, owner := alloc(size), alloc(targets[0])
		s.Copy(node, list.At(4*int64(lo)), 4*int64(targets[layers-1]))
		s.Copy(owner, list.At(4*int64(lo)), 4*int64(targets[layers-1]))
		for k := layers - 1; k > 0; k-- {
			n := int64(targets[k])
			s.Each(d.kernelOfAnyWidth("choose_own"), n, n, node, owner, d.rows.Ptr, d.rows.Idx, int64(o.Seed), int32(k), int32(o.Samples[layers-1-k]), o.Replace,
				node.At(4*n), owner.At(4*n), device.Buffer{})
		}
		n := int64(targets[0])
		chosen := node.At(4 * n)
		if direct {
			chosen = alloc(targets[0] * last)
		}
		s.Each(d.kernelOfAnyWidth("choose_own"), n, n, node, owner, d.rows.Ptr, d.rows.Idx, int64(o.Seed), int32(0), int32(last), o.Replace, chosen, device.Buffer{}, device.Buffer{})
		to := func(k int) device.Buffer { // of a layer, if it is the last
			if k < layers-1 {
				return device.Buffer{}
			}
			return out.Val.At(4 * int64(lo) * int64(width))
		}
		var h sagePanel
		begin := 0
		if direct {
			h = d.ownFirst(net, projected, node, chosen, targets[0], last, to(0))
			begin = 1
		} else {
			h = d.alloc(size, x.step)
			h.cols = x.cols
			c := sageChoices{list: node, samples: 1}
			d.gather(&c, 0, int64(size), x.at, x.step, x.step, sageSum, sageOthers, device.Buffer{}, h.at, device.Buffer{}, h.step)
		}
		from := in
		for k := begin; k < layers && s.Err() == nil; k++ {
			if k > 0 {
				from = d.inputsOf(&net.Layers[k-1])
			}
			samples := o.Samples[layers-1-k]
			place := alloc(targets[k] * samples)
			s.Each(d.kernelOfAnyWidth("places"), int64(targets[k])*int64(samples), int64(targets[k])*int64(samples), node.At(4*int64(targets[k])), int32(targets[k]), place)
			d.n, d.choices = targets[k], sageChoices{list: place, samples: samples, self: self}
			next := d.layer(net, k, h, from, to(k))
			d.free(h)
			h = next
		}
		for _, b := range used {
			s.Free(b)
		}
		s.Check()
		workflow.Report(o.Run, "GraphSAGE", int64(lo+targets[layers-1]), int64(count))
	}
	for _, p := range projected {
		d.free(p)
	}
	return out
}

// ownFirst computes the first layer for the vertices of node after its products: chosen has samples
// neighbours of each.
func (d *sageDevice) ownFirst(net *neural.Net[float32], projected []sagePanel, node, chosen device.Buffer, rows, samples int, last device.Buffer) sagePanel {
	l := &net.Layers[0]
	own := l.Self.Value.Cols
	columns := d.padded(own)
	mine, source := projected[0], projected[len(projected)-1]
	parts := 2
	if net.GCN() {
		mine, parts = sagePanel{}, 1
	}
	out := sagePanel{at: last, rows: rows, cols: l.Width(), step: l.Width(), kind: device.Float32}
	items, floats, zeros := device.Buffer{}, last, d.zeros
	if last.Addr == 0 {
		out = d.alloc(rows, parts*columns)
		out.cols = l.Width()
		items, floats, zeros = out.at, device.Buffer{}, device.Buffer{}
	}
	lanes := max(d.lanes(columns), 2)
	d.launch(d.kernel("layer", columns), int64(rows), lanes, columns, int64(rows), device.Buffer{}, chosen, int32(samples), mine.at, int64(mine.step),
		source.at, int64(source.step), int32(columns), device.Buffer{}, device.Buffer{}, int32(own), items, floats, int64(out.step), device.Buffer{}, zeros, node)
	return out
}
