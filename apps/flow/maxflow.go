// Package flow finds maximum flows and minimum cuts, on the host by trees of the source and the
// sink, on devices by pushes.
package flow

import (
	"fmt"
	"math"

	"github.com/hiveblas/hiveblas/apps/internal/network"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// MaxFlowOptions are the settings of MaxFlow.
type MaxFlowOptions struct {
	workflow.Run
}

// MaxFlowResult is the result of MaxFlow. Matrix and vectors live where the graph does.
type MaxFlowResult struct {
	Value float64 // of the flow, and the capacity of the cuts
	// Flow is n×n and holds the flow of each edge with any. One of two opposite edges has none.
	Flow *matrix.Matrix[float64]
	// SourceSide has an entry for each vertex that the source reaches in the residual network,
	// SinkSide for each that reaches the sink there. The edges out of SourceSide are a minimum cut,
	// and so are those into SinkSide. A vertex in neither may be on either side.
	SourceSide, SinkSide *matrix.Vector[bool]
	// Rounds is the number of rounds of push–relabel, 0 for search trees.
	Rounds int
}

// An UnboundedFlowError says that a path of infinite capacities leads from the source to the sink.
type UnboundedFlowError struct {
	Source, Sink int
}

func (e *UnboundedFlowError) Error() string {
	return fmt.Sprintf("MaxFlow: the flow from %d to %d has no limit: edges of infinite capacity connect them; "+
		"give one of them a finite capacity", e.Source, e.Sink)
}

// MaxFlow returns a maximum flow from vertex source to vertex sink of the directed graph g; entry
// (i, j) is the capacity of the edge from i to j: 0 or more, or +Inf. An undirected edge is a pair
// of opposite entries. Self-loops carry nothing. Capacities become float64.
//
// On the host two search trees find augmenting paths (Boykov, Kolmogorov: An experimental
// comparison of min-cut/max-flow algorithms for energy minimization in vision, PAMI 2004), on one
// thread. On a device, fused kernels run push–relabel in rounds, in which all vertices push at the
// same time (Goldberg, Tarjan: A new approach to the maximum-flow problem, J. ACM 1988; Hong, He:
// An asynchronous multithreaded algorithm for the maximum network flow problem with nonblocking
// global relabeling heuristic, TPDS 2011). Amounts are multiples of a power of two there, at most
// 2⁻⁵⁴ of what the source can send and the sink can take; see docs/lasso.md. Flows may differ
// between runs, the value and the sides do not.
//
// Method Pipeline runs rounds by operations: with R the residual capacities, a round finds the
// lowest neighbour of each vertex with excess,
//
//	lowest⟨excess⟩ = R min.second (height, vertex)
//
// pushes to it, or raises the vertex above it. Breadth-first searches from the sink set all heights
// again. A round costs O(entries), and there may be O(n²) of them: long paths of small capacities,
// as in planar graphs, take many. The fused kernels read the excesses in each round, O(n), and the
// arcs of the vertices with excess.
//
// MaxFlow returns a *matrix.IndexError if a vertex is outside the graph, a *ParameterError if the
// source is the sink, a *WeightError if a capacity is negative or NaN, and an *UnboundedFlowError
// if the flow has no limit.
func MaxFlow[T semiring.Number](g matrix.Source[T], source, sink int, opts ...MaxFlowOptions) (*MaxFlowResult, error) {
	return maximumFlow(g, source, sink, opts)
}

// maximumFlow is MaxFlow of a graph with values of any type.
func maximumFlow(g workflow.Operand, source, sink int, opts []MaxFlowOptions) (*MaxFlowResult, error) {
	o, err := workflow.Only("MaxFlow", opts)
	if err != nil {
		return nil, err
	}
	n, err := workflow.Square("MaxFlow", g)
	if err != nil {
		return nil, err
	}
	at, err := workflow.FusedOn(o.Run, "MaxFlow", workflow.Pattern(g).Place())
	if err != nil {
		return nil, err
	}
	if err := workflow.Vertex("MaxFlow", "the source", source, n); err != nil {
		return nil, err
	}
	if err := workflow.Vertex("MaxFlow", "the sink", sink, n); err != nil {
		return nil, err
	}
	if source == sink {
		return nil, workflow.AboutVertices("MaxFlow", "the sink", "{0}, the source", "another vertex", sink)
	}
	switch {
	case at != nil:
		return fusedMaxFlow(at, g, n, source, sink, o)
	case o.Method == workflow.Pipeline || workflow.Pattern(g).Place() != nil:
		return flowByRounds(g, n, source, sink, o)
	}
	return flowByTrees(g, n, source, sink, o)
}

// flowGrain is the number of arcs of a piece of a parallel loop.
const flowGrain = 1 << 16

const capacityWanted = "a capacity of 0 or more"

// capacity reports whether x is one.
func capacity(x float64) bool { return x >= 0 }

// flowByTrees is MaxFlow on the host.
func flowByTrees(g workflow.Operand, n, source, sink int, o MaxFlowOptions) (*MaxFlowResult, error) {
	workflow.Report(o.Run, "maximum flow", 0, 0)
	p, err := workflow.PairsOf("MaxFlow", capacityWanted, g, o.Run, capacity)
	if err != nil {
		return nil, err
	}
	if err := bound(p, source, sink); err != nil {
		return nil, err
	}
	s, t := int32(source), int32(sink)
	net := &network.FlowNet{Ptr: p.Ptr, Arcs: make([]network.FlowArc, len(p.Head)), Nodes: make([]network.FlowNode, n)}
	err = parallel.Range(o.Context, o.Threads, len(p.Head), flowGrain, func(_, lo, hi int) {
		for a := lo; a < hi; a++ {
			net.Arcs[a] = network.FlowArc{Residual: p.Value[a], Head: p.Head[a], Sister: p.Sister[a]}
		}
	})
	if err != nil {
		return nil, err
	}
	direct := terminalsToExcess(net, p, s, t)
	list := make([]int32, 0, n)
	for v := range int32(n) {
		if v != s && v != t {
			list = append(list, v)
		}
	}
	search := network.TreeSearch{Net: net}
	if _, err := search.Run(o.Context, list, 0); err != nil {
		return nil, err
	}
	flow, value, err := arcFlows(net, p, s, t, direct, o.Run)
	if err != nil {
		return nil, err
	}
	res := &MaxFlowResult{Value: value}
	if res.Flow, err = matrixOf(p, flow, o.Run); err != nil {
		return nil, err
	}
	res.SourceSide, res.SinkSide = net.Sides(n, s, t, o.Run)
	if o.Trace != nil {
		o.Trace(ops.Trace{Op: "MaxFlow", Method: "trees", NVals: int64(len(p.Head)), Work: search.Augmentations})
	}
	return res, nil
}

// terminalsToExcess makes excess of the edges at the source s and the sink t. The flow on an edge
// from s to t, which it returns, is sent at once.
func terminalsToExcess(net *network.FlowNet, p *workflow.PairGraph, s, t int32) (direct float64) {
	for a := p.Ptr[s]; a < p.Ptr[s+1]; a++ {
		v, back := p.Head[a], p.Sister[a]
		net.Arcs[a].Residual, net.Arcs[back].Residual = 0, 0
		if v == t {
			direct = p.Value[a]
			continue
		}
		net.Nodes[v].Excess += p.Value[a]
	}
	for a := p.Ptr[t]; a < p.Ptr[t+1]; a++ {
		v, back := p.Head[a], p.Sister[a]
		net.Arcs[a].Residual, net.Arcs[back].Residual = 0, 0
		if v != s {
			net.Nodes[v].Excess -= p.Value[back]
		}
	}
	return direct
}

// arcFlows returns the flow of each arc, by its residual capacity; at the terminals by the excess
// that is left. It returns the value of the flow too.
func arcFlows(net *network.FlowNet, p *workflow.PairGraph, s, t int32, direct float64, run workflow.Run) (flow []float64, value float64, err error) {
	flow = make([]float64, len(p.Head))
	err = parallel.Range(run.Context, run.Threads, len(flow), flowGrain, func(_, lo, hi int) {
		for a := lo; a < hi; a++ {
			if v := p.Head[a]; v != s && v != t {
				flow[a] = p.Value[a] - net.Arcs[a].Residual
			}
		}
	})
	if err != nil {
		return nil, 0, err
	}
	for a := p.Ptr[t]; a < p.Ptr[t+1]; a++ {
		v, back := p.Head[a], p.Sister[a]
		flow[a] = 0
		if v != s {
			flow[back] = p.Value[back] + min(net.Nodes[v].Excess, 0)
		}
	}
	value = direct
	for a := p.Ptr[s]; a < p.Ptr[s+1]; a++ {
		if v := p.Head[a]; v == t {
			flow[a] = direct
		} else {
			flow[a] = p.Value[a] - max(net.Nodes[v].Excess, 0)
			value += flow[a]
		}
	}
	return flow, value, nil
}

// bound replaces infinite capacities by a number above every finite cut. It is an error if infinite
// capacities connect the source with the sink.
func bound(p *workflow.PairGraph, source, sink int) error {
	sum, infinite := 0.0, false
	for _, x := range p.Value {
		if math.IsInf(x, 1) {
			infinite = true
		} else {
			sum += x
		}
	}
	if math.IsInf(sum, 1) {
		return &workflow.ParameterError{App: "MaxFlow", Arg: "the sum of the capacities", Got: "beyond float64", Want: "capacities with a finite sum"}
	}
	if !infinite {
		return nil
	}
	seen := make([]bool, p.N)
	seen[source] = true
	for list := []int32{int32(source)}; len(list) > 0; {
		v := list[len(list)-1]
		list = list[:len(list)-1]
		for a := p.Ptr[v]; a < p.Ptr[v+1]; a++ {
			if u := p.Head[a]; math.IsInf(p.Value[a], 1) && !seen[u] {
				seen[u] = true
				list = append(list, u)
			}
		}
	}
	if seen[sink] {
		return &UnboundedFlowError{source, sink}
	}
	for a, x := range p.Value {
		if math.IsInf(x, 1) {
			p.Value[a] = 2*sum + 1
		}
	}
	return nil
}

// matrixOf returns the matrix of the positive values of arcs.
func matrixOf(p *workflow.PairGraph, value []float64, run workflow.Run) (*matrix.Matrix[float64], error) {
	ptr := make([]int64, p.N+1)
	each := func(f func(v int)) error {
		return parallel.Range(run.Context, run.Threads, p.N, workflow.RowGrain, func(_, lo, hi int) {
			for v := lo; v < hi; v++ {
				f(v)
			}
		})
	}
	err := each(func(v int) {
		for _, x := range value[p.Ptr[v]:p.Ptr[v+1]] {
			if x > 0 {
				ptr[v+1]++
			}
		}
	})
	if err != nil {
		return nil, err
	}
	for v := range p.N {
		ptr[v+1] += ptr[v]
	}
	idx, val := make([]int32, ptr[p.N]), make([]float64, ptr[p.N])
	err = each(func(v int) {
		at := ptr[v]
		for a := p.Ptr[v]; a < p.Ptr[v+1]; a++ {
			if value[a] > 0 {
				idx[at], val[at] = p.Head[a], value[a]
				at++
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return matrix.FromCSR(p.N, p.N, ptr, idx, val)
}
