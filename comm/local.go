package comm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hiveblas/hiveblas/comm/internal/ranks"
)

// maxLocal is the largest number of ranks of a local group.
const maxLocal = 1 << 16

// Local returns a group of p ranks in this process, 1 … 65536; use each in a goroutine of its own.
// Buffers are host memory. Every collective checks that the ranks agree. It serves programs on
// CPUs, tests, and predictions: its ledgers equal the ledgers of p devices.
func Local(p int, opts ...Option) ([]Comm, error) {
	if p < 1 || p > maxLocal {
		return nil, &ArgumentError{"Local", "p", fmt.Sprintf("is %d", p), fmt.Sprintf("give 1 … %d ranks", maxLocal)}
	}
	return inProcess(NewLife(opts...), make([]copier, p)), nil
}

// inProcess makes a group of ranks that read each other's memory by copiers; nil copiers copy host
// memory.
func inProcess(l *Life, copiers []copier) []Comm {
	h := newHub(len(copiers), l)
	out := make([]Comm, len(copiers))
	for r, m := range copiers {
		if m == nil {
			m = hostCopier{}
		}
		out[r] = newGroup(&sharedTransport{hub: h, rank: r, copier: m}, r, len(copiers), l)
	}
	return out
}

// copier copies and folds buffers that one rank writes and others wrote.
type copier interface {
	// accepts returns an error if the rank cannot reach the buffer.
	accepts(b Buffer) error
	// begin returns when the rank's own buffers may be read by others.
	begin(ctx context.Context, c *Collective) error
	// copy queues a copy; the lengths are equal.
	copy(dst, src Buffer) error
	// fold combines operands from the left, ErrNoOp if it cannot.
	fold(dst Buffer, srcs []Buffer, op Op) error
	// folds reports whether fold can do this.
	folds(c *Collective) bool
	// wait returns when all that was queued is done, or with an error when ctx is. After that no
	// memory is touched.
	wait(ctx context.Context) error
	close() error
}

type hostCopier struct{}

func (hostCopier) accepts(b Buffer) error {
	if !b.OnHost() {
		return errors.New("the buffer is on a device, and the group is one of host memory")
	}
	return nil
}

func (hostCopier) copy(dst, src Buffer) error {
	if !dst.Same(src) {
		copy(dst.Bytes(), src.Bytes())
	}
	return nil
}

func (hostCopier) begin(context.Context, *Collective) error { return nil }

func (hostCopier) fold(dst Buffer, srcs []Buffer, op Op) error { return FoldHost(dst, srcs, op) }
func (hostCopier) folds(*Collective) bool                      { return true }
func (hostCopier) wait(context.Context) error                  { return nil }
func (hostCopier) close() error                                { return nil }

// hub is where the ranks of a process meet.
type hub struct {
	size int
	life *Life
	spin bool // a processor is free for each rank: wait a little before sleeping

	mu     sync.Mutex
	round  *round
	closed []int      // ranks that closed the group
	busy   int        // ranks that move data
	quiet  *sync.Cond // busy is 0
	splits map[string]*hub
}

// spinTime is how long a rank waits for the others before it sleeps. A Fence of four H200s takes 23
// µs with 20 µs, and 10 with 100.
const spinTime = 100 * time.Microsecond

// round is one meeting.
type round struct {
	calls  []*Collective
	joined int
	dead   bool          // a rank gave up, so the round does not take place
	open   atomic.Bool   // all ranks have joined
	ready  chan struct{} // closed then
}

func newHub(size int, l *Life) *hub {
	h := &hub{size: size, life: l, splits: map[string]*hub{}, spin: runtime.GOMAXPROCS(0) >= 2*size}
	h.quiet = sync.NewCond(&h.mu)
	return h
}

// meet waits for all ranks, and returns their calls.
func (h *hub) meet(ctx context.Context, rank int, c *Collective) ([]*Collective, error) {
	h.mu.Lock()
	r := h.round
	if r == nil {
		r = &round{calls: make([]*Collective, h.size), ready: make(chan struct{})}
		h.round = r
	}
	r.calls[rank] = c
	r.joined++
	var err error
	if r.dead {
		// The failure that its rank reports ends the wait below.
	} else if r.joined == h.size {
		h.round = nil
		if err = h.verify(r.calls); err == nil {
			h.busy += h.size // all ranks move data from here to leave
			r.open.Store(true)
			close(r.ready)
		}
	} else {
		err = h.missesClosed(r)
	}
	h.mu.Unlock()
	if err != nil {
		return nil, err
	}
	if h.spin {
		// The others are microseconds away as a rule, and a wake-up takes five.
		for began, k := time.Now(), 0; !r.open.Load(); k++ {
			if k%64 == 63 && time.Since(began) > spinTime {
				break
			}
		}
	}
	select {
	case <-r.ready:
		return r.calls, nil
	case <-h.life.Context().Done():
		h.abandon(r)
		return nil, h.life.Failure()
	case <-ctx.Done():
		missing := h.abandon(r)
		return nil, deadlineError(ctx, missing)
	}
}

