package solve

import (
	"fmt"
	"math"

	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// A Preconditioner is a matrix M near A with M⁻¹ that is cheap to apply. [CG] and [MINRES] need a
// symmetric positive definite one.
type Preconditioner[T Real] interface {
	// Apply returns M⁻¹·r in a new vector, at the place of r, which is full.
	Apply(r *matrix.Vector[T], opts ...ops.Option) (*matrix.Vector[T], error)
}

// diagonal is the preconditioner of Jacobi.
type diagonal[T Real] struct{ inverse *matrix.Vector[T] }

// Jacobi returns the diagonal of a square matrix as a preconditioner, at the place of the matrix.
// O(entries). A diagonal entry that is missing, zero or not finite is a *PivotError.
func Jacobi[T Real](a matrix.Source[T], opts ...ops.Option) (Preconditioner[T], error) {
	return made[T]("Jacobi", a, IncompleteOptions{}, opts)
}

func (p *diagonal[T]) Apply(r *matrix.Vector[T], opts ...ops.Option) (*matrix.Vector[T], error) {
	z := matrix.NewVector[T](r.Size(), matrix.On(r.Place()))
	return z, ops.EWiseMult(z, semiring.Times[T](), r, p.inverse, opts...)
}

// IncompleteOptions are the settings of IncompleteCholesky and IncompleteLU.
type IncompleteOptions struct {
	// Shift is added to the diagonal as a share of it: A + Shift·diag(A) is factored. A small one,
	// such as 0.01, helps where a pivot is not positive (Manteuffel, Mathematics of Computation 34,
	// 1980).
	Shift float64
}

// IncompleteCholesky returns A ≈ L·Lᵀ, with entries of L where the lower triangle of A has some:
// IC(0) (Meijerink and van der Vorst, Mathematics of Computation 31, 1977). A is square, and of it
// only the lower triangle is read. It is factored on the host, in O(Σ entries² of the rows). Apply
// substitutes forwards and backwards where A is, as two of [Triangle], and returns a *PlaceError
// for a vector elsewhere; so does IncompleteCholesky for a matrix on a group. A pivot that is not
// positive is a *PivotError; for a symmetric matrix with a dominant diagonal there is none.
func IncompleteCholesky[T Real](a matrix.Source[T], opts ...IncompleteOptions) (Preconditioner[T], error) {
	return incomplete[T]("IncompleteCholesky", a, opts)
}

// IncompleteLU returns A ≈ L·U, with entries where A has some: ILU(0) (Saad, Iterative Methods for
// Sparse Linear Systems, 2003, algorithm 10.4). Otherwise it is as [IncompleteCholesky]; a pivot of
// 0 and a missing diagonal entry are a *PivotError.
func IncompleteLU[T Real](a matrix.Source[T], opts ...IncompleteOptions) (Preconditioner[T], error) {
	return incomplete[T]("IncompleteLU", a, opts)
}

func incomplete[T Real](op string, a any, opts []IncompleteOptions) (Preconditioner[T], error) {
	o, err := only(op, opts)
	if err != nil {
		return nil, err
	}
	return made[T](op, a, o, nil)
}

// made is the constructor of all preconditioners. It has two instances, by the element types.
func made[T Real](op string, a any, o IncompleteOptions, opts []ops.Option) (Preconditioner[T], error) {
	var p any
	var err error
	if _, single := any(*new(T)).(float32); single {
		p, err = madeOf[float32](op, a, o, opts)
	} else {
		p, err = madeOf[float64](op, a, o, opts)
	}
	if err != nil {
		return nil, err
	}
	return p.(Preconditioner[T]), nil
}

func madeOf[T Real](op string, a any, o IncompleteOptions, opts []ops.Option) (Preconditioner[T], error) {
	source, _ := a.(matrix.Source[T])
	v, _, n, err := checked(op, source, false)
	if err != nil {
		return nil, err
	}
	if !(o.Shift >= 0) || math.IsInf(o.Shift, 1) {
		return nil, &matrix.InvalidError{Op: op, Reason: fmt.Sprintf("Shift is %v, want a finite number of 0 or more", o.Shift)}
	}
	if op == "Jacobi" {
		return jacobi(v, n, ops.WithOptions(opts...))
	}
	lower := semiring.Tril[T](n) // the whole matrix
	if op == "IncompleteCholesky" {
		lower = semiring.Tril[T](0)
	}
	ptr, idx, val, err := rowsOf(op, v, func(to *matrix.Matrix[T]) error { return ops.Select(to, lower, v) })
	if err != nil {
		return nil, err
	}
	f := &factored[T]{op: op, n: n, ptr: ptr, idx: idx, val: append([]T(nil), val...)}
	if err := f.begin(T(1 + o.Shift)); err != nil {
		return nil, err
	}
	var p factors[T]
	if op == "IncompleteCholesky" {
		p, err = f.cholesky(v.Place())
	} else {
		p, err = f.lu(v.Place())
	}
	if err != nil {
		return nil, err
	}
	for _, t := range p {
		if err := t.prepare(); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// jacobi returns the inverse of a diagonal.
func jacobi[T Real](a *matrix.View[T], n int, with ops.Option) (Preconditioner[T], error) {
	s := spaceOf[T](a, nil, 0, with)
	at := matrix.On(a.Place())
	d := matrix.New[T](n, n, at)
	s.Do(ops.Select(d, semiring.DiagSelect[T](0), a, with))
	v := matrix.NewVector[T](n, at)
	s.Do(ops.Reduce(v, s.plus, d, with))
	s.fill(v)
	s.Do(ops.ApplyFirst(v, semiring.Div[T](), 1, v, with))
	bad := matrix.NewVector[bool](n, at)
	s.Do(ops.Apply(bad, unusable[T](), v, with))
	s.Do(ops.Select(bad, semiring.ValueNE(false), bad, with))
	if s.NVals(bad) > 0 {
		for i := range bad.All() {
			x, _ := v.At(i)
			return nil, &PivotError{"Jacobi", i, 1 / float64(x)}
		}
	}
	return &diagonal[T]{v}, s.Err()
}

// unusable is true of numbers that are 0 or not finite.
func unusable[T Real]() semiring.UnaryOp[T, bool] {
	return semiring.NewUnary("unusable", func(x T) bool { return !(x-x == 0) || x == 0 }, "!(x - x == 0) || x == 0")
}

// factors are two triangles, L and Lᵀ or L and U.
type factors[T Real] [2]*Triangle[T]

// Apply substitutes forwards and backwards.
func (f factors[T]) Apply(r *matrix.Vector[T], _ ...ops.Option) (*matrix.Vector[T], error) {
	return solvedBy(f[0].op, r, f[0], f[1])
}

// factored is a matrix by rows that is being factored in place.
type factored[T Real] struct {
	op   string
	n    int
	ptr  []int64
	idx  []int32
	val  []T
	diag []int64 // where the diagonal entry of a row is
}

// begin finds the diagonal entries and multiplies them by a factor.
func (f *factored[T]) begin(times T) error {
	f.diag = make([]int64, f.n)
	for i := range f.n {
		at, end := f.ptr[i], f.ptr[i+1]
		for at < end && int(f.idx[at]) < i {
			at++
		}
		if at == end || int(f.idx[at]) != i {
			return &PivotError{f.op, i, 0}
		}
		f.diag[i] = at
		f.val[at] *= times
	}
	return nil
}

// part returns the entries left or right of the diagonal as a triangle. The diagonal is 1 unless it
// is stored.
func (f *factored[T]) part(at matrix.Place, upper, stored bool) *Triangle[T] {
	t := &Triangle[T]{op: f.op, n: f.n, upper: upper, place: at, ptr: make([]int64, f.n+1)}
	if stored {
		t.diagonal = make([]T, f.n)
	}
	side := func(i int) (lo, hi int64) {
		if upper {
			return f.diag[i] + 1, f.ptr[i+1]
		}
		return f.ptr[i], f.diag[i]
	}
	for i := range f.n {
		lo, hi := side(i)
		if t.ptr[i+1] = t.ptr[i] + hi - lo; stored {
			t.diagonal[i] = f.val[f.diag[i]]
		}
	}
	t.idx, t.val = make([]int32, t.ptr[f.n]), make([]T, t.ptr[f.n])
	for i := range f.n {
		lo, hi := side(i)
		copy(t.idx[t.ptr[i]:], f.idx[lo:hi])
		copy(t.val[t.ptr[i]:], f.val[lo:hi])
	}
	return t
}

// cholesky factors the lower triangle row by row:
// L(i,j) = (A(i,j) − Σ L(i,k)·L(j,k)) / L(j,j), where the sum is a dot product of sparse rows.
func (f *factored[T]) cholesky(at matrix.Place) (p factors[T], err error) {
	row := make([]T, f.n) // row i of L, scattered
	for i := range f.n {
		lo, d := f.ptr[i], f.diag[i]
		for p := lo; p < d; p++ {
			j := f.idx[p]
			x := f.val[p]
			end := f.diag[j]
			for q := f.ptr[j]; q < end; q++ {
				x -= row[f.idx[q]] * f.val[q]
			}
			x /= f.val[end]
			f.val[p], row[j] = x, x
		}
		pivot := f.val[d]
		for p := lo; p < d; p++ {
			pivot -= f.val[p] * f.val[p]
			row[f.idx[p]] = 0
		}
		if !(pivot > 0) || math.IsInf(float64(pivot), 1) {
			return p, &PivotError{f.op, i, float64(pivot)}
		}
		f.val[d] = T(math.Sqrt(float64(pivot)))
	}
	l := f.part(at, false, true)
	return factors[T]{l, l.transposed()}, nil
}

// lu factors row by row.
func (f *factored[T]) lu(at matrix.Place) (p factors[T], err error) {
	to := make([]int64, f.n) // of a column: its place in row i, plus 1
	for i := range f.n {
		lo, hi := f.ptr[i], f.ptr[i+1]
		for p := lo; p < hi; p++ {
			to[f.idx[p]] = p + 1
		}
		for p := lo; p < f.diag[i]; p++ {
			k := f.idx[p]
			f.val[p] /= f.val[f.diag[k]]
			for q := f.diag[k] + 1; q < f.ptr[k+1]; q++ {
				if at := to[f.idx[q]]; at > 0 {
					f.val[at-1] -= f.val[p] * f.val[q]
				}
			}
		}
		for p := lo; p < hi; p++ {
			to[f.idx[p]] = 0
		}
		if pivot := f.val[f.diag[i]]; pivot == 0 || !finite(pivot) {
			return p, &PivotError{f.op, i, float64(pivot)}
		}
	}
	return factors[T]{f.part(at, false, false), f.part(at, true, true)}, nil
}
