package components

import (
	"maps"
	"testing"

	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
	"github.com/hiveblas/hiveblas/testdata"
	"pgregory.net/rapid"
)

func checkComponents(t rapid.TB, name string, want map[int]float64, c *Components) {
	t.Helper()
	if c.Label.Size() != len(want) || !maps.Equal(samples.Entries(c.Label), want) {
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

func componentsOn[T semiring.Number](t rapid.TB, s samples.Sample) {
	want := samples.Union(s.Arcs())
	samples.EveryForm(t, s, func(name string, g matrix.Source[T], run workflow.Run) {
		c, err := ConnectedComponents(g, ComponentsOptions{Run: run})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		checkComponents(t, name, want, c)
	})
}

func TestConnectedComponents(t *testing.T) {
	samples.OnGraphs(t, func(t rapid.TB, s samples.Sample) {
		componentsOn[int32](t, s)
		componentsOn[float64](t, s)
	})
}

// TestLongPaths has paths with a numbering that is bad for FastSV: labels travel the
// whole path.
func TestLongPaths(t *testing.T) {
	const n = 3000
	s := samples.Blank(n)
	for v := 1; v < n; v++ {
		s.Edges = append(s.Edges, samples.Edge{From: v * 1009 % n, To: (v - 1) * 1009 % n, Weight: 1}) // gcd(1009, 3000) = 1
	}
	for name, s := range map[string]samples.Sample{"shuffled": s, "ascending": samples.Path(n), "two": samples.Path(n / 2).Both().Beside(samples.Path(n / 2).Transposed())} {
		for threads := 1; threads <= 3; threads++ {
			c, err := ConnectedComponents(samples.Build[int32](t, s, matrix.CSR), ComponentsOptions{workflow.Run{Threads: threads}})
			if err != nil {
				t.Fatal(err)
			}
			checkComponents(t, name, samples.Union(s.Arcs()), c)
		}
	}
}

func TestComponentsOfKarate(t *testing.T) {
	c, err := ConnectedComponents(samples.Own(t, testdata.Karate), ComponentsOptions{})
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
				samples.Big(t)
			}
			a := samples.Shared(t, c.name)
			want := samples.Union(samples.ArcsOf(a))
			for threads := 1; threads <= 3; threads++ {
				got, err := ConnectedComponents(a, ComponentsOptions{workflow.Run{Threads: threads}})
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
