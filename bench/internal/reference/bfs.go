package reference

import (
	"sync/atomic"
)

// Limits of Beamer, Asanović, Patterson: Direction-optimizing breadth-first search, SC 2012, as the
// GAP benchmark suite has them.
const (
	alpha = 15 // from top down to bottom up: edges of the frontier against edges that are left
	beta  = 18 // and back: vertices of the frontier against all
)

// search is a breadth-first search by turns of top down, with a queue, and bottom up, with bitmaps.
type search struct {
	g       Graph
	against Graph // the transpose
	threads int
	level   []int32 // −1 for vertices that are not reached
	parent  []int32 // nil for levels alone; bottom up finds the least one
	queue   *queue
	found   locals[int32]
}

// Levels returns the number of edges from source to each vertex, −1 without a path.
func Levels(g Graph, source, threads int) []int32 {
	s := newSearch(g, threads)
	s.run(int32(source))
	return s.level
}

// Parents returns the levels too, and of each vertex the least neighbour one level up; the source
// is its own. Vertices found bottom up have it by then; the first neighbour with the level above
// gives it for the others.
func Parents(g Graph, source, threads int) (level, parent []int32) {
	s := newSearch(g, threads)
	s.parent = filled[int32](g.Vertices(), -1)
	s.run(int32(source))
	s.parent[source] = int32(source)
	each(threads, g.Vertices(), func(_, lo, hi int) {
		for v := int32(lo); v < int32(hi); v++ {
			if s.level[v] <= 0 || s.parent[v] >= 0 {
				continue
			}
			for _, u := range g.row(v) {
				if s.level[u] == s.level[v]-1 {
					s.parent[v] = u
					break
				}
			}
		}
	})
	return s.level, s.parent
}

func newSearch(g Graph, threads int) *search {
	return &search{g: g, against: g, threads: threads, level: filled[int32](g.Vertices(), -1),
		queue: newQueue(g.Vertices()), found: newLocals[int32](threads)}
}

func (s *search) run(source int32) {
	s.level[source] = 0
	s.queue.add([]int32{source})
	s.queue.slide()
	left, scout := int64(len(s.g.Idx)), s.g.degree(source)
	for depth := int32(1); len(s.queue.list()) > 0; {
		if scout > left/alpha {
			depth = s.bottomUp(depth)
			scout = 1
			continue
		}
		left -= scout
		scout = s.topDown(depth)
		depth++
	}
}

// topDown visits the neighbours of the queue, and returns the edges of the vertices that it finds.
func (s *search) topDown(depth int32) int64 {
	list, scout := s.queue.list(), atomic.Int64{}
	step := func(w, lo, hi int) {
		found, edges, level, ptr, idx := s.found[w].list[:0], int64(0), s.level, s.g.Ptr, s.g.Idx
		for _, v := range list[lo:hi] {
			for _, u := range idx[ptr[v]:ptr[v+1]] {
				if atomic.LoadInt32(&level[u]) < 0 && atomic.CompareAndSwapInt32(&level[u], -1, depth) {
					found = append(found, u)
					edges += ptr[u+1] - ptr[u]
				}
			}
		}
		s.queue.add(found)
		s.found[w].list = found
		scout.Add(edges)
	}
	if len(list) < grain/16 {
		step(0, 0, len(list))
	} else {
		eachOf(s.threads, len(list), 64, step)
	}
	s.queue.slide()
	return scout.Load()
}

// bottomUp lets vertices look for a neighbour in the frontier, until the frontier is small and
// shrinks. It returns the next depth.
func (s *search) bottomUp(depth int32) int32 {
	n := s.g.Vertices()
	front, next := make([]uint64, (n+63)/64), make([]uint64, (n+63)/64)
	for _, v := range s.queue.list() {
		set(front, v)
	}
	count := int64(len(s.queue.list()))
	for before := int64(0); count >= before || count > int64(n/beta); depth++ {
		before = count
		var awake atomic.Int64
		each(s.threads, n, func(_, lo, hi int) {
			some, level, ptr, idx, front := int64(0), s.level, s.against.Ptr, s.against.Idx, front
			clear(next[lo/64 : (hi+63)/64])
			for v := int32(lo); v < int32(hi); v++ {
				if level[v] >= 0 {
					continue
				}
				for _, u := range idx[ptr[v]:ptr[v+1]] {
					if has(front, u) {
						level[v] = depth
						if s.parent != nil {
							s.parent[v] = u
						}
						set(next, v)
						some++
						break
					}
				}
			}
			awake.Add(some)
		})
		front, next = next, front
		if count = awake.Load(); count == 0 {
			depth++
			break
		}
	}
	each(s.threads, n, func(w, lo, hi int) {
		found := s.found[w].list[:0]
		for v := int32(lo); v < int32(hi); v++ {
			if has(front, v) {
				found = append(found, v)
			}
		}
		s.queue.add(found)
		s.found[w].list = found
	})
	s.queue.slide()
	return depth
}

func has(bits []uint64, v int32) bool { return bits[uint32(v)/64]>>(uint32(v)%64)&1 != 0 }

func set(bits []uint64, v int32) { bits[uint32(v)/64] |= 1 << (uint32(v) % 64) }
