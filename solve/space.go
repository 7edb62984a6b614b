package solve

import (
	"math"

	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// A vec is a full *matrix.Vector of the element type of its space.
type vec interface{ Size() int }

// A space computes with a matrix and vectors of one element type at one place. It keeps the first
// error; after an error results mean nothing, and loops end by OK.
type space interface {
	OK() bool
	Do(err error) bool
	Err() error
	zeros(n int) vec
	copyOf(x vec) vec
	set(y, x vec)           // y = x
	multiply(y, x vec)      // y = A·x
	multiplyT(y, x vec)     // y = Aᵀ·x
	precondition(r vec) vec // M⁻¹·r; r itself without a preconditioner
	preconditioned() bool
	dot(x, y vec) float64
	scale(x vec, a float64)      // x = a·x
	add(y vec, a float64, x vec) // y = y + a·x
	random(n int, next func() float64) vec
	frame(n int) frame // an empty one
}

// realSpace is the space of an element type.
type realSpace[T Real] struct {
	ops.Steps
	a     *matrix.View[T]
	m     Preconditioner[T]
	place matrix.Place
	with  ops.Option
	// threads is the number of threads of the host.
	threads int
	zero    map[int]*matrix.Vector[T] // a vector of zeros for each size
	// The operators, made once.
	plus, times semiring.Monoid[T]
	minus       semiring.BinaryOp[T, T, T]
	ring        semiring.Semiring[T, T, T]
}

// spaceOf returns the space of a matrix.
func spaceOf[T Real](a *matrix.View[T], m Preconditioner[T], threads int, with ops.Option) *realSpace[T] {
	return &realSpace[T]{a: a, m: m, place: a.Place(), with: with, threads: parallel.Threads(threads), zero: map[int]*matrix.Vector[T]{},
		plus: semiring.Plus[T](), times: semiring.Times[T](), minus: semiring.Minus[T](), ring: semiring.PlusTimes[T]()}
}

func (s *realSpace[T]) zeros(n int) vec { return s.filled(n) }

// filled returns a full vector of zeros.
func (s *realSpace[T]) filled(n int) *matrix.Vector[T] {
	if s.place == nil {
		v, err := matrix.NewFullVector[T](n, 0)
		s.Do(err)
		return v
	}
	v := matrix.NewVector[T](n, matrix.On(s.place))
	s.Do(ops.AssignVectorScalar(v, 0, ops.All(), s.with))
	return v
}

// given returns a copy of a vector of the caller, full and at the place.
func (s *realSpace[T]) given(v *matrix.Vector[T]) *matrix.Vector[T] {
	if v.Place() == s.place {
		w := s.copied(v)
		s.fill(w)
		return w
	}
	w := v.Clone() // on the host
	if s.Do(w.Err()) && s.Do(w.Move(s.place)) {
		s.fill(w)
	}
	return w
}

// fill stores zeros where a vector has no entry.
func (s *realSpace[T]) fill(v *matrix.Vector[T]) {
	n := v.Size()
	if s.NVals(v) == int64(n) {
		return
	}
	if s.zero[n] == nil {
		s.zero[n] = s.filled(n)
	}
	s.Do(ops.EWiseAdd(v, s.plus, s.zero[n], v, s.with))
}

func (s *realSpace[T]) copyOf(x vec) vec { return s.copied(x.(*matrix.Vector[T])) }

func (s *realSpace[T]) copied(x *matrix.Vector[T]) *matrix.Vector[T] {
	y := matrix.NewVector[T](x.Size(), matrix.On(s.place))
	s.set(y, x)
	return y
}

func (s *realSpace[T]) set(y, x vec) {
	s.Do(ops.Apply(y.(*matrix.Vector[T]), semiring.Identity[T](), x.(*matrix.Vector[T]), s.with))
}

// product sets y = m·x. Rows without entries get a 0.
func (s *realSpace[T]) product(y vec, m *matrix.View[T], x vec) {
	v := y.(*matrix.Vector[T])
	s.Do(ops.MxV(v, s.ring, m, x.(*matrix.Vector[T]), s.with, ops.Repeats(100)))
	s.fill(v)
}

func (s *realSpace[T]) multiply(y, x vec)  { s.product(y, s.a, x) }
func (s *realSpace[T]) multiplyT(y, x vec) { s.product(y, s.a.T(), x) }

func (s *realSpace[T]) preconditioned() bool { return s.m != nil }

func (s *realSpace[T]) precondition(r vec) vec {
	if s.m == nil {
		return r
	}
	z, err := s.m.Apply(r.(*matrix.Vector[T]), s.with)
	if !s.Do(err) {
		return r
	}
	s.fill(z)
	return z
}

func (s *realSpace[T]) dot(x, y vec) float64 {
	d, err := ops.Inner(s.ring, x.(*matrix.Vector[T]), y.(*matrix.Vector[T]), s.with)
	s.Do(err)
	return float64(d)
}

func (s *realSpace[T]) scale(x vec, a float64) {
	v := x.(*matrix.Vector[T])
	s.Do(ops.ApplyFirst(v, s.times, T(a), v, s.with))
}

func (s *realSpace[T]) add(y vec, a float64, x vec) {
	v, w := y.(*matrix.Vector[T]), x.(*matrix.Vector[T])
	switch a {
	case 1:
		s.Do(ops.EWiseAdd(v, s.plus, v, w, s.with))
	case -1:
		s.Do(ops.EWiseAdd(v, s.minus, v, w, s.with))
	default:
		s.Do(ops.ApplyFirst(v.Accum(s.plus), s.times, T(a), w, s.with))
	}
}

func (s *realSpace[T]) random(n int, next func() float64) vec {
	list := make([]T, n)
	for i := range list {
		list[i] = T(next())
	}
	v, err := matrix.VectorOf(list)
	if s.Do(err) {
		s.Do(v.Move(s.place))
	}
	return v
}

// asymmetry returns the entry with the largest difference to its transpose; found is false if no
// difference is larger than rounding.
func (s *realSpace[T]) asymmetry() (e AsymmetryError, found bool) {
	n, _ := s.a.Dims()
	at := matrix.On(s.place)
	d, most := matrix.New[T](n, n, at), semiring.Max[T]()
	s.Do(ops.EWiseUnion(d, s.minus, s.a, 0, s.a.T(), 0, s.with))
	size, gap := matrix.New[T](n, n, at), semiring.Abs[T]()
	s.Do(ops.Apply(size, gap, s.a, s.with))
	s.Do(ops.Apply(d, gap, d, s.with))
	largest, err := ops.ReduceScalar(most, size, s.with)
	s.Do(err)
	s.Do(ops.Select(d, semiring.ValueGT(max(0, largest)*rounding[T]()), d, s.with))
	if s.NVals(d) == 0 {
		return e, false
	}
	for c := range d.All() {
		other := matrix.New[T](1, 1, at)
		for k, p := range [][2]int{{c.Row, c.Col}, {c.Col, c.Row}} {
			s.Do(ops.Extract(other, s.a, ops.Of(p[0]), ops.Of(p[1]), s.with))
			for _, x := range other.All() {
				if k == 0 {
					e.Entry = float64(x)
				} else {
					e.Not = float64(x)
				}
			}
		}
		e.Row, e.Col = c.Row, c.Col
		break
	}
	return e, true
}

// rounding is the relative difference that counts as rounding.
func rounding[T Real]() T { return 16 * T(epsilon[T]()) }

// epsilon is the distance of 1 to the next number.
func epsilon[T Real]() float64 {
	if _, single := any(T(0)).(float32); single {
		return 0x1p-23
	}
	return 0x1p-52
}

func norm(s space, x vec) float64 { return math.Sqrt(s.dot(x, x)) }
