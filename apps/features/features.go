// Package features makes tables of figures about the vertices of a graph, as input of learning: a
// row for each vertex, and a column for its degree, its triangles, its core number, its
// centralities and others.
package features

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/hiveblas/hiveblas/apps/centrality"
	"github.com/hiveblas/hiveblas/apps/cores"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/apps/triangles"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// VertexFeatureOptions are the settings of VertexFeatures.
type VertexFeatureOptions struct {
	workflow.Run
	Names []string // of the columns, in their order; nil means all of VertexFeatureNames
	// Samples is the number of sources of betweenness and of targets of closeness and harmonic; 0
	// means 256, or all vertices if there are fewer.
	Samples int
	Seed    uint64 // of the draw
	// Standard gives each column a mean of 0 and a deviation of 1; a constant column becomes 0.
	Standard bool
}

// A VertexTable is a table of figures about vertices.
type VertexTable struct {
	Names  []string                // of the columns
	Values *matrix.Matrix[float32] // a row for each vertex, full, where the graph lives
}

// table is the state of VertexFeatures.
type table struct {
	o       VertexFeatureOptions
	a       *matrix.View[bool]
	n       int
	columns map[string][]float64
}

// column is a figure about vertices.
type column struct {
	name string
	make func(t *table) error
}

// columns are all figures, in the order of the table.
var columns = []column{
	{"degree", (*table).degrees}, {"indegree", (*table).degrees}, {"triangles", (*table).triangles},
	{"clustering", (*table).triangles}, {"core", (*table).cores}, {"pagerank", (*table).ranks},
	{"betweenness", (*table).betweenness}, {"closeness", (*table).closeness}, {"harmonic", (*table).closeness},
}

// VertexFeatureNames returns the names of the figures that VertexFeatures has.
func VertexFeatureNames() (names []string) {
	for _, c := range columns {
		names = append(names, c.name)
	}
	return names
}

// VertexFeatures returns a table of figures about the vertices of a graph, for GraphSAGE, Classify
// and other learners:
//
//	degree, indegree       edges from the vertex, and to it
//	triangles, clustering  LocalClustering
//	core                   CoreNumbers
//	pagerank               PageRank, times the number of vertices
//	betweenness            Betweenness from samples, normalised
//	closeness, harmonic    Closeness to samples; harmonic over the number of other vertices
//
// Values of edges are ignored. These workflows run where the graph lives and take most of the time;
// the host puts the table together, in 12 bytes for each cell.
func VertexFeatures[T semiring.Element](g matrix.Source[T], opts ...VertexFeatureOptions) (*VertexTable, error) {
	return vertexFeatures(g, opts)
}

// vertexFeatures is VertexFeatures of a graph with values of any type.
func vertexFeatures(g workflow.Operand, opts []VertexFeatureOptions) (*VertexTable, error) {
	const app = "VertexFeatures"
	o, err := workflow.OnlyPipeline(app, opts)
	if err != nil {
		return nil, err
	}
	n, err := workflow.Square(app, workflow.Pattern(g))
	if err != nil {
		return nil, err
	}
	if o.Names == nil {
		o.Names = VertexFeatureNames()
	}
	switch {
	case o.Samples < 0:
		return nil, &workflow.ParameterError{App: app, Arg: "the number of samples", Got: fmt.Sprint(o.Samples), Want: "1 or more, or 0 for 256"}
	case o.Samples == 0:
		o.Samples = 256
	}
	if o.Samples >= n {
		o.Samples = 0 // all, for Betweenness and Closeness
	}
	t := &table{o: o, a: workflow.Pattern(g), n: n, columns: map[string][]float64{}}
	for _, name := range o.Names {
		at := slices.IndexFunc(columns, func(c column) bool { return c.name == name })
		if at < 0 {
			return nil, &workflow.ParameterError{App: app, Arg: "a name", Got: fmt.Sprintf("%q", name), Want: "one of " + strings.Join(VertexFeatureNames(), ", ")}
		}
		if t.columns[name] != nil {
			continue
		}
		if err := columns[at].make(t); err != nil {
			return nil, err
		}
	}
	val := make([]float32, n*len(o.Names))
	for k, name := range o.Names {
		list := t.columns[name]
		if o.Standard {
			standardise(list)
		}
		for v, x := range list {
			val[v*len(o.Names)+k] = float32(x)
		}
	}
	values, err := matrix.FromDense(n, len(o.Names), val)
	if err != nil {
		return nil, err
	}
	return &VertexTable{slices.Clone(o.Names), values}, values.Move(t.a.Place())
}

