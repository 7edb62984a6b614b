package graphio

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/hiveblas/hiveblas/internal/chunk"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// ReadMatrixMarket reads a Matrix Market file, gzip-compressed or not.
//
// It reads the layouts coordinate and array, the fields real (or double), integer
// and pattern, and the symmetries general, symmetric and skew-symmetric, in any
// case of letters. Comments and blank lines may occur anywhere, and lines may end
// in CRLF. Zeros of an array are no entries unless [KeepZeros] makes them so; an array without
// zeros, or with KeepZeros, becomes a Full matrix. Complex and hermitian files are an error.
//
// A file without a banner is read if its first line that is not blank has three
// counts, “rows columns entries”. It has general coordinates: real values if the
// first entry has three fields, a pattern if it has two. A first line that begins
// with % but is not a banner is an error, because it may be a damaged banner of a
// symmetric file.
//
// Values. In an integer type, values must be integers in its range; 6.000 and 1e3
// are integers in a real file, but not in an integer file. Hexadecimal numbers of C,
// such as 0x1.8p+1, are read in a real file. In a float type, values
// of a real file are rounded to nearest, and those of an integer file must be exact
// (in float64, all up to 2⁵³). bool holds 0 and 1. An entry of a pattern is 1 or
// true. NaN and infinities need [AllowNaN]; [PatternOnly] ignores values. Every
// other value is an error.
//
// A symmetric file lists one triangle, usually the lower. An entry of the other triangle is a
// duplicate if the file has its mirror too. A skew-symmetric coordinate file has no diagonal
// entries; an array may list a diagonal of zeros. A duplicate is an error unless [Duplicates]
// combines it.
//
// Errors in the file are a *[ParseError] with the line. The counts of the header
// do not determine allocations: memory grows with the entries read. Peak memory is
// below 3 times that of the matrix, and the time is O(entries + rows + columns),
// with parsing spread over [Threads].
func ReadMatrixMarket[T matrix.Element](r io.Reader, opts ...ReadOption) (*matrix.Matrix[T], error) {
	a, _, err := readMatrixMarket(r, optionsFor[T](opts))
	return matrix.OfInside[T](a), err
}

// ReadMatrixMarketFile is [ReadMatrixMarket] of the file at path.
func ReadMatrixMarketFile[T matrix.Element](path string, opts ...ReadOption) (*matrix.Matrix[T], error) {
	a, _, err := readPath(path, optionsFor[T](opts), readMatrixMarket)
	return matrix.OfInside[T](a), err
}

func readMatrixMarket(r io.Reader, o *readOptions) (rep.Matrix, sides, error) {
	const op = "graphio.ReadMatrixMarket"
	dup, err := o.combiner(op)
	if err != nil {
		return nil, sides{}, err
	}
	if r == nil {
		return nil, sides{}, nilReader(op)
	}
	p, err := o.inParts(r, true)
	if err != nil {
		return nil, sides{}, err
	}
	if p != nil {
		r = p.stream()
	}
	rd, labels, err := openMatrixMarket(r, o)
	if p != nil {
		if err := o.agree(err); err != nil {
			return nil, sides{}, err
		}
		if rd.info.coordinate() {
			a, err := rd.inParts(p, dup)
			return a, labels, err
		}
	}
	var st *sparse.Store
	if err == nil {
		st, err = rd.whole(dup)
	}
	return placed(o, st, labels, err)
}

// whole reads the lines after the header.
func (rd *mmReader) whole(dup sparse.Combine) (st *sparse.Store, err error) {
	rule := dup
	if rd.info.coordinate() {
		st, err = rd.coordinates(dup)
		rule = nil // combined by the builder
	} else {
		st, err = rd.array()
	}
	if err != nil {
		return nil, err
	}
	if rd.o.symmetrise && rd.info.general() {
		st = symmetrise(st.ToSparse(), rd.e, rule, rd.o.threads)
	}
	rd.o.report(rd.taken())
	return st, nil
}

