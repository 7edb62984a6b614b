package triangles

import (
	"maps"
	"slices"
	"testing"

	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
	"github.com/hiveblas/hiveblas/testdata"
	"pgregory.net/rapid"
)

// byMerging is the oracle of larger graphs: the common neighbours w > v of
// every edge u < v.
func byMerging(with [][]int) int64 {
	count := int64(0)
	for u, a := range with {
		for _, v := range a {
			if v < u {
				continue
			}
			for x, y := a, with[v]; len(x) > 0 && len(y) > 0; {
				switch {
				case x[0] < y[0]:
					x = x[1:]
				case x[0] > y[0]:
					y = y[1:]
				default:
					if x[0] > v {
						count++
					}
					x, y = x[1:], y[1:]
				}
			}
		}
	}
	return count
}

func trianglesOn[T semiring.Number](t rapid.TB, s samples.Sample) {
	want := samples.AllTriples(s.Joined())
	if merged := byMerging(samples.Neighbours(s.Arcs())); merged != want {
		t.Fatalf("the oracles count %d and %d", want, merged)
	}
	samples.EveryForm(t, s, func(name string, g matrix.Source[T], run workflow.Run) {
		if got, err := TriangleCount(g, TriangleOptions{run}); err != nil || got != want {
			t.Fatalf("%s: %d, %v, want %d", name, got, err, want)
		}
	})
}

func TestTriangleCount(t *testing.T) {
	samples.OnGraphs(t, func(t rapid.TB, s samples.Sample) {
		trianglesOn[int32](t, s)
		trianglesOn[float64](t, s)
	})
}

// TestTrianglesOfCliques has n(n−1)(n−2)/6 triangles to count, whichever way
// edges point, and a loop at every vertex to leave out.
func TestTrianglesOfCliques(t *testing.T) {
	for _, n := range []int{2, 3, 4, 20, 65, 130} {
		want := int64(n) * int64(n-1) * int64(n-2) / 6
		oneWay := samples.Clique(n, true)
		oneWay.Edges = slices.DeleteFunc(oneWay.Edges, func(e samples.Edge) bool { return (e.From < e.To) == ((e.From+e.To)%2 == 0) && e.From != e.To })
		for name, s := range map[string]samples.Sample{"both ways": samples.Clique(n, false), "with loops": samples.Clique(n, true), "one way": oneWay} {
			if got, err := TriangleCount(samples.Build[int32](t, s, matrix.CSR), TriangleOptions{}); err != nil || got != want {
				t.Errorf("%d vertices, %s: %d, %v, want %d", n, name, got, err, want)
			}
		}
	}
}

// TestTrianglesOfFullRows counts on groups with ranks that have all entries of their rows, loops
// too.
func TestTrianglesOfFullRows(t *testing.T) {
	for _, p := range []int{1, 2, 3} {
		for _, n := range []int{3, 5, 70} {
			group := sure.Get(comm.LocalGroup(p))
			g := sure.Get(matrix.NewFull(n, n, 1.))
			sure.Do(g.Move(group))
			want := int64(n) * int64(n-1) * int64(n-2) / 6
			if got, err := TriangleCount(g, TriangleOptions{}); err != nil || got != want {
				t.Errorf("%d vertices on %d ranks: %d, %v, want %d", n, p, got, err, want)
			}
		}
	}
}

// TestTrianglesOfBool takes a graph without weights, and false for an edge.
func TestTrianglesOfBool(t *testing.T) {
	g := sure.Get(matrix.FromTuples(3, 3, []int{0, 1, 2}, []int{1, 2, 0}, []bool{true, false, true}, nil))
	for _, g := range []matrix.Source[bool]{g, g.T(), g.Pattern()} {
		if got, err := TriangleCount(g, TriangleOptions{}); err != nil || got != 1 {
			t.Errorf("%d, %v, want 1", got, err)
		}
	}
}

func TestTrianglesOfOwnGraphs(t *testing.T) {
	for name, c := range map[string]struct {
		file []byte
		want int64
	}{"karate": {testdata.Karate, 45}, "chesapeake": {testdata.Chesapeake, 194}} {
		if got, err := TriangleCount(samples.Own(t, c.file), TriangleOptions{}); err != nil || got != c.want {
			t.Errorf("%s: %d, %v, want %d", name, got, err, c.want)
		}
	}
}

