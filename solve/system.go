package solve

import (
	"fmt"
	"math"

	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
)

// A system is A·x = b while a method solves it.
type system struct {
	space
	settings
	method string
	m, n   int // of the matrix
	b, x   vec
	right  float64 // ‖b‖
	want   float64 // the norm of the residual to reach
	eps    float64 // of the element type

	iterations int
	history    []float64
	stopped    Stop
	failed     error
}

// method runs the iterations of a system, until ended says so.
type method struct {
	name string
	run  func(s *system)
	any  bool // the matrix may be rectangular
	// symmetric says that Options.CheckSymmetry compares the matrix with its transpose.
	symmetric bool
}

// solved is what all solvers do. It has two instances, by the element types.
func solved[T Real](how *method, a, b, opts any) (*Result[T], error) {
	if _, single := any(*new(T)).(float32); single {
		res, err := solveOf[float32](how, a, b, opts)
		return any(res).(*Result[T]), err
	}
	res, err := solveOf[float64](how, a, b, opts)
	return any(res).(*Result[T]), err
}

func solveOf[T Real](how *method, a, b, opts any) (*Result[T], error) {
	o, err := only(how.name, opts.([]Options[T]))
	if err != nil {
		return nil, err
	}
	source, _ := a.(matrix.Source[T])
	right, _ := b.(*matrix.Vector[T])
	v, m, n, err := checked(how.name, source, how.any)
	if err != nil {
		return nil, err
	}
	if err := fits(how.name, "b", right, m); err != nil {
		return nil, err
	}
	if o.Start != nil {
		if err := fits(how.name, "Start", o.Start, n); err != nil {
			return nil, err
		}
	}
	if o.Preconditioner != nil && how.any {
		return nil, &matrix.InvalidError{Op: how.name, Reason: "there is a Preconditioner, want none; scale the columns of the matrix"}
	}
	if o.Damping != 0 && o.Start != nil {
		return nil, &matrix.InvalidError{Op: how.name, Reason: "there are Damping and Start, want one of them: the damping would count from the start"}
	}
	with := ops.WithOptions(ops.WithThreads(o.Threads), ops.WithContext(o.Context), ops.WithTraces(o.Trace))
	s := &system{method: how.name, m: m, n: n, eps: epsilon[T](), settings: settings{
		Tolerance: o.Tolerance, Absolute: o.Absolute, Damping: o.Damping, MaxIterations: o.MaxIterations, Restart: o.Restart,
		CheckSymmetry: o.CheckSymmetry, Context: o.Context, Progress: o.Progress}}
	if err := s.complete(how.name, n); err != nil {
		return nil, err
	}
	if o.Trace != nil { // the name of the algorithm first, as workflows do
		o.Trace(ops.Trace{Op: how.name, Name: how.name})
	}
	own := spaceOf(v, o.Preconditioner, o.Threads, with)
	s.space, s.b = own, own.given(right)
	if s.x = own.zeros(n); o.Start != nil {
		s.x = own.given(o.Start)
	}
	if how.symmetric && o.CheckSymmetry {
		if e, found := own.asymmetry(); found {
			e.Method = how.name
			return nil, &e
		}
	}
	s.solve(how)
	res := &Result[T]{X: s.x.(*matrix.Vector[T]), Iterations: s.iterations, History: s.history, Stopped: s.stopped}
	if len(s.history) > 0 {
		res.Residual = s.history[len(s.history)-1]
	}
	switch {
	case s.expired():
		return res, s.Context.Err()
	case !s.OK():
		return nil, s.Err()
	}
	if res.Residual = s.exactResidual(); !s.OK() {
		return res, s.Err()
	}
	if s.failed == nil && s.stopped == Limit {
		s.failed = &NotConvergedError{how.name, s.iterations, res.Residual, s.want}
	}
	return res, s.failed
}

