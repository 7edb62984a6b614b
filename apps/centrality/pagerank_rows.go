package centrality

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/comm/spmd"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/dots"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/matrix"
)

// rankRows is PageRank of the vertices of one rank.
type rankRows interface {
	size() int // of a share in bytes
	// start makes the first ranks and shares, and step the next ones by the shares of all. jump is
	// what each vertex gets without edges. They return Σ rank of the dangling vertices and
	// Σ|change|.
	start() (lost float64, err error)
	step(jump float64) (lost, change float64, err error)
	// senders lists the own vertices with out-edges, which alone send shares, and returns memory
	// for the list of so many and for the own one.
	senders() (count int, err error)
	lists(total int) (all, own comm.Buffer)
	// Listed is called when the list is there.
	Listed() error
	// shares returns the memory for the shares of all vertices, and for the shares of the own
	// vertices; with a list, for the shares of the listed vertices. placed puts these in place.
	shares() (all, own comm.Buffer)
	placed() error
}

// pageRankPacks is the share of vertices with out-edges below which PageRank lists these vertices
// and gathers only their shares: packing and unpacking take time too. It is measured only at .53
// (R-MAT 24, four H200s: an iteration takes 1.5 ms, 1.95 without).
const pageRankPacks = .9

// pageRankRoom is the memory in bytes for each entry with which a device numbers the columns of the
// edges anew: 4 are kept, and as much is left for other operations.
const pageRankRoom = 8

// rowsPageRank is PageRank on a group by rows. An iteration gathers the share that each vertex with
// out-edges sends along them, and three numbers of each rank. Options are complete.
func rowsPageRank(w *workflow.Division, a *matrix.View[bool], n int, o PageRankOptions) (*PageRankResult, error) {
	workflow.Report(o.Run, "pagerank", 0, int64(o.MaxIterations))
	rows, err := w.CutRows(a.T().Inside(), a.Inside())
	if err != nil {
		return nil, err
	}
	res := &PageRankResult{}
	var single *matrix.Vector[float32] // ranks of devices
	var results []rep.View
	if w.Devices && o.Single {
		single = matrix.NewVector[float32](n, matrix.On(w.Group))
		results = append(results, single.Inside())
	} else {
		res.Rank = matrix.NewVector[float64](n, matrix.On(w.Group))
		results = append(results, res.Rank.Inside())
	}
	err = w.RunRows(rows, results, func(k int, c comm.Comm, s *device.Session, in []device.Operand) ([]workflow.Block, error) {
		lo, hi := w.Own(c)
		if s != nil {
			r := &deviceRanks{s: s, n: n, own: hi - lo, lo: lo, o: o, t: o.elements(), in: in[0], out: in[1]}
			if err := iterateRanks(w, k, c, r, n, o, res); err != nil {
				return nil, err
			}
			return []workflow.Block{{Home: s.Result(r.rank, int64(hi-lo))}}, nil
		}
		run := o.Run
		run.Threads, run.Context = w.Group.Threads(), nil // the ranks agree on the end of their contexts
		targets, out := workflow.RowsOf(matrix.ViewOf[bool](rows[0][k])), workflow.RowsOf(matrix.ViewOf[bool](rows[1][k]))
		var r interface {
			rankRows
			result() ([]float64, error)
		} = &hostRanks[float64]{lo: lo, damping: o.Damping, hostWalk: newHostWalk[float64](run, n, targets, out)}
		if o.Single {
			r = &hostRanks[float32]{lo: lo, damping: o.Damping, hostWalk: newHostWalk[float32](run, n, targets, out)}
		}
		if err := iterateRanks(w, k, c, r, n, o, res); err != nil {
			return nil, err
		}
		ranks, err := r.result()
		return []workflow.Block{{Host: workflow.FullBlock(ranks)}}, err
	})
	if err == nil && single != nil {
		res.Rank, err = ranksOf(single, &o)
	}
	if err != nil {
		return nil, err
	}
	workflow.Report(o.Run, "pagerank", int64(res.Iterations), int64(o.MaxIterations))
	w.Traced(int64(res.Iterations)*a.NVals(), int64(n), 0)
	return res, nil
}

// iterateRanks iterates on one rank. The first rank of the process writes res.
func iterateRanks(w *workflow.Division, k int, c comm.Comm, r rankRows, n int, o PageRankOptions, res *PageRankResult) error {
	lost, err := r.start()
	if err != nil {
		return err
	}
	bytes, packed, err := listSenders(w, c, r, n)
	if err != nil {
		return err
	}
	type sums struct{ lost, change float64 }
	sum, iterations := sums{}, 0
	err = workflow.Steps(w, c, sums{lost, math.Inf(1)}, func(all []sums) (g workflow.Gather, compute func() (sums, error)) {
		sum = sums{}
		for _, x := range all { // in the order of ranks, on all
			sum.lost, sum.change = sum.lost+x.lost, sum.change+x.change
		}
		if iterations == o.MaxIterations || sum.change <= o.Tolerance {
			return g, nil
		}
		g.All, g.Own = r.shares()
		g.Bytes = bytes
		return g, func() (now sums, err error) {
			iterations++
			if packed {
				err = r.placed()
			}
			if err == nil {
				now.lost, now.change, err = r.step((1 - o.Damping + o.Damping*sum.lost) / float64(n))
			}
			return now, err
		}
	})
	if err != nil {
		return err
	}
	if k == 0 {
		res.Iterations, res.Change, res.Converged = iterations, sum.change, sum.change <= o.Tolerance
	}
	return nil
}

