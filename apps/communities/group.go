package communities

import (
	"errors"
	"slices"
	"time"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
)

// Communities on a group of devices. Every device has the graph and the whole state of the moves.
// On a large level each decides for a share of the vertices, which a hash of the vertex gives;
// after each batch the devices gather the wishes, 16 bytes each, and each makes the moves of all.
// In the same way each wakes the neighbours of its share of the vertices that moved, and sums up
// the weight inside communities for modularity. Each contracts a range of the communities, and the
// devices gather the rows. Sweeps over few vertices, refinement, and small levels, where exchanges
// would take longer than the work, are done by every device alike. All sums are of integers, so the
// states stay the same on all devices but for the order of entries in rows and lists, the devices
// take all decisions alike, and the result equals the result of one device.
//
// A rank that fails takes part in exchanges until the ranks agree to end, so that the group stays
// usable.

// dividedEntries is the number of entries of a level for each batch from which devices divide a
// sweep. The default is an estimate: an exchange takes 34 µs on four H200s, and one H200 decides
// for 9 (R-MAT 24) to 14 (planted) million entries a millisecond.
type dividedEntries int64

const louvainDivides dividedEntries = 2 << 20

// Devices divide a sweep if 1/louvainFewest of the vertices are active: few can have much of the
// work, because hubs stay active.
const louvainFewest = 1024

// louvainShare is the part of one rank in Communities on a group.
type louvainShare struct {
	w     *workflow.RowGroup
	c     comm.Comm
	ended bool  // the ranks have agreed to end, or the group has failed
	err   error // of a collective, which has ended the group
	whole bool  // the group does not reduce on devices: each rank wakes all neighbours

	// Of a sweep: the wishes of this rank and of all ranks in a batch, and the wishes of all
	// batches.
	count, own, all       device.Buffer
	offs, items, to, gain device.Buffer
	listed                int // wishes of the batches before

	cuts []int // of the parts that ranks contract
}

// rankStatus is the failure and the number that a rank sends the others.
type rankStatus struct{ failed, number int64 }

// place returns the rank and the number of ranks.
func (h *louvainShare) place() (rank, ranks int) { return h.c.Rank(), h.c.Size() }

// gatherNumbers gives all ranks a number of each. It returns nil, and the session has an error, if
// a rank has failed.
func (h *louvainShare) gatherNumbers(s *device.Session, own int64) []int64 {
	if h.ended {
		return nil
	}
	if err := h.w.Ended(); err != nil {
		s.Fail(err)
	}
	all := h.agree(s.Err() != nil, own)
	if h.ended {
		s.Fail(errors.Join(h.err, errLouvainEnded))
		return nil
	}
	list := make([]int64, len(all))
	for r, x := range all {
		list[r] = x.number
	}
	return list
}

// errLouvainEnded ends the session of a rank after its group has ended. The caller gets the error
// of the rank that failed.
var errLouvainEnded = errors.New("another rank has failed")

// agree tells the other ranks whether this one has failed, and ends the run if one has.
func (h *louvainShare) agree(failed bool, own int64) []rankStatus {
	if h.ended {
		return nil
	}
	all, err := workflow.Tell(h.w, h.c, rankStatus{int64(workflow.Bit(failed)), own})
	h.ended, h.err = err != nil || slices.ContainsFunc(all, func(x rankStatus) bool { return x.failed != 0 }), err
	return all
}

// result returns the own block of a vector of the result.
func (h *louvainShare) result(s *device.Session, v device.View) device.Store {
	lo, hi := h.w.Own(h.c)
	own := s.NewFull(1, hi-lo, workflow.Int32Type)
	s.Copy(own.Val, v.Val.At(4*int64(lo)), 4*int64(hi-lo))
	s.Drop(v)
	return s.Result(own, int64(hi-lo))
}

// sum adds up a number of each rank.
func (h *louvainShare) sum(s *device.Session, own int64) (sum int64) {
	for _, x := range h.gatherNumbers(s, own) {
		sum += x
	}
	return sum
}

// endByError ends the run by an error of a collective.
func (h *louvainShare) endByError(s *device.Session, err error) {
	if err != nil && !h.ended {
		h.ended, h.err = true, err
		s.Fail(err)
	}
}

