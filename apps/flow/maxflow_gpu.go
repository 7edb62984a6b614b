package flow

import (
	_ "embed"
	"math"
	"unsafe"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/matrix"
)

//go:embed kernels/flow.cu
var flowText string

// flowWide is the number of arcs of the longest row that a thread reads alone.
const flowWide = 32

// flowBits bounds amounts of flow, as integers: a warp adds 32 of them.
const flowBits = 55

// The numbers of kernels/flow.cu.
const (
	flowCount = iota
	flowLevel
	flowFound   = 4
	flowActive  = 8
	flowNumbers = flowActive + 1<<12
)

func init() { device.Describe("maxflow", device.AnyType(flowProgram)) }

func flowProgram() device.Program {
	return workflow.GraphProgram("flow", "maximum flow", flowText, map[string]any{"HB_FLOW_WIDE": flowWide})
}

// flowTuning are the settings of the form for devices.
type flowTuning struct {
	levels int     // of a search, before the host looks for the first time
	least  int     // rounds between two searches, at least
	most   int     // and at most
	share  float64 // rounds for each level of the search before
}

var flowDefaults = flowTuning{levels: 32, least: 32, most: 1 << 12, share: 1}

// A flowGraph is the network of a maximum flow on a device, kept with the matrix.
type flowGraph struct {
	n, m                         int
	ptr, tail, head, sister, cap device.Buffer
	infinite                     [][2]int32 // arcs of infinite capacity
}

// Drop frees the buffers.
func (g *flowGraph) Drop() {
	for _, b := range []*device.Buffer{&g.ptr, &g.tail, &g.head, &g.sister, &g.cap} {
		b.Release()
		*b = device.Buffer{}
	}
	g.n = 0
}

// upload makes the graph of pairs with bounded capacities.
func (g *flowGraph) upload(s *device.Session, p *workflow.PairGraph) {
	m := len(p.Head)
	ptr, tail := make([]int64, p.N+1), make([]int32, m)
	for v := range int32(p.N) {
		ptr[v+1] = int64(p.Ptr[v+1])
		for a := p.Ptr[v]; a < p.Ptr[v+1]; a++ {
			tail[a] = v
		}
	}
	g.ptr = s.Retain(s.Upload(unsafe.Pointer(&ptr[0]), 8*int64(len(ptr))))
	g.tail, g.head, g.sister = s.Retain(s.Ints(tail)), s.Retain(s.Ints(p.Head)), s.Retain(s.Ints(p.Sister))
	if m > 0 {
		g.cap = s.Retain(s.Upload(unsafe.Pointer(&p.Value[0]), 8*int64(m)))
	}
	s.Sync()
	g.n, g.m = p.N, m
}

// unbounded reports whether infinite capacities connect the source with the sink.
func (g *flowGraph) unbounded(source, sink int32) bool {
	if len(g.infinite) == 0 {
		return false
	}
	next := map[int32][]int32{}
	for _, a := range g.infinite {
		next[a[0]] = append(next[a[0]], a[1])
	}
	seen := map[int32]bool{source: true}
	for list := []int32{source}; len(list) > 0; {
		v := list[len(list)-1]
		list = list[:len(list)-1]
		for _, u := range next[v] {
			if !seen[u] {
				seen[u] = true
				list = append(list, u)
			}
		}
	}
	return seen[sink]
}

// flowNetwork returns the pairs of a graph with bounded capacities, and the infinite ones.
func flowNetwork(g workflow.Operand, source, sink int, o MaxFlowOptions) (p *workflow.PairGraph, infinite [][2]int32, err error) {
	if p, err = workflow.PairsOf("MaxFlow", capacityWanted, g, o.Run, capacity); err != nil {
		return nil, nil, err
	}
	for v := range int32(p.N) {
		for a := p.Ptr[v]; a < p.Ptr[v+1]; a++ {
			if math.IsInf(p.Value[a], 1) {
				infinite = append(infinite, [2]int32{v, p.Head[a]})
			}
		}
	}
	return p, infinite, bound(p, source, sink)
}

