package neural

import (
	"fmt"
	"math"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/philox"
)

// Random returns a network with random weights (Glorot and Bengio 2010, uniform).
func Random[F workflow.Real](a Aggregator, d int, hidden []int, classes int, seed uint64) *Net[F] {
	n := &Net[F]{Aggregator: a}
	draw := func(name string, rows, cols int) *Param[F] {
		p := n.Param(name, 2, NewPanel[F](rows, cols))
		limit := math.Sqrt(6 / float64(max(rows+cols, 1)))
		for i := range p.Value.Val {
			x, _ := philox.Block(uint64(i), uint64(len(n.All))|1<<63, seed)
			p.Value.Val[i] = F((2*philox.Unit(x) - 1) * limit)
		}
		return p
	}
	for k, h := range hidden {
		var l Layer[F]
		name := func(what string) string { return fmt.Sprintf("%s%d", what, k+1) }
		l.Self = draw(name("wf"), d, h)
		near := d
		if a == aggregatePool {
			near = h
			l.Pool = draw(name("wp"), d, h)
			l.PoolBias = n.Param(name("bp"), 1, NewPanel[F](1, h))
		}
		if a != aggregateGCN {
			l.Neighbour = draw(name("wa"), near, h)
		}
		n.Layers = append(n.Layers, l)
		d = l.Width()
	}
	if classes > 0 {
		n.Out = draw("wc", d, classes)
		n.Bias = n.Param("bc", 1, NewPanel[F](1, classes))
	}
	for _, p := range n.All {
		p.Grad, p.First, p.Next = NewPanel[F](p.Value.Rows, p.Value.Cols), NewPanel[F](p.Value.Rows, p.Value.Cols), NewPanel[F](p.Value.Rows, p.Value.Cols)
	}
	return n
}
