package report

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/bench"
	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/bench/internal/gpuside"
	"github.com/hiveblas/hiveblas/bench/internal/tables"
	"github.com/hiveblas/hiveblas/bench/peers"
	"github.com/hiveblas/hiveblas/cusparse"
	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/matrix"
)

// Options are the settings of [New].
type Options struct {
	Rounds  int      // at most; 0 means 5
	Threads int      // of ours on the host and of peers that have a choice; 0 means all processors
	Only    []string // rows with one of these in their names; nil means all
	// Quick makes the inputs 16 times smaller: a check that everything runs.
	Quick bool
	// MostScale is the binary logarithm of the vertices up to which cost growth is measured; 0
	// means 20.
	MostScale int
	// Budget is the time after which a row begins no further round, once it has three; 0 means 5 s.
	Budget  time.Duration
	NoPeers bool

	NoHost bool // measure the device alone
	// Open opens a device; nil measures the host alone. Without Demand, a device that does not
	// open is a line of the report, not an error.
	Open   func() (*cusparse.Device, driver.Driver, error)
	Demand bool
	// Self is the command line of hiveblas-bench, for rows that need a process of their own; nil
	// leaves them out.
	Self []string
	Log  func(string) // receives progress, a line each; may be nil

	shrink int // for tests: inputs 2^shrink times smaller
}

// long is the time of a first run from which it counts and is not repeated.
const long = 20 * time.Second

// reportBench is the state of a report.
type reportBench struct {
	Options
	ctx    context.Context
	dir    string
	start  time.Time
	dev    *cusparse.Device
	side   *gpuside.Peers
	peers  map[string]peers.Peer
	absent map[string]string // missing peers, and the remedy
	report *Report
	large  *gen.Graph // the graph that SGM samples
}

// reportPeers are the columns of libraries, in the order of the report.
var reportPeers = []struct {
	column string
	kind   peers.Kind
}{{"SciPy", peers.SciPy}, {"SuiteSparse", peers.SuiteSparse}, {"NetworkX", peers.NetworkX}}

const cusparseColumn = "cuSPARSE"

// New measures the workflows of Gunrock's HIVE report (2018) on generated data of the shapes
// it names, on the host and on a device, beside its figures and beside the libraries that are
// installed; and products that are larger than memory, and the growth of cost with size. It
// compares the results of contenders. A row records what failed or is missing. If ctx ends, the
// report holds the rows measured so far.
func New(ctx context.Context, o Options) (*Report, error) {
	ctx = tables.OrBackground(ctx)
	o.fill()
	rows, chunks, growth := reportCases(), chunkCases(), growthCases()
	rows = only(o.Only, rows, func(c reportCase) string { return c.name })
	chunks = only(o.Only, chunks, func(c chunkCase) string { return c.name })
	growth = only(o.Only, growth, func(c growthCase) string { return c.name })
	if len(rows)+len(chunks)+len(growth) == 0 {
		return nil, fmt.Errorf("bench: no row's name contains %s", strings.Join(o.Only, " or "))
	}
	dir, err := os.MkdirTemp("", "hiveblas-report-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	b := &reportBench{Options: o, ctx: ctx, dir: dir, start: time.Now(), peers: map[string]peers.Peer{}, absent: map[string]string{},
		report: &Report{Made: time.Now().UTC(), Threads: o.Threads, Shrunk: o.shrink, MostScale: o.MostScale, Host: !o.NoHost}}
	defer b.close()
	if err := b.open(); err != nil {
		return nil, err
	}
	for _, c := range rows {
		if row := b.row(c); ctx.Err() == nil {
			b.report.Rows = append(b.report.Rows, row)
		}
	}
	for _, c := range chunks {
		if measured := b.chunks(c); ctx.Err() == nil {
			b.report.Chunks = append(b.report.Chunks, measured...)
		}
	}
	for _, c := range growth {
		b.grow(c)
	}
	b.report.Interrupted = ctx.Err() != nil
	return b.report, ctx.Err()
}

