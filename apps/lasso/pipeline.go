package lasso

import (
	"slices"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// lassoPipeline is the dual of the fused lasso in operations. Row k of the incidence matrix D,
// edges × vertices, is 1 at the first vertex of edge k and −1 at the other one. An iteration is
//
//	x ← y − (Dᵀ·u)/ν,  û ← u + β·(u − u'),  x̂ ← x + β·(x − x')
//	u ← clip(û + τ∘(D·x̂), λ₁ w)
//
// with τ(k) = 1/(d(i)/ν(i) + d(j)/ν(j)) of the degrees of its vertices. From time to time the means
// of x over candidate regions, the components of the edges below their capacity, are compared with
// the dual value.
type lassoPipeline struct {
	ops.Steps
	*lasso
	o     FusedLassoOptions
	place matrix.Place
	with  ops.Option
	d     *matrix.Matrix[float64]
	step  *matrix.Vector[float64] // τ
	nus   *matrix.Vector[float64] // ν
	invs  *matrix.Vector[float64] // 1/ν

	y, load     *matrix.Vector[float64] // and ν y
	most, least *matrix.Vector[float64] // capacities, and the same below 0
	u, ahead    *matrix.Vector[float64] // the flow, and û
	x, before   *matrix.Vector[float64] // the primal point, and the one before
	b           *matrix.Vector[float64] // the means of candidate regions
	momentum
}

// lassoPasses is the most iterations of a solution by operations: the cuts of the other forms solve
// what they leave, as they do with Exact.
const lassoPasses = 1 << 17

// byOperations solves jobs one after another at a place.
func (l *lasso) byOperations(jobs lassoJobs, o FusedLassoOptions, place matrix.Place) ([]*FusedLassoResult, error) {
	p := &lassoPipeline{lasso: l, o: o, place: place, with: workflow.With(o.Run)}
	p.incidence()
	list := make([]*FusedLassoResult, len(jobs))
	for k, job := range jobs {
		var err error
		p.o.Lambda1 = job.lambda
		if list[k], err = p.solve(job.y); err != nil {
			return nil, err
		}
		workflow.Report(o.Run, "fused lasso, observations", int64(k+1), int64(len(jobs)))
	}
	return list, nil
}

// incidence makes what depends on the graph alone.
func (p *lassoPipeline) incidence() {
	m := len(p.head)
	rows, cols, vals := make([]int32, 0, 2*m), make([]int32, 0, 2*m), make([]float64, 0, 2*m)
	for i := range int32(p.n) {
		for k := p.ptr[i]; k < p.ptr[i+1]; k++ {
			rows, cols, vals = append(rows, k, k), append(cols, i, p.head[k]), append(vals, 1, -1)
		}
	}
	var err error
	p.d, err = matrix.FromTuples(m, p.n, rows, cols, vals, nil)
	if !p.Do(err) || !p.Do(p.d.Move(p.place)) {
		return
	}
	p.nus, p.invs, p.step = p.vector(p.nu), p.vector(p.inv), p.empty(m)
	degree, one := p.vector(make([]float64, p.n)), p.vector(slices.Repeat([]float64{1}, m))
	p.Do(ops.MxV(degree.Accum(semiring.Plus[float64]()), semiring.PlusSecond[float64](), p.d.Pattern().T(), one, p.with))
	p.Do(ops.EWiseMult(degree, semiring.Times[float64](), degree, p.invs, p.with))
	p.Do(ops.MxV(p.step, semiring.PlusSecond[float64](), p.d.Pattern(), degree, p.with))
	p.Do(ops.ApplyFirst(p.step, semiring.Div[float64](), 1, p.step, p.with))
}

// solve returns the solution for y.
func (p *lassoPipeline) solve(y []float64) (*FusedLassoResult, error) {
	if !p.OK() {
		return nil, p.Err()
	}
	s, _, bound := p.solution(y, p.o)
	res := &FusedLassoResult{Lambda1: p.o.Lambda1}
	if p.o.Lambda1 == 0 || bound == 0 || len(p.cap) == 0 {
		copy(s.b, y)
		return res, s.finish(res, p.o)
	}
	p.begin(y, s.most)
	check, found := lassoDefaults.first, false
	for p.OK() && !found && res.Iterations < lassoPasses {
		for ; res.Iterations < check && p.OK(); res.Iterations++ {
			p.iterate()
		}
		check += max(lassoDefaults.first, int(lassoDefaults.more*float64(check)))
		found = p.takeMeans()
	}
	workflow.Report(p.o.Run, "fused lasso", int64(p.n), int64(p.n))
	if !p.OK() {
		return nil, p.Err()
	}
	u, err := p.u.Dense(0)
	if err != nil {
		return nil, err
	}
	if p.o.Exact || !found {
		exact, _, err := p.lasso.solve(y, p.o, u, lassoDefaults)
		return exact, err
	}
	s.u, s.proven = u, false
	if s.b, err = p.b.Dense(0); err != nil {
		return nil, err
	}
	return res, s.finish(res, p.o)
}

// begin starts from no flow.
func (p *lassoPipeline) begin(y, most []float64) {
	m := len(most)
	p.y, p.load, p.most, p.least = p.vector(y), p.vector(y), p.vector(most), p.vector(most)
	p.Do(ops.EWiseMult(p.load, semiring.Times[float64](), p.y, p.nus, p.with))
	p.Do(ops.Apply(p.least, semiring.Ainv[float64](), p.least, p.with))
	p.u, p.ahead, p.b = p.vector(make([]float64, m)), p.vector(make([]float64, m)), p.vector(y)
	p.x, p.before = p.vector(y), p.vector(y)
	p.restart()
}

// iterate is an iteration. û and x̂ take the place of the iterates before, which are no longer
// needed.
func (p *lassoPipeline) iterate() {
	plus, times := semiring.Plus[float64](), semiring.Times[float64]()
	// û ← u + β·(u − u'), where ahead is u', and x̂ likewise
	beta := p.next()
	for _, v := range [][2]*matrix.Vector[float64]{{p.u, p.ahead}, {p.x, p.before}} {
		p.Do(ops.EWiseAdd(v[1], semiring.Minus[float64](), v[0], v[1], p.with))
		p.Do(ops.ApplyFirst(v[1], times, beta, v[1], p.with))
		p.Do(ops.EWiseAdd(v[1], plus, v[0], v[1], p.with))
	}
	// u ← clip(û + τ∘(D·x̂), λ₁ w)
	next := p.empty(len(p.cap))
	p.Do(ops.MxV(next, semiring.PlusTimes[float64](), p.d, p.before, p.with))
	p.Do(ops.EWiseMult(next, times, next, p.step, p.with))
	p.Do(ops.EWiseAdd(next, plus, next, p.ahead, p.with))
	p.Do(ops.EWiseAdd(next, semiring.Min[float64](), next, p.most, p.with))
	p.Do(ops.EWiseAdd(next, semiring.Max[float64](), next, p.least, p.with))
	p.u, p.ahead = next, p.u
	// x ← y − (Dᵀ·u)/ν
	p.x, p.before = p.before, p.x
	p.Do(ops.Apply(p.x, semiring.Identity[float64](), p.load, p.with))
	p.Do(ops.MxV(p.x.Accum(semiring.Minus[float64]()), semiring.PlusTimes[float64](), p.d.T(), p.u, p.with))
	p.Do(ops.EWiseMult(p.x, times, p.x, p.invs, p.with))
	p.noteValue(p.weighted(p.x, p.x))
}

// takeMeans takes the means of the candidate regions, and reports whether their objective is within
// the tolerance of the optimum.
func (p *lassoPipeline) takeMeans() bool {
	plus, times := semiring.Plus[float64](), semiring.Times[float64]()
	label := p.regions()
	mass, mean, weight := p.empty(p.n), p.empty(p.n), p.empty(p.n)
	p.Do(ops.EWiseMult(mass, times, p.x, p.nus, p.with))
	p.Do(ops.ScatterVector(mean, plus, mass, ops.ValuesOf(label), p.with))
	p.Do(ops.ScatterVector(weight, plus, p.nus, ops.ValuesOf(label), p.with))
	p.Do(ops.EWiseMult(mean, semiring.Div[float64](), mean, weight, p.with))
	p.Do(ops.ExtractVector(p.b, mean, ops.ValuesOf(label), p.with))
	// Σ λ₁w |D·b| − u·(D·b) + ½ Σ ν (b − x)², below ½ Σ ν (y² − x²)
	d, cost := p.empty(len(p.cap)), p.empty(len(p.cap))
	p.Do(ops.MxV(d, semiring.PlusTimes[float64](), p.d, p.b, p.with))
	p.Do(ops.Apply(cost, semiring.Abs[float64](), d, p.with))
	p.Do(ops.EWiseMult(cost, times, cost, p.most, p.with))
	p.Do(ops.EWiseMult(d, times, d, p.u, p.with))
	p.Do(ops.EWiseAdd(cost, semiring.Minus[float64](), cost, d, p.with))
	gap, err := ops.ReduceScalar(plus, cost, p.with)
	p.Do(err)
	off := p.empty(p.n)
	p.Do(ops.EWiseAdd(off, semiring.Minus[float64](), p.b, p.x, p.with))
	gap += .5 * p.weighted(off, off)
	dual := .5 * (p.weighted(p.y, p.y) - p.weighted(p.x, p.x))
	return gap <= lassoTolerance*dual
}

// regions returns the least vertex of the candidate region of each vertex. An edge below its
// capacity takes the least label of its vertices and gives it to both, and labels take the labels
// of their labels, until none changes.
func (p *lassoPipeline) regions() *matrix.Vector[int32] {
	here := matrix.On(p.place)
	low := semiring.Min[int32]()
	flow, inside := p.empty(len(p.cap)), matrix.NewVector[bool](len(p.cap), here)
	p.Do(ops.Apply(flow, semiring.Abs[float64](), p.u, p.with))
	p.Do(ops.EWiseMult(inside, semiring.Lt[float64](), flow, p.most, p.with))
	label, err := workflow.FullVector[int32](p.place, p.n, 0, p.with)
	if !p.Do(err) {
		return label
	}
	before, edge, differ := matrix.NewVector[int32](p.n, here), matrix.NewVector[int32](len(p.cap), here), matrix.NewVector[bool](p.n, here)
	p.Do(ops.ApplyIndex(label, semiring.RowIndex[int32](int32(0)), label, p.with))
	changed := matrix.ScalarOf(true, here)
	for in := range p.While(changed, p.with) {
		p.Do(ops.Apply(before, semiring.Identity[int32](), label, in))
		p.Do(ops.MxV(edge.Masked(inside.MaskView()).Replace(), semiring.MinSecond[int32](), p.d.Pattern(), label, in))
		p.Do(ops.MxV(label.Accum(low), semiring.MinSecond[int32](), p.d.Pattern().T(), edge, in))
		p.Do(ops.ExtractVector(label, label, ops.ValuesOf(label), in))
		p.Do(ops.EWiseMult(differ, semiring.Ne[int32](), label, before, in))
		p.Do(ops.ReduceInto(changed, semiring.Lor(), differ, in))
	}
	return label
}

// weighted returns Σ ν a b.
func (p *lassoPipeline) weighted(a, b *matrix.Vector[float64]) float64 {
	product := p.empty(p.n)
	p.Do(ops.EWiseMult(product, semiring.Times[float64](), a, p.nus, p.with))
	sum, err := ops.Inner(semiring.PlusTimes[float64](), product, b, p.with)
	p.Do(err)
	return sum
}

// vector returns numbers at the place.
func (p *lassoPipeline) vector(list []float64) *matrix.Vector[float64] {
	v, err := workflow.VectorAt(p.place, slices.Clone(list))
	p.Do(err)
	return v
}

// empty returns a vector without entries.
func (p *lassoPipeline) empty(size int) *matrix.Vector[float64] {
	return matrix.NewVector[float64](size, matrix.On(p.place))
}
