package matrix

import (
	"fmt"
	"iter"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/sparse"
)

// Vector is a sparse vector with entries of type T: sorted indices and values
// (Format CSR), or one value per position (Bitmap, Full). It is neither a row
// nor a column; each operation uses it as the one that it needs. The rules for goroutines and
// copying are those of [Matrix].
type Vector[T comparable] struct {
	m Matrix[T] // 1×n
}

// NewVector returns a vector of n positions without entries. With an invalid size the vector has a
// *SizeError, as in [New].
func NewVector[T comparable](n int, opts ...Option) *Vector[T] {
	if n < 0 || n > MaxDim {
		return &Vector[T]{m: Matrix[T]{base: base{err: &SizeError{"matrix.NewVector", "size", int64(n), MaxDim}}}}
	}
	o := gather(opts)
	if err := o.layout.check("matrix.NewVector"); err != nil {
		return &Vector[T]{m: Matrix[T]{base: base{err: err}}}
	}
	return &Vector[T]{m: Matrix[T]{st: sparse.Empty[T](1, n), base: base{place: o.place, replicated: o.replicated()}}}
}

// NewFullVector returns a full vector of n entries equal to fill. More positions than there is
// memory for are a *SizeError.
func NewFullVector[T comparable](n int, fill T) (*Vector[T], error) {
	if n < 0 || n > MaxDim {
		return nil, &SizeError{"matrix.NewFullVector", "size", int64(n), MaxDim}
	}
	if err := checkDense("matrix.NewFullVector", 1, n, unsafe.Sizeof(fill)); err != nil {
		return nil, err
	}
	return VectorOf(sparse.Filled(n, fill))
}

// VectorOf returns the full vector with the values val. It does not copy val, which the vector then
// owns.
func VectorOf[T comparable](val []T) (*Vector[T], error) {
	if len(val) > MaxDim {
		return nil, &SizeError{"matrix.VectorOf", "size", int64(len(val)), MaxDim}
	}
	if val == nil {
		val = []T{}
	}
	return vectorFromStore(&sparse.Store[T]{Structure: sparse.Structure{
		NRows: 1, NCols: len(val), Format: sparse.Full, NVals: int64(len(val))}, Val: val}), nil
}

// VectorFromTuples returns the vector of n positions with the given entries, which may be in any
// order. It handles duplicates as [FromTuples] does, and takes O(n + entries) time.
func VectorFromTuples[T comparable, I Index](n int, idx []I, vals []T, dup Combiner[T]) (*Vector[T], error) {
	if len(idx) != len(vals) {
		return nil, &InvalidError{"matrix.VectorFromTuples", fmt.Sprintf("%d indices and %d values given, want the same number", len(idx), len(vals))}
	}
	if n < 0 || n > MaxDim {
		return nil, &SizeError{"matrix.VectorFromTuples", "size", int64(n), MaxDim}
	}
	r, c, err := narrowed("matrix.VectorFromTuples", 1, n, nil, idx)
	if err != nil {
		return nil, err
	}
	b := NewVectorBuilder[T](n)
	b.b.addTuples(r, c, vals)
	return b.Build(dup)
}

// vectorFromStore returns the vector with the given 1×n storage, whose invariants must hold.
func vectorFromStore[T comparable](st *sparse.Store[T]) *Vector[T] {
	return &Vector[T]{m: Matrix[T]{st: st}}
}

// stored1 is stored for the matrix inside a Vector, whose zero value is 1×0.
func (a *Matrix[T]) stored1() *sparse.Store[T] {
	if st := a.stored(); a != nil && a.st != nil {
		return st
	}
	return sparse.Empty[T](1, 0)
}

// Err returns the error of the construction of the vector, or of a failed read from a device, or
// nil. A nil vector is an error.
func (v *Vector[T]) Err() error {
	if v == nil {
		return errNil
	}
	return v.m.err
}

// Size returns the number of positions.
func (v *Vector[T]) Size() int {
	_, n := v.inner().Dims()
	return n
}

// NVals returns the number of entries.
func (v *Vector[T]) NVals() int64 { return v.inner().NVals() }

// Format returns CSR (sorted indices and values), Bitmap or Full.
func (v *Vector[T]) Format() Format { return v.inner().Format() }

// At returns the value at position i and whether there is an entry. A position outside the vector
// has no entry. At takes O(log entries) time, and O(1) in Bitmap and Full.
func (v *Vector[T]) At(i int) (x T, ok bool) { return v.inner().At(0, i) }

