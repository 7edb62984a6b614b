package reference

import (
	"sync/atomic"

	"github.com/hiveblas/hiveblas/internal/parallel"
)

// Communities returns the community of each vertex of a graph without loops, by the methods of
// Louvain or Leiden with the settings of Sahu (GVE-Louvain: Fast Louvain algorithm for community
// detection in shared memory setting, ICPP 2024; GVE-Leiden): vertices move at once, only those
// beside a change decide again, a pass has at most 20 sweeps, and the tolerance of a sweep is .01
// at first and a tenth for each further pass. Results differ between runs.
func Communities(g Graph, leiden bool, threads int) []int32 {
	n := g.Vertices()
	m := &mover{threads: threads, g: g, weight: nil, total: int64(len(g.Idx))}
	member := numbers(n)
	label := numbers(n)
	tolerance := 1e-2
	for pass := 0; pass < 10; pass++ {
		m.begin(label)
		sweeps := m.sweeps(tolerance, nil)
		bound := m.label
		if leiden {
			m.begin(numbers(m.g.Vertices()))
			m.sweeps(0, bound)
		}
		part, count := renumbered(m.label)
		of := m.g.Vertices()
		last := sweeps <= 1 || float64(count) > .8*float64(of)
		final := part
		if leiden {
			final, _ = renumbered(bound)
		}
		each(threads, n, func(_, lo, hi int) {
			for v := lo; v < hi; v++ {
				if last {
					member[v] = final[member[v]]
				} else {
					member[v] = part[member[v]]
				}
			}
		})
		if last {
			return member
		}
		label = numbers(count)
		if leiden {
			first := filled(of, int32(-1))
			for v, c := range part {
				if first[bound[v]] < 0 {
					first[bound[v]] = c
				}
				label[c] = first[bound[v]]
			}
		}
		m.contract(part, count)
		tolerance /= 10
	}
	each(threads, n, func(_, lo, hi int) {
		for v := lo; v < hi; v++ {
			member[v] = label[member[v]]
		}
	})
	return member
}

type mover struct {
	threads int
	g       Graph
	weight  []int64 // nil for ones
	total   int64
	degree  []int64
	label   []int32
	tot     []int64
	awake   []uint32
	sums    []accumulator
}

// accumulator sums weights by community: a list of keys, and a value for each community.
type accumulator struct {
	value []int64
	keys  []int32
	_     [64]byte
}

func numbers(n int) []int32 {
	list := make([]int32, n)
	for v := range list {
		list[v] = int32(v)
	}
	return list
}

// renumbered gives the used labels numbers from 0.
func renumbered(label []int32) (part []int32, count int) {
	number := make([]int32, len(label))
	for _, c := range label {
		number[c] = 1
	}
	for c, used := range number {
		number[c] = int32(count)
		count += int(used)
	}
	part = make([]int32, len(label))
	for v, c := range label {
		part[v] = number[c]
	}
	return part, count
}

func (m *mover) begin(label []int32) {
	n := m.g.Vertices()
	m.label, m.tot, m.awake, m.degree = label, make([]int64, n), filled(n, uint32(1)), make([]int64, n)
	if m.sums == nil {
		m.sums = make([]accumulator, parallel.Threads(m.threads))
		for w := range m.sums {
			m.sums[w].value = make([]int64, n)
		}
	}
	each(m.threads, n, func(_, lo, hi int) {
		for v := int32(lo); v < int32(hi); v++ {
			d := m.g.degree(v)
			if m.weight != nil {
				d = 0
				for _, x := range m.weight[m.g.Ptr[v]:m.g.Ptr[v+1]] {
					d += x
				}
			}
			m.degree[v] = d
			atomic.AddInt64(&m.tot[label[v]], d)
		}
	})
}

// add sums the weights of v's edges by the labels, of neighbours in its part of bound if there is
// one.
func (a *accumulator) add(m *mover, v int32, label, bound []int32, self bool) {
	for k := m.g.Ptr[v]; k < m.g.Ptr[v+1]; k++ {
		u, x := m.g.Idx[k], int64(1)
		if u == v && !self || bound != nil && bound[u] != bound[v] {
			continue
		}
		if m.weight != nil {
			x = m.weight[k]
		}
		c := atomic.LoadInt32(&label[u])
		if a.value[c] == 0 {
			a.keys = append(a.keys, c)
		}
		a.value[c] += x
	}
}

