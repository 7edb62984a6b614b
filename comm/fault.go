package comm

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/hiveblas/hiveblas/comm/internal/ranks"
)

// Misdeed is what a Fault does.
type Misdeed uint8

// The misdeeds.
const (
	// FaultFails makes the call fail with Cause.
	FaultFails Misdeed = iota
	// FaultLate makes the call begin after Delay.
	FaultLate
	// FaultHangs never makes the call; it returns when the group has failed or ctx is done.
	FaultHangs
	// FaultOtherOp makes another collective in place of the call.
	FaultOtherOp
	// FaultOtherSize makes the call with one element fewer, or another collective if there is none.
	FaultOtherSize
	// FaultDies calls Die, which ends the process, or without Die ends the goroutine.
	FaultDies
	misdeeds
)

// Fault is an error to inject.
type Fault struct {
	Call    uint64 // the collective that goes wrong, counted from 1, split groups included
	Does    Misdeed
	Cause   error         // of FaultFails
	Delay   time.Duration // of FaultLate
	Die     func()        // of FaultDies
	counter *atomic.Uint64
}

// ErrInjected is the cause of a Fault that gives none.
var ErrInjected = errors.New("injected fault")

// WithFault returns a c in which call number f.Call, and no other, goes wrong as f says. It is for
// tests: wrap the handle of one rank. A nil c stays nil.
func WithFault(c Comm, f Fault) Comm {
	if c == nil {
		return nil
	}
	if f.counter == nil {
		f.counter = new(atomic.Uint64)
	}
	return &faulty{c, f}
}

type faulty struct {
	Comm
	f Fault
}

// due counts a call, and reports whether it is the one. It does what needs no arguments.
func (f *faulty) due(ctx context.Context, kind Kind) (due bool, err error) {
	if f.f.counter.Add(1) != f.f.Call || f.f.Does >= misdeeds {
		return false, nil
	}
	switch f.f.Does {
	case FaultFails:
		cause := f.f.Cause
		if cause == nil {
			cause = ErrInjected
		}
		return true, f.fail(kind, cause)
	case FaultLate:
		time.Sleep(f.f.Delay)
		return false, nil
	case FaultHangs:
		if ctx == nil {
			ctx = context.Background()
		}
		select {
		case <-f.Done():
		case <-ctx.Done():
			return true, f.fail(kind, ctx.Err())
		}
		return true, f.Err()
	case FaultDies:
		if f.f.Die == nil {
			runtime.Goexit()
		}
		f.f.Die()
	case FaultOtherOp:
		return true, f.wrongKind(ctx, kind)
	}
	return true, nil
}

// fail ends the group by an error in a collective of this rank.
func (f *faulty) fail(kind Kind, cause error) error {
	c := f.Comm
	for {
		inner, ok := c.(*faulty)
		if !ok {
			break
		}
		c = inner.Comm
	}
	g, ok := c.(*group)
	if !ok {
		f.Abort(cause)
		return f.Err()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.number++
	return g.fail(&Collective{Kind: kind, Number: g.number}, time.Now(), cause)
}

// wrongKind makes a collective of another kind.
func (f *faulty) wrongKind(ctx context.Context, kind Kind) error {
	if kind != KindFence {
		return f.Comm.Fence(ctx)
	}
	return f.Comm.Broadcast(ctx, Host(make([]byte, 1)), 0)
}

func (f *faulty) AllGatherV(ctx context.Context, dst Buffer, counts []int, src Buffer) error {
	if due, err := f.due(ctx, KindAllGatherV); err != nil || due && f.f.Does != FaultOtherSize {
		return err
	} else if due {
		i := slices.IndexFunc(counts, func(n int) bool { return n > 0 })
		if i < 0 {
			return f.wrongKind(ctx, KindAllGatherV)
		}
		counts = slices.Clone(counts)
		counts[i]--
		dst = dst.Slice(0, dst.n-1)
		if i == f.Rank() {
			src = src.Slice(0, src.n-1)
		}
		if src.Overlaps(dst) { // in place
			at := int(ranks.Sum(counts[:f.Rank()]))
			src = dst.Slice(at, at+counts[f.Rank()])
		}
	}
	return f.Comm.AllGatherV(ctx, dst, counts, src)
}

func (f *faulty) AllToAllV(ctx context.Context, dst Buffer, recv []int, src Buffer, send []int) error {
	if due, err := f.due(ctx, KindAllToAllV); err != nil || due && f.f.Does != FaultOtherSize {
		return err
	} else if due {
		i := -1
		for j, n := range send {
			if n > 0 && j != f.Rank() {
				i = j
			}
		}
		if i < 0 {
			return f.wrongKind(ctx, KindAllToAllV)
		}
		send = slices.Clone(send)
		send[i]--
		src = src.Slice(0, src.n-1)
	}
	return f.Comm.AllToAllV(ctx, dst, recv, src, send)
}

func (f *faulty) Reduce(ctx context.Context, dst, src Buffer, op Op, scatter bool) error {
	kind := KindAllReduce
	if scatter {
		kind = KindReduceScatter
	}
	if due, err := f.due(ctx, kind); err != nil || due && f.f.Does != FaultOtherSize {
		return err
	} else if due {
		if dst.n == 0 || src.n == 0 || scatter && src.Overlaps(dst) {
			return f.wrongKind(ctx, kind)
		}
		dst = dst.Slice(0, dst.n-1)
		if scatter {
			src = src.Slice(0, src.n-f.Size())
		} else {
			src = src.Slice(0, src.n-1)
		}
	}
	return f.Comm.Reduce(ctx, dst, src, op, scatter)
}

func (f *faulty) Broadcast(ctx context.Context, buf Buffer, root int) error {
	if due, err := f.due(ctx, KindBroadcast); err != nil || due && f.f.Does != FaultOtherSize {
		return err
	} else if due {
		if buf.n == 0 {
			return f.wrongKind(ctx, KindBroadcast)
		}
		buf = buf.Slice(0, buf.n-1)
	}
	return f.Comm.Broadcast(ctx, buf, root)
}

func (f *faulty) Fence(ctx context.Context) error {
	if due, err := f.due(ctx, KindFence); err != nil || due && f.f.Does != FaultOtherSize {
		return err
	} else if due {
		return f.wrongKind(ctx, KindFence)
	}
	return f.Comm.Fence(ctx)
}

func (f *faulty) Split(ctx context.Context, color, key int) (Comm, error) {
	if due, err := f.due(ctx, KindSplit); err != nil || due && f.f.Does != FaultOtherSize {
		return nil, err
	} else if due {
		return nil, f.wrongKind(ctx, KindSplit)
	}
	c, err := f.Comm.Split(ctx, color, key)
	return WithFault(c, f.f), err
}
