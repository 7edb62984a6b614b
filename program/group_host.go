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
	e     *host.Engine
	h     *halo.Part // nil of a whole graph
	own   []int32    // own active vertices
	marks []uint8    // of active vertices; 0 between exchanges

	pieces [][]piece // of the vertices of each rank
	shift  int       // of the numbers of own vertices on the rank
}

// runOnHost runs a program on a whole graph on the host.
func runOnHost(p *outline, o Options, e *host.Engine) (*outcome, error) {
	x := &hostRun{rank: &rank{p: p, o: o, n: e.N, cuts: []int{0, e.N}}, e: e}
	if err := x.rank.run(x, 1, x.cut()); err != nil {
		return nil, err
	}
	x.state = p.states(e.N, nil)
	x.state.SetStore(fullStore(x.state.Type(), p.stored(x.state.Type(), e.State)))
	x.active += e.Waiting()
	return x.limited(p.Name, p.supersteps)
}

// fullStore returns a vector of values.
func fullStore(of *sparse.Type, v sparse.Values) *sparse.Store {
	return &sparse.Store{Val: v, Type: of, Structure: sparse.Structure{
		Format: sparse.Full, NRows: 1, NCols: v.Len(), NVals: int64(v.Len())}}
}

// onHost runs the program on the part of a rank on the host; see runByParts.
func (r *rank) onHost(in, out rep.View, block rep.Matrix, fn host.Functions, plan host.Direction) error {
	of := block.Type()
	edges := halo.OnHost(r.cuts[r.c.Rank()], in.Rows(), out.Rows())
	h, err := halo.Make(r.s, r.c, r.cuts, edges, r.partOptions(in.Type().Size, of.Size, halo.HostMemory, halo.HostLaunch))
	if err != nil {
		return err
	}
	p := r.p.ofPart(h)
	e := host.OfPart(edges.Joined, &p.Program, fn.Fork(), r.o.Threads, plan)
	e.Ctx, e.Ids, e.Deg, e.Round.N = r.s.Context, renumbered(h.Ids, r.o.Numbers), edges.Deg, r.n
	x := &hostRun{rank: r, e: e, h: h, marks: make([]uint8, len(h.Ids)), shift: h.Lo - h.From}
	if err := r.run(x, h.Hops, x.cut()); err != nil {
		return err
	}
	t := r.p.State
	own := r.p.stored(of, t.Clone(t.Slice(e.State, int64(h.Lo), int64(h.Hi))))
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

func (x *hostRun) start() (tally, error) {
	err := x.e.Start()
	if err == nil {
		err = x.e.Failed()
	}
	if err != nil {
		return tally{}, err
	}
	return x.after(), nil
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
		if count, _ := e.Active(); count > 0 || x.p.Everywhere {
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

func (x *hostRun) refresh(int, int64) error {
	e, h, list := x.e, x.h, x.own
	if h == nil {
		return nil
	}
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
	before := sort.Search(len(copies), func(k int) bool { return int(copies[k]) >= h.Lo })
	list = slices.Concat(copies[:before], list, copies[before:])
	e.Activate(list)
	return nil
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
				e.Terms(w, t, p.lo+x.shift, p.hi+x.shift, p.whole, to[p.at+t*p.width:][:p.width])
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
