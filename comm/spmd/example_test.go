package spmd_test

import (
	"context"
	"fmt"
	"log"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/comm/spmd"
)

// Three ranks add up the squares below 1000, a range of them each.
func Example() {
	group, err := comm.LocalGroup(3)
	if err != nil {
		log.Fatal(err)
	}
	defer group.Close()
	s := spmd.Begin(context.Background(), group, "sum of squares")
	cuts := spmd.CutEvenly(1000, group.Size(), 1, 1)
	own := make([][]int64, len(group.Ranks())) // of the ranks of this process
	err = s.Apart(func(_ context.Context, k int, c comm.Comm) error {
		sum := int64(0)
		for x := cuts[c.Rank()]; x < cuts[c.Rank()+1]; x++ {
			sum += x * x
		}
		own[k] = []int64{sum}
		return nil
	})
	if err == nil {
		err = spmd.ReduceAll(s, own, comm.Sum)
	}
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(own[0][0])
	// Output: 332833500
}
