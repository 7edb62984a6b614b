package edgelist

import (
	"bytes"
	"fmt"
	"io"

	"github.com/hiveblas/hiveblas/graphio/internal/build"
	"github.com/hiveblas/hiveblas/graphio/internal/core"
	"github.com/hiveblas/hiveblas/graphio/internal/numtext"
	"github.com/hiveblas/hiveblas/internal/chunk"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// ReadVector reads lines of index and value; see graphio.ReadVectorTSV.
func ReadVector(r io.Reader, o *core.ReadOptions) (*sparse.Store, error) {
	const op = "graphio.ReadVectorTSV"
	if r == nil {
		return nil, core.NilReader(op)
	}
	dup, err := o.Combiner(op)
	if err != nil {
		return nil, err
	}
	if o.DimsGiven {
		if err := core.CheckDims(op, o.Rows, 0); err != nil {
			return nil, err
		}
	}
	src, taken, err := chunk.NewSource(r)
	if err != nil {
		return nil, o.StreamError(1, err)
	}
	split, err := vectorLayout(src, o)
	if err != nil {
		return nil, err
	}
	limit := int64(matrix.MaxDim)
	if o.DimsGiven {
		limit = int64(o.Rows)
	}
	rd := &vectorReader{o: o, e: o.E, scan: numtext.ScannerFor(o.E, numtext.FieldAny, o), split: split, comments: commentStarts(o)}
	var idx []int64
	var vals []uint64
	columns := 0
	err = chunk.Read(o.Ctx, src, o.Threads, rd.parse, func(b vectorBlock) error {
		if b.err == nil && b.columns != 0 {
			if columns == 0 {
				columns = b.columns
			}
			if b.columns != columns {
				return o.Fail(b.first, fmt.Sprintf("the line has %d fields, the first %d", b.columns, columns), "")
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
				e := o.Fail(b.lines[p], fmt.Sprintf("index %d is out of range, want 0…%d", i, limit-1), "")
				e.Err = &matrix.IndexError{Op: "ReadVectorTSV", Arg: "index", Index: i, Limit: limit}
				return e
			}
			idx = append(idx, i)
		}
		vals = append(vals, b.vals...)
		o.Report(taken())
		return nil
	})
	if err != nil {
		return nil, o.StreamError(src.At(), err)
	}
	size := 0
	for _, i := range idx {
		size = max(size, int(i)+1)
	}
	if o.DimsGiven {
		size = o.Rows
	}
	t := build.Tuples{Row: make([]int32, len(idx)), Col: make([]int32, len(idx)), Val: vals}
	for p, i := range idx {
		t.Col[p] = int32(i)
	}
	b := &build.Builder{T: o.E.T, M: 1, N: size}
	b.Add(build.BlockOf(o.E, t))
	st, err := b.Build(o, dup)
	if d, ok := err.(*matrix.DuplicateError); ok {
		e := o.FailKind(0, fmt.Sprintf("index %d is given twice", d.Col), core.RemedyDuplicates)
		e.Err = err
		return nil, e
	} else if err != nil {
		return nil, err
	}
	return st.ToCSR(), nil
}

// vectorReader reads the lines of a vector.
type vectorReader struct {
	o    *core.ReadOptions
	e    core.Element
	scan numtext.Scanner

	split    *fieldSplitter
	comments *[256]bool
}

// vectorLayout skips the lines of SkipLines and Header and finds the delimiter.
func vectorLayout(src *chunk.Source, o *core.ReadOptions) (*fieldSplitter, error) {
	if err := checkLayout(o, "graphio.ReadVectorTSV"); err != nil {
		return nil, err
	}
	for range o.Skip {
		if _, line, err := src.Line(); err != nil && err != io.EOF {
			return nil, o.StreamError(line, err)
		}
	}
	line, at, err := firstEdge(src, o)
	if err != nil {
		return nil, err
	}
	if line != nil && o.Header == core.HeaderYes {
		if _, _, err := src.Line(); err != nil {
			return nil, o.StreamError(at, err)
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
	err     *core.ParseError
}

func (rd *vectorReader) parse(b chunk.Block) (r vectorBlock) {
	line := b.Line - 1
	var buf [64]byte
	d := b.Data
	for start := 0; start < len(d); start += bytes.IndexByte(d[start:], '\n') + 1 {
		line++
		p := start
		for core.IsBlank(d[p]) {
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
				r.err = rd.o.FailKind(line, msg, core.RemedyQuotes)
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
			r.err = rd.o.Fail(line, fmt.Sprintf("the line has %d fields, want “index value” or “value” throughout", n), "")
			return r
		}
		var i int64
		if n == 2 {
			id, ok := core.IDOf(fields[0])
			if !ok {
				r.err = rd.o.Fail(line, "want an index, got "+core.Quote(fields[0]), "")
				return r
			}
			i = id
		}
		value := append(buf[:0], fields[n-1]...)
		v, stop, f := rd.scan(append(value, '\n'), 0)
		if f == numtext.FaultNone && stop != len(value) {
			f = numtext.FaultSyntax
		}
		if f != numtext.FaultNone {
			msg, kind := numtext.Explain(rd.o, f, core.Quote(value), rd.e.Name(), rd.e.Kind)
			r.err = rd.o.FailKind(line, msg, kind)
			return r
		}
		r.idx, r.lines, r.vals = append(r.idx, i), append(r.lines, line), append(r.vals, v)
	}
	return r
}
