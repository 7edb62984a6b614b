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

// Trees that threads join in small pieces have the least labels of rounds over all edges.
func TestHostForest(t *testing.T) {
	for _, skip := range []bool{false, true} {
		t.Run(fmt.Sprint("skip ", skip), func(t *testing.T) {
			samples.CompareWaves(t, func(g *workflow.Adjacency, run workflow.Run) ([]float64, error) {
				label := make(trees, g.N)
				for v := range label {
					label[v] = int32(v)
				}
				for changed := true; changed; {
					changed = false
					for v := range int32(g.N) {
						for _, u := range g.Of(v) {
							if label[u] < label[v] {
								label[v], changed = label[u], true
							}
						}
					}
				}
				size, largest := map[int32]int64{}, int64(0)
				for _, l := range label {
					size[l]++
					largest = max(largest, size[l])
				}
				return labelFigures(label, len(size), largest), nil
			}, func(g *workflow.Adjacency, run workflow.Run, shares frontier.WaveShares) ([]float64, error) {
				if g.N == 0 {
					return []float64{0, 0}, nil
				}
				f := newHostForest(g, g.N, 0, g.N, run)
				f.grain = int(shares.Grain)
				err := f.plant()
				f.joinRows(skip)
				count, largest := f.count()
				return labelFigures(f.up, count, largest), err
			})
		})
	}
}

func labelFigures(label trees, count int, largest int64) []float64 {
	figures := []float64{float64(count), float64(largest)}
	for _, l := range label {
		figures = append(figures, float64(l))
	}
	return figures
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
