package gpugroup

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/cusparse"
	"github.com/hiveblas/hiveblas/generate"
	"github.com/hiveblas/hiveblas/internal/emu"
	"github.com/hiveblas/hiveblas/internal/emulate"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/race"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
)

// machine is an emulated host with GPUs.
type machine struct {
	e       *emu.Emulator
	devices []*cusparse.Device
}

func newMachine(t *testing.T, devices int) machine {
	t.Helper()
	if race.Enabled {
		t.Skip("the emulator launches one kernel at a time; the tests of cusparse are for the race detector")
	}
	list, e := emulate.Devices(t, devices)
	return machine{e, list}
}

// group returns a group of p ranks on the GPUs, which take turns.
func (m machine) group(t *testing.T, p int) *comm.Group {
	t.Helper()
	var list []*cusparse.Device
	for k := range p {
		list = append(list, m.devices[k%len(m.devices)])
	}
	g := emulate.Group(list...)
	if !g.MovesDeviceMemory() || !g.OnDevices() {
		t.Fatal("the group does not move the memory of devices")
	}
	return g
}

// copied returns the bytes of copies between host and device since the last call.
func (m machine) copied() func() uint64 {
	last := uint64(0)
	take := func() uint64 {
		down, up := m.e.Copied()
		n := down + up - last
		last = down + up
		return n
	}
	take()
	return take
}

// likeDevices returns p ranks on the host that act as devices.
func likeDevices(t *testing.T, p int) *comm.Group {
	t.Helper()
	ranks := sure.Get(comm.Local(p))
	g := sure.Get(comm.NewGroup(ranks, comm.LikeDevices()))
	return g
}

// moved returns the bytes that the ranks received, and forgets them.
func moved(g *comm.Group) (n int64) {
	for _, c := range g.Ranks() {
		n += c.Ledger().Total().In
		c.Ledger().Reset()
	}
	return n
}

// graph returns an R-MAT graph.
func graph(t *testing.T, scale int, undirected bool) *matrix.Matrix[float64] {
	t.Helper()
	edges := sure.Get(generate.RMAT(scale, 8<<scale, generate.RMATOptions{Seed: 5}))
	opts := []generate.MatrixOption{generate.Simple()}
	if undirected {
		opts = append(opts, generate.Undirected())
	}
	g := sure.Get(generate.Matrix[float64](edges, opts...))
	return g
}

// pipelines are the workflows that hiveblas scale run takes. They return values that are equal on
// all places, as text, and floats that may differ in the last bits.
var pipelines = []struct {
	name string
	run  func(g *matrix.Matrix[float64], run apps.Run) (words []string, floats []float64, err error)
}{
	{"bfs", func(g *matrix.Matrix[float64], run apps.Run) ([]string, []float64, error) {
		r, err := apps.BFS(g, 0, apps.BFSOptions{Run: run})
		if err != nil {
			return nil, nil, err
		}
		return append(entries(r.Level), fmt.Sprint(r.Reached, r.MaxLevel)), nil, nil
	}},
	{"bfs with parents", func(g *matrix.Matrix[float64], run apps.Run) ([]string, []float64, error) {
		r, err := apps.BFS(g, 0, apps.BFSOptions{Run: run, Parents: true})
		if err != nil {
			return nil, nil, err
		}
		return append(entries(r.Level), entries(r.Parent)...), nil, nil
	}},
	{"sssp", func(g *matrix.Matrix[float64], run apps.Run) ([]string, []float64, error) {
		d, err := apps.SSSP(g, []int{0}, apps.SSSPOptions[float64]{Run: run})
		if err != nil {
			return nil, nil, err
		}
		return entries(d), nil, nil
	}},
	{"cc", func(g *matrix.Matrix[float64], run apps.Run) ([]string, []float64, error) {
		c, err := apps.ConnectedComponents(g, apps.ComponentsOptions{Run: run})
		if err != nil {
			return nil, nil, err
		}
		return append(entries(c.Label), fmt.Sprint(c.Count, c.Largest)), nil, nil
	}},
	{"pagerank", func(g *matrix.Matrix[float64], run apps.Run) ([]string, []float64, error) {
		r, err := apps.PageRank(g, apps.PageRankOptions{Run: run, MaxIterations: 4})
		if err != nil {
			return nil, nil, err
		}
		return nil, sure.Get(r.Rank.Dense(-1)), nil
	}},
}

