package communities

import (
	"slices"
	"sync/atomic"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/parallel"
)

// gather collects the wishes of the workers.
func (m *localMoving) gather() {
	m.wishes = m.wishes[:0]
	for k := range m.workers {
		m.wishes = append(m.wishes, m.workers[k].wishes...)
		m.workers[k].wishes = m.workers[k].wishes[:0]
	}
}

// places numbers the communities with vertices from 0. Sums by these numbers take less memory than
// sums by names, and so stay in caches.
type places struct {
	of   []int32 // of the community of each vertex
	slot []int32 // of the community of a name, −1 if it has none
	name []int32
	tot  []int64 // Σ degrees
}

// placed returns the places of the present communities.
func (m *localMoving) placed() *places {
	p := m.places
	if p == nil {
		p = &places{of: make([]int32, m.g.n), slot: make([]int32, 2*m.g.n)}
	}
	p.name, p.tot = p.name[:0], p.tot[:0]
	for c, tot := range m.tot {
		if p.slot[c] = -1; tot > 0 {
			p.add(int32(c), tot)
		}
	}
	_ = parallel.Range(nil, m.threads, m.g.n, workflow.RowGrain, func(_, lo, hi int) {
		for v := lo; v < hi; v++ {
			p.of[v] = max(0, p.slot[m.label[v]]) // 0, or any, of a vertex with edges of weight 0 alone
		}
	})
	return p
}

// add gives a community a place.
func (p *places) add(name int32, tot int64) {
	p.slot[name] = int32(len(p.name))
	p.name, p.tot = append(p.name, name), append(p.tot, tot)
}

// name returns the name of a community by its place.
func (m *localMoving) name(c int32) int32 {
	if m.places == nil {
		return c
	}
	return m.places.name[c]
}

// move gives a vertex the community that it wishes for.
func (m *localMoving) move(x *wish) {
	p, degree := m.places, m.g.degree[x.vertex]
	from, to := p.slot[x.from], p.slot[x.to]
	m.label[x.vertex], p.of[x.vertex] = x.to, to
	atomic.AddInt64(&m.tot[x.from], -degree)
	atomic.AddInt64(&m.tot[x.to], degree)
	atomic.AddInt64(&p.tot[from], -degree)
	atomic.AddInt64(&p.tot[to], degree)
}

// count adds a wish to the wishes of its community.
func (m *localMoving) count(x *wish) {
	m.want[x.to] += m.g.degree[x.vertex]
	m.best[x.to] = max(m.best[x.to], x.rank())
}

// granted reports whether a wish comes true, once all are counted.
func (m *localMoving) granted(x *wish) bool {
	degree := m.g.degree[x.vertex]
	others := float64(m.factor(degree) * float64(m.want[x.to]-degree))
	return m.best[x.to] == x.rank() || x.gain-others > leastGain*float64(degree)
}

// grant makes the moves of the wishes that come true, adds their vertices to moved, and returns the
// gain in modularity, times gainScale.
func (m *localMoving) grant() int64 {
	for k := range m.wishes {
		if x := &m.wishes[k]; m.places.slot[x.to] < 0 { // a new community
			m.places.add(x.to, 0)
		}
	}
	if m.threads > 1 && len(m.wishes) >= m.grain.wishes {
		return m.grantShared()
	}
	for k := range m.wishes {
		m.count(&m.wishes[k])
	}
	sum := int64(0)
	unit := 2 * gainScale / float64(m.g.total)
	for k := range m.wishes {
		x := &m.wishes[k]
		if !m.granted(x) {
			m.active[x.vertex] = 1
			continue
		}
		sum += int64(x.gain * unit)
		m.move(x)
		m.moved = append(m.moved, x.vertex)
	}
	for k := range m.wishes {
		x := &m.wishes[k]
		m.want[x.to], m.best[x.to] = 0, 0
	}
	return sum
}

// wishGrain is the number of wishes of a piece of grantShared.
const wishGrain = 1 << 8

// grantShared is grant by all threads. Sums of integers and maxima do not depend on their order.
func (m *localMoving) grantShared() int64 {
	m.countShared()
	var total, moves atomic.Int64
	before := len(m.moved)
	m.moved = slices.Grow(m.moved, len(m.wishes))
	moved := m.moved[before : before+len(m.wishes)]
	unit := 2 * gainScale / float64(m.g.total)
	m.eachWish(func(list []wish) {
		var buf [wishGrain]int32
		sum, mine := int64(0), buf[:0]
		for k := range list {
			x := &list[k]
			if !m.granted(x) {
				m.active[x.vertex] = 1
				continue
			}
			sum += int64(x.gain * unit)
			m.move(x)
			mine = append(mine, x.vertex)
		}
		total.Add(sum)
		end := int(moves.Add(int64(len(mine))))
		copy(moved[end-len(mine):end], mine)
	})
	m.moved = m.moved[:before+int(moves.Load())]
	m.clearWishes()
	return total.Load()
}

// eachWish runs fn on pieces of the wishes by all threads.
func (m *localMoving) eachWish(fn func(list []wish)) {
	_ = parallel.Range(nil, m.threads, len(m.wishes), wishGrain, func(_, lo, hi int) { fn(m.wishes[lo:hi]) })
}

// countShared is count of all wishes by all threads.
func (m *localMoving) countShared() {
	m.eachWish(func(list []wish) {
		for k := range list {
			x := &list[k]
			atomic.AddInt64(&m.want[x.to], m.g.degree[x.vertex])
			best, rank := &m.best[x.to], x.rank()
			for old := atomic.LoadUint64(best); old < rank && !atomic.CompareAndSwapUint64(best, old, rank); {
				old = atomic.LoadUint64(best)
			}
		}
	})
}

// clearWishes resets what countShared counted.
func (m *localMoving) clearWishes() {
	m.eachWish(func(list []wish) {
		for k := range list {
			atomic.StoreInt64(&m.want[list[k].to], 0)
			atomic.StoreUint64(&m.best[list[k].to], 0)
		}
	})
}
