// Crawl looks for relevant pages of a web by walks that prefer promising links: a page is scored
// when a walk first sees a link to it, and greedy, stochastic and blind walks are compared.
//
//	go run ./examples/crawl
package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/generate"
	"github.com/hiveblas/hiveblas/matrix"
)

func main() {
	if err := run(os.Stdout, 20000, 200); err != nil {
		fmt.Fprintln(os.Stderr, "crawl:", err)
		os.Exit(1)
	}
}

// web is a graph of pages, a tenth of them relevant.
type web struct {
	links    *matrix.Matrix[float64]
	relevant []bool
	fetched  int // pages that were scored
}

// made returns a web of pages that link to their like: relevant pages belong to one community.
func made(pages int) (*web, error) {
	g, err := generate.Planted(pages, int64(5*pages), 10, 0.2, 4)
	if err != nil {
		return nil, err
	}
	links, err := generate.Matrix[float64](g, generate.Undirected(), generate.Simple())
	if err != nil {
		return nil, err
	}
	w := &web{links: links, relevant: make([]bool, pages)}
	for v := range w.relevant {
		w.relevant[v] = g.Community(v) == 3
	}
	return w, nil
}

// score stands for a classifier of texts: it is right but for some noise.
func (w *web) score(pages []int, scores []float64) error {
	for k, v := range pages {
		scores[k] = 0.3 * rand.New(rand.NewPCG(uint64(v), 0)).Float64()
		if w.relevant[v] {
			scores[k]++
		}
	}
	w.fetched += len(pages)
	return nil
}

// crawl walks from the given pages and returns the numbers of relevant pages visited and of all
// pages visited.
func (w *web) crawl(rule apps.SearchRule, starts []int, length int) (relevant, visited int, err error) {
	seen := map[int32]bool{}
	w.fetched = 0
	_, err = apps.GraphSearch(w.links, apps.ScoreFunc(0, w.score), starts, apps.SearchOptions{
		Rule: rule, Length: length, Seed: 1, NonBacktracking: true, Restart: 0.05,
		Each: func(block apps.SearchBlock) error {
			for k := range block.Walks() {
				for _, v := range block.Walk(k) {
					seen[v] = true
				}
			}
			return nil
		},
	})
	for v := range seen {
		if w.relevant[v] {
			relevant++
		}
	}
	return relevant, len(seen), err
}

// run compares the rules on a web of so many pages, with walks of a length from ten pages.
func run(out io.Writer, pages, length int) error {
	w, err := made(pages)
	if err != nil {
		return err
	}
	var starts []int
	for k := range 10 {
		starts = append(starts, k*pages/10)
	}
	for _, rule := range []apps.SearchRule{apps.SearchUniform, apps.SearchStochastic, apps.SearchGreedy} {
		relevant, visited, err := w.crawl(rule, starts, length)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%-10s %d relevant of %d visited, %d scored\n", rule, relevant, visited, w.fetched)
	}
	return nil
}
