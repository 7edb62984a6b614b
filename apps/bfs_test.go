package apps

import (
	"errors"
	"maps"
	"testing"

	"pgregory.net/rapid"

	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

// levels is the oracle: a search with a queue.
func levels(out [][]arc, source int) map[int]float64 {
	level := map[int]float64{source: 0}
	for q := []int{source}; len(q) > 0; q = q[1:] {
		for _, e := range out[q[0]] {
			if _, seen := level[e.to]; !seen {
				level[e.to] = level[q[0]] + 1
				q = append(q, e.to)
			}
		}
	}
	return level
}

// checkTree checks that each parent is the least vertex one level up with an edge to
// its child.
func checkTree(t rapid.TB, name string, out [][]arc, source int, level, parent map[int]float64) {
	t.Helper()
	least := map[int]float64{source: float64(source)}
	for u, arcs := range out {
		lu, reached := level[u]
		for _, e := range arcs {
			if reached && level[e.to] == lu+1 {
				if old, ok := least[e.to]; !ok || float64(u) < old {
					least[e.to] = float64(u)
				}
			}
		}
	}
	if !maps.Equal(parent, least) {
		t.Fatalf("%s from %d: parents %v, want %v", name, source, parent, least)
	}
}

func checkBFS(t rapid.TB, name string, out [][]arc, source int, res *BFSResult, parents bool) {
	t.Helper()
	want, deepest := levels(out, source), 0.0
	for _, l := range want {
		deepest = max(deepest, l)
	}
	if got := entries(res.Level); res.Level.Size() != len(out) || !maps.Equal(got, want) {
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
	checkTree(t, name, out, source, want, entries(res.Parent))
}

func bfsOn[T semiring.Number](t rapid.TB, s sample) {
	out := s.arcs()
	everyForm(t, s, func(name string, g matrix.Source[T], run Run) {
		for _, source := range []int{0, s.n / 2, s.n - 1} {
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
	onGraphs(t, func(t rapid.TB, s sample) {
		if s.n == 0 {
			return // has no source; see TestBFSErrors
		}
		bfsOn[int32](t, s)
		bfsOn[float64](t, s)
	})
}

// TestBFSOfBool searches a graph of bool values: only the positions of entries matter,
// so false is an edge too.
func TestBFSOfBool(t *testing.T) {
	g, err := matrix.FromTuples(3, 3, []int{0, 1}, []int{1, 2}, []bool{true, false}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, g := range map[string]matrix.Source[bool]{"bool": g, "pattern": g.Pattern()} {
		res, err := BFS(g, 0, BFSOptions{})
		if err != nil {
			t.Fatal(err)
		}
		checkBFS(t, name, path(3).arcs(), 0, res, false)
	}
}

// TestBFSOfLDBC is the directed example, by hand.
func TestBFSOfLDBC(t *testing.T) {
	res, err := BFS(shared(t, "lagraph/ldbc-directed-example.mtx"), 0, BFSOptions{Parents: true})
	if err != nil {
		t.Fatal(err)
	}
	if want := map[int]float64{0: 0, 2: 1, 4: 1, 3: 2, 7: 2, 9: 2}; !maps.Equal(entries(res.Level), want) {
		t.Errorf("levels %v, want %v", entries(res.Level), want)
	}
	if want := map[int]float64{0: 0, 2: 0, 4: 0, 3: 4, 7: 2, 9: 2}; !maps.Equal(entries(res.Parent), want) {
		t.Errorf("parents %v, want %v", entries(res.Parent), want)
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
				big(t)
			}
			a := shared(t, c.name)
			out := arcsOf(a)
			for threads := 1; threads <= 3; threads++ {
				res, err := BFS(a, c.source, BFSOptions{Run: Run{Threads: threads}, Parents: threads > 1})
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
		_, err := BFS(build[float64](t, path(c.n), matrix.CSR), c.source, BFSOptions{})
		var index *matrix.IndexError
		if !errors.As(err, &index) || !errors.Is(err, matrix.ErrIndex) || index.Index != int64(c.source) || index.Limit != int64(c.n) || index.Op != "BFS" {
			t.Errorf("source %d of %d vertices: %v, want a *matrix.IndexError", c.source, c.n, err)
		}
	}
}
