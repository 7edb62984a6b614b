package graphio

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// RowWriter writes a matrix as text, some rows at a time in ascending order, so
// that the matrix need not fit in memory.
type RowWriter[T matrix.Element] struct{ r *rowWriter }

// rowWriter is a RowWriter without its element type.
type rowWriter struct {
	w       *reportingWriter
	o       *writeOptions
	m, n    int
	left    int64 // remaining entries, −1 if their number is not fixed
	next    int   // first row not written yet
	entry   func(buf []byte, i int, j int32, v uint64) []byte
	written int64
	names   []sidecar // to write at the end
}

// NewMatrixMarketWriter begins an m×n matrix of nvals entries in Matrix Market
// format, as general coordinates; see [WriteMatrixMarket]. [AsArray] and
// [AsSymmetric] are an error. A bool matrix is written as integers unless
// [AsPattern] is given.
func NewMatrixMarketWriter[T matrix.Element](w io.Writer, m, n int, nvals int64, opts ...WriteOption) (*RowWriter[T], error) {
	r, err := newMatrixMarketWriter(w, m, n, nvals, elementOf(sparse.TypeOf[T]()), writeOptionsOf(opts))
	if r == nil {
		return nil, err
	}
	return &RowWriter[T]{r}, err
}

func newMatrixMarketWriter(w io.Writer, m, n int, nvals int64, e element, o *writeOptions) (*rowWriter, error) {
	const op = "graphio.NewMatrixMarketWriter"
	switch {
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
		return nil, &matrix.SizeError{Op: op, Arg: "number of entries", Got: nvals, Limit: cells}
	}
	field := "integer"
	switch {
	case o.pattern:
		field = "pattern"
	case e.isFloat():
		field = "real"
	}
	r := &rowWriter{w: &reportingWriter{w: w, o: &o.common}, o: o, m: m, n: n, left: nvals, entry: coordinates(e, field == "pattern")}
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
func NewEdgeListWriter[T matrix.Element](w io.Writer, m, n int, opts ...WriteOption) (*RowWriter[T], error) {
	r, err := newEdgeListWriter(w, m, n, elementOf(sparse.TypeOf[T]()), writeOptionsOf(opts))
	if r == nil {
		return nil, err
	}
	return &RowWriter[T]{r}, err
}

func newEdgeListWriter(w io.Writer, m, n int, e element, o *writeOptions) (*rowWriter, error) {
	const op = "graphio.NewEdgeListWriter"
	if err := checkDims(op, m, n); err != nil {
		return nil, err
	}
	if err := o.checkList(op, w, m, n); err != nil {
		return nil, err
	}
	r := &rowWriter{w: &reportingWriter{w: w, o: &o.common}, o: o, m: m, n: n, left: -1, entry: edges(e, o, !o.pattern)}
	return r, writeHash(r.w, o.comment)
}

// Write writes the entries of rows, whose row i is row lo+i of the matrix.
func (r *RowWriter[T]) Write(lo int, rows *matrix.Matrix[T]) error {
	if r == nil || r.r == nil {
		return noWriter("RowWriter.Write")
	}
	return r.r.write(lo, rows.Inside().Matrix)
}

// noWriter is the error of a nil or zero writer.
func noWriter(op string) error {
	return &matrix.InvalidError{Op: op, Reason: "the writer is nil or zero; make one with NewMatrixMarketWriter or NewEdgeListWriter"}
}

func (r *rowWriter) write(lo int, rows rep.Matrix) error {
	const op = "RowWriter.Write"
	st, err := rowsOf(rows)
	if err != nil {
		return err
	}
	m, n, nvals := st.NRows, st.NCols, st.NVals
	switch {
	case n != r.n || lo < r.next || lo+m > r.m:
		return &matrix.InvalidError{Op: op, Reason: fmt.Sprintf("%d rows of %d columns at row %d; want rows within %d to %d of %d columns", m, n, lo, r.next, r.m, r.n)}
	case r.left >= 0 && nvals > r.left:
		return &matrix.InvalidError{Op: op, Reason: fmt.Sprintf("%d entries, but only %d remain of those in the header", nvals, r.left)}
	}
	err = writeRows(r.w, st, r.o, func(buf []byte, i int, j int32, v uint64) []byte { return r.entry(buf, lo+i, j, v) })
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
	if r == nil || r.r == nil {
		return noWriter("RowWriter.Close")
	}
	return r.r.close()
}

func (r *rowWriter) close() error {
	if r.left > 0 {
		return &matrix.InvalidError{Op: "RowWriter.Close", Reason: fmt.Sprintf("%d entries are written and %d are missing", r.written, r.left)}
	}
	names := r.names
	r.names = nil
	return r.o.writeSidecars(r.w.w, names)
}

// coordinates formats an entry for a Matrix Market file.
func coordinates(e element, pattern bool) func(buf []byte, i int, j int32, v uint64) []byte {
	text := e.appender()
	return func(buf []byte, i int, j int32, v uint64) []byte {
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
func edges(e element, o *writeOptions, values bool) func(buf []byte, i int, j int32, v uint64) []byte {
	text, delim := listValues(e, o), o.delim()
	row, col := o.labels.appender(delim, true), o.cols.appender(delim, false)
	return func(buf []byte, i int, j int32, v uint64) []byte {
		buf = append(row(buf, i), delim)
		buf = col(buf, int(j))
		if values {
			buf = text(append(buf, delim), v)
		}
		return append(buf, '\n')
	}
}
