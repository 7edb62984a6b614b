// Package pass is the list of operations that one pass of a recorded loop runs. Package ops records
// it, and a [Runner], such as a device, compiles it and runs the loop to its end. It knows matrices
// by numbers and operators by their text.
package pass

import (
	"fmt"
	"strings"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/device"
)

// Kind is what a step computes.
type Kind uint8

// The kinds of steps. T is the result, which then enters the destination under mask and
// accumulator. Vectors are u and v, p is a position.
const (
	Product Kind = iota // T = A·u over Ring, by the rows of A
	EWise               // T = Func(u, v), on the entries that How says
	Apply               // T(p) = Func(u(p), p), with Bound as the other argument if it is given
	Select              // T = the entries of u for which Func holds
	Assign              // T = u
	Fill                // T(p) = Bound, everywhere
	Gather              // T(p) = u(v(p))
	Scatter             // T(v(k)) = the sum by Monoid of the entries u(k)
	Reduce              // T(0) = the sum by Monoid of the entries of u, none if there are none
	Count               // T(0) = the number of entries of u
	Swap                // the destination and u exchange their contents
)

var kindNames = [...]string{"product", "ewise", "apply", "select", "assign", "fill", "gather", "scatter", "reduce", "count", "swap"}

func (k Kind) String() string { return kindNames[k] }

// None is the number of no matrix.
const None = -1

// Var is a matrix, vector or scalar of the list.
type Var struct {
	Rows, Cols int
	Vector     bool
	Type       device.Type
	Scalar     bool // a vector of size 1; every thread may keep its value
	Written    bool // a step writes it
	Full       bool // it has an entry at every position when the loop begins
}

// Use is an operand.
type Use struct {
	Var                            int // None of one that is not given
	Transposed, Pattern, Symmetric bool
}

// NoUse is an operand that is not given.
var NoUse = Use{Var: None}

// Mask is a mask; Var is None without one.
type Mask struct {
	Var              int
	Structural, Comp bool
}

// NoMask is the mask of a destination without one.
var NoMask = Mask{Var: None}

// Bound is an argument that is one value: of a scalar of the list, or given by the caller.
type Bound struct {
	Var   int         // None unless it is a scalar of the list
	Type  device.Type // its Size is 0 if there is no such argument
	Bytes string      // the value, unless Var is given
}

// Given reports whether there is such an argument.
func (b Bound) Given() bool { return b.Type.Size != 0 }

// Given returns an argument that the caller gives.
func Given(s device.Scalar) Bound {
	return Bound{Var: None, Type: s.Type, Bytes: string(unsafe.Slice((*byte)(s.P), s.Type.Size))}
}

// NoBound is an argument that is not given.
var NoBound = Bound{Var: None}

// Step is an operation.
type Step struct {
	Kind    Kind
	Op      string // of package ops, such as "VxM"
	Dst     int
	Mask    Mask
	Accum   device.Func // Text is "" without one
	Replace bool
	A, B    Use // u and v; of Product the matrix and u
	How     device.Pair
	Flip    bool // of Product: u is the first argument of ⊗
	First   bool // of Apply: Bound is the first argument
	Func    device.Func
	Ring    device.Semiring
	Monoid  device.Monoid
	X, Y    Bound // Bound is X; of EWise the values in place of missing entries of u and v
}

// Same reports whether two steps are equal, but for the values of arguments. A step is large, so it
// is compared where it is, and the fields that differ most often come first.
func (s *Step) Same(t *Step) bool {
	return s.Kind == t.Kind && s.Dst == t.Dst && s.Op == t.Op && s.Mask == t.Mask && s.Replace == t.Replace &&
		s.A == t.A && s.B == t.B && s.How == t.How && s.Flip == t.Flip && s.First == t.First &&
		s.X.same(&t.X) && s.Y.same(&t.Y) && s.Accum == t.Accum && s.Func == t.Func && s.Ring == t.Ring && s.Monoid == t.Monoid
}

