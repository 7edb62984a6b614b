package program

import (
	"context"
	"fmt"
	"slices"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/program/internal/halo"
)

// partEngine is the engine of a rank, without its element types.
type partEngine interface {
	base() *frame
	start() error
	superstep(*Step) error
	// values returns the states of all vertices.
	values() sparse.Values
	// close sets whether vertices take no messages, from their states.
	close(list []int32)
	// terms appends the terms of total t of vertices lo … hi−1.
	terms(to []float64, t, lo, hi int) []float64
}

// runOnGroup runs a program on the ranks of a group. engine returns the engine of the part of a
// rank, and states a vector of states.
func runOnGroup(
	ctx context.Context, g *comm.Group, a rep.View, p *outline, o Options, states func(n int, at matrix.Place) rep.View,
	engine func(h *halo.Part, o Options, plan direction) partEngine,
) (*outcome, error) {
	if onGPUs(g) {
		return runOnGPUs(ctx, g, a, p, o, states)
	}
	plan, err := hostPlan(p.name, o.Plan)
	if err != nil {
		return nil, err
	}
	for k := range g.Ranks() {
		if at := g.PlaceOf(k); at != nil {
			return nil, &PlanError{p.name, o.Plan, "a rank is on " + at.String() + ", and others are on the host", "use ranks on devices, or ranks of the host"}
		}
	}
	if p.edges.given {
		return nil, &ProgramError{p.name, "Edges", "may send to any vertex, and a rank has those around its own", "use Send or Gather, or matrix.Move(nil)"}
	}
	_, n := a.Dims()
	state := states(n, g)
	if err := state.Err(); err != nil {
		return nil, err
	}
	ordered := p.ordered()
	if ordered && plan == auto {
		plan = pull
	}
	if ordered || p.everywhere || p.halt != nil || len(p.totals) > 0 || o.Hops == 0 {
		o.Hops = 1
	}
	if ctx != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	wait := ctx // of collectives: other processes would wait for the ranks of this one
	if len(g.Ranks()) == g.Size() {
		wait = nil
	}
	c, err := halo.Cut(wait, g, a, o.Hops, o.Machine, state.Type().Size)
	if err != nil {
		return nil, err
	}
	o.Threads = max(1, g.Threads())
	ranks := make([]*rank, len(c.Part))
	err = g.Each(func(k int, r comm.Comm) error {
		ranks[k] = newRank(wait, r, c, k, p, engine(c.Part[k], o, plan))
		ranks[k].e.ctx = ctx
		return ranks[k].run()
	})
	if err != nil {
		return nil, err
	}
	for _, r := range ranks {
		if r.err != nil {
			return nil, r.err
		}
	}
	first := ranks[0]
	if first.ended == stopped { // a rank of another process
		return nil, &comm.RankError{Rank: -1, Cause: fmt.Errorf("%s: a rank of another process failed; see its output", p.name)}
	}
	res := &outcome{state: state, supersteps: first.steps, total: first.e.round.Total, active: first.active.count, ended: first.ended}
	if err := storeStates(wait, g, state, ranks, c.Cuts); err != nil {
		return nil, err
	}
	if res.ended == Full && p.supersteps != res.supersteps {
		return res, &LimitError{p.name, res.supersteps, res.active}
	}
	return res, nil
}

// storeStates makes the states of the ranks the vector.
func storeStates(ctx context.Context, g *comm.Group, state rep.View, ranks []*rank, cuts []int) error {
	t, err := state.OnGroup().Target(ctx, g, true, true, cuts)
	if err != nil {
		return err
	}
	of := state.Type()
	for k, r := range ranks {
		own := of.Clone(of.Slice(r.engine.values(), int64(r.h.Lo), int64(r.h.Hi)))
		t.Part(k).SetResult(&sparse.Store{Val: own, Type: of, Structure: sparse.Structure{
			Format: sparse.Full, NRows: 1, NCols: own.Len(), NVals: int64(own.Len())}})
	}
	return t.Keep()
}

// stopped ends a run after the local work failed on some rank.
const stopped Ended = "stopped"

// tally counts active vertices and their out-edges.
type tally struct{ count, edges int64 }

// rank runs the part of a program of one rank.
type rank struct {
	wait   context.Context // of collectives
	c      comm.Comm
	p      *outline
	engine partEngine
	e      *frame // of the engine
	h      *halo.Part
	n      int
	cuts   []int
	hops   int
	quiet  bool // another rank of this process tells Progress and Trace
	active tally
	marks  []uint8 // of active vertices; 0 between exchanges
	steps  int
	ended  Ended
	err    error // of local work
}

