package solve

import (
	"fmt"
	"sync"

	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/substitution"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// A Triangle is a triangular matrix that solves systems by substitution: forwards if it is lower,
// backwards if it is upper triangular. It is a [Preconditioner]: the lower triangle of A with its
// diagonal, for [GMRES] or [BiCGSTAB], is the method of Gauss and Seidel.
//
// On a device a row waits for the rows that its columns name, so that the time is at least the
// longest chain of rows, [Triangle.Levels], times the latency of the device's memory. Results are
// equal for equal inputs on one place; they differ between the host and a device in the last bits.
type Triangle[T Real] struct {
	op    string
	n     int
	upper bool
	place matrix.Place

	// On the host: the rows without the diagonal, and the diagonal, nil for ones.
	ptr      []int64
	idx      []int32
	val      []T
	diagonal []T
	threads  int

	once   sync.Once
	levels substitution.Levels // after once
	remote *substitution.Triangle
}

// TriangleOptions are the settings of NewTriangle. The zero value is a lower triangle with its
// diagonal.
type TriangleOptions struct {
	Upper bool // the matrix is upper triangular
	// Unit says that the diagonal is 1 everywhere. Entries of the matrix there are not read.
	Unit    bool
	Threads int // of the host; 0: GOMAXPROCS
}

// NewTriangle prepares a triangular matrix, which may be a transposed view, for systems at its
// place, the host or one device. It copies the matrix. For a device it finds the levels of the rows
// on the host; both take O(entries). An entry on the wrong side of the diagonal is a
// *TriangularError; a diagonal entry that is missing, zero or not finite is a *PivotError; a matrix
// on a group is a *PlaceError.
func NewTriangle[T Real](a matrix.Source[T], opts ...TriangleOptions) (*Triangle[T], error) {
	if _, single := any(*new(T)).(float32); single {
		t, err := triangleOf[float32](a, opts)
		return any(t).(*Triangle[T]), err
	}
	t, err := triangleOf[float64](a, opts)
	return any(t).(*Triangle[T]), err
}

func triangleOf[T Real](a any, opts []TriangleOptions) (*Triangle[T], error) {
	const op = "NewTriangle"
	o, err := only(op, opts)
	if err != nil {
		return nil, err
	}
	source, _ := a.(matrix.Source[T])
	v, _, n, err := checked(op, source, false)
	if err != nil {
		return nil, err
	}
	if o.Threads < 0 {
		return nil, &matrix.InvalidError{Op: op, Reason: fmt.Sprintf("Threads is %d, want 0 or more", o.Threads)}
	}
	ptr, idx, val, err := rowsOf(op, v, nil)
	if err != nil {
		return nil, err
	}
	t := &Triangle[T]{op: op, n: n, upper: o.Upper, place: v.Place(), threads: o.Threads}
	if err := t.split(ptr, idx, val, o.Unit); err != nil {
		return nil, err
	}
	return t, t.prepare()
}

// rowsOf returns the entries of a matrix on the host or a device that keep holds for, or all if
// keep is nil, by rows on the host.
func rowsOf[T Real](op string, v *matrix.View[T], keep func(to *matrix.Matrix[T]) error) (ptr []int64, idx []int32, val []T, err error) {
	if v.Place() != nil && device.Of(v.Place()) == nil {
		return nil, nil, nil, &PlaceError{Op: op, Place: v.Place(), Spread: true}
	}
	m, n := v.Dims()
	to := matrix.New[T](m, n, matrix.On(v.Place()))
	if keep == nil {
		err = ops.Apply(to, semiring.Identity[T](), v)
	} else {
		err = keep(to)
	}
	if err != nil {
		return nil, nil, nil, err
	}
	return to.CSR()
}

// split takes the rows of a matrix apart.
func (t *Triangle[T]) split(ptr []int64, idx []int32, val []T, unit bool) error {
	t.ptr, t.idx, t.val = make([]int64, t.n+1), make([]int32, 0, len(idx)), make([]T, 0, len(idx))
	if !unit {
		t.diagonal = make([]T, t.n)
	}
	for i := range t.n {
		for p := ptr[i]; p < ptr[i+1]; p++ {
			switch j := int(idx[p]); {
			case j == i && !unit:
				t.diagonal[i] = val[p]
			case j == i:
			case j < i == t.upper:
				return &TriangularError{t.op, i, j, t.upper}
			default:
				t.idx, t.val = append(t.idx, int32(j)), append(t.val, val[p])
			}
		}
		t.ptr[i+1] = int64(len(t.idx))
		if !unit && (t.diagonal[i] == 0 || !finite(t.diagonal[i])) {
			return &PivotError{t.op, i, float64(t.diagonal[i])}
		}
	}
	return nil
}

func finite[T Real](x T) bool { return x-x == 0 }

// transposed returns the transpose on the host, which shares the diagonal.
func (t *Triangle[T]) transposed() *Triangle[T] {
	to := &Triangle[T]{op: t.op, n: t.n, upper: !t.upper, place: t.place, diagonal: t.diagonal, threads: t.threads,
		ptr: make([]int64, t.n+1), idx: make([]int32, len(t.idx)), val: make([]T, len(t.val))}
	for _, j := range t.idx {
		to.ptr[j+1]++
	}
	for j := range t.n {
		to.ptr[j+1] += to.ptr[j]
	}
	next := append([]int64(nil), to.ptr...)
	for i := range t.n {
		for p := t.ptr[i]; p < t.ptr[i+1]; p++ {
			j := t.idx[p]
			to.idx[next[j]], to.val[next[j]] = int32(i), t.val[p]
			next[j]++
		}
	}
	return to
}

// prepare moves the triangle to its place, if that is a device: the rows sorted by levels.
func (t *Triangle[T]) prepare() error {
	if t.place == nil {
		return nil
	}
	t.find()
	r := &substitution.Triangle{Unit: t.diagonal == nil}
	r.Shape(t.levels, t.ptr)
	ptr, idx, val := substitution.Sorted(t.levels, t.ptr, t.idx, t.val, t.threads)
	rows, err := matrix.FromCSR(t.n, t.n, ptr, idx, val)
	if err != nil {
		return err
	}
	if err := rows.Move(t.place); err != nil {
		return err
	}
	order, err := vectorAt(t.place, t.levels.Order)
	if err != nil {
		return err
	}
	if !r.Unit {
		sorted := make([]T, t.n)
		for k, i := range t.levels.Order {
			sorted[k] = t.diagonal[i]
		}
		d, err := vectorAt(t.place, sorted)
		if err != nil {
			return err
		}
		r.Diagonal = d.Inside()
	}
	r.Rows, r.Order, t.remote = rows.Inside(), order.Inside(), r
	t.levels.Order, t.ptr, t.idx, t.val, t.diagonal = nil, nil, nil, nil, nil // the device has them
	return nil
}

func vectorAt[T comparable](at matrix.Place, list []T) (*matrix.Vector[T], error) {
	v, err := matrix.VectorOf(list)
	if err != nil {
		return nil, err
	}
	return v, v.Move(at)
}

// Levels returns the length of the longest chain of rows: each row reads the solution of the row
// before it. A matrix with few levels solves many rows at once. On the host the first call takes
// O(entries).
func (t *Triangle[T]) Levels() int {
	if t == nil || t.place == nil && len(t.ptr) == 0 { // made by nobody
		return 0
	}
	t.find()
	return t.levels.Count()
}

// find finds the levels.
func (t *Triangle[T]) find() {
	t.once.Do(func() { t.levels = substitution.LevelsOf(t.ptr, t.idx, t.upper) })
}

// Apply returns the x with T·x = b, full and at the place of the triangle, where b is. A missing
// entry of b is 0. O(entries), on the host by one thread. It returns a *matrix.DimensionError for a
// b of another size, and a *PlaceError for one elsewhere.
func (t *Triangle[T]) Apply(b *matrix.Vector[T], _ ...ops.Option) (*matrix.Vector[T], error) {
	if t == nil {
		return nil, &matrix.InvalidError{Op: "Triangle.Apply", Reason: "the triangle is nil; make it with NewTriangle"}
	}
	return solvedBy(t.op, b, t)
}

// solvedBy solves systems one after another.
func solvedBy[T Real](op string, b *matrix.Vector[T], list ...*Triangle[T]) (*matrix.Vector[T], error) {
	n, place := list[0].n, list[0].place
	if err := fits(op, "b", b, n); err != nil {
		return nil, err
	}
	if b.Place() != place {
		return nil, &PlaceError{Op: op, Place: b.Place(), Factors: place}
	}
	if place == nil {
		x, err := b.Dense(0)
		if err != nil {
			return nil, err
		}
		for _, t := range list {
			t.substitute(x)
		}
		return matrix.VectorOf(x)
	}
	x := matrix.NewVector[T](n, matrix.On(place))
	return x, onDevice(op, x.Inside().SetRemote, b.Inside(), n, 0, list)
}

// onDevice solves systems on their device and gives the solution to put.
func onDevice[T Real](op string, put func(device.Store), b rep.View, n, columns int, list []*Triangle[T]) error {
	at := device.Of(list[0].place)
	right, err := b.Operand(at)
	if err != nil {
		return err
	}
	remote := make([]*substitution.Triangle, len(list))
	for k, t := range list {
		remote[k] = t.remote
	}
	x, err := substitution.Solve(at, op, remote, n, columns, right)
	if err == nil {
		put(x)
	}
	return err
}

// ApplyMatrix is Apply for each column of a matrix. The result is full. On the host the threads
// divide the columns.
func (t *Triangle[T]) ApplyMatrix(b *matrix.Matrix[T]) (*matrix.Matrix[T], error) {
	switch {
	case t == nil:
		return nil, &matrix.InvalidError{Op: "Triangle.ApplyMatrix", Reason: "the triangle is nil; make it with NewTriangle"}
	case b == nil:
		return nil, &matrix.InvalidError{Op: t.op, Reason: "b is nil; make it with matrix.New, a Builder or a From function"}
	case b.Err() != nil:
		return nil, b.Err()
	}
	m, columns := b.Dims()
	if m != t.n {
		return nil, &matrix.DimensionError{Op: t.op, Arg: "b", Got: fmt.Sprintf("%d×%d", m, columns), Want: fmt.Sprintf("%d rows", t.n)}
	}
	if b.Place() != t.place {
		return nil, &PlaceError{Op: t.op, Place: b.Place(), Factors: t.place}
	}
	if t.place != nil && columns > 0 {
		x := matrix.New[T](t.n, columns, matrix.On(t.place))
		return x, onDevice(t.op, x.Inside().SetRemote, b.Inside(), t.n, columns, []*Triangle[T]{t})
	}
	x, err := b.Dense(0)
	if err != nil {
		return nil, err
	}
	threads := parallel.Threads(t.threads)
	const line = 8 // columns of a cache line
	share := max((columns+threads-1)/threads, line)
	err = parallel.Range(nil, threads, columns, share, func(_, lo, hi int) { t.substituteColumns(x, columns, lo, hi) })
	if err != nil {
		return nil, err
	}
	to, err := matrix.FromDense(t.n, columns, x)
	if err != nil {
		return nil, err
	}
	return to, to.Move(t.place)
}

// substitute solves T·x = x by rows, in place.
func (t *Triangle[T]) substitute(x []T) {
	step, i := 1, 0
	if t.upper {
		step, i = -1, t.n-1
	}
	for range t.n {
		lo, hi := t.ptr[i], t.ptr[i+1]
		sum := x[i]
		val := t.val[lo:hi]
		for k, j := range t.idx[lo:hi] {
			sum -= val[k] * x[j]
		}
		if t.diagonal != nil {
			sum /= t.diagonal[i]
		}
		x[i] = sum
		i += step
	}
}

// substituteColumns is substitute for some columns of a matrix by rows.
func (t *Triangle[T]) substituteColumns(x []T, columns, lo, hi int) {
	step, i := 1, 0
	if t.upper {
		step, i = -1, t.n-1
	}
	for range t.n {
		to := x[i*columns+lo : i*columns+hi]
		for p := t.ptr[i]; p < t.ptr[i+1]; p++ {
			f, from := t.val[p], x[int(t.idx[p])*columns+lo:]
			from = from[:len(to)]
			for k := range to {
				to[k] -= f * from[k]
			}
		}
		if t.diagonal != nil {
			for k := range to {
				to[k] /= t.diagonal[i]
			}
		}
		i += step
	}
}

// A TriangularError names an entry on the wrong side of the diagonal.
type TriangularError struct {
	Op       string
	Row, Col int
	Upper    bool // an upper triangular matrix was wanted
}

func (e *TriangularError) Error() string {
	side, want, part := "above", "a lower", "Tril"
	if e.Upper {
		side, want, part = "below", "an upper", "Triu"
	}
	return fmt.Sprintf("%s: the entry (%d, %d) is %s the diagonal, want %s triangular matrix; take the triangle by ops.Select and semiring.%s, or set Upper to %v",
		e.Op, e.Row, e.Col, side, want, part, !e.Upper)
}
