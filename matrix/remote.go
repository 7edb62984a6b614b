package matrix

import (
	"fmt"

	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// dropRemote frees the copies outside host memory.
func dropRemote(b *core) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.home != nil {
		b.home.Drop()
		b.home = nil
	}
	for _, c := range b.copies {
		c.store.Drop()
	}
	if b.blocks != nil {
		b.blocks.Release()
	}
	b.copies, b.blocks = nil, nil
}

// fetch copies the contents to the host if they are only elsewhere. The caller holds mu. fetch
// stores an error in the matrix, where Err returns it.
func fetch(b *core) {
	if !b.deviceOnly.Load() {
		return
	}
	if b.home == nil && b.blocks != nil {
		gatherToHost(b)
		return
	}
	m, n := b.home.Dims()
	st, err := download(b.Type(), device.Of(b.place), b.home)
	if err != nil {
		b.err = fmt.Errorf("cannot read the contents of a matrix from %s: %w", b.place, err)
		st = b.empty(m, n)
	}
	b.put(st)
	b.deviceOnly.Store(false)
}

func download(t *sparse.Type, at device.Backend, s device.Store) (*sparse.Store, error) {
	shape, err := at.Shape(s)
	if err != nil {
		return nil, err
	}
	n := len(shape.Idx)
	if !shape.Sparse() {
		n, _ = shape.Cells()
	}
	st := &sparse.Store{Structure: shape, Val: t.Zeroed(int64(n)), Type: t}
	if err := at.Values(s, st.Val.Pointer(), n); err != nil {
		return nil, err
	}
	return st, nil
}

// remote returns the contents if they are only on a device, and nil otherwise.
func remote(b *core) device.Store {
	if !b.deviceOnly.Load() {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.deviceOnly.Load() {
		return nil
	}
	return b.home
}

// convertRemote converts the contents s to the format f on their device.
func convertRemote(a *core, s device.Store, f sparse.Format) error {
	out, err := device.Of(a.place).Convert(s, f)
	if err != nil {
		return err
	}
	a.SetRemote(out)
	return nil
}
