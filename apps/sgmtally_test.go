package apps

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/hiveblas/hiveblas/matrix"
)

// A tally that has moved counts as a new one does.
func TestTally(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 12).Draw(t, "vertices")
		both := rapid.Bool().Draw(t, "undirected")
		draw := func(seed int64) *matrix.Matrix[float64] {
			return build[float64](t, random(n, 3*n, seed, both), matrix.CSR)
		}
		a, b := draw(rapid.Int64Range(0, 50).Draw(t, "a")), draw(rapid.Int64Range(0, 50).Draw(t, "b"))
		order := rapid.Permutation(upTo(n))
		c := newTally(a.View(), b.View(), both, order.Draw(t, "match"))
		for range 3 {
			next := order.Draw(t, "next")
			c.move(upTo(n), next)
			v := matrix.NewVector[int32](n)
			for i, j := range next {
				if err := v.Set(i, int32(j)); err != nil {
					t.Fatal(err)
				}
			}
			if want := disagreements(a, b, v); !close9(c.sum(), want, want) {
				t.Fatalf("%v disagreements, want %v", c.sum(), want)
			}
			fresh := newTally(a.View(), b.View(), both, slices.Clone(next))
			for u := range n {
				if !close9(c.apart[u], fresh.apart[u], 1) || !close9(c.share(u), fresh.share(u), 1) || c.back[next[u]] != u {
					t.Fatalf("vertex %d: %v disagreements, want %v", u, c.apart[u], fresh.apart[u])
				}
			}
		}
	})
}

func upTo(n int) []int {
	list := make([]int, n)
	for k := range list {
		list[k] = k
	}
	return list
}

// A ball grows through vertices of low degree, from all its centres.
func TestTallyBall(t *testing.T) {
	a := build[float64](t, path(9).both(), matrix.CSR)
	c := newTally(a.View(), a.View(), true, upTo(9))
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

// Two cliques that hang on one hub, one with an edge less, are put right
// though only the edge disagrees when they are matched crosswise.
func TestRepairPartsMatchedCrosswise(t *testing.T) {
	s := blank(21)
	join := func(u, v int) { s.edges = append(s.edges, edge{u, v, 1}, edge{v, u, 1}) }
	for v := 1; v < 21; v++ {
		join(0, v)
	}
	for u := 1; u < 5; u++ {
		for v := u + 1; v < 5; v++ {
			join(u, v)
			if u > 1 || v > 2 {
				join(u+4, v+4)
			}
		}
	}
	a := build[float64](t, s, matrix.CSR)
	p, err := newPairing[float64](a, a, nil, SGMOptions{})
	if err != nil {
		t.Fatal(err)
	}
	f, err := newRelaxation(p)
	if err != nil {
		t.Fatal(err)
	}
	match := make([]int32, 21)
	for v := range match {
		match[v] = int32(v)
	}
	for v := 1; v < 5; v++ {
		match[v], match[v+4] = match[v+4], match[v]
	}
	before, err := f.disagreements(match)
	if err != nil || before != 4 {
		t.Fatalf("%v disagreements, want 4: %v", before, err)
	}
	if _, after, err := f.repair(match, repairs, math.MaxInt64); err != nil || after != 0 {
		t.Errorf("%v disagreements after the repair: %v", after, err)
	}
}
