package edgelist

import (
	"io"

	"github.com/hiveblas/hiveblas/graphio/internal/core"
	"github.com/hiveblas/hiveblas/graphio/internal/textout"
)

// NewWriter begins a list that is written by rows; see graphio.NewEdgeListWriter.
func NewWriter(w io.Writer, m, n int, e core.Element, o *core.WriteOptions) (*textout.RowWriter, error) {
	const op = "graphio.NewEdgeListWriter"
	if err := core.CheckDims(op, m, n); err != nil {
		return nil, err
	}
	if err := checkList(o, op, w, m, n); err != nil {
		return nil, err
	}
	r := &textout.RowWriter{W: &core.ReportingWriter{W: w, O: &o.Common}, O: o, M: m, N: n, Left: -1, Entry: edges(e, o, !o.Pattern)}
	return r, writeHash(r.W, o.Comment)
}
