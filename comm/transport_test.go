package comm_test

import (
	"context"
	"errors"
	"testing"

	"github.com/hiveblas/hiveblas/comm"
)

// alone is the transport of a group of one rank.
type alone struct{ ran []comm.Kind }

func (a *alone) Lacks(*comm.Collective) bool { return true }
func (a *alone) Abort()                      {}
func (a *alone) Close() error                { return nil }
func (a *alone) MovesDeviceMemory() bool     { return true }

func (a *alone) Run(_ context.Context, c *comm.Collective) error {
	a.ran = append(a.ran, c.Kind)
	copy(c.Dst.Bytes(), c.Src.Bytes())
	return nil
}

func (a *alone) Split(context.Context, *comm.Collective, []int) (comm.Transport, error) {
	return &alone{}, nil
}

// A Comm of a transport checks, numbers and counts what it passes on.
func TestNewComm(t *testing.T) {
	t.Parallel()
	a := &alone{}
	c, err := comm.NewComm(a, 0, 1, comm.NewLife(comm.KeepCalls()), "host")
	if err != nil {
		t.Fatal(err)
	}
	got := make([]int32, 2)
	if err := c.AllGatherV(t.Context(), comm.Host(got), []int{2}, comm.Host([]int32{3, 4})); err != nil || got[1] != 4 {
		t.Error(got, err)
	}
	if err := comm.AllReduce(t.Context(), c, comm.Host(got), comm.Host([]int32{5, 6}), comm.Sum, nil); err != nil || got[0] != 5 {
		t.Error(got, err)
	}
	sub, err := c.Split(t.Context(), 0, 0)
	if err != nil || sub.Size() != 1 {
		t.Error(sub, err)
	}
	if n := len(c.Ledger().Calls()); n != 4 || len(a.ran) != 4 { // AllReduce exchanges and gathers
		t.Errorf("%d calls are counted and %v ran, want 4", n, a.ran)
	}
	g, err := comm.NewGroup([]comm.Comm{c})
	if err != nil || !g.MovesDeviceMemory() {
		t.Error(g, err)
	}
	var e *comm.RankError
	if err := c.Broadcast(t.Context(), comm.Host(got), 1); !errors.As(err, &e) || e.Host != "host" || !errors.Is(err, comm.ErrArgument) {
		t.Error(err)
	}
}

func TestNewCommArguments(t *testing.T) {
	t.Parallel()
	life := comm.NewLife()
	_, noTransport := comm.NewComm(nil, 0, 1, life, "")
	_, noLife := comm.NewComm(&alone{}, 0, 1, &comm.Life{}, "")
	_, badRank := comm.NewComm(&alone{}, 1, 1, life, "")
	_, none := comm.InProcess(nil, life)
	_, hole := comm.InProcess([]comm.Transport{&alone{}, nil}, life)
	for k, err := range []error{noTransport, noLife, badRank, none, hole} {
		var a *comm.ArgumentError
		if !errors.As(err, &a) || a.Remedy == "" {
			t.Errorf("%d: %v", k, err)
		}
	}
	var zero comm.Life
	if zero.Context().Err() == nil || zero.Failure() == nil || zero.Fail(nil) != zero.Failure() {
		t.Error("a zero Life has not ended")
	}
}
