package matrix

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// RowWriter writes a matrix as text, some rows at a time in ascending order, so
// that the matrix need not fit in memory.
type RowWriter[T Element] struct {
	w       *reportingWriter
	o       *writeOptions
	m, n    int
	left    int64 // remaining entries, −1 if their number is not fixed
	next    int   // first row not written yet
	entry   func(buf []byte, i int, j int32, v T) []byte
	opName  string
	written int64
	names   []sidecar // to write at the end
}

// NewMatrixMarketWriter begins an m×n matrix of nvals entries in Matrix Market
// format, as general coordinates; see [WriteMatrixMarket]. [AsArray] and
// [AsSymmetric] are an error. A bool matrix is written as integers unless
// [AsPattern] is given.
func NewMatrixMarketWriter[T Element](w io.Writer, m, n int, nvals int64, opts ...WriteOption) (*RowWriter[T], error) {
	const op = "matrix.NewMatrixMarketWriter"
	o := writeOptionsOf(opts)
	e, ok := elementOf[T]()
	switch {
	case !ok:
		return nil, e.refused(op)
	case w == nil:
		return nil, nilWriter(op)
	case o.array:
		return nil, &OptionError{Op: op, Option: "AsArray", Reason: "rows are written as general coordinates; use WriteMatrixMarket"}
	case o.symmetric:
		return nil, &OptionError{Op: op, Option: "AsSymmetric", Reason: "rows are written as general coordinates; use WriteMatrixMarket"}
	}
	if err := checkDims(op, m, n); err != nil {
		return nil, err
	}
	if cells := int64(m) * int64(n); nvals < 0 || nvals > cells {
		return nil, &SizeError{op, "number of entries", nvals, cells}
	}
	field := "integer"
	switch {
	case o.pattern:
		field = "pattern"
	case e.isFloat():
		field = "real"
	}
	r := &RowWriter[T]{w: &reportingWriter{w: w, o: &o.common}, o: o, m: m, n: n, left: nvals, opName: op, entry: coordinates(e, field == "pattern")}
	var err error
	if r.names, err = o.sidecars(op, m, n); err != nil {
		return nil, err
	}
	var head strings.Builder
	fmt.Fprintf(&head, "%%%%MatrixMarket matrix coordinate %s general\n", field)
	for _, s := range r.names {
		writeComment(&head, "%", s.comment())
	}
	writeComment(&head, "%", o.comment)
	fmt.Fprintf(&head, "%d %d %d\n", m, n, nvals)
	_, err = io.WriteString(r.w, head.String())
	return r, err
}

// NewEdgeListWriter begins an edge list of an m×n matrix of any number of entries;
// see [WriteEdgeList].
func NewEdgeListWriter[T Element](w io.Writer, m, n int, opts ...WriteOption) (*RowWriter[T], error) {
	const op = "matrix.NewEdgeListWriter"
	o := writeOptionsOf(opts)
	e, ok := elementOf[T]()
	if !ok {
		return nil, e.refused(op)
	}
	if err := checkDims(op, m, n); err != nil {
		return nil, err
	}
	if err := o.checkList(op, w, m, n); err != nil {
		return nil, err
	}
	r := &RowWriter[T]{w: &reportingWriter{w: w, o: &o.common}, o: o, m: m, n: n, left: -1, opName: op, entry: edges(e, o, !o.pattern)}
	return r, writeHash(r.w, o.comment)
}

// Write writes the entries of rows, whose row i is row lo+i of the matrix.
func (r *RowWriter[T]) Write(lo int, rows *Matrix[T]) error {
	if r == nil || r.w == nil {
		return &InvalidError{"RowWriter.Write", "the writer is nil or zero; make one with NewMatrixMarketWriter or NewEdgeListWriter"}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	m, n := rows.Dims()
	nvals := rows.NVals()
	switch {
	case n != r.n || lo < r.next || lo+m > r.m:
		return &InvalidError{"RowWriter.Write", fmt.Sprintf("%d rows of %d columns at row %d; want rows within %d to %d of %d columns", m, n, lo, r.next, r.m, r.n)}
	case r.left >= 0 && nvals > r.left:
		return &InvalidError{"RowWriter.Write", fmt.Sprintf("%d entries, but only %d remain of those in the header", nvals, r.left)}
	}
	err := writeRows(r.w, rows.rows(), r.o, func(buf []byte, i int, j int32, v T) []byte { return r.entry(buf, lo+i, j, v) })
	if err != nil {
		return err
	}
	if r.left >= 0 {
		r.left -= nvals
	}
	r.next, r.written = lo+m, r.written+nvals
	return nil
}

// Close verifies that the number of entries is that of the header, and writes the names
// beside a Matrix Market file (see [NamesBeside]). It does not close the underlying
// writer.
func (r *RowWriter[T]) Close() error {
	if r == nil || r.w == nil {
		return &InvalidError{"RowWriter.Close", "the writer is nil or zero; make one with NewMatrixMarketWriter or NewEdgeListWriter"}
	}
	if r.left > 0 {
		return &InvalidError{"RowWriter.Close", fmt.Sprintf("%d entries are written and %d are missing", r.written, r.left)}
	}
	names := r.names
	r.names = nil
	return r.o.writeSidecars(r.w.w, names)
}

// coordinates formats an entry for a Matrix Market file.
func coordinates[T comparable](e element[T], pattern bool) func(buf []byte, i int, j int32, v T) []byte {
	text := e.appender()
	return func(buf []byte, i int, j int32, v T) []byte {
		buf = strconv.AppendInt(buf, int64(i)+1, 10)
		buf = append(buf, ' ')
		buf = strconv.AppendInt(buf, int64(j)+1, 10)
		if !pattern {
			buf = text(append(buf, ' '), v)
		}
		return append(buf, '\n')
	}
}

// edges formats an entry for an edge list.
func edges[T comparable](e element[T], o *writeOptions, values bool) func(buf []byte, i int, j int32, v T) []byte {
	text, delim := listValues(e, o), o.delim()
	row, col := o.labels.appender(delim, true), o.cols.appender(delim, false)
	return func(buf []byte, i int, j int32, v T) []byte {
		buf = append(row(buf, i), delim)
		buf = col(buf, int(j))
		if values {
			buf = text(append(buf, delim), v)
		}
		return append(buf, '\n')
	}
}
