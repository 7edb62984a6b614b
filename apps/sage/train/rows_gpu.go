package train

import (
	"slices"
	"sort"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/apps/sage"
	"github.com/hiveblas/hiveblas/apps/sage/internal/neural"
	"github.com/hiveblas/hiveblas/apps/sage/internal/ondevice"
	"github.com/hiveblas/hiveblas/apps/sage/internal/sampled"
	"github.com/hiveblas/hiveblas/comm/spmd"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
)

// Training of GraphSAGE on a group of devices. Every device has the graph. Steps along trees
// compute the trees of a share of each batch, from the features of all vertices. Other steps, and
// all evaluations, compute a range of the rows of each layer. The devices gather the products that
// neighbours read, and in the backward pass the gradients of these products; each device sums up
// the gradients of its rows by the transposed graph. Then they gather the gradients of the weights,
// and each moves the weights by the sums in the order of ranks. The weights and the state of
// training are the same bits on all devices, so that all end with the same step.
//
// A rank that fails takes part in the collectives until the ranks agree to end, so that the group
// stays usable.

// sageAgree is the number of steps of an epoch between two agreements of the ranks to go on. An
// agreement takes as long as a small kernel.
const sageAgree = 16

// sageRowWork is the number of entries that take the time of a row: on an H100, R-MAT 20, layers of
// 32 columns, 4.1 ns a row and .19 ns an entry in an epoch.
const sageRowWork = 20

// sageShare is the part of one rank in a training on devices.
type sageShare struct {
	*workflow.Member
	main  bool          // the first rank of its process, which reports and has the result
	who   device.Buffer // the numbers of the own rows
	cause error         // an error of Each, or of writing the checkpoint
	work  []int64       // of the ranks: entries and rows
}

// ranks returns the number of ranks and the own one; 1 and 0 on one device.
func (f *sageFit) ranks() (size, rank int) {
	if f.share == nil {
		return 1, 0
	}
	return f.share.C.Size(), f.share.C.Rank()
}

// main reports whether this rank reports for its process.
func (f *sageFit) main() bool { return f.share == nil || f.share.main }

// ownRowNumbers returns the numbers of the own rows, a zero buffer where these are all.
func (f *sageFit) ownRowNumbers() device.Buffer {
	if f.share == nil {
		return device.Buffer{}
	}
	return f.share.who
}

// part returns the range of this rank's items of a batch.
func (f *sageFit) part(count int) (from, to int) {
	ranks, rank := f.ranks()
	cuts := spmd.CutEvenly(int64(count), ranks, 1, 1)
	return int(cuts[rank]), int(cuts[rank+1])
}

// fail ends training by an error that concerns the process and not a rank.
func (f *sageFit) fail(err error) {
	if f.share != nil && f.share.cause == nil {
		f.share.cause = err
	}
	f.S.Fail(err)
}

// running reports whether training goes on, without an agreement.
func (f *sageFit) running() bool {
	if f.share == nil {
		return f.S.Err() == nil
	}
	return !f.share.Over
}

// agreeToContinue reports whether training goes on: no rank has failed, and no context has ended.
// All ranks get the same answer.
func (f *sageFit) agreeToContinue() bool {
	h := f.share
	if h == nil {
		f.S.Check()
		return f.S.Err() == nil
	}
	return h.AgreeOn(f.S, 0) != nil
}

// continueAt is agreeToContinue before a step of an epoch. Ranks agree before some of the steps.
func (f *sageFit) continueAt(step int) bool {
	if f.share == nil || step%sageAgree == 0 {
		return f.agreeToContinue()
	}
	return f.running()
}

// gatherRows gathers the rows of a panel of all vertices after each rank has written its own rows.
func (f *sageFit) gatherRows(x device.Buffer, columns int) {
	if h := f.share; h != nil {
		f.gatherBytes(x, h.Bytes(4*columns), 4*f.lo*columns)
	}
}

