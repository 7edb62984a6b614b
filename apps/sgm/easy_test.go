package sgm

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"testing"

	"pgregory.net/rapid"

	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
)

// Copies without noise are solved without a step, up to automorphisms.
func TestSGMCopies(t *testing.T) {
	undirected := func(s samples.Sample) samples.Sample { return s.Both() }
	star := samples.Blank(12)
	for v := 1; v < 12; v++ {
		star.Edges = append(star.Edges, samples.Edge{From: 0, To: v, Weight: 1})
	}
	cycle := samples.Path(9)
	cycle.Edges = append(cycle.Edges, samples.Edge{From: 8, To: 0, Weight: 1})
	weighted := samples.Path(10)
	for k := range weighted.Edges {
		weighted.Edges[k].Weight = 1 + k%3
	}
	for _, c := range []struct {
		reason string
		s      samples.Sample
		seeds  []int
	}{
		{"a star without seeds", undirected(star), nil},
		{"a star, leaves as seeds", undirected(star), []int{3, 4}},
		{"a cycle without seeds", undirected(cycle), nil},
		{"a cycle, one seed", undirected(cycle), []int{2}},
		{"a directed cycle, one seed", cycle, []int{2}},
		{"two cycles", undirected(cycle.Beside(cycle)), []int{1}},
		{"a cycle beside a star", undirected(cycle.Beside(star)), nil},
		{"a directed path", samples.Path(7), nil},
		{"weights alone tell vertices apart", undirected(weighted), nil},
		{"a clique", samples.Clique(6, false), []int{0}},
		{"no edges", samples.Blank(5), []int{1}},
		{"no vertices", samples.Blank(0), nil},
		{"all vertices are seeds", undirected(samples.Path(5)), []int{0, 1, 2, 3, 4}},
		{"a tree", tree(200), []int{0, 7}},
		{"random, directed", samples.Random(60, 200, 3, false), nil},
	} {
		t.Run(c.reason, func(t *testing.T) {
			a := samples.Build[float64](t, c.s, matrix.CSR)
			for order := range int64(3) {
				b, p := shuffled(t, a, 0, order)
				back := make([]int, len(p)) // vertex w of b is p[w] of a
				for w, v := range p {
					back[v] = w
				}
				var seeds []SeedPair
				for _, v := range c.seeds {
					seeds = append(seeds, SeedPair{v, back[v]})
				}
				for _, opts := range []SGMOptions{{}, {HardSeeds: true}} {
					res := sure.Get(SGM(a, b, seeds, opts))
					if res.After != 0 || len(res.Iterations) != 0 || res.MatchedSeeds != len(seeds) || !res.Converged || res.Searches != 1 {
						t.Errorf("%+v: %v disagreements after %d steps, %d seeds kept", opts, res.After, len(res.Iterations), res.MatchedSeeds)
					}
					if want := disagreements(a, b, identity(len(p), len(p))); res.Before != want {
						t.Errorf("%v disagreements before, want %v", res.Before, want)
					}
				}
			}
		})
	}
}

// Copies of the graphs of the data folder are solved from 20 random seeds.
func TestSGMCopiesOfData(t *testing.T) {
	files := sure.Get(filepath.Glob(filepath.Join(samples.Folder(), "graphs", "*.mtx*")))
	if len(files) == 0 {
		t.Skip("no graphs in the data folder")
	}
	solved := 0
	for k, file := range files {
		if stat := sure.Get(os.Stat(file)); stat.Size() > 300_000 { // of more vertices
			continue
		}
		a, err := graphio.ReadMatrixMarketFile[float64](file)
		if err != nil {
			continue
		}
		n, m := a.Dims()
		if n != m || n > 5000 {
			continue
		}
		b, p := shuffled(t, a, 0, int64(k))
		var seeds []SeedPair
		for _, w := range gen.Permutation(n, uint64(k))[:min(20, n)] {
			seeds = append(seeds, SeedPair{p[w], int(w)})
		}
		res, err := SGM(a, b, seeds)
		if err != nil {
			t.Fatal(err)
		}
		if res.After != 0 || res.Before == 0 || res.MatchedSeeds != len(seeds) {
			t.Errorf("%s: %v disagreements of %v", filepath.Base(file), res.After, res.Before)
		}
		solved++
	}
	if solved == 0 {
		t.Error("no graph of the data folder was small enough")
	}
}

