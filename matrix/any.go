package matrix

import (
	"reflect"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// Any is a matrix of an element type that is known at run time, such as the matrix of a file that
// graphio.ReadAny has read. [As] gives the matrix with its type:
//
//	if g, ok := matrix.As[float64](a); ok { … }
//
// The zero value holds no matrix: its Err is not nil.
type Any struct{ c *core }

// AnyOf returns a as a matrix of any type. Both are one matrix.
func AnyOf[T comparable](a *Matrix[T]) Any { return Any{coreOf(a)} }

// AnyOfInside returns the matrix with an inside, for the packages of this module.
func AnyOfInside(m rep.Matrix) Any {
	c, _ := m.(*core)
	return Any{c}
}

// As returns the matrix if its elements are of type T: int is not int64. Both are one matrix.
func As[T comparable](a Any) (*Matrix[T], bool) {
	if a.c == nil || a.c.null || a.c.Type() != sparse.TypeOf[T]() {
		return nil, false
	}
	return (*Matrix[T])(unsafe.Pointer(a.c)), true
}

func (a Any) inside() *core {
	if a.c == nil {
		return nullOf(boolType)
	}
	return a.c
}

// Inside is [Matrix.Inside].
func (a Any) Inside() rep.Matrix { return a.inside() }

// Type returns the element type, nil without a matrix.
func (a Any) Type() reflect.Type {
	if a.c == nil {
		return nil
	}
	return sparse.GoType(a.c.Type())
}

// Kind returns the kind of the element type, such as reflect.Float64, and reflect.Invalid without a
// matrix.
func (a Any) Kind() reflect.Kind {
	if a.c == nil {
		return reflect.Invalid
	}
	return a.Type().Kind()
}

// Err returns the error of the matrix; see [Matrix.Err].
func (a Any) Err() error { return a.inside().err }

// Dims returns the number of rows and columns.
func (a Any) Dims() (rows, cols int) { return a.inside().Dims() }

// NVals returns the number of entries.
func (a Any) NVals() int64 { return a.inside().NVals() }

// Format returns the current storage layout.
func (a Any) Format() Format { return a.inside().format() }

// Place returns the place of the matrix; nil is the host.
func (a Any) Place() Place { return a.inside().place }

// Pattern returns the structure as an operand; see [Matrix.Pattern]. Operations that read no values
// take a matrix of any type by it.
func (a Any) Pattern() *View[bool] { return &View[bool]{v: rep.View{Matrix: patternOf{a.inside()}}} }

// String describes the matrix on one line; see [Matrix.String].
func (a Any) String() string {
	if a.c == nil {
		return "no matrix"
	}
	return a.c.text(false)
}
