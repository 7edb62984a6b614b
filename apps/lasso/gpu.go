package lasso

import (
	_ "embed"
	"math"
	"math/bits"
	"unsafe"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/parallel"
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

// lassoTogether bounds the arcs of a pool: as many as hb_lasso_hold holds on an H200. An iteration
// there takes about as long for 10,000 arcs as for these. Tests lower it.
var lassoTogether = 1_300_000

// lassoRests is the factor for pools of rests, which shrink fast: a path of 20 λ₁ took 0.49 to 0.82
// s in one pool and 0.47 to 1.7 s in four (213k vertices, an H200).
const lassoRests = 5

// lassoMemory bounds the numbers of the solutions and flows of a window of jobs. Tests lower it.
var lassoMemory = 1 << 28

// lassoSweeps is the number of sweeps of bounds between two looks of the host. Bounds of planar
// graphs settle within five.
const lassoSweeps = 8

func init() { device.Describe("lasso", device.Always(lassoProgram)) }

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
}

// lassoOnDevice is measured on an H200: a triangulated planar graph of 213k vertices (λ₁ = 1) takes
// 24 ms with 200 iterations between checks, 30 to 43 with 100. How many iterations a part takes
// depends on the forest that a check happens to find. With 1000 arcs for a cut the host took up to
// 740 ms of a solution (λ₁ = 0.886), with 60 that double the most is 45; means over five λ₁ and a
// grid: 164 ms with 60, 294 with 250, 276 with 500.
var lassoOnDevice = lassoTuning{first: 200, more: .15, freeze: 1. / 32, patience: 4, enough: 3000, rest: 1. / 1000, work: 60, share: 4096, burst: 1 << 20, aside: .25}

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

// A lassoShare is a part on a device; see kernels/lasso.cu.
type lassoShare struct {
	n, m                                                                            int64
	ptr, tail, head, name, cap, step, u, w, vertex, load, nu, inv, x, ahead, degree device.Buffer
	shared                                                                          bool // some belong to the graph
	out                                                                             device.Buffer

	// Of hb_lasso_hold.
	planned, fits                    bool
	blocks, need                     int64
	order, local, mosts, halo, reach device.Buffer
}

func (p *lassoShare) free(s *device.Session) {
	list := []device.Buffer{p.u, p.w, p.load, p.x, p.ahead, p.out, p.order, p.local, p.mosts, p.halo, p.reach}
	if !p.shared {
		list = append(list, p.ptr, p.tail, p.head, p.name, p.cap, p.step, p.vertex, p.nu, p.inv, p.degree)
	}
	for _, b := range list {
		if b.Addr != 0 {
			s.Free(b)
		}
	}
	*p = lassoShare{}
}

// A lassoRun solves fused lassos of one graph on a device.
type lassoRun struct {
	s       *device.Session
	g       *lassoGraph
	o       FusedLassoOptions
	t       lassoTuning
	code    device.Code
	kernels map[string]device.Kernel
	nu, inv device.Buffer // zero: all are 1
	total   float64       // Σ ν

	numbers, state, carry, pieces, partial device.Buffer
	arrived                                int64

	root, joins, region, slot, owner, twin   device.Buffer
	value, weight, extra, low, high          device.Buffer
	links, filled, proven, frozen, stay, cut device.Buffer
	tour                                     [2]device.Buffer
	figures                                  device.Buffer

	first lassoShare // all vertices: the arrays that do not depend on y and λ₁

	divided []int32 // the vertices that the host solved
	waiting []lassoWait
	room    int64 // arcs of a pool, and twice its vertices, at most
}

