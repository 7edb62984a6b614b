package components

import (
	"fmt"
	"testing"

	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
)

// Kernels find the forest of the host: with a pivot and without, with equal weights, hubs, chains
// of lighter and lighter edges, loops, directed edges of two weights and vertices without edges.
func TestForestOnDevice(t *testing.T) {
	d := samples.RealOrEmulated(t)
	falling := samples.Path(700)
	for k := range falling.Edges {
		falling.Edges[k].Weight = 1000 - k
	}
	hub := samples.Random(500, 2500, 4, false)
	for v := range hub.N {
		hub.Edges = append(hub.Edges, samples.Edge{From: v, To: v, Weight: -9}, samples.Edge{From: 7, To: v, Weight: 5 + v%3})
	}
	graphs := map[string]samples.Sample{
		"no edges": samples.Blank(70), "no vertices": samples.Blank(0), "one vertex": samples.Blank(1), "falling": falling.Both(), "star": samples.Star(500).Both(),
		"equal weights": samples.GridOf(20, 17), "random": samples.Random(600, 9000, 5, true).Beside(samples.Blank(3)).Beside(samples.Random(30, 100, 6, true)),
		"directed, hub and loops": hub,
	}
	for name, s := range graphs {
		host, there := samples.Build[float64](t, s, matrix.CSR), samples.Build[float64](t, s, matrix.CSR)
		there.IsSymmetric()
		sure.Do(there.Move(d.Device))
		for _, light := range []lightEdges{usualLightEdges, .2} {
			for _, maximum := range []bool{false, true} {
				what := fmt.Sprintf("%s, %v light edges, maximum %v", name, light, maximum)
				o := SpanningOptions{Maximum: maximum}
				want := samples.Must[*Spanning](t)(MinimumSpanningForest(host, o))
				o.Run = workflow.Tuned(workflow.Run{Method: workflow.Fused}, light)
				got := samples.Must[*Spanning](t)(MinimumSpanningForest(there, o))
				if p := got.Forest.Place(); p != d.Device {
					t.Errorf("%s: the forest is at %v", what, p)
				}
				if got.Edges != want.Edges || got.Trees != want.Trees || got.Weight != want.Weight { // sums of integers
					t.Errorf("%s: %d edges, %d trees, weight %v; want %d, %d, %v", what, got.Edges, got.Trees, got.Weight, want.Edges, want.Trees, want.Weight)
				}
				samples.SameFigures(t, what, samples.Figures(got.Forest), samples.Figures(want.Forest), 0)
			}
		}
	}
}
