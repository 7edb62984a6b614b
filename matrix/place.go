package matrix

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// Place is a device other than the host that stores matrices, such as a GPU. An operation runs at
// the place of its destination. Package cusparse implements the available places.
type Place interface {
	// String names the place, such as "gpu:0 (NVIDIA H200)".
	String() string
}

// An Option is an option of New and NewVector.
type Option func(*options)

type options struct{ place Place }

func gather(opts []Option) (o options) {
	for _, opt := range opts {
		if opt != nil {
			opt(&o)
		}
	}
	return o
}

// On places a new matrix at p. A nil p is the host.
func On(p Place) Option { return func(o *options) { o.place = p } }

// copyAt is a copy of a host matrix at a place.
type copyAt struct {
	at    device.Backend
	store device.Store
}

// Place returns the place of the matrix; nil is the host.
func (a *Matrix[T]) Place() Place {
	if a == nil {
		return nil
	}
	return a.place
}

// Place returns the place of the vector; nil is the host.
func (v *Vector[T]) Place() Place { return v.inner().Place() }

// Move moves the matrix to p, or to the host if p is nil, and copies the contents there. After an
// error the matrix stays at its place. Operations copy operands from other places themselves, once.
// Move is for destinations, and for copies at a chosen time.
func (a *Matrix[T]) Move(p Place) error {
	if err := a.failure(); err != nil {
		return err
	}
	if p == nil {
		a.stored()
		if err := a.failure(); err != nil {
			return err
		}
		a.place = nil
		a.dropRemote()
		return nil
	}
	b, ok := p.(device.Backend)
	if !ok {
		return &InvalidError{"Matrix.Move", fmt.Sprintf("%s is not a place that computes; open one with package cusparse", p)}
	}
	if a.place == p {
		_, err := a.RemoteOn(b)
		return err
	}
	a.stored()
	s, err := a.RemoteOn(b)
	if err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for i, c := range a.copies {
		if c.at == b {
			a.copies = append(a.copies[:i], a.copies[i+1:]...)
			break
		}
	}
	if a.home != nil {
		a.home.Drop()
	}
	a.place, a.home = p, s
	return nil
}

// Move moves the vector to p; see [Matrix.Move].
func (v *Vector[T]) Move(p Place) error {
	if v == nil {
		return errNil
	}
	v.View()
	return v.m.Move(p)
}

