package apps

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// Workflows whose work falls into independent parts (walks, seeds, rows, sources) are divided by
// ranges of that work on a group: every rank has the whole graph, runs the workflow of one place on
// its range, and results alone are exchanged. Method Pipeline divides the rows of the graph
// instead, in every operation.

// byRanges is the method of a trace of such a run.
const byRanges = "ranges"

// leastRange is the work, about entries read, below which a further rank is not worth its results'
// way. Tests set it to 1.
var leastRange int64 = 1 << 14

// A division is a run of a workflow by ranges.
type division struct {
	app     string
	run     Run
	g       *comm.Group
	wait    context.Context // of collectives: ranks of other processes would wait for those of this one
	devices bool            // all ranks are on devices; else all are on the host
	facts   []int64         // that ranks have given to divide
	began   time.Time
}

// divide begins a division. It returns nil if the place is no group, if the method is Pipeline, or
// if only some of the ranks are on devices. fact is a number that the first rank of this process
// gives all others, which get 0 of other ranks of it.
func (r Run) divide(app string, at matrix.Place, fact int64) (*division, error) {
	g, ok := at.(*comm.Group)
	if !ok || g.Size() == 0 || r.Method != Auto && r.Method != Fused {
		return nil, nil
	}
	d := &division{app: app, run: r, g: g, began: time.Now()}
	if len(g.Ranks()) < g.Size() {
		d.wait = r.Context
	}
	own := make([][]int64, len(g.Ranks()))
	for k := range own {
		on := device.Of(g.PlaceOf(k)) != nil
		own[k] = []int64{int64(truth(on)), 0}
	}
	own[0][1] = fact
	all, err := gatherEqual(d, own)
	if err != nil {
		return nil, err
	}
	on := 0
	for i := 0; i < len(all); i += 2 {
		on += int(all[i])
		d.facts = append(d.facts, all[i+1])
	}
	d.devices = on > 0
	if on > 0 && on < g.Size() || r.Method == Fused && !d.devices {
		return nil, nil
	}
	return d, nil
}

// truth is 1 for true.
func truth(x bool) uint8 {
	if x {
		return 1
	}
	return 0
}

// replicas gives each rank of this process the whole graph at its place, and keeps it there.
func replicas[T comparable](d *division, v matrix.View[T]) ([]matrix.View[T], error) {
	return access.Replicas(d.wait, v, d.g)
}

// fits reports whether a graph that is not everywhere may be gathered; see comm.GatherLimit.
func fits[T comparable](d *division, v matrix.View[T]) bool {
	return v.Inside().Gatherable(d.g)
}

// cutEvenly cuts n items into p ranges of about equally many, at multiples of align. Every range
// but the last with items has least or more.
func cutEvenly(n int64, p int, align, least int64) []int64 {
	units := (n + align - 1) / align
	parts := min(int64(p), max(1, n/max(least, 1)))
	cuts := make([]int64, p+1)
	for r := range cuts {
		part := min(int64(r), parts)
		cuts[r] = min(n, align*(units/parts*part+units%parts*part/parts))
	}
	return cuts
}

// cutByWork cuts the items of a prefix sum of work into p ranges of about equal work, with
// leastRange or more for each rank that gets any.
func cutByWork(work []int64, p int) []int64 {
	n := len(work) - 1
	total := work[n] - work[0]
	parts := min(int64(p), max(1, total/leastRange))
	cuts, at := make([]int64, p+1), 0
	for r := 1; r <= p; r++ {
		part := min(int64(r), parts)
		goal := total/parts*part + total%parts*part/parts
		for at < n && (work[at+1]-work[0] <= goal || 2*(goal-(work[at]-work[0])) > work[at+1]-work[at]) {
			at++
		}
		if part == parts {
			at = n
		}
		cuts[r] = int64(at)
	}
	return cuts
}

// unevenness is the largest share of the work of ranges, times their number.
func unevenness(cuts []int64, work func(lo, hi int64) int64) float64 {
	most, total := int64(0), int64(0)
	for r := range len(cuts) - 1 {
		w := work(cuts[r], cuts[r+1])
		most, total = max(most, w), total+w
	}
	if total == 0 {
		return 1
	}
	return float64(most) * float64(len(cuts)-1) / float64(total)
}

