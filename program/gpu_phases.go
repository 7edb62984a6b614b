package program

import "github.com/hiveblas/hiveblas/internal/device"

// This file runs programs with phases on a device. Each phase is a program of its own, whose run
// gets the states of the phase before.

// textOfPhases is textOf of a program with phases.
func textOfPhases(o *outline) (*deviceProgram, error) {
	d := &deviceProgram{name: o.Name, halt: o.halt, supersteps: o.supersteps, totals: len(o.totals)}
	for _, p := range o.phases {
		phase, err := textOf(p)
		if err != nil {
			return nil, err
		}
		d.phases = append(d.phases, phase)
	}
	return d, nil
}

// steps returns the phases of an iteration. A program without phases is one itself.
func (d *deviceProgram) steps() []*deviceProgram {
	if d.phases == nil {
		return []*deviceProgram{d}
	}
	return d.phases
}

// iterations runs iterations until the end. r is the run of the first phase, which has the first
// states. iterations returns the run that has the last ones.
func (d *deviceProgram) iterations(r *deviceRun, g device.Operand, methods []string, o Options) (*deviceRun, Ended) {
	runs := []*deviceRun{r}
	for _, p := range d.phases[1:] {
		next := p.on(r.Session, g, r.n)
		if p.skips {
			next.closed = r.states(boolType)
		}
		runs = append(runs, next)
	}
	limit := limitOf(d.supersteps, o.MaxSupersteps)
	for step := 0; r.Err() == nil && r.n > 0; {
		if first := d.phases[0]; r.count == 0 && !((first.everywhere || first.all) && step == 0) {
			return r, Quiet
		}
		if limit > 0 && step == limit {
			return r, Full
		}
		r.Check()
		if o.Progress != nil {
			o.Progress(step, r.count)
		}
		for k, next := range runs {
			next.enter(r)
			r = next
			trace := Step{Superstep: step, Phase: k, Active: r.count, Plan: "none"}
			if r.count > 0 || r.p.everywhere {
				trace.Plan = r.superstep(methods[k], int32(step))
			} else {
				r.sumTotals(int32(step))
			}
			if r.Err() != nil {
				return r, Quiet
			}
			if o.Trace != nil {
				o.Trace(trace)
			}
		}
		step++
		r.steps = step
		if d.halt != nil && d.halt(step-1, r.total) {
			return r, Halted
		}
	}
	return r, Quiet
}

// enter takes the states, the active vertices and Totals of the phase before.
func (r *deviceRun) enter(before *deviceRun) {
	r.state, r.count, r.steps = before.state, before.count, before.steps
	r.sums, r.total = before.sums, before.total
	if r.p.all {
		r.count = int64(r.n)
	}
	r.fillStates()
	if r.p.skips {
		r.Each(r.kernel("close"), int64(r.n), int32(r.n), r.state.Val, r.closed.Present)
	}
}
