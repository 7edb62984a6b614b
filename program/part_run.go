package program

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"unsafe"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/program/internal/halo"
)

// This file runs a program on a group of devices. Each runs supersteps on its part of the graph, as
// one device does on a whole graph, and refreshes the copies from device to device.

// divides reports whether the devices of a group run a program by parts: their memory is moved from
// device to device, each is one rank, and the program has no lists, which need the order of the
// whole graph. All processes decide alike.
func (d *deviceProgram) divides(g *comm.Group, o Options) bool {
	if g.Size() == 1 || !g.MovesDeviceMemory() || d.lists.present() || isBuffer(o.Plan) {
		return false
	}
	seen := map[comm.Place]bool{}
	for k := range g.Ranks() {
		if seen[g.PlaceOf(k)] {
			return false
		}
		seen[g.PlaceOf(k)] = true
	}
	return true
}

// runByParts runs a program by parts. once says that its sums depend on the order.
func runByParts(
	ctx, wait context.Context, g *comm.Group, a rep.View, d *deviceProgram, o Options, once bool,
	states func(n int, at matrix.Place) rep.View,
) (*outcome, error) {
	_, n := a.Dims()
	if once || d.everywhere || d.halt != nil || d.totals > 0 || o.Hops == 0 {
		o.Hops = 1
	}
	cuts, err := a.Cuts(wait, g)
	if err != nil {
		return nil, err
	}
	in, err := a.T().Parts(rep.Query{Group: g, Context: wait, Cuts: cuts})
	if err != nil {
		return nil, err
	}
	out, err := a.Parts(rep.Query{Group: g, Context: wait, Cuts: cuts})
	if err != nil {
		return nil, err
	}
	own := *d
	own.part, own.code.part = true, true
	runs, homes, failures := make([]*partRun, len(in)), make([]device.Store, len(in)), make([]error, len(in))
	err = g.Each(func(k int, c comm.Comm) error {
		at := device.Of(g.PlaceOf(k))
		ins, err := in[k].Operand(at)
		if err != nil {
			return err
		}
		outs, err := out[k].Operand(at)
		if err != nil {
			return err
		}
		err = at.Run(device.Call{Op: d.name}, func(s *device.Session) {
			m := &partMaker{s: s, c: c, wait: wait, cuts: cuts, edge: d.edge, in: s.Rows(ins), out: s.Rows(outs)}
			part, err := partOf(m, ins, o, g.String(), d.state.Size)
			if err != nil {
				s.Fail(err)
				return
			}
			r := &partRun{ctx: ctx, wait: wait, c: c, o: o, whole: n, kept: part, quiet: k > 0}
			runs[k] = r
			if err := r.run(s, &own, ins.Pattern); err != nil {
				s.Fail(err)
				return
			}
			homes[k] = r.home
		})
		if runs[k] != nil && runs[k].failed { // all ranks know, and the group stays usable
			failures[k], err = err, nil
		}
		return err
	})
	switch {
	case err != nil:
	case runs[0].failed:
		if err = cmp.Or(failures...); err == nil {
			err = &comm.RankError{Rank: -1, Cause: fmt.Errorf("%s: a rank of another process failed; see its output", d.name)}
		}
	case runs[0].stopped:
		if err = context.Canceled; ctx != nil && ctx.Err() != nil {
			err = ctx.Err()
		}
	}
	if err != nil {
		return nil, d.explain(o, err)
	}
	first := runs[0]
	res := &outcome{state: states(n, g), supersteps: first.steps, total: first.dev.total, active: first.active, ended: first.ended}
	res.state.OnGroup().SetBlocks(g, true, cuts, homes)
	if res.ended == Full && d.supersteps != res.supersteps {
		return res, &LimitError{d.name, res.supersteps, res.active}
	}
	return res, nil
}

