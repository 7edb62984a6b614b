package conformance

import (
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// shapeOf draws the dimensions of a matrix or vector, sometimes with many entries in few rows, so
// that threads share rows.
func (p *plan) shapeOf() (rows, cols Axis, vector bool) {
	vector = p.IntN(3) == 0
	if p.IntN(200) == 0 {
		rows, cols = Axis{N: 1 + p.IntN(3)}, Axis{N: 15000 + p.IntN(20000)}
	} else {
		x := p.axes(2)
		rows, cols = x[0], x[1]
	}
	if vector {
		rows = one
	}
	return rows, cols, vector
}

func elementwise[A, B, C comparable](typ string, op semiring.BinaryOp[A, B, C]) []generator {
	name := "/" + typ + "/" + op.Name()
	return []generator{
		{"EWiseMult" + name, 2, func(p *plan) func(r *runner) error {
			rows, cols, vector := p.shapeOf()
			a, b := operandOf[A](p, "a", rows, cols, vector), operandOf[B](p, "b", rows, cols, vector)
			c := newInput[C](p, "c", rows, cols, vector)
			settle(p, c)
			return func(r *runner) error {
				dst := destination(r, c)
				err := ops.EWiseMult(dst, op, a.any(r), b.any(r), p.set.options()...)
				return conclude(r, c, ewiseMult(a.dense(), b.dense(), op.Apply), true, err)
			}
		}},
		{"EWiseUnion" + name, 2, func(p *plan) func(r *runner) error {
			rows, cols, vector := p.shapeOf()
			a, b := operandOf[A](p, "a", rows, cols, vector), operandOf[B](p, "b", rows, cols, vector)
			c := newInput[C](p, "c", rows, cols, vector)
			alpha, beta := value[A](p), value[B](p)
			settle(p, c)
			p.note("alpha %v, beta %v", alpha, beta)
			return func(r *runner) error {
				dst := destination(r, c)
				err := ops.EWiseUnion(dst, op, a.any(r), alpha, b.any(r), beta, p.set.options()...)
				return conclude(r, c, ewiseUnion(a.dense(), alpha, b.dense(), beta, op.Apply), true, err)
			}
		}},
		{"Kronecker" + name, 1, func(p *plan) func(r *runner) error {
			x := []Axis{{N: p.IntN(6)}, {N: p.IntN(6)}, {N: p.IntN(5)}, {N: p.IntN(5)}}
			if p.alias {
				x = []Axis{one, one, one, one}
			}
			if p.IntN(8) == 0 {
				x[0], x[3] = p.spaced(50000, 4), p.spaced(1<<28, 3)
			}
			a, b := operandOf[A](p, "a", x[0], x[1], false), operandOf[B](p, "b", x[2], x[3], false)
			c := newInput[C](p, "c", product(x[0], x[2]), product(x[1], x[3]), false)
			settle(p, c)
			return func(r *runner) error {
				dst := target(r, c)
				err := ops.Kronecker(dst, op, a.source(r), b.source(r), p.set.options()...)
				return conclude(r, c, kronecker(a.dense(), b.dense(), op.Apply), true, err)
			}
		}},
		{"ApplyFirst" + name, 1, func(p *plan) func(r *runner) error {
			rows, cols, vector := p.shapeOf()
			b, x := operandOf[B](p, "b", rows, cols, vector), value[A](p)
			c := newInput[C](p, "c", rows, cols, vector)
			settle(p, c)
			p.note("x %v", x)
			return func(r *runner) error {
				dst := destination(r, c)
				err := ops.ApplyFirst(dst, op, x, b.any(r), p.set.options()...)
				return conclude(r, c, apply(b.dense(), func(y B, _, _ int) C { return op.Apply(x, y) }), true, err)
			}
		}},
		{"ApplySecond" + name, 1, func(p *plan) func(r *runner) error {
			rows, cols, vector := p.shapeOf()
			a, y := operandOf[A](p, "a", rows, cols, vector), value[B](p)
			c := newInput[C](p, "c", rows, cols, vector)
			settle(p, c)
			p.note("y %v", y)
			return func(r *runner) error {
				dst := destination(r, c)
				err := ops.ApplySecond(dst, op, a.any(r), y, p.set.options()...)
				return conclude(r, c, apply(a.dense(), func(x A, _, _ int) C { return op.Apply(x, y) }), true, err)
			}
		}},
	}
}

func ewiseAddOf[T comparable](typ string, op semiring.BinaryOp[T, T, T]) generator {
	return generator{"EWiseAdd/" + typ + "/" + op.Name(), 3, func(p *plan) func(r *runner) error {
		rows, cols, vector := p.shapeOf()
		a, b := operandOf[T](p, "a", rows, cols, vector), operandOf[T](p, "b", rows, cols, vector)
		c := newInput[T](p, "c", rows, cols, vector)
		settle(p, c)
		return func(r *runner) error {
			dst := destination(r, c)
			err := ops.EWiseAdd(dst, op, a.any(r), b.any(r), p.set.options()...)
			return conclude(r, c, ewiseAdd(a.dense(), b.dense(), op.Apply), true, err)
		}
	}}
}

func applyOf[A, C comparable](typ string, f semiring.UnaryOp[A, C]) generator {
	return generator{"Apply/" + typ + "/" + f.Name(), 2, func(p *plan) func(r *runner) error {
		rows, cols, vector := p.shapeOf()
		a := operandOf[A](p, "a", rows, cols, vector)
		c := newInput[C](p, "c", rows, cols, vector)
		settle(p, c)
		return func(r *runner) error {
			dst := destination(r, c)
			err := ops.Apply(dst, f, a.any(r), p.set.options()...)
			return conclude(r, c, apply(a.dense(), func(x A, _, _ int) C { return f.Apply(x) }), true, err)
		}
	}}
}

// position undoes the oracle's form of a vector, a row: for an operator, i is the index of a vector
// and j is 0.
func position(vector bool, i, j int) (int, int) {
	if vector {
		return j, 0
	}
	return i, j
}

func applyIndexOf[A, C comparable](typ string, f semiring.IndexOp[A, C]) generator {
	return generator{"ApplyIndex/" + typ + "/" + f.Name(), 2, func(p *plan) func(r *runner) error {
		rows, cols, vector := p.shapeOf()
		a := operandOf[A](p, "a", rows, cols, vector)
		c := newInput[C](p, "c", rows, cols, vector)
		settle(p, c)
		return func(r *runner) error {
			dst := destination(r, c)
			err := ops.ApplyIndex(dst, f, a.any(r), p.set.options()...)
			t := apply(a.dense(), func(x A, i, j int) C {
				i, j = position(vector, i, j)
				return f.Apply(x, i, j)
			})
			return conclude(r, c, t, true, err)
		}
	}}
}

func selectOf[T comparable](typ string, f semiring.SelectOp[T]) generator {
	return generator{"Select/" + typ + "/" + f.Name(), 2, func(p *plan) func(r *runner) error {
		rows, cols, vector := p.shapeOf()
		a := operandOf[T](p, "a", rows, cols, vector)
		c := newInput[T](p, "c", rows, cols, vector)
		settle(p, c)
		return func(r *runner) error {
			dst := destination(r, c)
			err := ops.Select(dst, f, a.any(r), p.set.options()...)
			t := sel(a.dense(), func(x T, i, j int) bool {
				i, j = position(vector, i, j)
				return f.Keep(x, i, j)
			})
			return conclude(r, c, t, true, err)
		}
	}}
}

// closed returns the cases of the operators over one type.
func closed[T comparable](typ string) (g []generator) {
	k := kindOf[T]()
	for _, op := range k.binary {
		g = append(g, elementwise(typ, op)...)
		g = append(g, ewiseAddOf(typ, op))
	}
	for _, f := range k.unary {
		g = append(g, applyOf(typ, f))
	}
	for _, f := range k.index {
		g = append(g, applyIndexOf(typ, f))
	}
	for _, f := range k.selects {
		g = append(g, selectOf(typ, f))
	}
	for _, m := range k.monoids {
		g = append(g, reductions(typ, m)...)
		g = append(g, scatters(typ, m)...)
	}
	return append(g, structural[T](typ)...)
}

// comparisons returns the cases of operators into other types.
func comparisons[T semiring.Number](typ string) (g []generator) {
	for _, op := range []semiring.BinaryOp[T, T, bool]{
		semiring.Eq[T](), semiring.Ne[T](), semiring.Lt[T](), semiring.Le[T](), semiring.Gt[T](), semiring.Ge[T](),
	} {
		g = append(g, elementwise(typ, op)...)
	}
	return g
}

func elementwiseGenerators() (g []generator) {
	g = append(g, closed[bool]("bool")...)
	g = append(g, closed[int32]("int32")...)
	g = append(g, closed[float64]("float64")...)
	g = append(g, closed[Path]("Path")...)
	g = append(g, comparisons[float64]("float64")...)
	g = append(g, moreElementwise()...)
	g = append(g, elementwise("mixed", mixed().Mul())...)
	g = append(g, elementwise("mixed", semiring.First[float64, bool]())...)
	g = append(g, elementwise("mixed", semiring.Second[bool, int32]())...)
	g = append(g, applyOf("mixed", semiring.Convert[int32, float64]()), applyOf("mixed", semiring.OneOp[Path, bool]()))
	saturating := applyOf("mixed", semiring.Convert[float64, int32]())
	saturating.name += " to integers"
	g = append(g, saturating)
	g = append(g, degrees("int32", semiring.Plus[int32]()), degrees("float64", semiring.Max[float64]()))
	return append(g, applyIndexOf("mixed", semiring.RowIndex[bool](int64(1))), applyIndexOf("mixed", semiring.ColIndex[float64](int32(0))),
		applyIndexOf("mixed", semiring.DiagIndex[Path](int64(0))))
}

func generators() []generator { return append(productGenerators(), elementwiseGenerators()...) }
