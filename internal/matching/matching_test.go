package matching

import (
	"context"
	"errors"
	"math"
	"math/rand"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/hiveblas/hiveblas/auction"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
)

func init() { longtest.FewerChecks() }

// dense is a square matrix in full, the form of the oracles.
type dense [][]float64

func zeros(n int) dense {
	d := make(dense, n)
	for i := range d {
		d[i] = make([]float64, n)
	}
	return d
}

// random is a graph with about m edges of weights −2 … 5; a fifth leave vertex 1.
func random(n, m int, seed int64, undirected bool) dense {
	rng, d := rand.New(rand.NewSource(seed)), zeros(n)
	for k := range m {
		i, j := rng.Intn(n), rng.Intn(n)
		if k%5 == 0 {
			i = min(1, n-1)
		}
		d[i][j] = float64(rng.Intn(8) - 2)
		if undirected {
			d[j][i] = d[i][j]
		}
	}
	return d
}

func (d dense) join(u, v int) { d[u][v], d[v][u] = 1, 1 }

// sparse returns the entries that are not zero.
func (d dense) sparse(t rapid.TB) *matrix.View[float64] {
	t.Helper()
	var rows, cols []int
	var val []float64
	for i, row := range d {
		for j, x := range row {
			if x != 0 {
				rows, cols, val = append(rows, i), append(cols, j), append(val, x)
			}
		}
	}
	a := sure.Get(matrix.FromTuples(len(d), len(d), rows, cols, val, nil))
	return a.View()
}

// apart is Σ|A − PBPᵀ| by definition.
func apart(a, b dense, match []int) (sum float64) {
	for i := range a {
		for j := range a {
			sum += math.Abs(a[i][j] - b[match[i]][match[j]])
		}
	}
	return sum
}

func near(x, y float64) bool { return math.Abs(x-y) <= 1e-9*max(1, math.Abs(y)) }

func upTo(n int) []int {
	list := make([]int, n)
	for k := range list {
		list[k] = k
	}
	return list
}

// A tally counts the same after moves as a new one does, and as the definition.
func TestTally(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 12).Draw(t, "vertices")
		both := rapid.Bool().Draw(t, "undirected")
		draw := func(name string) dense {
			return random(n, 3*n, rapid.Int64Range(0, 50).Draw(t, name), both)
		}
		a, b := draw("a"), draw("b")
		order := rapid.Permutation(upTo(n))
		c := newTally(a.sparse(t), b.sparse(t), both, order.Draw(t, "match"))
		for range 3 {
			next := order.Draw(t, "next")
			c.move(upTo(n), next)
			if want := apart(a, b, next); !near(c.sum(), want) {
				t.Fatalf("%v disagreements, want %v", c.sum(), want)
			}
			fresh := newTally(a.sparse(t), b.sparse(t), both, slices.Clone(next))
			for u := range n {
				if !near(c.apart[u], fresh.apart[u]) || !near(c.share(u), fresh.share(u)) ||
					c.back[next[u]] != u {
					t.Fatalf("vertex %d: %v disagreements, want %v", u, c.apart[u], fresh.apart[u])
				}
			}
		}
	})
}

// A ball grows through vertices of low degree, from all its centres.
func TestTallyBall(t *testing.T) {
	a := zeros(9)
	for v := range 8 {
		a.join(v, v+1)
	}
	c := newTally(a.sparse(t), a.sparse(t), true, upTo(9))
	for _, x := range []struct {
		around       []int
		size, degree int
		want         []int
	}{
		{[]int{4}, 3, 4, []int{4, 3, 5}},
		{[]int{4}, 9, 3, []int{4}}, // inner vertices have 2 edges in each graph
		{[]int{0, 8, 0}, 4, 4, []int{0, 8, 1, 7}},
	} {
		got := c.ball(x.around, x.size, x.degree)
		slices.Sort(got)
		slices.Sort(x.want)
		if !slices.Equal(got, x.want) || slices.Contains(c.near, true) {
			t.Errorf("around %v: %v, want %v", x.around, got, x.want)
		}
	}
}