// gatherParts gathers parts of equal size after each rank has written its own part.
func (f *sageFit) gatherParts(x device.Buffer, bytes int64) {
	if h := f.share; h != nil {
		f.gatherBytes(x, slices.Repeat([]int{int(bytes)}, h.C.Size()), int(bytes)*h.C.Rank())
	}
}

// gatherBytes gathers blocks of so many bytes of each rank in place. The own one is at a place.
func (f *sageFit) gatherBytes(x device.Buffer, counts []int, at int) {
	h, total := f.share, 0
	for _, n := range counts {
		total += n
	}
	if h.Over || h.C.Size() == 1 || total == 0 {
		return
	}
	whole := workflow.DeviceBytes(x, total)
	f.share.Lost(f.S, h.C.AllGatherV(h.Wait, whole, counts, whole.Slice(at, at+counts[h.C.Rank()])))
}

// sumOf adds up a number of each rank.
func (f *sageFit) sumOf(own float64) (sum float64) {
	if f.share == nil || f.share.Over {
		return own
	}
	all, err := spmd.Tell(f.share.Session, f.share.C, own)
	f.share.Lost(f.S, err)
	for _, x := range all {
		sum += x
	}
	return sum
}

// allPairs returns the pairs of all ranks, in the order of ranks.
func (f *sageFit) allPairs(own []sagePair) []sagePair {
	h := f.share
	if h == nil || h.Over {
		return own
	}
	all, _, err := spmd.AllGatherLists(h.Wait, h.C, own)
	h.Lost(f.S, err)
	return all
}

// ownCuts returns the pieces of long rows that belong to the own rows.
func (f *sageFit) ownCuts(c *ondevice.Cuts) *ondevice.Cuts {
	if c == nil || c.Count == 0 || f.S.Err() != nil {
		return c
	}
	own := *c
	own.Begin = f.S.Read(c.First, int64(f.lo))
	own.Count = f.S.Read(c.First, int64(f.lo+f.own)) - own.Begin
	return &own
}

// joinGroup makes f a rank of a group; the cuts of the group give the rows of the rank.
func (f *sageFit) joinGroup(h *sageShare) {
	lo, hi := h.Own(h.C)
	f.share, f.lo, f.own = h, lo, hi-lo
	list := make([]int32, f.own)
	for k := range list {
		list[k] = int32(lo + k)
	}
	h.who = f.S.Ints(list)
	f.S.Sync()
}

// shareWork tells the ranks the work of each.
func (f *sageFit) shareWork() {
	h, work := f.share, sageRowWork*int64(f.own)
	if f.own > 0 && f.S.Err() == nil {
		work += f.S.Read(f.Rows.Ptr, int64(f.lo+f.own)) - f.S.Read(f.Rows.Ptr, int64(f.lo))
	}
	all, err := spmd.Tell(h.Session, h.C, work)
	h.work = all
	f.share.Lost(f.S, err)
}

// imbalance is the largest share of the work of the ranks, times their number.
func (h *sageShare) imbalance() float64 {
	sum := int64(0)
	for _, x := range h.work {
		sum += x
	}
	return float64(slices.Max(h.work)) * float64(len(h.work)) / float64(max(sum, 1))
}

// cutTraining cuts the rows of a graph, which every rank has, into ranges of equal work.
func cutTraining(w *workflow.Division, graph rep.View) error {
	n, _ := graph.Dims()
	w.Cuts = make([]int, w.Group.Size()+1)
	g, err := graph.Operand(device.Of(w.Group.PlaceOf(0)))
	if err != nil {
		return err
	}
	return w.On(0, func(s *device.Session) error {
		ptr := s.Rows(g).Ptr
		before := func(row int) int64 { return s.Read(ptr, int64(row)) + sageRowWork*int64(row) }
		total := before(n)
		for r := range w.Cuts {
			want := total / int64(len(w.Cuts)-1) * int64(r)
			w.Cuts[r] = sort.Search(n, func(row int) bool { return before(row) >= want })
		}
		w.Cuts[w.Group.Size()] = n
		return s.Err()
	})
}

