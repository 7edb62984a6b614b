package ops

import (
	"github.com/hiveblas/hiveblas/internal/cpu"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

// operator is a binary operator.
type operator struct {
	k          *cpu.Binary
	name, cuda string
	valid      bool
	pos        semiring.Position
	plain      bool // a function that is no operator of package semiring
	given      bool // of an accumulator: there is one
}

// insideOf returns the inside of an operator, nil for nil.
func insideOf[A, B, C any](op semiring.Operator[A, B, C]) *cpu.Operator {
	if op == nil {
		return nil
	}
	return op.Op().Inside()
}

// operatorIn returns an operator by its inside, the zero value for nil.
func operatorIn(op *cpu.Operator) operator {
	if op == nil {
		return operator{}
	}
	return operator{k: op.Binary, name: op.Name, cuda: op.CUDA, valid: op.Valid(), pos: semiring.Position(op.Position)}
}

// accumulatorOf returns the accumulator of a destination that has one. One that cannot be called is
// not valid.
func accumulatorOf(s *matrix.Spec) (op operator) {
	switch f := s.Accum.(type) {
	case interface{ Inside() *cpu.Operator }:
		op = operatorIn(f.Inside())
	case interface{ Inside() *cpu.Sum }:
		if m := f.Inside(); m != nil {
			op = operatorIn(m.Op)
		}
	default:
		op.plain = true
		if loop := s.AccumInside(); loop != nil {
			op.k, op.valid = cpu.BinaryByPairs(loop), true
		}
	}
	op.given = true
	return op
}

// monoid is a monoid.
type monoid struct {
	k        *cpu.Monoid // nil of one that is not valid
	op       operator
	any      bool
	terminal sparse.Values // one value, or none
}

// monoidOf returns a monoid by its inside, the zero value for nil.
func monoidOf(m *cpu.Sum) monoid {
	if m == nil {
		return monoid{}
	}
	out := monoid{k: m.Monoid, op: operatorIn(m.Op), any: m.Any}
	if m.Monoid != nil {
		out.terminal = m.Terminal
	}
	return out
}

// ring is a semiring. The zero value of semiring.Semiring gives one without an inside.
type ring struct{ *cpu.Ring }

func (r ring) pos() semiring.Position { return semiring.Position(r.Position()) }
func (r ring) add() monoid            { return monoidOf(r.Sum) }
func (r ring) mul() operator          { return operatorIn(r.Mul) }

// checkOperator returns nil for a valid operator, and otherwise the error that says why the
// operator has no value.
func (c *call) checkOperator(valid bool, p semiring.Position) error {
	switch {
	case valid:
		return nil
	case p != semiring.NotPositional:
		return &OperatorError{c.op, "the operator " + c.name + " is positional: its value is an index, known only within a product; semiring.New makes semirings of it for MxM, MxV and VxM"}
	}
	return &OperatorError{c.op, "the operator is the zero value; make it with a constructor of package semiring"}
}
