package byops

import (
	"github.com/hiveblas/hiveblas/apps/sage/internal/neural"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// Attention, with X = H·Wa and for each head its columns of X, aₗ and aᵣ. All matrices but X have
// the entries of P, and X₁ are the rows of X of the targets:
//
//	E = (X₁·aₗ)⊗1 + 1⊗(X·aᵣ);  E ← max(E, leak·E);  A = P∘exp(E − max(E)⊗1);  A ← A ∘ (1/(A·1))⊗1
//	D = ∂Z·Xᵀ;  ∂E = A∘(D − ((A∘D)·1)⊗1), times leak where E < 0
//	∂X = Aᵀ·∂Z + (1·∂E)⊗aᵣ, and (∂E·1)⊗aₗ more for targets;  ∂aₗ = X₁ᵀ·(∂E·1);  ∂aᵣ = Xᵀ·(1·∂E)

// head is what a head of attention keeps of its forward pass.
type head struct {
	x, share, slope *Matrix // X, A, and 1 or leak for each entry
}

// attend returns A·X of all heads, side by side.
func (p *Net) attend(k int, t *Tape, x *Matrix) *Matrix {
	l, out := &p.Layers[k], make([]matrix.Source[float32], p.Heads)
	for c := range out {
		h := &head{x: p.part(x, c)}
		e, left := p.Matrix(t.block.Targets, t.block.Sources), p.firstRows(h.x, t.block.Targets)
		p.Do(ops.Outer(e.Masked(t.chosen.Structure()), semiring.MaxPlus[float32](),
			p.along(left, l.AttendSelf, c), p.along(h.x, l.AttendNeighbour, c), p.with))
		h.slope = p.over(t, p.filled(t.block.Targets, neural.Leak))
		above := p.Matrix(e.Dims())
		p.Do(ops.Select(above, semiring.ValueGT[float32](0), e, p.with))
		p.Do(ops.AssignScalar(h.slope.Masked(above.Structure()), 1, ops.All(), ops.All(), p.with))
		p.Do(ops.EWiseMult(e, semiring.Times[float32](), e, h.slope, p.with))
		p.Do(ops.EWiseMult(e, semiring.Minus[float32](), e, p.over(t, p.reduced(semiring.Max[float32](), e)), p.with))
		p.Do(ops.Apply(e, semiring.Exp[float32](), e, p.with))
		h.share = p.product(t.chosen, e)
		p.Do(ops.EWiseMult(h.share, semiring.Div[float32](), h.share, p.over(t, p.reduced(semiring.Plus[float32](), h.share)), p.with))
		t.heads = append(t.heads, h)
		out[c] = p.times(h.share, h.x)
	}
	near := p.Matrix(t.block.Targets, l.Neighbour.Value.Cols)
	p.Do(ops.Concat(near, [][]matrix.Source[float32]{out}, p.with))
	return near
}

// unattend takes the gradient of A·X, sets ∂aₗ and ∂aᵣ, and returns ∂X.
func (p *Net) unattend(k int, t *Tape, a *Matrix) *Matrix {
	l, plus := &p.Layers[k], semiring.Plus[float32]()
	out := make([]matrix.Source[float32], p.Heads)
	left, right := make([]matrix.Source[float32], p.Heads), make([]matrix.Source[float32], p.Heads)
	for c, h := range t.heads {
		dz, d, first := p.part(a, c), p.over(t, p.filled(t.block.Targets, 0)), p.firstRows(h.x, t.block.Targets)
		p.Do(ops.MxM(d.Masked(t.chosen.Structure()).Accum(plus), semiring.PlusTimes[float32](), dz, h.x.T(), p.with))
		p.Do(ops.EWiseMult(d, semiring.Minus[float32](), d, p.over(t, p.reduced(plus, p.product(h.share, d))), p.with))
		d = p.product(p.product(d, h.share), h.slope)
		of, to := p.reduced(plus, d), p.reduced(plus, d.T())
		dx := p.times(h.share.T(), dz)
		rows, cols := h.x.Dims()
		dx = p.plus(dx, p.outer(rows, cols, to, p.vector(l.AttendNeighbour, c)))
		p.Do(ops.Assign(dx.Accum(plus), p.outer(t.block.Targets, cols, of, p.vector(l.AttendSelf, c)), ops.Span(0, t.block.Targets), ops.All(), p.with))
		out[c], left[c], right[c] = dx, p.row(first, of), p.row(h.x, to)
	}
	dx := p.Matrix(t.block.Sources, l.Neighbour.Value.Cols)
	p.Do(ops.Concat(dx, [][]matrix.Source[float32]{out}, p.with))
	for of, parts := range map[*param][]matrix.Source[float32]{l.AttendSelf: left, l.AttendNeighbour: right} {
		p.slopes[of] = p.Matrix(1, l.Neighbour.Value.Cols)
		p.Do(ops.Concat(p.slopes[of], [][]matrix.Source[float32]{parts}, p.with))
	}
	return dx
}

// part returns the columns of a head.
func (p *Net) part(x *Matrix, c int) *Matrix {
	rows, cols := x.Dims()
	size := cols / p.Heads
	y := p.Matrix(rows, size)
	p.Do(ops.Extract(y, x, ops.All(), ops.Span(c*size, (c+1)*size), p.with))
	return y
}

// vector returns the numbers of a head in a parameter.
func (p *Net) vector(of *param, c int) *matrix.Vector[float32] {
	size := of.Value.Cols / p.Heads
	v := matrix.NewVector[float32](size, matrix.On(p.place))
	p.Do(ops.ExtractRow(v, p.value(of), 0, ops.Span(c*size, (c+1)*size), p.with))
	return v
}

// along returns X·a of a head.
func (p *Net) along(x *Matrix, of *param, c int) *matrix.Vector[float32] {
	rows, _ := x.Dims()
	u := p.filled(rows, 0) // a row of X without entries is 0
	p.Do(ops.MxV(u.Accum(semiring.Plus[float32]()), semiring.PlusTimes[float32](), x, p.vector(of, c), p.with))
	return u
}

// over returns u⊗1 with the entries of P.
func (p *Net) over(t *Tape, u *matrix.Vector[float32]) *Matrix {
	c := p.Matrix(t.block.Targets, t.block.Sources)
	p.Do(ops.Outer(c.Masked(t.chosen.Structure()), semiring.PlusTimes[float32](), u, p.filled(t.block.Sources, 1), p.with))
	return c
}

// reduced returns the sums of rows, 0 for rows without entries.
func (p *Net) reduced(m semiring.Monoid[float32], a matrix.Source[float32]) *matrix.Vector[float32] {
	rows, _ := matrix.AsView(a).Dims()
	u, full := matrix.NewVector[float32](rows, matrix.On(p.place)), p.filled(rows, 0)
	p.Do(ops.Reduce(u, m, a, p.with))
	p.Do(ops.AssignVector(full.Masked(u.Structure()), u, ops.All(), p.with))
	return full
}

// outer returns u⊗v.
func (p *Net) outer(rows, cols int, u, v *matrix.Vector[float32]) *Matrix {
	c := p.Matrix(rows, cols)
	p.Do(ops.Outer(c, semiring.PlusTimes[float32](), u, v, p.with))
	return c
}

// row returns u·X as a matrix of one row.
func (p *Net) row(x *Matrix, u *matrix.Vector[float32]) *Matrix {
	_, cols := x.Dims()
	sum, to := matrix.NewVector[float32](cols, matrix.On(p.place)), p.Matrix(1, cols)
	p.Do(ops.VxM(sum, semiring.PlusTimes[float32](), u, x, p.with))
	p.Do(ops.AssignRow(to, sum, 0, ops.All(), p.with))
	return to
}

// plus returns a + b.
func (p *Net) plus(a, b *Matrix) *Matrix {
	c := p.Matrix(a.Dims())
	p.Do(ops.EWiseAdd(c, semiring.Plus[float32](), a, b, p.with))
	return c
}
