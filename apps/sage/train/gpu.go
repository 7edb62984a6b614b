package train

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/apps/sage"
	"github.com/hiveblas/hiveblas/apps/sage/internal/neural"
	"github.com/hiveblas/hiveblas/apps/sage/internal/ondevice"
	"github.com/hiveblas/hiveblas/apps/sage/internal/sampled"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/philox"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
)

//go:embed kernels/sage_train.cu
var sageTrainText string

func init() { device.Describe("sagetrain", device.AnyType(sageTrainProgram)) }

func sageTrainProgram() device.Program {
	return workflow.GraphProgram("sagetrain", "training of GraphSAGE", workflow.PhiloxText+sageTrainText, map[string]any{"HB_PHILOX_ROUNDS": philox.Rounds})
}

// sageTrainBlocks is the number of blocks of hb_sage_loss, at most, and sageSums of the sums that
// they write: of the training vertices, and of the vertices that validate or test.
const (
	sageTrainBlocks = 256
	sageSums        = 2 * 2 * sageTrainBlocks
)

// sageSmall is the entries of a graph and of its rows below which an epoch takes less time than its
// launches, so that epochs run as graphs of sageGraphEpochs of them.
const (
	sageSmall       = 1 << 22
	sageGraphEpochs = 64
)

// sageTrainState is hb_sage_state of kernels/sage_train.cu.
type sageTrainState struct {
	epochs, steps, best, done, improved, limit, patience, validates int64
	validate, bestLoss                                              float64
}

// fuses reports whether kernels train with these settings.
func (o *SAGETrainOptions) fuses() bool {
	return o.Links == nil && (o.Aggregator == sage.AggregateMean || o.Aggregator == sage.AggregateGCN) && o.Sampling == sage.SampleUniform && slices.Max(o.Hidden) <= 128
}

// sageFit is training on a device within a session.
type sageFit struct {
	*ondevice.Device
	lo, own                        int        // rows of layers that this device computes: own from lo on
	share                          *sageShare // its part as a rank of a group; nil on one device
	widest                         int        // columns of a layer
	t                              *sageTrainer
	code                           device.Code
	state                          device.Buffer
	x                              ondevice.Panel // features that trees read
	mine                           ondevice.Panel // features of the own rows
	back                           device.View    // the transposed graph
	cuts                           *ondevice.Cuts // of its rows
	even                           bool           // the graph is symmetric
	columns                        device.View    // the transposed features, if they are sparse
	dropped                        [2]device.Buffer
	layers                         []sageFitLayer
	count                          int64 // parameters
	value, grad, first, next, best device.Buffer
	grads                          device.Buffer // of all ranks, stride items each; grad is the own part
	stride                         int64
	sums                           device.Buffer // of the losses of all ranks, sageSums numbers each
	classes                        int
	logits, slope, ones            device.Buffer
	class                          device.Buffer
	train, valid                   sageCounted
	history                        device.Buffer
	done                           device.Buffer
	scratch                        [3]device.Buffer // rows of the widest layer
	partial                        device.Buffer    // sums of pieces
	columnCuts                     *ondevice.Cuts   // of the rows of columns
	batch                          int              // vertices of a step
	steps                          device.Buffer    // the number of steps, within state
	batched                        device.Buffer    // times of the vertices of a batch
	chosen                         device.Buffer    // of entries of back: how often they are chosen
	trees                          *sageTrees       // steps along trees, nil for all vertices
	uploads                        []any            // host memory of an epoch's uploads
}

// sageCounted are the vertices that the loss counts.
type sageCounted struct {
	times device.Buffer // of each vertex
	total int
	sums  device.Buffer
}

// sageFitLayer is a layer with what it keeps of its forward pass.
type sageFitLayer struct {
	own, near, at, step int // parts of the columns of the output
	rows                int // of the weights
	in                  ondevice.Panel
	out                 ondevice.Panel
	length              device.Buffer
	weights             int64         // place of the weights among the parameters
	samples             int           // neighbours that a vertex chooses; 0 for all
	list                device.Buffer // of them, of all vertices
}

func (f *sageFit) kernelOf(name string) device.Kernel { return f.S.Kernel(f.code, "hb_sage_"+name) }

// parameter returns n of a list of parameters from a place on.
func (f *sageFit) parameter(list device.Buffer, at int64) device.Buffer { return list.At(4 * at) }

