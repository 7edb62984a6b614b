package gpuside

import (
	_ "embed"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/cusparse/driver"
)

//go:embed kernels/own.cu
var ownSource string

// The constants of kernels/own.cu.
const (
	ownPart    = 64
	ownCentres = 8
	ownNone    = math.MaxInt32
)

// ownLong is the number of entries from which a block takes a row.
const ownLong = 1024

// ownLook is the number of passes after which the host looks whether a loop has ended.
const ownLook = 8

// Own runs the algorithms of kernels/own.cu on a graph.
type Own struct {
	s             *Peers
	m             *sideMemory
	n             int
	ptr, idx, val driver.Ptr
	longs         driver.Ptr // the rows that a block takes
	nLongs, parts int
	lanes         int
}

// NewOwn puts a graph with values on the device.
func NewOwn[T int32 | float32](s *Peers, compiler func() (driver.Compiler, error), g *gen.Graph, val []T) (*Own, error) {
	if g.NNZ() >= 1<<31 {
		return nil, fmt.Errorf("%d entries need offsets of 64 bits", g.NNZ())
	}
	if err := s.load(ownSource, "own.cu", compiler); err != nil {
		return nil, err
	}
	o := &Own{s: s, m: s.memory(), n: g.NRows, lanes: 2}
	var longs []int32
	for i := range g.NRows {
		d := int(g.Ptr[i+1] - g.Ptr[i])
		o.parts += (d + ownPart - 1) / ownPart
		if d > ownLong {
			longs = append(longs, int32(i))
		}
	}
	slices.SortFunc(longs, func(i, j int32) int { return len(g.Row(int(j))) - len(g.Row(int(i))) })
	for o.lanes < 8 && int64(o.lanes)*int64(g.NRows) < g.NNZ() {
		o.lanes *= 2
	}
	o.ptr, o.idx, o.val, o.longs, o.nLongs = put(o.m, offsets(g)), put(o.m, g.Idx), put(o.m, val), put(o.m, longs), len(longs)
	if o.m.err != nil {
		o.Close()
		return nil, o.m.err
	}
	return o, nil
}

// Close frees the memory.
func (o *Own) Close() { o.m.free() }

// contender is a run with its device bound, by the clock of the host; do waits for the end.
func (o *Own) contender(do func() error) Contender {
	return Contender{Name: "by hand", Once: true, Clock: Wall, Do: func() error { return o.s.do(do) }}
}

// result reads values.
func result[T any](o *Own, n int, from driver.Ptr) ([]T, error) {
	list := make([]T, n)
	return list, o.s.do(func() error { return read(o.s, list, from) })
}

// Reach is the least costs from source by so many hops within a budget; math.MaxInt32 is none.
func (o *Own) Reach(source int, hops int64, budget int) (Contender, func() ([]int32, error)) {
	s, n := o.s, uint64(o.n)
	cost, next, touched := o.m.alloc(4*n), o.m.alloc(4*n), o.m.alloc(4*n)
	queue, counters := o.m.alloc(8*uint64(o.parts)), o.m.alloc(8*uint64(hops+1))
	return o.contender(func() error {
		if o.m.err != nil {
			return o.m.err
		}
		if err := errors.Join(s.ctx.Fill32(cost, ownNone, n, s.stream), s.ctx.Fill32(next, ownNone, n, s.stream), s.fill(counters, 0, 8*uint64(hops+1)),
			s.launch("reach_start", 1, o.ptr, source, cost, queue, counters)); err != nil {
			return err
		}
		var left [1]uint32
		for h := range hops {
			items := counters + driver.Ptr(8*h)
			if err := errors.Join(
				s.launch("reach_relax", s.blocks, o.ptr, o.idx, o.val, queue, items, cost, next, budget, touched, items+4),
				s.launch("reach_commit", s.blocks, o.ptr, touched, items+4, cost, next, queue, items+8)); err != nil {
				return err
			}
			if h%ownLook == ownLook-1 {
				if err := read(s, left[:], items+8); err != nil || left[0] == 0 {
					return err
				}
			}
		}
		return s.ctx.Sync(s.stream)
	}), func() ([]int32, error) { return result[int32](o, o.n, cost) }
}

