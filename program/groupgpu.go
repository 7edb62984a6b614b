package program

import (
	"context"
	"errors"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/matrix"
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
func runOnGPUs[V, E, M comparable](
	ctx context.Context, g *comm.Group, a matrix.View[E], p Program[V, E, M], o Options,
) (*Result[V], error) {
	wait := ctx // of collectives: ranks of other processes would wait for those of this one
	if len(g.Ranks()) == g.Size() {
		wait = nil
	}
	if p.Priority.Func == nil || o.Hops != 0 {
		parts := p
		parts.Priority = PriorityFunc[V]{}
		d, err := textOf(&parts)
		if err != nil {
			return nil, err
		}
		if d.divides(g, o) {
			return runByParts[V, E, M](ctx, wait, g, a, d, o, p.ordered())
		}
	}
	if o.Numbers != nil {
		return nil, &ProgramError{p.name(), "Numbers", "is given, and each device of " + g.String() + " runs the whole program",
			"leave it out, or use matrix.Move(nil)"}
	}
	d, err := textOf(&p)
	if err != nil {
		return nil, err
	}
	return runWhole[V](ctx, wait, g, a, d, o)
}

// runWhole runs the whole program on each device, which gathers the graph once, and keeps its block
// of the states.
func runWhole[V, E comparable](
	ctx, wait context.Context, g *comm.Group, a matrix.View[E], d *deviceProgram, o Options,
) (*Result[V], error) {
	whole, err := access.Replicas(wait, a, g)
	if err != nil {
		return nil, err
	}
	_, n := a.Dims()
	cuts, err := a.Inside().Cuts(wait, g)
	if err != nil {
		return nil, err
	}
	state := matrix.NewVector[V](n, matrix.On(g))
	t, err := access.TargetOn[V](wait, state.Inside(), g, true, cuts)
	if err != nil {
		return nil, err
	}
	results, limits := make([]*Result[V], len(whole)), make([]error, len(whole))
	err = g.Apart(func(k int, c comm.Comm) error {
		own, text := o, *d
		if k > 0 { // the first rank of a process reports
			own.Progress, own.Trace = nil, nil
		}
		at := device.Of(g.PlaceOf(k))
		res, err := runText[V](ctx, at, whole[k], &text, own)
		if errors.Is(err, ErrLimit) {
			limits[k], err = err, nil
		}
		if err != nil {
			return err
		}
		results[k] = res
		st, err := part(ctx, at, res.State, d.state, cuts[c.Rank()], cuts[c.Rank()+1])
		if err == nil {
			access.SetRemote(t.Matrix(k), st)
		}
		return err
	}, nil)
	if err != nil {
		return nil, err
	}
	if err := t.Keep(); err != nil {
		return nil, err
	}
	res := results[0]
	res.State = state
	return res, limits[0]
}

// part copies positions lo … hi−1 of a full vector on a device.
func part[V comparable](ctx context.Context, at device.Runner, v *matrix.Vector[V], t device.Type, lo, hi int) (st device.Store, err error) {
	o, err := access.Operand(matrix.AsView(v), at)
	if err != nil {
		return nil, err
	}
	err = at.Run(device.Call{Context: ctx, Op: "states"}, func(s *device.Session) {
		own, size := s.NewFull(1, hi-lo, t), int64(t.Size)
		s.Copy(own.Val, s.Dense(o).Val.At(int64(lo)*size), int64(hi-lo)*size)
		st = s.Result(own, int64(hi-lo))
	})
	return st, err
}
