package sets

import (
	"fmt"
	"testing"

	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
)

// Kernels give the colours of the loop of the host: with rows of all kinds, with more colours than
// a word and than a warp collects, and with vertices that wait for the next step.
func TestColouringOnDevice(t *testing.T) {
	d := samples.RealOrEmulated(t)
	clique := samples.Blank(80)
	for v := range clique.N {
		for u := range v {
			clique.Edges = append(clique.Edges, samples.Edge{From: u, To: v, Weight: 1})
		}
	}
	hub := samples.Random(400, 1500, 4, true)
	for v := range hub.N { // loops, and edges of a hub
		hub.Edges = append(hub.Edges, samples.Edge{From: v, To: v, Weight: 1}, samples.Edge{From: 7, To: v, Weight: 1})
	}
	graphs := map[string]samples.Sample{
		"no edges": samples.Blank(70), "one vertex": samples.Blank(1), "path": samples.Path(300).Both(), "star": samples.Star(500).Both(), "grid": samples.GridOf(20, 17),
		"cliques in a random graph": clique.Beside(samples.Random(300, 6000, 5, true)).Beside(clique).Both(), "hub and loops": hub.Both(),
	}
	for name, s := range graphs {
		host := samples.Build[float64](t, s, matrix.CSR)
		there := samples.Build[float64](t, s, matrix.CSR)
		sure.Do(there.Move(d.Device))
		for _, tuned := range []colourTuning{usualColours, {short: 3, tries: 1, fewTries: 1, window: 1}, {short: 31, tries: 5, fewTries: 1, window: 2}} {
			for k, order := range []ColourOrder{LargestFirst, SmallestLast, RandomOrder} {
				if !longtest.Takes(k+len(name)+tuned.tries, 3) {
					continue
				}
				what := fmt.Sprintf("%s, %v, %+v", name, order, tuned)
				o := ColouringOptions{Order: order, Seed: 5}
				want := samples.Must[*ColouringResult](t)(Colouring(host, o))
				o.Run = workflow.Tuned(workflow.Run{Method: workflow.Fused}, tuned)
				got := samples.Must[*ColouringResult](t)(Colouring(there, o))
				samples.SameVector(t, what, d.Device, got.Colour, want.Colour)
				if got.Count != want.Count {
					t.Errorf("%s: %d colours, want %d", what, got.Count, want.Count)
				}
			}
		}
	}
}
