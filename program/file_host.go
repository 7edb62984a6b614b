package program

import (
	"context"
	"fmt"
	"reflect"
	"regexp"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/program/internal/ctext"
	"github.com/hiveblas/hiveblas/semiring"
)

// This file runs program files on the host. Package ctext compiles the texts; the functions of a
// [Program] of cells call their code. A cell holds a number or a struct at its start.
type (
	cell = uint64
	wide = [8]uint64 // of a struct of more than 8 bytes
)

// fileCode is a program file that is compiled for the host.
type fileCode struct {
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

// ctextType returns a canonical type as package ctext knows it.
func ctextType(canonical string) (*ctext.Type, error) {
	t, offsets, err := fileType(canonical)
	if err != nil {
		return nil, err
	}
	of := &ctext.Type{Kind: t.Kind, Size: t.Size}
	for k, f := range fieldsOf(canonical) {
		of.Fields = append(of.Fields, ctext.Field{Name: f.Name, Kind: fileKinds[f.Type], Offset: offsets[k]})
	}
	return of, nil
}

// onHost compiles the file for a graph g.
func (f *File) onHost(ctx context.Context, g rep.View, o Options) (*fileCode, error) {
	c := &fileCode{f: f, g: g, threads: parallel.Threads(o.Threads), watch: ctext.NewWatch(ctx), seeds: map[int32]func(*ctext.Frame){}}
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
		*at, _ = c.layout.Place(&ctext.Type{Size: int(unsafe.Sizeof(wide{}))}) // of a cell
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
func (c *fileCode) compile() (err error) {
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
	t, _, bad := fileType(f.Message)
	if bad != nil || err != nil || f.Sum == "any" {
		return err
	}
	sum, identity := f.Sum, f.Identity
	if named, ok := namedSums(t)[f.Sum]; ok {
		sum, identity, c.number = named.text, named.identity, t.Kind != reflect.Bool
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

// run runs the program. Cells are as large as its types need. There are few forms, since each is an
// engine of its own, of 30 kB.
func (c *fileCode) run(ctx context.Context, o Options, states func(n int, at matrix.Place) rep.View) (*outcome, error) {
	named := reflect.Invalid
	if c.number {
		named = c.message.Kind
	}
	switch large := c.state.Size > 8; {
	case c.message.Size > 8 || c.edge.Size > 8 || large && named != reflect.Float64:
		return runCells[wide, wide, wide](ctx, c, sumOf[wide](c), o, states)
	case large:
		return runCells[wide, cell](ctx, c, namedSum[float64](c.f.Sum), o, states)
	case named == reflect.Int32:
		return runCells[cell, cell](ctx, c, namedSum[int32](c.f.Sum), o, states)
	case named == reflect.Uint64, named == reflect.Int64 && (c.f.Sum == "plus" || c.f.Sum == "times"): // equal bits
		return runCells[cell, cell](ctx, c, namedSum[uint64](c.f.Sum), o, states)
	case named == reflect.Float32:
		return runCells[cell, cell](ctx, c, namedSum[float32](c.f.Sum), o, states)
	case named == reflect.Float64:
		return runCells[cell, cell](ctx, c, namedSum[float64](c.f.Sum), o, states)
	}
	return runCells[cell, cell](ctx, c, sumOf[cell](c), o, states)
}

// namedSum returns a sum that a file names, with its kernels.
func namedSum[M semiring.Number](name string) func(*ctext.Frame) semiring.Monoid[M] {
	sum := map[string]func() semiring.Monoid[M]{
		"plus": semiring.Plus[M], "times": semiring.Times[M], "min": semiring.Min[M], "max": semiring.Max[M]}[name]
	return func(*ctext.Frame) semiring.Monoid[M] { return sum() }
}

// sumOf returns the sum of cells, whose code runs in a frame.
func sumOf[M comparable](c *fileCode) func(*ctext.Frame) semiring.Monoid[M] {
	if c.f.Sum == "any" {
		return func(*ctext.Frame) semiring.Monoid[M] { return semiring.Any[M]() }
	}
	var identity M
	copy(ctext.Bytes(&identity), c.identity)
	return func(f *ctext.Frame) semiring.Monoid[M] {
		x, y, to := ctext.At[M](f, c.x), ctext.At[M](f, c.y), ctext.At[M](f, c.sent)
		return semiring.NewMonoid(semiring.NewBinary("sum", func(a, b M) M {
			*x, *y = a, b
			c.fold(f)
			return *to
		}), identity)
	}
}

func runCells[V, E, M comparable](
	ctx context.Context, c *fileCode, sum func(*ctext.Frame) semiring.Monoid[M], o Options, states func(n int, at matrix.Place) rep.View,
) (*outcome, error) {
	p := programOf[V, E](c, ctext.NewFrame(c.watch), sum)
	in := p.outline()
	in.states = states
	_, n := c.g.Dims()
	if err := in.check(n); err != nil {
		return nil, err
	}
	return runHere(ctx, c.g, p, in, o, func(v []V) (rep.View, error) {
		out := states(len(v), nil)
		of := out.Type()
		out.SetStore(&sparse.Store{Val: p.store(of, v), Type: of, Structure: sparse.Structure{
			Format: sparse.Full, NRows: 1, NCols: len(v), NVals: int64(len(v))}})
		return out, nil
	})
}

// programOf returns the program whose functions run in a frame.
func programOf[V, E, M comparable](c *fileCode, fr *ctext.Frame, sum func(*ctext.Frame) semiring.Monoid[M]) *Program[V, E, M] {
	f := c.f
	p := &Program[V, E, M]{Name: f.Name, Sum: sum(fr), Everywhere: f.Everywhere, Idempotent: f.Idempotent, Supersteps: f.Supersteps}
	id, degree, n, superstep := ctext.At[int32](fr, c.id), ctext.At[int32](fr, c.degree), ctext.At[int32](fr, c.n), ctext.At[int32](fr, c.superstep)
	first, old, sent := ctext.At[V](fr, c.first), ctext.At[V](fr, c.old), ctext.At[M](fr, c.sent)
	at := func(v Vertex) { *id, *degree, *n, *superstep = v.ID, v.Degree, int32(v.N), int32(v.Superstep) }
	p.Init = InitFunc[V]{Active: len(f.Seeds) == 0, seeds: true, Func: func(v Vertex) V {
		at(v)
		code := c.init
		if len(c.seeds) > 0 {
			if seed := c.seeds[v.ID]; seed != nil {
				code = seed
			}
		}
		code(fr)
		return *first
	}}
	for _, s := range f.Seeds {
		p.Seeds = append(p.Seeds, Seed[V]{ID: s.ID})
	}
	if c.send != nil {
		p.Send.Func = func(v Vertex, state V) M {
			at(v)
			*old = state
			c.send(fr)
			return *sent
		}
	} else {
		p.Gather = gatherOf[V, E, M](c, fr)
	}
	sums, active := ctext.At[M](fr, c.sum), ctext.At[bool](fr, c.active)
	p.Apply.Func = func(v Vertex, state V, sum M) (V, bool) {
		at(v)
		*old, *sums, *active = state, sum, true
		c.apply(fr)
		return *old, *active
	}
	if c.closed != nil {
		p.Skip.Func = func(state V) bool {
			*old = state
			return c.closed(fr)
		}
	}
	p.made = made[V, E, M]{
		fork:  func() *Program[V, E, M] { return programOf[V, E](c, ctext.NewFrame(c.watch), sum) },
		edges: func(s *sparse.Store) *sparse.Typed[E] { return edgesOf[E](c, s) },
		store: ctext.Values[V],
		failed: func() error {
			if err := c.watch.Err(); err != nil {
				return &FileError{File: f.Name, Reason: err.Error()}
			}
			return nil
		},
	}
	p.unit = unitOf[E](c)
	return p
}

// gatherOf returns the function of an edge.
func gatherOf[V, E, M comparable](c *fileCode, fr *ctext.Frame) (g GatherFunc[V, E, M]) {
	from, to, along, sent := ctext.At[V](fr, c.src), ctext.At[V](fr, c.dst), ctext.At[E](fr, c.weight), ctext.At[M](fr, c.sent)
	gather, has := c.gather, c.has
	switch {
	case has != nil:
		g.FuncIf = func(src, dst V, weight E) (m M, ok bool) {
			*from, *to, *along = src, dst, weight
			if !has(fr) {
				return m, false
			}
			gather(fr)
			return *sent, true
		}
	case c.usesDst:
		g.Func = func(src, dst V, weight E) M {
			*from, *to, *along = src, dst, weight
			gather(fr)
			return *sent
		}
	default:
		g.Func = func(src, _ V, weight E) M {
			*from, *along = src, weight
			gather(fr)
			return *sent
		}
	}
	return g
}

// unitOf returns the value of an edge of a pattern: 1, or a struct of zeros.
func unitOf[E any](c *fileCode) (unit E) {
	if len(c.edge.Fields) > 0 {
		return unit
	}
	return ctext.Cells[E](c.edge, sparse.TypeOf[bool](), sparse.ValuesOf([]bool{true}), 1)[0]
}

// edgesOf returns the edges of a store with cells as their values, without values if no text reads
// them.
func edgesOf[E any](c *fileCode, s *sparse.Store) *sparse.Typed[E] {
	t := &sparse.Typed[E]{Structure: s.Structure}
	if !s.Val.None() && c.usesWeight {
		t.Val = ctext.Cells[E](c.edge, s.Type, s.Val, c.threads)
	}
	return t
}
