package neural

import (
	"math"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/blas"
	"github.com/hiveblas/hiveblas/internal/parallel"
)

// backward takes the gradient of a layer's output, overwrites it, adds the gradients of the layer's
// parameters, and returns the gradient of the input unless the layer is the first.
func (n *Net[F]) backward(k int, t *Tape[F], g Panel[F], run workflow.Run) (Panel[F], error) {
	if err := t.Unnorm(g, run); err != nil {
		return Panel[F]{}, err
	}
	if n.Reduces() {
		mine, spread, err := n.Unpool(k, t, g, run)
		if err != nil {
			return mine, err
		}
		return n.Unpooled(k, t, mine, spread, run)
	}
	own := n.SelfColumns(k)
	x := Grown(&n.Brief[1], t.Block.Sources, g.Cols)
	var err error
	if n.Attends() {
		err = n.Unattend(k, t, x, g, own, own, 0, run)
	} else {
		err = t.Block.Unmean(x, g, own, own, run)
	}
	if err != nil {
		return Panel[F]{}, err
	}
	return n.Unproducts(k, t, x, run)
}

// Unnorm replaces the gradient of a layer's output by that before norm and relu.
func (t *Tape[F]) Unnorm(g Panel[F], run workflow.Run) error {
	return EachRow(run, t.Block.Targets, func(v int) { unnormalise(Row(g, v), Row(t.Out, v), t.length[v]) })
}

// SelfColumns returns the columns of a layer's output that are the product of the vertex itself.
func (n *Net[F]) SelfColumns(k int) int {
	if n.GCN() {
		return 0
	}
	return n.Layers[k].Self.Value.Cols
}

// Unmean sets the columns of x from at on to the transposed mean of the columns of g from one on,
// and those before to the columns of g; 0 for sources that are no targets.
func (b *Block[F]) Unmean(x, g Panel[F], at, from int, run workflow.Run) error {
	back := b.transposed(run)
	return eachSum(run, b.Sources, len(back.Idx), x.Cols, func(lo, hi int) {
		for u := lo; u < hi; u++ {
			to := Row(x, u)
			if u < b.Targets {
				copy(to[:at], Row(g, u))
			} else {
				clear(to[:at])
			}
			sumRows(to[at:], back.Idx[back.Ptr[u]:back.Ptr[u+1]], back.Val[back.Ptr[u]:back.Ptr[u+1]], g, from)
		}
	})
}

// Unproducts takes the gradient of a layer's products, adds the gradients of the weights, and
// returns the gradient of the input unless the layer is the first.
func (n *Net[F]) Unproducts(k int, t *Tape[F], x Panel[F], run workflow.Run) (Panel[F], error) {
	l := &n.Layers[k]
	grads := []Panel[F]{l.Self.Grad}
	if !n.GCN() {
		grads = append(grads, l.Neighbour.Grad)
	}
	if err := n.addTransposed(&t.in, x, run, grads...); err != nil || k == 0 {
		return Panel[F]{}, err
	}
	to := n.Kept.Panel(x.Rows, l.Input())
	blas.Product(run.Threads, to, x, false, n.joined(l), true, 0)
	return to, nil
}

// Unpool takes the gradient before norm and relu of a layer that Reduces, and adds the gradients of
// the weights of the reduced rows, of the bias, and of the recurrence of an LSTM. It returns the
// gradients of the products of the rows themselves and of the pooled rows of the sources.
func (n *Net[F]) Unpool(k int, t *Tape[F], g Panel[F], run workflow.Run) (mine, spread Panel[F], err error) {
	l, b := &n.Layers[k], t.Block
	own := l.Self.Value.Cols
	mine = NewPanel[F](t.in.rows(), own)
	near := NewPanel[F](b.Targets, g.Cols-own)
	for v := range b.Targets {
		copy(Row(mine, v), Row(g, v)[:own])
		copy(Row(near, v), Row(g, v)[own:])
	}
	blas.Product(run.Threads, l.Neighbour.Grad, t.most, true, near, false, 1)
	most := NewPanel[F](t.most.Rows, t.most.Cols)
	blas.Product(run.Threads, most, near, false, l.Neighbour.Value, true, 0)
	if n.Recurs() {
		spread, err = n.unfold(k, t, most, run)
		return mine, spread, err
	}
	spread = NewPanel[F](b.Sources, t.most.Cols)
	for i, x := range most.Val {
		if t.most.Val[i] > 0 { // else relu has no slope
			at := int(t.from[i])*spread.Cols + i%spread.Cols
			spread.Val[at] += x
			l.PoolBias.Grad.Val[i%spread.Cols] += x
		}
	}
	return mine, spread, nil
}

// Unpooled is unproducts for the gradients of unpool, of the rows of the layer's input.
func (n *Net[F]) Unpooled(k int, t *Tape[F], mine, spread Panel[F], run workflow.Run) (Panel[F], error) {
	l := &n.Layers[k]
	if err := n.addTransposed(&t.in, mine, run, l.Self.Grad); err != nil {
		return Panel[F]{}, err
	}
	if err := n.addTransposed(&t.in, spread, run, l.Pool.Grad); err != nil || k == 0 {
		return Panel[F]{}, err
	}
	to := n.Kept.Panel(mine.Rows, l.Input())
	blas.Product(run.Threads, to, mine, false, l.Self.Value, true, 0)
	blas.Product(run.Threads, to, spread, false, l.Pool.Value, true, 1)
	return to, nil
}

