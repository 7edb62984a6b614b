package bench

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/hiveblas/hiveblas/bench/peers"
	"github.com/hiveblas/hiveblas/cusparse"
	"github.com/hiveblas/hiveblas/cusparse/driver"
)

// GPUOptions are the settings of GPU.
type GPUOptions struct {
	Rounds int      // at most; 0 means 15
	Only   []string // cases whose name contains one of these; nil means all
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
	open   func() (*cusparse.Device, driver.Driver, error)
	shrink int
}

// GPU measures operations and workflows on the first GPU, beside cuSPARSE and beside each other,
// and returns the table. Contenders of a case run on the same input in interleaved rounds. Results
// are checked before anything is timed. A case that fails says so in its row, and the others go on.
//
// Where there is no GPU, the error says what is missing. If ctx ends, the table holds what was
// measured until then.
func GPU(ctx context.Context, o GPUOptions) (*GPUTable, error) {
	ctx = orBackground(ctx)
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
		o.open = openGPU
	}
	cases := gpuCases()
	cases = slices.DeleteFunc(cases, func(c gpuCase) bool {
		return !wanted(o.Only, c.name) || o.Data == "" && strings.HasPrefix(c.input, dataInput)
	})
	if len(cases) == 0 {
		return nil, fmt.Errorf("bench: no case's name contains %s", strings.Join(o.Only, " or "))
	}
	dev, d, err := o.open()
	if err != nil {
		return nil, err
	}
	defer dev.Close()
	b := &gpuBench{GPUOptions: o, ctx: ctx, dev: dev, inputs: map[string]*gpuInput{}, start: time.Now()}
	if b.side, err = openSide(d, 0, !o.NoPeers); err != nil {
		return nil, err
	}
	defer b.side.close()
	t := &GPUTable{Device: dev.String(), Cusparse: b.side.version(), Shrunk: o.shrink}
	if v, err := d.Version(); err == nil {
		t.Cuda = fmt.Sprintf("%d.%d", v/1000, v%1000/10)
	}
	if t.Copy, err = b.side.copyBandwidth(copyBytes >> o.shrink); err != nil {
		return nil, fmt.Errorf("copying on the device: %w", err)
	}
	defer b.forget(nil)
	for k, c := range cases {
		if ctx.Err() != nil {
			return t, ctx.Err()
		}
		b.forget(cases[k:])
		row := b.measure(c)
		b.log("%s: %s ms, ratio %.2f, %s", c.name, figure(row.Ours.Median), row.Ratio, row.verdict())
		t.Rows = append(t.Rows, row)
	}
	return t, nil
}

// GPUCases returns the names of the cases of [GPU].
func GPUCases() []string {
	var names []string
	for _, c := range gpuCases() {
		names = append(names, c.name)
	}
	return names
}

// copyBytes is the size of the copy that measures the bandwidth.
const copyBytes = 1 << 30

func wanted(only []string, name string) bool {
	return len(only) == 0 || slices.ContainsFunc(only, func(s string) bool { return strings.Contains(name, s) })
}

func openGPU() (*cusparse.Device, driver.Driver, error) { return OpenGPU(0) }

// gpuCase is one row of the table.
type gpuCase struct {
	name  string
	bar   Bar
	input string // see makeGPUInput
	plan  func(b *gpuBench, in *gpuInput) (*gpuPlan, error)
}

// gpuPlan is a case prepared on its input.
type gpuPlan struct {
	// ours are the methods of the library; the fastest counts.
	ours   []gpuContender
	others []gpuContender
	// check verifies the result of the first run of ours; "" means correct.
	check func() (wrong string, err error)
	bytes func() float64  // after the first run
	notes func() []string // at the end
	close func()
}

// gpuContender is one method for a case.
type gpuContender struct {
	name    string
	prepare func() error // once, before the first run; may be nil
	do      func() error // one run
	after   func()       // after each run that is not repeated, untimed; may be nil
	failed  func()       // called if it cannot run; may be nil
	clock   func(func() error) (time.Duration, error)
	once    bool          // not repeated within one measurement
	method  func() string // the method used, after the first run; may be nil

	// timed, instead of do and clock, runs once and times itself.
	timed func() (time.Duration, error)
}

// wall measures by the host's clock.
func wall(fn func() error) (time.Duration, error) {
	start := time.Now()
	err := fn()
	return time.Since(start), err
}

