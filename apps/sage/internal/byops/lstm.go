package byops

import (
	"math"

	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// An LSTM over the neighbours, with X = H·Wx + 1⊗b. Targets are sorted by their number of
// neighbours, so that step t changes the first rows of h and c; S has a one in each row, at the
// neighbour of the target in place t:
//
//	[I, F, G, O] = [σ, σ, tanh, σ](S·X + h·Wh);  c ← F∘c + I∘G;  h ← O∘tanh(c)
//
// Backward, from the last step to the first, with T = tanh(c) and c₀, h₀ before the step:
//
//	∂c += ∂h∘O∘(1 − T∘T)
//	D = [∂c∘G∘I∘(1−I), ∂c∘c₀∘F∘(1−F), ∂c∘I∘(1−G∘G), ∂h∘T∘O∘(1−O)]
//	∂X += Sᵀ·D;  ∂Wh += h₀ᵀ·D;  ∂h ← D·Whᵀ;  ∂c ← ∂c∘F

// A step is what a step of an LSTM keeps.
type step struct {
	rows      int
	picks     *Matrix    // S
	gates     [4]*Matrix // I, F, G, O
	top       *Matrix    // T
	cell, was *Matrix    // c₀ and h₀
}

// fold returns the last h of the targets.
func (p *Net) fold(k int, t *Tape) *Matrix {
	l, b, order := &p.Layers[k], t.block, t.block.ByLength()
	x, width := p.affine(t.in, l.Pool, l.PoolBias), l.Recur.Value.Rows
	state, cell := p.Matrix(b.Targets, width), p.Matrix(b.Targets, width)
	t.sorted = p.picks(order, b.Targets)
	rows := b.Targets
	for at := 0; p.OK(); at++ {
		for rows > 0 && b.Length(order[rows-1]) <= at {
			rows--
		}
		if rows == 0 {
			break
		}
		list := make([]int32, rows)
		for r, v := range order[:rows] {
			list[r] = b.Idx[b.Ptr[v]+int64(at)]
		}
		s := &step{rows: rows, picks: p.picks(list, b.Sources), cell: p.firstRows(cell, rows), was: p.firstRows(state, rows)}
		z := p.times(s.picks, x)
		p.Do(ops.MxM(z.Accum(semiring.Plus[float32]()), semiring.PlusTimes[float32](), s.was, p.value(l.Recur), p.with))
		for q := range s.gates {
			s.gates[q] = p.Matrix(rows, width)
		}
		p.Do(ops.Split([][]matrix.Target[float32]{{s.gates[0], s.gates[1], s.gates[2], s.gates[3]}}, z, p.with))
		for q, of := range []semiring.UnaryOp[float32, float32]{sigmoid(), sigmoid(), tanh(), sigmoid()} {
			p.Do(ops.Apply(s.gates[q], of, s.gates[q], p.with))
		}
		cell = p.plus(p.product(s.gates[1], s.cell), p.product(s.gates[0], s.gates[2]))
		s.top = p.applied(tanh(), cell)
		if h := p.product(s.gates[3], s.top); rows == b.Targets {
			state = h
		} else {
			p.Do(ops.Assign(state, h, ops.Span(0, rows), ops.All(), p.with))
		}
		t.steps = append(t.steps, s)
	}
	return p.times(t.sorted.T(), state)
}

// unfold takes the gradient of the last h, sets ∂Wh, and returns ∂X.
func (p *Net) unfold(k int, t *Tape, most *Matrix) *Matrix {
	l, plus, times := &p.Layers[k], semiring.Plus[float32](), semiring.PlusTimes[float32]()
	dx, dw := p.Matrix(t.block.Sources, l.Pool.Value.Cols), p.Matrix(l.Recur.Value.Rows, l.Recur.Value.Cols)
	dh, later := p.times(t.sorted, most), (*Matrix)(nil)
	for at := len(t.steps) - 1; at >= 0 && p.OK(); at-- {
		s := t.steps[at]
		i, f, g, o := s.gates[0], s.gates[1], s.gates[2], s.gates[3]
		h := p.firstRows(dh, s.rows)
		dc := p.product(p.product(h, o), p.applied(tanhSlope(), s.top))
		if later != nil {
			p.Do(ops.Assign(dc.Accum(plus), later, ops.Span(0, t.steps[at+1].rows), ops.All(), p.with))
		}
		d := p.Matrix(s.rows, l.Pool.Value.Cols)
		p.Do(ops.Concat(d, [][]matrix.Source[float32]{{
			p.product(p.product(dc, g), p.applied(sigmoidSlope(), i)), p.product(p.product(dc, s.cell), p.applied(sigmoidSlope(), f)),
			p.product(p.product(dc, i), p.applied(tanhSlope(), g)), p.product(p.product(h, s.top), p.applied(sigmoidSlope(), o)),
		}}, p.with))
		p.Do(ops.MxM(dx.Accum(plus), times, s.picks.T(), d, p.with))
		p.Do(ops.MxM(dw.Accum(plus), times, s.was.T(), d, p.with))
		p.Do(ops.Assign(dh, p.times(d, p.value(l.Recur).T()), ops.Span(0, s.rows), ops.All(), p.with))
		later = p.product(dc, f)
	}
	p.slopes[l.Recur] = dw
	return dx
}

// applied returns f of the entries.
func (p *Net) applied(f semiring.UnaryOp[float32, float32], a *Matrix) *Matrix {
	c := p.Matrix(a.Dims())
	p.Do(ops.Apply(c, f, a, p.with))
	return c
}

func sigmoid() semiring.UnaryOp[float32, float32] {
	return semiring.NewUnary("sigmoid", func(x float32) float32 { return float32(1 / (1 + math.Exp(-float64(x)))) }, "1.f / (1.f + expf(-x))")
}

func tanh() semiring.UnaryOp[float32, float32] {
	return semiring.NewUnary("tanh", func(x float32) float32 { return float32(1 - 2/(1+math.Exp(2*float64(x)))) }, "tanhf(x)")
}

// sigmoidSlope is the derivative of σ by its value.
func sigmoidSlope() semiring.UnaryOp[float32, float32] {
	return semiring.NewUnary("sigmoid_slope", func(x float32) float32 { return x * (1 - x) }, "x * (1.f - x)")
}

// tanhSlope is the derivative of tanh by its value.
func tanhSlope() semiring.UnaryOp[float32, float32] {
	return semiring.NewUnary("tanh_slope", func(x float32) float32 { return 1 - x*x }, "1.f - x * x")
}
