package programs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
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
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/program"
	"github.com/hiveblas/hiveblas/program/examples"
)

// Options are the settings of Programs.
type Options struct {
	Sets     []string      // sets with one of these in their names; nil means all
	Only     []string      // graphs with one of these in their names; nil means all
	Programs []string      // programs with one of these in their names; nil means all
	Budget   time.Duration // of a program on a graph, over all plans; 0 means 4 s
	Shrink   int           // graphs 2^Shrink times smaller
	Log      func(string)  // receives a line for each program on a graph; may be nil

	open func() (*cusparse.Device, driver.Driver, error)
}

// Row is a program on a graph by the plans that were tried.
type Row struct {
	Set     string `json:"set"`
	Graph   string `json:"graph"`
	Rows    int    `json:"rows"`
	Entries int64  `json:"entries"`
	Program string `json:"program"`
	Printed string `json:"printed,omitempty"` // what the paper prints, in its unit
	Runs    []Time `json:"runs"`              // the first by the automatic choice
	Failed  string `json:"failed,omitempty"`
}

// Time is a plan and its times. Kept is the time that the first run took beyond the others:
// compiling apart, what was made once for the matrix.
type Time struct {
	Plan       string  `json:"plan"`
	Ms         float64 `json:"ms"`
	Kept       float64 `json:"kept_ms"`
	Supersteps int     `json:"supersteps"`
	Err        string  `json:"error,omitempty"`
}

// Table is the rows of Programs.
type Table struct {
	Device string `json:"device"`
	Rows   []Row  `json:"rows"`
}

// programGraph is a graph of a set.
type programGraph struct {
	name    string
	make    func(shrink int) *gen.Graph
	printed map[string]string // by program
}

// programSet is an experiment: programs on graphs by plans.
type programSet struct {
	name, about string
	programs    []string
	plans       []string
	graphs      []programGraph
}

// rmatOf is R-MAT with about n vertices and m edges.
func rmatOf(n, m int) func(int) *gen.Graph {
	return func(s int) *gen.Graph {
		scale := max(int(math.Round(math.Log2(float64(n))))-s, 6)
		return gen.CSR(gen.RMAT(scale, max(m/n, 1), gen.RMATOptions{}))
	}
}

func uniformOf(n, m int) func(int) *gen.Graph {
	return func(s int) *gen.Graph { return gen.CSR(gen.ErdosRenyi(n>>s, m>>s, 1)) }
}

// honeycomb is a lattice of degree at most 3: a mesh of triangles seen from its faces.
func honeycomb(side int) gen.Tuples {
	n := side * side
	t := gen.Tuples{NRows: n, NCols: n}
	join := func(i, j int) {
		t.Rows, t.Cols = append(t.Rows, int32(i), int32(j)), append(t.Cols, int32(j), int32(i))
	}
	for y := range side {
		for x := range side {
			if x+1 < side {
				join(y*side+x, y*side+x+1)
			}
			if y+1 < side && (x+y)%2 == 0 {
				join(y*side+x, (y+1)*side+x)
			}
		}
	}
	return t
}

// cube is the grid of n³ vertices.
func cube(n int) gen.Tuples {
	t := gen.Tuples{NRows: n * n * n, NCols: n * n * n}
	join := func(i, j int) {
		t.Rows, t.Cols = append(t.Rows, int32(i), int32(j)), append(t.Cols, int32(j), int32(i))
	}
	for i := range n * n * n {
		if i%n+1 < n {
			join(i, i+1)
		}
		if i/n%n+1 < n {
			join(i, i+n)
		}
		if i/(n*n)+1 < n {
			join(i, i+n*n)
		}
	}
	return t
}

// Plans of the papers' own experiments, beside the automatic choice.
var (
	allVertices = "pull csr vm store" // every vertex in each superstep, a thread a vertex
	medusaPlans = []string{"auto", allVertices, "buffer rows vm"}
	zhongPlans  = []string{"auto", "buffer rows", "buffer columns", "buffer columns sort=exact", "buffer columns buckets=0",
		"buffer columns group=8", "buffer rows vm", "pull sell vm store order=linear",
		"pull sell vm store order=degree", "pull sell vm store", allVertices, "pull csr vm store order=linear", "pull csr vm store order=degree"}
)

