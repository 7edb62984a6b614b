package gpu

import (
	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/bench/internal/gpuside"
	"github.com/hiveblas/hiveblas/bench/internal/inputs"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// Recorded loops of public operations, as a user writes them, each beside the workflow's fused form
// and its operations one by one.

// loopPlan compares loop with fused; both return a value of each vertex.
func loopPlan[T comparable](b *gpuBench, loop, fused func(opts ...ops.Option) (*matrix.Vector[T], error)) *gpuPlan {
	var got, want *matrix.Vector[T]
	contender := func(name string, to **matrix.Vector[T], run func(opts ...ops.Option) (*matrix.Vector[T], error), opts ...ops.Option) gpuside.Contender {
		return gpuside.Contender{Name: name, Once: true, Clock: gpuside.Wall, Do: func() (err error) {
			if *to, err = run(opts...); err != nil {
				return err
			}
			return b.dev.Sync()
		}}
	}
	var slow *matrix.Vector[T]
	return &gpuPlan{
		ours:   []gpuside.Contender{contender("loop", &got, loop)},
		others: []gpuside.Contender{contender("our apps", &want, fused), contender("one by one", &slow, loop, ops.OneByOne())},
		check: func() (string, error) {
			var err error
			if want, err = fused(); err != nil {
				return "", err
			}
			return differs(got, want, func(x, y T) bool { return x == y }), nil
		},
	}
}

// loopBFS is the search of the README.
func loopBFS(b *gpuBench, in *inputs.GPU) (*gpuPlan, error) {
	a, err := undirectedOn(b, in)
	if err != nil {
		return nil, err
	}
	source := inputs.SourcesOf(in.Graph, 1)[0]
	return loopPlan(b, func(opts ...ops.Option) (*matrix.Vector[int32], error) {
		n, _ := a.Dims()
		here := matrix.On(b.dev)
		level, frontier, depth := matrix.NewVector[int32](n, here), matrix.NewVector[bool](n, here), matrix.ScalarOf[int32](0, here)
		var s ops.Steps
		s.Do(frontier.Set(source, true))
		for in := range s.While(frontier, opts...) {
			s.Do(ops.AssignVectorFrom(level.Masked(frontier.Structure()), depth, ops.All(), in))
			s.Do(ops.VxM(frontier.Masked(level.Structure().Not()).Replace(), semiring.AnyPair[bool](), frontier.Pattern(), a.Pattern(), in))
			s.Do(ops.ApplySecond(depth, semiring.Plus[int32](), depth, 1, in))
		}
		return level, s.Err()
	}, func(...ops.Option) (*matrix.Vector[int32], error) {
		r, err := apps.BFS(a, source)
		if err != nil {
			return nil, err
		}
		return r.Level, nil
	}), nil
}

// loopSSSP is the search of Bellman and Ford in four operations, beside delta-stepping.
func loopSSSP(b *gpuBench, in *inputs.GPU) (*gpuPlan, error) {
	a, err := weightedOn(b, in)
	if err != nil {
		return nil, err
	}
	source := inputs.SourcesOf(in.Graph, 1)[0]
	return loopPlan(b, func(opts ...ops.Option) (*matrix.Vector[int32], error) {
		n, _ := a.Dims()
		vector := func() *matrix.Vector[int32] { return matrix.NewVector[int32](n, matrix.On(b.dev)) }
		dist, front, reach, worse := vector(), vector(), vector(), matrix.NewVector[bool](n, matrix.On(b.dev))
		low, same := semiring.Min[int32](), semiring.Identity[int32]()
		var s ops.Steps
		s.Do(dist.Set(source, 0))
		s.Do(front.Set(source, 0))
		for in := range s.While(front, opts...) {
			s.Do(ops.VxM(reach, semiring.MinPlus[int32](), front, a, in))
			s.Do(ops.EWiseMult(worse, semiring.Ge[int32](), reach, dist, in))
			s.Do(ops.Apply(front.Masked(worse.MaskView().Not()).Replace(), same, reach, in))
			s.Do(ops.Apply(dist.Accum(low), same, front, in))
		}
		return dist, s.Err()
	}, func(...ops.Option) (*matrix.Vector[int32], error) {
		return apps.SSSP(a, []int{source}, apps.SSSPOptions[int32]{Trusted: true})
	}), nil
}

// loopWorkflow is the pipeline of a workflow, a loop on a device, beside its fused form.
func loopWorkflow[T comparable](b *gpuBench, run func(run apps.Run) (*matrix.Vector[T], error)) *gpuPlan {
	by := func(m apps.Method) func(opts ...ops.Option) (*matrix.Vector[T], error) {
		return func(...ops.Option) (*matrix.Vector[T], error) { return run(apps.Run{Method: m}) }
	}
	plan := loopPlan(b, by(apps.Pipeline), by(apps.Fused))
	plan.others = plan.others[:1]
	return plan
}

// loopComponents is FastSV beside linked samples.
func loopComponents(b *gpuBench, in *inputs.GPU) (*gpuPlan, error) {
	a, err := undirectedOn(b, in)
	if err != nil {
		return nil, err
	}
	return loopWorkflow(b, func(run apps.Run) (*matrix.Vector[int32], error) {
		c, err := apps.ConnectedComponents(a, apps.ComponentsOptions{Run: run})
		if err != nil {
			return nil, err
		}
		return c.Label, nil
	}), nil
}

// loopCores is core numbers, a loop in a loop.
func loopCores(b *gpuBench, in *inputs.GPU) (*gpuPlan, error) {
	a, err := undirectedOn(b, in)
	if err != nil {
		return nil, err
	}
	return loopWorkflow(b, func(run apps.Run) (*matrix.Vector[int32], error) {
		c, err := apps.CoreNumbers(a, apps.CoreOptions{Run: run})
		if err != nil {
			return nil, err
		}
		return c.Number, nil
	}), nil
}

// loopSet is an independent set by the rounds of Luby.
func loopSet(b *gpuBench, in *inputs.GPU) (*gpuPlan, error) {
	a, err := undirectedOn(b, in)
	if err != nil {
		return nil, err
	}
	return loopWorkflow(b, func(run apps.Run) (*matrix.Vector[bool], error) {
		return apps.MaximalIndependentSet(a, apps.IndependentSetOptions{Run: run})
	}), nil
}

// loopStrong is strong components by colours: two loops in a loop.
func loopStrong(b *gpuBench, in *inputs.GPU) (*gpuPlan, error) {
	a, err := onDevice(b, in.Graph, inputs.Values(in.Graph, anyEntry))
	if err != nil {
		return nil, err
	}
	return loopWorkflow(b, func(run apps.Run) (*matrix.Vector[int32], error) {
		c, err := apps.StronglyConnectedComponents(a, apps.ComponentsOptions{Run: run})
		if err != nil {
			return nil, err
		}
		return c.Label, nil
	}), nil
}

// loopDelta is delta-stepping: branches, with a loop in one.
func loopDelta(b *gpuBench, in *inputs.GPU) (*gpuPlan, error) {
	a, err := weightedOn(b, in)
	if err != nil {
		return nil, err
	}
	source := inputs.SourcesOf(in.Graph, 1)
	return loopWorkflow(b, func(run apps.Run) (*matrix.Vector[int32], error) {
		return apps.SSSP(a, source, apps.SSSPOptions[int32]{Run: run, Trusted: true})
	}), nil
}

// weightsOf has weights from 1 to 63.
func weightsOf(g *gen.Graph) []int32 {
	val := make([]int32, g.NNZ())
	for p, w := range gen.UniformInts(g, 1, 63, 3, true) {
		val[p] = int32(w)
	}
	return val
}

// weightedOn is the graph with weights from 1 to 63.
func weightedOn(b *gpuBench, in *inputs.GPU) (*matrix.Matrix[int32], error) {
	return onDevice(b, in.Graph, weightsOf(in.Graph))
}
