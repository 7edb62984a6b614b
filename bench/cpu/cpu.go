package cpu

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hiveblas/hiveblas/bench"
	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/bench/internal/inputs"
	"github.com/hiveblas/hiveblas/bench/internal/tables"
	"github.com/hiveblas/hiveblas/bench/peers"
	"github.com/hiveblas/hiveblas/matrix"
)

// Options are the settings of Run.
type Options struct {
	Rounds  int      // 0 means 15
	Threads int      // of ours and of peers that have a choice; 0 means 2
	Only    []string // cases with one of these in their names; nil means all
	NoPeers bool
	Large   bool         // also R-MAT 20 and 22, which take minutes to make
	Data    string       // folder of the graphs of data; cases without their file are left out
	Log     func(string) // receives progress, a line each; may be nil
}

// Run measures the operations and workflows on the host beside the installed peers, and returns the
// table. All contenders run every case on the same input, in interleaved rounds, and their results
// must agree. A peer that dies is shown as died in its row.
func Run(ctx context.Context, o Options) (*bench.Table, error) {
	ctx = tables.OrBackground(ctx)
	if o.Rounds <= 0 {
		o.Rounds = 15
	}
	if o.Threads <= 0 {
		o.Threads = 2
	}
	if o.Log == nil {
		o.Log = func(string) {}
	}
	dir, err := os.MkdirTemp("", "hiveblas-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	b := &cpuBench{Options: o, ctx: ctx, dir: dir, inputs: map[string]*input{}}
	defer b.close()
	if !o.NoPeers {
		b.startPeers()
	}
	t := &bench.Table{}
	for _, p := range b.peers {
		t.Peers = append(t.Peers, p.Name())
	}
	t.Peers = append(t.Peers, rivalName, pipelineName)
	o.Log("triad")
	t.Triad = bench.Triad(o.Threads)
	for _, c := range cpuCasesOf(o.Large) {
		if len(o.Only) > 0 && !slices.ContainsFunc(o.Only, func(s string) bool { return strings.Contains(c.name, s) }) {
			continue
		}
		if ctx.Err() != nil {
			return t, ctx.Err()
		}
		row, err := b.measure(c)
		if errors.Is(err, fs.ErrNotExist) && strings.HasPrefix(c.input, inputs.DataInput) {
			o.Log(fmt.Sprintf("%s is left out: %v", c.name, err))
			continue
		}
		if err != nil {
			return t, fmt.Errorf("%s: %w", c.name, err)
		}
		o.Log(fmt.Sprintf("%s: %.2f ms, ratio %.2f (%s)", c.name, row.Ours, row.Ratio, row.Best))
		t.Rows = append(t.Rows, row)
	}
	return t, nil
}

// Cases returns the names of the cases of [Run], with the large ones last.
func Cases(large bool) (names []string) {
	for _, c := range cpuCasesOf(large) {
		names = append(names, c.name)
	}
	return names
}

// cpuCasesOf returns the rows of the table.
func cpuCasesOf(large bool) []cpuCase {
	if large {
		return append(cpuCases(), largeCases()...)
	}
	return cpuCases()
}

// cpuCase is one row of the table.
type cpuCase struct {
	name  string
	bar   float64 // greatest ratio ours / best peer
	input string  // "rmat18", "bipartite1m", "tuples10m", …
	other string  // a second input, or ""
	// ours runs the case once, times itself and returns the check figure.
	ours func(b *cpuBench, in, other *input) (time.Duration, float64, error)
	// rival is another way to the same result, shown as a peer, or nil; pipeline is the workflow by
	// operations alone.
	rival, pipeline ours
	peer            []string // case names of the peers; each is a contender
	// networkx lets NetworkX take part, which takes minutes or hours for most rows.
	networkx bool
	// file writes a file that the peers read instead of an input, or is nil.
	file func(b *cpuBench, in *input) (string, error)
	// beside writes a file, or is nil. The path of the file is the last argument of the peers.
	beside func(b *cpuBench, in *input) (string, error)
	args   []string
	// perSource runs a peer once for each of benchSources and adds up.
	perSource bool
	bytes     func(in *input) float64
	memory    int64   // bytes that must be available to begin; 0 if they are few
	tolerance float64 // of the check figures; 0 means 1e-9
	rounds    int     // fewer rounds, for slow cases
}

type cpuBench struct {
	Options
	ctx    context.Context
	dir    string
	peers  []peers.Peer
	inputs map[string]*input
	loaded []string
}

// input is a graph or a list of tuples, here and as a file for the peers.
type input struct {
	name   string
	graph  *gen.Graph
	val    []float64
	tuples gen.Tuples
	path   string
	f64    *matrix.Matrix[float64]
	f32    *matrix.Matrix[float32]
	more   map[string]any
}

func (b *cpuBench) startPeers() {
	for _, k := range append(peers.Kinds[:len(peers.Kinds):len(peers.Kinds)], peers.NetworkX, peers.IGraph, peers.Flows, peers.Torch) {
		p, err := peers.Start(b.ctx, k)
		if err != nil {
			b.Log(err.Error())
			if !errors.Is(err, peers.ErrMissing) {
				b.Log("left out: " + string(k))
			}
			continue
		}
		_ = peers.SetThreads(p, b.Threads) // peers without a choice use one
		b.peers = append(b.peers, p)
	}
}

func (b *cpuBench) close() {
	for _, p := range b.peers {
		_ = p.Close()
	}
}

// load makes an input, once, and loads it into the peers, which keep a few inputs at a
// time.
func (b *cpuBench) load(name string) (*input, error) {
	if name == "" {
		return nil, nil
	}
	if in := b.inputs[name]; in != nil { // marks it as used last: a row's second input must not evict its first
		b.loaded = append(slices.DeleteFunc(b.loaded, func(l string) bool { return l == name }), name)
		return in, nil
	}
	b.Log("input " + name)
	in, err := makeInput(name, b.Data)
	if err != nil {
		return nil, err
	}
	in.path = filepath.Join(b.dir, strings.ReplaceAll(name, "/", "-"))
	switch {
	case len(b.peers) == 0: // nobody reads it
	case in.graph != nil:
		err = peers.WriteGraph(in.path, in.graph, in.val)
	default:
		err = peers.WriteTuples(in.path, in.tuples, in.val)
	}
	if err != nil {
		return nil, err
	}
	for _, p := range b.peers {
		_ = p.Load(name, in.path) // a peer without such a case may refuse it
	}
	if len(b.loaded) >= 3 {
		old := b.loaded[0]
		b.loaded = b.loaded[1:]
		delete(b.inputs, old)
		for _, p := range b.peers {
			_ = p.Free(old)
		}
		_ = os.Remove(filepath.Join(b.dir, strings.ReplaceAll(old, "/", "-")))
	}
	b.loaded = append(b.loaded, name)
	b.inputs[name] = in
	return in, nil
}

func (b *cpuBench) measure(c cpuCase) (bench.Row, error) {
	in, err := b.load(c.input)
	if err != nil {
		return bench.Row{}, err
	}
	other, err := b.load(c.other)
	if err != nil {
		return bench.Row{}, err
	}
	contenders := b.own(c, in, other)
	on, args := c.input, c.args
	if c.file != nil {
		path, err := c.file(b, in)
		if err != nil {
			return bench.Row{}, err
		}
		on, args = "-", []string{path}
	}
	if c.beside != nil {
		path, err := c.beside(b, in)
		if err != nil {
			return bench.Row{}, err
		}
		args = append(args[:len(args):len(args)], path)
	}
	for _, p := range b.peers {
		slow := strings.HasPrefix(p.Name(), "NetworkX") && !c.networkx
		for _, name := range c.peer {
			if slow || !p.Has(name) {
				continue
			}
			args := args
			if other != nil {
				args = append([]string{other.name}, args...)
			}
			contenders = append(contenders, bench.Contender{Name: p.Name() + variant(c, name), Run: func() (peers.Result, error) {
				if c.perSource {
					return runSearches(p, name, on, benchSources(in), args)
				}
				return p.Run(name, on, args...)
			}})
		}
	}
	rounds := b.Rounds
	if c.rounds > 0 {
		rounds = min(rounds, c.rounds)
	}
	cmp, err := bench.Interleave(rounds, contenders...)
	if err != nil {
		return bench.Row{}, err
	}
	tol := c.tolerance
	if tol == 0 {
		tol = 1e-9
	}
	if err := cmp.Agree(tol); err != nil {
		return bench.Row{}, err
	}
	bytes := 0.0
	if c.bytes != nil {
		bytes = c.bytes(in)
	}
	for i, err := range cmp.Died {
		if err != nil {
			b.Log(fmt.Sprintf("%s: %s: %v", c.name, cmp.Names[i], err))
		}
	}
	row := bench.NewRow(c.name, cmp, c.bar, bytes)
	bench.FoldVariants(&row)
	return row, nil
}

// own returns the contenders of this process.
func (b *cpuBench) own(c cpuCase, in, other *input) (list []bench.Contender) {
	for _, x := range []struct {
		name string
		run  ours
	}{{"hiveblas", c.ours}, {rivalName, c.rival}, {pipelineName, c.pipeline}} {
		if x.run == nil {
			continue
		}
		list = append(list, bench.Contender{Name: x.name, Aside: x.name == pipelineName, Run: func() (peers.Result, error) {
			d, check, err := x.run(b, in, other)
			return peers.Result{Ms: d.Seconds() * 1e3, Check: check}, err
		}})
	}
	return list
}

// rivalName is the column of another way to the same result: the built-in semiring beside a
// user-defined one, plain Go loops beside a workflow. pipelineName is the column of a workflow by
// operations alone.
const (
	rivalName    = "reference"
	pipelineName = "pipeline"
)

// variant distinguishes several cases of one peer in one row.
func variant(c cpuCase, name string) string {
	if len(c.peer) == 1 {
		return ""
	}
	return "|" + name
}

// runSearches runs a search from each source; the time is the average of one, the check the sum of
// all.
func runSearches(p peers.Peer, name, on string, sources []int, args []string) (peers.Result, error) {
	var sum peers.Result
	for _, v := range sources {
		one, err := p.Run(name, on, append([]string{strconv.Itoa(v)}, args...)...)
		if err != nil {
			return one, err
		}
		sum.Ms += one.Ms
		sum.Check += one.Check
	}
	sum.Ms /= float64(len(sources))
	return sum, nil
}
