package comm

import (
	"errors"
	"fmt"
	"time"
)

// Sentinels for errors.Is.
var (
	// ErrGroupClosed is wrapped by the errors of calls on a group that failed or was closed.
	ErrGroupClosed = errors.New("the group is closed")
	// ErrNoOp says that an implementation lacks a reduction; the group is intact. AllReduce does it
	// by an exchange.
	ErrNoOp = errors.New("this group cannot reduce so; use comm.AllReduce, which folds the operands itself")
	// ErrTimeout is a collective that did not end in time.
	ErrTimeout = errors.New("timed out")
	// ErrMismatch is ranks that call different collectives, or with arguments that do not agree.
	ErrMismatch = errors.New("ranks do not agree")
	// ErrRankDied means that the process of a rank ended.
	ErrRankDied = errors.New("the process of the rank ended")
	// ErrArgument is an invalid argument; see ArgumentError.
	ErrArgument = errors.New("invalid argument")
)

// A RankError is the failure of a group. All ranks return the same one.
type RankError struct {
	Rank    int           // the rank that failed, or that the others waited for; −1 if unknown
	Host    string        // its host, "" in one process
	Op      string        // the collective, such as "AllGatherV"; "" outside of any, and if the process of rank 0 ended
	Number  uint64        // number of the collective in its group, from 1; 0 outside of any
	Cause   error         // what happened
	Elapsed time.Duration // from the start of the collective to the failure, where it was detected
}

func (e *RankError) Error() string {
	who := fmt.Sprintf("rank %d", e.Rank)
	if e.Rank < 0 {
		who = "an unknown rank"
	}
	if e.Host != "" {
		who += " on " + e.Host
	}
	where := ""
	if e.Op != "" {
		where = fmt.Sprintf(" in %s, collective %d, after %v", e.Op, e.Number, e.Elapsed.Round(time.Microsecond))
	}
	return fmt.Sprintf("%s failed%s: %v", who, where, e.Cause)
}

// Unwrap returns the cause.
func (e *RankError) Unwrap() error { return e.Cause }

// An ArgumentError reports an invalid argument of a call.
type ArgumentError struct {
	Op     string // such as "AllGatherV"
	Arg    string // such as "counts"
	Reason string // what is wrong
	Remedy string // what to do
}

func (e *ArgumentError) Error() string {
	s := fmt.Sprintf("%s: %s %s", e.Op, e.Arg, e.Reason)
	if e.Remedy != "" {
		s += "; " + e.Remedy
	}
	return s
}

// Is reports whether target is ErrArgument.
func (e *ArgumentError) Is(target error) bool { return target == ErrArgument }

// closedError is the error of calls after the end of a group.
type closedError struct{ first error }

func (e *closedError) Error() string {
	if e.first == nil {
		return ErrGroupClosed.Error()
	}
	return fmt.Sprintf("%v: %v", ErrGroupClosed, e.first)
}

func (e *closedError) Unwrap() []error {
	if e.first == nil {
		return []error{ErrGroupClosed}
	}
	return []error{ErrGroupClosed, e.first}
}