// trainFused is TrainGraphSAGE on a device. graph is the host's, from which it draws pairs; nil
// with classes.
func trainFused(at device.Runner, a rep.View, features *matrix.View[float32], graph *sampled.Graph, classes []int32, split SAGESplit, n, d, count int, o SAGETrainOptions) (*SAGETraining, error) {
	g, err := a.Operand(at)
	if err != nil {
		return nil, err
	}
	x, err := access.Operand(features, at)
	if err != nil {
		return nil, err
	}
	t := newFusedTrainer(graph, a.NVals(), classes, split, n, d, count, o)
	if err := t.resume(); err != nil {
		return nil, err
	}
	dense := features.NVals()*4 > int64(n)*int64(d)
	method := ""
	err = at.Run(workflow.Call(o.Run, "TrainGraphSAGE"), func(s *device.Session) {
		g.Pattern = true
		f := &sageFit{Device: ondevice.NewDevice(s, device.Float32, g, n), t: t, classes: count, own: n}
		f.prepare(x, d, dense, t.alongTrees(dense))
		method = f.method()
		f.run()
	})
	if err != nil {
		return nil, err
	}
	if o.Trace != nil {
		o.Trace(ops.Trace{Op: "TrainGraphSAGE", Method: ops.Method(method), Place: at.Place().String(), Work: int64(t.state.Epochs)})
	}
	res := t.state.SAGETraining
	res.Model = new(sage.SAGEModel)
	res.Model.SetInside(t.net)
	return &res, nil
}

// newFusedTrainer returns a trainer for devices. graph is the host's, nil with classes.
func newFusedTrainer(graph *sampled.Graph, entries int64, classes []int32, split SAGESplit, n, d, count int, o SAGETrainOptions) *sageTrainer {
	if graph == nil {
		graph = &sampled.Graph{N: n}
	}
	t := &sageTrainer{o: o, graph: graph, entries: entries, classes: classes, split: split}
	t.net = neural.Random[float32](neural.Aggregator(o.Aggregator), o.Heads, d, o.Hidden, count, o.Seed)
	t.best = t.net.Values()
	t.state.Validate, t.state.bestLoss = math.NaN(), math.Inf(1)
	return t
}

