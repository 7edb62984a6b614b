package program

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/matrix"
)

// RunFile runs a program of CUDA text on a graph that lives on a device. V is the type of states
// that the file names. The values of edges, of type E, are converted to the type that the file
// names. For a graph on the host, which runs no CUDA text, it is a *PlanError; other errors are
// those of [Run], and *FileError.
func RunFile[V, E comparable](
	ctx context.Context, g matrix.Source[E], f *File, opts ...Options,
) (*Result[V], error) {
	if f == nil {
		return nil, &FileError{Reason: "there is no program"}
	}
	o, n, err := prepare(f.Name, g, opts)
	if err != nil {
		return nil, err
	}
	if reason := f.incomplete(); reason != "" {
		return nil, &FileError{File: f.Name, Reason: reason}
	}
	at, ok := g.View().Place().(device.Runner)
	if !ok {
		return nil, &PlanError{f.Name, o.Plan, "CUDA text needs a GPU, and the graph is on the host",
			"move the graph to a device, or write the program in Go as a program.Program"}
	}
	d, err := f.text(n)
	if err != nil {
		return nil, err
	}
	if d.edge, err = device.TypeOf[E](); err != nil {
		return nil, &FileError{File: f.Name, Reason: err.Error()}
	}
	d.gather.Mul.X = d.edge
	if t, err := device.TypeOf[V](); err != nil || t.Name != d.state.Name {
		return nil, &FileError{File: f.Name, Reason: fmt.Sprintf("the state is of type %s, and the caller wants %T", f.State, *new(V))}
	}
	return runText[V](ctx, at, g.View(), d, o)
}

// fileType returns a type by its name in a file.
func fileType(name string) (t device.Type) {
	switch name {
	case "bool":
		t, _ = device.TypeOf[bool]()
	case "int8":
		t, _ = device.TypeOf[int8]()
	case "int16":
		t, _ = device.TypeOf[int16]()
	case "int32":
		t, _ = device.TypeOf[int32]()
	case "int64":
		t, _ = device.TypeOf[int64]()
	case "uint8":
		t, _ = device.TypeOf[uint8]()
	case "uint16":
		t, _ = device.TypeOf[uint16]()
	case "uint32":
		t, _ = device.TypeOf[uint32]()
	case "uint64":
		t, _ = device.TypeOf[uint64]()
	case "float32":
		t, _ = device.TypeOf[float32]()
	case "float64":
		t, _ = device.TypeOf[float64]()
	}
	return t
}

var weightWord = regexp.MustCompile(`\bweight\b`)

// text turns the file into a program for a graph of n vertices.
func (f *File) text(n int) (*deviceProgram, error) {
	d := &deviceProgram{name: f.Name, state: fileType(f.State), message: fileType(f.Message), active: len(f.Seeds) == 0,
		sends: f.Send != "", skips: f.Skip != "", everywhere: f.Everywhere, supersteps: f.Supersteps}
	var first strings.Builder
	for _, s := range f.Seeds {
		if s.ID < 0 || s.ID >= n {
			return nil, &FileError{File: f.Name, Reason: fmt.Sprintf("the seed %d is no vertex of a graph with %d", s.ID, n)}
		}
		fmt.Fprintf(&first, "id == %d ? (V)(%s) : ", s.ID, s.State)
		d.seeds = append(d.seeds, deviceSeed{id: s.ID})
	}
	fmt.Fprintf(&first, "(V)(%s)", f.Init)
	t := d.message
	lo, hi := t.Limits()
	sums := map[string]struct {
		text, identity string
		exact          bool
	}{
		"plus":  {"x + y", "((" + t.Name + ")0)", !t.Float()},
		"times": {"x * y", "((" + t.Name + ")1)", !t.Float()},
		"min":   {"(y < x || x != x) ? y : x", hi, true},
		"max":   {"(y > x || x != x) ? y : x", lo, true},
		"any":   {"y", "((" + t.Name + ")0)", false},
	}
	sum, named := sums[f.Sum]
	if !named {
		sum.text, sum.identity = f.Sum, "(("+t.Name+")("+f.Identity+"))"
	}
	add := device.Monoid{Identity: sum.identity, Exact: sum.exact, Any: f.Sum == "any",
		Func: device.Func{Name: "sum", Text: sum.text, X: t, Y: t, Out: t, UsesX: true, UsesY: true}}
	edge := "bool"
	if f.Edge != "" {
		edge = fileType(f.Edge).Name
	}
	convert := func(text string) string { return weightWord.ReplaceAllString(text, "(("+edge+")weight)") }
	d.compose(functions{first: first.String(), send: f.Send, apply: f.Apply, skip: f.Skip}, add, convert(f.Gather), convert(f.If))
	return d, nil
}

// runText runs a program of text and returns its states.
func runText[V, E comparable](
	ctx context.Context, at device.Runner, a matrix.View[E], d *deviceProgram, o Options,
) (*Result[V], error) {
	g, err := access.Operand(a, at)
	if err != nil {
		return nil, err
	}
	res := &Result[V]{}
	_, n := a.Dims()
	store, left, err := d.run(ctx, at, g, n, o, res.counts())
	if err != nil {
		return nil, d.explain(o, err)
	}
	res.State = matrix.NewVector[V](n, matrix.On(at))
	access.SetRemote(res.State.Spec().Matrix, store)
	res.Active = left
	if res.Ended == Full && d.supersteps != res.Supersteps {
		return res, &LimitError{d.name, res.Supersteps, left}
	}
	return res, nil
}
