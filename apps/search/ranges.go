package search

import (
	"cmp"
	"errors"
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/comm/spmd"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/matrix"
)

// roundCells bounds the vertices of the walks of a rank that Each receives at a time, on a group.
const roundCells = 1 << 24

// walkRound is the number of walks of a rank in a round.
func walkRound(o SearchOptions) int64 {
	return cmp.Or(o.round, max(sumWalks, roundCells/int64(o.Length)/sumWalks*sumWalks))
}

// walksByRanges divides the walks among the ranks of a group. The result is nil if they are not
// divided. Walks are cut at multiples of sumWalks, so that scores are added up in the same order
// for every number of ranks.
func walksByRanges(s *searcher, g rep.View) (*SearchResult, error) {
	o := s.opts
	if s.scores.lazy() {
		return nil, nil
	}
	each := false // some process receives the walks
	d, graph, err := workflow.DivideGraph(o.Run, "GraphSearch", g, int64(workflow.Bit(o.Each != nil)), func(d *workflow.Division) bool {
		each = slices.Max(d.Facts) != 0
		return !(each && (o.Paths || o.Length > roundCells/sumWalks)) && (!d.Devices || o.fuses(s.scores.source))
	})
	if d == nil || err != nil {
		return nil, err
	}
	err = d.Shared(func(all workflow.Run) error {
		s.opts.Threads = all.Threads
		return onHost(s, graph[0])
	})
	if err != nil || s.single && !d.Devices {
		return nil, err
	}
	workflow.Report(o.Run, "graph search", 0, s.walks)
	p, round := d.Group.Size(), max(s.walks, 1)
	if each {
		round = int64(p) * walkRound(o)
	}
	w := &walkRanges{Division: d, s: s, graph: graph, each: each, own: make([]*searcher, len(graph))}
	if d.Devices && !each && s.n > 0 && d.Group.MovesDeviceMemory() {
		w.block = (s.n + p - 1) / p
	}
	defer w.release()
	work, err := w.work()
	if err != nil {
		return nil, err
	}
	var cuts []int64
	for lo := int64(0); lo < max(s.walks, 1); lo += round {
		hi := min(lo+round, s.walks)
		cuts = spmd.CutByWork(work[lo/sumWalks:(hi+sumWalks-1)/sumWalks+1], p, w.LeastRange())
		for r := range cuts {
			cuts[r] = min(lo+cuts[r]*sumWalks, hi)
		}
		if fits, err := w.walk(cuts); !fits || err != nil {
			return nil, err
		}
		workflow.Report(o.Run, "graph search", hi, s.walks)
	}
	res, err := w.merge(cuts)
	if err != nil {
		return nil, err
	}
	d.Traced(res.Steps, res.Distinct, spmd.Unevenness(cuts, func(lo, hi int64) int64 {
		return work[(hi+sumWalks-1)/sumWalks] - work[(lo+sumWalks-1)/sumWalks]
	}))
	return res, nil
}

// walkRanges are the walks of the ranks of this process.
type walkRanges struct {
	*workflow.Division
	s     *searcher // of the result
	graph []rep.View
	own   []*searcher // what each rank has found, nil before the first round
	each  bool
	block int // a rank merges the finds of all at so many vertices, on devices; 0: the host does
}

func (w *walkRanges) release() {
	for _, own := range w.own {
		if own != nil {
			own.found.release()
		}
	}
}

// work returns the sums of the steps of parts of sumWalks walks, one for the start of each. Walks
// from a start without neighbours take no more. All processes find the same.
func (w *walkRanges) work() ([]int64, error) {
	s := w.s
	var movers []int64 // walks that move, of each part
	if at := device.Of(w.PlaceOf(0)); at != nil {
		err := w.Once(func() (err error) {
			movers, err = moversAt(s, at, w.graph[0])
			return err
		})
		if err != nil {
			return nil, err
		}
	} else {
		movers = s.movers()
	}
	sums := make([]int64, len(movers)+1)
	for k, n := range movers {
		sums[k+1] = sums[k] + min(sumWalks, s.walks-int64(k)*sumWalks) + n*int64(s.opts.Length)
	}
	return sums, nil
}