// same reports whether two arguments are equal but for their values.
func (b *Bound) same(c *Bound) bool { return b.Var == c.Var && b.Type == c.Type }

// SameValues reports whether the arguments of two equal steps have equal values.
func (s *Step) SameValues(t *Step) bool { return s.X.Bytes == t.X.Bytes && s.Y.Bytes == t.Y.Bytes }

// List is the steps of one pass and the condition of the loop: a vector that has entries, or a
// scalar of bool that is true.
type List struct {
	Vars   []Var
	Steps  []Step
	Blocks []Block // the loops and branches in the body
	Cond   int
	// True says that the condition is the value of a scalar.
	True bool
}

// Block is a loop or a branch in the body of a loop. Its condition is evaluated before step First,
// and its steps are those from First to End. Blocks are in the order of their conditions in the
// text.
type Block struct {
	First, End int
	Inside     int // the block around it, None of one in the body of the whole loop
	Cond       int
	True       bool
	Branch     bool // runs at most once
	Bounded    bool // runs at most Passes times
	Passes     int64
	Open       bool // its steps are not known yet
}

// Past returns the block that follows block b and what is in it.
func (l *List) Past(b int) int {
	next := b + 1
	for next < len(l.Blocks) && l.Blocks[next].Inside >= b {
		next++
	}
	return next
}

// Same reports whether two lists compile to the same program.
func (l *List) Same(m *List) bool {
	if len(l.Vars) != len(m.Vars) || len(l.Steps) != len(m.Steps) || len(l.Blocks) != len(m.Blocks) || l.Cond != m.Cond || l.True != m.True {
		return false
	}
	for i := range l.Vars {
		if l.Vars[i] != m.Vars[i] {
			return false
		}
	}
	for i := range l.Steps {
		if !l.Steps[i].Same(&m.Steps[i]) {
			return false
		}
	}
	for i, b := range l.Blocks {
		c := m.Blocks[i]
		if b.Passes, c.Passes = 0, 0; b != c {
			return false
		}
	}
	return true
}

// Content is what a variable holds when a loop begins: a store, or without one at most one entry.
type Content struct {
	Store device.Store
	One   bool // there is one entry
	Index int32
	Value string // its bytes
}

// Runner is a place that runs recorded loops.
type Runner interface {
	// Begin starts a loop with the contents of its variables. The loop ends when its condition
	// fails, after so many passes, or before decision number decisions. Matrices have a store. A
	// *NotRecordable says that the place cannot run the list. The contents are not changed.
	Begin(c device.Call, l *List, contents []Content, passes, decisions int64) (Run, error)
	// Most is the largest number of decisions that a run may take.
	Most() int64
}

// Run is a loop that runs. Each condition that it evaluates is a decision, and the decisions are
// logged, so that the host can do what they say. A run ends early if it has taken as many
// decisions as it may, if it is asked to, or if it comes to steps that are not known. Then the
// contents are those before the next decision. The methods are for one goroutine.
type Run interface {
	// Decision returns whether condition number k held, if that is known, and whether the loop has
	// ended.
	Decision(k int64) (holds, known, ended bool)
	// Stop asks the loop to end.
	Stop()
	// End waits for the end. Unless discard is set it returns the contents of the variables that
	// the list writes, nil for others.
	End(discard bool) (contents []device.Store, err error)
	// Plan prints the list as the place runs it, a line for each stage.
	Plan() string
}

// A NotRecordable says why a place cannot run a list.
type NotRecordable struct{ Op, Reason string }

func (e *NotRecordable) Error() string { return e.Op + " cannot be recorded: " + e.Reason }

// Text prints the list, a line for each step and each block. It is not called String: the linker
// keeps methods of that name in every program of operations.
func (l *List) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "while %s\n", l.Condition(l.Cond, l.True))
	var body func(inside, first, end int, in string)
	body = func(inside, first, end int, in string) {
		block := inside + 1
		for i := first; ; i++ {
			for block < len(l.Blocks) && l.Blocks[block].Inside == inside && l.Blocks[block].First == i {
				x := &l.Blocks[block]
				fmt.Fprintf(&b, "%s%s\n", in, l.Head(x))
				body(block, x.First, x.End, in+"\t")
				i, block = x.End, l.Past(block)
			}
			if i == end {
				return
			}
			fmt.Fprintf(&b, "%s%s\n", in, l.Equation(i))
		}
	}
	body(None, 0, len(l.Steps), "\t")
	return b.String()
}