// prepare makes room for all that epochs need, and uploads the parameters. x has the features of
// all vertices, or of the own rows, which are enough for steps that do not go along trees.
func (f *sageFit) prepare(x device.Operand, d int, dense, along bool) {
	s, t, n, own := f.S, f.t, int64(f.N), int64(f.own)
	f.code = s.Program("apps: training of GraphSAGE", sageTrainProgram)
	rowsOfX := f.own
	if along {
		rowsOfX = f.N
	}
	f.x = f.Features(x, rowsOfX, d, dense)
	f.mine = f.x
	if along {
		f.mine.At, f.mine.Rows = f.x.At.At(4*int64(f.lo)*int64(f.x.Step)), f.own
	}
	if !dense {
		f.columns = s.Cols(x)
		f.columnCuts = f.CutsOf(x, f.columns, "apps: pieces of long columns")
	}
	if err := f.Choose(nil, 0, false, 0, -1, t.o.Aggregator == sage.AggregateGCN); err != nil {
		s.Fail(err)
		return
	}
	f.even, f.back, f.cuts = f.Graph.Symmetric, f.Rows, f.Choices.Cuts
	if !f.even {
		f.back = s.Cols(f.Graph)
		f.cuts = f.CutsOf(f.Graph, f.back, "apps: pieces of long columns")
	}
	if f.share != nil {
		f.cuts, f.Choices.Cuts = f.ownCuts(f.cuts), f.ownCuts(f.Choices.Cuts)
	}
	gcn := t.o.Aggregator == sage.AggregateGCN
	rows, in := f.Padded(d), f.mine
	if !dense {
		rows = d
	}
	f.batch = t.batch()
	drops := t.o.Dropout > 0 && !along
	for k, l := range t.net.Layers {
		to := sageFitLayer{own: l.Self.Value.Cols, rows: rows, weights: f.count}
		if to.samples = max(sampled.SamplesOf(t.o.Samples, len(t.net.Layers)-1-k), 0); to.samples > 0 && !along {
			to.list = s.Alloc(4 * max(n*int64(to.samples), 1))
		}
		to.at = f.Padded(to.own)
		if to.step = to.at; !gcn {
			to.near = l.Neighbour.Value.Cols
			to.step += f.Padded(to.near)
		}
		to.in = in
		if drops {
			if to.in.Sparse.Ptr.Addr != 0 {
				f.dropped = [2]device.Buffer{s.Alloc(4 * max(in.Sparse.Entries, 1)), s.Alloc(4 * max(in.Sparse.Entries, 1))}
				to.in.Sparse.Val = f.dropped[0]
			} else {
				to.in.At = f.Alloc(f.own, in.Step).At
			}
		} else if to.in.Sparse.Ptr.Addr != 0 {
			f.dropped = [2]device.Buffer{to.in.Sparse.Val, f.columns.Val}
		}
		to.out = f.Alloc(f.own, to.step)
		to.length = s.Alloc(4 * max(own, 1))
		f.count += int64(rows) * int64(to.step)
		f.layers = append(f.layers, to)
		rows, in = to.step, to.out
	}
	f.count += int64(rows)*int64(f.classes) + int64(f.classes) // 0 without classes
	pieces := int64(1)
	for _, l := range f.layers {
		f.widest = max(f.widest, l.step)
	}
	for k := range f.scratch {
		f.scratch[k] = f.Alloc(f.N, f.widest).At
	}
	for _, c := range []*ondevice.Cuts{f.Choices.Cuts, f.cuts, f.columnCuts} {
		if c != nil {
			pieces = max(pieces, c.Begin+c.Count)
		}
	}
	f.partial = s.Alloc(4 * pieces * int64(f.widest))
	f.value, f.first, f.next = f.Floats(f.pack(func(p *neural.Param[float32]) []float32 { return p.Value.Val })),
		f.Floats(f.pack(func(p *neural.Param[float32]) []float32 { return p.First.Val })),
		f.Floats(f.pack(func(p *neural.Param[float32]) []float32 { return p.Next.Val }))
	best := t.best
	if best == nil {
		best = t.net.Values()
	}
	f.best = f.Floats(f.pack(func(p *neural.Param[float32]) []float32 { return best[p.Name] }))
	ranks, rank := f.ranks()
	f.stride = (f.count + 31) / 32 * 32 // rows of weights begin at multiples of 16 bytes
	f.grads = s.Zeros(4 * f.stride * int64(ranks))
	f.grad = f.grads.At(4 * f.stride * int64(rank))
	f.sums = s.Zeros(8 * sageSums * int64(ranks))
	cells := max(n*int64(f.classes), 1)
	f.logits, f.slope = s.Alloc(4*cells), s.Alloc(4*cells)
	f.ones = f.Floats(slices.Repeat([]float32{1}, max(f.N, 1)))
	f.class = s.Ints(t.classes)
	f.train, f.valid = f.uploadCounts(t.split.Train, 0), f.uploadCounts(f.validated(), 1)
	f.history = s.Zeros(8 * 4 * int64(t.o.Epochs+1))
	f.uploadState(t.state)
	if t.o.Samples != nil && !along {
		f.chosen = s.Alloc(4 * max(f.back.Entries, 1))
	}
	f.batched = s.Alloc(4 * max(n, 1))
	if along {
		f.trees = f.newTrees()
	}
}

// validated returns the vertices that validate; none without classes.
func (f *sageFit) validated() []int {
	if f.t.classes == nil {
		return nil
	}
	return f.t.split.Validate
}

// singleStep reports whether an epoch is a step of all training vertices and of all vertices'
// layers, with kernels that depend only on the state.
func (f *sageFit) singleStep() bool {
	return f.trees == nil && f.t.classes != nil && f.batch == len(f.t.split.Train)
}

// method names what steps compute.
func (f *sageFit) method() string {
	method := "layers"
	switch {
	case f.trees != nil:
		method = "trees"
	case f.t.o.Samples != nil:
		method = "layers of samples"
	}
	if f.t.classes == nil {
		method += ", pairs drawn on the host"
	}
	if f.share != nil {
		method = workflow.ByRanges + ", " + method
	}
	return method
}

// uploadCounts uploads how often vertices stand in a list. Its sums are number which among the sums
// of the rank.
func (f *sageFit) uploadCounts(list []int, which int64) sageCounted {
	times := make([]int32, max(f.N, 1))
	for _, v := range list {
		times[v]++
	}
	_, rank := f.ranks()
	c := sageCounted{times: f.S.Ints(times), total: len(list), sums: f.sums.At(8 * (sageSums*int64(rank) + which*sageSums/2))}
	f.S.Sync()
	return c
}