// listSenders gives all ranks the list of the vertices with out-edges, if few enough have some. It
// returns the bytes of the shares of each rank.
func listSenders(w *workflow.Division, c comm.Comm, r rankRows, n int) (bytes []int, packed bool, err error) {
	own, err := r.senders()
	if err != nil {
		return nil, false, err
	}
	counts, err := spmd.Tell(w.Session, c, own)
	if err != nil {
		return nil, false, err
	}
	bytes, total := spmd.Bytes(counts, r.size())
	if float64(total) >= pageRankPacks*float64(n) || total == 0 {
		return w.Bytes(r.size()), false, nil
	}
	lists, _ := spmd.Bytes(counts, 4)
	whole, mine := r.lists(total)
	if err := c.AllGatherV(w.Wait, whole, lists, mine); err != nil {
		return nil, false, err
	}
	return bytes, true, r.Listed()
}

// deviceRanks computes on a device.
type deviceRanks struct {
	s       *device.Session
	n, own  int
	lo      int // the first of the own vertices
	o       PageRankOptions
	t       device.Type    // of ranks and shares
	in, out device.Operand // rows of the transpose and of the graph

	sends, total      int           // own and all vertices in the lists; total is 0 without
	ownList, list     device.Buffer // of int32
	ownPacked, packed device.Buffer // their shares
	numbered          bool          // packed is the values of all, in the order of the list

	code                          device.Code
	plusSecond                    device.Semiring
	kernel                        device.Kernel
	grid, block                   [3]uint32
	cols, rank, all, next         device.View
	factor, partial, state, fixed device.Buffer
	result                        []int64
	resultAt                      device.Buffer
}

func (r *deviceRanks) size() int { return r.t.Size }

func (r *deviceRanks) start() (float64, error) {
	s := r.s
	r.in.Pattern, r.out.Pattern = true, true
	rows := s.Rows(r.out)
	r.cols = s.Rows(r.in)
	r.code, r.plusSecond = pageRankCode(s, r.t)
	r.kernel = s.Kernel(r.code, "hb_pagerank_rows")
	r.grid, r.block = workflow.ResidentGrid(s, r.kernel)
	r.rank, r.all, r.next = s.NewFull(1, r.own, r.t), s.NewFull(1, r.n, r.t), s.NewFull(1, r.own, r.t)
	r.factor, r.partial = s.Alloc(int64(r.size()*max(r.own, 1))), s.Alloc(16*int64(r.grid[0]))
	r.fixed, r.state = s.Alloc(16), s.Zeros(16)
	r.result, r.resultAt = s.Results()
	s.Launch(s.Kernel(r.code, "hb_pagerank_rows_start"), r.grid, r.block, 0, int32(r.own), int32(r.n), rows.Ptr, r.o.Damping,
		r.rank.Val, r.next.Val, r.factor, r.partial, r.fixed, r.state, r.resultAt)
	lost, _, err := r.sums()
	return lost, err
}

// sums waits for the sums of a launch.
func (r *deviceRanks) sums() (lost, change float64, err error) {
	r.s.Sync()
	return math.Float64frombits(uint64(r.result[0])), math.Float64frombits(uint64(r.result[1])), r.s.Err()
}

func (r *deviceRanks) step(jump float64) (lost, change float64, err error) {
	s := r.s
	y := s.Pull(r.plusSecond, r.cols, r.all)
	s.Launch(r.kernel, r.grid, r.block, 0, int32(r.own), jump, y.Val, r.o.sharesTo(r.next, y), y.Present, r.factor, r.rank.Val,
		r.partial, r.fixed, r.state, r.resultAt)
	r.next = r.o.nextShare(s, r.next, y)
	return r.sums()
}

func (r *deviceRanks) senders() (int, error) {
	s, n := r.s, int64(max(r.own, 1))
	sends := s.Zeros(n)
	s.Each(s.Kernel(r.code, "hb_pagerank_sends"), int64(r.own), int32(r.own), r.factor, sends)
	number := s.Scan(sends, int64(r.own), 1)
	r.sends = int(s.Read(number, int64(r.own)))
	r.ownList = s.Alloc(4 * int64(max(r.sends, 1)))
	s.Each(s.Kernel(r.code, "hb_pagerank_list"), int64(r.own), int32(r.own), int32(r.lo), sends, number, r.ownList)
	s.Free(sends)
	s.Free(number)
	return r.sends, s.Err()
}

