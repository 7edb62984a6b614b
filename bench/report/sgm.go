package report

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"time"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/auction"
	"github.com/hiveblas/hiveblas/bench"
	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/bench/internal/inputs"
	"github.com/hiveblas/hiveblas/bench/internal/tables"
	"github.com/hiveblas/hiveblas/bench/peers"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// densest is the most vertices for which SciPy, with dense arrays, runs.
const densest = 1024

// sgmPermuted matches a random-walk sample of R-MAT with a renamed copy, where
// the first vertices are seeds.
func sgmPermuted(b *reportBench, n int) (*reportTask, error) {
	scale := max(19-b.shrink, 9)
	if b.large == nil {
		b.large = gen.CSR(gen.Symmetrise(gen.RMAT(scale, 20, gen.RMATOptions{Seed: 1})))
	}
	n = max(n>>b.shrink, 64)
	seeds := min(inputs.SGMSeeds, n/4)
	x := gen.WalkSample(b.large, n, 1)
	y, truth := gen.Renamed(x, seeds, 2)
	in := Input{Generator: "gen.RMAT, gen.WalkSample, gen.Renamed", Parameters: fmt.Sprintf("scale %d, edge factor 20; %d vertices, %d seeds", scale, n, seeds), Seed: 1}
	return sgmOf(&sgmPair{x, y, truth, apps.FirstSeeds(seeds)}, in), nil
}

// sgmSoft matches two graphs that are nearly aligned, with all vertices as soft seeds.
func sgmSoft(b *reportBench, n, m int) (*reportTask, error) {
	n, m = max(n>>b.shrink, 64), max(m>>b.shrink, 512)
	return nearlyAligned(n, m), nil
}

func nearlyAligned(n, m int) *reportTask {
	x, y, truth := gen.NearlyAligned(n, m, .05, 1)
	in := Input{Generator: "gen.NearlyAligned", Parameters: fmt.Sprintf("%d vertices, %d edges, noise 0.05", n, m), Seed: 1}
	return sgmOf(&sgmPair{x, y, truth, apps.FirstSeeds(n)}, in)
}

func sgmOf(p *sgmPair, in Input) *reportTask {
	t := &reportTask{input: in.of(p.a), tolerance: -1} // methods end at different matchings
	t.ready = func(at matrix.Place, with apps.Run) (reportRun, error) {
		x, err := inputs.Weighted(p.a, at)
		if err != nil {
			return nil, err
		}
		y, err := inputs.Weighted(p.b, at)
		if err != nil {
			return nil, err
		}
		return func(clock func(func() error) (time.Duration, error), look bool) (o outcome, err error) {
			var res *apps.SGMResult
			o.took, err = clock(func() (err error) { res, err = apps.SGM(x, y, p.seeds, apps.SGMOptions{Run: with}); return err })
			if err != nil || !look {
				return o, err
			}
			o.check = res.After
			o.result = fmt.Sprintf("%.0f disagreements of %.0f, %d steps", res.After, res.Before, len(res.Iterations))
			return o, nil
		}, nil
	}
	t.files = append(graphFile(p.a, nil), peerFile{"other", func(path string) error { return peers.WriteGraph(path, p.b, nil) }})
	call := peerCall{name: "match", args: []string{"other", fmt.Sprint(len(p.seeds))}}
	if n := p.a.NRows; n > densest || len(p.seeds) == n {
		call = peerCall{left: fmt.Sprintf("it makes dense %d×%d arrays", n, n)}
		if len(p.seeds) == n {
			call.left = "it has no soft seeds"
		}
	}
	t.peers = map[string]peerCall{"SciPy": call}
	return t
}

