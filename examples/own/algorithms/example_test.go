package algorithms_test

import (
	"fmt"

	"github.com/hiveblas/hiveblas/examples/own/algorithms"
	"github.com/hiveblas/hiveblas/matrix"
)

// Tickets on a line with a detour: 3 is nearer by three stops than by the express.
func ExampleReach() {
	costs, err := matrix.FromTuples(4, 4, []int{0, 1, 2, 0}, []int{1, 2, 3, 3}, []int32{2, 2, 2, 9}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, hops := range []int64{1, 3} {
		cost, err := algorithms.Reach(costs, 0, hops, 10)
		if err != nil {
			fmt.Println(err)
			return
		}
		x, err := cost.Value(3)
		fmt.Println(hops, "hops:", x, err)
	}
	// Output:
	// 1 hops: 9 <nil>
	// 3 hops: 6 <nil>
}
