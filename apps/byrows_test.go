package apps

import (
	"context"
	"errors"
	"math"
	"os"
	"testing"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/cusparse"
	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/generate"
	"github.com/hiveblas/hiveblas/internal/emu"
	"github.com/hiveblas/hiveblas/internal/race"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
)

// peersOf returns a group of p devices of their own, which gather from memory to memory: GPUs of this
// machine with HIVEBLAS_TEST_GPU, else those of an emulator.
func peersOf(t testing.TB, p int) *comm.Group {
	t.Helper()
	if race.Enabled {
		t.Skip("the emulator launches one kernel at a time")
	}
	var opts []cusparse.Option
	if os.Getenv("HIVEBLAS_TEST_GPU") == "" {
		e, err := emu.New(emu.Devices(p))
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
	return g
}

// graphsByRows are graphs for runs by rows: empty rows and ranks, hubs, dangling vertices, more ranks
// than vertices, directed and not.
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
	return list
}

// PageRank by rows has the ranks of one place, up to the order of sums, and as many iterations.
func TestPageRankByRows(t *testing.T) {
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
	for name, host := range graphsByRows(t) {
		want, err := PageRank(host)
		if err != nil {
			t.Fatal(err)
		}
		ranks := want.Rank.Dense(0)
		for where, group := range groups {
			g := host.Clone()
			if err := g.Move(group); err != nil {
				t.Fatal(err)
			}
			var method ops.Method
			o := PageRankOptions{Run: Run{Trace: func(t ops.Trace) { method = t.Method }}}
			if group.PlaceOf(0) == nil {
				o.Method = Fused
			}
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
			for v, x := range got.Rank.Dense(-1) {
				if math.Abs(x-ranks[v]) > 1e-14 {
					t.Fatalf("%s on %s: rank of %d is %v, want %v", name, where, v, x, ranks[v])
				}
			}
		}
	}
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
	if _, err := PageRank(g, PageRankOptions{Run: Run{Method: Fused}}); err != nil {
		t.Error("after it: ", err)
	}
}
