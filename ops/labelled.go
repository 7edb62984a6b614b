package ops

import (
	"slices"

	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/matrix"
)

// ExtractLabelled returns A(rows, cols) of a labelled matrix as [Extract] does, with the names of
// its rows and columns.
func ExtractLabelled[T matrix.Element](a *graphio.Labelled[T], rows, cols Indices, opts ...Option) (*graphio.Labelled[T], error) {
	if a == nil || a.Matrix == nil {
		return nil, &matrix.InvalidError{Op: "ops.ExtractLabelled", Reason: "the matrix is nil; read one with graphio.ReadLabelled"}
	}
	if err := a.Matrix.Err(); err != nil {
		return nil, err
	}
	m, n := a.Matrix.Dims()
	ri, err := rows.onHost("rows", m)
	if err != nil {
		return nil, err
	}
	ci, err := cols.onHost("cols", n)
	if err != nil {
		return nil, err
	}
	out := &graphio.Labelled[T]{Matrix: matrix.New[T](len(ri), len(ci))}
	if err := Extract(out.Matrix, a.Matrix, Of(ri...), Of(ci...), opts...); err != nil {
		return nil, err
	}
	if out.Rows, err = a.Rows.Extract(ri); err != nil {
		return nil, err
	}
	if out.Cols = out.Rows; a.Rows != a.Cols || !slices.Equal(ri, ci) {
		out.Cols, err = a.Cols.Extract(ci)
	}
	return out, err
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
		return nil, matrix.View[int32]{}.Err()
	}
	v := x.values
	if err := fetched(v); err != nil {
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
