package lasso

import (
	_ "embed"
	"math"
	"unsafe"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/rep"
)

//go:embed kernels/lasso.cu
var lassoText string

// Constants of kernels/lasso.cu.
const (
	lassoTile    = 4 * workflow.GraphBlock
	lassoHold    = 1024 // threads
	lassoRows    = 4    // of a thread
	lassoLongest = 64   // arcs of a row
)

// The numbers of kernels/lasso.cu's state.
const (
	lassoFrozen = iota
	lassoNeed
	lassoDone
	lassoCount
	lassoZeros
	lassoArrived
	lassoChanged = 8
	lassoActive  = 24
	lassoNumbers = 64
)

// lassoRests is the factor for pools of rests, which shrink fast: a path of 20 λ₁ takes at most
// 0.82 s in one pool and 1.7 s in four (213k vertices, an H200).
const lassoRests = 5

// lassoSweeps is the number of sweeps of bounds between two looks of the host. Bounds of planar
// graphs settle within five.
const lassoSweeps = 8

func init() { device.Describe("lasso", device.AnyType(lassoProgram)) }

func lassoProgram() device.Program {
	return workflow.GraphProgram("lasso", "fused lasso", lassoText, map[string]any{
		"HB_LASSO_TILE": lassoTile, "HB_LASSO_HOLD": lassoHold, "HB_LASSO_ROWS": lassoRows,
		"HB_LASSO_MOST": lassoLongest, "HB_LASSO_EQUAL": lassoEqual,
	})
}

// lassoTuning are the settings of the form for devices.
type lassoTuning struct {
	first    int     // iterations before the first check, and the least between two
	more     float64 // of the iterations, until the next one
	freeze   float64 // share of the vertices from which a check makes the part smaller
	patience int     // checks in a row with little progress, before the host takes the rest
	enough   int     // iterations before these count
	rest     float64 // share of the vertices that the host takes at once
	work     int64   // arcs that a cut of the host may read for each vertex; doubled when it gives up
	share    int64   // least arcs of a block of hb_lasso_hold
	blocks   int64   // of hb_lasso_hold, at most; 0: the multiprocessors
	burst    int     // iterations of a launch of hb_lasso_hold, at most
	launched bool    // without hb_lasso_hold
	aside    float64 // share of the arcs of a graph from which the rest of one of several jobs waits for a pool
	// together bounds the arcs of a pool: as many as hb_lasso_hold holds on an H200, where an
	// iteration takes about as long for 10,000 arcs.
	together int
	memory   int64 // bounds the numbers of the solutions and flows of a window of jobs
}

// lassoOnDevice is measured on an H200 with a triangulated planar graph of 213k vertices: 200
// iterations between checks take 24 ms (λ₁ = 1), 100 take 30 to 43. Means over five λ₁ and a grid
// are 164 ms with 60 arcs for a cut, 294 with 250 and 276 with 500.
var lassoOnDevice = lassoTuning{first: 200, more: .15, freeze: 1. / 32, patience: 4, enough: 3000, rest: 1. / 1000, work: 60, share: 4096, burst: 1 << 20, aside: .25,
	together: 1_300_000, memory: 1 << 28}

// A lassoGraph is the graph of a fused lasso on a device, kept with the matrix: an arc in both
// directions for each edge.
type lassoGraph struct {
	n, m, edges           int
	ptr, tail, head, name device.Buffer
	weight                device.Buffer // zero if all are same
	same, least           float64
}

// Drop frees the buffers.
func (g *lassoGraph) Drop() {
	for _, b := range []*device.Buffer{&g.ptr, &g.tail, &g.head, &g.name, &g.weight} {
		b.Release()
		*b = device.Buffer{}
	}
	g.n = 0
}

// upload makes the graph of edges on the host.
func (g *lassoGraph) upload(s *device.Session, l *lassoEdges) {
	n, edges := len(l.ptr)-1, len(l.head)
	ptr := make([]int32, n+1)
	for i := range n {
		ptr[i+1] += l.ptr[i+1] - l.ptr[i]
		for _, j := range l.head[l.ptr[i]:l.ptr[i+1]] {
			ptr[j+1]++
		}
	}
	for i := range n {
		ptr[i+1] += ptr[i]
	}
	m := int(ptr[n])
	tail, head, name, weight := make([]int32, m), make([]int32, m), make([]int32, m), make([]float64, m)
	at := make([]int32, n)
	copy(at, ptr)
	g.same, g.least = 0, math.Inf(1)
	equal := true
	for i := range int32(n) {
		for k := l.ptr[i]; k < l.ptr[i+1]; k++ {
			j, w := l.head[k], l.cap[k]
			a, b := at[i], at[j]
			at[i]++
			at[j]++
			tail[a], head[a], name[a], weight[a] = i, j, k, w
			tail[b], head[b], name[b], weight[b] = j, i, ^k, w
			equal = equal && w == l.cap[0]
			g.least, g.same = min(g.least, w), l.cap[0]
		}
	}
	g.ptr, g.tail = s.Retain(s.Ints(ptr)), s.Retain(s.Ints(tail))
	g.head, g.name = s.Retain(s.Ints(head)), s.Retain(s.Ints(name))
	if !equal {
		g.weight = s.Retain(s.Upload(unsafe.Pointer(&weight[0]), 8*int64(m)))
	}
	s.Sync()
	g.n, g.m, g.edges = n, m, edges
}

