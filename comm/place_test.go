package comm_test

import (
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/internal/sure"
)

// synced is a place that counts how often it is waited for.
type synced struct {
	waits atomic.Int32
	err   error
}

func (s *synced) Sync() error    { s.waits.Add(1); return s.err }
func (s *synced) String() string { return "synced" }

func TestTakeTurns(t *testing.T) {
	ranks := sure.Get(comm.Local(3))
	place := &synced{}
	g := sure.Get(comm.NewGroup(ranks, comm.TakeTurns(), comm.At(place, nil, place)))
	var order []int // without a lock: the race detector would find calls at the same time
	run := func(k int, c comm.Comm) error {
		order = append(order, k, c.Rank())
		time.Sleep(time.Duration(k) * 20 * time.Millisecond)
		return nil
	}
	for range 2 {
		if err := g.Apart(run, nil); err != nil {
			t.Fatal(err)
		}
	}
	if want := []int{0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2}; !slices.Equal(order, want) {
		t.Errorf("ranks ran in the order %v, want %v", order, want)
	}
	if n := place.waits.Load(); n != 4 {
		t.Errorf("the place of two ranks was waited for %d times, want 4", n)
	}
	took := g.Turns()
	if len(took) != 2 || len(took[0]) != 3 || took[0][1] < 20*time.Millisecond || took[1][2] < 40*time.Millisecond {
		t.Errorf("turns %v, want two of three ranks, at least 0, 20 and 40 ms", took)
	}
	if again := g.Turns(); again != nil {
		t.Errorf("turns are kept: %v", again)
	}

	// Collectives within Each go on: ranks do not take turns there.
	if err := g.Each(func(_ int, c comm.Comm) error { return c.Fence(t.Context()) }); err != nil {
		t.Error(err)
	}
	if got := g.Turns(); got != nil {
		t.Errorf("Each took turns: %v", got)
	}

	stop := errors.New("stop")
	if err := g.Apart(func(k int, _ comm.Comm) error {
		if k == 1 {
			return stop
		}
		return nil
	}, nil); !errors.Is(err, stop) {
		t.Errorf("error %v, want that of rank 1", err)
	}
	place.err = stop
	if err := g.Apart(func(int, comm.Comm) error { return nil }, nil); !errors.Is(err, stop) {
		t.Errorf("error %v, want that of the place", err)
	}

	alike := sure.Get(comm.LocalGroup(2))
	if err := alike.Apart(func(int, comm.Comm) error { return nil }, nil); err != nil || alike.Turns() != nil {
		t.Errorf("without the option: %v, turns %v", err, alike.Turns())
	}
}
