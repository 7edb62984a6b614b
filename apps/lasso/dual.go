package lasso

import (
	"math"
	"slices"

	"github.com/hiveblas/hiveblas/internal/parallel"
)

// lassoEdges are the terms of a fused lasso: for each vertex the terms with larger vertices. Edge k
// of vertex i is (i, head[k]), and a positive flow on it goes from i to head[k].
type lassoEdges struct {
	ptr  []int32
	head []int32
	tail []int32
	cap  []float64 // λ₁ w: the most flow in either direction
}

// A lassoPart is the dual problem of the vertices that are not frozen: minimise ½ Σ ν x² over the
// flows u with |u| ≤ cap, where ν x = load − B u. The load of a vertex is ν y less the flow that it
// sends to frozen vertices.
type lassoPart struct {
	lassoEdges
	vertex []int32 // of the whole graph; nil: all
	edge   []int32 // of the whole graph; nil: all
	load   []float64
	nu     []float64
	inv    []float64 // 1/ν

	u, before []float64 // the flow, and the flow of the iteration before
	step      []float32 // τ = 1/(d(i)/ν(i) + d(j)/ν(j))
	x, ahead  []float64 // the primal point, and the extrapolated one
	momentum
	chunks []lassoChunk
}

// vertexName returns the number of a vertex in the whole graph, edgeName the number of an edge.
func (p *lassoPart) vertexName(i int32) int32 {
	if p.vertex == nil {
		return i
	}
	return p.vertex[i]
}

func (p *lassoPart) edgeName(k int32) int32 {
	if p.edge == nil {
		return k
	}
	return p.edge[k]
}

// A lassoChunk is the share of a thread: rows from to to, with edges to vertices below reach. sum
// holds the outflow of the vertices from to reach by these edges.
type lassoChunk struct {
	from, to, reach int
	sum             []float64
	value           float64 // part of the dual value
	_               [64]byte
}

// momentum is the state of Nesterov's acceleration: β of the next iteration, and the dual values of
// the last two iterations. An increase of the dual value restarts it.
type momentum struct {
	t, beta   float64
	last, old float64
}

func (m *momentum) restart() { m.t, m.beta, m.last, m.old = 1, 0, math.Inf(1), math.Inf(1) }

// next returns β of the next iteration (O'Donoghue, Candès: Adaptive restart for accelerated
// gradient schemes, Found. Comput. Math. 2015).
func (m *momentum) next() float64 {
	if m.last > m.old {
		m.t = 1
		m.last, m.old = math.Inf(1), math.Inf(1)
	}
	t := (1 + math.Sqrt(1+4*m.t*m.t)) / 2
	beta := (m.t - 1) / t
	m.t = t
	return beta
}

func (m *momentum) noteValue(value float64) { m.old, m.last = m.last, value }

// lassoStepSafety keeps float32 steps below their bound.
const lassoStepSafety = 1 - 1e-6

// prepare makes the derived lists of a part from its edges, loads, weights and flows.
func (p *lassoPart) prepare(threads int) {
	n := len(p.load)
	degree := make([]float64, n)
	for i := range n {
		degree[i] += float64(p.ptr[i+1] - p.ptr[i])
		for _, j := range p.head[p.ptr[i]:p.ptr[i+1]] {
			degree[j]++
		}
	}
	for i := range degree {
		degree[i] *= p.inv[i]
	}
	p.step = make([]float32, len(p.head))
	p.tail = make([]int32, len(p.head))
	for i := range n {
		for k := p.ptr[i]; k < p.ptr[i+1]; k++ {
			p.tail[k] = int32(i)
			p.step[k] = float32(lassoStepSafety / (degree[i] + degree[p.head[k]]))
		}
	}
	if p.x == nil {
		p.x, p.ahead = make([]float64, n), make([]float64, n)
	}
	p.primal(p.x, p.u)
	p.primal(p.ahead, p.before)
	for i, x := range p.x {
		p.ahead[i] = x + p.beta*(x-p.ahead[i])
	}
	// Small parts run on one thread.
	threads = min(threads, 1+len(p.head)/lassoEdgesPerThread)
	offsets := make([]int64, n+1)
	for i, x := range p.ptr {
		offsets[i] = int64(x)
	}
	cuts := parallel.Cut(threads, offsets, threads, 1)
	p.chunks = p.chunks[:0]
	for c := 0; c+1 < len(cuts); c++ {
		chunk := lassoChunk{from: cuts[c], to: cuts[c+1], reach: cuts[c+1]}
		for _, j := range p.head[p.ptr[chunk.from]:p.ptr[chunk.to]] {
			chunk.reach = max(chunk.reach, int(j)+1)
		}
		chunk.sum = make([]float64, chunk.reach-chunk.from)
		p.chunks = append(p.chunks, chunk)
	}
}

