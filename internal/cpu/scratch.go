package cpu

import (
	"context"
	"fmt"
	"reflect"
	"sync"

	"github.com/hiveblas/hiveblas/internal/hostmem"
	"github.com/hiveblas/hiveblas/internal/sparse"
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

// cancelled reports whether the context is done.
func (e Env) cancelled() bool { return e.Ctx != nil && e.Ctx.Err() != nil }

// The uses of the scratch memory of a type: pools keep it between calls, since filling an
// accumulator of 2 MB with the identity costs as much as a small product. The garbage collector
// empties them.
const (
	useSPA = iota
	useEntries
	useWorker
	useList
	useSorted
	useBlockSums
	useColumnSums
	useOther
)

// spa is a sparse accumulator: acc holds the identity wherever the bit in marks is clear. While the
// accumulator is idle, all bits are clear.
type spa struct {
	t     *sparse.Type
	acc   Values
	marks []uint64
	id    Values
	// Scratch of drainTouched. touched has a bit for each word of marks, all clear while idle.
	touched           []uint64
	words, cols, kept []int32
}

// pools keeps scratch memory that has no element type, one pool per type.
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
func getSPA(t *sparse.Type, n int, id Values) *spa {
	s, ok := t.Kept(useSPA).(*spa)
	if !ok {
		s = &spa{t: t, id: id}
	}
	words := (n + 63) / 64
	if len(s.marks) < words {
		s.marks = make([]uint64, words)
	}
	if s.acc.Len() < n || !t.Same(s.id, id) {
		if s.acc.Len() < n {
			s.acc = t.Make(int64(n))
		}
		s.id = id
		t.Fill(s.acc, id)
	}
	return s
}

func (s *spa) release() { s.t.Keep(useSPA, s) }

// entryBuffer is a buffer for the entries that a pull finds. Its initial contents are undefined.
type entryBuffer struct {
	t   *sparse.Type
	idx []int32
	val Values
}

// getEntryBuffer returns a buffer for n entries.
func getEntryBuffer(t *sparse.Type, n int) *entryBuffer {
	l, ok := t.Kept(useEntries).(*entryBuffer)
	if !ok || len(l.idx) < n {
		l = &entryBuffer{t, make([]int32, n), t.Make(int64(n))}
	}
	return l
}

func (l *entryBuffer) release() { l.t.Keep(useEntries, l) }
