package communities

import (
	"fmt"
	"math"
	"slices"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// movesByOperations lets the vertices of a batch decide by operations where the graph lives. A(u,:)
// are the rows of the batch without loops, S is the membership matrix of all vertices and O that of
// the batch. With degrees k, f = γk/2m and the sums t of degrees by community, the weights to all
// communities, what a vertex has in its own, and what it would have in others are
//
//	K ← A(u,:)·S
//	stay ← (K∘O)·1 − f∘(O·t − k)
//	G⟨¬O⟩ ← K − (f ⊗ t)⟨K⟩
//
// and the best community of each vertex is the column of the largest entry of its row of G. The
// batches are drawn, and wishes granted, on the host.
type movesByOperations struct {
	ops.Steps
	m     *localMoving
	place matrix.Place
	with  ops.Option
	a     *matrix.View[bool]    // the entries, of weight 1
	w     *matrix.Matrix[int64] // or the weights
}

// pipelineVertices bounds the vertices, which have two names each.
const pipelineVertices = math.MaxInt32 / 2

// byOperations makes a level decide by operations where the graph lives.
func (m *localMoving) byOperations() error {
	if m.g.n > pipelineVertices {
		return &workflow.ParameterError{App: "Communities", Arg: "the method", Got: fmt.Sprintf("pipeline with %d vertices", m.g.n), Want: "auto, or 1073741823 vertices at most"}
	}
	p := &movesByOperations{m: m, place: m.g.place, with: workflow.With(m.settings), a: m.g.pattern}
	if m.g.weight != nil {
		p.w = matrix.New[int64](m.g.n, m.g.n, matrix.On(p.place))
		if p.Do(m.g.valuesThere()) {
			p.Do(ops.Select(p.w, semiring.Offdiag[int64](0), m.g.values, p.with))
			p.Do(ops.Select(p.w, semiring.ValueNE[int64](0), p.w, p.with))
		}
	}
	m.operations = p
	return p.Err()
}

// decide appends the best moves of the vertices of a batch to the wishes.
func (p *movesByOperations) decide(list []int32) error {
	m, g, on := p.m, p.m.g, matrix.On(p.place)
	rows, names := len(list), 2*g.n
	if rows == 0 {
		return nil
	}
	own, degree, factor := make([]int32, rows), make([]int64, rows), make([]float64, rows)
	for i, v := range list {
		m.active[v] = 0
		own[i], degree[i], factor[i] = m.label[v], g.degree[v], m.factor(g.degree[v])
	}
	u, k, f, t := vector(p, list), vector(p, degree), vector(p, factor), vector(p, m.tot)
	s, o := p.members(m.label), p.members(own)
	if !p.OK() {
		return p.Err()
	}
	plus, minus, times, float := semiring.Plus[int64](), semiring.Minus[float64](), semiring.Times[float64](), semiring.Convert[int64, float64]()

	weights := matrix.New[int64](rows, names, on)
	if p.w == nil {
		near := matrix.New[bool](rows, g.n, on)
		p.Do(ops.Extract(near, p.a, ops.ValuesOf(u), ops.All(), p.with))
		p.Do(ops.MxM(weights, semiring.PlusPair[int64](), near.Pattern(), s.Pattern(), p.with))
	} else {
		near := matrix.New[int64](rows, g.n, on)
		p.Do(ops.Extract(near, p.w, ops.ValuesOf(u), ops.All(), p.with))
		p.Do(ops.MxM(weights, semiring.PlusFirst[int64](), near, s.Pattern(), p.with))
	}

	inside, rest := matrix.New[int64](rows, names, on), matrix.NewVector[int64](rows, on)
	stay, cost := vector(p, make([]float64, rows)), matrix.NewVector[float64](rows, on)
	held := matrix.NewVector[int64](rows, on)
	p.Do(ops.Apply(inside.Masked(o.Structure()), semiring.Identity[int64](), weights, p.with))
	p.Do(ops.Reduce(held, plus, inside, p.with))
	p.Do(ops.Apply(stay.Masked(held.Structure()), float, held, p.with))
	p.Do(ops.MxV(rest, semiring.PlusSecond[int64](), o.Pattern(), t, p.with))
	p.Do(ops.EWiseMult(rest, semiring.Minus[int64](), rest, k, p.with))
	p.Do(ops.Apply(cost, float, rest, p.with))
	p.Do(ops.EWiseMult(cost, times, f, cost, p.with))
	p.Do(ops.EWiseMult(stay, minus, stay, cost, p.with))

	total, expected := matrix.NewVector[float64](names, on), matrix.New[float64](rows, names, on)
	gain := matrix.New[float64](rows, names, on)
	p.Do(ops.Apply(total, float, t, p.with))
	p.Do(ops.Outer(expected.Masked(weights.Structure()), semiring.PlusTimes[float64](), f, total, p.with))
	p.Do(ops.Apply(gain.Masked(o.Structure().Not()), float, weights, p.with))
	p.Do(ops.EWiseMult(gain, minus, gain, expected, p.with))

	best, most, largest := matrix.NewVector[int32](rows, on), matrix.NewVector[float64](rows, on), matrix.New[bool](rows, names, on)
	p.Do(ops.Reduce(most, semiring.Max[float64](), gain, p.with))
	p.Do(ops.Outer(expected.Masked(gain.Structure()).Replace(), semiring.PlusFirst[float64](), most, total.Pattern(), p.with))
	p.Do(ops.EWiseMult(largest, semiring.Eq[float64](), gain, expected, p.with))
	p.Do(ops.Select(largest, semiring.ValueEQ(true), largest, p.with))
	p.Do(ops.MxV(best, semiring.MinSecondi[int32](0), largest.Pattern(), total.Pattern(), p.with))
	if !p.OK() {
		return p.Err()
	}
	return p.wish(list, own, stay, best, most)
}

// wish appends the wishes of a batch, if a vertex gains by the best other community, or by being
// alone in an empty one.
func (p *movesByOperations) wish(list, own []int32, stay *matrix.Vector[float64], best *matrix.Vector[int32], most *matrix.Vector[float64]) error {
	m := p.m
	here, err := stay.Dense(0)
	p.Do(err)
	to, err := best.Dense(-1)
	p.Do(err)
	elsewhere, err := most.Dense(0)
	if !p.Do(err) {
		return p.Err()
	}
	w := m.worker(0)
	for i, v := range list {
		c, x := m.alone(v, own[i], here[i])
		if y := elsewhere[i]; to[i] >= 0 && (y > x || y == x && to[i] < c && c != own[i]) {
			c, x = to[i], y
		}
		if gain := x - here[i]; gain > leastGain*float64(m.g.degree[v]) {
			w.wishes = append(w.wishes, wish{vertex: v, from: own[i], to: c, gain: gain})
		}
	}
	return nil
}

// members returns the matrix of a membership in communities with two names for each vertex.
func (p *movesByOperations) members(label []int32) *matrix.Matrix[bool] {
	s, err := membershipMatrix(label, 2*p.m.g.n)
	if p.Do(err) {
		p.Do(s.Move(p.place))
	}
	return s
}

// vector returns a full vector of values at the place.
func vector[T comparable](p *movesByOperations, values []T) *matrix.Vector[T] {
	v, err := workflow.VectorAt(p.place, slices.Clone(values))
	p.Do(err)
	return v
}
