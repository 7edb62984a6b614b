// Deanonymise names the vertices of an anonymous copy of a network: some edges are lost, the
// numbers are shuffled, a few people are known in both, and seeded graph matching finds the others.
//
//	go run ./examples/deanonymise [network.mtx]
package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/generate"
	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/matrix"
)

func main() {
	network, err := made(1000)
	if len(os.Args) > 1 {
		network, _, err = graphio.ReadFile[float64](os.Args[1], graphio.Symmetrise())
	}
	if err == nil {
		err = run(os.Stdout, network, 20, 0.02)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "deanonymise:", err)
		os.Exit(1)
	}
}

// made returns a small world of n people.
func made(n int) (*matrix.Matrix[float64], error) {
	g, err := generate.WattsStrogatz(n, 5, 0.3, 3)
	if err != nil {
		return nil, err
	}
	return generate.Matrix[float64](g, generate.Undirected(), generate.Simple())
}

// anonymous returns a copy of an undirected network without a share of its edges, and the number
// that each vertex has in it.
func anonymous(network *matrix.Matrix[float64], lost float64) (*matrix.Matrix[float64], []int, error) {
	n, _ := network.Dims()
	r := rand.New(rand.NewPCG(5, 6))
	number := r.Perm(n)
	b := matrix.NewBuilder[float64](n, n)
	for at, x := range network.All() {
		if at.Row < at.Col && r.Float64() >= lost {
			b.Add(number[at.Row], number[at.Col], x)
			b.Add(number[at.Col], number[at.Row], x)
		}
	}
	copied, err := b.Build(nil)
	return copied, number, err
}

// run makes an anonymous copy, matches it with some seeds, and writes how many vertices it names
// rightly.
func run(out io.Writer, network *matrix.Matrix[float64], seeds int, lost float64) error {
	copied, number, err := anonymous(network, lost)
	if err != nil {
		return err
	}
	var known []apps.SeedPair
	for v := range seeds {
		known = append(known, apps.SeedPair{A: v, B: number[v]})
	}
	res, err := apps.SGM(network, copied, known, apps.SGMOptions{HardSeeds: true})
	if err != nil {
		return err
	}
	right := 0
	for v, u := range res.Match.All() {
		if int(u) == number[v] {
			right++
		}
	}
	fmt.Fprintf(out, "%d of %d named rightly, %.0f edges disagree\n", right, len(number), res.After/2)
	return nil
}
