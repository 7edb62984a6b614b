package matrix

import (
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"

	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// WriteMatrixMarket writes a in Matrix Market format: general coordinates by
// rows, unless [AsArray], [AsSymmetric] or [AsPattern] change that. The field is
// “real” for floats, in the shortest form that reads back as the same value, and
// “integer” for integers. A bool matrix is a “pattern” if all its entries are true,
// else “integer” with 0 and 1. Reading the file into T returns an equal matrix (with
// [AllowNaN] if it has NaN or infinities). An option that does not suit the matrix
// is an *[OptionError], and nothing is written.
func WriteMatrixMarket[T Element](w io.Writer, a *Matrix[T], opts ...WriteOption) error {
	return writeMatrixMarket(w, a, writeOptionsOf(opts))
}

// WriteVectorMatrixMarket writes v as a matrix of one column; see
// [WriteMatrixMarket].
func WriteVectorMatrixMarket[T Element](w io.Writer, v *Vector[T], opts ...WriteOption) error {
	a, err := v.column()
	if err != nil {
		return err
	}
	o := writeOptionsOf(opts)
	o.cols = nil // of the one column
	return writeMatrixMarket(w, a, o)
}

// column returns v as an n×1 matrix.
func (v *Vector[T]) column() (*Matrix[T], error) {
	if err := v.Err(); err != nil {
		return nil, err
	}
	return fromStore(sparse.Settle(sparse.Transpose(v.m.rows1(), 0))), nil
}

// rows1 is rows for the 1×n matrix of a Vector, whose zero value is 1×0.
func (a *Matrix[T]) rows1() *sparse.Typed[T] {
	if a.inside().unset() {
		return a.stored1()
	}
	return a.rows()
}

// ReadVectorMatrixMarket reads a Matrix Market file of one column or one row
// as a vector; see [ReadMatrixMarket].
func ReadVectorMatrixMarket[T Element](r io.Reader, opts ...ReadOption) (*Vector[T], error) {
	o := readOptionsOf(opts)
	a, err := ReadMatrixMarket[T](r, append(opts[:len(opts):len(opts)], On(nil), KeepZeros())...)
	if err != nil {
		return placedVector[T](o, nil, err)
	}
	v, err := a.asVector(o)
	return placedVector(o, v, err)
}

// asVector returns a matrix of one row or one column as a vector.
func (a *Matrix[T]) asVector(o *readOptions) (*Vector[T], error) {
	m, n := a.Dims()
	switch {
	case n == 1 && m != 1:
		st := a.stored()
		if !st.Sparse() { // one column: its values are those of the row
			t := *st
			t.NRows, t.NCols = 1, m
			return vectorFromStore(&t), nil
		}
		return vectorFromStore(sparse.ToCSR(sparse.Transpose(st, 0))), nil
	case m == 1:
		st := a.stored()
		if st.Sparse() {
			st = sparse.ToCSR(st)
		}
		return vectorFromStore(st), nil
	}
	return nil, o.fail(0, fmt.Sprintf("the matrix is %d×%d, want one column or one row for a vector", m, n), "")
}

// pieceEntries is the number of entries formatted at a time by one goroutine.
const pieceEntries = 1 << 15

func writeMatrixMarket[T comparable](w io.Writer, a *Matrix[T], o *writeOptions) error {
	if a.Err() != nil {
		return a.Err()
	}
	if w == nil {
		return nilWriter("matrix.WriteMatrixMarket")
	}
	e, ok := elementOf[T]()
	if !ok {
		return e.refused("matrix.WriteMatrixMarket")
	}
	m, n := a.Dims()
	st := a.rows()
	field := "integer"
	switch {
	case e.isFloat():
		field = "real"
	case e.isBool() && allTrue(e, st.Val):
		field = "pattern"
	}
	if o.pattern {
		field = "pattern"
	}
	layout, symmetry := "coordinate", "general"
	if o.array {
		cells, ok := sparse.Cells(m, n)
		if !ok || a.NVals() != int64(cells) {
			return &OptionError{Op: "matrix.WriteMatrixMarket", Option: "AsArray",
				Reason: fmt.Sprintf("an array has a value at each of its %d×%d positions, this matrix has %d; write it as coordinates", m, n, a.NVals())}
		}
		if o.pattern {
			return &OptionError{Op: "matrix.WriteMatrixMarket", Option: "AsArray", Reason: "AsArray and AsPattern exclude each other"}
		}
		layout = "array"
		if field == "pattern" {
			field = "integer"
		}
	}
	nvals := a.NVals()
	if o.symmetric {
		if nvals, ok = lowerOf(a, st); !ok {
			return asymmetry(a)
		}
		symmetry = "symmetric"
	}
	names, err := o.sidecars("matrix.WriteMatrixMarket", m, n)
	if err != nil {
		return err
	}
	out := &reportingWriter{w: w, o: &o.common}
	var head strings.Builder
	fmt.Fprintf(&head, "%%%%MatrixMarket matrix %s %s %s\n", layout, field, symmetry)
	for _, s := range names {
		writeComment(&head, "%", s.comment())
	}
	writeComment(&head, "%", o.comment)
	if o.array {
		fmt.Fprintf(&head, "%d %d\n", m, n)
	} else {
		fmt.Fprintf(&head, "%d %d %d\n", m, n, nvals)
	}
	if _, err := io.WriteString(out, head.String()); err != nil {
		return err
	}
	text := e.appender()
	if o.array {
		// The columns of a are the rows of its transpose. The lower triangle of a
		// symmetric matrix by columns is the upper triangle by rows.
		t := sparse.Transpose(st, o.threads)
		err = writeRows(out, t, o, func(buf []byte, i int, j int32, v T) []byte {
			if o.symmetric && int(j) < i {
				return buf
			}
			return append(text(buf, v), '\n')
		})
	} else {
		entry := coordinates(e, field == "pattern")
		err = writeRows(out, st, o, func(buf []byte, i int, j int32, v T) []byte {
			if o.symmetric && int(j) > i {
				return buf
			}
			return entry(buf, i, j, v)
		})
	}
	if err != nil {
		return err
	}
	return o.writeSidecars(w, names)
}

// writeRows formats every entry of a sparse st with entry, in order, several
// rows at a time.
func writeRows[T comparable](w io.Writer, st *sparse.Typed[T], o *writeOptions, entry func(buf []byte, i int, j int32, v T) []byte) error {
	pieces := int(st.NVals/pieceEntries) + 1
	bounds := parallel.Cut(o.threads, st.Ptr, pieces, 1)
	return o.writePieces(w, len(bounds)-1, st.NVals, func(piece int, buf []byte) []byte {
		for k := bounds[piece]; k < bounds[piece+1]; k++ {
			i := st.RowID(k)
			lo, hi := st.Ptr[k], st.Ptr[k+1]
			vals := st.Val[lo:hi]
			for p, j := range st.Idx[lo:hi] {
				buf = entry(buf, i, j, vals[p])
			}
		}
		return buf
	})
}

func writeComment(b *strings.Builder, mark, text string) {
	if text == "" {
		return
	}
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		b.WriteString(mark)
		b.WriteByte(' ')
		b.WriteString(strings.TrimRight(line, "\r"))
		b.WriteByte('\n')
	}
}

