package text

import (
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/cpu"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/program/internal/ctext"
	"github.com/hiveblas/hiveblas/program/internal/host"
)

// loops are the functions of a program file for one thread: its code, and the places of its
// variables in the frame of the thread. States, edges and messages are cells; see package ctext.
type loops struct {
	c   *Code
	in  *host.Program
	f   *ctext.Frame
	sum *cpu.Monoid

	id, degree, n, superstep    *int32
	active                      *bool
	old, src, dst, weight, sums unsafe.Pointer
	sent, first, x, y           unsafe.Pointer
	state, edge, message        int64 // bytes
	unit                        sparse.Values
}

// Functions returns the functions for a thread.
func (c *Code) Functions(in *host.Program) *loops {
	f := ctext.NewFrame(c.watch)
	at := func(p ctext.Place) unsafe.Pointer { return unsafe.Pointer(ctext.At[byte](f, p)) }
	l := &loops{c: c, in: in, f: f, id: (*int32)(at(c.id)), degree: (*int32)(at(c.degree)), n: (*int32)(at(c.n)),
		superstep: (*int32)(at(c.superstep)), active: (*bool)(at(c.active)), old: at(c.old), src: at(c.src), dst: at(c.dst),
		weight: at(c.weight), sums: at(c.sum), sent: at(c.sent), first: at(c.first), x: at(c.x), y: at(c.y),
		state: in.State.Size, edge: ctext.CellType(c.edge.Size).Size, message: in.Message.Size}
	if len(c.edge.Fields) == 0 { // the value of the edges of a pattern is 1
		l.unit = ctext.Cells(c.edge, sparse.TypeOf[bool](), sparse.ValuesOf([]bool{true}), 1)
	} else {
		l.unit = ctext.CellType(c.edge.Size).Zeroed(1)
	}
	l.sum = in.Sum.Monoid
	if l.sum.Fold == nil {
		l.sum = l.monoid()
	}
	return l
}

// monoid returns the sum whose code runs in the frame, or the sum any.
func (l *loops) monoid() *cpu.Monoid {
	t, size, fold := l.in.Message, l.message, l.c.fold
	if fold == nil { // any: one message is a sum
		fold = func(*ctext.Frame) { ctext.Move(l.sent, l.y, size) }
	}
	add := func(s unsafe.Pointer, v sparse.Values, k int64) {
		ctext.Move(l.x, s, size)
		ctext.Move(l.y, t.At(v, k), size)
		fold(l.f)
		ctext.Move(s, l.sent, size)
	}
	return &cpu.Monoid{
		Identity: l.in.Sum.Identity, User: true,
		Fold: func(s unsafe.Pointer, v sparse.Values) {
			for k := range int64(v.Len()) {
				add(s, v, k)
			}
		},
		FoldRows: func(y sparse.Values, id unsafe.Pointer, ptr []int64, v sparse.Values) {
			for i := range int64(y.Len()) {
				s := t.At(y, i)
				ctext.Move(s, id, size)
				for k := ptr[i]; k < ptr[i+1]; k++ {
					add(s, v, k)
				}
			}
		},
		Collect: func(acc sparse.Values, ci []int32, v sparse.Values) {
			for k, j := range ci {
				add(t.At(acc, int64(j)), v, int64(k))
			}
		},
	}
}

func (l *loops) Fork() host.Functions { return l.c.Functions(l.in) }

func (l *loops) Sum() *cpu.Monoid { return l.sum }

func (l *loops) Failed() error {
	if err := l.c.watch.Err(); err != nil {
		return &FileError{File: l.c.f.Name, Reason: err.Error()}
	}
	return nil
}

// at sets the variables of a vertex.
func (l *loops) at(k *host.Worker, v int32) {
	*l.id, *l.degree = k.Number(v)
	*l.n, *l.superstep = int32(k.Round.N), int32(k.Round.Superstep)
}

func (l *loops) Init(k *host.Worker, list []int32) {
	for _, v := range list {
		l.at(k, v)
		code := l.c.init
		if len(l.c.seeds) > 0 {
			if seed := l.c.seeds[*l.id]; seed != nil {
				code = seed
			}
		}
		code(l.f)
		ctext.Move(unsafe.Add(k.State.Pointer(), int64(v)*l.state), l.first, l.state)
	}
}

func (l *loops) Skip(k *host.Worker, list []int32) {
	for _, v := range list {
		ctext.Move(l.old, unsafe.Add(k.State.Pointer(), int64(v)*l.state), l.state)
		k.Closed[v] = bit(l.c.closed(l.f))
	}
}

