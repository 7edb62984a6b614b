package program

import (
	"slices"

	"github.com/hiveblas/hiveblas/internal/cpu"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/program/internal/halo"
)

// frontier is the set of active vertices: all, a list or marks.
type frontier struct {
	all   bool
	list  []int32 // ascending, unless the sum is exact
	marks []uint8 // 1 for each active vertex; used if it is not nil
	count int64
	edges int64 // out-edges of the active vertices
}

func (f *frontier) sort() {
	if !slices.IsSorted(f.list) {
		slices.Sort(f.list)
	}
}

// listed returns the active vertices as a list.
func (f *frontier) listed(n int) []int32 {
	switch {
	case f.all:
		f.list = make([]int32, n)
		for v := range f.list {
			f.list[v] = int32(v)
		}
	case f.marks != nil && f.list == nil:
		f.list = appendMarked(make([]int32, 0, f.count), f.marks, 0, n)
	}
	return f.list
}

// appendMarked appends the marked positions among lo … hi−1.
func appendMarked(list []int32, marks []uint8, lo, hi int) []int32 {
	for v := lo; v < hi; {
		if v+8 <= hi {
			m := (*[8]uint8)(marks[v:])
			if m[0]|m[1]|m[2]|m[3]|m[4]|m[5]|m[6]|m[7] == 0 {
				v += 8
				continue
			}
		}
		for end := min(v+8, hi); v < end; v++ {
			if marks[v] != 0 {
				list = append(list, int32(v))
			}
		}
	}
	return list
}

// marked returns the marks of the active vertices, or nil if all are active.
func (f *frontier) marked(n int) []uint8 {
	if f.all || f.count == int64(n) {
		return nil
	}
	if f.marks == nil {
		f.marks = make([]uint8, n)
		for _, v := range f.list {
			f.marks[v] = 1
		}
	}
	return f.marks
}

// batch is the number of messages that are summed by one call of a kernel.
const batch = 2048

// worker is what one thread keeps.
type worker[V, E, M comparable] struct {
	*engine[V, E, M]
	p      *Program[V, E, M] // with the functions of the thread
	sum    *cpu.MonoidOf[M]  // of the thread
	vertex Vertex
	buf    []M     // messages of a batch
	to     []int32 // their destinations, where some are left out
	ptr    []int64 // offsets of the rows of a batch
	ys     []M     // their sums
	acc    M       // a sum: the address of a local would escape

	// The next frontier.
	list         []int32
	count, edges int64
}

// at returns vertex v.
func (k *worker[V, E, M]) at(v int) Vertex {
	if k.ids != nil {
		k.vertex.ID, k.vertex.Degree = k.ids[v], k.deg[v]
		return k.vertex
	}
	k.vertex.ID, k.vertex.Degree = int32(v), k.degree(v)
	return k.vertex
}

func (k *worker[V, E, M]) room() {
	if k.buf == nil {
		k.buf, k.to = make([]M, batch+8), make([]int32, batch+8)
		k.ptr, k.ys = make([]int64, batch+1), make([]M, batch)
	}
}

// apply runs Apply on a vertex and reports whether it is active next.
func (k *worker[V, E, M]) apply(v int, sum M) bool {
	state, active := k.p.Apply.Func(k.at(v), k.state[v], sum)
	k.state[v] = state
	if k.closed != nil {
		k.closed[v] = bit(k.p.Skip.Func(state))
	}
	if active {
		k.count++
		k.edges += int64(k.degree(v))
	}
	return active
}

// superstep runs one superstep.
func (e *engine[V, E, M]) superstep(step *Step) error {
	for _, k := range e.workers {
		k.list, k.count, k.edges = nil, 0, 0
	}
	if e.lists != nil {
		step.Plan = "lists"
		return e.lists.superstep()
	}
	d := e.direction()
	step.Plan = d.String()
	if e.sums == nil && !(d == pull && e.mail != nil) {
		e.sums, e.hit = make([]M, e.n), make([]uint8, e.n)
		for v := range e.sums {
			e.sums[v] = e.sum.Identity[0]
		}
	}
	if err := e.sends(); err != nil {
		return err
	}
	if d == pull {
		return e.pull()
	}
	return e.push()
}

// sends computes the messages of Send.
func (e *engine[V, E, M]) sends() error {
	if e.mail == nil {
		return nil
	}
	if e.front.list != nil && !e.front.all {
		return parallel.Range(e.ctx, e.threads, len(e.front.list), block, func(w, lo, hi int) {
			k := e.workers[w]
			send := k.p.Send.Func
			for _, v := range e.front.list[lo:hi] {
				e.mail[v] = send(k.at(int(v)), e.state[v])
			}
		})
	}
	marks := e.front.marked(e.n)
	return e.vertices(func(k *worker[V, E, M], lo, hi int) {
		send := k.p.Send.Func
		for v := lo; v < hi; v++ {
			if marks == nil || marks[v] != 0 {
				e.mail[v] = send(k.at(v), e.state[v])
			}
		}
	})
}

