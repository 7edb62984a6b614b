package matching

import (
	"context"
	"math/rand"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// pair is two graphs as words.
func (d dense) pair(t rapid.TB, b dense, symmetric bool) *Pair {
	return PairOf(d.sparse(t), b.sparse(t), symmetric)
}

// renamed is the graph with vertex v named p[v].
func (d dense) renamed(p []int) dense {
	b := zeros(len(d))
	for i := range d {
		for j := range d {
			b[p[i]][p[j]] = d[i][j]
		}
	}
	return b
}

// Align finds copies, and says exact of no other graphs.
func TestAlign(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 14).Draw(t, "vertices")
		both := rapid.Bool().Draw(t, "undirected")
		a := random(n, rapid.IntRange(0, 3*n).Draw(t, "edges"), rapid.Int64Range(0, 50).Draw(t, "a"), both)
		p := rapid.Permutation(upTo(n)).Draw(t, "names")
		b := a.renamed(p)
		copied := rapid.Bool().Draw(t, "copied")
		if !copied {
			b = random(n, rapid.IntRange(0, 3*n).Draw(t, "other edges"), rapid.Int64Range(0, 50).Draw(t, "b"), both)
		}
		one, two := make([]int32, n), make([]int32, n)
		for v := range rapid.IntRange(0, n).Draw(t, "seeds") {
			one[v], two[p[v]] = int32(v+1), int32(v+1)
		}
		match, exact, work := a.pair(t, b, both).Align(one, two, false, 1<<20)
		if exact && (match == nil || apart(a, b, match) != 0) {
			t.Fatalf("exact, with %v disagreements", apart(a, b, match))
		}
		if copied && match == nil {
			t.Fatal("the cells of a copy differ in number")
		}
		if match != nil {
			for v, w := range match {
				if one[v] != two[w] {
					t.Fatalf("vertex %d of colour %d is matched with %d of colour %d", v, one[v], w, two[w])
				}
			}
			sorted := slices.Clone(match)
			if slices.Sort(sorted); !slices.Equal(sorted, upTo(n)) {
				t.Fatalf("no matching: %v", match)
			}
		}
		if work < 0 {
			t.Fatalf("a work of %d", work)
		}
	})
}

// Where colours tell nothing, Align takes back a pair that does not fit.
func TestAlignRegular(t *testing.T) {
	ring := func(d dense, first, length int) {
		for k := range length {
			d.join(first+k, first+(k+1)%length)
		}
	}
	hexagon, triangles, mixed := zeros(6), zeros(6), zeros(13)
	ring(hexagon, 0, 6)
	ring(triangles, 0, 3)
	ring(triangles, 3, 3)
	ring(mixed, 0, 3)
	ring(mixed, 3, 4)
	ring(mixed, 7, 6)
	blank := func(n int) []int32 { return make([]int32, n) }
	if _, exact, _ := hexagon.pair(t, triangles, true).Align(blank(6), blank(6), false, 1<<20); exact {
		t.Error("a hexagon equals two triangles")
	}
	for seed := range int64(20) {
		p := rand.New(rand.NewSource(seed)).Perm(13)
		match, exact, _ := mixed.pair(t, mixed.renamed(p), true).Align(blank(13), blank(13), false, 1<<20)
		if !exact || apart(mixed, mixed.renamed(p), match) != 0 {
			t.Errorf("rings of 3, 4 and 6, names %d: exact %v", seed, exact)
		}
	}
	if match, exact, _ := mixed.pair(t, mixed, true).Align(blank(13), blank(13), false, 0); exact || match == nil {
		t.Errorf("without work: %v, exact %v", match, exact)
	}
	if match, _, _ := hexagon.pair(t, hexagon, true).Align([]int32{1, 0, 0, 0, 0, 0}, blank(6), false, 1<<20); match != nil {
		t.Errorf("colours that differ in number give %v", match)
	}
}

// Grow matches each vertex once, within classes, the seeds first, and the same way each time.
func TestGrow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 20).Draw(t, "vertices")
		both := rapid.Bool().Draw(t, "undirected")
		a := random(n, 4*n, rapid.Int64Range(0, 50).Draw(t, "a"), both)
		b := random(n, 4*n, rapid.Int64Range(0, 50).Draw(t, "b"), both)
		p := rapid.Permutation(upTo(n)).Draw(t, "seeds of B")
		var seeds [][2]int32
		class, other := make([]int32, n), make([]int32, n)
		for v := range n {
			class[v] = int32(rapid.IntRange(-1, 1).Draw(t, "class"))
			other[p[v]] = class[v]
		}
		for v := range rapid.IntRange(0, n).Draw(t, "seeds") {
			seeds = append(seeds, [2]int32{int32(v), int32(p[v])})
		}
		var rounds []Colours
		if rapid.Bool().Draw(t, "colours") {
			rounds = []Colours{{class, other}}
		}
		limit := rapid.SampledFrom([]int64{0, 100, 1 << 20}).Draw(t, "limit")
		pairs, work := a.pair(t, b, both).Grow(seeds, class, other, rounds, limit)
		if len(pairs) < len(seeds) || !slices.Equal(pairs[:len(seeds)], seeds) {
			t.Fatalf("%v does not begin with the seeds", pairs)
		}
		usedA, usedB := map[int32]bool{}, map[int32]bool{}
		for k, x := range pairs {
			if usedA[x[0]] || usedB[x[1]] {
				t.Fatalf("%v is matched twice", x)
			}
			usedA[x[0]], usedB[x[1]] = true, true
			if k >= len(seeds) && (class[x[0]] != other[x[1]] || class[x[0]] < 0) {
				t.Fatalf("%v is of classes %d and %d", x, class[x[0]], other[x[1]])
			}
		}
		again, same := a.pair(t, b, both).Grow(seeds, class, other, rounds, limit)
		if !slices.Equal(again, pairs) || same != work {
			t.Fatalf("%v, then %v", pairs, again)
		}
	})
}

