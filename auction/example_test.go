package auction_test

import (
	"fmt"

	"github.com/hiveblas/hiveblas/auction"
	"github.com/hiveblas/hiveblas/matrix"
)

// Three people, three jobs, and the price of each person for each job.
func ExampleSolve() {
	costs, _ := matrix.FromDense(3, 3, []int{
		4, 1, 3,
		2, 0, 5,
		3, 2, 2,
	})
	res, _ := auction.Solve(auction.Dense[int](costs), auction.Options{})
	fmt.Println(res.Row, res.Sum)
	// Output: [1 0 2] 5
}

// Pairs without an entry count 0, and are not stored.
func ExampleImplicit() {
	similarity, _ := matrix.FromTuples(3, 3, []int{0, 1}, []int{2, 2}, []int{5, 7}, nil)
	res, _ := auction.Solve(auction.Implicit[int](similarity, 0), auction.Options{Maximize: true})
	fmt.Println(res.Row[1], res.Sum)
	// Output: 2 7
}

// Both rows can only have the first column.
func ExampleInfeasibleError() {
	costs, _ := matrix.FromTuples(2, 2, []int{0, 1}, []int{0, 0}, []int{1, 1}, nil)
	_, err := auction.Solve(auction.Sparse[int](costs), auction.Options{})
	fmt.Println(err)
	// Output: no assignment is allowed: the 2 rows 0, 1 have together 1 columns; allow more pairs, or give missing entries a default cost
}

// The value of a column less its price decides. Prices can be reused for a similar
// problem.
func ExampleJonkerVolgenant() {
	costs, _ := matrix.FromDense(2, 2, []int{1, 2, 1, 4})
	res, _ := auction.JonkerVolgenant(auction.Dense[int](costs), auction.Options{})
	fmt.Println(res.Row, res.Value, res.Gap, res.Method)
	// Output: [1 0] 3 0 jonker-volgenant
}

func ExampleSolveBatch() {
	a, _ := matrix.FromDense(1, 2, []int{3, 1})
	b, _ := matrix.FromDense(2, 2, []int{1, 1, 0, 5})
	results, _ := auction.SolveBatch([]*auction.Problem{auction.Dense[int](a), auction.Dense[int](b)}, auction.Options{})
	fmt.Println(results[0].Sum, results[1].Sum)
	// Output: 1 1
}
