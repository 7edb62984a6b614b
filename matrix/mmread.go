package matrix

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/hiveblas/hiveblas/internal/chunk"
	"github.com/hiveblas/hiveblas/internal/sparse"
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
func ReadMatrixMarket[T Element](r io.Reader, opts ...ReadOption) (*Matrix[T], error) {
	a, _, err := readMatrixMarket[T](r, readOptionsOf(opts))
	return a, err
}

// ReadMatrixMarketFile is [ReadMatrixMarket] of the file at path.
func ReadMatrixMarketFile[T Element](path string, opts ...ReadOption) (*Matrix[T], error) {
	f, o, err := openRead(path, opts)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	a, _, err := readMatrixMarket[T](f, o)
	return a, err
}

func readMatrixMarket[T comparable](r io.Reader, o *readOptions) (*Matrix[T], sides, error) {
	e, ok := elementOf[T]()
	if !ok {
		return nil, sides{}, e.refused("matrix.ReadMatrixMarket")
	}
	dup, err := combiner[T]("matrix.ReadMatrixMarket", o)
	if err != nil {
		return nil, sides{}, err
	}
	if r == nil {
		return nil, sides{}, nilReader("matrix.ReadMatrixMarket")
	}
	p, err := o.inParts(r, true)
	if err != nil {
		return nil, sides{}, err
	}
	if p != nil {
		r = p.stream()
	}
	rd, labels, err := openMatrixMarket(r, o, e)
	if p != nil {
		if err := o.agree(err); err != nil {
			return nil, sides{}, err
		}
		if rd.info.coordinate() {
			a, err := rd.inParts(p, dup)
			return a, labels, err
		}
	}
	var a *Matrix[T]
	if err == nil {
		a, err = rd.whole(dup)
	}
	return placed(o, a, labels, err)
}

// whole reads the lines after the header.
func (rd *mmReader[T]) whole(dup Combiner[T]) (a *Matrix[T], err error) {
	rule := dup
	if rd.info.coordinate() {
		a, err = rd.coordinates(dup)
		rule = nil // combined by the builder
	} else {
		a, err = rd.array()
	}
	if err != nil {
		return nil, err
	}
	if rd.o.symmetrise && rd.info.general() {
		a.set(symmetrise(a.rows(), rd.e, rule, rd.o.threads))
	}
	rd.o.report(rd.taken())
	return a, nil
}

// openMatrixMarket reads the header of a file and the names beside it.
func openMatrixMarket[T comparable](r io.Reader, o *readOptions, e element[T]) (*mmReader[T], sides, error) {
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
	rd := &mmReader[T]{o: o, info: &info, e: e, src: src, taken: taken}
	rd.scan = scannerFor(e, info.fieldKind(), o)
	return rd, labels, nil
}

// mmReader reads the lines after the header.
type mmReader[T comparable] struct {
	o     *readOptions
	info  *Info
	e     element[T]
	src   *chunk.Source
	taken func() int64
	scan  scanner[T]
}

// mmBlock holds the entries of a block of lines.
type mmBlock[T any] struct {
	block   chunk.Block
	tuples  sparse.Tuples[T]
	entries int64       // listed in the file, without mirror images
	err     *ParseError // of the first bad line
}

// coordinates reads the lines "row column value".
func (rd *mmReader[T]) coordinates(dup Combiner[T]) (*Matrix[T], error) {
	b := NewBuilder[T](rd.info.Rows, rd.info.Cols)
	rd.o.sorts(&b.threads, &b.sorted)
	err := rd.entries(func(t sparse.Tuples[T]) {
		if rd.lower(dup) {
			toLower(t)
		}
		b.AddBlock(t.Row, t.Col, t.Val)
		rd.o.report(rd.taken())
	})
	if err != nil {
		return nil, err
	}
	a, err := b.Build(dup)
	return a, rd.o.duplicate(err)
}

// lower reports whether dup combines the entries of both directions.
func (rd *mmReader[T]) lower(dup Combiner[T]) bool {
	return rd.o.symmetrise && dup != nil && rd.info.general()
}