// openMatrixMarket reads the header of a file and the names beside it.
func openMatrixMarket(r io.Reader, o *readOptions) (*mmReader, sides, error) {
	src, taken, err := chunk.NewSource(r)
	if err != nil {
		return nil, sides{}, o.streamError(1, err)
	}
	info, err := readHead(src, &o.common)
	if err != nil {
		return nil, sides{}, err
	}
	if o.info != nil {
		*o.info = info
	}
	if o.symmetrise && (info.skew() || info.Rows != info.Cols) {
		return nil, sides{}, o.failKind(0, fmt.Sprintf("cannot symmetrise a %s %d×%d matrix", info.Symmetry, info.Rows, info.Cols), RemedyNoSymmetrise)
	}
	labels, err := o.readSidecars(info.Comments, info.Rows, info.Cols)
	if err != nil {
		return nil, sides{}, err
	}
	rd := &mmReader{o: o, info: &info, e: o.e, src: src, taken: taken, values: info.Field != "pattern"}
	rd.scan = scannerFor(o.e, info.fieldKind(), o)
	return rd, labels, nil
}

// mmReader reads the lines after the header.
type mmReader struct {
	o     *readOptions
	info  *Info
	e     element
	src   *chunk.Source
	taken func() int64
	scan  scanner

	values bool // the file has values
}

// mmBlock holds the entries of a block of lines.
type mmBlock struct {
	block   chunk.Block
	tuples  sparse.Block
	entries int64       // listed in the file, without mirror images
	err     *ParseError // of the first bad line
}

// coordinates reads the lines "row column value".
func (rd *mmReader) coordinates(dup sparse.Combine) (*sparse.Store, error) {
	b := &builder{t: rd.e.t, m: rd.info.Rows, n: rd.info.Cols}
	err := rd.entries(func(t sparse.Block) {
		if rd.lower(dup) {
			toLower(t)
		}
		b.add(t)
		rd.o.report(rd.taken())
	})
	if err != nil {
		return nil, err
	}
	st, err := b.build(rd.o, dup)
	return st, rd.o.duplicate(err)
}

// lower reports whether dup combines the entries of both directions.
func (rd *mmReader) lower(dup sparse.Combine) bool {
	return rd.o.symmetrise && dup != nil && rd.info.general()
}

// entries reads the lines to the end of the file, and checks their number.
func (rd *mmReader) entries(keep func(sparse.Block)) error {
	var n int64
	err := chunk.Read(rd.o.ctx, rd.src, rd.o.threads, rd.parse, func(r mmBlock) error {
		if n += r.entries; n > rd.info.Entries {
			line := entryLine(r.block, r.entries-(n-rd.info.Entries))
			return rd.o.fail(line, fmt.Sprintf("more entries than the %d that the size line announces", rd.info.Entries), "correct the size line")
		}
		if r.err != nil {
			return r.err
		}
		keep(r.tuples)
		return nil
	})
	if err != nil {
		return rd.o.streamError(rd.src.At(), err)
	}
	if n < rd.info.Entries {
		return rd.tooFew(n, "entries")
	}
	return nil
}

func (rd *mmReader) tooFew(n int64, what string) error {
	return rd.o.fail(rd.src.At(), fmt.Sprintf("the file ends after %d of %d %s", n, rd.info.Entries, what),
		"the file is truncated, or its size line is wrong")
}