// partRun is the run of a program on the part of one rank.
type partRun struct {
	ctx, wait context.Context // of the run; of collectives
	c         comm.Comm
	o         Options
	whole     int // vertices of the whole graph
	kept      *devicePart
	quiet     bool // another rank of this process tells Progress and Trace

	dev     *deviceRun
	active  int64 // of the whole graph
	steps   int
	ended   Ended
	stopped bool // the context of a rank has ended
	failed  bool // the work of a rank has failed
	home    device.Store

	// The exchange: send and recv, and where the states and marks of each rank are in them.
	buffers [2]device.Buffer
	places  [2]device.Buffer
	begins  [2]device.Buffer
	bytes   [2][]int // to and from each rank
	room    [2]int   // their sums
	counts  device.Buffer
	totals  []float64 // on their way to the device
}

// devicePlace is what kernels of a part know of its vertices.
type devicePlace struct {
	ids, deg     device.Buffer
	size, lo, hi int32
}

// partArguments appends the arguments of HB_PART_PARAMS.
func (r *deviceRun) partArguments(args ...any) []any {
	if p := r.place; p != nil {
		args = append(args, p.ids, p.deg, p.size, p.lo, p.hi)
	}
	return args
}

// run runs supersteps until the end.
func (r *partRun) run(s *device.Session, d *deviceProgram, pattern bool) error {
	h := r.kept.h
	own := *d
	own.seeds = nil
	mine := int64(0) // active own vertices
	seen := map[int32]bool{}
	for _, seed := range d.seeds {
		v := h.Number(int32(seed.id))
		if int(v) < len(h.Ids) && h.Ids[v] == int32(seed.id) {
			if int(v) >= h.Lo && int(v) < h.Hi && !seen[v] {
				mine++
			}
			seen[v] = true
			own.seeds = append(own.seeds, deviceSeed{int(v), seed.state})
		}
	}
	if d.active {
		mine = int64(h.Hi - h.Lo)
	}
	operand := device.Operand{Store: r.kept.in, Pattern: pattern}
	dev := &deviceRun{Session: s, p: &own, n: len(h.Ids), graph: operand, reverse: operand,
		place: &devicePlace{ids: r.kept.ids, deg: r.kept.deg, size: int32(r.whole), lo: int32(h.Lo), hi: int32(h.Hi)}}
	dev.graph.Transposed = true
	r.dev = dev
	if r.o.Numbers != nil {
		ids := make([]int32, len(h.Ids))
		for v, at := range h.Ids {
			ids[v] = r.o.Numbers[at]
		}
		dev.place.ids = s.Ints(ids)
		s.Sync()
		runtime.KeepAlive(ids)
	}
	dev.rows = s.Rows(dev.graph)
	dev.start()
	r.prepare(s)
	counts, err := r.agree([]int64{mine})
	if err != nil || counts == nil {
		return err
	}
	r.active = counts[0]
	for {
		if r.active == 0 && !(d.everywhere && r.steps == 0) {
			r.ended = Quiet
			break
		}
		stages := r.kept.hops
		for _, most := range []int{d.supersteps, r.o.MaxSupersteps} {
			if most > 0 {
				stages = min(stages, most-r.steps)
			}
		}
		if stages == 0 {
			r.ended = Full
			break
		}
		active, plans := r.supersteps(stages)
		if counts, err = r.agree(active); err != nil || counts == nil {
			return err
		}
		before := r.active
		for t, after := range counts {
			r.reportStep(r.steps, plans[t], before)
			r.steps, r.active, before = r.steps+1, after, after
			if after == 0 {
				break
			}
		}
		if d.halt != nil && d.halt(r.steps-1, dev.total) {
			r.ended = Halted
			break
		}
		if r.active > 0 || d.everywhere {
			if err := r.refresh(); err != nil {
				return err
			}
		}
	}
	state, size := s.NewFull(1, h.Hi-h.Lo, d.state), int64(d.state.Size)
	s.Copy(state.Val, dev.state.Val.At(int64(h.Lo)*size), int64(h.Hi-h.Lo)*size)
	r.home = s.Result(state, int64(h.Hi-h.Lo))
	s.Sync()
	return s.Err()
}

