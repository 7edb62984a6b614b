package gpu

import (
	"fmt"
	"math"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/bench/internal/gpuside"
	"github.com/hiveblas/hiveblas/bench/internal/inputs"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/program"
	"github.com/hiveblas/hiveblas/program/examples"
	"github.com/hiveblas/hiveblas/semiring"
)

// Graph programs on a Run, each beside the form of apps that computes the same.

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
	plan.ours = []gpuside.Contender{{Name: "program", Once: true, Clock: gpuside.Wall, Method: r.method, Do: func() error { return run(program.Options{}) }}}
	plan.others = []gpuside.Contender{{Name: "our apps", Once: true, Clock: gpuside.Wall, Do: app}}
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

func programBFS(b *gpuBench, in *inputs.GPU) (*gpuPlan, error) {
	a, err := undirectedOn(b, in)
	if err != nil {
		return nil, err
	}
	source := inputs.SourcesOf(in.Graph, 1)[0]
	var want *apps.BFSResult
	app := func() (err error) { want, err = apps.BFS(a, source, apps.BFSOptions{}); return err }
	return programPlan(b, a, examples.BFS(source), app, func(got *matrix.Vector[int32]) string {
		return differ(sure.Get(got.Dense(-2)), sure.Get(want.Level.Dense(examples.Unreached)))
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

func programSSSP(b *gpuBench, in *inputs.GPU) (*gpuPlan, error) {
	g := in.Graph
	a, err := inputs.WeightedOn(b.dev, in.Graph)
	if err != nil {
		return nil, err
	}
	source := inputs.SourcesOf(g, 1)[0]
	width := float32(inputs.ProgramDelta)
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
		d := sure.Get(got.Dense(inf))
		for k, x := range d {
			d[k] = min(x, inf)
		}
		return differ(d, sure.Get(want.Dense(inf)))
	}), nil
}

func programHCC(b *gpuBench, in *inputs.GPU) (*gpuPlan, error) {
	a, err := undirectedOn(b, in)
	if err != nil {
		return nil, err
	}
	var want *apps.Components
	app := func() (err error) { want, err = apps.ConnectedComponents(a, apps.ComponentsOptions{}); return err }
	return programPlan(b, a, examples.HCC(), app, func(got *matrix.Vector[int32]) string {
		least := map[int64]int32{} // the least vertex of each label
		label := sure.Get(want.Label.Dense(-1))
		expect := make([]int32, len(label))
		for v, l := range label {
			if _, ok := least[int64(l)]; !ok {
				least[int64(l)] = int32(v)
			}
			expect[v] = least[int64(l)]
		}
		return differ(sure.Get(got.Dense(-1)), expect)
	}), nil
}

// programPageRank runs 20 iterations.
func programPageRank(b *gpuBench, in *inputs.GPU) (*gpuPlan, error) {
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
		ranks := sure.Get(want.Rank.Dense(0))
		for v, r := range sure.Get(got.Dense(examples.Rank{})) {
			if !closeTo(r.Rank, ranks[v]) {
				return fmt.Sprintf("vertex %d has rank %v, want %v", v, r.Rank, ranks[v])
			}
		}
		return ""
	}), nil
}

// facesPlan compares a program by one face with the same by GatherSumApply.
func facesPlan[V, E, M comparable](
	b *gpuBench, g matrix.Source[E], name string, p, gsa program.Program[V, E, M], same func(got, want V) bool,
) *gpuPlan {
	var want *program.Result[V]
	plan := programPlan(b, g, p, func() (err error) {
		want, err = program.Run(b.ctx, g, gsa)
		return err
	}, func(got *matrix.Vector[V]) string {
		var zero V
		expect := sure.Get(want.State.Dense(zero))
		for v, x := range sure.Get(got.Dense(zero)) {
			if !same(x, expect[v]) {
				return fmt.Sprintf("vertex %d has %v, want %v", v, x, expect[v])
			}
		}
		return ""
	})
	plan.ours[0].Name, plan.others[0].Name = name, "GatherSumApply"
	return plan
}

