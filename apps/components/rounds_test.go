package components

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/hiveblas/hiveblas/apps/internal/frontier"
	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/splitmix"
)

// Forests in order and by rounds, with few light edges and many, are the forest of all edges in
// ascending order.
func TestForests(t *testing.T) {
	for _, weights := range []uint64{1, 5, 1 << 40} {
		for _, many := range []bool{false, true} {
			for k, few := range []int{1, 100} {
				if !longtest.Takes(k+int(weights%3)+len(fmt.Sprint(many)), 4) {
					continue
				}
				symmetric := many == (few == 1)
				t.Run(fmt.Sprint(weights, " weights, many ", many, ", few ", few, ", symmetric ", symmetric), func(t *testing.T) {
					samples.CompareWaves(t, func(g *workflow.Adjacency, _ workflow.Run) ([]float64, error) {
						return linkFigures(forestNaively(testWeights(g, weights)), nil)
					}, func(g *workflow.Adjacency, run workflow.Run, shares frontier.WaveShares) ([]float64, error) {
						list := testWeights(g, weights)
						list.symmetric = symmetric
						f := newForest(g.N, run, many, int(shares.Grain), few)
						err := f.addAll(list)
						return linkFigures(f.edges, err)
					})
				})
			}
		}
	}
}

// Lists of edges are sorted by any weights, with the places of equal weights in any order.
func TestSortLinks(t *testing.T) {
	weights := []float64{0, math.Copysign(0, -1), 1, -1, 1.5, -1.5, 1e300, -1e300, 1e-300, math.Inf(1), math.Inf(-1), math.Pi}
	for _, n := range []int{0, 1, 20, fewLinks, 3 * fewLinks} {
		for turn := range 3 {
			var list []link
			for k := range n {
				x := splitmix.Mix(uint64(k))
				e := link{weights[x%uint64(len(weights))], int32(x >> 32 & 63), 64 + int32(x>>40&63)}
				if turn == 1 {
					e.weight = math.Float64frombits(x &^ (1 << 62)) // any but NaN and infinite
				} else if turn == 2 {
					e.u, e.v = int32(k), int32(k+1)
				}
				list = append(list, e)
			}
			want := slices.Clone(list)
			slices.SortStableFunc(want, link.compare)
			got := sortLinks(list, make([]link, n))
			if !slices.EqualFunc(got, want, func(a, b link) bool { return a.compare(b) == 0 }) {
				t.Errorf("%d edges, turn %d: not in order", n, turn)
			}
		}
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

// testWeights gives the edges of a graph few different weights, equal in both directions.
func testWeights(g *workflow.Adjacency, weights uint64) *weighted {
	w := &weighted{"test", g, make([]float64, len(g.Idx)), 1, false}
	for v := range int32(g.N) {
		for k := g.Ptr[v]; k < g.Ptr[v+1]; k++ {
			u := g.Idx[k]
			w.weight[k] = float64(splitmix.Mix(uint64(min(u, v)*7+max(u, v))) % weights)
		}
	}
	return w
}

// forestNaively joins the vertices of ascending edges.
func forestNaively(g *weighted) (edges []link) {
	var list []link
	tree := make([]int, g.N)
	for v := range int32(g.N) {
		tree[v] = int(v)
		for k := g.Ptr[v]; k < g.Ptr[v+1]; k++ {
			list = append(list, g.link(v, k))
		}
	}
	slices.SortFunc(list, link.compare)
	for _, e := range list {
		if from, to := tree[e.u], tree[e.v]; from != to {
			edges = append(edges, e)
			for v := range tree {
				if tree[v] == from {
					tree[v] = to
				}
			}
		}
	}
	return edges
}

func linkFigures(list []link, err error) (figures []float64, _ error) {
	for _, e := range list {
		figures = append(figures, e.weight, float64(e.u), float64(e.v))
	}
	return figures, err
}
