package program

import (
	"slices"
	"sort"

	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/program/internal/halo"
	"github.com/hiveblas/hiveblas/program/internal/host"
)

// hostRun runs a program on the host, on the part of a rank or on a whole graph.
type hostRun struct {
	*rank
	hostPart
	parts []hostPart // of the phases
	own   []int32    // own active vertices of a part
	marks []uint8    // of active vertices; 0 between exchanges

	pieces [][]piece // of the vertices of each rank
}

// hostPart is the engine of a phase, and its part of the graph. Phases along edges in one direction
// have one part.
type hostPart struct {
	e *host.Engine
	h *halo.Part // nil of a whole graph
}

// shift is the difference of the engine's numbers of own vertices to their numbers on the rank.
func (p hostPart) shift() int {
	if p.h == nil {
		return 0
	}
	return p.h.Lo - p.h.From
}

// runOnHost runs a program on a whole graph on the host, with an engine for each phase.
func runOnHost(p *outline, o Options, engines []*host.Engine) (*outcome, error) {
	n := engines[0].N
	x := &hostRun{rank: &rank{p: p, o: o, n: n, cuts: []int{0, n}}}
	for _, e := range engines {
		e.State = engines[0].State
		x.parts = append(x.parts, hostPart{e: e})
	}
	x.hostPart = x.parts[0]
	if err := x.rank.run(x, 1, x.cut()); err != nil {
		return nil, err
	}
	x.state = p.states(n, nil)
	x.state.SetStore(fullStore(x.state.Type(), p.stored(x.state.Type(), x.e.State)))
	x.active += x.e.Waiting()
	return x.limited(p.Name, p.supersteps)
}

// fullStore returns a vector of values.
func fullStore(of *sparse.Type, v sparse.Values) *sparse.Store {
	return &sparse.Store{Val: v, Type: of, Structure: sparse.Structure{
		Format: sparse.Full, NRows: 1, NCols: v.Len(), NVals: int64(v.Len())}}
}

// onHost runs the program on the part of a rank on the host; see runByParts.
func (r *rank) onHost(in, out rep.View, block rep.Matrix, plan host.Direction) error {
	x := &hostRun{rank: r}
	var edges [2]*halo.Host // along edges, and against them
	var parts [2]*halo.Part
	for _, p := range r.p.steps() {
		at := bit(p.reverse)
		if parts[at] == nil {
			to, from := in, out
			if p.reverse {
				to, from = out, in
			}
			edges[at] = halo.OnHost(r.cuts[r.c.Rank()], to.Rows(), from.Rows())
			var err error
			parts[at], err = halo.Make(r.s, r.c, r.cuts, edges[at], r.partOptions(in.Type().Size, p.State.Size, halo.HostMemory, halo.HostLaunch))
			if err != nil {
				return err
			}
		}
		h, own := parts[at], plan
		if p.ordered() && plan == host.Auto {
			own = host.Pull
		}
		e := host.OfPart(edges[at].Joined, &p.ofPart(h).Program, p.fn.Fork(), r.o.Threads, own)
		e.Ctx, e.Ids, e.Deg, e.Round.N = r.s.Context, renumbered(h.Ids, r.o.Numbers), edges[at].Deg, r.n
		x.parts = append(x.parts, hostPart{e, h})
		x.marks = slices.Grow(x.marks, len(h.Ids))
	}
	x.hostPart, x.marks = x.parts[0], x.marks[:cap(x.marks)]
	if err := r.run(x, x.h.Hops, x.cut()); err != nil {
		return err
	}
	t, of := r.p.State, block.Type()
	own := r.p.stored(of, t.Clone(t.Slice(x.e.State, int64(x.h.Lo), int64(x.h.Hi))))
	block.SetResult(fullStore(of, own))
	return nil
}

// ofPart returns the program for the part of a rank, with the seeds in it.
func (p *outline) ofPart(h *halo.Part) *outline {
	own := *p
	own.Seeds, own.SeedStates, own.Priority = nil, nil, false
	for k, id := range p.Seeds {
		if v, ok := h.Find(int32(id)); ok {
			own.Seeds = append(own.Seeds, int(v))
			if !p.InitSeeds {
				own.SeedStates = append(own.SeedStates, p.SeedStates[k])
			}
		}
	}
	return &own
}

// renumbered returns the numbers of vertices for functions.
func renumbered(ids, numbers []int32) []int32 {
	if numbers == nil {
		return ids
	}
	out := make([]int32, len(ids))
	for v, at := range ids {
		out[v] = numbers[at]
	}
	return out
}

func (x *hostRun) start() (first, all tally, err error) {
	if err = x.e.Start(); err == nil {
		err = x.e.Failed()
	}
	if err != nil {
		return first, all, err
	}
	first, all = x.after(), tally{int64(x.n), x.e.Out.NVals}
	if x.h != nil {
		all = tally{count: int64(x.h.Hi - x.h.Lo)}
		for _, d := range x.e.Deg[x.h.Lo:x.h.Hi] {
			all.edges += int64(d)
		}
	}
	if x.p.steps()[0].all {
		x.e.ActivateAll()
	}
	return first, all, nil
}

