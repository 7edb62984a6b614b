package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"

	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// graph is a matrix that was read, and what its file said.
type graph struct {
	*matrix.Matrix[float64]
	file       string
	info       matrix.Info    // of a Matrix Market file; zero for others
	rows, cols *matrix.Labels // ids of an edge list that was renumbered, or nil
	edges      int64          // of an input that is more than a matrix
}

// size returns the dimensions and the number of entries of the input.
func (g *graph) size() (m, n int, entries int64) {
	m, n = g.Dims()
	return m, n, g.NVals() + g.edges
}

// The two ways to read a graph.
const (
	weighted  = false
	structure = true // every entry is 1
)

// load reads the graph of the command.
func (j *job) load(file string, only bool) error {
	return j.stage("read", func() (err error) {
		j.graph, err = j.open(file, only)
		return err
	})
}

// loadSquare is load for commands whose graph has one kind of vertex. It also
// looks whether the graph is symmetric, which lets searches pull, and saves
// others the transpose.
func (j *job) loadSquare(file string, only bool) error {
	return j.stage("read", func() (err error) {
		if j.graph, err = j.open(file, only); err != nil {
			return err
		}
		if m, n := j.graph.Dims(); m != n {
			return &failure{file, fmt.Sprintf("the matrix is %d×%d, and %s wants a square one", m, n, j.cmd.Name()),
				"give an adjacency matrix, or make one with hiveblas project", nil}
		}
		j.graph.IsSymmetric()
		return nil
	})
}

func (j *job) open(file string, only bool) (*graph, error) {
	g := &graph{file: file}
	opts := readOptions[float64](j, file, &g.info)
	if only {
		opts = append(opts, matrix.PatternOnly())
	}
	var err error
	g.Matrix, g.rows, g.cols, err = readAs[float64](j, file, opts)
	if errors.Is(err, matrix.ErrType) {
		g.Matrix, err = readConverted(j, file, opts)
	}
	if err != nil {
		return nil, explain(file, err)
	}
	if g.info.Layout == "" { // a binary file of another type was converted without them
		err = j.settleBinary(g, only)
	}
	return g, explain(file, err)
}

func (j *job) settleBinary(g *graph, only bool) error {
	with := ops.WithOptions(ops.WithContext(j.ctx), ops.WithThreads(j.run.threads))
	if only {
		if err := ops.Apply(g.Matrix, semiring.OneOp[float64, float64](), g.Matrix, with); err != nil {
			return err
		}
	}
	if !j.read.undirected {
		return nil
	}
	if m, n := g.Dims(); m != n {
		return &matrix.DimensionError{Arg: "the matrix", Got: fmt.Sprintf("%d×%d", m, n), Want: "square", Remedy: "--undirected is for graphs of one kind of vertex"}
	}
	if g.IsSymmetric() {
		return nil
	}
	return ops.EWiseAdd(g.Matrix, semiring.Min[float64](), g.Matrix, g.T(), with)
}

// readOptions are those that the flags ask for.
func readOptions[T semiring.Number](j *job, file string, info *matrix.Info) []matrix.ReadOption {
	var size int64
	if st, err := os.Stat(file); err == nil && st.Mode().IsRegular() {
		size = st.Size()
	}
	opts := []matrix.ReadOption{
		matrix.WithContext(j.ctx), matrix.Threads(j.run.threads), matrix.WithInfo(info), matrix.FileName(file),
		matrix.Progress(func(bytes int64) { j.progress.update("read "+filepath.Base(file), bytes, size) }),
	}
	f := j.read
	if f.ids == "keep" {
		opts = append(opts, matrix.KeepIDs())
	}
	if f.weightColumn >= 0 {
		opts = append(opts, matrix.WeightColumn(f.weightColumn))
	}
	if f.skipLines > 0 {
		opts = append(opts, matrix.SkipLines(f.skipLines))
	}
	if f.undirected {
		opts = append(opts, matrix.Symmetrise())
	}
	switch f.duplicates {
	case "sum":
		opts = append(opts, matrix.Duplicates[T](semiring.Plus[T]()))
	case "min":
		opts = append(opts, matrix.Duplicates[T](semiring.Min[T]()))
	case "max":
		opts = append(opts, matrix.Duplicates[T](semiring.Max[T]()))
	case "first":
		opts = append(opts, matrix.Duplicates[T](matrix.CombineFunc[T](func(x, _ T) T { return x })))
	case "last":
		opts = append(opts, matrix.Duplicates[T](matrix.CombineFunc[T](func(_, y T) T { return y })))
	}
	return opts
}

