package features

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/testdata"
	"gonum.org/v1/gonum/stat"
	"pgregory.net/rapid"
)

// column returns a column of a table.
func columnOf(t rapid.TB, x *VertexTable, name string) []float64 {
	t.Helper()
	k := slices.Index(x.Names, name)
	n, width := x.Values.Dims()
	if k < 0 || width != len(x.Names) {
		t.Fatalf("no column %s in %v, of %d columns", name, x.Names, width)
	}
	list := make([]float64, n)
	for v := range list {
		y, _ := x.Values.At(v, k)
		list[v] = float64(y)
	}
	return list
}

// The columns that plain loops can count: degrees, triangles, cores, distances.
func TestVertexFeatures(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 10).Draw(t, "n")
		s := samples.DrawSample(t, n, n)
		g := samples.Build[float64](t, s, matrix.CSR)
		x, err := VertexFeatures(g)
		if err != nil {
			t.Fatal(err)
		}
		edge := make([][]bool, n)
		for v := range edge {
			edge[v] = make([]bool, n)
		}
		for c := range g.All() {
			edge[c.Row][c.Col] = true
		}
		near := func(u, v int) bool { return u != v && (edge[u][v] || edge[v][u]) }
		// The distances of all pairs, by Floyd and Warshall.
		far := make([][]float64, n)
		for u := range far {
			far[u] = make([]float64, n)
			for v := range far[u] {
				if far[u][v] = math.Inf(1); edge[u][v] {
					far[u][v] = 1
				}
			}
			far[u][u] = 0
		}
		for k := range n {
			for u := range n {
				for v := range n {
					far[u][v] = min(far[u][v], far[u][k]+far[k][v])
				}
			}
		}
		sum := 0.0
		for v := range n {
			var out, in, triangles, pairs, harmonic float64
			for u := range n {
				out += float64(workflow.Bit(edge[v][u]))
				in += float64(workflow.Bit(edge[u][v]))
				if u != v {
					harmonic += 1 / far[v][u]
				}
				for w := range u {
					if near(v, u) && near(v, w) {
						pairs++
						triangles += float64(workflow.Bit(near(u, w)))
					}
				}
			}
			sum += columnOf(t, x, "pagerank")[v]
			for name, want := range map[string]float64{"degree": out, "indegree": in, "triangles": triangles,
				"clustering": triangles / max(pairs, 1), "harmonic": harmonic / float64(max(n-1, 1))} {
				if got := columnOf(t, x, name)[v]; math.Abs(got-want) > 1e-5 {
					t.Errorf("vertex %d has %s %v, want %v", v, name, got, want)
				}
			}
		}
		if math.Abs(sum-float64(n)) > 1e-4 {
			t.Errorf("PageRank adds up to %v, want %d", sum, n)
		}
		for v, k := range columnOf(t, x, "core") { // a vertex of core k has k neighbours of core k or more
			count := 0.0
			for u, l := range columnOf(t, x, "core") {
				if near(u, v) && l >= k {
					count++
				}
			}
			if count < k {
				t.Errorf("vertex %d has core number %v and %v neighbours of it", v, k, count)
			}
		}
	})
}

// Some columns in another order; standard columns; estimates from samples.
func TestVertexFeatureSettings(t *testing.T) {
	t.Parallel()
	g := samples.Own(t, testdata.Karate)
	all, err := VertexFeatures(g)
	if err != nil || !slices.Equal(all.Names, VertexFeatureNames()) {
		t.Fatalf("columns %v, %v", all.Names, err)
	}
	names := []string{"core", "betweenness", "degree"}
	some, err := VertexFeatures(g, VertexFeatureOptions{Names: names, Standard: true})
	if err != nil || !slices.Equal(some.Names, names) {
		t.Fatalf("columns %v, %v", some.Names, err)
	}
	for _, name := range names {
		x, z := columnOf(t, all, name), columnOf(t, some, name)
		var mean, square float64
		for v := range z {
			mean, square = mean+z[v]/34, square+z[v]*z[v]/34
			if slope := (z[v] - z[0]) / (z[33] - z[0]) * (x[33] - x[0]); math.Abs(slope-(x[v]-x[0])) > 1e-4 {
				t.Errorf("%s of vertex %d is %v, standard %v", name, v, x[v], z[v])
			}
		}
		if math.Abs(mean) > 1e-5 || math.Abs(square-1) > 1e-4 {
			t.Errorf("standard %s has mean %v and variance %v", name, mean, square)
		}
	}
	few, err := VertexFeatures(g, VertexFeatureOptions{Samples: 20, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"betweenness", "closeness", "harmonic"} {
		x, y := columnOf(t, all, name), columnOf(t, few, name)
		if r := stat.Correlation(x, y, nil); slices.Equal(x, y) || !(r > .8) {
			t.Errorf("%s from 20 samples has correlation %v with %[1]s", name, r)
		}
	}
	path := samples.Blank(4) // no edges: constant columns
	if flat, err := VertexFeatures(samples.Build[float64](t, path, matrix.CSR), VertexFeatureOptions{Standard: true}); err != nil || slices.Max(columnOf(t, flat, "pagerank")) != 0 {
		t.Errorf("without edges: %v, %v", flat, err)
	}
	var bad *workflow.ParameterError
	for reason, o := range map[string]VertexFeatureOptions{"a name": {Names: []string{"degree", "height"}}, "samples": {Samples: -1}, "method": {Run: workflow.Run{Method: workflow.Fused}}} {
		if _, err := VertexFeatures(g, o); !errors.As(err, &bad) {
			t.Errorf("%s: %v", reason, err)
		}
	}
}
