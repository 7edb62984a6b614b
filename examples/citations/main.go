// Citations classifies papers by what they cite: GraphSAGE learns from the few papers with a known
// subject, and from the words of all.
//
//	go run ./examples/citations
package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"

	"github.com/hiveblas/hiveblas/apps"
	_ "github.com/hiveblas/hiveblas/apps/sage/openblas"
	"github.com/hiveblas/hiveblas/generate"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

func main() {
	if err := run(os.Stdout, 1000, 60); err != nil {
		fmt.Fprintln(os.Stderr, "citations:", err)
		os.Exit(1)
	}
}

const (
	subjects = 4
	words    = 60
)

// made returns citations among papers, a row of words for each, and their subjects. Papers cite
// their own subject three times in four, and share words with it half of the time.
func made(papers int) (*matrix.Matrix[float64], *matrix.Matrix[float32], []int32, error) {
	g, err := generate.Planted(papers, int64(4*papers), subjects, 0.25, 11)
	if err != nil {
		return nil, nil, nil, err
	}
	citations, err := generate.Matrix[float64](g, generate.Undirected(), generate.Simple())
	if err != nil {
		return nil, nil, nil, err
	}
	r := rand.New(rand.NewPCG(12, 13))
	b := matrix.NewBuilder[float32](papers, words)
	subject := make([]int32, papers)
	for v := range papers {
		subject[v] = int32(g.Community(v))
		for range 6 {
			word := r.IntN(words)
			if r.IntN(2) == 0 {
				word = int(subject[v])*words/subjects + r.IntN(words/subjects)
			}
			b.Add(v, word, 1)
		}
	}
	text, err := b.Build(semiring.Max[float32]())
	return citations, text, subject, err
}

// run trains on a tenth of the papers and writes the accuracy on the others.
func run(out io.Writer, papers, epochs int) error {
	citations, text, subject, err := made(papers)
	if err != nil {
		return err
	}
	var split apps.SAGESplit
	for v := range papers {
		switch v % 10 {
		case 0:
			split.Train = append(split.Train, v)
		case 1:
			split.Validate = append(split.Validate, v)
		default:
			split.Test = append(split.Test, v)
		}
	}
	training, err := apps.TrainGraphSAGE(citations, text, subject, split, apps.SAGETrainOptions{
		Hidden: []int{16, 16}, Epochs: epochs, Seed: 1,
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "accuracy %.3f on %d papers, trained on %d in %d epochs\n",
		training.Test, len(split.Test), len(split.Train), training.Epochs)
	return nil
}
