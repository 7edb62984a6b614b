package gen

import (
	"slices"
	"testing"
)

func TestWalkSample(t *testing.T) {
	g := CSR(Symmetrise(RMAT(12, 8, RMATOptions{Seed: 3})))
	s := WalkSample(g, 500, 1)
	if s.NRows != 500 || s.NNZ() < 500 {
		t.Fatalf("%d vertices, %d entries", s.NRows, s.NNZ())
	}
	for i := range s.NRows {
		if !slices.IsSorted(s.Row(i)) {
			t.Fatalf("row %d is not sorted", i)
		}
		for _, j := range s.Row(i) {
			if _, ok := slices.BinarySearch(s.Row(int(j)), int32(i)); !ok {
				t.Fatalf("(%d, %d) without its reverse", i, j)
			}
		}
	}
	if got, want := s.Fingerprint(), WalkSample(g, 500, 1).Fingerprint(); got != want || got == WalkSample(g, 500, 2).Fingerprint() {
		t.Error("the sample does not depend on the seed alone")
	}
	// Two components, the smaller too large to be left out.
	two := CSR(Tuples{Rows: []int32{0, 1, 2, 3}, Cols: []int32{1, 0, 3, 2}, NRows: 5, NCols: 5})
	if s := WalkSample(two, 4, 1); s.NNZ() != 4 {
		t.Errorf("%d entries, want 4", s.NNZ())
	}
}

func TestRenamed(t *testing.T) {
	g := CSR(RMAT(8, 8, RMATOptions{}))
	r, p := Renamed(g, 20, 7)
	if r.NNZ() != g.NNZ() || slices.Equal(p[20:], p[:len(p)-20]) {
		t.Fatal("another graph")
	}
	seen := make([]bool, len(p))
	for v, u := range p {
		if seen[u] || v < 20 && int(u) != v {
			t.Fatalf("%d is %d", v, u)
		}
		seen[u] = true
		for _, w := range r.Row(v) {
			if _, ok := slices.BinarySearch(g.Row(int(u)), p[w]); !ok {
				t.Fatalf("(%d, %d) is no edge", u, p[w])
			}
		}
	}
}

// common counts the entries that two graphs share.
func common(a, b *Graph) (n int64) {
	for i := range a.NRows {
		for _, j := range a.Row(i) {
			if _, ok := slices.BinarySearch(b.Row(i), j); ok {
				n++
			}
		}
	}
	return n
}

func TestCorrelated(t *testing.T) {
	a, b := Correlated(600, .05, .8, 2)
	want := .05 * 600 * 599
	for _, g := range []*Graph{a, b} {
		if got := float64(g.NNZ()); got < .95*want || got > 1.05*want {
			t.Errorf("%v entries, want about %v", got, want)
		}
	}
	if share := float64(common(a, b)) / float64(a.NNZ()); share < .77 || share > .83 {
		t.Errorf("%v of the edges are in both, want 0.8", share)
	}
	a, b = Correlated(100, .1, 1, 2)
	if common(a, b) != a.NNZ() || a.NNZ() != b.NNZ() {
		t.Error("with s = 1 they differ")
	}
}

func TestNearlyAligned(t *testing.T) {
	const noise = .1
	a, b, p := NearlyAligned(2000, 20000, noise, 5)
	if n := a.NNZ(); n < 38000 || n > 40000 {
		t.Errorf("%d entries", n)
	}
	moved := 0
	back := make([]int32, len(p))
	for v, u := range p {
		back[u] = int32(v)
		if int(u) != v {
			moved++
		}
	}
	if moved < 100 || moved > 300 {
		t.Errorf("%d of 2000 vertices have changed places", moved)
	}
	if share := float64(common(a, Induced(b, back))) / float64(a.NNZ()); share < .87 || share > .93 {
		t.Errorf("%v of the edges are in both, want 0.9", share)
	}
	if share := float64(common(a, b)) / float64(a.NNZ()); share < .6 || share > .87 {
		t.Errorf("%v of the edges agree as numbered", share)
	}
}

// Moved keeps the other edges, and Road joins all vertices by few edges.
func TestMovedAndRoad(t *testing.T) {
	road := CSR(Road(30, 20, .3, 1))
	edges := road.NNZ() / 2
	if tree := int64(599); edges < tree+100 || edges > tree+250 {
		t.Errorf("%d edges, want about 765", edges)
	}
	seen := make([]bool, 600)
	seen[0] = true
	for list := []int32{0}; len(list) > 0; list = list[1:] {
		for _, j := range road.Row(int(list[0])) {
			if !seen[j] {
				seen[j], list = true, append(list, j)
			}
		}
	}
	if slices.Contains(seen, false) {
		t.Error("a vertex is not joined to the others")
	}
	moved := Moved(road, .1, 3)
	if kept := float64(common(road, moved)) / float64(road.NNZ()); kept < .85 || kept > .95 {
		t.Errorf("%v of the edges are kept, want 0.9", kept)
	}
	if same := Moved(road, 0, 3); common(road, same) != road.NNZ() || same.NNZ() != road.NNZ() {
		t.Error("without a share edges have moved")
	}
}