// newLassoRun prepares solutions, and pools of so many arcs.
func newLassoRun(s *device.Session, g *lassoGraph, nu []float64, o FusedLassoOptions, room int64) *lassoRun {
	r := &lassoRun{s: s, g: g, o: o, t: lassoOnDevice, kernels: map[string]device.Kernel{}, room: room}
	r.code = s.Program("apps: fused lasso", lassoProgram)
	n, m := int64(max(g.n, 1)), int64(max(g.m, 1))
	r.total = float64(g.n)
	if len(nu) > 0 {
		inv := make([]float64, len(nu))
		r.total = 0
		for v, x := range nu {
			inv[v] = 1 / x
			r.total += x
		}
		r.nu, r.inv = s.Upload(unsafe.Pointer(&nu[0]), 8*n), s.Upload(unsafe.Pointer(&inv[0]), 8*n)
		s.Sync()
	}
	p := &r.first
	*p = lassoShare{n: int64(g.n), m: int64(g.m), ptr: g.ptr, tail: g.tail, head: g.head, name: g.name, nu: r.nu, inv: r.inv, shared: true}
	vertices := make([]int32, n)
	for v := range vertices {
		vertices[v] = int32(v)
	}
	p.vertex = s.Ints(vertices)
	p.step, p.degree = s.Alloc(4*m), s.Alloc(4*n)
	r.each("degrees", p.n, int32(p.n), p.ptr, p.inv, p.degree)
	r.each("steps", p.m, int32(p.m), p.tail, p.head, p.degree, p.step)
	n, m = max(n, room/2), max(m, room)
	r.numbers, r.state, r.figures = s.Zeros(8*lassoNumbers), s.Alloc(8*8), s.Alloc(8*4)
	tiles := (m + lassoTile - 1) / lassoTile
	r.carry, r.pieces, r.partial = s.Alloc(16*tiles), s.Zeros(4*tiles), s.Alloc(8*max(8*int64(s.Multiprocessors()), 2*r.t.blocks))
	for _, b := range []*device.Buffer{&r.root, &r.joins, &r.region, &r.slot, &r.links, &r.filled} {
		*b = s.Alloc(4 * n)
	}
	for _, b := range []*device.Buffer{&r.owner, &r.twin, &r.value, &r.weight, &r.extra, &r.low, &r.high} {
		*b = s.Alloc(8 * n)
	}
	for _, b := range []*device.Buffer{&r.proven, &r.frozen, &r.stay} {
		*b = s.Alloc(n)
	}
	r.cut = s.Alloc(m)
	r.tour[0], r.tour[1] = s.Alloc(32*n), s.Alloc(32*n)
	s.Sync()
	return r
}

func (r *lassoRun) kernel(name string) device.Kernel {
	k, ok := r.kernels[name]
	if !ok {
		k = r.s.Kernel(r.code, "hb_lasso_"+name)
		r.kernels[name] = k
	}
	return k
}

func (r *lassoRun) each(name string, n int64, args ...any) { r.s.Each(r.kernel(name), n, args...) }

// A lassoFound is a solution on a device: the values and the flows of the edges, in the buffers of
// a window of jobs. That of a pool is of all of its jobs.
type lassoFound struct {
	res           *FusedLassoResult
	values, flows device.Buffer
	cap           device.Buffer
	most          float64
	proven        bool
	signal        *lassoSignal
	jobs          int // of a pool, else 0
}

// A lassoSignal is the values y on a device.
type lassoSignal struct {
	list         []float64
	at           device.Buffer
	scale, bound float64 // the largest value, and no flow is larger
}

func (r *lassoRun) signal(y, nu []float64) *lassoSignal {
	g := &lassoSignal{list: y}
	if len(y) == 0 {
		return g
	}
	mean := 0.0
	for v, x := range y {
		one := 1.0
		if nu != nil {
			one = nu[v]
		}
		mean += x * (one / r.total)
		g.scale = max(g.scale, math.Abs(x))
	}
	for v, x := range y {
		one := 1.0
		if nu != nil {
			one = nu[v]
		}
		g.bound += one * math.Abs(x-mean)
	}
	g.at = r.s.Upload(unsafe.Pointer(&y[0]), 8*int64(len(y)))
	return g
}