func entries[T comparable](v *matrix.Vector[T]) (list []string) {
	for i, x := range v.All() {
		list = append(list, fmt.Sprint(i, x))
	}
	return list
}

// perOperation is the most bytes that an operation may copy between host and device, of all ranks:
// counts, scalars, lists of one entry, offsets of a row. Reads of up to 2048 bytes are by kernels,
// which the emulator does not count: blocks of vectors have more.
const perOperation = 64

// TestPipelines: pipelines on a group of GPUs copy no operands between host and device, have the
// results of one GPU, and move the bytes that ranks on the host move.
func TestPipelines(t *testing.T) {
	if testing.Short() {
		t.Skip("the emulator is slow")
	}
	m := newMachine(t, 2)
	for at, undirected := range []bool{true, false} {
		if !longtest.Takes(at, 2) {
			continue
		}
		host := graph(t, 13, undirected)
		for k, pipe := range pipelines {
			if !longtest.Takes(k, 3) {
				continue
			}
			// counted runs the pipeline, and returns its operations and the bytes that they copy.
			counted := func(g *matrix.Matrix[float64]) (words []string, floats []float64, steps int, bytes uint64) {
				copied := m.copied()
				words, floats, err := pipe.run(g, apps.Run{Method: apps.Pipeline, Trace: func(ops.Trace) {
					steps++
					bytes += copied() // reading the result comes after the last one
				}})
				if err != nil {
					t.Fatalf("%s on %s: %v", pipe.name, g.Place(), err)
				}
				return words, floats, steps, bytes
			}
			// The device looks at a sample of a matrix at its first products.
			want, wantFloats, _, look := counted(placedAt(t, host, m.devices[0]))
			for _, p := range []int{1, 2} {
				if p == 1 && !undirected && !longtest.Enabled() { // the quick form tests one GPU once
					continue
				}
				name := fmt.Sprintf("%s, %d GPUs, undirected %v", pipe.name, p, undirected)
				at, like := m.group(t, p), likeDevices(t, p)
				g, h := placedAt(t, host, at), placedAt(t, host, like)
				moved(at)
				moved(like)
				got, floats, steps, first := counted(g)
				bytes := moved(at)
				_, _, _, again := counted(g)
				limit := uint64(steps * p * perOperation)
				if first > limit+uint64(p)*look || again > limit {
					t.Errorf("%s: %d operations copy %d and then %d bytes between host and device, at most %d are expected",
						name, steps, first, again, limit)
				}
				if !slices.Equal(got, want) {
					t.Errorf("%s: differs from one GPU", name)
				}
				for i, x := range wantFloats {
					if d := floats[i] - x; d > 1e-12 || d < -1e-12 {
						t.Fatalf("%s: value %d is %v, on one GPU %v", name, i, floats[i], x)
					}
				}
				if _, _, err := pipe.run(h, apps.Run{Method: apps.Pipeline}); err != nil {
					t.Fatal(err)
				}
				if predicted := moved(like); bytes != predicted {
					t.Errorf("%s: %d bytes between ranks, ranks on the host move %d", name, bytes, predicted)
				}
			}
		}
	}
}

func placedAt(t *testing.T, a *matrix.Matrix[float64], at matrix.Place) *matrix.Matrix[float64] {
	t.Helper()
	b := a.Clone()
	sure.Do(b.Move(at))
	return b
}

// What PageRank keeps with the blocks of a graph is given up with them. The device is locked
// meanwhile, and nothing may wait for its lock.
func TestPageRankIsDropped(t *testing.T) {
	m := newMachine(t, 2)
	host := graph(t, 10, true) // some vertices have no edges: the others get numbers of their own
	for _, p := range []int{1, 2} {
		g := placedAt(t, host, m.group(t, p))
		if _, err := apps.PageRank(g, apps.PageRankOptions{}); err != nil {
			t.Fatal(err)
		}
		done := make(chan error)
		go func() { done <- g.Move(nil) }()
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(time.Minute):
			panic("the graph cannot be moved") // the end of a test would wait for the lock, too
		}
	}
}
