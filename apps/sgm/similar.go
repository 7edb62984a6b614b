package sgm

import (
	"fmt"

	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// resemble takes up SGMOptions.Similarity. The objective has 2⟨S, P⟩ as a further term, since f
// grows by 2 for each that ‖A − PBPᵀ‖² falls.
func (p *pairing[T]) resemble() error {
	s := p.opts.Similarity
	if s == nil {
		return nil
	}
	if err := s.Err(); err != nil {
		return err
	}
	if m, n := s.Dims(); m != p.realA || n != p.realB {
		return &matrix.DimensionError{Op: "SGM", Arg: "Similarity", Got: fmt.Sprintf("%d×%d", m, n), Want: fmt.Sprintf("%d×%d", p.realA, p.realB),
			Remedy: "give a row for each vertex of A and a column for each vertex of B"}
	}
	if err := checkFinite("SGM", s.View(), p.opts.Run); err != nil {
		return err
	}
	var steps ops.Steps
	local := s.Clone()
	steps.Do(local.Move(nil))
	all := matrix.New[T](p.n, p.n)
	here := matrix.New[T](p.realA, p.realB)
	steps.Do(ops.Apply(here, semiring.Convert[float64, T](), local, p.with))
	steps.Do(ops.Assign(all, here, ops.Span(0, p.realA), ops.Span(0, p.realB), p.with))
	free := matrix.New[T](len(p.rows), len(p.cols))
	steps.Do(ops.Extract(free, all, ops.Of(p.rows...), ops.Of(p.cols...), p.with))
	if !steps.OK() {
		return steps.Err()
	}
	most := make([]float64, len(p.rows))
	for at, x := range free.All() {
		most[at.Row] = max(most[at.Row], float64(x))
	}
	for _, x := range most {
		p.mostLike += x
	}
	p.like, p.likeHost = free, all.View()
	return free.Move(p.place)
}

// likeness returns ⟨S, P⟩ at the free positions for a matching of positions, 0 without
// similarities.
func (p *pairing[T]) likeness(t []int32) (float64, error) {
	if p.like == nil {
		return 0, nil
	}
	to, err := p.permutation(t)
	if err != nil {
		return 0, err
	}
	return p.trace(p.like, to)
}

// similarity returns the sum of the similarities of all pairs of a matching.
func (p *pairing[T]) similarity(match []int) (sum float64) {
	if p.likeHost == nil {
		return 0
	}
	for v, w := range match {
		x, _ := p.likeHost.At(v, w)
		sum += float64(x)
	}
	return sum
}

// likeAtP returns ⟨S, P⟩ at the present P.
func (f *relaxation[T]) likeAtP() (float64, error) {
	if f.like == nil {
		return 0, nil
	}
	return f.atP(f.like, false)
}

// withLike adds the term of the similarities to costs in units of the gradient that is stored.
func (f *relaxation[T]) withLike(costs *matrix.Matrix[T]) (*matrix.Matrix[T], error) {
	if f.like == nil {
		return costs, nil
	}
	sum, scaled := f.matrix(len(f.rows), len(f.cols)), f.matrix(len(f.rows), len(f.cols))
	var s ops.Steps
	s.Do(ops.ApplySecond(scaled, semiring.Times[T](), f.like, T(2/f.factor), f.with))
	s.Do(ops.EWiseAdd(sum, semiring.Plus[T](), costs, scaled, f.with))
	f.work += f.like.NVals()
	return sum, s.Err()
}