// walk takes a round of walks: rank r takes walks cuts[r] to cuts[r+1]−1. It returns false if a
// weight cannot be used on devices, which all ranks find alike; the host then says which.
func (w *walkRanges) walk(cuts []int64) (bool, error) {
	var bad atomic.Bool
	cells := make([][]int32, len(w.own))
	err := w.Apart(func(k int, c comm.Comm, run workflow.Run) error {
		part := &searcher{searchRows: w.s.searchRows, opts: w.s.opts, n: w.s.n, starts: w.s.starts, walks: w.s.walks}
		part.opts.Run, part.opts.Each = run, nil
		part.from, part.to = cuts[c.Rank()], cuts[c.Rank()+1]
		part.room = w.block * w.Group.Size()
		if w.each {
			part.opts.Each = func(b SearchBlock) error {
				cells[k] = append(cells[k], b.Vertices...)
				return nil
			}
		}
		part.empty()
		if at := device.Of(w.PlaceOf(k)); at != nil {
			err := fusedWalks(part, at, w.graph[k])
			if errors.Is(err, errWeights) {
				bad.Store(true)
				return nil
			}
			if err != nil {
				return err
			}
		} else {
			part.pieces()
			if err := part.run(); err != nil {
				return err
			}
		}
		if total := w.own[k]; total != nil {
			total.take(part)
		} else {
			w.own[k] = part
		}
		return nil
	})
	if err != nil || bad.Load() {
		return false, err
	}
	return true, w.deliver(cuts, cells)
}

// take adds what other walks have found.
func (s *searcher) take(part *searcher) {
	for v, point := range part.first {
		s.first[v] = min(s.first[v], point)
	}
	for v, n := range part.visits {
		s.visits[v] += n
	}
	for k, n := range part.steps {
		s.steps[k] += n
	}
	s.parts, s.paths, s.res.Paths = append(s.parts, part.parts...), part.paths, part.res.Paths
	s.res.Steps += part.res.Steps
	s.res.Restarts += part.res.Restarts
	s.res.Ended += part.res.Ended
}

// deliver adds up the scores of a round in the order of walks, and gives the walks to Each: all
// ranks send their walks to the first rank of each process that has an Each.
func (w *walkRanges) deliver(cuts []int64, cells [][]int32) error {
	if w.s.scores.of != nil {
		counts := make([]int, w.Group.Size())
		for r := range counts {
			counts[r] = int((cuts[r+1] - cuts[r] + sumWalks - 1) / sumWalks)
		}
		parts := make([][]float64, len(w.own))
		for k, s := range w.own {
			parts[k], s.parts = s.parts, nil
		}
		all, err := spmd.GatherAllV(w.Division.Session, parts, counts)
		if err != nil {
			return err
		}
		w.s.parts = append(w.s.parts, all...)
	}
	if !w.each {
		return nil
	}
	length := int64(w.s.opts.Length)
	var walks []int32 // of all ranks, in this process
	err := w.Each(func(k int, c comm.Comm) error {
		own := 4 * int((cuts[c.Rank()+1]-cuts[c.Rank()])*length)
		wants := w.Facts[c.Rank()] != 0
		send, recv := make([]int, w.Group.Size()), make([]int, w.Group.Size())
		var out, in []int32
		for r := range send {
			if w.Facts[r] != 0 {
				send[r] = own
				out = append(out, cells[k]...)
			}
			if wants {
				recv[r] = 4 * int((cuts[r+1]-cuts[r])*length)
			}
		}
		if wants {
			in = make([]int32, (cuts[len(cuts)-1]-cuts[0])*length)
			walks = in
		}
		return c.AllToAllV(w.Wait, spmd.Memory(in), recv, spmd.Memory(out), send)
	})
	if err != nil || w.s.opts.Each == nil {
		return err
	}
	return w.Once(func() error {
		if len(walks) == 0 {
			return nil
		}
		return w.s.opts.Each(SearchBlock{cuts[0], int(length), walks})
	})
}

// merge makes the result of what all ranks have found.
func (w *walkRanges) merge(cuts []int64) (*SearchResult, error) {
	s, d := w.s, w.Division
	all, err := workflow.Combined(d, w.own, comm.Sum, func(own *searcher) []int64 {
		return append(own.steps, own.res.Steps, own.res.Restarts, own.res.Ended)
	})
	if err != nil {
		return nil, err
	}
	end := len(s.steps)
	s.steps = all[:end]
	s.res.Steps, s.res.Restarts, s.res.Ended = all[end], all[end+1], all[end+2]
	res, err := w.mergeFound()
	if err != nil || !s.opts.Paths {
		return res, err
	}
	var paths []*matrix.Matrix[int32]
	for k, own := range w.own {
		p := own.res.Paths
		if r := d.Group.Ranks()[k].Rank(); p == nil {
			p = asMatrix32(own.paths, int(cuts[r+1]-cuts[r]), s.opts.Length)
		}
		paths = append(paths, p)
	}
	res.Paths, err = workflow.RowsOn(d, int(s.walks), s.opts.Length, cuts, paths)
	return res, err
}

