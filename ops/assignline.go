package ops

import (
	"github.com/hiveblas/hiveblas/internal/cpu"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/matrix"
)

// AssignRow computes C(i, cols)⟨m⟩ ⊕= u, as GrB_Row_assign: u has one position per index of cols. A
// mask is a vector with a position per column of C, and mask and Replace concern row i alone.
// Without an accumulator, entries at positions absent in u are deleted. AssignRow takes O(columns)
// time if C is on the host in bitmap or full format, and O(entries of C) otherwise. It returns the
// same errors as [Assign].
func AssignRow[T comparable](dst matrix.Target[T], u matrix.VectorSource[T], i int, cols Indices, opts ...Option) error {
	return begin("AssignRow", "", opts).assignLine(destOf(dst), viewOf(u), i, cols, false, opts)
}

// AssignColumn computes C(rows, j)⟨m⟩ ⊕= u, as GrB_Col_assign; see [AssignRow].
func AssignColumn[T comparable](dst matrix.Target[T], u matrix.VectorSource[T], rows Indices, j int, opts ...Option) error {
	return begin("AssignColumn", "", opts).assignLine(destOf(dst), viewOf(u), j, rows, true, opts)
}

// assignLine assigns to a row or a column: it copies the line, assigns to the copy, and puts it
// back.
func (c *call) assignLine(d dest, u rep.View, at int, idx Indices, column bool, opts []Option) error {
	if err := c.operand("u", u); err != nil {
		return err
	}
	mask := d.mask
	d.mask = nil // a vector
	m, n := d.dims()
	t, err := c.prepare(d, m, n)
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
	whole := rep.View{Matrix: d.m, Transposed: column}
	line := newMatrix(t.c, 1, size, d.place())
	if err := begin("ExtractRow", "", silent(opts)).extractRow(dest{m: line, vector: true}, whole, at, All()); err != nil {
		return err
	}
	part := dest{m: line, vector: true, mask: mask, accum: d.accum, replace: d.replace}
	if err := begin(c.op, "", silent(opts, keepRegion)).assignVector(list, part, u, idx); err != nil {
		return err
	}
	back := rep.View{Matrix: line, Vector: true}
	if t.at == nil && t.group == nil && !t.m.Stored().Sparse() {
		st := t.m.Stored()
		c.traced("put", int64(size))
		from, step := at*n, 1
		if column {
			from, step = at, n
		}
		return c.keep(cpu.PutLine(st, back.Stored(), from, step))
	}
	in := begin("Assign", "", silent(opts, keepTrace))
	if column {
		return in.assign(dest{m: d.m}, back.T(), All(), Of(at))
	}
	return in.assign(dest{m: d.m}, back, Of(at), All())
}

// kept are the settings that an operation passes on to its parts.
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
func (c *call) subassign(d dest, rows, cols Indices, fill func(in *call, part dest) error) error {
	m, n := d.dims()
	if _, err := c.prepare(dest{m: d.m, accum: d.accum}, m, n); err != nil {
		return err
	}
	ri, err := rows.distinct(c, "rows", m, d.place())
	if err != nil {
		return err
	}
	ci, err := cols.distinct(c, "cols", n, d.place())
	if err != nil {
		return err
	}
	part := newMatrix(d.m.Type(), ri.N, ci.N, d.place())
	if err := c.passed("Extract").extract(dest{m: part}, rep.View{Matrix: d.m}, rows, cols); err != nil {
		return err
	}
	if err := fill(c.passed(c.op), dest{m: part, mask: d.mask, accum: d.accum, replace: d.replace}); err != nil {
		return err
	}
	return c.passed("Assign", keepTrace).assign(dest{m: d.m}, rep.View{Matrix: part}, rows, cols)
}

// passed returns the call of an operation that c consists of; see silent.
func (c *call) passed(op string, keep ...kept) *call {
	own := c.settings
	return begin(op, "", silent([]Option{func(s *settings) { *s = own }}, keep...))
}

// subassignVector is subassign for vectors. Errors name the list of indices arg.
func (c *call) subassignVector(arg string, d dest, idx Indices, fill func(in *call, part dest) error) error {
	_, n := d.dims()
	if _, err := c.prepare(dest{m: d.m, vector: true, accum: d.accum}, 1, n); err != nil {
		return err
	}
	list, err := idx.distinct(c, arg, n, d.place())
	if err != nil {
		return err
	}
	part := newMatrix(d.m.Type(), 1, list.N, d.place())
	whole := rep.View{Matrix: d.m}
	if err := c.passed("ExtractRow").extractRow(dest{m: part, vector: true}, whole, 0, idx); err != nil {
		return err
	}
	if err := fill(c.passed(c.op), dest{m: part, vector: true, mask: d.mask, accum: d.accum, replace: d.replace}); err != nil {
		return err
	}
	// Replace concerned the region alone.
	return c.passed("AssignVector", keepTrace).assignVector("idx", dest{m: d.m, vector: true}, rep.View{Matrix: part, Vector: true}, idx)
}
