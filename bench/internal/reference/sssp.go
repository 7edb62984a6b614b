package reference

import (
	"math"
	"sync/atomic"

	"github.com/hiveblas/hiveblas/internal/parallel"
)

// fused is the number of vertices up to which a thread goes on with its own part of a bucket.
const fused = 1000

// Distances returns the length of the shortest path from source to each vertex, +Inf without a
// path, by delta-stepping: buckets of width delta are settled one after another (Meyer, Sanders, J.
// Algorithms 49, 2003). A thread goes on with what it finds for the same bucket while that is
// little, without waiting for the others (bucket fusion; Zhang et al.: Optimizing ordered graph
// algorithms with GraphIt, CGO 2020).
//
// The bits of numbers that are not negative ascend as the numbers do, so distances are kept as
// bits.
func Distances(g Graph, weight []float64, source int, delta float64, threads int) []float64 {
	threads = parallel.Threads(threads)
	s := &deltaSteps{g: g, weight: weight, delta: delta, bits: filled(g.Vertices(), math.Float64bits(math.Inf(1))),
		buckets: make(locals[[]int32], threads)}
	s.bits[source] = 0
	frontier := []int32{int32(source)}
	for at := 0; at >= 0; {
		s.round(frontier, at, threads)
		frontier, at = s.next(frontier[:0], at)
	}
	dist := make([]float64, len(s.bits))
	each(threads, len(dist), func(_, lo, hi int) {
		for v := lo; v < hi; v++ {
			dist[v] = math.Float64frombits(s.bits[v])
		}
	})
	return dist
}

type deltaSteps struct {
	g       Graph
	weight  []float64
	delta   float64
	bits    []uint64
	buckets locals[[]int32] // of each thread, by number
}

// round relaxes the edges of the vertices of bucket at, a frontier.
func (s *deltaSteps) round(frontier []int32, at, threads int) {
	var taken atomic.Int64
	const block = 64
	if len(frontier) <= block {
		threads = 1
	}
	parallel.Do(threads, func(w int) {
		for lo := taken.Add(block) - block; lo < int64(len(frontier)); lo = taken.Add(block) - block {
			for _, v := range frontier[lo:min(lo+block, int64(len(frontier)))] {
				s.relax(w, v, at)
			}
		}
		var list []int32
		for at < len(s.buckets[w].list) {
			own := s.buckets[w].list[at]
			if len(own) == 0 || len(own) > fused {
				break
			}
			list = append(list[:0], own...)
			s.buckets[w].list[at] = own[:0]
			for _, v := range list {
				s.relax(w, v, at)
			}
		}
	})
}

// relax relaxes the edges of a vertex, unless a bucket before has settled it.
func (s *deltaSteps) relax(w int, v int32, at int) {
	d := math.Float64frombits(atomic.LoadUint64(&s.bits[v]))
	if d < s.delta*float64(at) {
		return
	}
	for k := s.g.Ptr[v]; k < s.g.Ptr[v+1]; k++ {
		u, far := s.g.Idx[k], d+s.weight[k]
		bits := math.Float64bits(far)
		for now := atomic.LoadUint64(&s.bits[u]); bits < now; now = atomic.LoadUint64(&s.bits[u]) {
			if !atomic.CompareAndSwapUint64(&s.bits[u], now, bits) {
				continue
			}
			to := max(int(far/s.delta), at)
			for len(s.buckets[w].list) <= to {
				s.buckets[w].list = append(s.buckets[w].list, nil)
			}
			s.buckets[w].list[to] = append(s.buckets[w].list[to], u)
			break
		}
	}
}

// next returns the first bucket that has vertices from number at on, −1 if none has.
func (s *deltaSteps) next(list []int32, at int) ([]int32, int) {
	first := math.MaxInt
	for w := range s.buckets {
		for k := at; k < min(len(s.buckets[w].list), first); k++ {
			if len(s.buckets[w].list[k]) > 0 {
				first = k
			}
		}
	}
	if first == math.MaxInt {
		return nil, -1
	}
	for w := range s.buckets {
		if own := s.buckets[w].list; first < len(own) {
			list = append(list, own[first]...)
			own[first] = own[first][:0]
		}
	}
	return list, first
}
