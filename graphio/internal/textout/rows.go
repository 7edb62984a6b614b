// Package textout formats the entries of a matrix as text, by all threads.
package textout

import (
	"fmt"
	"io"
	"strings"

	"github.com/hiveblas/hiveblas/graphio/internal/core"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// PieceEntries is the number of entries formatted at a time by one goroutine.
const PieceEntries = 1 << 15

// WriteRows formats every entry of a sparse st with entry, in order, several
// rows at a time.
func WriteRows(w io.Writer, st *sparse.Store, o *core.WriteOptions, entry func(buf []byte, i int, j int32, v uint64) []byte) error {
	pieces := int(st.NVals/PieceEntries) + 1
	bounds := parallel.Cut(o.Threads, st.Ptr, pieces, 1)
	e := core.ElementOf(st.Type)
	return o.WritePieces(w, len(bounds)-1, st.NVals, func(piece int, buf []byte) []byte {
		for k := bounds[piece]; k < bounds[piece+1]; k++ {
			i := st.RowID(k)
			lo, hi := st.Ptr[k], st.Ptr[k+1]
			vals := st.Part(lo, hi)
			for p, j := range st.Idx[lo:hi] {
				buf = entry(buf, i, j, e.At(vals, int64(p)))
			}
		}
		return buf
	})
}

// WriteComment writes each line of a text after a mark.
func WriteComment(b *strings.Builder, mark, text string) {
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

// RowWriter is a RowWriter without its element type.
type RowWriter struct {
	W       *core.ReportingWriter
	O       *core.WriteOptions
	M, N    int
	Left    int64 // remaining entries, −1 if their number is not fixed
	next    int   // first row not written yet
	Entry   func(buf []byte, i int, j int32, v uint64) []byte
	written int64
	End     func() error // at Close, or nil
}

// Write writes the entries of rows. Row i of rows is row lo+i of the matrix.
func (r *RowWriter) Write(lo int, rows rep.Matrix) error {
	const op = "RowWriter.Write"
	st, err := core.RowsOf(rows)
	if err != nil {
		return err
	}
	m, n, nvals := st.NRows, st.NCols, st.NVals
	switch {
	case n != r.N || lo < r.next || lo+m > r.M:
		return &matrix.InvalidError{Op: op, Reason: fmt.Sprintf("%d rows of %d columns at row %d; want rows within %d to %d of %d columns", m, n, lo, r.next, r.M, r.N)}
	case r.Left >= 0 && nvals > r.Left:
		return &matrix.InvalidError{Op: op, Reason: fmt.Sprintf("%d entries, but only %d remain of those in the header", nvals, r.Left)}
	}
	err = WriteRows(r.W, st, r.O, func(buf []byte, i int, j int32, v uint64) []byte { return r.Entry(buf, lo+i, j, v) })
	if err != nil {
		return err
	}
	if r.Left >= 0 {
		r.Left -= nvals
	}
	r.next, r.written = lo+m, r.written+nvals
	return nil
}

// Close verifies that the announced number of entries is written, and ends the file.
func (r *RowWriter) Close() error {
	if r.Left > 0 {
		return &matrix.InvalidError{Op: "RowWriter.Close", Reason: fmt.Sprintf("%d entries are written and %d are missing", r.written, r.Left)}
	}
	end := r.End
	if r.End = nil; end == nil {
		return nil
	}
	return end()
}
