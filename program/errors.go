package program

import (
	"errors"
	"fmt"
)

// A ProgramError names the part of a program that cannot be used.
type ProgramError struct {
	Program, Part, Reason, Remedy string
}

func (e *ProgramError) Error() string {
	return fmt.Sprintf("%s: %s: %s; %s", e.Program, e.Part, e.Reason, e.Remedy)
}

// ErrLimit is the sentinel of LimitError.
var ErrLimit = errors.New("the limit of supersteps is reached")

// A LimitError says that vertices were still active at the limit of [Options]. The result that
// accompanies it holds the states reached.
type LimitError struct {
	Program    string
	Supersteps int
	Active     int64
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("%s: %d vertices are still active after %d supersteps; raise the limit, or give the program a Halt that holds",
		e.Program, e.Active, e.Supersteps)
}

// Is reports whether target is ErrLimit.
func (e *LimitError) Is(target error) bool { return target == ErrLimit }

// A MessageError says that a message was sent to a vertex that does not exist.
type MessageError struct {
	Program   string
	Superstep int
	From      int32
	To, N     int64
}

func (e *MessageError) Error() string {
	return fmt.Sprintf("%s: superstep %d: vertex %d sends a message to vertex %d of a graph with %d vertices; send to 0 … %d",
		e.Program, e.Superstep, e.From, e.To, e.N, e.N-1)
}

// A PlanError says why a plan cannot run.
type PlanError struct {
	Program, Plan, Reason, Remedy string
}

func (e *PlanError) Error() string {
	return fmt.Sprintf("%s: plan %q: %s; %s", e.Program, e.Plan, e.Reason, e.Remedy)
}

// A LawError says that the sum of a program breaks a law that results depend on, or that two plans
// disagree.
type LawError struct {
	Program, Law, Operands, Got, Want string
}

func (e *LawError) Error() string {
	return fmt.Sprintf("%s: %s: %s: %s and %s", e.Program, e.Law, e.Operands, e.Got, e.Want)
}
