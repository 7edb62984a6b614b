package comm

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// Place is where a rank of a [Group] computes: a device of package cusparse, or nil for the host.
type Place interface{ String() string }

// Group is a group of ranks as one place of matrices: matrix.On(group) puts a matrix there, in
// blocks of rows, one for each rank. All ranks may belong to one process, which then drives them,
// or to several processes, which then run the same program (SPMD): every process calls the same
// operations in the same order. Results are the same, bit for bit, for every number of ranks on the
// host.
//
// A Group may be used by one goroutine at a time.
type Group struct {
	ranks   []Comm  // of this process, in the order of ranks
	places  []Place // where these compute
	threads int     // of a rank on the host
	budget  int64   // bytes of a gathered operand of MxM, 0 for no limit
	device  bool    // LikeDevices
	turns   bool    // TakeTurns
	links   links   // see Link

	mu   sync.Mutex
	cuts map[int]*cutting
	took [][]time.Duration // of TakeTurns
}

// cutting is how a dimension is cut into blocks, and the work of the matrix that decided.
type cutting struct {
	cuts []int
	work int64
}

// A GroupOption changes NewGroup.
type GroupOption func(*Group)

// At gives the places of the ranks of this process, in their order: devices, or nil for the host.
// Without At all compute on the host.
func At(places ...Place) GroupOption {
	return func(g *Group) { g.places = append([]Place(nil), places...) }
}

// RankThreads sets the number of threads of each rank on the host. The default shares the threads
// of the process among its ranks.
func RankThreads(n int) GroupOption { return func(g *Group) { g.threads = max(0, n) } }

// GatherLimit bounds the bytes of the second operand of a matrix product that a rank gathers at a
// time. A larger operand goes round in blocks of columns. 0, the default, is no limit. It is the
// same on all ranks.
func GatherLimit(bytes int64) GroupOption { return func(g *Group) { g.budget = max(0, bytes) } }

// LikeDevices makes ranks on the host choose how to sum as ranks on devices do: each for itself.
// Sums of floats may then depend on the number of ranks, and no facts about their order are
// exchanged. The ledgers equal the ledgers of as many devices, for predictions. It is the same on
// all ranks.
func LikeDevices() GroupOption { return func(g *Group) { g.device = true } }

// TakeTurns makes the ranks of this process run what is [Group.Apart] one after another, and keeps
// the times for [Group.Turns]. With At, ranks that are all on one device take what each would
// take on a device of its own.
func TakeTurns() GroupOption { return func(g *Group) { g.turns = true } }

// NewGroup makes a place of the ranks of this process: all ranks of Local, Peers or nccl.Ranks, or
// the one rank of procs.Join. Ranks are in ascending order and belong to one group.
func NewGroup(ranks []Comm, opts ...GroupOption) (*Group, error) {
	bad := func(reason string) error {
		return &ArgumentError{"NewGroup", "ranks", reason, "give the ranks of one group in their order, by comm.Local or comm.Peers, nccl.Ranks of package comm/nccl, or procs.Join of package comm/procs"}
	}
	if len(ranks) == 0 {
		return nil, bad("is empty")
	}
	for i, c := range ranks {
		switch {
		case c == nil:
			return nil, bad(fmt.Sprintf("has a nil rank at %d", i))
		case c.Size() != ranks[0].Size():
			return nil, bad(fmt.Sprintf("has ranks of groups of %d and %d", ranks[0].Size(), c.Size()))
		case i > 0 && c.Rank() <= ranks[i-1].Rank():
			return nil, bad(fmt.Sprintf("has rank %d after rank %d", c.Rank(), ranks[i-1].Rank()))
		}
	}
	g := &Group{ranks: append([]Comm(nil), ranks...), cuts: map[int]*cutting{}, links: linked{}}
	for _, o := range opts {
		if o != nil {
			o(g)
		}
	}
	if g.places == nil {
		g.places = make([]Place, len(ranks))
	}
	if len(g.places) != len(ranks) {
		return nil, &ArgumentError{"NewGroup", "At", fmt.Sprintf("gives %d places for %d ranks of this process", len(g.places), len(ranks)), "give one for each, nil for the host"}
	}
	if g.threads == 0 {
		g.threads = max(1, runtime.GOMAXPROCS(0)/len(ranks))
	}
	return g, nil
}

// Linked is code that works on groups.
type Linked interface{ OnGroup() }