// A lassoWait is what is left of a job, which waits for a pool.
type lassoWait struct {
	job  int
	f    *lassoFound
	part lassoShare
	t    float64 // of the momentum
}

// solveAll solves jobs. If there are several, it sets aside the unsolved part of each and solves a
// pool of such parts as one, until all regions are proven: small parts take about as long for an
// iteration as large ones. It sets aside whole graphs if a pool holds several.
func (r *lassoRun) solveAll(jobs []lassoJob, nu []float64) (list []*FusedLassoResult, stores []device.Store) {
	s, n, m, edges := r.s, int64(r.g.n), int64(r.g.m), int64(r.g.edges)
	list, stores = make([]*FusedLassoResult, len(jobs)), make([]device.Store, len(jobs))
	limit := int64(0)
	if len(jobs) > 1 {
		if limit = int64(r.t.aside * float64(m)); 2*m <= int64(r.t.together) {
			limit = m
		}
	}
	window := int(max(1, min(int64(len(jobs)), r.t.memory/(n+edges+m+1))))
	values, flows := s.Alloc(8*max(1, int64(window)*n)), s.Alloc(8*max(1, int64(window)*edges))
	done := 0
	end := func(job int, f *lassoFound) {
		r.finish(f)
		if f.cap.Addr != 0 {
			s.Free(f.cap)
		}
		list[job], stores[job] = f.res, r.result(f)
		if done++; len(jobs) > 1 {
			workflow.Report(r.o.Run, "fused lasso, solutions", int64(done), int64(len(jobs)))
		}
	}
	var arcs, vertices int64 // that wait
	var signal *lassoSignal
	for lo := 0; lo < len(jobs); lo += window {
		hi := min(lo+window, len(jobs))
		s.Fill(flows, 0, 8*max(1, int64(window)*edges))
		flush := func() {
			if len(r.waiting) > 0 && s.Err() == nil {
				r.pool(arcs, vertices, lo, values, flows)
				for _, w := range r.waiting {
					end(w.job, w.f)
				}
			}
			r.waiting, arcs, vertices = r.waiting[:0], 0, 0
		}
		var signals []*lassoSignal
		for k := lo; k < hi && s.Err() == nil; k++ {
			job := jobs[k]
			if signal == nil || len(job.y) > 0 && &job.y[0] != &signal.list[0] {
				signal = r.signal(job.y, nu)
				signals = append(signals, signal)
			}
			slot := int64(k - lo)
			f := &lassoFound{res: &FusedLassoResult{Lambda1: job.lambda}, signal: signal, values: values.At(8 * n * slot), flows: flows.At(8 * edges * slot)}
			part := r.start(f)
			state := [3]float64{2: 1}
			if part.m > limit {
				r.restart(1)
			}
			if part.n == 0 || r.drive(&part, f, n, limit) {
				f.res.Divided = len(r.divided)
				r.divided = nil
				end(k, f)
				continue
			}
			if f.res.Iterations > 0 {
				s.Download(unsafe.Pointer(&state), r.state, 24)
			}
			r.waiting = append(r.waiting, lassoWait{k, f, part, state[2]})
			arcs, vertices = arcs+part.m, vertices+part.n
			if most := min(limit, m); arcs+most > r.room || 2*(vertices+min(n, most)) > r.room {
				flush() // another part may not have room
			}
		}
		flush()
		for _, g := range signals[:max(0, len(signals)-1)] {
			s.Free(g.at)
		}
	}
	return list, stores
}

