package communities

import (
	"sync/atomic"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
)

// refineSweeps is the number of times that a vertex may try to leave its own part.
const refineSweeps = 3

// A refiner splits communities into parts that are connected (Traag, Waltman, van Eck 2019). Each
// vertex begins as a part. A vertex that is still one joins the part of its community with the
// largest gain, if both are well connected to the rest of the community: the weight of their edges
// to it is at least γ·k·(tot−k)/2m. A vertex never leaves a part that it joined or that another one
// joined.
//
// Vertices decide in batches, as in localMoving. The parts are connected because no vertex joins a
// vertex of its own batch that is a part by itself, and that could leave at the same time.
type refiner struct {
	*localMoving
	part   []int32
	size   []int64 // Σ degrees by part
	out    []int64 // weight of the edges from a part to the rest of its community
	joined []uint32
	now    int32 // the batch that decides + 1
}

// refine returns the part of each vertex, named by one of its vertices.
func (m *localMoving) refine() ([]int32, error) {
	g := m.g
	r := &refiner{localMoving: m, part: make([]int32, g.n), size: make([]int64, g.n), out: make([]int64, g.n),
		joined: make([]uint32, g.n)}
	copy(r.size, g.degree)
	err := workflow.EachBlock(m.settings, workflow.RowBlocks(m.settings, g.ptr), func(_, _, lo, hi int) {
		for v := lo; v < hi; v++ {
			r.part[v] = int32(v)
			r.out[v] = r.inside(v)
			m.active[v] = 0
			if r.out[v] > 0 {
				m.active[v] = 1
			}
		}
	})
	if err != nil {
		return nil, err
	}
	for sweep := range refineSweeps {
		if !m.draw(moveSweeps + sweep) {
			break
		}
		for b, list := range m.batch {
			r.now = int32(b + 1)
			if err := r.step(list); err != nil {
				return nil, err
			}
		}
	}
	return r.part, nil
}

// inside returns the weight of the edges from v to the rest of its community.
func (r *refiner) inside(v int) int64 {
	g, c, sum := r.g, r.label[v], int64(0)
	for p := g.ptr[v]; p < g.ptr[v+1]; p++ {
		if u := g.idx[p]; r.label[u] == c && int(u) != v {
			if g.weight == nil {
				sum++
			} else {
				sum += g.weight[p]
			}
		}
	}
	return sum
}

func (r *refiner) step(list []int32) error {
	if err := r.each(list, r.decide); err != nil {
		return err
	}
	r.gather()
	r.grant()
	return nil
}

// connected reports whether a part of that size and weight to the rest of community c is well
// connected to it.
func (r *refiner) connected(size, out int64, c int32) bool {
	return float64(out) >= float64(r.factor(size)*float64(r.tot[c]-size))
}

// decide appends the best move of v to the wishes.
func (r *refiner) decide(w *moveWorker, v int32) {
	g, part, sum, near, k := r.g, r.part, w.sum, w.near, 0
	r.active[v] = 0
	c, degree := r.label[v], g.degree[v]
	if r.joined[v] != 0 || !r.connected(degree, r.out[v], c) {
		return
	}
	for p := g.ptr[v]; p < g.ptr[v+1]; p++ {
		u, y := g.idx[p], int64(1)
		if g.weight != nil {
			y = g.weight[p]
		}
		if u == v || y == 0 || r.label[u] != c {
			continue
		}
		s := part[u]
		x := sum[s]
		near[k] = s
		if x == 0 {
			k++
		}
		sum[s] = x + y
	}
	factor, to, most, weight := r.factor(degree), v, 0.0, int64(0)
	for _, s := range near[:k] {
		x := sum[s]
		sum[s] = 0
		if r.drawn[s] == r.now && r.joined[s] == 0 || !r.connected(r.size[s], r.out[s], c) {
			continue
		}
		if y := float64(x) - float64(factor*float64(r.size[s])); y > most || y == most && s < to && to != v {
			to, most, weight = s, y, x
		}
	}
	if most > leastGain*float64(degree) {
		w.wishes = append(w.wishes, wish{vertex: v, from: v, to: to, gain: most, weight: weight})
	}
}

// grant decides which wishes come true.
func (r *refiner) grant() {
	if r.threads > 1 && len(r.wishes) >= r.grain.wishes {
		r.grantShared()
		return
	}
	for k := range r.wishes {
		r.count(&r.wishes[k])
	}
	for k := range r.wishes {
		x := &r.wishes[k]
		if !r.granted(x) {
			r.active[x.vertex] = 1
			continue
		}
		r.part[x.vertex] = x.to
		r.joined[x.to] = 1
		r.size[x.to] += r.g.degree[x.vertex]
		// Edges between vertices that join at the same time stay in out, which is then too large.
		r.out[x.to] += r.out[x.vertex] - 2*x.weight
	}
	for k := range r.wishes {
		x := &r.wishes[k]
		r.want[x.to], r.best[x.to] = 0, 0
	}
}

// grantShared is grant by all threads. Sums of integers and maxima do not depend on their order. A
// vertex with a wish is a part by itself that no vertex of its batch joins, so its sums of edges do
// not change meanwhile.
func (r *refiner) grantShared() {
	r.countShared()
	r.eachWish(func(list []wish) {
		for k := range list {
			x := &list[k]
			if !r.granted(x) {
				r.active[x.vertex] = 1
				continue
			}
			r.part[x.vertex] = x.to
			atomic.StoreUint32(&r.joined[x.to], 1)
			atomic.AddInt64(&r.size[x.to], r.g.degree[x.vertex])
			atomic.AddInt64(&r.out[x.to], r.out[x.vertex]-2*x.weight)
		}
	})
	r.clearWishes()
}
