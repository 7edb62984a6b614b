package spmd_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/comm/spmd"
	"github.com/hiveblas/hiveblas/internal/sure"
)

// everywhere runs f on p ranks that share a process, and on p ranks that are a process each. It
// returns the results of processes.
func everywhere[R any](t *testing.T, p int, wrap func(r int, c comm.Comm) comm.Comm, f func(at *comm.Group) R) map[string][]R {
	t.Helper()
	ranks := func() []comm.Comm {
		list := sure.Get(comm.Local(p, comm.Timeout(20*time.Second)))
		if wrap != nil {
			for r, c := range list {
				list[r] = wrap(r, c)
			}
		}
		return list
	}
	out := map[string][]R{fmt.Sprint(p, " in one process"): {f(sure.Get(comm.NewGroup(ranks())))}}
	list, results := ranks(), make([]R, p)
	var wait sync.WaitGroup
	for r := range list {
		wait.Go(func() { results[r] = f(sure.Get(comm.NewGroup(list[r : r+1]))) })
	}
	wait.Wait()
	out[fmt.Sprint(p, " processes")] = results
	return out
}

type record struct {
	at   int32
	word [2]float64
	on   bool
}

// list is what a rank has: as many records as its number.
func list(rank int) (own []record) {
	for i := range rank {
		own = append(own, record{int32(100*rank + i), [2]float64{float64(rank), float64(i)}, i%2 == 0})
	}
	return own
}

