package sage

import (
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/apps/sage/internal/neural"
	"github.com/hiveblas/hiveblas/apps/sage/internal/ondevice"
	"github.com/hiveblas/hiveblas/internal/device"
)

// ownTreeRows bounds the rows of the widest layer of the trees of a batch on a device.
const ownTreeRows = 1 << 22

// fusesOwn reports whether a device has PerSource for these settings: its kernels make the choices,
// and the first layer multiplies before it gathers or has features with rows that can be gathered.
func (o *SAGEOptions) fusesOwn(net *neural.Net[float32], dense bool) bool {
	return o.Sampling == SampleUniform && (dense || net.AtOnce(0, ondevice.ItemsOf(device.Precision(o.Precision))))
}

// ownTrees computes embeddings batch by batch; each tree makes its own choices. A tree is a list of
// vertices: its root, the choices of the root, then the choices of all vertices so far, and so on.
// The targets of a layer are the first of its sources.
func ownTrees(d *ondevice.Device, net *neural.Net[float32], x ondevice.Panel, in sageInputs, o SAGEOptions, width int) device.View {
	s := d.S
	count := o.embeds(d.N)
	out := s.NewFull(count, width, workflow.FloatType)
	if count == 0 {
		return out
	}
	layers, gcn := len(net.Layers), net.GCN()
	self := ondevice.Lonely
	if gcn {
		self = ondevice.Self
	}
	direct := net.AtOnce(0, d.Per) && projectsFirst(x, net.Layers[0].Self.Value.Cols)
	rows := 1 // of the targets of the first layer of a tree, or of its sources
	for k, samples := range o.Samples {
		if k < layers-1 || !direct {
			rows = min(rows*(1+min(samples, ownTreeRows)), ownTreeRows)
		}
	}
	batch := min(count, max(1, ownTreeRows/rows))
	list := listed(d, o, count)
	var projected []ondevice.Panel
	l := &net.Layers[0]
	if direct { // once for all batches
		columns := d.Padded(l.Self.Value.Cols)
		ws := []ondevice.Panel{d.Upload(in.spread(l.Self.Value), columns)}
		if !gcn {
			ws = append(ws, d.Upload(in.spread(l.Neighbour.Value), columns))
		}
		projected = d.Times(x, ws...)
	}
	all := d.N
	defer func() { d.N, d.Choices = all, ondevice.Choices{} }()
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
			s.Each(d.KernelOfAnyWidth("choose_own"), n, n, node, owner, d.Rows.Ptr, d.Rows.Idx, int64(o.Seed), int32(k), int32(o.Samples[layers-1-k]), o.Replace,
				node.At(4*n), owner.At(4*n), device.Buffer{})
		}
		n := int64(targets[0])
		chosen := node.At(4 * n)
		if direct {
			chosen = alloc(targets[0] * last)
		}
		s.Each(d.KernelOfAnyWidth("choose_own"), n, n, node, owner, d.Rows.Ptr, d.Rows.Idx, int64(o.Seed), int32(0), int32(last), o.Replace, chosen, device.Buffer{}, device.Buffer{})
		to := func(k int) device.Buffer { // of a layer, if it is the last
			if k < layers-1 {
				return device.Buffer{}
			}
			return out.Val.At(4 * int64(lo) * int64(width))
		}
		var h ondevice.Panel
		begin := 0
		if direct {
			h = ownFirst(d, net, projected, node, chosen, targets[0], last, to(0))
			begin = 1
		} else {
			h = d.Alloc(size, x.Step)
			h.Cols = x.Cols
			c := ondevice.Choices{List: node, Samples: 1}
			d.Gather(&c, 0, int64(size), x.At, x.Step, x.Step, ondevice.Sum, ondevice.Others, device.Buffer{}, h.At, device.Buffer{}, h.Step)
		}
		from := in
		for k := begin; k < layers && s.Err() == nil; k++ {
			if k > 0 {
				from = inputsOf(d, &net.Layers[k-1])
			}
			samples := o.Samples[layers-1-k]
			place := alloc(targets[k] * samples)
			s.Each(d.KernelOfAnyWidth("places"), int64(targets[k])*int64(samples), int64(targets[k])*int64(samples), node.At(4*int64(targets[k])), int32(targets[k]), place)
			d.N, d.Choices = targets[k], ondevice.Choices{List: place, Samples: samples, Self: self}
			next := layerOf(d, net, k, h, from, to(k))
			d.Free(h)
			h = next
		}
		for _, b := range used {
			s.Free(b)
		}
		s.Check()
		workflow.Report(o.Run, "GraphSAGE", int64(lo+targets[layers-1]), int64(count))
	}
	for _, p := range projected {
		d.Free(p)
	}
	return out
}

// ownFirst computes the first layer for the vertices of node after its products: chosen has samples
// neighbours of each.
func ownFirst(d *ondevice.Device, net *neural.Net[float32], projected []ondevice.Panel, node, chosen device.Buffer, rows, samples int, last device.Buffer) ondevice.Panel {
	l := &net.Layers[0]
	own := l.Self.Value.Cols
	columns := d.Padded(own)
	mine, source := projected[0], projected[len(projected)-1]
	parts := 2
	if net.GCN() {
		mine, parts = ondevice.Panel{}, 1
	}
	out := ondevice.Panel{At: last, Rows: rows, Cols: l.Width(), Step: l.Width(), Kind: device.Float32}
	items, floats, zeros := device.Buffer{}, last, d.Zeros
	if last.Addr == 0 {
		out = d.Alloc(rows, parts*columns)
		out.Cols = l.Width()
		items, floats, zeros = out.At, device.Buffer{}, device.Buffer{}
	}
	lanes := max(d.Lanes(columns), 2)
	d.Launch(d.Kernel("layer", columns), int64(rows), lanes, columns, int64(rows), device.Buffer{}, chosen, int32(samples), mine.At, int64(mine.Step),
		source.At, int64(source.Step), int32(columns), device.Buffer{}, device.Buffer{}, int32(own), items, floats, int64(out.Step), device.Buffer{}, zeros, node)
	return out
}
