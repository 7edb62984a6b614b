package train

import (
	"math"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/apps/sage/internal/layered"
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
	*layered.Team
	t       *sageTrainer
	all     workflow.Run // of work that the ranks of this process share
	layers  bool         // steps compute ranges of rows of all layers, else trees of shares of the batch
	least   int64        // vertices of a share, but for the last one
	uneven  float64      // largest share of the work, times the ranks
	members []*sageMember
}

// A sageMember is a rank of this process.
type sageMember struct {
	*layered.Member           // Net shares its weights with the other ranks of the process
	grad            []float32 // gradients of all weights

	// of a step
	targets []int32    // of the loss: vertices
	pairs   []sagePair // of targets
	masks   [][]float32
	part    neural.Panel[float32] // this rank's part of the gradients of Near
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
	m := &sageTeam{t: t, all: t.o.Run}
	m.all.Threads = d.Threads()
	if !d.Devices { // ranks on devices compute on the host here
		list, err := g.Replicas(d.Wait, d.Group)
		if err != nil {
			return false, err
		}
		g = list[0]
	}
	err = d.Once(func() (err error) {
		t.graph, err = sampled.NewGraph(app, g, m.all, sampled.Rule(t.o.Sampling), t.o.Replace, t.o.Seed, neural.Aggregator(t.o.Aggregator))
		return err
	})
	if err != nil {
		return false, err
	}
	rows := m.cut(d, n)
	m.Team = layered.New(d, t.graph, rows, t.o.Samples, func(k int) *neural.Net[float32] {
		if k > 0 {
			return t.net.Twin()
		}
		return t.net
	})
	for _, r := range m.Members {
		m.members = append(m.members, &sageMember{Member: r, grad: r.Net.Gradients()})
	}
	if err := m.distributeFeatures(features, n); err != nil {
		return false, err
	}
	t.team, t.division = m, d
	return true, nil
}

// cut chooses the way of division, and returns the cuts of the rows.
func (m *sageTeam) cut(d *workflow.Division, n int) []int64 {
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
	rows := spmd.CutByWork(work, d.Group.Size(), d.LeastRange())
	m.uneven = spmd.Unevenness(rows, func(lo, hi int64) int64 { return work[hi] - work[lo] })
	one := sampled.TreeSize(1, o.Samples, t.graph, layers) * float64(t.net.Layers[0].Input())
	m.least = max(1, int64(float64(d.LeastRange())/max(one, 1)))
	if !m.layers {
		m.uneven = workflow.Imbalance(spmd.CutEvenly(int64(batch), d.Group.Size(), 1, m.least))
	}
	return rows
}

// distributeFeatures gives the ranks the features: of their rows, or all of them for trees.
func (m *sageTeam) distributeFeatures(features *matrix.View[float32], n int) error {
	if m.layers && !m.Devices {
		list, err := access.Blocks(features, rep.Query{Group: m.Group, Context: m.Wait, Cuts: workflow.AsInts(m.Rows)})
		if err != nil {
			return err
		}
		return m.Apart(func(k int, _ comm.Comm, run workflow.Run) (err error) {
			r := m.members[k]
			r.X, err = sampled.FeaturesOf(list[k], len(r.Vertices))
			r.X.Transpose(run) // once for all steps
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
		if r.X = m.t.x.Between(int(m.Rows[c.Rank()]), int(m.Rows[c.Rank()+1])); m.layers {
			r.X.Transpose(run)
		}
		return nil
	})
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
