// Package byops is the layers of GraphSAGE, their gradients and a step of Adam in operations of
// ops, where the operands live.
package byops

import (
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/apps/sage/internal/neural"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// Net is a network whose parameters move to a place when they are first needed. A layer maps the
// rows H of its sources to rows of its targets, the first sources; the entries of P, targets ×
// sources, are the weights of the chosen neighbours:
//
//	mean   Z ← norm(relu([H·Wf, P·(H·Wa)]))
//	pool   Z ← norm(relu([H·Wf, (P max.second relu(H·Wp + 1⊗b))·Wa]))
//	GCN    Z ← norm(relu(P·(H·Wf)))
//	attention  Z ← norm(relu([H·Wf, A·(H·Wa)])), A as in attention.go
//	LSTM   Z ← norm(relu([H·Wf, L·Wa])), L as in lstm.go
//
// norm divides the rows by their lengths, √(Z∘Z·1).
type Net struct {
	ops.Steps
	*neural.Net[float32]
	place  matrix.Place
	with   ops.Option
	values map[*param]*Matrix // of parameters
	slopes map[*param]*Matrix // their gradients
	first  map[*param]*Matrix // first moments of Adam
	next   map[*param]*Matrix // second moments
	block  *block             // of chosen
	chosen *Matrix            // P of the last block
}

// Matrix is a matrix of the network.
type Matrix = matrix.Matrix[float32]

type (
	param = neural.Param[float32]
	block = neural.Block[float32]
)

// New returns the network at a place.
func New(net *neural.Net[float32], place matrix.Place, run workflow.Run) *Net {
	p := &Net{Net: net, place: place, with: workflow.With(run)}
	p.Load()
	return p
}

// Load makes the parameters and moments of the host the ones of the place.
func (p *Net) Load() {
	p.values, p.slopes = map[*param]*Matrix{}, map[*param]*Matrix{}
	p.first, p.next = map[*param]*Matrix{}, map[*param]*Matrix{}
}

// Store copies the parameters, their gradients and moments to the host.
func (p *Net) Store() error {
	for _, w := range p.All {
		p.copy(w.Value, p.values[w])
		p.copy(w.Grad, p.slopes[w])
		p.copy(w.First, p.first[w])
		p.copy(w.Next, p.next[w])
	}
	return p.Err()
}

// copy copies a matrix to a panel of the host; nil leaves it.
func (p *Net) copy(to neural.Panel[float32], a *Matrix) {
	if a != nil && p.Do(a.Fetch()) {
		copy(to.Val, neural.AsPanel(a).Val)
	}
}

// A Tape is what a layer keeps of its forward pass.
type Tape struct {
	Out    *Matrix // Z
	in     *Matrix // H
	chosen *Matrix // P; nil with an LSTM
	block  *block
	pooled *Matrix                 // relu(H·Wp + 1⊗b)
	most   *Matrix                 // P max.second pooled, or the last states of an LSTM
	heads  []*head                 // of attention
	steps  []*step                 // of an LSTM
	sorted *Matrix                 // the order of the targets of an LSTM
	scale  *matrix.Vector[float32] // 1 over the lengths of the rows before norm, 1 for length 0
}

// Layer computes layer k: rows of the targets of a block from rows h of its sources.
func (p *Net) Layer(k int, h *Matrix, b *block) *Tape {
	l, t := &p.Layers[k], &Tape{in: h, block: b}
	if !p.Recurs() {
		t.chosen = p.choices(b)
	}
	var z *Matrix
	if p.GCN() {
		z = p.times(t.chosen, p.times(h, p.value(l.Self)))
	} else {
		var near *Matrix
		if p.Pools() {
			t.pooled = p.relu(p.affine(h, l.Pool, l.PoolBias))
			t.most = p.Matrix(b.Targets, l.Pool.Value.Cols)
			p.Do(ops.MxM(t.most, semiring.MaxSecond[float32](), t.chosen.Pattern(), t.pooled, p.with))
			near = p.times(t.most, p.value(l.Neighbour))
		} else if p.Recurs() {
			t.most = p.fold(k, t)
			near = p.times(t.most, p.value(l.Neighbour))
		} else if x := p.times(h, p.value(l.Neighbour)); p.Attends() {
			near = p.attend(k, t, x)
		} else {
			near = p.times(t.chosen, x)
		}
		z = p.Matrix(b.Targets, l.Width())
		p.Do(ops.Concat(z, [][]matrix.Source[float32]{{p.times(p.firstRows(h, b.Targets), p.value(l.Self)), near}}, p.with))
	}
	z = p.relu(z)
	length := p.nonzero(p.Lengths(z))
	t.scale = p.filled(b.Targets, 1)
	p.Do(ops.ApplyFirst(t.scale.Masked(length.Structure()), semiring.Div[float32](), 1, length, p.with))
	t.Out = p.scaled(z, t.scale)
	return t
}

// choices returns P of a block. It keeps the last one: layers of all vertices have the same.
func (p *Net) choices(b *block) *Matrix {
	if p.block != b {
		p.block, p.chosen = b, p.tuples(b.Targets, b.Sources, rowNumbers(b.Ptr), b.Idx, b.Weights())
	}
	return p.chosen
}

// Classify returns the logits of embeddings.
func (p *Net) Classify(z *Matrix) *Matrix { return p.affine(z, p.Out, p.Bias) }

// ZeroRows returns the number of rows of zeros.
func (p *Net) ZeroRows(z *Matrix) int {
	rows, _ := z.Dims()
	return rows - int(p.NVals(p.nonzero(p.Lengths(z))))
}

// Lengths returns the L2 norms of the rows.
func (p *Net) Lengths(z *Matrix) *matrix.Vector[float32] {
	length := p.dots(z, z)
	p.Do(ops.Apply(length, semiring.Sqrt[float32](), length, p.with))
	return length
}

// nonzero keeps the entries above 0.
func (p *Net) nonzero(u *matrix.Vector[float32]) *matrix.Vector[float32] {
	p.Do(ops.Select(u, semiring.ValueGT[float32](0), u, p.with))
	return u
}

// dots returns the products of the rows of a and b, (a∘b)·1, 0 for rows without entries.
func (p *Net) dots(a, b *Matrix) *matrix.Vector[float32] {
	rows, _ := a.Dims()
	u := p.filled(rows, 0)
	p.Do(ops.Reduce(u.Accum(semiring.Plus[float32]()), semiring.Plus[float32](), p.product(a, b), p.with))
	return u
}

// product returns a∘b.
func (p *Net) product(a, b *Matrix) *Matrix {
	c := p.Matrix(a.Dims())
	p.Do(ops.EWiseMult(c, semiring.Times[float32](), a, b, p.with))
	return c
}

// scaled returns z with each row multiplied by a number.
func (p *Net) scaled(z *Matrix, scale *matrix.Vector[float32]) *Matrix {
	return p.product(z, p.spread(scale, z))
}

// spread returns u⊗1, of the shape of z.
func (p *Net) spread(u *matrix.Vector[float32], z *Matrix) *Matrix {
	rows, cols := z.Dims()
	c := p.Matrix(rows, cols)
	p.Do(ops.Outer(c, semiring.PlusTimes[float32](), u, p.filled(cols, 1), p.with))
	return c
}

// filled returns a vector of n numbers x.
func (p *Net) filled(n int, x float32) *matrix.Vector[float32] {
	u, err := workflow.FullVector(p.place, n, x, p.with)
	p.Do(err)
	return u
}

// relu replaces negative values by 0.
func (p *Net) relu(z *Matrix) *Matrix {
	p.Do(ops.ApplySecond(z, semiring.Max[float32](), z, 0, p.with))
	return z
}

// affine returns h·W + 1⊗b.
func (p *Net) affine(h *Matrix, w, b *param) *Matrix {
	rows, _ := h.Dims()
	bias := matrix.NewVector[float32](w.Value.Cols, matrix.On(p.place))
	z := p.Matrix(rows, w.Value.Cols)
	p.Do(ops.ExtractRow(bias, p.value(b), 0, ops.All(), p.with))
	p.Do(ops.Outer(z, semiring.PlusTimes[float32](), p.filled(rows, 1), bias, p.with))
	p.Do(ops.MxM(z.Accum(semiring.Plus[float32]()), semiring.PlusTimes[float32](), h, p.value(w), p.with))
	return z
}

// times returns a·b.
func (p *Net) times(a, b matrix.Source[float32]) *Matrix {
	rows, _ := matrix.AsView(a).Dims()
	_, cols := matrix.AsView(b).Dims()
	c := p.Matrix(rows, cols)
	p.Do(ops.MxM(c, semiring.PlusTimes[float32](), a, b, p.with))
	return c
}

// firstRows returns the first n rows.
func (p *Net) firstRows(a *Matrix, n int) *Matrix {
	rows, cols := a.Dims()
	if rows == n {
		return a
	}
	c := p.Matrix(n, cols)
	p.Do(ops.Extract(c, a, ops.Span(0, n), ops.All(), p.with))
	return c
}

// Rows returns some rows.
func (p *Net) Rows(a *Matrix, list []int32) *Matrix {
	_, cols := a.Dims()
	c := p.Matrix(len(list), cols)
	idx, err := matrix.VectorOf(list)
	if p.Do(err) {
		p.Do(ops.Extract(c, a, ops.ValuesOf(idx), ops.All(), p.with))
	}
	return c
}

// Input returns rows that enter a layer, as a matrix at the place.
func (p *Net) Input(x neural.Input[float32]) *Matrix {
	if x.Sparse != nil {
		return p.here(access.FromStore(x.Sparse))
	}
	return p.here(neural.AsMatrix(x.Full))
}

// Drop returns rows with dropout, h∘mask; a nil mask drops nothing.
func (p *Net) Drop(h, mask *Matrix) *Matrix {
	if mask == nil {
		return h
	}
	return p.product(h, mask)
}

// value returns a parameter at the place.
func (p *Net) value(of *param) *Matrix { return p.lazily(p.values, of, of.Value) }

// lazily returns the matrix of a parameter in a map. It is a panel until it is set.
func (p *Net) lazily(all map[*param]*Matrix, of *param, panel neural.Panel[float32]) *Matrix {
	if all[of] == nil {
		all[of] = p.here(neural.AsMatrix(panel))
	}
	return all[of]
}

// tuples returns a sparse matrix at the place. Values at the same position are added.
func (p *Net) tuples(rows, cols int, at, to []int32, values []float32) *Matrix {
	a, err := matrix.FromTuples(rows, cols, at, to, values, semiring.Plus[float32]())
	if !p.Do(err) {
		return p.Matrix(rows, cols)
	}
	return p.here(a)
}

func (p *Net) here(a *Matrix) *Matrix {
	p.Do(a.Move(p.place))
	return a
}

// Matrix returns an empty matrix at the place.
func (p *Net) Matrix(rows, cols int) *Matrix {
	return matrix.New[float32](rows, cols, matrix.On(p.place))
}

// rowNumbers returns the row of each entry.
func rowNumbers(ptr []int64) []int32 {
	list := make([]int32, ptr[len(ptr)-1])
	for v := range len(ptr) - 1 {
		for k := ptr[v]; k < ptr[v+1]; k++ {
			list[k] = int32(v)
		}
	}
	return list
}