// primal writes the primal point of a flow.
func (p *lassoPart) primal(x, u []float64) {
	copy(x, p.load)
	for k, f := range u {
		x[p.tail[k]] -= f
		x[p.head[k]] += f
	}
	for i := range x {
		x[i] *= p.inv[i]
	}
}

// lassoEdgesPerThread is the least number of edges for another thread.
const lassoEdgesPerThread = 1 << 14

// iterate runs iterations of the accelerated dual gradient: u ← clip(û + τ Bᵀ x̂), with û and x̂
// extrapolated from the last two iterates.
func (p *lassoPart) iterate(times int) {
	for range times {
		beta := p.beta
		next := p.next()
		if len(p.chunks) == 1 {
			p.edges(0, beta)
			p.points(0, next)
		} else {
			parallel.Do(len(p.chunks), func(c int) { p.edges(c, beta) })
			parallel.Do(len(p.chunks), func(c int) { p.points(c, next) })
		}
		p.u, p.before = p.before, p.u
		value := 0.0
		for c := range p.chunks {
			value += p.chunks[c].value
		}
		p.noteValue(value)
		p.beta = next
	}
}

// edges writes the next flow of the edges of a chunk to before, and the outflows to its sums.
func (p *lassoPart) edges(chunk int, beta float64) {
	c := &p.chunks[chunk]
	ptr, ahead := p.ptr, p.ahead
	sum, from := c.sum, c.from
	lo, hi := ptr[c.from], ptr[c.to]
	head, tail := p.head[lo:hi], p.tail[lo:hi]
	u, before, most, step := p.u[lo:hi], p.before[lo:hi], p.cap[lo:hi], p.step[lo:hi]
	tail, u, before, most, step = tail[:len(head)], u[:len(head)], before[:len(head)], most[:len(head)], step[:len(head)]
	for k, j := range head {
		i := tail[k]
		w := u[k]
		w += beta*(w-before[k]) + float64(step[k])*(ahead[i]-ahead[j])
		// Without a branch: edges at capacity are anywhere.
		m := most[k]
		w = max(min(w, m), -m)
		before[k] = w
		sum[int(i)-from] += w
		sum[int(j)-from] -= w
	}
}

// points computes the primal point of the vertices of a chunk from the sums of all, and clears
// these.
func (p *lassoPart) points(chunk int, beta float64) {
	c := &p.chunks[chunk]
	value := 0.0
	x, ahead, load, inv, nu := p.x, p.ahead, p.load, p.inv, p.nu
	for lo := c.from; lo < c.to; lo += 1024 {
		hi := min(lo+1024, c.to)
		var buffer [1024]float64
		out := buffer[:hi-lo]
		for d := range p.chunks[:chunk+1] {
			o := &p.chunks[d]
			if end := min(hi, o.reach); end > lo {
				part := o.sum[lo-o.from : end-o.from]
				for k, s := range part {
					out[k] += s
				}
				clear(part)
			}
		}
		xs, as, ls, is, ns := x[lo:hi], ahead[lo:hi], load[lo:hi], inv[lo:hi], nu[lo:hi]
		for k, s := range out {
			now := (ls[k] - s) * is[k]
			as[k] = now + beta*(now-xs[k])
			xs[k] = now
			value += ns[k] * now * now
		}
	}
	c.value = value
}

// A lassoView is what a check finds: the candidate regions of a part.
type lassoView struct {
	region []int32   // of each vertex
	value  []float64 // of each region
	proven []bool
	frozen []bool
	tree   []int32   // the edge to the parent in the spanning forest of each vertex, -1 at roots
	extra  []float64 // the flow to add to that edge, in its direction
}

