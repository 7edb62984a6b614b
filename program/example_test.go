package program_test

import (
	"context"
	"fmt"

	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/program"
	"github.com/hiveblas/hiveblas/semiring"
)

// The widest path from vertex 0: the least capacity along it is as large as possible.
func ExampleRun() {
	g, err := matrix.FromTuples(4, 4, []int{0, 0, 1, 2}, []int{1, 2, 2, 3}, []int32{5, 2, 4, 9}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	res, err := program.Run(context.Background(), g, program.Program[int32, int32, int32]{
		Init:   program.Value(int32(0)),
		Seeds:  program.At(0, int32(100)),
		Gather: program.Gather(func(src, _, capacity int32) int32 { return min(src, capacity) }, "min(src, weight)"),
		Sum:    semiring.Max[int32](),
		Apply: program.Apply(func(_ program.Vertex, width, sum int32) (int32, bool) {
			return max(width, sum), sum > width
		}, "active = sum > state; if (active) state = sum;"),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for v, width := range res.State.All() {
		fmt.Println(v, width)
	}
	fmt.Println(res.Supersteps, "supersteps:", res.Ended)
	// Output:
	// 0 100
	// 1 5
	// 2 4
	// 3 4
	// 4 supersteps: no active vertex
}
