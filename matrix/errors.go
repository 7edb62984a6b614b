package matrix

import (
	"errors"
	"fmt"
	"strings"

	"github.com/hiveblas/hiveblas/internal/hostmem"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// Sentinels for errors.Is. The error types have the details.
var (
	ErrDimension = errors.New("dimensions do not fit")     // see DimensionError
	ErrIndex     = errors.New("index out of range")        // see IndexError
	ErrDuplicate = errors.New("duplicate entry")           // see DuplicateError
	ErrNoEntry   = errors.New("no entry at this position") // returned by Value
	ErrSize      = errors.New("size out of range")         // see SizeError
	ErrInvalid   = errors.New("invalid matrix data")       // see InvalidError
	ErrType      = errors.New("element type does not fit") // see TypeError
)

// A DimensionError reports operands of incompatible shapes.
type DimensionError struct {
	Op     string // operation, such as "MxM"
	Arg    string // the invalid argument, such as "b"
	Got    string // its shape, such as "3×4"
	Want   string // the required shape, such as "5×any"
	Remedy string
}

func (e *DimensionError) Error() string {
	s := fmt.Sprintf("%s: %s is %s, want %s", e.Op, e.Arg, e.Got, e.Want)
	if e.Remedy != "" {
		s += "; " + e.Remedy
	}
	return s
}

// Is reports whether target is ErrDimension.
func (e *DimensionError) Is(target error) bool { return target == ErrDimension }

// An IndexError names an index outside 0 … Limit−1.
type IndexError struct {
	Op    string // operation, such as "Builder.Add"
	Arg   string // the invalid argument, such as "row"
	Index int64
	Limit int64
}

func (e *IndexError) Error() string {
	if e.Limit <= 0 {
		return fmt.Sprintf("%s: %s %d is out of range: the dimension is 0", e.Op, e.Arg, e.Index)
	}
	return fmt.Sprintf("%s: %s %d is out of range, want 0…%d", e.Op, e.Arg, e.Index, e.Limit-1)
}

// Is reports whether target is ErrIndex.
func (e *IndexError) Is(target error) bool { return target == ErrIndex }

// A DuplicateError names a position added twice to a Builder without an operator to combine the
// values.
type DuplicateError struct{ Row, Col int }

func (e *DuplicateError) Error() string {
	return fmt.Sprintf("duplicate entry at row %d, column %d; give Build an operator such as semiring.Plus to combine duplicates", e.Row, e.Col)
}

// Is reports whether target is ErrDuplicate.
func (e *DuplicateError) Is(target error) bool { return target == ErrDuplicate }

// A SizeError reports a dimension or count that is negative or exceeds a limit. For a number of
// bytes the limit is the memory that there is.
type SizeError struct {
	Op, Arg string
	Got     int64
	Limit   int64
}

func (e *SizeError) Error() string {
	return fmt.Sprintf("%s: %s is %d, want 0…%d", e.Op, e.Arg, e.Got, e.Limit)
}

// Is reports whether target is ErrSize.
func (e *SizeError) Is(target error) bool { return target == ErrSize }

// An InvalidError reports an invalid argument, such as constructor data that violates an invariant.
type InvalidError struct{ Op, Reason string }

func (e *InvalidError) Error() string { return e.Op + ": " + e.Reason }

// Is reports whether target is ErrInvalid.
func (e *InvalidError) Is(target error) bool { return target == ErrInvalid }

// A TypeError says that the element types of a matrix and of a file or an option differ, or that
// files cannot hold the type.
type TypeError struct {
	Op     string // function, such as "graphio.ReadBinary"
	Got    string // the type that was met, such as "float32"
	Want   string // the type that is needed
	Remedy string
	File   string // "" if unknown or not about a file
}

func (e *TypeError) Error() string {
	s := fmt.Sprintf("%s: element type is %s, want %s", e.Op, e.Got, e.Want)
	if e.File != "" {
		s = e.File + ": " + s
	}
	if e.Remedy != "" {
		s += "; " + e.Remedy
	}
	return s
}

// Is reports whether target is ErrType.
func (e *TypeError) Is(target error) bool { return target == ErrType }

// errNil is the error of nil and zero-valued operands.
var errNil = &InvalidError{"matrix", "an operand or mask is nil or an empty view; make matrices with New, a Builder or a From function"}

func checkDims(op string, m, n int) error {
	switch {
	case m < 0 || m > sparse.MaxDim:
		return &SizeError{op, "number of rows", int64(m), sparse.MaxDim}
	case n < 0 || n > sparse.MaxDim:
		return &SizeError{op, "number of columns", int64(n), sparse.MaxDim}
	}
	return nil
}

// nilReason is the reason of errors of nil receivers.
const nilReason = " is nil; make it with matrix.New, a Builder or a From function"

// naming returns err, or if err is the error of a nil matrix or vector an error that names the
// method op.
func naming(op string, err error) error {
	if e, ok := err.(*InvalidError); ok && (e == errNil || strings.HasSuffix(e.Reason, nilReason)) {
		what := "the matrix"
		if strings.HasPrefix(op, "Vector.") {
			what = "the vector"
		}
		return &InvalidError{op, what + nilReason}
	}
	return err
}

// checkRoom returns a *SizeError if there is no memory for n items of size bytes each.
func checkRoom(op, what string, n, size int64) error {
	if bytes, have, ok := hostmem.Fits(n, size); !ok {
		return &SizeError{op, "number of bytes of " + what, bytes, have}
	}
	return nil
}

// checkDense is checkCells, and that there is memory for size bytes a position.
func checkDense(op string, m, n int, size uintptr) error {
	if err := checkCells(op, m, n); err != nil {
		return err
	}
	return checkRoom(op, fmt.Sprintf("a dense %d×%d matrix", m, n), int64(m)*int64(n), int64(size))
}

// checkCells checks the dimensions and that m·n positions can be addressed.
func checkCells(op string, m, n int) error {
	if err := checkDims(op, m, n); err != nil {
		return err
	}
	if c := int64(m) * int64(n); c > maxCells {
		return &SizeError{op, fmt.Sprintf("number of positions of a dense %d×%d matrix", m, n), c, maxCells}
	}
	return nil
}

// maxCells is the largest number of positions of a dense format: 2⁴⁰, more than any memory holds.
const maxCells = 1 << 40
