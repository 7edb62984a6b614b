package halo

import (
	"context"
	"slices"
	"time"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/comm/model"
)

// The figures of a rank of the host for AutoHops: bytes a second that a superstep streams, and its
// own time. They are assumed and not measured; Options.Machine gives others.
const (
	hostMemory = 4e9
	hostLaunch = 2e-6
)

// measure times what a superstep exchanges, for a few bytes and for a mebibyte: the median of some,
// because waiting for each other is part of it.
func measure(ctx context.Context, g *comm.Group) (*model.Machine, error) {
	const rounds = 15
	p := g.Size()
	times := make([][]float64, len(g.Ranks()))
	err := g.Each(func(k int, r comm.Comm) error {
		for _, bytes := range []int{8 * p, 1 << 20} {
			counts := make([]int, p)
			for i := range counts {
				counts[i] = bytes / p
			}
			in, out := make([]byte, bytes/p*p), make([]byte, bytes/p*p)
			var took []float64
			for range rounds {
				began := time.Now()
				if _, err := GatherRank(ctx, r, []int64{0, 0, 0}); err != nil {
					return err
				}
				if err := r.AllToAllV(ctx, comm.Host(in), counts, comm.Host(out), counts); err != nil {
					return err
				}
				took = append(took, time.Since(began).Seconds())
			}
			slices.Sort(took)
			times[k] = append(times[k], took[rounds/2])
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	all, err := gatherAll(ctx, g, times)
	if err != nil {
		return nil, err
	}
	slow := [2]float64{}
	for _, t := range all {
		slow[0], slow[1] = max(slow[0], t[0]), max(slow[1], t[1])
	}
	return MachineOf(g.String(), p, slow, 1<<20, hostMemory, hostLaunch), nil
}

// MachineOf is a machine that exchanges a few bytes among p ranks in slow[0], and bytes bytes in
// slow[1].
func MachineOf(name string, p int, slow [2]float64, bytes, memory, launch float64) *model.Machine {
	line := model.Line{Alpha: slow[0], N: bytes / max(slow[1]-slow[0], 1e-9)}
	return &model.Machine{Name: name, Memory: memory, Launch: launch,
		Lines: map[comm.Kind]map[int]model.Line{comm.KindAllToAllV: {p: line}}}
}