// Head prints the first line of a block.
func (l *List) Head(x *Block) string {
	word, open := "while ", ""
	if x.Branch {
		word = "if "
	}
	switch {
	case x.Open:
		open = ": not reached yet"
	case x.Bounded && !x.Branch:
		open = fmt.Sprintf(", %d times", x.Passes)
	}
	return word + l.Condition(x.Cond, x.True) + open
}

// Condition prints a condition.
func (l *List) Condition(v int, value bool) string {
	if value {
		return l.Name(v)
	}
	return l.Name(v) + " has entries"
}

// Name prints a variable.
func (l *List) Name(v int) string {
	switch {
	case v < 0 || v >= len(l.Vars):
		return "?"
	case !l.Vars[v].Vector:
		return string(rune('A'+v%26)) + suffix(v)
	}
	return string(rune('a'+v%26)) + suffix(v)
}

func suffix(v int) string {
	if v < 26 {
		return ""
	}
	return fmt.Sprint(v / 26)
}

func (l *List) use(u Use) string {
	name := l.Name(u.Var)
	if u.Transposed {
		name += "ᵀ"
	}
	if u.Pattern {
		name += "°"
	}
	return name
}

func (l *List) bound(b Bound) string {
	if b.Var != None {
		return l.Name(b.Var)
	}
	return "constant"
}

// Equation prints step i as an equation.
func (l *List) Equation(i int) string {
	s := &l.Steps[i]
	dst := l.Name(s.Dst)
	if m := s.Mask; m.Var != None {
		mask := l.Name(m.Var)
		if m.Structural {
			mask += "°"
		}
		if m.Comp {
			mask = "¬" + mask
		}
		if s.Replace {
			mask += ", replace"
		}
		dst += "⟨" + mask + "⟩"
	} else if s.Replace {
		dst += "⟨replace⟩"
	}
	is := " = "
	if s.Accum.Text != "" {
		is = " " + s.Accum.Name + "= "
	}
	value := ""
	switch s.Kind {
	case Product:
		value = l.use(s.A) + " " + s.Ring.Name + " " + l.use(s.B)
		if s.Flip {
			a := s.A
			a.Transposed = !a.Transposed
			value = l.use(s.B) + " " + s.Ring.Name + " " + l.use(a)
		}
	case EWise:
		value = fmt.Sprintf("%s(%s %s %s)", s.Func.Name, l.use(s.A), [...]string{"∩", "∪", "⊎"}[s.How], l.use(s.B))
	case Apply, Select:
		value = fmt.Sprintf("%s(%s", s.Func.Name, l.use(s.A))
		if s.X.Given() {
			value += ", " + l.bound(s.X)
		}
		value += ")"
		if s.Kind == Select {
			value = l.use(s.A) + " where " + value
		}
	case Assign:
		value = l.use(s.A)
	case Fill:
		value = l.bound(s.X)
	case Gather:
		value = l.use(s.A) + "(" + l.use(s.B) + ")"
	case Scatter:
		value = l.use(s.A) + " at " + l.use(s.B) + " by " + s.Monoid.Name
	case Reduce:
		value = "sum by " + s.Monoid.Name + " of " + l.use(s.A)
	case Count:
		value = "number of entries of " + l.use(s.A)
	case Swap:
		return dst + " ↔ " + l.use(s.A)
	}
	return dst + is + value
}

// A StepError is the error of a step in a pass.
type StepError struct {
	Step int
	Pass int64
	Err  error
}

func (e *StepError) Error() string { return e.Err.Error() }

// Unwrap returns the error of the step.
func (e *StepError) Unwrap() error { return e.Err }