// uploadState uploads the state of training.
func (f *sageFit) uploadState(s sageState) {
	state := sageTrainState{epochs: int64(s.Epochs), steps: s.steps, best: int64(s.Best), limit: int64(f.t.o.Epochs), patience: int64(f.t.o.Patience),
		validate: s.Validate, bestLoss: s.bestLoss}
	f.state = f.S.Upload(unsafe.Pointer(&state), int64(unsafe.Sizeof(state)))
	f.steps = f.state.At(int64(unsafe.Offsetof(state.steps)))
	f.S.Sync()
}

// pack lists parameters as the device has them.
func (f *sageFit) pack(of func(p *neural.Param[float32]) []float32) []float32 {
	list := make([]float32, f.count)
	f.each(func(p *neural.Param[float32], i int, at int64) { list[at] = of(p)[i] })
	return list
}

// unpack is the inverse of pack.
func (f *sageFit) unpack(from device.Buffer, of func(p *neural.Param[float32]) []float32) {
	list := make([]float32, f.count)
	f.S.Download(unsafe.Pointer(&list[0]), from, 4*f.count)
	f.each(func(p *neural.Param[float32], i int, at int64) { of(p)[i] = list[at] })
}

// each calls do with each item of the parameters and its place on the device.
func (f *sageFit) each(do func(p *neural.Param[float32], i int, at int64)) {
	net := f.t.net
	spread := func(p *neural.Param[float32], at int64, column, step int, before *sageFitLayer) {
		for i := range p.Value.Val {
			r, c := i/p.Value.Cols, i%p.Value.Cols
			if before != nil && r >= before.own {
				r += before.at - before.own
			}
			do(p, i, at+int64(r)*int64(step)+int64(column+c))
		}
	}
	var before *sageFitLayer
	for k := range f.layers {
		l := &f.layers[k]
		spread(net.Layers[k].Self, l.weights, 0, l.step, before)
		if net.Layers[k].Neighbour != nil {
			spread(net.Layers[k].Neighbour, l.weights, l.at, l.step, before)
		}
		before = l
	}
	if net.Out == nil {
		return
	}
	at := before.weights + int64(before.rows)*int64(before.step)
	spread(net.Out, at, 0, f.classes, before)
	spread(net.Bias, at+int64(before.step)*int64(f.classes), 0, f.classes, nil)
}

// run trains until the last epoch, and downloads the result.
func (f *sageFit) run() {
	s, t := f.S, f.t
	numbers, at := s.Results()
	f.done = at
	if !f.agreeToContinue() {
		return
	}
	if t.state.Epochs < t.o.Epochs && t.state.Epochs-t.state.Best < t.o.Patience {
		look := 1 // epochs without a look
		switch {
		case f.share != nil || !f.singleStep():
		case t.o.Each != nil || t.o.Checkpoint != "":
		case f.Rows.Entries+int64(f.N)*int64(f.widest) < sageSmall:
			f.epoch() // loads what a capture must not
			if s.Sync(); numbers[0] == 0 {
				s.Repeat(sageGraphEpochs, f.epoch)
			}
			f.report(t.state.Epochs)
		default: // beyond the end each epoch costs more than a wait
			look = 4
		}
		for f.agreeToContinue() && numbers[0] == 0 { // ranks that go on have the same numbers
			for range min(look, t.o.Epochs-t.state.Epochs) {
				if f.singleStep() {
					f.epoch()
				} else {
					f.batches()
				}
			}
			f.report(t.state.Epochs)
			f.uploads = f.uploads[:0]
		}
	}
	if !f.running() {
		return
	}
	if f.main() {
		f.fetch()
	}
	if len(f.validated()) > 0 {
		s.Copy(f.value, f.best, 4*f.count)
		for _, p := range t.net.All {
			if f.main() && t.best != nil {
				copy(p.Value.Val, t.best[p.Name])
			}
		}
	}
	t.state.Test, t.state.TestMRR = math.NaN(), math.NaN()
	if t.classes != nil && len(t.split.Test) > 0 {
		f.evaluate(f.uploadCounts(t.split.Test, 1))
		f.gatherParts(f.sums, 8*sageSums)
		ranks, _ := f.ranks()
		sums := make([]float64, sageSums*ranks)
		s.Download(unsafe.Pointer(&sums[0]), f.sums, 8*int64(len(sums)))
		right := 0.0
		for r := range ranks {
			for b := range f.blocks() {
				right += sums[sageSums*r+sageSums/2+2*b+1]
			}
		}
		t.state.Test = right / float64(len(t.split.Test))
	}
	f.agreeToContinue()
}

