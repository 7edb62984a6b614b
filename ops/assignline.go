package ops

import (
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// AssignRow computes C(i, cols)⟨m⟩ ⊕= u, as GrB_Row_assign: u has one position per index of cols. A
// mask is a vector with a position per column of C, and mask and Replace concern row i alone.
// Without an accumulator, entries at positions absent in u are deleted. AssignRow takes O(columns)
// time if C is on the host in bitmap or full format, and O(entries of C) otherwise. It returns the
// same errors as [Assign].
func AssignRow[T comparable](dst matrix.Target[T], u matrix.VectorSource[T], i int, cols Indices, opts ...Option) error {
	return assignLine("AssignRow", dst, u, i, cols, false, opts)
}

// AssignColumn computes C(rows, j)⟨m⟩ ⊕= u, as GrB_Col_assign; see [AssignRow].
func AssignColumn[T comparable](dst matrix.Target[T], u matrix.VectorSource[T], rows Indices, j int, opts ...Option) error {
	return assignLine("AssignColumn", dst, u, j, rows, true, opts)
}

// assignLine assigns to a row or a column: it copies the line, assigns to the copy, and puts it
// back.
func assignLine[T comparable](op string, dst matrix.Target[T], u matrix.VectorSource[T], at int, idx Indices, column bool, opts []Option) error {
	c := begin[T](op, "", opts)
	spec := specOf(dst)
	if _, err := operand[T](c, "u", u); err != nil {
		return err
	}
	mask := spec.Mask
	spec.Mask = nil // a vector
	m, n := spec.Matrix.Dims()
	t, err := prepare(c, spec, m, n)
	if err != nil {
		return err
	}
	arg, list, count, size := "row", "cols", m, n
	if column {
		arg, list, count, size = "column", "rows", n, m
	}
	if uint(at) >= uint(count) {
		return &matrix.IndexError{Op: c.op, Arg: arg, Index: int64(at), Limit: int64(count)}
	}
	whole := spec.Matrix.View()
	if column {
		whole = whole.T()
	}
	line := matrix.NewVector[T](size, matrix.On(spec.Matrix.Place()))
	if err := ExtractRow(line, whole, at, All(), silent(opts)...); err != nil {
		return err
	}
	part := line.Accum(spec.Accum).Masked(mask)
	if spec.Replace {
		part = part.Replace()
	}
	if err := assignVector(op, list, part, u, idx, silent(opts, keepRegion)); err != nil {
		return err
	}
	back, err := operand[T](c, "line", line)
	if err != nil {
		return err
	}
	if t.at == nil && t.group == nil && !access.Store(spec.Matrix).Sparse() {
		st := access.Store(spec.Matrix)
		c.traced("put", int64(size))
		from, step := at*n, 1
		if column {
			from, step = at, n
		}
		return keep(c, t, putLine(st, access.Stored(back), from, step))
	}
	if column {
		return Assign(spec.Matrix, back.T(), All(), Of(at), silent(opts, keepTrace)...)
	}
	return Assign(spec.Matrix, back, Of(at), All(), silent(opts, keepTrace)...)
}

// putLine overwrites the positions from, from+step, … of a dense matrix with a vector.
func putLine[T comparable](st, line *sparse.Store[T], from, step int) *sparse.Store[T] {
	line = sparse.ToBitmap(valued(line))
	if st.Format == sparse.Full && line.NVals < int64(line.NCols) {
		st = sparse.ToBitmap(st)
	}
	for p, has := range line.Present {
		q := from + p*step
		st.Val[q] = line.Val[p]
		if st.Present != nil {
			st.NVals += int64(has) - int64(st.Present[q])
			st.Present[q] = has
		}
	}
	return st
}

// kept are the settings that an operation passes on to those it consists of.
type kept uint8

const (
	keepRegion kept = 1 << iota
	keepTrace
)

// silent returns the options of an operation for one that it consists of: without a trace and
// without MaskOfRegion unless kept.
func silent(opts []Option, keep ...kept) []Option {
	var all kept
	for _, k := range keep {
		all |= k
	}
	return []Option{WithOptions(opts...), func(s *settings) {
		if all&keepRegion == 0 {
			s.region = false
		}
		if all&keepTrace == 0 {
			s.trace, s.traces = nil, nil
		}
	}}
}

// MaskOfRegion makes the mask of Assign, AssignVector, AssignScalar, AssignVectorScalar, AssignRow
// and AssignColumn one of the assigned region: it has one row per index of rows and one column per
// index of cols, and Replace deletes entries of the region alone. This is GxB_subassign of
// SuiteSparse:GraphBLAS; without the option the mask has the shape of C, and Replace deletes
// entries of all of C, as in GrB_assign. It is the only option that changes a result, and other
// operations refuse it. It extracts the region, so it adds O(entries of the region's rows) time.
func MaskOfRegion() Option { return func(s *settings) { s.region = true } }

// subassign is Assign with MaskOfRegion: fill assigns to all of a copy of the region.
func subassign[T comparable](c *call, dst matrix.Target[T], rows, cols Indices, opts []Option, fill func(part matrix.Target[T], opts ...Option) error) error {
	spec := specOf(dst)
	m, n := spec.Matrix.Dims()
	if _, err := prepare(c, matrix.Spec[T]{Matrix: spec.Matrix, Accum: spec.Accum}, m, n); err != nil {
		return err
	}
	ri, err := rows.distinct(c, "rows", m, placeOf(spec))
	if err != nil {
		return err
	}
	ci, err := cols.distinct(c, "cols", n, placeOf(spec))
	if err != nil {
		return err
	}
	part := matrix.New[T](ri.N, ci.N, matrix.On(spec.Matrix.Place()))
	if err := Extract(part, spec.Matrix, rows, cols, silent(opts)...); err != nil {
		return err
	}
	d := part.Accum(spec.Accum).Masked(spec.Mask)
	if spec.Replace {
		d = d.Replace()
	}
	if err := fill(d, silent(opts)...); err != nil {
		return err
	}
	return Assign(spec.Matrix, part, rows, cols, silent(opts, keepTrace)...)
}

// subassignVector is subassign for vectors. Errors name the list of indices arg.
func subassignVector[T comparable](c *call, arg string, dst matrix.VectorTarget[T], idx Indices, opts []Option, fill func(part matrix.VectorTarget[T], opts ...Option) error) error {
	spec := specOf(dst)
	_, n := spec.Matrix.Dims()
	if _, err := prepare(c, matrix.Spec[T]{Matrix: spec.Matrix, Vector: true, Accum: spec.Accum}, 1, n); err != nil {
		return err
	}
	list, err := idx.distinct(c, arg, n, placeOf(spec))
	if err != nil {
		return err
	}
	part := matrix.NewVector[T](list.N, matrix.On(spec.Matrix.Place()))
	if err := ExtractRow(part, spec.Matrix, 0, idx, silent(opts)...); err != nil {
		return err
	}
	d := part.Accum(spec.Accum).Masked(spec.Mask)
	if spec.Replace {
		d = d.Replace()
	}
	if err := fill(d, silent(opts)...); err != nil {
		return err
	}
	if to, ok := dst.(matrix.VectorDest[T]); ok {
		dst = to.Masked(nil).Accum(nil)
	}
	return AssignVector(dst, part, idx, silent(opts, keepTrace)...)
}
