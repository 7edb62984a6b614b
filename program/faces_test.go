package program

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/semiring"
)

// TestFaces writes shortest paths by each face, and compares with Program.
func TestFaces(t *testing.T) {
	t.Parallel()
	g := randomGraph(t, 70, 300, 11)
	want, steps := naive(g, sssp(0), 1<<30)
	infinite, source := Value(math.Inf(1)), At(0, 0.0)
	relax := func(_ Vertex, d, sum float64) (float64, bool) { return min(d, sum), sum < d }
	type edge = Edge[float64, float64, float64]
	type edges = EdgeList[float64, float64, float64]
	for name, p := range map[string]Program[float64, float64, float64]{
		"gather, sum, apply": GatherSumApply[float64, float64, float64]{
			Init: infinite, Seeds: source, Sum: semiring.Min[float64](), Apply: relax,
			Gather: func(src, _, w float64) float64 { return src + w },
		}.Program(),
		"edge, message, vertex by edges": EdgeMessageVertex[float64, float64, float64]{
			Init: infinite, Seeds: source, Combiner: semiring.Min[float64](), Vertex: relax,
			Edge: func(e *edge) { e.Send(e.Src() + e.Weight()) },
		}.Program(),
		"edge, message, vertex by lists": EdgeMessageVertex[float64, float64, float64]{
			Init: infinite, Seeds: source, Vertex: relax,
			EList: func(_ Vertex, d float64, el *edges) {
				for k := range el.Len() {
					el.Send(k, 2*(d+el.Weight(k)))
				}
			},
			Message: func(m float64) float64 { return m / 2 },
			MList:   func(_ Vertex, _ float64, ml []float64) float64 { return slices.Min(ml) },
		}.Program(),
		"edge, vertex": EdgeVertex[float64, float64, float64]{
			InitData: infinite, Seeds: source, Combiner: semiring.Min[float64](),
			EdgeCompute: func(src, _, w float64) (float64, bool) { return src + w, true },
			VertexCompute: func(_ Vertex, d, sum float64) (float64, Vote) {
				if sum < d {
					return sum, VoteToActive
				}
				return d, VoteToHalt
			},
		}.Program(),
	} {
		for _, threads := range threadCounts {
			res, err := Run(context.Background(), g, p, Options{Threads: threads})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if got := sure.Get(res.State.Dense(0)); !slices.Equal(got, want) || res.Supersteps != steps {
				t.Errorf("%s: %v after %d supersteps, want %v after %d", name, got, res.Supersteps, want, steps)
			}
		}
	}
	for name, p := range map[string]Program[float64, float64, float64]{
		"Gather":   GatherSumApply[float64, float64, float64]{Init: infinite, Sum: semiring.Min[float64](), Apply: relax}.Program(),
		"Edges":    EdgeMessageVertex[float64, float64, float64]{Init: infinite, Combiner: semiring.Min[float64](), Vertex: relax}.Program(),
		"Apply":    EdgeVertex[float64, float64, float64]{InitData: infinite, Combiner: semiring.Min[float64](), EdgeCompute: func(_, _, _ float64) (float64, bool) { return 0, true }}.Program(),
		"Messages": EdgeMessageVertex[float64, float64, float64]{Init: infinite, Vertex: relax, Edge: func(*edge) {}}.Program(),
	} {
		if _, err := Run(context.Background(), g, p); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("a face without %s gives %v", name, err)
		}
	}
}

// TestMedusaPageRank runs figure 2 of Medusa's paper, and compares with its equation.
func TestMedusaPageRank(t *testing.T) {
	t.Parallel()
	g := randomGraph(t, 40, 170, 5).Pattern()
	p := EdgeMessageVertex[float64, bool, float64]{
		Init: Init(func(Vertex) float64 { return 1 }, "1"),
		EList: func(_ Vertex, rank float64, el *EdgeList[float64, bool, float64]) {
			el.SendAll(rank / float64(el.Len()))
		},
		Combiner:     semiring.Plus[float64](),
		Vertex:       func(_ Vertex, _, sum float64) (float64, bool) { return 0.15 + sum*0.85, true },
		All:          true,
		MaxIteration: 30,
	}
	res, err := Run(context.Background(), g, p.Program())
	if err != nil {
		t.Fatal(err)
	}
	want, degree := make([]float64, 40), make([]float64, 40)
	for v := range want {
		want[v] = 1
	}
	edges := randomGraph(t, 40, 170, 5)
	for e := range edges.All() {
		degree[e.Row]++
	}
	for range 30 {
		next := make([]float64, 40)
		for v := range next {
			next[v] = .15
		}
		for e := range edges.All() {
			next[e.Col] += .85 * want[e.Row] / degree[e.Row]
		}
		want = next
	}
	for v, x := range res.State.All() {
		if math.Abs(x-want[v]) > 1e-12 {
			t.Errorf("vertex %d has rank %v, want %v", v, x, want[v])
		}
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	good := sssp(0)
	if err := Check(good, 1); err != nil {
		t.Error(err)
	}
	type pair struct{ A, B int32 }
	sum := func(f func(x, y float64) float64) func(*Program[float64, float64, float64]) {
		return func(p *Program[float64, float64, float64]) {
			p.Sum = semiring.NewMonoid(semiring.NewBinary("own", f), 0)
			p.Supersteps = 3
		}
	}
	for _, c := range []struct {
		reason string
		change func(*Program[float64, float64, float64])
		law    string
	}{
		{"minus", sum(func(x, y float64) float64 { return x - y }), "commutative"},
		{"the first", sum(func(x, y float64) float64 {
			if x != 0 {
				return x
			}
			return y
		}), "commutative"},
		{"the mean", sum(func(x, y float64) float64 { return (x + y) / 2 }), "identity"},
		{"a square", sum(func(x, y float64) float64 { return x + y + x*x*y*y*(x+y) }), "associative"},
		{"not idempotent", func(p *Program[float64, float64, float64]) {
			p.Idempotent, p.Supersteps = true, 0
			p.Init = Init(func(v Vertex) float64 { return 1 }, "")
			p.Seeds = nil
			p.Apply = Apply(func(v Vertex, d, s float64) (float64, bool) { return d + 1, d < float64(v.ID%7) }, "")
		}, "disagrees"},
	} {
		p := good
		c.change(&p)
		err := Check(p, 1)
		if e, ok := err.(*LawError); !ok || !strings.Contains(e.Law, c.law) {
			t.Errorf("%s: %v, want a LawError that says %q", c.reason, err, c.law)
		}
	}
	most := semiring.NewMonoid(semiring.NewBinary("most", func(x, y pair) pair {
		if y.A > x.A || y.A == x.A && y.B > x.B {
			return y
		}
		return x
	}, ""), pair{math.MinInt32, 0})
	structs := Program[pair, [2]int8, pair]{
		Init:   Init(func(v Vertex) pair { return pair{v.ID % 5, v.ID} }, ""),
		Gather: Gather(func(src, _ pair, w [2]int8) pair { return pair{src.A + int32(w[0]), src.B} }, ""),
		Sum:    most,
		Apply:  Apply(func(_ Vertex, x, sum pair) (pair, bool) { return pair{max(x.A, sum.A) % 11, sum.B}, true }, ""),
	}
	if err := Check(structs, 2); err != nil {
		t.Error(err)
	}
	if err := Check(Program[pair, bool, pair]{}, 1); err == nil {
		t.Error("an empty program passes")
	}
}
