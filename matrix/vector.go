package matrix

import (
	"iter"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/rep"
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
		return failedVector[T](&SizeError{"matrix.NewVector", "size", int64(n), MaxDim})
	}
	o := gather(opts)
	if err := o.layout.check("matrix.NewVector"); err != nil {
		return failedVector[T](err)
	}
	return vectorOfCore[T](newCoreWith(sparse.Empty(sparse.TypeOf[T](), 1, n), o))
}

// failedVector returns a vector with an error of its construction.
func failedVector[T comparable](err error) *Vector[T] {
	return (*Vector[T])(unsafe.Pointer(failed[T](err)))
}

// vectorOfCore is ofCore of a vector, which is its matrix and nothing else.
func vectorOfCore[T comparable](c *core) *Vector[T] { return (*Vector[T])(unsafe.Pointer(c)) }

// Inside is [Matrix.Inside] of the vector, whose matrix is 1×n.
func (v *Vector[T]) Inside() rep.View {
	if v == nil {
		return rep.View{Matrix: (*Matrix[T])(nil).inside(), Vector: true}
	}
	v.init()
	return rep.View{Matrix: v.m.inside(), Vector: true}
}

// VectorOfInside is [OfInside] of a vector.
func VectorOfInside[T comparable](v rep.View) *Vector[T] {
	c, ok := v.Matrix.(*core)
	if !ok || !v.Vector || !sparse.Same(c.Type(), sparse.TypeOf[T]()) {
		return nil
	}
	return vectorOfCore[T](c)
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
	return VectorOf(sparse.SliceOf[T](filledWith(fill, n)))
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
	return vectorFromStore(sparse.Of(sparse.Structure{NRows: 1, NCols: len(val), Format: sparse.Full, NVals: int64(len(val))}, val)), nil
}

// VectorFromTuples returns the vector of n positions with the given entries, which may be in any
// order. It handles duplicates as [FromTuples] does, and takes O(n + entries) time.
func VectorFromTuples[T comparable, I Index](n int, idx []I, vals []T, dup Combiner[T]) (*Vector[T], error) {
	f, err := combiningOf(dup)
	if err != nil {
		return nil, err
	}
	st, err := fromTuples(sparse.TypeOf[T](), "matrix.VectorFromTuples", 1, n, indexList{}, indexListOf(idx), sparse.ValuesOf(vals), f)
	if err != nil {
		return nil, err
	}
	return vectorOf[T](st), nil
}

// vectorFromStore returns the vector with the given 1×n storage, whose invariants must hold.
func vectorFromStore[T comparable](st *sparse.Typed[T]) *Vector[T] {
	return vectorOf[T](sparse.Untyped(st))
}

// vectorOf is vectorFromStore of a store of T.
func vectorOf[T comparable](st *sparse.Store) *Vector[T] {
	return vectorOfCore[T](newCore(st))
}

// Err returns the error of the construction of the vector, or of a failed read from a device, or
// nil. A nil vector is an error.
func (v *Vector[T]) Err() error {
	if v == nil {
		return errNil
	}
	return v.m.c.err
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
		c := v.m.inside()
		c.SetStore(c.pinnedTo(c.empty(1, v.Size())))
	}
}

// Clone returns a deep copy, on the host; see [Matrix.Clone].
func (v *Vector[T]) Clone() *Vector[T] {
	if v == nil {
		return nil
	}
	return vectorOfCore[T](v.inner().inside().clone())
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
func (v *Vector[T]) All() iter.Seq2[int, T] { return v.inner().Row(0) }

// Equal reports whether v and w have the same size and entries. It ignores their formats.
func (v *Vector[T]) Equal(w *Vector[T]) bool { return v.inner().Equal(w.inner()) }

// EqualFunc is Equal with the comparison eq of values.
func (v *Vector[T]) EqualFunc(w *Vector[T], eq func(x, y T) bool) bool {
	return v.inner().EqualFunc(w.inner(), eq)
}

// init makes the zero value a vector of size 0.
func (v *Vector[T]) init() {
	if c := v.m.inside(); c.unset() && c.err == nil {
		c.st = c.empty(1, 0)
	}
}

// inner returns the 1×n matrix of v: nil for a nil vector, and 1×0 for the zero value. It does not
// change v, which other goroutines may read.
func (v *Vector[T]) inner() *Matrix[T] {
	if v == nil {
		return nil
	}
	if c := v.m.inside(); c.unset() && c.err == nil {
		return matrixOf[T](c.empty(1, 0))
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
