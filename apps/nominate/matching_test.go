package nominate

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/apps/sgm"
	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
)

func ones(g *gen.Graph) *matrix.Matrix[float64] {
	return sure.Get(matrix.FromCSR(g.NRows, g.NCols, g.Ptr, g.Idx, slices.Repeat([]float64{1}, len(g.Idx))))
}

// The vertex that corresponds is ranked first in a copy, and near the top with noise; graphs of
// other sizes are padded.
func TestNominateByMatching(t *testing.T) {
	g, h := gen.Correlated(80, .2, .9, 3)
	for k, c := range []struct {
		reason string
		b      *gen.Graph
		first  int // places among which the true partner is
	}{{"a copy", g, 1}, {"with noise", h, 3}} {
		if !longtest.Takes(k, 2) {
			continue
		}
		b, p := gen.Renamed(c.b, 12, 5)
		back := make([]int, len(p))
		for w, v := range p {
			back[v] = w
		}
		found := 0
		for v := 20; v < 24; v++ {
			res, err := NominateByMatching(ones(g), ones(b), []int{v}, sgm.FirstSeeds(12), NominateByMatchingOptions{Restarts: 4})
			if err != nil {
				t.Fatal(err)
			}
			if len(res.Ranked) != 68 || res.Score.NVals() != 68 || res.Context.NVals() != 68 || res.Content.NVals() != 68 {
				t.Fatalf("%s: %d candidates, want 68", c.reason, len(res.Ranked))
			}
			for k, x := range res.Ranked {
				often, _ := res.Context.At(x.Vertex)
				strong, _ := res.Content.At(x.Vertex)
				if math.Abs(x.Distance-(often+strong)/2) > 1e-12 || often < 0 || often > 1 || strong < 0 || strong > 1+1e-12 {
					t.Fatalf("%s: vertex %d has score %v of %v and %v", c.reason, x.Vertex, x.Distance, often, strong)
				}
				if x.Vertex < 12 || k > 0 && x.Distance > res.Ranked[k-1].Distance {
					t.Fatalf("%s: place %d has vertex %d of score %v", c.reason, k, x.Vertex, x.Distance)
				}
				if k < c.first && x.Vertex == back[v] {
					found++
				}
			}
		}
		if found < 4 {
			t.Errorf("%s: %d of 4 vertices are found", c.reason, found)
		}
	}
	part := gen.Induced(g, []int32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 30, 31, 32, 33, 34, 35})
	o := NominateByMatchingOptions{SGMOptions: sgm.SGMOptions{Pad: true, Adopted: true}, Restarts: 2}
	if res, err := NominateByMatching(ones(g), ones(part), []int{31}, sgm.FirstSeeds(12), o); err != nil || len(res.Ranked) != 6 {
		t.Errorf("a smaller graph: %v", err)
	}
}

// The strength is the share of the rows that the matching makes agree, by definition.
func TestNominateByMatchingStrength(t *testing.T) {
	a := samples.Build[float64](t, samples.Random(30, 120, 3, false), matrix.CSR)
	res := sure.Get(NominateByMatching(a, a, []int{20, 25}, sgm.FirstSeeds(15)))
	at := func(i, j int) float64 {
		if _, ok := a.At(i, j); ok {
			return 1
		}
		return 0
	}
	copied := sure.Get(sgm.SGM(a, a, sgm.FirstSeeds(15)))
	if copied.After != 0 {
		t.Fatalf("%v disagreements with itself", copied.After)
	}
	for w := 15; w < 30; w++ {
		want := 0.
		for _, v := range []int{20, 25} {
			var common, degrees float64
			for u := range 30 {
				to, _ := copied.Match.At(u)
				common += at(v, u) * at(w, int(to))
				degrees += at(v, u) + at(w, u)
			}
			if common > 0 {
				want += common / degrees
			}
		}
		if got, _ := res.Content.At(w); math.Abs(got-want) > 1e-12 {
			t.Errorf("the strength of vertex %d is %v, want %v", w, got, want)
		}
	}
}

func TestNominateByMatchingErrors(t *testing.T) {
	a := samples.Build[float64](t, samples.Path(6).Both(), matrix.CSR)
	parameter, index, dimension := new(*workflow.ParameterError), new(*matrix.IndexError), new(*matrix.DimensionError)
	for _, c := range []struct {
		reason   string
		b        *matrix.Matrix[float64]
		interest []int
		opts     NominateByMatchingOptions
		as       any
	}{
		{"no vertex of interest", a, nil, NominateByMatchingOptions{}, parameter},
		{"a vertex beyond a", a, []int{6}, NominateByMatchingOptions{}, index},
		{"a seed", a, []int{1}, NominateByMatchingOptions{}, parameter},
		{"negative restarts", a, []int{4}, NominateByMatchingOptions{Restarts: -1}, parameter},
		{"a start", a, []int{4}, NominateByMatchingOptions{SGMOptions: sgm.SGMOptions{Start: sgm.Barycentre}}, parameter},
		{"b is wide", matrix.New[float64](2, 3), []int{4}, NominateByMatchingOptions{}, dimension},
		{"b is smaller", matrix.New[float64](5, 5), []int{4}, NominateByMatchingOptions{}, dimension},
	} {
		if _, err := NominateByMatching(a, c.b, c.interest, sgm.FirstSeeds(2), c.opts); !errors.As(err, c.as) || err.Error() == "" {
			t.Errorf("%s: %v (%T)", c.reason, err, err)
		}
	}
	if _, err := NominateByMatching[float64](nil, a, []int{1}, nil); err == nil {
		t.Error("no first graph is no error")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	o := NominateByMatchingOptions{SGMOptions: sgm.SGMOptions{Run: workflow.Run{Context: ctx}}}
	if _, err := NominateByMatching(a, a, []int{4}, sgm.FirstSeeds(2), o); !errors.Is(err, context.Canceled) {
		t.Errorf("under a context that has ended: %v", err)
	}
}