// A pull takes less time than a push from some share of the edges: 1/3 with Send, which selects
// messages without branches, 2/3 with Gather (shortest paths on R-MAT 16), and 1/14 with the sum
// any, which stops at the first message (Beamer et al., SC 2012). An idempotent sum pulls without a
// test, from 1/6. In sixths.
const (
	pullSend   = 2
	pullGather = 4
)

// direction chooses push or pull. The choice does not depend on the number of threads, and for
// sums that are not exact on nothing but the frontier, so that a run rounds alike every time.
func (e *engine[V, E, M]) direction() direction {
	share := int64(pullSend)
	switch {
	case e.p.Idempotent:
		share = 1
	case e.mail == nil:
		share = pullGather
	}
	d := push
	if e.front.edges*6 > e.out.NVals*share ||
		(e.any || e.p.Everywhere) && e.front.edges*14 > e.out.NVals {
		d = pull
	}
	if e.plan != auto {
		d = e.plan
	} else if d == pull && e.in == nil && e.sum.Exact && !e.p.Everywhere && !e.g.HasCols() {
		if e.wanted++; e.wanted <= 2 { // the transpose costs as much as several pushes
			d = push
		}
	}
	if d == pull && e.in == nil {
		e.in = e.p.typed(halo.WithOffsets(e.g.Cols()))
	}
	return d
}

// pull sums the messages of each vertex along its in-edges. With Send, no function reads the state
// of another vertex, so that Apply follows at once.
func (e *engine[V, E, M]) pull() error {
	if e.cuts == nil {
		e.cuts = parallel.Cut(e.threads, e.in.Ptr, max(1, min(64*e.threads, int(e.in.NVals/batch)+1)), 2)
	}
	var marks []uint8
	if !e.p.Idempotent {
		marks = e.front.marked(e.n)
	}
	rows := func(w, piece int) {
		k := e.workers[w]
		k.room()
		lo, hi := e.cuts[piece], e.cuts[piece+1]
		switch plain := marks == nil && e.closed == nil && !e.any && !e.sparse; {
		case plain && e.mail != nil:
			k.pullAll(lo, hi)
		case plain && e.products(e.in):
			k.pullProducts(lo, hi)
		default:
			k.pullSome(lo, hi, marks)
		}
	}
	if err := parallel.Pieces(e.ctx, e.threads, len(e.cuts)-1, rows); err != nil {
		return err
	}
	if e.mail == nil {
		err := e.vertices(func(k *worker[V, E, M], lo, hi int) { k.applyMarked(lo, hi) })
		if err != nil {
			return err
		}
	}
	e.advance()
	return nil
}

// pullAll sums the messages of Send to rows lo … hi−1 and applies the sums. Every vertex sends.
func (k *worker[V, E, M]) pullAll(lo, hi int) {
	ptr, idx, mail := k.in.Ptr, k.in.Idx, k.mail
	for v := lo; v < hi; {
		end := v
		for end < hi && end-v < batch && ptr[end+1]-ptr[v] <= batch {
			end++
		}
		if end == v { // a row of more than a batch
			k.finish(v, k.longRow(v), true)
			v++
			continue
		}
		from := ptr[v]
		list := idx[from:ptr[end]]
		buf := k.buf[:len(list)]
		for p, u := range list {
			buf[p] = mail[u]
		}
		rel := k.ptr[:end-v+1]
		for r, p := range ptr[v : end+1] {
			rel[r] = p - from
		}
		ys := k.ys[:end-v]
		k.sum.FoldRows(ys, &k.sum.Identity[0], rel, k.buf[:len(list)+8])
		for r, sum := range ys {
			if rel[r+1] > rel[r] || k.p.Everywhere {
				k.finish(v+r, sum, true)
			}
		}
		v = end
	}
}

// products reports whether the kernels of a semiring compute the messages along the edges of s.
func (e *engine[V, E, M]) products(s *sparse.Typed[E]) bool {
	g := e.p.Gather.product
	return g != nil && (s.Val != nil || !g.UsesX)
}

// pullProducts sums the messages of a semiring to rows lo … hi−1.
func (k *worker[V, E, M]) pullProducts(lo, hi int) {
	ptr, val, g := k.in.Ptr, k.in.Val, cpu.TypedKernels[E, V, M](k.p.Gather.product)
	id := &k.sum.Identity[0]
	for v := lo; v < hi; v += batch {
		end := min(v+batch, hi)
		ys := k.ys[:end-v]
		if g.DotRows != nil {
			g.DotRows(ys, id, ptr[v:end+1], k.in.Idx, val, k.state)
		}
		for r := range ys {
			p, q := ptr[v+r], ptr[v+r+1]
			if g.DotRows == nil || p == q {
				ys[r] = *id
				g.Dot(&ys[r], k.in.Idx[p:q], k.weights(k.in, p, q), k.state)
			}
			k.finish(v+r, ys[r], p < q)
		}
	}
}