// abandon takes a rank out of a round, and returns the ranks that had not joined.
func (h *hub) abandon(r *round) (missing []int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	select {
	case <-r.ready: // the rank is counted as busy
		h.leaveLocked()
	default:
		r.dead = true
	}
	return r.missing()
}

// deadlineError returns the error of a context that is done while ranks are missing. A deadline
// blames the first of them.
func deadlineError(ctx context.Context, missing []int) error {
	cause := CauseOf(ctx)
	if len(missing) == 0 || !errors.Is(cause, ErrTimeout) {
		return ctx.Err() // cancelled: the caller's own doing
	}
	return &RankError{Rank: missing[0], Cause: fmt.Errorf("%w: no call of ranks %s", cause, ranks.Short(missing))}
}

func (r *round) missing() (list []int) {
	for rank, c := range r.calls {
		if c == nil {
			list = append(list, rank)
		}
	}
	return list
}

// missesClosed returns an error if a rank that has not joined never will.
func (h *hub) missesClosed(r *round) error {
	for _, rank := range h.closed {
		if r.calls[rank] == nil {
			return &RankError{Rank: rank, Cause: fmt.Errorf("%w by this rank, and others call a collective", ErrGroupClosed)}
		}
	}
	return nil
}

func (h *hub) verify(calls []*Collective) error {
	if agree(calls) { // the texts below cost more than a small collective
		return nil
	}
	all := make([]Signature, len(calls))
	for i, c := range calls {
		all[i] = c.Signature()
	}
	if rank, err := Disagree(all); err != nil {
		return &RankError{Rank: rank, Cause: err}
	}
	return nil
}

// leave ends the time in which a rank moves data.
func (h *hub) leave() {
	h.mu.Lock()
	h.leaveLocked()
	h.mu.Unlock()
}

// leaveLocked is leave while the lock is held.
func (h *hub) leaveLocked() {
	if h.busy--; h.busy == 0 {
		h.quiet.Broadcast()
	}
}

// settle waits until no rank moves data, so that buffers may be reused after a failure.
func (h *hub) settle() {
	h.mu.Lock()
	for h.busy > 0 {
		h.quiet.Wait()
	}
	h.mu.Unlock()
}

func (h *hub) close(rank int) {
	h.mu.Lock()
	h.closed = append(h.closed, rank)
	var err error
	if h.round != nil {
		err = h.missesClosed(h.round)
	}
	number, kind := uint64(0), ""
	if err != nil {
		for _, c := range h.round.calls {
			if c != nil {
				number, kind = c.Number, c.Kind.String()
			}
		}
	}
	h.mu.Unlock()
	var e *RankError
	if errors.As(err, &e) {
		e.Number, e.Op = number, kind
		h.life.Fail(e)
	}
}

// sharedTransport is the transport of ranks of one process.
type sharedTransport struct {
	hub    *hub
	rank   int
	copier copier
}

func (p *sharedTransport) Lacks(c *Collective) bool { return !p.copier.folds(c) }

// MovesDeviceMemory reports whether the ranks come from Peers.
func (p *sharedTransport) MovesDeviceMemory() bool {
	m := p.copier
	if split, ok := m.(sharedCopier); ok {
		m = split.copier
	}
	_, host := m.(hostCopier)
	return !host
}

func (p *sharedTransport) Abort() { p.hub.settle() }

func (p *sharedTransport) Close() error {
	p.hub.close(p.rank)
	return p.copier.close()
}

func (p *sharedTransport) Run(ctx context.Context, c *Collective) error {
	for _, b := range []Buffer{c.Dst, c.Src} {
		if b.n > 0 {
			if err := p.copier.accepts(b); err != nil {
				return err
			}
		}
	}
	if err := p.copier.begin(ctx, c); err != nil {
		return err
	}
	for step, move := range p.steps(c) {
		p.hub.life.opt.pause(p.rank, c.Number, uint64(2*step))
		calls, err := p.hub.meet(ctx, p.rank, c)
		if err != nil {
			return err
		}
		err = p.move(ctx, c, uint64(2*step+1), func() error { return move(calls) })
		if err != nil {
			return err
		}
	}
	// Sources may be changed when all ranks have read them.
	_, err := p.hub.meet(ctx, p.rank, c)
	if err == nil {
		p.hub.leave()
	}
	return err
}

func (p *sharedTransport) move(ctx context.Context, c *Collective, step uint64, f func() error) error {
	defer p.hub.leave()
	p.hub.life.opt.pause(p.rank, c.Number, step)
	if err := f(); err != nil {
		return err
	}
	return p.copier.wait(ctx)
}

