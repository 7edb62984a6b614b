package matrix

import "github.com/hiveblas/hiveblas/internal/rep"

// Mask selects the positions of a destination that an operation may write. A *Matrix or *Vector
// selects the positions of its nonzero values, its Structure() the positions of its entries, and
// Not() the complement of either.
type Mask interface {
	// MaskView returns the mask as a view.
	MaskView() MaskView
}

// MaskView is a mask: a matrix, and whether the mask is structural and complemented.
type MaskView struct{ m rep.Mask }

// Inside returns the mask as the packages of this module see it; see [Matrix.Inside].
func (m MaskView) Inside() rep.Mask {
	if m.m.Matrix == nil {
		m.m.Matrix = nullOf(boolType)
	}
	return m.m
}

// MaskOf returns a mask by its inside, for the packages of this module.
func MaskOf(m rep.Mask) MaskView { return MaskView{m} }

// MaskView returns m itself.
func (m MaskView) MaskView() MaskView { return m }

// Not returns the complement.
func (m MaskView) Not() MaskView {
	m.m.Complement = !m.m.Complement
	return m
}

// Err returns the error of the mask matrix; see [Matrix.Err].
func (m MaskView) Err() error {
	if m.m.Matrix == nil {
		return errNil
	}
	return m.m.Err()
}

// Dims returns the dimensions of the mask, 1×n for a vector.
func (m MaskView) Dims() (rows, cols int) {
	if m.m.Matrix == nil {
		return 0, 0
	}
	return m.m.Dims()
}

// IsVector reports whether the mask is of a Vector.
func (m MaskView) IsVector() bool { return m.m.Vector }

// Complemented reports whether the mask is the complement of its matrix.
func (m MaskView) Complemented() bool { return m.m.Complement }

// Structural reports whether the mask ignores the values of its matrix.
func (m MaskView) Structural() bool { return m.m.Structural }

// Fetch copies the mask to the host; see [Matrix.Fetch].
func (m MaskView) Fetch() error {
	if m.m.Matrix == nil {
		return errNil
	}
	if m.m.Place() != nil {
		m.m.Shape()
	}
	return m.m.Err()
}

// MaskView returns a as a mask by value, which selects the entries other than the zero value of T.
func (a *Matrix[T]) MaskView() MaskView { return MaskView{rep.Mask{Matrix: a.inside()}} }

// Structure returns a as a structural mask, which selects all entries.
func (a *Matrix[T]) Structure() MaskView {
	m := a.MaskView()
	m.m.Structural = true
	return m
}

// Not returns the complement of a as a mask by value.
func (a *Matrix[T]) Not() MaskView { return a.MaskView().Not() }

// MaskView returns v as a mask by value, which selects the entries other than the zero value of T.
func (v *Vector[T]) MaskView() MaskView {
	if v == nil {
		return MaskView{}
	}
	v.init()
	m := v.m.MaskView()
	m.m.Vector = true
	return m
}

// Structure returns v as a structural mask, which selects all entries.
func (v *Vector[T]) Structure() MaskView {
	m := v.MaskView()
	m.m.Structural = true
	return m
}

// Not returns the complement of v as a mask by value.
func (v *Vector[T]) Not() MaskView { return v.MaskView().Not() }

// Destination is the destination of an operation on matrices or vectors.
type Destination[T comparable] interface {
	// Spec returns the parts of the destination.
	Spec() Spec[T]
}

// Target is a matrix destination: *Matrix[T], or a [Dest] made by Masked,
// Accum and Replace.
type Target[T comparable] interface {
	Destination[T]
	isTarget()
}

// VectorTarget is a vector destination: *Vector[T], or a [VectorDest].
type VectorTarget[T comparable] interface {
	Destination[T]
	isVectorTarget()
}

