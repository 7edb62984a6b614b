package graphio

import (
	"io"

	"github.com/hiveblas/hiveblas/graphio/internal/binfile"
	"github.com/hiveblas/hiveblas/graphio/internal/edgelist"
	"github.com/hiveblas/hiveblas/graphio/internal/matrixmarket"
	"github.com/hiveblas/hiveblas/graphio/internal/namedgraph"
	"github.com/hiveblas/hiveblas/graphio/internal/numpy"
	"github.com/hiveblas/hiveblas/graphio/internal/plaingraph"
	"github.com/hiveblas/hiveblas/matrix"
)

// WriteBinary writes a in the binary form of hiveblas (.hgb): the arrays of
// its storage format, each with a checksum, and the labels of [WithLabels], in an
// order for look-up. It takes little longer than a copy of the arrays.
// [ReadBinary] returns the same matrix in the same format, and [ReadLabelled] the
// labels too. [matrix.Matrix.MarshalBinary] returns the same bytes, without labels.
func WriteBinary[T matrix.Element](w io.Writer, a *matrix.Matrix[T], opts ...WriteOption) error {
	return binfile.Write(w, a.Inside().Matrix, writeOptionsOf(opts))
}

// WriteVectorBinary writes v in the binary form; see [WriteBinary].
func WriteVectorBinary[T matrix.Element](w io.Writer, v *matrix.Vector[T], opts ...WriteOption) error {
	return binfile.WriteVector(w, v.Inside().Matrix, writeOptionsOf(opts))
}

// WriteEdgeList writes the entries of a by rows, “row<TAB>column<TAB>value” a line, with 0-based
// indices or the names of [WithLabels], which are quoted by the rules of encoding/csv where they
// need it. [Delimiter] writes another character for the tab, and so does [InFormat] of FormatCSV.
// Values are written as by [WriteMatrixMarket] (see also [AsReal]); with [AsPattern], and for a
// bool matrix with all entries true, they are left out. [ReadEdgeList] with [Dims], or with labels
// [RenumberIDs], reads the same matrix back.
func WriteEdgeList[T matrix.Element](w io.Writer, a *matrix.Matrix[T], opts ...WriteOption) error {
	return edgelist.Write(w, a.Inside().Matrix, writeOptionsOf(opts))
}

// WriteVectorTSV writes the entries of v, “index<TAB>value” a line, with
// 0-based indices or the names of [WithLabels]; see [WriteEdgeList].
func WriteVectorTSV[T matrix.Element](w io.Writer, v *matrix.Vector[T], opts ...WriteOption) error {
	return edgelist.WriteVector(w, v.Inside().Matrix, writeOptionsOf(opts))
}

// WriteMETIS writes a as a graph in the format of METIS (see [ReadMETIS]), for METIS, KaHIP and
// others: a line for each vertex with its neighbours, from 1. a must be symmetric and without
// self-loops, else the error is an [matrix.ErrInvalid]. Values are written as weights of edges
// unless all are true or with [AsPattern]; METIS wants positive integers: WriteMETIS returns an
// *OptionError for others. Names are not written. It takes O(entries + vertices) time.
func WriteMETIS[T matrix.Element](w io.Writer, a *matrix.Matrix[T], opts ...WriteOption) error {
	return plaingraph.WriteMETIS(w, a.Inside().Matrix, writeOptionsOf(opts))
}

// WriteDIMACS writes a as shortest paths of the 9th DIMACS challenge, “p sp” and an arc for each
// entry, with length 1 where values are left out ([AsPattern]); see [ReadDIMACS]. If the file of
// [NamesBeside] ends in .col, it writes a graph to colour instead: a must be symmetric and without
// self-loops, and values are left out. WriteDIMACS returns an *OptionError for a .max file, which
// has a source and a sink, as a matrix has not. Names are not written. It takes O(entries) time.
func WriteDIMACS[T matrix.Element](w io.Writer, a *matrix.Matrix[T], opts ...WriteOption) error {
	return plaingraph.WriteDIMACS(w, a.Inside().Matrix, writeOptionsOf(opts))
}

