package comm_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/internal/commtest"
	"github.com/hiveblas/hiveblas/internal/sure"
)

// local returns ranks that broadcast in pieces from 64 bytes on.
func local(t *testing.T, p int, opts ...comm.Option) []comm.Comm {
	t.Helper()
	group := sure.Get(comm.Local(p, append(opts, comm.Pieces(64))...))
	return group
}

func TestLocal(t *testing.T) {
	t.Parallel()
	for _, p := range []int{1, 2, 3, 4, 7, 8} {
		t.Run(fmt.Sprint(p), func(t *testing.T) {
			t.Parallel()
			for _, err := range commtest.Each(local(t, p), func(c comm.Comm) error {
				defer c.Close()
				return commtest.Check(context.Background(), c, commtest.Options{Large: 300})
			}) {
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	t.Run("delays", func(t *testing.T) {
		t.Parallel()
		for _, err := range commtest.Each(local(t, 3, comm.Delays(7, 20*time.Microsecond)), func(c comm.Comm) error {
			return commtest.Check(context.Background(), c, commtest.Options{Large: 8})
		}) {
			if err != nil {
				t.Error(err)
			}
		}
	})
}

// TestFaults: every rank returns the same RankError, which names the rank, the collective and the
// cause, and no goroutine remains.
func TestFaults(t *testing.T) {
	t.Parallel()
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	for _, tc := range []struct {
		reason string
		fault  comm.Fault
		cause  error
		blamed bool // the cause is known to be the rank's
	}{
		{"fails", comm.Fault{Does: comm.FaultFails}, comm.ErrInjected, true},
		{"fails with a cause", comm.Fault{Does: comm.FaultFails, Cause: canceled.Err()}, context.Canceled, true},
		{"hangs", comm.Fault{Does: comm.FaultHangs}, comm.ErrTimeout, true},
		{"dies", comm.Fault{Does: comm.FaultDies}, comm.ErrTimeout, true},
		{"another collective", comm.Fault{Does: comm.FaultOtherOp}, comm.ErrMismatch, true},
		{"another size", comm.Fault{Does: comm.FaultOtherSize}, comm.ErrMismatch, true},
	} {
		for _, p := range []int{3, 4} {
			for call := uint64(1); call <= 5; call++ {
				t.Run(fmt.Sprint(tc.reason, " of ", p, " at ", call), func(t *testing.T) {
					t.Parallel()
					timeout := time.Minute // a rank that waits for a processor shall not exceed it
					if errors.Is(tc.cause, comm.ErrTimeout) {
						timeout = 250 * time.Millisecond
					}
					group := local(t, p, comm.Timeout(timeout))
					bad := int(call) % p
					fault := tc.fault
					fault.Call = call + 10
					group[bad] = comm.WithFault(group[bad], fault)
					errs := commtest.Each(group, func(c comm.Comm) error { return commtest.Work(context.Background(), c) })
					var first *comm.RankError
					for r, err := range errs {
						if err == commtest.ErrEnded && r == bad && fault.Does == comm.FaultDies {
							continue
						}
						var e *comm.RankError
						if !errors.As(err, &e) || !errors.Is(err, tc.cause) {
							t.Fatalf("rank %d: %v, want a RankError of %v", r, err, tc.cause)
						}
						if first == nil {
							first = e
						}
						if e != first {
							t.Errorf("rank %d: %v, another rank: %v", r, e, first)
						}
						if e.Op == "" || e.Number != call+10 || e.Elapsed <= 0 {
							t.Errorf("rank %d: collective %q, number %d, %v", r, e.Op, e.Number, e.Elapsed)
						}
						if e.Rank != bad {
							t.Errorf("rank %d blames %d, want %d: %v", r, e.Rank, bad, e)
						}
					}
					for r, c := range group {
						err := c.Fence(context.Background())
						if r == bad && (fault.Does == comm.FaultDies || fault.Does == comm.FaultHangs) {
							err = c.Fence(context.Background()) // the first call returns the failure
						}
						if !errors.Is(err, comm.ErrGroupClosed) || !errors.Is(err, tc.cause) {
							t.Errorf("after the failure: %v", err)
						}
						if c.Err() == nil {
							t.Error("Err is nil")
						}
						if err := c.Close(); err != nil {
							t.Error(err)
						}
					}
				})
			}
		}
	}
}

func TestFaultLate(t *testing.T) {
	t.Parallel()
	group := local(t, 3)
	group[1] = comm.WithFault(group[1], comm.Fault{Call: 7, Does: comm.FaultLate, Delay: 5 * time.Millisecond})
	for _, err := range commtest.Each(group, func(c comm.Comm) error { return commtest.Work(context.Background(), c) }) {
		if err != nil {
			t.Error(err)
		}
	}
}

// TestCancel: a cancelled context of one rank ends the collective on all.
func TestCancel(t *testing.T) {
	t.Parallel()
	group := local(t, 3)
	ctx, cancel := context.WithCancel(context.Background())
	errs := commtest.Each(group, func(c comm.Comm) error {
		switch c.Rank() {
		case 2: // never calls
			<-c.Done()
			return c.Err()
		case 1:
			time.AfterFunc(5*time.Millisecond, cancel)
			return c.Fence(ctx)
		}
		return c.Fence(context.Background())
	})
	for r, err := range errs {
		var e *comm.RankError
		if !errors.As(err, &e) || e.Rank != 1 || !errors.Is(err, context.Canceled) {
			t.Errorf("rank %d: %v", r, err)
		}
	}
}

// TestDeadline: a deadline of the caller is a timeout, and blames the missing rank.
func TestDeadline(t *testing.T) {
	t.Parallel()
	group := local(t, 2)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Millisecond)
	defer cancel()
	err := group[0].Fence(ctx)
	var e *comm.RankError
	if !errors.As(err, &e) || e.Rank != 1 || !errors.Is(err, comm.ErrTimeout) || !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if !strings.Contains(err.Error(), "rank 1 failed in Fence, collective 1") {
		t.Error(err)
	}
}

func TestAbortAndClose(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	group := local(t, 2)
	time.AfterFunc(2*time.Millisecond, func() { group[1].Abort(boom) })
	err := group[0].Fence(context.Background())
	var e *comm.RankError
	if !errors.As(err, &e) || e.Rank != 1 || !errors.Is(err, boom) {
		t.Error(err)
	}
	// A failure in a part of the group ends the whole.
	group = local(t, 3)
	errs := commtest.Each(group, func(c comm.Comm) error {
		sub, err := c.Split(context.Background(), min(c.Rank(), 1), 0)
		if err != nil {
			return err
		}
		if c.Rank() == 0 {
			return c.Fence(context.Background())
		}
		if c.Rank() == 2 {
			sub.Abort(boom)
		}
		return sub.Fence(context.Background())
	})
	for r, err := range errs {
		if !errors.Is(err, boom) {
			t.Errorf("rank %d: %v", r, err)
		}
	}
	// A rank that closed the group is missing.
	group = local(t, 2)
	time.AfterFunc(2*time.Millisecond, func() { group[1].Close() })
	err = group[0].Fence(context.Background())
	if !errors.As(err, &e) || e.Rank != 1 || !errors.Is(err, comm.ErrGroupClosed) {
		t.Error(err)
	}
	group = local(t, 1)
	if err := errors.Join(group[0].Close(), group[0].Close()); err != nil {
		t.Error(err)
	}
	if err := group[0].Fence(context.Background()); !errors.Is(err, comm.ErrGroupClosed) {
		t.Error(err)
	}
}

func TestArguments(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	four := make([]int32, 4)
	b := comm.Host(four)
	for _, tc := range []struct {
		reason string
		call   func(c comm.Comm) error
		arg    string
	}{
		{"too few counts", func(c comm.Comm) error { return c.AllGatherV(ctx, b, []int{4}, b) }, "counts"},
		{"a negative count", func(c comm.Comm) error { return c.AllGatherV(ctx, b, []int{5, -1}, b) }, "counts"},
		{"dst too short", func(c comm.Comm) error { return c.AllGatherV(ctx, b, []int{4, 4}, b) }, "dst"},
		{"src too long", func(c comm.Comm) error { return c.AllGatherV(ctx, b, []int{2, 2}, b) }, "src"},
		{"types", func(c comm.Comm) error {
			return c.AllGatherV(ctx, b, []int{2, 2}, comm.Host(make([]float32, 2)))
		}, "src"},
		{"wrong block of dst", func(c comm.Comm) error {
			return c.AllGatherV(ctx, b, []int{2, 2}, b.Slice(1, 3))
		}, "src"},
		{"overlap", func(c comm.Comm) error { return c.AllToAllV(ctx, b, []int{2, 2}, b, []int{2, 2}) }, "src"},
		{"own counts", func(c comm.Comm) error {
			return c.AllToAllV(ctx, b, []int{1, 3}, comm.Host(make([]int32, 4)), []int{2, 2})
		}, "recv"},
		{"nil memory", func(c comm.Comm) error { return c.Broadcast(ctx, comm.HostAt(nil, comm.Int8, 3), 0) }, "dst"},
		{"negative length", func(c comm.Comm) error { return c.Broadcast(ctx, comm.HostAt(nil, comm.Int8, -3), 0) }, "dst"},
		{"unknown type", func(c comm.Comm) error { return c.Broadcast(ctx, comm.HostAt(nil, 77, 0), 0) }, "dst"},
		{"root", func(c comm.Comm) error { return c.Broadcast(ctx, b, 2) }, "root"},
		{"lengths of Reduce", func(c comm.Comm) error { return c.Reduce(ctx, b.Slice(0, 1), b, comm.Sum, false) }, "dst"},
		{"lengths of scatter", func(c comm.Comm) error { return c.Reduce(ctx, b, b, comm.Sum, true) }, "src"},
	} {
		group := local(t, 2)
		err := tc.call(group[0])
		var a *comm.ArgumentError
		var e *comm.RankError
		if !errors.As(err, &a) || a.Arg != tc.arg || a.Remedy == "" || !errors.Is(err, comm.ErrArgument) || !errors.As(err, &e) || e.Rank != 0 {
			t.Errorf("%s: %v", tc.reason, err)
		}
		if err := group[1].Fence(ctx); !errors.Is(err, comm.ErrArgument) {
			t.Errorf("%s: the other rank: %v", tc.reason, err)
		}
	}
	for _, p := range []int{0, -1, 1<<16 + 1} {
		if _, err := comm.Local(p); !errors.Is(err, comm.ErrArgument) {
			t.Errorf("Local(%d): %v", p, err)
		}
	}
	group := local(t, 2)
	if err := group[0].Broadcast(ctx, comm.OnDevice(4096, comm.Int8, 3), 0); err == nil {
		_ = group[1]
		t.Error("a device buffer was accepted")
	}
}

// TestNoOp: operators without a meaning leave the group intact.
func TestNoOp(t *testing.T) {
	t.Parallel()
	x := comm.Host(make([]float64, 3))
	for _, err := range commtest.Each(local(t, 2), func(c comm.Comm) error {
		if err := c.Reduce(context.Background(), x, x, comm.Or, false); !errors.Is(err, comm.ErrNoOp) {
			return fmt.Errorf("%v, want ErrNoOp", err)
		}
		if err := c.Reduce(context.Background(), x, x, comm.Op(99), false); !errors.Is(err, comm.ErrNoOp) {
			return fmt.Errorf("%v, want ErrNoOp", err)
		}
		return c.Fence(context.Background())
	}) {
		if err != nil {
			t.Error(err)
		}
	}
}

func TestLedgerCalls(t *testing.T) {
	t.Parallel()
	group := local(t, 4, comm.KeepCalls())
	for _, err := range commtest.Each(group, func(c comm.Comm) error {
		if err := c.Broadcast(context.Background(), comm.Host(make([]float64, 10)), 1); err != nil {
			return err
		}
		x := comm.Host(make([]float32, 8))
		return c.Reduce(context.Background(), x, x, comm.Max, false)
	}) {
		if err != nil {
			t.Error(err)
		}
	}
	calls := group[1].Ledger().Calls()
	want := []comm.Call{{Kind: comm.KindBroadcast, Ranks: 4, Out: 240}, {Kind: comm.KindAllReduce, Ranks: 4, In: 48, Out: 48}}
	if len(calls) != 2 || calls[0] != want[0] || calls[1] != want[1] {
		t.Errorf("%+v, want %+v", calls, want)
	}
}

// TestTypes: named types and int travel as their size.
func TestTypes(t *testing.T) {
	type weight float32
	type id int
	type flag bool
	if comm.TypeOf[weight]() != comm.Float32 || comm.TypeOf[id]() != comm.Int64 || comm.TypeOf[flag]() != comm.Uint8 ||
		comm.TypeOf[uint16]() != comm.Uint16 || comm.TypeOf[int8]() != comm.Int8 {
		t.Error("a type is wrong")
	}
	b := comm.Host([]weight{1, 2, 3})
	if b.Len() != 3 || b.Size() != 12 || b.Slice(1, 3).Len() != 2 || b.Slice(2, 9).Len() != 0 || !b.OnHost() {
		t.Error("a buffer is wrong")
	}
	if d := comm.OnDevice(1024, comm.Int16, 8).Slice(2, 4); d.Device() != 1028 || d.OnHost() || d.Bytes() != nil {
		t.Errorf("%+v", d)
	}
}

// TestGoroutines: groups start none.
func TestGoroutines(t *testing.T) {
	before := runtime.NumGoroutine()
	for _, err := range commtest.Each(local(t, 8), func(c comm.Comm) error { return commtest.Work(context.Background(), c) }) {
		if err != nil {
			t.Error(err)
		}
	}
	after := 0
	for range 200 { // goroutines that have done their work may take a moment to end
		if after = runtime.NumGoroutine(); after <= before {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Errorf("%d goroutines, before %d", after, before)
}
