package programs

import (
	"bytes"
	"context"
	"errors"
	"image/png"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/cusparse/space"
	"github.com/hiveblas/hiveblas/internal/emulate"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/program"
)

func TestSpaceProgramsEmulated(t *testing.T) {
	longtest.SkipInTurns(t, 1, 2)
	o := SpaceProgramsOptions{Only: []string{"rmat 18", "star and chain", "social"}, Data: t.TempDir(), Budget: 10 * time.Minute, Shrink: 12,
		open: emulate.Open(t), plans: []string{"auto", "pull csr vm store", "pull sell vm store", "push", "buffer rows"}}
	table, err := SpacePrograms(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	if len(table.Absent) != 1 || !strings.Contains(table.Absent[0], "soc-Slashdot0902.mtx.gz does not exist") {
		t.Errorf("absent: %q", table.Absent)
	}
	if want := 2 * len(spacePrograms); len(table.Cells) != want {
		t.Fatalf("%d cells, want %d", len(table.Cells), want)
	}
	for _, c := range table.Cells {
		best, ok := c.best()
		if !ok || len(c.Plans) < 3 || c.Plans[0].Plan != "auto" || c.Tuned == "" || c.Program == "matching" && c.Entries%2 != 0 {
			t.Errorf("%+v", c)
		}
		if !(best.Ms <= c.Plans[0].Ms && best.Ms <= c.worst().Ms && best.Ms <= c.tuned().Ms) {
			t.Errorf("%s %s: best %+v of %+v", c.Graph, c.Program, best, c.Plans)
		}
		for k, x := range c.Plans {
			if x.Over { // of a machine under load
				continue
			}
			if x.Err != "" || x.Supersteps < 1 || !(x.Ms > 0) || len(x.Runs) != spaceReps && (k == 0 || len(x.Runs) != 1) {
				t.Errorf("%s %s: %+v", c.Graph, c.Program, x)
			}
		}
	}
	var text, json bytes.Buffer
	if err := table.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	if err := table.WriteJSON(&json); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"automatic choice / best: ", "tuned / best: ", "best single fixed CSR plan / automatic choice: ", "(pull csr vm store)", "left out: social"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, text.String())
		}
	}
	plots, err := table.Plots()
	if err != nil || len(plots) != 2 {
		t.Fatalf("%d plots, %v", len(plots), err)
	}
	for _, p := range plots {
		var b bytes.Buffer
		if err := p.WritePNG(&b); err != nil {
			t.Fatal(err)
		}
		if im, err := png.Decode(&b); err != nil || im.Bounds().Dx() < 100 {
			t.Errorf("%s: %v", p.File, err)
		}
	}
}