// start makes the part of all vertices for a solution, without vertices if there is nothing to do.
func (r *lassoRun) start(f *lassoFound) (p lassoShare) {
	s, n, m := r.s, int64(r.g.n), int64(r.g.m)
	lambda1, bound := f.res.Lambda1, f.signal.bound
	f.proven = true
	f.most = min(lambda1*r.g.same, bound)
	if r.g.weight.Addr != 0 {
		f.cap = s.Alloc(8 * m)
		r.each("capacities", m, int32(m), r.g.weight, lambda1, bound, f.cap)
	}
	if n == 0 {
		return p
	}
	if lambda1 == 0 || bound == 0 || m == 0 {
		s.Copy(f.values, f.signal.at, 8*n)
		return p
	}
	p = r.first
	p.cap = f.cap
	p.u, p.w, p.x = s.Zeros(8*m), s.Zeros(8*m), s.Alloc(8*n)
	p.load, p.ahead, p.out = s.Alloc(8*n), s.Alloc(8*n), s.Alloc(8*n)
	r.each("start", n, int32(n), f.signal.at, r.nu, p.x, p.ahead, p.load, f.values)
	return p
}

// restart sets the state of the momentum: an iteration without, and then that of t; 1 begins.
func (r *lassoRun) restart(t float64) {
	s := r.s
	next := (1 + math.Sqrt(1+4*t*t)) / 2
	list := [5]float64{0, (t - 1) / next, next, math.Inf(1), math.Inf(1)}
	state := s.Upload(unsafe.Pointer(&list), 40)
	s.Copy(r.state, state, 40)
	s.Sync()
	s.Free(state)
}

// drive solves a part of a graph, or of several of total vertices, for λ₂ = 0. It ends early when
// the part has at most limit arcs, and reports false.
func (r *lassoRun) drive(p *lassoShare, f *lassoFound, total int64, limit int64) bool {
	s := r.s
	check, slow, work := r.t.first, 0, r.t.work
	if f.jobs == 0 && math.Min(f.res.Lambda1*r.g.least, f.signal.bound) >= f.signal.bound {
		check = 0
	}
	for p.n > 0 && s.Err() == nil {
		if p.m <= limit {
			return false
		}
		r.iterate(p, check-f.res.Iterations, f)
		f.res.Iterations = check
		s.Check()
		frozen := r.look(p, f)
		if s.Err() != nil {
			break
		}
		if frozen < p.n && f.jobs == 0 && !r.o.Exact && r.near(p, f) {
			f.proven = false
			break
		}
		if frozen == p.n {
			*p = r.freeze(p, f)
			break
		}
		was := p.n
		if float64(frozen) >= r.t.freeze*float64(p.n) {
			*p = r.freeze(p, f)
		}
		if f.jobs == 0 && limit == 0 {
			workflow.Report(r.o.Run, "fused lasso", total-p.n, total)
		}
		if p.n == 0 || s.Err() != nil {
			break
		}
		if slow++; 5*p.n < 4*was || f.res.Iterations < r.t.enough {
			slow = 0
		}
		if float64(p.n) <= r.t.rest*float64(total) || slow > 0 && 100*p.n < total || slow >= r.t.patience {
			if r.divide(p, f, work) {
				break
			}
			slow, work = 0, 2*work
		}
		check = f.res.Iterations + max(r.t.first, int(r.t.more*float64(f.res.Iterations)))
	}
	p.free(s)
	return true
}

// iterate runs iterations of the accelerated dual gradient.
func (r *lassoRun) iterate(p *lassoShare, times int, f *lassoFound) {
	s := r.s
	if times <= 0 || s.Err() != nil {
		return
	}
	if !p.planned {
		r.plan(p)
	}
	if p.fits {
		k, burst := r.kernel("hold"), r.t.burst
		if p.blocks > 1 && !s.Together() {
			burst = 1 // the launches are the barrier
		}
		for left := times; left > 0 && s.Err() == nil; {
			now := min(left, burst, 1+int((1<<34)/(p.m+64*1024)))
			s.Launch(k, [3]uint32{uint32(p.blocks), 1, 1}, [3]uint32{lassoHold, 1, 1}, int(p.need), int32(now), int32(p.n), int32(p.m),
				p.ptr, p.order, p.local, p.mosts, f.most, p.halo, p.reach, p.degree, p.load, p.inv, p.nu, p.u, p.w, p.x, p.ahead, p.out,
				r.partial, r.state, r.numbers, r.arrived)
			r.arrived += p.blocks * int64(now-1)
			if now%2 == 1 {
				p.ahead, p.out = p.out, p.ahead
			}
			if left -= now; left > 0 {
				s.Check()
			}
		}
		return
	}
	k := r.kernel("step")
	grid, block := workflow.ResidentGrid(s, k)
	grid[0] = uint32(min(int64(grid[0]), (p.m+lassoTile-1)/lassoTile))
	for it := range times {
		s.Launch(k, grid, block, 0, int32(p.m), p.ptr, p.tail, p.head, p.step, p.cap, f.most, p.load, p.inv, p.nu, p.u, p.w, p.x, p.ahead, p.out,
			r.carry, r.pieces, r.partial, r.state, r.numbers)
		p.u, p.w = p.w, p.u
		p.ahead, p.out = p.out, p.ahead
		if it%256 == 255 {
			s.Sync()
			s.Check()
		}
	}
}

