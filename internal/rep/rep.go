// Package rep declares what views and masks of package matrix hold: their first fields have the
// interface types of this package, and the types of package semiring start with their CPU forms.
// Package access reads these fields.
package rep

import (
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// Place is a matrix.Place.
type Place = interface{ String() string }

// Placed is a matrix that may be, or have a copy, outside host memory.
type Placed interface {
	// Err returns the error of the construction of the matrix, or of a failed read from a device.
	Err() error
	// RemoteOn returns the contents at b, and copies them there if needed.
	RemoteOn(b device.Backend) (device.Store, error)
	Place() Place
	// Symmetric reports whether the matrix is known to equal its transpose. It does not compare
	// entries.
	Symmetric() bool
	Dims() (rows, cols int)
	NVals() int64
	// Leads returns the first columns of each row, or the first rows of each column, as
	// sparse.Leads does. It returns nil unless the form is CSR.
	Leads(cols bool) []int32
}

// Matrix is the source of a view: a matrix, or the pattern of one.
type Matrix[T comparable] interface {
	Placed
	// Stored returns the storage in its current format. It must not change while there are other
	// readers. A nil Val means a pattern.
	Stored() *sparse.Store[T]
	// Rows returns the sparse (CSR or hypersparse) form.
	Rows() *sparse.Store[T]
	// Cols returns the sparse form of the transpose, which is computed once and kept.
	Cols() *sparse.Store[T]
	// KeptCols is Cols if it is known, and nil otherwise.
	KeptCols() *sparse.Store[T]
	// SetResult replaces the contents by the result of an operation. It converts the result to the
	// format of SetFormat, or without one to the format for its density. A nil st changes
	// nothing. A pattern is not a destination, and ignores it.
	SetResult(st *sparse.Store[T])
	// Writer returns the matrix as a destination. It is nil for a pattern.
	Writer() Writer[T]
}

// Writer is a matrix as the destination of operations.
type Writer[T comparable] interface {
	// Init sets the contents of a new matrix.
	Init(st *sparse.Store[T])
	// SetStore replaces the contents.
	SetStore(st *sparse.Store[T])
	// SetRemote replaces the contents by s, which is at the place of the matrix.
	SetRemote(s device.Store)
	// Repin converts the contents on the device to the format that SetFormat set.
	Repin() error
}

// Mask is a matrix of any element type, for masks and patterns.
type Mask interface {
	Placed
	// The structures of Stored, Rows, Cols and KeptCols. No values are computed.
	Shape() *sparse.Structure
	RowsShape() *sparse.Structure
	ColsShape() *sparse.Structure
	KeptColsShape() *sparse.Structure
	// Nonzero returns the positions of the values other than zero.
	Nonzero() *sparse.Structure
}