// divides reports whether the ranks divide sweeps of the level.
func (l *louvainLevel) divides() bool {
	h := l.w.share
	return h != nil && !h.ended && h.c.Size() > 1 && l.entries >= l.w.divides
}

// dividesSweep reports whether the ranks divide a sweep.
func (m *deviceMoving) dividesSweep() bool {
	l := m.l
	return !m.atOnce && !m.whole && l.entries >= l.w.divides*int64(m.batches) && m.active >= l.edged/louvainFewest
}

// begin begins a sweep of a level.
func (h *louvainShare) begin(l *louvainLevel) *louvainShare {
	if h.own.Addr == 0 {
		s, n := l.w.s, int64(l.w.first)
		h.count = s.Alloc(8)
		h.own, h.all = s.Alloc(16*n), s.Alloc(16*n)
		h.offs = s.Alloc(4 * (louvainBatches*louvainBins + 1))
		h.items, h.to, h.gain = s.Alloc(8*n), s.Alloc(4*n), s.Alloc(8*n)
	}
	h.listed = 0
	return h
}

// exchange gives all ranks the wishes of a batch. It returns false if the run ends.
func (h *louvainShare) exchange(m *deviceMoving, b int) bool {
	const size = 16 // of a wish
	l, w := m.l, m.l.w
	n, s := int64(l.n), w.s
	s.Fill(h.count, 0, 8)
	w.resident("wishes", m.threads(), 0, int32(b), w.offs, w.items, w.to, w.gain, h.own, h.count)
	mine := s.Read(h.count, 0)
	counts := h.gatherNumbers(s, mine)
	if counts == nil {
		return false
	}
	bytes, total, from := make([]int, len(counts)), 0, 0
	for r, k := range counts {
		if bytes[r] = size * int(k); r == h.c.Rank() {
			from = total
		}
		total += int(k)
	}
	if total > 0 {
		h.endByError(s, h.c.AllGatherV(h.w.Wait, workflow.DeviceBytes(h.all, size*total), bytes, workflow.DeviceBytes(h.own, bytes[h.c.Rank()])))
	}
	half := int64(b & 1)
	w.resident("accept", int64(total)/workflow.GraphBlock+1, 0, int32(total), int32(b), int32(from), int32(from)+int32(mine), int32(h.listed), h.all, l.degree,
		h.offs, h.items, h.to, h.gain, w.want.At(2*half*n*w.sums), w.best.At(2*half*n*8))
	h.listed += total
	return !h.ended
}

// join gives all ranks the vertices that one of them has made active. It returns false if the group
// does not reduce on devices.
func (h *louvainShare) join(s *device.Session, active device.Buffer, n int) bool {
	if h.ended {
		return true
	}
	err := h.c.Reduce(h.w.Wait, workflow.DeviceBytes(active, n), workflow.DeviceBytes(active, n), comm.Max, false)
	if errors.Is(err, comm.ErrNoOp) {
		h.whole = true
		return false
	}
	h.endByError(s, err)
	return true
}

// cut returns the parts that this rank contracts.
func (h *louvainShare) cut(s *device.Session, l, next *louvainLevel) (lo, hi int) {
	rank, ranks := h.place()
	cuts := s.Alloc(8 * int64(ranks+1))
	s.Each(l.w.kernel("cuts"), int64(ranks+1), int32(ranks), int32(next.n), next.row, cuts)
	h.cuts = make([]int, ranks+1)
	for r := range h.cuts {
		h.cuts[r] = int(s.Read(cuts, int64(r)))
	}
	s.Free(cuts)
	return h.cuts[rank], h.cuts[rank+1]
}

