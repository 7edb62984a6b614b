package gpu

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/hiveblas/hiveblas/bench"
	"github.com/hiveblas/hiveblas/bench/internal/gpuside"
	"github.com/hiveblas/hiveblas/bench/internal/inputs"
	"github.com/hiveblas/hiveblas/bench/internal/tables"
	"github.com/hiveblas/hiveblas/cusparse"
	"github.com/hiveblas/hiveblas/cusparse/driver"
)

// Options are the settings of Run.
type Options struct {
	Rounds int      // at most; 0 means 15
	Only   []string // cases with one of these in their names; nil means all
	// Quick makes the inputs 16 times smaller and the rounds at most 5: to see that all runs, not
	// how fast.
	Quick bool
	// Budget is the time after which a case begins no further round, once it has three; 0 means 1.2
	// s.
	Budget time.Duration
	// FirstUse is a command that prints what [FirstUse] returns in milliseconds, in a fresh
	// process. Without it that case is not measured.
	FirstUse []string
	NoPeers  bool
	Data     string       // folder of the graphs of data; without one their cases are left out
	Log      func(string) // receives progress, a line each; may be nil

	// For tests: where to run, and how much smaller the inputs are.
	open     func() (*cusparse.Device, driver.Driver, error)
	compiler func() (driver.Compiler, error)
	shrink   int
}

// Run measures operations and workflows on the first Run, beside cuSPARSE and beside each other,
// and returns the table. Contenders of a case run on the same input in interleaved rounds. Results
// are checked before anything is timed. A case that fails says so in its row, and the others go on.
//
// Where there is no Run, the error says what is missing. If ctx ends, the table holds what was
// measured until then.
func Run(ctx context.Context, o Options) (*Table, error) {
	ctx = tables.OrBackground(ctx)
	if o.Rounds <= 0 {
		o.Rounds = 15
	}
	if o.Budget <= 0 {
		o.Budget = 1200 * time.Millisecond
	}
	if o.Quick {
		o.shrink, o.Rounds = max(o.shrink, 4), min(o.Rounds, 5)
	}
	if o.Log == nil {
		o.Log = func(string) {}
	}
	if o.open == nil {
		o.open = OpenFirst
	}
	if o.compiler == nil {
		o.compiler = driver.OpenCompiler
	}
	cases := gpuCases()
	cases = slices.DeleteFunc(cases, func(c gpuCase) bool {
		return !tables.Wanted(o.Only, c.name) || o.Data == "" && strings.HasPrefix(c.input, inputs.DataInput)
	})
	if len(cases) == 0 {
		return nil, fmt.Errorf("bench: no case's name contains %s", strings.Join(o.Only, " or "))
	}
	dev, d, err := o.open()
	if err != nil {
		return nil, err
	}
	defer dev.Close()
	b := &gpuBench{Options: o, ctx: ctx, dev: dev, inputs: map[string]*inputs.GPU{}, start: time.Now()}
	if b.side, err = gpuside.OpenPeers(d, 0, !o.NoPeers); err != nil {
		return nil, err
	}
	defer b.side.Close()
	t := &Table{Device: dev.String(), Cusparse: b.side.Version(), Shrunk: o.shrink}
	if v, err := d.Version(); err == nil {
		t.Cuda = fmt.Sprintf("%d.%d", v/1000, v%1000/10)
	}
	if t.Copy, err = b.side.CopyBandwidth(gpuside.CopyBytes >> o.shrink); err != nil {
		return nil, fmt.Errorf("copying on the device: %w", err)
	}
	defer b.forget(nil)
	for k, c := range cases {
		if ctx.Err() != nil {
			return t, ctx.Err()
		}
		b.forget(cases[k:])
		row := b.measure(c)
		b.log("%s: %s ms, ratio %.2f, %s", c.name, tables.Figure(row.Ours.Median), row.Ratio, row.verdict())
		t.Rows = append(t.Rows, row)
	}
	return t, nil
}

// Cases returns the names of the cases of [Run].
func Cases() []string {
	var names []string
	for _, c := range gpuCases() {
		names = append(names, c.name)
	}
	return names
}

// OpenFirst opens GPU 0.
func OpenFirst() (*cusparse.Device, driver.Driver, error) { return Open(0) }

// gpuCase is one row of the table.
type gpuCase struct {
	name  string
	bar   Bar
	input string // see inputs.MakeGPU
	plan  func(b *gpuBench, in *inputs.GPU) (*gpuPlan, error)
}

