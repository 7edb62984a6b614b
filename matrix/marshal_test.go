package matrix_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// marshalled returns what UnmarshalBinary reads of the bytes of MarshalBinary.
func marshalled[T comparable](a *matrix.Matrix[T]) (*matrix.Matrix[T], error) {
	data, err := a.MarshalBinary()
	if err != nil {
		return nil, err
	}
	b := new(matrix.Matrix[T])
	return b, b.UnmarshalBinary(data)
}

// TestMarshalDamage: UnmarshalBinary returns an *InvalidError that names the section if bytes are
// damaged, and leaves the matrix unchanged. Package graphio tests the form.
func TestMarshalDamage(t *testing.T) {
	t.Parallel()
	a := mustTuples(t, 3, 4, []int{0, 2, 2}, []int{3, 0, 1}, []float32{1, -2, 3})
	data, err := a.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		reason string
		data   []byte
		want   string
	}{
		{"a changed value", append(append([]byte{}, data[:len(data)-8]...), 9, 9, 9, 9, 9, 9, 9, 9), "Matrix.UnmarshalBinary: section values: wrong checksum"},
		{"cut short", data[:len(data)-1], "the file ends here"},
		{"no bytes", nil, "head: the file ends here"},
	} {
		b := a.Clone()
		var e *matrix.InvalidError
		if err := b.UnmarshalBinary(c.data); !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.reason, err, c.want)
		}
		if !b.Equal(a) {
			t.Errorf("%s: the matrix is changed to %v", c.reason, b)
		}
	}
	var e *matrix.TypeError
	if err := matrix.New[float64](1, 1).UnmarshalBinary(data); !errors.As(err, &e) || e.Got != "float32" || e.Want != "float64" {
		t.Errorf("another element type: got %v, want a *TypeError that names both", err)
	}
}

// TestFormats: Format has the values of sparse.Format, which files contain.
func TestFormats(t *testing.T) {
	for f, want := range map[matrix.Format]sparse.Format{matrix.CSR: sparse.CSR, matrix.Hypersparse: sparse.Hypersparse,
		matrix.Bitmap: sparse.Bitmap, matrix.Full: sparse.Full, matrix.Automatic: sparse.Automatic} {
		if sparse.Format(f) != want || f.String() != want.String() {
			t.Errorf("%v is %d, want %d", want, f, want)
		}
	}
}