// Two common neighbours match a vertex, one does not, and where nothing else is left the marked
// pairs spread.
func TestGrowMarks(t *testing.T) {
	none := func(n int) []int32 { return make([]int32, n) }
	square := zeros(4) // 0 and 1 join 2; 2 alone joins 3
	square.join(0, 2)
	square.join(1, 2)
	square.join(2, 3)
	pairs, _ := square.pair(t, square, true).Grow([][2]int32{{0, 0}, {1, 1}}, none(4), none(4), nil, 1<<20)
	if !slices.Contains(pairs, [2]int32{2, 2}) {
		t.Errorf("two marks do not match: %v", pairs)
	}
	edge := zeros(2)
	edge.join(0, 1)
	if pairs, _ := edge.pair(t, edge, true).Grow([][2]int32{{0, 0}}, none(2), none(2), nil, 1<<20); len(pairs) != 1 {
		t.Errorf("one mark matches: %v", pairs)
	}
	// From both ends of a path of five the pairs (1,1) and (3,3) have one mark each, and mark
	// (2,2).
	long := zeros(5)
	for v := range 4 {
		long.join(v, v+1)
	}
	pairs, _ = long.pair(t, long, true).Grow([][2]int32{{0, 0}, {4, 4}}, none(5), none(5), nil, 1<<20)
	if !slices.Contains(pairs, [2]int32{2, 2}) {
		t.Errorf("marked pairs do not spread: %v", pairs)
	}
}

// A part without seeds grows from a rare colour.
func TestGrowFromColours(t *testing.T) {
	d := zeros(10)
	for v := range 5 {
		d.join(5+v, 5+(v+1)%5)
	}
	d.join(5, 7)
	d.join(6, 9)
	colour := []int32{0, 0, 0, 0, 0, 1, 2, 3, 4, 5}
	none := make([]int32, 10)
	p := []int{0, 1, 2, 3, 4, 9, 8, 7, 6, 5}
	b := d.renamed(p)
	other := make([]int32, 10)
	for v, w := range p {
		other[w] = colour[v]
	}
	pairs, _ := d.pair(t, b, true).Grow([][2]int32{{0, 0}}, none, none, []Colours{{colour, other}}, 1<<20)
	for _, x := range pairs {
		if x[0] >= 5 && p[x[0]] != int(x[1]) {
			t.Errorf("vertex %d is matched with %d, want %d", x[0], x[1], p[x[0]])
		}
	}
	if len(pairs) != 10 {
		t.Errorf("%d pairs, want 10", len(pairs))
	}
}

// A context that has ended ends both with what they have.
func TestPairEnds(t *testing.T) {
	d := zeros(9)
	for v := range 8 {
		d.join(v, v+1)
		d.join(v, (v+3)%9)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	p := d.pair(t, d, true)
	none := make([]int32, 9)
	seeds := [][2]int32{{0, 0}, {1, 1}, {4, 4}}
	if pairs, _ := p.Grow(seeds, none, none, nil, 1<<20); len(pairs) < 6 {
		t.Fatalf("%d pairs before the context ends", len(pairs))
	}
	p.Context = ctx
	if pairs, _ := p.Grow(seeds, none, none, nil, 1<<20); len(pairs) >= 6 {
		t.Errorf("%d pairs after the context has ended", len(pairs))
	}
	blank := zeros(4).pair(t, zeros(4), true)
	blank.Context = ctx
	if _, exact, _ := blank.Align(none[:4], none[:4], false, 1<<20); exact {
		t.Error("pairs are individualised after the context has ended")
	}
}

func TestPlain(t *testing.T) {
	d := zeros(3)
	d.join(0, 1)
	if !d.pair(t, d, true).Plain() || !zeros(2).pair(t, zeros(2), true).Plain() {
		t.Error("one weight is not plain")
	}
	d[1][2], d[2][1] = 2, 2
	if d.pair(t, d, true).Plain() {
		t.Error("two weights are plain")
	}
}