// BuildOn is [Builder.Build] at a place: it sorts the tuples there and returns a matrix at p. dup
// must have a CUDA form, as the operators and monoids of package semiring do. A nil p is the host.
func (b *Builder[T]) BuildOn(p Place, dup Combiner[T]) (*Matrix[T], error) {
	if b == nil || p == nil || b.err != nil {
		return b.Build(dup)
	}
	at, ok := p.(device.Backend)
	if !ok {
		return nil, &InvalidError{"Builder.BuildOn", fmt.Sprintf("%s is not a place that computes; open one with package cusparse", p)}
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
	a.SetRemote(s)
	return a, nil
}

// RemoteOn returns the contents at b, and copies them there if needed. It is for the packages of
// hiveblas.
func (a *Matrix[T]) RemoteOn(b device.Backend) (device.Store, error) {
	if a == nil || b == nil {
		return nil, errNil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	atPlace := a.place != nil && any(a.place) == any(b)
	if atPlace && a.home != nil {
		return a.home, nil
	}
	for _, c := range a.copies {
		if c.at == b {
			return c.store, nil
		}
	}
	a.fetch()
	if a.err != nil {
		return nil, a.err
	}
	t, err := device.TypeOf[T]()
	if err != nil {
		return nil, err
	}
	st := a.st
	if st == nil {
		st = sparse.Empty[T](0, 0)
	}
	h := device.Host{Structure: st.Structure, Type: t, Val: unsafe.Pointer(unsafe.SliceData(st.Val)), N: len(st.Val)}
	s, err := b.Upload(h)
	if err != nil {
		return nil, err
	}
	if atPlace {
		a.home = s
	} else {
		a.copies = append(a.copies, copyAt{b, s})
	}
	return s, nil
}

// SetRemote replaces the contents by s, which is at the place of the matrix. It is for the packages
// of hiveblas.
func (a *Matrix[T]) SetRemote(s device.Store) {
	if a == nil {
		return
	}
	a.dropRemote()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.st, a.home = nil, s
	a.forget()
	a.deviceOnly.Store(true)
}

// Repin converts the contents on the device to the format that SetFormat pinned. It is for the
// packages of hiveblas.
func (a *Matrix[T]) Repin() error {
	r := a.remote()
	if !a.Pinned() || r == nil || r.Format() == a.pin {
		return nil
	}
	f := a.pin
	if m, n := r.Dims(); f == Full {
		cells, _ := sparse.Cells(m, n)
		if k, err := r.NVals(); err != nil || k != int64(cells) {
			f = Bitmap
		}
	}
	return a.convertRemote(r, f)
}

// dropRemote frees the copies outside host memory.
func (a *Matrix[T]) dropRemote() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.home != nil {
		a.home.Drop()
		a.home = nil
	}
	for _, c := range a.copies {
		c.store.Drop()
	}
	a.copies = nil
}

// fetch copies the contents to the host if they are only on a device. The caller holds mu. fetch
// stores an error in the matrix, where Err returns it.
func (a *Matrix[T]) fetch() {
	if !a.deviceOnly.Load() {
		return
	}
	m, n := a.home.Dims()
	b := a.place.(device.Backend)
	st, err := a.download(b, a.home)
	if err != nil {
		a.err = fmt.Errorf("cannot read the contents of a matrix from %s: %w", a.place, err)
		st = sparse.Empty[T](m, n)
	}
	a.st = st
	a.deviceOnly.Store(false)
}

func (a *Matrix[T]) download(b device.Backend, s device.Store) (*sparse.Store[T], error) {
	shape, err := b.Shape(s)
	if err != nil {
		return nil, err
	}
	n := len(shape.Idx)
	if !shape.Sparse() {
		n, _ = shape.Cells()
	}
	st := &sparse.Store[T]{Structure: shape, Val: make([]T, n)}
	if err := b.Values(s, unsafe.Pointer(unsafe.SliceData(st.Val)), n); err != nil {
		return nil, err
	}
	return st, nil
}

// remote returns the contents if they are only on a device, and nil otherwise.
func (a *Matrix[T]) remote() device.Store {
	if a == nil || !a.deviceOnly.Load() {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.deviceOnly.Load() {
		return nil
	}
	return a.home
}

// counted returns the number of entries of s, the contents on a device.
func (a *Matrix[T]) counted(s device.Store) int64 {
	n, err := s.NVals()
	if err != nil {
		return a.stored().NVals // stored records the error
	}
	return n
}

// convertRemote converts the contents s to the format f on their device.
func (a *Matrix[T]) convertRemote(s device.Store, f Format) error {
	out, err := a.place.(device.Backend).Convert(s, f)
	if err != nil {
		return err
	}
	a.SetRemote(out)
	return nil
}

// symmetric reports whether the matrix is known to equal its transpose.
func (a *Matrix[T]) symmetric() bool { return a != nil && a.knownSymmetric.Load() }

// On returns the view as an operand at b. It is for the packages of hiveblas.
func (v View[T]) On(b device.Backend) (device.Operand, error) {
	if v.h == nil {
		return device.Operand{}, errNil
	}
	s, err := v.h.RemoteOn(b)
	_, pattern := any(v.h).(patternOf)
	return device.Operand{Store: s, Transposed: v.transposed, Vector: v.vector, Pattern: pattern, Symmetric: v.h.symmetric()}, err
}

// Place returns the place of the viewed matrix; nil is the host.
func (v View[T]) Place() Place {
	if v.h == nil {
		return nil
	}
	return v.h.Place()
}

// Symmetric reports whether the viewed matrix is known to equal its transpose. It does not compare
// entries. It is for the packages of hiveblas.
func (v View[T]) Symmetric() bool { return v.h != nil && v.h.symmetric() }

// On returns the mask at b. It is for the packages of hiveblas.
func (m MaskView) On(b device.Backend) (*device.Mask, error) {
	if m.s == nil {
		return nil, errNil
	}
	s, err := m.s.RemoteOn(b)
	return &device.Mask{Store: s, Structural: m.structural, Comp: m.complement}, err
}
