package apps

import (
	"slices"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/device"
)

// sageTrees are steps of training along the trees of a batch. A tree is a list of vertices: its
// root, the choices of the root, then those of all vertices so far, and so on, as in ownTrees. A
// row has one parent, so that the transposed mean is a copy. Means come before products: a target
// has one row of the mean, in place of one for each choice.
type sageTrees struct {
	node   device.Buffer // the vertices, −1 for none
	layers []sageTreeLayer
	g      device.Buffer // gradient of rows
	mine   device.Buffer // of the rows of targets, before and after products
	mean   device.Buffer // of the means
}

// sageTreeLayer is a layer of trees with what it keeps of its forward pass.
type sageTreeLayer struct {
	fan                              int           // choices of a target
	mine, mean, inverse, out, length device.Buffer // the inputs; 1 over the rows of means; the output
}

// mostTargets bounds the targets of a step: the vertices of a batch, or those of its pairs.
func (f *sageFit) mostTargets() int {
	if f.t.classes != nil {
		return f.batch
	}
	pairs := f.t.o.Pairs
	return min(f.n, f.batch*(1+min(pairs, f.n)*(1+min(f.t.o.Negatives, f.n))))
}

// alongTrees reports whether steps go along trees: the features are full, and the trees smaller
// than the graph.
func (f *sageFit) alongTrees(dense bool) bool {
	if f.t.o.Samples == nil || !dense {
		return false
	}
	size := f.mostTargets()
	for _, s := range f.t.o.Samples {
		if size *= 1 + min(s, f.n); size > f.n {
			return false
		}
	}
	return true
}

// newTrees makes room for steps.
func (f *sageFit) newTrees() *sageTrees {
	s, t := f.s, &sageTrees{layers: make([]sageTreeLayer, len(f.layers))}
	rows, widest := f.mostTargets(), int64(1)
	floats := func(n int64) device.Buffer { return s.Alloc(4 * max(n, 1)) }
	for k := len(f.layers) - 1; k >= 0; k-- {
		l, in := &f.layers[k], int64(f.x.step)
		if k > 0 {
			in = int64(f.layers[k-1].step)
		}
		many := int64(rows)
		to := sageTreeLayer{fan: l.samples, mean: floats(many * in), inverse: floats(many), out: floats(many * int64(l.step)), length: floats(many)}
		if f.t.o.Aggregator != AggregateGCN {
			to.mine = floats(many * in)
		}
		t.layers[k] = to
		widest = max(widest, many*int64(l.step), many*in)
		rows *= 1 + l.samples
	}
	t.node = floats(int64(rows))
	t.g, t.mine, t.mean = floats(widest), floats(widest), floats(widest)
	return t
}

// ints uploads a list that does not change before the end of the epoch.
func (f *sageFit) ints(list []int32) device.Buffer {
	f.uploads = append(f.uploads, list)
	return f.s.Ints(list)
}

// batches queues an epoch of steps.
func (f *sageFit) batches() {
	s, t := f.s, f.t
	epoch := uint64(t.state.Epochs)
	order := t.order(epoch)
	list := f.ints(numbers(order))
	for lo := 0; lo < len(order) && s.Err() == nil; lo += f.batch {
		part := order[lo:min(lo+f.batch, len(order))]
		if t.classes != nil {
			f.classStep(list.At(4*int64(lo)), len(part), lo > 0)
		} else {
			f.pairStep(part, epoch, lo > 0)
		}
		f.move()
		s.Blocks(f.kernelOf("stepped"), 1, 1, f.state)
		s.Check()
	}
	s.Free(list)
	f.track(false)
}

// classStep queues the gradients of a batch of vertices with classes.
func (f *sageFit) classStep(list device.Buffer, count int, more bool) {
	s := f.s
	if f.trees == nil {
		s.Fill(f.batched, 0, 4*int64(f.n))
		s.Each(f.kernelOf("mark"), int64(count), int64(count), list, f.batched)
		f.forward(true)
		f.logitsOf()
		f.loss(sageCounted{times: f.batched, total: count, sums: f.train.sums}, f.slope, more)
		f.backward(true)
		return
	}
	z := f.grow(list, count)
	last := &f.layers[len(f.layers)-1]
	s.Gemm(device.Gemm{M: count, N: f.classes, K: last.step, A: z, B: f.parameter(f.value, f.outAt()), C: f.logits,
		StepA: last.step, StepB: f.classes, StepC: f.classes})
	bias := f.parameter(f.value, f.count-int64(f.classes))
	s.Blocks(f.kernelOf("loss"), int64(f.blocks()), graphBlock, int64(count), int32(f.classes), f.logits, bias, f.class, list, device.Buffer{},
		float64(count), f.slope, more, f.train.sums)
	f.unclassify(count, z, f.trees.g)
	f.fell(count)
}

