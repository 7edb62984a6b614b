package train

import (
	"unsafe"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/apps/sage"
	"github.com/hiveblas/hiveblas/apps/sage/internal/ondevice"
	"github.com/hiveblas/hiveblas/internal/device"
)

// dropArgs are the arguments of dropout of the input of a layer.
func (f *sageFit) dropArgs(layer int) []any {
	o := f.t.o
	limit, factor := uint32(0), float32(1)
	if o.Dropout > 0 {
		limit, factor = uint32(o.Dropout*(1<<32)), float32(1/(1-o.Dropout))
	}
	return []any{int64(o.Seed ^ dropoutSeed), int32(layer), limit, device.Scalar{Type: workflow.FloatType, P: unsafe.Pointer(&factor)}, f.state}
}

// piecesInto sums up the pieces of long rows in the memory for them, a zero buffer without.
func (f *sageFit) piecesInto(c *ondevice.Choices, x device.Buffer, step, columns int, how int32) device.Buffer {
	if c.Cuts == nil || c.Cuts.Count == 0 {
		return device.Buffer{}
	}
	f.PiecesTo(f.partial, c, x, step, columns, how)
	return f.partial
}

// draw queues the choices of a layer of all vertices.
func (f *sageFit) draw(k int) {
	l, n := &f.layers[k], int64(f.N)
	args := []any{int32(f.N), f.Rows.Ptr, f.Rows.Idx, int64(f.t.o.Seed), f.steps, int32(k), int32(l.samples), l.list}
	if f.t.o.Replace {
		f.S.Each(f.KernelOfAnyWidth("choose_again"), n*int64((l.samples+1)/2), args...)
	} else {
		f.S.Each(f.KernelOfAnyWidth("choose"), n, args...)
	}
}

// times queues cols columns of the products of own rows with weights.
func (f *sageFit) times(in, w ondevice.Panel, cols int, to device.Buffer, toStep int) {
	switch {
	case f.own == 0:
	case in.Sparse.Ptr.Addr != 0:
		list := ondevice.Choices{Ptr: in.Sparse.Ptr, List: in.Sparse.Idx, Val: in.Sparse.Val}
		f.Gather(&list, 0, int64(f.own), w.At, w.Step, cols, ondevice.Sum, ondevice.Others, device.Buffer{}, to, device.Buffer{}, toStep)
	default:
		f.Product(in, w, cols, to, toStep, device.Float32)
	}
}

// products queues the products of a layer: of the own rows with the weights of the vertex itself,
// null with GCN, and of all rows with the weights of neighbours.
func (f *sageFit) products(l *sageFitLayer, in ondevice.Panel) (mine, near ondevice.Panel) {
	gcn := f.t.o.Aggregator == sage.AggregateGCN
	w := ondevice.Panel{At: f.parameter(f.value, l.weights), Rows: l.rows, Cols: l.step, Step: l.step, Kind: device.Float32}
	if f.share == nil {
		near = ondevice.Panel{At: f.scratch[0], Step: l.step}
		f.times(in, w, l.step, near.At, l.step)
		if !gcn {
			mine = near
			near.At = near.At.At(4 * int64(l.at))
		}
		return mine, near
	}
	near = ondevice.Panel{At: f.scratch[2], Step: l.others(gcn)}
	if !gcn {
		mine = ondevice.Panel{At: f.scratch[1], Step: l.at}
		f.times(in, w, l.at, mine.At.At(4*int64(f.lo)*int64(l.at)), l.at)
		w.At = w.At.At(4 * int64(l.at))
	}
	f.times(in, w, near.Step, near.At.At(4*int64(f.lo)*int64(near.Step)), near.Step)
	f.gatherRows(near.At, near.Step)
	return mine, near
}