// A patch holds the gradient of its vertices and partners, by definition.
func TestPatch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 10).Draw(t, "vertices")
		both, loose := rapid.Bool().Draw(t, "undirected"), rapid.Bool().Draw(t, "loose")
		loop := float64(rapid.IntRange(0, 1).Draw(t, "loop"))
		a, b := random(n, 3*n, rapid.Int64Range(0, 50).Draw(t, "a"), both), random(n, 3*n, rapid.Int64Range(0, 50).Draw(t, "b"), both)
		match := rapid.Permutation(upTo(n)).Draw(t, "match")
		vertices := rapid.Permutation(upTo(n)).Draw(t, "order")[:rapid.IntRange(1, n).Draw(t, "some")]
		partners := make([]int, len(vertices))
		for k, v := range vertices {
			partners[k] = match[v]
		}
		hat := func(d dense, i, j int) float64 {
			x := 2 * d[i][j]
			if i == j {
				x += loop
			}
			return x
		}
		p := newPatch(newTally(a.sparse(t), b.sparse(t), both, match))
		for range 2 { // a patch is used again
			p.begin(vertices, partners, loose, loop)
			lo := rapid.IntRange(0, len(vertices)-1).Draw(t, "lo")
			hi := rapid.IntRange(lo+1, len(vertices)).Draw(t, "hi")
			costs, err := p.costs(lo, hi, func(v, w int) float64 { return float64(v*n + w) })
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range vertices[lo:hi] {
				for j, w := range partners[lo:hi] {
					want := 0.
					for u := range n {
						if loose && slices.Contains(vertices, u) {
							continue
						}
						want += hat(a, v, u) * hat(b, w, match[u])
						if !both {
							want += hat(a, u, v) * hat(b, match[u], w)
						}
					}
					x, stored := costs.At(i, j)
					if stored {
						x -= float64(v*n + w)
					}
					if !near(x, jitterScale*want) {
						t.Fatalf("the gradient at %d, %d is %v, want %v", v, w, x, jitterScale*want)
					}
				}
			}
			if p.end() <= 0 && loop == 1 {
				t.Fatal("a patch that reads nothing")
			}
		}
	})
}

// A search leaves a matching that keeps fixed vertices and classes and is no worse, and counts its
// disagreements.
func TestImprove(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 14).Draw(t, "vertices")
		both := rapid.Bool().Draw(t, "undirected")
		a := random(n, 2*n, rapid.Int64Range(0, 50).Draw(t, "a"), both)
		b := random(n, 2*n, rapid.Int64Range(0, 50).Draw(t, "b"), both)
		free := rapid.Permutation(upTo(n)).Draw(t, "free")[:rapid.IntRange(0, n).Draw(t, "some")]
		cut := rapid.IntRange(0, len(free)).Draw(t, "class")
		match := rapid.Permutation(upTo(n)).Draw(t, "match")
		p := Problem[float64]{A: a.sparse(t), B: b.sparse(t), Symmetric: both, Free: free,
			Ends: []int{cut, len(free)}, Unit: 4, Seed: rapid.Uint64().Draw(t, "seed"),
			Assignment: auction.Options{Bidding: auction.Jacobi}}
		before := slices.Clone(match)
		attempts := int64(0)
		p.Progress = func(attempt int64) {
			if attempt != attempts {
				t.Fatalf("attempt %d is reported as %d", attempts, attempt)
			}
			attempts++
		}
		got, err := Improve(p, match, Limit{Patience: 20, Work: math.MaxInt64})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(match, before) {
			t.Fatal("the matching given has changed")
		}
		if want := apart(a, b, got.Match); !near(got.Apart, want) || want > apart(a, b, before)+1e-9 {
			t.Fatalf("%v disagreements, want %v, from %v", got.Apart, want, apart(a, b, before))
		}
		if attempts != int64(got.Attempts) || (got.Work > 0) != (attempts > 0) {
			t.Errorf("%d attempts of work %d, %d are reported", got.Attempts, got.Work, attempts)
		}
		class := func(list []int, match []int) (of []int) {
			for _, v := range list {
				of = append(of, match[v])
			}
			slices.Sort(of)
			return of
		}
		for v := range n {
			if !slices.Contains(free, v) && got.Match[v] != before[v] {
				t.Fatalf("fixed vertex %d moves from %d to %d", v, before[v], got.Match[v])
			}
		}
		for _, list := range [][]int{free[:cut], free[cut:]} {
			if !slices.Equal(class(list, got.Match), class(list, before)) {
				t.Fatalf("the vertices %v have partners %v, had %v", list, class(list, got.Match), class(list, before))
			}
		}
	})
}

