// Package matrixmarket reads and writes Matrix Market files, and the names of vertices in files
// beside them.
package matrixmarket

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/hiveblas/hiveblas/graphio/internal/build"
	"github.com/hiveblas/hiveblas/graphio/internal/core"
	"github.com/hiveblas/hiveblas/graphio/internal/numtext"
	"github.com/hiveblas/hiveblas/internal/chunk"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// Read reads a matrix; see graphio.ReadMatrixMarket.
func Read(r io.Reader, o *core.ReadOptions) (rep.Matrix, core.Sides, error) {
	const op = "graphio.ReadMatrixMarket"
	dup, err := o.Combiner(op)
	if err != nil {
		return nil, core.Sides{}, err
	}
	if r == nil {
		return nil, core.Sides{}, core.NilReader(op)
	}
	p, err := build.InParts(o, r, true)
	if err != nil {
		return nil, core.Sides{}, err
	}
	if p != nil {
		r = p.Stream()
	}
	rd, labels, err := openMatrixMarket(r, o)
	if p != nil {
		if err := build.Agree(o, err); err != nil {
			return nil, core.Sides{}, err
		}
		if rd.info.Coordinate() {
			a, err := rd.inParts(p, dup)
			return a, labels, err
		}
	}
	var st *sparse.Store
	if err == nil {
		st, err = rd.whole(dup)
	}
	return build.Placed(o, st, labels, err)
}

// whole reads the lines after the header.
func (rd *mmReader) whole(dup sparse.Combine) (st *sparse.Store, err error) {
	rule := dup
	if rd.info.Coordinate() {
		st, err = rd.coordinates(dup)
		rule = nil // combined by the builder
	} else {
		st, err = rd.array()
	}
	if err != nil {
		return nil, err
	}
	if rd.o.Symmetrise && rd.info.General() {
		st = build.Symmetrise(st.ToSparse(), rd.e, rule, rd.o.Threads)
	}
	rd.o.Report(rd.taken())
	return st, nil
}

// openMatrixMarket reads the header of a file and the names beside it.
func openMatrixMarket(r io.Reader, o *core.ReadOptions) (*mmReader, core.Sides, error) {
	src, taken, err := chunk.NewSource(r)
	if err != nil {
		return nil, core.Sides{}, o.StreamError(1, err)
	}
	info, err := readHead(src, &o.Common)
	if err != nil {
		return nil, core.Sides{}, err
	}
	if o.Info != nil {
		*o.Info = info
	}
	if o.Symmetrise && (info.Skew() || info.Rows != info.Cols) {
		return nil, core.Sides{}, o.FailKind(0, fmt.Sprintf("cannot symmetrise a %s %d×%d matrix", info.Symmetry, info.Rows, info.Cols), core.RemedyNoSymmetrise)
	}
	labels, err := readSidecars(o, info.Comments, info.Rows, info.Cols)
	if err != nil {
		return nil, core.Sides{}, err
	}
	rd := &mmReader{o: o, info: &info, e: o.E, src: src, taken: taken, values: info.Field != "pattern"}
	rd.scan = numtext.ScannerFor(o.E, fieldKindOf(&info), o)
	return rd, labels, nil
}

// mmReader reads the lines after the header.
type mmReader struct {
	o     *core.ReadOptions
	info  *core.Info
	e     core.Element
	src   *chunk.Source
	taken func() int64
	scan  numtext.Scanner

	values bool // the file has values
}

// mmBlock holds the entries of a block of lines.
type mmBlock struct {
	block   chunk.Block
	tuples  sparse.Block
	entries int64            // listed in the file, without mirror images
	err     *core.ParseError // of the first bad line
}

// coordinates reads the lines "row column value".
func (rd *mmReader) coordinates(dup sparse.Combine) (*sparse.Store, error) {
	b := &build.Builder{T: rd.e.T, M: rd.info.Rows, N: rd.info.Cols}
	err := rd.entries(func(t sparse.Block) {
		if rd.lower(dup) {
			build.ToLower(t)
		}
		b.Add(t)
		rd.o.Report(rd.taken())
	})
	if err != nil {
		return nil, err
	}
	st, err := b.Build(rd.o, dup)
	return st, duplicateError(rd.o, err)
}

// lower reports whether dup combines the entries of both directions.
func (rd *mmReader) lower(dup sparse.Combine) bool {
	return rd.o.Symmetrise && dup != nil && rd.info.General()
}

