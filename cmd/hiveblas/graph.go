package main

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

// graph is an input matrix with the information of its file.
type graph struct {
	*matrix.Matrix[float64]                 // nil if values is set
	values                  *values         // with the elements of the file, for commands that move them
	file                    string          // for messages
	info                    graphio.Info    // of a text file; zero for others
	rows, cols              *graphio.Labels // names of vertices that are not the indices, or nil
	counted                 bool            // the names are ids of an edge list that count from --base
	bipartite               bool            // rows and columns are different vertices
	edges                   int64           // of an input with further edges, as of ac
	other                   *graph          // the second graph of sgm, or nil
}

// size returns the dimensions and the number of entries of the input.
func (g *graph) size() (m, n int, entries int64) {
	if g.values != nil {
		m, n = g.values.Dims()
		return m, n, g.values.NVals()
	}
	m, n = g.Dims()
	return m, n, g.NVals() + g.edges
}

// content is what is read of a graph.
type content uint8

const (
	structure content = iota // every entry is 1
	weighted                 // with weights
)

// contentOf returns weighted if weights are wanted, and structure otherwise.
func contentOf(weights bool) content {
	if weights {
		return weighted
	}
	return structure
}

// load reads the graph of the command.
func (j *job) load(file string, what content) error {
	return j.stage("read", func() (err error) {
		if j.graph, err = j.open(file, what); err != nil {
			return err
		}
		return j.fits()
	})
}

// loadSquare is load for commands that need a graph. It also tests for
// symmetry: searches can then pull, and no transpose is needed.
func (j *job) loadSquare(file string, what content) error {
	return j.stage("read", func() (err error) {
		if j.graph, err = j.open(file, what); err != nil {
			return err
		}
		if err := wantSquare(j); err != nil {
			return err
		}
		if err := j.fits(); err != nil {
			return err
		}
		j.graph.IsSymmetric()
		return nil
	})
}

// open reads a graph into float64, also a binary file of another element type. Integers that are
// not exact in float64 are an error, except in the structure alone.
func (j *job) open(file string, what content) (g *graph, err error) {
	if isDrawn(file) {
		return j.drawn(file, what)
	}
	g = &graph{file: nameOf(file)}
	in, err := j.openInput(file)
	if err != nil {
		return nil, explain(g.file, err)
	}
	rule := j.read.duplicates
	if in.element() == elementBool && rule != "error" {
		rule = "max" // “or” of 0 and 1
	}
	a, err := j.readInput(in, g, fileTypes[elementFloat64], what, rule)
	g.Matrix = matrix.OfInside[float64](a)
	if err == nil && what == weighted && !j.infinite {
		err = g.finite(in.element())
	}
	if err != nil {
		return nil, explain(g.file, err)
	}
	return g, nil
}

// finite returns an error for a weight of a binary file that is NaN or infinite, as the readers of
// other formats do. Computations on a group check weights themselves.
func (g *graph) finite(element byte) error {
	if element != elementFloat32 && element != elementFloat64 || g.Matrix.Place() != nil {
		return nil
	}
	for i, r := range g.Matrix.Rows() {
		if k := delimited.NotFinite(r.Vals); k >= 0 {
			return &graphio.ParseError{File: g.file, Kind: graphio.RemedyAllowNaN,
				Msg: fmt.Sprintf("the weight of the edge from %s to %s is %v", g.rows.Name(i), g.cols.Name(int(r.Cols[k])), r.Vals[k])}
		}
	}
	return nil
}

// readInput reads an open input into elements of type t, and closes it. rule is as --duplicates.
func (j *job) readInput(in *input, g *graph, t *sparse.Type, what content, rule string) (rep.Matrix, error) {
	var overflow atomic.Bool
	opts := j.readOptions(in, g, what)
	if op := combining(t, rule, &overflow); op != nil {
		opts = append(opts, op)
	}
	a, err := j.readFrom(in, g, t, opts)
	if err != nil || what == structure || rule != "sum" {
		return a, err
	}
	inexact, err := j.anyRank(overflow.Load())
	if err == nil && inexact {
		err = errSum(g.file)
	}
	return a, err
}

