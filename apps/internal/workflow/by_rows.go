package workflow

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

// ByRows is the method of a trace of such a run.
const ByRows = "rows"

// RowGroup is a group on which a workflow runs by rows, and the cuts of its vertices.
type RowGroup struct {
	App     string
	Run     Run
	G       *comm.Group
	Wait    context.Context // of collectives; see division
	Cuts    []int
	Devices bool // all ranks are on devices; else the host computes for each
}

// GroupRows returns the group for a run by rows, nil if the place is no group or the run is not to
// be divided so. Auto takes it for devices if the group moves their memory, and for ranks of the
// host if the workflow says HostRows; Fused for ranks of the host in any case. These exchange what
// devices would. All processes decide alike.
func GroupRows(r Run, app string, at matrix.Place) *RowGroup {
	g, ok := at.(*comm.Group)
	if !ok || g.Size() == 0 || r.Method == Pipeline {
		return nil
	}
	w := &RowGroup{App: app, Run: r, G: g, Devices: g.MovesDeviceMemory()}
	seen := map[comm.Place]bool{}
	for k := range g.Ranks() {
		p := g.PlaceOf(k)
		if device.Of(p) == nil {
			w.Devices = false
		} else if !w.Devices || seen[p] { // no way between their memories, or a device that is several ranks
			return nil
		}
		seen[p] = true
	}
	if !w.Devices && r.Method != Fused && !forms[app].HostRows {
		return nil
	}
	if len(g.Ranks()) < g.Size() {
		w.Wait = r.Context
	}
	return w
}

// CutByRows cuts the vertices as the rows of a view.
func CutByRows[T comparable](w *RowGroup, v *matrix.View[T]) (err error) {
	w.Cuts, err = v.Inside().Cuts(w.Wait, w.G)
	return err
}

// BlocksByRows returns the rows of a view for each rank of this process, by the cuts of the
// vertices.
func BlocksByRows[T comparable](w *RowGroup, v *matrix.View[T]) ([]*matrix.View[T], error) {
	return access.Blocks(v, rep.Query{Group: w.G, Context: w.Wait, Cuts: w.Cuts})
}

// Own returns the vertices of a rank.
func (w *RowGroup) Own(c comm.Comm) (lo, hi int) { return w.Cuts[c.Rank()], w.Cuts[c.Rank()+1] }

// Bytes returns the sizes of the blocks of a vector with elements of so many bytes.
func (w *RowGroup) Bytes(size int) []int {
	list := make([]int, w.G.Size())
	for r := range list {
		list[r] = (w.Cuts[r+1] - w.Cuts[r]) * size
	}
	return list
}

// Tell gives all ranks a few numbers of each, in the order of ranks, by host memory. E has no
// pointers.
func Tell[E any](w *RowGroup, c comm.Comm, own E) ([]E, error) {
	all, counts := make([]E, c.Size()), make([]int, c.Size())
	for r := range counts {
		counts[r] = int(unsafe.Sizeof(own))
	}
	return all, c.AllGatherV(w.Wait, MemoryOf(all), counts, MemoryOf([]E{own}))
}

// Ended returns the error of the context of the run.
func (w *RowGroup) Ended() error {
	if w.Run.Context == nil {
		return nil
	}
	return w.Run.Context.Err()
}

// On runs f in a session of the device of rank k. The session ends with the first error of f.
func (w *RowGroup) On(k int, f func(s *device.Session) error) error {
	call := Call(w.Run, w.App)
	call.Context = nil // the ranks agree when a run ends
	return device.Of(w.G.PlaceOf(k)).Run(call, func(s *device.Session) {
		if err := f(s); err != nil {
			s.Fail(err)
		}
	})
}

// Failed returns the error of a run after Each.
func (w *RowGroup) Failed(err error) error {
	return errors.Join(err, w.Ended())
}

// Traced reports the run.
func (w *RowGroup) Traced(work, nvals int64) {
	if w.Run.Trace != nil {
		w.Run.Trace(ops.Trace{Op: w.App, Method: ByRows, Place: w.G.String(), Work: work, NVals: nvals})
	}
}

// DeviceBytes describes device memory of n bytes to the group.
func DeviceBytes(b device.Buffer, n int) comm.Buffer { return comm.OnDevice(b.Addr, comm.Uint8, n) }
