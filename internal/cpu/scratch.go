package cpu

import (
	"context"
	"reflect"
	"sync"
)

// Env is how an operation is run: by how many threads, and until when.
type Env struct {
	Ctx     context.Context // nil: never ends
	Threads int             // 0: GOMAXPROCS
}

// spa is a sparse accumulator: acc holds the identity wherever no bit of
// marks is set, and all bits are clear, whenever it is not in use.
type spa[C any] struct {
	acc   []C
	marks []uint64
	id    C
}

// spas keeps accumulators between calls, one pool per element type: filling
// 2 MB with the identity would cost as much as a small product. The garbage
// collector empties the pools.
var spas sync.Map // reflect.Type → *sync.Pool

func poolOf[C any]() *sync.Pool {
	t := reflect.TypeFor[C]()
	if p, ok := spas.Load(t); ok {
		return p.(*sync.Pool)
	}
	p, _ := spas.LoadOrStore(t, &sync.Pool{})
	return p.(*sync.Pool)
}

// getSPA returns a clean accumulator of at least n positions.
func getSPA[C any](n int, id C) *spa[C] {
	s, ok := poolOf[C]().Get().(*spa[C])
	if !ok {
		s = &spa[C]{id: id}
	}
	words := (n + 63) / 64
	if len(s.marks) < words {
		s.marks = make([]uint64, words)
	}
	if len(s.acc) < n || !same(s.id, id) {
		if len(s.acc) < n {
			s.acc = make([]C, n)
		}
		if s.id = id; !isZero(id) {
			for i := range s.acc {
				s.acc[i] = id
			}
		} else {
			clear(s.acc)
		}
	}
	return s
}

func (s *spa[C]) release() { poolOf[C]().Put(s) }

func same[C any](x, y C) bool { return any(x) == any(y) }

func isZero[C any](x C) bool {
	// −0 equals 0 but is not all zero bits; refilling is then merely redundant.
	return same(x, *new(C))
}

// lister is room to list what a pull finds; its contents are of no account.
type lister[C any] struct {
	idx []int32
	val []C
}

var listers sync.Map // reflect.Type → *sync.Pool

// getLister returns room for n entries.
func getLister[C any](n int) *lister[C] {
	p, ok := listers.Load(reflect.TypeFor[C]())
	if !ok {
		p, _ = listers.LoadOrStore(reflect.TypeFor[C](), &sync.Pool{})
	}
	l, ok := p.(*sync.Pool).Get().(*lister[C])
	if !ok || len(l.idx) < n {
		l = &lister[C]{make([]int32, n), make([]C, n)}
	}
	return l
}

func (l *lister[C]) release() {
	p, _ := listers.Load(reflect.TypeFor[C]())
	p.(*sync.Pool).Put(l)
}
