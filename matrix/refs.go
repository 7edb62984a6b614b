package matrix

import (
	"sync/atomic"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// The pointers of core that goroutines read while another sets them. They are atomic.Pointer of one
// type each, without its type parameter: the methods of an atomic.Pointer[E] would be compiled in
// each package that names a Matrix.

type (
	typeRef    struct{ p unsafe.Pointer } // *sparse.Type
	storeRef   struct{ p unsafe.Pointer } // *sparse.Store
	shapeRef   struct{ p unsafe.Pointer } // *sparse.Structure
	pendingRef struct{ p unsafe.Pointer } // *pending
	listRef    struct{ p unsafe.Pointer } // *[]int32
	watchRef   struct{ p unsafe.Pointer } // *rep.Watch
)

func (r *typeRef) Load() *sparse.Type       { return (*sparse.Type)(atomic.LoadPointer(&r.p)) }
func (r *typeRef) Store(t *sparse.Type)     { atomic.StorePointer(&r.p, unsafe.Pointer(t)) }
func (r *storeRef) Load() *sparse.Store     { return (*sparse.Store)(atomic.LoadPointer(&r.p)) }
func (r *storeRef) Store(s *sparse.Store)   { atomic.StorePointer(&r.p, unsafe.Pointer(s)) }
func (r *shapeRef) Load() *sparse.Structure { return (*sparse.Structure)(atomic.LoadPointer(&r.p)) }
func (r *shapeRef) Store(s *sparse.Structure) {
	atomic.StorePointer(&r.p, unsafe.Pointer(s))
}
func (r *pendingRef) Load() *pending   { return (*pending)(atomic.LoadPointer(&r.p)) }
func (r *pendingRef) Store(p *pending) { atomic.StorePointer(&r.p, unsafe.Pointer(p)) }
func (r *listRef) Load() *[]int32      { return (*[]int32)(atomic.LoadPointer(&r.p)) }
func (r *listRef) Store(l *[]int32)    { atomic.StorePointer(&r.p, unsafe.Pointer(l)) }

func (r *watchRef) Load() *rep.Watch { return (*rep.Watch)(atomic.LoadPointer(&r.p)) }
func (r *watchRef) Swap(w *rep.Watch) *rep.Watch {
	return (*rep.Watch)(atomic.SwapPointer(&r.p, unsafe.Pointer(w)))
}

// drop sets a pointer to nil. Most are nil, and a load is cheaper than an atomic store.
func drop(p *unsafe.Pointer) {
	if atomic.LoadPointer(p) != nil {
		atomic.StorePointer(p, nil)
	}
}
