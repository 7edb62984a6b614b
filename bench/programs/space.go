package programs

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/bench/gpu"
	"github.com/hiveblas/hiveblas/bench/internal/inputs"
	"github.com/hiveblas/hiveblas/bench/internal/tables"
	"github.com/hiveblas/hiveblas/cusparse"
	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/matrix"
)

// SpaceOptions are the settings of Space.
type SpaceOptions struct {
	Only   []string      // graphs with one of these in their names; nil means all
	Ops    []string      // cells with one of these in their names; nil means all
	Budget time.Duration // of the search of a cell; 0 means 6 s
	Shrink int           // graphs 2^Shrink times smaller
	Log    func(string)  // receives a line for each cell; may be nil

	open func() (*cusparse.Device, driver.Driver, error)
}

// SpaceRow is one cell: a product on a graph by the plan that is chosen without a search, by the
// best plan that the search found, and by cuSPARSE. Times are in microseconds.
type SpaceRow struct {
	Graph     string      `json:"graph"`
	Cell      string      `json:"cell"`
	Rows      int         `json:"rows"`
	Entries   int64       `json:"entries"`
	Variation float64     `json:"variation"`
	Diagonals float64     `json:"on_diagonals"`
	Legal     int         `json:"legal"`
	Tried     int         `json:"tried"`
	Chosen    string      `json:"chosen"`
	ChosenUs  float64     `json:"chosen_us"`
	Best      string      `json:"best"`
	BestUs    float64     `json:"best_us"`
	Cusparse  float64     `json:"cusparse_us,omitempty"`
	BoundUs   float64     `json:"bound_us"`
	Plans     []SpacePlan `json:"plans"` // the others, fastest first
	Failed    string      `json:"failed,omitempty"`
}

// SpacePlan is a plan and its time.
type SpacePlan struct {
	Plan string  `json:"plan"`
	Us   float64 `json:"us,omitempty"`
	Err  string  `json:"error,omitempty"`
}

// SpaceTable is the rows of Space.
type SpaceTable struct {
	Device string     `json:"device"`
	Rows   []SpaceRow `json:"rows"`
}

// spaceGraphs are the graphs of the table: different in kind, not in size.
var spaceGraphs = []struct {
	name string
	make func(shrink int) *gen.Graph
}{
	{"grid 2048", func(s int) *gen.Graph { n := 2048 >> (s / 2); return gen.CSR(gen.Grid2D(n, n)) }},
	{"band 27", func(s int) *gen.Graph { return gen.CSR(band(1_000_000>>s, 100, 10), gen.KeepLoops) }},
	{"small world", func(s int) *gen.Graph { return gen.CSR(gen.SmallWorld(1_000_000>>s, 8, .0, 1)) }},
	{"small world .1", func(s int) *gen.Graph { return gen.CSR(gen.SmallWorld(1_000_000>>s, 8, .1, 1)) }},
	{"uniform", func(s int) *gen.Graph { return gen.CSR(gen.ErdosRenyi(1_000_000>>s, 16_000_000>>s, 1)) }},
	{"bipartite 1m", func(s int) *gen.Graph {
		return gen.CSR(gen.Bipartite(6743>>(s/2), 13950>>(s/2), 1_000_000>>s, 1), gen.KeepLoops)
	}},
	{"bipartite 5m", func(s int) *gen.Graph {
		return gen.CSR(gen.Bipartite(34395>>(s/2), 20402>>(s/2), 5_000_000>>s, 1), gen.KeepLoops)
	}},
	{"star and chain", func(s int) *gen.Graph { return gen.CSR(starAndChain(1_000_000 >> s)) }},
	{"rmat 18", func(s int) *gen.Graph { return gen.CSR(gen.RMAT(18-s, 16, gen.RMATOptions{})) }},
	{"rmat 20", func(s int) *gen.Graph { return gen.CSR(gen.RMAT(20-s, 16, gen.RMATOptions{})) }},
	{"rmat 20 symmetric", func(s int) *gen.Graph { return gen.CSR(gen.Symmetrise(gen.RMAT(20-s, 16, gen.RMATOptions{}))) }},
	{"rmat 22", func(s int) *gen.Graph { return gen.CSR(gen.RMAT(22-s, 16, gen.RMATOptions{})) }},
}