// forward queues the layers of the own rows.
func (f *sageFit) forward(training bool) {
	for k := range f.layers {
		l := &f.layers[k]
		in := f.mine
		if k > 0 {
			in = f.layers[k-1].out
		}
		if training && f.t.o.Dropout > 0 {
			f.dropout(k, in)
			in = l.in
		}
		mine, near := f.products(l, in)
		columns := l.at
		c := f.Choices
		if training && l.samples > 0 {
			f.draw(k)
			c = ondevice.Choices{List: l.list, Samples: l.samples}
		}
		partial := f.piecesInto(&c, near.At, near.Step, columns, ondevice.Mean)
		var first device.Buffer
		if partial.Addr != 0 {
			first = c.Cuts.First.At(8 * int64(f.lo))
		}
		if c.Samples > 0 {
			c.List = c.List.At(4 * int64(f.lo) * int64(c.Samples))
		} else {
			c.Ptr = c.Ptr.At(8 * int64(f.lo))
		}
		lanes := max(f.Lanes(columns), 2)
		f.Launch(f.Kernel("layer", columns), int64(f.own), lanes, columns, int64(f.own), c.Ptr, c.List, int32(c.Samples), mine.At, int64(mine.Step),
			near.At, int64(near.Step), int32(columns), first, partial, int32(l.own), l.out.At, device.Buffer{}, int64(l.step), l.length, device.Buffer{}, f.ownRowNumbers())
	}
}

// logitsOf queues the logits of the own rows.
func (f *sageFit) logitsOf() {
	last := &f.layers[len(f.layers)-1]
	f.gemm(device.Gemm{M: f.own, N: f.classes, K: last.step, A: last.out.At, B: f.parameter(f.value, f.outAt()), C: f.logits,
		StepA: last.step, StepB: f.classes, StepC: f.classes})
}

// outAt is the place of the weights of the classifier among the parameters.
func (f *sageFit) outAt() int64 {
	last := &f.layers[len(f.layers)-1]
	return last.weights + int64(last.rows)*int64(last.step)
}

// gemm queues a product, unless it has no rows.
func (f *sageFit) gemm(g device.Gemm) {
	if g.M > 0 && g.K > 0 {
		f.S.Gemm(g)
	}
}

// dropout queues the dropout of the input of a layer.
func (f *sageFit) dropout(k int, in ondevice.Panel) {
	s, l := f.S, &f.layers[k]
	more := append(f.dropArgs(k), int64(f.lo))
	if in.Sparse.Ptr.Addr != 0 {
		for transposed, v := range []device.View{in.Sparse, f.columns} {
			warps := (int64(v.Rows) + workflow.GraphBlock/32 - 1) / (workflow.GraphBlock / 32)
			s.Blocks(f.kernelOf("drop_list"), warps, workflow.GraphBlock, append([]any{int64(v.Rows), v.Ptr, v.Idx, v.Val, f.dropped[transposed], int32(f.x.Cols),
				int32(transposed)}, more...)...)
		}
		return
	}
	own, near, at := in.Cols, 0, in.Step
	if k > 0 {
		b := &f.layers[k-1]
		own, near, at = b.own, b.near, b.at
	}
	s.Each(f.kernelOf("drop"), int64(f.own)*int64(in.Step/4), append([]any{int64(f.own), int32(own), int32(near), int32(at), int32(in.Step), in.At, l.in.At}, more...)...)
}

// blocks is the number of blocks of the loss.
func (f *sageFit) blocks() int {
	return max(1, min((f.N+workflow.GraphBlock-1)/workflow.GraphBlock, sageTrainBlocks))
}

// loss queues the loss of the own rows' vertices that count, by the logits; with more it adds the
// loss to the loss of earlier steps.
func (f *sageFit) loss(c sageCounted, slope device.Buffer, more bool) {
	bias := f.parameter(f.value, f.count-int64(f.classes))
	f.S.Blocks(f.kernelOf("loss"), int64(f.blocks()), workflow.GraphBlock, int64(f.own), int32(f.classes), f.logits, bias, f.class.At(4*int64(f.lo)),
		device.Buffer{}, c.times.At(4*int64(f.lo)),
		float64(c.total), slope, more, c.sums)
}

// unclassify queues the gradients of the classifier, and to g the gradient of rows of embeddings z.
func (f *sageFit) unclassify(rows int, z, g device.Buffer) {
	out, last := f.outAt(), &f.layers[len(f.layers)-1]
	f.gemm(device.Gemm{M: last.step, N: f.classes, K: rows, A: z, B: f.slope, C: f.parameter(f.grad, out), TransA: true,
		StepA: last.step, StepB: f.classes, StepC: f.classes})
	f.gemm(device.Gemm{M: 1, N: f.classes, K: rows, A: f.ones, B: f.slope, C: f.parameter(f.grad, f.count-int64(f.classes)),
		StepA: max(rows, 1), StepB: f.classes, StepC: f.classes})
	f.gemm(device.Gemm{M: rows, N: last.step, K: f.classes, A: f.slope, B: f.parameter(f.value, out), C: g, TransB: true,
		StepA: f.classes, StepB: f.classes, StepC: last.step})
}

