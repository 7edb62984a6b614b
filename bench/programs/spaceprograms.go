package programs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/hiveblas/hiveblas/bench"
	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/bench/gpu"
	"github.com/hiveblas/hiveblas/bench/internal/gpuside"
	"github.com/hiveblas/hiveblas/bench/internal/inputs"
	"github.com/hiveblas/hiveblas/bench/internal/tables"
	"github.com/hiveblas/hiveblas/cusparse"
	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/program"
	"github.com/hiveblas/hiveblas/program/examples"
)

// SpaceProgramsOptions are the settings of SpacePrograms.
type SpaceProgramsOptions struct {
	Only     []string      // graphs with one of these in their names; nil means all
	Programs []string      // programs with one of these in their names; nil means all
	Data     string        // directory of real graphs, the graphs of the list that are files; "": none
	Budget   time.Duration // of everything; 0 means 20 minutes
	Shrink   int           // generated graphs 2^Shrink times smaller
	Log      func(string)  // receives a line for each program on a graph; may be nil

	open  func() (*cusparse.Device, driver.Driver, error)
	plans []string // nil: spacePlans
}

// SpaceCell is a program on a graph by the plans that were tried.
type SpaceCell struct {
	Graph   string     `json:"graph"`
	Rows    int        `json:"rows"`
	Entries int64      `json:"entries"`
	Program string     `json:"program"`
	Tuned   string     `json:"tuned"` // the plan that one run each picks
	Plans   []PlanTime `json:"plans"` // the first by the automatic choice
	Failed  string     `json:"failed,omitempty"`
}

// PlanTime is a plan and its times in milliseconds, from call to return.
type PlanTime struct {
	Plan       string    `json:"plan"`
	Ms         float64   `json:"ms"`             // the median of Runs
	Runs       []float64 `json:"runs,omitempty"` // the first is the one of the search
	Supersteps int       `json:"supersteps,omitempty"`
	Over       bool      `json:"over,omitempty"` // a run was stopped after Ms
	Err        string    `json:"error,omitempty"`
}

// SpaceProgramsTable is the cells of SpacePrograms.
type SpaceProgramsTable struct {
	Device string      `json:"device"`
	Cells  []SpaceCell `json:"cells"`
	Absent []string    `json:"absent,omitempty"` // graphs that were left out, and why
}

// spacePrograms are the programs of the table, and whether they need an undirected graph.
var spacePrograms = []struct {
	name string
	both bool
}{{"bfs", false}, {"sssp", false}, {"pagerank", false}, {"components", true}, {"matching", true}}

// SpaceProgramNames returns the names of the programs of [SpacePrograms].
func SpaceProgramNames() []string {
	var names []string
	for _, p := range spacePrograms {
		names = append(names, p.name)
	}
	return names
}

// spacePlans are the automatic choice and the fixed plans that it is compared with: pulls by each
// of five layouts with each of eight schedules, plans of the other schedules and orders, pushes,
// and message buffers.
var spacePlans = func() []string {
	plans := []string{"auto", "push"}
	for _, layout := range []string{"csr", "sell", "coo", "ell", "dia"} {
		for _, schedule := range []string{"vw store lanes=4", "twc store", "twce store", "cm store", "strict segmented", "em atomic", "wm store", "vm store"} {
			plans = append(plans, "pull "+layout+" "+schedule)
		}
	}
	return append(plans, "pull csr mpp segmented", "pull csr tiles segmented", "pull coo emv atomic", "pull csr16 wm store",
		"pull csr vm store order=log", "pull sell vm store order=log",
		"push csr vm bitmap from=bitmap", "push csr wm bitmap from=bitmap", "push csr twc bitmap from=bitmap",
		"push csr twce bitmap from=bitmap", "push coo em bitmap from=bitmap", "push csr twc append from=list",
		"push csr twce append from=list", "push csr cm append from=list", "buffer rows", "buffer columns")
}()

const (
	spaceReps  = 5                // timed runs of a plan, the one of the search included
	spaceFar   = 4                // plans that take so many times the best of the search run once
	spaceStop  = 50               // runs of fixed plans are stopped after so many times the automatic choice
	spaceParts = 24               // and after this part of the time of a cell
	spaceLimit = 20 * time.Second // runs of the automatic choice, at least
	spaceFirst = time.Second / 2  // more for the first run of a plan, which makes layouts
)

