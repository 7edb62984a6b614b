package matrix

import (
	"fmt"
	"io"
	"math"
	"math/bits"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/hiveblas/hiveblas/internal/npy"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// npyPart is the number of items that are read or written at a time.
const npyPart = 1 << 14

// convertFloat converts a number of a binary file by the rules of a real text file.
func (e element[T]) convertFloat(x float64, o *readOptions) (v T, f fault) {
	switch {
	case o.patternOnly:
		return e.one, faultNone
	case (math.IsNaN(x) || math.IsInf(x, 0)) && (!e.isFloat() || !o.allowNaN):
		return v, faultNaN
	case e.kind == reflect.Float32 && !math.IsInf(x, 0) && math.IsInf(float64(float32(x)), 0):
		return v, faultRange
	case e.isFloat():
		return e.ofFloat(x), faultNone
	case x != math.Trunc(x):
		return v, faultFraction
	case math.Abs(x) >= 1<<64:
		return v, faultRange
	}
	return e.convertInt(x < 0, uint64(math.Abs(x)))
}

// convertInt converts ±mag by the rules of an integer text file.
func (e element[T]) convertInt(neg bool, mag uint64) (v T, f fault) {
	switch {
	case e.isFloat():
		if mag != 0 && bits.Len64(mag)-bits.TrailingZeros64(mag) > e.precision() {
			return v, faultInexact
		}
		x := float64(mag)
		if neg {
			x = -x
		}
		return e.ofFloat(x), faultNone
	case e.isBool():
		if mag > 1 || neg && mag != 0 {
			return v, faultBool
		}
		if mag == 1 {
			return e.one, faultNone
		}
		return v, faultNone
	}
	v, ok := e.ofInt(neg, mag)
	if !ok {
		return v, faultRange
	}
	return v, faultNone
}

// npyConverter converts the items of an array to T.
type npyConverter[T comparable] struct {
	s      *npy.Stream
	e      element[T]
	o      *readOptions
	name   string // of the array, for errors
	direct bool   // the bytes of an item are those of a T
	ints   [][]int64
	floats [][]float64 // of each thread
}

func newNPYConverter[T comparable](s *npy.Stream, e element[T], o *readOptions, name string) *npyConverter[T] {
	threads := parallel.Threads(o.threads)
	c := &npyConverter[T]{s: s, e: e, o: o, name: name, ints: make([][]int64, threads), floats: make([][]float64, threads)}
	if hostLittle && s.Little() && s.Width*8 == e.bits() {
		switch s.Kind {
		case 'f':
			c.direct = e.isFloat()
		case 'b':
			c.direct = e.isBool()
		case 'i':
			c.direct = e.isSigned()
		case 'u':
			c.direct = !e.isSigned() && !e.isFloat() && !e.isBool()
		}
	}
	return c
}

// convert makes values of the bytes of items, which may be the memory of the values; at is the
// number of the first item. It runs concurrently; thread is below the number of threads.
func (c *npyConverter[T]) convert(thread int, vals []T, b []byte, at int64) error {
	if c.o.patternOnly {
		for k := range vals {
			vals[k] = c.e.one
		}
		return nil
	}
	if c.direct {
		copy(rawBytes(vals), b)
		if c.e.sound(vals, c.o.allowNaN) {
			return nil
		}
	}
	for part := range slices.Chunk(vals, npyPart) {
		var f fault
		k := -1 // the item that was converted last
		if c.s.Kind == 'f' {
			floats := room(&c.floats[thread], len(part))
			c.s.DecodeFloats(floats, b)
			for k < len(part)-1 && f == faultNone {
				k++
				part[k], f = c.e.convertFloat(floats[k], c.o)
			}
		} else {
			ints := room(&c.ints[thread], len(part))
			c.s.DecodeInts(ints, b)
			for k < len(part)-1 && f == faultNone {
				k++
				neg, mag := c.signed(ints[k])
				part[k], f = c.e.convertInt(neg, mag)
			}
		}
		if f != faultNone {
			return c.fail(f, thread, k, at+int64(k))
		}
		b, at = b[len(part)*c.s.Width:], at+int64(len(part))
	}
	return nil
}

// signed returns the sign and the magnitude of an integer as it was decoded.
func (c *npyConverter[T]) signed(x int64) (neg bool, mag uint64) {
	if x < 0 && (c.s.Kind != 'u' || c.s.Width != 8) {
		return true, -uint64(x)
	}
	return false, uint64(x)
}

// fail returns the error of item k of those that a thread has decoded, item at of the array.
func (c *npyConverter[T]) fail(f fault, thread, k int, at int64) error {
	text := ""
	if c.s.Kind == 'f' {
		text = fmt.Sprint(c.floats[thread][k])
	} else if neg, mag := c.signed(c.ints[thread][k]); neg {
		text = fmt.Sprint(-int64(mag))
	} else {
		text = fmt.Sprint(mag)
	}
	msg, kind := f.explain(text, c.e.name(), c.e.kind)
	return c.o.failKind(0, fmt.Sprintf("item %d of %s: %s", at, c.name, msg), kind)
}

// sound reports whether values whose bytes are those of a file are values of T, and finite unless
// NaN is allowed.
func (e element[T]) sound(vals []T, allowNaN bool) bool {
	switch {
	case e.isBool():
		return !slices.ContainsFunc(rawBytes(vals), func(x byte) bool { return x > 1 })
	case e.isFloat() && !allowNaN:
		return !slices.ContainsFunc(vals, func(v T) bool { x := e.asFloat(v); return x-x != 0 })
	}
	return true
}

// room returns n items, in a slice that grows.
func room[E any](buf *[]E, n int) []E {
	if cap(*buf) < n {
		*buf = make([]E, n)
	}
	return (*buf)[:n]
}

// allOf reports whether all items are x.
func allOf[E comparable](items []E, x E, threads int) bool {
	var other atomic.Bool
	_ = parallel.Range(nil, threads, len(items), binaryChunk, func(_, lo, hi int) {
		if !other.Load() && slices.ContainsFunc(items[lo:hi], func(y E) bool { return y != x }) {
			other.Store(true)
		}
	})
	return !other.Load()
}

// ascends reports whether items are in ascending order.
func ascends(items []int64, threads int) bool {
	var wrong atomic.Bool
	_ = parallel.Range(nil, threads, len(items), binaryChunk, func(_, lo, hi int) {
		if !slices.IsSorted(items[max(lo-1, 0):hi]) {
			wrong.Store(true)
		}
	})
	return !wrong.Load()
}

// damagedArray is the error of an array that cannot be read.
func (o *readOptions) damagedArray(name string, err error) error {
	e := o.fail(0, name+": "+err.Error(), "")
	e.Err = err
	return e
}

// field names the kind of values of an array.
func npyField(s *npy.Stream) string {
	switch s.Kind {
	case 'f':
		return "real"
	case 'b':
		return "pattern"
	}
	return "integer"
}

// ReadNPY reads a two-dimensional NumPy array of numbers or Booleans (.npy) as a matrix whose
// entries are the items that are not zero, or with [KeepZeros] all items. A fraction is
// no value of an integer type, an integer must be exact in a float type, and NaN and infinities
// need [AllowNaN]. All threads read an *os.File. Errors are a *[ParseError] that numbers the item.
// Memory grows with the entries.
func ReadNPY[T Element](r io.Reader, opts ...ReadOption) (*Matrix[T], error) {
	a, _, err := readPlaced(r, readOptionsOf(opts), readNPY[T])
	return a, err
}

func readNPY[T comparable](r io.Reader, o *readOptions) (*Matrix[T], sides, error) {
	g, err := newGraphEdges[T]("matrix.ReadNPY", r, o)
	if err != nil {
		return nil, sides{}, err
	}
	plain := o.plainFile(r)
	var place *cursor
	if plain != nil {
		place = &cursor{plain.at, plain.from}
		r = place
		if plain.seek != nil {
			defer func() { _, _ = plain.seek.Seek(place.next, io.SeekStart) }() // the array is read
		}
	}
	s, err := npy.Open(r)
	if err != nil {
		return nil, sides{}, o.fail(0, err.Error(), "")
	}
	switch {
	case len(s.Shape) != 2:
		return nil, sides{}, o.fail(0, fmt.Sprintf("the array has %d dimensions, want two: rows and columns", len(s.Shape)), "")
	case s.Kind == 'U' || s.Kind == 'S':
		return nil, sides{}, o.fail(0, "the items are text, want numbers", "")
	case s.Shape[0] > MaxDim || s.Shape[1] > MaxDim:
		e := o.fail(0, fmt.Sprintf("the array is %d×%d, at most %d rows and columns are possible", s.Shape[0], s.Shape[1], MaxDim), "")
		e.Err = &SizeError{"ReadNPY", "dimension", int64(max(s.Shape[0], s.Shape[1])), MaxDim}
		return nil, sides{}, e
	}
	m, n, w := s.Shape[0], s.Shape[1], int64(s.Width)
	d := &denseItems[T]{npyConverter: newNPYConverter(s, g.e, o, "the array"), line: n}
	if s.Fortran {
		d.line = m
	}
	d.vals = make([][]T, len(d.ints))
	if items := int64(s.Len()); plain != nil && items <= (plain.size-place.next)/w {
		blocks := make([]graphEdges[T], items*w/o.pieceOf(filePiece, w)+1)
		_, err = plain.readPieces(o, filePieces{from: place.next, bytes: items * w, width: w,
			done: func(thread int, b []byte, lo int64) error {
				return d.add(&blocks[lo/o.pieceOf(filePiece, w)], thread, b, lo/w)
			},
			failed: func(err error) error { return o.damagedArray("the array", err) },
		})
		for _, b := range blocks {
			g.blocks, g.count = append(g.blocks, b.blocks...), g.count+b.count
		}
		place.next += items * w
	} else {
		err = d.stream(g)
	}
	if err != nil {
		return nil, sides{}, err
	}
	g.describe("NumPy array", npyField(s), "general", m, n)
	return g.finish(m, n, sides{}, false)
}

// denseItems makes entries of the items of a dense array, of those that are not zero without
// KeepZeros.
type denseItems[T comparable] struct {
	*npyConverter[T]
	line int // items of a row, or of a column of an array by columns
	vals [][]T
}

// add adds the entries among items given by their bytes, of which the first is item at.
func (d *denseItems[T]) add(to *graphEdges[T], thread int, b []byte, at int64) error {
	w := d.s.Width
	vals := room(&d.vals[thread], len(b)/w)
	if err := d.convert(thread, vals, b, at); err != nil {
		return err
	}
	var zero T
	for k, v := range vals {
		if !d.o.keepZeros && (v == zero || d.o.patternOnly && d.s.Zero(b[k*w:(k+1)*w])) {
			continue
		}
		i, j := int32((int(at)+k)/d.line), int32((int(at)+k)%d.line)
		if d.s.Fortran {
			i, j = j, i
		}
		to.add(i, j, v)
	}
	return nil
}

// stream adds the entries of an array that is read in order.
func (d *denseItems[T]) stream(to *graphEdges[T]) error {
	for at := int64(0); d.s.Len() > 0; {
		if err := d.o.stopped(); err != nil {
			return err
		}
		b, err := d.s.Next(npyPart)
		if err != nil {
			return d.o.damagedArray(d.name, err)
		}
		if err := d.add(to, 0, b, at); err != nil {
			return err
		}
		at += int64(len(b) / d.s.Width)
	}
	return nil
}

// npyKind returns the type of items that hold T.
func (e element[T]) npyKind() string {
	switch {
	case e.isBool():
		return "|b1"
	case e.isFloat():
		return fmt.Sprintf("<f%d", e.fileWidth())
	case e.isSigned():
		return fmt.Sprintf("<i%d", e.fileWidth())
	}
	return fmt.Sprintf("<u%d", e.fileWidth())
}

// writeItems writes items in the form of an array, little-endian.
func writeItems[E comparable](w io.Writer, items []E, width int) error {
	var buf []byte
	for len(items) > 0 {
		part := items[:min(npyPart, len(items))]
		items = items[len(part):]
		b := rawBytes(part)
		if !hostLittle || len(b) != len(part)*width {
			buf = encode(buf[:0], part, width)
			b = buf
		}
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	return nil
}

// WriteNPY writes a as a two-dimensional NumPy array (.npy), with zero where a has no entry.
func WriteNPY[T Element](w io.Writer, a *Matrix[T], opts ...WriteOption) error {
	const op = "matrix.WriteNPY"
	if a.Err() != nil {
		return a.Err()
	}
	if w == nil {
		return nilWriter(op)
	}
	e, _ := elementOf[T]()
	m, n := a.Dims()
	if err := checkCells(op, m, n); err != nil {
		return err
	}
	o := writeOptionsOf(opts)
	o.size = int64(m) * int64(n) * int64(e.fileWidth())
	out := &reportingWriter{w: w, o: &o.common}
	if _, err := out.Write(npy.AppendHeader(nil, e.npyKind(), fmt.Sprintf("(%d, %d)", m, n))); err != nil {
		return err
	}
	st, k := a.rows(), 0
	row := make([]T, n)
	for i := range m {
		clear(row)
		if k < st.Vecs() && st.RowID(k) == i {
			for p := st.Ptr[k]; p < st.Ptr[k+1]; p++ {
				row[st.Idx[p]] = st.Val[p]
			}
			k++
		}
		if err := writeItems(out, row, e.fileWidth()); err != nil {
			return err
		}
	}
	return nil
}

// WriteVectorNPY writes v as a one-dimensional NumPy array (.npy). A vector without an entry
// everywhere is an *[OptionError]: an array has a value at each position.
func WriteVectorNPY[T Element](w io.Writer, v *Vector[T], opts ...WriteOption) error {
	const op = "matrix.WriteVectorNPY"
	if err := v.Err(); err != nil {
		return err
	}
	if w == nil {
		return nilWriter(op)
	}
	if missing := int64(v.Size()) - v.NVals(); missing > 0 {
		return &OptionError{Op: op, Option: "InFormat", Reason: fmt.Sprintf("an array has a value everywhere, and %d of %d positions have none", missing, v.Size()), Kind: RemedyLists}
	}
	e, _ := elementOf[T]()
	out := &reportingWriter{w: w, o: &writeOptionsOf(opts).common}
	if _, err := out.Write(npy.AppendHeader(nil, e.npyKind(), fmt.Sprintf("(%d,)", v.Size()))); err != nil {
		return err
	}
	return writeItems(out, sparse.ToSparse(v.m.rows1()).Val, e.fileWidth())
}

// npyNames appends the array of labels: integers, or text of the width of the longest name.
func (l *Labels) npyNames(op string, n int) (buf []byte, err error) {
	shape := fmt.Sprintf("(%d,)", n)
	if l.numeric {
		buf = npy.AppendHeader(nil, "<i8", shape)
		for i := range n {
			buf = appendUint64(buf, uint64(l.id(i)))
		}
		return buf, nil
	}
	width := 1
	for _, name := range l.names[:n] {
		width = max(width, len([]rune(name)))
	}
	if size := int64(width) * 4 * int64(n); size > 1<<31 {
		return nil, &OptionError{Op: op, Option: "WithLabels", Reason: fmt.Sprintf("an array of %d names of up to %d letters takes %d bytes, the limit is 2 GiB", n, width, size)}
	}
	buf = npy.AppendHeader(nil, fmt.Sprintf("<U%d", width), shape)
	for _, name := range l.names[:n] {
		runes := []rune(name)
		for _, c := range runes {
			buf = append(buf, byte(c), byte(c>>8), byte(c>>16), 0)
		}
		buf = append(buf, strings.Repeat("\x00", 4*(width-len(runes)))...)
	}
	return buf, nil
}

func appendUint64(buf []byte, x uint64) []byte {
	for range 8 {
		buf = append(buf, byte(x))
		x >>= 8
	}
	return buf
}
