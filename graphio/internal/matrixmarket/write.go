package matrixmarket

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/hiveblas/hiveblas/graphio/internal/core"
	"github.com/hiveblas/hiveblas/graphio/internal/textout"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// WriteVector writes a vector as one column.
func WriteVector(w io.Writer, v rep.Matrix, o *core.WriteOptions) error {
	st, err := core.RowsOf(v)
	if err != nil {
		return err
	}
	o.Cols = nil // of the one column
	return Write(w, core.Inside(st.Transpose(0).Settle()), o)
}

// ReadVector reads a matrix of one column or one row as a vector.
func ReadVector(r io.Reader, o *core.ReadOptions) (*sparse.Store, error) {
	here := *o
	here.Place, here.KeepZeros = nil, true
	a, _, err := Read(r, &here)
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
		t := *st // one column: it has the values of the row
		t.NRows, t.NCols = 1, m
		return &t, nil
	case m == 1 && st.Sparse():
		return st.ToCSR(), nil
	case m == 1:
		return st, nil
	}
	return nil, o.Fail(0, fmt.Sprintf("the matrix is %d×%d, want one column or one row for a vector", m, n), "")
}

// Write writes a matrix; see graphio.WriteMatrixMarket.
func Write(w io.Writer, a rep.Matrix, o *core.WriteOptions) error {
	const op = "graphio.WriteMatrixMarket"
	st, err := core.RowsOf(a)
	if err != nil {
		return err
	}
	if w == nil {
		return core.NilWriter(op)
	}
	e := core.ElementOf(st.Type)
	m, n := st.NRows, st.NCols
	field := "integer"
	switch {
	case e.IsFloat():
		field = "real"
	case e.IsBool() && e.AllOnes(st.Val):
		field = "pattern"
	}
	if o.Pattern {
		field = "pattern"
	}
	layout, symmetry := "coordinate", "general"
	if o.Array {
		cells, ok := sparse.Cells(m, n)
		if !ok || st.NVals != int64(cells) {
			return &core.OptionError{Op: op, Option: "AsArray",
				Reason: fmt.Sprintf("an array has a value at each of its %d×%d positions, this matrix has %d; write it as coordinates", m, n, st.NVals)}
		}
		if o.Pattern {
			return &core.OptionError{Op: op, Option: "AsArray", Reason: "AsArray and AsPattern exclude each other"}
		}
		layout = "array"
		if field == "pattern" {
			field = "integer"
		}
	}
	nvals := st.NVals
	if o.Symmetric {
		var symmetric bool
		if nvals, symmetric = lowerOf(a, st, e); !symmetric {
			return asymmetry(st, e)
		}
		symmetry = "symmetric"
	}
	names, err := sidecarsOf(o, op, m, n)
	if err != nil {
		return err
	}
	out := &core.ReportingWriter{W: w, O: &o.Common}
	var head strings.Builder
	fmt.Fprintf(&head, "%%%%MatrixMarket matrix %s %s %s\n", layout, field, symmetry)
	for _, s := range names {
		textout.WriteComment(&head, "%", s.comment())
	}
	textout.WriteComment(&head, "%", o.Comment)
	if o.Array {
		fmt.Fprintf(&head, "%d %d\n", m, n)
	} else {
		fmt.Fprintf(&head, "%d %d %d\n", m, n, nvals)
	}
	if _, err := io.WriteString(out, head.String()); err != nil {
		return err
	}
	text := e.Appender()
	if o.Array {
		// The columns of a are the rows of its transpose. The lower triangle of a
		// symmetric matrix by columns is the upper triangle by rows.
		t := st.Transpose(o.Threads)
		err = textout.WriteRows(out, t, o, func(buf []byte, i int, j int32, v uint64) []byte {
			if o.Symmetric && int(j) < i {
				return buf
			}
			return append(text(buf, v), '\n')
		})
	} else {
		entry := coordinates(e, field == "pattern")
		err = textout.WriteRows(out, st, o, func(buf []byte, i int, j int32, v uint64) []byte {
			if o.Symmetric && int(j) > i {
				return buf
			}
			return entry(buf, i, j, v)
		})
	}
	if err != nil {
		return err
	}
	return writeSidecars(o, w, names)
}

// lowerOf counts the entries on and below the diagonal of a symmetric a; NaN equals NaN.
func lowerOf(a rep.Matrix, st *sparse.Store, e core.Element) (n int64, symmetric bool) {
	if st.NRows != st.NCols || !equalEntries(e, st, a.Cols()) {
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

// equalEntries reports whether x and y have the same entries; NaN equals NaN.
func equalEntries(e core.Element, x, y *sparse.Store) bool {
	if !x.SameAs(&y.Structure) {
		return false
	}
	for p := range x.NVals {
		if !e.Same(e.At(x.Val, p), e.At(y.Val, p)) {
			return false
		}
	}
	return true
}

// asymmetry returns the error of the first entry that differs from its mirror.
func asymmetry(st *sparse.Store, e core.Element) error {
	asymmetric := func(format string, args ...any) error {
		return &core.OptionError{Op: "graphio.WriteMatrixMarket", Option: "AsSymmetric", Reason: fmt.Sprintf(format, args...), Kind: core.RemedyNoSymmetric}
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
			if v, w := e.At(st.Val, p), e.At(st.Val, q); !e.Same(v, w) {
				return asymmetric("the matrix is not symmetric: (%d, %d) is %v, (%d, %d) is %v", i, j, e.Text(v), j, i, e.Text(w))
			}
		}
	}
	return asymmetric("the matrix is not symmetric")
}

// coordinates formats an entry for a Matrix Market file.
func coordinates(e core.Element, pattern bool) func(buf []byte, i int, j int32, v uint64) []byte {
	text := e.Appender()
	return func(buf []byte, i int, j int32, v uint64) []byte {
		buf = strconv.AppendInt(buf, int64(i)+1, 10)
		buf = append(buf, ' ')
		buf = strconv.AppendInt(buf, int64(j)+1, 10)
		if !pattern {
			buf = text(append(buf, ' '), v)
		}
		return append(buf, '\n')
	}
}
