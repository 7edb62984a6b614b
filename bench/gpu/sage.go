package gpu

import (
	"fmt"
	"math"
	"runtime"
	"time"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/bench/internal/gpuside"
	"github.com/hiveblas/hiveblas/bench/internal/inputs"
	"github.com/hiveblas/hiveblas/internal/workload"
	"github.com/hiveblas/hiveblas/matrix"
)

// sageChecked is the number of vertices with embeddings that are compared with the host's.
const sageChecked = 500

// gpuSAGE computes embeddings of all vertices of a graph on the device.
func gpuSAGE(shape workload.Network, o apps.SAGEOptions) func(b *gpuBench, in *inputs.GPU) (*gpuPlan, error) {
	return func(b *gpuBench, in *inputs.GPU) (*gpuPlan, error) {
		g := in.Graph
		a, err := inputs.Kept(in, "pattern", func() (*matrix.Matrix[bool], error) { return onDevice(b, g, inputs.Values(g, anyEntry)) })
		if err != nil {
			return nil, err
		}
		x, err := inputs.Kept(in, fmt.Sprint("features ", shape.Features), func() (*matrix.Matrix[float32], error) {
			x, err := workload.Floats(g.NRows, shape.Features, 39, 1)
			if err != nil {
				return nil, err
			}
			return x, x.Move(b.dev)
		})
		if err != nil {
			return nil, err
		}
		m, err := shape.Model()
		if err != nil {
			return nil, err
		}
		var r ran
		var res *apps.SAGEResult
		embed := func(run apps.Run) (err error) {
			o := o
			o.Run = run
			res, err = apps.GraphSAGE(a, x, m, o)
			return err
		}
		plan := &gpuPlan{}
		plan.ours = []gpuside.Contender{{Name: "hiveblas", Once: true, Clock: b.dev.Time, Method: r.method,
			Prepare: func() error { return embed(apps.Run{}) }, Do: func() error { return embed(apps.Run{}) },
			After: func() { res.Embeddings.Clear() }}} // new memory of this size takes 2 ms
		plan.check = func() (string, error) {
			if err := embed(r.run()); err != nil {
				return "", err
			}
			var vertices []int
			for k := range sageChecked {
				vertices = append(vertices, int(gen.Hash(uint64(k), 38)%uint64(g.NRows)))
			}
			some := o
			some.Vertices = vertices
			got, err := apps.GraphSAGE(a, x, m, some)
			if err != nil {
				return "", err
			}
			here, err := matrix.FromCSR(g.NRows, g.NCols, g.Ptr, g.Idx, inputs.Values(g, anyEntry))
			if err != nil {
				return "", err
			}
			features, err := workload.Floats(g.NRows, shape.Features, 39, 1)
			if err != nil {
				return "", err
			}
			some.Precision = apps.SAGEFloat32
			want, err := apps.GraphSAGE(here, features, m, some)
			if err != nil {
				return "", err
			}
			tolerance := map[apps.SAGEPrecision]float64{apps.SAGEFloat32: 1e-4, apps.SAGETF32: 5e-3, apps.SAGEFloat16: 5e-3, apps.SAGEBFloat16: 4e-2}[o.Precision]
			return closeMatrices(got.Embeddings, want.Embeddings, tolerance)
		}
		return plan, nil
	}
}

// sageFew and sageMany are the lengths of the runs. The difference between their times is the time
// of epochs. Graphs on a device have 64.
const sageFew, sageMany = 64, 192

