package communities

import (
	"errors"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/comm/spmd"
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

// louvainDivides is an estimate: an exchange takes 34 µs on four H200s, and one H200 decides for 9
// (R-MAT 24) to 14 (planted) million entries a millisecond.
const louvainDivides workflow.DividedEntries = 2 << 20

// Devices divide a sweep if 1/louvainFewest of the vertices are active: few can have much of the
// work, because hubs stay active.
const louvainFewest = 1024

// louvainShare is the part of one rank in Communities on a group.
type louvainShare struct {
	*workflow.Member
	whole bool // the group does not reduce on devices: each rank wakes all neighbours

	// Of a sweep: the wishes of this rank and of all ranks in a batch, and the wishes of all
	// batches.
	count, own, all       device.Buffer
	offs, items, to, gain device.Buffer
	listed                int // wishes of the batches before

	cuts []int // of the parts that ranks contract
}

// place returns the rank and the number of ranks.
func (h *louvainShare) place() (rank, ranks int) { return h.C.Rank(), h.C.Size() }

// result returns the own block of a vector of the result.
func (h *louvainShare) result(s *device.Session, v device.View) device.Store {
	lo, hi := h.Own(h.C)
	own := s.NewFull(1, hi-lo, workflow.Int32Type)
	s.Copy(own.Val, v.Val.At(4*int64(lo)), 4*int64(hi-lo))
	s.Drop(v)
	return s.Result(own, int64(hi-lo))
}

// sum adds up a number of each rank.
func (h *louvainShare) sum(s *device.Session, own int64) (sum int64) {
	for _, x := range h.AgreeOn(s, own) {
		sum += x
	}
	return sum
}

// divides reports whether the ranks divide sweeps of the level.
func (l *louvainLevel) divides() bool {
	h := l.w.share
	return h != nil && !h.Over && h.C.Size() > 1 && l.entries >= l.w.divides
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
	counts := h.AgreeOn(s, mine)
	if counts == nil {
		return false
	}
	bytes, total, from := make([]int, len(counts)), 0, 0
	for r, k := range counts {
		if bytes[r] = size * int(k); r == h.C.Rank() {
			from = total
		}
		total += int(k)
	}
	if total > 0 {
		h.Lost(s, h.C.AllGatherV(h.Wait, workflow.DeviceBytes(h.all, size*total), bytes, workflow.DeviceBytes(h.own, bytes[h.C.Rank()])))
	}
	half := int64(b & 1)
	w.resident("accept", int64(total)/workflow.GraphBlock+1, 0, int32(total), int32(b), int32(from), int32(from)+int32(mine), int32(h.listed), h.all, l.degree,
		h.offs, h.items, h.to, h.gain, w.want.At(2*half*n*w.sums), w.best.At(2*half*n*8))
	h.listed += total
	return !h.Over
}

// join gives all ranks the vertices that one of them has made active. It returns false if the group
// does not reduce on devices.
func (h *louvainShare) join(s *device.Session, active device.Buffer, n int) bool {
	if h.Over {
		return true
	}
	err := h.C.Reduce(h.Wait, workflow.DeviceBytes(active, n), workflow.DeviceBytes(active, n), comm.Max, false)
	if errors.Is(err, comm.ErrNoOp) {
		h.whole = true
		return false
	}
	h.Lost(s, err)
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
	if h.AgreeOn(s, 0) == nil { // as they agree, no rank is without memory
		return
	}
	rank, sizes := h.C.Rank(), make([]int, h.C.Size())
	for r := range sizes {
		sizes[r] = 4 * (h.cuts[r+1] - h.cuts[r])
	}
	lens := workflow.DeviceBytes(next.len, int(4*count))
	h.Lost(s, h.C.AllGatherV(h.Wait, lens, sizes, lens.Slice(4*h.cuts[rank], 4*h.cuts[rank+1])))
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
	if h.AgreeOn(s, 0) == nil {
		return
	}
	for _, x := range []struct {
		at   device.Buffer
		size int
	}{{idx, 4}, {weight, int(w.sums)}} {
		for r := range sizes {
			sizes[r] = x.size * (ends[r+1] - ends[r])
		}
		if all := workflow.DeviceBytes(x.at, x.size*ends[len(sizes)]); next.entries > 0 && !h.Over {
			h.Lost(s, h.C.AllGatherV(h.Wait, all, sizes, all.Slice(x.size*ends[rank], x.size*ends[rank+1])))
		}
	}
}

// communitiesOnGroup is Communities on a group of devices. The result is nil if the host has to
// compute, or if the graph exceeds the limit for gathered operands.
func communitiesOnGroup(w *workflow.Division, g rep.View, start []int32, n int, o CommunitiesOptions) (*CommunitiesResult, error) {
	if !g.Gatherable(w.Group) {
		return nil, nil
	}
	graphs, err := g.Replicas(w.Wait, w.Group)
	if err != nil {
		return nil, err
	}
	w.Cuts = workflow.AsInts(spmd.CutEvenly(int64(n), w.Group.Size(), 1, 1))
	results, found := make([]*CommunitiesResult, len(graphs)), make([][]device.Store, len(graphs))
	operands := make([]device.Operand, len(graphs))
	err = w.Members(func(k int) (err error) {
		operands[k], err = graphs[k].Operand(device.Of(w.Group.PlaceOf(k)))
		return err
	}, func(k int, m *workflow.Member, s *device.Session) (err error) {
		own := o
		own.Nondeterministic = false // ranks make the same moves
		if k > 0 {
			own.Progress = nil
		}
		results[k], found[k], err = communitiesOn(s, operands[k], start, n, &own, &louvainShare{Member: m})
		return err
	})
	if err != nil || results[0] == nil {
		return nil, err
	}
	res := results[0]
	for level := range found[0] {
		v := matrix.NewVector[int32](n, matrix.On(w.Group))
		blocks := make([]device.Store, len(found))
		for k := range blocks {
			blocks[k] = found[k][level]
		}
		access.SetVectorBlocks(v, w.Group, w.Cuts, blocks)
		res.Membership = v
		res.Levels = append(res.Levels, v)
	}
	if o.Trace != nil {
		o.Trace(ops.Trace{Op: w.Op, Method: "moves, shares of vertices", Place: w.Group.String(), Work: g.NVals(), NVals: int64(n)})
	}
	return res, nil
}
