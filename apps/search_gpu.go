package apps

import (
	_ "embed"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/philox"
	"github.com/hiveblas/hiveblas/matrix"
)

//go:embed kernels/search.cu
var searchText string

//go:embed kernels/philox.cu
var philoxText string

// slotBytes is the size of a slot of kernels/search.cu.
const slotBytes = 16

// The walks of a launch, and the vertices of walks that a launch keeps for Each.
const (
	deviceWalks = 1 << 24
	deviceCells = 1 << 26
)

func walkProgram() device.Program {
	return graphProgram("search", "graph search", philoxText+searchText, map[string]any{
		"HB_SEARCH_CURVE": curvePoints, "HB_SEARCH_PART": sumWalks, "HB_PHILOX_ROUNDS": philox.Rounds,
	})
}

// fuses reports whether the kernels have these settings.
func (o *SearchOptions) fuses(scores *Scores) bool {
	return o.Restart == 0 && !o.NonBacktracking && !o.Weighted && o.Weight == nil && (scores == nil || scores.of == nil)
}

// fused walks on a device.
func (s *searcher) fused(at device.Runner, a matrix.View[bool]) error {
	g, err := access.Operand(a, at)
	if err != nil || s.walks == 0 {
		return err
	}
	o := &s.opts
	ends := make([]int64, o.Length)
	err = at.Run(o.call("GraphSearch"), func(d *device.Session) {
		g.Pattern = true
		rows, n := d.Rows(g), int64(s.n)
		code := d.Program("apps: graph search", walkProgram)
		kernel := func(name string) device.Kernel { return d.Kernel(code, "hb_search_"+name) }
		var score, slots, best, begins, visits, sums, cells device.Buffer
		if s.scores.of != nil {
			score = d.Upload(unsafe.Pointer(&s.scores.of[0]), 8*n)
		}
		warps := min((n+graphBlock/32-1)/(graphBlock/32), int64(d.Multiprocessors())*64)
		switch entries := max(rows.Entries, 1); o.Rule {
		case SearchGreedy:
			best = d.Alloc(4 * n)
			d.Blocks(kernel("best"), warps, graphBlock, int32(n), rows.Ptr, rows.Idx, score, best)
		case SearchStochastic:
			mass := d.Alloc(8 * entries)
			slots = d.Alloc(slotBytes * entries)
			d.Blocks(kernel("mass"), warps, graphBlock, int32(n), rows.Ptr, rows.Idx, score, mass)
			sums, places := d.Alloc(8*entries), d.Alloc(4*entries)
			d.Blocks(kernel("slots"), warps, graphBlock, int32(n), rows.Ptr, rows.Idx, mass, sums, places, slots)
			for _, b := range []device.Buffer{mass, sums, places} {
				d.Free(b)
			}
		}
		if s.starts != nil {
			begins = d.Ints(numbers(s.starts))
		}
		first, early := d.Alloc(4*n), d.Zeros(8*int64(o.Length))
		d.Fill(first, 0xFF, 4*n)
		if s.visits != nil {
			visits = d.Zeros(8 * n)
		}
		size := min(s.walks, deviceWalks)
		var sum []float64
		var cell []int32
		if o.Each != nil {
			if size = max(1, min(size, deviceCells/int64(o.Length))); size < s.walks && size > sumWalks {
				size -= size % sumWalks
			}
			cells, cell = d.Alloc(4*size*int64(o.Length)), make([]int32, size*int64(o.Length))
		}
		var parts device.Buffer
		if s.scores.of != nil {
			sums = d.Alloc(8 * size)
			if sum = make([]float64, size); size%sumWalks == 0 || size == s.walks {
				sum = sum[:(size+sumWalks-1)/sumWalks]
				parts = d.Alloc(8 * int64(len(sum)))
			}
		}
		for lo := int64(0); lo < s.walks && d.Err() == nil; lo += size {
			count := min(size, s.walks-lo)
			d.Each(kernel("walk"), count, rows.Ptr, rows.Idx, slots, best, begins, int64(o.PerStart), lo, count, int32(o.Length),
				int64(o.Seed), score, first, visits, sums, cells, early)
			switch {
			case parts.Addr != 0:
				d.Each(kernel("parts"), (count+sumWalks-1)/sumWalks, count, sums, parts)
				d.Download(unsafe.Pointer(&sum[0]), parts, 8*((count+sumWalks-1)/sumWalks))
			case sum != nil:
				d.Download(unsafe.Pointer(&sum[0]), sums, 8*count)
			}
			if cell != nil {
				d.Download(unsafe.Pointer(&cell[0]), cells, 4*count*int64(o.Length))
			}
			if d.Check(); d.Err() != nil {
				return
			}
			switch {
			case parts.Addr != 0:
				for _, x := range sum[:(count+sumWalks-1)/sumWalks] {
					s.res.ScoreSum += x
				}
			case sum != nil:
				s.addScores(lo, sum[:count])
			}
			if o.Each != nil {
				if err := o.Each(SearchBlock{lo, o.Length, cell[:count*int64(o.Length)]}); err != nil {
					d.Fail(err)
					return
				}
			}
			o.report("graph search", lo+count, s.walks)
		}
		d.Download(unsafe.Pointer(&ends[0]), early, 8*int64(o.Length))
		d.Download(unsafe.Pointer(&s.first[0]), first, 4*n)
		if s.visits != nil {
			d.Download(unsafe.Pointer(&s.visits[0]), visits, 8*n)
		}
	})
	if err != nil {
		return err
	}
	alive := s.walks
	for step := 1; step < o.Length; step++ {
		alive -= ends[step-1]
		s.res.Ended += ends[step-1]
		s.res.Steps += alive
		s.steps[s.point(step)] += alive
	}
	return nil
}
