package program

import (
	"context"
	"slices"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/comm/spmd"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/program/internal/halo"
)

// partEngine runs a program on the part of a graph that a rank has, on the host or on a device.
// After an error, the methods do nothing but take part in collectives, until the ranks agree.
type partEngine interface {
	// start sets the states. It returns the active own vertices, and all own vertices.
	start() (first, all tally, err error)
	// run runs len(own) supersteps from number first on, where so many vertices of the whole
	// graph are active. It sets the active own vertices after each, and the plans.
	run(first int, active int64, own []tally, plans []string) error
	// terms writes what the rank adds to Totals.
	terms(to []float64) error
	// total computes Totals from the terms of all ranks, and totals returns them.
	total(terms [][]float64)
	totals() []float64
	// refresh begins the next phase: it exchanges the states and the activity of copies, after so
	// many supersteps. So many vertices of the whole graph are active.
	refresh(phase, steps int, active int64) error
}

// runOnGroup runs a program on the ranks of a group.
func runOnGroup(
	ctx context.Context, g *comm.Group, a rep.View, p *outline, o Options,
) (*outcome, error) {
	s := spmd.Begin(ctx, g, p.Name)
	if onGPUs(g) {
		return runOnGPUs(s, a, p, o)
	}
	plan, err := hostPlan(p.Name, o.Plan)
	if err != nil {
		return nil, err
	}
	for k := range g.Ranks() {
		if at := g.PlaceOf(k); at != nil {
			return nil, &PlanError{p.Name, o.Plan, "a rank is on " + at.String() + ", and others are on the host", "use ranks on devices, or ranks of the host"}
		}
	}
	if slices.ContainsFunc(p.steps(), func(p *outline) bool { return p.Edges }) {
		return nil, &ProgramError{p.Name, "Edges", "may send to any vertex, and a rank has those around its own", "use Send or Gather, or matrix.Move(nil)"}
	}
	o.Threads = max(1, g.Threads())
	return runByParts(s, a, p, o, func(r *rank, in, out rep.View, block rep.Matrix) error {
		return r.onHost(in, out, block, plan)
	})
}

// runByParts runs a program on the part of each rank. one makes the part of a rank from its rows of
// the graph, by target and by source, runs the program, and stores the own states in a block.
func runByParts(
	s *spmd.Session, a rep.View, p *outline, o Options,
	one func(r *rank, in, out rep.View, block rep.Matrix) error,
) (*outcome, error) {
	if p.phased || p.ordered() || p.Everywhere || p.halt != nil || len(p.totals) > 0 || o.Hops == 0 {
		o.Hops = 1
	}
	return withStates(s, a, p, func(cuts []int, t rep.GroupTarget) (*outcome, error) {
		in, err := a.T().Parts(rep.Query{Group: s.Group, Context: s.Wait, Cuts: cuts})
		if err != nil {
			return nil, err
		}
		out, err := a.Parts(rep.Query{Group: s.Group, Context: s.Wait, Cuts: cuts})
		if err != nil {
			return nil, err
		}
		ranks := make([]*rank, len(in))
		err = s.Each(func(k int, c comm.Comm) error {
			ranks[k] = &rank{s: s, c: c, at: k, p: p, o: o, n: cuts[len(cuts)-1], cuts: cuts}
			return one(ranks[k], in[k], out[k], t.Part(k))
		})
		return &ranks[0].outcome, err
	})
}

// withStates returns the outcome of a run on a group, with the states that run stores in the blocks
// of a vector, which is cut as the graph is.
func withStates(
	s *spmd.Session, a rep.View, p *outline, run func(cuts []int, t rep.GroupTarget) (*outcome, error),
) (*outcome, error) {
	_, n := a.Dims()
	state := p.states(n, s.Group)
	if err := state.Err(); err != nil {
		return nil, err
	}
	cuts, err := a.Cuts(s.Wait, s.Group)
	if err != nil {
		return nil, err
	}
	t, err := state.OnGroup().Target(s.Wait, s.Group, true, true, cuts)
	if err != nil {
		return nil, err
	}
	res, err := run(cuts, t)
	if err == nil {
		err = t.Keep()
	}
	if err != nil {
		return nil, err
	}
	res.state = state
	return res.limited(p.Name, p.supersteps)
}

// tally counts active vertices and their out-edges.
type tally struct{ count, edges int64 }