// each calls f for the ranks of this process, at the same time, with the settings of each. f makes
// no collectives. If it fails on a rank, the others stop, and all processes return the same
// *comm.RankError; a group within one process stays usable. A context that ended is an error as on
// one place.
func (d *division) each(f func(k int, c comm.Comm, run Run) error) error {
	outer := d.run.Context
	if outer == nil {
		outer = context.Background()
	}
	ctx, cancel := context.WithCancel(outer)
	defer cancel()
	ranks := d.g.Ranks()
	threads := d.g.Threads()
	if d.run.Threads > 0 {
		threads = max(1, d.run.Threads/len(ranks))
	}
	go func() { // another process has failed
		select {
		case <-ranks[0].Done():
			cancel()
		case <-ctx.Done():
		}
	}()
	var mu sync.Mutex
	var failed error // the first
	var who comm.Comm
	_ = d.g.Apart(func(k int, c comm.Comm) error {
		run := Run{Context: ctx, Threads: threads, Method: d.run.Method}
		if k == 0 && len(ranks) == 1 {
			run.Progress = d.run.Progress
		}
		if err := f(k, c, run); err != nil {
			mu.Lock()
			defer mu.Unlock()
			if failed == nil {
				failed, who = err, c
			}
			cancel()
		}
		return nil
	}, nil)
	if failed == nil {
		return nil
	}
	return d.fail(who, failed)
}

// fail returns the error of all ranks after one of them failed.
func (d *division) fail(who comm.Comm, failed error) error {
	if err := who.Err(); err != nil {
		return err
	}
	if d.g.Size() > len(d.g.Ranks()) {
		who.Abort(failed)
		return who.Err()
	}
	if d.g.Size() == 1 || d.run.Context != nil && d.run.Context.Err() != nil {
		return failed
	}
	return &comm.RankError{Rank: who.Rank(), Cause: failed, Elapsed: time.Since(d.began)}
}

// alone calls f once for all ranks of this process. An error of the graph or of an argument, which
// all processes find, leaves the group intact.
func (d *division) alone(f func() error) error {
	err := f()
	var parameter *ParameterError
	var weight *WeightError
	if err == nil || d.g.Size() == len(d.g.Ranks()) || errors.As(err, &parameter) || errors.As(err, &weight) {
		return err
	}
	return d.fail(d.g.Ranks()[0], err)
}

// threads returns the threads of the host for work that the ranks of this process share.
func (d *division) threads() int {
	if d.run.Threads > 0 {
		return d.run.Threads
	}
	return d.g.Threads() * len(d.g.Ranks())
}

// traced reports the division.
func (d *division) traced(work, nvals int64, imbalance float64) {
	if d.run.Trace != nil {
		d.run.Trace(ops.Trace{Op: d.app, Method: byRanges, Place: d.g.String(), Work: work, NVals: nvals, Imbalance: imbalance})
	}
}

// memoryOf returns a slice of plain values as bytes.
func memoryOf[E any](s []E) comm.Buffer {
	return comm.HostAt(unsafe.Pointer(unsafe.SliceData(s)), comm.Uint8, len(s)*int(unsafe.Sizeof(*new(E))))
}

// gatherEqual gives all ranks the items of each, in the order of ranks. All have the same number.
func gatherEqual[E any](d *division, own [][]E) ([]E, error) {
	counts := make([]int, d.g.Size())
	for r := range counts {
		counts[r] = len(own[0])
	}
	return gatherCounted(d, own, counts)
}

// gatherCounted is gatherEqual for numbers that all ranks know.
func gatherCounted[E any](d *division, own [][]E, counts []int) (all []E, err error) {
	size, n := int(unsafe.Sizeof(*new(E))), 0
	bytes := make([]int, len(counts))
	for r, c := range counts {
		bytes[r] = c * size
		n += c
	}
	if n == 0 { // known to all ranks
		return nil, nil
	}
	err = d.g.Each(func(k int, c comm.Comm) error {
		in := make([]E, n)
		if k == 0 {
			all = in
		}
		return c.AllGatherV(d.wait, memoryOf(in), bytes, memoryOf(own[k]))
	})
	return all, err
}

// gatherLists is gatherEqual for lists whose lengths only their ranks know.
func gatherLists[E any](d *division, own [][]E) ([]E, error) {
	lengths := make([][]int64, len(own))
	for k := range own {
		lengths[k] = []int64{int64(len(own[k]))}
	}
	all, err := gatherEqual(d, lengths)
	if err != nil {
		return nil, err
	}
	counts := make([]int, len(all))
	for r, n := range all {
		counts[r] = int(n)
	}
	return gatherCounted(d, own, counts)
}

