// Fraud finds rings of accounts that pay each other: edges of a k-truss are in many triangles,
// which payments at random hardly form, and label propagation on the truss names the rings.
//
//	go run ./examples/fraud [payments.tsv]
package main

import (
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/generate"
	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

func main() {
	payments, err := made(5000, 20000, []int{100, 1700, 4000}, 9)
	if len(os.Args) > 1 {
		payments, _, err = graphio.ReadFile[float64](os.Args[1], graphio.Symmetrise())
	}
	if err == nil {
		err = run(os.Stdout, payments, 6)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "fraud:", err)
		os.Exit(1)
	}
}

// made returns random payments among accounts, with a ring of the given size from each of first on:
// its accounts all pay each other.
func made(accounts int, payments int64, first []int, size int) (*matrix.Matrix[float64], error) {
	g, err := generate.Uniform(accounts, payments, 7)
	if err != nil {
		return nil, err
	}
	a, err := generate.Matrix[float64](g, generate.Undirected(), generate.Simple())
	if err != nil {
		return nil, err
	}
	b := matrix.NewBuilder[float64](accounts, accounts)
	for _, from := range first {
		for i := range size {
			for j := range size {
				if i != j {
					b.Add(from+i, from+j, 1)
				}
			}
		}
	}
	rings, err := b.Build(nil)
	if err != nil {
		return nil, err
	}
	return a, ops.EWiseAdd(a, semiring.Max[float64](), a, rings)
}

// run writes the rings in the k-truss of the payments.
func run(out io.Writer, payments *matrix.Matrix[float64], k int) error {
	rings, err := ringsOf(payments, k)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d rings\n", len(rings))
	for _, ring := range rings {
		fmt.Fprintf(out, "%d accounts: %v\n", len(ring), ring)
	}
	return nil
}

// ringsOf returns the communities of the k-truss, each in ascending order.
func ringsOf(payments *matrix.Matrix[float64], k int) ([][]int, error) {
	truss, err := apps.KTruss(payments, k)
	if err != nil {
		return nil, err
	}
	labels, err := apps.LabelPropagation(truss)
	if err != nil {
		return nil, err
	}
	members := map[int32][]int{}
	accounts, _ := payments.Dims()
	degree := matrix.NewVector[int64](accounts)
	if err := ops.Reduce(degree, semiring.Plus[int64](), truss); err != nil {
		return nil, err
	}
	for v := range degree.All() { // the accounts of the truss
		label, _ := labels.Label.At(v)
		members[label] = append(members[label], v)
	}
	var rings [][]int
	for _, ring := range members {
		rings = append(rings, ring)
	}
	slices.SortFunc(rings, func(a, b []int) int { return a[0] - b[0] })
	return rings, nil
}
