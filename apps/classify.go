package apps

import (
	"io"

	"github.com/hiveblas/hiveblas/apps/classify"
	"github.com/hiveblas/hiveblas/matrix"
)

// Attributed is a directed graph of n vertices and m edges with f features of each vertex and g of
// each edge. See [classify.Attributed].
type Attributed = classify.Attributed

// NewAttributed returns the graph in which edge e leads from from[e] to to[e]. See
// [classify.NewAttributed].
func NewAttributed(vertices *matrix.Matrix[float32], edges *matrix.Matrix[float32], from []int32, to []int32) (*Attributed, error) {
	return classify.NewAttributed(vertices, edges, from, to)
}

// ReadAttributed reads a graph from two tables in the layout of PNNL's application classification:
// a first line "count columns", then a line for each row, with fields separated by blanks or tabs,
// gzip-compressed or not. See [classify.ReadAttributed].
func ReadAttributed(vertices io.Reader, edges io.Reader) (*Attributed, error) {
	return classify.ReadAttributed(vertices, edges)
}

// ReadAttributedFiles reads the files at two paths as ReadAttributed does. See
// [classify.ReadAttributedFiles].
func ReadAttributedFiles(vertices string, edges string, opts ...Run) (*Attributed, error) {
	return classify.ReadAttributedFiles(vertices, edges, opts...)
}

// ClassifyOptions are the settings of Classify. See [classify.ClassifyOptions].
type ClassifyOptions = classify.ClassifyOptions

// Classify finds where the vertices of a pattern may be in a data graph, by loopy belief
// propagation over vertices and edges with features. See [classify.Classify].
func Classify(data *Attributed, pattern *Attributed, opts ...ClassifyOptions) (*matrix.Matrix[float32], error) {
	return classify.Classify(data, pattern, opts...)
}

// ClassifyMemory estimates the bytes that Classify takes on the host, the graphs included: at
// least, without keeping distances, and with all of them. See [classify.ClassifyMemory].
func ClassifyMemory(data *Attributed, pattern *Attributed) (least int64, all int64) {
	return classify.ClassifyMemory(data, pattern)
}
