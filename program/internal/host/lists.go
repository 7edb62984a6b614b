package host

import (
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// This file runs supersteps with functions of whole lists. Messages are written in the order of
// their sources and grouped by destination, stably.

// Outbox is the messages of some consecutive vertices of a frontier, in their order.
type Outbox struct {
	To   []int32
	Mail sparse.Values
	Lost error // a message to a vertex that does not exist
}

// sources is the number of vertices that share an outbox.
const sources = 256

func (e *Engine) byLists() error {
	front := e.front.listed(e.N)
	if err := e.sends(); err != nil {
		return err
	}
	e.boxes = append(e.boxes[:0], make([]Outbox, (len(front)+sources-1)/sources)...)
	err := parallel.Range(e.Ctx, e.Threads, len(front), sources, func(w, lo, hi int) {
		e.workers[w].fill(front[lo:hi], &e.boxes[lo/sources])
	})
	if err != nil {
		return err
	}
	for _, b := range e.boxes {
		if b.Lost != nil {
			return b.Lost
		}
	}
	mail := e.group()
	err = e.ranges(func(k *Worker, lo, hi int) { k.combine(lo, hi, mail) })
	if err != nil {
		return err
	}
	e.advance()
	return nil
}

// fill puts the messages of some vertices into a box.
func (k *Worker) fill(front []int32, box *Outbox) {
	if k.P.Edges {
		k.fn.Edges(k, front, box)
		return
	}
	t := k.P.Message
	for _, u := range front {
		lo, end := k.Out.Ptr[u], k.Out.Ptr[u+1]
		for p := lo; p < end; p += Batch {
			q := min(p+Batch, end)
			to := k.Out.Idx[p:q]
			if k.P.Sends {
				t.Fill(t.Slice(k.Buf, 0, int64(len(to))), t.One(k.Mail, int64(u)))
			} else {
				to = k.fn.Out(k, u, to, k.Out.Part(p, q))
			}
			box.To = append(box.To, to...)
			box.Mail = t.Append(box.Mail, t.Slice(k.Buf, 0, int64(len(to))))
		}
	}
}

// group orders the messages of all boxes by destination: those to v stand at ptr[v] … ptr[v+1]−1.
func (e *Engine) group() sparse.Values {
	clear(e.ptr)
	for _, b := range e.boxes {
		for _, v := range b.To {
			e.ptr[v+1]++
		}
	}
	for v := range e.N {
		e.ptr[v+1] += e.ptr[v]
	}
	next, mail := append([]int64(nil), e.ptr...), e.P.Message.Zeroed(e.ptr[e.N])
	var places []int64
	for _, b := range e.boxes {
		places = places[:0]
		for _, v := range b.To {
			places = append(places, next[v])
			next[v]++
		}
		if len(places) > 0 {
			e.P.Message.MoveWide(mail, places, b.Mail, nil)
		}
	}
	return mail
}

// combine combines the messages to vertices lo … hi−1 and applies the results.
func (k *Worker) combine(lo, hi int, mail sparse.Values) {
	t := k.P.Message
	for ; lo < hi; lo += Batch {
		list := k.some[:0]
		for v := lo; v < min(lo+Batch, hi); v++ {
			p, q := k.Engine.ptr[v], k.Engine.ptr[v+1]
			if p == q && !k.P.Everywhere || k.Closed != nil && k.Closed[v] != 0 {
				continue
			}
			list = append(list, int32(v))
			at := t.At(k.ys, int64(v-lo))
			switch own := t.Slice(mail, p, q); {
			case k.P.Messages:
				k.fn.Messages(k, int32(v), own, at)
			case k.any && p < q:
				t.CopyTo(at, own.Pointer())
			default:
				t.CopyTo(at, k.sum.Identity.Pointer())
				k.sum.Fold(at, own)
			}
		}
		k.apply(list, k.ys, int32(lo))
	}
}
