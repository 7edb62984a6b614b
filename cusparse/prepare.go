package cusparse

import (
	"context"
	"fmt"

	"github.com/hiveblas/hiveblas/cusparse/space"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/matrix"
)

// Prepare tells a device what products of a matrix and a vector a is for. With uses,
// the number of products that are expected, products that choose their plan make a
// layout only if so many uses pay for it; without Prepare they assume 64. With plan,
// such as "pull sell vm", Prepare makes the layout that the plan reads, and products
// without ops.Using take the plan where it is legal for their operands. A plan of
// direction push walks the rows of the transpose, which Prepare makes too. Prepare
// with plan "" and uses 0 takes both back; layouts that were made stay.
//
// It moves a to the device if it is not there, and takes O(entries) time for a layout.
// What is stated holds until a changes. Memory of layouts is given back when an
// allocation needs it, and a layout is made again by the next product that reads it.
//
// Errors: *matrix.InvalidError for a text that is no plan, a plan that no operands
// allow, negative uses and a nil matrix; *MemoryError for a layout that does not fit;
// the context's.
func Prepare[T comparable](
	ctx context.Context, d *Device, a matrix.Source[T], plan string, uses int,
) error {
	const op = "cusparse.Prepare"
	switch {
	case d.missing():
		return errNoDevice
	case a == nil:
		return &matrix.InvalidError{Op: op, Reason: "the matrix is nil"}
	case uses < 0:
		return &matrix.InvalidError{Op: op,
			Reason: fmt.Sprintf("%d uses; give a number of products, or 0 for none stated", uses)}
	}
	o, err := access.Operand(matrix.AsView[T](a), backend{d})
	if err != nil {
		return err
	}
	f := d.begin(device.Call{Context: ctx, Op: "Prepare"})
	defer f.end()
	s := f.here(o)
	if f.err != nil {
		return f.err
	}
	var p space.Plan
	if plan != "" {
		if p, err = space.Parse(plan); err == nil {
			err = f.prepare(o, p)
		}
		if err != nil {
			return &matrix.InvalidError{Op: op, Reason: err.Error()}
		}
	}
	if f.err != nil {
		return f.err
	}
	for _, x := range []*store{s, s.turned, s.listed} {
		if x != nil {
			x.origin().plan, x.origin().uses = p, float64(uses)
		}
	}
	return nil
}