// pairStep draws the pairs of a batch, and queues the gradients of their loss.
func (f *sageFit) pairStep(part []int, epoch uint64, more bool) {
	s, last := f.s, &f.layers[len(f.layers)-1]
	vertices, pairs := f.t.pairs(part, epoch)
	rows, z, g := f.n, last.out.at, f.scratch[0]
	var list device.Buffer
	if f.trees != nil {
		rows, g = len(vertices), f.trees.g
		list = f.ints(vertices)
		z = f.grow(list, rows)
	} else {
		for k := range pairs {
			pairs[k].a, pairs[k].b = vertices[pairs[k].a], vertices[pairs[k].b]
		}
		f.forward(true)
	}
	// Each row of the gradient sums up the other rows of its pairs, in the order of the pairs.
	ptr, begin := make([]int64, rows+1), make([]int32, rows+1)
	ends, near := make([]int32, 0, 2*len(pairs)), make([]int32, 0, len(pairs))
	alike := 0
	for _, p := range pairs {
		begin[p.a+1]++
		begin[p.b+1]++
		ends = append(ends, p.a, p.b)
		near = append(near, int32(p.weight))
		if p.weight > 0 {
			alike++
		}
	}
	for r := range rows {
		begin[r+1] += begin[r]
		ptr[r+1] = int64(begin[r+1])
	}
	others, place := make([]int32, len(ends)), make([]int32, len(ends))
	for k, p := range pairs {
		for side, end := range [][2]int32{{p.a, p.b}, {p.b, p.a}} {
			at := begin[end[0]]
			begin[end[0]]++
			others[at], place[2*k+side] = end[1], at
		}
	}
	f.uploads = append(f.uploads, ptr)
	up := []device.Buffer{s.Upload(unsafe.Pointer(&ptr[0]), 8*int64(len(ptr))), f.ints(others), f.ints(ends), f.ints(near), f.ints(place), s.Alloc(4 * int64(max(len(ends), 1)))}
	s.Blocks(f.kernelOf("alike"), int64(f.blocks()), graphBlock, int64(len(pairs)), up[2], up[3], up[4], int32(last.step), z,
		float64(max(alike, 1)), float64(len(part)), up[5], more, f.train.sums)
	c := sageChoices{ptr: up[0], list: up[1], val: up[5]}
	f.gather(&c, 0, int64(rows), z, last.step, last.step, sageSum, sageOthers, device.Buffer{}, g, device.Buffer{}, last.step)
	if f.trees != nil {
		f.fell(rows)
		s.Free(list)
	} else {
		f.backward(false)
	}
	for _, b := range up {
		s.Free(b)
	}
}

// parts returns the arguments of the parts of the columns of the input of a layer.
func (f *sageFit) parts(k int) []any {
	own, near, at, step := f.x.cols, 0, f.x.step, f.x.step
	if k > 0 {
		b := &f.layers[k-1]
		own, near, at, step = b.own, b.near, b.at, b.step
	}
	return []any{int32(own), int32(near), int32(at), int32(step)}
}

// targets returns the number of targets of each layer for so many roots.
func (f *sageFit) targets(roots int) []int {
	rows := make([]int, len(f.layers))
	for k := len(rows) - 1; k >= 0; k-- {
		rows[k] = roots
		roots *= 1 + f.layers[k].samples
	}
	return rows
}