func (x *hostRun) run(first int, active int64, own []tally, plans []string) error {
	e := x.e
	e.Sparse = x.h != nil && active < int64(x.n)
	for t := range own {
		e.Round.Superstep = first + t
		if err := x.s.Ended(); err != nil {
			return err
		}
		plan := "none"
		if count, _ := e.Active(); count > 0 || e.P.Everywhere {
			var err error
			if plan, err = e.Superstep(); err == nil {
				err = e.Failed()
			}
			if err != nil {
				return err
			}
		}
		own[t], plans[t] = x.after(), plan
	}
	return nil
}

// after counts the active own vertices, and lists the active own vertices of a part.
func (x *hostRun) after() (t tally) {
	if x.h == nil {
		t.count, t.edges = x.e.Active()
		return t
	}
	x.own = x.e.ActiveIn(x.h.Lo, x.h.Hi)
	t.count = int64(len(x.own))
	for _, v := range x.own {
		t.edges += int64(x.e.Deg[v])
	}
	return t
}

func (x *hostRun) refresh(phase, _ int, _ int64) error {
	if err := x.enter(phase); err != nil || x.h == nil {
		return err
	}
	e, h, list := x.e, x.h, x.own
	for _, v := range list {
		x.marks[v] = 1
	}
	copies, err := h.Exchange(x.s, x.c, e.State, int(x.p.State.Size), x.marks)
	if err != nil {
		return err
	}
	for _, v := range list {
		x.marks[v] = 0
	}
	for _, ids := range h.Recv {
		e.Close(ids)
	}
	if x.p.steps()[phase].all {
		e.ActivateAll()
		return nil
	}
	before := sort.Search(len(copies), func(k int) bool { return int(copies[k]) >= h.Lo })
	e.Activate(slices.Concat(copies[:before], list, copies[before:]))
	return nil
}

// enter hands the states, the active vertices and Totals to the engine of a phase.
func (x *hostRun) enter(phase int) error {
	if len(x.parts) == 1 && !x.p.phased {
		return nil
	}
	old, next := x.hostPart, x.parts[phase]
	x.hostPart, next.e.Round.Total = next, old.e.Round.Total
	switch t := x.p.State; {
	case next.h == nil && x.p.phases[phase].all:
		next.e.ActivateAll()
	case next.h == nil:
		next.e.Activate(old.e.ActiveIn(0, x.n))
	case next.h == old.h:
		next.e.State = old.e.State
	default:
		t.Copy(t.Slice(next.e.State, int64(next.h.Lo), int64(next.h.Hi)), t.Slice(old.e.State, int64(old.h.Lo), int64(old.h.Hi)))
		for k := range x.own {
			x.own[k] += int32(next.h.Lo - old.h.Lo)
		}
	}
	return next.e.CloseAll()
}

// block is the number of vertices of a block of Totals.
const block = 4096

// A piece is vertices lo … hi−1 of a rank that lie in one block of Totals, which are sums of the
// sums of blocks of the whole graph. A rank adds the sums of its whole blocks, and the terms of
// vertices of blocks that are cut, so that Totals have the bits of one place.
type piece struct {
	lo, hi    int
	whole     bool
	at, width int // the numbers for the first total, among those of the rank
}

// cut cuts the vertices of each rank into pieces. It returns how many numbers each adds to Totals.
func (x *hostRun) cut() []int {
	many := len(x.p.totals)
	x.pieces = make([][]piece, len(x.cuts)-1)
	widths := make([]int, len(x.pieces))
	for r := range x.pieces {
		at := 0
		for lo := x.cuts[r]; lo < x.cuts[r+1] && many > 0; {
			p := piece{lo: lo, hi: min((lo/block+1)*block, x.cuts[r+1]), at: at}
			p.whole = lo%block == 0 && (p.hi%block == 0 || p.hi == x.n)
			if p.width = p.hi - lo; p.whole {
				p.width = 1
			}
			x.pieces[r] = append(x.pieces[r], p)
			lo, at = p.hi, at+many*p.width
		}
		widths[r] = at
	}
	return widths
}

func (x *hostRun) terms(to []float64) error {
	e, list := x.e, x.pieces[x.number()]
	return parallel.Range(e.Ctx, e.Threads, len(list), 1, func(w, lo, hi int) {
		for _, p := range list[lo:hi] {
			for t := range x.p.totals {
				e.Terms(w, t, p.lo+x.shift(), p.hi+x.shift(), p.whole, to[p.at+t*p.width:][:p.width])
			}
		}
	})
}

func (x *hostRun) total(terms [][]float64) {
	total, part := make([]float64, len(x.p.totals)), make([]float64, len(x.p.totals))
	for r, list := range terms {
		for _, p := range x.pieces[r] {
			for t := range total {
				for _, term := range list[p.at+t*p.width:][:p.width] {
					part[t] += term
				}
				if p.hi%block == 0 || p.hi == x.n {
					total[t] += part[t]
					part[t] = 0
				}
			}
		}
	}
	x.e.Round.Total = total // functions of this superstep may have kept the slice before
}

func (x *hostRun) totals() []float64 { return x.e.Round.Total }
