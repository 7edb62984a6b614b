// Recommend suggests films from ratings: films are similar if the same people rate them, and a
// person is offered the films that are most similar to the rated ones, weighted by the ratings.
//
//	go run ./examples/recommend [ratings.mtx]
//
// The file has a row for each person and a column for each film. Without one, the program makes up
// two groups of people with a taste each.
package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

func main() {
	ratings, err := made(200, 60, 8)
	if len(os.Args) > 1 {
		ratings, _, err = graphio.ReadFile[float64](os.Args[1])
	}
	if err == nil {
		err = run(os.Stdout, ratings, 3)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "recommend:", err)
		os.Exit(1)
	}
}

// made returns ratings of people for films. The first half of the people rate films of the first
// half, the others films of the second.
func made(people, films, each int) (*matrix.Matrix[float64], error) {
	r := rand.New(rand.NewPCG(1, 2))
	b := matrix.NewBuilder[float64](people, films)
	for p := range people {
		first := 0
		if p >= people/2 {
			first = films / 2
		}
		for range each {
			b.Add(p, first+r.IntN(films/2), float64(3+r.IntN(3)))
		}
	}
	return b.Build(semiring.Max[float64]())
}

// run writes the top films for the first and the last person.
func run(out io.Writer, ratings *matrix.Matrix[float64], top int) error {
	best, err := recommend(ratings, top)
	if err != nil {
		return err
	}
	people, _ := ratings.Dims()
	for _, p := range []int{0, people - 1} {
		fmt.Fprintf(out, "person %d:", p)
		for film, score := range best.Row(p) {
			fmt.Fprintf(out, " film %d (%.2f)", film, score)
		}
		fmt.Fprintln(out)
	}
	return nil
}

// recommend returns for each person the top films that are not rated yet:
//
//	S = similarity of films;   C⟨¬R⟩ = R +.× S;   the top of each row
func recommend(ratings *matrix.Matrix[float64], top int) (*matrix.Matrix[float64], error) {
	similar, err := apps.Similarity(ratings.T(), apps.SimilarityOptions{Measure: apps.Cosine, Top: 20})
	if err != nil {
		return nil, err
	}
	people, films := ratings.Dims()
	scores := matrix.New[float64](people, films)
	var s ops.Steps
	s.Do(ops.MxM(scores.Masked(ratings.Structure().Not()), semiring.PlusTimes[float64](), ratings, similar))
	s.Do(ops.TopK(scores, scores, top))
	return scores, s.Err()
}
