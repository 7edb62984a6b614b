package auction

import (
	"errors"
	"fmt"
	"strings"
)

// Sentinels for errors.Is; the error types carry the details.
var (
	ErrInfeasible = errors.New("no assignment is allowed")         // see InfeasibleError
	ErrCost       = errors.New("a cost cannot be used")            // see CostError
	ErrParameter  = errors.New("a parameter is outside its range") // see ParameterError
	ErrOverflow   = errors.New("costs are too large")              // see OverflowError
)

// An InfeasibleError says that the forbidden pairs leave no assignment, and why
// (Hall's theorem): the rows of the witness have together fewer columns than there are
// rows. Where rows outnumber columns the witness is Cols, which have fewer rows.
type InfeasibleError struct {
	Rows []int32 // the witness, ascending; nil where Cols is
	Cols []int32
	Have int // the number of columns (or rows) that they can have together
}

func (e *InfeasibleError) Error() string {
	set, side, other := e.Rows, "rows", "columns"
	if e.Cols != nil {
		set, side, other = e.Cols, "columns", "rows"
	}
	return fmt.Sprintf("no assignment is allowed: the %d %s %s have together %d %s; allow more pairs, or give missing entries a default cost",
		len(set), side, abridged(set), e.Have, other)
}

// Is reports whether target is ErrInfeasible.
func (e *InfeasibleError) Is(target error) bool { return target == ErrInfeasible }

// abridged lists the first few numbers of a list.
func abridged(list []int32) string {
	const most = 10
	var b strings.Builder
	for k, i := range list {
		if k == most {
			b.WriteString(", …")
			break
		}
		if k > 0 {
			b.WriteString(", ")
		}
		fmt.Fprint(&b, i)
	}
	return b.String()
}

// A CostError names a cost that cannot be used: NaN, an infinity on the side that is
// optimised for, or an integer beyond 64 bits.
type CostError struct {
	Arg      string // "the cost", "the default cost", "the row offset" or "the column offset"
	Row, Col int    // −1 where it has none
	Got      string
	Want     string
}

func (e *CostError) Error() string {
	at := ""
	switch {
	case e.Row >= 0 && e.Col >= 0:
		at = fmt.Sprintf(" at row %d, column %d", e.Row, e.Col)
	case e.Row >= 0:
		at = fmt.Sprintf(" of row %d", e.Row)
	case e.Col >= 0:
		at = fmt.Sprintf(" of column %d", e.Col)
	}
	return fmt.Sprintf("%s%s is %s, want %s", e.Arg, at, e.Got, e.Want)
}

// Is reports whether target is ErrCost.
func (e *CostError) Is(target error) bool { return target == ErrCost }

// A ParameterError says that an option or argument is outside its range.
type ParameterError struct{ Arg, Got, Want string }

func (e *ParameterError) Error() string {
	return fmt.Sprintf("auction: %s is %s, want %s", e.Arg, e.Got, e.Want)
}

// Is reports whether target is ErrParameter.
func (e *ParameterError) Is(target error) bool { return target == ErrParameter }

// An OverflowError says that sums of the costs, or prices, could exceed 64
// bits.
type OverflowError struct {
	What   string
	Remedy string
}

func (e *OverflowError) Error() string {
	return fmt.Sprintf("auction: %s may exceed 64 bits; %s", e.What, e.Remedy)
}

// Is reports whether target is ErrOverflow.
func (e *OverflowError) Is(target error) bool { return target == ErrOverflow }
