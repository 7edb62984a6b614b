package jbsparse_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/james-bowman/sparse"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/matrix/jbsparse"
)

func draw(t *rapid.T) *matrix.Matrix[float64] {
	m, n := rapid.IntRange(1, 9).Draw(t, "rows"), rapid.IntRange(1, 9).Draw(t, "columns")
	b := matrix.NewBuilder[float64](m, n)
	for range rapid.IntRange(0, 30).Draw(t, "entries") {
		b.Add(rapid.IntRange(0, m-1).Draw(t, "row"), rapid.IntRange(0, n-1).Draw(t, "column"), float64(rapid.IntRange(1, 9).Draw(t, "value")))
	}
	a := sure.Get(b.Build(matrix.CombineFunc[float64](func(x, _ float64) float64 { return x })))
	f := rapid.SampledFrom([]matrix.Format{matrix.CSR, matrix.Hypersparse, matrix.Bitmap}).Draw(t, "format")
	sure.Do(a.SetFormat(f))
	return a
}

func TestRoundTrips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := draw(t)
		m, n := a.Dims()
		check := func(format string, x mat.Matrix, err error, back *matrix.Matrix[float64], err2 error) {
			if err != nil || err2 != nil {
				t.Fatalf("%s: %v, %v", format, err, err2)
			}
			if r, c := x.Dims(); r != m || c != n {
				t.Fatalf("%s is %d×%d", format, r, c)
			}
			for i := range m {
				for j := range n {
					if v, _ := a.At(i, j); x.At(i, j) != v {
						t.Fatalf("%s: (%d, %d) is %v, want %v", format, i, j, x.At(i, j), v)
					}
				}
			}
			if !a.Equal(back) || access.Store(back).Check(len(access.Store(back).Val), false) != nil {
				t.Fatalf("%s converts back to %v, want %v", format, back, a)
			}
		}
		csr, err := jbsparse.ToCSR(a)
		b, err2 := jbsparse.FromCSR(csr)
		check("CSR", csr, err, b, err2)
		csc, err := jbsparse.ToCSC(a)
		b, err2 = jbsparse.FromCSC(csc)
		check("CSC", csc, err, b, err2)
		tr, err := jbsparse.TransposeOfCSC(csc)
		if err != nil || !tr.Equal(access.FromStore(access.Rows(a.T()))) {
			t.Fatalf("transpose of CSC: %v, %v", tr, err)
		}
		coo, err := jbsparse.ToCOO(a)
		b, err2 = jbsparse.FromCOO(coo)
		check("COO", coo, err, b, err2)
		dok, err := jbsparse.ToDOK(a)
		b, err2 = jbsparse.FromDOK(dok)
		check("DOK", dok, err, b, err2)
	})
}

// TestCopies: a change through one library is no change of the other, and the kept transpose of a
// matrix agrees with it.
func TestCopies(t *testing.T) {
	a := sure.Get(matrix.FromCSR(2, 2, []int64{0, 1, 2}, []int32{0, 1}, []float64{1, 2}))
	a.CSC() // keeps the transpose
	c, _ := jbsparse.ToCSR(a)
	d, _ := jbsparse.ToCSC(a)
	c.Set(0, 0, 10)
	d.Set(0, 0, 20)
	c.Set(0, 1, 7)
	if x, _ := a.At(0, 0); x != 1 || a.NVals() != 2 {
		t.Errorf("a change of the CSR or the CSC changes a to %v", a.Text())
	}
	for j, x := range a.T().Row(0) {
		if j != 0 || x != 1 {
			t.Errorf("the kept transpose has %v at (0, %d)", x, j)
		}
	}
	if err := a.Set(1, 1, 5); err != nil || d.At(1, 1) != 2 {
		t.Errorf("a change of a changes the CSC: %v", err)
	}
	csc := sparse.NewCSC(2, 3, []int{0, 1, 1, 2}, []int{1, 0}, []float64{4, 5})
	b, err := jbsparse.TransposeOfCSC(csc)
	if err != nil {
		t.Fatal(err)
	}
	csc.Set(1, 0, 40)
	if v, _ := b.At(0, 1); v != 4 {
		t.Errorf("a change of a CSC changes the matrix to %v", v)
	}
}