// findCandidates finds the candidate regions of a part, the components of the edges below their
// capacity. A region is proven for the flows over its border if its spanning forest can carry the
// flow that makes it constant. A value that no possible value of other regions can change by these
// flows is final: the region is frozen.
//
// Let x be the primal point of any flow, and S the part of a superlevel set of the solution in a
// region. The mean of x over S is at least the mean of the solution over S, since the solution
// sends as much as it can out of S. So the largest of x bounds the solution in a region without
// borders; and a border edge that is saturated from region P to Q lets the bound of Q reach P, but
// not the bound of P reach Q. Lower bounds go the other way. Where both bounds of a region are its
// value, the value is the solution.
func (p *lassoPart) findCandidates() *lassoView {
	n := len(p.load)
	v := &lassoView{region: make([]int32, n), tree: make([]int32, n), extra: make([]float64, n)}
	joins, rows, count := v.forest(p)
	weight := make([]float64, count)
	v.value = make([]float64, count)
	for i, r := range v.region {
		v.value[r] += p.nu[i] * p.x[i]
		weight[r] += p.nu[i]
	}
	for r := range v.value {
		v.value[r] /= weight[r]
	}
	v.route(p, joins, rows)
	low, high := v.bounds(p)
	v.frozen = make([]bool, count)
	for r := range v.frozen {
		v.frozen[r] = v.proven[r] && low[r] == high[r]
	}
	return v
}

// forest makes regions of the vertices that edges below their capacity join. It returns the edges
// of a spanning forest with their rows, and the number of regions.
func (v *lassoView) forest(p *lassoPart) (joins, rows []int32, count int32) {
	n := len(p.load)
	// The forest prefers edges with much slack.
	root := make([]int32, n)
	for i := range root {
		root[i] = int32(i)
	}
	find := func(i int32) int32 {
		for root[i] != i {
			root[i] = root[root[i]]
			i = root[i]
		}
		return i
	}
	for pass := range 2 {
		for i := range int32(n) {
			for k := p.ptr[i]; k < p.ptr[i+1]; k++ {
				f := math.Abs(p.u[k])
				if f >= p.cap[k] || (f > .5*p.cap[k]) != (pass == 1) {
					continue
				}
				a, b := find(i), find(p.head[k])
				if a != b {
					root[max(a, b)] = min(a, b)
					joins, rows = append(joins, k), append(rows, i)
				}
			}
		}
	}
	for i := range int32(n) {
		if r := find(i); r == i {
			v.region[i] = count
			count++
		} else {
			v.region[i] = v.region[r]
		}
	}
	return joins, rows, count
}

// bounds returns bounds of the solution in each region.
func (v *lassoView) bounds(p *lassoPart) (low, high []float64) {
	n, count := len(p.load), len(v.value)
	low, high = make([]float64, count), make([]float64, count)
	for r := range low {
		low[r], high[r] = math.Inf(1), math.Inf(-1)
		if v.proven[r] {
			low[r], high[r] = v.value[r], v.value[r]
		}
	}
	for i, r := range v.region {
		if !v.proven[r] {
			low[r], high[r] = min(low[r], p.x[i]), max(high[r], p.x[i])
		}
	}
	type border struct{ from, to int32 } // of the flow
	var borders []border
	for i := range int32(n) {
		for k := p.ptr[i]; k < p.ptr[i+1]; k++ {
			a, b := v.region[i], v.region[p.head[k]]
			switch {
			case a == b:
			case p.u[k] > 0:
				borders = append(borders, border{a, b})
			default:
				borders = append(borders, border{b, a})
			}
		}
	}
	for changed := true; changed; {
		changed = false
		for _, e := range borders {
			if high[e.to] > high[e.from] {
				high[e.from], changed = high[e.to], true
			}
			if low[e.from] < low[e.to] {
				low[e.to], changed = low[e.from], true
			}
		}
		slices.Reverse(borders)
	}
	return low, high
}

