package program

import (
	_ "embed"
	"math"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/device"
)

// This file runs supersteps that a device runs by itself, without a look of the host between them:
// those with few messages. The others are products of the space.

//go:embed kernels/rounds.cu
var roundsText string

// Constants of kernels/rounds.cu.
const (
	roundChunk  = 64
	roundFill   = 1 << 17 // edges that a step handles in about the time that it takes to begin
	roundLog    = 4096    // supersteps between looks
	roundStates = 34
	roundFirst  = 4       // steps before the host looks for the first time
	roundPulls  = 10      // the same with pulls, which need more steps
	roundPulled = 1 << 62 // marks a pull in the log
)

// The first mode of a device; see kernels/rounds.cu.
const (
	roundPush = 1
	roundMark = 3
)

// Why a device stops; see kernels/rounds.cu.
const (
	roundsQuiet = 2 + iota
	roundsFull
	roundsWide
)

// What a trace calls the plans of these supersteps.
const (
	queued = "push queue"
	looked = "pull list"
)

// A pull is better when the edges of the active vertices exceed such a part of all edges, or with
// Skip of the edges of vertices that were not active (Beamer, Asanović, Patterson, SC 2012). A step
// of fewer edges than 1/pullFew of the vertices pushes.
const (
	pullParts     = 10
	pullPartsSkip = 14
	pullFew       = 16
)

// canRound reports whether a device can run supersteps of the program by itself: atomics compute
// the sums, in any order.
func (d *deviceProgram) canRound(add device.Monoid) bool {
	size := d.message.Size
	return !d.phased && !d.lists.present() && !d.everywhere && d.totals == 0 && d.halt == nil && (add.Exact || add.Any) &&
		(size == 1 || size == 2 || size == 4 || size == 8)
}

// pulls reports whether a device can pull by itself: vertices that take messages look for one.
func (d *deviceProgram) pulls() bool { return d.rounds && d.gather.Add.Any && d.skips && !d.priority }

// leaves reports whether products take the wide supersteps of a program on a graph of so many
// edges. With Priority they do in small graphs, where each step costs more than its edges: shortest
// paths on R-MAT of 2 and 8 million edges take .42 and .89 ms by pulls alone and 1.00 and 1.19 by
// the queue; a uniform graph of 16 million takes 4.4 and 3.0 (H200).
func (d *deviceProgram) leaves(edges int64) bool { return !d.priority || edges <= leaveEdges }

// leaveEdges is the most edges of a graph on which programs with Priority leave the queue.
const leaveEdges = 10_000_000

// withRounds adds the kernels of rounds.cu to a program.
func (d *deviceProgram) withRounds(p *device.Program) {
	flag := map[bool]int{true: 1}
	add := d.gather.Add
	p.Types = append(p.Types, device.Typedef{Name: "HB_C", Type: d.message})
	p.Head, p.Parts = d.head, []string{"queue", "atomics"}
	p.Body += roundsText
	for name, value := range map[string]int{
		"HB_GRAPH_BLOCK": device.Threads, "HB_GRAPH_STATE": roundStates, "HB_ROUND_CHUNK": roundChunk,
		"HB_ROUND_LOG": roundLog, "HB_ROUND_FILL": roundFill, "HB_ROUND_FEW": pullFew, "HB_ANY": flag[add.Any], "HB_PRIORITY": flag[d.priority],
		"HB_SELECTS": flag[add.Name == "min" || add.Name == "max"], "HB_PULLS": flag[d.pulls()],
		"HB_LEAST_ITEMS": flag[d.part], // a vertex without edges here may have some elsewhere
	} {
		p.Defines[name] = value
	}
}

// rounds are the buffers of these supersteps.
type rounds struct {
	ready                     bool
	left                      bool // products have taken supersteps: Priority delays no vertices then
	room                      int64
	queue, touched, hit, sums device.Buffer
	pile, waiting             device.Buffer
	bits, rest                device.Buffer
	state, log                device.Buffer
	in                        device.View // edges by destination, if they are known
}

// narrow reports whether the device runs the next supersteps by itself. The space has the forced
// plans.
func (r *deviceRun) narrow(plan string) bool {
	if !r.p.rounds || plan != "" && plan != "auto" && plan != "push" || r.count == 0 {
		return false
	}
	return plan == "push" || r.p.pulls() || !r.p.leaves(r.rows.Entries) || !r.wide()
}

// wide reports whether a pull is better.
func (r *deviceRun) wide() bool {
	return r.edges*r.parts() > r.pullEdges() && r.edges*pullFew > int64(r.n)
}

// parts is the factor of the test of a pull.
func (r *deviceRun) parts() int64 {
	if r.p.skips {
		return pullPartsSkip
	}
	return pullParts
}

// pullEdges is the number of edges that a pull may have to look at.
func (r *deviceRun) pullEdges() int64 {
	if r.p.skips {
		return max(0, r.rows.Entries-r.past)
	}
	return r.rows.Entries
}

