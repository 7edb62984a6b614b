package idioms

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/hiveblas/hiveblas/bench"
	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/bench/internal/inputs"
	"github.com/hiveblas/hiveblas/bench/internal/tables"
)

// Options are the settings of Idioms.
type Options struct {
	// Data is a folder with email-Enron.mtx.gz. Without one, the graph is an R-MAT of its size.
	Data   string
	Only   []string      // cases with one of these in their names; nil means all
	Budget time.Duration // time after which a case begins no further round; 0 means 300 ms
	Log    func(string)  // receives a line for each case; may be nil
}

// Row is one idiom of the GraphBLAS user guide, written with operations in the obvious way,
// beside a plain Go loop that computes the same. Times are medians in microseconds; a bar of 0
// means none.
type Row struct {
	Case      string  `json:"case"`
	Ours      float64 `json:"ours_us"`
	Loop      float64 `json:"loop_us"`
	Ratio     float64 `json:"ratio"`
	RatioBar  float64 `json:"ratio_bar,omitempty"`
	TimeBar   float64 `json:"time_bar_us,omitempty"`
	Allocs    float64 `json:"allocs"`
	AllocsBar float64 `json:"allocs_bar,omitempty"`
	Failed    string  `json:"failed,omitempty"`
}

// Barred reports whether the row has a bar.
func (r Row) Barred() bool { return r.RatioBar > 0 || r.TimeBar > 0 || r.AllocsBar > 0 }

// Reached reports whether every bar is kept.
func (r Row) Reached() bool {
	within := func(x, bar float64) bool { return bar == 0 || x <= bar }
	return r.Failed == "" && within(r.Ratio, r.RatioBar) && within(r.Ours, r.TimeBar) && within(r.Allocs, r.AllocsBar)
}

// Table is the rows of Idioms.
type Table struct {
	Graph   string `json:"graph"`
	Threads int    `json:"threads"`
	Rows    []Row  `json:"rows"`
}

// idiom is one row: an algorithm or statement in two forms, and its bars.
type idiom struct {
	name   string
	ratio  float64       // greatest time of ours over the time of the loop
	most   time.Duration // greatest time of ours
	allocs float64       // most allocations of a call of ours
	make   func(in *idiomInput) (*idiomRun, error)
}

// idiomRun is the two forms of an idiom on one input.
type idiomRun struct {
	reset func() error // restores what ours changes, outside the timed part; may be nil
	ours  func() error
	loop  func()
	agree func() error // compares the results after both ran once
}

// idiomInput is the graph of the algorithms.
type idiomInput struct {
	graph *gen.Graph
	name  string
}

// newIdiomInput reads email-Enron (36692 vertices, 367662 entries), or generates a graph of its
// size.
func newIdiomInput(data string) (*idiomInput, error) {
	if data == "" {
		g := gen.CSR(gen.Symmetrise(gen.RMAT(15, 8, gen.RMATOptions{Seed: 1})))
		return &idiomInput{g, fmt.Sprintf("R-MAT 15, %d vertices, %d entries", g.NRows, g.NNZ())}, nil
	}
	g, err := inputs.UndirectedFile(filepath.Join(data, "email-Enron.mtx.gz"))
	if err != nil {
		return nil, err
	}
	return &idiomInput{g, fmt.Sprintf("email-Enron, %d vertices, %d entries", g.NRows, g.NNZ())}, nil
}

// Cases returns the names of the cases of [Idioms].
func Cases() []string {
	var names []string
	for _, c := range idioms() {
		names = append(names, c.name)
	}
	return names
}

// Run measures the idioms of the GraphBLAS user guide on the host, written in the obvious way,
// beside plain Go loops. Results are compared first: a case fails in its row if its forms disagree.
// Operations use all processors, as they do by default; loops use one. If ctx ends, the table holds
// the rows measured so far.
func Run(ctx context.Context, o Options) (*Table, error) {
	ctx = tables.OrBackground(ctx)
	if o.Budget <= 0 {
		o.Budget = 300 * time.Millisecond
	}
	in, err := newIdiomInput(o.Data)
	if err != nil {
		return nil, err
	}
	t := &Table{Graph: in.name, Threads: runtime.GOMAXPROCS(0)}
	for _, c := range idioms() {
		if !tables.Wanted(o.Only, c.name) {
			continue
		}
		if ctx.Err() != nil {
			return t, ctx.Err()
		}
		row := c.measure(in, o.Budget)
		if o.Log != nil {
			o.Log(fmt.Sprintf("%s: %s µs, loop %s, %g allocations %s", row.Case, tables.Figure(row.Ours), tables.Figure(row.Loop), row.Allocs, row.Failed))
		}
		t.Rows = append(t.Rows, row)
	}
	if len(t.Rows) == 0 {
		return nil, errors.New("bench: no idiom has this name")
	}
	return t, nil
}