// duplicate wraps a *DuplicateError of the builder in a *ParseError.
func (o *readOptions) duplicate(err error) error {
	var d *matrix.DuplicateError
	if !errors.As(err, &d) {
		return err
	}
	e := o.failKind(0, fmt.Sprintf("the entry at row %d, column %d (counted from 1) is given twice", d.Row+1, d.Col+1),
		RemedyDuplicates)
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
	if !rd.info.general() {
		lines *= 2
	}
	t := rd.room(lines)
	var (
		d       = b.Data
		p       int
		values  = rd.values
		general = rd.info.general()
		rows    = uint64(rd.info.Rows)
		cols    = uint64(rd.info.Cols)
		v       uint64
		f       fault
	)
	for p < len(d) {
		start := p
		for isBlank(d[p]) {
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
		for isBlank(d[p]) {
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
			for isBlank(d[p]) {
				p++
			}
			at := p
			if v, p, f = rd.scan(d, p); f != faultNone || at == w {
				r.err = rd.valueError(b, start, at, f)
				break
			}
		}
		for isBlank(d[p]) {
			p++
		}
		if d[p] != '\n' {
			r.err = rd.restError(b, start, p)
			break
		}
		p++
		r.entries++
		t.row = append(t.row, int32(i-1))
		t.col = append(t.col, int32(j-1))
		if values {
			t.val = append(t.val, v)
		}
		if !general && !rd.mirror(&t) {
			r.err = rd.mirrorError(b, start, i == j)
			break
		}
	}
	if len(t.row) < cap(t.row)/2 { // many comments or blank lines: free the unused capacity
		t = tuples{append([]int32{}, t.row...), append([]int32{}, t.col...), append([]uint64{}, t.val...)}
	}
	if r.tuples = rd.e.block(t); !values {
		r.tuples.Val = rd.e.ones(len(t.row))
	}
	return r
}

// room returns tuples with room for n; those of a pattern have no values.
func (rd *mmReader) room(n int) tuples {
	if rd.values {
		return room(n)
	}
	return tuples{row: make([]int32, 0, n), col: make([]int32, 0, n)}
}

// mirror appends the mirror image of the last tuple.
func (rd *mmReader) mirror(t *tuples) bool {
	k := len(t.row) - 1
	i, j := t.row[k], t.col[k]
	if i == j {
		return !rd.info.skew()
	}
	if rd.values {
		v, ok := t.val[k], true
		if rd.info.skew() && !rd.o.patternOnly {
			if v, ok = rd.e.negate(v); !ok {
				return false
			}
		}
		t.val = append(t.val, v)
	}
	t.row, t.col = append(t.row, j), append(t.col, i)
	return true
}

// token returns d up to a blank or the end of the line.
func token(d []byte) []byte {
	for p, c := range d {
		if isBlank(c) || c == '\n' {
			return d[:p]
		}
	}
	return d
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }

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

func (rd *mmReader) indexError(b chunk.Block, start int) *ParseError {
	line, f := rd.line(b, start)
	limits := [2]int{rd.info.Rows, rd.info.Cols}
	for k, what := range []string{"row", "column"} {
		if k >= len(f) {
			return rd.o.fail(line, "the line has no "+what, "want “row column value”")
		}
		v, end := scanIndex(append(append([]byte{}, f[k]...), '\n'), 0)
		if end != len(f[k]) {
			return rd.o.fail(line, "want a "+what+" number, got "+quote(f[k]), "")
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
		e := rd.o.fail(line, msg, remedy)
		e.Err = &matrix.IndexError{Op: "ReadMatrixMarket", Arg: what, Index: int64(min(v, 1<<62)) - 1, Limit: int64(limits[k])}
		return e
	}
	return rd.o.fail(line, "the line is malformed", "")
}

func (rd *mmReader) valueError(b chunk.Block, start, at int, f fault) *ParseError {
	line, fields := rd.line(b, start)
	if len(fields) < 3 {
		return rd.o.fail(line, "the line has no value", "a file without values is a “pattern”")
	}
	if f == faultNone { // as in "1 2-3"
		return rd.o.fail(line, "no blank before the value", "")
	}
	text := quote(token(b.Data[at:]))
	return rd.valueFault(line, text, f)
}

func (rd *mmReader) valueFault(line int64, text string, f fault) *ParseError {
	if f == faultFraction && rd.info.Field == "integer" {
		return rd.o.fail(line, "the value "+text+" in a file of integers", "the banner should say real")
	}
	msg, remedy := rd.o.explain(f, text, rd.e.name(), rd.e.kind)
	return rd.o.failKind(line, msg, remedy)
}

func (rd *mmReader) restError(b chunk.Block, start, at int) *ParseError {
	line, fields := rd.line(b, start)
	if rd.info.Field != "pattern" && len(fields) == 3 {
		return rd.valueFault(line, quote(fields[2]), faultSyntax)
	}
	text := quote(token(b.Data[at:]))
	if rd.info.Field == "pattern" {
		return rd.o.fail(line, text+" after the column of a pattern entry", "a file with values is “real” or “integer”")
	}
	return rd.o.fail(line, text+" after the value", "")
}

func (rd *mmReader) mirrorError(b chunk.Block, start int, diagonal bool) *ParseError {
	line, fields := rd.line(b, start)
	if diagonal {
		return rd.o.fail(line, "an entry on the diagonal of a skew-symmetric matrix", "it is zero by definition: remove the line")
	}
	return rd.valueFault(line, quote(fields[2]), faultSign)
}