// entries reads the lines to the end of the file, and checks their number.
func (rd *mmReader[T]) entries(keep func(sparse.Tuples[T])) error {
	var n int64
	err := chunk.Read(rd.o.ctx, rd.src, rd.o.threads, rd.parse, func(r mmBlock[T]) error {
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

func (rd *mmReader[T]) tooFew(n int64, what string) error {
	return rd.o.fail(rd.src.At(), fmt.Sprintf("the file ends after %d of %d %s", n, rd.info.Entries, what),
		"the file is truncated, or its size line is wrong")
}

// duplicate wraps a *DuplicateError of the builder in a *ParseError.
func (o *readOptions) duplicate(err error) error {
	var d *DuplicateError
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
func (rd *mmReader[T]) parse(b chunk.Block) (r mmBlock[T]) {
	r.block = b
	lines := min(bytes.Count(b.Data, []byte{'\n'}), len(b.Data)/4+1) // "1 1\n" is the shortest
	if !rd.info.general() {
		lines *= 2
	}
	t := sparse.Tuples[T]{Row: make([]int32, 0, lines), Col: make([]int32, 0, lines), Val: make([]T, 0, lines)}
	var (
		d       = b.Data
		p       int
		values  = rd.info.Field != "pattern"
		general = rd.info.general()
		rows    = uint64(rd.info.Rows)
		cols    = uint64(rd.info.Cols)
		v       = rd.e.one
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
		t.Row = append(t.Row, int32(i-1))
		t.Col = append(t.Col, int32(j-1))
		t.Val = append(t.Val, v)
		if !general && !rd.mirror(&t) {
			r.err = rd.mirrorError(b, start, i == j)
			break
		}
	}
	if len(t.Row) < cap(t.Row)/2 { // many comments or blank lines: free the unused capacity
		t.Row, t.Col, t.Val = append([]int32{}, t.Row...), append([]int32{}, t.Col...), append([]T{}, t.Val...)
	}
	r.tuples = t
	return r
}

// mirror appends the mirror image of the last tuple.
func (rd *mmReader[T]) mirror(t *sparse.Tuples[T]) bool {
	k := len(t.Row) - 1
	i, j, v := t.Row[k], t.Col[k], t.Val[k]
	if rd.info.skew() {
		if i == j {
			return false
		}
		if !rd.o.patternOnly {
			var ok bool
			if v, ok = rd.e.negate(v); !ok {
				return false
			}
		}
	} else if i == j {
		return true
	}
	t.Row = append(t.Row, j)
	t.Col = append(t.Col, i)
	t.Val = append(t.Val, v)
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

func (rd *mmReader[T]) line(b chunk.Block, start int) (number int64, fields [][]byte) {
	text, _, _ := bytes.Cut(b.Data[start:], []byte{'\n'})
	return b.Line + int64(bytes.Count(b.Data[:start], []byte{'\n'})), bytes.Fields(text)
}

func (rd *mmReader[T]) indexError(b chunk.Block, start int) *ParseError {
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
		e.Err = &IndexError{"ReadMatrixMarket", what, int64(min(v, 1<<62)) - 1, int64(limits[k])}
		return e
	}
	return rd.o.fail(line, "the line is malformed", "")
}

func (rd *mmReader[T]) valueError(b chunk.Block, start, at int, f fault) *ParseError {
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

func (rd *mmReader[T]) valueFault(line int64, text string, f fault) *ParseError {
	if f == faultFraction && rd.info.Field == "integer" {
		return rd.o.fail(line, "the value "+text+" in a file of integers", "the banner should say real")
	}
	msg, remedy := rd.o.explain(f, text, rd.e.name(), rd.e.kind)
	return rd.o.failKind(line, msg, remedy)
}

func (rd *mmReader[T]) restError(b chunk.Block, start, at int) *ParseError {
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

func (rd *mmReader[T]) mirrorError(b chunk.Block, start int, diagonal bool) *ParseError {
	line, fields := rd.line(b, start)
	if diagonal {
		return rd.o.fail(line, "an entry on the diagonal of a skew-symmetric matrix", "it is zero by definition: remove the line")
	}
	return rd.valueFault(line, quote(fields[2]), faultSign)
}