// On small graphs no matching is better than the result more often than rarely, and none is better
// than the best by the definition: all matchings are tried.
func TestSGMBruteForce(t *testing.T) {
	best, cases := 0, 6
	if longtest.Enabled() {
		cases = 60
	}
	for k := range int64(cases) {
		n := 4 + int(k%3)
		a := samples.Build[float64](t, samples.Random(n, 2*n, k, k%2 == 0), matrix.CSR)
		b := samples.Build[float64](t, samples.Random(n, 2*n, k/2+100, k%2 == 0), matrix.CSR)
		res := sure.Get(SGM(a, b, FirstSeeds(int(k)%2)))
		if got := disagreements(a, b, res.Match); !close9(got, res.After, got) {
			t.Fatalf("case %d: %v disagreements, the definition counts %v", k, res.After, got)
		}
		least, x, y := math.Inf(1), denseOf(a.View(), n), denseOf(b.View(), n)
		eachOrder(n, func(match []int) {
			sum := 0.0
			for i, u := range match {
				for j, v := range match {
					sum += math.Abs(x[i][j] - y[u][v])
				}
			}
			least = min(least, sum)
		})
		if res.After < least-1e-9 {
			t.Fatalf("case %d: %v disagreements, fewer than the least, %v", k, res.After, least)
		}
		if res.After < least+1e-9 {
			best++
		}
	}
	if best < cases*3/4 {
		t.Errorf("%d of %d matchings are the best", best, cases)
	}
}

// eachOrder calls try with each permutation.
func eachOrder(n int, try func([]int)) {
	list := make([]int, n)
	for k := range list {
		list[k] = k
	}
	var step func(k int)
	step = func(k int) {
		if k == n {
			try(list)
			return
		}
		for i := k; i < n; i++ {
			list[k], list[i] = list[i], list[k]
			step(k + 1)
			list[k], list[i] = list[i], list[k]
		}
	}
	step(0)
}

// The colours of the products part the vertices as refinement by definition does.
func TestSGMColours(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "n")
		s := samples.DrawSample(t, n, n)
		a := samples.Build[float64](t, s, matrix.CSR)
		b := matrix.New[float64](n, n)
		p := order(t, n)
		sure.Do(ops.Extract(b, a, ops.Of(p...), ops.Of(p...)))
		var seeds []SeedPair
		for w := range rapid.IntRange(0, n).Draw(t, "seeds") {
			seeds = append(seeds, SeedPair{p[w], w})
		}
		q, err := newPairing(a.View(), b.View(), seeds, SGMOptions{})
		if err != nil {
			t.Fatal(err)
		}
		c, err := q.colours()
		if err != nil {
			t.Fatal(err)
		}
		if c.shared != n {
			t.Fatalf("%d vertices of %d share a colour with a vertex of the copy", c.shared, n)
		}
		for w, v := range p {
			if c.a[v] != c.b[w] {
				t.Fatalf("vertex %d has colour %d, in the copy %d", v, c.a[v], c.b[w])
			}
		}
		want := refinedBy(denseOf(a.View(), n), seeds)
		for u := range n {
			for v := range n {
				if (c.a[u] == c.a[v]) != (want[u] == want[v]) {
					t.Fatalf("vertices %d and %d have colours %d and %d, by definition %d and %d", u, v, c.a[u], c.a[v], want[u], want[v])
				}
			}
		}
	})
}

// refinedBy is colour refinement by definition: colours are numbers of descriptions.
func refinedBy(a dense, seeds []SeedPair) []int {
	colour := make([]int, len(a))
	for k, s := range seeds {
		colour[s.A] = k + 1
	}
	for range len(a) {
		about := make([]string, len(a))
		for v := range a {
			var near []string
			for u := range a {
				if a[v][u] != 0 || a[u][v] != 0 {
					near = append(near, fmt.Sprint(colour[u], a[v][u], a[u][v], u == v))
				}
			}
			sort.Strings(near)
			about[v] = fmt.Sprint(colour[v], near)
		}
		all := slices.Compact(slices.Sorted(slices.Values(about)))
		for v := range a {
			colour[v], _ = slices.BinarySearch(all, about[v])
		}
	}
	return colour
}