// Cases returns the names of the rows of [New].
func Cases() []string {
	var names []string
	for _, c := range reportCases() {
		names = append(names, c.name)
	}
	for _, c := range chunkCases() {
		names = append(names, c.name)
	}
	for _, c := range growthCases() {
		names = append(names, c.name)
	}
	return names
}

func (o *Options) fill() {
	if o.Rounds <= 0 {
		o.Rounds = 5
	}
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	if o.MostScale <= 0 {
		o.MostScale = 20
	}
	if o.Budget <= 0 {
		o.Budget = 5 * time.Second
	}
	if o.Quick {
		o.shrink, o.Rounds, o.MostScale, o.Budget = max(o.shrink, 4), min(o.Rounds, 3), min(o.MostScale, 18), min(o.Budget, time.Second)
	}
	if o.Log == nil {
		o.Log = func(string) {}
	}
}

func only[C any](names []string, cases []C, name func(C) string) []C {
	var out []C
	for _, c := range cases {
		if tables.Wanted(names, name(c)) {
			out = append(out, c)
		}
	}
	return out
}

func (b *reportBench) log(format string, args ...any) {
	b.Log(fmt.Sprintf("%6.1f s  ", time.Since(b.start).Seconds()) + fmt.Sprintf(format, args...))
}

// open starts the device and the peers, and measures bandwidths.
func (b *reportBench) open() (err error) {
	r := b.report
	r.Processor = tables.Processor()
	if !b.NoHost {
		b.log("bandwidth of the host")
		if b.shrink == 0 || b.Quick {
			r.Triad = bench.Triad(b.Threads)
		} else {
			r.Triad = bench.TriadOf(b.Threads, 1<<12, 1)
		}
	}
	r.Device = "not asked for"
	if b.Open != nil {
		dev, d, err := b.Open()
		switch {
		case err != nil && (b.Demand || b.NoHost):
			return err
		case err != nil:
			r.Device = "missing: " + err.Error()
		default:
			b.dev = dev
			if b.side, err = gpuside.OpenPeers(d, dev.Index(), !b.NoPeers); err != nil {
				return err
			}
			r.Device, r.OnDevice = dev.String(), true
			if r.Copy, err = b.side.CopyBandwidth(gpuside.CopyBytes >> b.shrink); err != nil {
				return fmt.Errorf("copying on the device: %w", err)
			}
		}
	}
	for _, p := range reportPeers {
		b.startPeer(p.column, p.kind)
	}
	switch {
	case b.NoPeers:
		b.absent[cusparseColumn] = "not asked for"
	case b.side == nil:
		b.absent[cusparseColumn] = "there is no GPU"
	case b.side.Lib == nil:
		b.absent[cusparseColumn] = b.side.Version()
	default:
		r.Peers = append(r.Peers, PeerState{cusparseColumn, "cuSPARSE " + b.side.Version(), ""})
		return nil
	}
	r.Peers = append(r.Peers, PeerState{cusparseColumn, "", b.absent[cusparseColumn]})
	return nil
}

func (b *reportBench) startPeer(column string, kind peers.Kind) {
	state := PeerState{Column: column, Missing: "not asked for"}
	if !b.NoPeers {
		p, err := peers.Start(b.ctx, kind)
		if err != nil {
			state.Missing = err.Error()
			b.log("%s", err)
		} else {
			_ = peers.SetThreads(p, b.Threads) // peers without a choice use one
			b.peers[column] = p
			state.Version, state.Missing = fmt.Sprintf("%s, threads: %d", p.Name(), p.Threads()), ""
		}
	}
	if state.Missing != "" {
		b.absent[column] = state.Missing
	}
	b.report.Peers = append(b.report.Peers, state)
}

