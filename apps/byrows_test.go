package apps

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/cusparse"
	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/generate"
	"github.com/hiveblas/hiveblas/internal/emu"
	"github.com/hiveblas/hiveblas/internal/race"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// peersOf returns a group of p devices of their own, which gather from memory to memory: GPUs of
// this machine with HIVEBLAS_TEST_GPU, else those of an emulator.
func peersOf(t testing.TB, p int) *comm.Group {
	t.Helper()
	g, _ := peersOn(t, p)
	return g
}

// peersOn is peersOf with the emulator, nil with HIVEBLAS_TEST_GPU.
func peersOn(t testing.TB, p int) (*comm.Group, *emu.Emulator) {
	t.Helper()
	if race.Enabled {
		t.Skip("the emulator launches one kernel at a time")
	}
	var opts []cusparse.Option
	var e *emu.Emulator
	if os.Getenv("HIVEBLAS_TEST_GPU") == "" {
		var err error
		e, err = emu.New(emu.Devices(p))
		if errors.Is(err, emu.ErrUnavailable) {
			t.Skip(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		opts = []cusparse.Option{cusparse.WithDriver(e), cusparse.WithKernelCache("off"),
			cusparse.WithCompiler("emulator", func() (driver.Compiler, error) { return emu.NewCompiler() })}
	}
	var places []comm.Place
	var list []comm.Device
	for i := range p {
		d, err := cusparse.Open(i, opts...)
		if err != nil && os.Getenv("HIVEBLAS_TEST_GPU") != "" && i > 0 {
			t.Skip(p, "GPUs are needed:", err)
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { d.Close() })
		c, err := d.Comm()
		if err != nil {
			t.Fatal(err)
		}
		places, list = append(places, d), append(list, c)
	}
	ranks, err := comm.Peers(list)
	if err != nil {
		t.Fatal(err)
	}
	g, err := comm.NewGroup(ranks, comm.At(places...))
	if err != nil {
		t.Fatal(err)
	}
	return g, e
}

// graphsByRows are graphs for runs by rows: empty rows and ranks, hubs, dangling vertices, more
// ranks than vertices, directed and not.
func graphsByRows(t *testing.T) map[string]*matrix.Matrix[bool] {
	t.Helper()
	list := map[string]*matrix.Matrix[bool]{}
	add := func(name string, g *generate.Graph, err error, opts ...generate.MatrixOption) {
		if err == nil {
			list[name], err = generate.Matrix[bool](g, opts...)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	g, err := generate.RMAT(8, 1500, generate.RMATOptions{Seed: 3})
	add("R-MAT", g, err, generate.Undirected(), generate.Simple())
	add("directed R-MAT", g, err)
	g, err = generate.Uniform(2, 3, 1)
	add("two vertices", g, err)
	g, err = generate.Uniform(90, 40, 1)
	add("mostly isolated", g, err, generate.Undirected())
	g, err = generate.Grid(9, 7)
	add("grid", g, err, generate.Undirected())
	list["hub"] = hub(t, 10000)
	return list
}

// hub is a vertex with so many edges, in both directions, and a path through its neighbours: a
// frontier of one vertex from which devices pull.
func hub(t *testing.T, n int) *matrix.Matrix[bool] {
	t.Helper()
	var from, to []int
	for v := 1; v <= n; v++ {
		from, to = append(from, 0, v), append(to, v, 0)
		if v%3 == 0 && v < n {
			from, to = append(from, v), append(to, v+1)
		}
	}
	g, err := matrix.FromTuples(n+1, n+1, from, to, slices.Repeat([]bool{true}, len(from)), nil)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// groupsByRows are groups for runs by rows, by name.
func groupsByRows(t *testing.T) map[string]*comm.Group {
	t.Helper()
	groups := map[string]*comm.Group{}
	for _, p := range []int{1, 2, 3, 7} {
		g, err := comm.LocalGroup(p)
		if err != nil {
			t.Fatal(err)
		}
		groups[g.String()] = g
	}
	if !race.Enabled {
		for _, p := range []int{1, 2, 3} {
			if os.Getenv("HIVEBLAS_TEST_GPU") == "" || p < 3 {
				g := peersOf(t, p)
				groups[g.String()] = g
			}
		}
	}
	return groups
}

// methodOn returns the method of runs by rows on a group: Auto takes it for devices.
func methodOn(g *comm.Group) Method {
	if g.PlaceOf(0) == nil {
		return Fused
	}
	return Auto
}

// PageRank by rows has the ranks of one place, up to the order of sums, and as many iterations.
func TestPageRankByRows(t *testing.T) {
	groups := groupsByRows(t)
	for name, host := range graphsByRows(t) {
		want, err := PageRank(host)
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
			o := PageRankOptions{Run: Run{Method: methodOn(group), Trace: func(t ops.Trace) { method = t.Method }}}
			got, err := PageRank(g, o)
			if err != nil {
				t.Fatalf("%s on %s: %v", name, where, err)
			}
			if method != byRows {
				t.Errorf("%s on %s ran by %q, want %q", name, where, method, byRows)
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

// weighed gives the edges of a graph lengths of 0 … 8.
func weighed[T semiring.Number](t *testing.T, g *matrix.Matrix[bool]) *matrix.Matrix[T] {
	t.Helper()
	m, n := g.Dims()
	a := matrix.New[T](m, n)
	length := semiring.NewIndex("length", func(_ bool, i, j int) T { return T((3*i + 5*j) % 9) })
	if err := ops.ApplyIndex(a, length, g); err != nil {
		t.Fatal(err)
	}
	return a
}

func sameBlocks[T comparable](t *testing.T, what string, got, want *matrix.Vector[T], group *comm.Group) {
	t.Helper()
	if got.Place() != matrix.Place(group) {
		t.Errorf("%s is at %v", what, got.Place())
	}
	host := got.Clone()
	if err := host.Move(nil); err != nil {
		t.Fatal(err)
	}
	if !host.Equal(want) || got.NVals() != want.NVals() {
		t.Errorf("%s: %d entries, want %d: %v, want %v", what, got.NVals(), want.NVals(), host, want)
	}
}

// Searches by rows have the levels, parents, distances and components of one place.
func TestSearchByRows(t *testing.T) {
	groups := groupsByRows(t)
	for name, host := range graphsByRows(t) {
		n, _ := host.Dims()
		for where, group := range groups {
			g := host.Clone()
			if err := g.Move(group); err != nil {
				t.Fatal(err)
			}
			what := name + " on " + where
			var methods []ops.Method
			run := Run{Method: methodOn(group), Trace: func(t ops.Trace) { methods = append(methods, t.Method) }}
			for _, source := range []int{0, n / 2, n - 1} {
				want, err := BFS(host, source, BFSOptions{Parents: true})
				if err != nil {
					t.Fatal(err)
				}
				got, err := BFS(g, source, BFSOptions{Run: run, Parents: true})
				if err != nil {
					t.Fatalf("BFS of %s: %v", what, err)
				}
				if got.Reached != want.Reached || got.MaxLevel != want.MaxLevel {
					t.Errorf("BFS of %s from %d reaches %d in %d, want %d in %d", what, source, got.Reached, got.MaxLevel,
						want.Reached, want.MaxLevel)
				}
				sameBlocks(t, "levels of "+what, got.Level, want.Level, group)
				sameBlocks(t, "parents of "+what, got.Parent, want.Parent, group)
				if got, err = BFS(g.T(), source, BFSOptions{Run: run}); err != nil {
					t.Fatal(err)
				}
				if want, err = BFS(host.T(), source); err != nil {
					t.Fatal(err)
				}
				sameBlocks(t, "levels of the transpose of "+what, got.Level, want.Level, group)
			}
			want, err := ConnectedComponents(host)
			if err != nil {
				t.Fatal(err)
			}
			got, err := ConnectedComponents(g, ComponentsOptions{Run: run})
			if err != nil {
				t.Fatalf("components of %s: %v", what, err)
			}
			if got.Count != want.Count || got.Largest != want.Largest {
				t.Errorf("%s has %d components up to %d, want %d up to %d", what, got.Count, got.Largest, want.Count, want.Largest)
			}
			sameBlocks(t, "labels of "+what, got.Label, want.Label, group)
			for _, m := range methods {
				if m != byRows {
					t.Errorf("%s ran by %q, want %q", what, m, byRows)
				}
			}
			searchWeighted[int32](t, what, host, group)
			searchWeighted[float64](t, what, host, group)
			if group.Size() == 2 {
				searchWeighted[uint32](t, what, host, group)
				searchWeighted[int64](t, what, host, group)
				searchWeighted[uint64](t, what, host, group)
				searchWeighted[float32](t, what, host, group)
			}
		}
	}
}

// searchWeighted compares distances and hops on a group with those of one place, for buckets of
// several widths.
func searchWeighted[T semiring.Number](t *testing.T, what string, graph *matrix.Matrix[bool], group *comm.Group) {
	t.Helper()
	host := weighed[T](t, graph)
	g := host.Clone()
	if err := g.Move(group); err != nil {
		t.Fatal(err)
	}
	n, _ := g.Dims()
	seeds := []int{n - 1, 0, n / 3, 0}
	var method ops.Method
	run := Run{Method: methodOn(group), Trace: func(t ops.Trace) { method = t.Method }}
	for _, delta := range []T{0, 1, 40} {
		want, err := SSSP(host, seeds, SSSPOptions[T]{Delta: delta})
		if err != nil {
			t.Fatal(err)
		}
		got, err := SSSP(g, seeds, SSSPOptions[T]{Run: run, Delta: delta})
		if err != nil {
			t.Fatalf("SSSP of %s: %v", what, err)
		}
		if method != byRows {
			t.Errorf("SSSP of %s ran by %q", what, method)
		}
		sameBlocks(t, fmt.Sprintf("%T distances of %s, buckets of %v", T(0), what, delta), got, want, group)
	}
	want, err := VertexNomination(host, seeds, VertexNominationOptions[T]{Unit: true})
	if err != nil {
		t.Fatal(err)
	}
	got, err := VertexNomination(g, seeds, VertexNominationOptions[T]{Run: run, Unit: true})
	if err != nil {
		t.Fatalf("hops of %s: %v", what, err)
	}
	sameBlocks(t, "hops of "+what, got, want, group)
}

// A context that ends stops all ranks, and the group stays usable.
func TestByRowsEnds(t *testing.T) {
	group, err := comm.LocalGroup(3)
	if err != nil {
		t.Fatal(err)
	}
	g := graphsByRows(t)["grid"]
	if err := g.Move(group); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = PageRank(g, PageRankOptions{Run: Run{Method: Fused, Context: ctx}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled run returns %v", err)
	}
	if _, err = BFS(g, 0, BFSOptions{Run: Run{Method: Fused, Context: ctx}}); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled search returns %v", err)
	}
	if _, err := PageRank(g, PageRankOptions{Run: Run{Method: Fused}}); err != nil {
		t.Error("after it: ", err)
	}
}

// A device without room for the edges by sources searches levels by pulls alone.
func TestLevelsByPullsAlone(t *testing.T) {
	before := rowsTurn
	rowsTurn = 1 << 48
	defer func() { rowsTurn = before }()
	groups := groupsByRows(t)
	for name, host := range graphsByRows(t) {
		n, _ := host.Dims()
		for where, group := range groups {
			if !group.OnDevices() {
				continue
			}
			g := host.Clone()
			if err := g.Move(group); err != nil {
				t.Fatal(err)
			}
			for _, source := range []int{0, n - 1} {
				want, err := BFS(host, source, BFSOptions{Parents: true})
				if err != nil {
					t.Fatal(err)
				}
				got, err := BFS(g, source, BFSOptions{Parents: true})
				if err != nil {
					t.Fatal(err)
				}
				what := fmt.Sprintf("%s on %s from %d", name, where, source)
				sameBlocks(t, "levels of "+what, got.Level, want.Level, group)
				sameBlocks(t, "parents of "+what, got.Parent, want.Parent, group)
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
	before := rowsWindows
	defer func() { rowsWindows = before }()
	rowsWindows = struct{ bytes, edges int64 }{64, 0}
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
	host, err := b.Build(semiring.Lor().Op())
	if err != nil {
		t.Fatal(err)
	}
	group := peersOf(t, 2)
	searchWeighted[int32](t, "hubs", host, group)
	searchWeighted[float64](t, "hubs", host, group)
}
