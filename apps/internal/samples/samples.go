// Package samples holds what the tests of workflows share: graphs, places, groups and figures.
package samples

import (
	"fmt"
	"testing"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
	"pgregory.net/rapid"
)

// The tests that import this package draw fewer random cases in the quick form.
func init() { longtest.FewerChecks() }

// An edge of a sample; arcs are the edges that leave a vertex.
type (
	Edge struct{ From, To, Weight int }
	Arc  struct {
		To     int
		Weight float64
	}
)

// A Sample is a small m×n matrix as a list of edges, for oracles. A repeated edge has
// the least of its weights.
type Sample struct {
	M, N  int
	Edges []Edge
}

// Weights returns the sample without duplicates.
func (s Sample) Weights() map[matrix.Coord]int {
	at := map[matrix.Coord]int{}
	for _, e := range s.Edges {
		c := matrix.Coord{Row: e.From, Col: e.To}
		if w, ok := at[c]; !ok || e.Weight < w {
			at[c] = e.Weight
		}
	}
	return at
}

// Arcs returns the edges that leave each vertex.
func (s Sample) Arcs() [][]Arc {
	out := make([][]Arc, s.M)
	for c, w := range s.Weights() {
		out[c.Row] = append(out[c.Row], Arc{c.Col, float64(w)})
	}
	return out
}

// ArcsOf is sample.arcs of a matrix.
func ArcsOf(a *matrix.Matrix[float64]) [][]Arc {
	m, _ := a.Dims()
	out := make([][]Arc, m)
	for c, w := range a.All() {
		out[c.Row] = append(out[c.Row], Arc{c.Col, w})
	}
	return out
}

func (s Sample) Transposed() Sample {
	t := Sample{M: s.N, N: s.M}
	for _, e := range s.Edges {
		t.Edges = append(t.Edges, Edge{e.To, e.From, e.Weight})
	}
	return t
}

// Both returns the sample with every edge in both directions.
func (s Sample) Both() Sample {
	return Sample{s.M, s.N, append(s.Transposed().Edges, s.Edges...)}
}

// Beside returns the disjoint union of s and t.
func (s Sample) Beside(t Sample) Sample {
	u := Sample{M: s.M + t.M, N: s.N + t.N, Edges: s.Edges[:len(s.Edges):len(s.Edges)]}
	for _, e := range t.Edges {
		u.Edges = append(u.Edges, Edge{e.From + s.M, e.To + s.N, e.Weight})
	}
	return u
}

func Blank(n int) Sample { return Sample{M: n, N: n} }

func Path(n int) Sample {
	s := Blank(n)
	for v := 1; v < n; v++ {
		s.Edges = append(s.Edges, Edge{v - 1, v, v % 4})
	}
	return s
}

func Star(n int) Sample {
	s := Blank(n)
	for v := 1; v < n; v++ {
		s.Edges = append(s.Edges, Edge{0, v, v})
	}
	return s
}

// Clique has all edges in both directions, and loops if asked.
func Clique(n int, loops bool) Sample {
	s := Blank(n)
	for u := range n {
		for v := range n {
			if u != v || loops {
				s.Edges = append(s.Edges, Edge{u, v, 1 + (u+v)%5})
			}
		}
	}
	return s
}

var Shapes = []struct {
	Reason string
	S      Sample
}{
	{"no vertex", Blank(0)},
	{"one vertex", Blank(1)},
	{"one vertex with a loop", Clique(1, true)},
	{"no edge", Blank(5)},
	{"a path along its edges", Path(6)},
	{"a path against its edges", Path(6).Transposed()},
	{"an undirected path", Path(7).Both()},
	{"a star outwards", Star(6)},
	{"a star inwards", Star(6).Transposed()},
	{"an undirected star", Star(7).Both()},
	{"a clique", Clique(5, false)},
	{"a full matrix", Clique(5, true)},
	{"two cliques and isolated vertices", Clique(4, false).Beside(Blank(2)).Beside(Clique(5, true)).Beside(Blank(1))},
	{"edges listed twice", Sample{3, 3, []Edge{{0, 1, 5}, {0, 1, 2}, {1, 2, 0}, {1, 2, 3}, {1, 0, 4}}}},
	{"edges of weight zero", Sample{4, 4, []Edge{{0, 1, 0}, {1, 2, 0}, {2, 0, 0}, {2, 2, 0}}}},
}

