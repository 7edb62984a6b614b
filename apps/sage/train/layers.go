package train

import (
	"slices"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/apps/sage/internal/neural"
	"github.com/hiveblas/hiveblas/comm"
)

// The passes of a sageTeam through layers; each rank has a range of the rows of every layer.

// forward computes the rows of all layers.
func (m *sageTeam) forward(step uint64, training bool) error {
	m.blocks()
	layers := len(m.t.net.Layers)
	for _, r := range m.members {
		r.net.Kept.Reset()
		r.tapes, r.masks = make([]*neural.Tape[float32], layers), make([][]float32, layers)
	}
	for layer := range layers {
		err := m.Apart(func(k int, c comm.Comm, run workflow.Run) error {
			r, o := m.members[k], m.t.o
			o.Run = run
			x := r.x
			if layer > 0 {
				x = neural.Input[float32]{Full: r.tapes[layer-1].Out}
			}
			var err error
			if training {
				if r.masks[layer], err = dropInput(r.net, layer, &x, r.vertices, step, o); err != nil {
					return err
				}
			}
			b, err := m.blockOf(r, layer, step, training, run)
			if err != nil {
				return err
			}
			r.tapes[layer] = r.net.NewTape(layer, x, b)
			own, near, err := r.net.Products(layer, r.tapes[layer], run)
			if err != nil {
				return err
			}
			r.self = own
			m.placeRows(c, r, near)
			return nil
		})
		if err == nil {
			err = m.gather()
		}
		if err == nil {
			err = m.Apart(func(k int, _ comm.Comm, run workflow.Run) error {
				r := m.members[k]
				return r.net.Combine(layer, r.tapes[layer], r.self, r.near, run)
			})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// lastRows returns the rows of the last layer.
func (r *sageMember) lastRows() neural.Panel[float32] { return r.tapes[len(r.tapes)-1].Out }

// placeRows puts the rows of a rank into the panel of all rows, which gather completes.
func (m *sageTeam) placeRows(c comm.Comm, r *sageMember, own neural.Near[float32]) {
	r.near = neural.Near[float32]{Panel: r.net.Kept.Panel(m.t.graph.N, own.Cols-own.From)}
	lo := int(m.rows[c.Rank()])
	for v := range len(r.vertices) {
		copy(neural.Row(r.near.Panel, lo+v), neural.Row(own.Panel, v)[own.From:])
	}
}

// cells returns the numbers of each rank in a panel of the rows of all vertices.
func (m *sageTeam) cells(cols int) []int {
	counts := make([]int, m.Group.Size())
	for r := range counts {
		counts[r] = int(m.rows[r+1]-m.rows[r]) * cols
	}
	return counts
}

// gather gives all ranks the rows of near of each.
func (m *sageTeam) gather() error {
	cols := m.members[0].near.Cols
	if cols == 0 {
		return nil
	}
	return m.Each(func(k int, c comm.Comm) error {
		to := m.members[k].near.Val
		lo, hi := m.rows[c.Rank()]*int64(cols), m.rows[c.Rank()+1]*int64(cols)
		return c.AllGatherV(m.Wait, comm.Host(to), m.cells(cols), comm.Host(to[lo:hi]))
	})
}

// exchange adds up the parts of the ranks, in their order: part becomes the sums of the rank's own
// rows.
func (m *sageTeam) exchange() error {
	cols := m.members[0].part.Cols
	if cols == 0 {
		return nil
	}
	in := make([]neural.Panel[float32], len(m.members)) // of every rank, the rows of this one
	err := m.Each(func(k int, c comm.Comm) error {
		r, p := m.members[k], c.Size()
		in[k] = r.net.Kept.Panel(p*len(r.vertices), cols)
		recv := slices.Repeat([]int{len(r.vertices) * cols}, p)
		return c.AllToAllV(m.Wait, comm.Host(in[k].Val), recv, comm.Host(r.part.Val), m.cells(cols))
	})
	if err != nil {
		return err
	}
	return m.Apart(func(k int, c comm.Comm, run workflow.Run) error {
		rows := len(m.members[k].vertices)
		m.members[k].part = neural.Panel[float32]{Rows: rows, Cols: cols, Val: in[k].Val[:rows*cols]}
		return neural.EachRow(run, rows, func(v int) {
			for q := 1; q < c.Size(); q++ {
				neural.Axpy(1, neural.Row(in[k], q*rows+v), neural.Row(in[k], v))
			}
		})
	})
}

// backward takes the gradient of the rows of the last layer and adds the gradients of the weights.
func (m *sageTeam) backward() error {
	pool := m.t.net.Pools()
	for layer := len(m.t.net.Layers) - 1; layer >= 0; layer-- {
		err := m.Apart(func(k int, c comm.Comm, run workflow.Run) error {
			r := m.members[k]
			tape := r.tapes[layer]
			if err := tape.Unnorm(r.g, run); err != nil {
				return err
			}
			if pool {
				r.self, r.part = r.net.Unpool(layer, tape, r.g, run)
				return nil
			}
			own := r.net.SelfColumns(layer)
			r.part = r.net.Kept.Panel(tape.Block.Sources, r.g.Cols-own)
			if r.net.Attends() {
				return r.net.Unattend(layer, tape, r.part, r.g, 0, own, int(m.rows[c.Rank()]), run)
			}
			return tape.Block.Unmean(r.part, r.g, 0, own, run)
		})
		if err == nil {
			err = m.exchange()
		}
		if err == nil {
			err = m.Apart(func(k int, _ comm.Comm, run workflow.Run) error { return m.members[k].endBackward(layer, run) })
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// endBackward ends the backward pass of a layer; part has the sums of all ranks.
func (r *sageMember) endBackward(layer int, run workflow.Run) (err error) {
	tape := r.tapes[layer]
	var to neural.Panel[float32]
	switch {
	case len(r.vertices) == 0:
		to = neural.Panel[float32]{Cols: r.net.Layers[layer].Input()}
	case r.net.Pools():
		to, err = r.net.Unpooled(layer, tape, r.self, r.part, run)
	default:
		own := r.net.SelfColumns(layer)
		x := neural.Grown(&r.net.Brief[1], len(r.vertices), r.g.Cols)
		for v := range x.Rows {
			copy(neural.Row(x, v), neural.Row(r.g, v)[:own])
			copy(neural.Row(x, v)[own:], neural.Row(r.part, v))
		}
		to, err = r.net.Unproducts(layer, tape, x, run)
	}
	if err != nil {
		return err
	}
	if layer > 0 && r.masks[layer] != nil {
		for i, f := range r.masks[layer] {
			to.Val[i] *= f
		}
	}
	r.g = to
	return nil
}