// fusedMaxFlow is MaxFlow on a device. The first call for a matrix builds the network on the host.
func fusedMaxFlow(at device.Runner, g workflow.Operand, n, source, sink int, o MaxFlowOptions) (*MaxFlowResult, error) {
	workflow.Report(o.Run, "maximum flow", 0, 0)
	operand, err := g.Inside().Operand(at)
	if err != nil {
		return nil, err
	}
	const key = "apps: maximum flow"
	create := func() device.Dropper { return &flowGraph{} }
	var pairs *workflow.PairGraph
	var infinite [][2]int32
	res := &MaxFlowResult{}
	var flow, sourceSide, sinkSide device.Store
	for {
		missing, unbounded := false, false
		err := at.Run(workflow.Call(o.Run, "MaxFlow"), func(s *device.Session) {
			kept, ok := s.Kept(operand, key, create).(*flowGraph)
			if !ok {
				return
			}
			if kept.n == 0 {
				if missing = pairs == nil; missing {
					return
				}
				kept.upload(s, pairs)
				kept.infinite = infinite
			}
			if unbounded = kept.unbounded(int32(source), int32(sink)); unbounded {
				return
			}
			f := newFlowRun(s, kept, int32(source), int32(sink), o)
			f.drain(f.room)
			f.drain(f.back)
			flow = f.flow(res)
			sinkSide = f.side(f.take, f.sent, f.t, false)
			sourceSide = f.side(f.give, f.back, f.s, true)
			res.Rounds = f.rounds
		})
		switch {
		case err != nil:
			return nil, err
		case unbounded:
			return nil, &UnboundedFlowError{source, sink}
		case missing:
			if pairs, infinite, err = flowNetwork(g, source, sink, o); err != nil {
				return nil, err
			}
			continue
		}
		break
	}
	res.Flow = matrix.New[float64](n, n, matrix.On(at.Place()))
	access.SetRemote(res.Flow, flow)
	res.SourceSide, res.SinkSide = workflow.Placed[bool](at, n, sourceSide), workflow.Placed[bool](at, n, sinkSide)
	workflow.TraceRan(o.Run, at, "MaxFlow", device.Ran{Method: "push-relabel", Work: int64(res.Rounds)}, res.Flow.NVals())
	return res, nil
}

// A flowRun is a maximum flow on a device; see kernels/flow.cu.
type flowRun struct {
	session *device.Session
	g       *flowGraph
	o       MaxFlowOptions
	tuning  flowTuning
	code    device.Code
	s, t    int32

	res, give, take, excess, room, back, sent, height, numbers device.Buffer
	rounds                                                     int
	scale                                                      float64 // units of flow
	most                                                       int64
}

func newFlowRun(s *device.Session, g *flowGraph, source, sink int32, o MaxFlowOptions) *flowRun {
	n, m := int64(g.n), int64(g.m)
	f := &flowRun{session: s, g: g, o: o, tuning: workflow.Tuning(o.Run, flowDefaults), s: source, t: sink, code: s.Program("apps: maximum flow", flowProgram)}
	f.res, f.height, f.numbers = s.Alloc(8*max(m, 1)), s.Alloc(4*n), s.Alloc(8*flowNumbers)
	f.give, f.take = s.Zeros(8*n), s.Zeros(8*n)
	for _, b := range []*device.Buffer{&f.excess, &f.room, &f.back, &f.sent} {
		*b = s.Alloc(8 * n)
	}
	sums, ends := s.Zeros(16), [2]float64{}
	f.each("ends", m, m, source, sink, g.tail, g.head, g.cap, sums)
	s.Download(unsafe.Pointer(&ends), sums, 16)
	// Capacities beyond the bound are never reached, so that arcs of these stay open.
	f.scale, f.most = math.Ldexp(1, 1000), 1
	if bound := min(ends[0], ends[1]); bound > 0 {
		_, exponent := math.Frexp(bound)
		f.scale = math.Ldexp(1, min(flowBits-exponent, 1000))
		f.most = int64(2*bound*f.scale) + 1
	}
	f.each("open", m, m, source, sink, g.tail, g.head, g.cap, f.scale, f.most, f.res, f.give, f.take)
	f.each("bound", n, int32(n), g.ptr, g.sister, f.res, f.give, f.take, f.excess, f.room, f.sent, f.back)
	return f
}

