package graphio

import (
	"fmt"
	"io"
	"strings"

	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// WriteMatrixMarket writes a in Matrix Market format: general coordinates by
// rows, unless [AsArray], [AsSymmetric] or [AsPattern] change that. The field is
// “real” for floats, in the shortest form that reads back as the same value, and
// “integer” for integers. A bool matrix is a “pattern” if all its entries are true,
// else “integer” with 0 and 1. Reading the file into T returns an equal matrix (with
// [AllowNaN] if it has NaN or infinities). An option that does not suit the matrix
// is an *[OptionError], and nothing is written.
func WriteMatrixMarket[T matrix.Element](w io.Writer, a *matrix.Matrix[T], opts ...WriteOption) error {
	return writeMatrixMarket(w, a.Inside().Matrix, writeOptionsOf(opts))
}

// WriteVectorMatrixMarket writes v as a matrix of one column; see
// [WriteMatrixMarket].
func WriteVectorMatrixMarket[T matrix.Element](w io.Writer, v *matrix.Vector[T], opts ...WriteOption) error {
	return writeVectorMatrixMarket(w, v.Inside().Matrix, writeOptionsOf(opts))
}

func writeVectorMatrixMarket(w io.Writer, v rep.Matrix, o *writeOptions) error {
	st, err := rowsOf(v)
	if err != nil {
		return err
	}
	o.cols = nil // of the one column
	return writeMatrixMarket(w, inside(st.Transpose(0).Settle()), o)
}

// ReadVectorMatrixMarket reads a Matrix Market file of one column or one row
// as a vector; see [ReadMatrixMarket].
func ReadVectorMatrixMarket[T matrix.Element](r io.Reader, opts ...ReadOption) (*matrix.Vector[T], error) {
	o := optionsFor[T](opts)
	st, err := readVectorMatrixMarket(r, o)
	return vectorOf[T](o, st, err)
}

func readVectorMatrixMarket(r io.Reader, o *readOptions) (*sparse.Store, error) {
	here := *o
	here.place, here.keepZeros = nil, true
	a, _, err := readMatrixMarket(r, &here)
	if err != nil {
		return nil, err
	}
	m, n := a.Dims()
	st := a.Stored()
	switch {
	case n == 1 && m != 1:
		if st.Sparse() {
			return st.Transpose(0).ToCSR(), nil
		}
		t := *st // one column: its values are those of the row
		t.NRows, t.NCols = 1, m
		return &t, nil
	case m == 1 && st.Sparse():
		return st.ToCSR(), nil
	case m == 1:
		return st, nil
	}
	return nil, o.fail(0, fmt.Sprintf("the matrix is %d×%d, want one column or one row for a vector", m, n), "")
}

// pieceEntries is the number of entries formatted at a time by one goroutine.
const pieceEntries = 1 << 15

func writeMatrixMarket(w io.Writer, a rep.Matrix, o *writeOptions) error {
	const op = "graphio.WriteMatrixMarket"
	st, err := rowsOf(a)
	if err != nil {
		return err
	}
	if w == nil {
		return nilWriter(op)
	}
	e := elementOf(st.Type)
	m, n := st.NRows, st.NCols
	field := "integer"
	switch {
	case e.isFloat():
		field = "real"
	case e.isBool() && e.allOnes(st.Val):
		field = "pattern"
	}
	if o.pattern {
		field = "pattern"
	}
	layout, symmetry := "coordinate", "general"
	if o.array {
		cells, ok := sparse.Cells(m, n)
		if !ok || st.NVals != int64(cells) {
			return &OptionError{Op: op, Option: "AsArray",
				Reason: fmt.Sprintf("an array has a value at each of its %d×%d positions, this matrix has %d; write it as coordinates", m, n, st.NVals)}
		}
		if o.pattern {
			return &OptionError{Op: op, Option: "AsArray", Reason: "AsArray and AsPattern exclude each other"}
		}
		layout = "array"
		if field == "pattern" {
			field = "integer"
		}
	}
	nvals := st.NVals
	if o.symmetric {
		var symmetric bool
		if nvals, symmetric = lowerOf(a, st, e); !symmetric {
			return asymmetry(st, e)
		}
		symmetry = "symmetric"
	}
	names, err := o.sidecars(op, m, n)
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
		t := st.Transpose(o.threads)
		err = writeRows(out, t, o, func(buf []byte, i int, j int32, v uint64) []byte {
			if o.symmetric && int(j) < i {
				return buf
			}
			return append(text(buf, v), '\n')
		})
	} else {
		entry := coordinates(e, field == "pattern")
		err = writeRows(out, st, o, func(buf []byte, i int, j int32, v uint64) []byte {
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
func writeRows(w io.Writer, st *sparse.Store, o *writeOptions, entry func(buf []byte, i int, j int32, v uint64) []byte) error {
	pieces := int(st.NVals/pieceEntries) + 1
	bounds := parallel.Cut(o.threads, st.Ptr, pieces, 1)
	e := elementOf(st.Type)
	return o.writePieces(w, len(bounds)-1, st.NVals, func(piece int, buf []byte) []byte {
		for k := bounds[piece]; k < bounds[piece+1]; k++ {
			i := st.RowID(k)
			lo, hi := st.Ptr[k], st.Ptr[k+1]
			vals := st.Part(lo, hi)
			for p, j := range st.Idx[lo:hi] {
				buf = entry(buf, i, j, e.at(vals, int64(p)))
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

// lowerOf counts the entries on and below the diagonal of a symmetric a; NaN equals NaN.
func lowerOf(a rep.Matrix, st *sparse.Store, e element) (n int64, symmetric bool) {
	if st.NRows != st.NCols || !e.sameEntries(st, a.Cols()) {
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
func (e element) sameEntries(x, y *sparse.Store) bool {
	if !x.SameAs(&y.Structure) {
		return false
	}
	for p := range x.NVals {
		if !e.same(e.at(x.Val, p), e.at(y.Val, p)) {
			return false
		}
	}
	return true
}

// asymmetry returns the error of the first entry that differs from its mirror.
func asymmetry(st *sparse.Store, e element) error {
	asymmetric := func(format string, args ...any) error {
		return &OptionError{Op: "graphio.WriteMatrixMarket", Option: "AsSymmetric", Reason: fmt.Sprintf(format, args...), Kind: RemedyNoSymmetric}
	}
	if st.NRows != st.NCols {
		return asymmetric("a symmetric matrix is square, this one is %d×%d", st.NRows, st.NCols)
	}
	for k := range st.Vecs() {
		i := st.RowID(k)
		for p := st.Ptr[k]; p < st.Ptr[k+1]; p++ {
			j := int(st.Idx[p])
			q, ok := st.Has(j, i)
			if !ok {
				return asymmetric("the matrix is not symmetric: (%d, %d) has an entry, (%d, %d) has none", i, j, j, i)
			}
			if v, w := e.at(st.Val, p), e.at(st.Val, q); !e.same(v, w) {
				return asymmetric("the matrix is not symmetric: (%d, %d) is %v, (%d, %d) is %v", i, j, e.text(v), j, i, e.text(w))
			}
		}
	}
	return asymmetric("the matrix is not symmetric")
}
