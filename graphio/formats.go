package graphio

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hiveblas/hiveblas/graphio/internal/binfile"
	"github.com/hiveblas/hiveblas/graphio/internal/build"
	"github.com/hiveblas/hiveblas/graphio/internal/core"
	"github.com/hiveblas/hiveblas/graphio/internal/edgelist"
	"github.com/hiveblas/hiveblas/graphio/internal/matrixmarket"
	"github.com/hiveblas/hiveblas/graphio/internal/namedgraph"
	"github.com/hiveblas/hiveblas/graphio/internal/numpy"
	"github.com/hiveblas/hiveblas/graphio/internal/plaingraph"
	"github.com/hiveblas/hiveblas/internal/chunk"
	"github.com/hiveblas/hiveblas/internal/hgb"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// FileFormat is a format of files.
type FileFormat uint8

// The formats. Edge lists, FormatCSV and FormatTSV differ in the delimiter: one
// found from the first lines (a tab where they are written), a comma, a tab.
const (
	FormatAuto           FileFormat = iota // by content, else by the extension
	FormatMatrixMarket                     // .mtx, .mm
	FormatEdges                            // .txt, .el; .tsv and .csv are read so too
	FormatCSV                              // .csv
	FormatTSV                              // .tsv
	FormatBinary                           // .hgb, the binary form of hiveblas
	FormatNPZ                              // .npz, sparse matrices of SciPy
	FormatNPY                              // .npy, dense arrays of NumPy
	FormatMETIS                            // .graph, .metis
	FormatDIMACS                           // .gr, .col, .max, .dimacs
	FormatGraphML                          // .graphml
	FormatGML                              // .gml
	FormatGEXF                             // .gexf
	FormatGraph500                         // .g500, pairs of 64-bit vertices
	FormatGraph500Packed                   // pairs of 48-bit vertices
	fileFormats
)

// setIn writes the format into the options, with what readers and writers must know of it.
func (f FileFormat) setIn(o *core.Common) {
	o.Format, o.Packed, o.Separator = uint8(f), f == FormatGraph500Packed, 0
	switch f {
	case FormatCSV:
		o.Separator = ','
	case FormatTSV:
		o.Separator = '\t'
	}
}

// FormatInfo describes a format of files.
type FormatInfo struct {
	Format     FileFormat
	Name       string   // of [FileFormat.String]
	Extensions []string // with their dots
	Title      string   // one line
	Writes     bool     // matrices
	Names      string   // where names of vertices are: "", "in place of numbers", "in the file", "beside the file"
}

// A format is a line of the table of formats: all that differs among formats outside of their
// rooms, the packages below internal.
type format struct {
	name       string
	extensions []string
	title      string
	names      string // of FormatInfo

	magic  string // with which its files begin, or ""
	banner string // the same for text, in small letters, after blanks
	root   string // the root element of its XML
	zipped bool   // its files are not compressed by gzip too

	read        readFunc
	readVector  func(r io.Reader, o *core.ReadOptions) (*sparse.Store, error) // nil: no vectors are read
	describe    func(op string, i *core.FileInfo, r io.Reader, o *core.ReadOptions) error
	write       writeFunc // nil: it is not written
	writeVector writeFunc
}

// readFunc reads a matrix. op is the function that the caller of this package called.
type readFunc func(op string, r io.Reader, o *core.ReadOptions) (rep.Matrix, core.Sides, error)

// writeFunc writes a matrix or a vector.
type writeFunc func(w io.Writer, a rep.Matrix, o *core.WriteOptions) error

