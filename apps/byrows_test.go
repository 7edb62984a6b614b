package apps

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/hiveblas/hiveblas/apps/centrality"
	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/apps/paths"
	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
)

// PageRank by rows has the ranks of one place, up to the order of sums, and as many iterations.
func TestPageRankByRows(t *testing.T) {
	groups := samples.GroupsByRows(t)
	for name, host := range samples.GraphsByRows(t) {
		want, err := centrality.PageRank(host)
		if err != nil {
			t.Fatal(err)
		}
		ranks := sure.Get(want.Rank.Dense(0))
		for where, group := range groups {
			g := host.Clone()
			if err := g.Move(group); err != nil {
				t.Fatal(err)
			}
			var method ops.Method
			o := centrality.PageRankOptions{Run: workflow.Run{Method: samples.MethodOn(group), Trace: func(t ops.Trace) { method = t.Method }}}
			got, err := centrality.PageRank(g, o)
			if err != nil {
				t.Fatalf("%s on %s: %v", name, where, err)
			}
			if method != workflow.ByRows {
				t.Errorf("%s on %s ran by %q, want %q", name, where, method, workflow.ByRows)
			}
			if got.Rank.Place() != matrix.Place(group) || got.Iterations != want.Iterations || got.Converged != want.Converged ||
				math.Abs(got.Change-want.Change) > 1e-12 {
				t.Errorf("%s on %s: at %v, %d iterations, change %g; want %d, %g", name, where, got.Rank.Place(), got.Iterations,
					got.Change, want.Iterations, want.Change)
			}
			for v, x := range sure.Get(got.Rank.Dense(-1)) {
				if math.Abs(x-ranks[v]) > 1e-14*max(1, float64(len(ranks))/500) { // sums of as many terms
					t.Fatalf("%s on %s: rank of %d is %v, want %v", name, where, v, x, ranks[v])
				}
			}
		}
	}
}

// A context that ends stops all ranks, and the group stays usable.
func TestByRowsEnds(t *testing.T) {
	group, err := comm.LocalGroup(3)
	if err != nil {
		t.Fatal(err)
	}
	g := samples.GraphsByRows(t)["grid"]
	if err := g.Move(group); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = centrality.PageRank(g, centrality.PageRankOptions{Run: workflow.Run{Method: workflow.Fused, Context: ctx}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled run returns %v", err)
	}
	if _, err = paths.BFS(g, 0, paths.BFSOptions{Run: workflow.Run{Method: workflow.Fused, Context: ctx}}); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled search returns %v", err)
	}
	if _, err := centrality.PageRank(g, centrality.PageRankOptions{Run: workflow.Run{Method: workflow.Fused}}); err != nil {
		t.Error("after it: ", err)
	}
}