func (b *reportBench) close() {
	for _, p := range b.peers {
		_ = p.Close()
	}
	if b.side != nil {
		_ = b.side.Close()
	}
	if b.dev != nil {
		_ = b.dev.Close()
	}
}

// place is a place where a workflow runs.
type place struct {
	column string
	at     matrix.Place
	clock  func(func() error) (time.Duration, error)
}

func (b *reportBench) places() (list []place) {
	if !b.NoHost {
		list = append(list, place{HostColumn, nil, gpuside.Wall})
	}
	if b.dev != nil {
		list = append(list, place{DeviceColumn, b.dev, b.dev.Time})
	}
	return list
}

// row measures a case; the row records a failure.
func (b *reportBench) row(c reportCase) Row {
	if b.ctx.Err() != nil {
		return Row{}
	}
	b.log("%s", c.name)
	row := Row{Name: c.name, Original: c.original, Times: map[string]bench.Quartiles{}, Absent: map[string]string{}, Percent: map[string]float64{},
		Command: b.command(c.name)}
	task, err := c.make(b)
	if err == nil {
		err = b.fillRow(&row, task)
	}
	if err != nil {
		row.Failed = err.Error()
	}
	runtime.GC()
	return row
}

// command returns the command line that measures a row.
func (b *reportBench) command(name string) string {
	device := "cpu"
	switch {
	case b.dev != nil && b.NoHost:
		device = fmt.Sprintf("gpu:%d", b.dev.Index())
	case b.dev != nil:
		device = "auto"
	}
	quick := ""
	if b.Quick {
		quick = " --quick"
	}
	return fmt.Sprintf("hiveblas-bench report --only %q --device %s --rounds %d%s", name, device, b.Rounds, quick)
}

// entrant is a contender of a row, with the result of its first run.
type entrant struct {
	column string
	run    func() (peers.Result, error)
	first  peers.Result
	alone  bool // its result is not compared
}

// Once runs an entrant for the first time. A long run is not repeated.
func (e *entrant) once() (err error) {
	if e.first, err = e.run(); err == nil && e.first.Ms > tables.Ms(long) {
		result := e.first
		e.run = func() (peers.Result, error) { return result, nil }
	}
	return err
}

func (b *reportBench) fillRow(row *Row, task *reportTask) error {
	row.Input, row.Notes = task.input, append(row.Notes, task.notes...)
	defer task.close()
	var entrants []*entrant
	moved := map[string]float64{}
	for _, p := range b.places() {
		if p.at == nil && task.slow && b.dev != nil && b.shrink == 0 {
			row.absent(p.column, "left out: a row with less work takes most of a minute there")
			continue
		}
		run, err := task.ready(p.at, apps.Run{Context: b.ctx, Threads: b.Threads})
		e := &entrant{column: p.column}
		if err == nil {
			e.run = func() (peers.Result, error) {
				o, err := run(p.clock, e.first.Extra == nil)
				if o.result != "" {
					row.Result, moved[p.column] = o.result, o.bytes
				}
				return peers.Result{Ms: tables.Ms(o.took), Check: o.check, Extra: map[string]float64{}}, err
			}
			err = e.once()
		}
		if err != nil {
			row.absent(p.column, "failed: "+err.Error())
			continue
		}
		entrants = append(entrants, e)
	}
	if len(entrants) == 0 {
		return errors.New("nothing of ours ran")
	}
	entrants = append(entrants, b.entrants(row, task)...)
	contenders := make([]bench.Contender, len(entrants))
	for k, e := range entrants {
		contenders[k] = bench.Contender{Name: e.column, Run: e.run}
		if want := entrants[0].first.Check; task.tolerance >= 0 && !e.alone && !(math.Abs(e.first.Check-want) <= max(task.tolerance, 1e-9)*math.Abs(want)) {
			row.Wrong = append(row.Wrong, fmt.Sprintf("%s finds %v where %s finds %v", e.column, e.first.Check, entrants[0].column, want))
		}
	}
	cmp, err := bench.Pace{Rounds: b.Rounds, Budget: b.Budget, Before: func() {
		time.Sleep(bench.Settle)
		runtime.GC()
	}}.Interleave(contenders...)
	if err != nil {
		return err
	}
	for k, e := range entrants {
		if task.tolerance < 0 && k > 0 {
			row.Notes = append(row.Notes, fmt.Sprintf("%s: %s ends at %v, %s at %v", row.Name, e.column, e.first.Check, entrants[0].column, entrants[0].first.Check))
		}
		row.Times[e.column] = cmp.Time(k)
		row.Rounds = len(cmp.Ms[k])
	}
	for column, bytes := range moved {
		copied := map[string]float64{HostColumn: b.report.Triad, DeviceColumn: b.report.Copy}[column]
		if bytes > 0 && copied > 0 {
			row.Percent[column] = bytes / row.Times[column].Median / 1e4 / copied
		}
	}
	return nil
}

