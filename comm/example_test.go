package comm_test

import (
	"context"
	"fmt"
	"sync"

	"github.com/hiveblas/hiveblas/comm"
)

// Three ranks gather blocks of different lengths, and count the bytes.
func ExampleLocal() {
	group, err := comm.Local(3)
	if err != nil {
		fmt.Println(err)
		return
	}
	counts := []int{2, 0, 1}
	blocks := [][]int32{{10, 11}, {}, {12}}
	var wait sync.WaitGroup
	for r, c := range group {
		wait.Go(func() {
			defer c.Close()
			all := make([]int32, 3)
			err := c.AllGatherV(context.Background(), comm.Host(all), counts, comm.Host(blocks[r]))
			if r == 1 {
				fmt.Println(all, err, c.Ledger().Total().In, "bytes received")
			}
		})
	}
	wait.Wait()
	// Output: [10 11 12] <nil> 12 bytes received
}

// A sum of fixed blocks has the same bits for every number of ranks.
func ExampleFoldBlocks() {
	values := []float32{1e8, 1, -1e8, 1} // one for each block of the problem
	for _, counts := range [][]int{{4}, {2, 2}, {1, 0, 3}} {
		group, err := comm.Local(len(counts))
		if err != nil {
			fmt.Println(err)
			return
		}
		sums := make([]float32, len(counts))
		var wait sync.WaitGroup
		first := 0
		for r, c := range group {
			own := values[first : first+counts[r]]
			first += counts[r]
			wait.Go(func() {
				sums[r], _ = comm.FoldBlocks(context.Background(), c, own, counts, 0, func(a, b float32) float32 { return a + b })
			})
		}
		wait.Wait()
		fmt.Println(sums)
	}
	// Output:
	// [1]
	// [1 1]
	// [1 1 1]
}
