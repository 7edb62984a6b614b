package program

import (
	"cmp"
	"runtime"
	"slices"
	"unsafe"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/rep"
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

// onDevice runs a program on the part of a rank on its device; see runByParts.
func (r *rank) onDevice(d *deviceProgram, in, out rep.View, block rep.Matrix) error {
	at := device.Of(r.s.Group.PlaceOf(r.at))
	ins, err := in.Operand(at)
	if err != nil {
		return err
	}
	outs, err := out.Operand(at)
	if err != nil {
		return err
	}
	var home device.Store
	var failed error // of the run: the ranks may have agreed on it
	err = at.Run(device.Call{Op: d.name}, func(s *device.Session) {
		home, failed = r.inSession(s, d, ins, outs)
	})
	if err = cmp.Or(failed, err); err == nil {
		block.SetRemote(home)
	}
	return err
}

// inSession is onDevice in a session. It returns the own states.
func (r *rank) inSession(s *device.Session, d *deviceProgram, in, out device.Operand) (device.Store, error) {
	part, err := r.partOn(s, d, in, out)
	if err != nil {
		return nil, err
	}
	x := &partRun{rank: r, kept: part, h: part.h, dev: part.run(s, d, in.Pattern, r)}
	if err := r.run(x, part.h.Hops, slices.Repeat([]int{d.totals}, r.c.Size())); err != nil {
		return nil, err
	}
	home := x.dev.keep(part.h.Lo, part.h.Hi)
	s.Sync()
	return home, s.Err()
}

// partRun runs a program on the part of a rank on its device.
type partRun struct {
	*rank
	kept *devicePart
	h    *halo.Part
	dev  *deviceRun
	sums []float64 // Totals, on their way to the device

	// The exchange: send and recv, and where the states and marks of each rank are in them.
	buffers [2]device.Buffer
	places  [2]device.Buffer
	begins  [2]device.Buffer
	bytes   [2][]int // to and from each rank
	room    [2]int   // their sums
	counts  device.Buffer
}

// devicePlace is what kernels of a part know of its vertices.
type devicePlace struct {
	ids, deg     device.Buffer
	size, lo, hi int32
}

// owned returns how many of vertices from … to−1 are own, none of a whole graph.
func (p *devicePlace) owned(from, to int32) int64 {
	if p == nil {
		return 0
	}
	return int64(max(0, min(to, p.hi)-max(from, p.lo)))
}

// partArguments appends the arguments of HB_PART_PARAMS.
func (r *deviceRun) partArguments(args ...any) []any {
	if p := r.place; p != nil {
		args = append(args, p.ids, p.deg, p.size, p.lo, p.hi)
	}
	return args
}

// run returns the run of a program on the part of a rank.
func (p *devicePart) run(s *device.Session, d *deviceProgram, pattern bool, r *rank) *deviceRun {
	own := *d
	own.seeds = nil
	for _, seed := range d.seeds {
		if v, ok := p.h.Find(int32(seed.id)); ok {
			own.seeds = append(own.seeds, deviceSeed{int(v), seed.state})
		}
	}
	operand := device.Operand{Store: p.in, Pattern: pattern}
	dev := &deviceRun{Session: s, p: &own, n: len(p.h.Ids), graph: operand, reverse: operand,
		place: &devicePlace{ids: p.ids, deg: p.deg, size: int32(r.n), lo: int32(p.h.Lo), hi: int32(p.h.Hi)}}
	dev.graph.Transposed = true
	if r.o.Numbers != nil {
		ids := renumbered(p.h.Ids, r.o.Numbers)
		dev.place.ids = s.Ints(ids)
		s.Sync()
		runtime.KeepAlive(ids)
	}
	dev.rows = s.Rows(dev.graph)
	return dev
}

func (r *partRun) start() (first, all tally, err error) {
	r.dev.start()
	r.prepare(r.dev.Session)
	return tally{count: r.dev.mine}, tally{count: int64(r.h.Hi - r.h.Lo)}, r.dev.Err()
}

func (r *partRun) terms(to []float64) error {
	copy(to, r.dev.total)
	return nil
}

func (r *partRun) total(terms [][]float64) {
	r.sums = make([]float64, len(r.dev.total))
	for _, list := range terms {
		for t, x := range list {
			r.sums[t] += x
		}
	}
	r.dev.total = r.sums
	upload(r.dev.Session, r.dev.sums, r.sums)
}

func (r *partRun) totals() []float64 { return r.dev.total }

func (r *partRun) run(first int, _ int64, own []tally, plans []string) error {
	dev, d := r.dev, r.dev.p
	for t := range plans {
		plans[t] = "none"
	}
	at, o, method := 0, r.o, d.method(r.o.Plan)
	o.MaxSupersteps, o.Progress, o.Trace = first+len(own), nil, nil
	for at < len(own) && dev.Err() == nil && (dev.count > 0 || d.everywhere) {
		if dev.narrow(r.o.Plan) {
			dev.steps = first + at
			dev.byDevice(o)
			for _, n := range dev.own {
				plans[at] = queued
				if n >= roundPulled {
					n, plans[at] = n-roundPulled, looked
				}
				own[at].count = n
				at++
			}
			dev.own = nil
			continue
		}
		plans[at] = dev.superstep(method, int32(first+at))
		own[at].count = dev.mine
		at++
	}
	return dev.Err()
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

func (r *partRun) refresh(_, steps int, active int64) error {
	dev, p := r.dev, int32(r.c.Size())
	s, n := dev.Session, int32(dev.n)
	all := active == int64(r.n)
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
		dev.markStates(1)
	}
	send, recv := r.kept.begins[0][p], r.kept.begins[1][p]
	s.Each(dev.kernel("pack"), send, send, p, r.begins[0], r.places[0], r.kept.lists[0], dev.state.Val, dev.state.Present, all, r.buffers[0])
	s.Sync()
	err := r.c.AllToAllV(r.s.Wait, comm.OnDevice(r.buffers[1].Addr, comm.Uint8, r.room[1]), r.bytes[1],
		comm.OnDevice(r.buffers[0].Addr, comm.Uint8, r.room[0]), r.bytes[0])
	if err != nil {
		return err
	}
	s.Each(dev.kernel("unpack"), recv, dev.partArguments(recv, p, r.begins[1], r.places[1], r.kept.lists[1], r.buffers[1], all, dev.state.Val,
		dev.state.Present, dev.closed.Present, dev.mail.Val, int32(steps), n, dev.rows.Ptr, dev.sums)...)
	if all {
		dev.count, dev.edges = int64(dev.n), dev.rows.Entries
	} else if few := r.narrowBound(active); few > 0 { // a count of the active vertices would be one more wait
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
func (r *partRun) narrowBound(active int64) int64 {
	dev := r.dev
	n := min(active, int64(dev.n)-1)
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
