package ops_test

import (
	"testing"

	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// TestSelectKeepsSymmetry checks that the result of a select of a symmetric matrix is known to be
// symmetric exactly if the predicate treats (i,j) and (j,i) alike, and that it is.
func TestSelectKeepsSymmetry(t *testing.T) {
	for _, loop := range []bool{false, true} {
		a := matrix.New[int32](4, 4)
		for _, e := range [][3]int{{0, 1, 5}, {1, 0, 5}, {1, 3, 2}, {3, 1, 2}} {
			sure.Do(a.Set(e[0], e[1], int32(e[2])))
		}
		if loop {
			sure.Do(a.Set(2, 2, 7))
		}
		if !a.IsSymmetric() {
			t.Fatal("the operand is not symmetric")
		}
		for _, c := range []struct {
			f     semiring.SelectOp[int32]
			known bool
			nvals int64
		}{
			{semiring.Offdiag[int32](0), true, 4},
			{semiring.ValueGE[int32](5), true, map[bool]int64{false: 2, true: 3}[loop]},
			{semiring.Offdiag[int32](1), false, map[bool]int64{false: 3, true: 4}[loop]},
			{semiring.Triu[int32](0), false, map[bool]int64{false: 2, true: 3}[loop]},
		} {
			got := matrix.New[int32](4, 4)
			sure.Do(ops.Select(got, c.f, a))
			if known := got.Inside().Symmetric(); known != c.known || got.NVals() != c.nvals {
				t.Errorf("%s, loop %v: known to be symmetric: %v, %d entries; want %v, %d", c.f.Name(), loop, known, got.NVals(), c.known, c.nvals)
			}
			copied := matrix.New[int32](4, 4)
			sure.Do(ops.Transpose(copied, got.T()))
			if same := copied.IsSymmetric(); c.known && !same {
				t.Errorf("%s, loop %v: the result is not symmetric", c.f.Name(), loop)
			}
			sure.Do(ops.Apply(got, semiring.Identity[int32](), matrix.New[int32](4, 4)))
			sure.Do(got.Set(0, 1, 1))
			if got.Inside().Symmetric() {
				t.Errorf("%s: a changed result is still known to be symmetric", c.f.Name())
			}
		}
	}
}