// Percolation finds pairs of correlated graphs, and the search from them the rest.
func TestSGMCorrelated(t *testing.T) {
	for k, hard := range []bool{false, true} {
		if !longtest.Takes(k, 2) {
			continue
		}
		g, h := gen.Correlated(600, .06, .9, 5)
		h, p := gen.Renamed(h, 15, 2)
		ones := func(g *gen.Graph) *matrix.Matrix[float64] {
			return sure.Get(matrix.FromCSR(g.NRows, g.NCols, g.Ptr, g.Idx, slices.Repeat([]float64{1}, len(g.Idx))))
		}
		a, b := ones(g), ones(h)
		q := sure.Get(newPairing(a.View(), b.View(), FirstSeeds(15), SGMOptions{HardSeeds: hard}))
		if _, err := q.colours(); err != nil {
			t.Fatal(err)
		}
		plans := sure.Get(q.grown())
		right := 0
		for _, x := range plans[0].pairs {
			if int(p[x.B]) == x.A {
				right++
			}
		}
		if right < 550 {
			t.Errorf("percolation finds %d of 585 pairs", right)
		}
		res := sure.Get(SGM(a, b, FirstSeeds(15), SGMOptions{HardSeeds: hard}))
		right = 0
		for v, w := range res.Match.All() {
			if int(p[w]) == v {
				right++
			}
		}
		if right != 600 || res.After == 0 {
			t.Errorf("%d of 600 vertices are right, %v disagreements", right, res.After)
		}
	}
}

// A search with similarities minimises disagreements less similarities.
func TestSGMSimilarity(t *testing.T) {
	n := 6
	path := samples.Path(n)
	for k := range path.Edges {
		path.Edges[k].Weight = 1
	}
	a := samples.Build[float64](t, path.Both(), matrix.CSR)
	reverse := matrix.New[float64](n, n)
	for v := range n {
		sure.Do(reverse.Set(v, n-1-v, .5))
	}
	for _, opts := range []SGMOptions{{}, {Start: SparseStart}, {Start: Barycentre}, {HardSeeds: true}, {Start: RandomStart, Seed: 3}} {
		opts.Similarity = reverse
		res, err := SGM(a, a, nil, opts)
		if err != nil {
			t.Fatal(err)
		}
		if res.After != 0 || !close9(res.Similarity, 3, 1) {
			t.Errorf("%+v: %v disagreements, similarity %v, want 0 and 3", opts.Start, res.After, res.Similarity)
		}
	}
	// A strong similarity outweighs the edges; a weak one does not.
	crossed := matrix.New[float64](n, n)
	for v := range n {
		sure.Do(crossed.Set(v, (v+2)%n, 50))
	}
	res := sure.Get(SGM(a, a, FirstSeeds(1), SGMOptions{Similarity: crossed}))
	if !close9(res.Similarity, 300, 1) || res.After == 0 {
		t.Errorf("similarity %v, %v disagreements, want 300 and some", res.Similarity, res.After)
	}
	parameter, dimension := new(*workflow.WeightError), new(*matrix.DimensionError)
	bad := crossed.Clone()
	sure.Do(bad.Set(0, 0, math.NaN()))
	if _, err := SGM(a, a, nil, SGMOptions{Similarity: bad}); !errors.As(err, parameter) {
		t.Errorf("NaN: %v", err)
	}
	if _, err := SGM(a, a, nil, SGMOptions{Similarity: matrix.New[float64](n, n+1)}); !errors.As(err, dimension) {
		t.Errorf("too wide: %v", err)
	}
}

// Adopted padding finds a part of the larger graph, and counts the edges between matched vertices.
func TestSGMAdopted(t *testing.T) {
	large := gnp(t, 40, .3, 8)
	list := []int{3, 31, 8, 22, 5, 17, 11, 36, 29, 1, 14, 26, 9, 38, 20}
	small := matrix.New[float64](len(list), len(list))
	sure.Do(ops.Extract(small, large, ops.Of(list...), ops.Of(list...)))
	var seeds, back []SeedPair
	for k := range 8 {
		seeds, back = append(seeds, SeedPair{k, list[k]}), append(back, SeedPair{list[k], k})
	}
	for _, start := range []SGMStart{AutoStart, Barycentre} {
		o := SGMOptions{Pad: true, Adopted: true, HardSeeds: true, Start: start}
		res := sure.Get(SGM(small, large, seeds, o))
		for v, w := range res.Match.All() {
			if int(w) != list[v] {
				t.Errorf("vertex %d is matched with %d, want %d", v, w, list[v])
			}
		}
		other := sure.Get(SGM(large, small, back, o))
		if res.After != 0 || other.After != 0 || other.Match.NVals() != int64(len(list)) {
			t.Errorf("%v and %v disagreements between matched vertices", res.After, other.After)
		}
		o.Adopted = false
		if naive := sure.Get(SGM(small, large, seeds, o)); naive.After == 0 {
			t.Error("the edges outside of the part are no disagreements of naive padding")
		}
	}
}