// entrants starts the peers of a task; the row records why one does not run.
func (b *reportBench) entrants(row *Row, task *reportTask) (list []*entrant) {
	loaded := map[string]bool{}
	for _, p := range reportPeers {
		call, has := task.peers[p.column]
		switch missing, gone := b.absent[p.column]; {
		case !has:
			row.absent(p.column, noWorkflow)
			continue
		case gone:
			row.absent(p.column, "missing: "+missing)
			continue
		case call.left != "":
			row.absent(p.column, "left out: "+call.left)
			continue
		}
		peer := b.peers[p.column]
		err := b.feed(peer, task.files, loaded)
		e := &entrant{column: p.column, run: func() (peers.Result, error) { return peer.Run(call.name, task.files[0].name, call.args...) }}
		if err == nil {
			err = e.once()
		}
		if err != nil {
			row.absent(p.column, "failed: "+err.Error())
			continue
		}
		list = append(list, e)
	}
	task.finally(func() { b.forget(task.files) })
	switch missing, gone := b.absent[cusparseColumn]; {
	case task.cusparse == nil:
		row.absent(cusparseColumn, noWorkflow)
	case gone:
		row.absent(cusparseColumn, "missing: "+missing)
	default:
		if e, err := b.quickest(row, task); err != nil {
			row.absent(cusparseColumn, "failed: "+err.Error())
		} else {
			list = append(list, e)
		}
	}
	return list
}

// feed loads the files into a peer, and writes missing ones.
func (b *reportBench) feed(peer peers.Peer, files []peerFile, written map[string]bool) error {
	for _, f := range files {
		path := filepath.Join(b.dir, f.name)
		if !written[f.name] {
			if err := f.write(path); err != nil {
				return err
			}
			written[f.name] = true
		}
		if err := peer.Load(f.name, path); err != nil {
			return err
		}
	}
	return nil
}

// forget removes the files and frees them in the peers.
func (b *reportBench) forget(files []peerFile) {
	for _, f := range files {
		for _, p := range b.peers {
			_ = p.Free(f.name) // fails for a file that was not loaded
		}
		_ = os.Remove(filepath.Join(b.dir, f.name))
	}
}

// quickest is the fastest algorithm of cuSPARSE. hiveblas-bench gpu compares its result, this does
// not.
func (b *reportBench) quickest(row *Row, task *reportTask) (*entrant, error) {
	list, done, err := task.cusparse(b.side)
	if err != nil {
		return nil, err
	}
	task.finally(done)
	var best *entrant
	var errs []error
	for k := range list {
		g := &list[k]
		took, err := g.Start(nil)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", g.Name, err))
			continue
		}
		if best == nil || tables.Ms(took) < best.first.Ms {
			c := g.Contender(took)
			best = &entrant{column: cusparseColumn, run: c.Run, first: peers.Result{Ms: tables.Ms(took)}, alone: true}
		}
	}
	if best == nil {
		return nil, errors.Join(errs...)
	}
	return best, nil
}
