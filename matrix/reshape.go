package matrix

import (
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// Equal reports whether a and b have the same shape and the same entries. It ignores their formats.
// NaN differs from NaN, as in Go, and so do values for which == panics: interfaces that hold
// slices, maps or functions. Equal takes O(entries) time.
func (a *Matrix[T]) Equal(b *Matrix[T]) bool {
	return coreOf(a).equal(coreOf(b))
}

// equal is Equal of matrices of one type.
func (a *core) equal(b *core) bool {
	am, an := a.Dims()
	bm, bn := b.Dims()
	if am != bm || an != bn || a.NVals() != b.NVals() {
		return false
	}
	x, y := a.Rows(), b.Rows()
	if x.SameAs(&y.Structure) {
		return equalValues(x, y)
	}
	return a.alike(b, a.Type().Equal) // rows may be listed differently
}

// EqualFunc is Equal with the comparison eq of values.
func (a *Matrix[T]) EqualFunc(b *Matrix[T], eq func(x, y T) bool) bool {
	return coreOf(a).alike(coreOf(b), listsEqual(eq))
}

// listsEqual compares lists of values with eq. It is not inlined, as sparse.Combining is not.
//
//go:noinline
func listsEqual[T any](eq func(x, y T) bool) func(x, y sparse.Values) bool {
	return func(xv, yv sparse.Values) bool {
		x, y := sparse.SliceOf[T](xv), sparse.SliceOf[T](yv)
		if len(x) != len(y) {
			return false
		}
		for p := range x {
			if !eq(x[p], y[p]) {
				return false
			}
		}
		return true
	}
}

// alike reports whether matrices of one type have the same shape and positions, and eq holds for
// the values of each row.
func (a *core) alike(b *core, eq func(x, y sparse.Values) bool) bool {
	am, an := a.Dims()
	bm, bn := b.Dims()
	if am != bm || an != bn || a.NVals() != b.NVals() {
		return false
	}
	x, y := a.Rows(), b.Rows()
	kx, ky := 0, 0
	for {
		for kx < x.Vecs() && x.Ptr[kx] == x.Ptr[kx+1] {
			kx++
		}
		for ky < y.Vecs() && y.Ptr[ky] == y.Ptr[ky+1] {
			ky++
		}
		if kx == x.Vecs() || ky == y.Vecs() {
			return kx == x.Vecs() && ky == y.Vecs()
		}
		p, q, n := x.Ptr[kx], y.Ptr[ky], x.Ptr[kx+1]-x.Ptr[kx]
		if x.RowID(kx) != y.RowID(ky) || n != y.Ptr[ky+1]-q {
			return false
		}
		if !slices.Equal(x.Idx[p:p+n], y.Idx[q:q+n]) || !eq(x.Part(p, p+n), y.Part(q, q+n)) {
			return false
		}
		kx, ky = kx+1, ky+1
	}
}

// Diag returns the square matrix with the entries of v on diagonal k, as GrB_Matrix_diag does.
// Diagonal 0 is the main diagonal; a positive k is above it and a negative k below. The matrix has
// v.Size() + |k| rows.
func Diag[T comparable](v *Vector[T], k int) (*Matrix[T], error) {
	if v == nil {
		return nil, &InvalidError{"matrix.Diag", "v is nil; make it with NewVector or a VectorBuilder"}
	}
	if err := v.Fetch(); err != nil {
		return nil, err
	}
	st, err := diagonalOf(readCore(v).Rows(), v.Size(), k)
	if err != nil {
		return nil, err
	}
	return ofCore[T](newCore(st)), nil
}

// diagonalOf returns the square store with the entries of a listed vector of n on diagonal k.
func diagonalOf(v *sparse.Store, n, k int) (*sparse.Store, error) {
	off := max(k, -k)
	if off < 0 || off > MaxDim || n+off > MaxDim {
		return nil, &SizeError{"matrix.Diag", "side of the result", int64(n) + int64(off), MaxDim}
	}
	b := sparse.Block{Row: make([]int32, len(v.Idx)), Col: make([]int32, len(v.Idx)), Val: v.Valued().Val}
	for p, i := range v.Idx {
		b.Row[p], b.Col[p] = i+int32(max(-k, 0)), i+int32(max(k, 0))
	}
	return sparse.Build(v.Type, n+off, n+off, []sparse.Block{b}, nil, 0, nil)
}

// Diagonal returns the entries of diagonal k of a as a vector, as GxB_Vector_diag does. A diagonal
// outside the matrix gives a vector of size 0. It is no method: a program with matrices alone would
// compile the methods of the vectors too.
func Diagonal[T comparable](a *Matrix[T], k int) (*Vector[T], error) {
	if err := coreOf(a).fetched("matrix.Diagonal"); err != nil {
		return nil, err
	}
	return vectorOf[T](coreOf(a).diagonal(k)), nil
}

// diagonal returns the entries of diagonal k as a 1×n store.
func (a *core) diagonal(k int) *sparse.Store {
	st := a.Rows()
	if k >= st.NCols || k <= -st.NRows {
		return a.empty(1, 0).ToCSR()
	}
	out := &sparse.Store{Structure: sparse.Structure{NRows: 1, NCols: min(st.NRows-max(-k, 0), st.NCols-max(k, 0)), Idx: []int32{}}, Type: st.Type}
	var from []int64
	for r := range st.Vecs() {
		i := st.RowID(r)
		lo, hi := st.Ptr[r], st.Ptr[r+1]
		if at, ok := slices.BinarySearch(st.Idx[lo:hi], int32(i+k)); ok {
			out.Idx, from = append(out.Idx, int32(min(i, i+k))), append(from, lo+int64(at))
		}
	}
	out.NVals = int64(len(out.Idx))
	out.Ptr = []int64{0, out.NVals}
	out.Val = st.Type.Make(out.NVals)
	st.Type.MoveWide(out.Val, nil, st.Valued().Val, from)
	return out
}

// Resize changes the dimensions and deletes the entries outside the new dimensions. It keeps the
// format that SetFormat pinned; a pinned Full becomes Bitmap if a position has no entry. Resize
// returns a *SizeError if that format needs more memory than there is. Resize takes O(entries) time
// without a pinned format.
func (a *Matrix[T]) Resize(m, n int) error {
	return coreOf(a).resize(m, n)
}

// resize is Resize.
func (a *core) resize(m, n int) error {
	if err := a.fetched("Matrix.Resize"); err != nil {
		return err
	}
	if err := checkDims("Matrix.Resize", m, n); err != nil {
		return err
	}
	if a.pinned {
		if err := checkFormat(a, "Matrix.Resize", Format(a.pin), m, n); err != nil {
			return err
		}
	}
	st := a.Rows()
	out := &sparse.Store{Structure: sparse.Structure{NRows: m, NCols: n, Format: sparse.Hypersparse}, Type: st.Type}
	out.Ptr, out.RowIDs, out.Idx, out.Val = []int64{0}, []int32{}, []int32{}, st.Type.Zeroed(0)
	for k := range st.Vecs() {
		i := st.RowID(k)
		if i >= m {
			break
		}
		lo, hi := st.Ptr[k], st.Ptr[k+1]
		cols := st.Idx[lo:hi]
		keep, _ := slices.BinarySearch(cols, int32(min(n, MaxDim)))
		if keep > 0 {
			out.RowIDs = append(out.RowIDs, int32(i))
			out.Idx = append(out.Idx, cols[:keep]...)
			out.Val = st.Type.Append(out.Val, st.Part(lo, lo+int64(keep)))
			out.Ptr = append(out.Ptr, int64(len(out.Idx)))
		}
	}
	out.NVals = int64(len(out.Idx))
	a.SetStore(a.pinnedTo(out.Settle()))
	return nil
}

// equalValues compares the values of two stores of the same structure, by all threads.
func equalValues(x, y *sparse.Store) bool {
	if x.Val.Len() != y.Val.Len() {
		return false
	}
	var differ atomic.Bool
	_ = parallel.Range(nil, 0, x.Val.Len(), 1<<15, func(_, lo, hi int) {
		if !differ.Load() && !x.Type.Equal(x.Part(int64(lo), int64(hi)), y.Part(int64(lo), int64(hi))) {
			differ.Store(true)
		}
	})
	return !differ.Load()
}

// checkFormat returns a *SizeError if there is no memory for an m×n matrix in the format f.
func checkFormat(a *core, op string, f Format, m, n int) error {
	size := uintptr(a.Type().Size)
	switch f {
	case CSR:
		return checkRoom(op, fmt.Sprintf("the row offsets of %d rows", m), int64(m)+1, 8)
	case Bitmap:
		return checkDense(op, m, n, size+1)
	case Full:
		return checkDense(op, m, n, size)
	}
	return nil
}

// SetFormat converts the matrix to f and pins f: operations convert the results that they write to
// the matrix to f. SetFormat(Automatic) converts nothing and removes the pin. A new matrix has no
// pin. Without a pin the library selects the format by density:
//
//   - A result with an entry at every position is Full.
//   - A CSR or hypersparse destination that an operation updates by a few entries (a mask without
//     replace, an accumulator, an assignment, Set) becomes a Bitmap if at least 1/16 of its
//     positions have entries (1/4 for a matrix of more than one row). The time of the update then
//     depends on its own entries and not on the entries of the destination. A CSR vector also
//     becomes a Bitmap once such updates have copied as many entries as it has positions.
//   - A Bitmap with fewer than a quarter of that becomes CSR or hypersparse. A vector that became a
//     Bitmap by its updates remains one until it is empty or an operation replaces all of it.
//
// Full requires an entry at every position; a pinned Full matrix becomes a Bitmap if a later result
// has fewer entries. Bitmap and Full require memory for rows × columns positions, and CSR for rows;
// a *SizeError gives the bytes. [Matrix.Clone], [Matrix.Resize] and [Matrix.Clear] keep the pin.
func (a *Matrix[T]) SetFormat(f Format) error {
	if a == nil {
		return naming("Matrix.SetFormat", errNil)
	}
	return pinFormat(coreOf(a), f)
}

// pinFormat is SetFormat of a matrix that is not nil.
func pinFormat(b *core, f Format) error {
	if b.err != nil {
		return b.err
	}
	if f > Automatic {
		return &InvalidError{"Matrix.SetFormat", fmt.Sprintf("unknown format %v", f)}
	}
	if f == Automatic {
		b.pinned = false
		if s := b.onlyOnGroup(); s != nil {
			return s.Pin(0, false)
		}
		return nil
	}
	m, n := b.Dims()
	if f == Bitmap || f == Full {
		if err := checkCells("Matrix.SetFormat", m, n); err != nil {
			return err
		}
	}
	if remote(b) == nil && b.onlyOnGroup() == nil && b.format() != f {
		if err := checkFormat(b, "Matrix.SetFormat", f, m, n); err != nil {
			return err
		}
	}
	if cells, _ := sparse.Cells(m, n); f == Full && b.NVals() != int64(cells) {
		return &InvalidError{"Matrix.SetFormat", fmt.Sprintf("a full matrix has an entry at each of its %d positions, this one has %d; fill the rest first (ops.Assign) or use Bitmap", cells, b.NVals())}
	}
	if r := remote(b); r != nil {
		if err := convertRemote(b, r, sparse.Format(f)); err != nil {
			return err
		}
	} else if s := b.onlyOnGroup(); s != nil {
		if err := s.Pin(sparse.Format(f), true); err != nil {
			return err
		}
	} else {
		b.SetStore(b.Stored().Convert(sparse.Format(f)))
	}
	if b.err != nil {
		return b.err
	}
	b.pinned, b.pin = true, sparse.Format(f)
	return nil
}

// IsSymmetric reports whether the matrix equals its transpose in structure and values. If so, the
// transpose then shares the storage of the matrix, and operations need not compute it. The first
// call takes O(entries) time. On a group the ranks compare their blocks with the blocks of the
// transpose: the first call is a collective.
func (a *Matrix[T]) IsSymmetric() bool {
	if a == nil {
		return false
	}
	return coreOf(a).IsSymmetric()
}

// IsSymmetric is [Matrix.IsSymmetric] of a matrix that is not nil.
func (a *core) IsSymmetric() bool {
	m, n := a.Dims()
	if s := a.onlyOnGroup(); s != nil {
		known := m == n && s.Symmetric()
		if known {
			a.knownSymmetric.Store(true)
		}
		return known
	}
	if a.Stored(); a.err != nil || m != n {
		return false
	}
	rows, cols := a.Rows(), a.Cols()
	if rows == cols {
		a.knownSymmetric.Store(true)
		return true
	}
	if !rows.SameAs(&cols.Structure) || !equalValues(rows, cols) {
		return false
	}
	a.asCols.Store(rows)
	a.knownSymmetric.Store(true)
	return true
}
