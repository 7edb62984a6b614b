package reference

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/internal/longtest"
)

// graphs are undirected graphs with their weights.
func graphs() map[string]struct {
	Graph
	weight []float64
} {
	all := map[string]gen.Tuples{
		"nothing":  {NRows: 3, NCols: 3},
		"grid":     gen.Grid2D(40, 70),
		"path":     gen.Grid2D(1, 500),
		"rmat":     gen.Symmetrise(gen.RMAT(12, 16, gen.RMATOptions{})),
		"sparse":   gen.Symmetrise(gen.Edges(5000, 5000, 3)),
		"scramble": gen.Symmetrise(gen.RMAT(10, 2, gen.RMATOptions{Scramble: true})),
	}
	list := map[string]struct {
		Graph
		weight []float64
	}{}
	for name, t := range all {
		g := gen.CSR(t)
		x := list[name]
		x.Graph = Graph{g.Ptr, g.Idx}
		for _, w := range gen.UniformInts(g, 1, 255, 3, true) {
			x.weight = append(x.weight, float64(w))
		}
		list[name] = x
	}
	return list
}

// relaxed returns the distances by rounds over all edges, and labels by rounds of least labels.
func relaxed(g Graph, start []float64, weight func(k int64) float64) []float64 {
	dist := slices.Clone(start)
	for changed := true; changed; {
		changed = false
		for v := range int32(g.Vertices()) {
			for k := g.Ptr[v]; k < g.Ptr[v+1]; k++ {
				if far := dist[v] + weight(k); far < dist[g.Idx[k]] {
					dist[g.Idx[k]], changed = far, true
				}
			}
		}
	}
	return dist
}

func from(g Graph, source int) []float64 {
	start := filled(g.Vertices(), math.Inf(1))
	start[source] = 0
	return start
}

func TestAgainstRounds(t *testing.T) {
	for name, g := range graphs() {
		labels := make([]float64, g.Vertices())
		for v := range labels {
			labels[v] = float64(v)
		}
		labels = relaxed(g.Graph, labels, func(int64) float64 { return 0 })
		rank := rankNaively(g.Graph, 300)
		for threads := 1; threads <= 3; threads++ {
			if !longtest.Takes(threads+len(name), 3) {
				continue
			}
			t.Run(fmt.Sprint(name, "/", threads), func(t *testing.T) {
				for v, label := range Components(g.Graph, threads) {
					if float64(label) != labels[v] {
						t.Fatalf("vertex %d has the label %d, want %v", v, label, labels[v])
					}
				}
				for v, r := range PageRank(g.Graph, 1e-7, 300, threads) {
					if math.Abs(float64(r)-rank[v]) > 1e-4*rank[v] {
						t.Fatalf("vertex %d has the rank %v, want %v", v, r, rank[v])
					}
				}
				total, edges := Spanning(g.Graph, g.weight, threads)
				if want, count := spanningNaively(g.Graph, g.weight); total != want || edges != count {
					t.Fatalf("a forest of %d edges and weight %v, want %d and %v", edges, total, count, want)
				}
				for _, source := range []int{0, g.Vertices() / 2, g.Vertices() - 1} {
					hops := relaxed(g.Graph, from(g.Graph, source), func(int64) float64 { return 1 })
					level, parent := Parents(g.Graph, source, threads)
					if !slices.Equal(level, Levels(g.Graph, source, threads)) {
						t.Fatal("other levels with parents than without")
					}
					for v, l := range level {
						if l < 0 != math.IsInf(hops[v], 1) || l >= 0 && float64(l) != hops[v] {
							t.Fatalf("vertex %d has the level %d, want %v", v, l, hops[v])
						}
						if want := leastParent(g.Graph, level, int32(v)); parent[v] != want {
							t.Fatalf("vertex %d has the parent %d, want %d", v, parent[v], want)
						}
					}
					want := relaxed(g.Graph, from(g.Graph, source), func(k int64) float64 { return g.weight[k] })
					for _, delta := range []float64{1, 30, 1e4} {
						if !slices.Equal(Distances(g.Graph, g.weight, source, delta, threads), want) {
							t.Fatalf("distances from %d by %v differ", source, delta)
						}
					}
				}
			})
		}
	}
}

