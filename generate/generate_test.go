package generate

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/hiveblas/hiveblas/matrix"
)

// all returns every edge of a graph, drawn in parts of the given size.
func all(t *testing.T, g *Graph, part int) (edges [][2]int32) {
	t.Helper()
	for lo := int64(0); lo < g.Edges(); lo += int64(part) {
		n := int(min(int64(part), g.Edges()-lo))
		src, dst := make([]int32, n), make([]int32, n)
		if err := g.Draw(lo, src, dst); err != nil {
			t.Fatal(err)
		}
		for k := range src {
			edges = append(edges, [2]int32{src[k], dst[k]})
		}
	}
	return edges
}

func must(t *testing.T) func(g *Graph, err error) *Graph {
	return func(g *Graph, err error) *Graph {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
}

func TestPartsAgree(t *testing.T) {
	t.Parallel()
	for name, g := range map[string]*Graph{
		"rmat":      must(t)(RMAT(9, 3000, RMATOptions{Seed: 3})),
		"uniform":   must(t)(Uniform(777, 3000, 4)),
		"grid":      must(t)(Grid(17, 23)),
		"ring":      must(t)(WattsStrogatz(300, 4, .2, 5)),
		"planted":   must(t)(Planted(500, 3000, 7, .1, 6)),
		"bipartite": must(t)(Bipartite(300, 200, 3000, 7)),
		"scrambled": Scrambled(must(t)(Bipartite(300, 200, 3000, 7)), 1),
	} {
		whole := all(t, g, 1<<20)
		if !slices.Equal(whole, all(t, g, 97)) {
			t.Errorf("%s: parts differ from the whole", name)
		}
		m, n := g.Dims()
		for _, e := range whole {
			if e[0] < 0 || int(e[0]) >= m || e[1] < 0 || int(e[1]) >= n {
				t.Fatalf("%s: edge %v of a %d×%d graph", name, e, m, n)
			}
		}
	}
}

func TestGrid(t *testing.T) {
	t.Parallel()
	for _, d := range [][2]int{{1, 1}, {1, 5}, {5, 1}, {2, 2}, {3, 4}, {7, 3}, {0, 4}} {
		g := must(t)(Grid(d[0], d[1]))
		var want [][2]int32
		for y := range d[0] {
			for x := range d[1] {
				v := int32(y*d[1] + x)
				if x+1 < d[1] {
					want = append(want, [2]int32{v, v + 1})
				}
				if y+1 < d[0] {
					want = append(want, [2]int32{v, v + int32(d[1])})
				}
			}
		}
		if got := all(t, g, 3); !slices.Equal(got, want) {
			t.Errorf("%v: got %v, want %v", d, got, want)
		}
	}
}

func TestWattsStrogatz(t *testing.T) {
	t.Parallel()
	for k, e := range all(t, must(t)(WattsStrogatz(10, 3, 0, 1)), 7) {
		if want := [2]int32{int32(k / 3), int32((k/3 + k%3 + 1) % 10)}; e != want {
			t.Errorf("edge %d of the ring is %v, want %v", k, e, want)
		}
	}
	moved := 0
	for k, e := range all(t, must(t)(WattsStrogatz(10000, 3, .25, 1)), 1000) {
		if e[1] != int32((k/3+k%3+1)%10000) {
			moved++
		}
	}
	if math.Abs(float64(moved)/30000-.25) > .01 {
		t.Errorf("%d of 30000 edges moved, want a quarter", moved)
	}
}

// TestRMATQuadrants counts edges by quadrant of the first level.
func TestRMATQuadrants(t *testing.T) {
	t.Parallel()
	var count [4]int
	for _, e := range all(t, must(t)(RMAT(10, 40000, RMATOptions{A: .4, B: .3, C: .2, Seed: 9})), 1<<12) {
		count[e[0]>>9<<1|e[1]>>9]++
	}
	for q, want := range []float64{.4, .3, .2, .1} {
		if got := float64(count[q]) / 40000; math.Abs(got-want) > .01 {
			t.Errorf("quadrant %d has a share of %v, want %v", q, got, want)
		}
	}
}

func TestPlanted(t *testing.T) {
	t.Parallel()
	for _, g := range []*Graph{must(t)(Planted(1003, 40000, 7, .2, 6)), Scrambled(must(t)(Planted(1003, 40000, 7, .2, 6)), 5)} {
		sizes := make([]int, 7)
		for v := range 1003 {
			sizes[g.Community(v)]++
		}
		if slices.Min(sizes) != 143 || slices.Max(sizes) != 144 {
			t.Errorf("sizes %v, want 143 or 144", sizes)
		}
		inside := 0
		for _, e := range all(t, g, 1<<12) {
			if g.Community(int(e[0])) == g.Community(int(e[1])) {
				inside++
			}
		}
		if got, want := float64(inside)/40000, .8+.2/7; math.Abs(got-want) > .01 {
			t.Errorf("a share of %v inside, want %v", got, want)
		}
		if g.Community(-1) != -1 || g.Community(1003) != -1 {
			t.Error("a community of no vertex")
		}
	}
}

func TestBipartite(t *testing.T) {
	t.Parallel()
	const rows, cols, edges = 60, 40, 100000
	count := make([]float64, cols)
	for _, e := range all(t, must(t)(Bipartite(rows, cols, edges, 1)), 1<<14) {
		count[e[1]]++
	}
	total := 0.
	for k := range cols {
		total += 1 / float64(k+1)
	}
	for k, got := range count {
		want := edges / float64(k+1) / total
		if math.Abs(got-want) > 6*math.Sqrt(want) {
			t.Errorf("column %d is drawn %v times, want about %v", k, got, want)
		}
	}
}

func TestScrambled(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2, 3, 5, 16, 17, 1000, 4097} {
		f := permutation(n, 7)
		seen := make([]bool, n)
		for v := range n {
			w := f.permuted(int32(v))
			if seen[w] || f.inverse(w) != int32(v) {
				t.Fatalf("n = %d: %d goes to %d, which goes back to %d", n, v, w, f.inverse(w))
			}
			seen[w] = true
		}
	}
}