// Link calls l.OnGroup. It is for the packages of this module. NewGroup alone leads to the call, so
// that the linker leaves OnGroup, and all that only OnGroup leads to, out of a program without
// groups.
func (g *Group) Link(l Linked) {
	if g != nil && g.links != nil {
		g.links.link(l)
	}
}

// links is linked. Link calls it by an interface: the linker keeps a method that is called by an
// interface only if a program makes a value of its type.
type links interface{ link(l Linked) }

type linked struct{}

func (linked) link(l Linked) { l.OnGroup() }

// LocalGroup returns a place of p ranks on the host, which share its threads; see [Local].
func LocalGroup(p int, opts ...Option) (*Group, error) {
	ranks, err := Local(p, opts...)
	if err != nil {
		return nil, err
	}
	return NewGroup(ranks)
}

// Turns returns and forgets the times of the ranks of this process in every Apart of a group with
// [TakeTurns].
func (g *Group) Turns() [][]time.Duration {
	if g == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	took := g.took
	g.took = nil
	return took
}

// String names the group, such as "4 ranks on the host".
func (g *Group) String() string {
	if g == nil || len(g.ranks) == 0 {
		return "no ranks"
	}
	var names []string
	for _, p := range g.places {
		if p != nil {
			names = append(names, p.String())
		}
	}
	where := "on the host"
	if len(names) > 0 {
		where = "on " + strings.Join(names, ", ")
	}
	n, own := g.Size(), len(g.ranks)
	switch {
	case n == 1:
		return "1 rank " + where
	case own == n:
		return fmt.Sprintf("%d ranks %s", n, where)
	case own == 1:
		return fmt.Sprintf("rank %d of %d %s", g.ranks[0].Rank(), n, where)
	}
	return fmt.Sprintf("%d of %d ranks %s", own, n, where)
}

// Size returns the number of ranks of all processes.
func (g *Group) Size() int {
	if g == nil || len(g.ranks) == 0 {
		return 0
	}
	return g.ranks[0].Size()
}

// Ranks returns the ranks of this process.
func (g *Group) Ranks() []Comm {
	if g == nil {
		return nil
	}
	return append([]Comm(nil), g.ranks...)
}

// First reports whether rank 0 belongs to this process, which then prints and writes results.
func (g *Group) First() bool { return g != nil && len(g.ranks) > 0 && g.ranks[0].Rank() == 0 }

// PlaceOf returns where rank k of this process, counted from 0, computes; nil is the host.
func (g *Group) PlaceOf(k int) Place {
	if g == nil || k < 0 || k >= len(g.places) {
		return nil
	}
	return g.places[k]
}

// Threads returns the number of threads of each rank on the host.
func (g *Group) Threads() int {
	if g == nil {
		return 0
	}
	return g.threads
}

// GatherLimit returns the limit of the option of this name, 0 for none.
func (g *Group) GatherLimit() int64 {
	if g == nil {
		return 0
	}
	return g.budget
}

// OnDevices reports whether all ranks compute on devices, as far as this process knows, or act as
// if they did; see [LikeDevices].
func (g *Group) OnDevices() bool {
	if g == nil || len(g.ranks) == 0 {
		return false
	}
	if g.device {
		return true
	}
	if slices.Contains(g.places, nil) {
		return false
	}
	return len(g.ranks) == g.Size() || g.MovesDeviceMemory()
}

// MovesDeviceMemory reports whether collectives of the group take buffers of devices: its ranks
// come from Peers, nccl.Ranks, or procs.Join with OnGPU.
func (g *Group) MovesDeviceMemory() bool {
	if g == nil || len(g.ranks) == 0 {
		return false
	}
	for _, c := range g.ranks {
		if f, ok := c.(*faulty); ok {
			c = f.Comm
		}
		r, ok := c.(*group)
		if !ok || !r.transport.MovesDeviceMemory() {
			return false
		}
	}
	return true
}

// Close closes the ranks of this process.
func (g *Group) Close() error {
	if g == nil {
		return nil
	}
	var list []error
	for _, c := range g.ranks {
		list = append(list, c.Close())
	}
	return errors.Join(list...)
}

// Each calls f for each rank of this process, at the same time, with its number among these. The
// calls make the same collectives. An error of one of them ends the group.
func (g *Group) Each(f func(k int, c Comm) error) error { return g.each(f, true) }

