package workflow

import (
	"cmp"
	"context"
	"errors"
	"sync/atomic"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/comm/spmd"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// A workflow is divided among the ranks of a group in one of two ways.
//
// By rows, each rank computes the new values of its vertices by kernels of its own from the values
// of all, and the ranks then gather what has changed, from memory of device to memory of device. No
// kernel reads the memory of another device: random reads between devices are ten times as slow as
// gathers (docs/scale.md). CutRows and RunRows are the driver.
//
// By ranges, work falls into independent parts (walks, seeds, rows, sources): every rank has the
// whole graph and runs the workflow of one place on its range; the ranks exchange only results.
// DivideGraph, Shared, EachRange, Combined, RowsOn and Done are the driver.
//
// Method Pipeline divides the rows of the graph in every operation instead.

// The methods of a trace of such runs.
const (
	ByRows   = "rows"
	ByRanges = "ranges"
)

// A Division is a run of a workflow on a group.
type Division struct {
	*spmd.Session
	Run     Run
	Devices bool    // all ranks are on devices; by ranges, else all are on the host
	Cuts    []int   // by rows: of the vertices
	Facts   []int64 // by ranges: of all ranks, which they have given to Divide
}

func newDivision(r Run, app string, g *comm.Group) *Division {
	return &Division{Session: spmd.Begin(r.Context, g, app), Run: r}
}

// GroupRows returns the division of a run by rows, nil if the place is no group or the run is not
// to be divided so. Auto takes it for devices if the group moves their memory, and for ranks of the
// host if the workflow says HostRows; Fused for ranks of the host in any case. These exchange what
// devices would. All processes decide alike.
func GroupRows(r Run, app string, at matrix.Place) *Division {
	g, ok := at.(*comm.Group)
	if !ok || g.Size() == 0 || r.Method == Pipeline {
		return nil
	}
	d := newDivision(r, app, g)
	d.Devices = g.MovesDeviceMemory()
	seen := map[comm.Place]bool{}
	for k := range g.Ranks() {
		p := g.PlaceOf(k)
		if device.Of(p) == nil {
			d.Devices = false
		} else if !d.Devices || seen[p] { // no way between their memories, or a device that is several ranks
			return nil
		}
		seen[p] = true
	}
	if !d.Devices && r.Method != Fused && !forms[app].HostRows {
		return nil
	}
	return d
}

// CutRows cuts the vertices as the rows of the first view, and returns the rows of each view for
// each rank of this process.
func (d *Division) CutRows(views ...rep.View) (rows [][]rep.View, err error) {
	d.Cuts, err = views[0].Cuts(d.Wait, d.Group)
	for _, v := range views {
		if err == nil {
			var list []rep.View
			list, err = v.Parts(rep.Query{Group: d.Group, Context: d.Wait, Cuts: d.Cuts})
			rows = append(rows, list)
		}
	}
	return rows, err
}

// A Block is what a rank has of a vector: a store of its device, or of the host.
type Block struct {
	Home device.Store
	Host *sparse.Store
}

// RunRows runs a workflow by rows: it calls f for each rank of this process, at the same time, with
// its rows in a session of its device, or on the host with a nil s. What f returns are the blocks
// of the results, vectors of the group.
func (d *Division) RunRows(rows [][]rep.View, results []rep.View, f func(k int, c comm.Comm, s *device.Session, rows []device.Operand) ([]Block, error)) error {
	blocks := make([][]Block, len(d.Group.Ranks()))
	err := d.Each(func(k int, c comm.Comm) (err error) {
		if !d.Devices {
			blocks[k], err = f(k, c, nil, nil)
			return err
		}
		operands := make([]device.Operand, len(rows))
		for i, list := range rows {
			if operands[i], err = list[k].Operand(device.Of(d.Group.PlaceOf(k))); err != nil {
				return err
			}
		}
		return d.On(k, func(s *device.Session) (err error) {
			blocks[k], err = f(k, c, s, operands)
			return err
		})
	})
	for i := 0; i < len(results) && err == nil; i++ {
		homes, stores := make([]device.Store, len(blocks)), make([]*sparse.Store, len(blocks))
		for k, b := range blocks {
			homes[k], stores[k] = b[i].Home, b[i].Host
		}
		if d.Devices {
			results[i].OnGroup().SetBlocks(d.Group, true, d.Cuts, homes)
		} else {
			err = SetStores(d, results[i], d.Cuts, stores)
		}
	}
	return err
}

// A Gather is memory that all ranks fill: so many bytes of each, in the order of ranks.
type Gather struct {
	All, Own comm.Buffer
	Bytes    []int // nil gathers nothing
}

// Steps runs the steps of one rank, which begins with the numbers now. In each step the ranks
// exchange their numbers; next decides by these, on all ranks alike, what is gathered, and what
// then computes the next numbers of the rank, nil after the last step.
func Steps[N any](d *Division, c comm.Comm, now N, next func(all []N) (Gather, func() (N, error))) error {
	for {
		all, err := spmd.Agree(d.Session, c, []N{now}, nil)
		if err != nil {
			return err
		}
		g, compute := next(all)
		if compute == nil {
			return nil
		}
		if g.Bytes != nil {
			err = c.AllGatherV(d.Wait, g.All, g.Bytes, g.Own)
		}
		if err == nil {
			now, err = compute()
		}
		if err != nil {
			return err
		}
	}
}

// Own returns the vertices of a rank.
func (d *Division) Own(c comm.Comm) (lo, hi int) { return d.Cuts[c.Rank()], d.Cuts[c.Rank()+1] }

// Bytes returns the sizes of the blocks of a vector with elements of so many bytes.
func (d *Division) Bytes(size int) []int {
	list := make([]int, d.Group.Size())
	for r := range list {
		list[r] = (d.Cuts[r+1] - d.Cuts[r]) * size
	}
	return list
}

// On runs f in a session of the device of rank k. The session ends with the first error of f.
func (d *Division) On(k int, f func(s *device.Session) error) error {
	call := Call(d.Run, d.Op)
	call.Context = nil // the ranks agree when a run ends
	return device.Of(d.Group.PlaceOf(k)).Run(call, func(s *device.Session) {
		if err := f(s); err != nil {
			s.Fail(err)
		}
	})
}

// A Member is a rank in a session of its device. A member that fails takes part in collectives
// until the ranks agree to end, so that the group stays usable.
type Member struct {
	*Division
	C    comm.Comm
	Over bool // the ranks have agreed to end, or the group has failed

	err error // of a collective or of Agree
}

// Members runs f for each rank of this process in a session of its device. The ranks agree at its
// end; see AgreeOn for earlier agreements. before is called ahead of the session.
func (d *Division) Members(before func(k int) error, f func(k int, m *Member, s *device.Session) error) error {
	return d.Each(func(k int, c comm.Comm) error {
		m := &Member{Division: d, C: c}
		err := before(k)
		if err == nil {
			err = d.On(k, func(s *device.Session) error {
				err := f(k, m, s)
				m.agree(0, cmp.Or(err, s.Err()))
				m.Over = true
				return err
			})
		}
		m.agree(0, err)           // unless the session has
		return cmp.Or(m.err, err) // of the end of a session, after the ranks have agreed
	})
}

// agree is spmd.Agree for a member that is not over yet. All agreements of a run are on one number,
// so that a rank that ends early agrees with what the others do.
func (m *Member) agree(own int64, local error) (all []int64) {
	if !m.Over {
		all, m.err = spmd.Agree(m.Session, m.C, []int64{own}, local)
		m.Over = m.err != nil
	}
	return all
}

// AgreeOn gives all ranks a number of each. It returns nil, and the session has an error, if a rank
// has failed.
func (m *Member) AgreeOn(s *device.Session, own int64) (all []int64) {
	if m.Over {
		return nil
	}
	if all = m.agree(own, s.Err()); m.Over {
		s.Fail(m.err)
	}
	return all
}

// Lost ends the run by the error of a collective, if it is one.
func (m *Member) Lost(s *device.Session, err error) {
	if err != nil && !m.Over {
		m.Over, m.err = true, err
		s.Fail(err)
	}
}

// Failed returns the error of a run whose ranks do not agree on the end of their contexts.
func (d *Division) Failed(err error) error { return cmp.Or(err, d.Ended()) }

// DeviceBytes describes device memory of n bytes to the group.
func DeviceBytes(b device.Buffer, n int) comm.Buffer { return comm.OnDevice(b.Addr, comm.Uint8, n) }

// LeastRange is the work, about entries read, below which the exchange of results costs more than a
// further rank saves.
type LeastRange int64

// LeastRange returns the least work of a rank.
func (d *Division) LeastRange() int64 { return int64(Tuning[LeastRange](d.Run, 1<<14)) }

// Divide begins a division by ranges. It returns nil if the place is no group, if the method is
// Pipeline, or if only some of the ranks are on devices. fact is a number that the first rank of
// this process gives all others, which get 0 of other ranks of it.
func Divide(r Run, app string, at matrix.Place, fact int64) (*Division, error) {
	g, ok := at.(*comm.Group)
	if !ok || g.Size() == 0 || r.Method != Auto && r.Method != Fused {
		return nil, nil
	}
	d := newDivision(r, app, g)
	own := make([][]int64, len(g.Ranks()))
	for k := range own {
		on := device.Of(g.PlaceOf(k)) != nil
		own[k] = []int64{int64(Bit(on)), 0}
	}
	own[0][1] = fact
	all, err := spmd.GatherAll(d.Session, own)
	if err != nil {
		return nil, err
	}
	on := 0
	for i := 0; i < len(all); i += 2 {
		on += int(all[i])
		d.Facts = append(d.Facts, all[i+1])
	}
	d.Devices = on > 0
	if on > 0 && on < g.Size() || r.Method == Fused && !d.Devices {
		return nil, nil
	}
	return d, nil
}

// DivideGraph is Divide of work on a graph, which every rank then has at its place. It returns nil
// too if the graph is not everywhere and exceeds the limit for gathered operands
// (comm.GatherLimit), or if accept says no, on all processes alike; a nil accept says yes.
func DivideGraph(r Run, app string, g rep.View, fact int64, accept func(d *Division) bool) (*Division, []rep.View, error) {
	d, err := Divide(r, app, g.Place(), fact)
	if d == nil || err != nil || accept != nil && !accept(d) || !g.Gatherable(d.Group) {
		return nil, nil, err
	}
	graph, err := g.Replicas(d.Wait, d.Group)
	return d, graph, err
}

// Shared prepares what the ranks of this process share on the host: it calls f once, with the
// threads of all. It does nothing if the ranks are on devices.
func (d *Division) Shared(f func(all Run) error) error {
	if d.Devices {
		return nil
	}
	all := d.Run
	all.Threads, all.Trace = d.Threads(), nil
	return d.Once(func() error { return f(all) })
}

// EachRange is Apart for items lo … hi−1 of each rank, by cuts, with a result of each.
func EachRange[P any](d *Division, cuts []int64, f func(k int, lo, hi int64, run Run) (P, error)) ([]P, error) {
	parts := make([]P, len(d.Group.Ranks()))
	return parts, d.Apart(func(k int, c comm.Comm, run Run) (err error) {
		parts[k], err = f(k, cuts[c.Rank()], cuts[c.Rank()+1], run)
		return err
	})
}

// Combined combines lists of equal length of all ranks, item by item. of returns the list in a
// part.
func Combined[P any, E comm.Element](d *Division, parts []P, op comm.Op, of func(p P) []E) ([]E, error) {
	own := make([][]E, len(parts))
	for k, p := range parts {
		own[k] = of(p)
	}
	return own[0], spmd.ReduceAll(d.Session, own, op)
}

// Imbalance is the imbalance of ranges with equal work of each item.
func Imbalance(cuts []int64) float64 {
	return spmd.Unevenness(cuts, func(lo, hi int64) int64 { return hi - lo })
}

// Done reports the division, and the end of count items.
func (d *Division) Done(stage string, count, work, nvals int64, imbalance float64) {
	d.Traced(work, nvals, imbalance)
	Report(d.Run, stage, count, count)
}

// Bit is 1 for true, else 0.
func Bit(x bool) uint8 {
	if x {
		return 1
	}
	return 0
}

// Replicas gives each rank of this process the whole graph at its place, and keeps it there.
func Replicas[T comparable](d *Division, v *matrix.View[T]) ([]*matrix.View[T], error) {
	return access.Replicas(d.Wait, v, d.Group)
}

// Fits reports whether a graph that is not everywhere may be gathered; see comm.GatherLimit.
func Fits[T comparable](d *Division, v *matrix.View[T]) bool {
	return v.Inside().Gatherable(d.Group)
}

// Apart calls f for the ranks of this process, at the same time, with the settings of each; see
// spmd.Session.Apart.
func (d *Division) Apart(f func(k int, c comm.Comm, run Run) error) error {
	own := len(d.Group.Ranks())
	threads := d.Group.Threads()
	if d.Run.Threads > 0 {
		threads = max(1, d.Run.Threads/own)
	}
	return d.Session.Apart(func(ctx context.Context, k int, c comm.Comm) error {
		run := Run{Context: ctx, Threads: threads, Method: d.Run.Method, tuned: d.Run.tuned}
		if k == 0 && own == 1 {
			run.Progress = d.Run.Progress
		}
		return f(k, c, run)
	})
}

// Once calls f once for all ranks of this process. An error of the graph or of an argument, which
// all processes find, leaves the group intact.
func (d *Division) Once(f func() error) error {
	return d.Session.Once(f, func(err error) bool {
		var parameter *ParameterError
		var weight *WeightError
		return errors.As(err, &parameter) || errors.As(err, &weight)
	})
}

// Threads returns the threads of the host for work that the ranks of this process share.
func (d *Division) Threads() int {
	if d.Run.Threads > 0 {
		return d.Run.Threads
	}
	return d.Group.Threads() * len(d.Group.Ranks())
}

// Traced reports the division, with an imbalance of ranges; a run by rows has none.
func (d *Division) Traced(work, nvals int64, imbalance float64) {
	method := ops.Method(ByRanges)
	if d.Cuts != nil {
		method = ByRows
	}
	if d.Run.Trace != nil {
		d.Run.Trace(ops.Trace{Op: d.Op, Method: method, Place: d.Group.String(), Work: work, NVals: nvals, Imbalance: imbalance})
	}
}

// ReduceBlocks adds up memory of devices, or combines it otherwise: f gives the memory of each rank
// of this process, Size() blocks of n elements. Afterwards rank r has block r. It returns false if
// the devices of the group cannot do so, on all ranks before anything is sent.
func ReduceBlocks(d *Division, t comm.DType, n int, op comm.Op, f func(k int) device.Buffer) (bool, error) {
	var lacks atomic.Bool
	err := d.Each(func(k int, c comm.Comm) error {
		all, own := f(k), f(k).At(int64(c.Rank())*int64(n)*int64(t.Size()))
		err := c.Reduce(d.Wait, comm.OnDevice(own.Addr, t, n), comm.OnDevice(all.Addr, t, n*c.Size()), op, true)
		if errors.Is(err, comm.ErrNoOp) { // the group is intact
			lacks.Store(true)
			return nil
		}
		return err
	})
	return !lacks.Load(), err
}

// RowsOn makes a matrix of the group of the rows that its ranks have computed: rank r has rows
// cuts[r] … cuts[r+1]−1, and gives them as a matrix at its place. Nothing is sent.
func RowsOn[T semiring.Element](d *Division, rows, cols int, cuts []int64, part []*matrix.Matrix[T]) (*matrix.Matrix[T], error) {
	m := matrix.New[T](rows, cols, matrix.On(d.Group))
	t, err := access.TargetOn[T](d.Wait, m.Inside(), d.Group, true, AsInts(cuts))
	if err != nil {
		return nil, err
	}
	for k, p := range part {
		if d.Group.PlaceOf(k) == nil {
			st := access.Store(p)
			if st.NVals == 0 { // one without values would be a pattern
				st = sparse.EmptyOf[T](p.Dims())
			}
			access.SetResult(t.Matrix(k), st)
		} else if err := ops.Apply(t.Matrix(k), semiring.Identity[T](), p, ops.WithContext(d.Run.Context)); err != nil {
			return nil, d.Fail(d.Group.Ranks()[k], err)
		}
	}
	return m, t.Keep()
}

// EntriesOn makes a vector of n entries of the group; rank r has entries cuts[r] … cuts[r+1]−1.
func EntriesOn[T comparable](d *Division, n int, cuts []int64, part [][]T) (*matrix.Vector[T], error) {
	stores := make([]*sparse.Store, len(part))
	for k, p := range part {
		stores[k] = FullBlock(p)
	}
	v := matrix.NewVector[T](n, matrix.On(d.Group))
	if err := SetStores(d, v.Inside(), AsInts(cuts), stores); err != nil {
		return nil, err
	}
	return v, nil
}

// FullBlock returns the store of a vector with these values.
func FullBlock[T comparable](values []T) *sparse.Store {
	n := len(values)
	return sparse.Untyped(sparse.Of(sparse.Structure{Format: sparse.Full, NRows: 1, NCols: n, NVals: int64(n)}, values))
}

// SetStores makes the stores of the ranks of this process the contents of a vector of the group;
// rank r has entries cuts[r] … cuts[r+1]−1.
func SetStores(d *Division, v rep.View, cuts []int, part []*sparse.Store) error {
	t, err := v.OnGroup().Target(d.Wait, d.Group, true, true, cuts)
	if err != nil {
		return err
	}
	for k, st := range part {
		if at := d.Group.PlaceOf(k); at == nil {
			t.Part(k).SetResult(st)
		} else {
			t.Part(k).SetStore(st)
			if err := t.Part(k).Move(at, false, uint8(matrix.Blocks)); err != nil {
				return d.Fail(d.Group.Ranks()[k], err)
			}
		}
	}
	return t.Keep()
}

func AsInts(list []int64) []int {
	out := make([]int, len(list))
	for k, x := range list {
		out[k] = int(x)
	}
	return out
}

// PlaceOf returns where rank k of this process computes.
func (d *Division) PlaceOf(k int) matrix.Place {
	if p := d.Group.PlaceOf(k); p != nil {
		return p
	}
	return nil
}
