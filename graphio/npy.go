package graphio

import (
	"fmt"
	"io"
	"math"
	"math/bits"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/hiveblas/hiveblas/internal/hgb"
	"github.com/hiveblas/hiveblas/internal/npy"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/pieces"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// npyPart is the number of items that are read or written at a time.
const npyPart = 1 << 14

// convertFloat converts a number of a binary file by the rules of a real text file.
func (e element) convertFloat(x float64, o *readOptions) (v uint64, f fault) {
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
func (e element) convertInt(neg bool, mag uint64) (v uint64, f fault) {
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
		return 0, faultRange
	}
	return v, faultNone
}

// npyConverter converts the items of an array to values of the element type.
type npyConverter struct {
	s      *npy.Stream
	e      element
	o      *readOptions
	name   string // of the array, for errors
	direct bool   // the bytes of an item are those of a value
	ints   [][]int64
	floats [][]float64 // of each thread
}

func newNPYConverter(s *npy.Stream, o *readOptions, name string) *npyConverter {
	e, threads := o.e, parallel.Threads(o.threads)
	c := &npyConverter{s: s, e: e, o: o, name: name, ints: make([][]int64, threads), floats: make([][]float64, threads)}
	if hgb.HostLittle && s.Little() && s.Width*8 == e.bits() {
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
func (c *npyConverter) convert(thread int, vals sparse.Values, b []byte, at int64) error {
	t := c.e.t
	if c.o.patternOnly {
		t.Fill(vals, t.True)
		return nil
	}
	if c.direct {
		copy(hgb.Bytes(t, vals), b)
		if c.e.sound(vals, c.o.allowNaN) {
			return nil
		}
	}
	for lo, n := 0, vals.Len(); lo < n; lo += npyPart {
		count := min(npyPart, n-lo)
		var f fault
		k := -1 // the item that was converted last
		var v uint64
		if c.s.Kind == 'f' {
			floats := grown(&c.floats[thread], count)
			c.s.DecodeFloats(floats, b)
			for k < count-1 && f == faultNone {
				k++
				v, f = c.e.convertFloat(floats[k], c.o)
				c.e.store(vals, int64(lo+k), v)
			}
		} else {
			ints := grown(&c.ints[thread], count)
			c.s.DecodeInts(ints, b)
			for k < count-1 && f == faultNone {
				k++
				neg, mag := c.signed(ints[k])
				v, f = c.e.convertInt(neg, mag)
				c.e.store(vals, int64(lo+k), v)
			}
		}
		if f != faultNone {
			return c.fail(f, thread, k, at+int64(k))
		}
		b, at = b[count*c.s.Width:], at+int64(count)
	}
	return nil
}

// signed returns the sign and the magnitude of an integer as it was decoded.
func (c *npyConverter) signed(x int64) (neg bool, mag uint64) {
	if x < 0 && (c.s.Kind != 'u' || c.s.Width != 8) {
		return true, -uint64(x)
	}
	return false, uint64(x)
}

// fail returns the error of item k of those that a thread has decoded, item at of the array.
func (c *npyConverter) fail(f fault, thread, k int, at int64) error {
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

// sound reports whether values whose bytes are those of a file are values of the type, and finite
// unless NaN is allowed.
func (e element) sound(vals sparse.Values, allowNaN bool) bool {
	switch {
	case e.isBool():
		return !slices.ContainsFunc(hgb.Bytes(e.t, vals), func(x byte) bool { return x > 1 })
	case e.isFloat() && !allowNaN:
		return e.finite(vals)
	}
	return true
}

// finite reports whether no float is NaN or infinite.
func (e element) finite(vals sparse.Values) bool {
	if e.kind == reflect.Float32 {
		return !slices.ContainsFunc(sparse.SliceOf[float32](vals), func(x float32) bool { return x-x != 0 })
	}
	return !slices.ContainsFunc(sparse.SliceOf[float64](vals), func(x float64) bool { return x-x != 0 })
}

// grown returns n items, in a slice that grows.
func grown[E any](buf *[]E, n int) []E {
	if cap(*buf) < n {
		*buf = make([]E, n)
	}
	return (*buf)[:n]
}

// ascends reports whether items are in ascending order.
func ascends(items []int64, threads int) bool {
	var wrong atomic.Bool
	_ = parallel.Range(nil, threads, len(items), hgb.Chunk, func(_, lo, hi int) {
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
func ReadNPY[T matrix.Element](r io.Reader, opts ...ReadOption) (*matrix.Matrix[T], error) {
	a, _, err := readPlaced(r, optionsFor[T](opts), readNPY)
	return matrix.OfInside[T](a), err
}

func readNPY(r io.Reader, o *readOptions) (*sparse.Store, sides, error) {
	g, err := newGraphEdges("graphio.ReadNPY", r, o)
	if err != nil {
		return nil, sides{}, err
	}
	plain := o.plainFile(r)
	var place *pieces.Cursor
	if plain != nil {
		place = &pieces.Cursor{At: plain.At, Next: plain.From}
		r = place
		if plain.Seek != nil {
			defer func() { _, _ = plain.Seek.Seek(place.Next, io.SeekStart) }() // the array is read
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
	case s.Shape[0] > matrix.MaxDim || s.Shape[1] > matrix.MaxDim:
		e := o.fail(0, fmt.Sprintf("the array is %d×%d, at most %d rows and columns are possible", s.Shape[0], s.Shape[1], matrix.MaxDim), "")
		e.Err = &matrix.SizeError{Op: "ReadNPY", Arg: "dimension", Got: int64(max(s.Shape[0], s.Shape[1])), Limit: matrix.MaxDim}
		return nil, sides{}, e
	}
	m, n, w := s.Shape[0], s.Shape[1], int64(s.Width)
	d := &denseItems{npyConverter: newNPYConverter(s, o, "the array"), line: n}
	if s.Fortran {
		d.line = m
	}
	d.vals = make([]sparse.Values, len(d.ints))
	if items := int64(s.Len()); plain != nil && items <= (plain.Size-place.Next)/w {
		per := pieces.Of(pieces.Size, w, o.piece)
		blocks := make([]graphEdges, items*w/per+1)
		_, err = plain.Read(pieces.Read{Context: o.ctx, Threads: o.threads, Piece: o.piece, From: place.Next, Bytes: items * w, Width: w,
			Done: func(thread int, b []byte, lo int64) error {
				to := &blocks[lo/per]
				to.e = o.e
				err := d.add(to, thread, b, lo/w)
				to.flush()
				return err
			},
			Failed: func(err error) error { return o.damagedArray("the array", err) },
		})
		for _, b := range blocks {
			g.blocks, g.count = append(g.blocks, b.blocks...), g.count+b.count
		}
		place.Next += items * w
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
type denseItems struct {
	*npyConverter
	line int             // items of a row, or of a column of an array by columns
	vals []sparse.Values // of each thread
}

// add adds the entries among items given by their bytes, of which the first is item at.
func (d *denseItems) add(to *graphEdges, thread int, b []byte, at int64) error {
	w, n := d.s.Width, len(b)/d.s.Width
	vals := d.e.t.Grow(d.vals[thread], n)
	d.vals[thread] = vals
	if err := d.convert(thread, vals, b, at); err != nil {
		return err
	}
	for k := range n {
		v := d.e.at(vals, int64(k))
		if !d.o.keepZeros && (d.e.isZero(v) || d.o.patternOnly && d.s.Zero(b[k*w:(k+1)*w])) {
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
func (d *denseItems) stream(to *graphEdges) error {
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

// npyKind returns the type of items that hold values of the element type.
func (e element) npyKind() string {
	switch {
	case e.isBool():
		return "|b1"
	case e.isFloat():
		return fmt.Sprintf("<f%d", e.item().Width)
	case e.isSigned():
		return fmt.Sprintf("<i%d", e.item().Width)
	}
	return fmt.Sprintf("<u%d", e.item().Width)
}

// writeItems writes items in the form of an array, little-endian.
func writeItems(w io.Writer, e hgb.Item, items sparse.Values) error {
	for at, n := int64(0), int64(items.Len()); at < n; at += npyPart {
		if _, err := w.Write(e.Encoded(nil, e.Type.Slice(items, at, min(at+npyPart, n)))); err != nil {
			return err
		}
	}
	return nil
}

// WriteNPY writes a as a two-dimensional NumPy array (.npy), with zero where a has no entry.
func WriteNPY[T matrix.Element](w io.Writer, a *matrix.Matrix[T], opts ...WriteOption) error {
	return writeNPY(w, a.Inside().Matrix, writeOptionsOf(opts))
}

func writeNPY(w io.Writer, a rep.Matrix, o *writeOptions) error {
	const op = "graphio.WriteNPY"
	st, err := rowsOf(a)
	if err != nil {
		return err
	}
	if w == nil {
		return nilWriter(op)
	}
	e := elementOf(st.Type)
	m, n := st.NRows, st.NCols
	if err := checkCells(op, m, n); err != nil {
		return err
	}
	o.size = int64(m) * int64(n) * int64(e.item().Width)
	out := &reportingWriter{w: w, o: &o.common}
	if _, err := out.Write(npy.AppendHeader(nil, e.npyKind(), fmt.Sprintf("(%d, %d)", m, n))); err != nil {
		return err
	}
	row, k := e.t.Make(int64(n)), 0
	for i := range m {
		e.t.Clear(row)
		if k < st.Vecs() && st.RowID(k) == i {
			lo, hi := st.Ptr[k], st.Ptr[k+1]
			e.t.Move(row, st.Idx[lo:hi], st.Part(lo, hi), nil)
			k++
		}
		if err := writeItems(out, e.item(), row); err != nil {
			return err
		}
	}
	return nil
}

// WriteVectorNPY writes v as a one-dimensional NumPy array (.npy). A vector without an entry
// everywhere is an *[OptionError]: an array has a value at each position.
func WriteVectorNPY[T matrix.Element](w io.Writer, v *matrix.Vector[T], opts ...WriteOption) error {
	return writeVectorNPY(w, v.Inside().Matrix, writeOptionsOf(opts))
}

func writeVectorNPY(w io.Writer, v rep.Matrix, o *writeOptions) error {
	const op = "graphio.WriteVectorNPY"
	st, err := rowsOf(v)
	if err != nil {
		return err
	}
	if w == nil {
		return nilWriter(op)
	}
	if missing := int64(st.NCols) - st.NVals; missing > 0 {
		return &OptionError{Op: op, Option: "InFormat", Reason: fmt.Sprintf("an array has a value everywhere, and %d of %d positions have none", missing, st.NCols), Kind: RemedyLists}
	}
	e := elementOf(st.Type)
	out := &reportingWriter{w: w, o: &o.common}
	if _, err := out.Write(npy.AppendHeader(nil, e.npyKind(), fmt.Sprintf("(%d,)", st.NCols))); err != nil {
		return err
	}
	return writeItems(out, e.item(), st.Val)
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
