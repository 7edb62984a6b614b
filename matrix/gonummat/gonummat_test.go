package gonummat_test

import (
	"errors"
	"fmt"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/matrix/gonummat"
)

func sparse(t testing.TB) *matrix.Matrix[float64] {
	a := sure.Get(matrix.FromTuples(3, 4, []int{0, 2, 2}, []int{3, 0, 1}, []float64{1, -2, 3}, nil))
	return a
}

func TestAsMat(t *testing.T) {
	a := sparse(t)
	m := gonummat.AsMat(a)
	want := mat.NewDense(3, 4, []float64{0, 0, 0, 1, 0, 0, 0, 0, -2, 3, 0, 0})
	if !mat.Equal(m, want) || !mat.Equal(m.T(), want.T()) {
		t.Errorf("got %v", mat.Formatted(m))
	}
	var product mat.Dense
	product.Mul(m, m.T())
	var wantProduct mat.Dense
	wantProduct.Mul(want, want.T())
	if !mat.Equal(&product, &wantProduct) {
		t.Errorf("product %v", mat.Formatted(&product))
	}
	for _, ij := range [][2]int{{-1, 0}, {3, 0}, {0, 4}, {0, -1}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("At%v does not panic, as gonum requires", ij)
				}
			}()
			m.At(ij[0], ij[1])
		}()
	}
	v := m.(gonummat.View[float64])
	var rows, cols string
	v.DoRowNonZero(2, func(i, j int, x float64) { rows += fmt.Sprint(i, j, x, ";") })
	v.DoColNonZero(1, func(i, j int, x float64) { cols += fmt.Sprint(i, j, x, ";") })
	if rows != "2 0 -2;2 1 3;" || cols != "2 1 3;" {
		t.Errorf("rows %q, columns %q", rows, cols)
	}
	if b, err := gonummat.FromMat(m); err != nil || b != a {
		t.Errorf("FromMat does not return the viewed matrix: %v", err)
	}
	ints, _ := matrix.FromDense(1, 2, []int8{1, -2})
	if gonummat.AsMat(ints).At(0, 1) != -2 {
		t.Error("wrong integer")
	}
}

func TestDenseShares(t *testing.T) {
	full, _ := matrix.FromDense(2, 3, []float64{1, 2, 3, 4, 5, 6})
	d, err := gonummat.ToDense(full)
	if err != nil {
		t.Fatal(err)
	}
	d.Set(1, 2, 60)
	if v, _ := full.At(1, 2); v != 60 {
		t.Error("a Full matrix does not share with its Dense")
	}
	back, err := gonummat.FromMat(d)
	if err != nil || back.Format() != matrix.Full || !back.Equal(full) {
		t.Fatalf("got %v, %v", back, err)
	}
	if err := back.Set(0, 0, 10); err != nil || d.At(0, 0) != 10 {
		t.Error("a Dense does not share with its matrix")
	}
	part := d.Slice(0, 2, 1, 3).(*mat.Dense) // its stride is 3
	cut, err := gonummat.FromMat(part)
	if err != nil || cut.Set(0, 0, 99) != nil || part.At(0, 0) == 99 || cut.NVals() != 4 {
		t.Errorf("a part of a Dense is not copied: %v, %v", cut, err)
	}
	row := d.Slice(1, 2, 0, 2).(*mat.Dense)
	if r, err := gonummat.FromMat(row); err != nil || r.NVals() != 2 {
		t.Errorf("a row of a Dense: %v, %v", r, err)
	}
	tr, err := gonummat.FromMat(d.T())
	if v, _ := tr.At(2, 1); err != nil || v != 60 {
		t.Errorf("a transposed Dense: %v, %v", tr, err)
	}
	s, err := gonummat.ToDense(sparse(t))
	if err != nil || s.At(2, 1) != 3 || s.At(0, 0) != 0 {
		t.Errorf("a sparse matrix: %v, %v", s, err)
	}
}

