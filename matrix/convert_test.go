package matrix_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/internal/splitmix"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
)

// TestConvertInPieces changes the formats of matrices that are converted in several pieces: wide,
// tall with few rows that have entries, and a vector.
func TestConvertInPieces(t *testing.T) {
	for _, c := range []struct {
		m, n  int
		every uint64 // an entry in so many positions
	}{{700, 600, 3}, {600, 700, 1}, {3, 150_000, 2}, {200_000, 2, 40}, {200_000, 1, 1}, {1, 300_000, 5}, {150_000, 3, 200_000}} {
		var rows, cols []int
		var vals []float64
		dense := slices.Repeat([]float64{-1}, c.m*c.n)
		for p := range dense {
			if splitmix.At(uint64(p), 9)%c.every == 0 {
				rows, cols, vals = append(rows, p/c.n), append(cols, p%c.n), append(vals, float64(p%1000))
				dense[p] = vals[len(vals)-1]
			}
		}
		a := sure.Get(matrix.FromTuples(c.m, c.n, rows, cols, vals, nil))
		want := a.Clone()
		sure.Do(want.SetFormat(matrix.CSR))
		ptr, idx, val, err := want.CSR()
		if err != nil {
			t.Fatal(err)
		}
		if again, err := matrix.FromCSR(c.m, c.n, ptr, idx, val); err != nil || !again.Equal(a) {
			t.Errorf("%v: FromCSR: %v", c, err)
		}
		for _, f := range []matrix.Format{matrix.Bitmap, matrix.CSR, matrix.Hypersparse, matrix.Bitmap, matrix.Hypersparse, matrix.CSR, matrix.Full, matrix.CSR} {
			if f == matrix.Full && len(vals) < len(dense) {
				continue
			}
			sure.Do(a.SetFormat(f))
			r, k, v, err := a.Tuples()
			if err != nil || !slices.EqualFunc(r, rows, same) || !slices.EqualFunc(k, cols, same) || !slices.Equal(v, vals) {
				t.Fatalf("%v in %v: the tuples differ, %v", c, f, err)
			}
			if list, err := a.Dense(-1); err != nil || !slices.Equal(list, dense) {
				t.Fatalf("%v in %v: Dense differs, %v", c, f, err)
			}
			p, _, _, err := a.CSR()
			if err != nil || !slices.Equal(p, ptr) {
				t.Fatalf("%v in %v: the offsets differ, %v", c, f, err)
			}
			if !a.Equal(want) || !want.Equal(a) || !a.Clone().Equal(a) {
				t.Fatalf("%v in %v: not equal", c, f)
			}
		}
		if len(vals) == 0 {
			continue
		}
		b := want.Clone()
		if err := b.Set(rows[len(rows)-1], cols[len(cols)-1], -5); err != nil || b.Equal(want) {
			t.Errorf("%v: equal to a matrix with another value, %v", c, err)
		}
		// Columns out of order near the end are found.
		wrong := slices.Clone(idx)
		wrong[len(wrong)-1] = int32(c.n)
		if _, err := matrix.FromCSR(c.m, c.n, ptr, wrong, val); err == nil {
			t.Errorf("%v: no error for column %d", c, c.n)
		}
	}
}

func TestFromCSROffsets(t *testing.T) {
	_, err := matrix.FromCSR(2, 2, []int64{0, 1}, []int32{0}, []int{1})
	if !errors.Is(err, matrix.ErrInvalid) || !strings.Contains(err.Error(), "2 row offsets for 2 rows, want 3") {
		t.Error(err)
	}
}

func same(x int32, y int) bool { return int(x) == y }

// TestVectorDenseInPieces reads a long vector in each format.
func TestVectorDenseInPieces(t *testing.T) {
	const n = 250_000

	var idx []int
	var vals []int32
	want := slices.Repeat([]int32{7}, n)
	for i := 0; i < n; i += 3 {
		idx, vals = append(idx, i), append(vals, int32(i))
		want[i] = int32(i)
	}
	v := sure.Get(matrix.VectorFromTuples(n, idx, vals, nil))
	for _, f := range []matrix.Format{matrix.CSR, matrix.Bitmap} {
		sure.Do(v.SetFormat(f))
		if got := sure.Get(v.Dense(7)); !slices.Equal(got, want) {
			t.Errorf("%v: Dense differs", f)
		}
	}
	if full, err := matrix.VectorOf(slices.Clone(want)); err != nil || !slices.Equal(sure.Get(full.Dense(0)), want) {
		t.Errorf("full: Dense differs, %v", err)
	}
	if got := sure.Get((&matrix.Vector[int]{}).Dense(1)); len(got) != 0 {
		t.Errorf("the zero value has %v", got)
	}
}
