package cpu

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/hostmem"
)

// Env is the environment of an operation: its context and its number of threads.
type Env struct {
	Ctx     context.Context // nil: no cancellation
	Threads int             // 0: GOMAXPROCS
	Parts   []int           // how Push cuts the entries of the vector; nil: as PushParts says
}

// A RoomError reports that there is no memory for an array.
type RoomError struct {
	What        string // the array
	Bytes, Have int64
}

func (e *RoomError) Error() string {
	return fmt.Sprintf("%s needs %d bytes, and there are %d", e.What, e.Bytes, e.Have)
}

// roomFor returns a *RoomError if there is no memory for n items of size bytes.
func roomFor(what string, n, size int64) error {
	if bytes, have, ok := hostmem.Fits(n, size); !ok {
		return &RoomError{what, bytes, have}
	}
	return nil
}

// fits reports whether there is memory for n items of size bytes.
func fits(n, size int64) bool {
	_, _, ok := hostmem.Fits(n, size)
	return ok
}

// sizeOf returns the bytes of a T.
func sizeOf[T any]() int64 { return int64(unsafe.Sizeof(*new(T))) }

// cancelled reports whether the context is done.
func (e Env) cancelled() bool { return e.Ctx != nil && e.Ctx.Err() != nil }

// spa is a sparse accumulator: acc holds the identity wherever the bit in marks is clear. While the
// accumulator is idle, all bits are clear.
type spa[C any] struct {
	acc   []C
	marks []uint64
	id    C
	// touched is scratch of drainTouched: a bit for each word of marks, all clear while idle.
	touched []uint64
}

// pools keeps scratch memory between calls, one pool per type: filling an accumulator of 2 MB with
// the identity costs as much as a small product. The garbage collector empties the pools.
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
	// −0 equals 0 but its bits are not all zero; refilling is then only redundant.
	return same(x, *new(C))
}

// entryBuffer is a buffer for the entries that a pull finds. Its initial contents are undefined.
type entryBuffer[C any] struct {
	idx []int32
	val []C
}

// getEntryBuffer returns a buffer for n entries.
func getEntryBuffer[C any](n int) *entryBuffer[C] {
	l, ok := poolOf[entryBuffer[C]]().Get().(*entryBuffer[C])
	if !ok || len(l.idx) < n {
		l = &entryBuffer[C]{make([]int32, n), make([]C, n)}
	}
	return l
}

func (l *entryBuffer[C]) release() { poolOf[entryBuffer[C]]().Put(l) }
