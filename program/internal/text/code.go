package text

import (
	"context"
	"fmt"
	"reflect"
	"regexp"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/cpu"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/program/internal/ctext"
	"github.com/hiveblas/hiveblas/program/internal/host"
	"github.com/hiveblas/hiveblas/semiring"
)

// This file compiles program files for the host by package ctext; loops.go calls their code.

// Code is a program file that is compiled for the host.
type Code struct {
	f       *File
	g       rep.View
	watch   *ctext.Watch
	threads int

	layout                         ctext.Layout
	state, message, edge           *ctext.Type
	id, degree, n, superstep       ctext.Place // int32
	old, src, dst, weight          ctext.Place // state, src, dst and weight of the texts
	x, y, sum, active, sent, first ctext.Place // first is the result of init, and sent a message

	init, send, gather, fold, apply func(*ctext.Frame)
	has, closed                     func(*ctext.Frame) bool
	seeds                           map[int32]func(*ctext.Frame)
	usesDst, usesWeight             bool
	number                          bool   // the sum is a built-in monoid of numbers
	identity                        []byte // of other sums
}

// MaxCell is the number of bytes of the largest cell.
const MaxCell = 64

// ctextType returns a canonical type as package ctext knows it.
func ctextType(canonical string) (*ctext.Type, error) {
	t, offsets, err := TypeOf(canonical)
	if err != nil {
		return nil, err
	}
	of := &ctext.Type{Kind: t.Kind, Size: t.Size}
	for k, f := range FieldsOf(canonical) {
		of.Fields = append(of.Fields, ctext.Field{Name: f.Name, Kind: kinds[f.Type], Offset: offsets[k]})
	}
	return of, nil
}

// Compile compiles the file for a graph.
func (f *File) Compile(ctx context.Context, g rep.View, threads int) (*Code, error) {
	c := &Code{f: f, g: g, threads: parallel.Threads(threads), watch: ctext.NewWatch(ctx), seeds: map[int32]func(*ctext.Frame){}}
	edge := f.Edge
	if edge == "" {
		edge = "bool"
	}
	for _, t := range []struct {
		to   **ctext.Type
		text string
	}{{&c.state, f.State}, {&c.message, f.Message}, {&c.edge, edge}} {
		of, err := ctextType(t.text)
		if err != nil {
			return nil, &FileError{File: f.Name, Reason: err.Error()}
		}
		*t.to = of
	}
	for _, at := range []*ctext.Place{&c.id, &c.degree, &c.n, &c.superstep, &c.old, &c.src, &c.dst, &c.weight, &c.x, &c.y, &c.sum,
		&c.sent, &c.first, &c.active} {
		*at, _ = c.layout.Place(&ctext.Type{Size: MaxCell})
	}
	mentions := func(word string) bool {
		is := regexp.MustCompile(`\b` + word + `\b`)
		return is.MatchString(f.Gather) || is.MatchString(f.If)
	}
	c.usesDst, c.usesWeight = mentions("dst"), mentions("weight")
	if t := g.Type(); c.usesWeight && len(c.edge.Fields) == 0 && sparse.OfKind(sparse.GoType(t.Under()).Kind()) == nil {
		return nil, &FileError{File: f.Name, Reason: fmt.Sprintf("the graph has values of type %s, and the edge is a number", t)}
	}
	if err := c.compile(); err != nil {
		return nil, &FileError{File: f.Name, Reason: err.Error()}
	}
	return c, nil
}