func leastParent(g Graph, level []int32, v int32) int32 {
	switch {
	case level[v] < 0:
		return -1
	case level[v] == 0:
		return v
	}
	least := int32(math.MaxInt32)
	for u := range int32(g.Vertices()) {
		if _, ok := slices.BinarySearch(g.row(u), v); ok && level[u] == level[v]-1 {
			return u
		}
	}
	return least
}

// spanningNaively adds edges in ascending order.
func spanningNaively(g Graph, weight []float64) (total float64, edges int) {
	tree, order := make([]int, g.Vertices()), make([]int, len(weight))
	for v := range tree {
		tree[v] = v
	}
	root := func(v int) int {
		for tree[v] != v {
			v = tree[v]
		}
		return v
	}
	var from []int
	for v := range tree {
		from = append(from, slices.Repeat([]int{v}, int(g.degree(int32(v))))...)
	}
	for k := range order {
		order[k] = k
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(weight[a], weight[b]) })
	for _, k := range order {
		if v, u := root(from[k]), root(int(g.Idx[k])); v != u {
			tree[v] = u
			total += weight[k]
			edges++
		}
	}
	return total, edges
}

// rankNaively pushes ranks along the edges.
func rankNaively(g Graph, rounds int) []float64 {
	n := g.Vertices()
	rank := filled(n, 1/float64(n))
	for range rounds {
		next, lost := make([]float64, n), 0.0
		for v, r := range rank {
			row := g.row(int32(v))
			for _, u := range row {
				next[u] += damping * r / float64(len(row))
			}
			if len(row) == 0 {
				lost += r
			}
		}
		for v := range next {
			next[v] += (1 - damping + damping*lost) / float64(n)
		}
		rank = next
	}
	return rank
}

// Strong finds the components of a closure.
func TestStrong(t *testing.T) {
	ring := gen.Tuples{NRows: 600, NCols: 600} // rings of five vertices in a chain
	for v := range int32(600) {
		ring.Rows, ring.Cols = append(ring.Rows, v, v), append(ring.Cols, v-v%5+(v+1)%5, min(v+5, 599))
	}
	for name, tuples := range map[string]gen.Tuples{
		"nothing": {NRows: 3, NCols: 3}, "rings": ring, "rmat": gen.RMAT(9, 4, gen.RMATOptions{}),
		"sparse": gen.Edges(700, 1000, 3), "dense": gen.Edges(500, 5000, 3),
	} {
		out := gen.CSR(tuples)
		tuples.Rows, tuples.Cols = tuples.Cols, tuples.Rows
		in := gen.CSR(tuples)
		g := Graph{out.Ptr, out.Idx}
		n := g.Vertices()
		reached := make([][]bool, n)
		for v := range reached {
			reached[v] = make([]bool, n)
			for list := []int32{int32(v)}; len(list) > 0; {
				u := list[len(list)-1]
				list = list[:len(list)-1]
				if !reached[v][u] {
					reached[v][u] = true
					list = append(list, g.row(u)...)
				}
			}
		}
		for threads := 1; threads <= 3; threads++ {
			for v, label := range Strong(g, Graph{in.Ptr, in.Idx}, threads) {
				want := 0
				for ; !reached[v][want] || !reached[want][v]; want++ {
				}
				if int(label) != want {
					t.Fatalf("%s, %d threads: vertex %d has the label %d, want %d", name, threads, v, label, want)
				}
			}
		}
	}
}

// Communities of planted ones have about the modularity of the truth.
func TestCommunities(t *testing.T) {
	tuples, truth := gen.Planted(4000, 40_000, .2, 1)
	csr := gen.CSR(gen.Symmetrise(tuples))
	g := Graph{csr.Ptr, csr.Idx}
	want := modularity(g, truth)
	for _, leiden := range []bool{false, true} {
		for threads := 1; threads <= 3; threads++ {
			if q := modularity(g, Communities(g, leiden, threads)); q < want-.05 {
				t.Errorf("Leiden %t, %d threads: modularity %v, the truth has %v", leiden, threads, q, want)
			}
		}
	}
}

func modularity(g Graph, part []int32) (q float64) {
	tot, m := map[int32]float64{}, float64(len(g.Idx))
	for v := range int32(g.Vertices()) {
		for _, u := range g.row(v) {
			tot[part[v]]++
			if part[u] == part[v] {
				q += 1 / m
			}
		}
	}
	for _, x := range tot {
		q -= x / m * x / m
	}
	return q
}
