package program

import (
	"fmt"
	"reflect"
	"slices"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/cpu"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/program/internal/ctext"
	"github.com/hiveblas/hiveblas/program/internal/host"
)

// An outline is a Program without its element types: what checks, texts and runs on devices read.
type outline struct {
	host.Program
	edge   *sparse.Type
	states func(n int, at matrix.Place) rep.View // makes a vector of states

	init                  part
	send, gather, edges   part
	gatherIf              part   // the condition: given if FuncIf sends the messages
	add                   string // Gather is of a semiring with this sum and the operator mul
	mul                   *cpu.Operator
	each, changes         bool // see EdgesFunc
	change                string
	messages, apply, skip part
	priority              part
	totals                []part

	halt       func(superstep int, total []float64) bool
	supersteps int

	fn host.Functions // on the host

	phased       bool       // Phases is given
	phases       []*outline // of Phases
	inPhases     bool       // it is one of them
	reverse, all bool       // of a phase
}

// steps returns the phases of an iteration. A program without phases is one itself.
func (o *outline) steps() []*outline {
	if o.phased {
		return o.phases
	}
	return []*outline{o}
}

// A part is one of the functions of a program.
type part struct {
	given bool // there is a Go function
	cuda  string
}

// outline returns the program without its types.
func (p *Program[V, E, M]) outline() *outline {
	o := &outline{edge: sparse.TypeOf[E](), states: statesOf[V], halt: p.Halt, supersteps: p.Supersteps,
		Program: host.Program{Name: p.name(), State: sparse.TypeOf[V](), Message: sparse.TypeOf[M](), Active: p.Init.Active,
			Product: p.Gather.product, Flipped: p.Gather.flipped, Sum: p.Sum.Inside(), Everywhere: p.Everywhere, Idempotent: p.Idempotent, Width: p.Width},
		init: part{p.Init.Func != nil, p.Init.CUDA}, send: part{p.Send.Func != nil, p.Send.CUDA},
		gather: part{p.Gather.Func != nil, p.Gather.CUDA}, edges: part{p.Edges.Func != nil, p.Edges.CUDA},
		gatherIf: part{p.Gather.FuncIf != nil, p.Gather.If}, add: p.Gather.add, mul: p.Gather.mul.Inside(),
		each: p.Edges.each, changes: p.Edges.changes, change: p.Edges.change,
		messages: part{p.Messages.Func != nil, p.Messages.CUDA}, apply: part{p.Apply.Func != nil, p.Apply.CUDA},
		skip: part{p.Skip.Func != nil, p.Skip.CUDA}, priority: part{p.Priority.Func != nil, p.Priority.CUDA}}
	if p.Init.same {
		o.Value = sparse.ValuesOf([]V{p.Init.value})
	}
	for k := range p.Totals {
		o.totals = append(o.totals, part{p.Totals[k].Func != nil, p.Totals[k].CUDA})
	}
	for k := range p.Seeds {
		o.Seeds, o.SeedStates = append(o.Seeds, p.Seeds[k].ID), append(o.SeedStates, unsafe.Pointer(&p.Seeds[k].State))
	}
	o.filled()
	o.fn = &loops[V, E, M]{p}
	if o.phased = p.Phases != nil; o.phased {
		for k := range p.Phases {
			q := p.ofPhase(k)
			phase := q.outline()
			phase.inPhases, phase.reverse, phase.all = true, p.Phases[k].Reverse, p.Phases[k].All
			o.phases = append(o.phases, phase)
		}
	}
	return o
}

// filled sets what the parts of a program say.
func (o *outline) filled() {
	o.Sends, o.Edges, o.Messages = o.send.given, o.edges.given, o.messages.given
	o.Skips, o.Priority, o.Totals = o.skip.given, o.priority.given, len(o.totals)
}

// sums reports whether the program has a monoid for its messages.
func (o *outline) sums() bool { return o.Sum != nil && o.Sum.Monoid != nil }

