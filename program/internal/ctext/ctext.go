// Package ctext compiles the texts of program files for the host: expressions and statements of C
// over numbers, bools and structs of them, with C's promotions and conversions. The code is Go
// closures over a frame of bytes, which has the variables of one thread at fixed places. It makes
// no interface values and allocates nothing when it runs.
//
// Values are computed as on a device: integers wrap, a float is rounded after each operation, and
// shifts by the width or more give 0 or the sign. Two results that a device leaves undefined are
// defined: a float beyond the limits of an integer type becomes the nearest limit, and an integer
// division by zero is an [*Error].
//
// A text is compiled while it is parsed. A [value] is an expression with its type and its code.
package ctext

import (
	"context"
	"fmt"
	"reflect"
	"sync/atomic"
	"unsafe"
)

// Type is the type of a variable: a number or bool, or with kind Struct a struct of them.
type Type struct {
	Kind   reflect.Kind
	Size   int // bytes
	Fields []Field
}

// Field is a field of a struct.
type Field struct {
	Name   string
	Kind   reflect.Kind
	Offset int
}

// Number returns the type of a number or bool.
func Number(k reflect.Kind) *Type { return &Type{Kind: k, Size: int(sizes[k])} }

// sizes are the bytes of numbers and bools.
var sizes = [...]uintptr{
	reflect.Bool: 1, reflect.Int8: 1, reflect.Uint8: 1, reflect.Int16: 2, reflect.Uint16: 2, reflect.Int32: 4,
	reflect.Uint32: 4, reflect.Float32: 4, reflect.Int64: 8, reflect.Uint64: 8, reflect.Float64: 8,
}

// frameWords is the number of words of a frame.
const frameWords = 1 << 10

// A Frame holds the variables of one thread.
type Frame struct {
	watch *Watch
	left  int       // iterations until the next look at watch
	spent int       // iterations of this call before
	waste [8]uint64 // where code writes values that nobody reads
	words [frameWords]uint64
}

const scratch = unsafe.Offsetof(Frame{}.waste)

// A Place is where a variable is in a frame.
type Place uintptr

// NewFrame returns a frame whose code watch stops.
func NewFrame(watch *Watch) *Frame { return &Frame{watch: watch} }

// At returns the address of a variable of type T in a frame.
func At[T any](f *Frame, at Place) *T { return (*T)(unsafe.Add(unsafe.Pointer(f), at)) }

// A Watch collects the first error of the frames of a run.
type Watch struct {
	ctx context.Context
	err atomic.Pointer[Error]
}

// NewWatch returns a watch that also stops loops when ctx ends. ctx may be nil.
func NewWatch(ctx context.Context) *Watch { return &Watch{ctx: ctx} }

// Err returns the first error of the code, nil if there was none.
func (w *Watch) Err() error {
	if err := w.err.Load(); err != nil {
		return err
	}
	return nil
}

// fail records an error of the code.
func (f *Frame) fail(err *Error) { f.watch.err.CompareAndSwap(nil, err) }

// The limits of loops: iterations between two looks at the watch, and of one call of a text.
const (
	patience  = 1 << 12
	loopLimit = 1 << 24
)

// tired counts an iteration of a loop, and reports whether the loop must end.
func (f *Frame) tired(too *Error) bool {
	if f.left--; f.left > 0 {
		return false
	}
	if f.spent += patience; f.spent > loopLimit {
		f.fail(too)
	}
	if f.watch.err.Load() != nil || f.watch.ctx != nil && f.watch.ctx.Err() != nil {
		f.left = 0 // the loops around this one end too
		return true
	}
	f.left = patience
	return false
}

// An Error says what is wrong with a text: when it is compiled, or when it runs.
type Error struct {
	Part   string // the part of the program
	Near   string // the text from the error on; "" of an error of a run
	Reason string
	Remedy string
}

func (e *Error) Error() string {
	near := ""
	if e.Near != "" {
		near = fmt.Sprintf(" at %q", e.Near)
	}
	return fmt.Sprintf("%s%s: %s; %s", e.Part, near, e.Reason, e.Remedy)
}

// Layout gives variables their places in frames.
type Layout struct{ next uintptr }

// Place returns room for a variable. It reports whether there is any.
func (l *Layout) Place(t *Type) (Place, bool) {
	const first = unsafe.Offsetof(Frame{}.words)
	size := (uintptr(t.Size) + 7) / 8 * 8
	if l.next+size > 8*frameWords {
		return 0, false
	}
	l.next += size
	return Place(first + l.next - size), true
}

// Var is a variable that a text sees.
type Var struct {
	Name  string
	Type  *Type
	At    Place
	Const bool
}

// Text is a text and the names that it sees.
type Text struct {
	Part  string // for messages
	Text  string
	Vars  []Var
	Types map[string]*Type
}

// Expression compiles an expression. The code writes its value, as a value of a type, to a place.
// Fields in braces are a value of a struct.
func (l *Layout) Expression(t Text, as *Type, to Place) (func(*Frame), error) {
	p, err := newParser(l, t)
	if err != nil {
		return nil, err
	}
	v, err := p.typed(as)
	if err != nil {
		return nil, err
	}
	if err := p.end(); err != nil {
		return nil, err
	}
	return v.into(uintptr(to)), nil
}

// Compute compiles an expression of a number or bool. T is the Go type of k: bool, int32, uint32,
// int64, uint64, float32 or float64.
func Compute[T any](l *Layout, t Text, k reflect.Kind) (func(*Frame) T, error) {
	p, err := newParser(l, t)
	if err != nil {
		return nil, err
	}
	v, err := p.typed(Number(k))
	if err != nil {
		return nil, err
	}
	return codeOf[T](v), p.end()
}

// Statements compiles statements.
func (l *Layout) Statements(t Text) (func(*Frame), error) {
	p, err := newParser(l, t)
	if err != nil {
		return nil, err
	}
	list, err := p.statements("")
	if err != nil {
		return nil, err
	}
	body := inOrder(list)
	if p.loops {
		return func(f *Frame) {
			f.left, f.spent = patience, 0
			body(f)
		}, nil
	}
	return func(f *Frame) { body(f) }, nil
}