// gpuSAGETraining is the time of an epoch of training with all vertices in a step, without
// validation: the difference between runs of many and of few epochs.
func gpuSAGETraining(features, hidden, classes int, share float64) func(b *gpuBench, in *inputs.GPU) (*gpuPlan, error) {
	return func(b *gpuBench, in *inputs.GPU) (*gpuPlan, error) {
		g := in.Graph
		n := g.NRows
		a, err := inputs.Kept(in, "pattern", func() (*matrix.Matrix[bool], error) { return onDevice(b, g, inputs.Values(g, anyEntry)) })
		if err != nil {
			return nil, err
		}
		x, err := inputs.SageFeatures(n, features, share)
		if err != nil {
			return nil, err
		}
		here := x.Clone()
		if err := x.Move(b.dev); err != nil {
			return nil, err
		}
		of := make([]int32, n)
		for v := range of {
			of[v] = int32(gen.Hash(uint64(v), 37) % uint64(classes))
		}
		var r ran
		train := func(g matrix.Source[bool], x *matrix.Matrix[float32], run apps.Run, epochs int) (*apps.SAGETraining, error) {
			o := apps.SAGETrainOptions{Run: run, Hidden: []int{hidden, hidden}, Epochs: epochs, Seed: 4}
			if b.shrink > 0 { // a look after each epoch, in place of graphs of many
				o.Each = func(apps.SAGEProgress) error { return nil }
			}
			return apps.TrainGraphSAGE(g, x, of, apps.SAGESplit{}, o)
		}
		timed := func(epochs int) (time.Duration, error) {
			defer runtime.GC()
			return b.dev.Time(func() error {
				_, err := train(a, x, apps.Run{}, epochs)
				return err
			})
		}
		few, many := sageFew, sageMany
		if b.shrink > 0 {
			few, many = 1, 2
		}
		plan := &gpuPlan{}
		plan.ours = []gpuside.Contender{{Name: "hiveblas", Method: r.method, Timed: func() (time.Duration, error) {
			long, err := timed(many)
			if err != nil {
				return 0, err
			}
			short, err := timed(few)
			return (long - short) / time.Duration(many-few), err
		}}}
		plan.check = func() (string, error) {
			epochs := 3
			if g.NNZ() > 1<<20 {
				epochs = 1
			}
			got, err := train(a, x, r.run(), epochs)
			if err != nil {
				return "", err
			}
			host, err := matrix.FromCSR(n, n, g.Ptr, g.Idx, inputs.Values(g, anyEntry))
			if err != nil {
				return "", err
			}
			want, err := train(host, here, apps.Run{}, epochs)
			if err != nil {
				return "", err
			}
			if math.Abs(got.Loss-want.Loss) > 1e-3 {
				return fmt.Sprintf("loss %v after %d epochs, want %v", got.Loss, epochs, want.Loss), nil
			}
			return "", nil
		}
		return plan, nil
	}
}

// closeMatrices says where two full matrices differ by more than a tolerance, "" if nowhere.
func closeMatrices(got, want *matrix.Matrix[float32], tolerance float64) (string, error) {
	if err := got.Fetch(); err != nil {
		return "", err
	}
	m, n := want.Dims()
	for i := range m {
		for j := range n {
			x, _ := got.At(i, j)
			y, _ := want.At(i, j)
			if !(math.Abs(float64(x-y)) <= tolerance) {
				return fmt.Sprintf("item (%d, %d) is %v, want %v", i, j, x, y), nil
			}
		}
	}
	return "", nil
}

// walkTimes are the numbers of walks of each vertex in the measured calls.
const walkTimes = 12

// walkRepeats is the number of calls; the least time counts.
const walkRepeats = 5

// tooNoisy ends the error of between.
const tooNoisy = "the machine is too noisy"

// between is the part of times of a difference of two runs. One that noise swallows is an error.
func between(long, short time.Duration, times int, err error) (time.Duration, error) {
	if err == nil && long <= short {
		err = fmt.Errorf("a run of %v is not longer than one of %v that does less: %s", long, short, tooNoisy)
	}
	return (long - short) / time.Duration(times), err
}