// Apart calls f for each rank of this process, at the same time, or in turn with [TakeTurns]. The
// calls make no collectives. An error that all processes have in common, such as a wrong argument,
// leaves the group intact; others end a group of several processes, because its other ranks would
// wait. shared reports whether all processes have an error in common; nil means that none does.
func (g *Group) Apart(f func(k int, c Comm) error, shared func(error) bool) error {
	err := g.each(f, false)
	if err == nil || g == nil || g.Size() == len(g.ranks) || shared != nil && shared(err) {
		return err
	}
	g.ranks[0].Abort(err)
	return errors.Join(err, g.ranks[0].Err())
}

func (g *Group) each(f func(k int, c Comm) error, abort bool) error {
	if g == nil || len(g.ranks) == 0 {
		return &ArgumentError{"Group", "the group", "has no ranks", "make one by NewGroup"}
	}
	if len(g.ranks) == 1 && !g.turns {
		err := f(0, g.ranks[0])
		if err != nil && abort {
			return failed(g.ranks[0], err)
		}
		return err
	}
	errs := make([]error, len(g.ranks))
	if g.turns && !abort {
		took := make([]time.Duration, len(g.ranks))
		for k, c := range g.ranks {
			began := time.Now()
			errs[k] = f(k, c)
			if d, ok := g.places[k].(interface{ Sync() error }); ok && errs[k] == nil {
				errs[k] = d.Sync() // what f has queued
			}
			took[k] = time.Since(began)
		}
		g.mu.Lock()
		g.took = append(g.took, took)
		g.mu.Unlock()
		return cmp.Or(errs...)
	}
	var wait sync.WaitGroup
	one := func(k int, c Comm) {
		if errs[k] = f(k, c); errs[k] != nil && abort {
			errs[k] = failed(c, errs[k])
		}
	}
	last := len(g.ranks) - 1
	for k, c := range g.ranks[:last] {
		wait.Go(func() { one(k, c) })
	}
	one(last, g.ranks[last]) // by the caller: its stack has grown
	wait.Wait()
	for _, err := range errs {
		if err != nil {
			return err // the same failure on all ranks
		}
	}
	return nil
}

// Cuts returns how rows of a dimension of n are cut: rank r has rows cuts[r] … cuts[r+1]−1. The
// first matrix of n rows decides, and one with twice its work again; before, blocks have equally
// many rows.
func (g *Group) Cuts(n int) []int {
	p := g.Size()
	if p == 0 {
		return []int{0}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if c := g.cuts[n]; c != nil {
		return c.cuts
	}
	return evenCuts(n, p)
}

// CutBy sets the cuts of a dimension of n by the work of a matrix of n rows, unless a matrix with
// more than half of it has set them. rowAt returns the first row before which w of the work lies.
// It returns the cuts. All processes call it with the same work.
func (g *Group) CutBy(n int, work int64, rowAt func(w int64) int) []int {
	p := g.Size()
	if p == 0 || rowAt == nil {
		return g.Cuts(n)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if c := g.cuts[n]; c != nil && c.work >= work/2 {
		return c.cuts
	}
	cuts := make([]int, p+1)
	cuts[p] = n
	for r := 1; r < p; r++ {
		w := work/int64(p)*int64(r) + work%int64(p)*int64(r)/int64(p)
		cuts[r] = max(cuts[r-1], min(n, rowAt(w)))
	}
	g.cuts[n] = &cutting{cuts, work}
	return cuts
}

// CutAt sets the cuts of a dimension of cuts[Size()] for good, whatever its matrices are: rank r
// has rows cuts[r] … cuts[r+1]−1. All processes call it with the same cuts, before a matrix of so
// many rows is on the group.
func (g *Group) CutAt(cuts []int) error {
	p := g.Size()
	bad := func(reason string) error {
		return &ArgumentError{"CutAt", "cuts", reason, "give 0, the first row of each further rank, and the number of rows"}
	}
	switch {
	case p == 0:
		return bad("belong to no ranks")
	case len(cuts) != p+1:
		return bad(fmt.Sprintf("has %d numbers for %d ranks", len(cuts), p))
	case cuts[0] != 0 || !slices.IsSorted(cuts):
		return bad(fmt.Sprint("is ", cuts))
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.cuts[cuts[p]] = &cutting{slices.Clone(cuts), math.MaxInt64}
	return nil
}

// evenCuts cuts n rows into p blocks of about equally many.
func evenCuts(n, p int) []int {
	cuts := make([]int, p+1)
	for r := range cuts {
		cuts[r], _ = piece(n, r, p)
	}
	return cuts
}
