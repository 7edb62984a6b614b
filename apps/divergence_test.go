package apps

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/apps/centrality"
	"github.com/hiveblas/hiveblas/apps/communities"
	"github.com/hiveblas/hiveblas/apps/flow"
	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/apps/lasso"
	"github.com/hiveblas/hiveblas/apps/lgc"
	"github.com/hiveblas/hiveblas/apps/nominate"
	"github.com/hiveblas/hiveblas/apps/sgm"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
)

// An attenuation beyond 1 over the largest eigenvalue is an error that gives about that bound,
// whether the sums become infinite or the iterations end before; one below it is none.
func TestKatzDivergence(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason string
		samples.Sample
		bound float64
	}{
		{"a path, whose changes alternate", samples.Path(3).Both(), 1 / math.Sqrt2},
		{"a star", samples.Star(5).Both(), .5},
		{"a triangle and a tail", samples.Sample{M: 5, N: 5, Edges: []samples.Edge{{From: 0, To: 1, Weight: 1}, {From: 1, To: 2, Weight: 1}, {From: 0, To: 2, Weight: 1}, {From: 2, To: 3, Weight: 1}, {From: 3, To: 4, Weight: 1}}}.Both(), 1 / 2.2143},
	} {
		t.Run(c.reason, func(t *testing.T) {
			g := samples.Build[float64](t, c.Sample, matrix.CSR)
			for _, o := range []centrality.CentralityOptions{
				{Attenuation: 1.3 * c.bound}, {Attenuation: 1.3 * c.bound, MaxIterations: 60}, {Attenuation: 40 * c.bound},
			} {
				_, err := centrality.KatzCentrality(g, o)
				var p *workflow.ParameterError
				if !errors.As(err, &p) || p.Arg != "the attenuation" {
					t.Fatalf("%+v: %v", o, err)
				}
				got := 0.0
				if _, err := fmt.Sscanf(p.Want, "below %g", &got); err != nil || math.Abs(got-c.bound) > .02*c.bound {
					t.Errorf("%+v: the bound is %v, want about %v (%v)", o, got, c.bound, p)
				}
			}
			res, err := centrality.KatzCentrality(g, centrality.CentralityOptions{Attenuation: .9 * c.bound})
			if err != nil || !res.Converged {
				t.Errorf("below the bound: %+v, %v", res, err)
			}
			res, err = centrality.KatzCentrality(g, centrality.CentralityOptions{Attenuation: .99 * c.bound, MaxIterations: 60})
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
	one := samples.Build[float64](t, samples.Sample{M: 3, N: 3, Edges: []samples.Edge{{From: 0, To: 2, Weight: 1}}}, matrix.CSR)
	pair := samples.Build[float64](t, samples.Path(3).Both(), matrix.CSR)
	content := sure.Get(matrix.VectorOf([]float64{1, math.NaN(), 0}))
	for _, c := range []struct {
		reason, plain, named string
		err                  error
	}{
		{"an edge one way", "from 0 to 2 and none", "from a to c and none", samples.ErrorOf(communities.Communities(one, communities.CommunitiesOptions{}))},
		{"an edge one way, clusters", "from 0 to 2 and none", "from a to c and none", samples.ErrorOf(lgc.LocalCluster(one, []int{0}))},
		{"source and sink", "is 1, the source", "is b, the source", samples.ErrorOf(flow.MaxFlow(pair, 1, 1))},
		{"content", "content of vertex 1 is", "content of vertex b is", samples.ErrorOf(nominate.NominateVertices(pair, []int{0}, nominate.NominateOptions{Content: content, Weight: .5}))},
		{"a restart", "restart of vertex 1 is", "restart of vertex b is", samples.ErrorOf(centrality.PageRank(pair, centrality.PageRankOptions{Restart: content}))},
		{"observations", "entry 1 of", "entry b of", samples.ErrorOf(lasso.FusedLasso(pair, content, lasso.FusedLassoOptions{}))},
		{"pairs", "(0, 2), a vertex", "(a, C), a vertex", samples.ErrorOf(sgm.SGM(pair, pair, []sgm.SeedPair{{A: 0, B: 1}, {A: 0, B: 2}}))},
	} {
		var v *workflow.VertexError
		var p *workflow.ParameterError
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
