package matrix

import (
	"iter"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// Vector is a sparse vector with entries of type T: sorted indices and values (Format CSR), or one
// value per position (Bitmap, Full). It is neither a row nor a column; each operation uses it as
// the one that it needs. The rules for goroutines and copying are the same as of [Matrix].
type Vector[T comparable] struct {
	c core // of a 1×n matrix
}

// NewVector returns a vector of n positions without entries. With an invalid size the vector has a
// *SizeError, as in [New].
func NewVector[T comparable](n int, opts ...Option) *Vector[T] {
	return vectorOfCore[T](newEmptyVector(sparse.TypeOf[T](), n, opts))
}

// newEmptyVector is NewVector of values of a type.
func newEmptyVector(t *sparse.Type, n int, opts []Option) *core {
	if n < 0 || n > MaxDim {
		return failedCore(t, &SizeError{"matrix.NewVector", "size", int64(n), MaxDim})
	}
	o := gather(opts)
	if err := o.layout.check("matrix.NewVector"); err != nil {
		return failedCore(t, err)
	}
	return newCoreWith(sparse.Empty(t, 1, n), o)
}

// vectorOfCore is ofCore of a vector, which is the core of its matrix and nothing else.
func vectorOfCore[T comparable](c *core) *Vector[T] { return (*Vector[T])(unsafe.Pointer(c)) }

// vectorCore returns the inside of the vector. The inside of a nil vector is empty and ignores what
// is written. The inside of the zero value is not 1×0 yet: readCore and madeCore return one that
// is.
func vectorCore[T comparable](v *Vector[T]) *core {
	c := (*core)(unsafe.Pointer(v))
	if c != nil && c.t.Load() != nil {
		return c
	}
	return c.withType(sparse.TypeOf[T]())
}

// readCore is vectorCore for readers: it does not change v, which other goroutines may read.
func readCore[T comparable](v *Vector[T]) *core { return vectorCore(v).readVector() }

// madeCore is vectorCore for writers and for those that keep the core.
func madeCore[T comparable](v *Vector[T]) *core { return vectorCore(v).asVector() }

// Inside is [Matrix.Inside] of the 1×n matrix of the vector.
func (v *Vector[T]) Inside() rep.View { return rep.View{Matrix: madeCore(v), Vector: true} }

// VectorOfInside is [OfInside] of a vector.
func VectorOfInside[T comparable](v rep.View) *Vector[T] {
	c, ok := v.Matrix.(*core)
	if !ok || !v.Vector || !sparse.Same(c.Type(), sparse.TypeOf[T]()) {
		return nil
	}
	return vectorOfCore[T](c)
}

// NewFullVector returns a full vector of n entries equal to fill. It returns a *SizeError if there
// are more positions than memory.
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

// vectorFromStore returns the vector with the given 1×n storage. The invariants of the storage must
// hold.
func vectorFromStore[T comparable](st *sparse.Typed[T]) *Vector[T] {
	return vectorOf[T](sparse.Untyped(st))
}

// vectorOf is vectorFromStore of a store of T.
func vectorOf[T comparable](st *sparse.Store) *Vector[T] {
	return vectorOfCore[T](newCore(st))
}

// Err returns the error of the construction of the vector, or of a failed read from a device, or
// nil. A nil vector is an error.
func (v *Vector[T]) Err() error { return vectorCore(v).err }

// Size returns the number of positions.
func (v *Vector[T]) Size() int {
	_, n := vectorCore(v).Dims()
	return n
}

// NVals returns the number of entries.
func (v *Vector[T]) NVals() int64 { return vectorCore(v).NVals() }

// Format returns CSR (sorted indices and values), Bitmap or Full.
func (v *Vector[T]) Format() Format { return readCore(v).format() }

// At returns the value at position i and whether there is an entry. A position outside the vector
// has no entry. At takes O(log entries) time, and O(1) in Bitmap and Full.
func (v *Vector[T]) At(i int) (x T, ok bool) {
	list, at, ok := vectorCore(v).find(0, i)
	if ok {
		x = sparse.SliceOf[T](list)[at]
	}
	return x, ok
}

// Value returns the value at position i. The error is ErrNoEntry if there is no entry and an
// *IndexError if the position is outside the vector.
func (v *Vector[T]) Value(i int) (x T, err error) {
	list, at, err := vectorCore(v).entry("Vector.Value", i)
	if err == nil {
		x = sparse.SliceOf[T](list)[at]
	}
	return x, err
}

// Set writes the entry at position i. It takes the same time as [Matrix.Set].
func (v *Vector[T]) Set(i int, x T) error {
	c := vectorCore(v)
	if err := c.checkPosition("Vector.Set", i); err != nil {
		return err
	}
	sparse.SliceOf[T](c.room(0, i))[0] = x
	return nil
}

// Delete removes the entry at position i if there is one.
func (v *Vector[T]) Delete(i int) error {
	c := vectorCore(v)
	if err := c.checkPosition("Vector.Delete", i); err != nil {
		return err
	}
	c.remove(0, i)
	return nil
}

// Clear removes every entry; see [Matrix.Clear].
func (v *Vector[T]) Clear() { vectorCore(v).clear(true) }

// Clone returns a deep copy, on the host; see [Matrix.Clone].
func (v *Vector[T]) Clone() *Vector[T] {
	if v == nil {
		return nil
	}
	return vectorOfCore[T](readCore(v).clone())
}

// Fetch copies the contents to host memory; see [Matrix.Fetch].
func (v *Vector[T]) Fetch() error { return vectorCore(v).fetched("Vector.Fetch") }

// AllChecked is All for a vector that may be on a device; see [Matrix.AllChecked].
func (v *Vector[T]) AllChecked() (iter.Seq2[int, T], error) {
	if err := vectorCore(v).fetched("Vector.AllChecked"); err != nil {
		return nil, err
	}
	return v.All(), nil
}

// All iterates over the entries in ascending order of position. It is empty if the contents cannot
// be read from a device. A loop over All is inlined.
func (v *Vector[T]) All() iter.Seq2[int, T] {
	cols, vals := readCore(v).row(0)
	return entriesOf(cols, sparse.SliceOf[T](vals))
}

// Equal reports whether v and w have the same size and entries. It ignores their formats.
func (v *Vector[T]) Equal(w *Vector[T]) bool { return readCore(v).equal(readCore(w)) }

// EqualFunc is Equal with the comparison eq of values.
func (v *Vector[T]) EqualFunc(w *Vector[T], eq func(x, y T) bool) bool {
	return readCore(v).alike(readCore(w), listsEqual(eq))
}

// Resize changes the size and deletes the entries outside the new size; see [Matrix.Resize].
func (v *Vector[T]) Resize(n int) error { return vectorCore(v).resizeVector(n) }

// resizeVector is resize of a vector.
func (a *core) resizeVector(n int) error {
	if n < 0 || n > MaxDim {
		return &SizeError{"Vector.Resize", "size", int64(n), MaxDim}
	}
	if a.err != nil {
		return naming("Vector.Resize", a.err)
	}
	return a.asVector().resize(1, n)
}

// SetFormat converts the vector; see [Matrix.SetFormat]. Hypersparse means CSR, which is the same
// for a vector.
func (v *Vector[T]) SetFormat(f Format) error {
	if f == Hypersparse {
		f = CSR
	}
	return naming("Vector.SetFormat", pinFormat(madeCore(v), f))
}

// Dense returns the values of all positions as a new slice, with fill where there is no entry.
// Dense returns a *SizeError if there are more positions than memory. Dense takes O(size) time.
func (v *Vector[T]) Dense(fill T) ([]T, error) {
	list, err := readCore(v).dense("Vector.Dense", sparse.ValuesOf([]T{fill}))
	return sparse.SliceOf[T](list), err
}