// lanesOf returns the threads that share a row of floats.
func lanesOf(step int) int {
	lanes := 1
	for lanes < 32 && lanes*4 < step {
		lanes *= 2
	}
	return lanes
}

// backward queues the gradients of all parameters. With classified the slope of the logits is
// given, and else the gradient of the embeddings, in scratch.
func (f *sageFit) backward(classified bool) {
	s, gcn := f.S, f.t.o.Aggregator == sage.AggregateGCN
	g := f.scratch[0]
	if classified {
		f.unclassify(f.own, f.layers[len(f.layers)-1].out.At, g)
	}
	for k := len(f.layers) - 1; k >= 0; k-- {
		l := &f.layers[k]
		mine, others := f.scratch[1], f.scratch[2]
		columns := l.others(gcn)
		ownOthers := others.At(4 * int64(f.lo) * int64(columns))
		ownPtr := f.Rows.Ptr.At(8 * int64(f.lo))
		lanes := lanesOf(l.step)
		more := f.dropArgs(k + 1)
		if k == len(f.layers)-1 {
			more[2] = uint32(0)
		}
		per := int64(workflow.GraphBlock / lanes)
		s.Blocks(f.kernelOf("unnorm"), (int64(f.own)+per-1)/per, workflow.GraphBlock, append([]any{int64(f.own), int32(l.own), int32(l.near), int32(l.at), int32(l.step), int32(lanes), g,
			l.out.At, l.length, ownPtr, gcn, mine, int64(l.step), ownOthers}, append(more, int64(f.lo), f.samplesArg(l))...)...)
		f.gatherRows(others, columns)
		back := ondevice.Choices{Ptr: f.back.Ptr, List: f.back.Idx, Cuts: f.cuts}
		if l.samples > 0 {
			warps := (int64(f.own) + workflow.GraphBlock/32 - 1) / (workflow.GraphBlock / 32)
			s.Blocks(f.kernelOf("chosen"), warps, workflow.GraphBlock, int64(f.lo), int64(f.own), f.back.Ptr, f.back.Idx, l.list, int32(l.samples), f.chosen)
			back.Val = f.chosen
		}
		to := mine.At(4 * int64(l.at))
		self := ondevice.Others
		switch {
		case gcn:
			to, self = mine, ondevice.Self
		case f.even && l.samples == 0:
			self = ondevice.Lonely
		}
		partial := f.piecesInto(&back, others, columns, columns, ondevice.Sum)
		f.Gather(&back, int64(f.lo), int64(f.own), others, columns, columns, ondevice.Sum, self, partial, to, device.Buffer{}, l.step)
		if !gcn && self == ondevice.Others {
			s.Each(f.kernelOf("lonely"), int64(f.own)*int64(columns), int64(f.own), ownPtr, int32(columns), ownOthers, to, int64(l.step))
		}
		grad := f.parameter(f.grad, l.weights)
		if f.own == 0 { // the gradient stays 0
			continue
		}
		if l.in.Sparse.Ptr.Addr != 0 {
			list := ondevice.Choices{Ptr: f.columns.Ptr, List: f.columns.Idx, Val: f.dropped[1], Cuts: f.columnCuts}
			partial := f.piecesInto(&list, mine, l.step, l.step, ondevice.Sum)
			f.Gather(&list, 0, int64(l.rows), mine, l.step, l.step, ondevice.Sum, ondevice.Others, partial, grad, device.Buffer{}, l.step)
			continue
		}
		s.Gemm(device.Gemm{M: l.rows, N: l.step, K: f.own, A: l.in.At, B: mine, C: grad, TransA: true, StepA: l.in.Step, StepB: l.step, StepC: l.step})
		if k > 0 {
			s.Gemm(device.Gemm{M: f.own, N: l.rows, K: l.step, A: mine, B: f.parameter(f.value, l.weights), C: g, TransB: true,
				StepA: l.step, StepB: l.step, StepC: l.rows})
		}
	}
}
