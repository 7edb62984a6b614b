package graphio

import (
	"io"

	"github.com/hiveblas/hiveblas/graphio/internal/core"
	"github.com/hiveblas/hiveblas/graphio/internal/edgelist"
	"github.com/hiveblas/hiveblas/graphio/internal/matrixmarket"
	"github.com/hiveblas/hiveblas/graphio/internal/textout"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// RowWriter writes a matrix as text, some rows at a time in ascending order, so
// that the matrix need not fit in memory.
type RowWriter[T matrix.Element] struct{ r *textout.RowWriter }

// NewMatrixMarketWriter begins an m×n matrix of nvals entries in Matrix Market
// format, as general coordinates; see [WriteMatrixMarket]. [AsArray] and
// [AsSymmetric] are an error. A bool matrix is written as integers unless
// [AsPattern] is given.
func NewMatrixMarketWriter[T matrix.Element](w io.Writer, m, n int, nvals int64, opts ...WriteOption) (*RowWriter[T], error) {
	r, err := matrixmarket.NewWriter(w, m, n, nvals, core.ElementOf(sparse.TypeOf[T]()), writeOptionsOf(opts))
	if r == nil {
		return nil, err
	}
	return &RowWriter[T]{r}, err
}

// NewEdgeListWriter begins an edge list of an m×n matrix of any number of entries;
// see [WriteEdgeList].
func NewEdgeListWriter[T matrix.Element](w io.Writer, m, n int, opts ...WriteOption) (*RowWriter[T], error) {
	r, err := edgelist.NewWriter(w, m, n, core.ElementOf(sparse.TypeOf[T]()), writeOptionsOf(opts))
	if r == nil {
		return nil, err
	}
	return &RowWriter[T]{r}, err
}

// Write writes the entries of rows. Row i of rows is row lo+i of the matrix.
func (r *RowWriter[T]) Write(lo int, rows *matrix.Matrix[T]) error {
	if r == nil || r.r == nil {
		return noWriter("RowWriter.Write")
	}
	return r.r.Write(lo, rows.Inside().Matrix)
}

// noWriter is the error of a nil or zero writer.
func noWriter(op string) error {
	return &matrix.InvalidError{Op: op, Reason: "the writer is nil or zero; make one with NewMatrixMarketWriter or NewEdgeListWriter"}
}

// Close verifies that as many entries are written as the header says, and writes the names beside a
// Matrix Market file (see [NamesBeside]). It does not close the underlying writer.
func (r *RowWriter[T]) Close() error {
	if r == nil || r.r == nil {
		return noWriter("RowWriter.Close")
	}
	return r.r.Close()
}
