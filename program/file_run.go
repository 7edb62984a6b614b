package program

import (
	"context"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"unsafe"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/program/internal/ctext"
	"github.com/hiveblas/hiveblas/program/internal/text"
)

// RunFile runs a program file on a graph, where the graph lives: on the host, on a group of ranks
// of the host, or on a device. V is the type of states that the file names; of a struct, a Go
// struct with the same names and types of fields. The values of edges, of type E, are converted to
// the type that the file names; for an edge with fields, E has the same fields. RunFile returns a
// *FileError if V or E does not fit the file, or if a text has what the host does not know, a
// *PlanError on a group of devices, and the errors of [Run]. [RunFileColumns] takes states of any
// type.
func RunFile[V, E comparable](
	ctx context.Context, g matrix.Source[E], f *File, opts ...Options,
) (*Result[V], error) {
	at, o, err := readyFile(g, f, opts)
	if err != nil {
		return nil, err
	}
	if !text.Matches(f.State, reflect.TypeFor[V]()) {
		return nil, &FileError{File: f.Name, Reason: fmt.Sprintf("the state is of type %s, and the caller wants %T", f.State, *new(V))}
	}
	return resultOf[V](f.run(ctx, at, g.Inside(), o, statesOf[V]))
}

// run runs the program. states makes a vector of states.
func (f *File) run(ctx context.Context, at device.Runner, g rep.View, o Options, states func(n int, at matrix.Place) rep.View) (*outcome, error) {
	if at == nil {
		in, err := f.onHost(ctx, g, o, states)
		if err != nil {
			return nil, err
		}
		return runHere(ctx, g, in, o)
	}
	d, err := f.onDevice(g)
	if err != nil {
		return nil, err
	}
	return runText(ctx, at, g, d, o, states)
}

// onHost compiles the program for a graph on the host or on a group.
func (f *File) onHost(ctx context.Context, g rep.View, o Options, states func(n int, at matrix.Place) rep.View) (*outline, error) {
	var steps []*outline
	for k, p := range f.text().Steps() {
		c, err := p.Compile(ctx, g, o.Threads)
		if err != nil {
			return nil, f.text().Named(k, err)
		}
		in := &outline{Program: c.Program(), edge: g.Type(), states: states, supersteps: f.Supersteps}
		in.fn = c.Functions(&in.Program)
		steps = append(steps, in)
	}
	if len(f.Phases) == 0 {
		return steps[0], nil
	}
	for k, p := range f.Phases {
		steps[k].reverse, steps[k].all = p.Reverse, p.All
	}
	in := &outline{states: states, supersteps: f.Supersteps, phased: true, phases: steps}
	in.Name, in.State = f.Name, steps[0].State
	return in, nil
}

// FileResult is the result of [RunFileColumns].
type FileResult struct {
	Columns    []FileColumn
	Supersteps int
	Active     int64 // vertices that are still active
	Ended      Ended
}

// FileColumn is a field of the states of all vertices. Values is a slice of its type, such as
// []float32. A state that is a number has one column, without a name.
type FileColumn struct {
	Name   string
	Values any
}

// RunFileColumns is [RunFile] for states of any type, which it returns as columns in host memory,
// one for each field of the state.
func RunFileColumns[E comparable](
	ctx context.Context, g matrix.Source[E], f *File, opts ...Options,
) (*FileResult, error) {
	return runFileColumns(ctx, g, f, opts)
}

func runFileColumns(ctx context.Context, g operand, f *File, opts []Options) (*FileResult, error) {
	at, o, err := readyFile(g, f, opts)
	if err != nil {
		return nil, err
	}
	t, _, err := text.TypeOf(f.State)
	if err != nil {
		return nil, &FileError{File: f.Name, Reason: err.Error()}
	}
	if at == nil {
		return f.columnsHere(ctx, g.Inside(), o, t.Size)
	}
	d, err := f.onDevice(g.Inside())
	if err != nil {
		return nil, err
	}
	a, err := g.Inside().Operand(at)
	if err != nil {
		return nil, err
	}
	_, n := g.Inside().Dims()
	states := make([]byte, n*t.Size)
	_, out, err := d.run(ctx, at, a, n, o, kept{bytes: states})
	if err != nil {
		return nil, err
	}
	_, err = out.limited(d.name, d.supersteps)
	return f.result(&out, states, t.Size), err
}

