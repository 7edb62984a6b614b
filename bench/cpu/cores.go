package cpu

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/hiveblas/hiveblas/bench"
	"github.com/hiveblas/hiveblas/bench/charts"
	"github.com/hiveblas/hiveblas/bench/internal/inputs"
	"github.com/hiveblas/hiveblas/bench/internal/tables"
	"github.com/hiveblas/hiveblas/internal/hostmem"
)

// CoresOptions are the settings of Cores.
type CoresOptions struct {
	Threads []int         // nil: powers of two up to the number of processors
	Rounds  int           // at most; 0 means 9
	Only    []string      // cases with one of these in their names; nil means all
	Large   bool          // also R-MAT 20 and 22, which take minutes to make, and operands of 2 GB and more
	Budget  time.Duration // after which a case begins no further round, once it has three; 0 means 10 s
	Log     func(string)  // receives progress, a line each; may be nil

	shrink int // inputs are 2^shrink times smaller, in tests
}

// CoresTable is the time of each case by the number of threads.
type CoresTable struct {
	Processor string     `json:"processor"`
	Cores     int        `json:"cores"` // processors that the process may use
	Threads   []int      `json:"threads"`
	Triad     []float64  `json:"triad_gb_per_s"`         // by Threads
	Registers []float64  `json:"registers_gsteps_per_s"` // by Threads; see [Registers]
	Rows      []CoresRow `json:"rows"`
}

// CoresRow is a case. Ms and Share have an item for each number of threads.
type CoresRow struct {
	Case  string    `json:"case"`
	Ms    []float64 `json:"ms"`              // medians
	Share []float64 `json:"share,omitempty"` // of the triad, of the bytes that must move
	Left  string    `json:"left,omitempty"`  // why the case was left out; then it has no times
}

// SpeedUp returns the time of the first number of threads divided by the time of the k-th, NaN if
// there is none.
func (r *CoresRow) SpeedUp(k int) float64 {
	if r == nil || k < 0 || k >= len(r.Ms) {
		return math.NaN()
	}
	return r.Ms[0] / r.Ms[k]
}

// slower is the factor above which the table marks more threads that take longer.
const slower = 1.1