// Spec holds the parts of a destination.
type Spec[T comparable] struct {
	Matrix  *Matrix[T] // the matrix to write; for a vector, its 1×n matrix
	Vector  bool
	Mask    Mask        // nil: every position is written
	Accum   Combiner[T] // nil: the result overwrites
	Replace bool        // entries outside the mask are deleted
}

// Dest is a matrix as a destination, with mask, accumulator and replace:
//
//	C⟨M⟩ ⊕= result
//
// Within the mask, C becomes the result, which deletes entries absent in the result, or with an
// accumulator C ⊕ result. Outside the mask, C is unchanged, or with Replace its entries are
// deleted.
type Dest[T comparable] struct{ s Spec[T] }

func (d Dest[T]) isTarget() {}

// Spec returns the parts of the destination.
func (d Dest[T]) Spec() Spec[T] { return d.s }

// Masked restricts writes to the positions of m. A later mask replaces an earlier one; Masked(nil)
// removes it. A nil *Matrix in m is no nil mask: operations refuse it, so that a mask that was
// never made does not become no mask.
func (d Dest[T]) Masked(m Mask) Dest[T] { d.s.Mask = m; return d }

// Accum accumulates results with op: C ⊕ result where both have an entry, and the single entry
// elsewhere. A later accumulator replaces an earlier one; Accum(nil) removes it, and results
// overwrite.
func (d Dest[T]) Accum(op Combiner[T]) Dest[T] { d.s.Accum = op; return d }

// Replace deletes the entries of C outside the mask.
func (d Dest[T]) Replace() Dest[T] { d.s.Replace = true; return d }

func (a *Matrix[T]) isTarget() {}

// Spec returns a as a plain destination.
func (a *Matrix[T]) Spec() Spec[T] { return Spec[T]{Matrix: a} }

// Masked returns a as a destination that is written only at the positions of m, and everywhere if m
// is nil; see [Dest.Masked].
func (a *Matrix[T]) Masked(m Mask) Dest[T] { return Dest[T]{a.Spec()}.Masked(m) }

// Accum returns a as a destination that accumulates with op.
func (a *Matrix[T]) Accum(op Combiner[T]) Dest[T] { return Dest[T]{a.Spec()}.Accum(op) }

// Replace returns a as a destination whose entries outside the mask are deleted.
func (a *Matrix[T]) Replace() Dest[T] { return Dest[T]{a.Spec()}.Replace() }

// VectorDest is a vector as a destination; see [Dest].
type VectorDest[T comparable] struct{ s Spec[T] }

func (d VectorDest[T]) isVectorTarget() {}

// Spec returns the parts of the destination.
func (d VectorDest[T]) Spec() Spec[T] { return d.s }

// Masked restricts writes to the positions of m.
func (d VectorDest[T]) Masked(m Mask) VectorDest[T] { d.s.Mask = m; return d }

// Accum accumulates results with op.
func (d VectorDest[T]) Accum(op Combiner[T]) VectorDest[T] { d.s.Accum = op; return d }

// Replace deletes the entries outside the mask.
func (d VectorDest[T]) Replace() VectorDest[T] { d.s.Replace = true; return d }

func (v *Vector[T]) isVectorTarget() {}

// Spec returns v as a plain destination.
func (v *Vector[T]) Spec() Spec[T] {
	if v == nil {
		return Spec[T]{Vector: true}
	}
	v.init()
	return Spec[T]{Matrix: &v.m, Vector: true}
}

// Masked returns v as a destination that is written only at the positions of m, and everywhere if m
// is nil; see [Dest.Masked].
func (v *Vector[T]) Masked(m Mask) VectorDest[T] { return VectorDest[T]{v.Spec()}.Masked(m) }

// Accum returns v as a destination that accumulates with op.
func (v *Vector[T]) Accum(op Combiner[T]) VectorDest[T] { return VectorDest[T]{v.Spec()}.Accum(op) }

// Replace returns v as a destination whose entries outside the mask are deleted.
func (v *Vector[T]) Replace() VectorDest[T] { return VectorDest[T]{v.Spec()}.Replace() }
