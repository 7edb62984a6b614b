package tuned

import (
	"fmt"
	"strings"

	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/matrix"
)

// A Case is a product that a search times.
type Case struct {
	Semiring device.Semiring
	Flip     bool // ⊗ takes the vector first
	Full     bool // the vector has every entry
	Columns  bool // the right operand is a full matrix, not a vector
}

func monoidOf(name, text, identity string, t device.Type) device.Monoid {
	return device.Monoid{
		Identity: identity, Any: name == "any", Exact: name == "min" || !t.Float(),
		Func: device.Func{Name: name, Text: text, X: t, Y: t, Out: t,
			UsesX: true, UsesY: true, Commutative: true},
	}
}

// Ops are the names of the cases: a product with a full vector, a product with a sparse one, the
// step that dominates each of four graph algorithms, and a product with a full matrix.
var Ops = []string{"mxv", "vxm", "bfs", "sssp", "pagerank", "cc", "mxm"}

// CaseOf returns a case by its name, "" for mxv, with elements of type t.
func CaseOf(op string, t device.Type) (Case, error) {
	_, most := t.Limits()
	zero := "((" + t.Name + ")0)"
	times := device.Func{Name: "times", Text: "x * y", X: t, Y: t, Out: t, UsesX: true, UsesY: true}
	plus := device.Func{Name: "plus", Text: "x + y", X: t, Y: t, Out: t, UsesX: true, UsesY: true}
	second := device.Func{Name: "second", Text: "y", X: bools, Y: t, Out: t, UsesY: true}
	pair := device.Func{Name: "pair", Text: "1", X: bools, Y: bools, Out: bools}
	least := monoidOf("min", "(y < x || x != x) ? y : x", most, t)
	switch op {
	case "", "mxv":
		return Case{Semiring: device.Semiring{Name: "plus_times", Add: monoidOf("plus", "x + y", zero, t), Mul: times}, Full: true}, nil
	case "mxm":
		return Case{Semiring: device.Semiring{Name: "plus_times", Add: monoidOf("plus", "x + y", zero, t), Mul: times}, Full: true, Columns: true}, nil
	case "vxm":
		return Case{Semiring: device.Semiring{Name: "plus_times", Add: monoidOf("plus", "x + y", zero, t), Mul: times}, Flip: true}, nil
	case "bfs":
		return Case{Semiring: device.Semiring{Name: "any_pair", Add: monoidOf("any", "y", "false", bools), Mul: pair}, Flip: true}, nil
	case "sssp":
		return Case{Semiring: device.Semiring{Name: "min_plus", Add: least, Mul: plus}, Flip: true}, nil
	case "pagerank":
		return Case{Semiring: device.Semiring{Name: "plus_second", Add: monoidOf("plus", "x + y", zero, t), Mul: second}, Full: true}, nil
	case "cc":
		return Case{Semiring: device.Semiring{Name: "min_second", Add: least, Mul: second}, Full: true}, nil
	}
	return Case{}, &matrix.InvalidError{Op: "cusparse.Tune", Reason: fmt.Sprintf("operation %q is none of %s", op, strings.Join(Ops, ", "))}
}

var bools, _ = device.TypeOf[bool]()
