package comm

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// plane moves the data of a rank. Its group checks arguments, numbers the collectives, keeps the
// deadline and the ledger, and calls one method at a time.
type plane interface {
	// lacks reports whether the plane cannot do a reduction. The answer is the same on all ranks.
	lacks(c *call) bool
	// run does a collective. An error ends the group: a *RankError if the plane knows which rank
	// failed, else the rank itself did. When ctx is done it returns at once.
	run(ctx context.Context, c *call) error
	// split makes the plane of the new group, of which members are the ranks of this one.
	split(ctx context.Context, c *call, members []int) (plane, error)
	// abort stops the library's work on this rank; the life of the group is over.
	abort()
	// close releases the plane.
	close() error
}

// life is the state that a group and its splits share: alive, or ended by the first failure.
type life struct {
	ctx  context.Context // done when the group failed
	end  context.CancelCauseFunc
	tell func(*RankError) *RankError // tells other processes, returns the failure that counts; or nil
	once sync.Once
}

func newLife() *life {
	l := &life{}
	l.ctx, l.end = context.WithCancelCause(context.Background())
	return l
}

// failure returns what ended the group, or nil.
func (l *life) failure() *RankError {
	var r *RankError
	if errors.As(context.Cause(l.ctx), &r) {
		return r
	}
	return nil
}

// fail ends the group, and returns the failure that counts.
func (l *life) fail(e *RankError) *RankError {
	l.once.Do(func() {
		if l.tell != nil {
			e = l.tell(e)
		}
		l.end(e)
	})
	<-l.ctx.Done()
	return l.failure()
}

// group is the Comm of every plane.
type group struct {
	plane      plane
	rank, size int
	life       *life
	opt        *options
	ledger     *Ledger
	host       string // of this process, for errors; "" in one process

	mu     sync.Mutex // one collective at a time
	number uint64
	state  sync.Mutex // guards the rest
	closed bool
	told   bool // a collective of this rank has returned the failure
}

var _ Comm = (*group)(nil)

func newGroup(p plane, rank, size int, l *life, opt *options) *group {
	return &group{plane: p, rank: rank, size: size, life: l, opt: opt, ledger: &Ledger{keep: opt.keep}}
}

func (g *group) Rank() int             { return g.rank }
func (g *group) Size() int             { return g.size }
func (g *group) Ledger() *Ledger       { return g.ledger }
func (g *group) Done() <-chan struct{} { return g.life.ctx.Done() }

func (g *group) Err() error {
	if e := g.life.failure(); e != nil {
		return e
	}
	g.state.Lock()
	defer g.state.Unlock()
	if g.closed {
		return ErrGroupClosed
	}
	return nil
}

// over returns the error of a collective after the end, or nil. The first one on each rank returns
// the failure itself: it may have begun elsewhere before this rank called.
func (g *group) over() error {
	first := g.life.failure()
	g.state.Lock()
	defer g.state.Unlock()
	switch {
	case first != nil && !g.told && !g.closed:
		g.told = true
		return first
	case first != nil:
		return &closedError{first}
	case g.closed:
		return &closedError{}
	}
	return nil
}

// do runs a collective with everything around it.
func (g *group) do(ctx context.Context, c *call, run func(ctx context.Context) error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.over(); err != nil {
		return err
	}
	if (c.kind == KindAllReduce || c.kind == KindReduceScatter) && (!c.op.Has(c.dst.dtype) || g.plane.lacks(c)) {
		return ErrNoOp
	}
	g.number++
	c.number = g.number
	began := time.Now()
	if err := c.check(g.rank, g.size); err != nil {
		return g.fail(c, began, err)
	}
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, cancel := context.WithTimeoutCause(ctx, g.opt.timeout, ErrTimeout)
	defer cancel()
	err := ctx.Err()
	if err == nil {
		err = run(ctx)
	}
	if err != nil {
		if err == ctx.Err() { // of the caller, or of the time limit
			err = causeOf(ctx)
		}
		return g.fail(c, began, err)
	}
	g.ledger.add(c, g.rank, g.size)
	return nil
}

