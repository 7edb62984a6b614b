package ops_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// Errors of operands and options name the operation and the argument.
func TestErrorsNameArguments(t *testing.T) {
	t.Parallel()
	a, u := matrix.New[int](2, 2), matrix.NewVector[int](2)
	s, plus := semiring.PlusTimes[int](), semiring.Plus[int]()
	var none *matrix.Matrix[int]
	var noVector *matrix.Vector[int]
	for _, c := range []struct {
		err  error
		want string
	}{
		{ops.MxM(a, s, none, a), "MxM: a is nil"},
		{ops.MxM(a, s, a, nil), "MxM: b is nil"},
		{ops.MxV(u, s, a, noVector), "MxV: u is nil"},
		{ops.VxM(u, s, noVector, a), "VxM: u is nil"},
		{ops.VxM(u, s, u, none), "VxM: a is nil"},
		{ops.EWiseAdd(a, plus, a, (*matrix.View[int])(nil)), "EWiseAdd: b is nil"},
		{ops.Apply(a, semiring.Identity[int](), none), "Apply: a is nil"},
		{ops.MxM(a, s, a, a, ops.WithThreads(-1)), "MxM: WithThreads is -1"},
		{ops.AssignScalar(a, 1, ops.All(), ops.All(), ops.WithThreads(-2)), "AssignScalar: WithThreads is -2"},
		{ops.MxM(a.Masked(none), s, a, a), "mask is nil"},
	} {
		if !errors.Is(c.err, matrix.ErrInvalid) || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("got %v, want %s", c.err, c.want)
		}
	}
	if _, err := ops.ReduceScalar(plus, a, ops.WithThreads(-1)); !errors.Is(err, matrix.ErrInvalid) {
		t.Errorf("ReduceScalar of -1 threads: %v", err)
	}
	if err := ops.MxM(a.Masked(nil), s, a, a); err != nil {
		t.Errorf("without a mask: %v", err)
	}
}
