package gpugroup

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/program"
	"github.com/hiveblas/hiveblas/program/examples"
)

// TestPrograms: graph programs on a group of GPUs have the results of one GPU, and a group that has
// gathered the graph copies nothing that grows with it.
func TestPrograms(t *testing.T) {
	if testing.Short() {
		t.Skip("the emulator is slow")
	}
	m := newMachine(t, 2)
	host := graph(t, 12, false)
	for _, p := range []int{1, 2, 3} {
		g := placedAt(t, host, m.group(t, p))
		one := placedAt(t, host, m.devices[0])
		same(t, m, "bfs", one.Pattern(), g.Pattern(), examples.BFS(3))
		same(t, m, "sssp", one.View(), g.View(), examples.SSSP[float64](0, 0))
		same(t, m, "components", one.Pattern(), g.Pattern(), examples.HCC())
		steps := 0
		_, err := program.Run(t.Context(), g.Pattern(), examples.BFS(3), program.Options{MaxSupersteps: 1, Progress: func(int, int64) { steps++ }})
		if !errors.Is(err, program.ErrLimit) || steps != 1 {
			t.Errorf("%d GPUs: %d supersteps are reported, and the error is %v", p, steps, err)
		}
	}
}

func same[V, E, M comparable](t *testing.T, m machine, name string, one, group matrix.View[E], p program.Program[V, E, M]) {
	t.Helper()
	want, err := program.Run(t.Context(), one, p)
	if err != nil {
		t.Fatal(err)
	}
	for k := range 2 {
		copied := m.copied()
		got, err := program.Run(t.Context(), group, p)
		if err != nil {
			t.Fatalf("%s on %s: %v", name, group.Place(), err)
		}
		if n := copied(); k > 0 && n > 16384 {
			t.Errorf("%s on %s: %d bytes between host and device", name, group.Place(), n)
		}
		if got.State.Place() != group.Place() || got.Supersteps != want.Supersteps || got.Ended != want.Ended {
			t.Errorf("%s on %s: %d supersteps, %v, want %d, %v", name, group.Place(), got.Supersteps, got.Ended, want.Supersteps, want.Ended)
		}
		if fmt.Sprint(got.State.NVals()) != fmt.Sprint(want.State.NVals()) || !slices.Equal(entries(got.State), entries(want.State)) {
			t.Errorf("%s on %s: other states", name, group.Place())
		}
	}
}
