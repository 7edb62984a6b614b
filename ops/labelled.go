package ops

import (
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/matrix"
)

// Labelled is a matrix with names of its rows and columns: a *graphio.Labelled[T], which is L. As
// an interface it spares those who use this package the readers of files.
type Labelled[L any] interface {
	// Inside returns the matrix; see [matrix.Matrix.Inside].
	Inside() rep.View
	// ExtractInside returns the part m, of the given rows and columns, with their names.
	ExtractInside(m rep.Matrix, rows, cols []int) (L, error)
}

// ExtractLabelled returns A(rows, cols) of a labelled matrix, a *graphio.Labelled, as [Extract]
// does, with the names of its rows and columns.
func ExtractLabelled[L Labelled[L]](a L, rows, cols Indices, opts ...Option) (part L, err error) {
	m, ri, ci, err := extractListed(a.Inside(), rows, cols, opts)
	if err != nil {
		return part, err
	}
	return a.ExtractInside(m, ri, ci)
}

// extractListed returns A(rows, cols) and both lists.
func extractListed(a rep.View, rows, cols Indices, opts []Option) (part rep.Matrix, ri, ci []int, err error) {
	if a.Matrix == nil {
		return nil, nil, nil, &matrix.InvalidError{Op: "ops.ExtractLabelled", Reason: "the matrix is nil; read one with graphio.ReadLabelled"}
	}
	if err := a.Err(); err != nil {
		return nil, nil, nil, err
	}
	m, n := a.Dims()
	if ri, err = rows.onHost("rows", m); err != nil {
		return nil, nil, nil, err
	}
	if ci, err = cols.onHost("cols", n); err != nil {
		return nil, nil, nil, err
	}
	part = matrix.NewInside(a.Type(), len(ri), len(ci))
	return part, ri, ci, begin("Extract", "", opts).extract(dest{m: part}, a, Of(ri...), Of(ci...))
}

// onHost returns the indices of a list on n of them. Names are looked up one by one.
func (x Indices) onHost(arg string, n int) ([]int, error) {
	if x.all {
		x = Span(0, n)
	}
	switch {
	case x.span:
		c := &call{op: "ops.ExtractLabelled"}
		r, err := x.resolveSpan(c, arg, n, nil)
		if err == nil {
			err = c.room(arg+" as a list", int64(r.N), 8)
		}
		if err != nil {
			return nil, err
		}
		list := make([]int, r.N)
		for p := range list {
			list[p] = r.Lo + p
		}
		return list, nil
	case x.short != nil:
		return widened(x.short), nil
	case !x.vector:
		return x.list, nil
	case x.values.Matrix == nil:
		return nil, (*matrix.View[int32])(nil).Err()
	}
	v := x.values
	if err := v.Fetched(); err != nil {
		return nil, err
	}
	return widened(valuesOf(v)), nil
}

func widened(short []int32) []int {
	list := make([]int, len(short))
	for k, i := range short {
		list[k] = int(i)
	}
	return list
}