// DrawSample draws an m×n sample.
func DrawSample(t *rapid.T, m, n int) Sample {
	s := Sample{M: m, N: n}
	if m == 0 || n == 0 {
		return s
	}
	if rapid.IntRange(0, 9).Draw(t, "full") == 0 {
		for i := range m {
			for j := range n {
				s.Edges = append(s.Edges, Edge{i, j, rapid.IntRange(0, 9).Draw(t, "weight")})
			}
		}
		return s
	}
	undirected, loops := m == n && rapid.Bool().Draw(t, "undirected"), rapid.Bool().Draw(t, "loops")
	for range rapid.IntRange(0, 3*max(m, n)).Draw(t, "edges") {
		e := Edge{rapid.IntRange(0, m-1).Draw(t, "from"), rapid.IntRange(0, n-1).Draw(t, "to"), rapid.IntRange(0, 9).Draw(t, "weight")}
		if e.From != e.To || loops || m != n {
			s.Edges = append(s.Edges, e)
		}
	}
	if undirected {
		s = s.Both()
	}
	return s
}

// OnGraphs checks f on the shapes and on random graphs.
func OnGraphs(t *testing.T, f func(t rapid.TB, s Sample)) {
	for _, c := range Shapes {
		t.Run(c.Reason, func(t *testing.T) { f(t, c.S) })
	}
	t.Run("random", rapid.MakeCheck(func(t *rapid.T) {
		n := rapid.IntRange(0, 10).Draw(t, "n")
		f(t, DrawSample(t, n, n))
	}))
}

func Build[T semiring.Number](t rapid.TB, s Sample, f matrix.Format) *matrix.Matrix[T] {
	t.Helper()
	b := matrix.NewBuilder[T](s.M, s.N)
	for _, e := range s.Edges {
		b.Add(e.From, e.To, T(e.Weight))
	}
	a, err := b.Build(semiring.Min[T]())
	if err == nil {
		err = a.SetFormat(f)
	}
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// EveryForm calls f with the sample in every format, stored as it is and as the
// transposed view of its transpose, with 1, 2, 3 and all threads in turn. The quick form has the
// first and a quarter of the others. It fails if f changes its input.
func EveryForm[T semiring.Number](t rapid.TB, s Sample, f func(name string, g matrix.Source[T], run workflow.Run)) {
	t.Helper()
	threads := 0
	for _, format := range []matrix.Format{matrix.CSR, matrix.Hypersparse, matrix.Bitmap, matrix.Full} {
		if format == matrix.Full && len(s.Weights()) != s.M*s.N {
			continue
		}
		for at, how := range []string{"", " transposed", " with its transpose kept"} {
			threads = (threads + 1) % 4
			if (format != matrix.CSR || at > 0) && !longtest.Takes(int(format)+at+len(s.Edges)+s.N, 4) {
				continue
			}
			a := Build[T](t, s, format)
			var g matrix.Source[T] = a
			switch how {
			case " transposed":
				a = Build[T](t, s.Transposed(), format)
				g = a.T()
			case " with its transpose kept":
				a.IsSymmetric()
			}
			before := a.Clone()
			name := fmt.Sprintf("%v of %T%s, %d threads", format, *new(T), how, threads)
			f(name, g, workflow.Run{Threads: threads})
			if !a.Equal(before) || a.Format() != format {
				t.Errorf("%s: the input has changed: %s", name, a.Text())
			}
		}
	}
}

// Entries returns a vector as a map.
func Entries[T semiring.Number](v *matrix.Vector[T]) map[int]float64 {
	m := map[int]float64{}
	for i, x := range v.All() {
		m[i] = float64(x)
	}
	return m
}
