// Package numpy reads and writes arrays of NumPy, .npy, and sparse matrices of SciPy, .npz.
package numpy

import (
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/hiveblas/hiveblas/graphio/internal/build"
	"github.com/hiveblas/hiveblas/graphio/internal/core"
	"github.com/hiveblas/hiveblas/graphio/internal/numtext"
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

// npyConverter converts the items of an array to values of the element type.
type npyConverter struct {
	s      *npy.Stream
	e      core.Element
	o      *core.ReadOptions
	name   string // of the array, for errors
	direct bool   // the bytes of an item are the bytes of a value
	ints   [][]int64
	floats [][]float64 // of each thread
}

func newNPYConverter(s *npy.Stream, o *core.ReadOptions, name string) *npyConverter {
	e, threads := o.E, parallel.Threads(o.Threads)
	c := &npyConverter{s: s, e: e, o: o, name: name, ints: make([][]int64, threads), floats: make([][]float64, threads)}
	if hgb.HostLittle && s.Little() && s.Width*8 == e.Bits() {
		switch s.Kind {
		case 'f':
			c.direct = e.IsFloat()
		case 'b':
			c.direct = e.IsBool()
		case 'i':
			c.direct = e.IsSigned()
		case 'u':
			c.direct = !e.IsSigned() && !e.IsFloat() && !e.IsBool()
		}
	}
	return c
}

// convert makes values of the bytes of items, which may be the memory of the values; at is the
// number of the first item. It runs concurrently; thread is below the number of threads.
func (c *npyConverter) convert(thread int, vals sparse.Values, b []byte, at int64) error {
	t := c.e.T
	if c.o.PatternOnly {
		t.Fill(vals, t.True)
		return nil
	}
	if c.direct {
		copy(hgb.Bytes(t, vals), b)
		if sound(c.e, vals, c.o.AllowNaN) {
			return nil
		}
	}
	for lo, n := 0, vals.Len(); lo < n; lo += npyPart {
		count := min(npyPart, n-lo)
		var f numtext.Fault
		k := -1 // the item that was converted last
		var v uint64
		if c.s.Kind == 'f' {
			floats := grown(&c.floats[thread], count)
			c.s.DecodeFloats(floats, b)
			for k < count-1 && f == numtext.FaultNone {
				k++
				v, f = numtext.ConvertFloat(c.e, floats[k], c.o)
				c.e.Store(vals, int64(lo+k), v)
			}
		} else {
			ints := grown(&c.ints[thread], count)
			c.s.DecodeInts(ints, b)
			for k < count-1 && f == numtext.FaultNone {
				k++
				neg, mag := c.signed(ints[k])
				v, f = numtext.ConvertInt(c.e, neg, mag)
				c.e.Store(vals, int64(lo+k), v)
			}
		}
		if f != numtext.FaultNone {
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

// fail returns the error of item k that a thread has decoded, item at of the array.
func (c *npyConverter) fail(f numtext.Fault, thread, k int, at int64) error {
	text := ""
	if c.s.Kind == 'f' {
		text = fmt.Sprint(c.floats[thread][k])
	} else if neg, mag := c.signed(c.ints[thread][k]); neg {
		text = fmt.Sprint(-int64(mag))
	} else {
		text = fmt.Sprint(mag)
	}
	msg, kind := f.Explain(text, c.e.Name(), c.e.Kind)
	return c.o.FailKind(0, fmt.Sprintf("item %d of %s: %s", at, c.name, msg), kind)
}

// sound reports whether bytes of a file are values of the type, and finite unless NaN is allowed.
func sound(e core.Element, vals sparse.Values, allowNaN bool) bool {
	switch {
	case e.IsBool():
		return !slices.ContainsFunc(hgb.Bytes(e.T, vals), func(x byte) bool { return x > 1 })
	case e.IsFloat() && !allowNaN:
		return finite(e, vals)
	}
	return true
}

// finite reports whether no float is NaN or infinite.
func finite(e core.Element, vals sparse.Values) bool {
	if e.Kind == reflect.Float32 {
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
func damagedArray(o *core.ReadOptions, name string, err error) error {
	e := o.Fail(0, name+": "+err.Error(), "")
	e.Err = err
	return e
}

// ReadNPY is graphio.ReadNPY.
func ReadNPY(r io.Reader, o *core.ReadOptions) (*sparse.Store, core.Sides, error) {
	g, err := build.NewGraphEdges("graphio.ReadNPY", r, o)
	if err != nil {
		return nil, core.Sides{}, err
	}
	plain := o.PlainFile(r)
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
		return nil, core.Sides{}, o.Fail(0, err.Error(), "")
	}
	switch {
	case len(s.Shape) != 2:
		return nil, core.Sides{}, o.Fail(0, fmt.Sprintf("the array has %d dimensions, want two: rows and columns", len(s.Shape)), "")
	case s.Kind == 'U' || s.Kind == 'S':
		return nil, core.Sides{}, o.Fail(0, "the items are text, want numbers", "")
	case s.Shape[0] > matrix.MaxDim || s.Shape[1] > matrix.MaxDim:
		e := o.Fail(0, fmt.Sprintf("the array is %d×%d, at most %d rows and columns are possible", s.Shape[0], s.Shape[1], matrix.MaxDim), "")
		e.Err = &matrix.SizeError{Op: "ReadNPY", Arg: "dimension", Got: int64(max(s.Shape[0], s.Shape[1])), Limit: matrix.MaxDim}
		return nil, core.Sides{}, e
	}
	m, n, w := s.Shape[0], s.Shape[1], int64(s.Width)
	d := &denseItems{npyConverter: newNPYConverter(s, o, "the array"), line: n}
	if s.Fortran {
		d.line = m
	}
	d.vals = make([]sparse.Values, len(d.ints))
	if items := int64(s.Len()); plain != nil && items <= (plain.Size-place.Next)/w {
		per := pieces.Of(pieces.Size, w, o.Piece)
		blocks := make([]build.GraphEdges, items*w/per+1)
		_, err = plain.Read(pieces.Read{Context: o.Ctx, Threads: o.Threads, Piece: o.Piece, From: place.Next, Bytes: items * w, Width: w,
			Done: func(thread int, b []byte, lo int64) error {
				to := &blocks[lo/per]
				to.E = o.E
				err := d.add(to, thread, b, lo/w)
				to.Flush()
				return err
			},
			Failed: func(err error) error { return damagedArray(o, "the array", err) },
		})
		for _, b := range blocks {
			g.Blocks, g.Count = append(g.Blocks, b.Blocks...), g.Count+b.Count
		}
		place.Next += items * w
	} else {
		err = d.stream(g)
	}
	if err != nil {
		return nil, core.Sides{}, err
	}
	g.Describe("NumPy array", npyField(s), "general", m, n)
	return g.Finish(m, n, core.Sides{}, false)
}

// denseItems makes entries of the items of a dense array, of those that are not zero without
// KeepZeros.
type denseItems struct {
	*npyConverter
	line int             // items of a row, or of a column of an array by columns
	vals []sparse.Values // of each thread
}

// add adds the entries among items given by their bytes. The first one is item at.
func (d *denseItems) add(to *build.GraphEdges, thread int, b []byte, at int64) error {
	w, n := d.s.Width, len(b)/d.s.Width
	vals := d.e.T.Grow(d.vals[thread], n)
	d.vals[thread] = vals
	if err := d.convert(thread, vals, b, at); err != nil {
		return err
	}
	for k := range n {
		v := d.e.At(vals, int64(k))
		if !d.o.KeepZeros && (d.e.IsZero(v) || d.o.PatternOnly && d.s.Zero(b[k*w:(k+1)*w])) {
			continue
		}
		i, j := int32((int(at)+k)/d.line), int32((int(at)+k)%d.line)
		if d.s.Fortran {
			i, j = j, i
		}
		to.Add(i, j, v)
	}
	return nil
}

// stream adds the entries of an array that is read in order.
func (d *denseItems) stream(to *build.GraphEdges) error {
	for at := int64(0); d.s.Len() > 0; {
		if err := d.o.Stopped(); err != nil {
			return err
		}
		b, err := d.s.Next(npyPart)
		if err != nil {
			return damagedArray(d.o, d.name, err)
		}
		if err := d.add(to, 0, b, at); err != nil {
			return err
		}
		at += int64(len(b) / d.s.Width)
	}
	return nil
}

// npyKind returns the type of items that hold values of the element type.
func npyKind(e core.Element) string {
	switch {
	case e.IsBool():
		return "|b1"
	case e.IsFloat():
		return fmt.Sprintf("<f%d", e.Item().Width)
	case e.IsSigned():
		return fmt.Sprintf("<i%d", e.Item().Width)
	}
	return fmt.Sprintf("<u%d", e.Item().Width)
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

// WriteNPY is graphio.WriteNPY.
func WriteNPY(w io.Writer, a rep.Matrix, o *core.WriteOptions) error {
	const op = "graphio.WriteNPY"
	st, err := core.RowsOf(a)
	if err != nil {
		return err
	}
	if w == nil {
		return core.NilWriter(op)
	}
	e := core.ElementOf(st.Type)
	m, n := st.NRows, st.NCols
	if err := core.CheckCells(op, m, n); err != nil {
		return err
	}
	o.Size = int64(m) * int64(n) * int64(e.Item().Width)
	out := &core.ReportingWriter{W: w, O: &o.Common}
	if _, err := out.Write(npy.AppendHeader(nil, npyKind(e), fmt.Sprintf("(%d, %d)", m, n))); err != nil {
		return err
	}
	row, k := e.T.Make(int64(n)), 0
	for i := range m {
		e.T.Clear(row)
		if k < st.Vecs() && st.RowID(k) == i {
			lo, hi := st.Ptr[k], st.Ptr[k+1]
			e.T.Move(row, st.Idx[lo:hi], st.Part(lo, hi), nil)
			k++
		}
		if err := writeItems(out, e.Item(), row); err != nil {
			return err
		}
	}
	return nil
}

// WriteVectorNPY is graphio.WriteVectorNPY.
func WriteVectorNPY(w io.Writer, v rep.Matrix, o *core.WriteOptions) error {
	const op = "graphio.WriteVectorNPY"
	st, err := core.RowsOf(v)
	if err != nil {
		return err
	}
	if w == nil {
		return core.NilWriter(op)
	}
	if missing := int64(st.NCols) - st.NVals; missing > 0 {
		return &core.OptionError{Op: op, Option: "InFormat", Reason: fmt.Sprintf("an array has a value everywhere, and %d of %d positions have none", missing, st.NCols), Kind: core.RemedyLists}
	}
	e := core.ElementOf(st.Type)
	out := &core.ReportingWriter{W: w, O: &o.Common}
	if _, err := out.Write(npy.AppendHeader(nil, npyKind(e), fmt.Sprintf("(%d,)", st.NCols))); err != nil {
		return err
	}
	return writeItems(out, e.Item(), st.Val)
}

// npyNames appends the array of labels: integers, or text of the width of the longest name.
func npyNames(l *core.Labels, op string, n int) (buf []byte, err error) {
	shape := fmt.Sprintf("(%d,)", n)
	if l.Numeric() {
		buf = npy.AppendHeader(nil, "<i8", shape)
		for i := range n {
			buf = appendUint64(buf, uint64(l.IDAt(i)))
		}
		return buf, nil
	}
	width := 1
	for i := range n {
		width = max(width, len([]rune(l.Name(i))))
	}
	if size := int64(width) * 4 * int64(n); size > 1<<31 {
		return nil, &core.OptionError{Op: op, Option: "WithLabels", Reason: fmt.Sprintf("an array of %d names of up to %d letters takes %d bytes, the limit is 2 GiB", n, width, size)}
	}
	buf = npy.AppendHeader(nil, fmt.Sprintf("<U%d", width), shape)
	for i := range n {
		runes := []rune(l.Name(i))
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