// collectives checks every collective on each rank of a group.
func collectives(at *comm.Group) error {
	s := spmd.Begin(context.Background(), at, "test")
	p := at.Size()
	var want []record
	counts := make([]int, p)
	for r := range p {
		want, counts[r] = append(want, list(r)...), r
	}
	own := make([][]record, len(at.Ranks()))
	for k, c := range at.Ranks() {
		own[k] = list(c.Rank())
	}
	differ := func(what string, got, want any) error {
		return fmt.Errorf("%s: %v, want %v", what, got, want)
	}
	err := s.Each(func(k int, c comm.Comm) error {
		r := c.Rank()
		if all, err := spmd.AllGatherV(s.Wait, c, own[k], counts); err != nil || !slices.Equal(all, want) {
			return errors.Join(err, differ("AllGatherV", all, want))
		}
		if all, n, err := spmd.AllGatherLists(s.Wait, c, own[k]); err != nil || !slices.Equal(all, want) || !slices.Equal(n, counts) {
			return errors.Join(err, differ("AllGatherLists", all, want))
		}
		all, err := spmd.Tell(s, c, float32(r))
		for q, x := range all {
			if x != float32(q) {
				return differ("Tell", all, "0, 1, …")
			}
		}
		if err != nil || len(all) != p {
			return errors.Join(err, differ("Tell", all, p))
		}
		// Rank r sends its list to every rank, and q+1 numbers to rank q.
		var out, in []record
		send, recv := make([]int, p), make([]int, p)
		for q := range p {
			out, send[q] = append(out, list(r)...), r
			in, recv[q] = append(in, list(q)...), q
		}
		if got, err := spmd.AllToAll(s.Wait, c, out, send, recv); err != nil || !slices.Equal(got, in) {
			return errors.Join(err, differ("AllToAll", got, in))
		}
		if got, n, err := spmd.AllToAllLists(s.Wait, c, out, send); err != nil || !slices.Equal(got, in) || !slices.Equal(n, recv) {
			return errors.Join(err, differ("AllToAllLists", got, in))
		}
		sum := []float64{1, float64(r)}
		if err := spmd.Reduce(s.Wait, c, sum, comm.Sum); err != nil || !slices.Equal(sum, []float64{float64(p), float64(p*(p-1)) / 2}) {
			return errors.Join(err, differ("Reduce", sum, p))
		}
		bits := []uint8{1 << (r % 8)}
		if err := spmd.Reduce(s.Wait, c, bits, comm.Or); err != nil || int(bits[0]) != 1<<p-1 {
			return errors.Join(err, differ("Reduce by Or", bits, 1<<p-1))
		}
		text := list(p)
		if r != p-1 {
			text = make([]record, p)
		}
		if err := spmd.Broadcast(s.Wait, c, text, p-1); err != nil || !slices.Equal(text, list(p)) {
			return errors.Join(err, differ("Broadcast", text, list(p)))
		}
		both, err := spmd.Agree(s, c, []record{{at: int32(r)}, {on: true}}, nil)
		if err != nil || len(both) != 2*p || both[2*p-2].at != int32(p-1) || !both[1].on {
			return errors.Join(err, differ("Agree", both, 2*p))
		}
		if all, err := spmd.AgreeV(s, c, own[k], counts, nil); err != nil || !slices.Equal(all, want) {
			return errors.Join(err, differ("AgreeV", all, want))
		}
		var argument *comm.ArgumentError
		if _, err := spmd.AgreeV(s, c, list(r+1), counts, nil); !errors.As(err, &argument) {
			return differ("AgreeV of a list that is too long", err, argument)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if all, err := spmd.GatherAllV(s, own, counts); err != nil || !slices.Equal(all, want) {
		return errors.Join(err, differ("GatherAllV", all, want))
	}
	if all, n, err := spmd.GatherAllLists(s, own); err != nil || !slices.Equal(all, want) || !slices.Equal(n, counts) {
		return errors.Join(err, differ("GatherAllLists", all, want))
	}
	numbers := make([][]int64, len(own))
	for k, c := range at.Ranks() {
		numbers[k] = []int64{int64(c.Rank()), 1}
	}
	if all, err := spmd.GatherAll(s, numbers); err != nil || len(all) != 2*p || all[2*p-2] != int64(p-1) {
		return errors.Join(err, differ("GatherAll", all, p))
	}
	if err := spmd.ReduceAll(s, numbers, comm.Max); err != nil || numbers[0][0] != int64(p-1) || numbers[0][1] != 1 {
		return errors.Join(err, differ("ReduceAll", numbers[0], p-1))
	}
	return nil
}

func TestCollectives(t *testing.T) {
	t.Parallel()
	for _, p := range []int{1, 2, 3, 4, 7} {
		for where, errs := range everywhere(t, p, nil, collectives) {
			for r, err := range errs {
				if err != nil {
					t.Errorf("%s: %d: %v", where, r, err)
				}
			}
		}
	}
}

// Each collective that fails on one rank, in each way, is the same *comm.RankError on all ranks, in
// time, whichever function of this package has called it. Later calls say that the group is closed.
func TestFaults(t *testing.T) {
	t.Parallel()
	const p = 3
	for does := comm.FaultFails; does <= comm.FaultDies; does++ {
		if does == comm.FaultLate || does == comm.FaultDies { // no failure; the end of a goroutine
			continue
		}
		t.Run(fmt.Sprint("misdeed ", does), func(t *testing.T) {
			t.Parallel()
			for call := uint64(1); ; call++ {
				reached := false
				wrap := func(r int, c comm.Comm) comm.Comm {
					if r != 1 {
						return c
					}
					return comm.WithFault(c, comm.Fault{Call: call, Does: does, Cause: errBroken})
				}
				for where, errs := range everywhere(t, p, wrap, func(at *comm.Group) [2]error {
					ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
					defer cancel()
					if does == comm.FaultHangs {
						ctx, cancel = context.WithTimeout(context.Background(), 100*time.Millisecond)
						defer cancel()
					}
					first := hung(ctx, at)
					return [2]error{first, hung(ctx, at)}
				}) {
					for r, err := range errs {
						var rank *comm.RankError
						switch {
						case err[0] == nil:
							continue
						case !errors.As(err[0], &rank):
							t.Fatalf("%s, collective %d: process %d returns %v", where, call, r, err[0])
						case does == comm.FaultFails && (rank.Rank != 1 || !errors.Is(err[0], errBroken)):
							t.Fatalf("%s, collective %d: process %d returns %v, want the failure of rank 1", where, call, r, err[0])
						case !errors.As(err[1], &rank) || rank.Rank != 1 && does == comm.FaultFails:
							t.Fatalf("%s, collective %d: a later call returns %v", where, call, err[1])
						}
						reached = true
					}
					if n := slices.IndexFunc(errs, func(e [2]error) bool { return e[0] == nil }); reached && n >= 0 {
						t.Fatalf("%s, collective %d: process %d has no error", where, call, n)
					}
				}
				if !reached {
					if call < 2 {
						t.Fatal("no collective failed")
					}
					break
				}
			}
		})
	}
}

var errBroken = errors.New("broken")

// hung runs one collective of each kind by a session with a context for them.
func hung(ctx context.Context, at *comm.Group) error {
	s := spmd.Begin(ctx, at, "test")
	s.Wait = ctx // as of several processes
	return s.Each(func(_ int, c comm.Comm) error {
		r := c.Rank()
		if _, err := spmd.Agree(s, c, []int64{int64(r)}, nil); err != nil {
			return err
		}
		if _, _, err := spmd.AllGatherLists(s.Wait, c, list(r+1)); err != nil {
			return err
		}
		ones := slices.Repeat([]int{1}, c.Size())
		if _, _, err := spmd.AllToAllLists(s.Wait, c, ones, ones); err != nil {
			return err
		}
		if err := spmd.Reduce(s.Wait, c, []int32{1, 2}, comm.Sum); err != nil {
			return err
		}
		return spmd.Broadcast(s.Wait, c, []float64{1}, 0)
	})
}

// An error of local work is one error on all ranks, and leaves the group as it was.
func TestAgree(t *testing.T) {
	t.Parallel()
	for _, p := range []int{1, 2, 4} {
		for _, what := range []string{"fails", "ends", "both"} {
			for where, errs := range everywhere(t, p, nil, func(at *comm.Group) error {
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				s := spmd.Begin(ctx, at, "test")
				err := s.Each(func(k int, c comm.Comm) error {
					for step := range 5 {
						var local error
						if c.Rank() == p-1 && step == 3 {
							if what != "ends" {
								local = fmt.Errorf("step %d: %w", step, errBroken)
							}
							if what != "fails" {
								cancel()
							}
						}
						if all, err := spmd.Agree(s, c, []int{step}, local); err != nil {
							return err
						} else if len(all) != p || all[0] != step {
							return fmt.Errorf("step %d: %v", step, all)
						}
					}
					return errors.New("the steps have not ended")
				})
				if what != "fails" && len(at.Ranks()) < p { // a collective has returned the end of its context
					return err
				}
				if after := collectives(at); after != nil {
					return fmt.Errorf("afterwards: %w", after)
				}
				return err
			}) {
				for r, err := range errs {
					var rank *comm.RankError
					own := len(errs) == 1 || r == p-1 // the process with the rank that fails
					if what != "fails" && len(errs) > 1 {
						if !errors.Is(err, context.Canceled) {
							t.Errorf("%s, %s: process %d returns %v", where, what, r, err)
						}
						continue
					}
					switch {
					case what == "ends" && !errors.Is(err, context.Canceled),
						what != "ends" && own && !errors.Is(err, errBroken),
						what != "ends" && (err == nil || !strings.Contains(err.Error(), "step 3: broken")),
						p > 1 && what == "fails" && (!errors.As(err, &rank) || rank.Rank != p-1),
						p > 1 && !own && (!errors.As(err, &rank) || rank.Rank != p-1):
						t.Errorf("%s, %s: process %d returns %v", where, what, r, err)
					}
				}
			}
		}
	}
}

// An error in Apart stops the other ranks, is one error on all, and ends a group of processes.
func TestApart(t *testing.T) {
	t.Parallel()
	for _, p := range []int{1, 2, 3} {
		for where, errs := range everywhere(t, p, nil, func(at *comm.Group) error {
			s := spmd.Begin(nil, at, "test")
			if err := s.Apart(func(context.Context, int, comm.Comm) error { return nil }); err != nil {
				return err
			}
			err := s.Apart(func(ctx context.Context, k int, c comm.Comm) error {
				if c.Rank() == p-1 {
					return errBroken
				}
				<-ctx.Done()
				return ctx.Err()
			})
			if len(at.Ranks()) == p {
				if after := collectives(at); after != nil {
					return fmt.Errorf("afterwards: %w", after)
				}
			} else if p > 1 && at.Ranks()[0].Err() == nil {
				return errors.New("the group of processes goes on")
			}
			return err
		}) {
			for r, err := range errs {
				var rank *comm.RankError
				if !errors.Is(err, errBroken) || p > 1 && (!errors.As(err, &rank) || rank.Rank != p-1) {
					t.Errorf("%s: process %d returns %v", where, r, err)
				}
			}
		}
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	s := spmd.Begin(ended, sure.Get(comm.LocalGroup(2)), "test")
	if err := s.Apart(func(ctx context.Context, _ int, _ comm.Comm) error { return ctx.Err() }); err != context.Canceled {
		t.Errorf("a context that has ended: %v", err)
	}
}

// An error that all processes find leaves the group intact, another one ends it.
func TestOnce(t *testing.T) {
	t.Parallel()
	common := func(err error) bool { return errors.Is(err, comm.ErrArgument) }
	for where, errs := range everywhere(t, 2, nil, func(at *comm.Group) error {
		s := spmd.Begin(nil, at, "test")
		calls := 0
		if err := s.Once(func() error { calls++; return nil }, common); err != nil || calls != 1 {
			return fmt.Errorf("%d calls: %w", calls, err)
		}
		if err := s.Once(func() error { return &comm.ArgumentError{} }, common); !common(err) {
			return err
		}
		if err := collectives(at); err != nil {
			return fmt.Errorf("after an error in common: %w", err)
		}
		return s.Once(func() error {
			if at.First() {
				return errBroken
			}
			return nil
		}, common)
	}) {
		if !errors.Is(errs[0], errBroken) {
			t.Errorf("%s: %v", where, errs)
		}
		if len(errs) > 1 && errs[1] != nil {
			t.Errorf("%s: a process without an error returns %v", where, errs[1])
		}
	}
}

func TestArguments(t *testing.T) {
	t.Parallel()
	at := sure.Get(comm.LocalGroup(2))
	s := spmd.Begin(nil, at, "test")
	bad := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, comm.ErrArgument) {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, err := spmd.GatherAll(s, [][]int{{1}})
	bad("a list for one of two ranks", err)
	_, err = spmd.GatherAll(s, [][]string{{"a"}, {"b"}})
	bad("strings", err)
	at = sure.Get(comm.LocalGroup(2))
	_, err = spmd.GatherAll(spmd.Begin(nil, at, "test"), [][]struct{ p *int }{{{}}, {{}}})
	bad("pointers", err)
	_, err = spmd.AllGather(nil, nil, []int{1})
	bad("no rank", err)
	bad("no group", spmd.Begin(nil, nil, "test").Each(func(int, comm.Comm) error { return nil }))
	bad("no group, apart", spmd.Begin(nil, nil, "test").Apart(func(context.Context, int, comm.Comm) error { return nil }))
	var none *spmd.Session
	bad("no session", none.Each(func(int, comm.Comm) error { return nil }))
}

func TestCuts(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		n            int64
		p            int
		align, least int64
		want         []int64
		reason       string
	}{
		{10, 3, 1, 1, []int64{0, 3, 6, 10}, "evenly"},
		{2, 4, 1, 1, []int64{0, 1, 2, 2, 2}, "fewer items than ranks"},
		{0, 2, 1, 1, []int64{0, 0, 0}, "nothing"},
		{2500, 2, 1024, 1, []int64{0, 1024, 2500}, "multiples of 1024"},
		{10, 3, 1, 6, []int64{0, 10, 10, 10}, "less than the threshold for two"},
		{-1, 0, 0, 0, []int64{0, 0}, "no ranks"},
	} {
		if got := spmd.CutEvenly(tc.n, tc.p, tc.align, tc.least); !slices.Equal(got, tc.want) {
			t.Errorf("%s: %v, want %v", tc.reason, got, tc.want)
		}
	}
	for _, tc := range []struct {
		work   []int64
		p      int
		want   []int64
		reason string
	}{
		{[]int64{0, 1, 2, 3, 4}, 2, []int64{0, 2, 4}, "evenly"},
		{[]int64{0, 8, 9, 10}, 2, []int64{0, 1, 3}, "a heavy item"},
		{[]int64{0}, 3, []int64{0, 0, 0, 0}, "nothing"},
		{[]int64{0, 0, 0}, 2, []int64{0, 2, 2}, "no work"},
		{nil, 0, []int64{0, 0}, "no sums, no ranks"},
	} {
		if got := spmd.CutByWork(tc.work, tc.p, 1); !slices.Equal(got, tc.want) {
			t.Errorf("%s: %v, want %v", tc.reason, got, tc.want)
		}
	}
	if u := spmd.Unevenness([]int64{0, 1, 4}, func(lo, hi int64) int64 { return hi - lo }); u != 1.5 {
		t.Errorf("unevenness %v, want 1.5", u)
	}
}
