package halo

import (
	"slices"
	"time"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/comm/model"
	"github.com/hiveblas/hiveblas/comm/spmd"
)

// Choose is AutoHops of package program.
const Choose = -1

// MostHops is the number of hops up to which Choose looks.
const MostHops = 32

// secondHop is the shape with a second hop without vertices, if the copies of the first have
// in-edges as own vertices do: fetching them, to count them, costs as much as many supersteps where
// they are many.
func secondHop(shape *model.Halo) *model.Halo {
	one := *shape
	one.R, one.E = nil, nil
	for i := range shape.R {
		degree := float64(shape.Edges[i]) / float64(max(shape.Vertices[i], 1))
		edges := int64(degree * float64(shape.R[i][0]))
		one.R, one.E = append(one.R, []int64{shape.R[i][0], 0}), append(one.E, []int64{edges, 0})
	}
	return &one
}

// cheapest returns the number of hops with the least time by the model. If the copies do not grow,
// more hops than those known cost nothing.
func (m *maker) cheapest(machine *model.Machine, shape *model.Halo, grown bool) int {
	if !grown {
		for r := range shape.R {
			for len(shape.R[r]) < MostHops {
				shape.R[r], shape.E[r] = append(shape.R[r], 0), append(shape.E[r], 0)
			}
		}
	}
	_, best, err := machine.Cost(shape, model.HopOptions{EdgeBytes: float64(4 + m.o.Edge + m.o.State), ValueBytes: float64(m.o.State + 1)})
	if m.fail(err); err != nil {
		return 1
	}
	return best + 1
}

// measure times what a superstep exchanges, for a few bytes and for a mebibyte: the median of some,
// because waiting for each other is part of it.
func (m *maker) measure() (*model.Machine, error) {
	const rounds, most = 15, 1 << 20
	p := m.c.Size()
	var own [2]float64
	for k, bytes := range []int{16, most / p} { // for each rank
		in, out, err := m.edges.Buffers(bytes * p)
		if _, err := spmd.Agree(m.s, m.c, []int64{}, err); err != nil {
			return nil, err
		}
		counts := slices.Repeat([]int{bytes}, p)
		took := make([]float64, rounds)
		for i := range took {
			began := time.Now()
			if _, err := spmd.AllGather(m.s.Wait, m.c, []int64{0, 0, 0}); err != nil {
				return nil, err
			}
			if err := m.c.AllToAllV(m.s.Wait, in, counts, out, counts); err != nil {
				return nil, err
			}
			took[i] = time.Since(began).Seconds()
		}
		slices.Sort(took)
		own[k] = took[rounds/2]
	}
	all, err := spmd.AllGather(m.s.Wait, m.c, own[:])
	slow := [2]float64{}
	for k, t := range all {
		slow[k%2] = max(slow[k%2], t)
	}
	line := model.Line{Alpha: slow[0], N: most / max(slow[1]-slow[0], 1e-9)}
	return &model.Machine{Name: m.s.Group.String(), Memory: m.o.Memory, Launch: m.o.Launch,
		Lines: map[comm.Kind]map[int]model.Line{comm.KindAllToAllV: {p: line}}}, err
}
