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

// ended reports whether the context has.
func (e Env) ended() bool { return e.Ctx != nil && e.Ctx.Err() != nil }

// spa is a sparse accumulator: acc holds the identity wherever no bit of
// marks is set, and all bits are clear, whenever it is not in use.
type spa[C any] struct {
	acc   []C
	marks []uint64
	id    C
}

// pools keeps scratch between calls, one pool per type of it: filling an
// accumulator of 2 MB with the identity would cost as much as a small product.
// The garbage collector empties the pools.
var pools sync.Map // reflect.Type of S → *sync.Pool of *S

func poolOf[S any]() *sync.Pool {
	t := reflect.TypeFor[S]()
	p, ok := pools.Load(t)
	if !ok {
		p, _ = pools.LoadOrStore(t, &sync.Pool{})
	}
	return p.(*sync.Pool)
}

// getSPA returns a clean accumulator of at least n positions.
func getSPA[C any](n int, id C) *spa[C] {
	s, ok := poolOf[spa[C]]().Get().(*spa[C])
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

func (s *spa[C]) release() { poolOf[spa[C]]().Put(s) }

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

// getLister returns room for n entries.
func getLister[C any](n int) *lister[C] {
	l, ok := poolOf[lister[C]]().Get().(*lister[C])
	if !ok || len(l.idx) < n {
		l = &lister[C]{make([]int32, n), make([]C, n)}
	}
	return l
}

func (l *lister[C]) release() { poolOf[lister[C]]().Put(l) }
