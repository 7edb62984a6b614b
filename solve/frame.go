package solve

import (
	"gonum.org/v1/gonum/blas/gonum"

	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
)

// A frame is a list of vectors.
type frame interface {
	put(v vec) // the frame keeps v
	row(i int) vec
	dots(w vec) []float64        // of all vectors with w
	subtract(w vec, h []float64) // w = w − Σ h(i)·vector i
	rotated(h [][]float64) frame // for each row of h the vector Σ h(i)·vector i
}

func (s *realSpace[T]) frame(n int) frame {
	list := listFrame[T]{realSpace: s, n: n}
	if s.place != nil {
		return &list
	}
	return &hostFrame[T]{listFrame: list, dense: denseOf[T]()}
}

// listFrame is a frame by operations on one vector at a time.
type listFrame[T Real] struct {
	*realSpace[T]
	n    int
	list []*matrix.Vector[T]
}

func (f *listFrame[T]) put(v vec) { f.list = append(f.list, v.(*matrix.Vector[T])) }

func (f *listFrame[T]) row(i int) vec { return f.list[i] }

func (f *listFrame[T]) dots(w vec) []float64 {
	h := make([]float64, len(f.list))
	for i, v := range f.list {
		h[i] = f.dot(v, w)
	}
	return h
}

func (f *listFrame[T]) subtract(w vec, h []float64) {
	for i, x := range h {
		if x != 0 {
			f.add(w, -x, f.list[i])
		}
	}
}

func (f *listFrame[T]) rotated(h [][]float64) frame {
	to := f.frame(f.n)
	for _, row := range h {
		sum := f.filled(f.n)
		for i, x := range row {
			f.Do(ops.ApplyFirst(sum.Accum(f.plus), f.times, T(x), f.list[i], f.with))
		}
		to.put(sum)
	}
	return to
}

// frameBlock is a number of positions: the values that all vectors of a frame have there stay in a
// cache.
const frameBlock = 1 << 10

// hostFrame is a frame on the host. It reads the vectors once for all sums. A sum over positions
// adds the sums of blocks in order, so that it has equal bits for every number of threads.
type hostFrame[T Real] struct {
	listFrame[T]
	values [][]T // of the list
	dense[T]
}

// dense are two loops of BLAS.
type dense[T Real] struct {
	dotOf func(n int, x []T, incX int, y []T, incY int) T
	axpy  func(n int, alpha T, x []T, incX int, y []T, incY int)
}

func denseOf[T Real]() (d dense[T]) {
	switch d := any(&d).(type) {
	case *dense[float32]:
		d.dotOf, d.axpy = gonum.Implementation{}.Sdot, gonum.Implementation{}.Saxpy
	case *dense[float64]:
		d.dotOf, d.axpy = gonum.Implementation{}.Ddot, gonum.Implementation{}.Daxpy
	}
	return d
}

// valuesOf returns the values of a full vector; after an error, of any vector, zeros.
func (f *hostFrame[T]) valuesOf(v vec) []T {
	if st := access.VectorStore(v.(*matrix.Vector[T])); len(st.Val) == f.n {
		return st.Val
	}
	return make([]T, f.n)
}

func (f *hostFrame[T]) put(v vec) {
	f.listFrame.put(v)
	f.values = append(f.values, f.valuesOf(v))
}

func (f *hostFrame[T]) dots(w vec) []float64 {
	k, y := len(f.list), f.valuesOf(w)
	sums := make([]T, k*((f.n+frameBlock-1)/frameBlock))
	f.blocks(func(lo, hi int) {
		for i, v := range f.values {
			sums[lo/frameBlock*k+i] = f.dotOf(hi-lo, v[lo:hi], 1, y[lo:hi], 1)
		}
	})
	h := make([]float64, k)
	for p, x := range sums {
		h[p%k] += float64(x)
	}
	return h
}

func (f *hostFrame[T]) subtract(w vec, h []float64) {
	y := f.valuesOf(w)
	f.blocks(func(lo, hi int) {
		for i, x := range h {
			f.axpy(hi-lo, -T(x), f.values[i][lo:hi], 1, y[lo:hi], 1)
		}
	})
}

func (f *hostFrame[T]) rotated(h [][]float64) frame {
	to := f.frame(f.n).(*hostFrame[T])
	for range h {
		to.put(f.filled(f.n))
	}
	f.blocks(func(lo, hi int) {
		for k, row := range h {
			for i, x := range row {
				f.axpy(hi-lo, T(x), f.values[i][lo:hi], 1, to.values[k][lo:hi], 1)
			}
		}
	})
	return to
}

// blocks calls fn for the blocks of positions, by all threads.
func (f *hostFrame[T]) blocks(fn func(lo, hi int)) {
	_ = parallel.Range(nil, f.threads, f.n, frameBlock, func(_, lo, hi int) { fn(lo, hi) })
}
