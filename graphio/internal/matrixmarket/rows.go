package matrixmarket

import (
	"fmt"
	"io"
	"strings"

	"github.com/hiveblas/hiveblas/graphio/internal/core"
	"github.com/hiveblas/hiveblas/graphio/internal/textout"
	"github.com/hiveblas/hiveblas/matrix"
)

// NewWriter begins a file that is written by rows; see graphio.NewMatrixMarketWriter.
func NewWriter(w io.Writer, m, n int, nvals int64, e core.Element, o *core.WriteOptions) (*textout.RowWriter, error) {
	const op = "graphio.NewMatrixMarketWriter"
	switch {
	case w == nil:
		return nil, core.NilWriter(op)
	case o.Array:
		return nil, &core.OptionError{Op: op, Option: "AsArray", Reason: "rows are written as general coordinates; use WriteMatrixMarket"}
	case o.Symmetric:
		return nil, &core.OptionError{Op: op, Option: "AsSymmetric", Reason: "rows are written as general coordinates; use WriteMatrixMarket"}
	}
	if err := core.CheckDims(op, m, n); err != nil {
		return nil, err
	}
	if cells := int64(m) * int64(n); nvals < 0 || nvals > cells {
		return nil, &matrix.SizeError{Op: op, Arg: "number of entries", Got: nvals, Limit: cells}
	}
	field := "integer"
	switch {
	case o.Pattern:
		field = "pattern"
	case e.IsFloat():
		field = "real"
	}
	r := &textout.RowWriter{W: &core.ReportingWriter{W: w, O: &o.Common}, O: o, M: m, N: n, Left: nvals, Entry: coordinates(e, field == "pattern")}
	names, err := sidecarsOf(o, op, m, n)
	if err != nil {
		return nil, err
	}
	r.End = func() error { return writeSidecars(o, w, names) }
	var head strings.Builder
	fmt.Fprintf(&head, "%%%%MatrixMarket matrix coordinate %s general\n", field)
	for _, s := range names {
		textout.WriteComment(&head, "%", s.comment())
	}
	textout.WriteComment(&head, "%", o.Comment)
	fmt.Fprintf(&head, "%d %d %d\n", m, n, nvals)
	_, err = io.WriteString(r.W, head.String())
	return r, err
}
