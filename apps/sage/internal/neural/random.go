package neural

import (
	"fmt"
	"math"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/philox"
)

// Random returns a network with random weights (Glorot and Bengio 2010, uniform). Attention has so
// many heads.
func Random[F workflow.Real](a Aggregator, heads, d int, hidden []int, classes int, seed uint64) *Net[F] {
	n := &Net[F]{Aggregator: a, Heads: max(heads, 1)}
	draw := func(name string, dims, rows, cols int) *Param[F] {
		p := n.Param(name, dims, NewPanel[F](rows, cols))
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
		l.Self = draw(name("wf"), 2, d, h)
		near := d
		if a == AggregatePool {
			near = h
			l.Pool = draw(name("wp"), 2, d, h)
			l.PoolBias = n.Param(name("bp"), 1, NewPanel[F](1, h))
		}
		if a == AggregateLSTM { // forget gates begin open (Gers et al. 2000)
			near = h
			l.Pool, l.Recur = draw(name("lx"), 2, d, 4*h), draw(name("lh"), 2, h, 4*h)
			l.PoolBias = n.Param(name("lb"), 1, NewPanel[F](1, 4*h))
			for j := h; j < 2*h; j++ {
				l.PoolBias.Value.Val[j] = 1
			}
		}
		if a != AggregateGCN {
			l.Neighbour = draw(name("wa"), 2, near, h)
		}
		if a == AggregateAttention {
			l.AttendSelf, l.AttendNeighbour = draw(name("al"), 1, 1, h), draw(name("ar"), 1, 1, h)
		}
		n.Layers = append(n.Layers, l)
		d = l.Width()
	}
	if classes > 0 {
		n.Out = draw("wc", 2, d, classes)
		n.Bias = n.Param("bc", 1, NewPanel[F](1, classes))
	}
	for _, p := range n.All {
		p.Grad, p.First, p.Next = NewPanel[F](p.Value.Rows, p.Value.Cols), NewPanel[F](p.Value.Rows, p.Value.Cols), NewPanel[F](p.Value.Rows, p.Value.Cols)
	}
	return n
}
