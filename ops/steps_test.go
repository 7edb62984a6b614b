package ops_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// TestSteps checks that Steps keeps the first error.
func TestSteps(t *testing.T) {
	var s ops.Steps
	if !s.OK() || s.Err() != nil || !s.Do(nil) {
		t.Fatal("the zero value has an error")
	}
	v := matrix.NewVector[int](3)
	if s.Do(v.Set(7, 1)) || s.OK() {
		t.Error("Do reports success after an index out of range")
	}
	if s.Do(nil) {
		t.Error("Do reports success after an earlier error")
	}
	s.Do(errors.New("later"))
	if index := new(*matrix.IndexError); !errors.As(s.Err(), index) {
		t.Errorf("the error is %v, want that of Set", s.Err())
	}
}

// countOf is an operand with a count that may have failed.
type countOf struct {
	n   int64
	err error
}

func (c countOf) NVals() int64 { return c.n }
func (c countOf) Err() error   { return c.err }

// TestStepsNVals checks that a count that fails is 0 and an error, and that nothing is counted
// after an error.
func TestStepsNVals(t *testing.T) {
	lost := errors.New("lost")
	var s ops.Steps
	if n := s.NVals(countOf{7, nil}); n != 7 || !s.OK() {
		t.Errorf("a count is %d, %v", n, s.Err())
	}
	if n := s.NVals(countOf{0, lost}); n != 0 || !errors.Is(s.Err(), lost) {
		t.Errorf("a count that fails is %d, %v", n, s.Err())
	}
	if n := s.NVals(countOf{7, nil}); n != 0 || !errors.Is(s.Err(), lost) {
		t.Errorf("after an error a count is %d, %v", n, s.Err())
	}
	for _, none := range []interface {
		NVals() int64
		Err() error
	}{nil, (*matrix.Vector[int])(nil)} {
		var s ops.Steps
		if n := s.NVals(none); n != 0 || !errors.Is(s.Err(), matrix.ErrInvalid) {
			t.Errorf("of %v a count is %d, %v", none, n, s.Err())
		}
	}
	if n := (*ops.Steps)(nil).NVals(countOf{7, nil}); n != 0 {
		t.Errorf("a count of a nil *Steps is %d", n)
	}
}

// TestStepsBlocks runs a loop and branches in a loop on the host, where the operations run one by
// one, with the options that a loop keeps for itself.
func TestStepsBlocks(t *testing.T) {
	v, empty, yes := matrix.NewVector[int](5), matrix.NewVector[int](5), matrix.ScalarOf(true)
	var s ops.Steps
	s.Do(v.Set(2, 7))
	var passes, said []string
	calls := ""
	progress := ops.Progress(func(pass int64) { passes = append(passes, fmt.Sprint(pass)) })
	explain := ops.Explain(func(text string) { said = append(said, text) })
	for in := range s.While(v, ops.Passes(2), progress, explain) {
		calls += "a"
		for in := range s.While(yes, in, ops.Passes(3)) {
			calls += "b"
			for range s.If(empty, in) {
				calls += "never"
			}
			for in := range s.If(yes, in) {
				calls += "c"
				s.Do(ops.AssignVectorScalar(v, 1, ops.All(), in))
			}
		}
	}
	if calls != "abcbcbcabcbcbc" || fmt.Sprint(passes) != "[1 2]" || len(said) != 1 || s.Err() != nil || v.NVals() != 5 {
		t.Errorf("calls %s, passes %v, explained %q, %v, error %v", calls, passes, said, v, s.Err())
	}
	for range s.If(nil) {
		t.Error("a nil condition holds")
	}
	if !errors.Is(s.Err(), matrix.ErrInvalid) {
		t.Errorf("a nil condition is %v", s.Err())
	}
	for range s.If(v) {
		t.Error("a branch runs after an error")
	}
}

// TestStepsNil checks that a nil *Steps neither panics nor reports success.
func TestStepsNil(t *testing.T) {
	var s *ops.Steps
	if s.Do(nil) || s.Do(errors.New("lost")) || s.OK() || s.Err() == nil {
		t.Error("a nil *Steps reports success")
	}
}

// Breadth-first search, with one operation per line.
func ExampleSteps() {
	a := parse(
		". 1 1 . .",
		". . . 1 .",
		". . . 1 .",
		". . . . .",
		"1 . . . .")
	level := matrix.NewVector[int32](5)
	frontier := matrix.NewVector[bool](5)

	var s ops.Steps
	s.Do(frontier.Set(0, true))
	for depth := int32(0); s.NVals(frontier) > 0; depth++ {
		s.Do(ops.AssignVectorScalar(level.Masked(frontier.Structure()), depth, ops.All()))
		s.Do(ops.VxM(frontier.Masked(level.Structure().Not()).Replace(),
			semiring.AnyPair[bool](), frontier.Pattern(), a.Pattern()))
	}
	if err := s.Err(); err != nil {
		fmt.Println(err)
		return
	}
	showVector(level)
	// Output: 0 1 1 2 . |
}
