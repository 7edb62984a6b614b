package matrix_test

import (
	"errors"
	"reflect"
	"testing"

	"github.com/hiveblas/hiveblas/matrix"
)

// TestAny: a matrix of any type is the matrix itself, with its type.
func TestAny(t *testing.T) {
	t.Parallel()
	type weight float32
	m := mustTuples(t, 2, 3, []int{0, 1}, []int{2, 0}, []weight{1, 2})
	a := matrix.AnyOf(m)
	if a.Kind() != reflect.Float32 || a.Type() != reflect.TypeFor[weight]() || a.NVals() != 2 || a.Err() != nil || a.Format() != matrix.CSR || a.Place() != nil {
		t.Errorf("got %v of %v", a, a.Type())
	}
	if rows, cols := a.Dims(); rows != 2 || cols != 3 || a.String() != m.String() {
		t.Errorf("got %v, want %v", a, m)
	}
	if got, ok := matrix.As[weight](a); !ok || got != m {
		t.Errorf("As: %p, %v, want %p", got, ok, m)
	}
	if got, ok := matrix.As[float32](a); ok || got != nil {
		t.Errorf("As another type: %v", got)
	}
	if p := a.Pattern(); p.NVals() != 2 {
		t.Errorf("pattern: %v", p)
	}
	var none matrix.Any
	if _, ok := matrix.As[bool](none); ok || none.Kind() != reflect.Invalid || none.Type() != nil || !errors.Is(none.Err(), matrix.ErrInvalid) || none.String() != "no matrix" {
		t.Errorf("the zero value: %v", none)
	}
	if _, ok := matrix.As[bool](matrix.AnyOf[bool](nil)); ok {
		t.Error("a nil matrix is a matrix")
	}
}