// gpuWalks is the time of a walk of the settings o from each vertex, and with tables the time of
// the tables of their rule. Transfers are left out: the time of many walks less the time of one,
// divided by their number, or the difference between calls with and without tables. Each of the two
// is the least of walkRepeats calls: scores and results of 33 MB and more are copied through
// pageable memory in each, for times that vary by milliseconds.
//
// With paths, walks begin at the vertices with edges and are kept on the device.
func gpuWalks(o apps.SearchOptions, tables bool) func(b *gpuBench, in *inputs.GPU) (*gpuPlan, error) {
	return func(b *gpuBench, in *inputs.GPU) (*gpuPlan, error) {
		a, err := undirectedOn(b, in)
		if err != nil {
			return nil, err
		}
		n := in.Graph.NRows
		list := make([]float64, n)
		for v := range list {
			list[v] = inputs.Unit[float64](gen.Hash(uint64(v), 51))
		}
		v, err := matrix.VectorOf(list)
		if err != nil {
			return nil, err
		}
		scores := apps.VertexScores(v)
		var r ran
		var starts []int
		times := walkTimes
		if o.Paths {
			starts, times = inputs.WalkStarts(in.Graph), 3
		}
		o.Seed = 5
		w := &walker{b, a, scores, starts, tables, o}
		steps := int64(0)
		plan := &gpuPlan{}
		plan.ours = []gpuside.Contender{{Name: "hiveblas", Method: r.method, Timed: func() (time.Duration, error) {
			if tables {
				long, err := w.timed(o.Rule, 1, 1)
				if err != nil {
					return 0, err
				}
				short, err := w.timed(apps.SearchUniform, 1, 1)
				return between(long, short, 1, err)
			}
			long, err := w.timed(o.Rule, o.Length, 1+times)
			if err != nil {
				return 0, err
			}
			short, err := w.timed(o.Rule, o.Length, 1)
			return between(long, short, times, err)
		}}}
		plan.check = func() (string, error) {
			got, err := w.walk(r.run(), o.Rule, o.Length, 1)
			if err != nil {
				return "", err
			}
			steps = got.Steps
			here, err := matrix.FromCSR(n, n, in.Graph.Ptr, in.Graph.Idx, inputs.Values(in.Graph, anyEntry))
			if err != nil {
				return "", err
			}
			want, err := apps.GraphSearch(here, w.scoresFor(o.Rule), starts, w.options(apps.Run{}, o.Rule, o.Length, 1, false))
			if err != nil {
				return "", err
			}
			if got.Steps != want.Steps || got.Distinct != want.Distinct || got.ScoreSum != want.ScoreSum {
				return fmt.Sprintf("%d steps, %d vertices, sum %v; want %d, %d, %v", got.Steps, got.Distinct, got.ScoreSum,
					want.Steps, want.Distinct, want.ScoreSum), nil
			}
			return "", nil
		}
		plan.notes = func() []string {
			if tables {
				return nil
			}
			return []string{fmt.Sprintf("%d steps", steps)}
		}
		return plan, nil
	}
}

// walker walks on the graph of a row. With tables the scores are given for uniform walks too.
type walker struct {
	b      *gpuBench
	a      *matrix.Matrix[bool]
	scores *apps.Scores
	starts []int
	tables bool
	o      apps.SearchOptions
}

// options returns the settings with another rule, length, and number of walks.
func (w *walker) options(run apps.Run, rule apps.SearchRule, length, each int, paths bool) apps.SearchOptions {
	o := w.o
	o.Run, o.Rule, o.Length, o.PerStart, o.Paths = run, rule, length, each, paths
	return o
}

// scoresFor returns the scores that a rule gets.
func (w *walker) scoresFor(rule apps.SearchRule) *apps.Scores {
	if rule == apps.SearchUniform && !w.tables {
		return nil
	}
	return w.scores
}

func (w *walker) walk(run apps.Run, rule apps.SearchRule, length, each int) (*apps.SearchResult, error) {
	return apps.GraphSearch(w.a, w.scoresFor(rule), w.starts, w.options(run, rule, length, each, w.o.Paths))
}

// timed returns the least time of walkRepeats runs.
func (w *walker) timed(rule apps.SearchRule, length, each int) (least time.Duration, err error) {
	for k := range walkRepeats {
		var res *apps.SearchResult
		d, err := w.b.dev.Time(func() (err error) {
			res, err = w.walk(apps.Run{}, rule, length, each)
			return err
		})
		if err != nil {
			return 0, err
		}
		if w.o.Paths {
			res.Paths.Clear() // frees its memory
		}
		if k == 0 || d < least {
			least = d
		}
	}
	return least, nil
}
