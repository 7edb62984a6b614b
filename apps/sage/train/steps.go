package train

import (
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/apps/sage/internal/neural"
	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/comm/spmd"
)

// step trains on a batch. It returns the loss and the right answers of the ranks of this process.
func (m *sageTeam) step(batch []int, epoch uint64) (loss float64, right int, err error) {
	step := uint64(m.t.state.steps)
	for _, r := range m.members {
		r.result = [2]float64{}
	}
	count, err := m.share(batch, epoch)
	if err == nil && m.layers {
		err = m.stepOfLayers(step, count)
	} else if err == nil {
		err = m.Apart(func(k int, _ comm.Comm, run workflow.Run) error {
			return m.members[k].stepOfTrees(m.t, step, count, run)
		})
	}
	if err != nil {
		return 0, 0, err
	}
	grads := make([][]float32, len(m.members))
	for k, r := range m.members {
		grads[k] = r.grad
		loss, right = loss+r.result[0], right+int(r.result[1])
	}
	if err := spmd.ReduceAll(m.Session, grads, comm.Sum); err != nil {
		return 0, 0, err
	}
	m.t.state.steps++
	err = m.Once(func() error { return m.t.net.Adam(m.t.o.Rate, m.t.o.Decay, m.t.state.steps, m.all) })
	for _, r := range m.members {
		clear(r.grad)
	}
	return loss, right, err
}

// share gives each rank its targets of a batch, the targets among its rows or a range of the batch,
// and without classes their pairs. It returns the divisor of the loss.
func (m *sageTeam) share(batch []int, epoch uint64) (count float64, err error) {
	cuts := spmd.CutEvenly(int64(len(batch)), m.Group.Size(), 1, m.least)
	numbers := make([][]float64, len(m.members))
	err = m.Apart(func(k int, c comm.Comm, _ workflow.Run) error {
		r := m.members[k]
		r.targets, r.pairs = r.targets[:0], nil
		own := batch[cuts[c.Rank()]:cuts[c.Rank()+1]]
		if m.layers {
			lo, hi := m.Rows[c.Rank()], m.Rows[c.Rank()+1]
			own = nil
			for _, v := range batch {
				if lo <= int64(v) && int64(v) < hi {
					own = append(own, v)
				}
			}
		}
		for _, v := range own {
			r.targets = append(r.targets, int32(v))
		}
		numbers[k] = []float64{0}
		if m.t.classes == nil && len(own) > 0 {
			r.targets, r.pairs = m.t.pairs(own, epoch)
			numbers[k][0] = alikeCount(r.pairs)
		}
		return nil
	})
	if err != nil || m.t.classes != nil {
		return float64(len(batch)), err
	}
	all, err := spmd.GatherAll(m.Session, numbers)
	for _, x := range all {
		count += x
	}
	return count, err
}

// classified computes the loss of the rows of targets by the classifier, and the gradient of the
// rows.
func (r *sageMember) classified(t *sageTrainer, z neural.Panel[float32], count float64, run workflow.Run) (neural.Panel[float32], error) {
	logits := r.Net.Classify(z, run)
	loss, right, err := neural.CrossEntropy(logits, t.classesOf(r.targets), int(count), run)
	if err != nil {
		return neural.Panel[float32]{}, err
	}
	r.result = [2]float64{loss, float64(right)}
	return r.Net.Unclassify(z, logits, run), nil
}

// stepOfTrees computes the loss and the gradients of the rank's targets along their trees.
func (r *sageMember) stepOfTrees(t *sageTrainer, step uint64, count float64, run workflow.Run) error {
	if len(r.targets) == 0 {
		return nil
	}
	o := t.o
	o.Run = run
	graph := *t.graph
	graph.Run = run
	r.Net.Kept.Reset()
	r.Net.Training = true
	tapes, masks, err := tapeTrees(r.Net, &graph, t.x, r.targets, step, o)
	if err != nil {
		return err
	}
	var g neural.Panel[float32]
	if z := tapes[len(tapes)-1].Out; t.classes != nil {
		if g, err = r.classified(t, z, count, run); err != nil {
			return err
		}
	} else {
		r.result[0], g = alike(z, r.pairs, count, t.likeness())
	}
	return r.Net.Untape(tapes, masks, g, run)
}

