// Package device is how ops speaks to a place that computes: operands and
// operators without Go type parameters, since a GPU knows types by their
// names. Package cusparse implements [Backend]; matrix keeps [Store]s; [Of] is the
// backend of a place.
package device

import (
	"context"
	"errors"
	"fmt"
	"time"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/sparse"
)

// Store is a matrix in the memory of a place. It never changes: operations
// make new ones, which may share storage. Forms derived from it, such as the
// transpose, are kept with it.
type Store interface {
	Dims() (rows, cols int)
	Format() sparse.Format
	// NVals returns the number of entries, which may have to be counted first.
	NVals() (int64, error)
	// Drop tells that nobody will use the store again. Its memory may serve
	// another one at once; one that is not dropped waits for the collector.
	Drop()
}

// Host is a matrix in host memory, its values as raw bytes; without Val it
// is a pattern.
type Host struct {
	sparse.Structure
	Type Type
	Val  unsafe.Pointer // first value, nil for a pattern
	N    int            // number of values
}

// Operand is a store as an operation reads it.
type Operand struct {
	Store      Store
	Transposed bool
	Vector     bool
	Pattern    bool // values are not read: each is true
	Symmetric  bool // the matrix is known to equal its transpose
}

// Mask restricts writing to the entries of Store, to those with a value other
// than zero unless Structural, or to all other positions.
type Mask struct {
	Store      Store
	Structural bool
	Comp       bool
}

// Dest is the destination of an operation: what it holds and how it takes the
// result. The operation returns what it becomes.
type Dest struct {
	Rows, Cols int
	Type       Type
	// Store is what the destination holds; nil where that makes no difference.
	Store   Store
	Vector  bool
	Mask    *Mask
	Accum   *Func
	Replace bool
}

// Func is an operator as text: an expression in x and y, for operators of a
// position also in i, j and k.
type Func struct {
	Name, Text  string
	X, Y, Out   Type
	UsesX       bool
	UsesY       bool
	Commutative bool
}

// Monoid is an operator over one type with an identity. Terminal is the value
// at which a sum may stop, or "". Exact says that sums in any order are equal,
// bit for bit.
type Monoid struct {
	Func
	Identity string
	Terminal string
	Any      bool
	Exact    bool
}

// Semiring is ⊗ and ⊕. Position is 0, or the position that the product returns as an index.
type Semiring struct {
	Name     string
	Add      Monoid
	Mul      Func
	Position int
	// Ends says that ⊗ is the gather of a graph program: its text is an expression in weight, src
	// and dst, an entry of the matrix and the values of the vector at the entry's two ends; If,
	// unless "", is the condition under which there is a term. The vector is dense and has a value
	// at each position, whether it is an entry or not.
	Ends bool
	If   string
}

// Call is how an operation is run.
type Call struct {
	Context context.Context // may be nil
	Op      string          // such as "MxM", for messages
	Method  string          // forced method, or ""
	Trace   bool            // Ran.Work is wanted
}

// Ran tells what was done.
type Ran struct {
	Method string
	Plan   string // the kernel's plan, such as "pull csr twc store", if it is composed
	Work   int64
}

// Scalar is a value given by the caller, as raw bytes.
type Scalar struct {
	Type Type
	P    unsafe.Pointer
}

// Indices is a list of N rows or columns. Without List and Values it is all N, in order.
type Indices struct {
	List []int32
	N    int
	// Values, if not nil, is a vector of int32; its N values are the list. An operation that takes
	// it checks them, and returns an *IndexError that names Arg if a value is out of range.
	Values *Operand
	Arg    string
	// From is the first of the items of Values that are the list. All are checked.
	From int
	// Of, if not 0, is the number of rows or columns of a whole; the result of Scatter has the rows
	// or columns from Lo on. Items beyond them are left out.
	Lo, Of int
}

// All reports whether the list is all N, in order.
func (x Indices) All() bool { return x.List == nil && x.Values == nil }

// An IndexError says that an item of a list of indices is not below Limit.
type IndexError struct {
	Arg              string
	At, Index, Limit int64
}

func (e *IndexError) Error() string {
	return fmt.Sprintf("%s[%d] = %d is not below %d", e.Arg, e.At, e.Index, e.Limit)
}

// Pair says what becomes of the entries that only one operand has.
type Pair uint8

// The ways of EWise.
const (
	Intersection Pair = iota // they go
	Union                    // they stay as they are
	Filled                   // the missing operand is Alpha or Beta
)

// ErrDuplicates is what Build answers to tuples of equal positions.
var ErrDuplicates = errors.New("a position is given twice")

