package solve

import (
	"context"
	"fmt"
	"math"

	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
)

// Real are the element types of the solvers.
type Real interface{ float32 | float64 }

// Options are the settings of a solver of linear systems. The zero value has the defaults.
type Options[T Real] struct {
	// Tolerance and Absolute end a solver once ‖b − A·x‖ ≤ max(Tolerance·‖b‖, Absolute), as rtol
	// and atol of SciPy do. A Tolerance of 0 means 1e-5, or 1e-8 of LSQR.
	Tolerance, Absolute float64
	MaxIterations       int               // 0 means 10 times the order of the matrix
	Start               *matrix.Vector[T] // the first x; nil means 0
	Preconditioner      Preconditioner[T] // nil: none. LSQR has none
	// CheckSymmetry says that CG and MINRES first compare the matrix with its transpose, in
	// O(entries) time and memory, and return an *AsymmetryError if they differ by more than
	// rounding.
	CheckSymmetry bool
	Restart       int     // of GMRES: it restarts after so many products; 0 means 30
	Damping       float64 // of LSQR: it minimises ‖b − A·x‖² + Damping²·‖x‖²

	Context  context.Context // nil: never ends
	Threads  int             // 0: GOMAXPROCS
	Trace    func(ops.Trace) // called with the name of the method, and after each operation; may be nil
	Progress func(iteration int, residual float64)
}

// Result is the result of a solver of linear systems.
type Result[T Real] struct {
	X          *matrix.Vector[T] // full, at the place of the matrix
	Iterations int
	Residual   float64 // ‖b − A·x‖, computed from X at the end
	// History is the norm of the residual at the start and after each iteration, as the iteration
	// computes it. MINRES with a preconditioner M has the norm in M⁻¹.
	History []float64
	Stopped Stop
}

// Stop is why a solver stopped.
type Stop int

// The reasons.
const (
	Unfinished   Stop = iota // by an error
	Converged                // the residual is within the tolerance
	LeastSquares             // Aᵀ·(b − A·x) is within the tolerance of ‖A‖·‖b − A·x‖: b is outside the range
	Limit                    // after MaxIterations
)

func (s Stop) String() string {
	if names := []string{"unfinished", "converged", "least squares", "limit"}; s >= 0 && int(s) < len(names) {
		return names[s]
	}
	return fmt.Sprintf("Stop(%d)", int(s))
}

// A NotConvergedError says that a solver reached the limit of iterations. The result beside it has
// the best x.
type NotConvergedError struct {
	Method     string
	Iterations int
	Residual   float64 // the norm that was reached
	Want       float64 // the norm that was wanted
}

func (e *NotConvergedError) Error() string {
	return fmt.Sprintf("%s: the residual is %.3g after %d iterations, want %.3g; raise MaxIterations or Tolerance, or give a preconditioner", e.Method, e.Residual, e.Iterations, e.Want)
}

// A BreakdownError says that an iteration divided by zero or met a number that is not finite. The
// result beside it has x before the breakdown.
type BreakdownError struct {
	Method    string
	Iteration int
	Reason    string
}

func (e *BreakdownError) Error() string {
	return fmt.Sprintf("%s: breakdown in iteration %d: %s", e.Method, e.Iteration, e.Reason)
}

// An IndefiniteError says that a matrix or a preconditioner is not positive definite, by a vector p
// with pᵀ·A·p ≤ 0.
type IndefiniteError struct {
	Method, What string
	Iteration    int
}

func (e *IndefiniteError) Error() string {
	remedy := "use MINRES, or GMRES"
	if e.What != "the matrix" {
		remedy = "use another one, or GMRES"
	}
	return fmt.Sprintf("%s: %s is not positive definite, by iteration %d; %s", e.Method, e.What, e.Iteration, remedy)
}

// An AsymmetryError names an entry of a matrix that should be symmetric, and the entry of its
// transpose.
type AsymmetryError struct {
	Method     string
	Row, Col   int
	Entry, Not float64 // A(Row, Col) and A(Col, Row)
}

func (e *AsymmetryError) Error() string {
	return fmt.Sprintf("%s: the matrix is not symmetric: (%d, %d) is %g and (%d, %d) is %g; use GMRES, BiCGSTAB or LSQR",
		e.Method, e.Row, e.Col, e.Entry, e.Col, e.Row, e.Not)
}

// A PivotError says that a triangle or an incomplete factorisation has no usable pivot in a row.
type PivotError struct {
	Op    string
	Row   int
	Pivot float64 // 0 if the matrix has no entry there
}

func (e *PivotError) Error() string {
	remedy := "add a Shift, or use Jacobi"
	switch e.Op {
	case "NewTriangle":
		remedy = "give a diagonal of finite numbers other than 0, or set Unit"
	case "Jacobi":
		remedy = "give a diagonal of finite numbers other than 0, or no preconditioner"
	}
	return fmt.Sprintf("%s: the pivot of row %d is %g; %s", e.Op, e.Row, e.Pivot, remedy)
}

// A PlaceError says that triangles do not solve systems where a matrix or a vector lives.
type PlaceError struct {
	Op      string
	Place   matrix.Place // of the matrix or the vector
	Factors matrix.Place // of the triangles
	Spread  bool         // Place is a group, where no triangle is
}

func (e *PlaceError) Error() string {
	if e.Spread {
		return fmt.Sprintf("%s: triangular solves run on the host or on one device, and the matrix is on %v; use Jacobi, or move the matrix", e.Op, e.Place)
	}
	name := func(p matrix.Place) string {
		if p == nil {
			return "the host"
		}
		return p.String()
	}
	return fmt.Sprintf("%s: the triangle is on %s, and the right side on %s; move one of them, or use Jacobi", e.Op, name(e.Factors), name(e.Place))
}

// settings are Options without what has the element type.
type settings struct {
	Tolerance, Absolute, Damping float64
	MaxIterations, Restart       int
	CheckSymmetry                bool
	Context                      context.Context
	Progress                     func(iteration int, residual float64)
}

// complete checks the settings of a method for a matrix of m rows and n columns, and adds defaults.
func (o *settings) complete(method string, n int) error {
	if o.Tolerance == 0 {
		if o.Tolerance = 1e-5; method == "LSQR" {
			o.Tolerance = 1e-8
		}
	}
	if o.MaxIterations == 0 {
		o.MaxIterations = 10 * max(n, 1)
	}
	if o.Restart == 0 {
		o.Restart = 30
	}
	number := func(name string, x float64) error {
		if x >= 0 && !math.IsInf(x, 1) {
			return nil
		}
		return &matrix.InvalidError{Op: method, Reason: fmt.Sprintf("%s is %v, want a finite number of 0 or more", name, x)}
	}
	for _, p := range []struct {
		name string
		x    float64
	}{{"Tolerance", o.Tolerance}, {"Absolute", o.Absolute}, {"Damping", o.Damping}, {"MaxIterations", float64(o.MaxIterations)}, {"Restart", float64(o.Restart)}} {
		if err := number(p.name, p.x); err != nil {
			return err
		}
	}
	return nil
}
