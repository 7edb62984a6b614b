package train

import (
	"slices"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/apps/sage/internal/layered"
	"github.com/hiveblas/hiveblas/apps/sage/internal/neural"
	"github.com/hiveblas/hiveblas/comm"
)

// The passes of a sageTeam through layers; each rank has a range of the rows of every layer.

// forward computes the rows of all layers.
func (m *sageTeam) forward(step uint64, training bool) error {
	p := layered.Pass{Step: step, Sampled: training, Whole: func() *neural.Block[float32] { return m.t.blocks()[0] }, Keep: true}
	for _, r := range m.members {
		r.masks, r.Net.Training = make([][]float32, len(r.Net.Layers)), training
	}
	if training {
		p.Enter = func(k, layer int, x *neural.Input[float32], run workflow.Run) (err error) {
			r, o := m.members[k], m.t.o
			o.Run = run
			r.masks[layer], err = dropInput(r.Net, layer, x, r.Vertices, step, o)
			return err
		}
	}
	return m.Forward(p)
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
		in[k] = r.Net.Kept.Panel(p*len(r.Vertices), cols)
		recv := slices.Repeat([]int{len(r.Vertices) * cols}, p)
		return c.AllToAllV(m.Wait, comm.Host(in[k].Val), recv, comm.Host(r.part.Val), m.Cells(cols))
	})
	if err != nil {
		return err
	}
	return m.Apart(func(k int, c comm.Comm, run workflow.Run) error {
		rows := len(m.members[k].Vertices)
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
	pool := m.t.net.Reduces()
	for layer := len(m.t.net.Layers) - 1; layer >= 0; layer-- {
		err := m.Apart(func(k int, c comm.Comm, run workflow.Run) error {
			r := m.members[k]
			tape := r.Tapes[layer]
			if err := tape.Unnorm(r.g, run); err != nil {
				return err
			}
			if pool {
				var err error
				r.Self, r.part, err = r.Net.Unpool(layer, tape, r.g, run)
				return err
			}
			own := r.Net.SelfColumns(layer)
			r.part = r.Net.Kept.Panel(tape.Block.Sources, r.g.Cols-own)
			if r.Net.Attends() {
				return r.Net.Unattend(layer, tape, r.part, r.g, 0, own, int(m.Rows[c.Rank()]), run)
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
	tape := r.Tapes[layer]
	var to neural.Panel[float32]
	switch {
	case len(r.Vertices) == 0:
		to = neural.Panel[float32]{Cols: r.Net.Layers[layer].Input()}
	case r.Net.Reduces():
		to, err = r.Net.Unpooled(layer, tape, r.Self, r.part, run)
	default:
		own := r.Net.SelfColumns(layer)
		x := neural.Grown(&r.Net.Brief[1], len(r.Vertices), r.g.Cols)
		for v := range x.Rows {
			copy(neural.Row(x, v), neural.Row(r.g, v)[:own])
			copy(neural.Row(x, v)[own:], neural.Row(r.part, v))
		}
		to, err = r.Net.Unproducts(layer, tape, x, run)
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