// gatherRows gives all ranks the rows of the next level after each has contracted its own rows.
func (h *louvainShare) gatherRows(s *device.Session, l, next *louvainLevel, offs, items, length device.Buffer) {
	w, count := l.w, int64(next.n)
	if h.gatherNumbers(s, 0) == nil { // as they agree, no rank is without memory
		return
	}
	rank, sizes := h.c.Rank(), make([]int, h.c.Size())
	for r := range sizes {
		sizes[r] = 4 * (h.cuts[r+1] - h.cuts[r])
	}
	lens := workflow.DeviceBytes(next.len, int(4*count))
	h.endByError(s, h.c.AllGatherV(h.w.Wait, lens, sizes, lens.Slice(4*h.cuts[rank], 4*h.cuts[rank+1])))
	row := s.Scan(next.len, count, 4)
	ends := make([]int, len(h.cuts))
	for r := range ends {
		ends[r] = int(s.Read(row, int64(h.cuts[r])))
	}
	next.entries = int64(ends[len(ends)-1])
	idx, weight := s.Alloc(4*max(next.entries, 1)), s.Alloc(w.sums*max(next.entries, 1))
	w.resident("pack", l.rowBlocks(), 0, offs, items, next.row, length, next.len, next.idx, next.weight, row, idx, weight)
	w.free(next.row, next.idx, next.weight)
	next.row, next.idx, next.weight = row, idx, weight
	if h.gatherNumbers(s, 0) == nil {
		return
	}
	for _, x := range []struct {
		at   device.Buffer
		size int
	}{{idx, 4}, {weight, int(w.sums)}} {
		for r := range sizes {
			sizes[r] = x.size * (ends[r+1] - ends[r])
		}
		if all := workflow.DeviceBytes(x.at, x.size*ends[len(sizes)]); next.entries > 0 && !h.ended {
			h.endByError(s, h.c.AllGatherV(h.w.Wait, all, sizes, all.Slice(x.size*ends[rank], x.size*ends[rank+1])))
		}
	}
}

// communitiesOnGroup is Communities on a group of devices. The result is nil if the host has to
// compute, or if the graph exceeds the limit for gathered operands.
func communitiesOnGroup(w *workflow.RowGroup, g rep.View, start []int32, n int, o CommunitiesOptions) (*CommunitiesResult, error) {
	div := &workflow.Division{App: w.App, Run: w.Run, G: w.G, Wait: w.Wait, Devices: true, Began: time.Now()}
	if !g.Gatherable(div.G) {
		return nil, nil
	}
	graphs, err := g.Replicas(div.Wait, div.G)
	if err != nil {
		return nil, err
	}
	w.Cuts = workflow.AsInts(workflow.CutEvenly(int64(n), w.G.Size(), 1, 1))
	results, errs := make([]*CommunitiesResult, len(graphs)), make([]error, len(graphs))
	found := make([][]device.Store, len(graphs))
	ended := false // by a rank of another process
	err = w.G.Each(func(k int, c comm.Comm) error {
		h, own := &louvainShare{w: w, c: c}, o
		own.Nondeterministic = false // ranks make the same moves
		if k > 0 {
			own.Progress = nil
		}
		operand, err := graphs[k].Operand(device.Of(w.G.PlaceOf(k)))
		if err == nil {
			err = w.On(k, func(s *device.Session) (err error) {
				results[k], found[k], err = communitiesOn(s, operand, start, n, &own, h)
				h.agree(err != nil || s.Err() != nil, 0)
				h.ended = true
				return err
			})
		}
		h.agree(err != nil, 0) // unless the session has
		if !errors.Is(err, errLouvainEnded) {
			errs[k] = err
		} else if k == 0 {
			ended = true
		}
		return h.err
	})
	for k, c := range w.G.Ranks() {
		if errs[k] != nil {
			return nil, div.Fail(c, errs[k])
		}
	}
	if err == nil && ended {
		err = w.G.Each(func(_ int, c comm.Comm) error { return c.Fence(w.Wait) })
	}
	if err = w.Failed(err); err != nil || results[0] == nil {
		return nil, err
	}
	res := results[0]
	for level := range found[0] {
		v := matrix.NewVector[int32](n, matrix.On(w.G))
		blocks := make([]device.Store, len(found))
		for k := range blocks {
			blocks[k] = found[k][level]
		}
		access.SetVectorBlocks(v, w.G, w.Cuts, blocks)
		res.Membership = v
		res.Levels = append(res.Levels, v)
	}
	if o.Trace != nil {
		o.Trace(ops.Trace{Op: w.App, Method: "moves, shares of vertices", Place: w.G.String(), Work: g.NVals(), NVals: int64(n)})
	}
	return res, nil
}