// only returns the settings that a caller gave, the zero value if none.
func only[O any](method string, opts []O) (o O, err error) {
	if len(opts) > 1 {
		return o, &matrix.InvalidError{Op: method, Reason: fmt.Sprintf("there are %d values of options, want one, or none for the defaults", len(opts))}
	}
	if len(opts) == 1 {
		o = opts[0]
	}
	return o, nil
}

// checked returns a matrix as a view, and its dimensions.
func checked[T Real](method string, a matrix.Source[T], rectangular bool) (v *matrix.View[T], m, n int, err error) {
	if a == nil {
		return nil, 0, 0, &matrix.InvalidError{Op: method, Reason: "the matrix is nil; make it with matrix.New, a Builder or a From function"}
	}
	v = matrix.AsView(a)
	if err := v.Err(); err != nil {
		return nil, 0, 0, err
	}
	m, n = v.Dims()
	if m != n && !rectangular {
		return nil, 0, 0, &matrix.DimensionError{Op: method, Arg: "the matrix", Got: fmt.Sprintf("%d×%d", m, n), Want: "square", Remedy: "LSQR takes any shape"}
	}
	return v, m, n, nil
}

// fits checks the size of a vector.
func fits[T Real](method, arg string, v *matrix.Vector[T], n int) error {
	if v == nil {
		return &matrix.InvalidError{Op: method, Reason: arg + " is nil; make it with matrix.NewVector or matrix.VectorOf"}
	}
	if err := v.Err(); err != nil {
		return err
	}
	if v.Size() != n {
		return &matrix.DimensionError{Op: method, Arg: arg, Got: fmt.Sprintf("a vector of %d", v.Size()), Want: fmt.Sprintf("a vector of %d", n)}
	}
	return nil
}

// solve finds the norm of b and runs the method.
func (s *system) solve(how *method) {
	s.right = norm(s, s.b)
	s.want = max(s.Tolerance*s.right, s.Absolute)
	switch {
	case !s.OK():
	case math.IsNaN(s.right) || math.IsInf(s.right, 0):
		s.broken("the right side has a number that is not finite, or too large a norm")
	case s.right == 0: // as SciPy does, whatever the start
		s.x = s.zeros(s.n)
		s.history, s.stopped = []float64{0}, Converged
	default:
		how.run(s)
	}
}

// residual returns b − A·x.
func (s *system) residual() vec {
	r, q := s.copyOf(s.b), s.zeros(s.m)
	s.multiply(q, s.x)
	s.add(r, -1, q)
	return r
}

func (s *system) exactResidual() float64 { return norm(s, s.residual()) }

// begun takes the norm of the first residual. It reports whether there is nothing to do.
func (s *system) begun(residual float64) bool {
	s.history = append(s.history, residual)
	return s.ended(residual)
}

// next takes the norm of the residual after an iteration, and reports whether the method ends.
func (s *system) next(residual float64) bool {
	s.iterations++
	s.history = append(s.history, residual)
	if s.Progress != nil && s.OK() {
		s.Progress(s.iterations, residual)
	}
	return s.ended(residual)
}

func (s *system) ended(residual float64) bool {
	switch {
	case !s.OK() || s.failed != nil:
		return true
	case math.IsNaN(residual) || math.IsInf(residual, 0):
		s.broken("the residual is not finite; the matrix, the start or the preconditioner has such numbers, or numbers overflow")
		return true
	case residual <= s.want:
		s.stopped = Converged
		return true
	case s.iterations >= s.MaxIterations:
		s.stopped = Limit
		return true
	}
	return s.expired()
}

func (s *system) expired() bool { return s.Context != nil && s.Context.Err() != nil }

// broken ends the method by a breakdown.
func (s *system) broken(reason string) {
	if s.OK() {
		s.failed = &BreakdownError{s.method, s.iterations + 1, reason}
	}
}

// indefinite ends the method.
func (s *system) indefinite(what string) {
	if s.OK() {
		s.failed = &IndefiniteError{s.method, what, s.iterations + 1}
	}
}