// plan decides whether the part fits into the shared memory of the device, and lays it out.
func (r *lassoRun) plan(p *lassoShare) {
	s := r.s
	p.planned = true
	most := int64(s.Multiprocessors())
	if r.t.blocks > 0 {
		most = r.t.blocks
	}
	p.blocks = min(most, (p.m+r.t.share-1)/r.t.share)
	words := 8 * ((p.n + 31) / 32)
	const static = 4096
	if r.t.launched || 18*p.m > p.blocks*int64(s.SharedMemory()) || words+static > int64(s.SharedMemory()) {
		return
	}
	slots := p.m + p.blocks*32*lassoLongest
	p.order, p.local = s.Alloc(4*p.n), s.Alloc(2*slots)
	p.halo, p.reach = s.Alloc(4*p.m), s.Alloc(4*p.blocks)
	if p.cap.Addr != 0 {
		p.mosts = s.Alloc(8 * slots)
	}
	s.Fill(r.numbers.At(8*lassoNeed), 0, 8)
	s.Launch(r.kernel("plan"), [3]uint32{uint32(p.blocks), 1, 1}, [3]uint32{lassoHold, 1, 1}, int(words), int32(p.n), int32(p.m), p.ptr, p.head, p.cap,
		p.order, p.local, p.mosts, p.halo, p.reach, r.numbers)
	p.need = s.Read(r.numbers, lassoNeed)
	p.fits = p.need+static <= int64(s.SharedMemory())
}

// look finds the regions of a part that are proven and final, and returns the number of their
// vertices.
func (r *lassoRun) look(p *lassoShare, f *lassoFound) int64 {
	s, n, m := r.s, int32(p.n), int32(p.m)
	s.Fill(r.numbers.At(8*lassoFrozen), 0, 8)
	s.Fill(r.numbers.At(8*lassoChanged), 0, 8*(lassoNumbers-lassoChanged))
	r.each("alone", p.n, n, r.root, r.joins, r.value, r.weight, r.links, r.filled)
	for _, half := range []bool{true, false} {
		r.each("join", p.m, m, p.tail, p.head, p.u, p.cap, f.most, half, r.root, r.joins)
	}
	r.each("regions", p.n, n, r.root, r.joins, p.tail, p.head, p.x, p.nu, r.region, r.value, r.weight, r.links)
	places := s.Scan(r.links, p.n, 4)
	r.each("means", p.n, n, r.region, r.value, r.weight, r.proven, r.low, r.high, r.joins, p.tail, p.head, places, r.filled, r.owner, r.twin, r.slot)
	r.each("tour", 2*p.n, n, places, r.owner, r.twin, r.region, r.value, p.x, p.nu, r.tour[0])
	rounds := (bits.Len64(uint64(2*p.n)) + 1) / 2
	in, out := r.tour[0], r.tour[1]
	for k := range rounds {
		r.each("jump", 2*p.n, n, places, in, out, int32(k), r.numbers)
		in, out = out, in
	}
	r.each("route", p.n, n, r.joins, r.slot, r.twin, places, r.owner, in, r.region, r.value, p.x, p.nu, p.u, p.cap, f.most, r.extra, r.proven)
	r.each("bounds", p.n, n, r.region, r.value, r.proven, p.x, r.low, r.high)
	var numbers [lassoChanged + lassoSweeps]int64
	for s.Err() == nil {
		for k := range int32(lassoSweeps) {
			r.each("spread", p.m, m, p.tail, p.head, r.region, p.u, r.low, r.high, k, r.numbers)
		}
		r.each("frozen", p.n, n, r.region, r.proven, r.low, r.high, r.frozen, r.numbers)
		s.Download(unsafe.Pointer(&numbers), r.numbers, 8*int64(len(numbers)))
		if numbers[lassoChanged+lassoSweeps-1] == 0 {
			break
		}
		s.Fill(r.numbers.At(8*lassoFrozen), 0, 8)
		s.Fill(r.numbers.At(8*lassoChanged), 0, 8*lassoSweeps)
	}
	s.Free(places)
	return numbers[lassoFrozen]
}

