package program

import (
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/program/internal/host"
)

// EdgeList is the out-edges of an active vertex, in ascending order of their ends. It is valid
// during the call of the function that receives it.
type EdgeList[V, E, M comparable] struct {
	k       *host.Worker
	name    func() string // of the program
	from    int32
	lo, end int64

	to   []int32 // the messages so far, of all vertices of a list
	mail []M
	lost error
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
	return l.k.Engine.Out.Idx[l.lo+int64(k)]
}

// Dst returns the state of the vertex at the end of edge k.
func (l *EdgeList[V, E, M]) Dst(k int) (state V) {
	if !l.has(k) {
		return state
	}
	return sparse.SliceOf[V](l.k.State)[l.To(k)]
}

// Weight returns the value of edge k; it is true in a pattern.
func (l *EdgeList[V, E, M]) Weight(k int) (weight E) {
	switch {
	case !l.has(k):
		return weight
	case l.k.Engine.Out.Val.None():
		return unit[E]()
	}
	return sparse.SliceOf[E](l.k.Engine.Out.Val)[l.lo+int64(k)]
}

// Active reports whether edge k is active. All edges are at the start of a run.
func (l *EdgeList[V, E, M]) Active(k int) bool {
	return l.has(k) && l.k.Idle[l.lo+int64(k)] == 0
}

// SetActive sets whether edge k is active from now on. Sending along an edge that is not active
// does nothing.
func (l *EdgeList[V, E, M]) SetActive(k int, active bool) {
	if l.has(k) {
		l.k.Idle[l.lo+int64(k)] = bit(!active)
	}
}

// Send sends a message along edge k. An edge takes any number of messages in a superstep.
func (l *EdgeList[V, E, M]) Send(k int, m M) {
	if l.Active(k) {
		l.put(l.To(k), m)
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
	if l == nil || l.k == nil {
		return
	}
	if v < 0 || v >= l.k.N {
		if l.lost == nil {
			l.lost = &MessageError{l.name(), l.k.Round.Superstep, l.from, int64(v), int64(l.k.N)}
		}
		return
	}
	l.put(int32(v), m)
}

func (l *EdgeList[V, E, M]) put(v int32, m M) { l.to, l.mail = append(l.to, v), append(l.mail, m) }

// sent returns the number of messages in the box, and change changes those from the first one on.
func (l *EdgeList[V, E, M]) sent() int { return len(l.mail) }

func (l *EdgeList[V, E, M]) change(first int, f func(M) M) {
	for k := first; k < len(l.mail); k++ {
		l.mail[k] = f(l.mail[k])
	}
}