// band is the stencil of 27 neighbours of a point in three dimensions, as a matrix of n rows: the
// diagonals 0, ±1, and those about `near` and `far` entries away.
func band(n, near, far int) gen.Tuples {
	t := gen.Tuples{NRows: n, NCols: n}
	var at []int
	for z := -1; z <= 1; z++ {
		for y := -1; y <= 1; y++ {
			for x := -1; x <= 1; x++ {
				at = append(at, z*near*far+y*near+x)
			}
		}
	}
	for i := range n {
		for _, d := range at {
			if j := i + d; j >= 0 && j < n {
				t.Rows, t.Cols = append(t.Rows, int32(i)), append(t.Cols, int32(j))
			}
		}
	}
	return t
}

// starAndChain joins vertex 0 with all others and each vertex with the next, in both directions.
func starAndChain(n int) gen.Tuples {
	t := gen.Tuples{NRows: n, NCols: n}
	join := func(i, j int) {
		t.Rows, t.Cols = append(t.Rows, int32(i), int32(j)), append(t.Cols, int32(j), int32(i))
	}
	for i := 1; i < n; i++ {
		join(0, i)
		if i+1 < n {
			join(i, i+1)
		}
	}
	return t
}

// spaceCells are the products that are searched on each graph.
var spaceCells = []struct {
	name     string
	op       string
	frontier float64
}{
	{"mxv", "mxv", 1}, {"sssp 1%", "sssp", .01}, {"sssp 10%", "sssp", .1}, {"sssp 100%", "cc", 1}, {"bfs 20%", "bfs", .2},
}

// SpaceGraphs returns the names of the graphs of [Space].
func SpaceGraphs() []string {
	var names []string
	for _, g := range spaceGraphs {
		names = append(names, g.name)
	}
	return names
}

// Space searches the space of plans on graphs of different kinds, on the first gpu.Run, and returns
// the table that package cusparse/space chooses from. If ctx ends, the table holds what was
// measured until then.
func Space(ctx context.Context, o SpaceOptions) (*SpaceTable, error) {
	ctx = tables.OrBackground(ctx)
	if o.Budget <= 0 {
		o.Budget = 6 * time.Second
	}
	if o.Log == nil {
		o.Log = func(string) {}
	}
	if o.open == nil {
		o.open = gpu.OpenFirst
	}
	dev, _, err := o.open()
	if err != nil {
		return nil, err
	}
	defer dev.Close()
	t := &SpaceTable{Device: dev.String()}
	for _, g := range spaceGraphs {
		if !tables.Wanted(o.Only, g.name) {
			continue
		}
		graph := g.make(o.Shrink)
		a, err := matrix.FromCSR(graph.NRows, graph.NCols, graph.Ptr, graph.Idx, inputs.Values(graph, inputs.Unit[float32]))
		if err != nil {
			return t, err
		}
		for _, c := range spaceCells {
			if !tables.Wanted(o.Ops, c.name) || c.op != "mxv" && graph.NRows != graph.NCols {
				continue
			}
			row := SpaceRow{Graph: g.name, Cell: c.name, Rows: graph.NRows, Entries: graph.NNZ()}
			found, err := cusparse.Tune(ctx, dev, a, cusparse.TuneOptions{Op: c.op, Frontier: c.frontier, Budget: o.Budget, Dry: true})
			if err != nil {
				row.Failed = err.Error()
				if ctx.Err() != nil {
					return t, ctx.Err()
				}
			} else {
				row.fill(found)
			}
			o.Log(fmt.Sprintf("%s %s: chosen %s %.1f µs, best %s %.1f µs, cuSPARSE %.1f µs%s", row.Graph, row.Cell, row.Chosen, row.ChosenUs, row.Best, row.BestUs, row.Cusparse, row.Failed))
			t.Rows = append(t.Rows, row)
		}
		if err := a.Move(nil); err != nil {
			return t, err
		}
	}
	return t, nil
}