// run times reps runs, and returns the time of one.
func (g *gpuContender) run(reps int) (time.Duration, error) {
	if g.timed != nil {
		return g.timed()
	}
	took, err := g.clock(func() error {
		for range reps {
			if err := g.do(); err != nil {
				return err
			}
		}
		return nil
	})
	if g.after != nil {
		g.after()
	}
	return took / time.Duration(reps), err
}

// start prepares, runs once untimed, calls then and runs again. It returns the time of
// the second run.
func (g *gpuContender) start(then func() error) (took time.Duration, err error) {
	defer func() {
		if err != nil && g.failed != nil {
			g.failed()
		}
	}()
	if g.prepare != nil {
		if err := g.prepare(); err != nil {
			return 0, err
		}
	}
	after := g.after
	g.after = nil
	_, err = g.run(1)
	g.after = after
	if err == nil && then != nil {
		err = then()
	}
	if after != nil {
		after()
	}
	if err != nil {
		return 0, err
	}
	return g.run(1)
}

// measured is the least total time of the runs between two events; short runs are
// repeated to reach it.
const measured = 2 * time.Millisecond

func (g *gpuContender) contender(one time.Duration) Contender {
	reps := 1
	if !g.once && g.timed == nil {
		reps = int(min(max(measured/max(one, time.Microsecond), 1), 50))
	}
	return Contender{g.name, func() (peers.Result, error) {
		took, err := g.run(reps)
		return peers.Result{Ms: took.Seconds() * 1e3}, err
	}}
}

type gpuBench struct {
	GPUOptions
	ctx    context.Context
	dev    *cusparse.Device
	side   *gpuSide
	inputs map[string]*gpuInput
	start  time.Time
}

func (b *gpuBench) log(format string, args ...any) {
	b.Log(fmt.Sprintf("%6.1f s  ", time.Since(b.start).Seconds()) + fmt.Sprintf(format, args...))
}

// measure returns the row of a case; the row records a failure.
func (b *gpuBench) measure(c gpuCase) GPURow {
	row := newGPURow(c.name, c.bar)
	if b.shrink > 0 {
		row.Bar = Bar{}
	}
	if err := b.fill(&row, c); err != nil {
		row.Failed = err.Error()
	}
	return row
}

func (b *gpuBench) fill(row *GPURow, c gpuCase) error {
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
	if best.method != nil {
		row.Method = best.method()
	}
	contenders := []Contender{best.contender(one)}
	for k := range p.others {
		g := &p.others[k]
		one, err := g.start(nil)
		if err != nil {
			row.Notes = append(row.Notes, g.name+" is left out: "+err.Error())
			continue
		}
		contenders = append(contenders, g.contender(one))
	}
	if row.Bar.Ratio > 0 && len(contenders) == 1 {
		row.Notes = append(row.Notes, "there is nothing to compare with (cuSPARSE: "+b.side.version()+")")
	}
	cmp, err := pace{rounds: b.Rounds, budget: b.Budget}.interleave(contenders...)
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
func (b *gpuBench) best(row *GPURow, p *gpuPlan) (best *gpuContender, one time.Duration, err error) {
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
		took, err := g.start(check)
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
func (b *gpuBench) load(name string) (*gpuInput, error) {
	if name == "" {
		return nil, nil
	}
	if in := b.inputs[name]; in != nil {
		return in, nil
	}
	start := time.Now()
	var in *gpuInput
	var err error
	if file, ok := strings.CutPrefix(name, dataInput); ok {
		in = &gpuInput{kept: map[string]any{}}
		in.graph, err = undirectedFile(filepath.Join(b.Data, file+".mtx.gz"))
	} else {
		in, err = makeGPUInput(name, b.shrink)
	}
	if err != nil {
		return nil, err
	}
	b.log("input %s: %d entries, made in %.1f s", name, in.graph.NNZ(), time.Since(start).Seconds())
	b.inputs[name] = in
	return in, nil
}

// forget drops the inputs that none of the cases needs.
func (b *gpuBench) forget(cases []gpuCase) {
	for name, in := range b.inputs {
		if slices.ContainsFunc(cases, func(c gpuCase) bool { return c.input == name }) {
			continue
		}
		for _, f := range in.closers {
			f()
		}
		delete(b.inputs, name)
		runtime.GC() // the collector frees device memory with the matrices
	}
}