// rank runs the part of a program of one rank.
type rank struct {
	s    *spmd.Session
	c    comm.Comm
	at   int // among the ranks of this process; the first tells Progress and Trace
	p    *outline
	o    Options
	n    int // vertices of the whole graph
	cuts []int

	engine partEngine
	widths []int // numbers that each rank adds to Totals
	whole  tally // active vertices of the whole graph
	all    tally // all its vertices
	phase  int   // the next one
	outcome
}

// run runs supersteps until the end, with an exchange every hops of them. Rank q adds widths[q]
// numbers to Totals.
func (r *rank) run(engine partEngine, hops int, widths []int) (err error) {
	r.engine, r.widths = engine, widths
	r.ended, err = r.loop(hops)
	r.total, r.active = engine.totals(), r.whole.count
	return err
}

func (r *rank) loop(hops int) (Ended, error) {
	first, every, err := r.engine.start()
	counts, err := r.agree([]tally{first, every}, err)
	if err != nil {
		return "", err
	}
	r.whole, r.all = counts[0], counts[1]
	steps := r.p.steps()
	for {
		p := steps[r.phase]
		if r.phase == 0 && r.whole.count == 0 && !((p.Everywhere || p.all) && r.supersteps == 0) {
			return Quiet, nil
		}
		stages := hops
		if limit := limitOf(r.p.supersteps, r.o.MaxSupersteps); limit > 0 && r.phase == 0 {
			stages = min(stages, limit-r.supersteps)
		}
		if p.all {
			r.whole = r.all
		}
		switch {
		case stages == 0:
			return Full, nil
		case stages == 1 && r.phase == 0:
			r.progress()
		}
		own, plans := make([]tally, stages), make([]string, stages)
		if counts, err = r.agree(own, r.engine.run(r.supersteps, r.whole.count, own, plans)); err != nil {
			return "", err
		}
		for t, after := range counts {
			if stages > 1 {
				r.progress()
			}
			if f := r.o.Trace; f != nil && r.at == 0 {
				f(Step{r.supersteps, r.phase, plans[t], r.whole.count, r.whole.edges})
			}
			r.whole = after
			if r.phase = (r.phase + 1) % len(steps); r.phase == 0 {
				r.supersteps++
			}
			if after.count == 0 {
				break
			}
		}
		if r.phase == 0 && r.p.halt != nil && r.p.halt(r.supersteps-1, r.engine.totals()) {
			return Halted, nil
		}
		if r.whole.count > 0 || r.p.Everywhere || r.p.phased {
			if err := r.engine.refresh(r.phase, r.supersteps, r.whole.count); err != nil {
				return "", err
			}
		}
	}
}

// number returns the number of the rank.
func (r *rank) number() int {
	if r.c == nil {
		return 0
	}
	return r.c.Rank()
}

// progress calls Progress for the next superstep.
func (r *rank) progress() {
	if f := r.o.Progress; f != nil && r.at == 0 {
		f(r.supersteps, r.whole.count)
	}
}

// agree adds the counts of all ranks, and computes Totals. Counts are below 2⁵³, and travel as the
// terms do. err is an error of local work, after which all ranks get one. A run on one place has
// no other ranks.
func (r *rank) agree(own []tally, err error) ([]tally, error) {
	n, totals := 2*len(own), len(r.p.totals) > 0
	words := make([]float64, n+r.widths[r.number()])
	for t, x := range own {
		words[2*t], words[2*t+1] = float64(x.count), float64(x.edges)
	}
	if err == nil && totals {
		err = r.engine.terms(words[n:])
	}
	all, counts := words, make([]int, len(r.widths))
	for q, width := range r.widths {
		counts[q] = n + width
	}
	if r.c != nil {
		all, err = spmd.AgreeV(r.s, r.c, words, counts, err)
	}
	if err != nil {
		return nil, err
	}
	sum, terms := make([]tally, len(own)), make([][]float64, len(counts))
	for q, k := range counts {
		for t := range sum {
			sum[t].count += int64(all[2*t])
			sum[t].edges += int64(all[2*t+1])
		}
		terms[q], all = all[n:k], all[k:]
	}
	if totals {
		r.engine.total(terms)
	}
	return sum, nil
}

// partOptions say which copies a rank holds, by the figures of its place.
func (r *rank) partOptions(edge, state int64, memory, launch float64) halo.Options {
	return halo.Options{Hops: r.o.Hops, Edge: edge, State: state, Machine: r.o.Machine, Memory: memory, Launch: launch}
}
