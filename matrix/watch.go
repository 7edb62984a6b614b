package matrix

import (
	"sync/atomic"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// What the recorded loops of package ops need of a matrix.

// Watch makes w watch the contents.
func (a *core) Watch(w *rep.Watch) *rep.Watch {
	if a.null {
		return nil
	}
	return a.watch.Swap(w)
}

// Few reports whether the contents are on the host, with one entry at most, in row 0.
func (a *core) Few() (j int32, val sparse.Values, ok bool) {
	if a.null || a.deviceOnly.Load() || a.NVals() > 1 {
		return 0, val, false
	}
	st := a.Stored()
	switch {
	case st.NVals == 0:
		return 0, val, true
	case st.NRows != 1 || !st.Sparse():
		return 0, val, false
	}
	return st.Idx[0], st.Valued().Part(0, 1), true
}

// Exchange exchanges the contents with the contents of b, a matrix of the same type, shape and
// place.
func (a *core) Exchange(m rep.Matrix) error {
	b, ok := m.Matrix().(*core)
	if !ok || a.null || b.null {
		return errNil
	}
	if a == b {
		return nil
	}
	a.touch(true)
	b.touch(true)
	a.st, b.st = b.st, a.st
	a.home, b.home = b.home, a.home
	a.copies, b.copies = b.copies, a.copies
	a.blocks, b.blocks = b.blocks, a.blocks
	for _, p := range [][2]*unsafe.Pointer{
		{&a.pending.p, &b.pending.p}, {&a.asRows.p, &b.asRows.p}, {&a.asCols.p, &b.asCols.p},
		{&a.asColsShape.p, &b.asColsShape.p}, {&a.rowLeads.p, &b.rowLeads.p}, {&a.colLeads.p, &b.colLeads.p},
	} {
		x, y := atomic.LoadPointer(p[0]), atomic.LoadPointer(p[1])
		atomic.StorePointer(p[0], y)
		atomic.StorePointer(p[1], x)
	}
	for _, p := range [][2]*atomic.Bool{{&a.deviceOnly, &b.deviceOnly}, {&a.knownSymmetric, &b.knownSymmetric}} {
		x, y := p[0].Load(), p[1].Load()
		p[0].Store(y)
		p[1].Store(x)
	}
	for _, c := range []*core{a, b} {
		if !c.pinned {
			continue
		}
		if c.deviceOnly.Load() {
			if err := c.Repin(); err != nil {
				return err
			}
		} else if st := c.Stored(); st.Format != c.pin {
			c.SetResult(st)
		}
	}
	return nil
}

// touch tells the watch that the contents are read, or written.
func (a *core) touch(write bool) {
	if w := a.watch.Load(); w != nil {
		w.Touched(write)
	}
}

// touchHere is touch for a write to the storage on the host, which has the contents afterwards.
func (a *core) touchHere() {
	if w := a.watch.Load(); w != nil {
		w.Touched(true)
		a.Stored()
	}
}