// supersteps runs so many on the part. It returns the active own vertices after each, and the
// plans.
func (r *partRun) supersteps(stages int) (active []int64, plans []string) {
	dev, d := r.dev, r.dev.p
	active, plans = make([]int64, stages), make([]string, stages)
	for t := range plans {
		plans[t] = "none"
	}
	at, o, method := 0, r.o, d.method(r.o.Plan)
	o.MaxSupersteps, o.Progress, o.Trace = r.steps+stages, nil, nil
	for at < stages && dev.Err() == nil && (dev.count > 0 || d.everywhere) {
		if dev.narrow(r.o.Plan) {
			ran := r.steps + at
			dev.byDevice(o, outOf(&ran))
			for _, n := range dev.own {
				plans[at] = queued
				if n >= roundPulled {
					n, plans[at] = n-roundPulled, looked
				}
				active[at] = n
				at++
			}
			dev.own = nil
			continue
		}
		plans[at] = dev.superstep(method, int32(r.steps+at))
		active[at] = dev.mine
		at++
	}
	return active, plans
}

// outOf returns a place for the number of supersteps.
func outOf(supersteps *int) ran { return ran{supersteps, new([]float64), new(Ended), nil} }

// reportStep calls Progress and Trace for a superstep.
func (r *partRun) reportStep(number int, plan string, active int64) {
	if r.quiet {
		return
	}
	if f := r.o.Progress; f != nil {
		f(number, active)
	}
	if f := r.o.Trace; f != nil {
		f(Step{Superstep: number, Plan: plan, Active: active})
	}
}

// Why a rank ends a run, as agree tells.
const (
	rankEnded = 1 << iota // its context has ended
	rankFailed
)

// agree adds the counts of all ranks, and their Totals in the order of ranks. It returns nil, and
// ends the run, if the context of a rank has ended or its work has failed. Between two calls, ranks
// that have failed take part in the collectives.
func (r *partRun) agree(own []int64) ([]int64, error) {
	dev := r.dev
	why := int64(0)
	if r.ctx != nil && r.ctx.Err() != nil {
		why |= rankEnded
	}
	if dev.Err() != nil {
		why |= rankFailed
	}
	words := append([]int64{why}, own...)
	for _, t := range dev.total {
		words = append(words, int64(math.Float64bits(t)))
	}
	all, err := halo.GatherRank(r.wait, r.c, words)
	if err != nil {
		return nil, err
	}
	sum := make([]int64, len(own))
	r.totals = make([]float64, len(dev.total))
	for i := range r.c.Size() {
		one := all[i*len(words) : (i+1)*len(words)]
		r.stopped, r.failed = r.stopped || one[0]&rankEnded != 0, r.failed || one[0]&rankFailed != 0
		for t := range sum {
			sum[t] += one[1+t]
		}
		for t := range r.totals {
			r.totals[t] += math.Float64frombits(uint64(one[1+len(own)+t]))
		}
	}
	if r.stopped || r.failed {
		return nil, nil
	}
	dev.total = r.totals
	upload(dev.Session, dev.sums, r.totals)
	return sum, nil
}

// prepare allocates what an exchange takes.
func (r *partRun) prepare(s *device.Session) {
	p, size := r.c.Size(), int64(r.dev.p.state.Size)
	for k, begins := range r.kept.begins {
		places, total := make([]int64, 2*p), int64(0)
		for i := range p {
			n := begins[i+1] - begins[i]
			states := (n*size + 15) / 16 * 16
			places[i], places[p+i] = total, total+states
			bytes := states + (n+15)/16*16
			r.bytes[k] = append(r.bytes[k], int(bytes))
			total += bytes
		}
		r.room[k] = int(total)
		r.buffers[k] = s.Alloc(max(total, 16))
		r.places[k] = s.Upload(unsafe.Pointer(&places[0]), 8*int64(len(places)))
		r.begins[k] = s.Upload(unsafe.Pointer(&begins[0]), 8*int64(len(begins)))
		s.Sync()
		runtime.KeepAlive(places)
	}
	r.counts = s.Alloc(16)
}