// entries reads the lines to the end of the file, and checks their number.
func (rd *mmReader) entries(keep func(sparse.Block)) error {
	var n int64
	err := chunk.Read(rd.o.Ctx, rd.src, rd.o.Threads, rd.parse, func(r mmBlock) error {
		if n += r.entries; n > rd.info.Entries {
			line := entryLine(r.block, r.entries-(n-rd.info.Entries))
			return rd.o.Fail(line, fmt.Sprintf("more entries than the %d that the size line announces", rd.info.Entries), "correct the size line")
		}
		if r.err != nil {
			return r.err
		}
		keep(r.tuples)
		return nil
	})
	if err != nil {
		return rd.o.StreamError(rd.src.At(), err)
	}
	if n < rd.info.Entries {
		return rd.tooFew(n, "entries")
	}
	return nil
}

func (rd *mmReader) tooFew(n int64, what string) error {
	return rd.o.Fail(rd.src.At(), fmt.Sprintf("the file ends after %d of %d %s", n, rd.info.Entries, what),
		"the file is truncated, or its size line is wrong")
}

// duplicateError wraps a *DuplicateError of the builder in a *ParseError.
func duplicateError(o *core.ReadOptions, err error) error {
	var d *matrix.DuplicateError
	if !errors.As(err, &d) {
		return err
	}
	e := o.FailKind(0, fmt.Sprintf("the entry at row %d, column %d (counted from 1) is given twice", d.Row+1, d.Col+1),
		core.RemedyDuplicates)
	e.Err = err
	return e
}

// entryLine returns the line of entry k of a block, from 0.
func entryLine(b chunk.Block, k int64) int64 {
	line := b.Line
	for text := range bytes.Lines(b.Data) {
		if text = bytes.TrimSpace(text); len(text) > 0 && text[0] != '%' {
			if k == 0 {
				break
			}
			k--
		}
		line++
	}
	return line
}

// parse reads the lines of a block. It runs on several blocks at once.
func (rd *mmReader) parse(b chunk.Block) (r mmBlock) {
	r.block = b
	lines := min(bytes.Count(b.Data, []byte{'\n'}), len(b.Data)/4+1) // "1 1\n" is the shortest
	if !rd.info.General() {
		lines *= 2
	}
	t := rd.room(lines)
	var (
		d       = b.Data
		p       int
		values  = rd.values
		general = rd.info.General()
		rows    = uint64(rd.info.Rows)
		cols    = uint64(rd.info.Cols)
		v       uint64
		f       numtext.Fault
	)
	for p < len(d) {
		start := p
		for core.IsBlank(d[p]) {
			p++
		}
		if d[p] == '\n' {
			p++
			continue
		}
		if d[p] == '%' {
			p += bytes.IndexByte(d[p:], '\n') + 1
			continue
		}
		i, q := scanIndex(d, p)
		p = q
		for core.IsBlank(d[p]) {
			p++
		}
		j, w := scanIndex(d, p)
		ok := w > p && p > q && i-1 < rows && j-1 < cols
		p = w
		if !ok {
			r.err = rd.indexError(b, start)
			break
		}
		if values {
			for core.IsBlank(d[p]) {
				p++
			}
			at := p
			if v, p, f = rd.scan(d, p); f != numtext.FaultNone || at == w {
				r.err = rd.valueError(b, start, at, f)
				break
			}
		}
		for core.IsBlank(d[p]) {
			p++
		}
		if d[p] != '\n' {
			r.err = rd.restError(b, start, p)
			break
		}
		p++
		r.entries++
		t.Row = append(t.Row, int32(i-1))
		t.Col = append(t.Col, int32(j-1))
		if values {
			t.Val = append(t.Val, v)
		}
		if !general && !rd.mirror(&t) {
			r.err = rd.mirrorError(b, start, i == j)
			break
		}
	}
	if len(t.Row) < cap(t.Row)/2 { // many comments or blank lines: free the unused capacity
		t = build.Tuples{Row: append([]int32{}, t.Row...), Col: append([]int32{}, t.Col...), Val: append([]uint64{}, t.Val...)}
	}
	if r.tuples = build.BlockOf(rd.e, t); !values {
		r.tuples.Val = rd.e.Ones(len(t.Row))
	}
	return r
}

// room returns tuples with room for n; tuples of a pattern have no values.
func (rd *mmReader) room(n int) build.Tuples {
	if rd.values {
		return build.Room(n)
	}
	return build.Tuples{Row: make([]int32, 0, n), Col: make([]int32, 0, n)}
}

