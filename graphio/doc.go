// Package graphio reads and writes matrices and vectors as files, with the names of their rows and
// columns.
//
// [Read] reads any of [Formats]: Matrix Market, edge lists (SNAP, TSV, CSV), sparse matrices of
// SciPy, arrays of NumPy, METIS, DIMACS, GraphML, GEXF, GML, Graph500, and .hgb, the binary form of
// hiveblas. It finds the format from the first bytes or the name, and reads gzip-compressed files:
//
//	a, labels, err := graphio.ReadFile[float64]("graph.csv", graphio.RenumberIDs())
//
// The type parameter is the element type of the matrix: bool, an integer or a float. A value that
// the type does not hold is an error and never changed. A program that does not know the type of a
// file reads its header by [ReadFileInfo].
//
// [Labels] are the names of vertices, numbers or text. [ReadLabelled] returns the matrix with the
// names of its rows and columns. Options say how a file is read ([ReadOption]) and written
// ([WriteOption]); [On] places the matrix on a device, or on a group with ranks that read parts of
// a file. [RowWriter] and [BlockFile] write a matrix that does not fit in memory; [OpenMapped] maps
// one, and [MapStructure] its structure alone, without reading it.
//
// Errors in a file are a *[ParseError] with the line and a remedy, which programs recognise by its
// [RemedyKind]. [WriteFile] never leaves a part of a file.
//
// Readers parse blocks of lines by all threads. They are not generic: a value is a word of 64 bits
// until it is stored, so that a program compiles a few lines for each reader that it calls.
//
// docs/files.md describes the formats.
package graphio
