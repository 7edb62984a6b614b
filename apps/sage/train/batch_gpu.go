package train

import (
	"slices"
	"unsafe"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/apps/sage"
	"github.com/hiveblas/hiveblas/apps/sage/internal/ondevice"
	"github.com/hiveblas/hiveblas/internal/device"
)

// sageTrees are steps of training along the trees of a batch. A tree is a list of vertices: its
// root, the choices of the root, then the choices of all vertices so far, and so on, as in
// ownTrees. A row has one parent, so that the transposed mean is a copy. Means come before
// products: a target has one row of the mean, in place of one for each choice.
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

// batch returns the vertices of a step.
func (t *sageTrainer) batch() int {
	if t.o.Batch > 0 {
		return min(len(t.split.Train), t.o.Batch)
	}
	return len(t.split.Train)
}

// mostTargets bounds the targets of a step of so many vertices: the vertices, or the vertices of
// their pairs.
func (t *sageTrainer) mostTargets(batch int) int {
	if t.classes != nil {
		return batch
	}
	n := t.graph.N
	return min(n, batch*(1+min(t.o.Pairs, n)*(1+min(t.o.Negatives, n))))
}

// alongTrees reports whether steps on devices go along trees: the features are full, and the trees
// smaller than the graph.
func (t *sageTrainer) alongTrees(dense bool) bool {
	if t.o.Samples == nil || !dense {
		return false
	}
	size, n := t.mostTargets(t.batch()), t.graph.N
	for _, s := range t.o.Samples {
		if size *= 1 + min(s, n); size > n {
			return false
		}
	}
	return true
}

