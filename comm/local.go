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
)

// maxLocal is the largest number of ranks of a local group.
const maxLocal = 1 << 16

// Local returns a group of p ranks in this process, 1 … 65536; use each in a goroutine of its own.
// Buffers are host memory. Every collective checks that the ranks agree. It serves programs on
// CPUs, tests, and predictions: its ledgers are those of p devices.
func Local(p int, opts ...Option) ([]Comm, error) {
	if p < 1 || p > maxLocal {
		return nil, &ArgumentError{"Local", "p", fmt.Sprintf("is %d", p), fmt.Sprintf("give 1 … %d ranks", maxLocal)}
	}
	opt := gather(opts)
	return inProcess(newLife(), &opt, make([]mover, p)), nil
}

// inProcess makes a group of ranks that read each other's memory by movers; nil movers are those of
// host memory.
func inProcess(l *life, opt *options, movers []mover) []Comm {
	h := newHub(len(movers), l)
	out := make([]Comm, len(movers))
	for r, m := range movers {
		if m == nil {
			m = hostMover{}
		}
		out[r] = newGroup(&sharedPlane{hub: h, rank: r, opt: opt, mover: m}, r, len(movers), l, opt)
	}
	return out
}

// mover copies and folds buffers that one rank writes and others wrote.
type mover interface {
	// accepts returns an error if the rank cannot reach the buffer.
	accepts(b Buffer) error
	// begin returns when the rank's own buffers may be read by others.
	begin(ctx context.Context, c *call) error
	// copy queues a copy; the lengths are equal.
	copy(dst, src Buffer) error
	// fold combines operands from the left, ErrNoOp if it cannot.
	fold(dst Buffer, srcs []Buffer, op Op) error
	// folds reports whether fold can do this.
	folds(c *call) bool
	// wait returns when all that was queued is done, or with an error when ctx is. After that no
	// memory is touched.
	wait(ctx context.Context) error
	close() error
}

type hostMover struct{}

func (hostMover) accepts(b Buffer) error {
	if !b.OnHost() {
		return errors.New("the buffer is on a device, and the group is one of host memory")
	}
	return nil
}

func (hostMover) copy(dst, src Buffer) error {
	if !dst.same(src) {
		copy(dst.Bytes(), src.Bytes())
	}
	return nil
}

func (hostMover) begin(context.Context, *call) error { return nil }

func (hostMover) fold(dst Buffer, srcs []Buffer, op Op) error { return FoldHost(dst, srcs, op) }
func (hostMover) folds(*call) bool                            { return true }
func (hostMover) wait(context.Context) error                  { return nil }
func (hostMover) close() error                                { return nil }

// hub is where the ranks of a process meet.
type hub struct {
	size int
	life *life
	spin bool // a processor is free for each rank: wait a little before sleeping

	mu     sync.Mutex
	round  *round
	closed []int      // ranks that closed the group
	busy   int        // ranks that move data
	quiet  *sync.Cond // busy is 0
	splits map[string]*hub
}

// spinTime is how long a rank waits for the others before it sleeps. With 20 µs a Fence of four
// H200s takes 23 µs, with 100 it takes 10.
const spinTime = 100 * time.Microsecond

// round is one meeting.
type round struct {
	calls  []*call
	joined int
	dead   bool          // a rank gave up, so the round does not take place
	open   atomic.Bool   // all ranks have joined
	ready  chan struct{} // closed then
}

func newHub(size int, l *life) *hub {
	h := &hub{size: size, life: l, splits: map[string]*hub{}, spin: runtime.GOMAXPROCS(0) >= 2*size}
	h.quiet = sync.NewCond(&h.mu)
	return h
}

// meet waits for all ranks, and returns their calls.
func (h *hub) meet(ctx context.Context, rank int, c *call) ([]*call, error) {
	h.mu.Lock()
	r := h.round
	if r == nil {
		r = &round{calls: make([]*call, h.size), ready: make(chan struct{})}
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
	case <-h.life.ctx.Done():
		h.giveUp(r)
		return nil, h.life.failure()
	case <-ctx.Done():
		missing := h.giveUp(r)
		return nil, late(ctx, missing)
	}
}

// giveUp takes a rank out of a round, and returns the ranks that had not joined.
func (h *hub) giveUp(r *round) (missing []int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	select {
	case <-r.ready: // the rank is counted as busy
		h.left()
	default:
		r.dead = true
	}
	return r.missing()
}

// late returns the error of a context that is done while ranks are missing. A deadline blames the
// first of them.
func late(ctx context.Context, missing []int) error {
	cause := causeOf(ctx)
	if len(missing) == 0 || !errors.Is(cause, ErrTimeout) {
		return ctx.Err() // cancelled: the caller's own doing
	}
	return &RankError{Rank: missing[0], Cause: fmt.Errorf("%w: no call of ranks %s", cause, short(missing))}
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

func (h *hub) verify(calls []*call) error {
	if agree(calls) { // the texts below cost more than a small collective
		return nil
	}
	all := make([]signature, len(calls))
	for i, c := range calls {
		all[i] = c.signature()
	}
	if rank, err := disagree(all); err != nil {
		return &RankError{Rank: rank, Cause: err}
	}
	return nil
}

// leave ends the time in which a rank moves data.
func (h *hub) leave() {
	h.mu.Lock()
	h.left()
	h.mu.Unlock()
}

// left is leave while the lock is held.
func (h *hub) left() {
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
				number, kind = c.number, c.kind.String()
			}
		}
	}
	h.mu.Unlock()
	var e *RankError
	if errors.As(err, &e) {
		e.Number, e.Op = number, kind
		h.life.fail(e)
	}
}

// sharedPlane is the plane of ranks of one process.
type sharedPlane struct {
	hub   *hub
	rank  int
	opt   *options
	mover mover
}

