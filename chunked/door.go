package chunked

import (
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// What a run needs of the types of a product. The run itself has no type parameters.

// operations are the operations of a product over a semiring.
type operations struct {
	name  string
	valid bool
	of    *sparse.Type // of the values of the product

	sizes              func(x, y rep.View, at matrix.Place, opts ...ops.Option) (sizes []int64, exact bool, err error)
	mxm                func(c rep.Matrix, mask matrix.Mask, x, y rep.View, opts ...ops.Option) error
	offDiagonal        func(c rep.Matrix, k int, opts ...ops.Option) error // removes it
	toCSR              func(c rep.Matrix) error
	extractX, extractY func(part rep.Matrix, a rep.View, rows, cols ops.Indices, opts ...ops.Option) error
}

func operationsOf[A, B, C comparable](s semiring.Semiring[A, B, C]) *operations {
	return &operations{
		name: s.Name(), valid: s.Valid(), of: sparse.TypeOf[C](),
		sizes: func(x, y rep.View, at matrix.Place, opts ...ops.Option) ([]int64, bool, error) {
			return ops.Sizes(matrix.ViewOf[A](x), matrix.ViewOf[B](y), at, opts...)
		},
		mxm: func(c rep.Matrix, mask matrix.Mask, x, y rep.View, opts ...ops.Option) error {
			dst := matrix.OfInside[C](c).Masked(mask).Replace()
			return ops.MxM(dst, s, matrix.ViewOf[A](x), matrix.ViewOf[B](y), opts...)
		},
		offDiagonal: func(c rep.Matrix, k int, opts ...ops.Option) error {
			m := matrix.OfInside[C](c)
			return ops.Select(m, semiring.Offdiag[C](k), m, opts...)
		},
		toCSR:    func(c rep.Matrix) error { return matrix.OfInside[C](c).SetFormat(matrix.CSR) },
		extractX: extract[A], extractY: extract[B],
	}
}

func extract[T comparable](part rep.Matrix, a rep.View, rows, cols ops.Indices, opts ...ops.Option) error {
	return ops.Extract(matrix.OfInside[T](part), matrix.ViewOf[T](a), rows, cols, opts...)
}

// viewOf returns a factor, without a matrix for nil.
func viewOf(a interface{ Inside() rep.View }) (v rep.View) {
	if a != nil {
		v = a.Inside()
	}
	return v
}

// placeOf returns the place of a factor; nil is the host.
func placeOf(v rep.View) matrix.Place {
	if p := v.Place(); p != nil {
		return p
	}
	return nil
}

// release frees the memory of a result that nothing else reads.
func release(c rep.Matrix) {
	m, n := c.Dims()
	c.SetStore(sparse.Empty(c.Type(), m, n))
}

// block is a Block without its type, and has its memory layout.
type block struct {
	Index  int
	Lo, Hi int
	Ptr    []int64
	Idx    []int32
	Val    sparse.Values
}

// door is a sink without its type. The optional methods are nil if the sink has none.
type door struct {
	sink
	block    func(b *block) error
	counts   bool // see counting
	resuming resuming
	room     func(entries int64) (idx []int32, val sparse.Values, ok bool)
	visit    func(lo int, rows rep.Matrix) error
}

// sink has the methods of a Sink that name no type.
type sink interface {
	Begin(p Plan) (done int, err error)
	End() error
	Abort()
}

// doorOf returns a sink without its type, nil for nil.
func doorOf[C comparable](s Sink[C]) *door {
	if s == nil {
		return nil
	}
	d := &door{sink: s, block: func(b *block) error { return s.Block((*Block[C])(unsafe.Pointer(b))) }}
	if r, ok := s.(roomy[C]); ok {
		d.room = func(entries int64) ([]int32, sparse.Values, bool) {
			idx, val, ok := r.room(entries)
			return idx, sparse.ValuesOf(val), ok
		}
	}
	if v, ok := s.(visiting[C]); ok {
		d.visit = func(lo int, rows rep.Matrix) error { return v.visit(lo, matrix.OfInside[C](rows)) }
	}
	return d.options(s)
}

// options finds the optional methods that name no type.
func (d *door) options(s any) *door {
	if c, ok := s.(counting); ok {
		d.counts = c.needsCount()
	}
	if r, ok := s.(resuming); ok && r.resumes() {
		d.resuming = r
	}
	return d
}
