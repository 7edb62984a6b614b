package classify

import (
	"fmt"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// Attributed is a directed graph of n vertices and m edges with f features of each vertex and g of
// each edge. Several edges may join two vertices, and an edge may be a loop, so edges have numbers
// and the graph is a pair of incidence matrices.
type Attributed struct {
	Vertices *matrix.Matrix[float32] // f×n, full: column v is the features of vertex v
	Edges    *matrix.Matrix[float32] // g×m, full: column e is the features of edge e
	Source   *matrix.Matrix[bool]    // m×n: edge e leaves the vertex of the one entry of row e
	Target   *matrix.Matrix[bool]    // m×n: edge e enters the vertex of the one entry of row e
}

// NewAttributed returns the graph in which edge e leads from from[e] to to[e]. vertices is f×n and
// edges g×m, both full, m being the number of edges. The graph keeps the slices and matrices.
// NewAttributed returns a *matrix.DimensionError if a shape does not fit, and a *matrix.IndexError
// if an edge names a vertex that does not exist. O(n + m).
func NewAttributed(vertices, edges *matrix.Matrix[float32], from, to []int32) (*Attributed, error) {
	const op = "NewAttributed"
	for k, a := range []*matrix.Matrix[float32]{vertices, edges} {
		if a == nil {
			return nil, &workflow.ParameterError{App: op, Arg: []string{"vertices", "edges"}[k], Got: "nil", Want: "a matrix of features"}
		}
		if err := a.Err(); err != nil {
			return nil, err
		}
	}
	_, n := vertices.Dims()
	g, m := edges.Dims()
	if m != len(from) || m != len(to) {
		return nil, &matrix.DimensionError{Op: op, Arg: "edges", Got: fmt.Sprintf("%d×%d", g, m),
			Want: fmt.Sprintf("a column for each of %d sources and %d targets", len(from), len(to)), Remedy: "give features, a source and a target of each edge"}
	}
	source, err := incidence(op, "source", n, from)
	if err != nil {
		return nil, err
	}
	target, err := incidence(op, "target", n, to)
	if err != nil {
		return nil, err
	}
	return &Attributed{vertices, edges, source, target}, nil
}

// incidence returns the m×n matrix with the entry (e, ends[e]) in row e.
func incidence(op, arg string, n int, ends []int32) (*matrix.Matrix[bool], error) {
	ptr := make([]int64, len(ends)+1)
	for e, v := range ends {
		if v < 0 || int(v) >= n {
			return nil, &matrix.IndexError{Op: op, Arg: fmt.Sprintf("the %s of edge %d", arg, e), Index: int64(v), Limit: int64(n)}
		}
		ptr[e+1] = int64(e + 1)
	}
	one := make([]bool, len(ends))
	for e := range one {
		one[e] = true
	}
	return matrix.FromCSR(len(ends), n, ptr, ends, one)
}

// Dims returns the number of vertices and of edges, 0 and 0 for a nil or zero graph.
func (a *Attributed) Dims() (vertices, edges int) {
	if a.incomplete() {
		return 0, 0
	}
	edges, vertices = a.Source.Dims()
	return vertices, edges
}

// incomplete reports whether a matrix of the graph is missing.
func (a *Attributed) incomplete() bool {
	return a == nil || a.Vertices == nil || a.Edges == nil || a.Source == nil || a.Target == nil
}

// Move makes the graph live at p from now on, the host if p is nil; on a group in a layout, Blocks
// by default. Move returns a *ParameterError if the graph is nil or zero.
func (a *Attributed) Move(p matrix.Place, layout ...matrix.Layout) error {
	if a.incomplete() {
		return &workflow.ParameterError{App: "Move", Arg: "the graph", Got: "nil or zero", Want: "one made by NewAttributed or ReadAttributed"}
	}
	var s ops.Steps
	_ = s.Do(a.Vertices.Move(p, layout...)) && s.Do(a.Edges.Move(p, layout...)) &&
		s.Do(a.Source.Move(p, layout...)) && s.Do(a.Target.Move(p, layout...))
	return s.Err()
}

// Place returns where the graph lives; nil is the host.
func (a *Attributed) Place() matrix.Place {
	if a.incomplete() {
		return nil
	}
	return a.Edges.Place()
}

// check verifies a graph that a caller may have assembled, and its features unless
// they are trusted.
func (a *Attributed) check(app, arg string, trusted bool, run workflow.Run) error {
	if a.incomplete() {
		return &workflow.ParameterError{App: app, Arg: arg, Got: "nil or zero", Want: "a graph; NewAttributed and ReadAttributed make one"}
	}
	for _, m := range []interface{ Err() error }{a.Vertices, a.Edges, a.Source, a.Target} {
		if err := m.Err(); err != nil {
			return err
		}
	}
	_, n := a.Vertices.Dims()
	_, m := a.Edges.Dims()
	for _, end := range []*matrix.Matrix[bool]{a.Source, a.Target} {
		if r, c := end.Dims(); r != m || c != n {
			return &matrix.DimensionError{Op: app, Arg: "an incidence matrix of " + arg, Got: fmt.Sprintf("%d×%d", r, c),
				Want: fmt.Sprintf("%d×%d", m, n), Remedy: "give a row for each edge and a column for each vertex"}
		}
		if end.NVals() != int64(m) {
			return &matrix.InvalidError{Op: app, Reason: fmt.Sprintf("an incidence matrix of %s has %d entries for %d edges; give one in each row", arg, end.NVals(), m)}
		}
	}
	for what, x := range map[string]*matrix.Matrix[float32]{"vertex": a.Vertices, "edge": a.Edges} {
		r, c := x.Dims()
		if x.NVals() != int64(r)*int64(c) {
			return &matrix.InvalidError{Op: app, Reason: fmt.Sprintf("the %s features of %s have %d entries for %d×%d places; give a full matrix", what, arg, x.NVals(), r, c)}
		}
		if trusted {
			continue
		}
		if err := checkFeatures(app, arg+", "+what, x, run); err != nil {
			return err
		}
	}
	return nil
}

// largestFeature bounds features, so that sums of squared differences stay far
// below the largest float32.
const largestFeature = 1e15

// checkFeatures returns a *ParameterError for a feature that is NaN or too
// large; x lives anywhere.
func checkFeatures(app, what string, x *matrix.Matrix[float32], run workflow.Run) error {
	m, n := x.Dims()
	bad := matrix.New[float32](m, n, matrix.On(x.Place()))
	unusable := semiring.NewSelect("unusable", func(x float32, _, _ int) bool { return !(x >= -largestFeature && x <= largestFeature) },
		fmt.Sprintf("!(x >= -%[1]gf && x <= %[1]gf)", float64(largestFeature)))
	var s ops.Steps
	s.Do(ops.Select(bad, unusable, x, workflow.With(run)))
	if s.NVals(bad) == 0 {
		return s.Err()
	}
	for at, v := range bad.All() {
		return &workflow.ParameterError{App: app, Arg: fmt.Sprintf("feature %d of %s %d", at.Row, what, at.Col), Got: fmt.Sprint(v), Want: fmt.Sprintf("a number of at most ±%g", float64(largestFeature))}
	}
	return bad.Err()
}