// refresh exchanges the states and the activity of copies.
func (r *partRun) refresh() error {
	dev, p := r.dev, int32(r.c.Size())
	s, d, n := dev.Session, dev.p, int32(dev.n)
	all := r.active == int64(r.whole)
	switch {
	case all: // of the copies too
		if dev.state.Present.Addr != 0 {
			dev.state = s.AllPresent(dev.state)
		}
		if dev.mail.Val.Addr != 0 && dev.mail.Present.Addr != 0 {
			dev.mail = s.AllPresent(dev.mail)
		}
	case dev.state.Present.Addr == 0:
		dev.dropMessages()
		present := dev.newVertexSet()
		s.Fill(present, 1, int64(dev.n))
		v := s.NewBitmap(dev.n, d.state, present)
		s.Free(present) // the view has it
		s.Copy(v.Val, dev.state.Val, int64(d.state.Size)*int64(dev.n))
		s.Drop(dev.state)
		dev.state = v
	}
	send, recv := r.kept.begins[0][p], r.kept.begins[1][p]
	s.Each(dev.kernel("pack"), send, send, p, r.begins[0], r.places[0], r.kept.send, dev.state.Val, dev.state.Present, all, r.buffers[0])
	s.Sync()
	err := r.c.AllToAllV(r.wait, comm.OnDevice(r.buffers[1].Addr, comm.Uint8, r.room[1]), r.bytes[1],
		comm.OnDevice(r.buffers[0].Addr, comm.Uint8, r.room[0]), r.bytes[0])
	if err != nil {
		return err
	}
	s.Each(dev.kernel("unpack"), recv, dev.partArguments(recv, p, r.begins[1], r.places[1], r.kept.recv, r.buffers[1], all, dev.state.Val,
		dev.state.Present, dev.closed.Present, dev.mail.Val, int32(r.steps), n, dev.rows.Ptr, dev.sums)...)
	if all {
		dev.count, dev.edges = int64(dev.n), dev.rows.Entries
	} else if few := r.narrowBound(); few > 0 { // a count of the active vertices would be one more wait
		dev.count, dev.edges = few, few*(dev.rows.Entries/max(int64(dev.n), 1)+1)
		dev.past += dev.edges
		dev.state.Entries = -1
		return nil
	} else {
		var found [2]int64
		s.Fill(r.counts, 0, 16)
		s.Each(dev.kernel("count"), int64(n), n, dev.rows.Ptr, dev.state.Present, r.counts)
		s.Download(unsafe.Pointer(&found[0]), r.counts, 16)
		dev.count, dev.edges = found[0], found[1]
	}
	dev.past += dev.edges
	dev.fillStates()
	return nil
}

// narrowBound returns a bound on the active vertices of the part if they are surely so few that the
// device runs the next supersteps by itself, and 0 otherwise.
func (r *partRun) narrowBound() int64 {
	dev := r.dev
	n := min(r.active, int64(dev.n)-1)
	edges := n * (dev.rows.Entries/max(int64(dev.n), 1) + 1)
	if !dev.p.rounds || n <= 0 || r.o.Plan != "" && r.o.Plan != "auto" && r.o.Plan != "push" || 16*edges*dev.parts() > dev.pullEdges() {
		return 0
	}
	return n
}

// dropMessages drops messages that were made with the states.
func (r *deviceRun) dropMessages() {
	if r.mail.Val.Addr != 0 {
		r.Drop(r.mail)
		r.mail = device.View{}
	}
}
