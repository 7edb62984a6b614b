package neural

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/blas"
	"github.com/hiveblas/hiveblas/internal/hostmem"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// An LSTM reads the rows of the neighbours of a vertex one by one (Hamilton, Ying, Leskovec 2017,
// section 3.3; Hochreiter and Schmidhuber: Long short-term memory, Neural Computation 9, 1997; with
// the forget gate of Gers, Schmidhuber, Cummins, Neural Computation 12, 2000). With X = H·Wx + 1⊗b,
// of 4 columns for each component of the state, and u(t) the neighbour in place t of the order that
// package sampled gives:
//
//	[i, f, g, o] = [σ, σ, tanh, σ](X(u(t)) + h(t−1)·Wh)
//	c(t) = f∘c(t−1) + i∘g,  h(t) = o∘tanh(c(t)),  c(−1) = h(−1) = 0
//
// The last h is the aggregate. Targets are sorted by their number of neighbours, and step t of some
// of them is one product, of the rows that have a neighbour in place t.

// Recurs reports whether an LSTM reads the neighbours.
func (n *Net[F]) Recurs() bool { return n.Aggregator == AggregateLSTM }

// partTargets is the number of targets whose steps are one product.
const partTargets = 128

// sequences are the steps of all targets of a block. An entry is a step of a target; the entries of
// a step of a part follow each other.
type sequences[F workflow.Real] struct {
	order   []int32 // ByLength
	parts   []sequence
	sources []int32          // of each entry
	back    *sparse.Typed[F] // sources × entries, of ones; nil until it is needed
}

// A sequence is the steps of the targets order[from], order[from+1], ….
type sequence struct {
	from int
	at   int   // its first entry
	rows []int // the targets of each step, the first ones
}

// Length returns the number of neighbours of a target.
func (b *Block[F]) Length(v int32) int { return int(b.Ptr[v+1] - b.Ptr[v]) }

// ByLength returns the targets by their number of neighbours, the largest first.
func (b *Block[F]) ByLength() []int32 {
	most := 0
	for v := range b.Targets {
		most = max(most, b.Length(int32(v)))
	}
	begin := make([]int, most+2) // of the targets of each length
	for v := range b.Targets {
		begin[most-b.Length(int32(v))+1]++
	}
	for k := range most {
		begin[k+1] += begin[k]
	}
	order := make([]int32, b.Targets)
	for v := range b.Targets {
		at := &begin[most-b.Length(int32(v))]
		order[*at] = int32(v)
		*at++
	}
	return order
}

// sequences returns the steps of the targets.
func (b *Block[F]) sequences() *sequences[F] {
	if b.steps != nil {
		return b.steps
	}
	s := &sequences[F]{order: b.ByLength(), sources: make([]int32, 0, len(b.Idx))}
	for from := 0; from < b.Targets; from += partTargets {
		list := s.order[from:min(from+partTargets, b.Targets)]
		part := sequence{from: from, at: len(s.sources)}
		for t := range b.Length(list[0]) {
			for b.Length(list[len(list)-1]) <= t {
				list = list[:len(list)-1]
			}
			part.rows = append(part.rows, len(list))
			for _, v := range list {
				s.sources = append(s.sources, b.Idx[b.Ptr[v]+int64(t)])
			}
		}
		s.parts = append(s.parts, part)
	}
	b.steps = s
	return s
}

// folded is what a layer with an LSTM keeps of its forward pass: a row for each entry.
type folded[F workflow.Real] struct {
	gates  Panel[F] // i, f, g and o; then their gradients before σ and tanh
	cells  Panel[F] // c(t)
	before Panel[F] // h(t−1)
}

// keepFolded takes the memory of a backward pass.
func (t *Tape[F]) keepFolded(n *Net[F], entries, width int) error {
	if bytes, have, ok := hostmem.Fits(int64(entries), 6*int64(width)*int64(unsafe.Sizeof(F(0)))); !ok {
		return &workflow.ParameterError{App: "TrainGraphSAGE", Arg: "the neighbours of a step",
			Got:  fmt.Sprintf("%d with AggregateLSTM, whose states take %d bytes of %d", entries, bytes, have),
			Want: "fewer samples, a smaller batch with samples, or fewer hidden columns"}
	}
	t.folded = folded[F]{n.Kept.Panel(entries, 4*width), n.Kept.Panel(entries, width), n.Kept.Panel(entries, width)}
	return nil
}

// foldScratch is the working memory of a thread: the targets of a part.
type foldScratch[F workflow.Real] struct{ gates, cell, state Panel[F] }

func newFoldScratch[F workflow.Real](width int) foldScratch[F] {
	return foldScratch[F]{NewPanel[F](partTargets, 4*width), NewPanel[F](partTargets, width), NewPanel[F](partTargets, width)}
}

// eachPart runs do on all parts, each with the scratch memory of its thread.
func (s *sequences[F]) eachPart(width int, run workflow.Run, do func(part *sequence, x *foldScratch[F])) error {
	scratch := make([]foldScratch[F], parallel.Threads(run.Threads)+1)
	return parallel.Pieces(run.Context, run.Threads, len(s.parts), func(id, p int) {
		if scratch[id].gates.Val == nil {
			scratch[id] = newFoldScratch[F](width)
		}
		do(&s.parts[p], &scratch[id])
	})
}

// rowsFrom returns rows of a from at on, which share its values.
func rowsFrom[F workflow.Real](a Panel[F], at, rows int) Panel[F] {
	return Panel[F]{Rows: rows, Cols: a.Cols, Val: a.Val[at*a.Cols : (at+rows)*a.Cols]}
}

