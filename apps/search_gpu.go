package apps

import (
	_ "embed"
	"errors"
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

// walkKey is the key of a program, by the type of the values of edges.
type walkKey struct{ values string }

// slotBytes is the size of a slot of kernels/search.cu.
const slotBytes = 16

// The walks of a launch, and the vertices of walks that a launch keeps for Each.
const (
	deviceWalks = 1 << 24
	deviceCells = 1 << 26
)

func walkProgram(t device.Type) device.Program {
	p := graphProgram("search", "graph search", philoxText+searchText, map[string]any{
		"HB_SEARCH_CURVE": curvePoints, "HB_SEARCH_PART": sumWalks, "HB_PHILOX_ROUNDS": philox.Rounds,
		"HB_SEARCH_TRIES": drawTries, "HB_SEARCH_RESTART": drawRestart,
	})
	p.Types = []device.Typedef{{Name: "HB_T", Type: t}}
	return p
}

// walkPrograms are the programs of GraphSearch.
func walkPrograms(t device.Type) []device.Program { return []device.Program{walkProgram(t)} }

// errWeights says that a device met a weight that cannot be used; the host finds the first.
var errWeights = errors.New("a weight cannot be used")

// fuses reports whether the kernels have these settings.
func (o *SearchOptions) fuses(scores *Scores) bool {
	return o.Weight == nil && (scores == nil || scores.of == nil)
}

// fusedWalks walks on a device. Its error is errWeights if a weight cannot be used.
func fusedWalks[T comparable](s *searcher, at device.Runner, a matrix.View[T]) error {
	g, err := access.Operand(a, at)
	if err != nil || s.walks == 0 {
		return err
	}
	o := &s.opts
	t, err := device.TypeOf[T]()
	if err != nil {
		return err
	}
	if !o.Weighted { // one program is enough
		t = doubleType
	}
	ends := make([]int64, o.Length+1)
	err = at.Run(o.call("GraphSearch"), func(d *device.Session) {
		g.Pattern = g.Pattern || !o.Weighted
		rows, n := d.Rows(g), int64(s.n)
		code := d.Program(walkKey{t.Name}, func() device.Program { return walkProgram(t) })
		kernel := func(name string) device.Kernel { return d.Kernel(code, "hb_search_"+name) }
		var score, weight, mass, slots, best, second, begins, visits, sums, cells device.Buffer
		if s.scores.of != nil {
			score = d.Upload(unsafe.Pointer(&s.scores.of[0]), 8*n)
		}
		warps := min((n+graphBlock/32-1)/(graphBlock/32), int64(d.Multiprocessors())*64)
		entries := max(rows.Entries, 1)
		if o.Weighted {
			weight = d.Alloc(8 * entries)
			bad, by := d.Zeros(8), score
			if o.Rule == SearchUniform {
				by = device.Buffer{}
			}
			d.Each(kernel("weights"), rows.Entries, rows.Entries, rows.Idx, rows.Val, by, o.Rule != SearchGreedy, weight, bad)
			if d.Read(bad, 0) != 0 {
				d.Fail(errWeights)
				return
			}
		}
		switch {
		case o.Rule == SearchGreedy:
			best, second = d.Alloc(4*n), d.Alloc(4*n)
			d.Blocks(kernel("best"), warps, graphBlock, int32(n), rows.Ptr, rows.Idx, score, weight, best, second)
		case o.Rule == SearchStochastic || o.Weighted:
			mass = d.Alloc(8 * entries)
			slots = d.Alloc(slotBytes * entries)
			d.Blocks(kernel("mass"), warps, graphBlock, int32(n), rows.Ptr, rows.Idx, score, weight, mass)
			sums, places := d.Alloc(8*entries), d.Alloc(4*entries)
			d.Blocks(kernel("slots"), warps, graphBlock, int32(n), rows.Ptr, rows.Idx, mass, sums, places, slots)
			d.Free(sums)
			d.Free(places)
			if !o.NonBacktracking {
				d.Free(mass)
			}
		}
		if weight.Addr != 0 {
			d.Free(weight)
		}
		if s.starts != nil {
			begins = d.Ints(numbers(s.starts))
		}
		first, early := d.Alloc(4*n), d.Zeros(8*int64(o.Length+1))
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
			args := []any{rows.Ptr, rows.Idx, slots, best, begins, int64(o.PerStart), lo, count, int32(o.Length),
				int64(o.Seed), score, first, visits, sums, cells, early}
			if o.Restart > 0 || o.NonBacktracking {
				d.Each(kernel("walk_more"), count, append(args, second, mass, int64(o.Restart*restartCertain), o.NonBacktracking)...)
			} else {
				d.Each(kernel("walk"), count, args...)
			}
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
		d.Download(unsafe.Pointer(&ends[0]), early, 8*int64(o.Length+1))
		d.Download(unsafe.Pointer(&s.first[0]), first, 4*n)
		if s.visits != nil {
			d.Download(unsafe.Pointer(&s.visits[0]), visits, 8*n)
		}
	})
	if err != nil {
		return err
	}
	s.res.Restarts = ends[o.Length]
	alive := s.walks
	for step := 1; step < o.Length; step++ {
		alive -= ends[step-1]
		s.res.Ended += ends[step-1]
		s.res.Steps += alive
		s.steps[s.point(step)] += alive
	}
	return nil
}
