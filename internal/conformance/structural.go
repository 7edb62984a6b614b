package conformance

import (
	"fmt"

	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

func reductions[T comparable](typ string, m semiring.Monoid[T]) []generator {
	name := "/" + typ + "/" + m.Name()
	return []generator{
		{"Reduce" + name, 2, func(p *plan) func(r *runner) error {
			x := p.matrixAxes()
			a := operandOf[T](p, "a", x[0], x[1], false)
			w := newInput[T](p, "w", one, x[0], true)
			settle(p, w)
			return func(r *runner) error {
				dst := vectorTarget(r, w)
				err := ops.Reduce(dst, m, a.source(r), p.set.options()...)
				return conclude(r, w, reduceRows(a.dense(), m), false, err)
			}
		}},
		{"ReduceScalar" + name, 1, func(p *plan) func(r *runner) error {
			rows, cols, vector := p.shapeOf()
			a := operandOf[T](p, "a", rows, cols, vector)
			p.set = settings{accum: -1, threads: 1 + p.IntN(4)}
			return func(r *runner) error {
				got, err := ops.ReduceScalar(m, a.any(r), p.set.options()...)
				if err != nil {
					return err
				}
				var terms []T
				a.dense().each(func(_, _ int, x []T) { terms = append(terms, x...) })
				want := sum(m, terms)
				if len(terms) == 0 {
					want = []T{m.Identity()}
				}
				if !among(got, want, false) {
					return fmt.Errorf("sum is %v, want %v", got, want)
				}
				for _, in := range p.inputs {
					if err := in.unchanged(r); err != nil {
						return err
					}
				}
				return nil
			}
		}},
	}
}

// scatters returns the cases of sums at lists that repeat.
func scatters[T comparable](typ string, m semiring.Monoid[T]) []generator {
	name := "/" + typ + "/" + m.Name()
	return []generator{
		{"Scatter" + name, 3, func(p *plan) func(r *runner) error {
			x := p.matrixAxes()
			k := p.places(x[0], x[1])
			rows, ri := p.repeated(x[0], k)
			cols, ci := p.repeated(x[1], k)
			noteIndices(p, "rows", rows)
			noteIndices(p, "cols", cols)
			u := operandOf[T](p, "u", one, Axis{N: k}, true)
			c := newInput[T](p, "c", x[0], x[1], false)
			settle(p, c)
			return func(r *runner) error {
				dst := target(r, c)
				err := ops.Scatter(dst, m, u.vector(r), r.list(rows, x[0], ri), r.list(cols, x[1], ci), p.set.options()...)
				return conclude(r, c, scatter(x[0], x[1], m, u.dense(), ri, ci), false, err)
			}
		}},
		{"ScatterVector" + name, 3, func(p *plan) func(r *runner) error {
			x := p.axis()
			k := p.places(x)
			idx, at := p.repeated(x, k)
			noteIndices(p, "idx", idx)
			u := operandOf[T](p, "u", one, Axis{N: k}, true)
			w := newInput[T](p, "w", one, x, true)
			settle(p, w)
			return func(r *runner) error {
				dst := vectorTarget(r, w)
				err := ops.ScatterVector(dst, m, u.vector(r), r.list(idx, x, at), p.set.options()...)
				return conclude(r, w, scatter(one, x, m, u.dense(), make([]int, k), at), false, err)
			}
		}},
	}
}

func structural[T comparable](typ string) []generator {
	name := "/" + typ
	return []generator{
		{"Transpose" + name, 4, func(p *plan) func(r *runner) error {
			x := p.matrixAxes()
			a := operandOf[T](p, "a", x[0], x[1], false)
			c := newInput[T](p, "c", x[1], x[0], false)
			settle(p, c)
			return func(r *runner) error {
				dst := target(r, c)
				err := ops.Transpose(dst, a.source(r), p.set.options()...)
				return conclude(r, c, a.dense().transpose(), true, err)
			}
		}},
		{"Extract" + name, 8, func(p *plan) func(r *runner) error {
			x := p.matrixAxes()
			a := operandOf[T](p, "a", x[0], x[1], false)
			rows, ri := p.indices(x[0], false)
			cols, ci := p.indices(x[1], false)
			if large := x[0].N > 80 && x[1].N > 80; x[0].At == nil && x[1].At == nil && (p.alias || large) && p.IntN(2) == 0 {
				ri, ci = p.Perm(x[0].N), p.Perm(x[1].N) // so that c may be a
				if large && p.IntN(2) == 0 {
					ri, ci = ri[:x[0].N/2], ci[:x[1].N*3/4]
				}
				rows, cols = ops.Of(ri...), ops.Of(ci...)
			}
			noteIndices(p, "rows", rows)
			noteIndices(p, "cols", cols)
			c := newInput[T](p, "c", Axis{N: len(ri)}, Axis{N: len(ci)}, false)
			settle(p, c)
			return func(r *runner) error {
				dst := target(r, c)
				err := ops.Extract(dst, a.source(r), r.list(rows, x[0], ri), r.list(cols, x[1], ci), p.set.options()...)
				return conclude(r, c, extract(a.dense(), ri, ci), true, err)
			}
		}},
		{"ExtractVector" + name, 4, func(p *plan) func(r *runner) error {
			x := p.axis()
			u := operandOf[T](p, "u", one, x, true)
			idx, at := p.indices(x, false)
			noteIndices(p, "idx", idx)
			w := newInput[T](p, "w", one, Axis{N: len(at)}, true)
			settle(p, w)
			return func(r *runner) error {
				dst := vectorTarget(r, w)
				err := ops.ExtractVector(dst, u.vector(r), r.list(idx, x, at), p.set.options()...)
				return conclude(r, w, extract(u.dense(), []int{0}, at), true, err)
			}
		}},
		{"ExtractRow" + name, 4, func(p *plan) func(r *runner) error {
			x := p.axes(2)
			if x[0].Len() == 0 {
				x[0] = Axis{N: 3}
			}
			a := operandOf[T](p, "a", x[0], x[1], false)
			i := p.IntN(x[0].Len())
			cols, ci := p.indices(x[1], false)
			p.note("row %d", x[0].Pos(i))
			noteIndices(p, "cols", cols)
			w := newInput[T](p, "w", one, Axis{N: len(ci)}, true)
			settle(p, w)
			return func(r *runner) error {
				dst := vectorTarget(r, w)
				err := ops.ExtractRow(dst, a.source(r), x[0].Pos(i), r.list(cols, x[1], ci), p.set.options()...)
				return conclude(r, w, extract(a.dense(), []int{i}, ci), true, err)
			}
		}},
		{"Assign" + name, 8, func(p *plan) func(r *runner) error {
			x := p.matrixAxes()
			rows, ri := p.indices(x[0], true)
			cols, ci := p.indices(x[1], true)
			noteIndices(p, "rows", rows)
			noteIndices(p, "cols", cols)
			a := operandOf[T](p, "a", listed(x[0], ri), listed(x[1], ci), false)
			c := newInput[T](p, "c", x[0], x[1], false)
			settle(p, c)
			return func(r *runner) error {
				dst := target(r, c)
				err := ops.Assign(dst, a.source(r), r.list(rows, x[0], ri), r.list(cols, x[1], ci), p.set.options()...)
				return assigned(r, c, assign(c.d, a.dense(), ri, ci, accumulated[T](p.set)), err)
			}
		}},
		{"AssignVector" + name, 4, func(p *plan) func(r *runner) error {
			x := p.axis()
			idx, at := p.indices(x, true)
			noteIndices(p, "idx", idx)
			u := operandOf[T](p, "u", one, listed(x, at), true)
			w := newInput[T](p, "w", one, x, true)
			settle(p, w)
			return func(r *runner) error {
				dst := vectorTarget(r, w)
				err := ops.AssignVector(dst, u.vector(r), r.list(idx, x, at), p.set.options()...)
				return assigned(r, w, assign(w.d, u.dense(), []int{0}, at, accumulated[T](p.set)), err)
			}
		}},
		{"AssignScalar" + name, 6, func(p *plan) func(r *runner) error {
			x := p.matrixAxes()
			rows, ri := p.indices(x[0], true)
			cols, ci := p.indices(x[1], true)
			noteIndices(p, "rows", rows)
			noteIndices(p, "cols", cols)
			y := value[T](p)
			p.note("x %v", y)
			c := newInput[T](p, "c", x[0], x[1], false)
			settle(p, c)
			return func(r *runner) error {
				dst := target(r, c)
				err := ops.AssignScalar(dst, y, r.list(rows, x[0], ri), r.list(cols, x[1], ci), p.set.options()...)
				return assigned(r, c, assign(c.d, constant(len(ri), len(ci), y), ri, ci, accumulated[T](p.set)), err)
			}
		}},
		{"AssignVectorScalar" + name, 4, func(p *plan) func(r *runner) error {
			x := p.axis()
			idx, at := p.indices(x, true)
			noteIndices(p, "idx", idx)
			y := value[T](p)
			p.note("x %v", y)
			w := newInput[T](p, "w", one, x, true)
			settle(p, w)
			return func(r *runner) error {
				dst := vectorTarget(r, w)
				err := ops.AssignVectorScalar(dst, y, r.list(idx, x, at), p.set.options()...)
				return assigned(r, w, assign(w.d, constant(1, len(at), y), []int{0}, at, accumulated[T](p.set)), err)
			}
		}},
	}
}

// listed returns the axis of a list of positions of x: x itself for all positions in order, so that
// operand and destination may be one.
func listed(x Axis, at []int) Axis {
	if x.At == nil && len(at) == x.N {
		return x
	}
	return Axis{N: len(at)}
}

func constant[T any](m, n int, x T) Dense[T] {
	d := newDense[T](Axis{N: m}, Axis{N: n})
	for p := range d.Cell {
		d.Cell[p] = []T{x}
	}
	return d
}

// assigned checks a destination against Z, which includes the accumulator.
func assigned[T comparable](r *runner, c *Input[T], z Dense[T], err error) error {
	s := r.plan.set
	if onDevice(r.b) && lacksText[T](s) {
		return refused(r, c, err)
	}
	if err != nil {
		return err
	}
	return finish(r, c, write(c.d, z, s.allowed(), nil, s.replace), true)
}