// grow queues the choices and the layers of the trees of roots, and returns the embeddings of
// these.
func (f *sageFit) grow(roots device.Buffer, count int) device.Buffer {
	s, t, gcn := f.s, f.trees, f.t.o.Aggregator == AggregateGCN
	rows := f.targets(count)
	s.Copy(t.node, roots, 4*int64(count))
	for k := len(rows) - 1; k >= 0; k-- {
		n := int64(rows[k])
		s.Each(f.any("choose_own"), n, n, t.node, device.Buffer{}, f.rows.Ptr, f.rows.Idx, int64(f.t.o.Seed), int32(k), int32(f.layers[k].samples),
			f.t.o.Replace, t.node.At(4*n), device.Buffer{}, f.steps)
	}
	x := f.x.at
	for k := range f.layers {
		l, to, n := &f.layers[k], &t.layers[k], rows[k]
		lanes := lanesOf(l.rows)
		per := int64(graphBlock / lanes)
		args := []any{int64(n), int32(to.fan), t.node, k == 0, gcn, int32(lanes), x}
		args = append(append(args, f.parts(k)...), to.mine, to.mean, to.inverse)
		s.Blocks(f.kernelOf("inputs"), min((int64(n)+per-1)/per, 1<<30), graphBlock, append(args, f.dropArgs(k)...)...)
		w := f.parameter(f.value, l.weights)
		near := to.out
		if !gcn {
			s.Gemm(device.Gemm{M: n, N: l.at, K: l.rows, A: to.mine, B: w, C: to.out, StepA: l.rows, StepB: l.step, StepC: l.step})
			w, near = w.At(4*int64(l.at)), near.At(4*int64(l.at))
		}
		s.Gemm(device.Gemm{M: n, N: l.others(gcn), K: l.rows, A: to.mean, B: w, C: near, StepA: l.rows, StepB: l.step, StepC: l.step})
		s.Blocks(f.any("norm"), (int64(n)+graphBlock/32-1)/(graphBlock/32), graphBlock, int64(n), int32(l.step), to.out, int64(l.step),
			device.Buffer{}, int64(l.step), to.length, device.Buffer{})
		x = to.out
	}
	return x
}

// others is the number of columns of the part of neighbours, with padding.
func (l *sageFitLayer) others(gcn bool) int {
	if gcn {
		return l.step
	}
	return l.step - l.at
}

// fell queues the gradients of the weights of layers, given that of the embeddings of roots in g.
func (f *sageFit) fell(count int) {
	s, t, gcn := f.s, f.trees, f.t.o.Aggregator == AggregateGCN
	for k, n := range slices.Backward(f.targets(count)) {
		l, at := &f.layers[k], &t.layers[k]
		lanes := lanesOf(l.step)
		per := int64(graphBlock / lanes)
		none := f.dropArgs(0)
		none[2] = uint32(0)
		s.Blocks(f.kernelOf("unnorm"), (int64(n)+per-1)/per, graphBlock, append([]any{int64(n), int32(l.own), int32(l.near), int32(l.at), int32(l.step),
			int32(lanes), t.g, at.out, at.length, device.Buffer{}, gcn, t.mine, int64(l.step), t.mean}, append(none, int32(0))...)...)
		columns := l.others(gcn)
		grad, w := f.parameter(f.grad, l.weights), f.parameter(f.value, l.weights)
		nearGrad, nearW := grad, w
		if !gcn {
			nearGrad, nearW = grad.At(4*int64(l.at)), w.At(4*int64(l.at))
			s.Gemm(device.Gemm{M: l.rows, N: l.at, K: n, A: at.mine, B: t.mine, C: grad, TransA: true, StepA: l.rows, StepB: l.step, StepC: l.step})
		}
		s.Gemm(device.Gemm{M: l.rows, N: columns, K: n, A: at.mean, B: t.mean, C: nearGrad, TransA: true, StepA: l.rows, StepB: columns, StepC: l.step})
		if k == 0 {
			return
		}
		// The inputs have served: their memory takes their gradients.
		if !gcn {
			s.Gemm(device.Gemm{M: n, N: l.rows, K: l.at, A: t.mine, B: w, C: at.mine, TransB: true, StepA: l.step, StepB: l.step, StepC: l.rows})
		}
		s.Gemm(device.Gemm{M: n, N: l.rows, K: columns, A: t.mean, B: nearW, C: at.mean, TransB: true, StepA: columns, StepB: l.step, StepC: l.rows})
		args := []any{int64(n), int32(at.fan), t.node, at.mine, at.mean, at.inverse}
		args = append(append(args, f.parts(k)...), t.g)
		items := int64(n) * int64(1+at.fan) * int64(l.rows/4)
		s.Each(f.kernelOf("spread"), items, append(args, f.dropArgs(k)...)...)
	}
}

// samplesArg says to kernels how many neighbours a vertex of a layer chooses.
func (f *sageFit) samplesArg(l *sageFitLayer) int32 {
	if f.t.o.Replace {
		return int32(-l.samples)
	}
	return int32(l.samples)
}