// readFrom reads an input as a square matrix, or with --bipartite as a
// rectangular one.
func (j *job) readFrom(in *input, g *graph, t *sparse.Type, opts []graphio.ReadOption) (rep.Matrix, error) {
	defer in.close()
	format := in.format(&j.read)
	list := format.IsList()
	if !list && format != graphio.FormatAuto { // the reader says that the format is not known
		if err := j.onlyLists(g.file); err != nil {
			return nil, err
		}
	}
	if j.read.bipartite {
		if !list && format != graphio.FormatAuto {
			return nil, cli.Fail(g.file, "--bipartite is for edge lists", "leave it out: the rows and columns of other files are separate already", nil)
		}
		opts = append(opts, graphio.Bipartite())
	}
	a, rows, cols, err := graphio.ReadInside(in.r, t, opts...)
	if err != nil {
		return nil, err
	}
	g.rows, g.cols, g.counted = rows, cols, list && j.read.ids != "renumber"
	g.bipartite = j.read.bipartite || g.rows != nil && g.cols != nil && !g.rows.Equal(g.cols)
	m, n := a.Dims()
	return a, j.nameGraph(g, m, n)
}

// listFlags are the flags that describe an edge list.
var listFlags = []string{"delimiter", "header", "source-column", "target-column", "skip-lines", "ids", "base"}

// onlyLists returns an error if a flag that describes edge lists is given for a file of another
// format, the only input of the command.
func (j *job) onlyLists(file string) error {
	if j.inputs != 1 {
		return nil
	}
	for _, name := range listFlags {
		if j.cmd.Flags().Changed(name) {
			return cli.Usage(j.cmd.CommandPath(), fmt.Sprintf("--%s is for edge lists, and %s is none; leave it out, or name the format with --format", name, file))
		}
	}
	return nil
}

// readOptions returns the read options of the flags, without --duplicates.
func (j *job) readOptions(in *input, g *graph, what content) []graphio.ReadOption {
	opts := append(j.read.options(),
		graphio.WithContext(j.Ctx), graphio.Threads(j.run.threads), graphio.WithInfo(&g.info), graphio.FileName(in.name), graphio.Warn(j.warn),
		graphio.Progress(func(bytes int64) { j.progress.update(in.title(), bytes, in.size) }),
		graphio.Stages(func(stage string, done, total int64) {
			j.progress.update(stage+" "+filepath.Base(in.name), done, total)
		}))
	if what == structure {
		opts = append(opts, graphio.PatternOnly())
	}
	if in.file != nil {
		opts = append(opts, graphio.NamesBeside(in.name))
	}
	if j.group != nil && !j.whole {
		switch in.element() { // the host checks each entry of other types
		case elementNone, elementFloat64:
			opts = append(opts, graphio.On(j.group))
		case elementBool:
			if j.group.PlaceOf(0) == nil { // GPUs do not convert bools
				opts = append(opts, graphio.On(j.group))
			}
		}
	}
	if e := in.element(); j.infinite && what == weighted && (e == elementNone || e == elementFloat64) {
		opts = append(opts, graphio.AllowNaN())
	}
	return opts
}

// vertex returns the vertex of a text: a number from 0, or a name where vertices have
// names. place is the origin of the text, for errors.
func (g *graph) vertex(place, text string) (int, error) {
	_, n, _ := g.size()
	if g.cols != nil {
		if v, ok := g.cols.Index(text); ok {
			if g.cols.Ambiguous(text) {
				return 0, cli.Fail(g.file+": "+place, fmt.Sprintf("several vertices are named %q", text), "give numbers, with --vertex-numbers", nil)
			}
			return v, nil
		}
		what := fmt.Sprintf("there is no vertex %q", text)
		if near := nearName(g.cols, n, text); near != "" {
			what += fmt.Sprintf(", did you mean %q?", near)
		}
		return 0, cli.Fail(g.file+": "+place, what, "give a name that occurs in the file", nil)
	}
	v, err := strconv.Atoi(text)
	if err != nil {
		return 0, cli.Fail(place, fmt.Sprintf("%q is not a vertex", text), "vertices are numbers from 0", nil)
	}
	if v < 0 || v >= n {
		return 0, cli.Fail(g.file+": "+place, fmt.Sprintf("there is no vertex %d", v), rangeRemedy(n), nil)
	}
	return v, nil
}

func rangeRemedy(n int) string {
	if n == 0 {
		return "the graph is empty"
	}
	return fmt.Sprintf("vertices go from 0 to %d", n-1)
}

// name is the inverse of vertex.
func (g *graph) name(v int) string { return g.cols.Name(v) }

// otherName returns the function that names vertices of the second graph, nil without one.
func (g *graph) otherName() func(int) string {
	if g.other == nil {
		return nil
	}
	return g.other.name
}

// kind describes the format of the file.
func (g *graph) kind() string {
	switch g.info.Layout {
	case "":
		return "hiveblas binary"
	case "edges":
		return "edge list, " + g.info.Field
	case "coordinate", "array":
	default:
		return g.info.Layout + ", " + g.info.Field
	}
	return fmt.Sprintf("Matrix Market, %s %s %s", g.info.Layout, g.info.Field, g.info.Symmetry)
}