// SpacePrograms runs five graph programs on graphs of different kinds on the first gpu.Run, by the
// automatic choice and by fixed plans. Before, it runs them on a small graph to compile. On each
// graph, every plan runs once to make what is kept with the matrix and to check its result against
// the result of the automatic choice, and once as a search: its quickest plan is the tuned one.
// Then the plans take turns, and times are medians. Fixed plans far behind the best run only once,
// and those much slower than the automatic choice are stopped. The graphs that are left share what
// is left of the budget. If ctx ends, the table holds what was measured.
func SpacePrograms(ctx context.Context, o SpaceProgramsOptions) (*SpaceProgramsTable, error) {
	ctx = tables.OrBackground(ctx)
	if o.Budget <= 0 {
		o.Budget = 20 * time.Minute
	}
	if o.Log == nil {
		o.Log = func(string) {}
	}
	if o.open == nil {
		o.open = gpu.OpenFirst
	}
	if o.plans == nil {
		o.plans = spacePlans
	}
	o.Shrink = min(max(o.Shrink, 0), 12)
	end := time.Now().Add(o.Budget)
	dev, _, err := o.open()
	if err != nil {
		return nil, err
	}
	defer dev.Close()
	t := &SpaceProgramsTable{Device: dev.String()}
	if err := compileSpace(ctx, dev, o, end.Add(-o.Budget*2/3)); err != nil {
		return t, err
	}
	graphs := slices.DeleteFunc(spaceProgramGraphs(), func(g spaceGraph) bool { return !tables.Wanted(o.Only, g.name) })
	for k, g := range graphs {
		graph, absent, err := g.load(o.Data, o.Shrink)
		if err != nil {
			return t, err
		}
		if absent != "" {
			t.Absent = append(t.Absent, g.name+": "+absent)
			o.Log(g.name + " is left out: " + absent)
			continue
		}
		share := time.Until(end) / time.Duration(len(graphs)-k)
		if err := t.measure(ctx, dev, o, g.name, graph, max(share, 0)); err != nil {
			return t, err
		}
	}
	return t, nil
}

