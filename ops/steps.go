package ops

import "errors"

// Steps is a sequence of operations that keeps its first error, so that an algorithm has one
// operation per line and tests for errors once, at its end:
//
//	var s ops.Steps
//	for s.OK() && frontier.NVals() > 0 {
//		s.Do(ops.AssignVectorScalar(level.Masked(frontier.Structure()), depth, ops.All()))
//		s.Do(ops.VxM(frontier.Masked(unvisited).Replace(), anyPair, frontier, a))
//	}
//	return s.Err()
//
// The argument of Do is evaluated before Do is called: an operation after a failed one still runs,
// on operands that are valid but may be stale. The condition of every loop must therefore call
// [Steps.OK]. A block of expensive operations may test it too.
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

// Err returns the first error, nil if there is none.
func (s *Steps) Err() error {
	if s == nil {
		return errNoSteps
	}
	return s.err
}