// causeOf returns why ctx is done. A deadline of the caller is an ErrTimeout too.
func causeOf(ctx context.Context) error {
	cause := context.Cause(ctx)
	if errors.Is(cause, context.DeadlineExceeded) && !errors.Is(cause, ErrTimeout) {
		return fmt.Errorf("%w: %w", ErrTimeout, cause)
	}
	return cause
}

// fail ends the group by an error of this rank, or of the rank that the error names.
func (g *group) fail(c *call, began time.Time, err error) error {
	e := &RankError{Rank: g.rank, Host: g.host, Op: c.kind.String(), Number: c.number, Cause: err, Elapsed: time.Since(began)}
	var known *RankError
	if errors.As(err, &known) {
		*e = *known
		if e.Op == "" {
			e.Op, e.Number, e.Elapsed = c.kind.String(), c.number, time.Since(began)
		}
	}
	first := g.life.fail(e)
	g.plane.abort()
	g.state.Lock()
	g.told = true
	g.state.Unlock()
	return first
}

func (g *group) AllGatherV(ctx context.Context, dst Buffer, counts []int, src Buffer) error {
	return g.simple(ctx, &call{kind: KindAllGatherV, dst: dst, src: src, recv: counts})
}

func (g *group) AllToAllV(ctx context.Context, dst Buffer, recv []int, src Buffer, send []int) error {
	return g.simple(ctx, &call{kind: KindAllToAllV, dst: dst, src: src, recv: recv, send: send})
}

func (g *group) Reduce(ctx context.Context, dst, src Buffer, op Op, scatter bool) error {
	kind := KindAllReduce
	if scatter {
		kind = KindReduceScatter
	}
	return g.simple(ctx, &call{kind: kind, dst: dst, src: src, op: op})
}

func (g *group) Broadcast(ctx context.Context, buf Buffer, root int) error {
	return g.simple(ctx, &call{kind: KindBroadcast, dst: buf, root: root})
}

func (g *group) Fence(ctx context.Context) error {
	return g.simple(ctx, &call{kind: KindFence})
}

func (g *group) simple(ctx context.Context, c *call) error {
	return g.do(ctx, c, func(ctx context.Context) error { return g.plane.run(ctx, c) })
}

func (g *group) Split(ctx context.Context, color, key int) (Comm, error) {
	var sub *group
	c := &call{kind: KindSplit, color: color, key: key}
	err := g.do(ctx, c, func(ctx context.Context) error {
		// The ranks tell each other color and key.
		all := make([]int64, 2*g.size)
		counts := make([]int, g.size)
		for i := range counts {
			counts[i] = 2
		}
		tell := &call{kind: KindAllGatherV, number: c.number, recv: counts, dst: Host(all), src: Host([]int64{int64(color), int64(key)})}
		if err := g.plane.run(ctx, tell); err != nil {
			return err
		}
		members := membersOf(all, color)
		p, err := g.plane.split(ctx, c, members)
		if err != nil || color < 0 {
			return err
		}
		sub = newGroup(p, 0, len(members), g.life, g.opt)
		sub.ledger, sub.host = g.ledger, g.host
		for i, r := range members {
			if r == g.rank {
				sub.rank = i
			}
		}
		return nil
	})
	if err != nil || sub == nil {
		return nil, err
	}
	return sub, nil
}

func (g *group) Abort(cause error) {
	if cause == nil {
		cause = errors.New("aborted without a cause")
	}
	g.life.fail(&RankError{Rank: g.rank, Host: g.host, Cause: cause})
	g.plane.abort()
}

func (g *group) Close() error {
	g.state.Lock()
	was := g.closed
	g.closed = true
	g.state.Unlock()
	if was {
		return nil
	}
	return g.plane.close()
}
