package ops

import (
	"errors"

	"github.com/hiveblas/hiveblas/matrix"
)

// Steps is a sequence of operations that keeps its first error, so that an algorithm has one
// operation per line and tests for errors once, at its end:
//
//	var s ops.Steps
//	for s.NVals(frontier) > 0 {
//		s.Do(ops.AssignVectorScalar(level.Masked(frontier.Structure()), depth, ops.All()))
//		s.Do(ops.VxM(frontier.Masked(unvisited).Replace(), anyPair, frontier, a))
//	}
//	return s.Err()
//
// The argument of Do is evaluated before Do is called: an operation after a failed one still runs,
// on operands that are valid but may be stale. The condition of every loop must therefore call
// [Steps.OK], or [Steps.NVals], which is 0 after an error. A block of expensive operations may test
// it too.
//
// The zero value is ready to use. A Steps belongs to one goroutine. A nil *Steps cannot store an
// error, so its OK returns false.
type Steps struct{ err error }

// errNoSteps is the error of a nil *Steps.
var errNoSteps = errors.New("ops: the *Steps is nil; declare a Steps")

// Do records the error of an operation, unless an earlier operation failed. It reports whether all
// operations up to this one succeeded.
func (s *Steps) Do(err error) bool {
	if s == nil {
		return false
	}
	if s.err == nil {
		s.err = err
	}
	return s.err == nil
}

// OK reports whether no operation has failed.
func (s *Steps) OK() bool { return s != nil && s.err == nil }

// NVals returns the number of entries of a vector, a matrix or a view, and 0 if an operation has
// failed. On a device or a group a count can fail, for instance because another process has died:
// then the NVals of the operand is 0 as if it had no entries, and this one records the error.
func (s *Steps) NVals(v interface {
	NVals() int64
	Err() error
}) int64 {
	if !s.OK() {
		return 0
	}
	if v == nil {
		s.err = &matrix.InvalidError{Op: "ops: Steps.NVals", Reason: "the operand is nil; give a vector, a matrix or a view"}
		return 0
	}
	n := v.NVals()
	if !s.Do(v.Err()) {
		return 0
	}
	return n
}

// Err returns the first error, nil if there is none.
func (s *Steps) Err() error {
	if s == nil {
		return errNoSteps
	}
	return s.err
}
