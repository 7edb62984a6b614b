package apps

import (
	"context"
	"errors"
	"unsafe"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
)

// Fused forms on a group divide the vertices by the rows of the graph: each rank computes the new
// values of its vertices by kernels of its own from the values of all, and the ranks then gather
// what has changed from memory of device to memory of device. No kernel reads the memory of another
// device: random reads between devices are ten times as slow as gathers (docs/scale.md).

// byRows is the method of a trace of such a run.
const byRows = "rows"

// rowGroup is a group on which a workflow runs by rows, and the cuts of its vertices.
type rowGroup struct {
	app     string
	run     Run
	g       *comm.Group
	wait    context.Context // of collectives; see division
	cuts    []int
	devices bool // all ranks are on devices; else the host computes for each, for predictions and tests
}

// byRows returns the group for a run by rows, nil if the place is no group or the run is not to be
// divided so. Auto takes it for devices whose memory the group moves; Fused also for ranks of the
// host, which then exchange what devices would. All processes decide alike.
func (r Run) byRows(app string, at matrix.Place) *rowGroup {
	g, ok := at.(*comm.Group)
	if !ok || g.Size() == 0 || r.Method == Pipeline {
		return nil
	}
	w := &rowGroup{app: app, run: r, g: g, devices: g.MovesDeviceMemory()}
	seen := map[comm.Place]bool{}
	for k := range g.Ranks() {
		p := g.PlaceOf(k)
		if device.Of(p) == nil {
			w.devices = false
		} else if !w.devices || seen[p] { // no way between their memories, or a device that is several ranks
			return nil
		}
		seen[p] = true
	}
	if !w.devices && r.Method != Fused {
		return nil
	}
	if len(g.Ranks()) < g.Size() {
		w.wait = r.Context
	}
	return w
}

// cutByRows sets the cuts of the vertices to those of the rows of a view.
func cutByRows[T comparable](w *rowGroup, v matrix.View[T]) (err error) {
	w.cuts, err = v.Inside().Cuts(w.wait, w.g)
	return err
}

// blocksByRows returns the rows of a view for each rank of this process, by the cuts of the
// vertices.
func blocksByRows[T comparable](w *rowGroup, v matrix.View[T]) ([]matrix.View[T], error) {
	return access.Blocks(v, rep.Query{Group: w.g, Context: w.wait, Cuts: w.cuts})
}

// own returns the vertices of a rank.
func (w *rowGroup) own(c comm.Comm) (lo, hi int) { return w.cuts[c.Rank()], w.cuts[c.Rank()+1] }

// bytes returns the sizes of the blocks of a vector whose elements have so many bytes.
func (w *rowGroup) bytes(size int) []int {
	list := make([]int, w.g.Size())
	for r := range list {
		list[r] = (w.cuts[r+1] - w.cuts[r]) * size
	}
	return list
}

// tell gives all ranks a few numbers of each, in the order of ranks, by host memory. E has no
// pointers.
func tell[E any](w *rowGroup, c comm.Comm, own E) ([]E, error) {
	all, counts := make([]E, c.Size()), make([]int, c.Size())
	for r := range counts {
		counts[r] = int(unsafe.Sizeof(own))
	}
	return all, c.AllGatherV(w.wait, memoryOf(all), counts, memoryOf([]E{own}))
}

// ended returns the error of the context of the run.
func (w *rowGroup) ended() error {
	if w.run.Context == nil {
		return nil
	}
	return w.run.Context.Err()
}

// on runs f in a session of the device of rank k. The session ends with the first error of f.
func (w *rowGroup) on(k int, f func(s *device.Session) error) error {
	call := w.run.call(w.app)
	call.Context = nil // the ranks agree when a run ends
	return device.Of(w.g.PlaceOf(k)).Run(call, func(s *device.Session) {
		if err := f(s); err != nil {
			s.Fail(err)
		}
	})
}

// failed returns the error of a run after Each.
func (w *rowGroup) failed(err error) error {
	return errors.Join(err, w.ended())
}

// traced reports the run.
func (w *rowGroup) traced(work, nvals int64) {
	if w.run.Trace != nil {
		w.run.Trace(ops.Trace{Op: w.app, Method: byRows, Place: w.g.String(), Work: work, NVals: nvals})
	}
}

// deviceBytes describes device memory of n bytes to the group.
func deviceBytes(b device.Buffer, n int) comm.Buffer { return comm.OnDevice(b.Addr, comm.Uint8, n) }
