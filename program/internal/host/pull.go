package host

import (
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/program/internal/halo"
)

// Direction is the direction of a superstep.
type Direction uint8

// The directions.
const (
	Auto Direction = iota
	Push
	Pull
)

func (d Direction) String() string { return [...]string{"auto", "push", "pull"}[d] }

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
func (e *Engine) direction() Direction {
	p, share := e.P, int64(pullSend)
	switch {
	case p.Idempotent:
		share = 1
	case !p.Sends:
		share = pullGather
	}
	d := Push
	if e.front.edges*6 > e.Out.NVals*share ||
		(e.any || p.Everywhere) && e.front.edges*14 > e.Out.NVals {
		d = Pull
	}
	if e.Plan != Auto {
		d = e.Plan
	} else if d == Pull && e.In == nil && e.workers[0].sum.Exact && !p.Everywhere && !e.Graph.HasCols() {
		if e.wanted++; e.wanted <= 2 { // the transpose costs as much as several pushes
			d = Push
		}
	}
	if d == Pull && e.In == nil {
		e.In = p.edges(halo.WithOffsets(e.Graph.Cols()))
	}
	return d
}

// pull sums the messages of each vertex along its in-edges. With Send, no function reads the state
// of another vertex, so that Apply follows at once.
func (e *Engine) pull() error {
	if e.cuts == nil {
		e.cuts = parallel.Cut(e.Threads, e.In.Ptr, max(1, min(64*e.Threads, int(e.In.NVals/Batch)+1)), 2)
	}
	var marks []uint8
	if !e.P.Idempotent {
		marks = e.front.marked(e.N)
	}
	rows := func(w, piece int) {
		k := e.workers[w]
		lo, hi := e.cuts[piece], e.cuts[piece+1]
		switch plain := marks == nil && e.Closed == nil && !e.any && !e.Sparse; {
		case plain && e.P.Sends:
			k.pullAll(lo, hi)
		case plain && e.products(e.In):
			k.pullProducts(lo, hi)
		default:
			k.pullSome(lo, hi, marks)
		}
	}
	if err := parallel.Pieces(e.Ctx, e.Threads, len(e.cuts)-1, rows); err != nil {
		return err
	}
	if !e.P.Sends {
		if err := e.ranges(func(k *Worker, lo, hi int) { k.applySums(lo, hi) }); err != nil {
			return err
		}
	}
	e.advance()
	return nil
}

// pullAll sums the messages of Send to rows lo … hi−1 and applies the sums. Every vertex sends.
func (k *Worker) pullAll(lo, hi int) {
	t, ptr, idx := k.P.Message, k.In.Ptr, k.In.Idx
	for v := lo; v < hi; {
		end := v
		for end < hi && end-v < Batch && ptr[end+1]-ptr[v] <= Batch {
			end++
		}
		if end == v { // a row of more than a batch
			k.longRow(v)
			v++
			continue
		}
		from := ptr[v]
		list := idx[from:ptr[end]]
		t.Move(k.Buf, nil, k.Mail, list)
		rel, rows := k.ptr[:end-v+1], k.some[:0]
		rel[0] = 0
		for r, p := range ptr[v+1 : end+1] {
			if rel[r+1] = p - from; rel[r+1] > rel[r] || k.P.Everywhere {
				rows = append(rows, int32(v+r))
			}
		}
		ys := t.Slice(k.ys, 0, int64(end-v))
		k.sum.FoldRows(ys, k.sum.Identity.Pointer(), rel, t.Slice(k.Buf, 0, int64(len(list)+8)))
		k.apply(rows, ys, int32(v))
		v = end
	}
}

// products reports whether the kernels of a semiring compute the messages along the edges of s.
func (e *Engine) products(s *sparse.Store) bool {
	g := e.P.Product
	return g != nil && (!s.Val.None() || !g.UsesX)
}

// pullProducts sums the messages of a semiring to rows lo … hi−1.
func (k *Worker) pullProducts(lo, hi int) {
	t, ptr, g := k.P.Message, k.In.Ptr, k.P.Product
	id := k.sum.Identity.Pointer()
	for v := lo; v < hi; v += Batch {
		end := min(v+Batch, hi)
		if g.DotRows != nil {
			g.DotRows(t.Slice(k.sums, int64(v), int64(end)), id, ptr[v:end+1], k.In.Idx, k.In.Val, k.State)
		}
		for r := v; r < end; r++ {
			p, q := ptr[r], ptr[r+1]
			if g.DotRows == nil || p == q {
				at := t.At(k.sums, int64(r))
				t.CopyTo(at, id)
				g.Dot(at, k.In.Idx[p:q], k.In.Part(p, q), k.State)
			}
			k.hit[r] = bit(p < q)
		}
	}
}