// fetch downloads the state and the parameters.
func (f *sageFit) fetch() {
	t := f.t
	f.downloadState()
	f.unpack(f.value, func(p *neural.Param[float32]) []float32 { return p.Value.Val })
	f.unpack(f.first, func(p *neural.Param[float32]) []float32 { return p.First.Val })
	f.unpack(f.next, func(p *neural.Param[float32]) []float32 { return p.Next.Val })
	if len(f.validated()) == 0 {
		t.best = nil
		return
	}
	if t.best == nil {
		t.best = t.net.Values()
	}
	f.unpack(f.best, func(p *neural.Param[float32]) []float32 { return t.best[p.Name] })
}

// downloadState downloads the state.
func (f *sageFit) downloadState() {
	var state sageTrainState
	f.S.Download(unsafe.Pointer(&state), f.state, int64(unsafe.Sizeof(state)))
	s := &f.t.state
	s.Epochs, s.Best, s.steps, s.Validate, s.bestLoss = int(state.epochs), int(state.best), state.steps, state.validate, state.bestLoss
}

// report tells of the epochs after before, and saves a checkpoint if one is due.
func (f *sageFit) report(before int) {
	t := f.t
	f.downloadState()
	s := &t.state
	if s.Epochs == before || f.S.Err() != nil {
		return
	}
	rows := make([][4]float64, s.Epochs-before)
	f.S.Download(unsafe.Pointer(&rows[0]), f.history.At(32*int64(before)), 32*int64(len(rows)))
	if f.S.Err() != nil {
		return
	}
	s.Loss = rows[len(rows)-1][0]
	workflow.Report(t.o.Run, fmt.Sprintf("training, loss %.4f", s.Loss), int64(s.Epochs), int64(t.o.Epochs))
	if t.o.Checkpoint != "" && (s.Epochs%t.o.Every == 0 || s.Epochs == t.o.Epochs || s.Epochs-s.Best >= t.o.Patience) {
		f.fetch()
		if f.S.Err() == nil {
			f.fail(t.save())
		}
	}
	if t.o.Each == nil {
		return
	}
	for k, r := range rows {
		p := SAGEProgress{Epoch: before + k + 1, Loss: r[0], Accuracy: r[1] / float64(len(t.split.Train)), Validate: math.NaN()}
		if len(f.validated()) > 0 {
			p.Validate = r[2]
		}
		if err := t.o.Each(p); err != nil {
			f.fail(err)
			return
		}
	}
}

// epoch queues an epoch of one step.
func (f *sageFit) epoch() {
	f.forward(true)
	f.logitsOf()
	f.loss(f.train, f.slope, false)
	f.backward(true)
	f.move()
	f.track(true)
}

// move queues Adam.
func (f *sageFit) move() {
	decay, rate := f.t.o.Decay, f.t.o.Rate
	ranks, _ := f.ranks()
	f.gatherParts(f.grads, 4*f.stride)
	f.S.Each(f.kernelOf("adam"), f.count, f.count, int32(ranks), f.stride, f.value, f.grads, f.first, f.next, rate, decay, f.state)
}

// track queues the validation and the end of an epoch, and with once of its only step.
func (f *sageFit) track(once bool) {
	if f.valid.total > 0 {
		f.evaluate(f.valid)
	}
	ranks, _ := f.ranks()
	f.gatherParts(f.sums, 8*sageSums)
	f.S.Blocks(f.kernelOf("track"), 1, 32, f.state, f.sums, float64(f.train.total), f.sums.At(8*sageSums/2), float64(f.valid.total),
		int32(f.blocks()), int32(ranks), int64(sageSums), once, f.history, f.done)
	f.S.Each(f.kernelOf("keep"), f.count, f.count, f.value, f.best, f.state)
}

// evaluate queues the loss of vertices without dropout.
func (f *sageFit) evaluate(c sageCounted) {
	f.forward(false)
	f.logitsOf()
	f.loss(c, device.Buffer{}, false)
}
