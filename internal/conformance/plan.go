package conformance

import (
	"fmt"
	"slices"

	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
)

// widest is the largest number of positions of a dense input.
const widest = 1 << 17

// axis draws a dimension: mostly small, sometimes with thousands or 2³¹−1 positions; a case uses a
// few of them.
func (p *plan) axis() Axis {
	small := []int{0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 16, 17, 20}
	switch p.IntN(24) {
	case 0:
		return p.spaced(200, 5)
	case 1:
		return p.spaced(5000, 6)
	case 2:
		return p.spaced(1<<31-1, 6)
	case 3:
		return Axis{N: []int{31, 63, 64, 65, 70}[p.IntN(5)]}
	}
	return Axis{N: small[p.IntN(len(small))]}
}

// spaced returns an axis of n positions with about the given number in use.
func (p *plan) spaced(n, about int) Axis {
	at := map[int]bool{}
	for range about {
		switch p.IntN(6) {
		case 0:
			at[n-1-p.IntN(3)] = true
		case 1:
			at[p.IntN(min(n, 130))] = true
		default:
			at[p.IntN(n)] = true
		}
	}
	x := Axis{N: n, At: []int{}}
	for i := range at {
		x.At = append(x.At, i)
	}
	slices.Sort(x.At)
	return x
}

// axes draws n dimensions, equal ones if inputs may be one matrix.
func (p *plan) axes(n int) []Axis {
	x := make([]Axis, n)
	for i := range x {
		x[i] = p.axis()
		if p.alias && i > 0 {
			x[i] = x[0]
		}
	}
	return x
}

// formats returns the possible formats of a matrix.
func formats(rows, cols Axis) []matrix.Format {
	f := []matrix.Format{matrix.Hypersparse}
	if rows.N <= 1<<16 {
		f = append(f, matrix.CSR)
		if cols.N <= widest/max(1, rows.N) {
			f = append(f, matrix.Bitmap)
			if rows.At == nil && cols.At == nil {
				f = append(f, matrix.Full)
			}
		}
	}
	return f
}

// value draws a value.
func value[T comparable](p *plan) T {
	k := kindOf[T]()
	if p.special && p.IntN(5) == 0 {
		return k.special[p.IntN(len(k.special))]
	}
	return k.ordinary(p.Rand)
}

// newInput draws an input. With p.alias it may return an existing one.
func newInput[T comparable](p *plan, name string, rows, cols Axis, vector bool) *Input[T] {
	if p.alias && p.IntN(2) == 0 {
		for _, in := range p.inputs {
			if in, ok := in.(*Input[T]); ok && in.vector == vector && in.d.Rows.equal(rows) && in.d.Cols.equal(cols) {
				in.roles = append(in.roles, name)
				return in
			}
		}
	}
	in := &Input[T]{name: name, d: newDense[T](rows, cols), vector: vector, roles: []string{name}}
	fs := formats(rows, cols)
	in.format = fs[p.IntN(len(fs))]
	in.both = !vector && p.IntN(4) == 0
	density := []float64{0, .04, .15, .3, .6, .9, 1}[p.IntN(7)]
	if len(in.d.Cell) > 8000 && p.IntN(3) == 0 {
		density = .002 // rows of unequal lengths
	}
	if in.format == matrix.Full {
		density = 1
	}
	emptyRows := p.IntN(3) == 0
	draw := func() T { return value[T](p) }
	if p.special && p.IntN(4) == 0 { // one value everywhere, sometimes an identity
		special := kindOf[T]().special
		x := special[p.IntN(len(special))]
		draw = func() T { return x }
	}
	for c := range in.d.Cell {
		if in.format != matrix.Full && emptyRows && (c/cols.Len())%3 == 1 {
			continue
		}
		if p.Float64() < density {
			in.d.Cell[c] = []T{draw()}
		}
	}
	if !vector && p.IntN(12) == 0 { // diagonal: products scale
		in.d.each(func(i, j int, x []T) {
			if rows.Pos(i) != cols.Pos(j) {
				in.d.Cell[i*cols.Len()+j] = nil
				if in.format == matrix.Full {
					in.format = matrix.Bitmap
				}
			}
		})
	}
	p.inputs = append(p.inputs, in)
	return in
}

// settle draws the settings for a destination, with masks of several types.
func settle[C comparable](p *plan, c *Input[C]) {
	p.set = settings{accum: -1, threads: []int{1, 2, 3, 5}[p.IntN(4)]}
	if p.IntN(5) > 0 {
		switch p.IntN(3) {
		case 0:
			p.set.mask = newInput[bool](p, "mask", c.d.Rows, c.d.Cols, c.vector)
		case 1:
			p.set.mask = newInput[float64](p, "mask", c.d.Rows, c.d.Cols, c.vector)
		case 2:
			p.set.mask = newInput[C](p, "mask", c.d.Rows, c.d.Cols, c.vector)
		}
		p.set.structural, p.set.complement = p.IntN(2) == 0, p.IntN(2) == 0
		p.set.listed = p.set.mask.isListed()
	}
	if p.IntN(2) == 0 {
		accums := kindOf[C]().accums
		p.set.accum = p.IntN(len(accums))
		p.set.accumName = accums[p.set.accum].name
	}
	p.set.replace = p.IntN(3) == 0
}

