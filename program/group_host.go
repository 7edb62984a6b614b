package program

import (
	"slices"
	"sort"

	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/program/internal/halo"
)

// hostEngine is an engine of the host without its element types.
type hostEngine interface {
	base() *frame
	start() error
	superstep(*Step) error
	// values returns the states of all vertices, and own a copy of some as values of a type.
	values() sparse.Values
	own(of *sparse.Type, lo, hi int) sparse.Values
	// failed returns the first error of the functions.
	failed() error
	// close sets whether vertices take no messages, from their states.
	close(list []int32)
	// terms writes the terms of Totals; see engine.terms.
	terms(to []float64, list []piece, shift int) error
}

// engineOfPart returns the engine of the part of a rank, whose rows are the in-edges of its
// vertices.
func engineOfPart[V, E, M comparable](h *halo.Part, edges *halo.Host, whole *Program[V, E, M], o Options, plan direction) hostEngine {
	p := *whole
	var seeds []Seed[V]
	for _, s := range p.Seeds {
		if v, ok := h.Find(int32(s.ID)); ok {
			seeds = append(seeds, Seed[V]{int(v), s.State})
		}
	}
	p.Seeds, p.Priority.Func = seeds, nil
	e := engineOf(nil, p.typed(edges.Joined.Transpose(o.Threads)), &p, o)
	e.plan, e.in = plan, p.typed(edges.Joined)
	return e
}

func (e *engine[V, E, M]) base() *frame { return &e.frame }

func (e *engine[V, E, M]) values() sparse.Values { return sparse.ValuesOf(e.state) }

func (e *engine[V, E, M]) own(of *sparse.Type, lo, hi int) sparse.Values {
	if e.p.store != nil {
		return e.p.store(of, e.state[lo:hi])
	}
	return of.Clone(of.Slice(e.values(), int64(lo), int64(hi)))
}

func (e *engine[V, E, M]) failed() error {
	if e.p.failed != nil {
		return e.p.failed()
	}
	return nil
}

func (e *engine[V, E, M]) close(list []int32) {
	if e.closed != nil {
		for _, v := range list {
			e.closed[v] = bit(e.workers[0].p.Skip.Func(e.state[v]))
		}
	}
}

// hostRun runs a program on the host, on the part of a rank or on a whole graph.
type hostRun struct {
	*rank
	host  hostEngine
	e     *frame     // of the engine
	h     *halo.Part // nil of a whole graph
	own   []int32    // own active vertices
	marks []uint8    // of active vertices; 0 between exchanges

	pieces [][]piece // of the vertices of each rank
	shift  int       // of the numbers of own vertices on the rank
}

// runOnHost runs a program on a whole graph on the host. result returns the states.
func runOnHost(p *outline, o Options, host hostEngine, result func() (rep.View, error)) (*outcome, error) {
	n := host.base().n
	x := &hostRun{rank: &rank{p: p, o: o, n: n, cuts: []int{0, n}}, host: host, e: host.base()}
	if err := x.rank.run(x, 1, x.cut()); err != nil {
		return nil, err
	}
	states, err := result()
	if err != nil {
		return nil, err
	}
	x.state, x.active = states, x.active+x.e.delayed.count
	return x.limited(p.name, p.supersteps)
}

// onHost runs the program on the part of a rank on the host; see runByParts.
func (r *rank) onHost(in, out rep.View, block rep.Matrix, engine func(h *halo.Part, edges *halo.Host) hostEngine) error {
	of := block.Type()
	edges := halo.OnHost(r.cuts[r.c.Rank()], in.Rows(), out.Rows())
	h, err := halo.Make(r.s, r.c, r.cuts, edges, r.partOptions(in.Type().Size, of.Size, halo.HostMemory, halo.HostLaunch))
	if err != nil {
		return err
	}
	host := engine(h, edges)
	e := host.base()
	e.ctx, e.ids, e.deg, e.round.N = r.s.Context, renumbered(h.Ids, r.o.Numbers), edges.Deg, r.n
	x := &hostRun{rank: r, host: host, e: e, h: h, marks: make([]uint8, len(h.Ids)), shift: h.Lo - h.From}
	if err := r.run(x, h.Hops, x.cut()); err != nil {
		return err
	}
	own := host.own(of, h.Lo, h.Hi)
	block.SetResult(&sparse.Store{Val: own, Type: of, Structure: sparse.Structure{
		Format: sparse.Full, NRows: 1, NCols: own.Len(), NVals: int64(own.Len())}})
	return nil
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
	err := x.host.start()
	if err == nil {
		err = x.host.failed()
	}
	if err != nil {
		return tally{}, err
	}
	return x.after(), nil
}

func (x *hostRun) run(first int, active int64, own []tally, plans []string) error {
	e := x.e
	e.sparse = x.h != nil && active < int64(x.n)
	for t := range own {
		e.round.Superstep = first + t
		if err := x.s.Ended(); err != nil {
			return err
		}
		step := Step{Plan: "none"}
		if e.front.count > 0 || x.p.everywhere {
			err := x.host.superstep(&step)
			if err == nil {
				err = x.host.failed()
			}
			if err != nil {
				return err
			}
		}
		own[t], plans[t] = x.after(), step.Plan
	}
	return nil
}

// after counts the active own vertices, and lists the active own vertices of a part.
func (x *hostRun) after() (t tally) {
	f, h := &x.e.front, x.h
	if h == nil {
		return tally{f.count, f.edges}
	}
	x.own = nil
	switch {
	case f.all:
		x.own = halo.UpTo(h.Lo, h.Hi)
	case f.marks != nil && f.list == nil:
		x.own = appendMarked(nil, f.marks, h.Lo, h.Hi)
	default:
		for _, v := range f.list {
			if int(v) >= h.Lo && int(v) < h.Hi {
				x.own = append(x.own, v)
			}
		}
	}
	if !slices.IsSorted(x.own) { // of an exact sum
		slices.Sort(x.own)
	}
	t.count = int64(len(x.own))
	for _, v := range x.own {
		t.edges += int64(x.e.deg[v])
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
	copies, err := h.Exchange(x.s, x.c, x.host.values(), int(x.p.state.Size), x.marks)
	if err != nil {
		return err
	}
	for _, v := range list {
		x.marks[v] = 0
	}
	for _, ids := range h.Recv {
		x.host.close(ids)
	}
	before := sort.Search(len(copies), func(k int) bool { return int(copies[k]) >= h.Lo })
	list = slices.Concat(copies[:before], list, copies[before:])
	if len(list) == e.n {
		e.front = frontier{all: true, count: int64(e.n), edges: e.edges.NVals}
		return nil
	}
	e.front = frontier{list: list, count: int64(len(list))}
	for _, v := range list {
		e.front.edges += int64(e.degree(int(v)))
	}
	return nil
}

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
	return x.host.terms(to, x.pieces[x.number()], x.shift)
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
	x.e.round.Total = total // functions of this superstep may have kept the slice before
}

func (x *hostRun) totals() []float64 { return x.e.round.Total }
