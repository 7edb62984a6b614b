package comm

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// group is the Comm of every transport.
type group struct {
	transport  Transport
	rank, size int
	life       *Life
	ledger     *Ledger
	host       string // of this process, for errors; "" in one process

	mu       sync.Mutex // one collective at a time
	number   uint64
	state    sync.Mutex // guards the rest
	closed   bool
	reported bool // a collective of this rank has returned the failure
}

var _ Comm = (*group)(nil)

func newGroup(t Transport, rank, size int, l *Life) *group {
	return &group{transport: t, rank: rank, size: size, life: l, ledger: &Ledger{keep: l.opt.keep}}
}

func (g *group) Rank() int             { return g.rank }
func (g *group) Size() int             { return g.size }
func (g *group) Ledger() *Ledger       { return g.ledger }
func (g *group) Done() <-chan struct{} { return g.life.ctx.Done() }

func (g *group) Err() error {
	if e := g.life.Failure(); e != nil {
		return e
	}
	g.state.Lock()
	defer g.state.Unlock()
	if g.closed {
		return ErrGroupClosed
	}
	return nil
}

// endedError returns the error of a collective after the end, or nil. The first one on each rank
// returns the failure itself: it may have begun elsewhere before this rank called.
func (g *group) endedError() error {
	first := g.life.Failure()
	g.state.Lock()
	defer g.state.Unlock()
	switch {
	case first != nil && !g.reported && !g.closed:
		g.reported = true
		return first
	case first != nil:
		return &closedError{first}
	case g.closed:
		return &closedError{}
	}
	return nil
}

// do runs a collective with everything around it.
func (g *group) do(ctx context.Context, c *Collective, run func(ctx context.Context) error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.endedError(); err != nil {
		return err
	}
	if (c.Kind == KindAllReduce || c.Kind == KindReduceScatter) && (!c.Op.Has(c.Dst.dtype) || g.transport.Lacks(c)) {
		return ErrNoOp
	}
	g.number++
	c.Number = g.number
	began := time.Now()
	if err := c.check(g.rank, g.size); err != nil {
		return g.fail(c, began, err)
	}
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, cancel := context.WithTimeoutCause(ctx, g.life.opt.timeout, ErrTimeout)
	defer cancel()
	err := ctx.Err()
	if err == nil {
		err = run(ctx)
	}
	if err != nil {
		if err == ctx.Err() { // of the caller, or of the time limit
			err = CauseOf(ctx)
		}
		return g.fail(c, began, err)
	}
	g.ledger.add(c, g.rank, g.size)
	return nil
}

// CauseOf returns why ctx is done, nil if it is not. A deadline of the caller is an ErrTimeout too.
func CauseOf(ctx context.Context) error {
	if ctx == nil {
		return nil
	}
	cause := context.Cause(ctx)
	if errors.Is(cause, context.DeadlineExceeded) && !errors.Is(cause, ErrTimeout) {
		return fmt.Errorf("%w: %w", ErrTimeout, cause)
	}
	return cause
}

// fail ends the group by an error of this rank, or of the rank that the error names.
func (g *group) fail(c *Collective, began time.Time, err error) error {
	e := &RankError{Rank: g.rank, Host: g.host, Op: c.Kind.String(), Number: c.Number, Cause: err, Elapsed: time.Since(began)}
	var known *RankError
	if errors.As(err, &known) {
		*e = *known
		if e.Op == "" {
			e.Op, e.Number, e.Elapsed = c.Kind.String(), c.Number, time.Since(began)
		}
	}
	first := g.life.Fail(e)
	g.transport.Abort()
	g.state.Lock()
	g.reported = true
	g.state.Unlock()
	return first
}

func (g *group) AllGatherV(ctx context.Context, dst Buffer, counts []int, src Buffer) error {
	return g.simple(ctx, &Collective{Kind: KindAllGatherV, Dst: dst, Src: src, Recv: counts})
}

func (g *group) AllToAllV(ctx context.Context, dst Buffer, recv []int, src Buffer, send []int) error {
	return g.simple(ctx, &Collective{Kind: KindAllToAllV, Dst: dst, Src: src, Recv: recv, Send: send})
}

func (g *group) Reduce(ctx context.Context, dst, src Buffer, op Op, scatter bool) error {
	kind := KindAllReduce
	if scatter {
		kind = KindReduceScatter
	}
	return g.simple(ctx, &Collective{Kind: kind, Dst: dst, Src: src, Op: op})
}

func (g *group) Broadcast(ctx context.Context, buf Buffer, root int) error {
	return g.simple(ctx, &Collective{Kind: KindBroadcast, Dst: buf, Root: root})
}

func (g *group) Fence(ctx context.Context) error {
	return g.simple(ctx, &Collective{Kind: KindFence})
}

func (g *group) simple(ctx context.Context, c *Collective) error {
	return g.do(ctx, c, func(ctx context.Context) error { return g.transport.Run(ctx, c) })
}

func (g *group) Split(ctx context.Context, color, key int) (Comm, error) {
	var sub *group
	c := &Collective{Kind: KindSplit, Color: color, Key: key}
	err := g.do(ctx, c, func(ctx context.Context) error {
		// The ranks tell each other color and key.
		all := make([]int64, 2*g.size)
		counts := make([]int, g.size)
		for i := range counts {
			counts[i] = 2
		}
		announce := &Collective{Kind: KindAllGatherV, Number: c.Number, Recv: counts, Dst: Host(all), Src: Host([]int64{int64(color), int64(key)})}
		if err := g.transport.Run(ctx, announce); err != nil {
			return err
		}
		members := membersOf(all, color)
		p, err := g.transport.Split(ctx, c, members)
		if err != nil || color < 0 {
			return err
		}
		sub = newGroup(p, 0, len(members), g.life)
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
	g.life.Fail(&RankError{Rank: g.rank, Host: g.host, Cause: cause})
	g.transport.Abort()
}

func (g *group) Close() error {
	g.state.Lock()
	was := g.closed
	g.closed = true
	g.state.Unlock()
	if was {
		return nil
	}
	return g.transport.Close()
}
