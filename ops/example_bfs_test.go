package ops_test

import (
	"fmt"

	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// A breadth-first search without [ops.Steps]: each step moves the frontier to its unvisited
// neighbours. The README and ExampleSteps show the search with Steps.
func Example_breadthFirstSearch() {
	A, err := matrix.FromTuples(4, 4, []int{0, 0, 1, 2}, []int{1, 2, 3, 3}, []bool{true, true, true, true}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	level := matrix.NewVector[int32](4)
	frontier := matrix.NewVector[bool](4)
	err = frontier.Set(0, true)
	for depth := int32(0); err == nil && frontier.NVals() > 0; depth++ {
		err = ops.AssignVectorScalar(level.Masked(frontier.Structure()), depth, ops.All())
		if err == nil {
			err = ops.VxM(frontier.Masked(level.Structure().Not()).Replace(),
				semiring.AnyPair[bool](), frontier.Pattern(), A.Pattern())
		}
	}
	for v, depth := range level.All() {
		fmt.Println(v, depth)
	}
	fmt.Println(err)
	// Output:
	// 0 0
	// 1 1
	// 2 1
	// 3 2
	// <nil>
}
