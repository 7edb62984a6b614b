package search

import (
	_ "embed"
	"errors"
	"unsafe"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/philox"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

//go:embed kernels/search.cu
var searchText string

// walkKey is the key of a program, by the type of the values of edges and the text of the caller's
// weight.
type walkKey struct{ values, own string }

// slotBytes is the size of a slot of kernels/search.cu.
const slotBytes = 16

// The walks of a launch, and the vertices of walks that a launch keeps for Each.
const (
	deviceWalks = 1 << 24
	deviceCells = 1 << 25
)

// In the search of the best neighbours, the threads of a row, and the entries above which a block
// takes a row: a warp a row needed longer for the hubs of R-MAT 22 than for all other rows.
const (
	shortRowLanes = 8
	longRow       = 512
)

// walkProgram returns the kernels. own is the CUDA text of a weight of x, the score, and y, the
// value of the edge, or "".
func walkProgram(t device.Type, own string) device.Program {
	p := workflow.GraphProgram("search", "graph search", workflow.PhiloxText+searchText, map[string]any{
		"HB_SEARCH_CURVE": curvePoints, "HB_SEARCH_PART": sumWalks, "HB_PHILOX_ROUNDS": philox.Rounds,
		"HB_SEARCH_OWN": 0, "HB_SEARCH_TRIES": drawTries, "HB_SEARCH_RESTART": drawRestart,
		"HB_SEARCH_BIASED": drawBiased, "HB_SEARCH_BIAS_TRIES": biasTries, "HB_SEARCH_BIAS_SHORT": biasShort,
		"HB_SEARCH_LANES": shortRowLanes, "HB_SEARCH_LONG": longRow,
	})
	p.Types = []device.Typedef{{Name: "HB_T", Type: t}}
	if own != "" {
		p.Defines["HB_SEARCH_OWN"] = 1
		p.Head = "HB_DEVICE double hb_search_own(double x, double y) { typedef double A; typedef double B; typedef double C; typedef double T; return (double)(" +
			own + "); }\n"
	}
	return p
}

func init() { device.Describe("search", walkPrograms) }

// walkPrograms are the programs of GraphSearch.
func walkPrograms(t device.Type) []device.Program { return []device.Program{walkProgram(t, "")} }

// errWeights says that a device met a weight that cannot be used; the host finds the first.
var errWeights = errors.New("a weight cannot be used")

// fuses reports whether the kernels have these settings.
func (o *SearchOptions) fuses(scores *Scores) bool {
	return (o.Weight == nil || o.Weight.Op().CUDA() != "") && (scores == nil || scores.of == nil)
}

// fusedWalks walks on a device. Its error is errWeights if a weight cannot be used.
func fusedWalks(s *searcher, at device.Runner, a rep.View) error {
	g, err := a.Operand(at)
	count := s.to - s.from
	if err != nil || count == 0 && s.room == 0 {
		return err
	}
	if count == 0 {
		return at.Run(workflow.Call(s.opts.Run, "GraphSearch"), func(d *device.Session) { s.keep(d, device.Buffer{}, device.Buffer{}) })
	}
	o := &s.opts
	t, err := device.TypeFor(sparse.GoType(a.Type()))
	if err != nil {
		return err
	}
	valued, own := o.Weighted, ""
	if o.Weight != nil {
		valued, own = true, o.Weight.Op().CUDA()
	}
	if !valued { // one program is enough
		t = workflow.DoubleType
	}
	ends := make([]int64, o.Length+1)
	var kept device.Store
	err = at.Run(workflow.Call(o.Run, "GraphSearch"), func(d *device.Session) {
		g.Pattern = g.Pattern || !valued
		rows, n := d.Rows(g), int64(s.n)
		code := d.Program(walkKey{t.Name, own}, func() device.Program { return walkProgram(t, own) })
		kernel := func(name string) device.Kernel { return d.Kernel(code, "hb_search_"+name) }
		var score, weight, mass, slots, best, second, begins, first, visits, sums, cells, packed, scored, list, live device.Buffer
		if s.scores.of != nil {
			score = d.Upload(unsafe.Pointer(&s.scores.of[0]), 8*n)
		}
		warps := min((n+workflow.GraphBlock/32-1)/(workflow.GraphBlock/32), int64(d.Multiprocessors())*64)
		entries := max(rows.Entries, 1)
		if valued {
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
			long, longs := d.Alloc(4*n), d.Zeros(8)
			d.Blocks(kernel("best"), warps, workflow.GraphBlock, int32(n), rows.Ptr, rows.Idx, score, weight, best, second, long, longs)
			d.Blocks(kernel("best_long"), int64(d.Multiprocessors())*8, workflow.GraphBlock, rows.Ptr, rows.Idx, score, weight, best, second, long, longs)
			d.Free(long)
		case o.Rule == SearchStochastic || valued:
			mass = d.Alloc(8 * entries)
			slots = d.Alloc(slotBytes * entries)
			d.Blocks(kernel("mass"), warps, workflow.GraphBlock, int32(n), rows.Ptr, rows.Idx, score, weight, mass)
			sums, places := d.Alloc(8*entries), d.Alloc(4*entries)
			d.Blocks(kernel("slots"), warps, workflow.GraphBlock, int32(n), rows.Ptr, rows.Idx, mass, sums, places, slots)
			d.Free(sums)
			d.Free(places)
			if !o.remembers() {
				d.Free(mass)
			}
		}
		if weight.Addr != 0 {
			d.Free(weight)
		}
		if s.starts != nil {
			begins = d.Ints(workflow.Numbers(s.starts))
		}
		early := d.Zeros(8 * int64(o.Length+1))
		if s.starts != nil || count < s.walks { // else every vertex is a start
			first = d.Alloc(4 * max(n, int64(s.room)))
			d.Fill(first, 0xFF, 4*max(n, int64(s.room)))
		}
		more, form := o.Restart > 0 || o.remembers(), "walk"
		switch {
		case more || o.Length == 1:
		case o.Rule == SearchGreedy:
			form = "walk_chase"
		case rows.Entries < 1<<32:
			form = "walk_packed"
		}
		if form != "walk" && (score.Addr != 0 || form == "walk_packed") {
			if score.Addr != 0 {
				scored = d.Alloc(16 * n)
			} else {
				packed = d.Alloc(8 * n)
			}
			d.Each(kernel("pack"), n, int32(n), rows.Ptr, best, score, packed, scored)
		}
		if o.Visits {
			visits = d.Zeros(8 * max(n, int64(s.room)))
		}
		size := min(count, deviceWalks)
		var sum []float64
		var cell [2][]int32 // one receives walks while Each has the other
		if o.Each != nil {
			if size = max(1, min(size, deviceCells/int64(o.Length))); size < count && size > sumWalks {
				size -= size % sumWalks
			}
			for k := range min(2, int((count+size-1)/size)) {
				cell[k] = make([]int32, size*int64(o.Length))
			}
		}
		var paths device.View
		switch {
		case o.Paths:
			paths = d.NewFull(int(count), o.Length, workflow.Int32Type)
		case o.Each != nil:
			cells = d.Alloc(4 * size * int64(o.Length))
		}
		compact := !more && o.Length > 1
		if compact {
			list, live = d.Alloc(4*size), d.Alloc(8)
		}
		var parts device.Buffer
		if s.scores.of != nil {
			sums = d.Alloc(8 * size)
			if size%sumWalks == 0 || size == count {
				sum = make([]float64, (size+sumWalks-1)/sumWalks)
				parts = d.Alloc(8 * int64(len(sum)))
			} else {
				sum = make([]float64, size)
			}
		}
		done, busy := make(chan error, 1), false
		finish := func() (err error) {
			if busy {
				busy, err = false, <-done
			}
			return err
		}
		defer finish()
		for lo := s.from; lo < s.to && d.Err() == nil; lo += size {
			count := min(size, s.to-lo)
			if o.Paths {
				cells = paths.Val.At(4 * (lo - s.from) * int64(o.Length))
			}
			args := []any{rows.Ptr, rows.Idx, slots, best, begins, int64(o.PerStart), lo, count, int32(o.Length),
				int64(o.Seed), score, first, visits, sums, cells, early}
			if compact {
				d.Fill(live, 0, 8)
				d.Each(kernel("live"), count, rows.Ptr, begins, int64(o.PerStart), lo, count, int32(o.Length), score, first, visits,
					sums, cells, early, list, live)
			}
			if more {
				d.Each(kernel("walk_more"), count, append(args, second, mass, int64(o.Restart*restartCertain), o.NonBacktracking,
					o.biased(), int64(s.bias.back), int64(s.bias.common), int64(s.bias.away))...)
			} else { // a thread a walk: threads of several walks end at different times
				d.Blocks(kernel(form), (count+workflow.GraphBlock-1)/workflow.GraphBlock, workflow.GraphBlock, append(args, packed, scored, list, live)...)
			}
			switch {
			case parts.Addr != 0:
				d.Blocks(kernel("parts"), min((count+32*sumWalks-1)/(32*sumWalks), int64(d.Multiprocessors())*16), 32, count, sums, parts)
				d.Download(unsafe.Pointer(&sum[0]), parts, 8*((count+sumWalks-1)/sumWalks))
			case sum != nil:
				d.Download(unsafe.Pointer(&sum[0]), sums, 8*count)
			}
			if o.Each != nil {
				d.Download(unsafe.Pointer(&cell[0][0]), cells, 4*count*int64(o.Length))
			}
			if d.Check(); d.Err() != nil {
				return
			}
			switch {
			case parts.Addr != 0:
				s.parts = append(s.parts, sum[:(count+sumWalks-1)/sumWalks]...)
			case sum != nil:
				s.addScores(lo, sum[:count])
			}
			if o.Each != nil {
				if err := finish(); err != nil {
					d.Fail(err)
					return
				}
				block := SearchBlock{lo, o.Length, cell[0][:count*int64(o.Length)]}
				busy = true
				go func() { done <- o.Each(block) }()
				cell[0], cell[1] = cell[1], cell[0]
			}
			workflow.Report(o.Run, "graph search", lo+count-s.from, s.to-s.from)
		}
		if err := finish(); err != nil {
			d.Fail(err)
			return
		}
		d.Download(unsafe.Pointer(&ends[0]), early, 8*int64(o.Length+1))
		switch {
		case s.room > 0:
			if first.Addr == 0 { // every vertex is a start
				first = d.Alloc(4 * int64(s.room))
				d.Fill(first, 0xFF, 4*int64(s.room))
				d.Fill(first, 0, 4*n)
			}
			s.keep(d, first, visits)
		case first.Addr != 0:
			d.Download(unsafe.Pointer(&s.first[0]), first, 4*n)
		default:
			clear(s.first)
		}
		if s.visits != nil && s.room == 0 {
			d.Download(unsafe.Pointer(&s.visits[0]), visits, 8*n)
		}
		if o.Paths {
			kept = d.Result(paths, count*int64(o.Length))
		}
	})
	if err != nil {
		return err
	}
	if o.Paths {
		s.res.Paths = matrix.New[int32](int(count), o.Length, matrix.On(at.Place()))
		access.SetRemote(s.res.Paths, kept)
	}
	s.res.Restarts = ends[o.Length]
	alive := count
	for step := 1; step < o.Length; step++ {
		alive -= ends[step-1]
		s.res.Ended += ends[step-1]
		s.res.Steps += alive
		s.steps[s.point(step)] += alive
	}
	return nil
}

// moversAt is movers on a device.
func moversAt(s *searcher, at device.Runner, a rep.View) ([]int64, error) {
	g, err := a.Operand(at)
	if err != nil {
		return nil, err
	}
	g.Pattern = true
	list := make([]int64, (s.walks+sumWalks-1)/sumWalks)
	if len(list) == 0 {
		return nil, nil
	}
	err = at.Run(workflow.Call(s.opts.Run, "GraphSearch"), func(d *device.Session) {
		rows, parts := d.Rows(g), int64(len(list))
		var starts device.Buffer
		if s.starts != nil {
			starts = d.Ints(workflow.Numbers(s.starts))
		}
		code := d.Program(walkKey{workflow.DoubleType.Name, ""}, func() device.Program { return walkProgram(workflow.DoubleType, "") })
		movers := d.Alloc(8 * parts)
		warps := min((parts+workflow.GraphBlock/32-1)/(workflow.GraphBlock/32), int64(d.Multiprocessors())*64)
		d.Blocks(d.Kernel(code, "hb_search_movers"), warps, workflow.GraphBlock, int32(parts), s.walks, rows.Ptr, starts,
			int64(s.opts.PerStart), movers)
		d.Download(unsafe.Pointer(&list[0]), movers, 8*parts)
	})
	return list, err
}

// searchFound is what walks have found, on a device: the point of the curve at which each vertex
// was first visited, 32 bits, and with Visits the number of visits, 64 bits.
type searchFound struct{ first, visits device.Buffer }

func (f *searchFound) release() {
	f.first.Release()
	f.visits.Release()
	*f = searchFound{}
}

// keep keeps what the walks of a session have found; without buffers, nothing is found.
func (s *searcher) keep(d *device.Session, first, visits device.Buffer) {
	if first.Addr == 0 {
		first = d.Alloc(4 * int64(s.room))
		d.Fill(first, 0xFF, 4*int64(s.room))
		if s.opts.Visits {
			visits = d.Zeros(8 * int64(s.room))
		}
	}
	s.found.first = d.Retain(first)
	if visits.Addr != 0 {
		s.found.visits = d.Retain(visits)
	}
}

// fetch copies the points of items vertices to the host.
func (f *searchFound) fetch(at device.Runner, c device.Call, first []uint32, from int) error {
	if len(first) == 0 {
		return nil
	}
	return at.Run(c, func(d *device.Session) {
		d.Download(unsafe.Pointer(&first[0]), f.first.At(4*int64(from)), 4*int64(len(first)))
	})
}

// curve counts items vertices by the point of their first visit.
func (f *searchFound) curve(at device.Runner, c device.Call, points, from, items int) ([]int64, error) {
	counts := make([]int64, points)
	err := at.Run(c, func(d *device.Session) {
		sums := d.Zeros(8 * int64(points))
		code := d.Program(walkKey{workflow.DoubleType.Name, ""}, func() device.Program { return walkProgram(workflow.DoubleType, "") })
		d.Blocks(d.Kernel(code, "hb_search_curve"), int64(d.Multiprocessors())*4, workflow.GraphBlock, int64(items), f.first.At(4*int64(from)),
			int32(points), sums)
		d.Download(unsafe.Pointer(&counts[0]), sums, 8*int64(points))
	})
	return counts, err
}

// counts makes a vector of the visits of items vertices, an entry for each that was visited, or for
// all of them.
func (f *searchFound) counts(at device.Runner, c device.Call, from, items int, all bool) (store device.Store, err error) {
	err = at.Run(c, func(d *device.Session) {
		n := int64(items)
		var out device.View
		if all {
			out = d.NewFull(1, items, workflow.LongType)
		} else {
			present := d.Alloc(max(n, 1))
			code := d.Program(walkKey{workflow.DoubleType.Name, ""}, func() device.Program { return walkProgram(workflow.DoubleType, "") })
			d.Each(d.Kernel(code, "hb_search_present"), n, n, f.first.At(4*int64(from)), present)
			out = d.NewBitmap(items, workflow.LongType, present)
		}
		d.Copy(out.Val, f.visits.At(8*int64(from)), 8*n)
		entries := int64(-1)
		if all {
			entries = n
		}
		store = d.Result(out, entries)
	})
	return store, err
}

// resultAt is result for walks with finds on a device.
func (s *searcher) resultAt(at device.Runner) (*SearchResult, error) {
	defer s.found.release()
	call := workflow.Call(s.opts.Run, "GraphSearch")
	var err error
	if s.countable() {
		s.counted, err = s.found.curve(at, call, len(s.steps), 0, s.n)
	} else {
		s.first = make([]uint32, s.n)
		err = s.found.fetch(at, call, s.first, 0)
	}
	if err != nil {
		return nil, err
	}
	res, err := s.result()
	if err != nil || !s.opts.Visits {
		return res, err
	}
	visits, err := s.found.counts(at, call, 0, s.n, res.Distinct == int64(s.n))
	if err != nil {
		return nil, err
	}
	res.Visits = workflow.Placed[int64](at, s.n, visits)
	return res, nil
}