// compile compiles the texts. Each sees the names that File lists.
func (c *Code) compile() (err error) {
	f := c.f
	whole := ctext.Number(reflect.Int32)
	vertex := []ctext.Var{{Name: "id", Type: whole, At: c.id}, {Name: "degree", Type: whole, At: c.degree}, {Name: "n", Type: whole, At: c.n}}
	state := ctext.Var{Name: "state", Type: c.state, At: c.old, Const: true}
	run := append([]ctext.Var{state, {Name: "superstep", Type: whole, At: c.superstep}}, vertex...)
	ends := []ctext.Var{{Name: "src", Type: c.state, At: c.src, Const: true}, {Name: "dst", Type: c.state, At: c.dst, Const: true},
		{Name: "weight", Type: c.edge, At: c.weight, Const: true}}
	terms := []ctext.Var{{Name: "x", Type: c.message, At: c.x, Const: true}, {Name: "y", Type: c.message, At: c.y, Const: true}}
	text := func(part, s string, vars []ctext.Var) ctext.Text {
		return ctext.Text{Part: part, Text: s, Vars: vars, Types: map[string]*ctext.Type{"V": c.state, "M": c.message, "E": c.edge, "T": c.message}}
	}
	value := func(to *func(*ctext.Frame), part, s string, vars []ctext.Var, as *ctext.Type, at ctext.Place) {
		if err == nil && s != "" {
			*to, err = c.layout.Expression(text(part, s, vars), as, at)
		}
	}
	test := func(to *func(*ctext.Frame) bool, part, s string, vars []ctext.Var) {
		if err == nil && s != "" {
			*to, err = ctext.Compute[bool](&c.layout, text(part, s, vars), reflect.Bool)
		}
	}
	value(&c.init, "init", f.Init, vertex, c.state, c.first)
	for _, s := range f.Seeds {
		if _, twice := c.seeds[int32(s.ID)]; !twice {
			var code func(*ctext.Frame)
			value(&code, fmt.Sprintf("seed %d", s.ID), s.State, vertex, c.state, c.first)
			c.seeds[int32(s.ID)] = code
		}
	}
	value(&c.send, "send", f.Send, run, c.message, c.sent)
	value(&c.gather, "gather", f.Gather, ends, c.message, c.sent)
	test(&c.has, "if", f.If, ends)
	test(&c.closed, "skip", f.Skip, []ctext.Var{state})
	if err == nil {
		state.Const = false
		vars := append([]ctext.Var{state, {Name: "sum", Type: c.message, At: c.sum, Const: true}, {Name: "active", Type: ctext.Number(reflect.Bool), At: c.active}}, run[1:]...)
		c.apply, err = c.layout.Statements(text("apply", f.Apply, vars))
	}
	t, _, bad := TypeOf(f.Message)
	if bad != nil || err != nil || f.Sum == "any" {
		return err
	}
	sum, identity := f.Sum, f.Identity
	if named, ok := NamedSums(t)[f.Sum]; ok {
		sum, identity, c.number = named.Text, named.Identity, t.Kind != reflect.Bool
	}
	value(&c.fold, "sum", sum, terms, c.message, c.sent)
	var first func(*ctext.Frame)
	value(&first, "identity", identity, nil, c.message, c.sent)
	if err == nil {
		fr := ctext.NewFrame(c.watch)
		first(fr)
		c.identity = unsafe.Slice(ctext.At[byte](fr, c.sent), c.message.Size)
	}
	return err
}

// types returns the types of states and messages of an engine: cells, but for messages that the
// kernels of a named sum read.
func (c *Code) types() (state, message *sparse.Type, sum *cpu.Sum) {
	state, message = ctext.CellType(c.state.Size), ctext.CellType(c.message.Size)
	if sum := kernels(c.message.Kind, c.f.Sum); c.number && sum != nil {
		return state, sparse.OfKind(c.message.Kind), sum
	}
	id := message.Zeroed(1)
	copy(unsafe.Slice((*byte)(id.Pointer()), message.Size), c.identity)
	return state, message, &cpu.Sum{Op: &cpu.Operator{Name: "sum"}, Any: c.f.Sum == "any",
		Monoid: &cpu.Monoid{Identity: id, User: true}}
}

// kernels returns the sum of a name on messages of a kind, nil if it has no kernels here.
func kernels(kind reflect.Kind, name string) *cpu.Sum {
	switch kind {
	case reflect.Int32:
		return named[int32](name)
	case reflect.Uint64:
		return named[uint64](name)
	case reflect.Float32:
		return named[float32](name)
	case reflect.Float64:
		return named[float64](name)
	case reflect.Int64:
		if name == "plus" || name == "times" { // equal bits
			return named[uint64](name)
		}
	}
	return nil
}

func named[M semiring.Number](name string) *cpu.Sum {
	switch name {
	case "plus":
		return semiring.Plus[M]().Inside()
	case "times":
		return semiring.Times[M]().Inside()
	case "min":
		return semiring.Min[M]().Inside()
	case "max":
		return semiring.Max[M]().Inside()
	}
	return nil
}

// Program returns the program for an engine.
func (c *Code) Program() host.Program {
	f := c.f
	p := host.Program{Name: f.Name, Active: len(f.Seeds) == 0, InitSeeds: true,
		Sends: f.Send != "", Skips: f.Skip != "", Everywhere: f.Everywhere, Idempotent: f.Idempotent}
	p.State, p.Message, p.Sum = c.types()
	p.Convert = func(s *sparse.Store) *sparse.Store {
		t := &sparse.Store{Structure: s.Structure, Type: ctext.CellType(c.edge.Size)}
		if !s.Val.None() && c.usesWeight {
			t.Val = ctext.Cells(c.edge, s.Type, s.Val, c.threads)
		}
		return t
	}
	for _, s := range f.Seeds {
		p.Seeds = append(p.Seeds, s.ID)
	}
	return p
}
