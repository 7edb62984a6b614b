package reference

import (
	"iter"
	"math"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"
)

// Strong labels each vertex of a directed graph, given by its rows and the rows of its transpose,
// with the least vertex of its strongly connected component (Wang, Dong, Gu, Sun: Parallel strong
// connectivity based on faster reachability, PACMOD 2023): vertices without edges from or to others
// are components; then the component of a pivot; then searches from batches of pivots, each twice
// the last, that visit pairs of a vertex and a pivot. Vertices reached from the same pivots, and
// reaching the same, stay together.
func Strong(out, in Graph, threads int) []int32 {
	n := out.Vertices()
	s := &strong{threads: threads, label: filled(n, int32(-1)), part: make([]uint64, n)}
	pivot := s.trim(out, in)
	if pivot >= 0 {
		from, to := s.reach(out, in, pivot), s.reach(in, out, pivot)
		each(threads, n, func(_, lo, hi int) {
			for v := int32(lo); v < int32(hi); v++ {
				switch f, t := has(from, v), has(to, v); {
				case f && t:
					s.label[v] = pivot
				case f:
					s.part[v] = 1
				case t:
					s.part[v] = 2
				}
			}
		})
	}
	var open []int32
	for v := range int32(n) {
		if s.label[v] < 0 {
			open = append(open, v)
		}
	}
	slices.SortFunc(open, func(a, b int32) int { return int(mix(uint64(a))>>33) - int(mix(uint64(b))>>33) })
	for size := 1; len(open) > 0; size *= 2 {
		pivots := open[:min(size, len(open))]
		open = open[len(pivots):]
		pivots = slices.DeleteFunc(pivots, func(v int32) bool { return s.label[v] >= 0 })
		from, to := s.pairs(out, pivots), s.pairs(in, pivots)
		for pair := range from.each() {
			if v := int32(pair >> 32); to.has(pair) {
				s.label[v] = max(s.label[v], int32(uint32(pair)))
			}
		}
		for k, table := range []*pairTable{from, to} {
			for pair := range table.each() {
				s.part[pair>>32] += mix(pair&math.MaxUint32<<1 + uint64(k))
			}
		}
	}
	least := filled(n, int32(math.MaxInt32))
	for v, l := range s.label {
		least[l] = min(least[l], int32(v))
	}
	for v, l := range s.label {
		s.label[v] = least[l]
	}
	return s.label
}

type strong struct {
	threads int
	label   []int32  // a vertex of the component, −1 before it is found
	part    []uint64 // vertices of one component have the same
}

// trim labels the vertices that no edge leaves or none enters, and returns the vertex of the
// greatest product of degrees, −1 without one.
func (s *strong) trim(out, in Graph) (pivot int32) {
	best, mutex := int64(0), sync.Mutex{}
	pivot = -1
	each(s.threads, len(s.label), func(_, lo, hi int) {
		most, at := int64(0), int32(-1)
		for v := int32(lo); v < int32(hi); v++ {
			if product := out.degree(v) * in.degree(v); product == 0 {
				s.label[v] = v
			} else if product > most {
				most, at = product, v
			}
		}
		mutex.Lock()
		defer mutex.Unlock()
		if most > best {
			best, pivot = most, at
		}
	})
	return pivot
}

// reach returns the open vertices on paths from a vertex.
func (s *strong) reach(along, against Graph, source int32) []uint64 {
	x := newSearch(along, s.threads)
	x.against = against
	for v, l := range s.label {
		if l >= 0 {
			x.level[v] = math.MaxInt32
		}
	}
	x.run(source)
	seen := make([]uint64, (len(s.label)+63)/64)
	each(s.threads, len(s.label), func(_, lo, hi int) {
		for v := int32(lo); v < int32(hi); v++ {
			if x.level[v] >= 0 && x.level[v] < math.MaxInt32 {
				set(seen, v)
			}
		}
	})
	return seen
}

// pairs returns the pairs (v, s) of open vertices v that a path of open vertices of one part leads
// to from s. A thread continues with what it finds, up to some vertices.
func (s *strong) pairs(along Graph, pivots []int32) *pairTable {
	t := newPairTable(max(4096, 4*len(pivots)))
	var queue []uint64
	for _, v := range pivots {
		pair := uint64(v)<<32 | uint64(v)
		t.add(pair)
		t.room.Add(-1)
		queue = append(queue, pair)
	}
	next := newLocals[uint64](s.threads)
	for len(queue) > 0 {
		var full atomic.Bool
		eachOf(s.threads, len(queue), 64, func(w, lo, hi int) {
			list, steps := slices.Clone(queue[lo:hi]), 0
			for ; len(list) > 0 && steps < 1<<10; steps++ {
				pair := list[len(list)-1]
				v, degree := int32(pair>>32), along.degree(int32(pair>>32))
				if t.room.Add(-degree) < 0 {
					t.room.Add(degree)
					full.Store(true)
					break
				}
				list = list[:len(list)-1]
				added := int64(0)
				for _, u := range along.row(v) {
					if s.label[u] >= 0 || s.part[u] != s.part[v] {
						continue
					}
					if p := uint64(u)<<32 | pair&math.MaxUint32; t.add(p) {
						list = append(list, p)
						added++
					}
				}
				t.room.Add(degree - added)
			}
			next[w].list = append(next[w].list, list...)
		})
		queue = queue[:0]
		for w := range next {
			queue = append(queue, next[w].list...)
			next[w].list = next[w].list[:0]
		}
		if full.Load() {
			t = t.larger()
		}
	}
	return t
}

// pairTable is a set of pairs that are not 2⁶⁴−1, by open addressing.
type pairTable struct {
	slot []uint64
	room atomic.Int64 // pairs that can be added
}

func newPairTable(size int) *pairTable {
	t := &pairTable{slot: filled(1<<bits.Len(uint(size)), uint64(math.MaxUint64))}
	t.room.Store(int64(len(t.slot)) / 2)
	return t
}

func (t *pairTable) add(pair uint64) bool {
	for at := mix(pair); ; at++ {
		p := &t.slot[at&uint64(len(t.slot)-1)]
		switch now := atomic.LoadUint64(p); {
		case now == pair:
			return false
		case now == math.MaxUint64 && atomic.CompareAndSwapUint64(p, now, pair):
			return true
		}
		if atomic.LoadUint64(p) == pair {
			return false
		}
	}
}

func (t *pairTable) has(pair uint64) bool {
	for at := mix(pair); ; at++ {
		switch t.slot[at&uint64(len(t.slot)-1)] {
		case pair:
			return true
		case math.MaxUint64:
			return false
		}
	}
}

func (t *pairTable) each() iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for _, pair := range t.slot {
			if pair != math.MaxUint64 && !yield(pair) {
				return
			}
		}
	}
}

// larger returns a table of four times the size with the same pairs.
func (t *pairTable) larger() *pairTable {
	big := newPairTable(4*len(t.slot) - 1)
	for pair := range t.each() {
		big.add(pair)
		big.room.Add(-1)
	}
	return big
}

// mix is the finaliser of SplitMix64.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