func (p *sharedPlane) lacks(c *call) bool { return !p.mover.folds(c) }

func (p *sharedPlane) abort() { p.hub.settle() }

func (p *sharedPlane) close() error {
	p.hub.close(p.rank)
	return p.mover.close()
}

func (p *sharedPlane) run(ctx context.Context, c *call) error {
	for _, b := range []Buffer{c.dst, c.src} {
		if b.n > 0 {
			if err := p.mover.accepts(b); err != nil {
				return err
			}
		}
	}
	if err := p.mover.begin(ctx, c); err != nil {
		return err
	}
	for step, move := range p.steps(c) {
		p.opt.pause(p.rank, c.number, uint64(2*step))
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

func (p *sharedPlane) move(ctx context.Context, c *call, step uint64, f func() error) error {
	defer p.hub.leave()
	p.opt.pause(p.rank, c.number, step)
	if err := f(); err != nil {
		return err
	}
	return p.mover.wait(ctx)
}

// steps returns what the rank does after each meeting.
func (p *sharedPlane) steps(c *call) []func([]*call) error {
	size := p.hub.size
	switch c.kind {
	case KindAllGatherV:
		return []func([]*call) error{func(calls []*call) error {
			at := offsets(c.recv)
			return p.each(func(r int) error { return p.mover.copy(c.dst.Slice(at[r], at[r+1]), calls[r].src) })
		}}
	case KindAllToAllV:
		return []func([]*call) error{func(calls []*call) error {
			at := offsets(c.recv)
			return p.each(func(r int) error {
				from := int(sum(calls[r].send[:p.rank]))
				return p.mover.copy(c.dst.Slice(at[r], at[r+1]), calls[r].src.Slice(from, from+c.recv[r]))
			})
		}}
	case KindBroadcast:
		if size > 2 && c.dst.Size() >= spreadFrom {
			return p.spread(c)
		}
		return []func([]*call) error{func(calls []*call) error {
			if p.rank == c.root {
				return nil
			}
			return p.mover.copy(c.dst, calls[c.root].dst)
		}}
	case KindReduceScatter:
		return []func([]*call) error{func(calls []*call) error {
			return p.foldPiece(c.dst, calls, c, p.rank*c.dst.n, (p.rank+1)*c.dst.n)
		}}
	case KindAllReduce:
		// Rank r folds piece r into its own dst, then all ranks copy the pieces. If dst is src,
		// piece r of rank r is read by rank r alone.
		return []func([]*call) error{func(calls []*call) error {
			from, to := piece(c.src.n, p.rank, size)
			return p.foldPiece(c.dst.Slice(from, to), calls, c, from, to)
		}, func(calls []*call) error {
			return p.each(func(r int) error {
				if r == p.rank {
					return nil
				}
				from, to := piece(c.src.n, r, size)
				return p.mover.copy(c.dst.Slice(from, to), calls[r].dst.Slice(from, to))
			})
		}}
	}
	return nil // Fence: the meeting is all
}

// spreadFrom is the number of bytes from which a broadcast to more than one rank goes in pieces: of
// 537 MB on four H200s each rank then receives 221 GB/s, and 129 straight from the root. It is a
// variable for tests.
var spreadFrom int64 = 1 << 20

// spread is a broadcast in two steps, so that the root sends about as much as the others: rank r
// pulls piece r from the root, then every rank pulls the other pieces from the ranks that have
// them.
func (p *sharedPlane) spread(c *call) []func([]*call) error {
	size := p.hub.size
	return []func([]*call) error{func(calls []*call) error {
		if p.rank == c.root {
			return nil
		}
		from, to := piece(c.dst.n, p.rank, size)
		return p.mover.copy(c.dst.Slice(from, to), calls[c.root].dst.Slice(from, to))
	}, func(calls []*call) error {
		return p.each(func(r int) error {
			if r == p.rank || p.rank == c.root {
				return nil
			}
			from, to := piece(c.dst.n, r, size)
			return p.mover.copy(c.dst.Slice(from, to), calls[r].dst.Slice(from, to))
		})
	}}
}

func (p *sharedPlane) foldPiece(dst Buffer, calls []*call, c *call, from, to int) error {
	if from >= to {
		return nil
	}
	srcs := make([]Buffer, len(calls))
	for r := range calls {
		srcs[r] = calls[r].src.Slice(from, to)
	}
	return p.mover.fold(dst, srcs, c.op)
}

// each calls f for every rank, beginning with its own, so that ranks read from different ones.
func (p *sharedPlane) each(f func(r int) error) error {
	for k := range p.hub.size {
		if err := f((p.rank + k) % p.hub.size); err != nil {
			return err
		}
	}
	return nil
}

func offsets(counts []int) []int {
	at := make([]int, len(counts)+1)
	for i, n := range counts {
		at[i+1] = at[i] + n
	}
	return at
}

func (p *sharedPlane) split(ctx context.Context, c *call, members []int) (plane, error) {
	h, err := p.hub.split(ctx, p.rank, c, len(members))
	if err != nil || c.color < 0 {
		return nil, err
	}
	return &sharedPlane{hub: h, rank: slices.Index(members, p.rank), opt: p.opt, mover: sharedMover{p.mover}}, nil
}

// split returns the hub of the members of a color, nil for a negative one.
func (h *hub) split(ctx context.Context, rank int, c *call, members int) (*hub, error) {
	key := fmt.Sprint(c.number, " ", c.color)
	h.mu.Lock()
	sub := h.splits[key]
	if sub == nil && c.color >= 0 {
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

// sharedMover is the mover of a split group, which the first group closes.
type sharedMover struct{ mover }

func (sharedMover) close() error { return nil }

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