// freeze makes the values and flows of frozen regions final, and returns the part of the others.
func (r *lassoRun) freeze(p *lassoShare, f *lassoFound) (q lassoShare) {
	s, n, m := r.s, int32(p.n), int32(p.m)
	r.each("cut", p.m, m, p.tail, p.head, p.name, r.frozen, p.u, r.cut, f.flows)
	r.each("add", p.n, n, r.joins, r.region, r.value, r.frozen, p.name, r.extra, p.vertex, f.values, f.flows)
	r.each("load", p.m, m, p.tail, p.head, r.frozen, p.u, p.load)
	at := s.Scan(r.cut, p.m, 1)
	r.each("stay", p.n, n, p.ptr, at, r.frozen, p.load, p.inv, p.vertex, r.stay, f.values)
	place := s.Scan(r.stay, p.n, 1)
	q.n, q.m = s.Read(place, p.n), s.Read(at, p.m)
	if q.n > 0 && s.Err() == nil {
		for _, b := range []*device.Buffer{&q.load, &q.x, &q.ahead, &q.out} {
			*b = s.Alloc(8 * q.n)
		}
		q.ptr, q.vertex, q.degree = s.Alloc(4*(q.n+1)), s.Alloc(4*q.n), s.Alloc(4*q.n)
		if p.nu.Addr != 0 {
			q.nu, q.inv = s.Alloc(8*q.n), s.Alloc(8*q.n)
		}
		q.tail, q.head, q.name, q.step = s.Alloc(4*q.m), s.Alloc(4*q.m), s.Alloc(4*q.m), s.Alloc(4*q.m)
		q.u, q.w = s.Alloc(8*q.m), s.Alloc(8*q.m)
		if p.cap.Addr != 0 {
			q.cap = s.Alloc(8 * q.m)
		}
		r.each("vertices", p.n, n, r.stay, place, p.ptr, at, p.vertex, p.load, p.nu, p.inv, p.x, p.ahead,
			q.ptr, q.vertex, q.load, q.nu, q.inv, q.x, q.ahead, q.degree)
		r.each("arcs", p.m, m, r.cut, at, place, p.tail, p.head, p.name, p.cap, p.u, p.w, q.degree,
			q.tail, q.head, q.name, q.cap, q.u, q.w, q.step)
	}
	s.Free(at)
	s.Free(place)
	p.free(s)
	return q
}

// near reports whether the means of the candidate regions of a part, with the final values of the
// other vertices, are within the tolerance of the optimum, and takes them if so.
func (r *lassoRun) near(p *lassoShare, f *lassoFound) bool {
	ys := f.signal.at
	s, n, m := r.s, int32(p.n), int32(p.m)
	total := int64(r.g.n)
	s.Fill(r.figures, 0, 32)
	r.each("final", total, int32(total), f.values, ys, r.nu, r.figures)
	r.each("near", p.n, n, r.region, r.value, p.x, p.nu, ys, p.vertex, r.figures)
	r.each("near_arcs", p.m, m, p.tail, p.head, r.region, r.value, p.cap, f.most, p.u, r.figures)
	var figures [2]float64
	s.Download(unsafe.Pointer(&figures), r.figures, 16)
	if s.Err() != nil || !(figures[1] <= lassoTolerance*figures[0]) {
		return false
	}
	values, flows := s.Alloc(8*total), s.Alloc(8*int64(r.g.edges))
	s.Copy(values, f.values, 8*total)
	s.Copy(flows, f.flows, 8*int64(r.g.edges))
	r.each("take", p.n, n, r.region, r.value, p.vertex, values)
	r.each("take_flows", p.m, m, p.name, p.u, flows)
	objective, gap, _ := r.figure(values, flows, f, ys, 0)
	near := gap <= lassoTolerance*objective
	if near {
		s.Copy(f.values, values, 8*total)
		s.Copy(f.flows, flows, 8*int64(r.g.edges))
	}
	s.Free(values)
	s.Free(flows)
	return near
}