// WriteGraphML writes a as a graph in GraphML, for Gephi, yEd, igraph, NetworkX and others: nodes
// 0, 1, 2, …, with the names of [WithLabels] as labels, and an edge for each entry with its value
// as weight, unless values are left out as by [WriteEdgeList]. The graph is undirected, with each
// edge once, if a is symmetric. WriteGraphML returns an *OptionError for names that XML cannot
// have, and an *InvalidError for infinite and NaN values. [ReadGraphML] reads the same matrix back.
// It takes O(entries + vertices) time.
func WriteGraphML[T matrix.Element](w io.Writer, a *matrix.Matrix[T], opts ...WriteOption) error {
	return namedgraph.WriteGraphML(w, a.Inside().Matrix, writeOptionsOf(opts))
}

// WriteGML writes a as a graph in GML, for Gephi, Cytoscape, igraph, NetworkX and others; see
// [WriteGraphML]: it follows the same rules. Names are ASCII with entities, as GML demands. A
// vertex without a name has its number as label, which [ReadGML] reads as a number: NetworkX wants
// labels, and different ones unless it reads with label='id'.
func WriteGML[T matrix.Element](w io.Writer, a *matrix.Matrix[T], opts ...WriteOption) error {
	return namedgraph.WriteGML(w, a.Inside().Matrix, writeOptionsOf(opts))
}

// WriteMatrixMarket writes a in Matrix Market format: general coordinates by rows, unless
// [AsArray], [AsSymmetric] or [AsPattern] change that. The field is “real” for floats, in the
// shortest form that reads back as the same value, and “integer” for integers. A bool matrix is a
// “pattern” if all its entries are true, else “integer” with 0 and 1. Reading the file into T
// returns an equal matrix (with [AllowNaN] if it has NaN or infinities). WriteMatrixMarket returns
// an *[OptionError], and writes nothing, if an option does not suit the matrix.
func WriteMatrixMarket[T matrix.Element](w io.Writer, a *matrix.Matrix[T], opts ...WriteOption) error {
	return matrixmarket.Write(w, a.Inside().Matrix, writeOptionsOf(opts))
}

// WriteVectorMatrixMarket writes v as a matrix of one column; see
// [WriteMatrixMarket].
func WriteVectorMatrixMarket[T matrix.Element](w io.Writer, v *matrix.Vector[T], opts ...WriteOption) error {
	return matrixmarket.WriteVector(w, v.Inside().Matrix, writeOptionsOf(opts))
}

// WriteNPY writes a as a two-dimensional NumPy array (.npy), with zero where a has no entry.
func WriteNPY[T matrix.Element](w io.Writer, a *matrix.Matrix[T], opts ...WriteOption) error {
	return numpy.WriteNPY(w, a.Inside().Matrix, writeOptionsOf(opts))
}

// WriteVectorNPY writes v as a one-dimensional NumPy array (.npy). WriteVectorNPY returns an
// *[OptionError] if a vector lacks an entry: an array has a value at each position.
func WriteVectorNPY[T matrix.Element](w io.Writer, v *matrix.Vector[T], opts ...WriteOption) error {
	return numpy.WriteVectorNPY(w, v.Inside().Matrix, writeOptionsOf(opts))
}

// WriteNPZ writes a as scipy.sparse.save_npz does (.npz), not compressed, in the layout of
// [InLayout]; scipy.sparse.load_npz reads it. Labels are the arrays row_names and col_names, or
// names if rows and columns have the same ones, which SciPy ignores and numpy.load reads. With
// [AsPattern] the values are Booleans.
func WriteNPZ[T matrix.Element](w io.Writer, a *matrix.Matrix[T], opts ...WriteOption) error {
	return numpy.WriteNPZ(w, a.Inside().Matrix, writeOptionsOf(opts))
}