// Classify returns the logits of embeddings.
func (n *Net[F]) Classify(z Panel[F], run workflow.Run) Panel[F] {
	c := n.Kept.Panel(z.Rows, n.Out.Value.Cols)
	blas.Product(run.Threads, c, z, false, n.Out.Value, false, 0)
	for v := range c.Rows {
		for j := range c.Cols {
			Row(c, v)[j] += n.Bias.Value.Val[j]
		}
	}
	return c
}

// CrossEntropy returns the loss of logits for classes, the sum over the rows divided by total, and
// the number of rows in which the logit of the class is the largest. It replaces the logits by
// their gradient.
func CrossEntropy[F workflow.Real](logits Panel[F], class []int32, total int, run workflow.Run) (loss float64, right int, err error) {
	losses, hits := make([]float64, len(class)), make([]bool, len(class))
	err = EachRow(run, len(class), func(v int) {
		x, c := Row(logits, v), class[v]
		most := 0
		for j := range x {
			if x[j] > x[most] {
				most = j
			}
		}
		hits[v] = most == int(c)
		top, sum, own := float64(x[most]), 0.0, float64(x[c])
		var buffer [64]float64
		power := buffer[:]
		if len(x) > len(power) {
			power = make([]float64, len(x))
		}
		for j, y := range x {
			power[j] = math.Exp(float64(y) - top)
			sum += power[j]
		}
		losses[v] = math.Log(sum) + top - own
		for j := range x {
			p := power[j] / sum
			if j == int(c) {
				p--
			}
			x[j] = F(p / float64(total))
		}
	})
	for v, l := range losses {
		loss += l
		if hits[v] {
			right++
		}
	}
	return loss / float64(max(total, 1)), right, err
}

// Unclassify takes the gradient of the logits, adds the gradients of the classifier, and returns
// the gradient of the embeddings.
func (n *Net[F]) Unclassify(z, g Panel[F], run workflow.Run) Panel[F] {
	blas.Product(run.Threads, n.Out.Grad, z, true, g, false, 1)
	for v := range g.Rows {
		for j, x := range Row(g, v) {
			n.Bias.Grad.Val[j] += x
		}
	}
	to := n.Kept.Panel(z.Rows, z.Cols)
	blas.Product(run.Threads, to, g, false, n.Out.Value, true, 0)
	return to
}

// Adam moves the parameters by their gradients, with decay of weights, and clears the gradients
// (Kingma and Ba, Adam: a method for stochastic optimization, ICLR 2015, algorithm 1). Step counts
// from 1.
func (n *Net[F]) Adam(rate, decay float64, step int64, run workflow.Run) error {
	const b1, b2, epsilon = .9, .999, 1e-8
	c1, c2 := 1-math.Pow(b1, float64(step)), 1-math.Pow(b2, float64(step))
	for _, p := range n.All {
		err := parallel.Range(run.Context, run.Threads, len(p.Grad.Val), 1<<12, func(_, lo, hi int) {
			for i := lo; i < hi; i++ {
				d := float64(p.Grad.Val[i]) + decay*float64(p.Value.Val[i])
				m := b1*float64(p.First.Val[i]) + (1-b1)*d
				v := b2*float64(p.Next.Val[i]) + (1-b2)*d*d
				p.First.Val[i], p.Next.Val[i] = F(m), F(v)
				p.Value.Val[i] = F(float64(p.Value.Val[i]) - rate*(float64(F(m))/c1)/(math.Sqrt(float64(F(v))/c2)+epsilon))
				p.Grad.Val[i] = 0
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Record computes the layers of blocks. enter, which may be nil, changes the input of a layer.
func (n *Net[F]) Record(blocks []*Block[F], x Input[F], run workflow.Run, enter func(k int, x *Input[F]) error) ([]*Tape[F], error) {
	tapes := make([]*Tape[F], len(n.Layers))
	for k := range tapes {
		var err error
		if enter != nil {
			err = enter(k, &x)
		}
		if err == nil {
			tapes[k], err = n.Forward(k, x, blocks[k], run)
		}
		if err != nil {
			return nil, err
		}
		x = Input[F]{Full: tapes[k].Out}
	}
	return tapes, nil
}

// Untape takes the gradient of the embeddings and adds the gradients of all layers.
func (n *Net[F]) Untape(tapes []*Tape[F], masks [][]F, g Panel[F], run workflow.Run) error {
	for k := len(tapes) - 1; k >= 0; k-- {
		to, err := n.backward(k, tapes[k], g, run)
		if err != nil {
			return err
		}
		if k > 0 && masks[k] != nil {
			for i, m := range masks[k] {
				to.Val[i] *= m
			}
		}
		g = to
	}
	return nil
}
