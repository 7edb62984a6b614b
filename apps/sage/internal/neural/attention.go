package neural

import (
	"fmt"
	"math"
	"slices"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// Attention weighs the chosen neighbours u of a vertex v by the rows of u and v (Veličković et al.:
// Graph attention networks, ICLR 2018). With X = H·Wa, and for each head the columns of X and of
// the vectors aₗ and aᵣ that belong to it:
//
//	e(v,u) = leaky(X(v)·aₗ + X(u)·aᵣ)
//	A(v,u) = P(v,u)·exp(e(v,u)) / Σ over w of P(v,w)·exp(e(v,w))
//
// P has the weights of the mean: a neighbour that was chosen twice counts twice.

// Leak is the slope of scores below 0.
const Leak = .2

// attended is what a layer of attention keeps of its forward pass.
type attended[F workflow.Real] struct {
	near  Near[F] // X of the sources
	share []F     // A, the edges of one head after those of another
	steep []bool  // whether a score is above 0
}

// Attends reports whether neighbours count by attention.
func (n *Net[F]) Attends() bool { return n.Aggregator == AggregateAttention }

// CheckHeads verifies the heads of attention for layers of so many hidden columns.
func CheckHeads(app string, heads int, hidden ...int) error {
	if heads < 0 || slices.ContainsFunc(hidden, func(h int) bool { return h%max(heads, 1) != 0 }) {
		return &workflow.ParameterError{App: app, Arg: "the heads", Got: fmt.Sprintf("%d for %v hidden columns", heads, hidden),
			Want: "a number that divides the columns of each layer, or 0 for 1"}
	}
	return nil
}

// head returns the numbers of a head among the columns of a row.
func (n *Net[F]) head(row []F, c int) []F {
	size := len(row) / n.Heads
	return row[c*size : (c+1)*size]
}

// attend computes the columns of t.Out from own on. Row v of x has the products of target v.
func (n *Net[F]) attend(k int, t *Tape[F], x Panel[F], near Near[F], run workflow.Run) error {
	l, b, heads := &n.Layers[k], t.Block, n.Heads
	width, edges := l.Neighbour.Value.Cols, len(b.Idx)
	own, size := l.Self.Value.Cols, width/heads
	t.attended = attended[F]{near: near, share: n.Kept.Panel(heads, edges).Val, steep: make([]bool, heads*edges)}
	right := NewPanel[F](near.Rows, heads)
	err := EachRow(run, near.Rows, func(u int) {
		row := Row(near.Panel, u)[near.From:]
		for c := range heads {
			Row(right, u)[c] = F(dot(n.head(row, c), n.head(l.AttendNeighbour.Value.Val, c)))
		}
	})
	if err != nil {
		return err
	}
	return eachSum(run, b.Targets, edges, l.Width(), func(lo, hi int) {
		for v := lo; v < hi; v++ {
			to, from, until := Row(t.Out, v), b.Ptr[v], b.Ptr[v+1]
			copy(to, Row(x, v)[:own])
			for c := range heads {
				left := F(dot(n.head(Row(x, v)[own:], c), n.head(l.AttendSelf.Value.Val, c)))
				share, top := t.share[c*edges:][from:until], math.Inf(-1)
				for p, u := range b.Idx[from:until] {
					e := left + Row(right, int(u))[c]
					if t.steep[int64(c*edges)+from+int64(p)] = e > 0; !(e > 0) {
						e *= Leak
					}
					share[p], top = e, max(top, float64(e))
				}
				sum := 0.0
				for p, e := range share {
					y := math.Exp(float64(e) - top)
					if b.Weight != nil {
						y *= float64(b.Weight[from+int64(p)])
					}
					share[p] = F(y)
					sum += y
				}
				for p := range share {
					share[p] = F(float64(share[p]) / sum)
				}
				sumRows(to[own+c*size:][:size], b.Idx[from:until], share, near.Panel, near.From+c*size)
			}
			t.length[v] = normalise(to)
		}
	})
}

// Unattend takes the gradient g before norm and relu, whose columns from one on belong to
// neighbours, and adds the gradients of aₗ and aᵣ. It sets the columns of x from at on to the
// gradient of X, and the columns before to the columns of g, 0 for sources that are no targets.
// Target 0 is source first.
func (n *Net[F]) Unattend(k int, t *Tape[F], x, g Panel[F], at, from, first int, run workflow.Run) error {
	l, b, heads, near := &n.Layers[k], t.Block, n.Heads, t.near
	edges, size := len(b.Idx), l.Neighbour.Value.Cols/heads
	row := func(u, c int) []F { return Row(near.Panel, u)[near.From+c*size:][:size] }
	of := func(v, c int) []F { return Row(g, v)[from+c*size:][:size] }
	score, left, right := make([]F, heads*edges), NewPanel[F](b.Targets, heads), NewPanel[F](b.Sources, heads)
	err := eachSum(run, b.Targets, edges, g.Cols, func(lo, hi int) {
		for v := lo; v < hi; v++ {
			for c := range heads {
				along := 0.0
				for p := b.Ptr[v]; p < b.Ptr[v+1]; p++ {
					d, e := dot(of(v, c), row(int(b.Idx[p]), c)), int64(c*edges)+p
					score[e] = F(d)
					along += d * float64(t.share[e])
				}
				for p := b.Ptr[v]; p < b.Ptr[v+1]; p++ {
					e := int64(c*edges) + p
					if score[e] = F((float64(score[e]) - along) * float64(t.share[e])); !t.steep[e] {
						score[e] *= Leak
					}
					Row(left, v)[c] += score[e]
				}
			}
		}
	})
	if err != nil {
		return err
	}
	back := b.placed(run)
	err = eachSum(run, b.Sources, edges, g.Cols, func(lo, hi int) {
		for u := lo; u < hi; u++ {
			to, v := Row(x, u), u-first
			mine := v >= 0 && v < b.Targets
			clear(to)
			if mine {
				copy(to[:at], Row(g, v))
			}
			for c := range heads {
				sum := to[at+c*size:][:size]
				for q := back.Ptr[u]; q < back.Ptr[u+1]; q++ {
					e := c*edges + int(back.Val[q])
					Axpy(t.share[e], of(int(back.Idx[q]), c), sum)
					Row(right, u)[c] += score[e]
				}
				Axpy(Row(right, u)[c], n.head(l.AttendNeighbour.Value.Val, c), sum)
				if mine {
					Axpy(Row(left, v)[c], n.head(l.AttendSelf.Value.Val, c), sum)
				}
			}
		}
	})
	for c := range heads {
		for v := range b.Targets {
			Axpy(Row(left, v)[c], row(first+v, c), n.head(l.AttendSelf.Grad.Val, c))
		}
		for u := range b.Sources {
			Axpy(Row(right, u)[c], row(u, c), n.head(l.AttendNeighbour.Grad.Val, c))
		}
	}
	return err
}

// placed returns the edges by their sources, each with its place among the edges by targets.
func (b *Block[F]) placed(run workflow.Run) *sparse.Typed[int32] {
	if b.places == nil {
		list := make([]int32, len(b.Idx))
		for p := range list {
			list[p] = int32(p)
		}
		b.places = transposedOf(&sparse.Typed[int32]{Structure: sparse.Structure{NRows: b.Targets, NCols: b.Sources, Format: sparse.CSR,
			NVals: int64(len(b.Idx)), Ptr: b.Ptr, Idx: b.Idx}, Val: list}, run)
	}
	return b.places
}
