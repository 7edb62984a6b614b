package program

import (
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/cpu"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/program/internal/host"
)

// loops are the loops over the functions of a program: what the compiler makes for its types.
type loops[V, E, M comparable] struct{ p *Program[V, E, M] }

// vertexOf returns a vertex of an engine as functions see it.
func vertexOf(k *host.Worker, v int32) Vertex {
	id, degree := k.Number(v)
	return Vertex{id, degree, (*Round)(&k.Round)}
}

func (l *loops[V, E, M]) Fork() host.Functions { return l }

func (l *loops[V, E, M]) Failed() error { return nil }

func (l *loops[V, E, M]) Sum() *cpu.Monoid { return monoidOf(l.p.Sum.Inside()) }

// monoidOf returns the monoid of a sum, nil of none.
func monoidOf(sum *cpu.Sum) *cpu.Monoid {
	if sum == nil {
		return nil
	}
	return sum.Monoid
}

func (l *loops[V, E, M]) Init(k *host.Worker, list []int32) {
	state, f := sparse.SliceOf[V](k.State), l.p.Init.Func
	for _, v := range list {
		state[v] = f(vertexOf(k, v))
	}
}

func (l *loops[V, E, M]) Skip(k *host.Worker, list []int32) {
	state, f := sparse.SliceOf[V](k.State), l.p.Skip.Func
	for _, v := range list {
		k.Closed[v] = bit(f(state[v]))
	}
}

func bit(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

func (l *loops[V, E, M]) Send(k *host.Worker, list []int32) {
	state, mail, f := sparse.SliceOf[V](k.State), sparse.SliceOf[M](k.Mail), l.p.Send.Func
	for _, v := range list {
		mail[v] = f(vertexOf(k, v), state[v])
	}
}

// unit is the value of the edges of a pattern: true, or the zero value.
func unit[E any]() (unit E) {
	if b, ok := any(&unit).(*bool); ok {
		*b = true
	}
	return unit
}

func (l *loops[V, E, M]) In(
	k *host.Worker, v int32, from []int32, values sparse.Values, marks []uint8, first bool,
) (n int) {
	state, buf, weights := sparse.SliceOf[V](k.State), sparse.SliceOf[M](k.Buf), sparse.SliceOf[E](values)
	dst, weight := state[v], unit[E]()
	f, g := l.p.Gather.Func, l.p.Gather.FuncIf
	if f != nil && marks == nil && weights != nil && !first {
		buf, weights = buf[:len(from)], weights[:len(from)]
		for j, u := range from {
			buf[j] = f(state[u], dst, weights[j])
		}
		return len(from)
	}
	for j, u := range from {
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
		if first && n > 0 {
			return n
		}
	}
	return n
}

func (l *loops[V, E, M]) Out(k *host.Worker, u int32, to []int32, values sparse.Values) []int32 {
	state, buf, weights := sparse.SliceOf[V](k.State), sparse.SliceOf[M](k.Buf), sparse.SliceOf[E](values)
	src, weight := state[u], unit[E]()
	f, g, n := l.p.Gather.Func, l.p.Gather.FuncIf, 0
	if f != nil && k.Closed == nil && weights != nil {
		for j, v := range to {
			buf[j] = f(src, state[v], weights[j])
		}
		return to
	}
	for j, v := range to {
		if k.Closed != nil && k.Closed[v] != 0 {
			continue
		}
		if weights != nil {
			weight = weights[j]
		}
		ok := true
		if f != nil {
			buf[n] = f(src, state[v], weight)
		} else {
			buf[n], ok = g(src, state[v], weight)
		}
		k.To[n] = v
		n += int(bit(ok))
	}
	return k.To[:n]
}

func (l *loops[V, E, M]) Apply(k *host.Worker, list []int32, sums sparse.Values, base int32, next []int32) []int32 {
	state, sum, f, n := sparse.SliceOf[V](k.State), sparse.SliceOf[M](sums), l.p.Apply.Func, 0
	for _, v := range list {
		s, active := f(vertexOf(k, v), state[v], sum[v-base])
		state[v] = s
		if k.Closed != nil {
			k.Closed[v] = bit(l.p.Skip.Func(s))
		}
		next[n] = v
		n += int(bit(active))
	}
	return next[:n]
}

func (l *loops[V, E, M]) Terms(k *host.Worker, t, lo int, to []float64) {
	state, f := sparse.SliceOf[V](k.State), l.p.Totals[t].Func
	for j := range to {
		to[j] = f(vertexOf(k, int32(lo+j)), state[lo+j])
	}
}

func (l *loops[V, E, M]) Priorities(k *host.Worker, list []int32, to []float64) {
	state, f := sparse.SliceOf[V](k.State), l.p.Priority.Func
	for j, v := range list {
		to[j] = f(state[v])
	}
}

func (l *loops[V, E, M]) Edges(k *host.Worker, list []int32, box *host.Outbox) {
	state, e := sparse.SliceOf[V](k.State), &EdgeList[V, E, M]{k: k, name: l.p.name}
	for _, u := range list {
		e.from, e.lo, e.end = u, k.Engine.Out.Ptr[u], k.Engine.Out.Ptr[u+1]
		l.p.Edges.Func(vertexOf(k, u), state[u], e)
	}
	box.To, box.Mail, box.Lost = e.to, sparse.ValuesOf(e.mail), e.lost
}

func (l *loops[V, E, M]) Messages(k *host.Worker, v int32, mail sparse.Values, to unsafe.Pointer) {
	state := sparse.SliceOf[V](k.State)
	*(*M)(to) = l.p.Messages.Func(vertexOf(k, v), state[v], sparse.SliceOf[M](mail))
}
