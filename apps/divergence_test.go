package apps

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/matrix"
)

// An attenuation beyond 1 over the largest eigenvalue is an error that gives about that bound,
// whether the sums become infinite or the iterations end before; one below it is none.
func TestKatzDivergence(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason string
		sample
		bound float64
	}{
		{"a path, whose changes alternate", path(3).both(), 1 / math.Sqrt2},
		{"a star", star(5).both(), .5},
		{"a triangle and a tail", sample{5, 5, []edge{{0, 1, 1}, {1, 2, 1}, {0, 2, 1}, {2, 3, 1}, {3, 4, 1}}}.both(), 1 / 2.2143},
	} {
		t.Run(c.reason, func(t *testing.T) {
			g := build[float64](t, c.sample, matrix.CSR)
			for _, o := range []CentralityOptions{
				{Attenuation: 1.3 * c.bound}, {Attenuation: 1.3 * c.bound, MaxIterations: 60}, {Attenuation: 40 * c.bound},
			} {
				_, err := KatzCentrality(g, o)
				var p *ParameterError
				if !errors.As(err, &p) || p.Arg != "the attenuation" {
					t.Fatalf("%+v: %v", o, err)
				}
				got := 0.0
				if _, err := fmt.Sscanf(p.Want, "below %g", &got); err != nil || math.Abs(got-c.bound) > .02*c.bound {
					t.Errorf("%+v: the bound is %v, want about %v (%v)", o, got, c.bound, p)
				}
			}
			res, err := KatzCentrality(g, CentralityOptions{Attenuation: .9 * c.bound})
			if err != nil || !res.Converged {
				t.Errorf("below the bound: %+v, %v", res, err)
			}
			res, err = KatzCentrality(g, CentralityOptions{Attenuation: .99 * c.bound, MaxIterations: 60})
			if err != nil || res.Converged {
				t.Errorf("below the bound, stopped early: %+v, %v", res, err)
			}
		})
	}
}

// Errors about vertices have their numbers, take names, and are *ParameterErrors.
func TestVertexError(t *testing.T) {
	names := func(v int) string { return string(rune('a' + v)) }
	upper := func(v int) string { return strings.ToUpper(names(v)) }
	one := build[float64](t, sample{3, 3, []edge{{0, 2, 1}}}, matrix.CSR)
	pair := build[float64](t, path(3).both(), matrix.CSR)
	content, err := matrix.VectorOf([]float64{1, math.NaN(), 0})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		reason, plain, named string
		err                  error
	}{
		{"an edge one way", "from 0 to 2 and none", "from a to c and none", second(Communities(one, CommunitiesOptions{}))},
		{"an edge one way, clusters", "from 0 to 2 and none", "from a to c and none", second(LocalCluster(one, []int{0}))},
		{"source and sink", "is 1, the source", "is b, the source", second(MaxFlow(pair, 1, 1))},
		{"content", "content of vertex 1 is", "content of vertex b is", second(NominateVertices(pair, []int{0}, NominateOptions{Content: content, Weight: .5}))},
		{"a restart", "restart of vertex 1 is", "restart of vertex b is", second(PageRank(pair, PageRankOptions{Restart: content}))},
		{"observations", "entry 1 of", "entry b of", second(FusedLasso(pair, content, FusedLassoOptions{}))},
		{"pairs", "(0, 2), a vertex", "(a, C), a vertex", second(SGM(pair, pair, []SeedPair{{0, 1}, {0, 2}}))},
	} {
		var v *VertexError
		var p *ParameterError
		switch {
		case !errors.As(c.err, &v) || !errors.As(c.err, &p):
			t.Errorf("%s: %T %v", c.reason, c.err, c.err)
		case !strings.Contains(c.err.Error(), c.plain) || !strings.Contains(p.Error(), c.plain):
			t.Errorf("%s: %v, want %q", c.reason, c.err, c.plain)
		case !strings.Contains(v.Named(names, upper).Error(), c.named):
			t.Errorf("%s: %v, want %q", c.reason, v.Named(names, upper), c.named)
		}
	}
}
