package ops_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"strings"

	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// parse returns the matrix of rows such as "1 . 2", where a dot means no entry.
func parse(rows ...string) *matrix.Matrix[float64] {
	b := matrix.NewBuilder[float64](len(rows), len(strings.Fields(rows[0])))
	for i, row := range rows {
		for j, field := range strings.Fields(row) {
			var x float64
			if _, err := fmt.Sscan(field, &x); err == nil {
				b.Add(i, j, x)
			}
		}
	}
	a, err := b.Build(nil)
	if err != nil {
		log.Fatal(err)
	}
	return a
}

// parseVector is parse for one vector.
func parseVector(row string) *matrix.Vector[float64] {
	v := matrix.NewVector[float64](len(strings.Fields(row)))
	if err := ops.ExtractRow(v, parse(row), 0, ops.All()); err != nil {
		log.Fatal(err)
	}
	return v
}

// show prints a matrix in the notation of parse.
func show[T comparable](a *matrix.Matrix[T]) {
	m, n := a.Dims()
	for i := range m {
		for j := range n {
			if x, ok := a.At(i, j); ok {
				fmt.Print(x, " ")
			} else {
				fmt.Print(". ")
			}
		}
		fmt.Println("|")
	}
}

func showVector[T comparable](v *matrix.Vector[T]) {
	for i := range v.Size() {
		if x, ok := v.At(i); ok {
			fmt.Print(x, " ")
		} else {
			fmt.Print(". ")
		}
	}
	fmt.Println("|")
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func ExampleMxM() {
	a := parse(
		"1 2 .",
		". 1 3")
	b := parse(
		"1 .",
		". 1",
		"2 .")
	c := matrix.New[float64](2, 2)
	check(ops.MxM(c, semiring.PlusTimes[float64](), a, b))
	show(c)
	// Output:
	// 1 2 |
	// 6 1 |
}

// The number of triangles of each edge of a graph: the common neighbours of its two ends. The mask
// restricts the result to the edges. No value is read.
func ExampleMxM_masked() {
	g := parse(
		". 1 1 1",
		"1 . 1 .",
		"1 1 . 1",
		"1 . 1 .")
	support := matrix.New[int64](4, 4)
	check(ops.MxM(support.Masked(g.Structure()), semiring.PlusPair[int64](), g.Pattern(), g.Pattern()))
	show(support)
	// Output:
	// . 1 2 1 |
	// 1 . 1 . |
	// 2 1 . 1 |
	// 1 . 1 . |
}

// The result is added to the destination, and the transpose of an operand is a view.
func ExampleMxM_accumulate() {
	a := parse(
		"1 2",
		". 1")
	c := parse(
		"10 .",
		". 10")
	check(ops.MxM(c.Accum(semiring.Plus[float64]()), semiring.PlusTimes[float64](), a, a.T()))
	show(c)
	// Output:
	// 15 2 |
	// 2 11 |
}

func ExampleMxV() {
	a := parse(
		"1 2 .",
		". . 3")
	w := matrix.NewVector[float64](2)
	check(ops.MxV(w, semiring.PlusTimes[float64](), a, parseVector("1 1 .")))
	showVector(w)
	// Output:
	// 3 . |
}

// A breadth-first search: each step goes from the frontier to the vertices without a level.
func ExampleVxM() {
	g := parse(
		". 1 1 .",
		". . . 1",
		"1 . . 1",
		". . . .")
	level, frontier := matrix.NewVector[int64](4), matrix.NewVector[bool](4)
	check(level.Set(0, 0))
	check(frontier.Set(0, true))
	for step := int64(1); frontier.NVals() > 0; step++ {
		check(ops.VxM(frontier.Masked(level.Structure().Not()).Replace(), semiring.AnyPair[bool](), frontier, g.Pattern()))
		check(ops.AssignVectorScalar(level.Masked(frontier.Structure()), step, ops.All()))
	}
	showVector(level)
	// Output:
	// 0 1 1 2 |
}

// The trace reports the method that ran and its number of products.
func ExampleWithTrace() {
	a := parse(
		"1 2",
		"3 4")
	var trace ops.Trace
	check(ops.MxM(matrix.New[float64](2, 2), semiring.PlusTimes[float64](), a, a, ops.Using(ops.Hash), ops.WithTrace(&trace)))
	fmt.Println(trace)
	// Output:
	// MxM plus_times: hash on cpu, 8 products, 4 entries
}

// An error names the invalid argument and the required shape.
func ExampleMxM_errors() {
	a, c := matrix.New[float64](2, 3), matrix.New[float64](2, 2)
	err := ops.MxM(c, semiring.PlusTimes[float64](), a, a)
	fmt.Println(errors.Is(err, matrix.ErrDimension))
	fmt.Println(err)
	// Output:
	// true
	// MxM: b is 2×3, want 3×any; the columns of a are the rows of b; perhaps one of them needs T()
}

func ExampleWithContext() {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	a := parse("1 2", "3 4")
	fmt.Println(ops.MxM(a, semiring.PlusTimes[float64](), a, a, ops.WithContext(ctx)))
	// Output:
	// context canceled
}