// pool solves the parts that wait; their jobs have places in values and flows from number lo on.
func (r *lassoRun) pool(arcs, vertices int64, lo int, values, flows device.Buffer) {
	s, n, edges := r.s, int64(r.g.n), int64(r.g.edges)
	all := &lassoFound{res: &FusedLassoResult{}, values: values, flows: flows, proven: true, jobs: len(r.waiting), signal: &lassoSignal{}}
	all.most = r.waiting[0].f.most
	capacities, t := false, math.Inf(1)
	for _, w := range r.waiting {
		capacities = capacities || w.part.cap.Addr != 0 || w.f.most != all.most
		all.signal.scale = max(all.signal.scale, w.f.signal.scale)
		t = min(t, w.t)
	}
	p := lassoShare{n: vertices, m: arcs}
	for _, b := range []*device.Buffer{&p.load, &p.x, &p.ahead, &p.out} {
		*b = s.Alloc(8 * vertices)
	}
	p.ptr, p.vertex, p.degree = s.Alloc(4*(vertices+1)), s.Alloc(4*vertices), s.Alloc(4*vertices)
	if r.nu.Addr != 0 {
		p.nu, p.inv = s.Alloc(8*vertices), s.Alloc(8*vertices)
	}
	p.tail, p.head, p.name, p.step = s.Alloc(4*arcs), s.Alloc(4*arcs), s.Alloc(4*arcs), s.Alloc(4*arcs)
	p.u, p.w = s.Alloc(8*arcs), s.Alloc(8*arcs)
	if capacities {
		p.cap = s.Alloc(8 * arcs)
	}
	var v, a int64
	for k := range r.waiting {
		w := &r.waiting[k]
		q, slot := &w.part, int64(w.job-lo)
		r.each("gather", q.n, int32(q.n), int32(v), int32(a), int32(slot*n), q.ptr, q.vertex, q.load, q.nu, q.inv, q.x, q.degree,
			p.ptr, p.vertex, p.load, p.nu, p.inv, p.x, p.ahead, p.degree)
		r.each("gather_arcs", q.m, int32(q.m), int32(v), int32(a), int32(slot*edges), q.tail, q.head, q.name, q.cap, w.f.most, q.step, q.u,
			p.tail, p.head, p.name, p.cap, p.step, p.u, p.w)
		v, a = v+q.n, a+q.m
		q.free(s)
	}
	r.restart(t)
	r.divided = nil
	r.drive(&p, all, int64(len(r.waiting))*n, 0)
	for _, v := range r.divided {
		for _, w := range r.waiting {
			if int64(v)/n == int64(w.job-lo) {
				w.f.res.Divided++
			}
		}
	}
	r.divided = nil
	for _, w := range r.waiting {
		w.f.res.Iterations += all.res.Iterations
	}
}

// A lassoJob is a fused lasso to solve.
type lassoJob struct {
	y      []float64
	lambda float64
}

// fusedLassos solves fused lassos of a graph on a device.
func fusedLassos(at device.Runner, g rep.View, o FusedLassoOptions, jobs []lassoJob) ([]*FusedLassoResult, error) {
	n, err := workflow.Square("FusedLasso", workflow.Pattern(g))
	if err != nil {
		return nil, err
	}
	operand, err := g.Operand(at)
	if err != nil {
		return nil, err
	}
	var nu []float64
	if o.VertexWeights != nil {
		if nu, err = (&lasso{n: n}).weights(o.VertexWeights); err != nil {
			return nil, err
		}
	}
	key := "apps: fused lasso"
	if o.Undirected {
		key = "apps: fused lasso, undirected"
	}
	var edges *lasso
	tuning := workflow.Tuning(o.Run, lassoOnDevice)
	var list []*FusedLassoResult
	var stores []device.Store
	for ready := n == 0; ; ready = true {
		if !ready {
			// The graph may be there from an earlier call.
			err := at.Run(workflow.Call(o.Run, "FusedLasso"), func(s *device.Session) {
				kept, ok := s.Kept(operand, key, func() device.Dropper { return &lassoGraph{} }).(*lassoGraph)
				ready = ok && kept.n > 0
			})
			if err != nil {
				return nil, err
			}
			if !ready {
				unweighted := o
				unweighted.VertexWeights = nil
				if edges, err = newLasso(g, unweighted); err != nil {
					return nil, err
				}
			}
		}
		missing := false
		err := at.Run(workflow.Call(o.Run, "FusedLasso"), func(s *device.Session) {
			graph := &lassoGraph{}
			if n > 0 {
				kept, ok := s.Kept(operand, key, func() device.Dropper { return &lassoGraph{} }).(*lassoGraph)
				if !ok {
					return
				}
				if graph = kept; graph.n == 0 {
					if edges == nil { // dropped meanwhile
						missing = true
						return
					}
					graph.upload(s, &edges.lassoEdges)
				}
			}
			room := int64(0)
			if len(jobs) > 1 {
				together := tuning.together
				if 2*graph.m > together {
					together = lassoRests * together
				}
				room = min(int64(max(graph.m, together)), int64(len(jobs)*graph.m))
			}
			list, stores = newLassoRun(s, graph, nu, o, tuning, room).solveAll(jobs, nu)
		})
		if err != nil {
			return nil, err
		}
		if !missing {
			break
		}
	}
	for k, res := range list {
		res.B = workflow.Placed[float64](at, n, stores[k])
		workflow.TraceRan(o.Run, at, "FusedLasso", device.Ran{Method: "dual", Work: int64(res.Iterations)}, int64(n))
	}
	return list, nil
}