// programSets are the experiments.
func programSets() []programSet {
	medusa := func(bfs string) map[string]string { return map[string]string{"bfs": bfs} }
	zhong := func(prepare string) map[string]string { return map[string]string{"pagerank 50": prepare} }
	return []programSet{
		{"medusa", "Medusa, table 5 (printed: 10⁶ edges a second on a Tesla C2050, Medusa / warp-centric / basic)",
			[]string{"bfs", "sssp", "matching", "pagerank 50"}, medusaPlans, []programGraph{
				{"wiki-like", rmatOf(2_400_000, 5_000_000), medusa("1091 / 153 / 61")},
				{"road-like", func(s int) *gen.Graph { n := 1414 >> (s / 2); return gen.CSR(gen.Grid2D(n, n)) }, medusa("64 / 46 / 26")},
				{"RMAT", rmatOf(1_000_000, 16_000_000), medusa("896 / 971 / 593")},
				{"random", uniformOf(1_000_000, 16_000_000), medusa("766 / 845 / 649")},
				{"hugebubbles-like", func(s int) *gen.Graph { return gen.CSR(honeycomb(4600 >> (s / 2))) }, medusa("68 / 1.3 / 5.7")},
				{"kkt-like", func(s int) *gen.Graph { return gen.CSR(cube(max(128>>(s/3), 4))) }, medusa("352 / 176 / 481")},
				{"cite-like", func(s int) *gen.Graph { return gen.CSR(gen.SmallWorld(434_000>>s, 37, .1, 1)) }, medusa("2687 / 1503 / 1460")},
			}},
		{"edge-vertex", "Zhong et al., tables 4–7 and figures 7–14 (printed: preprocessing on a GTX 780, theirs / Medusa's, ms)",
			[]string{"pagerank 50", "sssp", "hcc"}, zhongPlans, []programGraph{
				{"ego-like", func(s int) *gen.Graph { return gen.CSR(gen.RMAT(17-min(s, 8), 104, gen.RMATOptions{})) }, zhong("16 / 210")},
				{"soc-like", rmatOf(1_632_803, 30_622_564), zhong("20 / 449")},
				{"com-like", rmatOf(3_997_962, 34_681_189), zhong("30 / 1002")},
				{"cit-like", rmatOf(3_774_768, 16_518_948), zhong("12 / 665")},
				{"RMAT", rmatOf(1_000_000, 16_000_000), zhong("12 / 305")},
				{"random", uniformOf(1_000_000, 16_000_000), zhong("11 / 328")},
			}},
	}
}

// Sets returns the names of the sets of [Programs].
func Sets() []string {
	var names []string
	for _, s := range programSets() {
		names = append(names, s.name)
	}
	return names
}

// programRuns are the programs by name, for one graph.
func programRuns(ctx context.Context, a, both *matrix.Matrix[float32], source int, width float32) map[string]func(plan string) (int, error) {
	pagerank := examples.PageRank(.85, -1)
	pagerank.Supersteps = 50
	return map[string]func(string) (int, error){
		"bfs": runBy(ctx, a.Pattern(), examples.BFS(source)), "sssp": runBy(ctx, a, examples.SSSP(source, width)),
		"hcc": runBy(ctx, a.Pattern(), examples.HCC()), "matching": runBy(ctx, both.Pattern(), examples.Matching()),
		"pagerank 50": runBy(ctx, a.Pattern(), pagerank),
	}
}

// runBy returns the number of supersteps of a run by a plan.
func runBy[V, E, M comparable](ctx context.Context, g matrix.Source[E], p program.Program[V, E, M]) func(string) (int, error) {
	return func(plan string) (int, error) {
		res, err := program.Run(ctx, g, p, program.Options{Plan: plan})
		if err != nil {
			return 0, err
		}
		return res.Supersteps, nil
	}
}