// figure returns the objective, the duality gap and ½ Σ ν y².
func (r *lassoRun) figure(values, flows device.Buffer, f *lassoFound, ys device.Buffer, lambda2 float64) (objective, gap, squares float64) {
	s, n, m := r.s, int64(r.g.n), int64(r.g.m)
	drained := s.Zeros(8 * n)
	s.Fill(r.figures, 0, 32)
	r.each("edges", m, int32(m), r.g.tail, r.g.head, r.g.name, f.cap, f.most, values, flows, drained, r.figures)
	r.each("value", n, int32(n), ys, r.nu, r.inv, values, drained, lambda2, r.figures)
	var figures [3]float64
	s.Download(unsafe.Pointer(&figures), r.figures, 24)
	s.Free(drained)
	return figures[0], max(figures[1], 0), figures[2]
}

// divide solves what is left on the host. It reports false, and changes nothing, if a cut takes
// more than work arcs for each vertex.
func (r *lassoRun) divide(p *lassoShare, f *lassoFound, work int64) bool {
	s := r.s
	ptr, tail, head, name := make([]int32, p.n+1), make([]int32, p.m), make([]int32, p.m), make([]int32, p.m)
	u, most := make([]float64, p.m), make([]float64, p.m)
	load, nu, inv, vertex := make([]float64, p.n), make([]float64, p.n), make([]float64, p.n), make([]int32, p.n)
	ints := func(list []int32, b device.Buffer) { s.Download(unsafe.Pointer(&list[0]), b, 4*int64(len(list))) }
	floats := func(list []float64, b device.Buffer) { s.Download(unsafe.Pointer(&list[0]), b, 8*int64(len(list))) }
	ints(ptr, p.ptr)
	ints(tail, p.tail)
	ints(head, p.head)
	ints(name, p.name)
	ints(vertex, p.vertex)
	floats(u, p.u)
	floats(load, p.load)
	for i := range nu {
		nu[i], inv[i] = 1, 1
	}
	if p.nu.Addr != 0 {
		floats(nu, p.nu)
		floats(inv, p.inv)
	}
	for a := range most {
		most[a] = f.most
	}
	if p.cap.Addr != 0 {
		floats(most, p.cap)
	}
	if s.Err() != nil {
		return true
	}
	q := &lassoPart{load: load, nu: nu, inv: inv}
	q.ptr = make([]int32, 1, p.n+1)
	var names []int32
	for i := range int32(p.n) {
		for a := ptr[i]; a < ptr[i+1]; a++ {
			if name[a] >= 0 {
				q.head, q.cap, q.u = append(q.head, head[a]), append(q.cap, most[a]), append(q.u, u[a])
				names = append(names, name[a])
			}
		}
		q.ptr = append(q.ptr, int32(len(q.head)))
	}
	q.before = append([]float64(nil), q.u...)
	q.restart()
	threads := parallel.Threads(r.o.Threads)
	q.prepare(threads)
	b, flows := make([]float64, p.n), make([]float64, len(q.head))
	q.iterate(1) // for the values
	if q = q.freeze(q.look(), b, flows, threads); q != nil {
		rest, err := q.split(r.o.Context, threads, b, flows, f.signal.scale, work, lassoDefaults.patience)
		s.Fail(err)
		if s.Err() == nil && rest != nil {
			return false
		}
	}
	if s.Err() != nil {
		return true
	}
	f.res.Divided, r.divided = int(p.n), vertex
	put := func(places []int32, list []float64, to device.Buffer) {
		at, from := s.Ints(places), s.Upload(unsafe.Pointer(&list[0]), 8*int64(len(list)))
		r.each("put", int64(len(places)), int32(len(places)), at, from, to)
	}
	put(vertex, b, f.values)
	put(names, flows, f.flows)
	s.Sync()
	return true
}

