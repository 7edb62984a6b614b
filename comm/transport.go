package comm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Transport moves the data of one rank. [NewComm] makes a Comm of it, which checks arguments,
// numbers the collectives, keeps the deadline and the ledger, and calls one method at a time.
// Packages comm/procs and comm/nccl have transports.
type Transport interface {
	// Lacks reports whether the transport cannot do a reduction. The answer is the same on all
	// ranks.
	Lacks(c *Collective) bool
	// Run does a collective. An error ends the group: a *RankError if the transport knows which
	// rank failed, else the rank itself did. When ctx is done it returns at once.
	Run(ctx context.Context, c *Collective) error
	// Split makes the transport of the new group; members are its ranks in this group. It returns
	// nil to a rank of a negative color.
	Split(ctx context.Context, c *Collective, members []int) (Transport, error)
	// Abort stops the library's work on this rank; the life of the group is over.
	Abort()
	// Close releases the transport.
	Close() error
	// MovesDeviceMemory reports whether buffers may be on a device.
	MovesDeviceMemory() bool
}

// Life is what the ranks of a process in one group, and in the groups split from it, have in
// common: the options, and whether they work or what ended them. The zero Life has ended.
type Life struct {
	opt      options
	ctx      context.Context // done when the group failed
	end      context.CancelCauseFunc
	announce func(*RankError) *RankError // tells other processes, returns the failure that counts; or nil
	once     sync.Once
}

// NewLife returns the life of a new group.
func NewLife(opts ...Option) *Life {
	l := &Life{opt: gather(opts)}
	l.ctx, l.end = context.WithCancelCause(context.Background())
	return l
}

// errNoLife is the error of a zero Life.
var errNoLife = &RankError{Rank: -1, Cause: &ArgumentError{"Life", "the life", "is zero", "make one by NewLife"}}

// ended is the context of a zero Life.
func ended() context.Context {
	noLife.Do(func() {
		ctx, cancel := context.WithCancelCause(context.Background())
		cancel(errNoLife)
		noLife.ctx = ctx
	})
	return noLife.ctx
}

var noLife struct {
	sync.Once
	ctx context.Context
}

// Context returns a context that is done when the group has failed.
func (l *Life) Context() context.Context {
	if l == nil || l.ctx == nil {
		return ended()
	}
	return l.ctx
}

// Timeout returns the longest time of a collective.
func (l *Life) Timeout() time.Duration {
	if l == nil || l.ctx == nil {
		return DefaultTimeout
	}
	return l.opt.timeout
}

// Checks reports whether the ranks compare their collectives; see [Check].
func (l *Life) Checks() bool { return l != nil && l.opt.check }

// Failure returns what ended the group, or nil.
func (l *Life) Failure() *RankError {
	var r *RankError
	if errors.As(context.Cause(l.Context()), &r) {
		return r
	}
	return nil
}

// Tell sets what makes a failure known to other processes. It returns the failure that counts. Tell
// is called before the first collective.
func (l *Life) Tell(f func(*RankError) *RankError) {
	if l != nil {
		l.announce = f
	}
}

// Fail ends the group, and returns the failure that counts.
func (l *Life) Fail(e *RankError) *RankError {
	if l == nil || l.ctx == nil {
		return errNoLife
	}
	if e == nil {
		e = &RankError{Rank: -1, Cause: errors.New("failed without a cause")}
	}
	l.once.Do(func() {
		if l.announce != nil {
			e = l.announce(e)
		}
		l.end(e)
	})
	<-l.ctx.Done()
	return l.Failure()
}

// NewComm returns the Comm of a transport: rank of size ranks. host is the host of the process, for
// errors, "" in one process.
func NewComm(t Transport, rank, size int, l *Life, host string) (Comm, error) {
	bad := func(arg, reason, remedy string) error { return &ArgumentError{"NewComm", arg, reason, remedy} }
	switch {
	case t == nil:
		return nil, bad("t", "is nil", "give a transport")
	case l == nil || l.ctx == nil:
		return nil, bad("l", "is zero", "make one by NewLife")
	case rank < 0 || rank >= size:
		return nil, bad("rank", fmt.Sprintf("is %d of %d", rank, size), "give a rank of 0 … size−1")
	}
	g := newGroup(t, rank, size, l)
	g.host = host
	return g, nil
}

// InProcess returns the group of the transports of this process, one for each rank in order. The
// ranks meet before each collective, which verifies that they agree and lets them begin together.
func InProcess(ranks []Transport, l *Life) ([]Comm, error) {
	if len(ranks) == 0 {
		return nil, &ArgumentError{"InProcess", "ranks", "is empty", "give one transport for each rank"}
	}
	h := newHub(len(ranks), l)
	out := make([]Comm, len(ranks))
	for r, t := range ranks {
		var err error
		if t == nil {
			return nil, &ArgumentError{"InProcess", "ranks", fmt.Sprintf("has no transport at %d", r), "give one for each rank"}
		}
		if out[r], err = NewComm(&meeting{t, h, r}, r, len(ranks), l, ""); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// meeting is a transport; its ranks meet before each collective.
type meeting struct {
	Transport
	hub  *hub
	rank int
}

func (m *meeting) Run(ctx context.Context, c *Collective) error {
	if _, err := m.hub.meet(ctx, m.rank, c); err != nil {
		return err
	}
	defer m.hub.leave()
	return m.Transport.Run(ctx, c)
}

func (m *meeting) Split(ctx context.Context, c *Collective, members []int) (Transport, error) {
	h, err := m.hub.split(ctx, m.rank, c, len(members))
	if err != nil {
		return nil, err
	}
	t, err := m.Transport.Split(ctx, c, members)
	if err != nil || t == nil {
		return nil, err
	}
	return &meeting{t, h, slices.Index(members, m.rank)}, nil
}

func (m *meeting) Close() error {
	m.hub.close(m.rank)
	return m.Transport.Close()
}
