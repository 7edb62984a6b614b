package cpu

// Operators as operations take them, which name no element types: their loops and their names. A
// nil pointer is the zero value of a binary operator, a monoid or a semiring.

// Operator is a binary operator.
type Operator struct {
	*Binary           // nil of an operator without a function
	Name, CUDA string // CUDA is an expression in x and y, or ""
	Position   uint8  // a semiring.Position; 0 unless positional
}

// Valid reports whether the operator applies to two values.
func (op *Operator) Valid() bool { return op != nil && op.Binary != nil && op.Position == 0 }

// UnaryOperator is a unary operator.
type UnaryOperator struct {
	*Unary            // nil of an operator without a function
	Name, CUDA string // CUDA is an expression in x, or ""
}

// IndexOperator is an operator of values and positions.
type IndexOperator struct {
	*Index            // nil of an operator without a function
	Name, CUDA string // CUDA is an expression in x, i and j, or ""
}

// SelectOperator is a predicate.
type SelectOperator struct {
	*Predicate        // nil of a predicate without a function
	Name, CUDA string // CUDA is an expression in x, i, j and y, which is its bound, or ""
}

// Sum is a monoid.
type Sum struct {
	*Monoid            // nil of one that is not valid
	Op       *Operator // nil of the zero value
	Terminal Values    // one value, or none
	Any      bool      // a sum is any one of its terms
}

// Ring is a semiring.
type Ring struct {
	Forms
	Name string
	Sum  *Sum
	Mul  *Operator
}

// Valid reports whether the semiring has loops.
func (r *Ring) Valid() bool {
	return r != nil && (r.Semiring != nil || r.Positional != nil || r.Indexed != nil)
}

// Position returns the index that ⊗ returns or reads, a semiring.Position; 0 for none.
func (r *Ring) Position() uint8 {
	if r == nil || r.Positional == nil && r.Indexed == nil || r.Mul == nil {
		return 0
	}
	return r.Mul.Position
}
