package flow

import (
	"github.com/hiveblas/hiveblas/apps/internal/network"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/apps/paths"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// flowRounds is the state of push–relabel in rounds. Residual capacities and keys live where the
// graph does, excesses and heights on the host.
type flowRounds struct {
	o        MaxFlowOptions
	at       matrix.Place
	n        int
	s, t     int
	residual *matrix.Matrix[float64] // with an entry for both directions of each edge
	open     *matrix.Matrix[float64] // those above 0
	key      *matrix.Vector[int64]   // height·n + vertex
	excess   []float64
	height   []int32 // −1: cannot reach the target
	rounds   int
}

// flowRoundsBetween is the number of rounds between two breadth-first searches.
const flowRoundsBetween = 64

// flowByRounds is MaxFlow where the graph lives.
func flowByRounds(g workflow.Operand, n, source, sink int, o MaxFlowOptions) (*MaxFlowResult, error) {
	workflow.Report(o.Run, "maximum flow", 0, 0)
	p, err := workflow.PairsOf("MaxFlow", capacityWanted, g, o.Run, capacity)
	if err != nil {
		return nil, err
	}
	if err := bound(p, source, sink); err != nil {
		return nil, err
	}
	f := &flowRounds{o: o, at: workflow.Pattern(g).Place(), n: n, s: source, t: sink, excess: make([]float64, n), height: make([]int32, n)}
	// The edges of the source begin at capacity.
	left := make([]float64, len(p.Value))
	copy(left, p.Value)
	for a := p.Ptr[source]; a < p.Ptr[source+1]; a++ {
		f.excess[p.Head[a]] += left[a]
		left[p.Sister[a]] += left[a]
		left[a] = 0
	}
	ptr := make([]int64, n+1)
	for v, x := range p.Ptr {
		ptr[v] = int64(x)
	}
	if f.residual, err = matrix.FromCSR(n, n, ptr, p.Head, left); err != nil {
		return nil, err
	}
	if err := f.residual.Move(f.at); err != nil {
		return nil, err
	}
	f.open = matrix.New[float64](n, n, matrix.On(f.at))
	// What the sink cannot take goes back to the source.
	for _, target := range []int{sink, source} {
		if err := f.drain(target); err != nil {
			return nil, err
		}
	}
	net := &network.FlowNet{Ptr: p.Ptr, Arcs: make([]network.FlowArc, len(p.Head)), Nodes: make([]network.FlowNode, n)}
	flow, a := make([]float64, len(p.Head)), 0
	entries, err := f.residual.AllChecked()
	if err != nil {
		return nil, err
	}
	for _, x := range entries {
		net.Arcs[a] = network.FlowArc{Residual: x, Head: p.Head[a], Sister: p.Sister[a]}
		flow[a] = p.Value[a] - x
		a++
	}
	res := &MaxFlowResult{Value: f.excess[sink], Rounds: f.rounds}
	if res.Flow, err = matrixOf(p, flow, o.Run); err != nil {
		return nil, err
	}
	res.SourceSide, res.SinkSide = net.Sides(n, int32(source), int32(sink), o.Run)
	var steps ops.Steps
	steps.Do(res.Flow.Move(f.at))
	steps.Do(res.SourceSide.Move(f.at))
	steps.Do(res.SinkSide.Move(f.at))
	if !steps.OK() {
		return nil, steps.Err()
	}
	if o.Trace != nil {
		o.Trace(ops.Trace{Op: "MaxFlow", Method: "rounds", NVals: int64(len(p.Head)), Work: int64(f.rounds)})
	}
	return res, nil
}

// drain sends excess to the target until no vertex with excess reaches it.
func (f *flowRounds) drain(target int) error {
	for {
		if err := f.search(target); err != nil {
			return err
		}
		for round := 0; ; round++ {
			active := f.active()
			if len(active) == 0 && round == 0 {
				return nil
			}
			if len(active) == 0 || round == flowRoundsBetween {
				break
			}
			workflow.Report(f.o.Run, "maximum flow: vertices with excess", int64(len(active)), 0)
			f.rounds++
			if err := f.round(active, round); err != nil {
				return err
			}
		}
	}
}

// active returns the vertices with excess that may reach the target.
func (f *flowRounds) active() (list []int) {
	for v, x := range f.excess {
		if x > 0 && v != f.s && v != f.t && f.height[v] >= 0 {
			list = append(list, v)
		}
	}
	return list
}

// search sets all heights to the distance from the target.
func (f *flowRounds) search(target int) error {
	var s ops.Steps
	s.Do(ops.Select(f.open, semiring.ValueGT(0.0), f.residual, workflow.With(f.o.Run)))
	if !s.OK() {
		return s.Err()
	}
	run := f.o.Run
	run.Progress = nil
	found, err := paths.BFS(f.open.T(), target, paths.BFSOptions{Run: run})
	if err != nil {
		return err
	}
	for v := range f.height {
		f.height[v] = -1
	}
	levels, err := found.Level.AllChecked()
	if err != nil {
		return err
	}
	var vertices []int
	var keys []int64
	for v, h := range levels {
		f.height[v] = h
		vertices, keys = append(vertices, v), append(keys, int64(h)*int64(f.n)+int64(v))
	}
	if f.key, err = matrix.VectorFromTuples(f.n, vertices, keys, nil); err != nil {
		return err
	}
	return f.key.Move(f.at)
}

// round finds the lowest neighbours of the active vertices, and pushes to the neighbours one below;
// or raises the vertices without such a neighbour. Even rounds push if they can, odd ones raise if
// they can: heights stay valid, since the two do not mix.
func (f *flowRounds) round(active []int, round int) error {
	n := int64(f.n)
	marks := make([]bool, len(active))
	mask, err := matrix.VectorFromTuples(f.n, active, marks, nil)
	if err != nil {
		return err
	}
	low := matrix.NewVector[int64](f.n, matrix.On(f.at))
	var s ops.Steps
	s.Do(mask.Move(f.at))
	s.Do(ops.Select(f.open, semiring.ValueGT(0.0), f.residual, workflow.With(f.o.Run)))
	s.Do(ops.MxV(low.Masked(mask.Structure()), semiring.MinSecond[int64](), f.open.Pattern(), f.key, workflow.With(f.o.Run)))
	if !s.OK() {
		return s.Err()
	}
	lowest, err := low.AllChecked()
	if err != nil {
		return err
	}
	var from, to, raised []int
	var amount []float64
	var keys []int64
	for v, key := range lowest {
		if u, h := key%n, int32(key/n); f.height[v] == h+1 {
			from, to, amount = append(from, v), append(to, int(u)), append(amount, f.excess[v])
		} else {
			raised, keys = append(raised, v), append(keys, int64(h+1)*n+int64(v))
		}
	}
	if len(from)+len(raised) < len(active) { // all that they could reach has been closed
		found := make(map[int]bool, len(active))
		for _, v := range append(from, raised...) {
			found[v] = true
		}
		for _, v := range active {
			if !found[v] {
				f.height[v] = -1
			}
		}
	}
	if len(from) > 0 && (round%2 == 0 || len(raised) == 0) {
		return f.Push(from, to, amount)
	}
	if len(raised) == 0 {
		return nil
	}
	for k, v := range raised {
		f.height[v] = int32(keys[k] / n)
	}
	up, err := matrix.VectorOf(keys)
	if err != nil {
		return err
	}
	s.Do(up.Move(f.at))
	s.Do(ops.AssignVector(f.key, up, ops.Of(raised...), workflow.With(f.o.Run)))
	return s.Err()
}

// Push sends the excess of vertices to their neighbours, as far as the residual capacities allow.
func (f *flowRounds) Push(from, to []int, amount []float64) error {
	sent, err := matrix.FromTuples(f.n, f.n, from, to, amount, nil)
	if err != nil {
		return err
	}
	var s ops.Steps
	s.Do(sent.Move(f.at))
	s.Do(ops.EWiseMult(sent, semiring.Min[float64](), sent, f.residual, workflow.With(f.o.Run)))
	s.Do(ops.EWiseAdd(f.residual, semiring.Minus[float64](), f.residual, sent, workflow.With(f.o.Run)))
	s.Do(ops.EWiseAdd(f.residual, semiring.Plus[float64](), f.residual, sent.T(), workflow.With(f.o.Run)))
	if !s.OK() {
		return s.Err()
	}
	moved, err := sent.AllChecked()
	if err != nil {
		return err
	}
	for at, x := range moved {
		f.excess[at.Row] -= x
		f.excess[at.Col] += x
	}
	return nil
}