// reduced combines lists of equal length of all ranks item by item, in place.
func reduced[E comm.Element](d *division, own [][]E, op comm.Op) error {
	if len(own[0]) == 0 { // known to all ranks
		return nil
	}
	return d.g.Each(func(k int, c comm.Comm) error {
		return comm.AllReduce(d.wait, c, comm.Host(own[k]), comm.Host(own[k]), op, nil)
	})
}

// reduceBlocks adds up memory of devices, or combines it otherwise: f gives that of each rank of
// this process, Size() blocks of n elements, of which rank r has block r afterwards. It returns
// false if the devices of the group cannot do so, on all ranks before anything is sent.
func reduceBlocks(d *division, t comm.DType, n int, op comm.Op, f func(k int) device.Buffer) (bool, error) {
	var lacks atomic.Bool
	err := d.g.Each(func(k int, c comm.Comm) error {
		all, own := f(k), f(k).At(int64(c.Rank())*int64(n)*int64(t.Size()))
		err := c.Reduce(d.wait, comm.OnDevice(own.Addr, t, n), comm.OnDevice(all.Addr, t, n*c.Size()), op, true)
		if errors.Is(err, comm.ErrNoOp) { // the group is intact
			lacks.Store(true)
			return nil
		}
		return err
	})
	return !lacks.Load(), err
}

// rowsOn makes a matrix of the group of the rows that its ranks have computed: rank r has rows
// cuts[r] … cuts[r+1]−1, and gives them as a matrix at its place. Nothing is sent.
func rowsOn[T semiring.Element](d *division, rows, cols int, cuts []int64, part []*matrix.Matrix[T]) (*matrix.Matrix[T], error) {
	m := matrix.New[T](rows, cols, matrix.On(d.g))
	t, err := access.TargetOn[T](d.wait, m.Inside(), d.g, true, asInts(cuts))
	if err != nil {
		return nil, err
	}
	for k, p := range part {
		if d.g.PlaceOf(k) == nil {
			st := access.Store(p)
			if st.NVals == 0 { // one without values would be a pattern
				st = sparse.EmptyOf[T](p.Dims())
			}
			access.SetResult(t.Matrix(k), st)
		} else if err := ops.Apply(t.Matrix(k), semiring.Identity[T](), p, ops.WithContext(d.run.Context)); err != nil {
			return nil, d.fail(d.g.Ranks()[k], err)
		}
	}
	return m, t.Keep()
}

// entriesOn makes a vector of n entries of the group, of which rank r has cuts[r] … cuts[r+1]−1.
func entriesOn[T comparable](d *division, n int, cuts []int64, part [][]T) (*matrix.Vector[T], error) {
	stores := make([]*sparse.Typed[T], len(part))
	for k, p := range part {
		stores[k] = &sparse.Typed[T]{Val: p, Structure: sparse.Structure{Format: sparse.Full, NRows: 1, NCols: len(p), NVals: int64(len(p))}}
	}
	return storesOn(d, n, asInts(cuts), stores)
}

// storesOn makes a vector of n positions of the group, of which rank r has cuts[r] … cuts[r+1]−1.
func storesOn[T comparable](d *division, n int, cuts []int, part []*sparse.Typed[T]) (*matrix.Vector[T], error) {
	v := matrix.NewVector[T](n, matrix.On(d.g))
	t, err := access.TargetOn[T](d.wait, v.Inside(), d.g, true, cuts)
	if err != nil {
		return nil, err
	}
	for k, st := range part {
		if at := d.g.PlaceOf(k); at == nil {
			access.SetResult(t.Matrix(k), st)
		} else {
			access.SetStore(t.Matrix(k), st)
			if err := t.Matrix(k).Move(at); err != nil {
				return nil, d.fail(d.g.Ranks()[k], err)
			}
		}
	}
	return v, t.Keep()
}

func asInts(list []int64) []int {
	out := make([]int, len(list))
	for k, x := range list {
		out[k] = int(x)
	}
	return out
}

// placeOf returns where rank k of this process computes.
func (d *division) placeOf(k int) matrix.Place {
	if p := d.g.PlaceOf(k); p != nil {
		return p
	}
	return nil
}