func (f *flowRun) each(name string, n int64, args ...any) {
	f.session.Each(f.session.Kernel(f.code, "hb_flow_"+name), n, args...)
}

// search sets the heights to the distances to the vertices with more than less, or forward from
// them, and returns the largest.
func (f *flowRun) search(more, less device.Buffer, forward bool) int {
	s, n := f.session, int32(f.g.n)
	s.Fill(f.numbers, 0, 8*flowNumbers)
	f.each("seeds", int64(n), n, more, less, f.height, f.numbers)
	level := int32(1)
	for batch := f.tuning.levels; s.Err() == nil; batch *= 2 {
		for range min(batch, 1<<10) {
			f.each("reach", int64(n), n, f.g.ptr, f.g.head, f.g.sister, f.res, forward, level, f.height, f.numbers)
			level++
		}
		var numbers [flowActive]int64
		s.Download(unsafe.Pointer(&numbers), f.numbers, 8*flowActive)
		if numbers[flowFound+(level-1)%3] == 0 {
			return int(numbers[flowLevel])
		}
		s.Check()
	}
	return 0
}

// drain sends excess to vertices with room until no vertex with excess reaches one.
func (f *flowRun) drain(room device.Buffer) {
	s, n := f.session, int32(f.g.n)
	for s.Err() == nil {
		levels := f.search(room, device.Buffer{}, false)
		f.each("count", int64(n), n, f.excess, f.height, f.numbers)
		left := s.Read(f.numbers, flowCount)
		if left == 0 || s.Err() != nil {
			return
		}
		workflow.Report(f.o.Run, "maximum flow: vertices with excess", left, 0)
		rounds := max(f.tuning.least, min(f.tuning.most, int(f.tuning.share*float64(levels))))
		for round := range int32(rounds) {
			f.each("push", int64(n), n, f.g.ptr, f.g.head, f.g.sister, f.res, f.excess, room, f.height, round, f.numbers)
		}
		f.rounds += rounds
		s.Check()
	}
}

// flow makes the matrix of the flow, and its value.
func (f *flowRun) flow(res *MaxFlowResult) device.Store {
	s, n, m := f.session, int64(f.g.n), int64(f.g.m)
	f.each("sent", n, int32(n), f.room, f.sent)
	all := s.NewCSR(f.g.n, f.g.n, workflow.DoubleType, f.g.ptr, f.g.head, m)
	keep, value := s.Alloc(max(m, 1)), s.Zeros(8)
	f.each("values", m, m, f.s, f.t, f.g.tail, f.g.head, f.g.sister, f.g.cap, f.scale, f.most, f.res, f.back, f.sent, all.Val, keep, value)
	s.Download(unsafe.Pointer(&res.Value), value, 8)
	return s.Result(s.Selected(all, keep), -1)
}

// side returns a side of the cut: what reaches the sink, or forward what the source reaches.
func (f *flowRun) side(more, less device.Buffer, end int32, forward bool) device.Store {
	s, n := f.session, int64(f.g.n)
	f.search(more, less, forward)
	present := s.Alloc(n)
	v := s.NewBitmap(f.g.n, workflow.BoolType, present)
	f.each("side", n, int32(n), end, f.height, present, v.Val, f.numbers)
	return s.Result(v, s.Read(f.numbers, flowCount))
}