// Backend is a place that computes. All methods are safe for concurrent use.
// Arguments have been checked by ops: shapes fit, operators have text.
type Backend interface {
	// Place returns the matrix.Place of the backend; Of returns the backend of that place.
	Place() fmt.Stringer

	Upload(h Host) (Store, error)
	// Shape returns the offsets, indices and presence bytes of a store, and
	// Values copies its values to host memory.
	Shape(s Store) (sparse.Structure, error)
	Values(s Store, to unsafe.Pointer, n int) error
	// Build makes an m×n matrix of tuples in any order; val points to a value
	// of type t for each. Duplicates are combined by dup, left to right; without
	// it they are ErrDuplicates.
	Build(m, n int, rows, cols []int32, t Type, val unsafe.Pointer, dup *Func) (Store, error)
	// Convert returns the store in another format.
	Convert(s Store, f sparse.Format) (Store, error)

	MxM(c Call, d Dest, s Semiring, a, b Operand) (Store, Ran, error)
	// MxV computes a·u, with u the second operand of ⊗, or with flip the first.
	MxV(c Call, d Dest, s Semiring, flip bool, a, u Operand) (Store, Ran, error)
	EWise(c Call, d Dest, how Pair, f Func, a, b Operand, alpha, beta Scalar) (Store, Ran, error)
	// Apply computes f(x, i, j), with y, if given, bound as the second operand
	// of f or with first as the first.
	Apply(c Call, d Dest, f Func, a Operand, y *Scalar, first bool) (Store, Ran, error)
	// Select keeps the entries for which f(x, i, j), which may speak of y, holds.
	Select(c Call, d Dest, f Func, a Operand, y *Scalar) (Store, Ran, error)
	Transpose(c Call, d Dest, a Operand) (Store, Ran, error)
	Reduce(c Call, d Dest, m Monoid, a Operand) (Store, Ran, error)
	// ReduceScalar writes the sum to out, which has room for a value.
	ReduceScalar(c Call, m Monoid, a Operand, out unsafe.Pointer) (Ran, error)
	Extract(c Call, d Dest, a Operand, rows, cols Indices) (Store, Ran, error)
	// Scatter sums the entries u(k) at each (rows[k], cols[k]), with rows all 0 for a vector. Sums
	// have a fixed order.
	Scatter(c Call, d Dest, m Monoid, u Operand, rows, cols Indices) (Store, Ran, error)
	// Assign and AssignScalar take no Values.
	Assign(c Call, d Dest, a Operand, rows, cols Indices) (Store, Ran, error)
	AssignScalar(c Call, d Dest, x Scalar, rows, cols Indices) (Store, Ran, error)
	Kronecker(c Call, d Dest, f Func, a, b Operand) (Store, Ran, error)
}

// Sizer is a place that tells how many entries a product will have.
type Sizer interface {
	// Sizes returns the entries of each row of a·b, or no fewer if not exact.
	Sizes(c Call, a, b Operand) (sizes []int64, exact bool, err error)
}

// Streamer is a place that copies results to the host beside what it computes.
type Streamer interface {
	// Stage returns what copies go through: pinned host memory of so many
	// bytes, in pieces.
	Stage(bytes int64) (Stage, error)
	// Limit bounds the memory that results and work may take from now on, in
	// bytes; 0 is all there is. It returns the bound before.
	Limit(bytes uint64) uint64
	// Sync waits until all that was queued is done.
	Sync() error
	// Free returns the bytes that are free, and all there are.
	Free() (free, total uint64, err error)
	// Peak returns the most memory that was in use since the last call.
	Peak() uint64
}

// Stage copies listed stores to the host. It belongs to one goroutine, which
// may be another than the one that computes.
type Stage interface {
	// Fetch copies the offsets, columns and values of s, which the place has
	// finished (see Streamer.Sync): ptr has a place for each stored row and one
	// more. It returns when all has left s, while the end is still on its way
	// through the stage, so that the next copy follows at once. A later call of
	// Fetch or Flush calls done when all is there, with the time that the copy
	// engine was busy, in the order of the copies; errors of done are theirs.
	Fetch(s Store, ptr []int64, idx []int32, val unsafe.Pointer, done func(took time.Duration) error) error
	// Flush waits for what is on its way.
	Flush() error
	Close() error
}

// A MethodError says that the forced method of a call does not apply. The
// destination is unchanged.
type MethodError struct{ Reason string }

func (e *MethodError) Error() string { return "the method does not apply: " + e.Reason }

// ErrMemory is the sentinel of errors that a place has too little memory.
var ErrMemory = errors.New("out of device memory")