// mirror appends the mirror image of the last tuple.
func (rd *mmReader) mirror(t *build.Tuples) bool {
	k := len(t.Row) - 1
	i, j := t.Row[k], t.Col[k]
	if i == j {
		return !rd.info.Skew()
	}
	if rd.values {
		v, ok := t.Val[k], true
		if rd.info.Skew() && !rd.o.PatternOnly {
			if v, ok = rd.e.Negate(v); !ok {
				return false
			}
		}
		t.Val = append(t.Val, v)
	}
	t.Row, t.Col = append(t.Row, j), append(t.Col, i)
	return true
}

// token returns d up to a blank or the end of the line.
func token(d []byte) []byte {
	for p, c := range d {
		if core.IsBlank(c) || c == '\n' {
			return d[:p]
		}
	}
	return d
}

// scanIndex reads digits; more than 18 of them give 2⁶³.
func scanIndex(d []byte, p int) (v uint64, end int) {
	start := p
	for {
		c := d[p] - '0'
		if c > 9 {
			break
		}
		v = v*10 + uint64(c)
		p++
	}
	if p-start > 18 {
		v = 1 << 63
	}
	return v, p
}

// The following methods describe an error in the line at d[start:].

func (rd *mmReader) line(b chunk.Block, start int) (number int64, fields [][]byte) {
	text, _, _ := bytes.Cut(b.Data[start:], []byte{'\n'})
	return b.Line + int64(bytes.Count(b.Data[:start], []byte{'\n'})), bytes.Fields(text)
}

func (rd *mmReader) indexError(b chunk.Block, start int) *core.ParseError {
	line, f := rd.line(b, start)
	limits := [2]int{rd.info.Rows, rd.info.Cols}
	for k, what := range []string{"row", "column"} {
		if k >= len(f) {
			return rd.o.Fail(line, "the line has no "+what, "want “row column value”")
		}
		v, end := scanIndex(append(append([]byte{}, f[k]...), '\n'), 0)
		if end != len(f[k]) {
			return rd.o.Fail(line, "want a "+what+" number, got "+core.Quote(f[k]), "")
		}
		if v-1 < uint64(limits[k]) {
			continue
		}
		remedy := ""
		switch {
		case v == 0:
			remedy = "Matrix Market counts from 1"
		case limits[k] > 0 && v == uint64(limits[k])+1:
			remedy = "the size line may be wrong"
		}
		msg := fmt.Sprintf("%s %s is out of range, want 1…%d", what, f[k], limits[k])
		if limits[k] == 0 {
			msg = fmt.Sprintf("%s %s is out of range: the matrix has none", what, f[k])
		}
		e := rd.o.Fail(line, msg, remedy)
		e.Err = &matrix.IndexError{Op: "ReadMatrixMarket", Arg: what, Index: int64(min(v, 1<<62)) - 1, Limit: int64(limits[k])}
		return e
	}
	return rd.o.Fail(line, "the line is malformed", "")
}

func (rd *mmReader) valueError(b chunk.Block, start, at int, f numtext.Fault) *core.ParseError {
	line, fields := rd.line(b, start)
	if len(fields) < 3 {
		return rd.o.Fail(line, "the line has no value", "a file without values is a “pattern”")
	}
	if f == numtext.FaultNone { // as in "1 2-3"
		return rd.o.Fail(line, "no blank before the value", "")
	}
	text := core.Quote(token(b.Data[at:]))
	return rd.valueFault(line, text, f)
}

func (rd *mmReader) valueFault(line int64, text string, f numtext.Fault) *core.ParseError {
	if f == numtext.FaultFraction && rd.info.Field == "integer" {
		return rd.o.Fail(line, "the value "+text+" in a file of integers", "the banner should say real")
	}
	msg, remedy := numtext.Explain(rd.o, f, text, rd.e.Name(), rd.e.Kind)
	return rd.o.FailKind(line, msg, remedy)
}

func (rd *mmReader) restError(b chunk.Block, start, at int) *core.ParseError {
	line, fields := rd.line(b, start)
	if rd.info.Field != "pattern" && len(fields) == 3 {
		return rd.valueFault(line, core.Quote(fields[2]), numtext.FaultSyntax)
	}
	text := core.Quote(token(b.Data[at:]))
	if rd.info.Field == "pattern" {
		return rd.o.Fail(line, text+" after the column of a pattern entry", "a file with values is “real” or “integer”")
	}
	return rd.o.Fail(line, text+" after the value", "")
}

func (rd *mmReader) mirrorError(b chunk.Block, start int, diagonal bool) *core.ParseError {
	line, fields := rd.line(b, start)
	if diagonal {
		return rd.o.Fail(line, "an entry on the diagonal of a skew-symmetric matrix", "it is zero by definition: remove the line")
	}
	return rd.valueFault(line, core.Quote(fields[2]), numtext.FaultSign)
}