// crosswise is two cliques at one hub, one with an edge less, and the matching that exchanges them:
// only that edge disagrees.
func crosswise() (dense, []int) {
	d := zeros(21)
	for v := 1; v < 21; v++ {
		d.join(0, v)
	}
	for u := 1; u < 5; u++ {
		for v := u + 1; v < 5; v++ {
			d.join(u, v)
			if u > 1 || v > 2 {
				d.join(u+4, v+4)
			}
		}
	}
	match := upTo(21)
	for v := 1; v < 5; v++ {
		match[v], match[v+4] = match[v+4], match[v]
	}
	return d, match
}

// Where two matchings are as good, a search keeps the known pairs.
func TestImproveKnown(t *testing.T) {
	a := zeros(8) // a star, of which the copy lacks one leaf
	for v := 1; v < 8; v++ {
		a.join(0, v)
	}
	b := a.renamed(upTo(8))
	b[0][7], b[7][0] = 0, 0
	for seed := range uint64(8) {
		p := Problem[float64]{A: a.sparse(t), B: b.sparse(t), Symmetric: true, Free: upTo(8), Ends: []int{8}, Unit: 1,
			Seed: seed, Known: map[int]int{7: 7, 2: 2, 3: 3}}
		got, err := Improve(p, []int{0, 2, 1, 3, 4, 5, 6, 7}, Limit{Patience: 60, Work: math.MaxInt64})
		if err != nil || got.Apart != 2 || got.Match[7] != 7 || got.Match[3] != 3 {
			t.Errorf("seed %d: %v, %v disagreements: %v", seed, got.Match, got.Apart, err)
		}
	}
}

func TestImprovePartsMatchedCrosswise(t *testing.T) {
	d, match := crosswise()
	if before := apart(d, d, match); before != 4 {
		t.Fatalf("%v disagreements, want 4", before)
	}
	p := Problem[float64]{A: d.sparse(t), B: d.sparse(t), Symmetric: true, Free: upTo(21),
		Ends: []int{21}, Unit: 1}
	got, err := Improve(p, match, Limit{Patience: 480, Work: math.MaxInt64})
	if err != nil || got.Apart != 0 || apart(d, d, got.Match) != 0 {
		t.Errorf("%v disagreements after the search: %v", got.Apart, err)
	}
}

// A search ends at its limits: of work, of attempts in vain, and of its context.
func TestImproveLimits(t *testing.T) {
	d, match := crosswise()
	p := Problem[float64]{A: d.sparse(t), B: d.sparse(t), Symmetric: true, Free: upTo(21),
		Ends: []int{21}, Unit: 1}
	for _, c := range []struct {
		reason   string
		limit    Limit
		attempts int
	}{
		{"no work", Limit{480, 0}, 0},
		{"the first attempt exceeds it", Limit{480, 1}, 1},
		{"no patience", Limit{0, math.MaxInt64}, 0},
		{"one attempt in vain", Limit{1, math.MaxInt64}, 1},
	} {
		got, err := Improve(p, match, c.limit)
		if err != nil || got.Attempts != c.attempts || got.Apart != 4 {
			t.Errorf("%s: %d attempts, want %d; %v disagreements, want 4: %v", c.reason, got.Attempts, c.attempts, got.Apart, err)
		}
	}
	const many = 3 * fewSuspects
	var rows, cols []int
	for v := range many - 1 {
		rows, cols = append(rows, v, v+1), append(cols, v+1, v)
	}
	path := sure.Get(matrix.FromTuples(many, many, rows, cols, slices.Repeat([]float64{1}, len(rows)), nil))
	far := rand.New(rand.NewSource(1)).Perm(many) // nearly all vertices are suspects
	p = Problem[float64]{A: path.View(), B: path.View(), Symmetric: true, Free: upTo(many), Ends: []int{many}, Unit: 1}
	if got, err := Improve(p, far, Limit{480, math.MaxInt64}); err != nil || got.Attempts != 0 || !slices.Equal(got.Match, far) {
		t.Errorf("more than half of the vertices disagree: %d attempts, %v", got.Attempts, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	p = Problem[float64]{A: d.sparse(t), B: d.sparse(t), Symmetric: true, Free: upTo(21), Ends: []int{21}, Unit: 1}
	p.Assignment.Context = ctx
	if _, err := Improve(p, match, Limit{480, math.MaxInt64}); !errors.Is(err, context.Canceled) {
		t.Errorf("under a context that has ended: %v", err)
	}
}