// keep keeps a vector as a column, each value times a factor.
func keep[T int32 | int64 | float64](t *table, name string, v *matrix.Vector[T], factor float64) error {
	list, err := v.Dense(0)
	if err != nil {
		return err
	}
	t.columns[name] = make([]float64, t.n) // not nil without vertices
	for k, x := range list {
		t.columns[name][k] = float64(x) * factor
	}
	return nil
}

func (t *table) degrees() error {
	workflow.Report(t.o.Run, "degrees", 0, 0)
	with, on := workflow.With(t.o.Run), matrix.On(t.a.Place())
	out, in := matrix.NewVector[int64](t.n, on), matrix.NewVector[int64](t.n, on)
	var s ops.Steps
	s.Do(ops.Reduce(out, semiring.Plus[int64](), t.a.Pattern(), with))
	s.Do(ops.Reduce(in, semiring.Plus[int64](), t.a.Pattern().T(), with))
	if s.OK() {
		s.Do(keep(t, "degree", out, 1))
		s.Do(keep(t, "indegree", in, 1))
	}
	return s.Err()
}

func (t *table) triangles() error {
	c, err := triangles.LocalClustering(t.a, triangles.ClusteringOptions{Run: t.o.Run})
	if err == nil {
		err = keep(t, "triangles", c.Triangles, 1)
	}
	if err == nil {
		err = keep(t, "clustering", c.Coefficient, 1)
	}
	return err
}

func (t *table) cores() error {
	c, err := cores.CoreNumbers(t.a, cores.CoreOptions{Run: t.o.Run})
	if err != nil {
		return err
	}
	return keep(t, "core", c.Number, 1)
}

func (t *table) ranks() error {
	r, err := centrality.PageRank(t.a, centrality.PageRankOptions{Run: t.o.Run, MaxIterations: 1000})
	if err != nil {
		return err
	}
	return keep(t, "pagerank", r.Rank, float64(t.n))
}

func (t *table) betweenness() error {
	b, err := centrality.Betweenness(t.a, centrality.BetweennessOptions{Run: t.o.Run, Samples: t.o.Samples, Seed: t.o.Seed, Normalised: true})
	if err != nil {
		return err
	}
	return keep(t, "betweenness", b.Centrality, 1)
}

func (t *table) closeness() error {
	c, err := centrality.Closeness(t.a, centrality.ClosenessOptions{Run: t.o.Run, Samples: t.o.Samples, Seed: t.o.Seed})
	if err == nil {
		err = keep(t, "closeness", c.Closeness, 1)
	}
	if err == nil {
		err = keep(t, "harmonic", c.Harmonic, 1/float64(max(t.n-1, 1)))
	}
	return err
}

// standardise moves and scales a list to mean 0 and deviation 1.
func standardise(list []float64) {
	mean, square, n := 0.0, 0.0, float64(len(list))
	for _, x := range list {
		mean += x / n
	}
	for _, x := range list {
		square += (x - mean) * (x - mean) / n
	}
	scale := 0.0
	if square > 1e-24*mean*mean {
		scale = 1 / math.Sqrt(square)
	}
	for k := range list {
		list[k] = (list[k] - mean) * scale
	}
}
