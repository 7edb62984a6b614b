package program

import (
	"context"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/comm/spmd"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/rep"
)

// onGPUs reports whether all ranks of this process are on devices that run programs.
func onGPUs(g *comm.Group) bool {
	for k := range g.Ranks() {
		if device.Of(g.PlaceOf(k)) == nil {
			return false
		}
	}
	return len(g.Ranks()) > 0
}

// runOnGPUs runs a program on a group of devices: by parts, or the whole program on each where that
// is not possible, and with Priority, which parts ignore, unless Hops is given.
func runOnGPUs(s *spmd.Session, a rep.View, p *outline, o Options) (*outcome, error) {
	if !p.phased && (!p.priority.given || o.Hops != 0) {
		parts := *p
		parts.priority = part{}
		d, err := textOf(&parts)
		if err != nil {
			return nil, err
		}
		if d.divides(s.Group, o) {
			d.part, d.code.part = true, true
			res, err := runByParts(s, a, &parts, o, func(r *rank, in, out rep.View, block rep.Matrix) error {
				return r.onDevice(d, in, out, block)
			})
			return res, d.explain(o, err)
		}
	}
	if o.Numbers != nil {
		return nil, &ProgramError{p.Name, "Numbers", "is given, and each device of " + s.Group.String() + " runs the whole program",
			"leave it out, or use matrix.Move(nil)"}
	}
	d, err := textOf(p)
	if err != nil {
		return nil, err
	}
	return withStates(s, a, p, func(cuts []int, t rep.GroupTarget) (*outcome, error) { return runWhole(s, a, d, o, cuts, t) })
}

// runWhole runs the whole program on each device, which gathers the graph once, and keeps its block
// of the states.
func runWhole(s *spmd.Session, a rep.View, d *deviceProgram, o Options, cuts []int, t rep.GroupTarget) (*outcome, error) {
	whole, err := a.Replicas(s.Wait, s.Group)
	if err != nil {
		return nil, err
	}
	results := make([]outcome, len(whole))
	return &results[0], s.Apart(func(ctx context.Context, k int, c comm.Comm) error {
		own := o
		if k > 0 { // the first rank of a process reports
			own.Progress, own.Trace = nil, nil
		}
		at := device.Of(s.Group.PlaceOf(k))
		operand, err := whole[k].Operand(at)
		if err != nil {
			return err
		}
		states, out, err := d.run(ctx, at, operand, cuts[len(cuts)-1], own, kept{from: cuts[c.Rank()], to: cuts[c.Rank()+1]})
		if results[k] = out; err == nil {
			t.Part(k).SetRemote(states)
		}
		return err
	})
}
