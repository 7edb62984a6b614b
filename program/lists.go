package program

import (
	"slices"

	"github.com/hiveblas/hiveblas/internal/cpu"
	"github.com/hiveblas/hiveblas/internal/parallel"
)

// EdgeList is the out-edges of an active vertex, in ascending order of their ends. It is valid
// during the call of the function that receives it.
type EdgeList[V, E, M comparable] struct {
	e       *listEngine[V, E, M]
	out     *outbox[M]
	from    int32
	lo, end int64
}

// Len returns the number of edges.
func (l *EdgeList[V, E, M]) Len() int {
	if l == nil {
		return 0
	}
	return int(l.end - l.lo)
}

// has reports whether there is an edge k.
func (l *EdgeList[V, E, M]) has(k int) bool { return k >= 0 && k < l.Len() }

// To returns the vertex at the end of edge k, −1 if there is no such edge.
func (l *EdgeList[V, E, M]) To(k int) int32 {
	if !l.has(k) {
		return -1
	}
	return l.e.out.Idx[l.lo+int64(k)]
}

// Dst returns the state of the vertex at the end of edge k.
func (l *EdgeList[V, E, M]) Dst(k int) (state V) {
	if !l.has(k) {
		return state
	}
	return l.e.state[l.To(k)]
}

// Weight returns the value of edge k; it is true in a pattern.
func (l *EdgeList[V, E, M]) Weight(k int) (weight E) {
	switch {
	case !l.has(k):
		return weight
	case l.e.out.Val == nil:
		return l.e.unit()
	}
	return l.e.out.Val[l.lo+int64(k)]
}

// Active reports whether edge k is active. All edges are at the start of a run.
func (l *EdgeList[V, E, M]) Active(k int) bool {
	return l.has(k) && (l.e.idle == nil || l.e.idle[l.lo+int64(k)] == 0)
}

// SetActive sets whether edge k is active from now on. Sending along an edge that is not active
// does nothing.
func (l *EdgeList[V, E, M]) SetActive(k int, active bool) {
	if l.has(k) {
		l.e.idle[l.lo+int64(k)] = bit(!active)
	}
}

// Send sends a message along edge k. An edge takes any number of messages in a superstep.
func (l *EdgeList[V, E, M]) Send(k int, m M) {
	if l.Active(k) {
		l.out.put(l.To(k), m)
	}
}

// SendAll sends a message along every active edge.
func (l *EdgeList[V, E, M]) SendAll(m M) {
	for k := range l.Len() {
		l.Send(k, m)
	}
}

// SendTo sends a message to any vertex. A vertex that does not exist ends the run with a
// *MessageError.
func (l *EdgeList[V, E, M]) SendTo(v int, m M) {
	if l == nil || l.e == nil {
		return
	}
	if v < 0 || v >= l.e.n {
		if l.out.lost == nil {
			l.out.lost = &MessageError{l.e.p.name(), l.e.round.Superstep, l.from, int64(v), int64(l.e.n)}
		}
		return
	}
	l.out.put(int32(v), m)
}

// outbox is the messages of some consecutive vertices of a frontier, in their order.
type outbox[M any] struct {
	to   []int32
	mail []M
	lost *MessageError
}

func (o *outbox[M]) put(v int32, m M) {
	o.to = append(o.to, v)
	o.mail = append(o.mail, m)
}

// listEngine runs supersteps with functions of whole lists. Messages are written in the order of
// their sources and grouped by destination, stably.
type listEngine[V, E, M comparable] struct {
	*engine[V, E, M]
	sum   *cpu.MonoidOf[M]
	idle  []uint8 // of each edge: 1 if it is not active
	boxes []outbox[M]
	ptr   []int64 // messages to each vertex
}

func newLists[V, E, M comparable](e *engine[V, E, M]) *listEngine[V, E, M] {
	l := &listEngine[V, E, M]{engine: e, ptr: make([]int64, e.n+1)}
	if e.p.Sum.Valid() {
		l.sum = cpu.TypedMonoid[M](e.p.Sum.Inside().Monoid)
	}
	if e.p.Edges.Func != nil {
		l.idle = make([]uint8, len(e.out.Idx))
	}
	return l
}

// sources is the number of vertices that share an outbox.
const sources = 256

func (l *listEngine[V, E, M]) superstep() error {
	front := l.front.listed(l.n)
	if err := l.sends(); err != nil {
		return err
	}
	l.boxes = append(l.boxes[:0], make([]outbox[M], (len(front)+sources-1)/sources)...)
	err := parallel.Range(l.ctx, l.threads, len(front), sources, func(w, lo, hi int) {
		l.fill(l.workers[w], front[lo:hi], &l.boxes[lo/sources])
	})
	if err != nil {
		return err
	}
	for _, b := range l.boxes {
		if b.lost != nil {
			return b.lost
		}
	}
	mail := l.group()
	err = l.vertices(func(k *worker[V, E, M], lo, hi int) {
		for v := lo; v < hi; v++ {
			l.combine(k, v, mail[l.ptr[v]:l.ptr[v+1]])
		}
	})
	if err != nil {
		return err
	}
	l.advance()
	return nil
}

// fill puts the messages of some vertices into a box.
func (l *listEngine[V, E, M]) fill(k *worker[V, E, M], front []int32, box *outbox[M]) {
	k.room()
	for _, u := range front {
		lo, end := l.out.Ptr[u], l.out.Ptr[u+1]
		if f := l.p.Edges.Func; f != nil {
			f(k.at(int(u)), l.state[u], &EdgeList[V, E, M]{l, box, u, lo, end})
			continue
		}
		for p := lo; p < end; p += batch {
			to := l.out.Idx[p:min(p+batch, end)]
			if l.mail != nil {
				for _, v := range to {
					box.put(v, l.mail[u])
				}
				continue
			}
			to = k.alongEdges(int(u), p, min(p+batch, end))
			box.to = append(box.to, to...)
			box.mail = append(box.mail, k.buf[:len(to)]...)
		}
	}
}

// group orders the messages of all boxes by destination: those to v stand at ptr[v] … ptr[v+1]−1.
func (l *listEngine[V, E, M]) group() []M {
	clear(l.ptr)
	for _, b := range l.boxes {
		for _, v := range b.to {
			l.ptr[v+1]++
		}
	}
	for v := range l.n {
		l.ptr[v+1] += l.ptr[v]
	}
	next, mail := slices.Clone(l.ptr), make([]M, l.ptr[l.n])
	for _, b := range l.boxes {
		for j, v := range b.to {
			mail[next[v]] = b.mail[j]
			next[v]++
		}
	}
	return mail
}

// combine combines the messages to a vertex and applies the result.
func (l *listEngine[V, E, M]) combine(k *worker[V, E, M], v int, mail []M) {
	if len(mail) == 0 && !l.p.Everywhere || l.closed != nil && l.closed[v] != 0 {
		return
	}
	var sum M
	if f := l.p.Messages.Func; f != nil {
		sum = f(k.at(v), l.state[v], mail)
	} else if l.any && len(mail) > 0 {
		sum = mail[0]
	} else {
		k.acc = l.sum.Identity[0]
		l.sum.Fold(&k.acc, mail)
		sum = k.acc
	}
	if k.apply(v, sum) {
		l.next[v] = 1
	}
}

// sent returns the number of messages in the box, and change changes those from the first one on.
func (l *EdgeList[V, E, M]) sent() int { return len(l.out.mail) }

func (l *EdgeList[V, E, M]) change(first int, f func(M) M) {
	for k := first; k < len(l.out.mail); k++ {
		l.out.mail[k] = f(l.out.mail[k])
	}
}