// operand is an input in the form that an operation reads.
type operand[T comparable] interface {
	dense() Dense[T]
	source(r *runner) matrix.Source[T]
	vector(r *runner) matrix.VectorSource[T]
	any(r *runner) matrix.Operand[T]
	full() bool // stored full and not transposed
}

// plain reads an input or its transpose.
type plain[T comparable] struct {
	in *Input[T]
	t  bool
}

func (o plain[T]) dense() Dense[T] {
	if o.t {
		return o.in.d.transpose()
	}
	return o.in.d
}

func (o plain[T]) source(r *runner) matrix.Source[T] {
	if m := matrixOf(r, o.in); !o.t {
		return m
	} else {
		return m.T()
	}
}

func (o plain[T]) vector(r *runner) matrix.VectorSource[T] { return vectorOf(r, o.in) }

func (o plain[T]) any(r *runner) matrix.Operand[T] {
	if o.in.vector {
		return o.vector(r)
	}
	return o.source(r)
}

func (o plain[T]) full() bool { return !o.t && o.in.format == matrix.Full }

// patterned reads the pattern of an input.
type patterned[T comparable] struct{ plain[T] }

func (o patterned[T]) dense() Dense[bool] { return pattern(o.plain.dense()) }

func (o patterned[T]) source(r *runner) matrix.Source[bool] {
	m := matrixOf(r, o.in)
	switch {
	case !o.t:
		return m.Pattern()
	case o.in.both:
		return m.T().Pattern()
	}
	return m.Pattern().T()
}

func (o patterned[T]) vector(r *runner) matrix.VectorSource[bool] { return vectorOf(r, o.in).Pattern() }

func (o patterned[T]) any(r *runner) matrix.Operand[bool] {
	if o.in.vector {
		return o.vector(r)
	}
	return o.source(r)
}

// operandOf draws an operand of the given dimensions: plain, transposed, and for bools sometimes
// the pattern of another matrix.
func operandOf[T comparable](p *plan, name string, rows, cols Axis, vector bool) operand[T] {
	t := !vector && p.IntN(3) == 0
	if t {
		rows, cols = cols, rows
	}
	if _, ok := any(*new(T)).(bool); ok && p.IntN(2) == 0 {
		var o any
		if p.IntN(2) == 0 {
			o = patterned[float64]{plain[float64]{newInput[float64](p, name, rows, cols, vector), t}}
		} else {
			o = patterned[bool]{plain[bool]{newInput[bool](p, name, rows, cols, vector), t}}
		}
		p.note("%s is read as a pattern, transposed %v", name, t)
		return o.(operand[T])
	}
	if t {
		p.note("%s is read transposed", name)
	}
	return plain[T]{newInput[T](p, name, rows, cols, vector), t}
}

// method draws the method of a product.
func (p *plan) method(some ...ops.Method) {
	if p.IntN(3) > 0 {
		p.set.method = some[p.IntN(len(some))]
	}
}

// indices draws a list of positions of x, for the operation and as indices of used positions for
// the oracle. unique lists have no repetition.
func (p *plan) indices(x Axis, unique bool) (ops.Indices, []int) {
	n := x.Len()
	var at []int
	kind := p.IntN(4)
	switch {
	case kind == 0 && x.At == nil, n == 0 && x.At == nil && p.IntN(2) == 0:
		for i := range n {
			at = append(at, i)
		}
		return ops.All(), at
	case kind == 1 && x.At == nil && n > 0:
		lo := p.IntN(n)
		hi := lo + p.IntN(n-lo+1)
		for i := lo; i < hi; i++ {
			at = append(at, i)
		}
		return ops.Span(lo, hi), at
	}
	repeat := !unique && p.IntN(2) == 0
	perm := p.Perm(n)
	if n > 0 && p.IntN(3) > 0 {
		perm = perm[:p.IntN(n+1)]
	}
	for _, i := range perm {
		at = append(at, i)
		if repeat && p.IntN(3) == 0 {
			at = append(at, perm[p.IntN(len(perm))])
		}
	}
	if p.IntN(2) == 0 {
		slices.Sort(at)
	}
	list := make([]int, len(at))
	for q, i := range at {
		list[q] = x.Pos(i)
	}
	return ops.Of(list...), at
}

func noteIndices(p *plan, name string, x ops.Indices) {
	text := fmt.Sprint(x)
	if len(text) > 600 {
		text = text[:600] + " …"
	}
	p.note("%s %s", name, text)
}

// places draws the length of a list of positions of each axis, which may repeat.
func (p *plan) places(axes ...Axis) int {
	for _, x := range axes {
		if x.Len() == 0 {
			return 0
		}
	}
	if x := axes[0]; x.At == nil && p.IntN(3) == 0 {
		return x.N // so that the list may be all, and u and w one vector
	}
	return []int{0, 1, 2, 5, 12, 40, 150, 3000}[p.IntN(7+p.IntN(2))]
}

// repeated draws a list of k used positions of x.
func (p *plan) repeated(x Axis, k int) (ops.Indices, []int) {
	at, list := make([]int, k), make([]int, k)
	if x.At == nil && k == x.N && p.IntN(2) == 0 {
		for i := range at {
			at[i] = i
		}
		return ops.All(), at
	}
	few := 1 + p.IntN(max(x.Len(), 1)) // among so many positions
	for q := range at {
		at[q] = p.IntN(few)
		list[q] = x.Pos(at[q])
	}
	return ops.Of(list...), at
}
