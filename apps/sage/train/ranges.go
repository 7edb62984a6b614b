package train

import (
	"math"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/apps/sage"
	"github.com/hiveblas/hiveblas/apps/sage/internal/neural"
	"github.com/hiveblas/hiveblas/apps/sage/internal/sampled"
	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/comm/spmd"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
)

// Training of GraphSAGE is divided among the ranks of a group in one of two ways. Where the trees
// of a batch would be larger than the graph, each rank has a range of the rows of every layer. It
// gives the others the products that their vertices read, and in the backward pass sends them its
// part of the gradients of their rows. Else each rank computes the trees of its share of the batch.
// Random numbers are functions of seed, step and vertex, so all ranks make the choices of one
// place. The gradients of the weights are added up in the order of ranks, and all ranks move the
// weights by the same sums. This file is the form of the host, which groups of devices take where
// kernels do not train or memory does not travel; train_rows_gpu.go has the form of devices.

// A sageTeam is a training that is divided among the ranks of a group. A nil team is one place.
type sageTeam struct {
	*workflow.Division
	t       *sageTrainer
	all     workflow.Run // of work that the ranks of this process share
	layers  bool         // steps compute ranges of rows of all layers, else trees of shares of the batch
	rows    []int64      // cuts of the vertices
	least   int64        // vertices of a share, but for the last one
	uneven  float64      // largest share of the work, times the ranks
	members []*sageMember
}

// A sageMember is a rank of this process.
type sageMember struct {
	net      *neural.Net[float32] // shares its weights with the other ranks of the process
	grad     []float32            // gradients of all weights
	graph    sampled.Graph
	vertices []int32                // its rows
	x        neural.Input[float32]  // features of its rows
	whole    *neural.Block[float32] // of its rows, with all neighbours; nil until it is needed

	// of a step
	targets []int32    // of the loss: vertices
	pairs   []sagePair // of targets
	tapes   []*neural.Tape[float32]
	masks   [][]float32
	self    neural.Panel[float32] // products of the rows themselves, or their gradients
	near    neural.Near[float32]  // products of all vertices that neighbours read
	part    neural.Panel[float32] // this rank's part of the gradients of near
	g       neural.Panel[float32] // gradients of its rows
	result  [2]float64            // loss and right answers
}

// divideTraining divides a training among the ranks of the group of the graph, and sets the graph
// and the features of t. It reports whether it did.
func divideTraining(t *sageTrainer, g rep.View, features *matrix.View[float32], n int) (bool, error) {
	const app = "TrainGraphSAGE"
	d, err := workflow.Divide(t.o.Run, app, g.Place(), 0)
	if d == nil || err != nil || !g.Gatherable(d.Group) || !workflow.Fits(d, features) {
		return false, err
	}
	m := &sageTeam{Division: d, t: t, all: t.o.Run}
	m.all.Threads = d.Threads()
	if !d.Devices { // ranks on devices compute on the host here
		list, err := g.Replicas(d.Wait, d.Group)
		if err != nil {
			return false, err
		}
		g = list[0]
	}
	err = d.Once(func() (err error) {
		t.graph, err = sampled.NewGraph(app, g, m.all, sampled.Rule(t.o.Sampling), t.o.Replace, t.o.Seed, t.o.Aggregator == sage.AggregateGCN)
		return err
	})
	if err != nil {
		return false, err
	}
	m.cut(n)
	every := sampled.NumbersOrAll(nil, n)
	for k, c := range d.Group.Ranks() {
		r := &sageMember{net: t.net, graph: *t.graph, vertices: every[m.rows[c.Rank()]:m.rows[c.Rank()+1]]}
		if k > 0 {
			r.net = t.net.Twin()
		}
		r.grad = r.net.Gradients()
		m.members = append(m.members, r)
	}
	if err := m.distributeFeatures(features, n); err != nil {
		return false, err
	}
	t.team, t.division = m, d
	return true, nil
}

