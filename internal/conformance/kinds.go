package conformance

import (
	"math"
	"math/rand/v2"
	"reflect"

	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

// accumulator is an accumulator and an independent definition of it.
type accumulator[T any] struct {
	name     string
	combiner matrix.Combiner[T]
	f        func(x, y T) T
}

// kind is an element type of the kit, with its values and operators. Sums of ordinary values are
// exact, in floats too.
type kind[T comparable] struct {
	name      string
	ordinary  func(r *rand.Rand) T
	special   []T
	accums    []accumulator[T]
	semirings []semiring.Semiring[T, T, T]
	binary    []semiring.BinaryOp[T, T, T]
	monoids   []semiring.Monoid[T]
	unary     []semiring.UnaryOp[T, T]
	selects   []semiring.SelectOp[T]
	index     []semiring.IndexOp[T, T]
}

var kinds = map[reflect.Type]any{}

func kindOf[T comparable]() *kind[T] { return kinds[reflect.TypeFor[T]()].(*kind[T]) }

// register adds the operators of every type. nonzero is x ≠ 0 as a CUDA expression.
func register[T comparable](k *kind[T], nonzero string) {
	k.selects = append(k.selects,
		semiring.Tril[T](0), semiring.Tril[T](-2), semiring.Triu[T](0), semiring.Triu[T](3), semiring.DiagSelect[T](1),
		semiring.DiagSelect[T](-70), semiring.Offdiag[T](0), semiring.RowLE[T](2), semiring.RowGT[T](3),
		semiring.ColLE[T](4), semiring.ColGT[T](1), semiring.ValueEQ(*new(T)), semiring.ValueNE(*new(T)),
		semiring.NewSelect("closure", func(x T, i, j int) bool { return x != *new(T) && (i+j)%2 == 0 }, nonzero+" && (i + j) % 2 == 0"))
	k.index = append(k.index, semiring.NewIndex("closure", func(x T, i, j int) T {
		if (i+2*j)%3 == 0 {
			return *new(T)
		}
		return x
	}, "(i + 2 * j) % 3 == 0 ? T() : x"))
	kinds[reflect.TypeFor[T]()] = k
}

// numberValues returns a kind with the values and the accumulators of a number type alone: enough
// for results.
func numberValues[T semiring.Number](name string, special ...T) *kind[T] {
	signed := *new(T)-1 < 0
	float := T(1)/2 != 0
	k := &kind[T]{name: name, special: special}
	k.ordinary = func(r *rand.Rand) T {
		switch {
		case float: // powers of two: their products are exact
			return []T{1, 1, 2, 0, 2, 1}[r.IntN(6)] * T([]float64{1, -1}[r.IntN(2)])
		case signed:
			return T(r.IntN(7)) - 3
		}
		return T(r.IntN(5))
	}
	k.accums = []accumulator[T]{
		{"plus", semiring.Plus[T](), func(x, y T) T { return x + y }},
		{"minus", semiring.Minus[T](), func(x, y T) T { return x - y }},
		{"closure x-2y", matrix.CombineFunc[T](func(x, y T) T { return x - 2*y }), func(x, y T) T { return x - 2*y }},
		{"second", semiring.Second[T, T](), func(_, y T) T { return y }},
	}
	return k
}

func registerNumber[T semiring.Number](name string, special ...T) {
	float := T(1)/2 != 0
	k := numberValues(name, special...)
	k.semirings = []semiring.Semiring[T, T, T]{
		semiring.PlusTimes[T](), semiring.MinPlus[T](), semiring.MaxPlus[T](), semiring.MinTimes[T](),
		semiring.MaxTimes[T](), semiring.MinMax[T](), semiring.MaxMin[T](), semiring.PlusMin[T](),
		semiring.PlusMax[T](), semiring.PlusPlus[T](), semiring.PlusMinus[T](),
		semiring.New(semiring.Plus[T](), semiring.NewBinary("x+2y", func(x, y T) T { return x + 2*y }, "x + 2 * y")),
		semiring.New(semiring.Max[T](), semiring.First[T, T]()),
		semiring.New(semiring.Min[T](), semiring.Second[T, T]()),
		semiring.New(semiring.Any[T](), semiring.Minus[T]()),
		semiring.New(semiring.Plus[T](), semiring.Pair[T, T, T]()),
	}
	k.binary = []semiring.BinaryOp[T, T, T]{
		semiring.Plus[T]().Op(), semiring.Minus[T](), semiring.Times[T]().Op(), semiring.Min[T]().Op(), semiring.Max[T]().Op(),
		semiring.First[T, T](), semiring.Second[T, T](), semiring.Pair[T, T, T](), semiring.Div[T](), semiring.Rminus[T](), semiring.Rdiv[T](),
	}
	k.monoids = []semiring.Monoid[T]{semiring.Plus[T](), semiring.Min[T](), semiring.Max[T](), semiring.Any[T]()}
	if float {
		k.monoids = append(k.monoids, semiring.Times[T]())
	}
	k.unary = []semiring.UnaryOp[T, T]{
		semiring.Identity[T](), semiring.Ainv[T](), semiring.Abs[T](), semiring.Minv[T](), semiring.OneOp[T, T](),
		semiring.NewUnary("closure x+1", func(x T) T { return x + 1 }, "x + 1"),
	}
	k.selects = []semiring.SelectOp[T]{semiring.ValueLT[T](1), semiring.ValueLE[T](1), semiring.ValueGT[T](1), semiring.ValueGE[T](1)}
	register(k, "x != 0")
}

func largest[T semiring.Integer]() []T {
	return []T{semiring.MaxValue[T](), semiring.MinValue[T](), semiring.MaxValue[T]()/2 + 1}
}

func registerInteger[T semiring.Integer](name string) {
	registerNumber(name, largest[T]()...)
	k := kindOf[T]()
	k.monoids = append(k.monoids, semiring.Bor[T](), semiring.Band[T](), semiring.Bxor[T](), semiring.Times[T]())
	k.binary = append(k.binary, semiring.Pow[T]())
	k.index = append(k.index, semiring.RowIndex[T](T(1)), semiring.ColIndex[T](T(0)), semiring.DiagIndex[T](T(2)))
}

func registerBool() {
	type op = accumulator[bool]
	not := func(x, y bool) bool { return x && !y }
	k := &kind[bool]{name: "bool", ordinary: func(r *rand.Rand) bool { return r.IntN(3) > 0 }, special: []bool{true}}
	k.accums = []op{
		{"lor", semiring.Lor(), func(x, y bool) bool { return x || y }},
		{"and not", semiring.NewBinary("andnot", not, "x && !y"), not},
		{"closure", matrix.CombineFunc[bool](not), not},
		{"second", semiring.Second[bool, bool](), func(_, y bool) bool { return y }},
	}
	k.semirings = []semiring.Semiring[bool, bool, bool]{
		semiring.LorLand(), semiring.LandLor(), semiring.LxorLand(), semiring.LxnorLor(), semiring.AnyPair[bool](),
		semiring.AnyFirst[bool](), semiring.AnySecond[bool](),
		semiring.New(semiring.Lor(), semiring.NewBinary("andnot", not, "x && !y")),
	}
	k.binary = []semiring.BinaryOp[bool, bool, bool]{
		semiring.Lor().Op(), semiring.Land().Op(), semiring.Lxor().Op(), semiring.Lxnor().Op(), semiring.First[bool, bool](),
		semiring.Second[bool, bool](), semiring.Pair[bool, bool, bool](), semiring.Eq[bool](), semiring.Ne[bool](), semiring.NewBinary("andnot", not, "x && !y"),
	}
	k.monoids = []semiring.Monoid[bool]{semiring.Lor(), semiring.Land(), semiring.Lxor(), semiring.Lxnor(), semiring.Any[bool]()}
	k.unary = []semiring.UnaryOp[bool, bool]{semiring.Lnot(), semiring.Identity[bool](), semiring.OneOp[bool, bool]()}
	register(k, "x")
}

// Path is the user-defined type of the kit: the length of a shortest path and the number of such
// paths.
type Path struct {
	Length int32
	Count  uint32
}

// registerPath registers the semiring that counts shortest paths.
func registerPath() {
	shorter := func(x, y Path) Path {
		switch {
		case x.Length < y.Length:
			return x
		case y.Length < x.Length:
			return y
		}
		return Path{x.Length, x.Count + y.Count}
	}
	then := func(x, y Path) Path { return Path{x.Length + y.Length, x.Count * y.Count} }
	left := func(x, y Path) Path { return Path{x.Length - y.Length, x.Count + 2*y.Count} }
	k := &kind[Path]{name: "Path", special: []Path{{}, {1, 1 << 31}}}
	k.ordinary = func(r *rand.Rand) Path { return Path{int32(r.IntN(5)), uint32(r.IntN(3))} }
	sum := semiring.NewBinary("shorter", shorter, "x.Length < y.Length ? x : y.Length < x.Length ? y : C{x.Length, x.Count + y.Count}")
	k.accums = []accumulator[Path]{
		{"shorter", sum, shorter},
		{"left", semiring.NewBinary("left", left, "C{x.Length - y.Length, x.Count + 2 * y.Count}"), left},
		{"closure", matrix.CombineFunc[Path](left), left},
	}
	best := semiring.NewMonoid(sum, Path{math.MaxInt32, 0})
	k.semirings = []semiring.Semiring[Path, Path, Path]{
		semiring.New(best, semiring.NewBinary("then", then, "C{x.Length + y.Length, x.Count * y.Count}")),
		semiring.New(semiring.Any[Path](), semiring.First[Path, Path]()),
	}
	k.binary = []semiring.BinaryOp[Path, Path, Path]{sum, semiring.NewBinary("left", left, "C{x.Length - y.Length, x.Count + 2 * y.Count}"), semiring.First[Path, Path](), semiring.Second[Path, Path]()}
	k.monoids = []semiring.Monoid[Path]{best, semiring.Any[Path]()}
	k.unary = []semiring.UnaryOp[Path, Path]{semiring.Identity[Path](), semiring.NewUnary("double", func(x Path) Path { return Path{2 * x.Length, x.Count} }, "C{2 * x.Length, x.Count}")}
	register(k, "(x.Length != 0 || x.Count != 0)")
}

func init() {
	registerBool()
	registerInteger[int32]("int32")
	registerNumber("float64", math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1))
	registerPath()
	registerMore()
}