// measure compares the two forms of an idiom and times them in turn.
func (c idiom) measure(in *idiomInput, budget time.Duration) Row {
	row := Row{Case: c.name, RatioBar: c.ratio, TimeBar: float64(c.most) / 1e3, AllocsBar: c.allocs}
	fail := func(err error) Row {
		row.Failed = err.Error()
		return row
	}
	run, err := c.make(in)
	if err != nil {
		return fail(err)
	}
	began := time.Now()
	for again := range 2 { // the second time on what the first left
		if again > 0 && time.Since(began) > budget {
			break
		}
		if err := run.once(); err != nil {
			return fail(err)
		}
		run.loop()
		if err := run.agree(); err != nil {
			return fail(err)
		}
	}
	ours, loop := &stopwatch{reset: run.reset, call: run.ours}, &stopwatch{call: func() error { run.loop(); return nil }}
	start := time.Now()
	for round := 0; round < 1000 && goesOn(round, time.Since(start), budget); round++ {
		if round%16 == 0 {
			runtime.GC()
		}
		for _, w := range []*stopwatch{ours, loop} {
			if err := w.sample(); err != nil {
				return fail(err)
			}
		}
	}
	row.Ours, row.Loop = bench.QuartilesOf(ours.us).Median, bench.QuartilesOf(loop.us).Median
	row.Ratio = row.Ours / row.Loop
	if row.Allocs, err = run.allocations(budget); err != nil {
		return fail(err)
	}
	return row
}

// goesOn reports whether a case has another round: until the budget is spent, and three where that
// does not take ten times as long.
func goesOn(rounds int, took, budget time.Duration) bool {
	return rounds == 0 || took < budget || rounds < 3 && took < 10*budget
}

func (r *idiomRun) once() error {
	if r.reset != nil {
		if err := r.reset(); err != nil {
			return err
		}
	}
	return r.ours()
}

// allocations returns the median number of allocations of a call, reset left out.
func (r *idiomRun) allocations(budget time.Duration) (float64, error) {
	var counts []float64
	start := time.Now()
	for round := 0; round < 9 && goesOn(round, time.Since(start), budget); round++ {
		if r.reset != nil {
			if err := r.reset(); err != nil {
				return 0, err
			}
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := r.ours()
		runtime.ReadMemStats(&after)
		if err != nil {
			return 0, err
		}
		counts = append(counts, float64(after.Mallocs-before.Mallocs))
	}
	slices.Sort(counts)
	return counts[len(counts)/2], nil
}

// stopwatch samples the time of a call. Without a reset, short calls are repeated within a sample,
// so that reading the clock does not count.
type stopwatch struct {
	reset   func() error
	call    func() error
	repeats int
	us      []float64
}

// shortest is the least time of a sample without a reset.
const shortest = 50 * time.Microsecond

func (w *stopwatch) sample() error {
	if w.reset != nil {
		if err := w.reset(); err != nil {
			return err
		}
	}
	w.repeats = max(w.repeats, 1)
	for {
		start := time.Now()
		for range w.repeats {
			if err := w.call(); err != nil {
				return err
			}
		}
		took := time.Since(start)
		if w.reset == nil && took < shortest && w.repeats < 1<<20 {
			w.repeats *= 2
			continue
		}
		w.us = append(w.us, float64(took.Nanoseconds())/1e3/float64(w.repeats))
		return nil
	}
}

// WriteText writes the table with aligned columns.
func (t *Table) WriteText(w io.Writer) error {
	t = tables.OrZero(t)
	cells := [][]string{{"idiom, on " + t.Graph, "ours µs", "loop µs", "ratio", "allocations", "bar", "reached"}}
	for _, r := range t.Rows {
		if r.Failed != "" {
			cells = append(cells, []string{r.Case + ": " + r.Failed, tables.None, tables.None, tables.None, tables.None, tables.None, "no"})
			continue
		}
		cells = append(cells, []string{r.Case, tables.Figure(r.Ours), tables.Figure(r.Loop), fmt.Sprintf("%.2f", r.Ratio), fmt.Sprint(r.Allocs), r.bars(), r.verdict()})
	}
	return tables.WriteText(w, cells)
}

// bars formats the bars.
func (r Row) bars() string {
	text := tables.None
	add := func(s string) {
		if text == tables.None {
			text = s
		} else {
			text += ", " + s
		}
	}
	if r.RatioBar > 0 {
		add(fmt.Sprintf("%g×", r.RatioBar))
	}
	if r.TimeBar > 0 {
		add(tables.Figure(r.TimeBar) + " µs")
	}
	if r.AllocsBar > 0 {
		add(fmt.Sprintf("%g allocations", r.AllocsBar))
	}
	return text
}

func (r Row) verdict() string {
	switch {
	case !r.Barred():
		return tables.None
	case r.Reached():
		return "yes"
	}
	return "no"
}

// WriteJSON writes the table as one JSON object.
func (t *Table) WriteJSON(w io.Writer) error {
	return tables.WriteJSON(w, tables.OrZero(t))
}