// Cores measures the cases of [Run], without peers, and the other operations, conversions, files
// and workflows at several numbers of threads, in interleaved rounds. The check figures of a case
// must agree at all of them. A case that needs more memory than the machine has left is left out,
// with the reason in its row. If ctx ends, the table holds what was measured until then.
func Cores(ctx context.Context, o CoresOptions) (*CoresTable, error) {
	ctx = tables.OrBackground(ctx)
	if o.Rounds <= 0 {
		o.Rounds = 9
	}
	if o.Budget <= 0 {
		o.Budget = 10 * time.Second
	}
	if o.Log == nil {
		o.Log = func(string) {}
	}
	cores := runtime.GOMAXPROCS(0)
	if len(o.Threads) == 0 {
		for t := 1; t <= cores; t *= 2 {
			o.Threads = append(o.Threads, t)
		}
	}
	for _, t := range o.Threads {
		if t < 1 {
			return nil, fmt.Errorf("bench: %d threads; give numbers from 1", t)
		}
	}
	dir, err := os.MkdirTemp("", "hiveblas-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	t := &CoresTable{Processor: tables.Processor(), Cores: cores, Threads: o.Threads}
	for _, n := range o.Threads {
		o.Log(fmt.Sprintf("triad, %d threads", n))
		t.Triad, t.Registers = append(t.Triad, bench.Triad(n)), append(t.Registers, bench.Registers(n))
	}
	b := &cpuBench{Options: Options{NoPeers: true, Log: o.Log}, ctx: ctx, dir: dir, inputs: map[string]*input{}}
	for _, c := range coresCases(o.Large) {
		if !tables.Wanted(o.Only, c.name) {
			continue
		}
		if ctx.Err() != nil {
			return t, ctx.Err()
		}
		row, err := b.byThreads(c, o, t.Triad)
		if err != nil {
			return t, fmt.Errorf("%s: %w", c.name, err)
		}
		t.Rows = append(t.Rows, row)
		if row.Left != "" {
			o.Log(c.name + " is left out: " + row.Left)
			continue
		}
		last := len(row.Ms) - 1
		o.Log(fmt.Sprintf("%s: %.2f ms with %d threads, %.2f with %d", c.name, row.Ms[0], o.Threads[0], row.Ms[last], o.Threads[last]))
	}
	return t, nil
}

// CoresCases returns the names of the cases of [Cores].
func CoresCases(large bool) []string {
	var names []string
	for _, c := range coresCases(large) {
		names = append(names, c.name)
	}
	return names
}

// coresCases are the cases with generated inputs.
func coresCases(large bool) []cpuCase {
	cases := slices.DeleteFunc(cpuCases(), func(c cpuCase) bool { return strings.HasPrefix(c.input, inputs.DataInput) })
	cases = append(cases, coresOnly()...)
	if large {
		cases = append(cases, largeCases()...)
		return append(cases, streamCases()...)
	}
	return cases
}

// room frees the other inputs for a case that needs much memory, and says why it has too little, ""
// if it has not. An input that is there has taken its part.
func (b *cpuBench) room(c cpuCase) string {
	if c.memory == 0 || b.inputs[c.input] != nil {
		return ""
	}
	clear(b.inputs)
	b.loaded = nil
	debug.FreeOSMemory()
	if have := hostmem.Available(); have > 0 && have < c.memory {
		return fmt.Sprintf("it needs %s of memory, %s are available", gigabytes(c.memory), gigabytes(have))
	}
	return ""
}

// byThreads measures a case.
func (b *cpuBench) byThreads(c cpuCase, o CoresOptions, triad []float64) (CoresRow, error) {
	row := CoresRow{Case: c.name}
	c.input, c.other, c.memory = shrunkInput(c.input, o.shrink), shrunkInput(c.other, o.shrink), c.memory>>o.shrink
	if row.Left = b.room(c); row.Left != "" {
		return row, nil
	}
	in, err := b.load(c.input)
	if err != nil {
		return row, err
	}
	other, err := b.load(c.other)
	if err != nil {
		return row, err
	}
	tolerance := c.tolerance
	if tolerance == 0 {
		tolerance = 1e-9
	}
	rounds := o.Rounds
	if c.rounds > 0 {
		rounds = min(rounds, c.rounds)
	}
	times := make([][]float64, len(o.Threads))
	first := math.NaN()
	start := time.Now()
	for round := 0; round <= rounds; round++ { // the first is not counted
		if round > 3 && time.Since(start) > o.Budget {
			break
		}
		for k, n := range o.Threads {
			if b.ctx.Err() != nil {
				return row, b.ctx.Err()
			}
			b.Threads = n
			took, check, err := c.ours(b, in, other)
			if err != nil {
				return row, err
			}
			if math.IsNaN(first) {
				first = check
			}
			if !(math.Abs(check-first) <= tolerance*max(math.Abs(first), 1)) {
				return row, fmt.Errorf("the result with %d threads differs: %v, with %d threads %v", n, check, o.Threads[0], first)
			}
			if round > 0 {
				times[k] = append(times[k], tables.Ms(took))
			}
		}
	}
	for k := range o.Threads {
		row.Ms = append(row.Ms, bench.QuartilesOf(times[k]).Median)
		if c.bytes != nil && triad[k] > 0 {
			row.Share = append(row.Share, c.bytes(in)/row.Ms[k]/1e6/triad[k])
		}
	}
	return row, nil
}

// WriteJSON writes the table as JSON.
func (t *CoresTable) WriteJSON(w io.Writer) error { return tables.WriteJSON(w, tables.OrZero(t)) }

// WriteText writes the table: the rates of [Triad] and [Registers], times, speed-ups and shares of
// the triad. A time with ! is above 1.1 times the time of the fewer threads before it.
func (t *CoresTable) WriteText(w io.Writer) error {
	if t = tables.OrZero(t); w == nil {
		return tables.ErrNoWriter
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(tw, "%s, %d processors\n", t.Processor, t.Cores)
	fmt.Fprint(tw, "ms by threads")
	for _, n := range t.Threads {
		fmt.Fprintf(tw, "\t%d", n)
	}
	fmt.Fprintln(tw, "\tspeed-up\tshare of the triad")
	for _, rate := range []struct {
		name string
		by   []float64
	}{{"triad, GB/s", t.Triad}, {"registers, 10⁹ steps/s", t.Registers}} {
		if len(rate.by) == 0 { // of an older file
			continue
		}
		fmt.Fprint(tw, rate.name)
		for _, x := range rate.by {
			fmt.Fprintf(tw, "\t%.1f", x)
		}
		fmt.Fprintf(tw, "\t%.1f\t\n", rate.by[len(rate.by)-1]/rate.by[0])
	}
	for _, r := range t.Rows {
		fmt.Fprint(tw, r.Case)
		for k, x := range r.Ms {
			mark := ""
			if k > 0 && x > slower*r.Ms[k-1] {
				mark = " !"
			}
			fmt.Fprintf(tw, "\t%s%s", tables.Figure(x), mark)
		}
		if r.Left != "" {
			fmt.Fprintf(tw, "%s\t\t%s\n", strings.Repeat("\t–", len(t.Threads)), r.Left)
			continue
		}
		last := len(r.Ms) - 1
		share := ""
		if len(r.Share) > 0 {
			share = fmt.Sprintf("%.0f %%", 100*r.Share[last])
		}
		fmt.Fprintf(tw, "\t%.1f\t%s\n", r.SpeedUp(last), share)
	}
	return tw.Flush()
}

// Plot draws the speed-up of each case at each number of threads: a row of points for a case, in
// the order of the table, a colour for a number of threads.
func (t *CoresTable) Plot() (*charts.Plot, error) {
	if t = tables.OrZero(t); len(t.Rows) == 0 || !slices.ContainsFunc(t.Threads, func(n int) bool { return n != t.Threads[0] }) {
		return nil, fmt.Errorf("bench: a plot needs a case and two numbers of threads")
	}
	p := plot.New()
	p.Title.Text, p.X.Label.Text = "Speed-up by threads", fmt.Sprintf("time with %d threads / time", t.Threads[0])
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	p.Legend.Top, p.Legend.XOffs = true, -vg.Millimeter
	p.Add(plotter.NewGrid())
	points := make([]plotter.XYs, len(t.Threads))
	var names []string
	for k := len(t.Rows) - 1; k >= 0; k-- { // from the bottom
		r := &t.Rows[k]
		if r.Left != "" {
			continue
		}
		for i := range t.Threads {
			points[i] = append(points[i], plotter.XY{X: r.SpeedUp(i), Y: float64(len(names))})
		}
		names = append(names, strings.NewReplacer("⟨", "<", "⟩", ">").Replace(r.Case)) // not in the font
	}
	for i, n := range t.Threads {
		dots, err := plotter.NewScatter(points[i])
		if err != nil {
			return nil, err
		}
		dots.Color, dots.Shape, dots.Radius = charts.Hue(i, len(t.Threads)), draw.CircleGlyph{}, vg.Points(2)
		p.Add(dots)
		p.Legend.Add(fmt.Sprint(n), dots)
	}
	p.NominalY(names...)
	p.Y.Tick.Label.Font.Size = vg.Points(6)
	p.Y.Min, p.Y.Max = -1, float64(len(names))
	charts.Widen(&p.X)
	return &charts.Plot{File: "cores.png", Title: "Speed-up by threads", P: p, Height: vg.Length(len(names))*.32*vg.Centimeter + 3*vg.Centimeter}, nil
}
