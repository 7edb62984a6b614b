package lasso

import (
	"math"
	"unsafe"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/device"
)

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
func newLassoRun(s *device.Session, g *lassoGraph, nu []float64, o FusedLassoOptions, t lassoTuning, room int64) *lassoRun {
	r := &lassoRun{s: s, g: g, o: o, t: t, kernels: map[string]device.Kernel{}, room: room}
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
// a window of jobs. The lassoFound of a pool holds all of its jobs.
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

// restart sets the state of the momentum: one iteration without momentum, then the momentum of t; t
// = 1 begins.
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
		frozen := r.findProven(p, f)
		if s.Err() != nil {
			break
		}
		if frozen < p.n && f.jobs == 0 && !r.o.Exact && r.takeMeans(p, f) {
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

// takeMeans reports whether the means of the candidate regions of a part, with the final values of
// the other vertices, are within the tolerance of the optimum, and takes them if so.
func (r *lassoRun) takeMeans(p *lassoShare, f *lassoFound) bool {
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
	objective, gap, _ := r.objectives(values, flows, f, ys, 0)
	near := gap <= lassoTolerance*objective
	if near {
		s.Copy(f.values, values, 8*total)
		s.Copy(f.flows, flows, 8*int64(r.g.edges))
	}
	s.Free(values)
	s.Free(flows)
	return near
}

// objectives returns the objective, the duality gap and ½ Σ ν y².
func (r *lassoRun) objectives(values, flows device.Buffer, f *lassoFound, ys device.Buffer, lambda2 float64) (objective, gap, squares float64) {
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

// result makes the solution a vector on the device.
func (r *lassoRun) result(f *lassoFound) device.Store {
	v := r.s.NewFull(1, r.g.n, workflow.DoubleType)
	if r.g.n > 0 {
		r.s.Copy(v.Val, f.values, 8*int64(r.g.n))
	}
	return r.s.Result(v, int64(r.g.n))
}