// mergeFound merges the first visits and the numbers of visits of all ranks, on devices block by
// block, where the numbers then stay.
func (w *walkRanges) mergeFound() (*SearchResult, error) {
	s, d := w.s, w.Division
	if w.block > 0 {
		able, err := w.exchange()
		switch {
		case err != nil:
			return nil, err
		case able:
			return w.mergedOnDevices()
		}
		if err := w.download(); err != nil {
			return nil, err
		}
	}
	var err error
	if s.first, err = workflow.Combined(d, w.own, comm.Min, func(own *searcher) []uint32 { return own.first }); err != nil {
		return nil, err
	}
	if s.visits, err = workflow.Combined(d, w.own, comm.Sum, func(own *searcher) []int64 { return own.visits }); err != nil {
		return nil, err
	}
	res, err := s.result()
	if err == nil && res.Visits != nil {
		err = res.Visits.Move(d.Group)
	}
	return res, err
}

// exchange merges the blocks on the devices: each rank has the block of its vertices afterwards. It
// returns false if they cannot.
func (w *walkRanges) exchange() (able bool, err error) {
	able, err = workflow.ReduceBlocks(w.Division, comm.Uint32, w.block, comm.Min, func(k int) device.Buffer { return w.own[k].found.first })
	if !able || err != nil || !w.s.opts.Visits {
		return able, err
	}
	return workflow.ReduceBlocks(w.Division, comm.Int64, w.block, comm.Sum, func(k int) device.Buffer { return w.own[k].found.visits })
}

// download gives the host what each rank has found.
func (w *walkRanges) download() error {
	return w.Apart(func(k int, c comm.Comm, run workflow.Run) error {
		own, at := w.own[k], device.Of(w.PlaceOf(k))
		own.room = 0
		own.first = make([]uint32, own.n)
		err := own.found.fetch(at, workflow.Call(run, w.Op), own.first, 0)
		if err != nil || !own.opts.Visits {
			return err
		}
		own.visits = make([]int64, own.n)
		return at.Run(workflow.Call(run, w.Op), func(d *device.Session) {
			d.Download(unsafe.Pointer(&own.visits[0]), own.found.visits, 8*int64(len(own.visits)))
		})
	})
}

// mergedOnDevices makes the result of merged blocks.
func (w *walkRanges) mergedOnDevices() (*SearchResult, error) {
	s, p := w.s, w.Group.Size()
	cuts, sizes := make([]int, p+1), make([]int, p)
	for r := range sizes {
		cuts[r+1] = min(s.n, (r+1)*w.block)
		sizes[r] = cuts[r+1] - cuts[r]
	}
	if err := w.fetchFirst(cuts, sizes); err != nil {
		return nil, err
	}
	res, err := s.result()
	if err != nil || !s.opts.Visits {
		return res, err
	}
	homes := make([]device.Store, len(w.own))
	err = w.Apart(func(k int, c comm.Comm, run workflow.Run) (err error) {
		lo, hi := cuts[c.Rank()], cuts[c.Rank()+1]
		homes[k], err = w.own[k].found.counts(device.Of(w.PlaceOf(k)), workflow.Call(run, w.Op), lo, hi-lo, res.Distinct == int64(s.n))
		return err
	})
	if err != nil {
		return nil, err
	}
	res.Visits = matrix.NewVector[int64](s.n, matrix.On(w.Group))
	access.SetVectorBlocks(res.Visits, w.Group, cuts, homes)
	return res, nil
}

// fetchFirst gives the host the points of first visits in blocks of the devices, or the number of
// vertices at each point if that is enough.
func (w *walkRanges) fetchFirst(cuts, sizes []int) error {
	s, among := w.s, len(w.own) < w.Group.Size() // several processes
	blocks, curves := make([][]uint32, len(w.own)), make([][]int64, len(w.own))
	counts := s.countable()
	if !counts {
		s.first = make([]uint32, s.n)
	}
	err := w.Apart(func(k int, c comm.Comm, run workflow.Run) (err error) {
		lo, hi, at := cuts[c.Rank()], cuts[c.Rank()+1], device.Of(w.PlaceOf(k))
		if counts {
			curves[k], err = w.own[k].found.curve(at, workflow.Call(run, w.Op), len(s.steps), lo, hi-lo)
			return err
		}
		blocks[k] = s.first[lo:hi] // of this process; other processes have the others
		return w.own[k].found.fetch(at, workflow.Call(run, w.Op), blocks[k], lo)
	})
	switch {
	case err != nil:
		return err
	case !counts && among:
		s.first, err = spmd.GatherAllV(w.Division.Session, blocks, sizes)
		return err
	case !counts:
		return nil
	}
	all := slices.Concat(curves...)
	if among {
		if all, err = spmd.GatherAll(w.Division.Session, curves); err != nil {
			return err
		}
	}
	s.counted = make([]int64, len(s.steps))
	for k, n := range all {
		s.counted[k%len(s.steps)] += n
	}
	return nil
}
