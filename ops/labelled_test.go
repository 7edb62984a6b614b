package ops_test

import (
	"errors"
	"testing"

	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
)

func TestExtractLabelled(t *testing.T) {
	t.Parallel()
	a := sure.Get(matrix.FromTuples(3, 3, []int{0, 1, 2}, []int{1, 2, 0}, []int{5, 6, 7}, nil))
	names := graphio.NewLabels([]string{"ann", "bob", "cid"})
	g := &graphio.Labelled[int]{Matrix: a, Rows: names, Cols: names}
	v, _ := matrix.VectorFromTuples(9, []int{3, 8}, []int32{2, 1}, nil)
	for _, c := range []struct {
		reason     string
		rows, cols ops.Indices
		row, col   string // of the first
		shared     bool
	}{
		{"a list", ops.Of(2, 0), ops.Of(2, 0), "cid", "cid", true},
		{"different lists", ops.Of(2, 0), ops.Of(0, 1, 2), "cid", "ann", false},
		{"all columns", ops.Of(1), ops.All(), "bob", "ann", false},
		{"the values of a vector", ops.ValuesOf(v), ops.ValuesOf(v), "cid", "cid", true},
	} {
		b, err := ops.ExtractLabelled(g, c.rows, c.cols)
		if err != nil {
			t.Fatalf("%s: %v", c.reason, err)
		}
		if b.Rows.Name(0) != c.row || b.Cols.Name(0) != c.col || (b.Rows == b.Cols) != c.shared {
			t.Errorf("%s: first row %s, first column %s", c.reason, b.Rows.Name(0), b.Cols.Name(0))
		}
		for at, x := range b.Matrix.All() {
			i, _ := names.Index(b.Rows.Name(at.Row))
			j, _ := names.Index(b.Cols.Name(at.Col))
			if want, ok := a.At(i, j); !ok || want != x {
				t.Errorf("%s: (%s, %s) is %d, want %d", c.reason, b.Rows.Name(at.Row), b.Cols.Name(at.Col), x, want)
			}
		}
	}
	if _, err := ops.ExtractLabelled(g, ops.Of(3), ops.All()); !errors.Is(err, matrix.ErrIndex) {
		t.Errorf("a row outside: %v", err)
	}
	if _, err := ops.ExtractLabelled((*graphio.Labelled[int])(nil), ops.All(), ops.All()); !errors.Is(err, matrix.ErrInvalid) {
		t.Errorf("nil: %v", err)
	}
}