func TestUnusualInput(t *testing.T) {
	unsorted := sparse.NewCSR(1, 3, []int{0, 3}, []int{2, 0, 1}, []float64{3, 1, 2})
	a, err := jbsparse.FromCSR(unsorted)
	if err != nil || a.Text() != "1×3 csr matrix of float64, 3 entries\n  0 │ 0:1 1:2 2:3" {
		t.Errorf("unsorted: %v, %v", a, err)
	}
	sum, err := jbsparse.FromCOO(sparse.NewCOO(1, 2, []int{0, 0}, []int{1, 1}, []float64{3, 4}))
	if v, _ := sum.At(0, 1); err != nil || v != 7 {
		t.Errorf("duplicates of a COO: %v, %v", sum, err)
	}
	for _, c := range []struct {
		reason string
		csr    *sparse.CSR
		is     error
	}{
		{"duplicate", sparse.NewCSR(1, 3, []int{0, 2}, []int{1, 1}, []float64{3, 1}), matrix.ErrDuplicate},
		{"index outside", sparse.NewCSR(1, 3, []int{0, 1}, []int{3}, []float64{3}), matrix.ErrInvalid},
		{"negative index", sparse.NewCSR(1, 3, []int{0, 1}, []int{-1}, []float64{3}), matrix.ErrInvalid},
		{"offsets missing", sparse.NewCSR(2, 3, []int{0, 1}, []int{1}, []float64{3}), matrix.ErrInvalid},
		{"no offsets", sparse.NewCSR(2, 3, nil, nil, nil), matrix.ErrInvalid},
		{"offsets fall", sparse.NewCSR(2, 3, []int{0, 2, 1}, []int{1}, []float64{3}), matrix.ErrInvalid},
		{"offsets start late", sparse.NewCSR(1, 3, []int{1, 1}, []int{1}, []float64{3}), matrix.ErrInvalid},
		{"values missing", sparse.NewCSR(1, 3, []int{0, 1}, []int{1}, nil), matrix.ErrInvalid},
		{"too wide", sparse.NewCSR(0, 1<<40, []int{0}, nil, nil), matrix.ErrSize},
		{"too tall", sparse.NewCSR(1<<40, 1, []int{0}, nil, nil), matrix.ErrSize},
	} {
		if _, err := jbsparse.FromCSR(c.csr); !errors.Is(err, c.is) {
			t.Errorf("%s: got %v", c.reason, err)
		}
	}
	if _, err := jbsparse.FromDOK(sparse.NewDOK(1<<40, 1)); !errors.Is(err, matrix.ErrSize) {
		t.Errorf("huge DOK: %v", err)
	}
	bad := matrix.New[float64](-1, 1)
	_, e1 := jbsparse.ToCSR(bad)
	_, e2 := jbsparse.ToCSC(bad)
	_, e3 := jbsparse.ToCOO(bad)
	_, e4 := jbsparse.ToDOK(bad)
	for _, err := range []error{e1, e2, e3, e4} {
		if !errors.Is(err, matrix.ErrSize) {
			t.Errorf("a matrix with an error: %v", err)
		}
	}
}

func Example() {
	d := sparse.NewDOK(2, 3)
	d.Set(0, 2, 1.5)
	d.Set(1, 0, -1)
	a, err := jbsparse.FromCSR(d.ToCSR())
	fmt.Println(a.Text(), err)
	// Output:
	// 2×3 csr matrix of float64, 2 entries
	//   0 │ 2:1.5
	//   1 │ 0:-1 <nil>
}
