package apps

import (
	_ "embed"
	"math"
	"math/bits"
	"slices"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

//go:embed kernels/lasso.cu
var lassoText string

// Constants of kernels/lasso.cu.
const (
	lassoTile    = 4 * graphBlock
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

// lassoTogether bounds the arcs of the columns of a batch that are solved together, as copies of
// the graph: as many as hb_lasso_hold holds on an H200. An iteration there takes about as long for
// 10,000 arcs as for these. Tests lower it.
var lassoTogether = 1_300_000

// lassoSweeps is the number of sweeps of bounds between two looks of the host. Bounds of planar
// graphs settle within five.
const lassoSweeps = 8

func lassoProgram() device.Program {
	return graphProgram("lasso", "fused lasso", lassoText, map[string]any{
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
	share    int64   // least arcs of a block of hb_lasso_hold
	blocks   int64   // of hb_lasso_hold, at most; 0: the multiprocessors
	burst    int     // iterations of a launch of hb_lasso_hold, at most
	launched bool    // without hb_lasso_hold
}

// lassoOnDevice is measured on an H200: a triangulated planar graph of 213k vertices (λ₁ = 1) takes
// 24 ms with 200 iterations between checks, 30 to 43 with 100.
var lassoOnDevice = lassoTuning{first: 200, more: .15, freeze: 1. / 32, patience: 4, enough: 3000, rest: 1. / 1000, share: 4096, burst: 1 << 20}

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

// copies returns the graph of so many copies of g, for the session.
func (g *lassoGraph) copies(r *lassoRun, count int) *lassoGraph {
	s := r.s
	all := &lassoGraph{n: count * g.n, m: count * g.m, edges: count * g.edges, same: g.same, least: g.least}
	all.ptr, all.tail = s.Alloc(4*int64(all.n+1)), s.Alloc(4*int64(all.m))
	all.head, all.name = s.Alloc(4*int64(all.m)), s.Alloc(4*int64(all.m))
	if g.weight.Addr != 0 {
		all.weight = s.Alloc(8 * int64(all.m))
	}
	r.each("copies", int64(max(all.n+1, all.m)), int32(count), int32(g.n), int32(g.m), int32(g.edges), g.ptr, g.tail, g.head, g.name, g.weight,
		all.ptr, all.tail, all.head, all.name, all.weight)
	return all
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

	raw     bool    // solve leaves out finish
	divided []int32 // the vertices that the host solved
}

func newLassoRun(s *device.Session, g *lassoGraph, nu []float64, o FusedLassoOptions) *lassoRun {
	r := &lassoRun{s: s, g: g, o: o, t: lassoOnDevice, kernels: map[string]device.Kernel{}}
	r.code = s.Program("apps: fused lasso", lassoProgram)
	n, m := int64(max(g.n, 1)), int64(max(g.m, 1))
	r.total = float64(g.n)
	if nu != nil {
		inv := make([]float64, len(nu))
		r.total = 0
		for v, x := range nu {
			inv[v] = 1 / x
			r.total += x
		}
		r.nu, r.inv = s.Upload(unsafe.Pointer(&nu[0]), 8*n), s.Upload(unsafe.Pointer(&inv[0]), 8*n)
		s.Sync()
	}
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
	vertices := make([]int32, n)
	for v := range vertices {
		vertices[v] = int32(v)
	}
	p := &r.first
	*p = lassoShare{n: int64(g.n), m: int64(g.m), ptr: g.ptr, tail: g.tail, head: g.head, name: g.name, nu: r.nu, inv: r.inv, shared: true}
	p.vertex = s.Ints(vertices)
	p.step, p.degree = s.Alloc(4*m), s.Alloc(4*n)
	r.each("degrees", p.n, int32(p.n), p.ptr, p.inv, p.degree)
	r.each("steps", p.m, int32(p.m), p.tail, p.head, p.degree, p.step)
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

// A lassoFound is a solution on a device.
type lassoFound struct {
	res           *FusedLassoResult
	values, flows device.Buffer
	cap           device.Buffer
	most          float64
	proven        bool
}

func (f *lassoFound) free(s *device.Session) {
	for _, b := range []device.Buffer{f.values, f.flows, f.cap} {
		if b.Addr != 0 {
			s.Free(b)
		}
	}
}

// solve returns the solution for λ₂ = 0. It starts from the flow of another λ₁ unless that is nil.
func (r *lassoRun) solve(y []float64, nu []float64, lambda1 float64, before *lassoFound) *lassoFound {
	s, n, m := r.s, int64(r.g.n), int64(r.g.m)
	mean, scale, bound := 0.0, 0.0, 0.0
	one := func(v int) float64 {
		if nu == nil {
			return 1
		}
		return nu[v]
	}
	for v, x := range y {
		mean += x * (one(v) / r.total)
		scale = max(scale, math.Abs(x))
	}
	for v, x := range y {
		bound += one(v) * math.Abs(x-mean)
	}
	f := &lassoFound{res: &FusedLassoResult{Lambda1: lambda1}, proven: true}
	f.most = min(lambda1*r.g.same, bound)
	if r.g.weight.Addr != 0 {
		f.cap = s.Alloc(8 * m)
		r.each("capacities", m, int32(m), r.g.weight, lambda1, bound, f.cap)
	}
	f.values, f.flows = s.Alloc(8*max(n, 1)), s.Zeros(8*max(int64(r.g.edges), 1))
	if n == 0 {
		return f
	}
	ys := s.Upload(unsafe.Pointer(&y[0]), 8*n)
	if lambda1 == 0 || bound == 0 || m == 0 {
		s.Copy(f.values, ys, 8*n)
		if !r.raw {
			r.finish(f, ys)
		}
		return f
	}
	p := r.first
	p.cap = f.cap
	p.u, p.w, p.x = s.Alloc(8*m), s.Alloc(8*m), s.Zeros(8*n)
	p.load, p.ahead, p.out = s.Alloc(8*n), s.Alloc(8*n), s.Alloc(8*n)
	if before == nil {
		s.Fill(p.u, 0, 8*m)
	} else {
		r.each("warm", m, int32(m), r.g.name, f.cap, f.most, before.cap, before.most, before.flows, p.u)
		r.each("drain", m, int32(m), p.tail, p.u, p.x)
	}
	s.Copy(p.w, p.u, 8*m)
	r.each("start", n, int32(n), ys, r.nu, r.inv, p.x, p.ahead, p.load, f.values)
	golden := (1 + math.Sqrt(5)) / 2 // t of the second iteration
	start := [5]float64{0, 0, golden, math.Inf(1), math.Inf(1)}
	first := s.Upload(unsafe.Pointer(&start), 40)
	s.Copy(r.state, first, 40)
	s.Sync()
	s.Free(first)
	check, slow := r.t.first, 0
	if math.Min(lambda1*r.g.least, bound) >= bound {
		check = 0
	}
	for s.Err() == nil {
		r.iterate(&p, check-f.res.Iterations, f)
		f.res.Iterations = check
		s.Check()
		frozen := r.look(&p, f)
		if s.Err() != nil {
			break
		}
		if frozen < p.n && !r.o.Exact && r.near(&p, f, ys) {
			f.proven = false
			break
		}
		if frozen == p.n {
			r.freeze(&p, f)
			break
		}
		was := p.n
		if float64(frozen) >= r.t.freeze*float64(p.n) {
			p = r.freeze(&p, f)
		}
		r.o.report("fused lasso", n-p.n, n)
		if p.n == 0 || s.Err() != nil {
			break
		}
		if slow++; 5*p.n < 4*was || f.res.Iterations < r.t.enough {
			slow = 0
		}
		if float64(p.n) <= r.t.rest*float64(n) || slow > 0 && 100*p.n < n || slow >= r.t.patience {
			r.divide(&p, f, scale)
			break
		}
		check = f.res.Iterations + max(r.t.first, int(r.t.more*float64(f.res.Iterations)))
	}
	p.free(s)
	r.o.report("fused lasso", n, n)
	if !r.raw {
		r.finish(f, ys)
	}
	s.Free(ys)
	return f
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
	grid, block := residentGrid(s, k)
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
func (r *lassoRun) near(p *lassoShare, f *lassoFound, ys device.Buffer) bool {
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
	if !(gap <= lassoTolerance*objective) {
		s.Free(values)
		s.Free(flows)
		return false
	}
	s.Free(f.values)
	s.Free(f.flows)
	f.values, f.flows = values, flows
	return true
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

// divide solves what is left on the host.
func (r *lassoRun) divide(p *lassoShare, f *lassoFound, scale float64) {
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
		return
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
	o := r.o
	o.Exact, o.Progress = true, nil
	left := &lassoSolution{lasso: &lasso{n: r.g.n}, b: make([]float64, p.n), u: make([]float64, len(q.head)), proven: true}
	iterations := f.res.Iterations
	how := lassoDefaults
	how.first, how.work = 1, 1000 // iterations have not helped
	err := left.drive(q, f.res, o, how, threads, scale, false)
	f.res.Iterations = iterations
	f.res.Divided, r.divided = int(p.n), vertex
	s.Fail(err)
	if s.Err() != nil {
		return
	}
	put := func(places []int32, list []float64, to device.Buffer) {
		at, from := s.Ints(places), s.Upload(unsafe.Pointer(&list[0]), 8*int64(len(list)))
		r.each("put", int64(len(places)), int32(len(places)), at, from, to)
	}
	put(vertex, left.b, f.values)
	put(names, left.u, f.flows)
	s.Sync()
}

// finish computes the values of the regions from y and the flows over their borders, and the
// figures of the result.
func (r *lassoRun) finish(f *lassoFound, ys device.Buffer) {
	s, n, m := r.s, int64(r.g.n), int64(r.g.m)
	if s.Err() != nil {
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

// together solves several columns of a batch as one problem of copies of the graph, until all
// regions are proven, and returns their results.
func (r *lassoRun) together(all *lassoRun, ys [][]float64, nu []float64, lambda1 float64) (list []*FusedLassoResult, stores []device.Store) {
	s, n, edges := r.s, int64(r.g.n), int64(r.g.edges)
	var y, weights []float64
	for _, column := range ys {
		y, weights = append(y, column...), append(weights, nu...)
	}
	all.divided = nil
	f := all.solve(y, weights, lambda1, nil)
	for c := range ys {
		if s.Err() != nil {
			return nil, nil
		}
		// The arcs of the first copy have the capacities of all.
		one := &lassoFound{res: &FusedLassoResult{Lambda1: lambda1, Iterations: f.res.Iterations}, proven: f.proven, most: f.most, cap: f.cap,
			values: f.values.At(8 * n * int64(c)), flows: f.flows.At(8 * edges * int64(c))}
		for _, v := range all.divided {
			if int64(v)/n == int64(c) {
				one.res.Divided++
			}
		}
		column := s.Upload(unsafe.Pointer(&ys[c][0]), 8*n)
		r.finish(one, column)
		s.Free(column)
		list, stores = append(list, one.res), append(stores, r.result(one))
		r.o.report("fused lasso, observations", int64(c+1), int64(len(ys)))
	}
	f.free(s)
	return list, stores
}

// result makes the solution a vector on the device.
func (r *lassoRun) result(f *lassoFound) device.Store {
	v := r.s.NewFull(1, r.g.n, doubleType)
	if r.g.n > 0 {
		r.s.Copy(v.Val, f.values, 8*int64(r.g.n))
	}
	return r.s.Result(v, int64(r.g.n))
}

// A lassoJob is a fused lasso to solve; warm ones start from the flow of the job before.
type lassoJob struct {
	y      []float64
	lambda float64
	warm   bool
}

// fusedLassos solves fused lassos of a graph on a device. Each is as if alone, but for warm starts.
//
// A batch, jobs of the same λ₁, is solved as many columns at a time as fit.
func fusedLassos[T semiring.Number](at device.Runner, g matrix.Source[T], o FusedLassoOptions, jobs []lassoJob) ([]*FusedLassoResult, error) {
	batch := len(jobs) > 1 && !slices.ContainsFunc(jobs, func(j lassoJob) bool { return j.warm })
	n, err := square("FusedLasso", g)
	if err != nil {
		return nil, err
	}
	operand, err := access.Operand(g.View(), at)
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
	list, stores := make([]*FusedLassoResult, len(jobs)), make([]device.Store, len(jobs))
	for ready := n == 0; ; ready = true {
		if !ready {
			// The graph may be there from an earlier call.
			err := at.Run(o.call("FusedLasso"), func(s *device.Session) {
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
		err := at.Run(o.call("FusedLasso"), func(s *device.Session) {
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
			r := newLassoRun(s, graph, nu, o)
			if size := min(len(jobs), lassoTogether/max(graph.m, 1)); batch && size > 1 && graph.m > 0 {
				var all *lassoRun
				for lo := 0; lo < len(jobs) && s.Err() == nil; lo += size {
					hi := min(lo+size, len(jobs))
					if all == nil || all.g.n != (hi-lo)*n {
						exact := o
						exact.Exact, exact.Progress = true, nil
						var weights []float64
						if nu != nil {
							weights = slices.Repeat(nu, hi-lo)
						}
						all = newLassoRun(s, graph.copies(r, hi-lo), weights, exact)
						all.raw = true
					}
					var ys [][]float64
					for _, job := range jobs[lo:hi] {
						ys = append(ys, job.y)
					}
					found, kept := r.together(all, ys, nu, jobs[lo].lambda)
					copy(list[lo:], found)
					copy(stores[lo:], kept)
				}
				return
			}
			var before *lassoFound
			for k, job := range jobs {
				if !job.warm || before != nil && before.res.Lambda1 == 0 {
					before = nil
				}
				if math.IsInf(job.lambda, 1) {
					before = nil
				}
				f := r.solve(job.y, nu, job.lambda, before)
				if s.Err() != nil {
					return
				}
				list[k], stores[k] = f.res, r.result(f)
				if len(jobs) == 1 {
					return
				}
				if before != nil {
					before.free(s)
				}
				if before = f; k+1 == len(jobs) || !jobs[k+1].warm {
					f.free(s)
					before = nil
				}
				if !job.warm {
					o.report("fused lasso, observations", int64(k+1), int64(len(jobs)))
				}
			}
		})
		if err != nil {
			return nil, err
		}
		if !missing {
			break
		}
	}
	for k, res := range list {
		res.B = placed[float64](at, n, stores[k])
		o.traceRan(at, "FusedLasso", device.Ran{Method: "dual", Work: int64(res.Iterations)}, int64(n))
	}
	return list, nil
}
