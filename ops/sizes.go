package ops

import (
	"fmt"

	"github.com/hiveblas/hiveblas/internal/cpu"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

// Products returns the number of products that each row of A ⊕.⊗ B takes: the
// entries of the rows of B that the row of A meets. It is computed at place,
// which may be nil, by an MxV over plus_second. O(entries).
func Products[A, B comparable](a matrix.Source[A], b matrix.Source[B], place matrix.Place, opts ...Option) (*matrix.Vector[int64], error) {
	c := begin[bool]("Products", "", opts)
	av, bv, err := sizeOperands(c, a, b)
	if err != nil {
		return nil, err
	}
	am, _ := av.Dims()
	bk, bn := bv.Dims()
	lengths, work := matrix.NewVector[int64](bk, matrix.On(place)), matrix.NewVector[int64](am, matrix.On(place))
	ones, err := matrix.NewFullVector(bn, true)
	if err != nil {
		return nil, err
	}
	if err := MxV(lengths, semiring.PlusPair[int64](), bv.Pattern(), ones.Pattern(), opts...); err != nil {
		return nil, err
	}
	return work, MxV(work, semiring.PlusSecond[int64](), av.Pattern(), lengths, opts...)
}

// Sizes returns how many entries each row of A ⊕.⊗ B has, without making it:
// the first of the two passes of MxM. Unless exact, which is always so on the
// host, they are upper bounds. It runs at place, the host if nil. The time is
// that of MxM's first pass.
func Sizes[A, B comparable](a matrix.Source[A], b matrix.Source[B], place matrix.Place, opts ...Option) (sizes []int64, exact bool, err error) {
	c := begin[bool]("Sizes", "", opts)
	av, bv, err := sizeOperands(c, a, b)
	if err != nil {
		return nil, false, err
	}
	if place == nil {
		rows := av.Rows()
		stored, err := cpu.MxMSizes(c.env(), rows, bv.Rows())
		if err != nil {
			return nil, false, err
		}
		sizes := make([]int64, rows.NRows)
		for k, n := range stored {
			sizes[rows.RowID(k)] = n
		}
		return sizes, true, nil
	}
	at, ok := place.(interface {
		device.Backend
		device.Sizer
	})
	if !ok {
		return nil, false, &matrix.InvalidError{Op: c.op, Reason: fmt.Sprintf("%s does not count products", place)}
	}
	x, err := av.On(at)
	if err != nil {
		return nil, false, err
	}
	y, err := bv.On(at)
	if err != nil {
		return nil, false, err
	}
	return at.Sizes(device.Call{Context: c.ctx, Op: c.op}, x, y)
}

func sizeOperands[A, B comparable](c *call, a matrix.Source[A], b matrix.Source[B]) (av matrix.View[A], bv matrix.View[B], err error) {
	if av, err = operand(a); err != nil {
		return av, bv, err
	}
	if bv, err = operand(b); err != nil {
		return av, bv, err
	}
	_, ak := av.Dims()
	if bk, bn := bv.Dims(); ak != bk {
		return av, bv, c.dim("b", shape(bk, bn), fmt.Sprintf("%d×any", ak), "the columns of a are the rows of b; perhaps one of them needs T()")
	}
	return av, bv, nil
}
