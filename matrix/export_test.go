package matrix_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
)

// TestExport: what a matrix gives out makes the same matrix again, in every format.
func TestExport(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	for _, dims := range [][2]int{{0, 0}, {1, 1}, {13, 29}, {40, 3}, {100000, 7}} {
		m, n := dims[0], dims[1]
		b := matrix.NewBuilder[int32](m, n)
		for range min(m*n/2, 300) {
			b.Add(rng.IntN(m), rng.IntN(n), int32(rng.IntN(9)+1))
		}
		a := sure.Get(b.Build(matrix.CombineFunc[int32](func(x, _ int32) int32 { return x })))
		for _, f := range []matrix.Format{matrix.CSR, matrix.Hypersparse, matrix.Bitmap} {
			a := a.Clone()
			sure.Do(a.SetFormat(f))
			ptr, idx, val, err := a.CSR()
			if err != nil || len(ptr) != m+1 {
				t.Fatalf("%v %v: %d offsets (%v)", dims, f, len(ptr), err)
			}
			c, err := matrix.FromCSR(m, n, slices.Clone(ptr), slices.Clone(idx), slices.Clone(val))
			if err != nil || !c.Equal(a) {
				t.Errorf("%v %v: CSR differs (%v)", dims, f, err)
			}
			if ptr, idx, val, err = a.CSC(); err != nil || len(ptr) != n+1 {
				t.Fatalf("%v %v: %d column offsets (%v)", dims, f, len(ptr), err)
			}
			if c, err = matrix.FromCSC(m, n, ptr, idx, val); err != nil || !c.Equal(a) {
				t.Errorf("%v %v: CSC differs (%v)", dims, f, err)
			}
			rows, cols, vals, err := a.Tuples()
			if err != nil {
				t.Fatal(err)
			}
			d := matrix.NewBuilder[int32](m, n)
			d.AddBlock(rows, cols, vals)
			if c, err = d.Build(nil); err != nil || !c.Equal(a) {
				t.Errorf("%v %v: Tuples differ (%v)", dims, f, err)
			}
			dense, err := a.Dense(-1)
			if err != nil || len(dense) != m*n {
				t.Fatalf("%v %v: %d values (%v)", dims, f, len(dense), err)
			}
			for p, x := range dense {
				want, ok := a.At(p/n, p%n)
				if !ok {
					want = -1
				}
				if x != want {
					t.Fatalf("%v %v: (%d, %d) is %d, want %d", dims, f, p/n, p%n, x, want)
				}
			}
		}
	}
	if _, err := matrix.FromCSC(2, 2, []int64{0, 1, 2}, []int32{0, 2}, []int{1, 1}); !errors.Is(err, matrix.ErrInvalid) {
		t.Errorf("a row out of range: %v", err)
	}
	var none *matrix.Matrix[int]
	if _, _, _, err := none.CSR(); err == nil {
		if r, _, _, _ := none.Tuples(); len(r) != 0 {
			t.Error("a nil matrix has tuples")
		}
	}
	if _, err := matrix.New[int](1<<30, 1<<30).Dense(0); !errors.Is(err, matrix.ErrSize) {
		t.Error("2⁶⁰ values are not refused")
	}
	one, err := matrix.Identity[float32](3)
	if err != nil || one.NVals() != 3 {
		t.Fatal(one, err)
	}
	if x, _ := one.At(2, 2); x != 1 {
		t.Error("the identity has another value than 1 on its diagonal")
	}
	if _, err := matrix.Identity[int](-1); err == nil {
		t.Error("−1 rows are not refused")
	}
}