// Run runs the experiments of the papers on graph programs, on the first gpu.Run: the programs of
// package program/examples on generated graphs of the papers' shapes, by plans. Times are medians
// of whole runs, from call to return. If ctx ends, the table holds what was measured until then.
func Run(ctx context.Context, o Options) (*Table, error) {
	ctx = tables.OrBackground(ctx)
	if o.Budget <= 0 {
		o.Budget = 4 * time.Second
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
	t := &Table{Device: dev.String()}
	for _, set := range programSets() {
		if !tables.Wanted(o.Sets, set.name) {
			continue
		}
		for _, g := range set.graphs {
			if !tables.Wanted(o.Only, g.name) {
				continue
			}
			if err := t.measure(ctx, dev, o, set, g); err != nil {
				return t, err
			}
		}
	}
	return t, nil
}

// measure adds the rows of a graph.
func (t *Table) measure(ctx context.Context, dev *cusparse.Device, o Options, set programSet, g programGraph) error {
	graph := g.make(o.Shrink)
	val := make([]float32, graph.NNZ())
	for p, w := range gen.UniformInts(graph, 1, 63, 3, true) {
		val[p] = float32(w)
	}
	a, err := matrix.FromCSR(graph.NRows, graph.NCols, graph.Ptr, graph.Idx, val)
	if err != nil {
		return err
	}
	if err := a.Move(dev); err != nil {
		return err
	}
	defer func() { _ = a.Move(nil) }() // gives the memory of the device back
	width := float32(inputs.ProgramDelta)
	if graph.NNZ() < 8*int64(graph.NRows) {
		width = 252
	}
	both := a // matching needs edges in both directions
	if slices.Contains(set.programs, "matching") && tables.Wanted(o.Programs, "matching") && !a.IsSymmetric() {
		g := gen.CSR(gen.Symmetrise(edgesOf(graph)))
		if both, err = onPlace(dev, g); err != nil {
			return err
		}
		defer func() { _ = both.Move(nil) }()
	}
	runs := programRuns(ctx, a, both, inputs.SourcesOf(graph, 1)[0], width)
	for _, name := range set.programs {
		if !tables.Wanted(o.Programs, name) {
			continue
		}
		row := Row{Set: set.name, Graph: g.name, Rows: graph.NRows, Entries: graph.NNZ(), Program: name, Printed: g.printed[name]}
		start := time.Now()
		for _, plan := range set.plans {
			if time.Since(start) > o.Budget && len(row.Runs) > 0 {
				break
			}
			x, err := timeProgram(plan, runs[name])
			if ctx.Err() != nil {
				return ctx.Err()
			}
			var clash *program.PlanError
			if err != nil && !errors.As(err, &clash) {
				x.Err = err.Error()
			} else if err != nil {
				continue // the plan does not suit the program or the graph
			}
			row.Runs = append(row.Runs, x)
		}
		best, _ := row.best()
		if len(row.Runs) == 0 {
			row.Failed = "no plan suits it"
		} else {
			o.Log(fmt.Sprintf("%s %s: auto %.3f ms, best %s %.3f ms of %d plans", row.Graph, row.Program, row.Runs[0].Ms, best.Plan, best.Ms, len(row.Runs)))
		}
		t.Rows = append(t.Rows, row)
	}
	return nil
}

// edgesOf lists the entries of a graph.
func edgesOf(g *gen.Graph) gen.Tuples {
	t := gen.Tuples{Rows: make([]int32, len(g.Idx)), Cols: slices.Clone(g.Idx), NRows: g.NRows, NCols: g.NCols}
	for i := range g.NRows {
		for p := g.Ptr[i]; p < g.Ptr[i+1]; p++ {
			t.Rows[p] = int32(i)
		}
	}
	return t
}

// onPlace makes a matrix of ones that lives on a device.
func onPlace(dev *cusparse.Device, g *gen.Graph) (*matrix.Matrix[float32], error) {
	a, err := matrix.FromCSR(g.NRows, g.NCols, g.Ptr, g.Idx, slices.Repeat([]float32{1}, len(g.Idx)))
	if err != nil {
		return nil, err
	}
	return a, a.Move(dev)
}

// timeProgram measures a run by a plan: the first, which compiles and makes what is kept, a second
// after compiling, and the median of three more, or of fewer if they are long.
func timeProgram(plan string, run func(string) (int, error)) (Time, error) {
	x := Time{Plan: plan}
	var took []float64
	for k := range 5 {
		var steps int
		d, err := gpuside.Wall(func() (err error) { steps, err = run(plan); return err })
		if err != nil {
			return x, err
		}
		x.Supersteps = steps
		if k == 0 {
			x.Kept = tables.Ms(d)
			continue
		}
		took = append(took, tables.Ms(d))
		if d > 100*time.Millisecond {
			break
		}
	}
	x.Ms = bench.QuartilesOf(took).Median
	x.Kept = max(0, x.Kept-x.Ms)
	return x, nil
}

// best returns the quickest run.
func (r *Row) best() (Time, bool) {
	best, found := Time{Ms: math.Inf(1)}, false
	for _, x := range r.Runs {
		if x.Err == "" && x.Ms < best.Ms {
			best, found = x, true
		}
	}
	return best, found
}

// WriteJSON writes the table as JSON.
func (t *Table) WriteJSON(w io.Writer) error { return tables.WriteJSON(w, tables.OrZero(t)) }

// WriteText writes a table for each set.
func (t *Table) WriteText(w io.Writer) error {
	if t = tables.OrZero(t); w == nil {
		return tables.ErrNoWriter
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, t.Device)
	for _, set := range programSets() {
		rows := slices.DeleteFunc(slices.Clone(t.Rows), func(r Row) bool { return r.Set != set.name })
		if len(rows) == 0 {
			continue
		}
		fmt.Fprintf(tw, "\n%s: %s\n", set.name, set.about)
		fmt.Fprintln(tw, "graph\tvertices\tedges\tprogram\tplan\tms\tfirst run +ms\tsupersteps\t10⁶ edges/s\tprinted")
		for _, r := range rows {
			if r.Failed != "" {
				fmt.Fprintf(tw, "%s\t%d\t%d\t%s\t%s\n", r.Graph, r.Rows, r.Entries, r.Program, r.Failed)
			}
			for k, x := range r.Runs {
				printed := ""
				if k == 0 {
					printed = r.Printed
				}
				if x.Err != "" {
					fmt.Fprintf(tw, "%s\t%d\t%d\t%s\t%s\t%s\n", r.Graph, r.Rows, r.Entries, r.Program, x.Plan, x.Err)
					continue
				}
				fmt.Fprintf(tw, "%s\t%d\t%d\t%s\t%s\t%.3f\t%.1f\t%d\t%.0f\t%s\n", r.Graph, r.Rows, r.Entries, r.Program, x.Plan, x.Ms, x.Kept,
					x.Supersteps, float64(r.Entries)/x.Ms/1e3, printed)
			}
		}
	}
	return tw.Flush()
}