// Spread is the strongest labels that reach each vertex from seeds; 0 is none.
func (o *Own) Spread(seeds []int32, with []int64, least int64) (Contender, func() ([]int64, error)) {
	const passes = 4096
	s, n := o.s, uint64(o.n)
	best, stamp := o.m.alloc(8*n), o.m.alloc(4*n)
	queues, counters := [2]driver.Ptr{o.m.alloc(8 * uint64(o.parts)), o.m.alloc(8 * uint64(o.parts))}, o.m.alloc(4*(passes+1))
	from, values := put(o.m, seeds), put(o.m, with)
	return o.contender(func() error {
		if o.m.err != nil {
			return o.m.err
		}
		if err := errors.Join(s.fill(best, 0, 8*n), s.fill(stamp, 0, 4*n), s.fill(counters, 0, 4*(passes+1)),
			s.launch("spread_start", 1, o.ptr, from, values, len(seeds), best, queues[0], counters)); err != nil {
			return err
		}
		var left [1]uint32
		for p := range passes {
			items := counters + driver.Ptr(4*p)
			if err := s.launch("spread_relax", s.blocks, o.ptr, o.idx, o.val, queues[p%2], items, best, stamp, p+1, uint64(least), queues[1-p%2], items+4); err != nil {
				return err
			}
			if p%ownLook == ownLook-1 {
				if err := read(s, left[:], items+4); err != nil || left[0] == 0 {
					return err
				}
			}
		}
		return fmt.Errorf("bench: labels spread for more than %d passes", passes)
	}), func() ([]int64, error) { return result[int64](o, o.n, best) }
}

// Jacobi is the solution for the right side b.
func (o *Own) Jacobi(b []float32, tolerance float32, sweeps int) (Contender, func() ([]float32, error)) {
	s, n := o.s, uint64(o.n)
	right, inverse := put(o.m, b), o.m.alloc(4*n)
	x, largest := [2]driver.Ptr{o.m.alloc(4 * n), o.m.alloc(4 * n)}, o.m.alloc(4*uint64(sweeps+1))
	seen, last := make([]float32, sweeps+1), 0
	return o.contender(func() error {
		if o.m.err != nil {
			return o.m.err
		}
		if err := errors.Join(s.fill(x[0], 0, 4*n), s.fill(largest, 0, 4*uint64(sweeps+1)), s.ctx.Fill32(largest, math.Float32bits(float32(math.Inf(1))), 1, s.stream),
			s.launch("jacobi_inverse", s.blocks, o.n, o.ptr, o.idx, o.val, inverse)); err != nil {
			return err
		}
		for p := range sweeps {
			before := largest + driver.Ptr(4*p)
			if err := s.launch("jacobi_sweep", s.blocks+o.nLongs, o.n, o.ptr, o.idx, o.val, right, inverse, x[p%2], x[1-p%2],
				o.longs, o.nLongs, ownLong, o.lanes, tolerance, before, before+4); err != nil {
				return err
			}
			if p%ownLook < ownLook-1 && p < sweeps-1 {
				continue
			}
			if err := read(s, seen, largest); err != nil {
				return err
			}
			for last = 1; last <= p+1; last++ {
				if seen[last] <= tolerance {
					return nil
				}
			}
			last = p + 1
		}
		return nil
	}), func() ([]float32, error) { return result[float32](o, o.n, x[last%2]) }
}

// KMeans is the clusters of the rows around eight centres, which are rows first.
func (o *Own) KMeans(columns int, first []int32, rounds int) (Contender, func() ([]int32, error)) {
	s, entries := o.s, ownCentres*uint64(columns)
	centre, sums, label, start := o.m.alloc(4*entries), o.m.alloc(4*entries), o.m.alloc(4*uint64(o.n)), put(o.m, first)
	// Counters of each round: rows of each centre, half of its square, and whether a row changed.
	const each = 4 * (2*ownCentres + 1)
	counters := o.m.alloc(each * uint64(rounds+2))
	at := func(round, k int) driver.Ptr { return counters + driver.Ptr(each*round+4*k) }
	return o.contender(func() error {
		if o.m.err != nil {
			return o.m.err
		}
		if err := errors.Join(s.fill(centre, 0, 4*entries), s.fill(sums, 0, 4*entries), s.fill(label, 0xff, 4*uint64(o.n)), s.fill(counters, 0, each*uint64(rounds+2)),
			s.fill(at(0, 2*ownCentres), 1, 1),
			s.launch("kmeans_first", ownCentres, o.ptr, o.idx, o.val, start, centre, at(0, ownCentres))); err != nil {
			return err
		}
		var changed [1]uint32
		for r := range rounds {
			before := at(r, 2*ownCentres)
			if err := errors.Join(
				s.launch("kmeans_assign", s.blocks+o.nLongs, o.n, o.ptr, o.idx, o.val, centre, at(r, ownCentres),
					o.longs, o.nLongs, ownLong, label, at(r, 0), sums, before, at(r+1, 2*ownCentres)),
				s.launch("kmeans_centre", s.blocks, entries, at(r, 0), sums, centre, at(r+1, ownCentres), before)); err != nil {
				return err
			}
			if r%ownLook == ownLook-1 {
				if err := read(s, changed[:], at(r+1, 2*ownCentres)); err != nil || changed[0] == 0 {
					return err
				}
			}
		}
		return s.ctx.Sync(s.stream)
	}), func() ([]int32, error) { return result[int32](o, o.n, label) }
}