// table returns the table of formats. It is a function, so that a program links the readers and
// writers only if it calls a function of all formats.
func table() [fileFormats]format {
	return [fileFormats]format{
		FormatAuto: {name: "auto"},
		FormatMatrixMarket: {name: "mtx", extensions: []string{".mtx", ".mm"}, names: "beside the file", banner: "%%matrixmarket",
			title: "Matrix Market: coordinate and array, whose zeros are no entries; vertices from 1",
			read: func(_ string, r io.Reader, o *core.ReadOptions) (rep.Matrix, core.Sides, error) {
				return matrixmarket.Read(r, o)
			},
			readVector: matrixmarket.ReadVector, describe: ofText(matrixmarket.Describe), write: matrixmarket.Write, writeVector: matrixmarket.WriteVector},
		FormatEdges: list("edges", "edge list with any delimiter: SNAP, KONECT, …", ".txt", ".el"),
		FormatCSV:   list("csv", "edge list with commas", ".csv"),
		FormatTSV:   list("tsv", "edge list with tabs", ".tsv"),
		FormatBinary: {name: "hgb", extensions: []string{".hgb"}, names: "in the file", magic: hgb.Magic,
			title: "binary form of hiveblas: quickest, with checksums",
			read:  binfile.Read, readVector: binfile.ReadVector, describe: binfile.Describe, write: binfile.Write, writeVector: binfile.WriteVector},
		FormatNPZ: {name: "npz", extensions: []string{".npz"}, names: "in the file", magic: "PK\x03\x04", zipped: true,
			title: "sparse matrix of SciPy: csr, csc or coo",
			read:  whole(numpy.ReadNPZ), describe: plain(numpy.DescribeNPZ), write: numpy.WriteNPZ, writeVector: numpy.WriteVectorNPZ},
		FormatNPY: {name: "npy", extensions: []string{".npy"}, magic: "\x93NUMPY", zipped: true,
			title: "dense array of NumPy; zeros are no entries",
			read:  whole(numpy.ReadNPY), describe: plain(numpy.DescribeNPY), write: numpy.WriteNPY, writeVector: numpy.WriteVectorNPY},
		FormatMETIS: {name: "metis", extensions: []string{".graph", ".metis"},
			title: "METIS: undirected adjacency lists; vertices from 1",
			read:  whole(plaingraph.ReadMETIS), describe: ofText(plaingraph.DescribeMETIS), write: plaingraph.WriteMETIS},
		FormatDIMACS: {name: "dimacs", extensions: []string{".gr", ".col", ".max", ".dimacs"},
			title: "DIMACS: shortest paths, colouring, maximum flow; vertices from 1",
			read:  whole(plaingraph.ReadDIMACS), describe: ofText(plaingraph.DescribeDIMACS), write: plaingraph.WriteDIMACS},
		FormatGraphML: {name: "graphml", extensions: []string{".graphml"}, names: "in the file", root: "graphml",
			title: "GraphML: structure, weights, labels",
			read:  whole(namedgraph.ReadGraphML), describe: noHeader, write: namedgraph.WriteGraphML},
		FormatGML: {name: "gml", extensions: []string{".gml"}, names: "in the file",
			title: "GML: structure, weights, labels",
			read:  whole(namedgraph.ReadGML), describe: noHeader, write: namedgraph.WriteGML},
		FormatGEXF: {name: "gexf", extensions: []string{".gexf"}, names: "in the file", root: "gexf",
			title: "GEXF of Gephi: static graphs, weights, labels",
			read:  whole(namedgraph.ReadGEXF), describe: noHeader},
		FormatGraph500: {name: "graph500", extensions: []string{".g500"},
			title: "Graph500 tuples: pairs of 64-bit vertices",
			read:  tuples(FormatGraph500), describe: plain(plaingraph.DescribeGraph500)},
		FormatGraph500Packed: {name: "graph500-packed",
			title: "Graph500 tuples of 12 bytes",
			read:  tuples(FormatGraph500Packed), describe: plain(plaingraph.DescribeGraph500)},
	}
}

// list is an edge list.
func list(name, title string, extensions ...string) format {
	return format{name: name, extensions: extensions, title: title, names: "in place of numbers",
		read: func(_ string, r io.Reader, o *core.ReadOptions) (rep.Matrix, core.Sides, error) {
			return edgelist.Read(r, o, o.Bipartite)
		},
		readVector: edgelist.ReadVector, describe: ofText(edgelist.Describe), write: edgelist.Write, writeVector: edgelist.WriteVector}
}

// whole is a reader that each process of a group runs on the whole file.
func whole(read func(io.Reader, *core.ReadOptions) (*sparse.Store, core.Sides, error)) readFunc {
	return func(_ string, r io.Reader, o *core.ReadOptions) (rep.Matrix, core.Sides, error) {
		return build.ReadPlaced(r, o, read)
	}
}

// tuples is the reader of Graph500 tuples of one width.
func tuples(f FileFormat) readFunc {
	read := whole(plaingraph.ReadGraph500)
	return func(op string, r io.Reader, o *core.ReadOptions) (rep.Matrix, core.Sides, error) {
		f.setIn(&o.Common)
		return read(op, r, o)
	}
}

// plain is a description with errors that name no function.
func plain(describe func(*core.FileInfo, io.Reader, *core.ReadOptions) error) func(string, *core.FileInfo, io.Reader, *core.ReadOptions) error {
	return func(_ string, i *core.FileInfo, r io.Reader, o *core.ReadOptions) error { return describe(i, r, o) }
}