// readAs reads a file, an edge list as a rectangular matrix with --bipartite.
func readAs[T matrix.Element](j *job, file string, opts []matrix.ReadOption) (a *matrix.Matrix[T], rows, cols *matrix.Labels, err error) {
	if !j.read.bipartite {
		a, rows, err = matrix.ReadFile[T](file, opts...)
		return a, rows, rows, err
	}
	switch filepath.Ext(strings.TrimSuffix(strings.ToLower(file), ".gz")) {
	case ".tsv", ".txt", ".el", ".csv":
	default:
		return nil, nil, nil, &failure{file, "--bipartite is for edge lists (.tsv, .txt, .el, .csv)", "leave it out: the rows and columns of other files are separate already", nil}
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, nil, nil, err
	}
	defer f.Close()
	return matrix.ReadBipartite[T](f, opts...)
}

// readConverted reads a file in the binary form whose elements are no float64.
func readConverted(j *job, file string, opts []matrix.ReadOption) (*matrix.Matrix[float64], error) {
	for _, read := range []func(*job, string, []matrix.ReadOption) (*matrix.Matrix[float64], error){
		readNumbers[int64], readNumbers[int32], readNumbers[float32], readNumbers[int16], readNumbers[int8],
		readNumbers[uint64], readNumbers[uint32], readNumbers[uint16], readNumbers[uint8],
	} {
		a, err := read(j, file, opts)
		if !errors.Is(err, matrix.ErrType) {
			return a, err
		}
	}
	b, _, err := matrix.ReadFile[bool](file, opts...)
	if err != nil {
		return nil, err
	}
	m, n := b.Dims()
	a := matrix.New[float64](m, n)
	truth := semiring.NewUnary("truth", func(x bool) float64 {
		if x {
			return 1
		}
		return 0
	}, "")
	return a, ops.Apply(a, truth, b, ops.WithContext(j.ctx), ops.WithThreads(j.run.threads))
}

func readNumbers[T interface {
	semiring.Number
	matrix.Number
}](j *job, file string, opts []matrix.ReadOption) (*matrix.Matrix[float64], error) {
	b, _, err := matrix.ReadFile[T](file, opts...)
	if err != nil {
		return nil, err
	}
	for c, v := range b.All() {
		if T(float64(v)) != v || math.Abs(float64(v)) >= 1<<63 {
			return nil, &failure{fmt.Sprintf("%s: row %d, column %d (from 0)", file, c.Row, c.Col),
				fmt.Sprintf("the integer %v is not exact in float64", v), "scale the weights below 2^53", nil}
		}
	}
	m, n := b.Dims()
	a := matrix.New[float64](m, n)
	return a, ops.Apply(a, semiring.Convert[T, float64](), b, ops.WithContext(j.ctx), ops.WithThreads(j.run.threads))
}

// vertex returns the vertex that text names: its number from 0, or its id in
// an edge list that was renumbered. place says where the text stands.
func (g *graph) vertex(place, text string) (int, error) {
	_, n := g.Dims()
	if g.cols != nil {
		if v, ok := g.cols.Index(text); ok {
			return v, nil
		}
		return 0, &failure{g.file + ": " + place, fmt.Sprintf("there is no vertex %q", text), "give an id that occurs in the file", nil}
	}
	v, err := strconv.Atoi(text)
	if err != nil {
		return 0, &failure{place, fmt.Sprintf("%q is no vertex", text), "vertices are numbers from 0", nil}
	}
	if v < 0 || v >= n {
		return 0, &failure{g.file + ": " + place, fmt.Sprintf("there is no vertex %d", v), rangeRemedy(n), nil}
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

// kind says what sort of file the graph came from.
func (g *graph) kind() string {
	if g.info.Layout != "" {
		return fmt.Sprintf("Matrix Market, %s %s %s", g.info.Layout, g.info.Field, g.info.Symmetry)
	}
	if binaryHead(g.file) != nil {
		return "hiveblas binary"
	}
	return "edge list"
}

// The start of a file in the binary form.
const (
	binaryMagic   = "\x89HGB"
	binaryElement = 11 // offset of the kind of element: 1 bool, to 9 integers, then floats
)

// binaryHead returns the first bytes of a file in the binary form, compressed
// or not, and nil for other files.
func binaryHead(file string) []byte {
	f, err := os.Open(file)
	if err != nil {
		return nil
	}
	defer f.Close()
	head := make([]byte, binaryElement+1)
	if strings.HasSuffix(strings.ToLower(file), ".gz") {
		z, err := gzip.NewReader(f)
		if err != nil {
			return nil
		}
		_, err = io.ReadFull(z, head)
		if err != nil {
			return nil
		}
	} else if _, err := io.ReadFull(f, head); err != nil {
		return nil
	}
	if string(head[:len(binaryMagic)]) != binaryMagic {
		return nil
	}
	return head
}
