package workflow

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
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// On a group, ranges divide the work of workflows that falls into independent parts (walks, seeds,
// rows, sources): every rank has the whole graph and runs the workflow of one place on its range;
// the ranks exchange only results. Method Pipeline divides the rows of the graph instead, in every
// operation.

// ByRanges is the method of a trace of such a run.
const ByRanges = "ranges"

// LeastRange is the work, about entries read, below which the exchange of results costs more than a
// further rank saves.
type LeastRange int64

// LeastRange returns the least work of a rank.
func (d *Division) LeastRange() int64 { return int64(Tuning[LeastRange](d.Run, 1<<14)) }

// A Division is a run of a workflow by ranges.
type Division struct {
	App     string
	Run     Run
	G       *comm.Group
	Wait    context.Context // of collectives: other processes would wait for the ranks of this one
	Devices bool            // all ranks are on devices; else all are on the host
	Facts   []int64         // that ranks have given to divide
	Began   time.Time
}

// Divide begins a division. It returns nil if the place is no group, if the method is Pipeline, or
// if only some of the ranks are on devices. fact is a number that the first rank of this process
// gives all others, which get 0 of other ranks of it.
func Divide(r Run, app string, at matrix.Place, fact int64) (*Division, error) {
	g, ok := at.(*comm.Group)
	if !ok || g.Size() == 0 || r.Method != Auto && r.Method != Fused {
		return nil, nil
	}
	d := &Division{App: app, Run: r, G: g, Began: time.Now()}
	if len(g.Ranks()) < g.Size() {
		d.Wait = r.Context
	}
	own := make([][]int64, len(g.Ranks()))
	for k := range own {
		on := device.Of(g.PlaceOf(k)) != nil
		own[k] = []int64{int64(Bit(on)), 0}
	}
	own[0][1] = fact
	all, err := GatherEqual(d, own)
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

// Bit is 1 for true, else 0.
func Bit(x bool) uint8 {
	if x {
		return 1
	}
	return 0
}

// Replicas gives each rank of this process the whole graph at its place, and keeps it there.
func Replicas[T comparable](d *Division, v *matrix.View[T]) ([]*matrix.View[T], error) {
	return access.Replicas(d.Wait, v, d.G)
}

// Fits reports whether a graph that is not everywhere may be gathered; see comm.GatherLimit.
func Fits[T comparable](d *Division, v *matrix.View[T]) bool {
	return v.Inside().Gatherable(d.G)
}

// CutEvenly cuts n items into p ranges of about equally many, at multiples of align. Every range
// but the last with items has least or more.
func CutEvenly(n int64, p int, align, least int64) []int64 {
	units := (n + align - 1) / align
	parts := min(int64(p), max(1, n/max(least, 1)))
	cuts := make([]int64, p+1)
	for r := range cuts {
		part := min(int64(r), parts)
		cuts[r] = min(n, align*(units/parts*part+units%parts*part/parts))
	}
	return cuts
}

// CutByWork cuts the items of a prefix sum of work into p ranges of about equal work, with least or
// more for each rank that gets any.
func CutByWork(work []int64, p int, least int64) []int64 {
	n := len(work) - 1
	total := work[n] - work[0]
	parts := min(int64(p), max(1, total/least))
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

// Unevenness is the largest share of the work of ranges, times their number.
func Unevenness(cuts []int64, work func(lo, hi int64) int64) float64 {
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

// Each calls f for the ranks of this process, at the same time, with the settings of each. f makes
// no collectives. If it fails on a rank, the others stop, and all processes return the same
// *comm.RankError; a group within one process stays usable. A context that ended is an error as on
// one place.
func (d *Division) Each(f func(k int, c comm.Comm, run Run) error) error {
	outer := d.Run.Context
	if outer == nil {
		outer = context.Background()
	}
	ctx, cancel := context.WithCancel(outer)
	defer cancel()
	ranks := d.G.Ranks()
	threads := d.G.Threads()
	if d.Run.Threads > 0 {
		threads = max(1, d.Run.Threads/len(ranks))
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
	_ = d.G.Apart(func(k int, c comm.Comm) error {
		run := Run{Context: ctx, Threads: threads, Method: d.Run.Method, tuned: d.Run.tuned}
		if k == 0 && len(ranks) == 1 {
			run.Progress = d.Run.Progress
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
	return d.Fail(who, failed)
}

// Fail returns the error of all ranks after one of them failed.
func (d *Division) Fail(who comm.Comm, failed error) error {
	if err := who.Err(); err != nil {
		return err
	}
	if d.G.Size() > len(d.G.Ranks()) {
		who.Abort(failed)
		return who.Err()
	}
	if d.G.Size() == 1 || d.Run.Context != nil && d.Run.Context.Err() != nil {
		return failed
	}
	return &comm.RankError{Rank: who.Rank(), Cause: failed, Elapsed: time.Since(d.Began)}
}

// Once calls f once for all ranks of this process. An error of the graph or of an argument, which
// all processes find, leaves the group intact.
func (d *Division) Once(f func() error) error {
	err := f()
	var parameter *ParameterError
	var weight *WeightError
	if err == nil || d.G.Size() == len(d.G.Ranks()) || errors.As(err, &parameter) || errors.As(err, &weight) {
		return err
	}
	return d.Fail(d.G.Ranks()[0], err)
}

// Threads returns the threads of the host for work that the ranks of this process share.
func (d *Division) Threads() int {
	if d.Run.Threads > 0 {
		return d.Run.Threads
	}
	return d.G.Threads() * len(d.G.Ranks())
}

// Traced reports the division.
func (d *Division) Traced(work, nvals int64, imbalance float64) {
	if d.Run.Trace != nil {
		d.Run.Trace(ops.Trace{Op: d.App, Method: ByRanges, Place: d.G.String(), Work: work, NVals: nvals, Imbalance: imbalance})
	}
}

// MemoryOf returns a slice of plain values as bytes.
func MemoryOf[E any](s []E) comm.Buffer {
	return comm.HostAt(unsafe.Pointer(unsafe.SliceData(s)), comm.Uint8, len(s)*int(unsafe.Sizeof(*new(E))))
}

// GatherEqual gives all ranks the items of each, in the order of ranks. All have the same number.
func GatherEqual[E any](d *Division, own [][]E) ([]E, error) {
	counts := make([]int, d.G.Size())
	for r := range counts {
		counts[r] = len(own[0])
	}
	return GatherCounted(d, own, counts)
}

// GatherCounted is gatherEqual for numbers that all ranks know.
func GatherCounted[E any](d *Division, own [][]E, counts []int) (all []E, err error) {
	size, n := int(unsafe.Sizeof(*new(E))), 0
	bytes := make([]int, len(counts))
	for r, c := range counts {
		bytes[r] = c * size
		n += c
	}
	if n == 0 { // known to all ranks
		return nil, nil
	}
	err = d.G.Each(func(k int, c comm.Comm) error {
		in := make([]E, n)
		if k == 0 {
			all = in
		}
		return c.AllGatherV(d.Wait, MemoryOf(in), bytes, MemoryOf(own[k]))
	})
	return all, err
}

// GatherLists is gatherEqual for lists with lengths that only their ranks know.
func GatherLists[E any](d *Division, own [][]E) ([]E, error) {
	lengths := make([][]int64, len(own))
	for k := range own {
		lengths[k] = []int64{int64(len(own[k]))}
	}
	all, err := GatherEqual(d, lengths)
	if err != nil {
		return nil, err
	}
	counts := make([]int, len(all))
	for r, n := range all {
		counts[r] = int(n)
	}
	return GatherCounted(d, own, counts)
}

// Reduced combines lists of equal length of all ranks item by item, in place.
func Reduced[E comm.Element](d *Division, own [][]E, op comm.Op) error {
	if len(own[0]) == 0 { // known to all ranks
		return nil
	}
	return d.G.Each(func(k int, c comm.Comm) error {
		return comm.AllReduce(d.Wait, c, comm.Host(own[k]), comm.Host(own[k]), op, nil)
	})
}

// ReduceBlocks adds up memory of devices, or combines it otherwise: f gives the memory of each rank
// of this process, Size() blocks of n elements. Afterwards rank r has block r. It returns false if
// the devices of the group cannot do so, on all ranks before anything is sent.
func ReduceBlocks(d *Division, t comm.DType, n int, op comm.Op, f func(k int) device.Buffer) (bool, error) {
	var lacks atomic.Bool
	err := d.G.Each(func(k int, c comm.Comm) error {
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
	m := matrix.New[T](rows, cols, matrix.On(d.G))
	t, err := access.TargetOn[T](d.Wait, m.Inside(), d.G, true, AsInts(cuts))
	if err != nil {
		return nil, err
	}
	for k, p := range part {
		if d.G.PlaceOf(k) == nil {
			st := access.Store(p)
			if st.NVals == 0 { // one without values would be a pattern
				st = sparse.EmptyOf[T](p.Dims())
			}
			access.SetResult(t.Matrix(k), st)
		} else if err := ops.Apply(t.Matrix(k), semiring.Identity[T](), p, ops.WithContext(d.Run.Context)); err != nil {
			return nil, d.Fail(d.G.Ranks()[k], err)
		}
	}
	return m, t.Keep()
}

// EntriesOn makes a vector of n entries of the group; rank r has entries cuts[r] … cuts[r+1]−1.
func EntriesOn[T comparable](d *Division, n int, cuts []int64, part [][]T) (*matrix.Vector[T], error) {
	stores := make([]*sparse.Store, len(part))
	for k, p := range part {
		stores[k] = sparse.Untyped(sparse.Of(sparse.Structure{Format: sparse.Full, NRows: 1, NCols: len(p), NVals: int64(len(p))}, p))
	}
	v := matrix.NewVector[T](n, matrix.On(d.G))
	if err := SetStores(d, v.Inside(), AsInts(cuts), stores); err != nil {
		return nil, err
	}
	return v, nil
}

// SetStores makes the stores of the ranks of this process the contents of a vector of the group;
// rank r has entries cuts[r] … cuts[r+1]−1.
func SetStores(d *Division, v rep.View, cuts []int, part []*sparse.Store) error {
	t, err := v.OnGroup().Target(d.Wait, d.G, true, true, cuts)
	if err != nil {
		return err
	}
	for k, st := range part {
		if at := d.G.PlaceOf(k); at == nil {
			t.Part(k).SetResult(st)
		} else {
			t.Part(k).SetStore(st)
			if err := t.Part(k).Move(at, false, uint8(matrix.Blocks)); err != nil {
				return d.Fail(d.G.Ranks()[k], err)
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
	if p := d.G.PlaceOf(k); p != nil {
		return p
	}
	return nil
}
