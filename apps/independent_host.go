package apps

import (
	"slices"
	"sync/atomic"

	"github.com/hiveblas/hiveblas/matrix"
)

// States of vertices.
const (
	setOpen = iota
	setOut
	setIn
)

func independentOnHost(g *adjacency, o IndependentSetOptions) (*matrix.Vector[bool], error) {
	if !o.shared(g.n, len(g.idx)) {
		return independentInOrder(g, o)
	}
	return independentByRounds(g, o, usualWaveShares)
}

// independentInOrder takes vertices in descending order unless a neighbour was taken.
func independentInOrder(g *adjacency, o IndependentSetOptions) (*matrix.Vector[bool], error) {
	state, size := make([]uint8, g.n), 0
	for _, v := range descending(g.n, func(v int) int64 { return priorityOf(v, o.Seed) }) {
		if state[v] != setOpen {
			continue
		}
		size++
		for _, w := range g.of(v) {
			state[w] = setOut
		}
		state[v] = setIn // after its neighbours: a self-loop is ignored
	}
	o.traced("MaximalIndependentSet", "greedy", size, int64(len(g.idx)))
	if err := o.expired(); err != nil {
		return nil, err
	}
	set := make([]int, 0, size)
	for v, s := range state {
		if s == setIn {
			set = append(set, v)
		}
	}
	return matrix.VectorFromTuples(g.n, set, slices.Repeat([]bool{true}, size), nil)
}

// independentByRounds finds the same set by all threads. A vertex whose neighbours of higher
// priority are out is in, and its neighbours are out. A vertex that waits for a neighbour goes on
// from there in the next round.
func independentByRounds(g *adjacency, o IndependentSetOptions, shares waveShares) (*matrix.Vector[bool], error) {
	w := newWaves(o.Run, shares)
	state := make([]uint32, g.n)
	at := make([]int64, g.n)
	left := make([]int32, g.n)
	err := w.each(g.n, func(lo, hi int, found []int32) []int32 {
		for v := lo; v < hi; v++ {
			left[v], at[v] = int32(v), g.ptr[v]
		}
		return found
	})
	for err == nil && len(left) > 0 {
		err = w.each(len(left), func(lo, hi int, found []int32) []int32 {
			for _, v := range left[lo:hi] {
				if independentNow(g, v, o.Seed, state, at) == setOpen {
					found = append(found, v)
				}
			}
			return found
		})
		waiting := w.gather()
		left, w.gathered = waiting, left[:0]
		o.report("independent set", int64(g.n-len(left)), int64(g.n))
	}
	if err != nil {
		return nil, err
	}
	set := w.listed(g.n, func(v int) bool { return state[v] == setIn })
	o.traced("MaximalIndependentSet", "rounds", len(set), int64(len(g.idx)))
	return matrix.VectorFromTuples(g.n, set, slices.Repeat([]bool{true}, len(set)), nil)
}

// independentNow returns the state of a vertex, once it is known. Until then at(v) is the neighbour
// that it waits for.
func independentNow(g *adjacency, v int32, seed int64, state []uint32, at []int64) uint32 {
	if s := atomic.LoadUint32(&state[v]); s != setOpen {
		return s
	}
	own := priorityOf(int(v), seed)
	for ; at[v] < g.ptr[v+1]; at[v]++ {
		u := g.idx[at[v]]
		if u == v || priorityOf(int(u), seed) < own {
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
	for _, u := range g.of(v) {
		if u != v && atomic.LoadUint32(&state[u]) == setOpen {
			atomic.StoreUint32(&state[u], setOut)
		}
	}
	return setIn
}
