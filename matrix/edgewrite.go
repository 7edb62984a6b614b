package matrix

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/hiveblas/hiveblas/internal/chunk"
)

// WriteEdgeList writes the entries of a by rows, “row<TAB>column<TAB>value” a
// line, with 0-based indices or the names of [WithLabels]. Values are written
// as by [WriteMatrixMarket]; with [AsPattern], and for a bool matrix whose
// entries are all true, they are left out. [ReadEdgeList] with [KeepIDs] and
// [Dims] reads the same matrix back.
func WriteEdgeList[T Element](w io.Writer, a *Matrix[T], opts ...WriteOption) error {
	return writeEdgeList(w, a, writeOptionsOf(opts))
}

func writeEdgeList[T comparable](w io.Writer, a *Matrix[T], o *writeOptions) error {
	const op = "matrix.WriteEdgeList"
	if a.Err() != nil {
		return a.Err()
	}
	e, ok := elementOf[T]()
	if !ok {
		return &TypeError{op, e.name(), "bool, an integer or a float", ""}
	}
	m, n := a.Dims()
	if err := o.labels.check(op, m); err != nil {
		return err
	}
	if err := o.cols.check(op, n); err != nil {
		return err
	}
	st := a.rows()
	out := &reportingWriter{w: w, o: &o.common}
	if err := writeHash(out, o.comment); err != nil {
		return err
	}
	return writeRows(out, st, o, edges(e, o, !o.pattern && !(e.isBool() && allTrue(e, st.Val))))
}

