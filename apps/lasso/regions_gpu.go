package lasso

import (
	"math/bits"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/parallel"
)

// findProven finds the regions of a part that are proven and final, and returns the number of their
// vertices.
func (r *lassoRun) findProven(p *lassoShare, f *lassoFound) int64 {
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
	if q = q.freeze(q.findCandidates(), b, flows, threads); q != nil {
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
	res.Objective, gap, squares = r.objectives(f.values, f.flows, f, ys, r.o.Lambda2)
	var numbers [2]int64
	s.Download(unsafe.Pointer(&numbers), r.numbers.At(8*lassoCount), 16)
	res.Regions, res.Zeros, res.Proven = int(numbers[0]), int(numbers[1]), f.proven
	if gap > 0 {
		res.Gap = gap / max(res.Objective, 1e-15*squares)
	}
}
