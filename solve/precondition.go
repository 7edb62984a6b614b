package solve

import (
	"errors"
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
	// such as 0.01, helps where a pivot is not positive (Manteuffel, Mathematics of Computation 34, 1980).
	Shift float64
}

// IncompleteCholesky returns A ≈ L·Lᵀ, with entries of L where the lower triangle of A has some:
// IC(0) (Meijerink and van der Vorst, Mathematics of Computation 31, 1977). A is square, and of it
// only the lower triangle is read. It runs on the host: Apply substitutes forwards and backwards on
// one thread in O(entries), and returns a *PlaceError for a vector elsewhere. A pivot that is not
// positive is a *PivotError; for a symmetric matrix with a dominant diagonal there is none.
func IncompleteCholesky[T Real](a matrix.Source[T], opts ...IncompleteOptions) (Preconditioner[T], error) {
	return incomplete[T]("IncompleteCholesky", a, opts)
}

// IncompleteLU returns A ≈ L·U, with entries where A has some: ILU(0) (Saad, Iterative Methods for
// Sparse Linear Systems, 2003, algorithm 10.4). Otherwise it is as [IncompleteCholesky]; a pivot of 0
// and a missing diagonal entry are a *PivotError.
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
	if v.Place() != nil {
		return nil, &PlaceError{op, v.Place()}
	}
	f := &factors[T]{op: op, n: n}
	part := matrix.New[T](n, n)
	lower := semiring.Tril[T](n) // the whole matrix
	if op == "IncompleteCholesky" {
		lower = semiring.Tril[T](0)
	}
	if err := ops.Select(part, lower, v); err != nil {
		return nil, err
	}
	if err := f.take(part, T(1+o.Shift)); err != nil {
		return nil, err
	}
	if op == "IncompleteCholesky" {
		return f, f.cholesky()
	}
	return f, f.lu()
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

// factors are triangles on the host, by rows. Of IC(0) there are the rows of L and of Lᵀ, of ILU(0)
// the rows of L and U together, where L has a diagonal of 1.
type factors[T Real] struct {
	op   string
	n    int
	ptr  []int64
	idx  []int32
	val  []T
	diag []int64 // where the diagonal entry of a row is

	upPtr []int64 // the rows of Lᵀ, of IC(0), whose first entry is the diagonal
	upIdx []int32
	upVal []T
}

// take copies the rows of a matrix, with diagonal entries times a factor.
func (f *factors[T]) take(a *matrix.Matrix[T], times T) error {
	ptr, idx, val, err := a.CSR()
	if err != nil {
		return err
	}
	f.ptr, f.idx, f.val = ptr, idx, append([]T(nil), val...)
	f.diag = make([]int64, f.n)
	for i := range f.n {
		at := ptr[i]
		for at < ptr[i+1] && int(idx[at]) < i {
			at++
		}
		if at == ptr[i+1] || int(idx[at]) != i {
			return &PivotError{f.op, i, 0}
		}
		f.diag[i] = at
		f.val[at] *= times
	}
	return nil
}

// cholesky factors the lower triangle in place, row by row:
// L(i,j) = (A(i,j) − Σ L(i,k)·L(j,k)) / L(j,j), where the sum is a dot product of sparse rows.
func (f *factors[T]) cholesky() error {
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
			return &PivotError{f.op, i, float64(pivot)}
		}
		f.val[d] = T(math.Sqrt(float64(pivot)))
	}
	// Lᵀ by a counting sort.
	f.upPtr, f.upIdx, f.upVal = make([]int64, f.n+1), make([]int32, len(f.idx)), make([]T, len(f.idx))
	for _, j := range f.idx {
		f.upPtr[j+1]++
	}
	for j := range f.n {
		f.upPtr[j+1] += f.upPtr[j]
	}
	next := append([]int64(nil), f.upPtr...)
	for i := range f.n {
		for p := f.ptr[i]; p < f.ptr[i+1]; p++ {
			j := f.idx[p]
			f.upIdx[next[j]], f.upVal[next[j]] = int32(i), f.val[p]
			next[j]++
		}
	}
	return nil
}

// lu factors in place, row by row.
func (f *factors[T]) lu() error {
	at := make([]int64, f.n) // of a column: its place in row i, plus 1
	for i := range f.n {
		lo, hi := f.ptr[i], f.ptr[i+1]
		for p := lo; p < hi; p++ {
			at[f.idx[p]] = p + 1
		}
		for p := lo; p < f.diag[i]; p++ {
			k := f.idx[p]
			f.val[p] /= f.val[f.diag[k]]
			for q := f.diag[k] + 1; q < f.ptr[k+1]; q++ {
				if to := at[f.idx[q]]; to > 0 {
					f.val[to-1] -= f.val[p] * f.val[q]
				}
			}
		}
		for p := lo; p < hi; p++ {
			at[f.idx[p]] = 0
		}
		if pivot := float64(f.val[f.diag[i]]); pivot == 0 || math.IsNaN(pivot) || math.IsInf(pivot, 0) {
			return &PivotError{f.op, i, pivot}
		}
	}
	return nil
}

// errSize is the error of a vector of another size.
var errSize = errors.New("the vector has another size than the matrix of the preconditioner")

// Apply substitutes forwards and backwards.
func (f *factors[T]) Apply(r *matrix.Vector[T], _ ...ops.Option) (*matrix.Vector[T], error) {
	if r == nil || r.Size() != f.n {
		return nil, errSize
	}
	if r.Place() != nil {
		return nil, &PlaceError{f.op, r.Place()}
	}
	x, err := r.Dense(0)
	if err != nil {
		return nil, err
	}
	if f.upPtr != nil {
		f.backAndForth(x)
	} else {
		f.lowerUpper(x)
	}
	return matrix.VectorOf(x)
}

// backAndForth solves L·Lᵀ·x = x.
func (f *factors[T]) backAndForth(x []T) {
	for i := range x {
		lo, d := f.ptr[i], f.diag[i]
		sum := x[i]
		val := f.val[lo:d]
		for k, j := range f.idx[lo:d] {
			sum -= val[k] * x[j]
		}
		x[i] = sum / f.val[d]
	}
	for i := len(x) - 1; i >= 0; i-- {
		lo, hi := f.upPtr[i], f.upPtr[i+1]
		sum := x[i]
		val := f.upVal[lo+1 : hi]
		for k, j := range f.upIdx[lo+1 : hi] {
			sum -= val[k] * x[j]
		}
		x[i] = sum / f.upVal[lo]
	}
}

// lowerUpper solves L·U·x = x.
func (f *factors[T]) lowerUpper(x []T) {
	for i := range x {
		sum := x[i]
		for p := f.ptr[i]; p < f.diag[i]; p++ {
			sum -= f.val[p] * x[f.idx[p]]
		}
		x[i] = sum
	}
	for i := len(x) - 1; i >= 0; i-- {
		sum := x[i]
		for p := f.diag[i] + 1; p < f.ptr[i+1]; p++ {
			sum -= f.val[p] * x[f.idx[p]]
		}
		x[i] = sum / f.val[f.diag[i]]
	}
}
