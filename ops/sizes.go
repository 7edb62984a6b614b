package ops

import (
	"fmt"

	"github.com/hiveblas/hiveblas/internal/cpu"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

// Products returns the number of products of each row of A ⊕.⊗ B: the sum of the lengths of the
// rows of B at the columns of the row of A. It runs at place, the host if nil; elsewhere as an MxV
// over plus_second. It takes O(entries) time.
func Products[A, B comparable](a matrix.Source[A], b matrix.Source[B], place matrix.Place, opts ...Option) (*matrix.Vector[int64], error) {
	out, err := begin("Products", "plus_second", opts).products(viewOf(a), viewOf(b), place)
	if err != nil {
		return nil, err
	}
	return out.(*matrix.Vector[int64]), nil
}

// products returns a *matrix.Vector[int64] as any: if a method of call named the type, every
// package that uses an operation would compile its methods.
func (c *call) products(a, b rep.View, place matrix.Place) (any, error) {
	if err := c.sizeOperands(a, b); err != nil {
		return nil, err
	}
	if c.method != Auto {
		return nil, &MethodError{c.op, c.method, "Products counts products; only MxM, MxV and VxM have methods to choose from"}
	}
	am, _ := a.Dims()
	bk, bn := b.Dims()
	if place == nil {
		return c.productsHere(patternOf(a), patternOf(b))
	}
	lengths, work := matrix.NewVector[int64](bk, matrix.On(place)), matrix.NewVector[int64](am, matrix.On(place))
	ones, err := matrix.NewFullVector(bn, true)
	if err != nil {
		return nil, err
	}
	// Both products are steps of this operation, which emits one trace.
	var ran Trace
	inner := []Option{WithContext(c.ctx), WithThreads(c.threads)}
	first := beginProduct("MxV", semiring.PlusPair[int64]().Inside(), inner)
	if err := first.mxv(destOf(lengths), patternOf(b), viewOf(ones.Pattern())); err != nil {
		return nil, err
	}
	if c.tracing() {
		inner = append(inner, WithTrace(&ran))
	}
	second := beginProduct("MxV", semiring.PlusSecond[int64]().Inside(), inner)
	if err := second.mxv(destOf(work), patternOf(a), viewOf(lengths)); err != nil {
		return nil, err
	}
	c.ran = &Trace{Op: c.op, Name: c.name, Method: ran.Method, Place: ran.Place, Work: ran.Work}
	c.emit(ran.NVals)
	return work, nil
}

// patternOf returns the pattern of a view.
func patternOf(v rep.View) rep.View {
	v.Matrix = v.Pattern()
	return v
}

// productsHere is Products of patterns on the host.
func (c *call) productsHere(a, b rep.View) (any, error) {
	if c.ctx != nil && c.ctx.Err() != nil {
		return nil, c.ctx.Err()
	}
	if err := c.fetch(); err != nil {
		return nil, err
	}
	rows := &a.Rows().Structure
	lengths, total, err := cpu.ProductLengths(c.env(), rows, &b.Rows().Structure)
	if err != nil {
		return nil, err
	}
	out := sparse.Of(sparse.Structure{NRows: 1, NCols: rows.NRows, Idx: []int32{}}, []int64{})
	for k, n := range lengths {
		if n > 0 {
			out.Idx, out.Val = append(out.Idx, int32(rows.RowID(k))), append(out.Val, n)
		}
	}
	out.NVals = int64(len(out.Idx))
	out.Ptr = []int64{0, out.NVals}
	work := matrix.NewVector[int64](rows.NRows)
	work.Inside().SetResult(sparse.Untyped(out))
	c.traced(Pull, total)
	c.emit(out.NVals)
	return work, nil
}

// Sizes returns the number of entries of each row of A ⊕.⊗ B without computing the product. It runs
// the first of the two passes of MxM, in the same time. If exact is false, the sizes are upper
// bounds; on the host they are always exact. Sizes runs at place, the host if nil. It returns a
// *matrix.SizeError if there are more rows than memory.
func Sizes[A, B comparable](a matrix.Source[A], b matrix.Source[B], place matrix.Place, opts ...Option) (sizes []int64, exact bool, err error) {
	return begin("Sizes", "", opts).sizes(viewOf(a), viewOf(b), place)
}

func (c *call) sizes(a, b rep.View, place matrix.Place) (sizes []int64, exact bool, err error) {
	if err := c.sizeOperands(a, b); err != nil {
		return nil, false, err
	}
	if c.method != Auto {
		return nil, false, &MethodError{c.op, c.method, "Sizes counts entries and computes no product; only MxM, MxV and VxM have methods to choose from"}
	}
	if place == nil {
		if err := c.fetch(); err != nil {
			return nil, false, err
		}
		rows := &a.Rows().Structure
		if err := c.room(fmt.Sprintf("the sizes of %d rows", rows.NRows), int64(rows.NRows), 8); err != nil {
			return nil, false, err
		}
		stored, err := cpu.MxMSizes(c.env(), rows, &b.Rows().Structure)
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
	x, err := a.Operand(at)
	if err != nil {
		return nil, false, err
	}
	y, err := b.Operand(at)
	if err != nil {
		return nil, false, err
	}
	return at.Sizes(device.Call{Context: c.ctx, Op: c.op}, x, y)
}

func (c *call) sizeOperands(a, b rep.View) error {
	if err := c.operand("a", a); err != nil {
		return err
	}
	if err := c.operand("b", b); err != nil {
		return err
	}
	_, ak := a.Dims()
	if bk, bn := b.Dims(); ak != bk {
		return c.dim("b", shape(bk, bn), fmt.Sprintf("%d×any", ak), "the columns of a are the rows of b; perhaps one of them needs T()")
	}
	return nil
}