func writeHash(w io.Writer, comment string) error {
	if comment == "" {
		return nil
	}
	var b strings.Builder
	writeComment(&b, "#", comment)
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteVectorTSV writes the entries of v, “index<TAB>value” a line, with
// 0-based indices or the names of [WithLabels].
func WriteVectorTSV[T Element](w io.Writer, v *Vector[T], opts ...WriteOption) error {
	return writeVectorTSV(w, v, writeOptionsOf(opts))
}

func writeVectorTSV[T comparable](w io.Writer, v *Vector[T], o *writeOptions) error {
	const op = "matrix.WriteVectorTSV"
	if v.Err() != nil {
		return v.Err()
	}
	e, ok := elementOf[T]()
	if !ok {
		return &TypeError{op, e.name(), "bool, an integer or a float", ""}
	}
	if err := o.labels.check(op, v.Size()); err != nil {
		return err
	}
	out := &reportingWriter{w: w, o: &o.common}
	if err := writeHash(out, o.comment); err != nil {
		return err
	}
	text := e.appender()
	st := v.m.rows1()
	pieces := int((st.NVals + pieceEntries - 1) / pieceEntries)
	return chunk.Write(o.ctx, out, o.threads, pieces, func(piece int, buf []byte) []byte {
		lo := piece * pieceEntries
		hi := min(lo+pieceEntries, len(st.Idx))
		for p := lo; p < hi; p++ {
			buf = append(o.labels.append(buf, int(st.Idx[p])), '\t')
			buf = append(text(buf, st.Val[p]), '\n')
		}
		return buf
	})
}

// ReadVectorTSV reads a vector: lines of a 0-based index and a value, or of a
// value alone for positions 0, 1, 2, … in this order; the first line decides.
// Separators, comments, values and options are those of [ReadEdgeList]. The
// size is one more than the largest index, or the rows that [Dims] gives.
func ReadVectorTSV[T Element](r io.Reader, opts ...ReadOption) (*Vector[T], error) {
	const op = "matrix.ReadVectorTSV"
	o := readOptionsOf(opts)
	e, _ := elementOf[T]()
	dup, err := combiner[T](op, o)
	if err != nil {
		return nil, err
	}
	if o.dimsGiven {
		if err := checkDims(op, o.rows, 0); err != nil {
			return nil, err
		}
	}
	src, taken, err := chunk.NewSource(r)
	if err != nil {
		return nil, o.streamError(1, err)
	}
	for range o.header {
		if _, line, err := src.Line(); err != nil && err != io.EOF {
			return nil, o.streamError(line, err)
		}
	}
	limit := int64(MaxDim)
	if o.dimsGiven {
		limit = int64(o.rows)
	}
	rd := &vectorReader[T]{o: o, e: e, scan: scannerFor(e, false, o)}
	var idx []int64
	var vals []T
	columns := 0
	err = chunk.Read(o.ctx, src, o.threads, rd.parse, func(b vectorBlock[T]) error {
		if b.err == nil && b.columns != 0 {
			if columns == 0 {
				columns = b.columns
			}
			if b.columns != columns {
				return o.fail(b.first, fmt.Sprintf("the line has %d fields, the first %d", b.columns, columns), "")
			}
		}
		if b.err != nil {
			return b.err
		}
		for p, i := range b.idx {
			if columns == 1 {
				i = int64(len(idx))
			}
			if i < 0 || i >= limit {
				e := o.fail(b.lines[p], fmt.Sprintf("index %d is out of range, want 0…%d", i, limit-1), "")
				e.Err = &IndexError{"ReadVectorTSV", "index", i, limit}
				return e
			}
			idx = append(idx, i)
		}
		vals = append(vals, b.vals...)
		o.report(taken())
		return nil
	})
	if err != nil {
		return nil, o.streamError(src.At(), err)
	}
	size := 0
	for _, i := range idx {
		size = max(size, int(i)+1)
	}
	if o.dimsGiven {
		size = o.rows
	}
	b := NewVectorBuilder[T](size)
	for p, i := range idx {
		b.Add(int(i), vals[p])
	}
	v, err := b.Build(dup)
	if d, ok := err.(*DuplicateError); ok {
		e := o.fail(0, fmt.Sprintf("index %d is given twice", d.Col), "the option Duplicates combines them")
		e.Err = err
		return nil, e
	}
	return v, err
}

// vectorReader reads the lines of a vector.
type vectorReader[T comparable] struct {
	o    *readOptions
	e    element[T]
	scan scanner[T]
}

type vectorBlock[T any] struct {
	columns int // 1 or 2; 0: no line
	first   int64
	idx     []int64
	lines   []int64
	vals    []T
	err     *ParseError
}

func (rd *vectorReader[T]) parse(b chunk.Block) (r vectorBlock[T]) {
	line := b.Line - 1
	d := b.Data
	for start := 0; start < len(d); start += bytes.IndexByte(d[start:], '\n') + 1 {
		line++
		p := start
		if line == 1 && bytes.HasPrefix(d, []byte("\xef\xbb\xbf")) {
			p += 3
		}
		for isBlank(d[p]) {
			p++
		}
		if c := d[p]; c == '\n' || c == '#' || c == '%' {
			continue
		}
		var at, end [2]int
		n := 0
		for d[p] != '\n' {
			a, z, next := edgeField(d, p)
			if n < 2 {
				at[n], end[n] = a, z
			}
			n, p = n+1, next
		}
		if r.columns == 0 {
			r.columns, r.first = n, line
		}
		if n != r.columns || n > 2 {
			r.err = rd.o.fail(line, fmt.Sprintf("the line has %d fields, want “index value” or “value” throughout", n), "")
			return r
		}
		var i int64
		if n == 2 {
			id, ok := idOf(d[at[0]:end[0]])
			if !ok {
				r.err = rd.o.fail(line, "want an index, got "+quote(d[at[0]:end[0]]), "")
				return r
			}
			i = id
		}
		v, stop, f := rd.scan(d, at[n-1])
		if f == faultNone && stop != end[n-1] {
			f = faultSyntax
		}
		if f != faultNone {
			msg, remedy := f.explain(quote(d[at[n-1]:end[n-1]]), rd.e.name())
			r.err = rd.o.fail(line, msg, remedy)
			return r
		}
		r.idx, r.lines, r.vals = append(r.idx, i), append(r.lines, line), append(r.vals, v)
	}
	return r
}