// finish computes the values of the regions from y and the flows over their borders, and the
// figures of the result.
func (r *lassoRun) finish(f *lassoFound) {
	ys := f.signal.at
	s, n, m := r.s, int64(r.g.n), int64(r.g.m)
	if s.Err() != nil || n == 0 {
		return
	}
	s.Fill(r.numbers.At(8*lassoCount), 0, 16)
	largest := r.numbers.At(8 * lassoChanged)
	group := func() {
		s.Fill(largest, 0, 8)
		r.each("largest", n, int32(n), f.values, largest)
		r.each("equal", m, int32(m), r.g.tail, r.g.head, f.values, largest, r.root)
		r.each("pool", n, int32(n), r.root, ys, r.nu, r.region, r.value, r.weight, r.numbers)
	}
	r.each("alone", n, int32(n), r.root, r.joins, r.value, r.weight, r.links, r.filled)
	group()
	sum := device.Buffer{}
	if f.proven {
		sum = r.value
		r.each("border", m, int32(m), r.g.tail, r.g.head, f.cap, f.most, r.region, f.values, sum)
	}
	r.each("settle", n, int32(n), r.region, sum, r.weight, r.o.Lambda2, f.values, r.root, r.numbers)
	if r.o.Lambda2 > 0 {
		s.Fill(r.numbers.At(8*lassoCount), 0, 8)
		group()
	}
	res := f.res
	var gap, squares float64
	res.Objective, gap, squares = r.figure(f.values, f.flows, f, ys, r.o.Lambda2)
	var numbers [2]int64
	s.Download(unsafe.Pointer(&numbers), r.numbers.At(8*lassoCount), 16)
	res.Regions, res.Zeros, res.Proven = int(numbers[0]), int(numbers[1]), f.proven
	if gap > 0 {
		res.Gap = gap / max(res.Objective, 1e-15*squares)
	}
}

// A lassoWait is what is left of a job, which waits for a pool.
type lassoWait struct {
	job  int
	f    *lassoFound
	part lassoShare
	t    float64 // of the momentum
}

// all solves jobs. What is left of each of several is set aside, and a pool of such parts is solved
// as one, until all regions are proven: small parts take about as long for an iteration as large
// ones. Graphs of which a pool holds several are set aside as a whole.
func (r *lassoRun) all(jobs []lassoJob, nu []float64) (list []*FusedLassoResult, stores []device.Store) {
	s, n, m, edges := r.s, int64(r.g.n), int64(r.g.m), int64(r.g.edges)
	list, stores = make([]*FusedLassoResult, len(jobs)), make([]device.Store, len(jobs))
	limit := int64(0)
	if len(jobs) > 1 {
		if limit = int64(r.t.aside * float64(m)); 2*m <= int64(lassoTogether) {
			limit = m
		}
	}
	window := int(max(1, min(int64(len(jobs)), int64(lassoMemory)/(n+edges+m+1))))
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

// pool solves the parts that wait, whose jobs have places in values and flows from number lo on.
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

// result makes the solution a vector on the device.
func (r *lassoRun) result(f *lassoFound) device.Store {
	v := r.s.NewFull(1, r.g.n, workflow.DoubleType)
	if r.g.n > 0 {
		r.s.Copy(v.Val, f.values, 8*int64(r.g.n))
	}
	return r.s.Result(v, int64(r.g.n))
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
				together := lassoTogether
				if 2*graph.m > together {
					together = lassoRests * together
				}
				room = min(int64(max(graph.m, together)), int64(len(jobs)*graph.m))
			}
			list, stores = newLassoRun(s, graph, nu, o, room).all(jobs, nu)
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