// newTrees makes room for steps.
func (f *sageFit) newTrees() *sageTrees {
	s, t := f.S, &sageTrees{layers: make([]sageTreeLayer, len(f.layers))}
	ranks, _ := f.ranks()
	rows, widest := f.t.mostTargets((f.batch+ranks-1)/ranks), int64(1)
	floats := func(n int64) device.Buffer { return s.Alloc(4 * max(n, 1)) }
	for k := len(f.layers) - 1; k >= 0; k-- {
		l, in := &f.layers[k], int64(f.x.Step)
		if k > 0 {
			in = int64(f.layers[k-1].step)
		}
		many := int64(rows)
		to := sageTreeLayer{fan: l.samples, mean: floats(many * in), inverse: floats(many), out: floats(many * int64(l.step)), length: floats(many)}
		if f.t.o.Aggregator != sage.AggregateGCN {
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
	return f.S.Ints(list)
}

// batches queues an epoch of steps.
func (f *sageFit) batches() {
	s, t := f.S, f.t
	epoch := uint64(t.state.Epochs)
	order := t.order(epoch)
	list := f.ints(workflow.Numbers(order))
	for lo := 0; lo < len(order) && f.continueAt(lo/f.batch); lo += f.batch {
		part := order[lo:min(lo+f.batch, len(order))]
		if t.classes != nil {
			f.classStep(list.At(4*int64(lo)), len(part), lo > 0)
		} else {
			f.pairStep(part, epoch, lo > 0)
		}
		f.move()
		s.Blocks(f.kernelOf("stepped"), 1, 1, f.state)
	}
	s.Free(list)
	f.track(false)
}

// classStep queues the gradients of a batch of vertices with classes.
func (f *sageFit) classStep(list device.Buffer, count int, more bool) {
	s := f.S
	if f.trees == nil {
		s.Fill(f.batched, 0, 4*int64(f.N))
		s.Each(f.kernelOf("mark"), int64(count), int64(count), list, f.batched)
		f.forward(true)
		f.logitsOf()
		f.loss(sageCounted{times: f.batched, total: count, sums: f.train.sums}, f.slope, more)
		f.backward(true)
		return
	}
	from, to := f.part(count)
	if from == to {
		f.stepWithoutVertices(more)
		return
	}
	list, own := list.At(4*int64(from)), to-from
	z := f.grow(list, own)
	last := &f.layers[len(f.layers)-1]
	s.Gemm(device.Gemm{M: own, N: f.classes, K: last.step, A: z, B: f.parameter(f.value, f.outAt()), C: f.logits,
		StepA: last.step, StepB: f.classes, StepC: f.classes})
	bias := f.parameter(f.value, f.count-int64(f.classes))
	s.Blocks(f.kernelOf("loss"), int64(f.blocks()), workflow.GraphBlock, int64(own), int32(f.classes), f.logits, bias, f.class, list, device.Buffer{},
		float64(count), f.slope, more, f.train.sums)
	f.unclassify(own, z, f.trees.g)
	f.backwardTrees(own)
}

// stepWithoutVertices queues a step in which a rank has no vertices: no gradient and no loss.
func (f *sageFit) stepWithoutVertices(more bool) {
	f.S.Fill(f.grad, 0, 4*f.count)
	if !more {
		f.S.Fill(f.train.sums, 0, 8*sageSums/2)
	}
}

// A sagePairList is pairs of rows, and for each of a range of rows the other rows of its pairs, in
// the order of the pairs.
type sagePairList struct {
	counted      int     // the first pairs, which the loss counts
	ends, near   []int32 // of pairs: two rows; 1 if these are to be alike, else −1
	ptr          []int64 // of rows
	others       []int32
	place        []int32 // of pairs: places of their two rows among others, its length for others
	total, scale float64 // pairs of all ranks that are to be alike; vertices of the step
}

// newPairList lists the pairs with an end among rows lo to lo + rows. The loss of a pair counts
// where its first end is.
func newPairList(pairs []sagePair, lo, rows int) *sagePairList {
	l := &sagePairList{ptr: make([]int64, rows+1)}
	within := func(v int32) bool { return int(v) >= lo && int(v) < lo+rows }
	begin := make([]int32, rows+1)
	for _, first := range []bool{true, false} {
		for _, p := range pairs {
			if within(p.a) != first || !first && !within(p.b) {
				continue
			}
			l.ends, l.near = append(l.ends, p.a, p.b), append(l.near, int32(p.weight))
			for _, end := range []int32{p.a, p.b} {
				if within(end) {
					begin[int(end)-lo+1]++
				}
			}
		}
		if first {
			l.counted = len(l.near)
		}
	}
	for r := range rows {
		begin[r+1] += begin[r]
		l.ptr[r+1] = int64(begin[r+1])
	}
	l.others, l.place = make([]int32, begin[rows]), make([]int32, len(l.ends))
	for k, end := range l.ends {
		l.place[k] = int32(len(l.others))
		if within(end) {
			at := &begin[int(end)-lo]
			l.others[*at], l.place[k] = l.ends[k^1], *at
			*at++
		}
	}
	return l
}

// pairStep draws the pairs of a batch, and queues the gradients of their loss.
func (f *sageFit) pairStep(part []int, epoch uint64, more bool) {
	var vertices []int32
	var pairs []sagePair
	if from, to := f.part(len(part)); from < to {
		vertices, pairs = f.t.pairs(part[from:to], epoch)
	}
	last := &f.layers[len(f.layers)-1]
	if f.trees != nil {
		total := f.sumOf(alikeCount(pairs))
		if len(vertices) == 0 {
			f.stepWithoutVertices(more)
			return
		}
		list := f.ints(vertices)
		l := newPairList(pairs, 0, len(vertices))
		l.total, l.scale = max(total, 1), float64(len(part))
		f.alike(l, f.grow(list, len(vertices)), f.trees.g, more)
		f.backwardTrees(len(vertices))
		f.S.Free(list)
		return
	}
	for k := range pairs {
		pairs[k].a, pairs[k].b = vertices[pairs[k].a], vertices[pairs[k].b]
	}
	pairs = f.allPairs(pairs)
	f.forward(true)
	z := last.out.At
	if f.share != nil {
		z = f.scratch[2]
		f.S.Copy(z.At(4*int64(f.lo)*int64(last.step)), last.out.At, 4*int64(f.own)*int64(last.step))
		f.gatherRows(z, last.step)
	}
	l := newPairList(pairs, f.lo, f.own)
	l.total, l.scale = max(alikeCount(pairs), 1), float64(len(part))
	f.alike(l, z, f.scratch[0], more)
	f.backward(false)
}

// alike queues the loss of pairs, and the gradients of the rows of l to g.
func (f *sageFit) alike(l *sagePairList, z, g device.Buffer, more bool) {
	s, step := f.S, f.layers[len(f.layers)-1].step
	rows, pairs := len(l.ptr)-1, len(l.near)
	f.uploads = append(f.uploads, l.ptr)
	ptr := s.Upload(unsafe.Pointer(&l.ptr[0]), 8*int64(len(l.ptr)))
	others, ends, near, place := f.ints(l.others), f.ints(l.ends), f.ints(l.near), f.ints(l.place)
	slopes := s.Alloc(4 * int64(len(l.others)+1))
	kernel, blocks := f.kernelOf("alike"), int64(f.blocks())
	s.Blocks(kernel, blocks, workflow.GraphBlock, int64(l.counted), ends, near, place, int32(step), z, l.total, l.scale, slopes, more, f.train.sums)
	if l.counted < pairs {
		k := int64(l.counted)
		s.Blocks(kernel, blocks, workflow.GraphBlock, int64(pairs)-k, ends.At(8*k), near.At(4*k), place.At(8*k), int32(step), z, l.total, 0.0, slopes,
			true, f.train.sums)
	}
	c := ondevice.Choices{Ptr: ptr, List: others, Val: slopes}
	f.Gather(&c, 0, int64(rows), z, step, step, ondevice.Sum, ondevice.Others, device.Buffer{}, g, device.Buffer{}, step)
	for _, b := range []device.Buffer{ptr, others, ends, near, place, slopes} {
		s.Free(b)
	}
}

// parts returns the arguments of the parts of the columns of the input of a layer.
func (f *sageFit) parts(k int) []any {
	own, near, at, step := f.x.Cols, 0, f.x.Step, f.x.Step
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
	s, t, gcn := f.S, f.trees, f.t.o.Aggregator == sage.AggregateGCN
	rows := f.targets(count)
	s.Copy(t.node, roots, 4*int64(count))
	for k := len(rows) - 1; k >= 0; k-- {
		n := int64(rows[k])
		s.Each(f.KernelOfAnyWidth("choose_own"), n, n, t.node, device.Buffer{}, f.Rows.Ptr, f.Rows.Idx, int64(f.t.o.Seed), int32(k), int32(f.layers[k].samples),
			f.t.o.Replace, t.node.At(4*n), device.Buffer{}, f.steps)
	}
	x := f.x.At
	for k := range f.layers {
		l, to, n := &f.layers[k], &t.layers[k], rows[k]
		lanes := lanesOf(l.rows)
		per := int64(workflow.GraphBlock / lanes)
		args := []any{int64(n), int32(to.fan), t.node, k == 0, gcn, int32(lanes), x}
		args = append(append(args, f.parts(k)...), to.mine, to.mean, to.inverse)
		s.Blocks(f.kernelOf("inputs"), min((int64(n)+per-1)/per, 1<<30), workflow.GraphBlock, append(args, f.dropArgs(k)...)...)
		w := f.parameter(f.value, l.weights)
		near := to.out
		if !gcn {
			s.Gemm(device.Gemm{M: n, N: l.at, K: l.rows, A: to.mine, B: w, C: to.out, StepA: l.rows, StepB: l.step, StepC: l.step})
			w, near = w.At(4*int64(l.at)), near.At(4*int64(l.at))
		}
		s.Gemm(device.Gemm{M: n, N: l.others(gcn), K: l.rows, A: to.mean, B: w, C: near, StepA: l.rows, StepB: l.step, StepC: l.step})
		s.Blocks(f.KernelOfAnyWidth("norm"), (int64(n)+workflow.GraphBlock/32-1)/(workflow.GraphBlock/32), workflow.GraphBlock, int64(n), int32(l.step), to.out, int64(l.step),
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

// backwardTrees queues the gradients of the weights of all layers; g holds the gradient of the
// roots' embeddings.
func (f *sageFit) backwardTrees(count int) {
	s, t, gcn := f.S, f.trees, f.t.o.Aggregator == sage.AggregateGCN
	for k, n := range slices.Backward(f.targets(count)) {
		l, at := &f.layers[k], &t.layers[k]
		lanes := lanesOf(l.step)
		per := int64(workflow.GraphBlock / lanes)
		none := f.dropArgs(0)
		none[2] = uint32(0)
		s.Blocks(f.kernelOf("unnorm"), (int64(n)+per-1)/per, workflow.GraphBlock, append([]any{int64(n), int32(l.own), int32(l.near), int32(l.at), int32(l.step),
			int32(lanes), t.g, at.out, at.length, device.Buffer{}, gcn, t.mine, int64(l.step), t.mean}, append(none, int64(0), int32(0))...)...)
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
