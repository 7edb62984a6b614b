package byops

import (
	"math"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// The gradients of a step. ∂X is the gradient of the loss by X; the gradient of a product is a
// product with the transposed of its other factor. A layer takes ∂Z:
//
//	relu, norm   ∂Y = (∂Z − ((∂Z∘Z)·1)⊗1 ∘ Z) ∘ (1/length)⊗1 where Z > 0, else 0
//	mean         ∂Y = [F, A]; ∂Wf = H₁ᵀ·F; ∂Wa = Hᵀ·(Pᵀ·A); ∂H = (Pᵀ·A)·Waᵀ; ∂H₁ += F·Wfᵀ
//	pool         ∂Wa = Mᵀ·A; S = (A·Waᵀ at the places of the maxima M); ∂Wp = Hᵀ·S; ∂b = 1·S;
//	             ∂H = S·Wpᵀ; Wf as in mean
//	GCN          ∂Wf = Hᵀ·(Pᵀ·∂Y); ∂H = (Pᵀ·∂Y)·Wfᵀ
//
//	attention  as mean, with the ∂X of attention.go in place of Pᵀ·A
//	LSTM       as pool, with the ∂X of lstm.go in place of S, and L in place of M
//
// H₁ are the rows of H of the targets.

// Back takes ∂Z of layer k, sets the gradients of its parameters, and returns ∂H, nil for the first
// layer.
func (p *Net) Back(k int, t *Tape, dz *Matrix) *Matrix {
	l, dy := &p.Layers[k], p.unnorm(t, dz)
	if p.GCN() {
		return p.unproduct(k, t.in, l.Self, p.times(t.chosen.T(), dy))
	}
	own := l.Self.Value.Cols
	f, a := p.Matrix(t.block.Targets, own), p.Matrix(t.block.Targets, l.Width()-own)
	p.Do(ops.Split([][]matrix.Target[float32]{{f, a}}, dy, p.with))
	var dh *Matrix
	if p.Reduces() {
		p.slopes[l.Neighbour] = p.times(t.most.T(), a)
		s := p.times(a, p.value(l.Neighbour).T())
		if p.Recurs() {
			s = p.unfold(k, t, s)
		} else {
			s = p.toMaxima(t, s)
		}
		p.slopes[l.PoolBias] = p.sums(s)
		dh = p.unproduct(k, t.in, l.Pool, s)
	} else {
		dx := (*Matrix)(nil)
		if p.Attends() {
			dx = p.unattend(k, t, a)
		} else {
			dx = p.times(t.chosen.T(), a)
		}
		dh = p.unproduct(k, t.in, l.Neighbour, dx)
	}
	if own := p.unproduct(k, p.firstRows(t.in, t.block.Targets), l.Self, f); own != nil {
		p.Do(ops.Assign(dh.Accum(semiring.Plus[float32]()), own, ops.Span(0, t.block.Targets), ops.All(), p.with))
	}
	return dh
}

// unproduct takes the gradient of H·W, sets ∂W, and returns ∂H, nil for the first layer.
func (p *Net) unproduct(k int, h *Matrix, w *param, d *Matrix) *Matrix {
	p.slopes[w] = p.times(h.T(), d)
	if k == 0 {
		return nil
	}
	return p.times(d, p.value(w).T())
}

// unnorm returns ∂Y of Z = norm(relu(Y)).
func (p *Net) unnorm(t *Tape, dz *Matrix) *Matrix {
	z, along := t.Out, p.dots(t.Out, dz)
	p.Do(ops.Apply(along, semiring.Ainv[float32](), along, p.with))
	dy := p.scaled(z, along)
	p.Do(ops.EWiseAdd(dy, semiring.Plus[float32](), dz, dy, p.with))
	dy = p.scaled(dy, t.scale)
	positive := p.Matrix(z.Dims())
	p.Do(ops.Select(positive, semiring.ValueGT[float32](0), z, p.with))
	p.Do(ops.AssignScalar(dy.Masked(positive.Structure().Not()), 0, ops.All(), ops.All(), p.with))
	return dy
}

// toMaxima returns the gradient of the pooled rows of the sources from the gradient dm of the
// maxima. With the choices of T and S, choices × targets and × sources, E marks the choices with a
// positive maximum, which share its gradient if there are several:
//
//	E = (S·pooled = T·most) where S·pooled > 0;  ∂pooled = Sᵀ·(T·(dm ∘ 1/(Tᵀ·E)) where E)
func (p *Net) toMaxima(t *Tape, dm *Matrix) *Matrix {
	b := t.block
	ofTargets, ofSources := p.picks(rowNumbers(b.Ptr), b.Targets), p.picks(b.Idx, b.Sources)
	x, top := p.times(ofSources, t.pooled), p.times(ofTargets, t.most)
	p.Do(ops.Select(x, semiring.ValueGT[float32](0), x, p.with))
	_, cols := dm.Dims()
	e := matrix.New[bool](len(b.Idx), cols, matrix.On(p.place))
	p.Do(ops.EWiseMult(e, semiring.Eq[float32](), x, top, p.with))
	p.Do(ops.Select(e, semiring.ValueEQ(true), e, p.with))
	count := p.Matrix(dm.Dims())
	p.Do(ops.MxM(count, semiring.PlusPair[float32](), ofTargets.Pattern().T(), e.Pattern(), p.with))
	p.Do(ops.EWiseMult(count, semiring.Div[float32](), dm, count, p.with))
	d := p.Matrix(len(b.Idx), cols)
	p.Do(ops.MxM(d.Masked(e.Structure()), semiring.PlusTimes[float32](), ofTargets, count, p.with))
	return p.times(ofSources.T(), d)
}

// picks returns the matrix whose product with a matrix of n rows has the listed rows of it.
func (p *Net) picks(list []int32, n int) *Matrix {
	at, one := make([]int32, len(list)), make([]float32, len(list))
	for k := range list {
		at[k], one[k] = int32(k), 1
	}
	return p.tuples(len(list), n, at, list, one)
}

// sums returns the sums of the columns, 1·D.
func (p *Net) sums(d *Matrix) *Matrix {
	rows, _ := d.Dims()
	return p.row(d, p.filled(rows, 1))
}

// CrossEntropy returns the mean loss of the listed rows of embeddings, nil for all, for classes,
// the number of rows whose class has the largest logit, and ∂Z. With Y the classes, a one a row:
//
//	C = Z·W + 1⊗b;  E = exp(C − top⊗1);  s = E·1;  loss = Σ(log s) − Σ(Y∘(C − top⊗1))
//	∂C = (E∘(1/s)⊗1 − Y)/n;  ∂W = Zᵀ·∂C;  ∂b = 1·∂C;  ∂Z = ∂C·Wᵀ
func (p *Net) CrossEntropy(z *Matrix, list, class []int32) (loss float64, right int, dz *Matrix) {
	var picks *Matrix
	some := z
	if list != nil {
		rows, _ := z.Dims()
		picks = p.picks(list, rows)
		some = p.times(picks, z)
	}
	c, n := p.Classify(some), len(class)
	top, s := matrix.NewVector[float32](n, matrix.On(p.place)), matrix.NewVector[float32](n, matrix.On(p.place))
	p.Do(ops.Reduce(top, semiring.Max[float32](), c, p.with))
	p.Do(ops.EWiseMult(c, semiring.Minus[float32](), c, p.spread(top, c), p.with))
	right = p.right(c, class)
	y := p.picks(class, p.Bias.Value.Cols)
	own, err := ops.ReduceScalar(semiring.Plus[float32](), p.product(y, c), p.with)
	p.Do(err)
	p.Do(ops.Apply(c, semiring.Exp[float32](), c, p.with))
	p.Do(ops.Reduce(s, semiring.Plus[float32](), c, p.with))
	p.Do(ops.EWiseMult(c, semiring.Div[float32](), c, p.spread(s, c), p.with))
	p.Do(ops.EWiseAdd(c, semiring.Minus[float32](), c, y, p.with))
	p.Do(ops.ApplySecond(c, semiring.Div[float32](), c, float32(n), p.with))
	p.Do(ops.Apply(s, semiring.Log[float32](), s, p.with))
	sum, err := ops.ReduceScalar(semiring.Plus[float32](), s, p.with)
	p.Do(err)
	p.slopes[p.Bias] = p.sums(c)
	dz = p.unproduct(1, some, p.Out, c)
	if list != nil {
		dz = p.times(picks.T(), dz)
	}
	return (float64(sum) - float64(own)) / float64(n), right, dz
}

// right returns the number of rows in which the class is the first column with 0, the largest
// number.
func (p *Net) right(c *Matrix, class []int32) int {
	largest, column := p.Matrix(c.Dims()), matrix.New[int32](len(class), p.Bias.Value.Cols, matrix.On(p.place))
	found, same := matrix.NewVector[int32](len(class), matrix.On(p.place)), matrix.NewVector[bool](len(class), matrix.On(p.place))
	want, err := workflow.VectorAt(p.place, class)
	if !p.Do(err) {
		return 0
	}
	p.Do(ops.Select(largest, semiring.ValueEQ[float32](0), c, p.with))
	p.Do(ops.ApplyIndex(column, semiring.ColIndex[float32, int32](0), largest, p.with))
	p.Do(ops.Reduce(found, semiring.Min[int32](), column, p.with))
	p.Do(ops.EWiseMult(same, semiring.Eq[int32](), found, want, p.with))
	p.Do(ops.Select(same, semiring.ValueEQ(true), same, p.with))
	return int(p.NVals(same))
}

// Alike returns the loss of pairs of rows a and b of embeddings, and ∂Z. weight is 1 for pairs that
// are to be alike, −1 for others, and count the divisor. With A and B the rows of the pairs:
//
//	x = scale·(((A·Z)∘(B·Z))·1 − shift)∘weight;  loss = Σ log(1 + exp(−x))/count
//	u = −scale·weight/((1 + exp(x))·count);  ∂Z = Aᵀ·(u⊗1 ∘ B·Z) + Bᵀ·(u⊗1 ∘ A·Z)
func (p *Net) Alike(z *Matrix, a, b []int32, weight []float32, count, scale, shift float64) (loss float64, dz *Matrix) {
	if len(a) == 0 {
		return 0, p.Matrix(z.Dims())
	}
	rows, _ := z.Dims()
	ofA, ofB := p.picks(a, rows), p.picks(b, rows)
	za, zb := p.times(ofA, z), p.times(ofB, z)
	w, err := workflow.VectorAt(p.place, weight)
	if !p.Do(err) {
		return 0, z
	}
	x := p.dots(za, zb)
	p.Do(ops.ApplySecond(x, semiring.Minus[float32](), x, float32(shift), p.with))
	p.Do(ops.ApplySecond(w, semiring.Times[float32](), w, float32(scale), p.with))
	p.Do(ops.EWiseMult(x, semiring.Times[float32](), x, w, p.with))
	p.Do(ops.Apply(x, semiring.Exp[float32](), x, p.with))
	p.Do(ops.ApplySecond(w, semiring.Div[float32](), w, float32(-count), p.with))
	u := matrix.NewVector[float32](len(a), matrix.On(p.place))
	p.Do(ops.ApplySecond(u, semiring.Plus[float32](), x, 1, p.with))
	p.Do(ops.EWiseMult(w, semiring.Div[float32](), w, u, p.with))
	p.Do(ops.EWiseMult(u, semiring.Div[float32](), u, x, p.with)) // 1 + exp(−x)
	p.Do(ops.Apply(u, semiring.Log[float32](), u, p.with))
	sum, err := ops.ReduceScalar(semiring.Plus[float32](), u, p.with)
	p.Do(err)
	dz = p.times(ofA.T(), p.scaled(zb, w))
	p.Do(ops.MxM(dz.Accum(semiring.Plus[float32]()), semiring.PlusTimes[float32](), ofB.T(), p.scaled(za, w), p.with))
	return float64(sum) / count, dz
}

// Adam moves the parameters by their gradients, with decay of weights (Kingma and Ba, Adam: a
// method for stochastic optimization, ICLR 2015, algorithm 1). Step counts from 1.
//
//	D = ∂W + decay·W;  M ← b1·M + (1−b1)·D;  V ← b2·V + (1−b2)·D∘D
//	W ← W − rate/c1·M / (√(V/c2) + ε), c1 = 1−b1^step, c2 = 1−b2^step
func (p *Net) Adam(rate, decay float64, step int64) {
	const b1, b2, epsilon = .9, .999, 1e-8
	c1, c2 := 1-math.Pow(b1, float64(step)), 1-math.Pow(b2, float64(step))
	for _, w := range p.All {
		value := p.value(w)
		d := p.sum(1, p.slopes[w], decay, value)
		m := p.sum(b1, p.lazily(p.first, w, w.First), 1-b1, d)
		v := p.sum(b2, p.lazily(p.next, w, w.Next), 1-b2, p.product(d, d))
		p.first[w], p.next[w] = m, v
		root, by := p.multiple(1/c2, v), p.Matrix(v.Dims())
		p.Do(ops.Apply(root, semiring.Sqrt[float32](), root, p.with))
		p.Do(ops.ApplySecond(root, semiring.Plus[float32](), root, epsilon, p.with))
		p.Do(ops.EWiseMult(by, semiring.Div[float32](), m, root, p.with))
		p.values[w] = p.sum(1, value, -rate/c1, by)
	}
}

// multiple returns x·a.
func (p *Net) multiple(x float64, a *Matrix) *Matrix {
	c := p.Matrix(a.Dims())
	p.Do(ops.ApplyFirst(c, semiring.Times[float32](), float32(x), a, p.with))
	return c
}

// sum returns x·a + y·b.
func (p *Net) sum(x float64, a *Matrix, y float64, b *Matrix) *Matrix {
	c := p.multiple(x, a)
	p.Do(ops.EWiseAdd(c, semiring.Plus[float32](), c, p.multiple(y, b), p.with))
	return c
}