// fold sets t.most to the last h of the targets, from X of the sources.
func (n *Net[F]) fold(k int, t *Tape[F], near Near[F], run workflow.Run) error {
	recur, s := n.Layers[k].Recur.Value, t.Block.sequences()
	width := recur.Rows
	t.most = NewPanel[F](t.Block.Targets, width)
	if n.Training {
		if err := t.keepFolded(n, len(s.sources), width); err != nil {
			return err
		}
	}
	return s.eachPart(width, run, func(part *sequence, x *foldScratch[F]) {
		clear(x.cell.Val)
		clear(x.state.Val)
		at := part.at
		for step, rows := range part.rows {
			gates, state := rowsFrom(x.gates, 0, rows), rowsFrom(x.state, 0, rows)
			if n.Training {
				gates = rowsFrom(t.gates, at, rows)
				copy(rowsFrom(t.before, at, rows).Val, state.Val)
			}
			for r := range rows {
				copy(Row(gates, r), Row(near.Panel, int(s.sources[at+r]))[near.From:])
			}
			if step > 0 {
				blas.Product(1, gates, state, false, recur, false, 1)
			}
			for r := range rows {
				recurrence(Row(gates, r), Row(x.cell, r), Row(state, r))
			}
			if n.Training {
				copy(rowsFrom(t.cells, at, rows).Val, x.cell.Val)
			}
			at += rows
		}
		for r, v := range s.order[part.from:min(part.from+partTargets, len(s.order))] {
			copy(Row(t.most, int(v)), Row(x.state, r))
		}
	})
}

// recurrence replaces the inputs of the gates by their values, and c and h by the next ones.
func recurrence[F workflow.Real](gates, c, h []F) {
	w := len(c)
	i, f, g, o := gates[:w], gates[w:2*w], gates[2*w:3*w], gates[3*w:4*w]
	for j := range c {
		i[j], f[j], g[j], o[j] = F(sigmoid(i[j])), F(sigmoid(f[j])), F(tanh(g[j])), F(sigmoid(o[j]))
		c[j] = f[j]*c[j] + i[j]*g[j]
		h[j] = o[j] * F(tanh(c[j]))
	}
}

func sigmoid[F workflow.Real](x F) float64 { return 1 / (1 + math.Exp(-float64(x))) }

func tanh[F workflow.Real](x F) float64 { return 1 - 2/(1+math.Exp(2*float64(x))) }

// unfold takes the gradient of the last h of the targets, adds the gradients of Wh and b, and
// returns the gradient of X.
func (n *Net[F]) unfold(k int, t *Tape[F], most Panel[F], run workflow.Run) (Panel[F], error) {
	l, s := &n.Layers[k], t.Block.sequences()
	width := most.Cols
	err := s.eachPart(width, run, func(part *sequence, x *foldScratch[F]) {
		clear(x.cell.Val) // ∂c, and x.state is ∂h
		for r, v := range s.order[part.from:min(part.from+partTargets, len(s.order))] {
			copy(Row(x.state, r), Row(most, int(v)))
		}
		at := part.at
		for _, rows := range part.rows {
			at += rows
		}
		zero := make([]F, width)
		for step := len(part.rows) - 1; step >= 0; step-- {
			rows, last := part.rows[step], zero
			at -= rows
			for r := range rows {
				if step > 0 {
					last = Row(t.cells, at-part.rows[step-1]+r)
				}
				unrecur(Row(t.gates, at+r), Row(t.cells, at+r), last, Row(x.cell, r), Row(x.state, r))
			}
			if step > 0 {
				blas.Product(1, rowsFrom(x.state, 0, rows), rowsFrom(t.gates, at, rows), false, l.Recur.Value, true, 0)
			}
		}
	})
	if err != nil {
		return Panel[F]{}, err
	}
	blas.Product(run.Threads, l.Recur.Grad, t.before, true, t.gates, false, 1)
	spread := NewPanel[F](t.Block.Sources, 4*width)
	if err := product(spread, s.ofSources(t.Block.Sources, run), t.gates, run); err != nil {
		return spread, err
	}
	for u := range spread.Rows {
		Axpy(1, Row(spread, u), l.PoolBias.Grad.Val)
	}
	return spread, nil
}

// unrecur replaces the values of gates by the gradients of their inputs, from ∂h and the ∂c that
// the step after gives, and ∂c by the ∂c of the step before. c and last are c(t) and c(t−1).
func unrecur[F workflow.Real](gates, c, last, dc, dh []F) {
	w := len(c)
	i, f, g, o := gates[:w], gates[w:2*w], gates[2*w:3*w], gates[3*w:4*w]
	for j := range c {
		top := F(tanh(c[j]))
		d := dc[j] + dh[j]*o[j]*(1-top*top)
		dc[j] = d * f[j]
		o[j] = dh[j] * top * o[j] * (1 - o[j])
		f[j] = d * last[j] * f[j] * (1 - f[j])
		i[j], g[j] = d*g[j]*i[j]*(1-i[j]), d*i[j]*(1-g[j]*g[j])
	}
}

// ofSources returns the matrix whose product with rows of entries adds them up by their sources.
func (s *sequences[F]) ofSources(sources int, run workflow.Run) *sparse.Typed[F] {
	if s.back == nil {
		ptr, ones := make([]int64, len(s.sources)+1), make([]F, len(s.sources))
		for e := range ones {
			ptr[e+1], ones[e] = int64(e+1), 1
		}
		s.back = transposedOf(&sparse.Typed[F]{Structure: sparse.Structure{NRows: len(ones), NCols: sources, Format: sparse.CSR,
			NVals: int64(len(ones)), Ptr: ptr, Idx: s.sources}, Val: ones}, run)
	}
	return s.back
}
