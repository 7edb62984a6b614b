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
	// totals computes Totals of a whole graph.
	totals() error
	// values returns the states of all vertices.
	values() sparse.Values
	// close sets whether vertices take no messages, from their states.
	close(list []int32)
	// terms appends the terms of total t of vertices lo … hi−1.
	terms(to []float64, t, lo, hi int) []float64
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
	e := engineOf(nil, sparse.As[E](edges.Joined.Transpose(o.Threads)), &p, o)
	e.plan, e.in = plan, sparse.As[E](edges.Joined)
	return e
}

func (e *engine[V, E, M]) base() *frame { return &e.frame }

func (e *engine[V, E, M]) values() sparse.Values { return sparse.ValuesOf(e.state) }

func (e *engine[V, E, M]) close(list []int32) {
	if e.closed != nil {
		for _, v := range list {
			e.closed[v] = bit(e.p.Skip.Func(e.state[v]))
		}
	}
}

func (e *engine[V, E, M]) terms(to []float64, t, lo, hi int) []float64 {
	k, f := e.workers[0], e.p.Totals[t].Func
	for v := lo; v < hi; v++ {
		to = append(to, f(k.at(v), e.state[v]))
	}
	return to
}

// hostRun runs a program on the host, on the part of a rank or on a whole graph.
type hostRun struct {
	*rank
	host  hostEngine
	e     *frame     // of the engine
	h     *halo.Part // nil of a whole graph
	own   []int32    // own active vertices
	marks []uint8    // of active vertices; 0 between exchanges
}

// runOnHost runs a program on a whole graph on the host. result returns the states.
func runOnHost(p *outline, o Options, host hostEngine, result func() (rep.View, error)) (*outcome, error) {
	x := &hostRun{rank: &rank{p: p, o: o}, host: host, e: host.base()}
	if err := x.rank.run(x, 1, 0); err != nil {
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
	x := &hostRun{rank: r, host: host, e: e, h: h, marks: make([]uint8, len(h.Ids))}
	if err := r.run(x, h.Hops, x.mostTerms()); err != nil {
		return err
	}
	own := of.Clone(of.Slice(host.values(), int64(h.Lo), int64(h.Hi)))
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
	if err := x.host.start(); err != nil {
		return tally{}, err
	}
	return x.after()
}

func (x *hostRun) run(first int, active int64, own []tally, plans []string) (err error) {
	e := x.e
	e.sparse = x.h != nil && active < int64(x.n)
	for t := range own {
		e.round.Superstep = first + t
		if err := x.s.Ended(); err != nil {
			return err
		}
		step := Step{Plan: "none"}
		if e.front.count > 0 || x.p.everywhere {
			if err := x.host.superstep(&step); err != nil {
				return err
			}
		}
		plans[t] = step.Plan
		if own[t], err = x.after(); err != nil {
			return err
		}
	}
	return nil
}

// after counts the active own vertices, and lists those of a part. It computes Totals of a whole
// graph.
func (x *hostRun) after() (t tally, err error) {
	f, h := &x.e.front, x.h
	if h == nil {
		return tally{f.count, f.edges}, x.host.totals()
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
	return t, nil
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

// Totals have the bits of one place: they are sums of the sums of blocks of the whole graph. A rank
// adds the sums of its blocks, and the terms of vertices of blocks that are cut.

// eachPiece calls f for the pieces of the vertices of a rank that lie in one block of Totals. block
// says that a piece is a whole one.
func (x *hostRun) eachPiece(rank int, f func(lo, hi int, whole bool)) {
	for lo := x.cuts[rank]; lo < x.cuts[rank+1]; {
		hi := min((lo/block+1)*block, x.cuts[rank+1])
		f(lo, hi, lo%block == 0 && (hi%block == 0 || hi == x.n))
		lo = hi
	}
}

// mostTerms returns the numbers that the rank with most of them adds to Totals.
func (x *hostRun) mostTerms() (most int) {
	many := len(x.p.totals)
	for r := range x.c.Size() {
		n := 0
		x.eachPiece(r, func(lo, hi int, whole bool) {
			if whole {
				lo = hi - 1
			}
			n += many * (hi - lo)
		})
		most = max(most, n)
	}
	return most
}

func (x *hostRun) terms(to []float64) {
	var list []float64
	x.eachPiece(x.c.Rank(), func(lo, hi int, whole bool) {
		at := lo - x.h.From + x.h.Lo
		for t := range x.p.totals {
			list = x.host.terms(list[:0], t, at, at+hi-lo)
			if whole {
				sum := 0.0
				for _, term := range list {
					sum += term
				}
				list = append(list[:0], sum)
			}
			to = to[copy(to, list):]
		}
	})
}

func (x *hostRun) total(terms [][]float64) {
	many := len(x.p.totals)
	total, part := make([]float64, many), make([]float64, many)
	for r, list := range terms {
		x.eachPiece(r, func(lo, hi int, whole bool) {
			for t := range many {
				n := hi - lo
				if whole {
					n, part[t] = 1, 0
				}
				for _, term := range list[:n] {
					part[t] += term
				}
				list = list[n:]
			}
			if hi%block == 0 || hi == x.n {
				for t := range total {
					total[t] += part[t]
					part[t] = 0
				}
			}
		})
	}
	x.e.round.Total = total // functions of this superstep may have kept the slice before
}

func (x *hostRun) totals() []float64 { return x.e.round.Total }