func (r *SpaceRow) fill(t *cusparse.Tuning) {
	us := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }
	r.Variation, r.Diagonals = t.Facts.Variation, t.Facts.OnDiagonals
	r.Legal, r.Tried = t.Legal, len(t.Ranking)
	r.Chosen, r.ChosenUs = t.Chosen.Plan.String(), us(t.Chosen.Time)
	r.Cusparse, r.BoundUs = us(t.Vendor), us(t.Bound)
	for i, p := range t.Ranking {
		if i == 0 && p.Err == nil {
			r.Best, r.BestUs = p.Plan.String(), us(p.Time)
		}
		x := SpacePlan{Plan: p.Plan.String(), Us: us(p.Time)}
		if p.Err != nil {
			x.Err = p.Err.Error()
		}
		r.Plans = append(r.Plans, x)
	}
}

// WriteJSON writes the table as JSON.
func (t *SpaceTable) WriteJSON(w io.Writer) error {
	return tables.WriteJSON(w, tables.OrZero(t))
}

// WriteText writes the table, and below it the geometric means that the choice is judged by.
func (t *SpaceTable) WriteText(w io.Writer) error {
	if t = tables.OrZero(t); w == nil {
		return tables.ErrNoWriter
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(tw, "%s\n", t.Device)
	fmt.Fprintln(tw, "graph\tproduct\tchosen\tµs\tbest\tµs\tchosen/best\tcuSPARSE\tchosen/cuSPARSE\tlegal\ttried")
	var over []float64
	worst := 0.0
	fixed := map[string][]float64{}
	cells := 0
	for _, r := range t.Rows {
		if r.Failed != "" {
			fmt.Fprintf(tw, "%s\t%s\t%s\n", r.Graph, r.Cell, r.Failed)
			continue
		}
		best := min(r.BestUs, r.ChosenUs)
		ratio := r.ChosenUs / best
		over = append(over, ratio)
		worst = max(worst, ratio)
		vendor, against := "", ""
		if r.Cusparse > 0 {
			vendor, against = fmt.Sprintf("%.1f", r.Cusparse), fmt.Sprintf("%.2f", r.ChosenUs/r.Cusparse)
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%.1f\t%s\t%.1f\t%.2f\t%s\t%s\t%d\t%d\n", r.Graph, r.Cell, r.Chosen, r.ChosenUs, r.Best, r.BestUs, ratio, vendor, against, r.Legal, r.Tried)
		cells++
		for _, p := range r.Plans {
			if p.Err == "" && strings.Contains(p.Plan, " csr ") {
				fixed[r.Cell+": "+p.Plan] = append(fixed[r.Cell+": "+p.Plan], p.Us/r.ChosenUs)
			}
		}
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	if cells == 0 {
		return nil
	}
	_, err := fmt.Fprintf(w, "\nchosen / best: geometric mean %.3f, worst %.2f over %d cells\n", geometric(over), worst, cells)
	if err != nil {
		return err
	}
	// The best single CSR plan of each product, over the graphs that it ran on.
	for _, c := range spaceCells {
		type plan struct {
			name  string
			ratio float64
		}
		var plans []plan
		graphs := 0
		for _, r := range t.Rows {
			if r.Cell == c.name && r.Failed == "" {
				graphs++
			}
		}
		for name, ratios := range fixed {
			if cell, p, _ := strings.Cut(name, ": "); cell == c.name && len(ratios) == graphs {
				plans = append(plans, plan{p, geometric(ratios)})
			}
		}
		if len(plans) == 0 {
			continue
		}
		slices.SortFunc(plans, func(a, b plan) int { return strings.Compare(a.name, b.name) })
		best := slices.MinFunc(plans, func(a, b plan) int {
			if a.ratio < b.ratio {
				return -1
			}
			return 1
		})
		if _, err := fmt.Fprintf(w, "best fixed CSR plan for %s: %s, %.2f × the chosen ones\n", c.name, best.name, best.ratio); err != nil {
			return err
		}
	}
	return nil
}

func geometric(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += math.Log(v)
	}
	return math.Exp(sum / float64(max(len(x), 1)))
}