func newRank(wait context.Context, c comm.Comm, g *halo.Graph, k int, p *outline, engine partEngine) *rank {
	h, e := g.Part[k], engine.base()
	e.ids, e.deg = h.Ids, h.Deg
	if numbers := e.o.Numbers; numbers != nil {
		e.ids = make([]int32, len(h.Ids))
		for v, at := range h.Ids {
			e.ids[v] = numbers[at]
		}
	}
	n := g.Cuts[len(g.Cuts)-1]
	e.round.N = n
	return &rank{wait: wait, c: c, p: p, engine: engine, e: e, h: h, n: n, cuts: g.Cuts, hops: g.Hops,
		quiet: k > 0, marks: make([]uint8, len(h.Ids))}
}

// engineOfPart returns the engine of the part of a rank, whose rows are the in-edges of its
// vertices.
func engineOfPart[V, E, M comparable](h *halo.Part, whole *Program[V, E, M], o Options, plan direction) partEngine {
	p := *whole
	var seeds []Seed[V]
	for _, s := range p.Seeds {
		v := h.Number(int32(s.ID))
		if int(v) < len(h.Ids) && h.Ids[v] == int32(s.ID) {
			seeds = append(seeds, Seed[V]{int(v), s.State})
		}
	}
	p.Seeds, p.Priority.Func = seeds, nil
	e := engineOf(nil, sparse.As[E](h.In.Transpose(o.Threads)), &p, o)
	e.plan, e.in = plan, sparse.As[E](h.In)
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

// run runs supersteps until the end. An error of local work is kept in r.err, and all ranks end
// together; others end the group.
func (r *rank) run() error {
	e, p := r.e, r.p
	r.err = r.engine.start()
	counts, err := r.agree([]tally{r.own()})
	if err != nil || counts == nil {
		return err
	}
	r.active = counts[0]
	if err := r.totals(); err != nil {
		return err
	}
	for {
		if r.active.count == 0 && !(p.everywhere && r.steps == 0) {
			r.ended = Quiet
			return nil
		}
		stages := r.hops
		for _, most := range []int{p.supersteps, e.o.MaxSupersteps} {
			if most > 0 {
				stages = min(stages, most-r.steps)
			}
		}
		if stages == 0 {
			r.ended = Full
			return nil
		}
		began, before := r.steps, r.active
		e.sparse = before.count < int64(r.n)
		own := make([]tally, stages)
		names := make([]string, stages)
		for t := range stages {
			if names[t], r.err = r.superstep(began + t); r.err != nil {
				break
			}
			own[t] = r.own()
		}
		if counts, err = r.agree(own); err != nil || counts == nil {
			return err
		}
		for t, after := range counts {
			r.reportStep(began+t, names[t], before)
			r.steps, r.active, before = r.steps+1, after, after
			if after.count == 0 {
				break
			}
		}
		if r.active.count > 0 || p.everywhere {
			if err := r.refresh(); err != nil {
				return err
			}
		}
		if err := r.totals(); err != nil {
			return err
		}
		if p.halt != nil && p.halt(r.steps-1, e.round.Total) {
			r.ended = Halted
			return nil
		}
	}
}

// superstep runs a superstep on the vertices of the rank. It returns the plan.
func (r *rank) superstep(number int) (string, error) {
	e := r.e
	e.round.Superstep = number
	if e.ctx != nil && e.ctx.Err() != nil {
		return "", e.ctx.Err()
	}
	if e.front.count == 0 && !r.p.everywhere {
		return "none", nil
	}
	var step Step
	err := r.engine.superstep(&step)
	return step.Plan, err
}

// reportStep calls Progress and Trace for a superstep.
func (r *rank) reportStep(number int, plan string, active tally) {
	if r.quiet {
		return
	}
	if f := r.e.o.Progress; f != nil {
		f(number, active.count)
	}
	if f := r.e.o.Trace; f != nil {
		f(Step{number, plan, active.count, active.edges})
	}
}

// own counts the active vertices of the rank itself.
func (r *rank) own() (t tally) {
	f, h := &r.e.front, r.h
	switch {
	case f.all:
		t.count = int64(h.Hi - h.Lo)
		for _, d := range h.Deg[h.Lo:h.Hi] {
			t.edges += int64(d)
		}
	case f.marks != nil && f.list == nil:
		for v := h.Lo; v < h.Hi; v++ {
			t.count += int64(f.marks[v])
			t.edges += int64(f.marks[v]) * int64(h.Deg[v])
		}
	default:
		for _, v := range f.list {
			if int(v) >= h.Lo && int(v) < h.Hi {
				t.count++
				t.edges += int64(h.Deg[v])
			}
		}
	}
	return t
}

// agree adds the counts of all ranks. It returns nil, and ends the run, if local work failed on
// one.
func (r *rank) agree(own []tally) ([]tally, error) {
	words := []int64{int64(bit(r.err != nil))}
	for _, t := range own {
		words = append(words, t.count, t.edges)
	}
	all, err := halo.GatherRank(r.wait, r.c, words)
	if err != nil {
		return nil, err
	}
	sum := make([]tally, len(own))
	for i := range r.c.Size() {
		one := all[i*len(words) : (i+1)*len(words)]
		if one[0] != 0 {
			r.ended = stopped
			return nil, nil
		}
		for t := range sum {
			sum[t].count += one[1+2*t]
			sum[t].edges += one[2+2*t]
		}
	}
	return sum, nil
}

// refresh exchanges the states and the activity of copies.
func (r *rank) refresh() error {
	e, h := r.e, r.h
	f := &e.front
	var list []int32 // own active vertices
	active := r.marks
	switch {
	case f.all:
		for v := h.Lo; v < h.Hi; v++ {
			list = append(list, int32(v))
		}
	case f.marks != nil && f.list == nil:
		list = appendMarked(nil, f.marks, h.Lo, h.Hi)
	default:
		for _, v := range f.list {
			if int(v) >= h.Lo && int(v) < h.Hi {
				list = append(list, v)
			}
		}
	}
	for _, v := range list {
		active[v] = 1
	}
	var copies []int32
	err := halo.Exchange(r.wait, r.c, h.Send, h.Recv, r.engine.values(), int(r.p.state.Size), active, &copies)
	for _, v := range list {
		active[v] = 0
	}
	if err != nil {
		return err
	}
	for _, ids := range h.Recv {
		r.engine.close(ids)
	}
	list = append(list, copies...)
	slices.Sort(list)
	if len(list) == e.n {
		*f = frontier{all: true, count: int64(e.n), edges: e.edges.NVals}
		return nil
	}
	*f = frontier{list: list, count: int64(len(list))}
	for _, v := range list {
		f.edges += int64(e.degree(int(v)))
	}
	return nil
}

// totals computes Program.Totals with the bits of one place: from the sums of blocks of the whole
// graph, and the terms of blocks that are cut.
func (r *rank) totals() error {
	e := r.e
	many := len(r.p.totals)
	if many == 0 {
		return nil
	}
	counts := make([]int, r.c.Size())
	words := 0
	for i := range counts {
		for lo := r.cuts[i]; lo < r.cuts[i+1]; {
			hi := min((lo/block+1)*block, r.cuts[i+1])
			if !isBlock(lo, hi, r.n) {
				counts[i] += many * (hi - lo)
			} else {
				counts[i] += many
			}
			lo = hi
		}
		words += counts[i]
	}
	own := make([]float64, 0, counts[r.c.Rank()])
	for lo := r.h.From; lo < r.h.To; {
		hi := min((lo/block+1)*block, r.h.To)
		at := lo - r.h.From + r.h.Lo
		for t := range many {
			first := len(own)
			own = r.engine.terms(own, t, at, at+hi-lo)
			if isBlock(lo, hi, r.n) {
				sum := 0.0
				for _, term := range own[first:] {
					sum += term
				}
				own = append(own[:first], sum)
			}
		}
		lo = hi
	}
	all := make([]float64, words)
	if err := r.c.AllGatherV(r.wait, comm.Host(all), counts, comm.Host(own)); err != nil {
		return err
	}
	total, part := make([]float64, many), make([]float64, many)
	for i := range counts {
		for lo := r.cuts[i]; lo < r.cuts[i+1]; {
			hi := min((lo/block+1)*block, r.cuts[i+1])
			for t := range many {
				if isBlock(lo, hi, r.n) {
					part[t], all = all[0], all[1:]
					continue
				}
				for range hi - lo {
					part[t] += all[0]
					all = all[1:]
				}
			}
			if hi%block == 0 || hi == r.n {
				for t := range total {
					total[t] += part[t]
					part[t] = 0
				}
			}
			lo = hi
		}
	}
	e.round.Total = total
	return nil
}

// isBlock reports whether vertices lo … hi−1 are a block of totals.
func isBlock(lo, hi, n int) bool { return lo%block == 0 && (hi%block == 0 || hi == n) }
