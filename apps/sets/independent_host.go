package sets

import (
	"slices"
	"sync/atomic"

	"github.com/hiveblas/hiveblas/apps/internal/frontier"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/matrix"
)

// States of vertices.
const (
	setOpen = iota
	setOut
	setIn
)

func independentOnHost(g *workflow.Adjacency, o IndependentSetOptions) (*matrix.Vector[bool], error) {
	if !workflow.Shared(o.Run, g.N, len(g.Idx)) {
		return independentInOrder(g, o)
	}
	return independentByRounds(g, o, frontier.UsualWaveShares)
}

// independentInOrder takes vertices in descending order unless a neighbour was taken.
func independentInOrder(g *workflow.Adjacency, o IndependentSetOptions) (*matrix.Vector[bool], error) {
	state, size := make([]uint8, g.N), 0
	order := &setOrder{seed: o.Seed}
	if o.Priority == DegreePriority {
		order.rank = make([]uint8, g.N)
		for v := range order.rank {
			order.rank[v] = degreeRank(g.Loopless(int32(v)))
		}
	}
	for _, v := range descending(g.N, order.of) {
		if state[v] != setOpen {
			continue
		}
		size++
		for _, w := range g.Of(v) {
			state[w] = setOut
		}
		state[v] = setIn // after its neighbours: a self-loop is ignored
	}
	workflow.Traced(o.Run, "MaximalIndependentSet", "greedy", size, int64(len(g.Idx)))
	if err := workflow.Expired(o.Run); err != nil {
		return nil, err
	}
	set := make([]int, 0, size)
	for v, s := range state {
		if s == setIn {
			set = append(set, v)
		}
	}
	return matrix.VectorFromTuples(g.N, set, slices.Repeat([]bool{true}, size), nil)
}

// independentByRounds finds the same set by all threads. A vertex is in if all neighbours of higher
// priority are out, and then its neighbours are out. A vertex that waits for a neighbour continues
// at this neighbour in the next round.
func independentByRounds(g *workflow.Adjacency, o IndependentSetOptions, shares frontier.WaveShares) (*matrix.Vector[bool], error) {
	w := frontier.NewWaves(o.Run, shares)
	state := make([]uint32, g.N)
	at := make([]int64, g.N)
	left := make([]int32, g.N)
	order := &setOrder{seed: o.Seed}
	if o.Priority == DegreePriority {
		order.rank = make([]uint8, g.N)
	}
	err := w.Each(g.N, func(lo, hi int, found []int32) []int32 {
		for v := lo; v < hi; v++ {
			left[v], at[v] = int32(v), g.Ptr[v]
			if order.rank != nil {
				order.rank[v] = degreeRank(g.Loopless(int32(v)))
			}
		}
		return found
	})
	for err == nil && len(left) > 0 {
		err = w.Each(len(left), func(lo, hi int, found []int32) []int32 {
			for _, v := range left[lo:hi] {
				if independentNow(g, v, order, state, at) == setOpen {
					found = append(found, v)
				}
			}
			return found
		})
		waiting := w.Gather()
		left, w.Gathered = waiting, left[:0]
		workflow.Report(o.Run, "independent set", int64(g.N-len(left)), int64(g.N))
	}
	if err != nil {
		return nil, err
	}
	set := w.Listed(g.N, func(v int) bool { return state[v] == setIn })
	workflow.Traced(o.Run, "MaximalIndependentSet", "rounds", len(set), int64(len(g.Idx)))
	return matrix.VectorFromTuples(g.N, set, slices.Repeat([]bool{true}, len(set)), nil)
}

// independentNow returns the state of a vertex, once it is known. Until then at(v) is the neighbour
// that it waits for.
func independentNow(g *workflow.Adjacency, v int32, order *setOrder, state []uint32, at []int64) uint32 {
	if s := atomic.LoadUint32(&state[v]); s != setOpen {
		return s
	}
	own := order.of(int(v))
	for ; at[v] < g.Ptr[v+1]; at[v]++ {
		u := g.Idx[at[v]]
		if u == v || order.of(int(u)) < own {
			continue
		}
		switch atomic.LoadUint32(&state[u]) {
		case setOpen:
			return setOpen
		case setIn:
			atomic.StoreUint32(&state[v], setOut)
			return setOut
		}
	}
	atomic.StoreUint32(&state[v], setIn)
	for _, u := range g.Of(v) {
		if u != v && atomic.LoadUint32(&state[u]) == setOpen {
			atomic.StoreUint32(&state[u], setOut)
		}
	}
	return setIn
}
