package ops_test

import (
	"fmt"

	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

func ExampleTranspose() {
	c := matrix.New[float64](2, 1)
	check(ops.Transpose(c, parse("1 2")))
	show(c)
	// Output:
	// 1 |
	// 2 |
}

// Rows 2 and 0, and every column; a list may repeat an index.
func ExampleExtract() {
	a := parse(
		"1 2 .",
		". 5 .",
		"7 . 9")
	c := matrix.New[float64](2, 3)
	check(ops.Extract(c, a, ops.Of(2, 0), ops.All()))
	show(c)
	// Output:
	// 7 . 9 |
	// 1 2 . |
}

func ExampleExtractVector() {
	w := matrix.NewVector[float64](4)
	check(ops.ExtractVector(w, parseVector("1 2 . 4"), ops.Of(3, 3, 2, 0)))
	showVector(w)
	// Output:
	// 4 4 . 1 |
}

// The list is a vector: parents of parents.
func ExampleValuesOf() {
	parent, err := matrix.VectorOf([]int32{0, 0, 1, 2})
	check(err)
	grand := matrix.NewVector[int32](4)
	check(ops.ExtractVector(grand, parent, ops.ValuesOf(parent)))
	list, err := grand.Dense(-1)
	fmt.Println(list, err)
	// Output: [0 0 0 1] <nil>
}

// Entries of parallel edges (0, 1) and (2, 0) are added up.
func ExampleScatter() {
	c := matrix.New[float64](3, 2)
	check(ops.Scatter(c, semiring.Plus[float64](), parseVector("1 2 4 8"), ops.Of(0, 2, 0, 2), ops.Of(1, 0, 1, 0)))
	show(c)
	// Output:
	// . 5 |
	// . . |
	// 10 . |
}

// w(idx) min= u for a list that repeats 1.
func ExampleScatterVector() {
	w, low := parseVector("9 9 9 9"), semiring.Min[float64]()
	check(ops.ScatterVector(w.Accum(low), low, parseVector("7 5 3"), ops.Of(1, 0, 1)))
	showVector(w)
	// Output:
	// 5 3 9 9 |
}

// Row 1, and with T column 0.
func ExampleExtractRow() {
	a := parse(
		"1 2 .",
		". 5 6")
	row, column := matrix.NewVector[float64](3), matrix.NewVector[float64](2)
	check(ops.ExtractRow(row, a, 1, ops.All()))
	check(ops.ExtractRow(column, a.T(), 0, ops.All()))
	showVector(row)
	showVector(column)
	// Output:
	// . 5 6 |
	// 1 . |
}

// The region becomes equal to the operand: its other entries are deleted.
func ExampleAssign() {
	c := parse(
		"1 1 1",
		"1 1 1",
		"1 1 1")
	check(ops.Assign(c, parse(
		"5 .",
		". 6"), ops.Of(0, 2), ops.Span(0, 2)))
	show(c)
	// Output:
	// 5 . 1 |
	// 1 1 1 |
	// . 6 1 |
}

func ExampleAssignVector() {
	w := parseVector("1 1 1 1")
	check(ops.AssignVector(w.Accum(semiring.Plus[float64]()), parseVector("5 ."), ops.Of(3, 0)))
	showVector(w)
	// Output:
	// 1 1 1 6 |
}

// With a mask, a scalar is assigned at the positions of the mask.
func ExampleAssignScalar() {
	c := parse(
		"1 . 3",
		". 5 .")
	check(ops.AssignScalar(c.Masked(c.Structure().Not()), 0, ops.All(), ops.All()))
	show(c)
	// Output:
	// 1 0 3 |
	// 0 5 0 |
}

func ExampleAssignVectorScalar() {
	w := parseVector("1 . 3 .")
	check(ops.AssignVectorScalar(w, 9, ops.Of(1, 2)))
	showVector(w)
	// Output:
	// 1 9 9 . |
}

func ExampleKronecker() {
	c := matrix.New[float64](2, 4)
	check(ops.Kronecker(c, semiring.Times[float64](), parse("1 10"), parse(
		"1 2",
		". 3")))
	show(c)
	// Output:
	// 1 2 10 20 |
	// . 3 . 30 |
}
