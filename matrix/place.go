package matrix

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/spread"
)

// Place is where a matrix is stored, other than the host: a device of package cusparse, such as a
// GPU, or a *comm.Group of ranks, which have a block of rows each. An operation runs at the place
// of its destination.
type Place interface {
	// String names the place, such as "gpu:0 (NVIDIA H200)".
	String() string
}

// An Option is an option of New and NewVector.
type Option func(*options)

type options struct {
	place  Place
	layout Layout
}

// Layout is how a group stores a matrix.
type Layout uint8

// The layouts.
const (
	// Blocks gives each rank a block of rows, or of the positions of a vector.
	Blocks Layout = iota
	// Replicated keeps the whole matrix in the host memory of every process: operations that need
	// it whole send nothing. As a destination it is computed in blocks, which every rank then
	// receives. In place, every rank has it already: a place that is no group is not changed by it.
	Replicated
)

// String returns the name of the layout in lower case.
func (l Layout) String() string {
	switch l {
	case Blocks:
		return "blocks"
	case Replicated:
		return "replicated"
	}
	return fmt.Sprintf("Layout(%d)", uint8(l))
}

// layoutOf returns the layout of optional arguments. The last one counts.
func layoutOf(list []Layout) Layout {
	if len(list) == 0 {
		return Blocks
	}
	return list[len(list)-1]
}

// check returns an error for a layout that does not exist.
func (l Layout) check(op string) error {
	if l > Replicated {
		return &InvalidError{op, l.String() + " is no layout; use Blocks or Replicated"}
	}
	return nil
}

// replicated reports whether o asks for a replicated matrix on a group.
func (o options) replicated() bool {
	return o.layout == Replicated && spread.Group(o.place) != nil
}

func gather(opts []Option) (o options) {
	for _, opt := range opts {
		if opt != nil {
			opt(&o)
		}
	}
	return o
}

// On places a new matrix at p. A nil p is the host. A layout says how a group stores it, Blocks by
// default. [graphio.On] places a matrix that is read.
func On(p Place, layout ...Layout) Option {
	return func(o *options) { o.place, o.layout = p, layoutOf(layout) }
}

// copyAt is a copy of a host matrix at a place.
type copyAt struct {
	at    device.Backend
	store device.Store
}

// Place returns the place of the matrix; nil is the host.
func (a *Matrix[T]) Place() Place {
	return coreOf(a).place
}

// Layout returns how a group stores the matrix: Blocks or Replicated. It is Blocks at other places.
func (a *Matrix[T]) Layout() Layout {
	return coreOf(a).layout()
}

// layout returns how a group stores the matrix.
func (a *core) layout() Layout {
	if a.replicated {
		return Replicated
	}
	return Blocks
}

// Layout returns how a group stores the vector; see [Matrix.Layout].
func (v *Vector[T]) Layout() Layout { return vectorCore(v).layout() }

// Place returns the place of the vector; nil is the host.
func (v *Vector[T]) Place() Place { return vectorCore(v).place }

// Move moves the matrix to p, or to the host if p is nil, and copies the contents there. After an
// error the matrix stays at its place. Operations copy operands from other places themselves,
// once. Move is for destinations, and for copies at a chosen time. On a group the layout is Blocks
// unless another is given; a matrix in blocks that becomes [Replicated] is gathered, and all
// processes call Move.
func (a *Matrix[T]) Move(p Place, layout ...Layout) error {
	if a == nil {
		return naming("Matrix.Move", errNil)
	}
	return moveTo(coreOf(a), p, false, layoutOf(layout))
}

// moveTo moves a matrix that is not nil, or the matrix of a vector.
func moveTo(b *core, p Place, vector bool, layout Layout) error {
	op := "Matrix.Move"
	b.touch(true)
	if b.err != nil {
		return b.err
	}
	if vector {
		op = "Vector.Move"
	}
	if err := layout.check(op); err != nil {
		return err
	}
	if p == nil {
		b.Shape() // on the host
		if b.err != nil {
			return b.err
		}
		b.place, b.replicated = nil, false
		dropRemote(b)
		return nil
	}
	if spread.Group(p) != nil {
		return moveToGroup(b, p, vector, layout)
	}
	at := device.Of(p)
	if at == nil {
		return &InvalidError{"Matrix.Move", fmt.Sprintf("%s is not a place that computes; open one with package cusparse", p)}
	}
	if b.place == p {
		_, err := b.RemoteOn(at)
		return err
	}
	b.Shape() // on the host
	s, err := b.RemoteOn(at)
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, c := range b.copies {
		if c.at == at {
			b.copies = append(b.copies[:i], b.copies[i+1:]...)
			break
		}
	}
	if b.home != nil {
		b.home.Drop()
	}
	b.place, b.home, b.replicated = p, s, false
	return nil
}

// Move moves the vector to p; see [Matrix.Move].
func (v *Vector[T]) Move(p Place, layout ...Layout) error {
	if v == nil {
		return naming("Vector.Move", errNil)
	}
	return moveTo(madeCore(v), p, true, layoutOf(layout))
}

// BuildOn is [Builder.Build] at a place: it sorts the tuples there and returns a matrix at p. dup
// must have a CUDA form, as the operators and monoids of package semiring do. A nil p is the host.
func (b *Builder[T]) BuildOn(p Place, dup Combiner[T]) (*Matrix[T], error) {
	if b == nil || p == nil {
		return b.Build(dup)
	}
	if spread.Group(p) != nil {
		a, err := b.Build(dup)
		if err == nil {
			err = a.Move(p)
		}
		return a, err
	}
	at := device.Of(p)
	if at == nil {
		return nil, &InvalidError{"Builder.BuildOn", fmt.Sprintf("%s is not a place that computes; open one with package cusparse", p)}
	}
	if err := b.ready(); err != nil {
		return nil, err
	}
	t, err := device.TypeOf[T]()
	if err != nil {
		return nil, err
	}
	var f *device.Func
	if _, err := combining(dup); err != nil {
		return nil, err
	}
	if dup != nil {
		text, ok := dup.(interface{ CUDA() string })
		if !ok || text.CUDA() == "" {
			return nil, &InvalidError{"Builder.BuildOn", "the operator that combines duplicates has no CUDA form; use an operator of package semiring, or give yours a CUDA C expression"}
		}
		f = &device.Func{Name: "duplicates", Text: text.CUDA(), X: t, Y: t, Out: t, UsesX: true, UsesY: true}
	}
	rows, cols, vals := make([]int32, 0, b.count), make([]int32, 0, b.count), make([]T, 0, b.count)
	for _, block := range b.blocks {
		rows, cols, vals = append(rows, block.Row...), append(cols, block.Col...), append(vals, block.Val...)
	}
	s, err := at.Build(b.m, b.n, rows, cols, t, unsafe.Pointer(unsafe.SliceData(vals)), f)
	if errors.Is(err, device.ErrDuplicates) {
		return b.Build(nil) // its error names the first duplicate
	}
	if err != nil {
		return nil, err
	}
	b.blocks, b.count = nil, 0
	a := New[T](b.m, b.n, On(p))
	coreOf(a).SetRemote(s)
	return a, nil
}

// Place returns the place of the viewed matrix; nil is the host.
func (v *View[T]) Place() Place { return placeOf(v.Inside()) }