func allTrue[T comparable](e element[T], vals []T) bool {
	for _, v := range vals {
		if v != e.one {
			return false
		}
	}
	return true
}

// lowerOf counts the entries on and below the diagonal of a symmetric a.
func lowerOf[T comparable](a *Matrix[T], st *sparse.Typed[T]) (n int64, symmetric bool) {
	if st.NRows != st.NCols || !sameEntries(st, a.cols()) {
		return 0, false
	}
	for k := range st.Vecs() {
		i := int32(st.RowID(k))
		for _, j := range st.Idx[st.Ptr[k]:st.Ptr[k+1]] {
			if j > i {
				break
			}
			n++
		}
	}
	return n, true
}

// sameEntries reports whether x and y have the same entries; NaN equals NaN.
func sameEntries[T comparable](x, y *sparse.Typed[T]) bool {
	same := func(v, w T) bool { return v == w || (v != v && w != w) }
	return fromStore(x).EqualFunc(fromStore(y), same)
}

// asymmetry returns the error of the first entry that differs from its mirror.
func asymmetry[T comparable](a *Matrix[T]) error {
	asymmetric := func(format string, args ...any) error {
		return &OptionError{Op: "matrix.WriteMatrixMarket", Option: "AsSymmetric", Reason: fmt.Sprintf(format, args...), Kind: RemedyNoSymmetric}
	}
	m, n := a.Dims()
	if m != n {
		return asymmetric("a symmetric matrix is square, this one is %d×%d", m, n)
	}
	for c, v := range a.All() {
		w, ok := a.At(c.Col, c.Row)
		switch {
		case !ok:
			return asymmetric("the matrix is not symmetric: (%d, %d) has an entry, (%d, %d) has none", c.Row, c.Col, c.Col, c.Row)
		case v != w && (v == v || w == w):
			return asymmetric("the matrix is not symmetric: (%d, %d) is %v, (%d, %d) is %v", c.Row, c.Col, v, c.Col, c.Row, w)
		}
	}
	return asymmetric("the matrix is not symmetric")
}

// appender returns the function that appends the text of a value. Integers are
// exact, floats in the shortest form that reads back as the same value.
func (e element[T]) appender() func(buf []byte, v T) []byte {
	if e.isFloat() {
		bits := e.bits()
		return func(buf []byte, v T) []byte {
			x := e.asFloat(v)
			switch {
			case x != x:
				return append(buf, "nan"...)
			case x > maxFloat:
				return append(buf, "inf"...)
			case x < -maxFloat:
				return append(buf, "-inf"...)
			}
			return strconv.AppendFloat(buf, x, 'g', -1, bits)
		}
	}
	if e.kind == reflect.Bool {
		return func(buf []byte, v T) []byte {
			if v == e.one {
				return append(buf, '1')
			}
			return append(buf, '0')
		}
	}
	return func(buf []byte, v T) []byte {
		neg, mag := e.asInt(v)
		if neg {
			buf = append(buf, '-')
		}
		return strconv.AppendUint(buf, mag, 10)
	}
}

const maxFloat = 0x1p1023 * (1 + (1 - 0x1p-52))