// longRow sums the messages of Send to a row.
func (k *worker[V, E, M]) longRow(v int) M {
	k.acc = k.sum.Identity[0]
	for list := k.in.Idx[k.in.Ptr[v]:k.in.Ptr[v+1]]; len(list) > 0; {
		part := list[:min(batch, len(list))]
		for p, u := range part {
			k.buf[p] = k.mail[u]
		}
		k.sum.Fold(&k.acc, k.buf[:len(part)])
		list = list[len(part):]
	}
	return k.acc
}

// finish takes the sum of a row: it applies it with Send, and else keeps it.
func (k *worker[V, E, M]) finish(v int, sum M, some bool) {
	switch {
	case k.mail == nil:
		k.sums[v], k.hit[v] = sum, bit(some)
	case some || k.p.Everywhere:
		if k.apply(v, sum) {
			k.next[v] = 1
		}
	}
}

// pullSome sums the messages to rows lo … hi−1 from the vertices that marks has, or from all.
func (k *worker[V, E, M]) pullSome(lo, hi int, marks []uint8) {
	ptr := k.in.Ptr
	for v := lo; v < hi; v++ {
		if k.closed != nil && k.closed[v] != 0 {
			continue
		}
		sum, some := k.sum.Identity[0], false
		for p := ptr[v]; p < ptr[v+1] && !(k.any && some); p += batch {
			end := min(p+batch, ptr[v+1])
			n := 0
			if k.mail != nil {
				n = k.fromMail(p, end, marks)
			} else {
				n = k.fromEdges(v, p, end, marks)
			}
			if n > 0 {
				some = true
				k.acc = sum
				k.sum.Fold(&k.acc, k.buf[:n])
				sum = k.acc
			}
		}
		k.finish(v, sum, some)
	}
}

// fromMail puts the messages of Send along in-edges p … end−1 into the buffer.
func (k *worker[V, E, M]) fromMail(p, end int64, marks []uint8) (n int) {
	list := k.in.Idx[p:end]
	switch {
	case k.any:
		for _, u := range list {
			if marks == nil || marks[u] != 0 {
				k.buf[0] = k.mail[u]
				return 1
			}
		}
		return 0
	case marks == nil:
		for j, u := range list {
			k.buf[j] = k.mail[u]
		}
		return len(list)
	}
	for _, u := range list {
		k.buf[n] = k.mail[u]
		n += int(marks[u])
	}
	return n
}

// fromEdges puts the messages of Gather along in-edges p … end−1 of v into the buffer.
func (k *worker[V, E, M]) fromEdges(v int, p, end int64, marks []uint8) (n int) {
	dst, state, buf := k.state[v], k.state, k.buf
	list, weights := k.in.Idx[p:end], k.weights(k.in, p, end)
	var weight E
	if weights == nil {
		weight = k.unit()
	}
	f, g := k.p.Gather.Func, k.p.Gather.FuncIf
	if f != nil && marks == nil && weights != nil && !k.any {
		buf, weights = buf[:len(list)], weights[:len(list)]
		for j, u := range list {
			buf[j] = f(state[u], dst, weights[j])
		}
		return len(list)
	}
	for j, u := range list {
		if marks != nil && marks[u] == 0 {
			continue
		}
		if weights != nil {
			weight = weights[j]
		}
		if f != nil {
			buf[n] = f(state[u], dst, weight)
			n++
		} else if m, ok := g(state[u], dst, weight); ok {
			buf[n] = m
			n++
		}
		if k.any && n > 0 {
			return n
		}
	}
	return n
}

// weights returns the values of edges, nil for a pattern.
func (e *engine[V, E, M]) weights(s *sparse.Typed[E], p, end int64) []E {
	if s.Val == nil {
		return nil
	}
	return s.Val[p:end]
}

// unit is the value of the edges of a pattern: true.
func (e *engine[V, E, M]) unit() E {
	if w, ok := any(true).(E); ok {
		return w
	}
	return e.p.unit
}

// applyMarked applies the sums of vertices lo … hi−1, and empties them.
func (k *worker[V, E, M]) applyMarked(lo, hi int) {
	for v := lo; v < hi; v++ {
		if k.hit[v] == 0 && !k.p.Everywhere {
			continue
		}
		if k.apply(v, k.sums[v]) {
			k.next[v] = 1
		}
		k.sums[v], k.hit[v] = k.sum.Identity[0], 0
	}
}

// advance makes the marks in next the frontier.
func (e *engine[V, E, M]) advance() {
	f := frontier{}
	for _, k := range e.workers {
		f.count += k.count
		f.edges += k.edges
	}
	if e.p.Priority.Func != nil {
		f.list = appendMarked(make([]int32, 0, f.count), e.next, 0, e.n)
		clear(e.next)
		e.front = f
		e.delay()
		return
	}
	switch old := e.front.marks; {
	case f.count == int64(e.n):
		f.all = true
		clear(e.next)
	default:
		f.marks = e.next
		if old == nil {
			old = make([]uint8, e.n)
		}
		clear(old)
		e.next = old
	}
	e.front = f
}