// byDevice runs supersteps until there is no active vertex, a pull is better, or the limit is
// reached.
func (r *deviceRun) byDevice(o Options) {
	d, n, s := r.p, int32(r.n), r.Session
	r.dropMessages()
	b := &r.loop
	size := int64(r.n)
	if !b.ready {
		b.room = size + r.rows.Entries/roundChunk + 1
		b.queue, b.touched, b.hit = s.Alloc(16*b.room), s.Alloc(4*size), s.Zeros((size+7)/4*4)
		b.sums, b.state, b.log = s.Alloc(int64(d.message.Size)*size), s.Alloc(8*roundStates), s.Alloc(8*roundLog)
		if !d.gather.Add.Any {
			s.Each(r.kernel("identities"), size, n, b.sums)
		}
		if d.priority {
			b.pile, b.waiting = s.Alloc(8*size), s.Zeros(size)
		}
		if d.pulls() {
			b.bits, b.rest = s.Zeros(8*((size+31)/32)), s.Alloc(8*size)
			if r.reverse.Symmetric || s.HasCols(r.graph) {
				b.in = s.Rows(r.reverse)
			}
		}
		b.ready = true
	}
	limit := int64(limitOf(d.supersteps, o.MaxSupersteps))
	pull, mode := r.parts(), int64(roundPush)
	switch {
	case o.Plan == "push" || !d.leaves(r.rows.Entries):
		pull = 0
	case d.pulls() && r.wide():
		if mode = roundMark; b.in.Ptr.Addr == 0 {
			b.in = s.Rows(r.reverse)
		}
	}
	s.Fill(b.state, 0, 8*roundStates)
	if r.place != nil && b.bits.Addr != 0 { // a part was left
		s.Fill(b.bits, 0, 8*((size+31)/32))
	}
	push, take := r.kernel("push"), r.kernel("take")
	shape := func(k device.Kernel) (grid, block [3]uint32) {
		return [3]uint32{s.Resident(k, device.Threads), 1, 1}, [3]uint32{device.Threads, 1, 1}
	}
	grid, block := shape(take)
	present := r.state.Present
	s.Launch(r.kernel("enter"), grid, block, 0, n, r.rows.Ptr, r.state.Val, present, r.count, b.queue, b.pile,
		b.waiting, b.state, int64(r.steps), limit, pull, r.past, mode)
	width := d.width
	if b.left {
		width = math.Inf(1)
	}
	if d.priority {
		s.Blocks(r.kernel("bound"), 1, 1, width, b.state)
	}
	wide, _ := shape(push)
	for s.Err() == nil {
		s.Check()
		result, at := s.Results()
		first := roundFirst
		if pull > 0 && d.pulls() {
			first = roundPulls
		}
		s.Repeat(first, func() {
			s.Launch(push, wide, block, 0, r.partArguments(n, r.rows.Ptr, r.rows.Idx, r.rows.Val, r.state.Val, r.closed.Present,
				b.hit, b.sums, b.queue, b.room, b.touched, b.state, b.in.Ptr, b.in.Idx, b.in.Val, b.bits, b.rest)...)
			s.Launch(take, grid, block, 0, r.partArguments(n, r.rows.Ptr, r.state.Val, r.closed.Present, b.hit, b.sums, b.touched,
				b.queue, b.room, b.pile, b.waiting, width, b.state, b.log, at, b.in.Ptr, b.bits, b.rest)...)
		})
		if s.Err() != nil {
			return
		}
		why, ran := result[0], result[2]
		r.count = result[1]
		if r.place != nil && ran == 1 {
			r.own = append(r.own, result[3])
		} else {
			r.logged(o, ran)
		}
		r.steps += int(ran)
		ended := why == roundsQuiet || why == roundsFull && limit > 0 && int64(r.steps) == limit
		switch {
		case ended && r.place != nil: // the next supersteps have other active vertices
			r.markForProduct()
			return
		case ended:
			r.state = s.AllPresent(r.state)
			r.state.Entries = r.count
			return
		case why == roundsWide && !d.pulls():
			r.markForProduct()
			return
		}
		if pull > 0 && d.pulls() && b.in.Ptr.Addr == 0 { // the next step may be a pull
			b.in = s.Rows(r.reverse)
		}
		if o.Progress != nil {
			o.Progress(r.steps, r.count)
		}
		s.Blocks(r.kernel("again"), 1, 1, b.state)
	}
}

// markForProduct marks the active vertices for a product.
func (r *deviceRun) markForProduct() {
	b := &r.loop
	b.left = true
	r.markStates(0)
	r.Each(r.kernel("leave"), int64(r.n), int32(r.n), b.queue, b.room, b.pile, b.waiting, b.state, b.bits, r.state.Present)
	if r.place == nil {
		r.edges = r.rows.Entries // many
	}
	r.fillStates()
}

// markStates gives the states a byte for each vertex that says whether it is active, all the same.
func (r *deviceRun) markStates(active byte) {
	if r.state.Present.Addr == 0 {
		v := r.states(r.p.state)
		r.Copy(v.Val, r.state.Val, int64(r.p.state.Size)*int64(r.n))
		r.Drop(r.state)
		r.state = v
	}
	r.Fill(r.state.Present, active, int64(r.n))
}

// logged traces the supersteps of the log, or keeps them for the run of a part.
func (r *deviceRun) logged(o Options, count int64) {
	if o.Trace == nil && r.place == nil || count == 0 {
		return
	}
	active := make([]int64, count)
	r.Download(unsafe.Pointer(&active[0]), r.loop.log, 8*count)
	if r.Err() != nil {
		return
	}
	if r.place != nil {
		r.own = append(r.own, active...)
		return
	}
	for k, senders := range active {
		plan := queued
		if senders >= roundPulled {
			senders, plan = senders-roundPulled, looked
		}
		o.Trace(Step{Superstep: r.steps + k, Plan: plan, Active: senders})
	}
}
