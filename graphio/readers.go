package graphio

import (
	"io"

	"github.com/hiveblas/hiveblas/graphio/internal/binfile"
	"github.com/hiveblas/hiveblas/graphio/internal/build"
	"github.com/hiveblas/hiveblas/graphio/internal/core"
	"github.com/hiveblas/hiveblas/graphio/internal/edgelist"
	"github.com/hiveblas/hiveblas/graphio/internal/matrixmarket"
	"github.com/hiveblas/hiveblas/graphio/internal/namedgraph"
	"github.com/hiveblas/hiveblas/graphio/internal/numpy"
	"github.com/hiveblas/hiveblas/graphio/internal/plaingraph"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// ReadBinary reads a matrix in the binary form (.hgb), gzip-compressed or not. ReadBinary returns a
// *[matrix.TypeError] that names both types if T is not the element type of the file (int is stored
// as int64, uint as uint64); [Read] and [ReadFile] convert the values. ReadBinary verifies the
// checksums and the invariants of the matrix; it returns a *ParseError that names the section if
// the file is damaged. All threads read an *os.File that is not compressed; its size bounds the
// memory. The memory for other readers grows with the bytes read. ReadBinary buffers r and may read
// beyond the end of the matrix.
func ReadBinary[T matrix.Element](r io.Reader, opts ...ReadOption) (*matrix.Matrix[T], error) {
	a, _, err := binfile.Read("graphio.ReadBinary", r, optionsFor[T](opts))
	return matrix.OfInside[T](a), err
}

// ReadVectorBinary reads a vector in the binary form; see [ReadBinary].
func ReadVectorBinary[T matrix.Element](r io.Reader, opts ...ReadOption) (*matrix.Vector[T], error) {
	o := optionsFor[T](opts)
	st, err := binfile.ReadVector(r, o)
	return vectorOf[T](o, st, err)
}

// ReadDIMACS reads a graph of the DIMACS implementation challenges, gzip-compressed or not. Its
// first letter gives the meaning of a line:
//
//   - c: a comment
//   - p sp N M: shortest paths (.gr); p max N M: maximum flow (.max); p edge N M or p col N M: a
//     graph to colour (.col), which is undirected; N vertices, M edges
//   - a U V W: an arc from U to V with a length or a capacity
//   - e U V, or e U V W: an edge
//   - n V s, n V t: the source and the sink of a flow, which [Info] gives; n V VALUE is skipped
//
// Vertices count from 1. The number of arcs must be M; the number of edges may differ, as in files
// to colour that list both directions. Errors are a *[ParseError] with the line.
func ReadDIMACS[T matrix.Element](r io.Reader, opts ...ReadOption) (*matrix.Matrix[T], error) {
	a, _, err := build.ReadPlaced(r, optionsFor[T](opts), plaingraph.ReadDIMACS)
	return matrix.OfInside[T](a), err
}

// ReadEdgeList reads a list of edges, one “source target” or “source target
// value” a line, gzip-compressed or not: SNAP, TSV and CSV files. The result is
// square; entry (i, j) is the edge from i to j. Lines that begin with # or %, or a
// character of [CommentChars], and blank lines are skipped. Text is UTF-8, or UTF-16
// with a byte order mark.
//
// Fields. One delimiter separates the fields of all lines: by [Delimiter] or [InFormat], else a
// tab, comma, semicolon or bar, whichever splits the most of the first 100 lines (at most 32 KiB).
// Of several, the tab wins, then the one with the most fields in the first line. Blanks and tabs
// separate fields if none of these occurs. The rules of encoding/csv apply: a field in quotation
// marks may contain the delimiter, and two marks stand for one. A field does not contain a line
// break. Blanks around a field are no part of it, and an empty field after the last delimiter of a
// line is ignored.
//
// Columns. The first line is a header if [Header] says so, if a column is
// chosen by name, or if its fields are known names in any case of letters,
// one for the source and one for the target:
//
//   - source, src, from, follower, row, person, user, user_id, userid, node1, node_1, vertex1,
//     from_node, fromnode, and source_id, sourceid, src_id, srcid, from_id, fromid,
//     from_node_id, fromnodeid
//   - target, dst, dest, destination, to, followed, followee, col, column, friend, item, item_id,
//     itemid, movie, movie_id, movieid, node2, node_2, vertex2,
//     to_node, tonode, and target_id, targetid, dst_id, dstid, to_id, toid, to_node_id, tonodeid
//   - weight, weights, wt, value, val, count, amount, rating, score, distance, cost, capacity,
//     length for the value
//   - id, edge_id, edgeid, label, type, kind, relation, name, time, timestamp, date, timeset,
//     interval, index, and a column without a name, which are ignored
//
// Other words among them are ignored too if the source and the target have one of the first names
// of the lists (source, src, from, target, dst, to, alone or with id or node), or a later line has
// a number below such a word.
//
// [SourceColumn], [TargetColumn] and [WeightColumn] choose the columns, else the names of the
// header, else the first two and, if there are three, the third. Without a column of values every
// entry is 1 or true.
//
// Ids are 0-based indices, or 1-based with [Base]. With [RenumberIDs] they are
// any 64-bit integers, or any text if one of them is no integer in its usual
// form (007 is not); vertices are numbered in ascending order of id. Labels are
// nil if the ids are the indices, and give the ids back otherwise. [Warn]
// receives a warning if no edge has id 0, if fewer than 1 % of the ids up to
// the largest occur, or if all fields of the first line are words and no other line has
// one of its two ids although ids of others repeat, so that it may be a header.
//
// Values are read as in a real Matrix Market file (see [ReadMatrixMarket]), except
// that a value written as an integer must be exact in a float type, and that [Decimal]
// names the sign before a fraction. A repeated edge
// is an error unless [Duplicates] combines it; see [Symmetrise] for undirected
// graphs. Errors in the file are a *[ParseError].
func ReadEdgeList[T matrix.Element](r io.Reader, opts ...ReadOption) (*matrix.Matrix[T], *Labels, error) {
	a, l, err := edgelist.Read(r, optionsFor[T](opts), false)
	return matrix.OfInside[T](a), (*Labels)(l.Rows), err
}

// ReadBipartite is [ReadEdgeList] with separate ids for sources and targets,
// which become the rows and the columns of a rectangular matrix.
func ReadBipartite[T matrix.Element](r io.Reader, opts ...ReadOption) (a *matrix.Matrix[T], rows, cols *Labels, err error) {
	m, l, err := edgelist.Read(r, optionsFor[T](opts), true)
	return matrix.OfInside[T](m), (*Labels)(l.Rows), (*Labels)(l.Cols), err
}

// Tuples are the edges of a list in the order of its lines: edge k goes from Source[k] to Target[k]
// and has the value Value[k].
type Tuples[T any] struct {
	Source, Target []int32
	Value          []T
}

// ReadTuples reads a list of edges as [ReadEdgeList] does, and keeps repeated edges: for lists with
// time stamps or labels as values. It returns the number of vertices n, and labels as ReadEdgeList
// does. ReadTuples returns an *[OptionError] if [Duplicates] or [Symmetrise] is given: they do not
// apply.
func ReadTuples[T matrix.Element](r io.Reader, opts ...ReadOption) (t *Tuples[T], n int, labels *Labels, err error) {
	b, n, l, err := edgelist.ReadTuples(r, optionsFor[T](opts))
	if err != nil {
		return nil, 0, nil, err
	}
	return &Tuples[T]{b.Row, b.Col, sparse.SliceOf[T](b.Val)}, n, (*Labels)(l), nil
}

// ReadVectorTSV reads a vector: lines of a 0-based index and a value, or of a value alone for the
// indices 0, 1, 2, …; the first line decides. Delimiters, quotes, comments, values and options are
// as in [ReadEdgeList]; [Header](HeaderYes) skips a line of column names. The size is one more than
// the largest index, or the rows that [Dims] gives.
func ReadVectorTSV[T matrix.Element](r io.Reader, opts ...ReadOption) (*matrix.Vector[T], error) {
	o := optionsFor[T](opts)
	st, err := edgelist.ReadVector(r, o)
	return vectorOf[T](o, st, err)
}

// ReadGEXF reads the graph of a GEXF file of Gephi or NetworkX (.gexf), versions 1.1 to 1.3,
// gzip-compressed or not: its nodes in the order of their first mention, also nodes within nodes,
// its edges and their weights. The weight is the attribute weight of an edge, or the edge attribute
// with the title that [WeightColumn] gives; edges without one have 1. Names of vertices and
// encodings are as in [ReadGraphML]. An edge is directed, undirected or mutual, which is both
// directions, by its type, else by defaultedgetype, else undirected; the matrix is symmetric if no
// edge is directed. Other attributes are skipped. A dynamic graph is an error. Errors are a
// *[ParseError] with the line. Source: GEXF 1.3 primer, gexf.net.
func ReadGEXF[T matrix.Element](r io.Reader, opts ...ReadOption) (*Labelled[T], error) {
	a, s, err := build.ReadPlaced(r, optionsFor[T](opts), namedgraph.ReadGEXF)
	return labelled[T](a, s, err)
}

// ReadGML reads the graph of a GML file, gzip-compressed or not: its nodes in the order of their
// first mention, its edges and their weights, which are the values of “weight”, else of “value”, or
// of the key that [WeightColumn] names; edges without one have 1. The names of vertices are their
// labels, or where a node has none its “name” (of igraph), if all nodes have different ones, else
// their ids; they are nil if they are 0, 1, 2, …. The graph is undirected unless it has “directed
// 1”. Other keys are skipped. Line breaks and tabs of labels are read as blanks. Texts are UTF-8,
// or UTF-16 with a byte order mark; one that is no UTF-8 is read as windows-1252, which includes
// the ISO 8859-1 of the format. All threads parse the nodes and edges. Errors are a *[ParseError]
// with the line. Source: Himsolt, “GML: a portable graph file format”, University of Passau, 1997.
func ReadGML[T matrix.Element](r io.Reader, opts ...ReadOption) (*Labelled[T], error) {
	a, s, err := build.ReadPlaced(r, optionsFor[T](opts), namedgraph.ReadGML)
	return labelled[T](a, s, err)
}

// ReadGraph500 reads the binary edge list of the Graph500 generator, gzip-compressed or not: pairs
// of vertices from 0 as little-endian 64-bit integers, or, with [InFormat] of FormatGraph500Packed,
// in 12 bytes: the low 32 bits of both vertices, then 16 high bits of each. The list has each
// undirected edge once, in any direction, with repeated edges and loops: see [Symmetrise] and
// [Duplicates]. Errors are a *[ParseError] that numbers the edge. Source: Graph500 reference code
// 3.0, generator/graph_generator.h.
func ReadGraph500[T matrix.Element](r io.Reader, opts ...ReadOption) (*matrix.Matrix[T], error) {
	a, _, err := build.ReadPlaced(r, optionsFor[T](opts), plaingraph.ReadGraph500)
	return matrix.OfInside[T](a), err
}

// ReadGraphML reads the graph of a GraphML file, gzip-compressed or not: its nodes in the order of
// their first mention, its edges and their weights. The weight is the data of the key with the
// attribute name “weight”, else “value”, or with the name that [WeightColumn] gives, with the
// default of the key; edges without one have 1. The names of vertices are the data named “label” or
// “name”, else the labels of yEd, if all nodes have different ones, else their ids; they are nil if
// they are 0, 1, 2, …. Line breaks and tabs of labels are read as blanks. Edges go in both
// directions if edgedefault, or the attribute directed of the edge, says so. The nodes and edges of
// a nested graph, such as a group of yEd, belong to the graph. Hyperedges are an error. All threads
// parse nodes and edges that are children of the graph; from a key or a nested graph among them on,
// or a graph without such, one thread reads. The text is in the encoding that its declaration
// names, or in UTF-16 with a byte order mark. Errors are a *[ParseError] with the line. Source:
// Brandes et al., “GraphML progress report”, GD 2001, and the GraphML primer.
func ReadGraphML[T matrix.Element](r io.Reader, opts ...ReadOption) (*Labelled[T], error) {
	a, s, err := build.ReadPlaced(r, optionsFor[T](opts), namedgraph.ReadGraphML)
	return labelled[T](a, s, err)
}

// ReadMETIS reads a graph in the format of METIS (.graph), gzip-compressed or not: a line “vertices
// edges [format [constraints]]”, then a line for each vertex with its neighbours, which count from
// 1, and the weights of the edges if the format ends in 1. Sizes and weights of vertices are
// skipped. Lines that begin with % are comments. The graph is undirected: each end of an edge lists
// the other, with the same weight, so that the matrix is symmetric and has twice as many entries as
// there are edges. Anything else is an error without [Symmetrise]. Errors are a *[ParseError] with
// the line. Source: Karypis, “METIS manual, version 5.1.0”, section 4.1.1.
func ReadMETIS[T matrix.Element](r io.Reader, opts ...ReadOption) (*matrix.Matrix[T], error) {
	a, _, err := build.ReadPlaced(r, optionsFor[T](opts), plaingraph.ReadMETIS)
	return matrix.OfInside[T](a), err
}

// ReadMatrixMarketInfo reads the header of a Matrix Market file, gzip-compressed
// or not, and no entries.
func ReadMatrixMarketInfo(r io.Reader, opts ...ReadOption) (Info, error) {
	info, err := matrixmarket.ReadInfo(r, readOptionsOf(opts))
	return Info(info), err
}

// ReadMatrixMarket reads a Matrix Market file, gzip-compressed or not.
//
// It reads the layouts coordinate and array, the fields real (or double), integer
// and pattern, and the symmetries general, symmetric and skew-symmetric, in any
// case of letters. Comments and blank lines may occur anywhere, and lines may end
// in CRLF. Zeros of an array are no entries unless [KeepZeros] makes them so; an array without
// zeros, or with KeepZeros, becomes a Full matrix. Complex and hermitian files are an error.
//
// A file without a banner is read if its first line that is not blank has three
// counts, “rows columns entries”. It has general coordinates: real values if the
// first entry has three fields, a pattern if it has two. A first line that begins
// with % but is not a banner is an error, because it may be a damaged banner of a
// symmetric file.
//
// Values. In an integer type, values must be integers in its range; 6.000 and 1e3 are integers in a
// real file, but not in an integer file. Hexadecimal numbers of C, such as 0x1.8p+1, are read in a
// real file. In a float type, values of a real file are rounded to nearest, and values of an
// integer file must be exact (in float64, all up to 2⁵³). bool holds 0 and 1. An entry of a pattern
// is 1 or true. NaN and infinities need [AllowNaN]; [PatternOnly] ignores values. Every other value
// is an error.
//
// A symmetric file lists one triangle, usually the lower. An entry of the other triangle is a
// duplicate if the file has its mirror too. A skew-symmetric coordinate file has no diagonal
// entries; an array may list a diagonal of zeros. A duplicate is an error unless [Duplicates]
// combines it.
//
// Errors in the file are a *[ParseError] with the line. The counts of the header do not determine
// allocations: memory grows with the entries read. Peak memory is below 3 times the memory of the
// matrix, and the time is O(entries + rows + columns), with parsing spread over [Threads].
func ReadMatrixMarket[T matrix.Element](r io.Reader, opts ...ReadOption) (*matrix.Matrix[T], error) {
	a, _, err := matrixmarket.Read(r, optionsFor[T](opts))
	return matrix.OfInside[T](a), err
}

// ReadMatrixMarketFile is [ReadMatrixMarket] of the file at path.
func ReadMatrixMarketFile[T matrix.Element](path string, opts ...ReadOption) (*matrix.Matrix[T], error) {
	a, _, err := readPath(path, optionsFor[T](opts), matrixmarket.Read)
	return matrix.OfInside[T](a), err
}

// ReadVectorMatrixMarket reads a Matrix Market file of one column or one row
// as a vector; see [ReadMatrixMarket].
func ReadVectorMatrixMarket[T matrix.Element](r io.Reader, opts ...ReadOption) (*matrix.Vector[T], error) {
	o := optionsFor[T](opts)
	st, err := matrixmarket.ReadVector(r, o)
	return vectorOf[T](o, st, err)
}

// ReadNPY reads a two-dimensional NumPy array of numbers or Booleans (.npy) as a matrix: its
// entries are the items that are not zero, or with [KeepZeros] all items. A fraction is no value of
// an integer type, an integer must be exact in a float type, and NaN and infinities need
// [AllowNaN]. All threads read an *os.File. Errors are a *[ParseError] that numbers the item.
// Memory grows with the entries.
func ReadNPY[T matrix.Element](r io.Reader, opts ...ReadOption) (*matrix.Matrix[T], error) {
	a, _, err := build.ReadPlaced(r, optionsFor[T](opts), numpy.ReadNPY)
	return matrix.OfInside[T](a), err
}

// ReadNPZ reads a sparse matrix that SciPy wrote by scipy.sparse.save_npz (.npz), in the layouts
// csr, csc and coo, compressed or not. Columns may be in any order. SciPy sums repeated entries
// when it computes; here they are an error unless [Duplicates] combines them. The text arrays
// row_names and col_names, or names for both, are labels; [WriteNPZ] writes them. Values are
// converted as [ReadNPY] does. r is read into memory unless it is an *os.File. All threads read an
// array that is not compressed; compressed arrays are read at once, each by a thread. Errors are a
// *[ParseError] that names the array.
func ReadNPZ[T matrix.Element](r io.Reader, opts ...ReadOption) (*Labelled[T], error) {
	a, s, err := build.ReadPlaced(r, optionsFor[T](opts), numpy.ReadNPZ)
	return labelled[T](a, s, err)
}

// vectorOf is placed for the store of a vector.
func vectorOf[T matrix.Element](o *core.ReadOptions, st *sparse.Store, err error) (*matrix.Vector[T], error) {
	v := new(matrix.Vector[T])
	if err == nil {
		v.Inside().SetStore(st)
	}
	if err = build.MoveTo(o, v.Inside().Matrix, true, err); err != nil {
		return nil, err
	}
	return v, nil
}
