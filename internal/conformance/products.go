package conformance

import (
	"errors"
	"os"

	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// multiplied returns the oracle of ⊗, also of a positional semiring.
func multiplied[A, B, C comparable](s semiring.Semiring[A, B, C], index func(i int) C) func(i, k, j int, x A, y B) C {
	switch s.Position() {
	case semiring.PositionI:
		return func(i, _, _ int, _ A, _ B) C { return index(i) }
	case semiring.PositionK:
		return func(_, k, _ int, _ A, _ B) C { return index(k) }
	case semiring.PositionJ:
		return func(_, _, j int, _ A, _ B) C { return index(j) }
	case semiring.PositionsAll:
		return func(i, k, j int, x A, y B) C { return s.Mul().ApplyAt(x, y, i, k, j) }
	}
	return func(_, _, _ int, x A, y B) C { return s.Mul().Apply(x, y) }
}

// products returns the cases of MxM, MxV and VxM over s. index is the value of a positional ⊗ for
// an index.
func products[A, B, C comparable](typ string, weight int, s semiring.Semiring[A, B, C], index func(i int) C) []generator {
	mul := multiplied(s, index)
	name := "/" + typ + "/" + s.Name()
	return []generator{
		{"MxM" + name, 2 * weight, func(p *plan) func(r *runner) error {
			x := p.axes(3)
			a := operandOf[A](p, "a", x[0], x[1], false)
			b := operandOf[B](p, "b", x[1], x[2], false)
			c := newInput[C](p, "c", x[0], x[2], false)
			settle(p, c)
			methods := []ops.Method{ops.Auto, ops.Sorted, ops.Hash}
			if x[2].N <= 1<<20 {
				methods = append(methods, ops.SPA)
			}
			if p.set.listed && !p.set.complement && x[1].N <= 1<<20 {
				methods = append(methods, ops.Dot, ops.Dot)
			}
			if b.full() && s.Position() != semiring.PositionJ && s.Position() != semiring.PositionsAll && x[0].N <= 1<<16 {
				methods = append(methods, ops.SpMM, ops.SpMM)
			}
			p.method(methods...)
			return func(r *runner) error {
				if p.set.method == ops.SpMM && !b.full() {
					return nil // shrunk
				}
				dst := target(r, c)
				err := ops.MxM(dst, s, a.source(r), b.source(r), p.set.options()...)
				if r.b.Place() != nil && p.set.method != ops.Auto && errors.Is(err, ops.ErrMethod) {
					return compare(c.stored(r), c.d, true) // a device refuses a method: nothing changes
				}
				return conclude(r, c, mxm(a.dense(), b.dense(), s.Add(), mul), false, err)
			}
		}},
		{"MxV" + name, weight, func(p *plan) func(r *runner) error {
			x := p.matrixAxes()
			a := operandOf[A](p, "a", x[0], x[1], false)
			u := operandOf[B](p, "u", one, x[1], true)
			w := newInput[C](p, "w", one, x[0], true)
			settle(p, w)
			p.direction(x)
			return func(r *runner) error {
				dst := vectorTarget(r, w)
				err := ops.MxV(dst, s, a.source(r), u.vector(r), p.set.options()...)
				return conclude(r, w, mxm(a.dense(), u.dense().transpose(), s.Add(), mul).transpose(), false, err)
			}
		}},
		{"VxM" + name, weight, func(p *plan) func(r *runner) error {
			x := p.matrixAxes()
			u := operandOf[A](p, "u", one, x[0], true)
			a := operandOf[B](p, "a", x[0], x[1], false)
			w := newInput[C](p, "w", one, x[1], true)
			settle(p, w)
			p.direction(x)
			return func(r *runner) error {
				dst := vectorTarget(r, w)
				err := ops.VxM(dst, s, u.vector(r), a.source(r), p.set.options()...)
				return conclude(r, w, mxm(u.dense(), a.dense(), s.Add(), mul), false, err)
			}
		}},
	}
}

// direction sometimes forces push or pull. Pull allocates arrays of both dimensions, so very large
// ones are left to Auto.
func (p *plan) direction(x []Axis) {
	if max(x[0].N, x[1].N) <= 1<<20 {
		p.method(ops.Auto, ops.Push, ops.Pull)
	}
}

// matrixAxes draws the dimensions of a matrix, sometimes with many entries, so that threads share
// it.
func (p *plan) matrixAxes() []Axis {
	if p.IntN(60) == 0 {
		return []Axis{{N: 90 + p.IntN(200)}, {N: 90 + p.IntN(200)}}
	}
	return p.axes(2)
}

// ownProducts returns the products of one number type: its own semirings, and the semirings of two
// patterns.
func ownProducts[T semiring.Number](typ string) (g []generator) {
	for _, s := range kindOf[T]().semirings {
		g = append(g, products(typ, 2, s, nil)...)
	}
	for _, s := range []semiring.Semiring[bool, bool, T]{semiring.PlusPair[T](), semiring.AnyPair[T]()} {
		g = append(g, products(typ, 2, s, nil)...)
	}
	return g
}

// patternProducts returns the products of one number type and a pattern.
func patternProducts[T semiring.Number](typ string) (g []generator) {
	for _, s := range []semiring.Semiring[T, bool, T]{
		semiring.PlusFirst[T](), semiring.MinFirst[T](), semiring.MaxFirst[T](), semiring.AnyFirst[T](),
	} {
		g = append(g, products(typ, 1, s, nil)...)
	}
	for _, s := range []semiring.Semiring[bool, T, T]{
		semiring.PlusSecond[T](), semiring.MinSecond[T](), semiring.MaxSecond[T](), semiring.AnySecond[T](),
	} {
		g = append(g, products(typ, 1, s, nil)...)
	}
	return g
}

// positionalProducts returns the products of the positional semirings: with all sums for the
// offsets in all, with one sum for each index if it is in some.
func positionalProducts[T semiring.Number](typ string, all, some []T) (g []generator) {
	add := func(offset T, list ...semiring.Semiring[bool, bool, T]) {
		for _, s := range list {
			g = append(g, products(typ, 1, s, func(i int) T { return T(i) + offset })...)
		}
	}
	for _, x := range all {
		add(x, semiring.AnyFirsti(x), semiring.AnyFirstj(x), semiring.AnySecondi(x), semiring.AnySecondj(x),
			semiring.MinFirsti(x), semiring.MinFirstj(x), semiring.MinSecondi(x), semiring.MinSecondj(x),
			semiring.MaxSecondi(x), semiring.MaxFirstj(x))
	}
	for _, x := range some {
		add(x, semiring.AnyFirsti(x), semiring.MinSecondj(x), semiring.MaxFirstj(x),
			semiring.New(semiring.Plus[T](), semiring.MinSecondi(x).Mul()))
	}
	return g
}

// userKernels is plus_times with a user's inlined loops, so that every method runs the loops of
// WithKernels.
func userKernels() semiring.Semiring[float64, float64, float64] {
	mul := func(x, y float64) float64 { return x * y }
	add := func(x, y float64) float64 { return x + y }
	k := semiring.Kernels[float64, float64, float64]{
		Dot: func(s float64, ci []int32, av, x []float64) float64 { return semiring.DotFn(s, ci, av, x, mul, add) },
		DotPresent: func(s float64, ci []int32, av, x []float64, present []uint8) (float64, bool) {
			return semiring.DotPresentFn(s, ci, av, x, present, mul, add)
		},
		Axpy: func(y []float64, a float64, b []float64) { semiring.AxpyFn(y, a, b, mul, add) },
		Scatter: func(acc []float64, marks []uint64, a float64, ci []int32, bv []float64) {
			semiring.ScatterFn(acc, marks, a, ci, bv, mul, add)
		},
		ScatterMasked: func(acc []float64, state []uint8, a float64, ci []int32, bv []float64) {
			semiring.ScatterMaskedFn(acc, state, a, ci, bv, mul, add)
		},
		ScatterAll: func(acc []float64, a float64, ci []int32, bv []float64) {
			semiring.ScatterAllFn(acc, a, ci, bv, mul, add)
		},
		Products: func(out []float64, a float64, bv []float64) { semiring.ProductsFn(out, a, bv, mul) },
	}
	s := semiring.New(semiring.Plus[float64](), semiring.NewBinary("times", mul, "x * y"))
	return s.WithKernels(k).WithFlippedKernels(k).Named("user_kernels")
}

// mixed is ⊗: int32 × float64 → int64, a user-defined operator.
func mixed() semiring.Semiring[int32, float64, int64] {
	return semiring.New(semiring.Plus[int64](), semiring.NewBinary("mixed", func(x int32, y float64) int64 {
		if y > 0 {
			return int64(x) + 1
		}
		return 2 * int64(x)
	}, "y > 0 ? (C)x + 1 : 2 * (C)x"))
}

// indexed is an index-binary ⊗: int32 × float64 → int64, which depends on every argument.
func indexed() semiring.Semiring[int32, float64, int64] {
	return semiring.New(semiring.Plus[int64](), semiring.NewIndexBinary("indexed", func(x int32, y float64, i, k, j int) int64 {
		z := int64(x) + int64(i) - 3*int64(k) + 5*int64(j)
		if y > 0 {
			z++
		}
		return z
	}, "(C)x + i - 3 * (C)k + 5 * (C)j + (y > 0 ? 1 : 0)"))
}

// via is an index-binary ⊗ into a user-defined type: the smallest sum of two values, and the least
// k.
func via() semiring.Semiring[Path, Path, Path] {
	best := kindOf[Path]().monoids[0]
	return semiring.New(best, semiring.NewIndexBinary("via", func(x, y Path, i, k, j int) Path {
		return Path{x.Length + y.Length, uint32(i + 2*k + 3*j)}
	}, "C{x.Length + y.Length, (unsigned)(i + 2 * k + 3 * j)}"))
}

func productGenerators() (g []generator) {
	for _, s := range kindOf[bool]().semirings {
		g = append(g, products("bool", 3, s, nil)...)
	}
	for _, s := range kindOf[Path]().semirings {
		g = append(g, products("Path", 3, s, nil)...)
	}
	g = append(g, ownProducts[int32]("int32")...)
	g = append(g, ownProducts[float64]("float64")...)
	g = append(g, patternProducts[float64]("float64")...)
	g = append(g, moreProducts()...)
	if allPositional() {
		g = append(g, positionalProducts("int32", []int32{0, 1}, []int32{5, -3})...)
	} else {
		g = append(g, positionalProducts("int32", nil, []int32{5})...)
	}
	g = append(g, products("float64", 4, userKernels(), nil)...)
	g = append(g, products("indexed", 4, indexed(), nil)...)
	g = append(g, products("indexed", 2, via(), nil)...)
	return append(g, products("mixed", 4, mixed(), nil)...)
}

// allPositional reports whether the kit tests every positional semiring, not a sample of them.
func allPositional() bool { return longtest.Enabled() || os.Getenv("HIVEBLAS_KIT") != "" }