// sumName returns the name of the sum, and its CUDA text.
func (o *outline) sumName() (name, cuda string) {
	if o.Sum == nil || o.Sum.Op == nil {
		return "", ""
	}
	return o.Sum.Op.Name, o.Sum.Op.CUDA
}

// ordered reports whether the sums of the program depend on their order.
func (o *outline) ordered() bool { return o.sums() && !o.Sum.Exact && !o.Sum.Any }

// literal returns the value at an address as CUDA text.
func literal(of *sparse.Type, t device.Type, at unsafe.Pointer) (string, error) {
	return t.Literal(reflect.NewAt(sparse.GoType(of), at).Elem().Interface())
}

// check returns the error of an incomplete program for a graph of n vertices.
func (o *outline) check(n int) error {
	if o.phased {
		return o.checkPhases(n)
	}
	bad := func(part, reason, remedy string) error {
		return &ProgramError{o.Name, part, reason, remedy}
	}
	ways := 0
	for _, given := range []bool{o.send.given, o.gather.given || o.gatherIf.given, o.edges.given} {
		if given {
			ways++
		}
	}
	sum, _ := o.sumName()
	switch {
	case !o.init.given && o.Value.None():
		return bad("Init", "has no function", "use program.Init or program.Value")
	case ways != 1:
		return bad("Send, Gather, Edges", fmt.Sprintf("%d of them are given", ways), "give exactly one")
	case o.sums() == o.messages.given:
		return bad("Sum, Messages", "both or none of them are given", "give one; package semiring has monoids for Sum")
	case o.Product != nil && o.add != sum:
		return bad("Sum", fmt.Sprintf("is %q, and Gather is of a semiring whose sum is %q", sum, o.add), "use that sum")
	case o.Idempotent && o.messages.given:
		return bad("Idempotent", "is given with Messages", "use Sum")
	case !o.apply.given:
		return bad("Apply", "has no function", "use program.Apply")
	case o.supersteps < 0:
		return bad("Supersteps", fmt.Sprintf("is %d", o.supersteps), "use 0 for no limit")
	case o.priority.given && !(o.Width > 0):
		return bad("Width", fmt.Sprintf("is %v", o.Width), "Priority needs a positive width")
	case o.priority.given && o.Everywhere:
		return bad("Priority", "is given with Everywhere", "use one of them")
	case o.Everywhere && o.skip.given:
		return bad("Skip", "is given with Everywhere", "use one of them")
	}
	for k, t := range o.totals {
		if !t.given {
			return bad(fmt.Sprintf("Totals[%d]", k), "has no function", "use program.Total")
		}
	}
	for k, v := range o.Seeds {
		if v < 0 || v >= n {
			return bad(fmt.Sprintf("Seeds[%d]", k), fmt.Sprintf("names vertex %d of a graph with %d vertices", v, n),
				"name a vertex of the graph")
		}
	}
	return nil
}

// numbers checks Options.Numbers for n vertices, and returns the position of each number.
func (o *outline) numbers(numbers []int32, n int) ([]int32, error) {
	bad := func(format string, args ...any) error {
		return &ProgramError{o.Name, "Numbers", fmt.Sprintf(format, args...), "give each of 0 … n−1 once"}
	}
	if slices.ContainsFunc(o.steps(), func(p *outline) bool { return p.Edges || p.Messages }) {
		return nil, &ProgramError{o.Name, "Numbers", "is given with Edges or Messages, whose lists are in ascending order", "leave it out"}
	}
	if len(numbers) != n {
		return nil, bad("has %d numbers for %d vertices", len(numbers), n)
	}
	at := make([]int32, n)
	for k, v := range numbers {
		if v < 0 || int(v) >= n {
			return nil, bad("has %d at %d", v, k)
		}
		if at[v]--; at[v] < -1 {
			return nil, bad("has %d twice", v)
		}
	}
	for k, v := range numbers {
		at[v] = int32(k)
	}
	return at, nil
}

// stored returns states as values of another type of the same bytes.
func (o *outline) stored(of *sparse.Type, states sparse.Values) sparse.Values {
	return ctext.Resize(of, o.State, states)
}