func TestMatrix(t *testing.T) {
	t.Parallel()
	g := must(t)(RMAT(6, 500, RMATOptions{Seed: 2}))
	for _, simple := range []bool{false, true} {
		for _, undirected := range []bool{false, true} {
			var opts []MatrixOption
			if simple {
				opts = append(opts, Simple())
			}
			if undirected {
				opts = append(opts, Undirected())
			}
			a, err := Matrix[int8](g, opts...)
			if err != nil {
				t.Fatal(err)
			}
			want := map[matrix.Coord]bool{}
			for _, e := range all(t, g, 100) {
				if simple && e[0] == e[1] {
					continue
				}
				want[matrix.Coord{Row: int(e[0]), Col: int(e[1])}] = true
				if undirected {
					want[matrix.Coord{Row: int(e[1]), Col: int(e[0])}] = true
				}
			}
			for at, v := range a.All() {
				if v != 1 || !want[at] {
					t.Errorf("entry %v is %d", at, v)
				}
			}
			if a.NVals() != int64(len(want)) {
				t.Errorf("%d entries, want %d", a.NVals(), len(want))
			}
		}
	}
	type flag bool
	if a, err := Matrix[flag](g); err != nil || a.NVals() == 0 {
		t.Errorf("a named type: %v, %v", a, err)
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	for reason, f := range map[string]func() (*Graph, error){
		"scale":       func() (*Graph, error) { return RMAT(31, 1, RMATOptions{}) },
		"shares":      func() (*Graph, error) { return RMAT(3, 1, RMATOptions{A: .9, B: .9}) },
		"NaN":         func() (*Graph, error) { return RMAT(3, 1, RMATOptions{A: math.NaN()}) },
		"vertices":    func() (*Graph, error) { return Uniform(-1, 1, 0) },
		"no vertices": func() (*Graph, error) { return Uniform(0, 1, 0) },
		"edges":       func() (*Graph, error) { return Uniform(5, -1, 0) },
		"grid":        func() (*Graph, error) { return Grid(1<<20, 1<<20) },
		"k":           func() (*Graph, error) { return WattsStrogatz(5, 5, 0, 0) },
		"p":           func() (*Graph, error) { return WattsStrogatz(5, 2, 2, 0) },
		"communities": func() (*Graph, error) { return Planted(5, 2, 6, 0, 0) },
		"mixing":      func() (*Graph, error) { return Planted(5, 2, 2, -1, 0) },
		"columns":     func() (*Graph, error) { return Bipartite(5, 0, 1, 0) },
	} {
		g, err := f()
		var e *ParameterError
		if g != nil || !errors.As(err, &e) || !errors.Is(err, matrix.ErrInvalid) {
			t.Errorf("%s: got %v, %v", reason, g, err)
		}
	}
	g := must(t)(Uniform(5, 10, 0))
	if err := g.Draw(9, make([]int32, 2), make([]int32, 2)); !errors.Is(err, matrix.ErrIndex) {
		t.Errorf("an edge outside: %v", err)
	}
	if _, err := Matrix[bool](must(t)(Bipartite(2, 3, 1, 0)), Undirected()); !errors.Is(err, matrix.ErrInvalid) {
		t.Errorf("a rectangle: %v", err)
	}
}