// sweeps moves vertices until a sweep gains at most the tolerance, and returns their number. With a
// bound only single vertices move, once, inside their part of it.
func (m *mover) sweeps(tolerance float64, bound []int32) int {
	for sweep := 0; ; {
		var gained atomic.Int64 // of 2m/2·Q
		each(m.threads, m.g.Vertices(), func(w, lo, hi int) {
			a, sum := &m.sums[w], 0.0
			for v := int32(lo); v < int32(hi); v++ {
				if atomic.LoadUint32(&m.awake[v]) != 0 {
					sum += m.decide(a, v, bound)
				}
			}
			gained.Add(int64(sum))
		})
		if sweep++; sweep == 20 || bound != nil || 2*float64(gained.Load())/float64(m.total) <= tolerance {
			return sweep
		}
	}
}

// decide moves v to the best community and returns the gain.
func (m *mover) decide(a *accumulator, v int32, bound []int32) float64 {
	atomic.StoreUint32(&m.awake[v], 0)
	degree, own := m.degree[v], m.label[v]
	if bound != nil && atomic.LoadInt64(&m.tot[own]) != degree {
		return 0
	}
	a.keys = a.keys[:0]
	a.add(m, v, m.label, bound, false)
	factor := float64(degree) / float64(m.total)
	stay := float64(a.value[own]) - factor*float64(atomic.LoadInt64(&m.tot[own])-degree)
	best, to := 0.0, own
	for _, c := range a.keys {
		if gain := float64(a.value[c]) - factor*float64(atomic.LoadInt64(&m.tot[c])) - stay; c != own && gain > best {
			best, to = gain, c
		}
		a.value[c] = 0
	}
	if to == own {
		return 0
	}
	if bound != nil && !atomic.CompareAndSwapInt64(&m.tot[own], degree, 0) {
		return 0
	} else if bound == nil {
		atomic.AddInt64(&m.tot[own], -degree)
	}
	atomic.AddInt64(&m.tot[to], degree)
	atomic.StoreInt32(&m.label[v], to)
	if bound == nil {
		for _, u := range m.g.row(v) {
			if atomic.LoadUint32(&m.awake[u]) == 0 {
				atomic.StoreUint32(&m.awake[u], 1)
			}
		}
	}
	return best
}

// contract makes a vertex of each part: its row has room for all edges of the part, and is
// compacted afterwards.
func (m *mover) contract(part []int32, count int) {
	begin, room := make([]int64, count+1), make([]int64, count+1)
	for v, c := range part {
		begin[c+1]++
		room[c+1] += m.g.degree(int32(v))
	}
	parallel.Sum(m.threads, begin)
	parallel.Sum(m.threads, room)
	list, at := make([]int32, len(part)), append([]int64(nil), begin...)
	for v, c := range part {
		list[at[c]] = int32(v)
		at[c]++
	}
	idx, weight, ptr := make([]int32, room[count]), make([]int64, room[count]), make([]int64, count+1)
	eachOf(m.threads, count, 64, func(w, lo, hi int) {
		a := &m.sums[w]
		for c := lo; c < hi; c++ {
			a.keys = a.keys[:0]
			for _, v := range list[begin[c]:begin[c+1]] {
				a.add(m, v, part, nil, true)
			}
			for k, d := range a.keys {
				idx[room[c]+int64(k)], weight[room[c]+int64(k)] = d, a.value[d]
				a.value[d] = 0
			}
			ptr[c+1] = int64(len(a.keys))
		}
	})
	parallel.Sum(m.threads, ptr)
	next := Graph{Ptr: ptr, Idx: make([]int32, ptr[count])}
	m.weight = make([]int64, ptr[count])
	each(m.threads, count, func(_, lo, hi int) {
		for c := lo; c < hi; c++ {
			copy(next.Idx[ptr[c]:ptr[c+1]], idx[room[c]:])
			copy(m.weight[ptr[c]:ptr[c+1]], weight[room[c]:])
		}
	})
	m.g = next
}
