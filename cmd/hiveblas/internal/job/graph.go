package job

import (
	"fmt"
	"path/filepath"
	"strconv"
	"sync/atomic"

	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/internal/cli"
	"github.com/hiveblas/hiveblas/internal/delimited"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// Graph is an input matrix with the information of its file.
type Graph struct {
	*matrix.Matrix[float64]                 // nil if values is set
	Values                  *Values         // with the elements of the file, for commands that move them
	File                    string          // for messages
	Info                    graphio.Info    // of a text file; zero for others
	Rows, Cols              *graphio.Labels // names of vertices that are not the indices, or nil
	Counted                 bool            // the names are ids of an edge list that count from --base
	Bipartite               bool            // rows and columns are different vertices
	Edges                   int64           // of an input with further edges, as of ac
	Other                   *Graph          // the second graph of sgm, or nil
}

// Size returns the dimensions and the number of entries of the input.
func (g *Graph) Size() (m, n int, entries int64) {
	if g.Values != nil {
		m, n = g.Values.Dims()
		return m, n, g.Values.NVals()
	}
	m, n = g.Dims()
	return m, n, g.NVals() + g.Edges
}

// Content is what is read of a graph.
type Content uint8

const (
	Structure Content = iota // every entry is 1
	Weighted                 // with weights
)

// ContentOf returns weighted if weights are wanted, and structure otherwise.
func ContentOf(weights bool) Content {
	if weights {
		return Weighted
	}
	return Structure
}

// Load reads the graph of the command.
func (j *Job) Load(file string, what Content) error {
	return j.Stage("read", func() (err error) {
		if j.Graph, err = j.open(file, what); err != nil {
			return err
		}
		return j.Fits()
	})
}

// LoadSquare is load for commands that need a graph. It also tests for
// symmetry: searches can then pull, and no transpose is needed.
func (j *Job) LoadSquare(file string, what Content) error {
	return j.Stage("read", func() (err error) {
		if j.Graph, err = j.open(file, what); err != nil {
			return err
		}
		if err := WantSquare(j); err != nil {
			return err
		}
		if err := j.Fits(); err != nil {
			return err
		}
		j.Graph.IsSymmetric()
		return nil
	})
}

// MapRows maps a binary file for a command that reads the rows that it needs. The graph of the
// command has no values then. It returns nil for other inputs, for files in other forms, and if the
// command works on a GPU or a group or makes the graph undirected.
func (j *Job) MapRows(file string) (*graphio.MappedStructure, error) {
	if file == "-" || isDrawn(file) || j.Device != nil || j.Group != nil || j.Read.Undirected || j.Read.Bipartite {
		return nil, nil
	}
	in, err := j.OpenInput(file)
	if err != nil {
		return nil, Explain(NameOf(file), err)
	}
	mapped := in.file != nil && in.element() != elementNone && !in.compressed
	in.Close()
	if !mapped {
		return nil, nil
	}
	m, err := graphio.MapStructure(file)
	if err != nil {
		return nil, nil // reading the whole file tells more
	}
	v := m.Pattern.Inside()
	g := &Graph{File: NameOf(file), Rows: m.Rows, Cols: m.Cols, Values: &Values{v.Matrix, kindPattern}}
	g.Bipartite = g.Rows != nil && g.Cols != nil && !g.Rows.Equal(g.Cols)
	j.Graph, j.placed, j.Why = g, true, "the rows of a mapped file"
	rows, cols := v.Dims()
	if err := j.NameGraph(g, rows, cols); err != nil {
		return nil, err
	}
	return m, WantSquare(j)
}

// open reads a graph into float64, also a binary file of another element type. Integers that are
// not exact in float64 are an error, except in the structure alone.
func (j *Job) open(file string, what Content) (g *Graph, err error) {
	if isDrawn(file) {
		return j.drawn(file, what)
	}
	g = &Graph{File: NameOf(file)}
	in, err := j.OpenInput(file)
	if err != nil {
		return nil, Explain(g.File, err)
	}
	rule := j.Read.Duplicates
	if in.element() == ElementBool && rule != "error" {
		rule = "max" // “or” of 0 and 1
	}
	a, err := j.readInput(in, g, FileTypes[ElementFloat64], what, rule)
	g.Matrix = matrix.OfInside[float64](a)
	if err == nil && what == Weighted && !j.Infinite {
		err = g.finite(in.element())
	}
	if err != nil {
		return nil, Explain(g.File, err)
	}
	return g, nil
}

// finite returns an error for a weight of a binary file that is NaN or infinite, as the readers of
// other formats do. Computations on a group check weights themselves.
func (g *Graph) finite(element byte) error {
	if element != ElementFloat32 && element != ElementFloat64 || g.Matrix.Place() != nil {
		return nil
	}
	for i, r := range g.Matrix.Rows() {
		if k := delimited.NotFinite(r.Vals); k >= 0 {
			return &graphio.ParseError{File: g.File, Kind: graphio.RemedyAllowNaN,
				Msg: fmt.Sprintf("the weight of the edge from %s to %s is %v", g.Rows.Name(i), g.Cols.Name(int(r.Cols[k])), r.Vals[k])}
		}
	}
	return nil
}

// readInput reads an open input into elements of type t, and closes it. rule is as --duplicates.
func (j *Job) readInput(in *input, g *Graph, t *sparse.Type, what Content, rule string) (rep.Matrix, error) {
	var overflow atomic.Bool
	opts := j.ReadOptions(in, g, what)
	if op := combining(t, rule, &overflow); op != nil {
		opts = append(opts, op)
	}
	a, err := j.readFrom(in, g, t, opts)
	if err != nil || what == Structure || rule != "sum" {
		return a, err
	}
	inexact, err := j.anyRank(overflow.Load())
	if err == nil && inexact {
		err = errSum(g.File)
	}
	return a, err
}

// readFrom reads an input as a square matrix, or with --bipartite as a
// rectangular one.
func (j *Job) readFrom(in *input, g *Graph, t *sparse.Type, opts []graphio.ReadOption) (rep.Matrix, error) {
	defer in.Close()
	format := in.Format(&j.Read)
	list := format.IsList()
	if !list && format != graphio.FormatAuto { // the reader says that the format is not known
		if err := j.onlyLists(g.File); err != nil {
			return nil, err
		}
	}
	if j.Read.Bipartite {
		if !list && format != graphio.FormatAuto {
			return nil, cli.Fail(g.File, "--bipartite is for edge lists", "leave it out: the rows and columns of other files are separate already", nil)
		}
		opts = append(opts, graphio.Bipartite())
	}
	a, rows, cols, err := graphio.ReadInside(in.R, t, opts...)
	if err != nil {
		return nil, err
	}
	g.Rows, g.Cols, g.Counted = rows, cols, list && j.Read.ids != "renumber"
	g.Bipartite = j.Read.Bipartite || g.Rows != nil && g.Cols != nil && !g.Rows.Equal(g.Cols)
	m, n := a.Dims()
	return a, j.NameGraph(g, m, n)
}

// listFlags are the flags that describe an edge list.
var listFlags = []string{"delimiter", "header", "source-column", "target-column", "skip-lines", "ids", "base"}

// onlyLists returns an error if a flag that describes edge lists is given for a file of another
// format, the only input of the command.
func (j *Job) onlyLists(file string) error {
	if j.inputs != 1 {
		return nil
	}
	for _, name := range listFlags {
		if j.Cmd.Flags().Changed(name) {
			return cli.Usage(j.Cmd.CommandPath(), fmt.Sprintf("--%s is for edge lists, and %s is none; leave it out, or name the format with --format", name, file))
		}
	}
	return nil
}

// ReadOptions returns the read options of the flags, without --duplicates.
func (j *Job) ReadOptions(in *input, g *Graph, what Content) []graphio.ReadOption {
	opts := append(j.Read.options(),
		graphio.WithContext(j.Ctx), graphio.Threads(j.Run.Threads), graphio.WithInfo(&g.Info), graphio.FileName(in.name), graphio.Warn(j.Warn),
		graphio.Progress(func(bytes int64) { j.Progress.Update(in.title(), bytes, in.size) }),
		graphio.Stages(func(stage string, done, total int64) {
			j.Progress.Update(stage+" "+filepath.Base(in.name), done, total)
		}))
	if what == Structure {
		opts = append(opts, graphio.PatternOnly())
	}
	if in.file != nil {
		opts = append(opts, graphio.NamesBeside(in.name))
	}
	if j.Group != nil && !j.Whole {
		switch in.element() { // the host checks each entry of other types
		case elementNone, ElementFloat64:
			opts = append(opts, graphio.On(j.Group))
		case ElementBool:
			if j.Group.PlaceOf(0) == nil { // GPUs do not convert bools
				opts = append(opts, graphio.On(j.Group))
			}
		}
	}
	if e := in.element(); j.Infinite && what == Weighted && (e == elementNone || e == ElementFloat64) {
		opts = append(opts, graphio.AllowNaN())
	}
	return opts
}

// Vertex returns the vertex of a text: a number from 0, or a name where vertices have
// names. place is the origin of the text, for errors.
func (g *Graph) Vertex(place, text string) (int, error) {
	_, n, _ := g.Size()
	if g.Cols != nil {
		if v, ok := g.Cols.Index(text); ok {
			if g.Cols.Ambiguous(text) {
				return 0, cli.Fail(g.File+": "+place, fmt.Sprintf("several vertices are named %q", text), "give numbers, with --vertex-numbers", nil)
			}
			return v, nil
		}
		what := fmt.Sprintf("there is no vertex %q", text)
		if near := nearName(g.Cols, n, text); near != "" {
			what += fmt.Sprintf(", did you mean %q?", near)
		}
		return 0, cli.Fail(g.File+": "+place, what, "give a name that occurs in the file", nil)
	}
	v, err := strconv.Atoi(text)
	if err != nil {
		return 0, cli.Fail(place, fmt.Sprintf("%q is not a vertex", text), "vertices are numbers from 0", nil)
	}
	if v < 0 || v >= n {
		return 0, cli.Fail(g.File+": "+place, fmt.Sprintf("there is no vertex %d", v), rangeRemedy(n), nil)
	}
	return v, nil
}

func rangeRemedy(n int) string {
	if n == 0 {
		return "the graph is empty"
	}
	return fmt.Sprintf("vertices go from 0 to %d", n-1)
}

// Name is the inverse of vertex.
func (g *Graph) Name(v int) string { return g.Cols.Name(v) }

// otherName returns the function that names vertices of the second graph, nil without one.
func (g *Graph) otherName() func(int) string {
	if g.Other == nil {
		return nil
	}
	return g.Other.Name
}

// Kind describes the format of the file.
func (g *Graph) Kind() string {
	switch g.Info.Layout {
	case "":
		return "hiveblas binary"
	case "edges":
		return "edge list, " + g.Info.Field
	case "coordinate", "array":
	default:
		return g.Info.Layout + ", " + g.Info.Field
	}
	return fmt.Sprintf("Matrix Market, %s %s %s", g.Info.Layout, g.Info.Field, g.Info.Symmetry)
}

// WithoutForbidden returns an error for a forbidden pair beside a default cost.
func (g *Graph) WithoutForbidden() error {
	for i, r := range g.Matrix.Rows() {
		if k := delimited.NotFinite(r.Vals); k >= 0 {
			return cli.Fail(fmt.Sprintf("row %s, column %s", g.Rows.Name(i), g.Cols.Name(int(r.Cols[k]))), fmt.Sprintf("the cost is %v", r.Vals[k]),
				"leave --default out if it forbids the pair: missing entries are forbidden then", nil)

		}
	}
	return nil
}

// WantSquare returns an error if the rows and columns of a matrix are different vertices.
func WantSquare(j *Job) error {
	if m, n, _ := j.Graph.Size(); m != n || j.Graph.Bipartite {
		return cli.Fail(j.Graph.File, fmt.Sprintf("the matrix is %d×%d, its rows and columns are different vertices, and %s wants a graph", m, n, j.Cmd.Name()),
			"give an adjacency matrix, or make one with hiveblas project", nil)

	}
	return nil
}
