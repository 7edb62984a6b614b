package matrix_test

import (
	"fmt"

	"github.com/hiveblas/hiveblas/matrix"
)

func Example() {
	a, err := matrix.FromTuples(3, 3, []int{0, 0, 2}, []int{1, 2, 0}, []float64{1, 2, 3}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, row := range a.Rows() {
		for j, v := range row.All() {
			fmt.Println(i, j, v)
		}
	}
	fmt.Println(a.T())
	// Output:
	// 0 1 1
	// 0 2 2
	// 2 0 3
	// 3×3 transposed view of float64, 3 entries
}

func ExampleBuilder() {
	b := matrix.NewBuilder[int](2, 2)
	b.Add(1, 0, 5)
	b.Add(0, 1, 1)
	b.Add(0, 1, 2)
	_, err := b.Build(nil)
	fmt.Println(err)

	// The builder keeps the tuples.
	a, err := b.Build(matrix.CombineFunc[int](func(x, y int) int { return x + y }))
	fmt.Println(a.Text(), err)
	// Output:
	// duplicate entry at row 0, column 1; give Build an operator such as semiring.Plus to combine duplicates
	// 2×2 csr matrix of int, 2 entries
	//   0 │ 1:3
	//   1 │ 0:5 <nil>
}

func ExampleFromCSR() {
	a, err := matrix.FromCSR(2, 3, []int64{0, 2, 3}, []int32{0, 2, 1}, []float64{1, 2, 3})
	fmt.Println(a.Text(), err)
	_, err = matrix.FromCSR(2, 3, []int64{0, 2, 3}, []int32{2, 0, 1}, []float64{1, 2, 3})
	fmt.Println(err)
	// Output:
	// 2×3 csr matrix of float64, 3 entries
	//   0 │ 0:1 2:2
	//   1 │ 1:3 <nil>
	// matrix.FromCSR: row 0: column 0 after 2, want ascending within 0…2
}

func ExampleDiag() {
	v, _ := matrix.VectorOf([]int{1, 2})
	a, err := matrix.Diag(v, 1)
	fmt.Println(a.Text(), err)
	// Output:
	// 3×3 csr matrix of int, 2 entries
	//   0 │ 1:1
	//   1 │ 2:2 <nil>
}

func ExampleMatrix_SetFormat() {
	a, _ := matrix.FromTuples(2, 2, []int{0}, []int{1}, []int{7}, nil)
	fmt.Println(a.SetFormat(matrix.Full))
	fmt.Println(a.SetFormat(matrix.Bitmap), a)
	// Output:
	// Matrix.SetFormat: a full matrix has an entry at each of its 4 positions, this one has 1; fill the rest first (ops.Assign) or use Bitmap
	// <nil> 2×2 bitmap matrix of int, 1 entry
}

func ExampleNew() {
	a := matrix.New[bool](1<<31-1, 1<<31-1)
	fmt.Println(a.Set(1_000_000_000, 2_000_000_000, true), a)
	fmt.Println(matrix.New[bool](-1, 2).Err())
	// Output:
	// <nil> 2147483647×2147483647 hypersparse matrix of bool, 1 entry
	// matrix.New: number of rows is -1, want 0…2147483647
}
