package spmd

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/hiveblas/hiveblas/comm"
)

// A Session is one run on a group. All processes of the group begin it alike. Its methods are
// called by one goroutine of a process.
type Session struct {
	Op      string          // names the run
	Group   *comm.Group     // the ranks
	Context context.Context // ends local work; nil for none
	// Wait is the context of collectives: Context where other processes would wait for the ranks of
	// this one, and nil where all ranks belong to this process, which look at Context themselves.
	Wait context.Context

	began time.Time
	mu    sync.Mutex
	end   error // of Agree
}

// Begin begins a run. op names it, and a nil ctx is no context. It sends nothing.
func Begin(ctx context.Context, g *comm.Group, op string) *Session {
	return &Session{Op: op, Group: g, Context: ctx, Wait: Waiting(ctx, g), began: time.Now()}
}

// Waiting returns the context of collectives; see Session.Wait.
func Waiting(ctx context.Context, g *comm.Group) context.Context {
	if len(g.Ranks()) == g.Size() {
		return nil
	}
	return ctx
}

// Ended returns the error of the context, nil while it has not ended.
func (s *Session) Ended() error {
	if s == nil || s.Context == nil {
		return nil
	}
	return s.Context.Err()
}

// errNone returns the error of a run without a session, a group or a function.
func errNone() error { return (*comm.Group)(nil).Each(nil) }

// group returns the group, nil of a nil session.
func (s *Session) group() *comm.Group {
	if s == nil {
		return nil
	}
	return s.Group
}

// Each calls f for each rank of this process, at the same time, with its number among these. The
// calls make the same collectives. An error of f ends the group, but for the error of Agree: after
// that the group stays usable, and Each returns the error on which the ranks have agreed.
func (s *Session) Each(f func(k int, c comm.Comm) error) error {
	if s == nil || f == nil {
		return errNone()
	}
	err := s.Group.Each(func(k int, c comm.Comm) error {
		err := f(k, c)
		if errors.Is(err, errStopped) {
			return nil
		}
		return err
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	err, s.end = cmp.Or(err, s.end), nil
	return err
}

// Apart calls f for each rank of this process, at the same time, with its number among these. The
// calls make no collectives. If one of them fails on any process, ctx ends on the others. Apart
// then returns the same *comm.RankError on all processes; the group of one process stays usable. An
// error of a context that has ended is returned as it is where all ranks are of this process.
func (s *Session) Apart(f func(ctx context.Context, k int, c comm.Comm) error) error {
	ranks := s.group().Ranks()
	if len(ranks) == 0 || f == nil {
		return errNone()
	}
	outer := s.Context
	if outer == nil {
		outer = context.Background()
	}
	ctx, cancel := context.WithCancel(outer)
	defer cancel()
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
	_ = s.Group.Apart(func(k int, c comm.Comm) error {
		if err := f(ctx, k, c); err != nil {
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
	return s.Fail(who, failed)
}

// Once calls f once for all ranks of this process. An error that all processes find, such as an
// invalid argument, leaves the group intact; common reports whether an error is one of those. A nil
// common is none.
func (s *Session) Once(f func() error, common func(error) bool) error {
	if s == nil || f == nil {
		return errNone()
	}
	err := f()
	if ranks := s.Group.Ranks(); err != nil && len(ranks) < s.Group.Size() && (common == nil || !common(err)) {
		return s.Fail(ranks[0], err)
	}
	return err
}

// Fail returns the error of all ranks after local work of rank who has failed, and ends a group of
// several processes.
func (s *Session) Fail(who comm.Comm, failed error) error {
	if who == nil || failed == nil {
		return failed
	}
	if err := who.Err(); err != nil {
		return err
	}
	if g := s.group(); g.Size() > len(g.Ranks()) {
		who.Abort(failed)
		return who.Err()
	}
	return s.lostAt(who.Rank(), failed)
}

// lostAt returns the error of a run in which local work of a rank has failed.
func (s *Session) lostAt(rank int, err error) error {
	if s.group().Size() == 1 || s.Ended() != nil {
		return err
	}
	return &comm.RankError{Rank: rank, Cause: err, Elapsed: time.Since(s.began)}
}

// errStopped is the error of Agree on all ranks.
var errStopped = errors.New("the ranks have agreed to stop")

// What a rank tells in Agree.
const (
	fine = iota
	ended
	failed
)

// Agree gives all ranks the list of each, in the order of ranks, unless the context has ended on
// one or local is an error of its work. Then all ranks get an error, which f of Each returns: the
// ranks stop, and the group stays usable. The lists have equal lengths. It is a collective of
// 8 bytes more than the lists, and in a failure of the text of the error.
func Agree[E any](s *Session, c comm.Comm, own []E, local error) ([]E, error) {
	if s == nil || c == nil {
		return nil, errNone()
	}
	return AgreeV(s, c, own, slices.Repeat([]int{len(own)}, c.Size()), local)
}

// AgreeV is Agree for lists of the lengths counts, which all ranks know.
func AgreeV[E any](s *Session, c comm.Comm, own []E, counts []int, local error) ([]E, error) {
	if s == nil || c == nil {
		return nil, errNone()
	}
	if len(counts) != c.Size() || slices.Min(counts) < 0 || counts[c.Rank()] != len(own) {
		return nil, &comm.ArgumentError{Op: "AgreeV", Arg: "counts", Reason: fmt.Sprintf("is %v on rank %d of %d with %d items", counts, c.Rank(), c.Size(), len(own)),
			Remedy: "give the length of the list of each rank"}
	}
	state := int64(fine)
	switch {
	case local != nil:
		state = failed
	case s.Ended() != nil:
		state, local = ended, s.Ended()
	}
	size, sizes, total := itemSize[E](), make([]int, len(counts)), 0
	for r, n := range counts {
		sizes[r] = 8 + n*size
		total += n
	}
	bytes := binary.NativeEndian.AppendUint64(make([]byte, 0, 8+len(own)*size), uint64(state))
	all, err := AllGatherV(s.Wait, c, append(bytes, raw(own)...), sizes)
	if err != nil {
		return nil, err
	}
	lists, at := make([]E, total), 0
	stop, who := int64(fine), 0
	for r, n := range counts {
		if x := int64(binary.NativeEndian.Uint64(all)); x > stop {
			stop, who = x, r
		}
		copy(raw(lists[at:at+n]), all[8:sizes[r]])
		all, at = all[sizes[r]:], at+n
	}
	if stop == fine {
		return lists, nil
	}
	cause := local
	if stop == failed {
		if cause, err = s.causeOf(c, who, local); err != nil {
			return nil, err
		}
	} else if cause == nil {
		cause = context.Canceled
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.end == nil || who == c.Rank() { // the rank itself has the error, others its text
		s.end = s.lostAt(who, cause)
	}
	return nil, errStopped
}

// causeOf gives all ranks the text of the error of rank who, and returns it as an error.
func (s *Session) causeOf(c comm.Comm, who int, local error) (error, error) {
	var text []byte
	if c.Rank() == who {
		text = []byte(local.Error())
	}
	length := []int{len(text)}
	if err := Broadcast(s.Wait, c, length, who); err != nil {
		return nil, err
	}
	if c.Rank() == who {
		return local, Broadcast(s.Wait, c, text, who)
	}
	text = make([]byte, length[0])
	err := Broadcast(s.Wait, c, text, who)
	return errors.New(string(text)), err
}