// trainOnGroup is TrainGraphSAGE on a group of devices. The result is nil if the graph exceeds the
// limit for gathered operands.
func trainOnGroup(w *workflow.Division, a rep.View, features *matrix.View[float32], classes []int32, split SAGESplit, n, d, count int, o SAGETrainOptions) (*SAGETraining, error) {
	if !a.Gatherable(w.Group) {
		if o.Method == workflow.Fused {
			return nil, &workflow.ParameterError{App: w.Op, Arg: "the method", Got: "fused for a graph beyond the gather limit of its group", Want: "auto or pipeline"}
		}
		return nil, nil
	}
	graphs, err := a.Replicas(w.Wait, w.Group)
	if err != nil {
		return nil, err
	}
	var host *sampled.Graph
	if classes == nil { // the host draws pairs
		all := o.Run
		all.Threads = w.Threads()
		err := w.Once(func() (err error) {
			host, err = sampled.NewGraph(w.Op, graphs[0], all, sampled.Rule(o.Sampling), o.Replace, o.Seed, neural.Aggregator(o.Aggregator))
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	t := newFusedTrainer(host, a.NVals(), classes, split, n, d, count, o)
	t.division = w
	if err := t.resume(); err != nil {
		return nil, err
	}
	t.division, t.idle = nil, !w.Group.First()
	if err := cutTraining(w, graphs[0]); err != nil {
		return nil, w.Fail(w.Group.Ranks()[0], err)
	}
	dense := features.NVals()*4 > int64(n)*int64(d)
	along := t.alongTrees(dense) && workflow.Fits(w, features)
	var xs []*matrix.View[float32]
	if along {
		xs, err = workflow.Replicas(w, features)
	} else {
		xs, err = access.Blocks(features, rep.Query{Group: w.Group, Context: w.Wait, Cuts: w.Cuts})
	}
	if err != nil {
		return nil, err
	}
	ranks := make([]*sageRank, len(graphs))
	gs, x := make([]device.Operand, len(graphs)), make([]device.Operand, len(graphs))
	err = w.Members(func(k int) (err error) {
		at := device.Of(w.Group.PlaceOf(k))
		if gs[k], err = graphs[k].Operand(at); err == nil {
			x[k], err = access.Operand(xs[k], at)
		}
		return err
	}, func(k int, m *workflow.Member, s *device.Session) error {
		r := &sageRank{share: &sageShare{Member: m, main: k == 0}, t: *t}
		if ranks[k] = r; k > 0 {
			r.t.o.Each, r.t.o.Progress, r.t.o.Checkpoint = nil, nil, ""
		}
		r.train(s, gs[k], x[k], n, d, count, dense, along)
		return nil
	})
	main := ranks[0]
	if main != nil && main.share.cause != nil && len(ranks) == w.Group.Size() { // no error of a rank
		return nil, main.share.cause
	}
	if err != nil {
		return nil, err
	}
	if o.Trace != nil {
		imbalance := main.share.imbalance()
		if along {
			imbalance = spmd.Unevenness(spmd.CutEvenly(int64(t.batch()), w.Group.Size(), 1, 1), func(lo, hi int64) int64 { return hi - lo })
		}
		o.Trace(ops.Trace{Op: w.Op, Method: ops.Method(main.method), Place: w.Group.String(), Work: int64(main.t.state.Epochs), Imbalance: imbalance})
	}
	res := main.t.state.SAGETraining
	res.Model = new(sage.SAGEModel)
	res.Model.SetInside(t.net)
	return &res, nil
}

// A sageRank is a rank of this process in a training on devices.
type sageRank struct {
	share  *sageShare
	t      sageTrainer // shares the weights of the process
	method string
}

// train trains within a session.
func (r *sageRank) train(s *device.Session, g, x device.Operand, n, d, count int, dense, along bool) {
	g.Pattern = true
	f := &sageFit{Device: ondevice.NewDevice(s, device.Float32, g, n), t: &r.t, classes: count}
	f.joinGroup(r.share)
	f.prepare(x, d, dense, along)
	if f.agreeToContinue() {
		f.shareWork()
		r.method = f.method()
		f.run()
	}
}