// SGMOptions are the settings of SGM.
type SGMOptions struct {
	// Data is the folder with soc-Slashdot0902.mtx.gz and email-Enron.mtx.gz; families without
	// their file are left out.
	Data    string
	Only    []string     // cases with one of these in their names; nil means all
	Most    int          // cases of at most so many vertices; 0 means all
	Eps     []float64    // of the auction, in common neighbours; 0 and nil: automatic, +Inf: exact
	Rounds  int          // runs of each case; the median time counts, and 0 means 1
	Place   matrix.Place // where to run; nil is the host
	Threads int
	Log     func(string) // may be nil
}

// SGMRow is one run of seeded graph matching.
type SGMRow struct {
	Case     string  `json:"case"`
	N        int     `json:"vertices"`
	Entries  int64   `json:"entries"`
	Eps      string  `json:"eps"` // automatic, exact or common neighbours
	Before   float64 `json:"orig_dist"`
	After    float64 `json:"final_dist"`
	Truth    float64 `json:"true_dist"`
	Accuracy float64 `json:"accuracy"` // share of the vertices other than seeds with their true partner

	Iterations int   `json:"iterations"`
	Rounds     int64 `json:"rounds"` // of bidding, or searches for paths
	Gradient   int64 `json:"gradient_entries"`
	Peak       int64 `json:"peak_bytes"`

	Total   float64 `json:"seconds"`
	Product float64 `json:"product_seconds"`
	Assign  float64 `json:"assign_seconds"`
	Search  float64 `json:"search_seconds"`
	Project float64 `json:"project_seconds"`
	Failed  string  `json:"failed,omitempty"`
}

// SGMTable is the rows of SGM.
type SGMTable struct {
	Place string   `json:"device"`
	Rows  []SGMRow `json:"rows"`
}

// sgmPair is two graphs and the true matching: the vertex of a for each of b.
type sgmPair struct {
	a, b  *gen.Graph
	truth []int32
	seeds []apps.SeedPair
}

// sgmCase is a family at one size.
type sgmCase struct {
	name string
	n    int
	make func() (*sgmPair, error)
}

// sgmCases lists the families: samples of a real graph and of R-MAT with 2¹⁹ vertices and 10
// million edges, with a renamed copy; correlated G(n, p) of mean degree 40, that share 9 of 10
// edges; grids, and graphs like road networks, with a renamed copy, and with 5 % of the edges
// moved; and pairs that are nearly aligned, in sizes of a connectome, with all vertices for soft
// seeds.
func sgmCases(o SGMOptions) []sgmCase {
	var cases []sgmCase
	samples := func(family string, load func() (*gen.Graph, error)) {
		var g *gen.Graph // read once
		for n := 1 << 10; n <= 1<<15; n *= 2 {
			cases = append(cases, sgmCase{fmt.Sprintf("%s %d", family, n), n, func() (_ *sgmPair, err error) {
				if g == nil {
					if g, err = load(); err != nil {
						return nil, err
					}
				}
				a := gen.WalkSample(g, n, 1)
				b, p := gen.Renamed(a, inputs.SGMSeeds, 2)
				return &sgmPair{a, b, p, apps.FirstSeeds(inputs.SGMSeeds)}, nil
			}})
		}
	}
	for _, family := range []string{"soc-Slashdot0902", "email-Enron"} {
		samples(family, func() (*gen.Graph, error) { return inputs.UndirectedFile(filepath.Join(o.Data, family+".mtx.gz")) })
	}
	samples("rmat", func() (*gen.Graph, error) {
		return gen.CSR(gen.Symmetrise(gen.RMAT(19, 20, gen.RMATOptions{Seed: 1}))), nil
	})
	for n := 1 << 10; n <= 1<<14; n *= 2 {
		cases = append(cases, sgmCase{fmt.Sprintf("gnp %d", n), n, func() (*sgmPair, error) {
			a, b := gen.Correlated(n, 40/float64(n), .9, 1)
			b, p := gen.Renamed(b, inputs.SGMSeeds, 2)
			return &sgmPair{a, b, p, apps.FirstSeeds(inputs.SGMSeeds)}, nil
		}})
	}
	for side := 32; side <= 128; side *= 2 {
		for _, family := range []struct {
			name  string
			graph func() gen.Tuples
			moved float64
		}{
			{"grid", func() gen.Tuples { return gen.Grid2D(side, side) }, 0},
			{"road", func() gen.Tuples { return gen.Road(side, side, .3, 1) }, 0},
			{"road moved", func() gen.Tuples { return gen.Road(side, side, .3, 1) }, .05},
		} {
			n := side * side
			cases = append(cases, sgmCase{fmt.Sprintf("%s %d", family.name, n), n, func() (*sgmPair, error) {
				g := gen.CSR(family.graph())
				a, _ := gen.Renamed(g, 0, 3) // so that the seeds are anywhere
				b, p := gen.Renamed(gen.Moved(a, family.moved, 4), inputs.SGMSeeds, 2)
				return &sgmPair{a, b, p, apps.FirstSeeds(inputs.SGMSeeds)}, nil
			}})
		}
	}
	for _, size := range [][2]int{{2048, 54_000}, {16_784, 446_000}, {72_784, 2_400_000}} {
		cases = append(cases, sgmCase{fmt.Sprintf("soft %d", size[0]), size[0], func() (*sgmPair, error) {
			a, b, p := gen.NearlyAligned(size[0], size[1], .05, 1)
			return &sgmPair{a, b, p, apps.FirstSeeds(size[0])}, nil
		}})
	}
	return cases
}

