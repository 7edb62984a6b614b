package matrix

import (
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

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
func (a *Matrix[T]) MaskView() MaskView { return MaskView{rep.Mask{Matrix: coreOf(a)}} }

// Structure returns a as a structural mask, which selects all entries.
func (a *Matrix[T]) Structure() MaskView {
	m := a.MaskView()
	m.m.Structural = true
	return m
}

// MaskView returns v as a mask by value, which selects the entries other than the zero value of T.
func (v *Vector[T]) MaskView() MaskView {
	if v == nil {
		return MaskView{}
	}
	return MaskView{rep.Mask{Matrix: madeCore(v), Vector: true}}
}

// Structure returns v as a structural mask, which selects all entries.
func (v *Vector[T]) Structure() MaskView {
	m := v.MaskView()
	m.m.Structural = true
	return m
}

// Destination is the destination of an operation on matrices or vectors.
type Destination[T comparable] interface {
	// Spec returns the parts of the destination.
	Spec() Spec
	// isOf says what the values are.
	isOf(T)
}

// Target is a matrix destination: *Matrix[T], or a [Dest] made by Masked,
// Accum and Replace.
type Target[T comparable] interface {
	// Spec and isOf make a Target a Destination.
	Spec() Spec
	isOf(T)
	// Masked restricts writes to the positions of a mask; see [Dest.Masked].
	Masked(Mask) *Dest[T]
}

// VectorTarget is a vector destination: *Vector[T], or a [VectorDest].
type VectorTarget[T comparable] interface {
	Spec() Spec
	isOf(T)
	isVector()
}

// Spec holds the parts of a destination.
type Spec struct {
	m       rep.Matrix // see Inside
	Vector  bool
	Mask    Mask // nil: every position is written
	Accum   any  // a Combiner of the element type; nil: the result overwrites
	Replace bool // entries outside the mask are deleted

	pairs sparse.Pairs // see AccumInside
}

// AccumInside returns the loop of an accumulator that is no operator of package semiring, nil of
// one that cannot be called. It is for the packages of this module.
func (s Spec) AccumInside() sparse.Pairs { return s.pairs }

// pairsOf returns the loop of an accumulator that is no operator of package semiring, else nil.
func pairsOf[T any](op Combiner[T]) sparse.Pairs {
	if op == nil || hasLoops(op) {
		return nil
	}
	f, _ := combining(op)
	return sparse.Pairing(f)
}

// hasLoops reports whether an operator is of package semiring, and has loops of its own. It is not
// inlined, since the compiler makes functions for its interface.
//
//go:noinline
func hasLoops(op any) bool {
	_, ok := op.(interface {
		Valid() bool
		CUDA() string
	})
	return ok
}

// Inside returns the matrix to write, 1×n for a vector and nil of a nil destination, as the
// packages of this module see it; see [Matrix.Inside].
func (s Spec) Inside() rep.Matrix { return s.m }

// Dest is a matrix as a destination, with mask, accumulator and replace:
//
//	C⟨M⟩ ⊕= result
//
// Within the mask, C becomes the result, which deletes entries absent in the result, or with an
// accumulator C ⊕ result. Outside the mask, C is unchanged, or with Replace its entries are
// deleted. The methods return a new Dest and do not change theirs.
type Dest[T comparable] struct {
	_     [0]func() // not comparable: the compiler makes no function for it
	a     *Matrix[T]
	accum Combiner[T]
	at    limits
}

// limits are the positions that a destination is written at.
type limits struct {
	mask    Mask
	replace bool
}

func (d *Dest[T]) isOf(T) {}

// Spec returns the parts of the destination.
func (d *Dest[T]) Spec() Spec {
	if d == nil || d.a == nil {
		return Spec{}
	}
	return Spec{m: coreOf(d.a), Mask: d.at.mask, Accum: d.accum, Replace: d.at.replace, pairs: pairsOf(d.accum)}
}

// destOf returns a copy of d, the zero value for nil.
func destOf[T comparable](d *Dest[T]) (e Dest[T]) {
	if d != nil {
		e = *d
	}
	return e
}

// Masked restricts writes to the positions of m. A later mask replaces an earlier one; Masked(nil)
// removes it. A nil *Matrix in m is no nil mask: operations refuse it, so that a mask that was
// never made does not become no mask.
func (d *Dest[T]) Masked(m Mask) *Dest[T] { e := destOf(d); e.at.mask = m; return &e }

// Accum accumulates results with op: C ⊕ result where both have an entry, and the single entry
// elsewhere. A later accumulator replaces an earlier one; Accum(nil) removes it, and results
// overwrite.
func (d *Dest[T]) Accum(op Combiner[T]) *Dest[T] { e := destOf(d); e.accum = op; return &e }

// Replace deletes the entries of C outside the mask.
func (d *Dest[T]) Replace() *Dest[T] { e := destOf(d); e.at.replace = true; return &e }

// Spec returns a as a plain destination.
func (a *Matrix[T]) Spec() Spec {
	if a == nil {
		return Spec{}
	}
	return Spec{m: coreOf(a)}
}

// Masked returns a as a destination that is written only at the positions of m, and everywhere if m
// is nil; see [Dest.Masked].
func (a *Matrix[T]) Masked(m Mask) *Dest[T] { return &Dest[T]{a: a, at: limits{mask: m}} }

// Accum returns a as a destination that accumulates with op.
func (a *Matrix[T]) Accum(op Combiner[T]) *Dest[T] { return &Dest[T]{a: a, accum: op} }

// Replace returns a as a destination that deletes its entries outside the mask.
func (a *Matrix[T]) Replace() *Dest[T] { return &Dest[T]{a: a, at: limits{replace: true}} }

// VectorDest is a vector as a destination; see [Dest].
type VectorDest[T comparable] struct {
	_     [0]func() // not comparable: the compiler makes no function for it
	v     *Vector[T]
	accum Combiner[T]
	at    limits
}

func (d *VectorDest[T]) isVector() {}
func (d *VectorDest[T]) isOf(T)    {}

// Spec returns the parts of the destination.
func (d *VectorDest[T]) Spec() Spec {
	if d == nil || d.v == nil {
		return Spec{Vector: true}
	}
	return Spec{m: madeCore(d.v), Vector: true, Mask: d.at.mask, Accum: d.accum, Replace: d.at.replace, pairs: pairsOf(d.accum)}
}

// vectorDestOf is destOf of a vector.
func vectorDestOf[T comparable](d *VectorDest[T]) (e VectorDest[T]) {
	if d != nil {
		e = *d
	}
	return e
}

// Masked restricts writes to the positions of m.
func (d *VectorDest[T]) Masked(m Mask) *VectorDest[T] { e := vectorDestOf(d); e.at.mask = m; return &e }

// Accum accumulates results with op.
func (d *VectorDest[T]) Accum(op Combiner[T]) *VectorDest[T] {
	e := vectorDestOf(d)
	e.accum = op
	return &e
}

// Replace deletes the entries outside the mask.
func (d *VectorDest[T]) Replace() *VectorDest[T] {
	e := vectorDestOf(d)
	e.at.replace = true
	return &e
}

// Spec returns v as a plain destination.
func (v *Vector[T]) Spec() Spec {
	if v == nil {
		return Spec{Vector: true}
	}
	return Spec{m: madeCore(v), Vector: true}
}

// Masked returns v as a destination that is written only at the positions of m, and everywhere if m
// is nil; see [Dest.Masked].
func (v *Vector[T]) Masked(m Mask) *VectorDest[T] {
	return &VectorDest[T]{v: v, at: limits{mask: m}}
}

// Accum returns v as a destination that accumulates with op.
func (v *Vector[T]) Accum(op Combiner[T]) *VectorDest[T] { return &VectorDest[T]{v: v, accum: op} }

// Replace returns v as a destination that deletes its entries outside the mask.
func (v *Vector[T]) Replace() *VectorDest[T] {
	return &VectorDest[T]{v: v, at: limits{replace: true}}
}
