package cores

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/apps/triangles"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
	"github.com/hiveblas/hiveblas/testdata"
	"pgregory.net/rapid"
)

// peel is the oracle: it removes one edge after the other that is in too few triangles,
// and returns the number of triangles of the remaining edges, in both directions.
func peel(out [][]samples.Arc, k int) map[matrix.Coord]int64 {
	with := make([]map[int]bool, len(out))
	for v, list := range samples.Neighbours(out) {
		with[v] = map[int]bool{}
		for _, w := range list {
			with[v][w] = true
		}
	}
	third := func(u, v int) (common []int) { // the third vertices of the triangles of an edge
		if len(with[u]) > len(with[v]) {
			u, v = v, u
		}
		for w := range with[u] {
			if with[v][w] {
				common = append(common, w)
			}
		}
		return common
	}
	support, weak := map[matrix.Coord]int64{}, []matrix.Coord{}
	for u := range with {
		for v := range with[u] {
			c := matrix.Coord{Row: u, Col: v}
			support[c] = int64(len(third(u, v)))
			if u < v && support[c] < int64(k-2) {
				weak = append(weak, c)
			}
		}
	}
	for ; len(weak) > 0; weak = weak[1:] {
		u, v := weak[0].Row, weak[0].Col
		for _, w := range third(u, v) {
			for _, x := range []int{u, v} {
				c := matrix.Coord{Row: min(x, w), Col: max(x, w)}
				support[c]--
				support[matrix.Coord{Row: c.Col, Col: c.Row}]--
				if support[c] == int64(k-3) { // just fell below
					weak = append(weak, c)
				}
			}
		}
		delete(with[u], v)
		delete(with[v], u)
		delete(support, matrix.Coord{Row: u, Col: v})
		delete(support, matrix.Coord{Row: v, Col: u})
	}
	return support
}

func checkTruss(t rapid.TB, name string, k int, want map[matrix.Coord]int64, n int, c *matrix.Matrix[int64]) {
	t.Helper()
	if rows, cols := c.Dims(); rows != n || cols != n {
		t.Fatalf("%s: the %d-truss is %v", name, k, c)
	}
	if got := maps.Collect(c.All()); !maps.Equal(got, want) {
		t.Fatalf("%s: the %d-truss is %v\nwant %d entries: %v", name, k, c.Text(), len(want), want)
	}
}

func trussOn[T semiring.Number](t rapid.TB, s samples.Sample) {
	out := s.Arcs()
	for k := 3; k <= 6; k++ {
		want := peel(out, k)
		samples.EveryForm(t, s, func(name string, g matrix.Source[T], run workflow.Run) {
			c, err := KTruss(g, k, KTrussOptions{run})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			checkTruss(t, name, k, want, s.N, c)
		})
	}
}

func TestKTruss(t *testing.T) {
	samples.OnGraphs(t, func(t rapid.TB, s samples.Sample) {
		trussOn[int32](t, s)
		trussOn[float64](t, s)
	})
}

// TestKTrussOfCliques has every edge of a clique of n in n−2 triangles, so
// that it is its own n-truss and has no further one.
func TestKTrussOfCliques(t *testing.T) {
	for _, n := range []int{3, 4, 10, 33} {
		g := samples.Build[float32](t, samples.Clique(n, true).Beside(samples.Clique(n-1, false)), matrix.CSR)
		c, err := KTruss(g, n, KTrussOptions{})
		if err != nil || c.NVals() != int64(n*(n-1)) {
			t.Fatalf("the %d-truss of cliques of %d and %d: %v, %v", n, n, n-1, c, err)
		}
		for at, x := range c.All() {
			if x != int64(n-2) || at.Row >= n || at.Col >= n {
				t.Errorf("%v: %d triangles, want %d", at, x, n-2)
			}
		}
		for _, k := range []int{n + 1, 1000, 1 << 40} {
			if c, err := KTruss(g, k, KTrussOptions{}); err != nil || c.NVals() != 0 {
				t.Errorf("the %d-truss of a clique of %d: %v, %v, want nothing", k, n, c, err)
			}
		}
	}
}

// TestKTrussIsNested checks that each truss is a part of the one before, and that the
// 3-truss has all triangles.
func TestKTrussIsNested(t *testing.T) {
	for name, file := range map[string][]byte{"karate": testdata.Karate, "chesapeake": testdata.Chesapeake} {
		g := samples.Own(t, file)
		n, _ := g.Dims()
		before := map[matrix.Coord]int64{}
		for k := 3; k <= 8; k++ {
			c, err := KTruss(g, k, KTrussOptions{})
			if err != nil {
				t.Fatal(err)
			}
			checkTruss(t, name, k, peel(samples.ArcsOf(g), k), n, c)
			for at, x := range c.All() {
				if k > 3 && before[at] < x || x < int64(k-2) {
					t.Errorf("%s: %v is in %d triangles of the %d-truss and %d of that before", name, at, x, k, before[at])
				}
			}
			before = maps.Collect(c.All())
			if k > 3 {
				continue
			}
			sum, err := ops.ReduceScalar(semiring.Plus[int64](), c)
			if err != nil {
				t.Fatal(err)
			}
			if triangles, err := triangles.TriangleCount(g, triangles.TriangleOptions{}); err != nil || sum != 6*triangles {
				t.Errorf("%s: the 3-truss adds up to %d, want 6 for each of %d triangles (%v)", name, sum, triangles, err)
			}
		}
	}
}

func TestKTrussOfRealGraphs(t *testing.T) {
	for _, c := range []struct {
		name string
		ks   []int
	}{
		{"lagraph/jagmesh7.mtx", []int{3, 4}},
		{"lagraph/A.mtx", []int{3, 4, 5}},
		{"graphs/football.mtx.gz", []int{3, 5, 8, 9, 10}},
		{"graphs/email-Eu-core.mtx.gz", []int{12}}, // directed, with loops
		{"graphs/ca-GrQc.mtx.gz", []int{3, 44, 45}},
		{"graphs/ca-HepTh.mtx.gz", []int{5, 32, 33}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if slices.Max(c.ks) > 5 {
				samples.Big(t)
			}
			a := samples.Shared(t, c.name)
			out := samples.ArcsOf(a)
			for i, k := range c.ks {
				got, err := KTruss(a, k, KTrussOptions{workflow.Run{Threads: 1 + i%3}})
				if err != nil {
					t.Fatal(err)
				}
				checkTruss(t, c.name, k, peel(out, k), len(out), got)
				// The cliques of 44 and 32 authors of one paper are the deepest trusses.
				if last := len(c.ks) - 1; slices.Max(c.ks) > 20 && (got.NVals() > 0) != (i < last) {
					t.Errorf("the %d-truss has %d entries; the deepest is that of %d", k, got.NVals(), c.ks[last-1])
				}
			}
		})
	}
}

func TestKTrussErrors(t *testing.T) {
	g := samples.Build[float64](t, samples.Clique(4, false), matrix.CSR)
	for _, k := range []int{2, 1, 0, -5} {
		c, err := KTruss(g, k, KTrussOptions{})
		var p *workflow.ParameterError
		if c != nil || !errors.As(err, &p) || !strings.HasPrefix(err.Error(), "KTruss: k is ") || p.Want != "3 or more" {
			t.Errorf("k = %d: %v, %v, want a *ParameterError", k, c, err)
		}
	}
}
