package apps

import (
	"maps"
	"testing"

	"pgregory.net/rapid"

	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
	"github.com/hiveblas/hiveblas/testdata"
)

// union is the oracle: sets of vertices, merged edge by edge; it returns the
// least vertex of each one's set.
func union(out [][]arc) map[int]float64 {
	up := make([]int, len(out))
	for v := range up {
		up[v] = v
	}
	find := func(v int) int {
		for up[v] != v {
			up[v] = up[up[v]]
			v = up[v]
		}
		return v
	}
	for u, arcs := range out {
		for _, e := range arcs {
			a, b := find(u), find(e.to)
			up[max(a, b)] = min(a, b)
		}
	}
	least := map[int]float64{}
	for v := range up {
		least[v] = float64(find(v))
	}
	return least
}

func checkComponents(t rapid.TB, name string, want map[int]float64, c *Components) {
	t.Helper()
	if c.Label.Size() != len(want) || !maps.Equal(entries(c.Label), want) {
		t.Fatalf("%s: labels %v, want %v", name, c.Label.Text(), want)
	}
	size, largest := map[float64]int64{}, int64(0)
	for _, l := range want {
		size[l]++
		largest = max(largest, size[l])
	}
	if c.Count != len(size) || c.Largest != largest {
		t.Fatalf("%s: %d components, the largest of %d; want %d and %d", name, c.Count, c.Largest, len(size), largest)
	}
}

func componentsOn[T semiring.Number](t rapid.TB, s sample) {
	want := union(s.arcs())
	everyForm(t, s, func(name string, g matrix.Source[T], run Run) {
		c, err := ConnectedComponents(g, ComponentsOptions{Run: run})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		checkComponents(t, name, want, c)
	})
}

func TestConnectedComponents(t *testing.T) {
	onGraphs(t, func(t rapid.TB, s sample) {
		componentsOn[int32](t, s)
		componentsOn[float64](t, s)
	})
}

// TestLongPaths has paths with a numbering that is bad for FastSV: labels travel the
// whole path.
func TestLongPaths(t *testing.T) {
	const n = 3000
	s := blank(n)
	for v := 1; v < n; v++ {
		s.edges = append(s.edges, edge{v * 1009 % n, (v - 1) * 1009 % n, 1}) // gcd(1009, 3000) = 1
	}
	for name, s := range map[string]sample{"shuffled": s, "ascending": path(n), "two": path(n / 2).both().beside(path(n / 2).transposed())} {
		for threads := 1; threads <= 3; threads++ {
			c, err := ConnectedComponents(build[int32](t, s, matrix.CSR), ComponentsOptions{Run{Threads: threads}})
			if err != nil {
				t.Fatal(err)
			}
			checkComponents(t, name, union(s.arcs()), c)
		}
	}
}

func TestComponentsOfKarate(t *testing.T) {
	c, err := ConnectedComponents(own(t, testdata.Karate), ComponentsOptions{})
	if err != nil || c.Count != 1 || c.Largest != 34 {
		t.Errorf("%+v, %v, want 1 component of 34", c, err)
	}
}

// TestComponentsOfRealGraphs compares with LAGraph's test_ConnectedComponents
// and with the largest weakly connected components as SNAP gives them, from memory.
func TestComponentsOfRealGraphs(t *testing.T) {
	for _, c := range []struct {
		name    string
		count   int   // 0: not published
		largest int64 // 0: not published
	}{
		{"lagraph/karate.mtx", 1, 34},
		{"lagraph/A.mtx", 1, 0},
		{"lagraph/jagmesh7.mtx", 1, 0},
		{"lagraph/ldbc-cdlp-undirected-example.mtx", 1, 0},
		{"lagraph/ldbc-undirected-example.mtx", 1, 0},
		{"lagraph/ldbc-wcc-example.mtx", 1, 0},
		{"lagraph/LFAT5.mtx", 3, 0},
		{"lagraph/tree-example.mtx", 1, 0},
		{"lagraph/bcsstk13.mtx.gz", 1, 0},
		{"graphs/ca-GrQc.mtx.gz", 0, 4158},
		{"graphs/ca-HepTh.mtx.gz", 0, 8638},
		{"graphs/ca-AstroPh.mtx.gz", 0, 17903},
		{"graphs/email-Enron.mtx.gz", 0, 33696},
		{"graphs/facebook_combined.mtx.gz", 1, 4039},
		{"graphs/email-Eu-core.mtx.gz", 0, 986},
		{"graphs/wiki-Vote.mtx.gz", 0, 7066},
		{"graphs/p2p-Gnutella04.mtx.gz", 0, 10876},
		{"graphs/p2p-Gnutella31.mtx.gz", 0, 62561},
		{"graphs/us_powergrid.mtx.gz", 1, 4941},
		{"graphs/netscience.mtx.gz", 0, 379},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.count == 0 {
				big(t)
			}
			a := shared(t, c.name)
			want := union(arcsOf(a))
			for threads := 1; threads <= 3; threads++ {
				got, err := ConnectedComponents(a, ComponentsOptions{Run{Threads: threads}})
				if err != nil {
					t.Fatal(err)
				}
				checkComponents(t, c.name, want, got)
				if c.count > 0 && got.Count != c.count || c.largest > 0 && got.Largest != c.largest {
					t.Errorf("%d components, the largest of %d; published are %d and %d", got.Count, got.Largest, c.count, c.largest)
				}
			}
		})
	}
}