// TestTrianglesOfRealGraphs compares with what SNAP gives, from memory, for
// each graph, with LAGraph's test_TriangleCount, and with merging.
func TestTrianglesOfRealGraphs(t *testing.T) {
	for _, c := range []struct {
		name  string
		want  int64
		large bool
	}{
		{"lagraph/A.mtx", 11, false},
		{"lagraph/jagmesh7.mtx", 2016, false},
		{"lagraph/ldbc-cdlp-undirected-example.mtx", 6, false},
		{"lagraph/ldbc-undirected-example.mtx", 4, false},
		{"lagraph/ldbc-wcc-example.mtx", 5, false},
		{"lagraph/LFAT5.mtx", 0, false},
		{"lagraph/tree-example.mtx", 0, false},
		{"lagraph/bcsstk13.mtx.gz", 342300, true},
		{"graphs/ca-GrQc.mtx.gz", 48260, true},
		{"graphs/ca-HepTh.mtx.gz", 28339, true},
		{"graphs/ca-AstroPh.mtx.gz", 1351441, true},
		{"graphs/email-Enron.mtx.gz", 727044, true},
		{"graphs/facebook_combined.mtx.gz", 1612010, true},
		{"graphs/email-Eu-core.mtx.gz", 105461, true},
		{"graphs/wiki-Vote.mtx.gz", 608389, true},
		{"graphs/p2p-Gnutella04.mtx.gz", 934, true},
		{"graphs/p2p-Gnutella31.mtx.gz", 2024, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.large {
				samples.Big(t)
			}
			a := samples.Shared(t, c.name)
			if merged := byMerging(samples.Neighbours(samples.ArcsOf(a))); merged != c.want {
				t.Errorf("merging counts %d in this copy, published are %d", merged, c.want)
			}
			for threads := 1; threads <= 3; threads++ {
				if !longtest.Takes(threads+len(c.name), 3) {
					continue
				}
				if got, err := TriangleCount(a, TriangleOptions{workflow.Run{Threads: threads}}); err != nil || got != c.want {
					t.Errorf("%d threads: %d, %v, want %d", threads, got, err, c.want)
				}
			}
		})
	}
}

// TestTowardsHubs asks for every edge once, towards the higher degree.
func TestTowardsHubs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 9).Draw(t, "n")
		s := samples.DrawSample(t, n, n).Both()
		l, err := towardsHubs(samples.Build[int32](t, s, matrix.CSR), workflow.Run{}, n)
		if err != nil {
			t.Fatal(err)
		}
		degree, want := make([]int, n), map[matrix.Coord]bool{}
		for c := range s.Weights() {
			degree[c.Row]++
		}
		for c := range s.Weights() {
			if degree[c.Row] < degree[c.Col] || degree[c.Row] == degree[c.Col] && c.Row < c.Col {
				want[c] = true
			}
		}
		got := map[matrix.Coord]bool{}
		for c := range l.All() {
			got[c] = true
		}
		if !maps.Equal(got, want) {
			t.Fatalf("edges %v, want %v", got, want)
		}
	})
}

// Kernels keep the edges that the host keeps: with rows without entries by the hundred, long rows,
// and tiles that end within rows.
func TestTowardsHubsOnDevice(t *testing.T) {
	d := samples.RealOrEmulated(t)
	gaps := samples.Blank(200)
	for v := range 40 {
		gaps = gaps.Beside(samples.Path(2 + v%3)).Beside(samples.Blank(30 + v))
	}
	for name, s := range map[string]samples.Sample{
		"no vertex": samples.Blank(0), "no edge": samples.Blank(90), "path": samples.Path(77), "star": samples.Star(700), "gaps": gaps,
		"mixed": gaps.Beside(samples.Star(500)).Beside(samples.Random(300, 4000, 2, true)).Beside(gaps).Beside(samples.Clique(40, true)),
	} {
		host, there := samples.Build[float64](t, s.Both(), matrix.CSR), samples.Build[float64](t, s.Both(), matrix.CSR)
		sure.Do(there.Move(d.Device))
		n := s.N
		want := samples.Must[*matrix.Matrix[bool]](t)(towardsHubs(host, workflow.Run{}, n))
		got := samples.Must[*matrix.Matrix[bool]](t)(towardsHubs(there, workflow.Run{Method: workflow.Fused}, n))
		if !maps.Equal(maps.Collect(got.All()), maps.Collect(want.All())) {
			t.Errorf("%s: %d edges, want %d", name, got.NVals(), want.NVals())
		}
	}
}
