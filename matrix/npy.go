package matrix

import (
	"fmt"
	"io"
	"math"
	"math/bits"
	"reflect"
	"strings"

	"github.com/hiveblas/hiveblas/internal/npy"
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

// npyValues reads the items of an array as values of T.
type npyValues[T comparable] struct {
	s      *npy.Stream
	e      element[T]
	o      *readOptions
	name   string // of the array, for errors
	ints   []int64
	floats []float64
	vals   []T
	at     int64 // items read
}

func newNPYValues[T comparable](s *npy.Stream, e element[T], o *readOptions, name string) *npyValues[T] {
	return &npyValues[T]{s: s, e: e, o: o, name: name, vals: make([]T, npyPart)}
}

// next returns the next items, none after the last.
func (r *npyValues[T]) next() (vals []T, err error) {
	if err := r.o.stopped(); err != nil {
		return nil, err
	}
	n := 0
	if r.s.Kind == 'f' {
		if r.floats == nil {
			r.floats = make([]float64, npyPart)
		}
		n, err = r.s.Floats(r.floats)
	} else {
		if r.ints == nil {
			r.ints = make([]int64, npyPart)
		}
		n, err = r.s.Ints(r.ints)
	}
	if err != nil {
		return nil, r.o.damagedArray(r.name, err)
	}
	unsigned := r.s.Kind == 'u' && r.s.Width == 8
	for k := range n {
		var f fault
		if r.s.Kind == 'f' {
			r.vals[k], f = r.e.convertFloat(r.floats[k], r.o)
		} else {
			x := r.ints[k]
			neg, mag := x < 0, uint64(x)
			if neg = neg && !unsigned; neg {
				mag = -mag
			}
			if r.vals[k], f = r.e.one, faultNone; !r.o.patternOnly {
				r.vals[k], f = r.e.convertInt(neg, mag)
			}
		}
		if f != faultNone {
			text := ""
			switch {
			case r.s.Kind == 'f':
				text = fmt.Sprint(r.floats[k])
			case unsigned:
				text = fmt.Sprint(uint64(r.ints[k]))
			default:
				text = fmt.Sprint(r.ints[k])
			}
			msg, kind := f.explain(text, r.e.name(), r.e.kind)
			return nil, r.o.failKind(0, fmt.Sprintf("item %d of %s: %s", r.at+int64(k), r.name, msg), kind)
		}
	}
	r.at += int64(n)
	return r.vals[:n], nil
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
// entries are the items that are not zero, as SciPy and NetworkX read a dense array. A fraction is
// no value of an integer type, an integer must be exact in a float type, and NaN and infinities
// need [AllowNaN]. Errors are a *[ParseError] that numbers the item. Memory grows with the entries.
func ReadNPY[T Element](r io.Reader, opts ...ReadOption) (*Matrix[T], error) {
	a, _, err := readPlaced(r, readOptionsOf(opts), readNPY[T])
	return a, err
}

func readNPY[T comparable](r io.Reader, o *readOptions) (*Matrix[T], sides, error) {
	g, err := newGraphEdges[T]("matrix.ReadNPY", r, o)
	if err != nil {
		return nil, sides{}, err
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
	m, n := s.Shape[0], s.Shape[1]
	width := n
	if s.Fortran {
		width = m
	}
	field := npyField(s)
	values := newNPYValues(s, g.e, o, "the array")
	zeros := *o // zeros are no entries, also with PatternOnly
	zeros.patternOnly = false
	values.o = &zeros
	var zero T
	at := 0
	for s.Len() > 0 {
		vals, err := values.next()
		if err != nil {
			return nil, sides{}, err
		}
		for _, v := range vals {
			if v != zero {
				if o.patternOnly {
					v = g.e.one
				}
				i, j := at/width, at%width
				if s.Fortran {
					i, j = j, i
				}
				g.add(int32(i), int32(j), v)
			}
			at++
		}
	}
	g.describe("NumPy array", field, "general", m, n)
	return g.finish(m, n, sides{}, false)
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