// TestSpaceRatios computes the ratios of a table by hand.
func TestSpaceRatios(t *testing.T) {
	t.Parallel()
	cell := func(graph, tuned string, ms ...float64) SpaceCell {
		c := SpaceCell{Graph: graph, Program: "bfs", Tuned: tuned}
		for k, plan := range []string{"auto", "pull csr vm store", "pull sell vm store", "pull csr wm store", "pull coo em atomic"} {
			x := PlanTime{Plan: plan, Ms: ms[k]}
			if ms[k] == 0 {
				x.Err = "fails"
			}
			c.Plans = append(c.Plans, x)
		}
		return c
	}
	table := &SpaceProgramsTable{Cells: []SpaceCell{
		cell("a", "pull csr vm store", 2, 4, 1, 1, 8),
		cell("b", "auto", 1, 16, 2, 0, 4),
		{Graph: "c", Program: "bfs", Failed: "no"},
	}}
	got := table.Ratios()
	want := SpaceRatios{Cells: 2, DefaultToBest: math.Sqrt2, TunedToBest: 2, Worst: 2, WorstCell: "bfs on a",
		CSRToDefault: math.Sqrt(2 * 16), CSR: "pull csr vm store", AnyToDefault: 1, Any: "pull sell vm store"}
	for _, x := range [][2]float64{{got.DefaultToBest, want.DefaultToBest}, {got.TunedToBest, want.TunedToBest}, {got.CSRToDefault, want.CSRToDefault}, {got.AnyToDefault, want.AnyToDefault}} {
		if math.Abs(x[0]-x[1]) > 1e-12 {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	if got.Cells != want.Cells || got.Worst != want.Worst || got.WorstCell != want.WorstCell || got.CSR != want.CSR || got.Any != want.Any {
		t.Errorf("%+v, want %+v", got, want)
	}
	schedule := func(_ *SpaceCell, plan string) string { s, _ := placeOf(plan); return s }
	h := table.heatOf(func(c *SpaceCell, _ string) string { return c.Graph }, schedule)
	if !slices.Equal(h.rows, []string{"a", "b"}) || !slices.Equal(h.columns, []string{"auto", "vm", "wm", "em"}) ||
		!math.IsNaN(h.values[1][2]) {
		t.Errorf("%+v", h)
	}
	for k, want := range []float64{2, 1, 1, 8} {
		if math.Abs(h.values[0][k]-want) > 1e-12 {
			t.Errorf("%s of %s is %v, want %v", h.columns[k], h.rows[0], h.values[0][k], want)
		}
	}
	if math.Abs(h.values[1][1]-2) > 1e-12 { // sell is the better layout of vm
		t.Errorf("vm of b is %v, want 2", h.values[1][1])
	}
	stopped := SpaceCell{Plans: []PlanTime{{Plan: "auto", Ms: 3}, {Plan: "push", Ms: 2, Over: true}}}
	if best, ok := stopped.best(); !ok || best.Plan != "auto" {
		t.Errorf("the best of %+v is %+v", stopped.Plans, best)
	}
	var none *SpaceProgramsTable
	if plots, err := none.Plots(); len(plots) != 0 || err != nil || none.Ratios() != (SpaceRatios{}) {
		t.Errorf("an empty table: %v, %v", plots, err)
	}
	if err := none.WriteText(nil); err == nil {
		t.Error("no writer: no error")
	}
}

// TestSpaceCell: plans that disagree, fail, do not suit or take too long.
func TestSpaceCell(t *testing.T) {
	t.Parallel()
	ran := map[string]int{}
	run := func(ctx context.Context, plan string, checks bool) (int, float64, error) {
		ran[plan]++
		switch plan {
		case "clash":
			return 0, 0, &program.PlanError{Plan: plan}
		case "fails":
			return 0, 0, errors.New("a failure")
		case "stuck":
			if !checks {
				<-ctx.Done()
				return 0, 0, ctx.Err()
			}
		case "wrong":
			return 3, 43, nil
		}
		return 3, 42, nil
	}
	var c SpaceCell
	if err := c.measure(context.Background(), []string{"auto", "clash", "fails", "wrong", "stuck", "good"}, run, time.Minute); err != nil {
		t.Fatal(err)
	}
	if len(c.Plans) != 5 || c.Failed != "" || c.Plans[1].Err != "a failure" || !strings.Contains(c.Plans[2].Err, "sum to 43") ||
		!c.Plans[3].Over || !(c.Plans[3].Ms >= 100) || c.Plans[4].Err != "" || ran["auto"] != 1+spaceReps || ran["stuck"] != 2 {
		t.Errorf("%+v after %v", c, ran)
	}
	if c.Tuned != "auto" && c.Tuned != "good" {
		t.Errorf("tuned is %q", c.Tuned)
	}
	var failed SpaceCell
	if err := failed.measure(context.Background(), []string{"fails", "good"}, run, time.Second); err != nil || failed.Failed != "a failure" {
		t.Errorf("%+v, %v", failed, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := c.measure(ctx, []string{"auto"}, run, time.Second); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that has ended: %v", err)
	}
}

// TestSpaceProgramGraphs checks the graphs that this table has for itself, and that its plans
// exist.
func TestSpaceProgramGraphs(t *testing.T) {
	t.Parallel()
	graphs := spaceProgramGraphs()
	if generated := len(slices.DeleteFunc(slices.Clone(graphs), func(g spaceGraph) bool { return g.file != "" })); generated < 12 {
		t.Errorf("%d generated graphs, want 12", generated)
	}
	path := gen.Tuples{Rows: []int32{0, 1, 2}, Cols: []int32{1, 2, 3}, NRows: 4, NCols: 4}
	for _, g := range graphs {
		made := g.make(12, path)
		if made.NRows != made.NCols || made.NNZ() == 0 {
			t.Errorf("%s has %d rows, %d columns and %d entries", g.name, made.NRows, made.NCols, made.NNZ())
		}
		if g.file != "" {
			if _, absent, err := g.load("", 0); absent == "" || err != nil {
				t.Errorf("%s without data: %q, %v", g.name, absent, err)
			}
		}
	}
	if r := tiled(path, 3, 2); r.NRows != 36 || len(r.Rows) != 9*3+12*2 {
		t.Errorf("9 tiles of a path have %d vertices and %d edges", r.NRows, len(r.Rows))
	}
	k := slices.IndexFunc(graphs, func(g spaceGraph) bool { return g.name == "rmat 20 by degree" })
	sorted, last := graphs[k].make(12, path), 1<<30
	for v := range sorted.NRows {
		if d := len(sorted.Row(v)); d > last {
			t.Fatalf("vertex %d has %d edges, the one before %d", v, d, last)
		} else {
			last = d
		}
	}
	seen := map[string]bool{}
	for _, plan := range spacePlans {
		p, err := space.Parse(plan)
		special := plan == "auto" || plan == "push" || slices.Contains(program.BufferPlans(), plan)
		if seen[plan] || !special && (err != nil || p.String() != plan) {
			t.Errorf("plan %q: %v, %v", plan, p, err)
		}
		seen[plan] = true
	}
}
