package access_test

import (
	"reflect"
	"testing"

	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
)

// TestNamed: a matrix of a named type is read as one of its built-in type, and a result of the
// built-in type becomes one of the named type, which operations and Any know as such.
func TestNamed(t *testing.T) {
	type metre float64
	a := sure.Get(matrix.FromTuples(2, 2, []int{0, 1}, []int{1, 0}, []metre{2.5, 3}, nil))
	in := a.View().Inside()
	if k := access.Kind(in); k != reflect.Float64 {
		t.Errorf("the kind is %v", k)
	}
	plain := matrix.ViewOf[float64](in)
	if x, ok := plain.T().At(0, 1); !ok || x != 3 {
		t.Errorf("3 m are read as %v, %v", x, ok)
	}
	v := sure.Get(matrix.VectorOf([]float64{1, 2}))
	named := access.VectorAs[metre](v.Inside())
	if x, ok := named.At(1); !ok || x != 2 || named.String() != "full vector of 2 access_test.metre, 2 entries" {
		t.Errorf("the vector is %v with %v", named, x)
	}
	b := matrix.New[float64](2, 2)
	sure.Do(b.Set(0, 1, 7))
	m := access.MatrixAs[metre](b.Inside())
	if _, ok := matrix.As[metre](matrix.AnyOf(m)); !ok {
		t.Error("the matrix is not one of metres")
	}
	if x, ok := m.At(0, 1); !ok || x != 7 {
		t.Errorf("7 m are %v, %v", x, ok)
	}
	if access.MatrixAs[metre](rep.View{}) != nil || matrix.VectorOfInside[bool](v.Inside()) != nil {
		t.Error("a result of nothing, or of another type, is one of metres")
	}
}
