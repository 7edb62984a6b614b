package ops

import (
	"fmt"

	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/cpu"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

// Products returns the number of products of each row of A ⊕.⊗ B: the sum of the lengths of the
// rows of B at the columns of the row of A. It runs at place, the host if nil; elsewhere as an MxV
// over plus_second. It takes O(entries) time.
func Products[A, B comparable](a matrix.Source[A], b matrix.Source[B], place matrix.Place, opts ...Option) (*matrix.Vector[int64], error) {
	c := begin[bool]("Products", "plus_second", opts)
	av, bv, err := sizeOperands(c, a, b)
	if err != nil {
		return nil, err
	}
	if c.method != Auto {
		return nil, &MethodError{c.op, c.method, "Products counts products; only MxM, MxV and VxM have methods to choose from"}
	}
	am, _ := av.Dims()
	bk, bn := bv.Dims()
	if place == nil {
		return productsHere(c, av, bv)
	}
	lengths, work := matrix.NewVector[int64](bk, matrix.On(place)), matrix.NewVector[int64](am, matrix.On(place))
	ones, err := matrix.NewFullVector(bn, true)
	if err != nil {
		return nil, err
	}
	// Both products are steps of this operation, which emits one trace.
	var ran Trace
	inner := []Option{WithContext(c.ctx), WithThreads(c.threads)}
	if err := MxV(lengths, semiring.PlusPair[int64](), bv.Pattern(), ones.Pattern(), inner...); err != nil {
		return nil, err
	}
	if c.tracing() {
		inner = append(inner, WithTrace(&ran))
	}
	if err := MxV(work, semiring.PlusSecond[int64](), av.Pattern(), lengths, inner...); err != nil {
		return nil, err
	}
	c.ran = &Trace{Op: c.op, Name: c.name, Method: ran.Method, Place: ran.Place, Work: ran.Work}
	c.emit(ran.NVals)
	return work, nil
}

// productsHere is Products on the host.
func productsHere[A, B comparable](c *call, a matrix.View[A], b matrix.View[B]) (*matrix.Vector[int64], error) {
	if c.ctx != nil && c.ctx.Err() != nil {
		return nil, c.ctx.Err()
	}
	if err := c.fetch(); err != nil {
		return nil, err
	}
	rows := &access.Rows(a.Pattern()).Structure
	lengths, total, err := cpu.ProductLengths(c.env(), rows, &access.Rows(b.Pattern()).Structure)
	if err != nil {
		return nil, err
	}
	out := &sparse.Store[int64]{Structure: sparse.Structure{NRows: 1, NCols: rows.NRows}, Val: []int64{}}
	out.Idx = []int32{}
	for k, n := range lengths {
		if n > 0 {
			out.Idx, out.Val = append(out.Idx, int32(rows.RowID(k))), append(out.Val, n)
		}
	}
	out.NVals = int64(len(out.Idx))
	out.Ptr = []int64{0, out.NVals}
	work := matrix.NewVector[int64](rows.NRows)
	access.SetResult(work.Spec().Matrix, out)
	c.traced(Pull, total)
	c.emit(out.NVals)
	return work, nil
}

// Sizes returns the number of entries of each row of A ⊕.⊗ B without computing the product. It runs
// the first of the two passes of MxM, in the same time. If exact is false, the sizes are upper
// bounds; on the host they are always exact. Sizes runs at place, the host if nil. More rows than
// there is memory for are a *matrix.SizeError.
func Sizes[A, B comparable](a matrix.Source[A], b matrix.Source[B], place matrix.Place, opts ...Option) (sizes []int64, exact bool, err error) {
	c := begin[bool]("Sizes", "", opts)
	av, bv, err := sizeOperands(c, a, b)
	if err != nil {
		return nil, false, err
	}
	if c.method != Auto {
		return nil, false, &MethodError{c.op, c.method, "Sizes counts entries and computes no product; only MxM, MxV and VxM have methods to choose from"}
	}
	if place == nil {
		if err := c.fetch(); err != nil {
			return nil, false, err
		}
		rows := access.Rows(av)
		if err := c.room(fmt.Sprintf("the sizes of %d rows", rows.NRows), int64(rows.NRows), 8); err != nil {
			return nil, false, err
		}
		stored, err := cpu.MxMSizes(c.env(), rows, access.Rows(bv))
		if err != nil {
			return nil, false, err
		}
		sizes := make([]int64, rows.NRows)
		for k, n := range stored {
			sizes[rows.RowID(k)] = n
		}
		return sizes, true, nil
	}
	at, ok := device.Of(place).(interface {
		device.Backend
		device.Sizer
	})
	if !ok {
		return nil, false, &matrix.InvalidError{Op: c.op, Reason: fmt.Sprintf("%s cannot count the entries of a product", place)}
	}
	x, err := access.Operand(av, at)
	if err != nil {
		return nil, false, err
	}
	y, err := access.Operand(bv, at)
	if err != nil {
		return nil, false, err
	}
	return at.Sizes(device.Call{Context: c.ctx, Op: c.op}, x, y)
}

func sizeOperands[A, B comparable](c *call, a matrix.Source[A], b matrix.Source[B]) (av matrix.View[A], bv matrix.View[B], err error) {
	if av, err = operand(c, "a", a); err != nil {
		return av, bv, err
	}
	if bv, err = operand(c, "b", b); err != nil {
		return av, bv, err
	}
	_, ak := av.Dims()
	if bk, bn := bv.Dims(); ak != bk {
		return av, bv, c.dim("b", shape(bk, bn), fmt.Sprintf("%d×any", ak), "the columns of a are the rows of b; perhaps one of them needs T()")
	}
	return av, bv, nil
}
