package apps

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

// An edge of a sample; arcs are the edges that leave a vertex.
type (
	edge struct{ from, to, weight int }
	arc  struct {
		to     int
		weight float64
	}
)

// A sample is a small m×n matrix as a list of edges, for oracles. A repeated edge has
// the least of its weights.
type sample struct {
	m, n  int
	edges []edge
}

// weights returns the sample without duplicates.
func (s sample) weights() map[matrix.Coord]int {
	at := map[matrix.Coord]int{}
	for _, e := range s.edges {
		c := matrix.Coord{Row: e.from, Col: e.to}
		if w, ok := at[c]; !ok || e.weight < w {
			at[c] = e.weight
		}
	}
	return at
}

// arcs returns the edges that leave each vertex.
func (s sample) arcs() [][]arc {
	out := make([][]arc, s.m)
	for c, w := range s.weights() {
		out[c.Row] = append(out[c.Row], arc{c.Col, float64(w)})
	}
	return out
}

// arcsOf is sample.arcs of a matrix.
func arcsOf(a *matrix.Matrix[float64]) [][]arc {
	m, _ := a.Dims()
	out := make([][]arc, m)
	for c, w := range a.All() {
		out[c.Row] = append(out[c.Row], arc{c.Col, w})
	}
	return out
}

func (s sample) transposed() sample {
	t := sample{m: s.n, n: s.m}
	for _, e := range s.edges {
		t.edges = append(t.edges, edge{e.to, e.from, e.weight})
	}
	return t
}

// both returns the sample with every edge in both directions.
func (s sample) both() sample {
	return sample{s.m, s.n, append(s.transposed().edges, s.edges...)}
}

// beside returns the disjoint union of s and t.
func (s sample) beside(t sample) sample {
	u := sample{m: s.m + t.m, n: s.n + t.n, edges: s.edges[:len(s.edges):len(s.edges)]}
	for _, e := range t.edges {
		u.edges = append(u.edges, edge{e.from + s.m, e.to + s.n, e.weight})
	}
	return u
}

func blank(n int) sample { return sample{m: n, n: n} }

func path(n int) sample {
	s := blank(n)
	for v := 1; v < n; v++ {
		s.edges = append(s.edges, edge{v - 1, v, v % 4})
	}
	return s
}

func star(n int) sample {
	s := blank(n)
	for v := 1; v < n; v++ {
		s.edges = append(s.edges, edge{0, v, v})
	}
	return s
}

// clique has all edges in both directions, and loops if asked.
func clique(n int, loops bool) sample {
	s := blank(n)
	for u := range n {
		for v := range n {
			if u != v || loops {
				s.edges = append(s.edges, edge{u, v, 1 + (u+v)%5})
			}
		}
	}
	return s
}

var shapes = []struct {
	reason string
	s      sample
}{
	{"no vertex", blank(0)},
	{"one vertex", blank(1)},
	{"one vertex with a loop", clique(1, true)},
	{"no edge", blank(5)},
	{"a path along its edges", path(6)},
	{"a path against its edges", path(6).transposed()},
	{"an undirected path", path(7).both()},
	{"a star outwards", star(6)},
	{"a star inwards", star(6).transposed()},
	{"an undirected star", star(7).both()},
	{"a clique", clique(5, false)},
	{"a full matrix", clique(5, true)},
	{"two cliques and isolated vertices", clique(4, false).beside(blank(2)).beside(clique(5, true)).beside(blank(1))},
	{"edges listed twice", sample{3, 3, []edge{{0, 1, 5}, {0, 1, 2}, {1, 2, 0}, {1, 2, 3}, {1, 0, 4}}}},
	{"edges of weight zero", sample{4, 4, []edge{{0, 1, 0}, {1, 2, 0}, {2, 0, 0}, {2, 2, 0}}}},
}

// drawSample draws an m×n sample.
func drawSample(t *rapid.T, m, n int) sample {
	s := sample{m: m, n: n}
	if m == 0 || n == 0 {
		return s
	}
	if rapid.IntRange(0, 9).Draw(t, "full") == 0 {
		for i := range m {
			for j := range n {
				s.edges = append(s.edges, edge{i, j, rapid.IntRange(0, 9).Draw(t, "weight")})
			}
		}
		return s
	}
	undirected, loops := m == n && rapid.Bool().Draw(t, "undirected"), rapid.Bool().Draw(t, "loops")
	for range rapid.IntRange(0, 3*max(m, n)).Draw(t, "edges") {
		e := edge{rapid.IntRange(0, m-1).Draw(t, "from"), rapid.IntRange(0, n-1).Draw(t, "to"), rapid.IntRange(0, 9).Draw(t, "weight")}
		if e.from != e.to || loops || m != n {
			s.edges = append(s.edges, e)
		}
	}
	if undirected {
		s = s.both()
	}
	return s
}

// onGraphs checks f on the shapes and on random graphs.
func onGraphs(t *testing.T, f func(t rapid.TB, s sample)) {
	for _, c := range shapes {
		t.Run(c.reason, func(t *testing.T) { f(t, c.s) })
	}
	t.Run("random", rapid.MakeCheck(func(t *rapid.T) {
		n := rapid.IntRange(0, 10).Draw(t, "n")
		f(t, drawSample(t, n, n))
	}))
}

func build[T semiring.Number](t rapid.TB, s sample, f matrix.Format) *matrix.Matrix[T] {
	t.Helper()
	b := matrix.NewBuilder[T](s.m, s.n)
	for _, e := range s.edges {
		b.Add(e.from, e.to, T(e.weight))
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

// everyForm calls f with the sample in every format, stored as it is and as the
// transposed view of its transpose, with 1, 2, 3 and all threads in turn. It
// fails if f changes its input.
func everyForm[T semiring.Number](t rapid.TB, s sample, f func(name string, g matrix.Source[T], run Run)) {
	t.Helper()
	threads := 0
	for _, format := range []matrix.Format{matrix.CSR, matrix.Hypersparse, matrix.Bitmap, matrix.Full} {
		if format == matrix.Full && len(s.weights()) != s.m*s.n {
			continue
		}
		for _, how := range []string{"", " transposed", " with its transpose kept"} {
			a := build[T](t, s, format)
			var g matrix.Source[T] = a
			switch how {
			case " transposed":
				a = build[T](t, s.transposed(), format)
				g = a.T()
			case " with its transpose kept":
				a.IsSymmetric()
			}
			before := a.Clone()
			threads = (threads + 1) % 4
			name := fmt.Sprintf("%v of %T%s, %d threads", format, *new(T), how, threads)
			f(name, g, Run{Threads: threads})
			if !a.Equal(before) || a.Format() != format {
				t.Errorf("%s: the input has changed: %s", name, a.Text())
			}
		}
	}
}

// entries returns a vector as a map.
func entries[T semiring.Number](v *matrix.Vector[T]) map[int]float64 {
	m := map[int]float64{}
	for i, x := range v.All() {
		m[i] = float64(x)
	}
	return m
}