// route sends over each region's spanning forest the flow that makes the region constant, and finds
// the regions with enough capacity for it.
func (v *lassoView) route(p *lassoPart, joins, rows []int32) {
	n := len(v.region)
	// The forest as lists of neighbours.
	ptr := make([]int32, n+1)
	for q, k := range joins {
		ptr[rows[q]+1]++
		ptr[p.head[k]+1]++
	}
	for i := range n {
		ptr[i+1] += ptr[i]
		v.tree[i] = -1
	}
	type link struct{ to, edge int32 }
	links := make([]link, 2*len(joins))
	at := slices.Clone(ptr[:n])
	for q, k := range joins {
		i, j := rows[q], p.head[k]
		links[at[i]], links[at[j]] = link{j, k}, link{i, k}
		at[i]++
		at[j]++
	}
	order := make([]int32, 0, n)
	parent := at // reused
	seen := make([]bool, n)
	for i := range int32(n) {
		if seen[i] {
			continue
		}
		seen[i], parent[i] = true, -1
		order = append(order, i)
		for h := len(order) - 1; h < len(order); h++ {
			a := order[h]
			for _, l := range links[ptr[a]:ptr[a+1]] {
				if !seen[l.to] {
					seen[l.to], parent[l.to], v.tree[l.to] = true, a, l.edge
					order = append(order, l.to)
				}
			}
		}
	}
	v.proven = make([]bool, len(v.value))
	for r := range v.proven {
		v.proven[r] = true
	}
	surplus := v.extra
	for i, r := range v.region {
		surplus[i] = p.nu[i] * (p.x[i] - v.value[r])
	}
	for h := n - 1; h >= 0; h-- {
		i := order[h]
		if parent[i] < 0 {
			continue
		}
		f := surplus[i] // from i to its parent
		surplus[parent[i]] += f
		if parent[i] < i {
			f = -f
		}
		surplus[i] = f
		k := v.tree[i]
		if math.Abs(p.u[k]+f) > p.cap[k] {
			v.proven[v.region[i]] = false
		}
	}
}

// freeze writes the values and flows of frozen regions to b and u of the whole graph, and returns
// the part of the others, nil if there are none.
func (p *lassoPart) freeze(v *lassoView, b, u []float64, threads int) *lassoPart {
	n := len(p.load)
	local := make([]int32, n)
	q := &lassoPart{momentum: p.momentum}
	for i, r := range v.region {
		g := p.vertexName(int32(i))
		if v.frozen[r] {
			b[g], local[i] = v.value[r], -1
			if k := v.tree[i]; k >= 0 {
				p.u[k] += v.extra[i]
			}
			continue
		}
		local[i] = int32(len(q.vertex))
		q.vertex = append(q.vertex, g)
	}
	if len(q.vertex) == n {
		return p
	}
	m := len(q.vertex)
	q.load, q.nu, q.inv = make([]float64, m), make([]float64, m), make([]float64, m)
	q.x, q.ahead = make([]float64, m), make([]float64, m)
	for i, l := range local {
		if l >= 0 {
			q.load[l] += p.load[i]
			q.nu[l], q.inv[l] = p.nu[i], p.inv[i]
		}
	}
	q.ptr = append(make([]int32, 0, m+1), 0)
	kept := 0
	for i, l := range local {
		if l >= 0 {
			for _, j := range p.head[p.ptr[i]:p.ptr[i+1]] {
				if local[j] >= 0 {
					kept++
				}
			}
		}
	}
	q.head, q.edge, q.cap = make([]int32, 0, kept), make([]int32, 0, kept), make([]float64, 0, kept)
	q.u, q.before = make([]float64, 0, kept), make([]float64, 0, kept)
	for i := range int32(n) {
		l := local[i]
		for k := p.ptr[i]; k < p.ptr[i+1]; k++ {
			j := local[p.head[k]]
			if l >= 0 && j >= 0 {
				q.head, q.edge, q.cap = append(q.head, j), append(q.edge, p.edgeName(k)), append(q.cap, p.cap[k])
				q.u, q.before = append(q.u, p.u[k]), append(q.before, p.before[k])
				continue
			}
			u[p.edgeName(k)] = p.u[k]
			if l >= 0 {
				q.load[l] -= p.u[k]
			} else if j >= 0 {
				q.load[j] += p.u[k]
			}
		}
		if l >= 0 {
			q.ptr = append(q.ptr, int32(len(q.head)))
		}
	}
	if m == 0 {
		return nil
	}
	q.prepare(threads)
	return q
}
