package generate

import (
	"fmt"
	"testing"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/cusparse"
	"github.com/hiveblas/hiveblas/internal/emulate"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/race"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
)

// emulated returns a device of the emulator, or with HIVEBLAS_TEST_GPU the first GPU.
func emulated(t testing.TB) *cusparse.Device {
	t.Helper()
	if race.Enabled {
		t.Skip("the emulator launches one kernel at a time; the tests of cusparse are for the race detector")
	}
	return emulate.Shared(t)
}

// Matrices that devices draw equal matrices of the host, also in pieces of a few edges.
func TestOnDevice(t *testing.T) {
	d := emulated(t)
	ranks := sure.Get(comm.Local(3))
	group := sure.Get(comm.NewGroup(ranks, comm.At(d, d, d)))
	graph := func(g *Graph, err error) *Graph {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	for k, c := range []struct {
		name  string
		graph *Graph
	}{
		{"R-MAT", graph(RMAT(9, 4000, RMATOptions{Seed: 3}))},
		{"R-MAT of an odd scale and other quadrants", graph(RMAT(7, 900, RMATOptions{A: .3, B: .3, C: .2, Seed: 4}))},
		{"R-MAT of one vertex", graph(RMAT(0, 5, RMATOptions{}))},
		{"all edges in one row", graph(RMAT(6, 300, RMATOptions{A: .5, B: .5, Seed: 1}))},
		{"uniform", graph(Uniform(300, 2000, 5))},
		{"no edges", graph(Uniform(70, 0, 5))},
		{"few edges", graph(Uniform(4000, 3, 5))},
		{"grid", graph(Grid(13, 7))},
		{"a grid of one row", graph(Grid(1, 9))},
		{"small world", graph(WattsStrogatz(200, 3, .2, 6))},
		{"scrambled", Scrambled(graph(RMAT(8, 2000, RMATOptions{Seed: 3})), 8)},
		{"scrambled, not a power of two", Scrambled(graph(Uniform(300, 1000, 3)), 8)},
		{"scrambled twice", Scrambled(Scrambled(graph(RMAT(6, 200, RMATOptions{Seed: 3})), 8), 9)},
		{"planted, drawn by the host", graph(Planted(100, 500, 4, .2, 3))},
		{"bipartite, drawn by the host", graph(Bipartite(60, 40, 300, 4))},
	} {
		for _, small := range []bool{false, true} {
			for _, undirected := range []bool{false, true} {
				rows, cols := c.graph.Dims()
				if undirected && rows != cols || undirected != small && k > 0 && !longtest.Enabled() {
					continue
				}
				opts := []MatrixOption{Simple()}
				if undirected {
					opts = []MatrixOption{Undirected()}
				}
				if small {
					opts = append(opts, func(o *matrixOptions) { o.pieceKeys = 100 })
				}
				name := fmt.Sprintf("%s, small pieces %t, undirected %t", c.name, small, undirected)
				want, err := Matrix[float64](c.graph, opts...)
				if err != nil {
					t.Fatal(name, err)
				}
				for _, place := range []matrix.Place{d, group} {
					got, err := Matrix[float64](c.graph, append(opts, On(place))...)
					if err != nil {
						t.Fatalf("%s on %s: %v", name, place, err)
					}
					if got.Place() != place {
						t.Errorf("%s is on %v, want %s", name, got.Place(), place)
					}
					if n := got.NVals(); n != want.NVals() {
						t.Errorf("%s on %s has %d entries, want %d", name, place, n, want.NVals())
					}
					if !got.Equal(want) {
						t.Errorf("%s on %s differs from that of the host", name, place)
					}
				}
			}
		}
	}
	if a, err := Matrix[bool](graph(RMAT(8, 500, RMATOptions{Seed: 2})), Undirected(), On(d)); err != nil {
		t.Error(err)
	} else if !a.IsSymmetric() || a.NVals() == 0 {
		t.Errorf("%d entries, symmetric %t", a.NVals(), a.IsSymmetric())
	} else {
		for at, x := range a.All() {
			if !x {
				t.Fatalf("the entry at %v is false", at)
			}
		}
	}
}
