package paths

import (
	"fmt"
	"testing"

	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// Distances and hops by rows are right for every type of lengths.
func TestSearchByRows(t *testing.T) {
	groups := samples.GroupsByRows(t)
	for name, host := range samples.GraphsByRows(t) {
		for where, group := range groups {
			if !longtest.Takes(len(name)+len(where), 3) {
				continue
			}
			what := name + " on " + where
			searchWeighted[int32](t, what, host, group, workflow.Run{})
			if group.Size() == 2 {
				searchWeighted[float64](t, what, host, group, workflow.Run{})
				searchWeighted[uint32](t, what, host, group, workflow.Run{})
				searchWeighted[int64](t, what, host, group, workflow.Run{})
				searchWeighted[uint64](t, what, host, group, workflow.Run{})
			}
		}
	}
}

// searchWeighted compares distances and hops on a group and in one place, for buckets of several
// widths.
func searchWeighted[T semiring.Number](t *testing.T, what string, graph *matrix.Matrix[bool], group *comm.Group, run workflow.Run) {
	t.Helper()
	host := samples.Weighed[T](t, graph)
	g := host.Clone()
	sure.Do(g.Move(group))
	n, _ := g.Dims()
	seeds := []int{n - 1, 0, n / 3, 0}
	var method ops.Method
	run.Method, run.Trace = samples.MethodOn(group), func(t ops.Trace) { method = t.Method }
	for _, delta := range []T{0, 1, 40} {
		want, err := SSSP(host, seeds, SSSPOptions[T]{Delta: delta})
		if err != nil {
			t.Fatal(err)
		}
		got, err := SSSP(g, seeds, SSSPOptions[T]{Run: run, Delta: delta})
		if err != nil {
			t.Fatalf("SSSP of %s: %v", what, err)
		}
		if method != workflow.ByRows {
			t.Errorf("SSSP of %s ran by %q", what, method)
		}
		samples.SameBlocks(t, fmt.Sprintf("%T distances of %s, buckets of %v", T(0), what, delta), got, want, group)
	}
	want, err := VertexNomination(host, seeds, VertexNominationOptions[T]{Unit: true})
	if err != nil {
		t.Fatal(err)
	}
	got, err := VertexNomination(g, seeds, VertexNominationOptions[T]{Run: run, Unit: true})
	if err != nil {
		t.Fatalf("hops of %s: %v", what, err)
	}
	samples.SameBlocks(t, "hops of "+what, got, want, group)
}

// A device without room for the edges by sources searches levels by pulls alone.
func TestLevelsByPullsAlone(t *testing.T) {
	tuning := rowsDefaults
	tuning.turn = 1 << 48
	run := workflow.Tuned(workflow.Run{}, tuning)
	groups := samples.GroupsByRows(t)
	for name, host := range samples.GraphsByRows(t) {
		n, _ := host.Dims()
		for where, group := range groups {
			if !group.OnDevices() {
				continue
			}
			g := host.Clone()
			sure.Do(g.Move(group))
			for _, source := range []int{0, n - 1} {
				want, err := BFS(host, source, BFSOptions{Parents: true})
				if err != nil {
					t.Fatal(err)
				}
				got, err := BFS(g, source, BFSOptions{Run: run, Parents: true})
				if err != nil {
					t.Fatal(err)
				}
				what := fmt.Sprintf("%s on %s from %d", name, where, source)
				samples.SameBlocks(t, "levels of "+what, got.Level, want.Level, group)
				samples.SameBlocks(t, "parents of "+what, got.Parent, want.Parent, group)
			}
		}
	}
}

// Shortest paths by windows of targets: hubs with several items in each window, and rows with fewer
// items than windows.
func TestSSSPByWindows(t *testing.T) {
	if testing.Short() {
		t.Skip("the emulator is slow")
	}
	tuning := rowsDefaults
	tuning.windowBytes, tuning.windowEdges = 64, 0
	by := workflow.Tuned(workflow.Run{}, tuning)
	const n = 5000
	b := matrix.NewBuilder[bool](n, n)
	for v := range n {
		b.Add(0, v, true)
		b.Add(v, n-1, true)
		if v%3 == 0 {
			b.Add(n/2, v, true)
		}
		b.Add(v, (v*v+7)%n, true)
	}
	host := sure.Get(b.Build(semiring.Lor().Op()))
	group := samples.PeersOf(t, 2)
	searchWeighted[int32](t, "hubs", host, group, by)
	searchWeighted[float64](t, "hubs", host, group, by)
}
