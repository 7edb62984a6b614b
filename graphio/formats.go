package graphio

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
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

// FormatInfo describes a format of files.
type FormatInfo struct {
	Format     FileFormat
	Name       string   // of [FileFormat.String]
	Extensions []string // with their dots
	Title      string   // one line
	Writes     bool     // matrices
	Names      string   // where names of vertices are: "", "in place of numbers", "in the file", "beside the file"
}

var formatTable = [fileFormats]FormatInfo{
	FormatAuto:           {Name: "auto"},
	FormatMatrixMarket:   {Name: "mtx", Extensions: []string{".mtx", ".mm"}, Title: "Matrix Market: coordinate and array, whose zeros are no entries; vertices from 1", Writes: true, Names: "beside the file"},
	FormatEdges:          {Name: "edges", Extensions: []string{".txt", ".el"}, Title: "edge list with any delimiter: SNAP, KONECT, …", Writes: true, Names: "in place of numbers"},
	FormatCSV:            {Name: "csv", Extensions: []string{".csv"}, Title: "edge list with commas", Writes: true, Names: "in place of numbers"},
	FormatTSV:            {Name: "tsv", Extensions: []string{".tsv"}, Title: "edge list with tabs", Writes: true, Names: "in place of numbers"},
	FormatBinary:         {Name: "hgb", Extensions: []string{".hgb"}, Title: "binary form of hiveblas: quickest, with checksums", Writes: true, Names: "in the file"},
	FormatNPZ:            {Name: "npz", Extensions: []string{".npz"}, Title: "sparse matrix of SciPy: csr, csc or coo", Writes: true, Names: "in the file"},
	FormatNPY:            {Name: "npy", Extensions: []string{".npy"}, Title: "dense array of NumPy; zeros are no entries", Writes: true},
	FormatMETIS:          {Name: "metis", Extensions: []string{".graph", ".metis"}, Title: "METIS: undirected adjacency lists; vertices from 1", Writes: true},
	FormatDIMACS:         {Name: "dimacs", Extensions: []string{".gr", ".col", ".max", ".dimacs"}, Title: "DIMACS: shortest paths, colouring, maximum flow; vertices from 1", Writes: true},
	FormatGraphML:        {Name: "graphml", Extensions: []string{".graphml"}, Title: "GraphML: structure, weights, labels", Writes: true, Names: "in the file"},
	FormatGML:            {Name: "gml", Extensions: []string{".gml"}, Title: "GML: structure, weights, labels", Writes: true, Names: "in the file"},
	FormatGEXF:           {Name: "gexf", Extensions: []string{".gexf"}, Title: "GEXF of Gephi: static graphs, weights, labels", Names: "in the file"},
	FormatGraph500:       {Name: "graph500", Extensions: []string{".g500"}, Title: "Graph500 tuples: pairs of 64-bit vertices"},
	FormatGraph500Packed: {Name: "graph500-packed", Title: "Graph500 tuples of 12 bytes"},
}

// Formats describes the formats that are read.
func Formats() []FormatInfo {
	all := make([]FormatInfo, 0, fileFormats)
	for f := FormatAuto + 1; f < fileFormats; f++ {
		info := formatTable[f]
		info.Format = f
		info.Extensions = append([]string(nil), info.Extensions...)
		all = append(all, info)
	}
	return all
}

// String returns the name of the format, such as mtx, csv or hgb; see [Formats].
func (f FileFormat) String() string {
	if f < fileFormats {
		return formatTable[f].Name
	}
	return fmt.Sprintf("FileFormat(%d)", uint8(f))
}

// ParseFormat returns the format of that name; see [FileFormat.String].
func ParseFormat(name string) (f FileFormat, ok bool) {
	for k, info := range formatTable {
		if info.Name == name {
			return FileFormat(k), true
		}
	}
	return FormatAuto, false
}

// IsList reports whether f is an edge list.
func (f FileFormat) IsList() bool { return f == FormatEdges || f == FormatCSV || f == FormatTSV }

// zipped reports whether files of the format are not compressed by gzip.
func (f FileFormat) zipped() bool { return f == FormatNPZ || f == FormatNPY }

// writable returns the extensions of the formats that are written, for messages.
func writable() string {
	var all []string
	for _, info := range formatTable {
		if info.Writes {
			all = append(all, info.Extensions...)
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
	ext := filepath.Ext(name)
	if ext == "" {
		return FormatAuto, gz
	}
	for k, info := range formatTable {
		for _, e := range info.Extensions {
			if e == ext {
				return FileFormat(k), gz
			}
		}
	}
	return FormatAuto, gz
}
