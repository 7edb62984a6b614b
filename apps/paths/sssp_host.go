package paths

import (
	"sync/atomic"
	"unsafe"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

const (
	// stepBuckets is the number of buckets with lists. Vertices farther away are in one list.
	stepBuckets = 128
	// stepBlock is the number of vertices of a bucket that a thread takes at once, and up to which
	// one thread takes all.
	stepBlock = 64
	// stepFused is the number of vertices that a thread finds for the same bucket up to which it
	// goes on with them alone.
	stepFused = 1000
)

// deltaSteps is delta-stepping on the host. Threads share the vertices of a bucket; what a thread
// finds for the same bucket it relaxes at once while that is little, without waiting for the others
// (bucket fusion; Zhang et al.: Optimizing ordered graph algorithms with GraphIt, CGO 2020). A
// distance is the least over all paths of sums in the order of the path, so that it does not depend
// on threads.
type deltaSteps[T semiring.Number] struct {
	ptr          []int64
	idx          []int32
	weight, dist []T
	base, delta  T // bucket k has the distances from base + k·delta on
	beyond       T // the number of buckets
	workers      []stepWorker
}

// stepWorker has the vertices that a thread finds: by bucket, and beyond the last bucket.
type stepWorker struct {
	lists   [stepBuckets][]int32
	far     []int32
	own     []int32
	relaxed int64 // edges
}

// hostSSSP is SSSP on the host of weights of 32 or 64 bits.
func hostSSSP[T semiring.Number](a *matrix.View[T], n int, sources []int, delta T, o workflow.Run) (*matrix.Vector[T], error) {
	workflow.Announce(o, "SSSP", "delta-stepping")
	most := semiring.MaxValue[T]()
	dist, err := matrix.NewFullVector(n, most)
	if err != nil {
		return nil, err
	}
	if !(delta > 0) {
		delta = 1
	}
	beyond := stepBuckets
	rows := access.Rows(a)
	threads := parallel.Threads(o.Threads)
	s := &deltaSteps[T]{ptr: workflow.RowOffsets(&rows.Structure), idx: rows.Idx, weight: rows.Val,
		dist: access.VectorStore(dist).Val, delta: delta, beyond: T(beyond), workers: make([]stepWorker, threads)}
	var frontier []int32
	for _, v := range sources {
		s.dist[v] = 0
		frontier = append(frontier, int32(v))
	}
	for at := 0; at >= 0; frontier, at = s.next(frontier[:0], at) {
		workflow.Report(o, "shortest paths", min(s.relaxed(), rows.NVals), rows.NVals)
		if err := workflow.Expired(o); err != nil {
			return nil, err
		}
		s.round(frontier, at)
	}
	workflow.Traced(o, "SSSP", "buckets", n, s.relaxed())
	return dist, ops.Select(dist, semiring.ValueLT(most), dist, workflow.With(o))
}

// relaxed returns the number of edges relaxed.
func (s *deltaSteps[T]) relaxed() (edges int64) {
	for k := range s.workers {
		edges += s.workers[k].relaxed
	}
	return edges
}

// round settles the vertices of a bucket, which has the number at.
func (s *deltaSteps[T]) round(frontier []int32, at int) {
	var taken atomic.Int64
	threads := min(len(s.workers), (len(frontier)-1)/stepBlock+1)
	parallel.Do(threads, func(k int) {
		w := &s.workers[k]
		for lo := int(taken.Add(stepBlock)) - stepBlock; lo < len(frontier); lo = int(taken.Add(stepBlock)) - stepBlock {
			s.relax(w, frontier[lo:min(lo+stepBlock, len(frontier))], at, threads > 1)
		}
		for n := len(w.lists[at]); n > 0 && (n <= stepFused || len(s.workers) == 1); n = len(w.lists[at]) {
			w.own, w.lists[at] = w.lists[at], w.own[:0]
			s.relax(w, w.own, at, threads > 1)
		}
	})
}

// bucket returns the bucket of a distance, stepBuckets for those beyond all.
func (s *deltaSteps[T]) bucket(d T) int {
	return int(min((d-s.base)/s.delta, s.beyond))
}

// relax relaxes the edges of the vertices of a list, unless a bucket before at has settled them.
func (s *deltaSteps[T]) relax(w *stepWorker, list []int32, at int, shared bool) {
	dist := s.dist
	for _, v := range list {
		d := loaded(&dist[v])
		if s.bucket(d) < at {
			continue
		}
		lo, hi := s.ptr[v], s.ptr[v+1]
		weight := s.weight[lo:hi]
		w.relaxed += hi - lo
		for k, u := range s.idx[lo:hi] {
			far := d + weight[k]
			for now := loaded(&dist[u]); far < now; now = loaded(&dist[u]) {
				if !shared {
					dist[u] = far
				} else if !swapped(&dist[u], now, far) {
					continue
				}
				if to := max(s.bucket(far), at); to < stepBuckets {
					w.lists[to] = append(w.lists[to], u)
				} else {
					w.far = append(w.far, u)
				}
				break
			}
		}
	}
}

// next returns the first bucket that has vertices from at on, with these in list; −1 if none has.
func (s *deltaSteps[T]) next(list []int32, at int) ([]int32, int) {
	for ; at < stepBuckets; at++ {
		for k := range s.workers {
			w := &s.workers[k]
			list = append(list, w.lists[at]...)
			w.lists[at] = w.lists[at][:0]
		}
		if len(list) > 0 {
			return list, at
		}
	}
	least := semiring.MaxValue[T]()
	for k := range s.workers {
		for _, v := range s.workers[k].far {
			if d := s.dist[v]; s.bucket(d) == stepBuckets { // no bucket has settled v
				least = min(least, d)
				list = append(list, v)
			}
		}
		s.workers[k].far = s.workers[k].far[:0]
	}
	if len(list) == 0 {
		return nil, -1
	}
	s.base = least
	w := &s.workers[0]
	for _, v := range list {
		if to := s.bucket(s.dist[v]); to < stepBuckets {
			w.lists[to] = append(w.lists[to], v)
		} else {
			w.far = append(w.far, v)
		}
	}
	return s.next(list[:0], 0)
}

// loaded is an atomic load of 32 or 64 bits.
func loaded[T semiring.Number](x *T) (y T) {
	if unsafe.Sizeof(y) == 4 {
		*(*uint32)(unsafe.Pointer(&y)) = atomic.LoadUint32((*uint32)(unsafe.Pointer(x)))
	} else {
		*(*uint64)(unsafe.Pointer(&y)) = atomic.LoadUint64((*uint64)(unsafe.Pointer(x)))
	}
	return y
}

// swapped is an atomic compare and swap of 32 or 64 bits.
func swapped[T semiring.Number](x *T, before, after T) bool {
	if unsafe.Sizeof(before) == 4 {
		return atomic.CompareAndSwapUint32((*uint32)(unsafe.Pointer(x)), *(*uint32)(unsafe.Pointer(&before)), *(*uint32)(unsafe.Pointer(&after)))
	}
	return atomic.CompareAndSwapUint64((*uint64)(unsafe.Pointer(x)), *(*uint64)(unsafe.Pointer(&before)), *(*uint64)(unsafe.Pointer(&after)))
}

// onHost reports whether hostSSSP searches a view: it swaps distances of 32 or 64 bits.
func onHost[T semiring.Number](a *matrix.View[T], o workflow.Run) bool {
	return o.Method == workflow.Auto && a.Place() == nil && unsafe.Sizeof(*new(T)) >= 4 && !access.IsPattern(a)
}
