package matrix

import (
	"iter"
	"reflect"

	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// Operand is an operand of an operation on matrices or vectors: a *Matrix, a *Vector, or a view of
// one. See [AsView] for its entries.
type Operand[T comparable] interface {
	// Inside returns the operand as the packages of this module see it; see [Matrix.Inside].
	Inside() rep.View
	// isOf says what the values are.
	isOf(T)
}

// AsView returns an operand as a view, nil for nil.
func AsView[T comparable](a Operand[T]) *View[T] {
	if a == nil {
		return nil
	}
	return &View[T]{v: a.Inside()}
}

// Source is a matrix operand: *Matrix[T], a [View] such as A.T(), or for bool a [PatternView] such
// as A.Pattern().
type Source[T comparable] interface {
	// Inside and isOf make a Source an Operand. An embedded Operand would be compiled twice.
	Inside() rep.View
	isOf(T)
	// Dims returns the number of rows and columns, which vectors do not have.
	Dims() (rows, cols int)
}

// VectorSource is a vector operand: *Vector[T], or for bool a [VectorPattern].
type VectorSource[T comparable] interface {
	Inside() rep.View
	isOf(T)
	isVector()
}

// View is a read-only view of a matrix: its transpose, its pattern, or both. It has no entries of
// its own and reflects changes of the matrix. A nil *View is empty, and its Err is not nil.
type View[T comparable] struct {
	_ [0]func() // not comparable: the compiler makes no function for it
	v rep.View
}

// Inside returns the view as the packages of this module see it; see [Matrix.Inside].
func (v *View[T]) Inside() rep.View {
	if v == nil || v.v.Matrix == nil {
		return rep.View{Matrix: nullOf(sparse.TypeOf[T]())}
	}
	return v.v
}

func (v *View[T]) isOf(T) {}

// T returns the transposed view.
func (v *View[T]) T() *View[T] { return &View[T]{v: v.Inside().T()} }

// Pattern returns the view of the structure. Every entry of it is true, and operations read no
// values.
func (v *View[T]) Pattern() PatternView { return patternView(v.Inside()) }

// Dims returns the number of rows and columns of the view. A vector view is
// 1×n.
func (v *View[T]) Dims() (rows, cols int) { return v.Inside().Dims() }

// NVals returns the number of entries.
func (v *View[T]) NVals() int64 { return v.Inside().NVals() }

// At returns the value at row i, column j of the view and whether there is an entry; see
// [Matrix.At]. It does not compute the transpose.
func (v *View[T]) At(i, j int) (x T, ok bool) {
	in := v.Inside()
	if in.Transposed {
		i, j = j, i
	}
	st := in.Stored()
	if uint(i) >= uint(st.NRows) || uint(j) >= uint(st.NCols) {
		return x, false
	}
	if at, ok := st.Has(i, j); ok {
		return sparse.SliceOf[T](st.ValueAt(at))[0], true
	}
	return x, false
}

// Row iterates over the columns and values of row i of the view. With A.T() it is column i of A;
// the transpose is computed at the first call, in O(entries) time, and kept until A changes. A row
// outside the view has no entries.
func (v *View[T]) Row(i int) iter.Seq2[int, T] {
	cols, vals := rowIn(v.Inside().Rows(), i)
	return entriesOf(cols, sparse.SliceOf[T](vals))
}

// All iterates over the entries of the view in row-major order. Of a transpose, it computes that at
// the first call; see [View.Row].
func (v *View[T]) All() iter.Seq2[Coord, T] { return eachEntry[T](v.Inside().Rows()) }

// rowIn returns a row of a listed store, and no entries if i is out of range.
func rowIn(st *sparse.Store, i int) ([]int32, sparse.Values) {
	if uint(i) >= uint(st.NRows) {
		return nil, sparse.Values{}
	}
	lo, hi := st.Span(i)
	if st.Val.None() {
		return st.Idx[lo:hi], st.Type.Filled(hi-lo, st.Type.True)
	}
	return st.Idx[lo:hi], st.Part(lo, hi)
}

// Err returns the error of the viewed matrix; see [Matrix.Err].
func (v *View[T]) Err() error { return v.Inside().Err() }

// Fetch is [Matrix.Fetch] for the viewed matrix.
func (v *View[T]) Fetch() error { return v.Inside().Fetched() }

// patternOf is the structure of a matrix of any type, as a matrix of bools without values.
type patternOf struct{ *core }

func (p patternOf) Type() *sparse.Type         { return boolType }
func (p patternOf) Stored() *sparse.Store      { return p.asPattern.of(p.Shape()) }
func (p patternOf) Rows() *sparse.Store        { return p.asPattern.of(p.RowsShape()) }
func (p patternOf) Cols() *sparse.Store        { return p.asColsPattern.of(p.ColsShape()) }
func (p patternOf) Nonzero() *sparse.Structure { return p.Shape() }
func (p patternOf) IsPattern() bool            { return true }
func (p patternOf) Pattern() rep.Matrix        { return p }
func (p patternOf) SetType(*sparse.Type)       {}
func (p patternOf) SetResult(*sparse.Store)    {}
func (p patternOf) SetStore(*sparse.Store)     {}
func (p patternOf) SetRemote(device.Store)     {}
func (p patternOf) KeepsCols() bool            { return p.KeptColsShape() != nil }

// patternRef keeps the pattern of a structure: operations on few entries ask for it again and
// again.
type patternRef struct{ storeRef }

// of returns the pattern of s.
func (r *patternRef) of(s *sparse.Structure) *sparse.Store {
	if p := r.Load(); p != nil && p.Is(s) {
		return p
	}
	p := s.Pattern()
	if s.Sparse() {
		r.Store(p)
	}
	return p
}

// boolType is the type of the values of a pattern.
var boolType = sparse.OfKind(reflect.Bool)

func (p patternOf) Blocks(q rep.Query) ([]rep.Matrix, error) {
	q.Pattern = true
	list, err := p.OnGroup().MaskBlocks(q)
	for k, m := range list {
		list[k] = m.Pattern()
	}
	return list, err
}

func (a *Matrix[T]) isOf(T) {}

// View returns the matrix as an operand.
func (a *Matrix[T]) View() *View[T] { return &View[T]{v: a.Inside()} }

// T returns the transposed view Aᵀ as an operand. The transpose is computed when an operation first
// needs it, and kept until a changes. T is inlined: a.T().At(i, j) allocates nothing.
func (a *Matrix[T]) T() *View[T] {
	return &View[T]{v: rep.View{Matrix: coreOf(a), Transposed: true}}
}

// Pattern returns the structure of a as an operand. Every entry of it is true, and operations read
// no values. Structural semirings (PlusPair, AnyPair, PlusFirst, …) use it without a copy.
func (a *Matrix[T]) Pattern() PatternView { return patternView(a.Inside()) }

func (v *Vector[T]) isVector() {}
func (v *Vector[T]) isOf(T)    {}

// Pattern returns the structure of v as an operand; see [Matrix.Pattern].
func (v *Vector[T]) Pattern() VectorPattern { return VectorPattern{patternView(v.Inside())} }

// ViewOf returns a view by its inside, for the packages of this module; the type of its values is
// T, or one that is the same by sparse.Same.
func ViewOf[T comparable](v rep.View) *View[T] { return &View[T]{v: v} }