// columnsHere runs the program on the host or on a group, with states of so many bytes.
func (f *File) columnsHere(ctx context.Context, g rep.View, o Options, size int) (*FileResult, error) {
	states, step := statesOf[uint64], int(ctext.CellType(size).Size)
	switch step {
	case 16:
		states = statesOf[[2]uint64]
	case text.MaxCell:
		states = statesOf[[8]uint64]
	}
	out, err := f.run(ctx, nil, g, o, states)
	if out == nil {
		return nil, err
	}
	if g.Place() != nil {
		if err := out.state.Move(nil, true, 0); err != nil {
			return nil, err
		}
	}
	_, n := out.state.Dims()
	var raw []byte
	if val := out.state.Rows().Val; n > 0 {
		raw = unsafe.Slice((*byte)(val.Pointer()), n*step)
	}
	return f.result(out, raw, step), err
}

// result returns the columns of states of size bytes each.
func (f *File) result(out *outcome, states []byte, size int) *FileResult {
	return &FileResult{f.columns(states, size), out.supersteps, out.active, out.ended}
}

// readyFile checks a graph, a program and options. It returns the device of the graph, nil for the
// host and for groups of ranks of the host.
func readyFile(g operand, f *File, opts []Options) (device.Runner, Options, error) {
	if f == nil {
		return nil, Options{}, &FileError{Reason: "there is no program"}
	}
	o, n, err := prepare(f.Name, g, opts)
	if err != nil {
		return nil, o, err
	}
	if reason := f.text().Incomplete(); reason != "" {
		return nil, o, &FileError{File: f.Name, Reason: reason}
	}
	for _, s := range f.Seeds {
		if s.ID < 0 || s.ID >= n {
			return nil, o, &FileError{File: f.Name, Reason: fmt.Sprintf("the seed %d is no vertex of a graph with %d", s.ID, n)}
		}
	}
	place := g.Inside().Place()
	at := device.Of(place)
	if group, is := place.(*comm.Group); is && onGPUs(group) || at == nil && place != nil && !is {
		return nil, o, &PlanError{f.Name, o.Plan, "the graph is on " + place.String() + ", which runs no program files",
			"move the graph to one device or to the host, or write the program in Go as a program.Program"}
	}
	values := sparse.GoType(g.Inside().Type())
	if text.IsStruct(f.Edge) && !text.Matches(f.Edge, values) {
		return nil, o, &FileError{File: f.Name, Reason: fmt.Sprintf("the edge is of type %s, and the graph has values of type %s", f.Edge, values)}
	}
	return at, o, nil
}

// columns splits states of size bytes each into their fields.
func (f *File) columns(states []byte, size int) []FileColumn {
	_, offsets, _ := text.TypeOf(f.State)
	fields := text.FieldsOf(f.State)
	if fields == nil {
		fields, offsets = []text.Field{{Type: f.State}}, []int{0}
	}
	columns := make([]FileColumn, len(fields))
	for k, field := range fields {
		columns[k] = FileColumn{field.Name, text.Columns[field.Type](states, size, offsets[k], len(states)/size)}
	}
	return columns
}

var weightWord = regexp.MustCompile(`\bweight\b`)

