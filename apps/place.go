package apps

import (
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// Whole traversals run at the place where a graph lives, if that place implements
// them; otherwise the pipelines of operations run. Results live where the graph does.

// traverser returns the place where the graph lives if it runs traversals.
func traverser[T comparable](a matrix.View[T]) device.Graph {
	at, _ := a.Place().(device.Graph)
	return at
}

// placed returns the result of a traversal as a vector.
func placed[T comparable](at device.Graph, n int, s device.Store) *matrix.Vector[T] {
	v := matrix.NewVector[T](n, matrix.On(at))
	access.SetRemote(v.Spec().Matrix, s)
	return v
}

// traceRan traces a traversal as an operation of that name.
func (r Run) traceRan(at device.Graph, op string, ran device.Ran, nvals int64) {
	if r.Trace != nil {
		r.Trace(ops.Trace{Op: op, Method: ops.Method(ran.Method), Place: at.String(), Work: ran.Work, NVals: nvals})
	}
}

func (r Run) call(op string) device.Call {
	return device.Call{Context: r.Context, Op: op, Trace: r.Trace != nil}
}

func bfsAt(at device.Graph, a matrix.View[bool], n, source int, opts BFSOptions) (*BFSResult, error) {
	opts.report("breadth-first search", 0, int64(n))
	g, err := access.Operand(a, at)
	if err != nil {
		return nil, err
	}
	found, err := at.BFS(opts.call("BFS"), g, []int32{int32(source)}, opts.Parents)
	if err != nil {
		return nil, err
	}
	res := &BFSResult{Level: placed[int32](at, n, found.Level), Reached: found.Reached, MaxLevel: found.MaxLevel}
	if opts.Parents {
		res.Parent = placed[int32](at, n, found.Parent)
	}
	opts.traceRan(at, "BFS", found.Ran, found.Reached)
	return res, nil
}

func numbers(vertices []int) []int32 {
	list := make([]int32, len(vertices))
	for k, v := range vertices {
		list[k] = int32(v)
	}
	return list
}

// hopsAt counts edges from the nearest of the seeds.
func hopsAt[T semiring.Number](at device.Graph, a matrix.View[bool], n int, seeds []int, run Run) (*matrix.Vector[T], error) {
	run.report("vertex nomination", 0, int64(n))
	g, err := access.Operand(a, at)
	if err != nil {
		return nil, err
	}
	found, err := at.BFS(run.call("VertexNomination"), g, numbers(seeds), false)
	if err != nil {
		return nil, err
	}
	run.traceRan(at, "BFS", found.Ran, found.Reached)
	level := placed[int32](at, n, found.Level)
	if most := largestCount[T](); int64(found.MaxLevel) > most {
		return nil, tooManyHops(most)
	}
	dist := matrix.NewVector[T](n, matrix.On(at))
	return dist, ops.Apply(dist, semiring.Convert[int32, T](), level, run.with())
}

func ssspAt[T semiring.Number](at device.Graph, a matrix.View[T], n int, sources []int, delta T, run Run) (*matrix.Vector[T], error) {
	run.report("shortest paths", 0, int64(n))
	g, err := access.Operand(a, at)
	if err != nil {
		return nil, err
	}
	typ, err := device.TypeOf[T]()
	if err != nil {
		return nil, err
	}
	found, ran, err := at.SSSP(run.call("SSSP"), g, numbers(sources), device.Scalar{Type: typ, P: unsafe.Pointer(&delta)})
	if err != nil {
		return nil, err
	}
	dist := placed[T](at, n, found)
	run.traceRan(at, "SSSP", ran, dist.NVals())
	return dist, nil
}

func componentsAt(at device.Graph, a matrix.View[bool], n int, opts ComponentsOptions) (*Components, error) {
	opts.report("connected components", 0, 0)
	g, err := access.Operand(a, at)
	if err != nil {
		return nil, err
	}
	found, err := at.Components(opts.call("ConnectedComponents"), g)
	if err != nil {
		return nil, err
	}
	opts.traceRan(at, "ConnectedComponents", found.Ran, int64(n))
	return &Components{Label: placed[int32](at, n, found.Label), Count: int(found.Count), Largest: found.Largest}, nil
}

func pageRankAt(at device.Graph, a matrix.View[bool], n int, w device.Walk, opts PageRankOptions) (*PageRankResult, error) {
	opts.report("pagerank", 0, int64(w.MaxIterations))
	g, err := access.Operand(a, at)
	if err != nil {
		return nil, err
	}
	found, err := at.PageRank(opts.call("PageRank"), g, w)
	if err != nil {
		return nil, err
	}
	opts.report("pagerank", int64(found.Iterations), int64(w.MaxIterations))
	opts.traceRan(at, "PageRank", found.Ran, int64(n))
	return &PageRankResult{Rank: placed[float64](at, n, found.Rank), Iterations: found.Iterations,
		Change: found.Change, Converged: found.Change <= w.Tolerance}, nil
}

func towardsHubsAt(at device.Graph, a matrix.View[bool], n int, run Run) (*matrix.Matrix[bool], error) {
	g, err := access.Operand(a, at)
	if err != nil {
		return nil, err
	}
	s, err := at.TowardsHubs(run.call("TriangleCount"), g)
	if err != nil {
		return nil, err
	}
	l := matrix.New[bool](n, n, matrix.On(at))
	access.SetRemote(l, s)
	return l, nil
}

func classifyAt(at device.Matcher, data, pattern *Attributed, rounds int, opts ClassifyOptions) (*matrix.Matrix[float32], error) {
	var s ops.Steps
	features := func(a *Attributed) device.Features {
		return device.Features{Vertices: operandAt(&s, at, a.Vertices), Edges: operandAt(&s, at, a.Edges),
			Source: operandAt(&s, at, a.Source), Target: operandAt(&s, at, a.Target)}
	}
	m := device.Matching{Data: features(data), Pattern: features(pattern), Rounds: rounds, Corrected: opts.CorrectedGather, Memory: opts.Memory}
	if !s.OK() {
		return nil, s.Err()
	}
	found, ran, err := at.Match(opts.call("Classify"), m)
	if err != nil {
		return nil, err
	}
	opts.report("messages", int64(rounds), int64(rounds))
	n, _ := data.Dims()
	np, _ := pattern.Dims()
	mu := matrix.New[float32](n, np, matrix.On(at))
	access.SetRemote(mu, found)
	if opts.Trace != nil {
		opts.Trace(ops.Trace{Op: "Classify", Method: ops.Method(ran.Method), Place: at.String(), Work: ran.Work, NVals: int64(n) * int64(np)})
	}
	return mu, nil
}

func operandAt[T comparable](s *ops.Steps, at device.Backend, a *matrix.Matrix[T]) device.Operand {
	o, err := access.Operand(a.View(), at)
	s.Do(err)
	return o
}
