package matrix

import (
	"context"
	"fmt"

	"github.com/hiveblas/hiveblas/comm/spmd"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/internal/spread"
)

// This file is a core as a spread.Matrix. Package internal/spread distributes the contents over the
// ranks of a group.

var _ spread.Matrix = (*core)(nil)

// onGroup is *spread.Blocks. It is an interface for the linker, which leaves the methods of Blocks
// out of a program that moves no matrix to a group.
type onGroup interface {
	SetType(t *sparse.Type)
	Place() rep.Place
	Dims() (rows, cols int)
	NVals(ctx context.Context) (int64, error)
	Format() sparse.Format
	Pin(f sparse.Format, pinned bool) error
	Symmetric() bool
	Whole() (*sparse.Store, error)
	Release()
}

// onlyOnGroup returns the contents if they are only on a group, and nil otherwise.
func (a *core) onlyOnGroup() onGroup {
	if !a.deviceOnly.Load() {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.deviceOnly.Load() || a.home != nil {
		return nil
	}
	return a.blocks
}

// moveToGroup moves a matrix that is not nil to a group.
func moveToGroup(a *core, p Place, vector bool, layout Layout) error {
	g := spread.Group(p)
	if g.Size() == 0 {
		return &InvalidError{"Matrix.Move", "the group has no ranks; make one by comm.NewGroup"}
	}
	if layout == Blocks && a.place == p && !a.replicated {
		_, err := spread.On(a, g, vector)
		return err
	}
	a.Shape() // on the host
	if a.err != nil {
		return a.err
	}
	if layout == Blocks {
		if _, err := spread.On(a, g, vector); err != nil {
			return err
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.home != nil {
		a.home.Drop()
		a.home = nil
	}
	a.place, a.replicated = p, layout == Replicated
	return nil
}

// gatherToHost gathers the contents from a group to the host. The caller holds mu.
func gatherToHost(a *core) {
	st, err := a.blocks.Whole()
	if err != nil {
		a.err = fmt.Errorf("cannot gather the contents of a matrix from %s: %w", a.blocks.Place(), err)
		st = a.empty(a.blocks.Dims())
	}
	if a.pinned {
		st = st.Convert(a.pin)
	}
	a.put(st)
	a.deviceOnly.Store(false)
}

func (a *core) New(st *sparse.Store) spread.Matrix { return newCore(st) }

func (a *core) NewAt(t *sparse.Type, p rep.Place, home device.Store) spread.Matrix {
	m := &core{place: p, home: home}
	m.t.Store(t)
	m.deviceOnly.Store(true)
	return m
}

func (a *core) Lock()   { a.mu.Lock() }
func (a *core) Unlock() { a.mu.Unlock() }

func (a *core) Spread() *spread.Blocks {
	s, _ := a.blocks.(*spread.Blocks)
	return s
}

func (a *core) SetSpread(s *spread.Blocks) {
	if a.blocks = s; s == nil {
		a.blocks = nil
	}
}

func (a *core) Elsewhere() bool { return a.deviceOnly.Load() }
func (a *core) OnDevice() bool  { return a.home != nil }

func (a *core) LeaveHost() {
	a.put(nil)
	a.deviceOnly.Store(true)
}

func (a *core) Fetch()                   { fetch(a) }
func (a *core) HostStore() *sparse.Store { return a.host() }
func (a *core) DropRemote()              { dropRemote(a) }
func (a *core) Forget()                  { a.forget() }

func (a *core) Share() spread.Matrix {
	m := newCore(a.Stored())
	m.knownSymmetric.Store(a.knownSymmetric.Load())
	m.asCols.Store(a.asCols.Load())
	return m
}

func (a *core) SetPlace(p rep.Place) { a.place = p }
func (a *core) Replicated() bool     { return a.replicated }
func (a *core) SetErr(err error)     { a.err = err }

func (a *core) SetSymmetric(known bool) {
	a.knownSymmetric.Store(known)
	if known && a.st != nil && a.st.Sparse() && a.pending.Load() == nil {
		a.asCols.Store(a.st)
	}
}

func (a *core) Sendable() error {
	t := sparse.GoType(a.Type())
	if spmd.Plain(t) {
		return nil
	}
	return &InvalidError{"matrix on a group", fmt.Sprintf("values of %v have pointers and cannot be sent; use numbers, or structs of numbers", t)}
}

func (a *core) Pin() sparse.Format                  { return a.pin }
func (a *core) SetPin(pinned bool, f sparse.Format) { a.pinned, a.pin = pinned, f }
func (a *core) Convert(f sparse.Format) error       { return pinFormat(a, Format(f)) }
