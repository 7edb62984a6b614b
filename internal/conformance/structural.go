package conformance

import (
	"errors"
	"fmt"

	"github.com/hiveblas/hiveblas/matrix"
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

// degrees returns the cases of sums of patterns; entries count 1.
func degrees[T semiring.Number](typ string, m semiring.Monoid[T]) generator {
	return generator{"Reduce/" + typ + "/" + m.Name() + " of a pattern", 2, func(p *plan) func(r *runner) error {
		x := p.matrixAxes()
		rows, cols, t := x[0], x[1], p.IntN(3) == 0
		if t {
			rows, cols = cols, rows
		}
		a := patterned[float64]{plain[float64]{newInput[float64](p, "a", rows, cols, false), t}}
		w := newInput[T](p, "w", one, x[0], true)
		settle(p, w)
		return func(r *runner) error {
			err := ops.Reduce(vectorTarget(r, w), m, a.source(r), p.set.options()...)
			d := a.dense()
			ones := newDense[T](d.Rows, d.Cols)
			for k, x := range d.Cell {
				if len(x) > 0 {
					ones.Cell[k] = []T{1}
				}
			}
			return conclude(r, w, reduceRows(ones, m), false, err)
		}
	}}
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

// sampled is the oracle of Sample: it samples each row alone, by one thread, and checks that there
// are k entries of it, or all.
func sampled[T comparable](d Dense[T], k int, seed uint64) (Dense[T], error) {
	t := newDense[T](d.Rows, d.Cols)
	for i := range d.Rows.Len() {
		b := matrix.NewBuilder[bool](d.Rows.N, d.Cols.N)
		length := 0
		for j := range d.Cols.Len() {
			if len(d.at(i, j)) > 0 {
				b.Add(d.Rows.Pos(i), d.Cols.Pos(j), true)
				length++
			}
		}
		row, err := b.Build(nil)
		if err != nil {
			return t, err
		}
		got := matrix.New[bool](d.Rows.N, d.Cols.N)
		if err := ops.Sample(got, row, k, seed, ops.WithThreads(1)); err != nil {
			return t, err
		}
		found := 0
		for at := range got.All() {
			j, ok := d.Cols.Find(at.Col)
			if !ok || at.Row != d.Rows.Pos(i) || len(d.at(i, j)) == 0 {
				return t, fmt.Errorf("the sample of row %d has the entry %v, which the row lacks", d.Rows.Pos(i), at)
			}
			t.set(i, j, d.at(i, j))
			found++
		}
		if found != min(k, length) {
			return t, fmt.Errorf("the sample of row %d has %d of %d entries, with k = %d", d.Rows.Pos(i), found, length, k)
		}
	}
	return t, nil
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
		{"Sample" + name, 3, func(p *plan) func(r *runner) error {
			x := p.matrixAxes()
			a := operandOf[T](p, "a", x[0], x[1], false)
			c := newInput[T](p, "c", x[0], x[1], false)
			settle(p, c)
			k, seed := p.IntN(6), p.Uint64()
			p.note("k %d, seed %d", k, seed)
			return func(r *runner) error {
				dst := target(r, c)
				err := ops.Sample(dst, a.source(r), k, seed, p.set.options()...)
				if onDevice(r.b) {
					if !errors.Is(err, ops.ErrPlace) && !errors.Is(err, ops.ErrOperator) {
						return fmt.Errorf("a sample into a device: error %v, want one about the place", err)
					}
					return compare(c.stored(r), c.d, true)
				}
				t, wrong := sampled(a.dense(), k, seed)
				if wrong != nil {
					return wrong
				}
				return conclude(r, c, t, true, err)
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
		{"AssignRow" + name, 4, assignLine[T](false)},
		{"AssignColumn" + name, 4, assignLine[T](true)},
		{"Assign region" + name, 4, func(p *plan) func(r *runner) error {
			return assignRegion[T](p, p.matrixAxes(), false)
		}},
		{"AssignVector region" + name, 4, func(p *plan) func(r *runner) error {
			return assignRegion[T](p, []Axis{one, p.axis()}, true)
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

// assignLine returns the cases of AssignRow, or of AssignColumn. The settings are settings of a
// vector.
func assignLine[T comparable](column bool) func(p *plan) func(r *runner) error {
	return func(p *plan) func(r *runner) error {
		x := p.axes(2)
		for d := range x {
			if x[d].Len() == 0 {
				x[d] = Axis{N: 3}
			}
		}
		along, across := x[1], x[0]
		if column {
			along, across = across, along
		}
		at := p.IntN(across.Len())
		idx, list := p.indices(along, true)
		p.note("line %d", across.Pos(at))
		noteIndices(p, "idx", idx)
		u := operandOf[T](p, "u", one, listed(along, list), true)
		c := newInput[T](p, "c", x[0], x[1], false)
		settle(p, &Input[T]{name: "line", d: newDense[T](one, along), vector: true})
		return func(r *runner) error {
			dst := matrix.Target[T](target(r, c))
			line := newDense[T](one, along)
			each := func(f func(p, q int)) {
				for p := range along.Len() {
					if column {
						f(p, p*x[1].Len()+at)
					} else {
						f(p, at*x[1].Len()+p)
					}
				}
			}
			each(func(p, q int) { line.Cell[p] = c.d.Cell[q] })
			var err error
			if column {
				err = ops.AssignColumn(dst, u.vector(r), r.list(idx, along, list), across.Pos(at), p.set.options()...)
			} else {
				err = ops.AssignRow(dst, u.vector(r), across.Pos(at), r.list(idx, along, list), p.set.options()...)
			}
			if onDevice(r.b) && lacksText[T](p.set) {
				return refused(r, c, err)
			}
			if err != nil {
				return err
			}
			line = write(line, assign(line, u.dense(), []int{0}, list, accumulated[T](p.set)), p.set.allowed(), nil, p.set.replace)
			want := c.d.clone()
			each(func(p, q int) { want.Cell[q] = line.Cell[p] })
			return finish(r, c, want, true)
		}
	}
}

// assignRegion returns a case of Assign, AssignVector and their scalar forms with MaskOfRegion. The
// settings are settings of the region.
func assignRegion[T comparable](p *plan, x []Axis, vector bool) func(r *runner) error {
	rows, ri := ops.All(), []int{0}
	if !vector {
		rows, ri = p.indices(x[0], true)
		noteIndices(p, "rows", rows)
	}
	cols, ci := p.indices(x[1], true)
	noteIndices(p, "cols", cols)
	region := [2]Axis{listed(x[0], ri), listed(x[1], ci)}
	a := operandOf[T](p, "a", region[0], region[1], vector)
	c := newInput[T](p, "c", x[0], x[1], vector)
	scalar, y := p.IntN(3) == 0, value[T](p)
	settle(p, &Input[T]{name: "region", d: newDense[T](region[0], region[1]), vector: vector})
	p.note("scalar %v %v", scalar, y)
	return func(r *runner) error {
		dst, opts := destination(r, c), append(p.set.options(), ops.MaskOfRegion())
		i, j := r.list(rows, x[0], ri), r.list(cols, x[1], ci)
		from := a.dense()
		if scalar {
			from = constant(len(ri), len(ci), y)
		}
		var err error
		switch {
		case vector && scalar:
			err = ops.AssignVectorScalar(dst.(matrix.VectorTarget[T]), y, j, opts...)
		case vector:
			err = ops.AssignVector(dst.(matrix.VectorTarget[T]), a.vector(r), j, opts...)
		case scalar:
			err = ops.AssignScalar(dst.(matrix.Target[T]), y, i, j, opts...)
		default:
			err = ops.Assign(dst.(matrix.Target[T]), a.source(r), i, j, opts...)
		}
		if onDevice(r.b) && lacksText[T](p.set) {
			return refused(r, c, err)
		}
		if err != nil {
			return err
		}
		part := newDense[T](Axis{N: len(ri)}, Axis{N: len(ci)})
		part.each(func(p, q int, _ []T) { part.set(p, q, c.d.at(ri[p], ci[q])) })
		part = write(part, from, p.set.allowed(), accumulated[T](p.set), p.set.replace)
		want := c.d.clone()
		part.each(func(p, q int, v []T) { want.set(ri[p], ci[q], v) })
		return finish(r, c, want, true)
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
