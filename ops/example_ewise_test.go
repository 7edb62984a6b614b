package ops_test

import (
	"fmt"
	"math"

	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// An entry of only one operand is copied, also by minus.
func ExampleEWiseAdd() {
	a := parse(
		"1 2 .",
		". 5 .")
	b := parse(
		"1 . 3",
		". 1 .")
	c := matrix.New[float64](2, 3)
	check(ops.EWiseAdd(c, semiring.Minus[float64](), a, b))
	show(c)
	// Output:
	// 0 2 3 |
	// . 4 . |
}

func ExampleEWiseMult() {
	a := parse("1 2 .")
	b := parse("5 6 7")
	c := matrix.New[float64](1, 3)
	check(ops.EWiseMult(c, semiring.Times[float64](), a, b))
	show(c)
	// The result may be of another type.
	less := matrix.New[bool](1, 3)
	check(ops.EWiseMult(less, semiring.Lt[float64](), a, b))
	show(less)
	// Output:
	// 5 12 . |
	// true true . |
}

// With 0 for absent entries, minus is subtraction.
func ExampleEWiseUnion() {
	a := parse("1 2 . .")
	b := parse("1 . 3 .")
	c := matrix.New[float64](1, 4)
	check(ops.EWiseUnion(c, semiring.Minus[float64](), a, 0, b, 0))
	show(c)
	// Output:
	// 0 2 -3 . |
}

func ExampleApply() {
	v := parseVector("4 . 9")
	check(ops.Apply(v, semiring.Sqrt[float64](), v))
	showVector(v)
	// Output:
	// 2 . 3 |
}

// Any function is an operator; with a CUDA form it runs on a GPU too.
func ExampleApply_function() {
	sigmoid := semiring.NewUnary("sigmoid", func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }, "1 / (1 + exp(-x))")
	v := parseVector("0 . 100")
	check(ops.Apply(v, sigmoid, v))
	showVector(v)
	// Output:
	// 0.5 . 1 |
}

func ExampleApplyFirst() {
	v, w := parseVector("1 2 ."), matrix.NewVector[float64](3)
	check(ops.ApplyFirst(w, semiring.Minus[float64](), 10, v))
	showVector(w)
	// Output:
	// 9 8 . |
}

func ExampleApplySecond() {
	v, w := parseVector("1 2 ."), matrix.NewVector[float64](3)
	check(ops.ApplySecond(w, semiring.Minus[float64](), v, 10))
	showVector(w)
	// Output:
	// -9 -8 . |
}

// The column of every entry, from 0.
func ExampleApplyIndex() {
	a := parse(
		"7 . 7",
		". 7 .")
	c := matrix.New[int32](2, 3)
	check(ops.ApplyIndex(c, semiring.ColIndex[float64](int32(0)), a))
	show(c)
	// Output:
	// 0 . 2 |
	// . 1 . |
}

func ExampleSelect() {
	a := parse(
		"1 2 3",
		"4 5 6",
		"7 8 9")
	c := matrix.New[float64](3, 3)
	check(ops.Select(c, semiring.Tril[float64](-1), a))
	show(c)
	check(ops.Select(c, semiring.ValueGT(6.5), a))
	show(c)
	// Output:
	// . . . |
	// 4 . . |
	// 7 8 . |
	// . . . |
	// . . . |
	// 7 8 9 |
}

// The sum of each row, and with A.T() the maximum of each column.
func ExampleReduce() {
	a := parse(
		"1 2 .",
		". . .",
		"5 . 7")
	rows, cols := matrix.NewVector[float64](3), matrix.NewVector[float64](3)
	check(ops.Reduce(rows, semiring.Plus[float64](), a))
	check(ops.Reduce(cols, semiring.Max[float64](), a.T()))
	showVector(rows)
	showVector(cols)
	// Output:
	// 3 . 12 |
	// 5 2 7 |
}

func ExampleReduceScalar() {
	sum, err := ops.ReduceScalar(semiring.Plus[float64](), parse("1 2", ". 4"))
	fmt.Println(sum, err)
	// Output:
	// 7 <nil>
}