// steps returns what the rank does after each meeting.
func (p *sharedTransport) steps(c *Collective) []func([]*Collective) error {
	size := p.hub.size
	switch c.Kind {
	case KindAllGatherV:
		return []func([]*Collective) error{func(calls []*Collective) error {
			at := ranks.Offsets(c.Recv)
			return p.each(func(r int) error { return p.copier.copy(c.Dst.Slice(at[r], at[r+1]), calls[r].Src) })
		}}
	case KindAllToAllV:
		return []func([]*Collective) error{func(calls []*Collective) error {
			at := ranks.Offsets(c.Recv)
			return p.each(func(r int) error {
				from := int(ranks.Sum(calls[r].Send[:p.rank]))
				return p.copier.copy(c.Dst.Slice(at[r], at[r+1]), calls[r].Src.Slice(from, from+c.Recv[r]))
			})
		}}
	case KindBroadcast:
		if size > 2 && c.Dst.Size() >= p.hub.life.opt.pieces {
			return p.spread(c)
		}
		return []func([]*Collective) error{func(calls []*Collective) error {
			if p.rank == c.Root {
				return nil
			}
			return p.copier.copy(c.Dst, calls[c.Root].Dst)
		}}
	case KindReduceScatter:
		return []func([]*Collective) error{func(calls []*Collective) error {
			return p.foldPiece(c.Dst, calls, c, p.rank*c.Dst.n, (p.rank+1)*c.Dst.n)
		}}
	case KindAllReduce:
		// Rank r folds piece r into its own dst, then all ranks copy the pieces. If dst is src,
		// piece r of rank r is read by rank r alone.
		return []func([]*Collective) error{func(calls []*Collective) error {
			from, to := piece(c.Src.n, p.rank, size)
			return p.foldPiece(c.Dst.Slice(from, to), calls, c, from, to)
		}, func(calls []*Collective) error {
			return p.each(func(r int) error {
				if r == p.rank {
					return nil
				}
				from, to := piece(c.Src.n, r, size)
				return p.copier.copy(c.Dst.Slice(from, to), calls[r].Dst.Slice(from, to))
			})
		}}
	}
	return nil // Fence: the meeting is all
}

// spread is a broadcast in two steps, so that the root sends about as much as the others: rank r
// pulls piece r from the root, then every rank pulls the other pieces from the ranks that have
// them.
func (p *sharedTransport) spread(c *Collective) []func([]*Collective) error {
	size := p.hub.size
	return []func([]*Collective) error{func(calls []*Collective) error {
		if p.rank == c.Root {
			return nil
		}
		from, to := piece(c.Dst.n, p.rank, size)
		return p.copier.copy(c.Dst.Slice(from, to), calls[c.Root].Dst.Slice(from, to))
	}, func(calls []*Collective) error {
		return p.each(func(r int) error {
			if r == p.rank || p.rank == c.Root {
				return nil
			}
			from, to := piece(c.Dst.n, r, size)
			return p.copier.copy(c.Dst.Slice(from, to), calls[r].Dst.Slice(from, to))
		})
	}}
}

func (p *sharedTransport) foldPiece(dst Buffer, calls []*Collective, c *Collective, from, to int) error {
	if from >= to {
		return nil
	}
	srcs := make([]Buffer, len(calls))
	for r := range calls {
		srcs[r] = calls[r].Src.Slice(from, to)
	}
	return p.copier.fold(dst, srcs, c.Op)
}

// each calls f for every rank, beginning with its own, so that ranks read from different ones.
func (p *sharedTransport) each(f func(r int) error) error {
	for k := range p.hub.size {
		if err := f((p.rank + k) % p.hub.size); err != nil {
			return err
		}
	}
	return nil
}

func (p *sharedTransport) Split(ctx context.Context, c *Collective, members []int) (Transport, error) {
	h, err := p.hub.split(ctx, p.rank, c, len(members))
	if err != nil || c.Color < 0 {
		return nil, err
	}
	return &sharedTransport{hub: h, rank: slices.Index(members, p.rank), copier: sharedCopier{p.copier}}, nil
}

// split returns the hub of the members of a color, nil for a negative one.
func (h *hub) split(ctx context.Context, rank int, c *Collective, members int) (*hub, error) {
	key := fmt.Sprint(c.Number, " ", c.Color)
	h.mu.Lock()
	sub := h.splits[key]
	if sub == nil && c.Color >= 0 {
		sub = newHub(members, h.life)
		h.splits[key] = sub
	}
	h.mu.Unlock()
	if _, err := h.meet(ctx, rank, c); err != nil {
		return nil, err
	}
	h.leave()
	h.mu.Lock()
	delete(h.splits, key) // all members have it
	h.mu.Unlock()
	return sub, nil
}

// sharedCopier is the copier of a split group; the first group closes it.
type sharedCopier struct{ copier }

func (sharedCopier) close() error { return nil }

// membersOf returns the ranks of a color, by key and rank. all has color and key of each rank.
func membersOf(all []int64, color int) (members []int) {
	for r := range len(all) / 2 {
		if all[2*r] == int64(color) && color >= 0 {
			members = append(members, r)
		}
	}
	slices.SortStableFunc(members, func(a, b int) int { return cmp.Compare(all[2*a+1], all[2*b+1]) })
	return members
}