// rowsOf copies the rows of the targets from z; row 0 of z is vertex lo.
func (r *sageMember) rowsOf(z neural.Panel[float32], lo int32) neural.Panel[float32] {
	some := r.Net.Kept.Panel(len(r.targets), z.Cols)
	for k, v := range r.targets {
		copy(neural.Row(some, k), neural.Row(z, int(v-lo)))
	}
	return some
}

// addTo clears to and adds the rows of the targets; row 0 of to is vertex lo.
func (r *sageMember) addTo(to, g neural.Panel[float32], lo int32) {
	clear(to.Val)
	for k, v := range r.targets {
		neural.Axpy(1, neural.Row(g, k), neural.Row(to, int(v-lo)))
	}
}

// stepOfLayers computes the loss and the gradients by the rows of all layers.
func (m *sageTeam) stepOfLayers(step uint64, count float64) error {
	if err := m.forward(step, true); err != nil {
		return err
	}
	if m.t.classes != nil {
		err := m.Apart(func(k int, c comm.Comm, run workflow.Run) error {
			r, lo := m.members[k], int32(m.Rows[c.Rank()])
			g := neural.Panel[float32]{Cols: r.Last().Cols}
			if len(r.targets) > 0 {
				var err error
				if g, err = r.classified(m.t, r.rowsOf(r.Last(), lo), count, run); err != nil {
					return err
				}
			}
			r.g = r.Net.Kept.Panel(len(r.Vertices), g.Cols)
			r.addTo(r.g, g, lo)
			return nil
		})
		if err != nil {
			return err
		}
		return m.backward()
	}
	// A pair may have vertices of two ranks.
	for k, c := range m.Group.Ranks() {
		m.Place(c, m.members[k].Member, neural.Near[float32]{Panel: m.members[k].Last()}, true)
	}
	if err := m.Gather(); err != nil {
		return err
	}
	err := m.Apart(func(k int, _ comm.Comm, _ workflow.Run) error {
		r := m.members[k]
		loss, g := alike(r.rowsOf(r.Near.Panel, 0), r.pairs, count, m.t.likeness())
		r.result[0] = loss
		r.part = r.Net.Kept.Panel(m.t.graph.N, r.Near.Cols)
		r.addTo(r.part, g, 0)
		return nil
	})
	if err == nil {
		err = m.exchange()
	}
	if err != nil {
		return err
	}
	for _, r := range m.members {
		r.g = r.part
	}
	return m.backward()
}

// sum adds up the loss and the right answers of all ranks, in the order of processes.
func (m *sageTeam) sum(loss float64, right int) (float64, int, error) {
	facts := make([][]float64, len(m.members))
	for k := range facts {
		facts[k] = []float64{0, 0}
	}
	facts[0] = []float64{loss, float64(right)}
	all, err := spmd.GatherAll(m.Session, facts)
	loss, right = 0, 0
	for k := 0; k < len(all); k += 2 {
		loss, right = loss+all[k], right+int(all[k+1])
	}
	return loss, right, err
}

// evaluate classifies vertices with all neighbours and returns the accuracy and the mean loss.
func (m *sageTeam) evaluate(vertices []int) (accuracy, loss float64, err error) {
	if err := m.forward(0, false); err != nil {
		return 0, 0, err
	}
	err = m.Apart(func(k int, c comm.Comm, run workflow.Run) error {
		r, lo, hi := m.members[k], m.Rows[c.Rank()], m.Rows[c.Rank()+1]
		r.targets, r.result = r.targets[:0], [2]float64{}
		for _, v := range vertices {
			if lo <= int64(v) && int64(v) < hi {
				r.targets = append(r.targets, int32(v))
			}
		}
		if len(r.targets) == 0 {
			return nil
		}
		loss, right, err := neural.CrossEntropy(r.Net.Classify(r.rowsOf(r.Last(), int32(lo)), run), m.t.classesOf(r.targets), len(vertices), run)
		r.result = [2]float64{loss, float64(right)}
		return err
	})
	if err != nil {
		return 0, 0, err
	}
	right := 0
	for _, r := range m.members {
		loss, right = loss+r.result[0], right+int(r.result[1])
	}
	loss, right, err = m.sum(loss, right)
	return float64(right) / float64(len(vertices)), loss, err
}
