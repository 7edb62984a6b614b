//go:build !race

// One goroutine: the race detector need not compile the apps for this.

package cusparse_test

import (
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/cusparse"
	"github.com/hiveblas/hiveblas/cusparse/space"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

// planCase is an app with a pipeline that runs by every plan.
type planCase struct {
	name string
	// run compares the app on a graph with the host's result.
	run func(on matrix.Place) error
}

// planCases are breadth-first search, shortest paths, ranks and components of two graphs.
func planCases(t *testing.T) []planCase {
	t.Helper()
	skewed := gen.Symmetrise(gen.RMAT(7, 4, gen.RMATOptions{}))
	var out []planCase
	for _, g := range []struct {
		name   string
		tuples gen.Tuples
	}{{"R-MAT", skewed}, {"grid", gen.Grid2D(12, 12)}} {
		n := g.tuples.NRows
		b := matrix.NewBuilder[int32](n, n)
		for k, i := range g.tuples.Rows {
			j := g.tuples.Cols[k]
			if i != j {
				b.Add(int(i), int(j), (i^j)%7+1)
			}
		}
		host := sure.Get(b.Build(semiring.Min[int32]()))
		source := int(g.tuples.Rows[0])
		run := apps.Run{Method: apps.Pipeline}
		levels, err := apps.BFS(host, source)
		fail(t, err)
		paths, err := apps.SSSP(host, []int{source})
		fail(t, err)
		parts, err := apps.ConnectedComponents(host)
		fail(t, err)
		ranks, err := apps.PageRank(host)
		fail(t, err)
		graph := func(on matrix.Place) *matrix.Matrix[int32] {
			c := host.Clone()
			sure.Do(c.Move(on))
			return c
		}
		same := func(what string, equal bool, got, want any) error {
			if equal {
				return nil
			}
			return fmt.Errorf("%s of the %s: %v, want %v", what, g.name, got, want)
		}
		out = append(out,
			planCase{"BFS " + g.name, func(on matrix.Place) error {
				got, err := apps.BFS(graph(on), source, apps.BFSOptions{Run: run})
				if err != nil {
					return err
				}
				return same("BFS", got.Level.Equal(levels.Level), got.Level, levels.Level)
			}},
			planCase{"SSSP " + g.name, func(on matrix.Place) error {
				got, err := apps.SSSP(graph(on), []int{source}, apps.SSSPOptions[int32]{Run: run})
				if err != nil {
					return err
				}
				return same("SSSP", got.Equal(paths), got, paths)
			}},
			planCase{"components " + g.name, func(on matrix.Place) error {
				got, err := apps.ConnectedComponents(graph(on), apps.ComponentsOptions{Run: run})
				if err != nil {
					return err
				}
				return same("components", got.Label.Equal(parts.Label), got.Label, parts.Label)
			}},
			planCase{"PageRank " + g.name, func(on matrix.Place) error {
				got, err := apps.PageRank(graph(on), apps.PageRankOptions{Run: run})
				if err != nil {
					return err
				}
				for i, want := range ranks.Rank.All() {
					if x, ok := got.Rank.At(i); !ok || math.Abs(x-want) > 1e-9 {
						return fmt.Errorf("rank of %d in the %s: %v, want %v", i, g.name, x, want)
					}
				}
				return nil
			}},
		)
	}
	return out
}

func fail(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// testAppsByPlans runs each app by every k-th plan of the space; part of parts.
func testAppsByPlans(t *testing.T, d *cusparse.Device, k, part, parts int) {
	every := space.Facts{Rows: 1, Cols: 1, Entries: 1, Seen: true, Diagonals: 1, OnDiagonals: 1, FullX: true,
		ListedMask: true, Exact: true, Constant: true, Any: true, Result: 4, ReadsX: true, Shared: 1}
	cases := planCases(t)
	plans, ran := 0, 0
	for _, dir := range []space.Direction{space.Pull, space.Push} {
		for _, p := range space.Points(dir, every) {
			plans++
			if plans%(k*parts) != k/2+part*k {
				continue
			}
			for _, c := range cases {
				taken := d.TakePlan(p)
				if err := c.run(d); err != nil {
					t.Errorf("%s by %q: %v", c.name, p, err)
				}
				if taken() > 0 {
					ran++
				}
			}
		}
	}
	if plans < 4480 {
		t.Errorf("%d plans, want at least the 4480 of GRAssembler", plans)
	}
	if ran == 0 {
		t.Error("no product took its plan")
	}
	t.Logf("part %d of %d: %d runs of apps took their plan", part+1, parts, ran)
}

// TestAppsByPlans runs some plans on the emulator.
func TestAppsByPlans(t *testing.T) {
	longtest.SkipInTurns(t, 1, 3)
	t.Parallel()
	k := 997
	if longtest.Enabled() {
		k = 701
	}
	d, _ := cusparse.Emulated(t)
	testAppsByPlans(t, d, k, 0, 1)
}

// TestAppsByPlansOnGPU runs every plan on a GPU in the long form, else every 61st.
// HIVEBLAS_PART=i/n runs part i of n, counted from 0, so that processes share the compiling.
func TestAppsByPlansOnGPU(t *testing.T) {
	d := cusparse.RealDevice(t)
	k, part, parts := 61, 0, 1
	if longtest.Enabled() {
		k = 1
	}
	if s := os.Getenv("HIVEBLAS_PART"); s != "" {
		if _, err := fmt.Sscanf(s, "%d/%d", &part, &parts); err != nil || part < 0 || part >= parts {
			t.Fatalf("HIVEBLAS_PART=%s is not of the form i/n", s)
		}
	}
	testAppsByPlans(t, d, k, part, parts)
}
