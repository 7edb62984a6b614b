package communities

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
)

// dividesAll lets devices divide sweeps of any size.
var dividesAll = workflow.Tuned(workflow.Run{}, workflow.DividedEntries(1))

// onPeers compares Communities on a group with the host, and returns how it ran.
func onPeers[T int32 | int64 | float64 | bool](t *testing.T, g *comm.Group, what string, a *matrix.Matrix[T], o CommunitiesOptions) (method ops.Method) {
	t.Helper()
	want, err := Communities(a, o)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	there := a.Clone()
	sure.Do(there.Move(g))
	o.Run = dividesAll
	o.Trace = func(tr ops.Trace) {
		if tr.Op == "Communities" {
			method = tr.Method
		}
	}
	got, err := Communities(there, o)
	if err != nil {
		t.Fatalf("%s, %d ranks: %v", what, g.Size(), err)
	}
	if got.Membership.Place() != matrix.Place(g) {
		t.Errorf("%s: the result lives at %v", what, got.Membership.Place())
	}
	sameCommunities(t, fmt.Sprintf("%s, %d ranks", what, g.Size()), got, want)
	return method
}

// The devices of a group divide the sweeps, and find the communities of the host, bit for bit.
func TestCommunitiesByPeers(t *testing.T) {
	skew := gen.CSR(gen.Symmetrise(gen.RMAT(7, 8, gen.RMATOptions{})), gen.KeepLoops)
	tuples, _ := gen.Planted(200, 1600, .3, 1)
	planted := gen.CSR(gen.Symmetrise(tuples))
	one := func(int, int) bool { return true }
	large := func(u, v int) int64 { return int64(1+(u*v)%7) << 30 }
	counts := []int{2}
	if longtest.Enabled() {
		counts = []int{1, 2, 3}
	}
	for _, p := range counts {
		g := samples.PeersOf(t, p)
		for k, leiden := range []bool{false, true} {
			if !longtest.Takes(k+p, 2) {
				continue
			}
			o := CommunitiesOptions{Leiden: leiden, Passes: 2}
			if got := onPeers(t, g, "skewed", weighted(t, skew, one), o); !strings.Contains(string(got), "shares") {
				t.Errorf("it ran by %q", got)
			}
			onPeers(t, g, "planted, 64 bits", weighted(t, planted, large), o)
		}
		if longtest.Enabled() && p > 1 {
			onPeers(t, g, "hubs", weighted(t, hubsAndGroups(2300, 3), one), CommunitiesOptions{})
		}
		o := CommunitiesOptions{Sweeps: 2}
		if method := onPeers(t, g, "fractions", weighted(t, planted, func(u, v int) float64 { return 1 / float64(1+u+v) }), o); method != "moves, shares of vertices" {
			t.Errorf("%d ranks take the method %q for fractions", p, method)
		}
		onPeers(t, g, "fewer vertices than ranks", weighted(t, gen.CSR(gen.Tuples{NRows: 2, NCols: 2, Rows: []int32{0, 1}, Cols: []int32{1, 0}}), one), CommunitiesOptions{})
		a := weighted(t, planted, one)
		sure.Do(a.Move(g))
		want := samples.Must[*CommunitiesResult](t)(Communities(weighted(t, planted, one)))
		sameCommunities(t, "without determinism", samples.Must[*CommunitiesResult](t)(Communities(a, CommunitiesOptions{Run: dividesAll, Nondeterministic: true})), want)
		var bad *workflow.ParameterError
		if _, err := Communities(a, CommunitiesOptions{Run: workflow.Run{Method: "x"}}); !errors.As(err, &bad) {
			t.Errorf("a method: error %v", err)
		}
	}
}