func (l *loops) Send(k *host.Worker, list []int32) {
	for _, v := range list {
		l.at(k, v)
		ctext.Move(l.old, unsafe.Add(k.State.Pointer(), int64(v)*l.state), l.state)
		l.c.send(l.f)
		ctext.Move(unsafe.Add(k.Mail.Pointer(), int64(v)*l.message), l.sent, l.message)
	}
}

func (l *loops) In(
	k *host.Worker, v int32, from []int32, values sparse.Values, marks []uint8, first bool,
) (n int) {
	ctext.Move(l.dst, unsafe.Add(k.State.Pointer(), int64(v)*l.state), l.state)
	ctext.Move(l.weight, l.unit.Pointer(), l.edge)
	if marks == nil && !first && l.c.has == nil && l.state == 8 && l.edge == 8 {
		l.all(k, from, values)
		return len(from)
	}
	state, weights, buf := k.State.Pointer(), values.Pointer(), k.Buf.Pointer()
	gather, has, uses := l.c.gather, l.c.has, l.c.usesWeight && weights != nil
	for j, u := range from {
		if marks != nil && marks[u] == 0 {
			continue
		}
		ctext.Move(l.src, unsafe.Add(state, int64(u)*l.state), l.state)
		if uses {
			ctext.Move(l.weight, unsafe.Add(weights, int64(j)*l.edge), l.edge)
		}
		if has != nil && !has(l.f) {
			continue
		}
		gather(l.f)
		ctext.Move(unsafe.Add(buf, int64(n)*l.message), l.sent, l.message)
		if n++; first {
			return n
		}
	}
	return n
}

// all is In for messages from all vertices of a list, with cells of one word.
func (l *loops) all(k *host.Worker, from []int32, values sparse.Values) {
	state, buf, f, gather := sparse.SliceOf[uint64](k.State), k.Buf.Pointer(), l.f, l.c.gather
	src, along, sent, size := (*uint64)(l.src), (*uint64)(l.weight), l.sent, l.message
	var weights []uint64
	if l.c.usesWeight && !values.None() {
		weights = sparse.SliceOf[uint64](values)[:len(from)]
	}
	for j, u := range from {
		*src = state[u]
		if weights != nil {
			*along = weights[j]
		}
		gather(f)
		if to := unsafe.Add(buf, int64(j)*size); size == 4 {
			*(*uint32)(to) = *(*uint32)(sent)
		} else {
			ctext.Move(to, sent, size)
		}
	}
}

func (l *loops) Out(k *host.Worker, u int32, to []int32, values sparse.Values) []int32 {
	state, weights, buf, n := k.State.Pointer(), values.Pointer(), k.Buf.Pointer(), 0
	gather, has, uses := l.c.gather, l.c.has, l.c.usesWeight && weights != nil
	ctext.Move(l.src, unsafe.Add(state, int64(u)*l.state), l.state)
	ctext.Move(l.weight, l.unit.Pointer(), l.edge)
	for j, v := range to {
		if k.Closed != nil && k.Closed[v] != 0 {
			continue
		}
		if l.c.usesDst {
			ctext.Move(l.dst, unsafe.Add(state, int64(v)*l.state), l.state)
		}
		if uses {
			ctext.Move(l.weight, unsafe.Add(weights, int64(j)*l.edge), l.edge)
		}
		if has != nil && !has(l.f) {
			continue
		}
		gather(l.f)
		ctext.Move(unsafe.Add(buf, int64(n)*l.message), l.sent, l.message)
		k.To[n] = v
		n++
	}
	return k.To[:n]
}

func (l *loops) Apply(k *host.Worker, list []int32, sums sparse.Values, base int32, next []int32) []int32 {
	state, from, n := k.State.Pointer(), sums.Pointer(), 0
	for _, v := range list {
		l.at(k, v)
		own := unsafe.Add(state, int64(v)*l.state)
		ctext.Move(l.old, own, l.state)
		ctext.Move(l.sums, unsafe.Add(from, int64(v-base)*l.message), l.message)
		*l.active = true
		l.c.apply(l.f)
		ctext.Move(own, l.old, l.state)
		next[n] = v
		n += int(bit(*l.active))
		if k.Closed != nil {
			k.Closed[v] = bit(l.c.closed(l.f))
		}
	}
	return next[:n]
}

// Files have no totals, priorities or functions of lists.

func (l *loops) Terms(*host.Worker, int, int, []float64) {}

func (l *loops) Priorities(*host.Worker, []int32, []float64) {}

func (l *loops) Edges(*host.Worker, []int32, *host.Outbox) {}

func (l *loops) Messages(*host.Worker, int32, sparse.Values, unsafe.Pointer) {}

func bit(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}