// SGMCases returns the names of the cases of [SGM].
func SGMCases() []string {
	var names []string
	for _, c := range sgmCases(SGMOptions{}) {
		names = append(names, c.name)
	}
	return names
}

// SGM matches the pairs of all families and sizes with each ε, and returns the quality and the
// times. The row of a case records its failure. If ctx ends, the table holds the rows measured so
// far.
func SGM(ctx context.Context, o SGMOptions) (*SGMTable, error) {
	ctx = tables.OrBackground(ctx)
	if o.Eps == nil {
		o.Eps = []float64{0}
	}
	t := &SGMTable{Place: "cpu"}
	if o.Place != nil {
		t.Place = o.Place.String()
	}
	for _, c := range sgmCases(o) {
		if !tables.Wanted(o.Only, c.name) || o.Most > 0 && c.n > o.Most {
			continue
		}
		pair, err := c.make()
		for _, eps := range o.Eps {
			row := SGMRow{Case: c.name, N: c.n, Eps: epsName(eps)}
			if err == nil {
				err = pair.match(ctx, o, eps, &row)
			}
			if ctx.Err() != nil {
				return t, ctx.Err()
			}
			if err != nil {
				row.Failed = err.Error()
			}
			t.Rows = append(t.Rows, row)
			if o.Log != nil {
				o.Log(fmt.Sprintf("%s, eps %s: %g disagreements, %.3f s %s", row.Case, row.Eps, row.After, row.Total, row.Failed))
			}
		}
	}
	if len(t.Rows) == 0 {
		return nil, errors.New("bench: no case of graph matching has this name and size")
	}
	return t, nil
}

func epsName(eps float64) string {
	switch {
	case eps == 0:
		return "automatic"
	case math.IsInf(eps, 1):
		return "exact"
	}
	return fmt.Sprint(eps)
}

