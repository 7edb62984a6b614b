package bench

import (
	"fmt"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/program"
	"github.com/hiveblas/hiveblas/program/examples"
)

// Graph programs on a GPU, each beside the form of apps that computes the same.

// ranProgram keeps the plans of the last run that was traced.
type ranProgram struct {
	plans string
	steps int
}

func (r *ranProgram) method() string { return r.plans }

// trace returns options that collect the plans, a run of equal ones once.
func (r *ranProgram) trace() program.Options {
	r.plans, r.steps = "", 0
	last := ""
	return program.Options{Trace: func(s program.Step) {
		r.steps++
		if s.Plan != last {
			if last = s.Plan; r.plans != "" {
				r.plans += ", "
			}
			r.plans += last
		}
	}}
}

// programPlan compares a program with an app. same compares the results of the last runs.
func programPlan[V, E, M comparable](
	b *gpuBench, g matrix.Source[E], p program.Program[V, E, M], app func() error, same func(*matrix.Vector[V]) string,
) *gpuPlan {
	var r ranProgram
	var res *program.Result[V]
	run := func(o program.Options) (err error) {
		res, err = program.Run(b.ctx, g, p, o)
		return err
	}
	plan := &gpuPlan{}
	plan.ours = []gpuContender{{name: "program", once: true, clock: wall, method: r.method, do: func() error { return run(program.Options{}) }}}
	plan.others = []gpuContender{{name: "our apps", once: true, clock: wall, do: app}}
	plan.check = func() (string, error) {
		if err := run(r.trace()); err != nil {
			return "", err
		}
		plan.notes = func() []string { return []string{fmt.Sprintf("%d supersteps: %s", r.steps, r.plans)} }
		if err := app(); err != nil {
			return "", err
		}
		return same(res.State), nil
	}
	return plan
}

func programBFS(b *gpuBench, in *gpuInput) (*gpuPlan, error) {
	a, err := undirectedOn(b, in)
	if err != nil {
		return nil, err
	}
	source := sourcesOf(in.graph, 1)[0]
	var want *apps.BFSResult
	app := func() (err error) { want, err = apps.BFS(a, source, apps.BFSOptions{}); return err }
	return programPlan(b, a, examples.BFS(source), app, func(got *matrix.Vector[int32]) string {
		return differ(got.Dense(-2), want.Level.Dense(examples.Unreached))
	}), nil
}

// differ describes the first difference of two lists.
func differ[T comparable](got, want []T) string {
	for v := range want {
		if got[v] != want[v] {
			return fmt.Sprintf("vertex %d has %v, want %v", v, got[v], want[v])
		}
	}
	return ""
}

// programDelta is the width of a bucket for weights of 1 to 63, that of apps.SSSP.
const programDelta = 6

func programSSSP(b *gpuBench, in *gpuInput) (*gpuPlan, error) {
	g := in.graph
	val := make([]float32, g.NNZ())
	for p, w := range gen.UniformInts(g, 1, 63, 3, true) {
		val[p] = float32(w)
	}
	a, err := onDevice(b, g, val)
	if err != nil {
		return nil, err
	}
	source := sourcesOf(g, 1)[0]
	width := float32(programDelta)
	if g.NNZ() < 8*int64(g.NRows) { // a grid: long shortest paths
		width = 252
	}
	var want *matrix.Vector[float32]
	app := func() (err error) {
		want, err = apps.SSSP(a, []int{source}, apps.SSSPOptions[float32]{Trusted: true, Delta: width})
		return err
	}
	inf := float32(1e38)
	return programPlan(b, a, examples.SSSP(source, width), app, func(got *matrix.Vector[float32]) string {
		d := got.Dense(inf)
		for k, x := range d {
			d[k] = min(x, inf)
		}
		return differ(d, want.Dense(inf))
	}), nil
}

func programHCC(b *gpuBench, in *gpuInput) (*gpuPlan, error) {
	a, err := undirectedOn(b, in)
	if err != nil {
		return nil, err
	}
	var want *apps.Components
	app := func() (err error) { want, err = apps.ConnectedComponents(a, apps.ComponentsOptions{}); return err }
	return programPlan(b, a, examples.HCC(), app, func(got *matrix.Vector[int32]) string {
		least := map[int64]int32{} // the least vertex of each label
		label := want.Label.Dense(-1)
		expect := make([]int32, len(label))
		for v, l := range label {
			if _, ok := least[int64(l)]; !ok {
				least[int64(l)] = int32(v)
			}
			expect[v] = least[int64(l)]
		}
		return differ(got.Dense(-1), expect)
	}), nil
}

// programPageRank runs 20 iterations.
func programPageRank(b *gpuBench, in *gpuInput) (*gpuPlan, error) {
	a, err := undirectedOn(b, in)
	if err != nil {
		return nil, err
	}
	const iterations = 20
	p := examples.PageRank(.85, 0)
	p.Supersteps = iterations
	var want *apps.PageRankResult
	app := func() (err error) {
		want, err = apps.PageRank(a, apps.PageRankOptions{Tolerance: 1e-300, MaxIterations: iterations})
		return err
	}
	return programPlan(b, a, p, app, func(got *matrix.Vector[examples.Rank]) string {
		ranks := want.Rank.Dense(0)
		for v, r := range got.Dense(examples.Rank{}) {
			if !closeTo(r.Rank, ranks[v]) {
				return fmt.Sprintf("vertex %d has rank %v, want %v", v, r.Rank, ranks[v])
			}
		}
		return ""
	}), nil
}
