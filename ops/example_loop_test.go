package ops_test

import (
	"fmt"

	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// Breadth-first search as a loop with an operand as its condition. With matrices on a GPU, given by
// matrix.On, the same lines run there as one kernel.
func ExampleSteps_While() {
	a, err := matrix.FromTuples(4, 4, []int{0, 0, 1, 2}, []int{1, 2, 3, 3}, []bool{true, true, true, true}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	level, depth := matrix.NewVector[int32](4), matrix.ScalarOf[int32](0)
	frontier := matrix.NewVector[bool](4)
	unvisited := level.Structure().Not()
	var s ops.Steps
	s.Do(frontier.Set(0, true))
	for in := range s.While(frontier) {
		s.Do(ops.AssignVectorFrom(level.Masked(frontier.Structure()), depth, ops.All(), in))
		s.Do(ops.VxM(frontier.Masked(unvisited).Replace(), semiring.AnyPair[bool](), frontier.Pattern(), a.Pattern(), in))
		s.Do(ops.ApplySecond(depth, semiring.Plus[int32](), depth, 1, in))
	}
	for v, depth := range level.All() {
		fmt.Println(v, depth)
	}
	fmt.Println(s.Err())
	// Output:
	// 0 0
	// 1 1
	// 2 1
	// 3 2
	// <nil>
}

// A loop with a branch in its body: the halves of a number, and three times the odd ones and one.
// On a GPU the loop and the branches are one kernel.
func ExampleSteps_If() {
	x, more := matrix.ScalarOf[int32](3), matrix.ScalarOf(true)
	odd, even := matrix.NewScalar[bool](), matrix.NewScalar[bool]()
	and := semiring.NewBinary("and", func(x, y int32) bool { return x&y != 0 }, "(x & y) != 0")
	passes := matrix.ScalarOf[int32](0)
	var s ops.Steps
	for in := range s.While(more) {
		s.Do(ops.ApplySecond(odd, and, x, 1, in))
		s.Do(ops.Apply(even, semiring.Lnot(), odd, in))
		for in := range s.If(odd, in) {
			s.Do(ops.ApplySecond(x, semiring.Times[int32](), x, 3, in))
			s.Do(ops.ApplySecond(x, semiring.Plus[int32](), x, 1, in))
		}
		for in := range s.If(even, in) {
			s.Do(ops.ApplySecond(x, semiring.Div[int32](), x, 2, in))
		}
		s.Do(ops.ApplySecond(passes, semiring.Plus[int32](), passes, 1, in))
		s.Do(ops.ApplySecond(more, semiring.Ne[int32](), x, 1, in))
	}
	n, err := passes.Value()
	fmt.Println(n, err, s.Err())
	// Output: 7 <nil> <nil>
}

// A scalar keeps a sum where it is computed, for the operations that follow.
func ExampleReduceInto() {
	v, err := matrix.VectorOf([]float64{1, 2, 5})
	if err != nil {
		fmt.Println(err)
		return
	}
	sum, part := matrix.NewScalar[float64](), matrix.NewVector[float64](3)
	var s ops.Steps
	s.Do(ops.ReduceInto(sum, semiring.Plus[float64](), v))
	s.Do(ops.ApplySecondFrom(part, semiring.Div[float64](), v, sum))
	s.Do(ops.SelectFrom(part, semiring.Gt[float64](), part, matrix.ScalarOf(0.2)))
	x, err := sum.Value()
	fmt.Println(x, err)
	for i, y := range part.All() {
		fmt.Println(i, y)
	}
	fmt.Println(s.Err())
	// Output:
	// 8 <nil>
	// 1 0.25
	// 2 0.625
	// <nil>
}
