package sgm

import (
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// A relaxation is the objective of SGM over convex combinations P of matchings,
//
//	f(P) = tr(ÃᵀPB̃Pᵀ),  Ã = Â − J,  Â = 2A + I
//
// (J is all ones; B̃ and B̂ likewise) at the current P. Its gradient is ÃPB̃ᵀ + ÃᵀPB̃, and
//
//	ÃPB̃ᵀ = ÂPB̂ᵀ − (ÂP1)1ᵀ − 1(B̂Pᵀ1)ᵀ + (1ᵀP1)J
//
// It stores only the first part. The others are offsets of rows and columns, which change no
// assignment, and enter f through an [offset].
type relaxation[T semiring.Float] struct {
	*pairing[T]
	sa, sb *matrix.View[T] // the graphs of the steps: A and B, or their edges with weight 1
	ah, bh *matrix.View[T] // Â and B̂
	equal  bool            // steps ignore weights
	// terms are the terms of the gradient of s: it is factor·Σ left·P·right.
	terms  []term[T]
	factor float64

	g       *matrix.Matrix[T] // Σ left·P·right of the part of P that is stored
	p       *matrix.Matrix[T] // P at the free positions
	at      []int32           // P as a matching, nil if it is not one
	gp      float64           // ⟨g, P⟩, with the spread of both
	lp      float64           // ⟨S, P⟩ of the similarities S
	spread  *spread[T]        // the rest of P, nil if there is none
	start   float64           // weight of the start that is left in P
	c       offset
	s       float64 // tr(ÂᵀPB̂Pᵀ)
	limit   float64 // of s at matchings, (‖Â‖² + ‖B̂‖²)/2, where A = PBPᵀ
	unit    float64 // mean squared weight of an edge
	loop    T       // Â = 2A + loop·I
	early   bool    // the climb ended before steps stopped gaining
	work    int64   // entries computed and read by steps
	mending int64   // and by repairs
	earlier effort  // of the searches before
	peak    int64   // bytes
}

// A term of the gradient is left·P·right at the free positions.
type term[T semiring.Float] struct{ left, right *matrix.View[T] }

// offset is c₀ + c₁ρ + c₂ρ²: the contribution of J to the objective of a P with row sums 1 − ρx and
// column sums 1 − ρy, where x and y mark the vertices that are no seeds.
type offset [3]float64

func (c offset) at(rho float64) float64 { return c[0] + rho*(c[1]+rho*c[2]) }

// slope is the derivative at ρ.
func (c offset) slope(rho float64) float64 { return c[1] + 2*rho*c[2] }

func newRelaxation[T semiring.Float](p *pairing[T]) (*relaxation[T], error) {
	return newSearch(p, p.usual(p.opts.Seed))
}

// encode computes Â and B̂. The −1/+1 encoding of a graph without loops has −1 on the diagonal;
// here it is 0, a vertex being no stranger to itself. For matchings this adds a constant to f.
// Without it two neighbours that are matched crosswise see each other as a common neighbour, and
// the search can end there. Without repairs, permuted samples of 4096 vertices of soc-Slashdot0902
// ended with 4 disagreements, 2 of 2, without it, and 1 of 5 with any, 8, with it; of 2048 vertices
// there was no difference, 1 of 4.
func (f *relaxation[T]) encode() (err error) {
	f.sa, f.sb = f.a, f.b
	if f.equal {
		if f.sa, err = f.alike(f.a); err == nil {
			f.sb, err = f.alike(f.b)
		}
		if err != nil {
			return err
		}
	}
	if f.ah, err = f.encoded(f.sa, f.loop, f.realA); err == nil {
		f.bh, err = f.encoded(f.sb, f.loop, f.realB)
	}
	return err
}

// alike returns the edges of a graph with weight 1.
func (f *relaxation[T]) alike(a *matrix.View[T]) (*matrix.View[T], error) {
	ones := f.matrix(f.n, f.n)
	one := semiring.NewUnary("present", func(x T) T {
		if x == 0 {
			return 0
		}
		return 1
	}, "x != 0")
	err := ops.Apply(ones, one, a, f.with)
	return ones.View(), err
}

// encoded returns 2A + loop·I of a graph whose vertices from real on are padding.
func (f *relaxation[T]) encoded(a *matrix.View[T], loop T, real int) (*matrix.View[T], error) {
	var s ops.Steps
	h := f.matrix(f.n, f.n)
	s.Do(ops.ApplySecond(h, semiring.Times[T](), a, 2, f.with))
	if loop != 0 {
		all := make([]int32, f.n)
		for v := range all {
			all[v] = int32(v)
		}
		d, err := f.ones(f.n, f.n, all, all)
		s.Do(err)
		if !s.OK() {
			return a, s.Err()
		}
		s.Do(ops.ApplySecond(d, semiring.Times[T](), d, loop, f.with))
		s.Do(ops.EWiseAdd(h, semiring.Plus[T](), h, d, f.with))
	}
	if real < f.n && f.adopts() {
		s.Do(f.neutral(h, real))
	}
	return h.View(), s.Err()
}

// neutral makes Â − J zero in the rows and columns of padding, the vertices from real on: the
// adopted padding of Fishkind et al.
func (f *relaxation[T]) neutral(h *matrix.Matrix[T], real int) error {
	all := ops.All()
	padding := ops.Span(real, f.n)
	var s ops.Steps
	s.Do(ops.AssignScalar(h, 1, padding, all, f.with))
	s.Do(ops.AssignScalar(h, 1, all, padding, f.with))
	return s.Err()
}

// orient sets the terms of the gradient: one if both graphs are symmetric, else two.
func (f *relaxation[T]) orient() error {
	f.terms = nil
	if f.symmetric {
		f.factor = 2
		return f.term(f.ah, f.bh)
	}
	f.factor = 1
	if err := f.term(f.ah.T(), f.bh); err != nil {
		return err
	}
	return f.term(f.ah, f.bh.T())
}

// term adds the term a·P·b, at the free positions.
func (f *relaxation[T]) term(a, b *matrix.View[T]) error {
	var s ops.Steps
	if !inOrder(f.rows, f.n) {
		left := f.matrix(len(f.rows), f.n)
		s.Do(ops.Extract(left, a, ops.Of(f.rows...), ops.All(), f.with))
		a = left.View()
	}
	if !inOrder(f.cols, f.n) {
		right := f.matrix(f.n, len(f.cols))
		s.Do(ops.Extract(right, b, ops.All(), ops.Of(f.cols...), f.with))
		b = right.View()
	}
	f.terms = append(f.terms, term[T]{a, b})
	return s.Err()
}

// product returns Σ left·P·right for the P that matches vertex from[k] with to[k]. A nil from means
// all vertices in order: left then needs no copy, and P·right is right with its rows permuted.
func (f *relaxation[T]) product(from, to []int) (*matrix.Matrix[T], error) {
	var s ops.Steps
	g := f.matrix(len(f.rows), len(f.cols))
	for _, t := range f.terms {
		left := t.left
		if from != nil {
			some := f.matrix(len(f.rows), len(from))
			s.Do(ops.Extract(some, left, ops.All(), ops.Of(from...), f.with))
			left = some.View()
		}
		right := f.matrix(len(to), len(f.cols))
		s.Do(ops.Extract(right, t.right, ops.Of(to...), ops.All(), f.with))
		s.Do(ops.MxM(g.Accum(semiring.Plus[T]()), semiring.PlusTimes[T](), left, right, f.with))
	}
	f.work += g.NVals()
	return g, s.Err()
}

// begin puts P at the start.
func (f *relaxation[T]) begin() error {
	var s ops.Steps
	var err error
	from, to := f.seedVertices()
	s.Do(f.measure(from, to))
	for _, g := range []*matrix.View[T]{f.ah, f.bh} {
		square, err := f.trace(g, g)
		s.Do(err)
		f.limit += square / 2
	}
	for _, g := range []*matrix.View[T]{f.sa, f.sb} {
		square, err := f.trace(g, g)
		s.Do(err)
		f.unit += square
	}
	f.unit /= max(float64(f.sa.NVals()+f.sb.NVals()), 1)
	f.start = 1
	f.g, err = f.product(from, to)
	s.Do(err)
	a, b := f.matrix(len(from), len(from)), f.matrix(len(to), len(to))
	s.Do(ops.Extract(a, f.ah, ops.Of(from...), ops.Of(from...), f.with))
	s.Do(ops.Extract(b, f.bh, ops.Of(to...), ops.Of(to...), f.with))
	f.s, err = f.trace(a, b)
	s.Do(err)
	softA, softB := make([]int32, len(f.soft)), make([]int32, len(f.soft))
	for k, p := range f.soft {
		softA[k], softB[k] = int32(p.A), int32(p.B)
	}
	f.p, err = f.ones(len(f.rows), len(f.cols), softA, softB)
	s.Do(err)
	if !s.OK() {
		return s.Err()
	}
	if f.opts.Start == Barycentre {
		f.c = offset{f.c[0]} // its rows and columns sum to 1
		s.Do(f.disperse())
	}
	if s.OK() {
		f.gp, err = f.atP(f.g, true)
		s.Do(err)
		f.lp, err = f.likeAtP()
		s.Do(err)
	}
	return s.Err()
}

// measure computes the offset: with p = 1 − ρx and q = 1 − ρy it is
//
//	c(ρ) = −pᵀÂp − qᵀB̂q + (n − ρm)²,  m = 1ᵀx
func (f *relaxation[T]) measure(from, to []int) error {
	var s ops.Steps
	n, m := float64(f.n), float64(f.n-len(f.seeds))
	f.c = offset{n * n, -2 * n * m, m * m}
	for _, g := range []struct {
		a     *matrix.View[T]
		seeds []int
	}{{f.ah, from}, {f.bh, to}} {
		part := func(rows, cols []int) float64 {
			sum, err := f.part(g.a, rows, cols)
			s.Do(err)
			return sum
		}
		all, both := part(nil, nil), part(g.seeds, g.seeds)
		touching := part(g.seeds, nil) + part(nil, g.seeds)
		f.c[0] -= all
		f.c[1] += 2*all - touching
		f.c[2] -= all - touching + both
	}
	return s.Err()
}

// seedVertices lists the seeds of A and of B.
func (f *relaxation[T]) seedVertices() (from, to []int) {
	from, to = make([]int, len(f.seeds)), make([]int, len(f.seeds))
	for k, p := range f.seeds {
		from[k], to[k] = p.A, p.B
	}
	return from, to
}

// objective returns f(P).
func (f *relaxation[T]) objective() float64 { return f.s + f.c.at(f.start) + 2*f.lp }