// onDevice turns the file into text for a graph on a device.
func (f *File) onDevice(g rep.View) (*deviceProgram, error) {
	if len(f.Phases) == 0 {
		return f.textOn(g, nil)
	}
	d := &deviceProgram{name: f.Name, supersteps: f.Supersteps}
	for k, p := range f.text().Steps() {
		phase, err := (*File)(p).textOn(g, &f.Phases[k])
		if err != nil {
			return nil, f.text().Named(k, err)
		}
		d.phases = append(d.phases, phase)
	}
	d.state = d.phases[0].state
	return d, nil
}

// textOn is onDevice for a phase, or with nil for a file without phases.
func (f *File) textOn(g rep.View, phase *FilePhase) (*deviceProgram, error) {
	edge, err := device.TypeFor(sparse.GoType(g.Type()))
	if err != nil {
		return nil, &FileError{File: f.Name, Reason: err.Error()}
	}
	state, _, err := text.TypeOf(f.State)
	if err != nil {
		return nil, &FileError{File: f.Name, Reason: err.Error()}
	}
	t, _, err := text.TypeOf(f.Message)
	if err != nil {
		return nil, &FileError{File: f.Name, Reason: err.Error()}
	}
	d := &deviceProgram{name: f.Name, state: state, edge: edge, message: t, active: len(f.Seeds) == 0,
		sends: f.Send != "", skips: f.Skip != "", everywhere: f.Everywhere, supersteps: f.Supersteps}
	if phase != nil {
		d.phased, d.reverse, d.all = true, phase.Reverse, phase.All
	}
	var first strings.Builder
	for _, s := range f.Seeds {
		fmt.Fprintf(&first, "id == %d ? %s : ", s.ID, valueOf(state, "V", s.State))
		d.seeds = append(d.seeds, deviceSeed{id: s.ID})
	}
	first.WriteString(valueOf(state, "V", f.Init))
	sum, named := text.NamedSums(t)[f.Sum]
	if !named {
		sum.Text, sum.Identity = valueOf(t, "T", f.Sum), valueOf(t, t.Name, f.Identity)
	}
	add := device.Monoid{Identity: sum.Identity, Exact: sum.Exact, Any: f.Sum == "any",
		Func: device.Func{Name: "sum", Text: sum.Text, X: t, Y: t, Out: t, UsesX: true, UsesY: true}}
	given, convert := "bool", func(s string) string { return s }
	if f.Edge != "" && !text.IsStruct(f.Edge) {
		as, _, err := text.TypeOf(f.Edge)
		if err != nil {
			return nil, &FileError{File: f.Name, Reason: err.Error()}
		}
		given = as.Name
	}
	if !text.IsStruct(f.Edge) {
		convert = func(s string) string { return weightWord.ReplaceAllString(s, "(("+given+")weight)") }
	}
	send, gather := f.Send, convert(f.Gather)
	if !t.Number() {
		send, gather = valueOf(t, "M", send), valueOf(t, t.Name, gather)
	}
	d.compose(functions{first: first.String(), send: send, apply: f.Apply, skip: f.Skip}, add, gather, convert(f.If))
	return d, nil
}

// valueOf is an expression of a value of type t, which the text calls name. Fields in braces are
// converted to their types.
func valueOf(t device.Type, name, value string) string {
	inner, braces := strings.CutPrefix(value, "{")
	if !t.Number() && braces && strings.HasSuffix(inner, "}") {
		return "hb_make_" + t.Name + "(" + inner[:len(inner)-1] + ")"
	}
	return "((" + name + ")(" + value + "))"
}

// runText runs a program of text and returns its states, in a vector that states makes.
func runText(
	ctx context.Context, at device.Runner, a rep.View, d *deviceProgram, o Options, states func(n int, at matrix.Place) rep.View,
) (*outcome, error) {
	g, err := a.Operand(at)
	if err != nil {
		return nil, err
	}
	_, n := a.Dims()
	store, out, err := d.run(ctx, at, g, n, o, kept{to: n})
	if err != nil {
		return nil, err
	}
	out.state = states(n, at.Place())
	out.state.SetRemote(store)
	return out.limited(d.name, d.supersteps)
}
