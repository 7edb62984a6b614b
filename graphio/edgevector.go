package graphio

import (
	"bytes"
	"fmt"
	"io"

	"github.com/hiveblas/hiveblas/internal/chunk"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// ReadVectorTSV reads a vector: lines of a 0-based index and a value, or of a
// value alone for the indices 0, 1, 2, …; the first line decides.
// Delimiters, quotes, comments, values and options are those of [ReadEdgeList];
// [Header](HeaderYes) skips a line of column names. The size is one more than
// the largest index, or the rows that [Dims] gives.
func ReadVectorTSV[T matrix.Element](r io.Reader, opts ...ReadOption) (*matrix.Vector[T], error) {
	o := optionsFor[T](opts)
	st, err := readVectorTSV(r, o)
	return vectorOf[T](o, st, err)
}

func readVectorTSV(r io.Reader, o *readOptions) (*sparse.Store, error) {
	const op = "graphio.ReadVectorTSV"
	if r == nil {
		return nil, nilReader(op)
	}
	dup, err := o.combiner(op)
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
	split, err := vectorLayout(src, o)
	if err != nil {
		return nil, err
	}
	limit := int64(matrix.MaxDim)
	if o.dimsGiven {
		limit = int64(o.rows)
	}
	rd := &vectorReader{o: o, e: o.e, scan: scannerFor(o.e, fieldAny, o), split: split, comments: o.commentStarts()}
	var idx []int64
	var vals []uint64
	columns := 0
	err = chunk.Read(o.ctx, src, o.threads, rd.parse, func(b vectorBlock) error {
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
				e.Err = &matrix.IndexError{Op: "ReadVectorTSV", Arg: "index", Index: i, Limit: limit}
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
	t := tuples{make([]int32, len(idx)), make([]int32, len(idx)), vals}
	for p, i := range idx {
		t.col[p] = int32(i)
	}
	b := &builder{t: o.e.t, m: 1, n: size}
	b.add(o.e.block(t))
	st, err := b.build(o, dup)
	if d, ok := err.(*matrix.DuplicateError); ok {
		e := o.failKind(0, fmt.Sprintf("index %d is given twice", d.Col), RemedyDuplicates)
		e.Err = err
		return nil, e
	} else if err != nil {
		return nil, err
	}
	return st.ToCSR(), nil
}

// vectorReader reads the lines of a vector.
type vectorReader struct {
	o    *readOptions
	e    element
	scan scanner

	split    *fieldSplitter
	comments *[256]bool
}

// vectorLayout skips the lines of SkipLines and Header and finds the delimiter.
func vectorLayout(src *chunk.Source, o *readOptions) (*fieldSplitter, error) {
	if err := o.checkLayout("graphio.ReadVectorTSV"); err != nil {
		return nil, err
	}
	for range o.skip {
		if _, line, err := src.Line(); err != nil && err != io.EOF {
			return nil, o.streamError(line, err)
		}
	}
	line, at, err := firstEdge(src, o)
	if err != nil {
		return nil, err
	}
	if line != nil && o.header == HeaderYes {
		if _, _, err := src.Line(); err != nil {
			return nil, o.streamError(at, err)
		}
		if line, _, err = firstEdge(src, o); err != nil {
			return nil, err
		}
	}
	if line == nil {
		return newFieldSplitter(blanks), nil
	}
	return newFieldSplitter(delimiterOf(o, append([][]byte{line}, sample(src, line, o)...))), nil
}

type vectorBlock struct {
	columns int // 1 or 2; 0: no line
	first   int64
	idx     []int64
	lines   []int64
	vals    []uint64
	err     *ParseError
}

func (rd *vectorReader) parse(b chunk.Block) (r vectorBlock) {
	line := b.Line - 1
	var buf [64]byte
	d := b.Data
	for start := 0; start < len(d); start += bytes.IndexByte(d[start:], '\n') + 1 {
		line++
		p := start
		for isBlank(d[p]) {
			p++
		}
		if c := d[p]; c == '\n' || rd.comments[c] {
			continue
		}
		var fields [2][]byte
		n := 0
		for p, last := start, false; !last; {
			var text []byte
			var quoted bool
			var msg string
			if text, quoted, p, last, msg = rd.split.quoted(d, p); msg != "" {
				r.err = rd.o.failKind(line, msg, RemedyQuotes)
				return r
			}
			if last && len(text) == 0 && !quoted {
				break
			}
			if n < 2 {
				fields[n] = text
			}
			n++
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
			id, ok := idOf(fields[0])
			if !ok {
				r.err = rd.o.fail(line, "want an index, got "+quote(fields[0]), "")
				return r
			}
			i = id
		}
		value := append(buf[:0], fields[n-1]...)
		v, stop, f := rd.scan(append(value, '\n'), 0)
		if f == faultNone && stop != len(value) {
			f = faultSyntax
		}
		if f != faultNone {
			msg, kind := rd.o.explain(f, quote(value), rd.e.name(), rd.e.kind)
			r.err = rd.o.failKind(line, msg, kind)
			return r
		}
		r.idx, r.lines, r.vals = append(r.idx, i), append(r.lines, line), append(r.vals, v)
	}
	return r
}