// gpuPlan is a case prepared on its input.
type gpuPlan struct {
	// ours are the methods of the library; the fastest counts.
	ours   []gpuside.Contender
	others []gpuside.Contender
	// check verifies the result of the first run of ours; "" means correct.
	check func() (wrong string, err error)
	bytes func() float64  // after the first run
	notes func() []string // at the end
	close func()
}

type gpuBench struct {
	Options
	ctx    context.Context
	dev    *cusparse.Device
	side   *gpuside.Peers
	inputs map[string]*inputs.GPU
	start  time.Time
}

func (b *gpuBench) log(format string, args ...any) {
	b.Log(fmt.Sprintf("%6.1f s  ", time.Since(b.start).Seconds()) + fmt.Sprintf(format, args...))
}

// measure returns the row of a case; the row records a failure.
func (b *gpuBench) measure(c gpuCase) Row {
	row := newGPURow(c.name, c.bar)
	if b.shrink > 0 {
		row.Bar = Bar{}
	}
	if err := b.fill(&row, c); err != nil {
		row.Failed = err.Error()
	}
	return row
}

func (b *gpuBench) fill(row *Row, c gpuCase) error {
	in, err := b.load(c.input)
	if err != nil {
		return err
	}
	p, err := c.plan(b, in)
	if err != nil {
		return err
	}
	if p.close != nil {
		defer p.close()
	}
	best, one, err := b.best(row, p)
	if err != nil {
		return err
	}
	if best.Method != nil {
		row.Method = best.Method()
	}
	contenders := []bench.Contender{best.Contender(one)}
	for k := range p.others {
		g := &p.others[k]
		one, err := g.Start(nil)
		if err != nil {
			row.Notes = append(row.Notes, g.Name+" is left out: "+err.Error())
			continue
		}
		contenders = append(contenders, g.Contender(one))
	}
	if row.Bar.Ratio > 0 && len(contenders) == 1 {
		row.Notes = append(row.Notes, "there is nothing to compare with (cuSPARSE: "+b.side.Version()+")")
	}
	cmp, err := bench.Pace{Rounds: b.Rounds, Budget: b.Budget}.Interleave(contenders...)
	if err != nil {
		return err
	}
	row.fill(cmp)
	if p.bytes != nil {
		row.Bytes = p.bytes()
	}
	if p.notes != nil {
		row.Notes = append(row.Notes, p.notes()...)
	}
	return nil
}

// best starts the library's methods, checks their results and returns the fastest, with
// the time of a run.
func (b *gpuBench) best(row *Row, p *gpuPlan) (best *gpuside.Contender, one time.Duration, err error) {
	var errs []error
	check := func() error {
		if p.check == nil {
			return nil
		}
		wrong, err := p.check()
		if wrong != "" && row.Wrong == "" {
			row.Wrong = "the result is wrong: " + wrong
		}
		return err
	}
	for k := range p.ours {
		g := &p.ours[k]
		took, err := g.Start(check)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if best == nil || took < one {
			best, one = g, took
		}
	}
	if best == nil {
		return nil, 0, errors.Join(errs...)
	}
	return best, one, nil
}

// load makes an input, once.
func (b *gpuBench) load(name string) (*inputs.GPU, error) {
	if name == "" {
		return nil, nil
	}
	if in := b.inputs[name]; in != nil {
		return in, nil
	}
	start := time.Now()
	var in *inputs.GPU
	var err error
	if file, ok := strings.CutPrefix(name, inputs.DataInput); ok {
		in = &inputs.GPU{Kept: map[string]any{}}
		in.Graph, err = inputs.UndirectedFile(filepath.Join(b.Data, file+".mtx.gz"))
	} else {
		in, err = inputs.MakeGPU(name, b.shrink)
	}
	if err != nil {
		return nil, err
	}
	b.log("input %s: %d entries, made in %.1f s", name, in.Graph.NNZ(), time.Since(start).Seconds())
	b.inputs[name] = in
	return in, nil
}

// forget drops the inputs that none of the cases needs.
func (b *gpuBench) forget(cases []gpuCase) {
	for name, in := range b.inputs {
		if slices.ContainsFunc(cases, func(c gpuCase) bool { return c.input == name }) {
			continue
		}
		for _, f := range in.Closers {
			f()
		}
		delete(b.inputs, name)
		runtime.GC() // the collector frees device memory with the matrices
	}
}

// Open opens Run n.
func Open(n int) (*cusparse.Device, driver.Driver, error) {
	d, err := driver.Open()
	if err != nil {
		return nil, nil, err
	}
	dev, err := cusparse.Open(n, cusparse.WithDriver(d))
	return dev, d, err
}