// facesSSSP is shortest paths by the face of Medusa or of Zhong et al., beside the face of
// GRAssembler.
func facesSSSP(face string) func(*gpuBench, *inputs.GPU) (*gpuPlan, error) {
	return func(b *gpuBench, in *inputs.GPU) (*gpuPlan, error) {
		a, err := inputs.WeightedOn(b.dev, in.Graph)
		if err != nil {
			return nil, err
		}
		const relax = "active = sum < state; if (active) state = sum;"
		init, seeds := program.Value(float32(math.Inf(1))), program.At(inputs.SourcesOf(in.Graph, 1)[0], float32(0))
		lower := func(_ program.Vertex, d, sum float32) (float32, bool) { return min(d, sum), sum < d }
		gsa := program.GatherSumApply[float32, float32, float32]{
			Init: init, Seeds: seeds, Sum: semiring.Min[float32](), Apply: lower,
			Gather: func(src, _, weight float32) float32 { return src + weight },
			CUDA:   program.GSAText{Gather: "src + weight", Apply: relax},
		}.Program()
		p := program.EdgeMessageVertex[float32, float32, float32]{
			Init: init, Seeds: seeds, Combiner: semiring.Min[float32](), Vertex: lower,
			Edge: func(e *program.Edge[float32, float32, float32]) { e.Send(e.Src() + e.Weight()) },
			CUDA: program.EMVText{Edge: "edge.send(edge.src() + edge.weight())", Vertex: relax},
		}.Program()
		if face == "EdgeVertex" {
			p = program.EdgeVertex[float32, float32, float32]{
				InitData: init, Seeds: seeds, Combiner: semiring.Min[float32](),
				EdgeCompute: func(src, _, weight float32) (float32, bool) { return src + weight, true },
				VertexCompute: func(_ program.Vertex, d, sum float32) (float32, program.Vote) {
					return min(d, sum), program.Vote(sum < d)
				},
				CUDA: program.EVText{EdgeCompute: "src + weight", VertexCompute: relax},
			}.Program()
		}
		return facesPlan(b, a, face, p, gsa, func(got, want float32) bool { return got == want }), nil
	}
}

// facesPageRank is 20 supersteps of PageRank. The state is the rank over the out-degree, which each
// face can send.
func facesPageRank(face string) func(*gpuBench, *inputs.GPU) (*gpuPlan, error) {
	return func(b *gpuBench, in *inputs.GPU) (*gpuPlan, error) {
		a, err := undirectedOn(b, in)
		if err != nil {
			return nil, err
		}
		const steps, update = 20, "state = (0.15 + 0.85 * sum) / max(degree, 1)"
		init := program.Init(func(v program.Vertex) float64 { return 1 / float64(max(v.Degree, 1)) }, "1.0 / max(degree, 1)")
		rank := func(v program.Vertex, _, sum float64) (float64, bool) {
			return (.15 + .85*sum) / float64(max(v.Degree, 1)), true
		}
		gsa := program.GatherSumApply[float64, bool, float64]{
			Init: init, Sum: semiring.Plus[float64](), Apply: rank, All: true, Supersteps: steps,
			Gather: func(src, _ float64, _ bool) float64 { return src },
			CUDA:   program.GSAText{Gather: "src", Apply: update},
		}.Program()
		p := program.EdgeMessageVertex[float64, bool, float64]{
			Init: init, Combiner: semiring.Plus[float64](), Vertex: rank, All: true, MaxIteration: steps,
			EList: func(_ program.Vertex, x float64, el *program.EdgeList[float64, bool, float64]) { el.SendAll(x) },
			CUDA:  program.EMVText{EList: "edges.send_all(state)", Vertex: update},
		}.Program()
		if face == "EdgeVertex" {
			p = program.EdgeVertex[float64, bool, float64]{
				InitData: init, Combiner: semiring.Plus[float64](), All: true, MaxSupersteps: steps,
				EdgeCompute: func(src, _ float64, _ bool) (float64, bool) { return src, true },
				VertexCompute: func(v program.Vertex, x, sum float64) (float64, program.Vote) {
					x, _ = rank(v, x, sum)
					return x, program.VoteToActive
				},
				CUDA: program.EVText{EdgeCompute: "src", VertexCompute: update},
			}.Program()
		}
		return facesPlan(b, a, face, p, gsa, closeTo), nil
	}
}