// match fills the row with the run of median time.
func (p *sgmPair) match(ctx context.Context, o SGMOptions, eps float64, row *SGMRow) error {
	a, err := inputs.Weighted(p.a, o.Place)
	if err != nil {
		return err
	}
	b, err := inputs.Weighted(p.b, o.Place)
	if err != nil {
		return err
	}
	row.Entries = a.NVals()
	if row.Truth, err = p.trueDistance(); err != nil {
		return err
	}
	var runs []SGMRow
	for range max(1, o.Rounds) {
		start := time.Now()
		opts := apps.SGMOptions{Run: apps.Run{Context: ctx, Threads: o.Threads}, Epsilon: eps}
		if math.IsInf(eps, 1) {
			opts.Epsilon, opts.Exact = 0, true
		}
		if eps > 0 { // the study measures the auction, also where another method is faster
			opts.Assignment = auction.MethodAuction
		}
		res, err := apps.SGM(a, b, p.seeds, opts)
		if err != nil {
			return err
		}
		r := *row
		r.Total = time.Since(start).Seconds()
		p.fill(&r, res)
		runs = append(runs, r)
	}
	times := make([]float64, len(runs))
	for k, r := range runs {
		times[k] = r.Total
	}
	*row = runs[0]
	row.Total = bench.QuartilesOf(times).Median
	return nil
}

func (p *sgmPair) fill(row *SGMRow, res *apps.SGMResult) {
	row.Before, row.After, row.Iterations, row.Peak = res.Before, res.After, len(res.Iterations), res.PeakBytes
	row.Product, row.Assign = res.Product.Seconds(), res.Assign.Seconds()
	row.Search, row.Project = res.Search.Seconds(), res.Project.Seconds()
	for _, it := range res.Iterations {
		row.Gradient = max(row.Gradient, it.Entries)
		row.Rounds += it.Rounds
	}
	seeds := len(p.seeds)
	if seeds == len(p.truth) {
		seeds = 0
	}
	right := 0
	for v, w := range res.Match.All() {
		if v >= seeds && int(p.truth[w]) == v {
			right++
		}
	}
	row.Accuracy = float64(right) / float64(max(1, len(p.truth)-seeds))
}

// trueDistance returns the disagreements of the true matching.
func (p *sgmPair) trueDistance() (float64, error) {
	a, err := inputs.Weighted(p.a, nil)
	if err != nil {
		return 0, err
	}
	back := make([]int32, len(p.truth))
	for w, v := range p.truth {
		back[v] = int32(w)
	}
	b, err := inputs.Weighted(gen.Induced(p.b, back), nil)
	if err != nil {
		return 0, err
	}
	both := matrix.New[bool](p.a.NRows, p.a.NCols)
	if err := ops.EWiseMult(both, semiring.Pair[bool, bool, bool](), a.Pattern(), b.Pattern()); err != nil {
		return 0, err
	}
	return float64(a.NVals() + b.NVals() - 2*both.NVals()), nil
}

// WriteText writes the table with aligned columns.
func (t *SGMTable) WriteText(w io.Writer) error {
	t = tables.OrZero(t)
	cells := [][]string{{"case on " + t.Place, "entries", "eps", "before", "after", "truth", "accuracy", "steps", "rounds", "APB entries", "peak MB", "product s", "assign s", "search s", "project s", "total s"}}
	for _, r := range t.Rows {
		if r.Failed != "" {
			cells = append(cells, []string{r.Case + ": " + r.Failed, tables.None, r.Eps, tables.None, tables.None, tables.None, tables.None, tables.None, tables.None, tables.None, tables.None, tables.None, tables.None, tables.None, tables.None, tables.None})
			continue
		}
		cells = append(cells, []string{r.Case, fmt.Sprint(r.Entries), r.Eps, fmt.Sprint(r.Before), fmt.Sprint(r.After), fmt.Sprint(r.Truth),
			fmt.Sprintf("%.4f", r.Accuracy), fmt.Sprint(r.Iterations), fmt.Sprint(r.Rounds), fmt.Sprint(r.Gradient), tables.Figure(float64(r.Peak) / 1e6),
			tables.Figure(r.Product), tables.Figure(r.Assign), tables.Figure(r.Search), tables.Figure(r.Project), tables.Figure(r.Total)})
	}
	return tables.WriteText(w, cells)
}

// WriteJSON writes the table as one JSON object.
func (t *SGMTable) WriteJSON(w io.Writer) error {
	return tables.WriteJSON(w, tables.OrZero(t))
}