// Value returns the value at position i. The error is ErrNoEntry if there is no entry and an
// *IndexError if the position is outside the vector.
func (v *Vector[T]) Value(i int) (x T, err error) {
	if err := v.check("Vector.Value", i); err != nil {
		return x, err
	}
	return v.inner().Value(0, i)
}

func (v *Vector[T]) check(op string, i int) error {
	if err := v.Err(); err != nil {
		return naming(op, err)
	}
	if n := v.Size(); uint(i) >= uint(n) {
		return &IndexError{op, "index", int64(i), int64(n)}
	}
	return nil
}

// Set writes the entry at position i. It takes the same time as [Matrix.Set].
func (v *Vector[T]) Set(i int, x T) error {
	if err := v.check("Vector.Set", i); err != nil {
		return err
	}
	return v.m.Set(0, i, x)
}

// Delete removes the entry at position i if there is one.
func (v *Vector[T]) Delete(i int) error {
	if err := v.check("Vector.Delete", i); err != nil {
		return err
	}
	return v.m.Delete(0, i)
}

// Clear removes every entry; see [Matrix.Clear].
func (v *Vector[T]) Clear() {
	if v != nil {
		v.m.set(pinnedTo(v.m.core(), sparse.Empty[T](1, v.Size())))
	}
}

// Clone returns a deep copy, on the host; see [Matrix.Clone].
func (v *Vector[T]) Clone() *Vector[T] {
	if v == nil {
		return nil
	}
	return &Vector[T]{m: Matrix[T]{st: v.m.stored1().Clone(), base: base{err: v.m.err, pinned: v.m.pinned, pin: v.m.pin}}}
}

// Fetch copies the contents to host memory; see [Matrix.Fetch].
func (v *Vector[T]) Fetch() error { return naming("Vector.Fetch", v.inner().Fetch()) }

// AllChecked is All for a vector that may be on a device; see [Matrix.AllChecked].
func (v *Vector[T]) AllChecked() (iter.Seq2[int, T], error) {
	if err := v.Fetch(); err != nil {
		return nil, naming("Vector.AllChecked", err)
	}
	return v.All(), nil
}

// All iterates over the entries in ascending order of position. It is empty if the contents cannot
// be read from a device. A loop over All is inlined.
func (v *Vector[T]) All() iter.Seq2[int, T] { return v.inner().row(0).All() }

// Equal reports whether v and w have the same size and entries. It ignores their formats.
func (v *Vector[T]) Equal(w *Vector[T]) bool { return v.inner().Equal(w.inner()) }

// EqualFunc is Equal with the comparison eq of values.
func (v *Vector[T]) EqualFunc(w *Vector[T], eq func(x, y T) bool) bool {
	return v.inner().EqualFunc(w.inner(), eq)
}

// unset reports whether the matrix is nil or the zero value.
func (a *Matrix[T]) unset() bool {
	return a == nil || a.pending.Load() == nil && !a.deviceOnly.Load() && a.st == nil
}

// init makes the zero value a vector of size 0.
func (v *Vector[T]) init() {
	if v.m.unset() && v.m.err == nil {
		v.m.st = sparse.Empty[T](1, 0)
	}
}

// inner returns the 1×n matrix of v: nil for a nil vector, and 1×0 for the zero value. It does not
// change v, which other goroutines may read.
func (v *Vector[T]) inner() *Matrix[T] {
	if v == nil {
		return nil
	}
	if v.m.unset() && v.m.err == nil {
		return &Matrix[T]{st: sparse.Empty[T](1, 0)}
	}
	return &v.m
}

// Resize changes the size and deletes the entries outside the new size; see [Matrix.Resize].
func (v *Vector[T]) Resize(n int) error {
	if n < 0 || n > MaxDim {
		return &SizeError{"Vector.Resize", "size", int64(n), MaxDim}
	}
	if err := v.Err(); err != nil {
		return naming("Vector.Resize", err)
	}
	v.init()
	return v.m.Resize(1, n)
}

// SetFormat converts the vector; see [Matrix.SetFormat]. Hypersparse means CSR, which is the same
// for a vector.
func (v *Vector[T]) SetFormat(f Format) error {
	if f == Hypersparse {
		f = CSR
	}
	if err := v.Err(); err != nil {
		return naming("Vector.SetFormat", err)
	}
	v.init()
	return v.m.SetFormat(f)
}

// Dense returns the values of all positions as a new slice, with fill where there is no entry. More
// positions than there is memory for are a *SizeError. Dense takes O(size) time.
func (v *Vector[T]) Dense(fill T) ([]T, error) {
	out, err := v.inner().Dense(fill)
	return out, naming("Vector.Dense", err)
}