func (r *deviceRanks) lists(total int) (all, own comm.Buffer) {
	s := r.s
	r.total, r.list = total, s.Alloc(4*int64(total))
	r.packed, r.ownPacked = s.Alloc(int64(r.size()*total)), s.Alloc(int64(r.size()*max(r.sends, 1)))
	return workflow.DeviceBytes(r.list, 4*total), workflow.DeviceBytes(r.ownList, 4*r.sends)
}

// packedColumns are the edges with columns numbered among the vertices with out-edges, kept with
// them.
type packedColumns struct {
	store device.Store
	owned device.Dropper
}

// Drop gives up the edges.
func (p *packedColumns) Drop() {
	if p.owned != nil {
		p.owned.Drop()
	}
	*p = packedColumns{}
}

// Listed numbers the columns of the edges by the list, if there is memory to keep them: the vector
// of shares then has no gaps, and shares need not be put in place.
func (r *deviceRanks) Listed() error {
	s, entries := r.s, r.cols.Entries
	if entries == 0 {
		return s.Err()
	}
	kept := s.Kept(r.in, fmt.Sprintf("apps: pagerank columns of %d", r.total), func() device.Dropper {
		if s.Room() < pageRankRoom*entries+4*int64(r.n) {
			return &packedColumns{}
		}
		number, columns := s.Alloc(4*int64(r.n)), s.Alloc(4*entries)
		s.Each(s.Kernel(r.code, "hb_pagerank_number"), int64(r.total), int32(r.total), r.list, number)
		s.Each(s.Kernel(r.code, "hb_pagerank_columns"), entries, entries, r.cols.Idx, number, columns)
		s.Free(number)
		v := s.NewCSR(r.own, r.total, device.Type{}, r.cols.Ptr, columns, entries)
		s.Free(columns)
		store := s.Result(v, entries)
		return &packedColumns{store, s.Owned(store)}
	})
	if p, ok := kept.(*packedColumns); ok && p.store != nil && s.Err() == nil {
		r.cols = s.Rows(device.Operand{Store: p.store, Pattern: true})
		s.Free(r.packed)
		s.Drop(r.all)
		r.all, r.numbered = s.NewFull(1, r.total, r.t), true
		r.packed = r.all.Val
	}
	return s.Err()
}

func (r *deviceRanks) shares() (all, own comm.Buffer) {
	if r.total == 0 {
		return workflow.DeviceBytes(r.all.Val, r.size()*r.n), workflow.DeviceBytes(r.next.Val, r.size()*r.own)
	}
	s := r.s
	s.Each(s.Kernel(r.code, "hb_pagerank_pack"), int64(r.sends), int32(r.sends), int32(r.lo), r.ownList, r.next.Val, r.ownPacked)
	return workflow.DeviceBytes(r.packed, r.size()*r.total), workflow.DeviceBytes(r.ownPacked, r.size()*r.sends)
}

func (r *deviceRanks) placed() error {
	s := r.s
	if r.numbered {
		return s.Err()
	}
	s.Each(s.Kernel(r.code, "hb_pagerank_unpack"), int64(r.total), int32(r.total), r.list, r.packed, r.all.Val)
	return s.Err()
}

// hostRanks is the walk of one rank's part on the host.
type hostRanks[F dots.Float] struct {
	*hostWalk[F]
	lo                int // the first of the own vertices
	damping           float64
	ownList, list     []int32 // vertices with out-edges, as deviceRanks has them
	ownPacked, packed []F
}

func (r *hostRanks[F]) size() int { return int(unsafe.Sizeof(F(0))) }

func (r *hostRanks[F]) start() (lost float64, err error) {
	r.all = make([]F, r.n)
	return r.begin()
}

func (r *hostRanks[F]) step(jump float64) (lost, change float64, err error) {
	return r.advance(r.damping, jump)
}

func (r *hostRanks[F]) senders() (int, error) {
	for v := range r.out.N {
		if r.out.Degree(int32(v)) > 0 {
			r.ownList = append(r.ownList, int32(r.lo+v))
		}
	}
	return len(r.ownList), nil
}

func (r *hostRanks[F]) lists(total int) (all, own comm.Buffer) {
	r.list, r.packed, r.ownPacked = make([]int32, total), make([]F, total), make([]F, len(r.ownList))
	return spmd.Memory(r.list), spmd.Memory(r.ownList)
}

func (r *hostRanks[F]) Listed() error { return nil }

func (r *hostRanks[F]) shares() (all, own comm.Buffer) {
	if r.list == nil {
		return spmd.Memory(r.all), spmd.Memory(r.share)
	}
	for k, v := range r.ownList {
		r.ownPacked[k] = r.share[int(v)-r.lo]
	}
	return spmd.Memory(r.packed), spmd.Memory(r.ownPacked)
}

func (r *hostRanks[F]) placed() error {
	for k, v := range r.list {
		r.all[v] = r.packed[k]
	}
	return nil
}