// ofText is a description of the first lines of a text.
func ofText(describe func(*core.FileInfo, *chunk.Source, *core.ReadOptions) error) func(string, *core.FileInfo, io.Reader, *core.ReadOptions) error {
	return plain(func(i *core.FileInfo, r io.Reader, o *core.ReadOptions) error {
		src, _, err := chunk.NewSource(r)
		if err != nil {
			return o.StreamError(1, err)
		}
		return describe(i, src, o)
	})
}

// noHeader describes a file that only a whole reading describes.
func noHeader(string, *core.FileInfo, io.Reader, *core.ReadOptions) error { return nil }

// Formats describes the formats that are read.
func Formats() []FormatInfo {
	all := table()
	list := make([]FormatInfo, 0, len(all)-1)
	for k, f := range all[1:] {
		list = append(list, FormatInfo{FileFormat(k + 1), f.name, slices.Clone(f.extensions), f.title, f.write != nil, f.names})
	}
	return list
}

// String returns the name of the format, such as mtx, csv or hgb; see [Formats].
func (f FileFormat) String() string {
	if all := table(); int(f) < len(all) {
		return all[f].name
	}
	return fmt.Sprintf("FileFormat(%d)", uint8(f))
}

// ParseFormat returns the format of that name; see [FileFormat.String].
func ParseFormat(name string) (f FileFormat, ok bool) {
	for k, f := range table() {
		if f.name == name {
			return FileFormat(k), true
		}
	}
	return FormatAuto, false
}

// IsList reports whether f is an edge list.
func (f FileFormat) IsList() bool { return f == FormatEdges || f == FormatCSV || f == FormatTSV }

// writable returns the extensions of the formats that are written, for messages.
func writable() string {
	var all []string
	for _, f := range table() {
		if f.write != nil {
			all = append(all, f.extensions...)
			all = slices.DeleteFunc(all, func(ext string) bool { return ext == ".max" }) // see WriteDIMACS
		}
	}
	return "want " + strings.Join(all, ", ")
}

// FormatOfName returns the format that the extension of a file name tells,
// FormatAuto if none, and whether the name ends in .gz.
func FormatOfName(path string) (f FileFormat, gz bool) {
	name := strings.ToLower(filepath.Base(path))
	name, gz = strings.CutSuffix(name, ".gz")
	if ext := filepath.Ext(name); ext != "" {
		for k, f := range table() {
			if slices.Contains(f.extensions, ext) {
				return FileFormat(k), gz
			}
		}
	}
	return FormatAuto, gz
}

// formatOfContent returns the format that the first bytes of a file tell, which
// may be compressed; FormatAuto if none.
func formatOfContent(head []byte) FileFormat {
	head = plainHead(head)
	text := bytes.ToLower(bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n"))
	root := ""
	if bytes.HasPrefix(text, []byte("<")) {
		root, _ = namedgraph.RootElement(bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n"))
	}
	for k, f := range table() {
		if f.magic != "" && bytes.HasPrefix(head, []byte(f.magic)) ||
			f.banner != "" && bytes.HasPrefix(text, []byte(f.banner)) ||
			f.root != "" && f.root == root {
			return FileFormat(k)
		}
	}
	return FormatAuto
}

// plainHead returns the first bytes of a file, decompressed.
func plainHead(head []byte) []byte {
	plain, _, err := chunk.OpenText(bytes.NewReader(head))
	if err != nil {
		return nil
	}
	text := make([]byte, 4096)
	n, _ := io.ReadFull(plain, text) // a cut stream gives its first bytes
	return text[:n]
}

// unknownFormat says what is known of a file of no format.
func unknownFormat(head []byte) string {
	if bytes.HasPrefix(head, []byte("PAR1")) {
		return "Parquet is read by the command hiveblas-parquet, of the module github.com/hiveblas/hiveblas/parquet"
	}
	text := plainHead(head)
	if trimmed := bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))); bytes.HasPrefix(trimmed, []byte("<")) {
		if name, space := namedgraph.RootElement(text); name != "" {
			return "the root element of the XML file is " + namedgraph.RootOf(name, space) + "; graphml and gexf are read"
		}
	}
	return "neither the name nor the first bytes tell the format of this file"
}

// DetectFormat returns the format that the first bytes of a file tell, which may be compressed,
// else the format of the extension of its name; FormatAuto if none.
func DetectFormat(head []byte, name string) FileFormat {
	if f := formatOfContent(head); f != FormatAuto {
		return f
	}
	f, _ := FormatOfName(name)
	return f
}