// longRow sums the messages of Send to a row and applies the sum.
func (k *Worker) longRow(v int) {
	t, at := k.P.Message, k.ys.Pointer()
	t.CopyTo(at, k.sum.Identity.Pointer())
	for list := k.In.Idx[k.In.Ptr[v]:k.In.Ptr[v+1]]; len(list) > 0; {
		part := list[:min(Batch, len(list))]
		t.Move(k.Buf, nil, k.Mail, part)
		k.sum.Fold(at, t.Slice(k.Buf, 0, int64(len(part))))
		list = list[len(part):]
	}
	k.some[0] = int32(v)
	k.apply(k.some[:1], k.ys, int32(v))
}

// pullSome sums the messages to rows lo … hi−1 from the vertices that marks has, or from all. It
// applies the sums of messages of Send.
func (k *Worker) pullSome(lo, hi int, marks []uint8) {
	t, id, sends := k.P.Message, k.sum.Identity.Pointer(), k.P.Sends
	for ; lo < hi; lo += Batch {
		if sends && k.any {
			k.pullAny(lo, min(lo+Batch, hi), marks)
			continue
		}
		sums, base, rows := k.sums, 0, k.some[:0]
		if sends {
			sums, base = k.ys, lo
		}
		for v := lo; v < min(lo+Batch, hi); v++ {
			if k.Closed != nil && k.Closed[v] != 0 {
				continue
			}
			at := unsafe.Add(sums.Pointer(), int64(v-base)*t.Size)
			if sends { // sums hold the identity
				t.CopyTo(at, id)
			}
			switch some := k.pullRow(v, marks, at); {
			case !sends:
				k.hit[v] = bit(some)
			case some || k.P.Everywhere:
				rows = append(rows, int32(v))
			}
		}
		if sends {
			k.apply(rows, k.ys, int32(base))
		}
	}
}

// pullRow adds the messages to a row to the sum at an address, and reports whether there are any.
func (k *Worker) pullRow(v int, marks []uint8, at unsafe.Pointer) (some bool) {
	t, end := k.P.Message, k.In.Ptr[v+1]
	for p := k.In.Ptr[v]; p < end && !(k.any && some); p += Batch {
		q := min(p+Batch, end)
		n := 0
		if k.P.Sends {
			n = k.fromMail(p, q, marks)
		} else {
			n = k.fn.In(k, int32(v), k.In.Idx[p:q], k.In.Part(p, q), marks, k.any)
		}
		if n > 0 {
			some = true
			k.sum.Fold(at, t.Slice(k.Buf, 0, int64(n)))
		}
	}
	return some
}

// pullAny applies one message of Send to each row of a batch that has any.
func (k *Worker) pullAny(lo, hi int, marks []uint8) {
	t, rows, places, from := k.P.Message, k.some[:0], k.To[:0], k.from[:0]
	ptr, idx := k.In.Ptr, k.In.Idx
	for v := lo; v < hi; v++ {
		if k.Closed != nil && k.Closed[v] != 0 {
			continue
		}
		found := false
		for _, u := range idx[ptr[v]:ptr[v+1]] {
			if found = marks == nil || marks[u] != 0; found {
				places, from = append(places, int32(v-lo)), append(from, u)
				break
			}
		}
		if found || k.P.Everywhere {
			rows = append(rows, int32(v))
		}
		if !found && k.P.Everywhere {
			t.CopyTo(t.At(k.ys, int64(v-lo)), k.sum.Identity.Pointer())
		}
	}
	t.Move(k.ys, places, k.Mail, from)
	k.apply(rows, k.ys, int32(lo))
}

// fromMail puts the messages of Send along in-edges p … end−1 into the buffer.
func (k *Worker) fromMail(p, end int64, marks []uint8) (n int) {
	t, list := k.P.Message, k.In.Idx[p:end]
	if marks != nil {
		for _, u := range list {
			k.To[n] = u
			n += int(marks[u])
		}
		list = k.To[:n]
	}
	t.Move(k.Buf, nil, k.Mail, list)
	return len(list)
}
