// Package workflow is what all workflows need: how one runs (Run, Method), its checks and errors,
// the choice between forms, division among ranks, and access to graphs.
package workflow

import (
	"context"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// Run says how a workflow runs. The zero value uses all threads and has no deadline.
type Run struct {
	Context  context.Context // nil: never ends
	Threads  int             // 0: GOMAXPROCS; negative numbers give a *ParameterError
	Progress Stage           // nil: silent
	// Trace is called after each operation and each kernel of a workflow; may be nil. A workflow
	// first names its algorithm, in a trace that has an Op and a Name and nothing else.
	Trace  func(ops.Trace)
	Method Method // Auto: the fastest form where the graph lives

	tuned *tuned
}

// Method is the form of a workflow.
type Method string

const (
	// Auto runs the form that is the fastest where the graph lives: on a device the fused form of a
	// workflow that has one, on the host a kernel of the host where there is one (scan statistics,
	// core numbers, independent sets, strong components and others), on a group the form divided
	// among the ranks, and else the pipeline.
	Auto Method = ""
	// Pipeline runs the operations of the formula, where the graph lives.
	Pipeline Method = "pipeline"
	// Fused runs the kernels that a workflow has for the whole of it. A workflow returns a
	// *ParameterError if it has no such kernels or the graph is on the host.
	Fused Method = "fused"
)

// FusedOn returns the device that runs the fused form of a workflow, nil for the pipeline.
func FusedOn(r Run, app string, at matrix.Place) (device.Runner, error) {
	runner := device.Of(at)
	switch {
	case r.Method == Pipeline:
		return nil, nil
	case r.Method == Fused && runner == nil:
		return nil, &ParameterError{app, "the method", "fused for a graph on the host", "auto or pipeline, or a graph on a device (see Move)"}
	case r.Method == Fused || r.Method == Auto:
		return runner, nil
	}
	return nil, r.unknownMethod(app)
}

// notFused is the check of workflows without a fused form.
func (r Run) notFused(app string) error {
	switch r.Method {
	case Auto, Pipeline:
		return nil
	case Fused:
		return &ParameterError{app, "the method", "fused, a form that it does not have", "auto or pipeline"}
	}
	return r.unknownMethod(app)
}

func (r Run) unknownMethod(app string) error {
	return &ParameterError{app, "the method", fmt.Sprintf("%q", string(r.Method)), "auto (the empty text), pipeline or fused"}
}

// Stage receives progress: the name of the stage, and how much of it is done. total is 0 if
// unknown.
type Stage func(what string, done, total int64)

// With returns the options to pass to every operation.
func With(r Run) ops.Option {
	return ops.WithOptions(ops.WithThreads(r.Threads), ops.WithContext(r.Context), ops.WithTraces(r.Trace))
}

// Report tells the progress of a run, if someone asked for it.
func Report(r Run, what string, done, total int64) {
	if r.Progress != nil {
		r.Progress(what, done, total)
	}
}

// Passing reports the progress of a run at each pass of a loop without a known end.
func Passing(r Run, what string) ops.Option {
	return ops.Progress(func(pass int64) { Report(r, what, 0, 0) })
}

// FullVector returns a vector with n entries x at a place, where it is made.
func FullVector[T comparable](at matrix.Place, n int, x T, with ops.Option) (*matrix.Vector[T], error) {
	if at == nil {
		return matrix.NewFullVector(n, x)
	}
	v := matrix.NewVector[T](n, matrix.On(at))
	return v, ops.AssignVectorScalar(v, x, ops.All(), with)
}

// Discard gives back the memory on a device of vectors that a workflow needs no more: the collector
// finds it late, and new memory costs as much as an operation.
func Discard(list ...interface {
	Clear()
	Place() matrix.Place
}) {
	for _, v := range list {
		if v.Place() != nil {
			v.Clear()
		}
	}
}

// VectorAt returns a full vector of values at a place. It keeps the values.
func VectorAt[T comparable](at matrix.Place, values []T) (*matrix.Vector[T], error) {
	v, err := matrix.VectorOf(values)
	if err != nil {
		return nil, err
	}
	return v, v.Move(at)
}

// KeepBitmap pins the format of a vector to Bitmap, and converts it where it lives.
func KeepBitmap[T comparable](v *matrix.Vector[T], with ops.Option) error {
	if v.Place() != nil { // a vector that no operation has written is on the host
		if err := ops.Apply(v, semiring.Identity[T](), v, with); err != nil {
			return err
		}
	}
	return v.SetFormat(matrix.Bitmap)
}

// Only returns the settings that a caller gave, the zero value if none.
func Only[O any](app string, opts []O) (o O, err error) {
	if len(opts) == 1 {
		o = opts[0]
	}
	return o, checkOnly(app, len(opts), &o)
}

// checkOnly checks the settings at an address and the number of values that were given.
func checkOnly(app string, count int, o any) error {
	if count > 1 {
		return &ParameterError{app, "the settings", fmt.Sprintf("%d values of %v", count, reflect.TypeOf(o).Elem()), "one value, or none for the defaults"}
	}
	if r, ok := o.(interface{ checkThreads(app string) error }); ok && count == 1 {
		return r.checkThreads(app)
	}
	return nil
}

// CheckThreads verifies the number of threads.
func CheckThreads(r Run, app string) error { return r.checkThreads(app) }

// checkThreads is a method, which the settings that embed a Run have too.
func (r Run) checkThreads(app string) error {
	if r.Threads < 0 {
		return &ParameterError{app, "Threads", fmt.Sprint(r.Threads), "1 or more, or 0 for GOMAXPROCS"}
	}
	return nil
}

// OnlyPipeline is only for workflows without a fused form.
func OnlyPipeline[O interface{ notFused(app string) error }](app string, opts []O) (O, error) {
	o, err := Only(app, opts)
	if err == nil {
		err = o.notFused(app)
	}
	return o, err
}

// Usable returns the error of a matrix: the error of its construction, or an error if it is nil.
func Usable(app, arg string, g Operand) error {
	if g != nil {
		if err := g.Inside().Err(); err != (*matrix.View[bool])(nil).Err() {
			return err
		}
	}
	return &matrix.InvalidError{Op: app, Reason: arg + " is nil or an empty view; make a matrix with matrix.New, a Builder or a From function"}
}

// Square checks that a graph is a square matrix and returns its order.
func Square(app string, g Operand) (int, error) {
	if err := Usable(app, "the graph", g); err != nil {
		return 0, err
	}
	m, n := g.Inside().Dims()
	if m != n {
		return 0, &matrix.DimensionError{Op: app, Arg: "the graph", Got: fmt.Sprintf("%d×%d", m, n),
			Want: "square", Remedy: "give an adjacency matrix; of a bipartite graph, a projection"}
	}
	return n, nil
}

// Vertex checks that v is a vertex of a graph of order n.
func Vertex(app, arg string, v, n int) error {
	if v < 0 || v >= n {
		return &matrix.IndexError{Op: app, Arg: arg, Index: int64(v), Limit: int64(n)}
	}
	return nil
}

// A ParameterError says that a parameter of a workflow is outside its range.
type ParameterError struct {
	App, Arg, Got, Want string
}

func (e *ParameterError) Error() string {
	return fmt.Sprintf("%s: %s is %s, want %s", e.App, e.Arg, e.Got, e.Want)
}

// A VertexError is a *[ParameterError] about vertices, to which errors.As converts it. Its text has
// the numbers of the vertices; Named gives it their names.
type VertexError struct {
	ParameterError
	Vertices []int // of the graph
	Others   []int // of the second graph, in SGM

	arg, got string // Arg and Got with {0}, {1} for Vertices and {other} for Others
}

// AboutVertices returns a VertexError. {0} and {1} in arg and got stand for the vertices.
func AboutVertices(app, arg, got, want string, vertices ...int) *VertexError {
	return AboutPairs(app, arg, got, want, vertices, nil)
}

// AboutPairs is aboutVertices of two graphs: {other} stands for the vertex of the second one.
func AboutPairs(app, arg, got, want string, vertices, others []int) *VertexError {
	e := &VertexError{ParameterError{App: app, Want: want}, vertices, others, arg, got}
	e.ParameterError = *e.Named(strconv.Itoa, strconv.Itoa)
	return e
}

// Unwrap returns the *ParameterError.
func (e *VertexError) Unwrap() error { return &e.ParameterError }

// Named returns the error with names in place of numbers: name for vertices of the first graph,
// other for vertices of the second. A nil function leaves the numbers.
func (e *VertexError) Named(name, other func(vertex int) string) *ParameterError {
	if name == nil {
		name = strconv.Itoa
	}
	if other == nil {
		other = strconv.Itoa
	}
	var pairs []string
	for k, v := range e.Vertices {
		pairs = append(pairs, fmt.Sprintf("{%d}", k), name(v))
	}
	for _, v := range e.Others {
		pairs = append(pairs, "{other}", other(v))
	}
	if e.arg == "" && e.got == "" { // not made by this package
		p := e.ParameterError
		return &p
	}
	named := strings.NewReplacer(pairs...)
	return &ParameterError{e.App, named.Replace(e.arg), named.Replace(e.got), e.Want}
}

// A WeightError names an edge with a weight that a workflow cannot use.
type WeightError struct {
	App      string
	Row, Col int
	Got      string
	Want     string
}

func (e *WeightError) Error() string {
	return fmt.Sprintf("%s: the edge from %d to %d has weight %s, want %s", e.App, e.Row, e.Col, e.Got, e.Want)
}
