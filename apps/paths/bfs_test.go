package paths

import (
	"errors"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
	"pgregory.net/rapid"
)

// checkTree checks that each parent is the least vertex one level up with an edge to
// its child.
func checkTree(t rapid.TB, name string, out [][]samples.Arc, source int, level, parent map[int]float64) {
	t.Helper()
	least := map[int]float64{source: float64(source)}
	for u, arcs := range out {
		lu, reached := level[u]
		for _, e := range arcs {
			if reached && level[e.To] == lu+1 {
				if old, ok := least[e.To]; !ok || float64(u) < old {
					least[e.To] = float64(u)
				}
			}
		}
	}
	if !maps.Equal(parent, least) {
		t.Fatalf("%s from %d: parents %v, want %v", name, source, parent, least)
	}
}

func checkBFS(t rapid.TB, name string, out [][]samples.Arc, source int, res *BFSResult, parents bool) {
	t.Helper()
	want, deepest := samples.Levels(out, source), 0.0
	for _, l := range want {
		deepest = max(deepest, l)
	}
	if got := samples.Entries(res.Level); res.Level.Size() != len(out) || !maps.Equal(got, want) {
		t.Fatalf("%s from %d: levels %v, want %v", name, source, got, want)
	}
	if res.Reached != int64(len(want)) || res.MaxLevel != int32(deepest) {
		t.Fatalf("%s from %d: reached %d up to level %d, want %d and %v", name, source, res.Reached, res.MaxLevel, len(want), deepest)
	}
	if !parents {
		if res.Parent != nil {
			t.Fatalf("%s: parents without a request", name)
		}
		return
	}
	checkTree(t, name, out, source, want, samples.Entries(res.Parent))
}

func bfsOn[T semiring.Number](t rapid.TB, s samples.Sample) {
	out := s.Arcs()
	samples.EveryForm(t, s, func(name string, g matrix.Source[T], run workflow.Run) {
		for _, source := range []int{0, s.N / 2, s.N - 1} {
			for _, parents := range []bool{false, true} {
				res, err := BFS(g, source, BFSOptions{Run: run, Parents: parents})
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				checkBFS(t, name, out, source, res, parents)
			}
		}
	})
}

func TestBFS(t *testing.T) {
	samples.OnGraphs(t, func(t rapid.TB, s samples.Sample) {
		if s.N == 0 {
			return // has no source; see TestBFSErrors
		}
		bfsOn[int32](t, s)
		bfsOn[float64](t, s)
	})
}

// TestBFSOfBool searches a graph of bool values: only the positions of entries matter,
// so false is an edge too.
func TestBFSOfBool(t *testing.T) {
	g := sure.Get(matrix.FromTuples(3, 3, []int{0, 1}, []int{1, 2}, []bool{true, false}, nil))
	for name, g := range map[string]matrix.Source[bool]{"bool": g, "pattern": g.Pattern()} {
		res, err := BFS(g, 0, BFSOptions{})
		if err != nil {
			t.Fatal(err)
		}
		checkBFS(t, name, samples.Path(3).Arcs(), 0, res, false)
	}
}

// TestBFSOfLDBC is the directed example, by hand.
func TestBFSOfLDBC(t *testing.T) {
	res, err := BFS(samples.Shared(t, "lagraph/ldbc-directed-example.mtx"), 0, BFSOptions{Parents: true})
	if err != nil {
		t.Fatal(err)
	}
	if want := map[int]float64{0: 0, 2: 1, 4: 1, 3: 2, 7: 2, 9: 2}; !maps.Equal(samples.Entries(res.Level), want) {
		t.Errorf("levels %v, want %v", samples.Entries(res.Level), want)
	}
	if want := map[int]float64{0: 0, 2: 0, 4: 0, 3: 4, 7: 2, 9: 2}; !maps.Equal(samples.Entries(res.Parent), want) {
		t.Errorf("parents %v, want %v", samples.Entries(res.Parent), want)
	}
}

func TestBFSOfRealGraphs(t *testing.T) {
	for _, c := range []struct {
		name   string
		source int
	}{
		{"lagraph/jagmesh7.mtx", 0}, {"graphs/us_powergrid.mtx.gz", 100}, {"graphs/polblogs.mtx.gz", 3},
		{"graphs/as-22july06.mtx.gz", 22962}, {"graphs/p2p-Gnutella31.mtx.gz", 0}, {"graphs/email-Enron.mtx.gz", 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name != "lagraph/jagmesh7.mtx" {
				samples.Big(t)
			}
			a := samples.Shared(t, c.name)
			out := samples.ArcsOf(a)
			for threads := 1; threads <= 3; threads++ {
				res, err := BFS(a, c.source, BFSOptions{Run: workflow.Run{Threads: threads}, Parents: threads > 1})
				if err != nil {
					t.Fatal(err)
				}
				checkBFS(t, c.name, out, c.source, res, threads > 1)
			}
		})
	}
}

func TestBFSErrors(t *testing.T) {
	for _, c := range []struct{ n, source int }{{4, -1}, {4, 4}, {1, 1}, {0, 0}, {4, 1 << 40}} {
		_, err := BFS(samples.Build[float64](t, samples.Path(c.n), matrix.CSR), c.source, BFSOptions{})
		var index *matrix.IndexError
		if !errors.As(err, &index) || !errors.Is(err, matrix.ErrIndex) || index.Index != int64(c.source) || index.Limit != int64(c.n) || index.Op != "BFS" {
			t.Errorf("source %d of %d vertices: %v, want a *matrix.IndexError", c.source, c.n, err)
		}
	}
}

// The passes for parents agree, on graphs of several pieces of work and with vertices out of reach.
func TestPassesForParents(t *testing.T) {
	g := samples.Skewed(t, 14)
	a := matrix.AsView[bool](g.View().Pattern())
	level, err := BFS(g, 0)
	if err != nil {
		t.Fatal(err)
	}
	st := access.VectorStore(level.Level)
	if st.Present == nil {
		t.Fatal("every vertex is reached")
	}
	list := func(find func(*workflow.Adjacency, []int32, []uint8, []int32, workflow.Run) error, a *matrix.View[bool], threads int) []int32 {
		parent := slices.Repeat([]int32{math.MaxInt32}, level.Level.Size())
		if err := find(workflow.RowsOf(a), st.Val, st.Present, parent, workflow.Run{Threads: threads}); err != nil {
			t.Fatal(err)
		}
		return parent
	}
	want := list(firstAbove, a.T(), 1)
	parent := sure.Get(matrix.VectorOf(slices.Clone(want)))
	parents := samples.Entries(parent)
	for v, p := range parents {
		if p == math.MaxInt32 {
			delete(parents, v)
		}
	}
	parents[0] = 0
	checkTree(t, "first above", samples.ArcsOf(g), 0, samples.Entries(level.Level), parents)
	for threads := 1; threads <= 3; threads++ {
		if !slices.Equal(list(firstAbove, a.T(), threads), want) || !slices.Equal(list(offerSources, a, threads), want) {
			t.Errorf("%d threads find other parents", threads)
		}
	}
}
