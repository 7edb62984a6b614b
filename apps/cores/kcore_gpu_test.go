package cores

import (
	"fmt"
	"math/rand"
	"testing"

	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
)

// renumbered gives the vertices of s other numbers, drawn alike.
func renumbered(s samples.Sample) samples.Sample {
	to := rand.New(rand.NewSource(6)).Perm(s.N)
	r := samples.Blank(s.N)
	for _, e := range s.Edges {
		r.Edges = append(r.Edges, samples.Edge{From: to[e.From], To: to[e.To], Weight: e.Weight})
	}
	return r
}

// Kernels give the core numbers of the buckets of the host: with levels that the order of the
// numbers bounds, with chains that end and that go on in the queue, with more finds
// than a warp keeps, and with rows of several chunks.
func TestCoresOnDevice(t *testing.T) {
	d := samples.RealOrEmulated(t)
	hub := samples.Random(400, 1500, 4, true)
	for v := range hub.N { // loops, and edges of a hub
		hub.Edges = append(hub.Edges, samples.Edge{From: v, To: v, Weight: 1}, samples.Edge{From: 7, To: v, Weight: 1})
	}
	comb := samples.Path(300) // paths of all lengths to 60 that hang on a path
	for v := range 60 {
		comb = comb.Beside(samples.Path(v + 1))
		comb.Edges = append(comb.Edges, samples.Edge{From: 4 * v, To: comb.N - 1, Weight: 1})
	}
	grid := samples.GridOf(40, 37)
	graphs := map[string]samples.Sample{
		"no edges": samples.Blank(70), "one vertex": samples.Blank(1), "path": samples.Path(700).Both(), "star": samples.Star(500).Both(),
		"grid": grid, "two grids": grid.Beside(renumbered(grid)), "renumbered grid": renumbered(grid), "renumbered path": renumbered(samples.Path(700).Both()),
		"cliques": samples.Clique(90, true).Beside(samples.Random(300, 6000, 5, true)).Beside(renumbered(samples.Clique(50, false).Beside(comb))).Both(), "hub and loops": hub.Both(),
	}
	for name, s := range graphs {
		host := samples.Build[float64](t, s, matrix.CSR)
		there := samples.Build[float64](t, s, matrix.CSR)
		sure.Do(there.Move(d.Device))
		want := samples.Must[*Cores](t)(CoreNumbers(host))
		for _, tuned := range []coreTuning{usualCores, {chunk: 5, kept: 12, chain: 3}, {chunk: 16, kept: 5000, chain: 1000}} {
			what := fmt.Sprintf("%s, %+v", name, tuned)
			got := samples.Must[*Cores](t)(CoreNumbers(there, CoreOptions{workflow.Tuned(workflow.Run{Method: workflow.Fused}, tuned)}))
			samples.SameVector(t, what, d.Device, got.Number, want.Number)
			if got.Max != want.Max || got.Inner != want.Inner {
				t.Errorf("%s: the largest number %d of %d vertices, want %d of %d", what, got.Max, got.Inner, want.Max, want.Inner)
			}
		}
	}
}