func TestSparseResult(t *testing.T) {
	a := sparse(t)
	d, _ := gonummat.ToDense(a)
	for _, m := range []mat.Matrix{d, gonummat.AsMat(a), d.T().T()} {
		b, err := gonummat.FromMatSparse(m)
		if err != nil || !b.Equal(a) || b.Format() != matrix.CSR {
			t.Errorf("got %v, %v", b, err)
		}
	}
	band := mat.NewDiagDense(3, []float64{1, 0, 3})
	b, err := gonummat.FromMatSparse(band)
	if err != nil || b.NVals() != 2 {
		t.Errorf("got %v, %v", b, err)
	}
}

func TestEmptyShapes(t *testing.T) {
	if d, err := gonummat.ToDense(matrix.New[float64](0, 0)); err != nil || !d.IsEmpty() {
		t.Errorf("0×0: %v, %v", d, err)
	}
	if _, err := gonummat.ToDense(matrix.New[float64](3, 0)); !errors.Is(err, matrix.ErrInvalid) {
		t.Errorf("3×0: %v", err)
	}
	if a, err := gonummat.FromMat(&mat.Dense{}); err != nil || a.NVals() != 0 {
		t.Errorf("empty Dense: %v, %v", a, err)
	}
	if v, err := gonummat.ToVecDense(matrix.NewVector[float64](0)); err != nil || !v.IsEmpty() {
		t.Errorf("empty vector: %v, %v", v, err)
	}
	if v, err := gonummat.FromVec(&mat.VecDense{}); err != nil || v.Size() != 0 {
		t.Errorf("empty VecDense: %v, %v", v, err)
	}
	if _, err := gonummat.ToDense(matrix.New[float64](-1, 0)); !errors.Is(err, matrix.ErrSize) {
		t.Errorf("a matrix with an error: %v", err)
	}
	if _, err := gonummat.ToVecDense(matrix.NewVector[float64](-1)); !errors.Is(err, matrix.ErrSize) {
		t.Errorf("a vector with an error: %v", err)
	}
	if _, err := gonummat.ToDense(matrix.New[float64](1<<31-1, 1<<31-1)); !errors.Is(err, matrix.ErrSize) {
		t.Errorf("a huge matrix: %v", err)
	}
}

func TestVectors(t *testing.T) {
	full, _ := matrix.VectorOf([]float64{1, 2, 3})
	d, err := gonummat.ToVecDense(full)
	if err != nil {
		t.Fatal(err)
	}
	d.SetVec(1, 20)
	if x, _ := full.At(1); x != 20 {
		t.Error("a Full vector does not share with its VecDense")
	}
	if back, err := gonummat.FromVec(d); err != nil || back.Set(0, 10) != nil || d.AtVec(0) != 10 {
		t.Error("a VecDense does not share with its vector")
	}
	m := mat.NewDense(2, 2, []float64{1, 2, 3, 4})
	col, err := gonummat.FromVec(m.ColView(1)) // increment 2
	if err != nil || fmt.Sprint(sure.Get(col.Dense(0))) != "[2 4]" {
		t.Errorf("a column: %v, %v", col, err)
	}
	sparse, _ := matrix.VectorFromTuples(4, []int{2}, []float64{5}, nil)
	s, err := gonummat.ToVecDense(sparse)
	if err != nil || s.AtVec(2) != 5 || s.AtVec(0) != 0 || s.Len() != 4 {
		t.Errorf("a sparse vector: %v, %v", s, err)
	}
}

func Example() {
	a, _ := matrix.FromTuples(2, 2, []int{0, 1}, []int{0, 1}, []float64{2, 4}, nil)
	var inverse mat.Dense
	if err := inverse.Inverse(gonummat.AsMat(a)); err != nil {
		fmt.Println(err)
		return
	}
	b, err := gonummat.FromMatSparse(&inverse)
	fmt.Println(b.Text(), err)
	// Output:
	// 2×2 csr matrix of float64, 2 entries
	//   0 │ 0:0.5
	//   1 │ 1:0.25 <nil>
}