// compileSpace runs every plan of every program on a small graph until a time, so that most kernels
// are compiled before the first cell. Its only error is the error of ctx or of the device's memory.
func compileSpace(ctx context.Context, dev *cusparse.Device, o SpaceProgramsOptions, end time.Time) error {
	graph := gen.CSR(gen.Symmetrise(gen.RMAT(7, 8, gen.RMATOptions{})))
	a, err := inputs.WeightedOn(dev, graph)
	if err != nil {
		return err
	}
	defer func() { _ = a.Move(nil) }()
	for _, p := range spacePrograms {
		if !tables.Wanted(o.Programs, p.name) {
			continue
		}
		run := spaceRun(a, graph, p.name)
		for _, plan := range o.plans {
			if time.Now().After(end) {
				return nil
			}
			_, _, _ = run(ctx, plan, false) // an error appears in the cells
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
	}
	return nil
}

// measure adds the cells of a graph, which share the time.
func (t *SpaceProgramsTable) measure(
	ctx context.Context, dev *cusparse.Device, o SpaceProgramsOptions, name string, graph *gen.Graph, share time.Duration,
) error {
	end := time.Now().Add(share)
	var todo []int
	for k, p := range spacePrograms {
		if tables.Wanted(o.Programs, p.name) {
			todo = append(todo, k)
		}
	}
	var a *matrix.Matrix[float32]
	drop := func() {
		if a != nil {
			_ = a.Move(nil) // gives the memory of the device back
		}
	}
	defer func() { drop() }()
	both := false // whether a has edges in both directions
	for i, k := range todo {
		p := spacePrograms[k]
		if p.both && !both && a != nil && !a.IsSymmetric() {
			drop()
			a = nil
		}
		if a == nil {
			if p.both {
				graph = gen.CSR(gen.Symmetrise(edgesOf(graph)))
			}
			var err error
			if a, err = inputs.WeightedOn(dev, graph); err != nil {
				return err
			}
		}
		both = both || p.both
		cell := SpaceCell{Graph: name, Rows: graph.NRows, Entries: graph.NNZ(), Program: p.name}
		err := cell.measure(ctx, o.plans, spaceRun(a, graph, p.name), time.Until(end)/time.Duration(len(todo)-i))
		t.Cells = append(t.Cells, cell)
		if err != nil {
			return err
		}
		o.Log(cell.line())
	}
	return nil
}

// planRun runs a program by a plan. check is a figure of the states.
type planRun func(ctx context.Context, plan string, checks bool) (supersteps int, check float64, err error)

// spaceRun is a program on a graph.
func spaceRun(a *matrix.Matrix[float32], graph *gen.Graph, name string) planRun {
	source, width := inputs.SourcesOf(graph, 1)[0], float32(inputs.ProgramDelta)
	if graph.NNZ() < 8*int64(graph.NRows) { // long shortest paths
		width = 252
	}
	switch name {
	case "bfs":
		return checkedRun(a.Pattern(), examples.BFS(source), func(level int32) float64 { return float64(level) })
	case "sssp":
		return checkedRun(a, examples.SSSP(source, width), func(d float32) float64 { return math.Min(float64(d), 1e6) })
	case "pagerank":
		p := examples.PageRank(.85, -1)
		p.Supersteps = 20
		return checkedRun(a.Pattern(), p, func(r examples.Rank) float64 { return r.Rank * r.Rank * 1e9 })
	case "components":
		return checkedRun(a.Pattern(), examples.HCC(), func(label int32) float64 { return float64(label) })
	}
	return checkedRun(a.Pattern(), examples.Matching(), func(p examples.Partner) float64 { return float64(p.To) })
}

func checkedRun[V, E, M comparable](g matrix.Source[E], p program.Program[V, E, M], figure func(V) float64) planRun {
	return func(ctx context.Context, plan string, checks bool) (int, float64, error) {
		res, err := program.Run(ctx, g, p, program.Options{Plan: plan})
		if err != nil {
			return 0, 0, err
		}
		sum := 0.0
		if checks {
			for v, state := range sure.Get(res.State.Dense(*new(V))) {
				sum += figure(state) * float64(1+v%7)
			}
		}
		return res.Supersteps, sum, nil
	}
}

// measure times the plans of a cell. It returns the error of ctx alone.
func (c *SpaceCell) measure(ctx context.Context, plans []string, run planRun, share time.Duration) error {
	start := time.Now()
	left := func() time.Duration { return share - time.Since(start) }
	limit := max(share, spaceLimit)
	once := func(plan string, checks bool) (x PlanTime, check float64, err error) {
		limit := limit
		if checks {
			limit += spaceFirst
		}
		bounded, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		x.Plan = plan
		took, err := gpuside.Wall(func() (err error) { x.Supersteps, check, err = run(bounded, plan, checks); return err })
		x.Ms = tables.Ms(took)
		if err != nil && bounded.Err() != nil && ctx.Err() == nil {
			x.Over, x.Ms, err = true, tables.Ms(limit), nil
		}
		return x, check, err
	}
	var want float64
	for k, plan := range plans {
		if k > 0 && left() < share/4 {
			break // the rest of the time is for measuring
		}
		x, check, err := once(plan, true)
		if x.Over && ctx.Err() == nil && err == nil { // its layouts exist now
			x, check, err = once(plan, true)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		var clash *program.PlanError
		switch {
		case errors.As(err, &clash):
			continue // the plan does not suit the program or the graph
		case err != nil:
			x = PlanTime{Plan: plan, Err: err.Error()}
		case k == 0:
			want = check
		case !x.Over && math.Abs(check-want) > 1e-4*math.Abs(want)+1e-9:
			x = PlanTime{Plan: plan, Err: fmt.Sprintf("the states sum to %g, those of %s to %g", check, plans[0], want)}
		}
		if x.Err == "" && !x.Over { // the search
			if x, _, err = once(plan, false); err != nil {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				x = PlanTime{Plan: plan, Err: err.Error()}
			} else if !x.Over {
				x.Runs = []float64{x.Ms}
			}
		}
		c.Plans = append(c.Plans, x)
		if k == 0 && (x.Err != "" || x.Over) {
			c.Failed = cmp.Or(x.Err, "the automatic choice takes longer than the budget allows")
			return nil
		}
		if k == 0 {
			most := min(spaceStop*x.Ms, tables.Ms(share)/spaceParts)
			limit = time.Duration(max(most, 100, 2*x.Ms) * float64(time.Millisecond))
		}
	}
	if len(c.Plans) == 0 || c.Plans[0].Plan != plans[0] {
		c.Failed = "the automatic choice does not suit the program"
		return nil
	}
	best, _ := c.best()
	c.Tuned = best.Plan
	if err := c.repeat(ctx, best.Ms, left, once); err != nil {
		return err
	}
	for k := range c.Plans {
		if x := &c.Plans[k]; len(x.Runs) > 0 {
			x.Ms = bench.QuartilesOf(x.Runs).Median
		}
	}
	return nil
}

// repeat runs each plan that is not far from the best again, spaceReps times in all, while time is
// left.
func (c *SpaceCell) repeat(ctx context.Context, best float64, left func() time.Duration, once func(plan string, checks bool) (PlanTime, float64, error)) error {
	for range spaceReps - 1 {
		for k := range c.Plans {
			x := &c.Plans[k]
			if x.Err != "" || x.Over || k > 0 && x.Runs[0] > spaceFar*best {
				continue
			}
			if left() < 0 && len(c.Plans[0].Runs) > 1 {
				break
			}
			y, _, err := once(x.Plan, false)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				x.Err = err.Error()
				continue
			}
			x.Runs = append(x.Runs, y.Ms)
		}
	}
	return nil
}

// Times are the plans that have a time, which for those over the limit is a lower bound.
func (c *SpaceCell) times() []PlanTime {
	return slices.DeleteFunc(slices.Clone(c.Plans), func(x PlanTime) bool { return x.Err != "" || !(x.Ms > 0) })
}

// best returns the quickest plan, and worst the slowest.
func (c *SpaceCell) best() (x PlanTime, ok bool) {
	list := slices.DeleteFunc(c.times(), func(x PlanTime) bool { return x.Over })
	if len(list) > 0 && c.Failed == "" {
		return slices.MinFunc(list, byMs), true
	}
	return x, false
}

func (c *SpaceCell) worst() PlanTime { return slices.MaxFunc(c.times(), byMs) }

func byMs(x, y PlanTime) int { return cmp.Compare(x.Ms, y.Ms) }

// tuned returns the time of the tuned plan.
func (c *SpaceCell) tuned() PlanTime {
	k := slices.IndexFunc(c.Plans, func(x PlanTime) bool { return x.Plan == c.Tuned && x.Err == "" })
	return c.Plans[max(k, 0)]
}

// line is the cell in the log.
func (c *SpaceCell) line() string {
	best, ok := c.best()
	if !ok {
		return fmt.Sprintf("%s %s: %s", c.Graph, c.Program, c.Failed)
	}
	return fmt.Sprintf("%s %s: auto %.3f ms, best %s %.3f ms of %d plans", c.Graph, c.Program, c.Plans[0].Ms, best.Plan, best.Ms, len(c.Plans))
}

// SpaceRatios are the geometric means that the choice is judged by, over the cells without an
// error.
type SpaceRatios struct {
	Cells         int
	DefaultToBest float64 // the automatic choice / the best plan of each cell
	TunedToBest   float64 // the plan that one run each picks / the best
	Worst         float64 // the greatest of the first, at WorstCell
	WorstCell     string
	// The best single fixed plan, of CSR and of any layout, / the automatic choice, over plans that
	// ran in every cell; 0 and "" if there is none. A run that was stopped counts with its limit.
	CSRToDefault, AnyToDefault float64
	CSR, Any                   string
}

// Ratios returns the ratios of the table.
func (t *SpaceProgramsTable) Ratios() SpaceRatios {
	var r SpaceRatios
	var auto, tuned []float64
	for _, c := range tables.OrZero(t).Cells {
		best, ok := c.best()
		if !ok {
			continue
		}
		r.Cells++
		ratio := c.Plans[0].Ms / best.Ms
		auto, tuned = append(auto, ratio), append(tuned, c.tuned().Ms/best.Ms)
		if ratio > r.Worst {
			r.Worst, r.WorstCell = ratio, c.Program+" on "+c.Graph
		}
	}
	if r.Cells == 0 {
		return r
	}
	r.DefaultToBest, r.TunedToBest = geometric(auto), geometric(tuned)
	for plan, ratios := range tables.OrZero(t).fixed("", func(c *SpaceCell) float64 { return c.Plans[0].Ms }) {
		if len(ratios) != r.Cells {
			continue
		}
		g := geometric(ratios)
		better := func(than float64, name string) bool { return name == "" || g < than || g == than && plan < name }
		if better(r.AnyToDefault, r.Any) {
			r.AnyToDefault, r.Any = g, plan
		}
		if strings.Contains(plan, " csr ") && better(r.CSRToDefault, r.CSR) {
			r.CSRToDefault, r.CSR = g, plan
		}
	}
	return r
}

// fixed returns the times of each fixed plan over a reference of each cell, of one program or of
// all.
func (t *SpaceProgramsTable) fixed(program string, reference func(c *SpaceCell) float64) map[string][]float64 {
	ratios := map[string][]float64{}
	for k := range t.Cells {
		c := &t.Cells[k]
		if _, ok := c.best(); !ok || program != "" && c.Program != program {
			continue
		}
		for _, x := range c.times() {
			if x.Plan != c.Plans[0].Plan {
				ratios[x.Plan] = append(ratios[x.Plan], x.Ms/reference(c))
			}
		}
	}
	return ratios
}

// WriteJSON writes the table as JSON.
func (t *SpaceProgramsTable) WriteJSON(w io.Writer) error {
	return tables.WriteJSON(w, tables.OrZero(t))
}

// WriteText writes a line for each cell, the geometric means of each fixed plan over the graphs,
// and the ratios.
func (t *SpaceProgramsTable) WriteText(w io.Writer) error {
	if t = tables.OrZero(t); w == nil {
		return tables.ErrNoWriter
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(tw, "%s\n", t.Device)
	fmt.Fprintln(tw, "graph\tvertices\tedges\tprogram\tbest\tms\tauto\t/best\ttuned\tms\t/best\tworst\tms\tplans")
	for k := range t.Cells {
		c := &t.Cells[k]
		best, ok := c.best()
		if !ok {
			fmt.Fprintf(tw, "%s\t%d\t%d\t%s\t%s\n", c.Graph, c.Rows, c.Entries, c.Program, c.Failed)
			continue
		}
		worst, tuned := c.worst(), c.tuned()
		fmt.Fprintf(tw, "%s\t%d\t%d\t%s\t%s\t%.3f\t%.3f\t%.2f\t%s\t%.3f\t%.2f\t%s\t%s\t%d\n", c.Graph, c.Rows, c.Entries, c.Program, best.Plan, best.Ms,
			c.Plans[0].Ms, c.Plans[0].Ms/best.Ms, tuned.Plan, tuned.Ms, tuned.Ms/best.Ms, worst.Plan, worst.text(), len(c.times()))
	}
	for _, c := range t.Cells {
		for _, x := range c.Plans {
			if x.Err != "" {
				fmt.Fprintf(tw, "%s\t\t\t%s\t%s: %s\n", c.Graph, c.Program, x.Plan, x.Err)
			}
		}
	}
	t.writeFixed(tw)
	if err := tw.Flush(); err != nil {
		return err
	}
	for _, g := range t.Absent {
		if _, err := fmt.Fprintf(w, "left out: %s\n", g); err != nil {
			return err
		}
	}
	return t.Ratios().write(w)
}

// text is the time, with a sign if it is a lower bound.
func (x PlanTime) text() string {
	if x.Over {
		return fmt.Sprintf("> %.0f", x.Ms)
	}
	return fmt.Sprintf("%.3f", x.Ms)
}

// writeFixed writes the geometric mean of each fixed plan over the graphs, relative to the best
// plan of each, by program. A plan that did not run on all graphs has the number of those that it
// ran on.
func (t *SpaceProgramsTable) writeFixed(w io.Writer) {
	best := func(c *SpaceCell) float64 { x, _ := c.best(); return x.Ms }
	all := t.fixed("", best)
	if len(all) == 0 {
		return
	}
	fmt.Fprintf(w, "\nfixed plan / best, geometric means over graphs\tall\t%s\n", strings.Join(SpaceProgramNames(), "\t"))
	plans := []string{}
	for plan := range all {
		plans = append(plans, plan)
	}
	slices.SortFunc(plans, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(all[b]), len(all[a])), cmp.Compare(geometric(all[a]), geometric(all[b])), strings.Compare(a, b))
	})
	for _, plan := range plans {
		fmt.Fprintf(w, "%s\t%.2f (%d)", plan, geometric(all[plan]), len(all[plan]))
		for _, p := range SpaceProgramNames() {
			if ratios := t.fixed(p, best)[plan]; len(ratios) > 0 {
				fmt.Fprintf(w, "\t%.2f (%d)", geometric(ratios), len(ratios))
			} else {
				fmt.Fprint(w, "\t–")
			}
		}
		fmt.Fprintln(w)
	}
}

func (r SpaceRatios) write(w io.Writer) error {
	if r.Cells == 0 {
		return nil
	}
	text := fmt.Sprintf("\nover %d cells, geometric means:\nautomatic choice / best: %.3f, worst %.2f (%s)\ntuned / best: %.3f\n",
		r.Cells, r.DefaultToBest, r.Worst, r.WorstCell, r.TunedToBest)
	for _, x := range []struct {
		kind, plan string
		ratio      float64
	}{{"CSR plan", r.CSR, r.CSRToDefault}, {"plan of any layout", r.Any, r.AnyToDefault}} {
		if x.plan == "" {
			text += fmt.Sprintf("best single fixed %s / automatic choice: no such plan ran in every cell\n", x.kind)
		} else {
			text += fmt.Sprintf("best single fixed %s / automatic choice: %.2f (%s)\n", x.kind, x.ratio, x.plan)
		}
	}
	_, err := io.WriteString(w, text)
	return err
}
