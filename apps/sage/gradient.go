package sage

import (
	"math"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/blas"
	"github.com/hiveblas/hiveblas/internal/parallel"
)

// backward adds the gradients of a layer's parameters, given that of its output, which it
// overwrites, and returns that of its input unless the layer is the first.
func (n *sageNet[F]) backward(k int, t *sageTape[F], g panel[F], run workflow.Run) (panel[F], error) {
	if err := t.unnorm(g, run); err != nil {
		return panel[F]{}, err
	}
	if n.aggregator == AggregatePool {
		mine, spread := n.unpool(k, t, g, run)
		return n.unpooled(k, t, mine, spread, run)
	}
	own := n.selfColumns(k)
	x := grown(&n.brief[1], t.block.sources, g.Cols)
	if err := t.block.unmean(x, g, own, own, run); err != nil {
		return panel[F]{}, err
	}
	return n.unproducts(k, t, x, run)
}

// unnorm replaces the gradient of a layer's output by that before norm and relu.
func (t *sageTape[F]) unnorm(g panel[F], run workflow.Run) error {
	return eachRow(run, t.block.targets, func(v int) { unnormalise(row(g, v), row(t.out, v), t.length[v]) })
}

// selfColumns returns the columns of a layer's output that are the product of the vertex itself.
func (n *sageNet[F]) selfColumns(k int) int {
	if n.aggregator == AggregateGCN {
		return 0
	}
	return n.layers[k].self.value.Cols
}

// unmean sets the columns of x from at on to the transposed mean of the columns of g from one on,
// and those before to the columns of g; 0 for sources that are no targets.
func (b *sageBlock[F]) unmean(x, g panel[F], at, from int, run workflow.Run) error {
	back := b.transposed(run)
	return eachSum(run, b.sources, len(back.Idx), x.Cols, func(lo, hi int) {
		for u := lo; u < hi; u++ {
			to := row(x, u)
			if u < b.targets {
				copy(to[:at], row(g, u))
			} else {
				clear(to[:at])
			}
			sumRows(to[at:], back.Idx[back.Ptr[u]:back.Ptr[u+1]], back.Val[back.Ptr[u]:back.Ptr[u+1]], g, from)
		}
	})
}

// unproducts adds the gradients of a layer's weights, given that of the products, and returns that
// of its input unless the layer is the first.
func (n *sageNet[F]) unproducts(k int, t *sageTape[F], x panel[F], run workflow.Run) (panel[F], error) {
	l := &n.layers[k]
	grads := []panel[F]{l.self.grad}
	if n.aggregator != AggregateGCN {
		grads = append(grads, l.neighbour.grad)
	}
	if err := n.addTransposed(&t.in, x, run, grads...); err != nil || k == 0 {
		return panel[F]{}, err
	}
	to := n.kept.panel(x.Rows, l.input())
	blas.Product(run.Threads, to, x, false, n.joined(l), true, 0)
	return to, nil
}

// unpool takes the gradient before norm and relu of a layer of AggregatePool, and adds those of the
// weights of the maxima and of the bias. It returns the gradients of the products of the rows
// themselves and of the pooled rows of the sources.
func (n *sageNet[F]) unpool(k int, t *sageTape[F], g panel[F], run workflow.Run) (mine, spread panel[F]) {
	l, b := &n.layers[k], t.block
	own := l.self.value.Cols
	mine = newPanel[F](t.in.rows(), own)
	near := newPanel[F](b.targets, g.Cols-own)
	for v := range b.targets {
		copy(row(mine, v), row(g, v)[:own])
		copy(row(near, v), row(g, v)[own:])
	}
	blas.Product(run.Threads, l.neighbour.grad, t.most, true, near, false, 1)
	most := newPanel[F](t.most.Rows, t.most.Cols)
	blas.Product(run.Threads, most, near, false, l.neighbour.value, true, 0)
	spread = newPanel[F](b.sources, t.most.Cols)
	for i, x := range most.Val {
		if t.most.Val[i] > 0 { // else relu has no slope
			at := int(t.from[i])*spread.Cols + i%spread.Cols
			spread.Val[at] += x
			l.poolBias.grad.Val[i%spread.Cols] += x
		}
	}
	return mine, spread
}

// unpooled is unproducts for the gradients of unpool, of the rows of the layer's input.
func (n *sageNet[F]) unpooled(k int, t *sageTape[F], mine, spread panel[F], run workflow.Run) (panel[F], error) {
	l := &n.layers[k]
	if err := n.addTransposed(&t.in, mine, run, l.self.grad); err != nil {
		return panel[F]{}, err
	}
	if err := n.addTransposed(&t.in, spread, run, l.pool.grad); err != nil || k == 0 {
		return panel[F]{}, err
	}
	to := n.kept.panel(mine.Rows, l.input())
	blas.Product(run.Threads, to, mine, false, l.self.value, true, 0)
	blas.Product(run.Threads, to, spread, false, l.pool.value, true, 1)
	return to, nil
}

// classify returns the logits of embeddings.
func (n *sageNet[F]) classify(z panel[F], run workflow.Run) panel[F] {
	c := n.kept.panel(z.Rows, n.out.value.Cols)
	blas.Product(run.Threads, c, z, false, n.out.value, false, 0)
	for v := range c.Rows {
		for j := range c.Cols {
			row(c, v)[j] += n.bias.value.Val[j]
		}
	}
	return c
}

// crossEntropy returns the loss of logits for classes, the sum over the rows divided by total, and
// the number of rows whose largest logit is that of the class. It replaces the logits by their
// gradient.
func crossEntropy[F workflow.Real](logits panel[F], class []int32, total int, run workflow.Run) (loss float64, right int, err error) {
	losses, hits := make([]float64, len(class)), make([]bool, len(class))
	err = eachRow(run, len(class), func(v int) {
		x, c := row(logits, v), class[v]
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

// unclassify adds the gradients of the classifier, given that of the logits, and returns that of
// the embeddings.
func (n *sageNet[F]) unclassify(z, g panel[F], run workflow.Run) panel[F] {
	blas.Product(run.Threads, n.out.grad, z, true, g, false, 1)
	for v := range g.Rows {
		for j, x := range row(g, v) {
			n.bias.grad.Val[j] += x
		}
	}
	to := n.kept.panel(z.Rows, z.Cols)
	blas.Product(run.Threads, to, g, false, n.out.value, true, 0)
	return to
}

// adam moves the parameters by their gradients, with decay of weights, and clears the gradients
// (Kingma and Ba, Adam: a method for stochastic optimization, ICLR 2015, algorithm 1). Step counts
// from 1.
func (n *sageNet[F]) adam(rate, decay float64, step int64, run workflow.Run) error {
	const b1, b2, epsilon = .9, .999, 1e-8
	c1, c2 := 1-math.Pow(b1, float64(step)), 1-math.Pow(b2, float64(step))
	for _, p := range n.all {
		err := parallel.Range(run.Context, run.Threads, len(p.grad.Val), 1<<12, func(_, lo, hi int) {
			for i := lo; i < hi; i++ {
				d := float64(p.grad.Val[i]) + decay*float64(p.value.Val[i])
				m := b1*float64(p.first.Val[i]) + (1-b1)*d
				v := b2*float64(p.next.Val[i]) + (1-b2)*d*d
				p.first.Val[i], p.next.Val[i] = F(m), F(v)
				p.value.Val[i] = F(float64(p.value.Val[i]) - rate*(float64(F(m))/c1)/(math.Sqrt(float64(F(v))/c2)+epsilon))
				p.grad.Val[i] = 0
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}