// cut chooses the way of division, and cuts the rows.
func (m *sageTeam) cut(n int) {
	t, o := m.t, &m.t.o
	layers := len(t.net.Layers)
	batch := len(t.split.Train)
	if o.Batch > 0 {
		batch = min(batch, o.Batch)
	}
	if t.classes == nil { // with the vertices of its pairs
		batch = int(min(float64(n), float64(batch)*(1+float64(o.Pairs)*(1+float64(o.Negatives)))))
	}
	m.layers = sampled.TreeSize(batch, o.Samples, t.graph, layers) >= float64(n)
	// A neighbour is a row that is read; eight products of a row with weights take as long.
	inputs := 0
	for k := range t.net.Layers {
		inputs += t.net.Layers[k].Input()
	}
	work := make([]int64, n+1)
	for v := range n {
		work[v+1] = work[v] + int64(layers)*(t.graph.Ptr[v+1]-t.graph.Ptr[v]) + int64(inputs/8+1)
	}
	m.rows = spmd.CutByWork(work, m.Group.Size(), m.LeastRange())
	m.uneven = spmd.Unevenness(m.rows, func(lo, hi int64) int64 { return work[hi] - work[lo] })
	one := sampled.TreeSize(1, o.Samples, t.graph, layers) * float64(t.net.Layers[0].Input())
	m.least = max(1, int64(float64(m.LeastRange())/max(one, 1)))
	if !m.layers {
		m.uneven = spmd.Unevenness(spmd.CutEvenly(int64(batch), m.Group.Size(), 1, m.least), func(lo, hi int64) int64 { return hi - lo })
	}
}

// distributeFeatures gives the ranks the features: of their rows, or all of them for trees.
func (m *sageTeam) distributeFeatures(features *matrix.View[float32], n int) error {
	if m.layers && !m.Devices {
		list, err := access.Blocks(features, rep.Query{Group: m.Group, Context: m.Wait, Cuts: workflow.AsInts(m.rows)})
		if err != nil {
			return err
		}
		return m.Apart(func(k int, _ comm.Comm, run workflow.Run) (err error) {
			r := m.members[k]
			r.x, err = sampled.FeaturesOf(list[k], len(r.vertices))
			r.x.Transpose(run) // once for all steps
			return err
		})
	}
	if !m.Devices {
		list, err := workflow.Replicas(m.Division, features)
		if err != nil {
			return err
		}
		features = list[0]
	}
	err := m.Once(func() (err error) {
		m.t.x, err = sampled.FeaturesOf(features, n)
		return err
	})
	if err != nil {
		return err
	}
	return m.Apart(func(k int, c comm.Comm, run workflow.Run) error {
		r := m.members[k]
		if r.x = m.t.x.Between(int(m.rows[c.Rank()]), int(m.rows[c.Rank()+1])); m.layers {
			r.x.Transpose(run)
		}
		return nil
	})
}

// blocks makes the blocks of the ranks with all neighbours.
func (m *sageTeam) blocks() {
	if m.members[0].whole != nil {
		return
	}
	b := m.t.blocks()[0]
	for k, c := range m.Group.Ranks() {
		lo, hi := int(m.rows[c.Rank()]), int(m.rows[c.Rank()+1])
		ptr, from, to := neural.PartOf(b.Ptr, lo, hi)
		own := &neural.Block[float32]{Targets: hi - lo, Sources: b.Sources, Ptr: ptr, Idx: b.Idx[from:to]}
		if b.Weight != nil {
			own.Weight = b.Weight[from:to]
		}
		m.members[k].whole = own
	}
}

// blockOf returns the block of a layer in a step of training, or with all neighbours.
func (m *sageTeam) blockOf(r *sageMember, layer int, step uint64, training bool, run workflow.Run) (*neural.Block[float32], error) {
	samples := sampled.SamplesOf(m.t.o.Samples, len(r.net.Layers)-1-layer)
	if !training || samples < 0 && r.graph.Sampling == sampled.Uniform {
		return r.whole, nil
	}
	r.graph.Run = run
	return sampled.ChosenOf[float32](&r.graph, r.vertices, step, layer, samples)
}

// done reports the division of a training.
func (m *sageTeam) done(epochs int) {
	if m.t.o.Trace == nil {
		return
	}
	// A row that a neighbour gives counts as the numbers of it that are read, forward and backward.
	rows, width := 0.0, 0.0
	for k := range m.t.net.Layers {
		l := &m.t.net.Layers[k]
		width += float64(l.Width() + l.Input())
	}
	rows = float64(m.t.graph.N)
	if !m.layers {
		rows = min(sampled.TreeSize(len(m.t.split.Train), m.t.o.Samples, m.t.graph, len(m.t.net.Layers)), math.MaxInt32)
	}
	method := ops.Method(workflow.ByRanges + ", trees")
	if m.layers {
		method = workflow.ByRanges + ", layers"
	}
	if m.Devices {
		method += ", on the host"
	}
	m.t.o.Trace(ops.Trace{Op: m.Op, Method: method, Place: m.Group.String(), Work: int64(2 * float64(epochs) * rows * width), Imbalance: m.uneven})
}
