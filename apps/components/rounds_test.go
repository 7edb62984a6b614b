package components

import (
	"fmt"
	"testing"

	"github.com/hiveblas/hiveblas/apps/internal/frontier"
	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/splitmix"
)

// Rounds of several threads find the forest of the edges in order.
func TestForestByRounds(t *testing.T) {
	for _, weights := range []uint64{1, 5, 1 << 40} {
		t.Run(fmt.Sprint(weights, " weights"), func(t *testing.T) {
			samples.CompareWaves(t, func(g *workflow.Adjacency, run workflow.Run) ([]float64, error) {
				return linkFigures(forestInOrder(testLinks(g, weights), g.N, run))
			}, func(g *workflow.Adjacency, run workflow.Run, shares frontier.WaveShares) ([]float64, error) {
				return linkFigures(forestByRounds(testLinks(g, weights), g.N, run, int(shares.Grain)))
			})
		})
	}
}

// testLinks are the edges of a graph with few different weights.
func testLinks(g *workflow.Adjacency, weights uint64) (list []link) {
	for v := range int32(g.N) {
		for _, u := range g.Of(v) {
			if u != v {
				x := splitmix.Mix(uint64(min(u, v)*7 + max(u, v)))
				list = append(list, link{float64(uint64(x) % weights), min(u, v), max(u, v)})
			}
		}
	}
	return list
}

func linkFigures(list []link, err error) (figures []float64, _ error) {
	for _, e := range list {
		figures = append(figures, e.weight, float64(e.u), float64(e.v))
	}
	return figures, err
}
