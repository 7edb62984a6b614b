package centrality

import (
	"fmt"
	"testing"

	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
)

// Kernels give the betweenness and the closeness of the host, for each number of sources of a
// batch: with levels that push and pull, rows for blocks, directed edges, loops and several
// components.
func TestSourcesOnDevice(t *testing.T) {
	d := samples.RealOrEmulated(t)
	hub := samples.Random(200, 500, 4, false)
	for v := range hub.N {
		hub.Edges = append(hub.Edges, samples.Edge{From: v, To: v, Weight: 1}, [2]samples.Edge{{From: 7, To: v, Weight: 1}, {From: v, To: 8, Weight: 1}}[v%2])
	}
	graphs := map[string]samples.Sample{
		"no edges": samples.Blank(70), "no vertices": samples.Blank(0), "one vertex": samples.Blank(1), "path": samples.Path(150).Both(), "star": samples.Star(300).Both(),
		"random, components": samples.Random(250, 1500, 5, true).Beside(samples.Blank(3)).Beside(samples.Random(40, 90, 6, false)), "directed, hub and loops": hub,
	}
	for name, s := range graphs {
		host, there := samples.Build[float64](t, s, matrix.CSR), samples.Build[float64](t, s, matrix.CSR)
		there.IsSymmetric()
		sure.Do(there.Move(d.Device))
		for k, tuned := range []sourceTuning{{long: longRow}, {1, 3}, {8, longRow}, {8, 20}, {32, 3}} {
			if !longtest.Takes(k+len(name), 4) {
				continue
			}
			sources := sure.Get(sourcesOf("", nil, min(s.N, 33), 3, s.N)) // one more than the largest batch
			if tuned.lanes == 1 {
				sources = sources[:min(s.N, 5)]
			}
			list := make([]int, len(sources))
			for k, v := range sources {
				list[k] = int(v)
			}
			what := fmt.Sprintf("%s, %+v", name, tuned)
			run := workflow.Tuned(workflow.Run{Method: workflow.Fused}, tuned)
			want := samples.Must[*BetweennessResult](t)(Betweenness(host, BetweennessOptions{Sources: list}))
			got := samples.Must[*BetweennessResult](t)(Betweenness(there, BetweennessOptions{Run: run, Sources: list}))
			if p := got.Centrality.Place(); p != d.Device {
				t.Errorf("%s: the betweenness is at %v", what, p)
			}
			samples.SameFigures(t, what+": betweenness", samples.Flat(nil, got.Centrality), samples.Flat(nil, want.Centrality), 1e-12)
			if (k+len(name)+longtest.Turn())%3 != 0 && !longtest.Enabled() { // a third of the tunings, in turn
				continue
			}
			near := samples.Must[*ClosenessResult](t)(Closeness(host, ClosenessOptions{}))
			there := samples.Must[*ClosenessResult](t)(Closeness(there, ClosenessOptions{Run: run}))
			samples.SameFigures(t, what+": vertices reached", samples.Flat(samples.Flat(nil, there.Reached), there.Distances), samples.Flat(samples.Flat(nil, near.Reached), near.Distances), 0)
			samples.SameFigures(t, what+": closeness", samples.Flat(samples.Flat(nil, there.Closeness), there.Harmonic), samples.Flat(samples.Flat(nil, near.Closeness), near.Harmonic), 1e-12)
		}
	}
}
