package semiring

import (
	"math"
	"reflect"

	"github.com/hiveblas/hiveblas/internal/cpu"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// Identity returns x.
func Identity[T any]() UnaryOp[T, T] {
	return UnaryOp[T, T]{in: once[keyIdentity[T]](newIdentity[T])}
}

func newIdentity[T any]() *innerUnary {
	op := mapping("identity", func(x T) T { return x }, "x", func(c, a []T) { copy(c, a) })
	op.Copies = true
	return op
}

// Ainv returns −x, the additive inverse.
func Ainv[T Number]() UnaryOp[T, T] {
	return UnaryOp[T, T]{in: once[keyAinv[T]](func() *innerUnary {
		return mapping("ainv", func(x T) T { return -x }, "-x", func(c, a []T) {
			MapFn(c, a, func(x T) T { return -x })
		})
	})}
}

// Minv returns 1/x, the multiplicative inverse; for integers see [Div].
func Minv[T Number]() UnaryOp[T, T] {
	return UnaryOp[T, T]{in: once[keyMinv[T]](func() *innerUnary {
		return newUnary("minv", func(x T) T { return div(1, x) }, "hb_div((T)1, x)")
	})}
}

// Abs returns |x|. The smallest integer of a signed type wraps around to itself.
func Abs[T Number]() UnaryOp[T, T] {
	return UnaryOp[T, T]{in: once[keyAbs[T]](func() *innerUnary {
		return mapping("abs", abs[T], "x < 0 ? -x : x", func(c, a []T) {
			MapFn(c, a, func(x T) T {
				if x < 0 {
					return -x
				}
				return x
			})
		})
	})}
}

func abs[T Number](x T) T {
	if x < 0 {
		return -x
	}
	return x
}

// OneOp returns 1 (true) for every x.
func OneOp[A any, C Element]() UnaryOp[A, C] {
	return UnaryOp[A, C]{in: once[keyOneOp[A, C]](func() *innerUnary {
		one := One[C]()
		return mapping("one", func(A) C { return one }, "1", func(c []C, _ []A) {
			for p := range c {
				c[p] = one
			}
		})
	})}
}

// Lnot returns the negation.
func Lnot() UnaryOp[bool, bool] {
	return UnaryOp[bool, bool]{in: newUnary("lnot", func(x bool) bool { return !x }, "!x")}
}

// Sqrt returns √x.
func Sqrt[T Float]() UnaryOp[T, T] {
	return UnaryOp[T, T]{in: once[keySqrt[T]](func() *innerUnary {
		return mapping("sqrt", func(x T) T { return T(math.Sqrt(float64(x))) }, "sqrt(x)", func(c, a []T) {
			MapFn(c, a, func(x T) T { return T(math.Sqrt(float64(x))) })
		})
	})}
}

// Exp returns eˣ.
func Exp[T Float]() UnaryOp[T, T] {
	return UnaryOp[T, T]{in: once[keyExp[T]](func() *innerUnary {
		return newUnary("exp", func(x T) T { return T(math.Exp(float64(x))) }, "exp(x)")
	})}
}

// Log returns the natural logarithm.
func Log[T Float]() UnaryOp[T, T] {
	return UnaryOp[T, T]{in: once[keyLog[T]](func() *innerUnary {
		return newUnary("log", func(x T) T { return T(math.Log(float64(x))) }, "log(x)")
	})}
}

// Convert converts x to C. Integers wrap around, as in Go. Floats are truncated towards zero; one
// beyond the integers of C becomes the largest or the smallest of them, and NaN becomes 0, as in
// SuiteSparse:GraphBLAS.
func Convert[A, C Number]() UnaryOp[A, C] {
	return UnaryOp[A, C]{in: once[keyConvert[A, C]](func() *innerUnary {
		if !isInteger[A]() && isInteger[C]() {
			most, least := MaxValue[C](), MinValue[C]()
			return mapping("convert", func(x A) C { return saturated(x, most, least) }, "hb_convert((C)0, x)", func(c []C, a []A) {
				MapFn(c, a, func(x A) C { return saturated(x, most, least) })
			})
		}
		return mapping("convert", func(x A) C { return C(x) }, "(C)x", func(c []C, a []A) {
			MapFn(c, a, func(x A) C { return C(x) })
		})
	})}
}

// saturated converts a float to an integer. The largest and smallest values of the integer type are
// given.
func saturated[A, C Number](x A, most, least C) C {
	switch v := float64(x); {
	case v >= float64(most): // rounded up to a power of two for 64 bits
		return most
	case v <= float64(least):
		return least
	case v != v:
		return 0
	}
	return C(x)
}

// RowIndex returns the row of an entry plus k.
func RowIndex[A any, C Integer](k C) IndexOp[A, C] {
	return byPosition("rowindex", func(_ A, i, _ int) C { return C(i) + k }, "i + "+scalarCUDA(k))
}

// ColIndex returns the column of an entry plus k.
func ColIndex[A any, C Integer](k C) IndexOp[A, C] {
	return byPosition("colindex", func(_ A, _, j int) C { return C(j) + k }, "j + "+scalarCUDA(k))
}

// DiagIndex returns the diagonal of an entry, column − row + k.
func DiagIndex[A any, C Integer](k C) IndexOp[A, C] {
	return byPosition("diagindex", func(_ A, i, j int) C { return C(j-i) + k }, "j - i + "+scalarCUDA(k))
}

// byPosition returns an operator that does not read the value.
func byPosition[A, C any](name string, f func(_ A, i, j int) C, cuda string) IndexOp[A, C] {
	op := newIndex(name, f, cuda)
	op.UsesValue = false
	return IndexOp[A, C]{in: op}
}

// positional returns the predicate on positions that f computes.
//
//go:noinline
func positional(name, cuda string, f func(i, j int) bool) *innerSelect {
	keep := func(keep []uint8, _ cpu.Values, i int, ci []int32, j0 int, swap bool) {
		for p := range keep {
			j := j0 + p
			if ci != nil {
				j = int(ci[p])
			}
			if swap {
				keep[p] = b2u(f(j, i))
			} else {
				keep[p] = b2u(f(i, j))
			}
		}
	}
	return selecting(&cpu.Predicate{Keep: keep}, name, cuda, nil)
}

// band returns the predicate lo ≤ j−i ≤ hi.
//
//go:noinline
func band(name, cuda string, lo, hi int) *innerSelect {
	return banded(positional(name, cuda, func(i, j int) bool { return lo <= j-i && j-i <= hi }), lo, hi, false)
}

// banded records that op keeps the entries with lo ≤ j−i ≤ hi, or with off the others.
func banded(op *innerSelect, lo, hi int, off bool) *innerSelect {
	limit := func(k int) int64 { return int64(min(max(k, -noLimit), noLimit)) } // row + k must not overflow
	op.Band, op.Off, op.Lo, op.Hi = true, off, limit(lo), limit(hi)
	return op
}

const noLimit = 1 << 40

// Tril keeps the entries on and below diagonal k: column ≤ row + k.
func Tril[A any](k int) SelectOp[A] { return SelectOp[A]{in: tril(k)} }

func tril(k int) *innerSelect { return band("tril", "j - i <= "+scalarCUDA(k), -noLimit, k) }

// Triu keeps the entries on and above diagonal k: column ≥ row + k.
func Triu[A any](k int) SelectOp[A] { return SelectOp[A]{in: triu(k)} }

func triu(k int) *innerSelect { return band("triu", "j - i >= "+scalarCUDA(k), k, noLimit) }

// DiagSelect keeps diagonal k: column = row + k.
func DiagSelect[A any](k int) SelectOp[A] { return SelectOp[A]{in: diagonal(k)} }

func diagonal(k int) *innerSelect { return band("diag", "j - i == "+scalarCUDA(k), k, k) }

// Offdiag keeps the entries outside diagonal k.
func Offdiag[A any](k int) SelectOp[A] { return SelectOp[A]{in: offdiag(k)} }

func offdiag(k int) *innerSelect {
	op := positional("offdiag", "j - i != "+scalarCUDA(k), func(i, j int) bool { return j-i != k })
	return banded(op, k, k, true)
}

// RowLE keeps rows up to k.
func RowLE[A any](k int) SelectOp[A] { return SelectOp[A]{in: rowLE(k)} }

func rowLE(k int) *innerSelect {
	return positional("rowle", "i <= "+scalarCUDA(k), func(i, _ int) bool { return i <= k })
}

// RowGT keeps rows after k.
func RowGT[A any](k int) SelectOp[A] { return SelectOp[A]{in: rowGT(k)} }

func rowGT(k int) *innerSelect {
	return positional("rowgt", "i > "+scalarCUDA(k), func(i, _ int) bool { return i > k })
}

// ColLE keeps columns up to k.
func ColLE[A any](k int) SelectOp[A] { return SelectOp[A]{in: colLE(k)} }

func colLE(k int) *innerSelect {
	return positional("colle", "j <= "+scalarCUDA(k), func(_, j int) bool { return j <= k })
}

// ColGT keeps columns after k.
func ColGT[A any](k int) SelectOp[A] { return SelectOp[A]{in: colGT(k)} }

func colGT(k int) *innerSelect {
	return positional("colgt", "j > "+scalarCUDA(k), func(_, j int) bool { return j > k })
}

// valueTest is the predicate of a comparison with y, in one piece of memory.
type valueTest[A any] struct {
	in innerSelect
	k  cpu.Predicate
	y  A
}

// byValue returns the comparison of values with y. keep returns its loop for y's kind and address.
func byValue[A any](name, cuda string, y A) *valueTest[A] {
	t := &valueTest[A]{k: cpu.Predicate{UsesValue: true, ByValue: true}, y: y}
	t.k.Bound = cpu.Value(&t.y)
	t.in.SelectOperator = cpu.SelectOperator{Predicate: &t.k, Name: name, CUDA: cuda}
	return t
}

// keepFunc is the loop of a predicate on values.
type keepFunc = func(keep []uint8, a cpu.Values, _ int, _ []int32, _ int, _ bool)

// compared returns the comparison with a number y. loop gives the loop of its kind.
func compared[A Number](name, cuda string, y A, loop func(k kind, y cpu.Value) keepFunc) SelectOp[A] {
	t := byValue(name, cuda, y)
	t.k.Keep = loop(kindOf[A](), cpu.Value(&t.y))
	return SelectOp[A]{in: &t.in}
}

func b2u(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

// comparison returns text for types that CUDA C can compare, or "".
func comparison[A any](text string) string {
	switch reflect.TypeFor[A]().Kind() {
	case reflect.Struct, reflect.Array, reflect.String, reflect.Interface, reflect.Pointer, reflect.Chan, reflect.Complex64, reflect.Complex128:
		return ""
	}
	return text
}

// ValueEQ keeps the entries equal to y; see [ValueGT] for its type.
func ValueEQ[A comparable](y A) SelectOp[A] {
	t := byValue("valueeq", comparison[A]("x == y"), y)
	t.k.Keep = func(keep []uint8, a cpu.Values, _ int, _ []int32, _ int, _ bool) {
		keepEQ(keep, sparse.SliceOf[A](a), t.y)
	}
	return SelectOp[A]{in: &t.in}
}

// ValueNE keeps the entries that differ from y; see [ValueGT] for its type.
func ValueNE[A comparable](y A) SelectOp[A] {
	t := byValue("valuene", comparison[A]("x != y"), y)
	t.k.Keep = func(keep []uint8, a cpu.Values, _ int, _ []int32, _ int, _ bool) {
		keepNE(keep, sparse.SliceOf[A](a), t.y)
	}
	return SelectOp[A]{in: &t.in}
}

// ValueLT keeps the entries less than y; see [ValueGT] for its type.
func ValueLT[A Number](y A) SelectOp[A] {
	return compared("valuelt", "x < y", y, loopLT)
}

// ValueLE keeps the entries less than or equal to y; see [ValueGT] for its type.
func ValueLE[A Number](y A) SelectOp[A] {
	return compared("valuele", "x <= y", y, loopLE)
}

// ValueGT keeps the entries greater than y, which has the type of the entries: ValueGT(1.0) or
// ValueGT[float64](1) for float64, since ValueGT(1) is of ints.
func ValueGT[A Number](y A) SelectOp[A] {
	return compared("valuegt", "x > y", y, loopGT)
}

// ValueGE keeps the entries greater than or equal to y; see [ValueGT] for its type.
func ValueGE[A Number](y A) SelectOp[A] {
	return compared("valuege", "x >= y", y, loopGE)
}

// The loops of the comparisons. They are functions of their own because Go does
// not inline MapFn into a closure that it inlined into another package: 2.9
// times slower (ValueLE over 36692 values).

func keepEQ[A comparable](keep []uint8, a []A, y A) {
	a = a[:len(keep)]
	for p, x := range a {
		keep[p] = b2u(x == y)
	}
}

func keepNE[A comparable](keep []uint8, a []A, y A) {
	a = a[:len(keep)]
	for p, x := range a {
		keep[p] = b2u(x != y)
	}
}

func keepLT[A Number](keep []uint8, a []A, y A) {
	a = a[:len(keep)]
	for p, x := range a {
		keep[p] = b2u(x < y)
	}
}

func keepLE[A Number](keep []uint8, a []A, y A) {
	a = a[:len(keep)]
	for p, x := range a {
		keep[p] = b2u(x <= y)
	}
}

func keepGT[A Number](keep []uint8, a []A, y A) {
	a = a[:len(keep)]
	for p, x := range a {
		keep[p] = b2u(x > y)
	}
}

func keepGE[A Number](keep []uint8, a []A, y A) {
	a = a[:len(keep)]
	for p, x := range a {
		keep[p] = b2u(x >= y)
	}
}

func loopLT(k kind, y cpu.Value) keepFunc {
	switch k {
	case kindInt8:
		return keeping(y, keepLT[int8])
	case kindInt16:
		return keeping(y, keepLT[int16])
	case kindInt32:
		return keeping(y, keepLT[int32])
	case kindInt64:
		return keeping(y, keepLT[int64])
	case kindUint8:
		return keeping(y, keepLT[uint8])
	case kindUint16:
		return keeping(y, keepLT[uint16])
	case kindUint32:
		return keeping(y, keepLT[uint32])
	case kindUint64:
		return keeping(y, keepLT[uint64])
	case kindFloat32:
		return keeping(y, keepLT[float32])
	}
	return keeping(y, keepLT[float64])
}

func loopLE(k kind, y cpu.Value) keepFunc {
	switch k {
	case kindInt8:
		return keeping(y, keepLE[int8])
	case kindInt16:
		return keeping(y, keepLE[int16])
	case kindInt32:
		return keeping(y, keepLE[int32])
	case kindInt64:
		return keeping(y, keepLE[int64])
	case kindUint8:
		return keeping(y, keepLE[uint8])
	case kindUint16:
		return keeping(y, keepLE[uint16])
	case kindUint32:
		return keeping(y, keepLE[uint32])
	case kindUint64:
		return keeping(y, keepLE[uint64])
	case kindFloat32:
		return keeping(y, keepLE[float32])
	}
	return keeping(y, keepLE[float64])
}

func loopGT(k kind, y cpu.Value) keepFunc {
	switch k {
	case kindInt8:
		return keeping(y, keepGT[int8])
	case kindInt16:
		return keeping(y, keepGT[int16])
	case kindInt32:
		return keeping(y, keepGT[int32])
	case kindInt64:
		return keeping(y, keepGT[int64])
	case kindUint8:
		return keeping(y, keepGT[uint8])
	case kindUint16:
		return keeping(y, keepGT[uint16])
	case kindUint32:
		return keeping(y, keepGT[uint32])
	case kindUint64:
		return keeping(y, keepGT[uint64])
	case kindFloat32:
		return keeping(y, keepGT[float32])
	}
	return keeping(y, keepGT[float64])
}

func loopGE(k kind, y cpu.Value) keepFunc {
	switch k {
	case kindInt8:
		return keeping(y, keepGE[int8])
	case kindInt16:
		return keeping(y, keepGE[int16])
	case kindInt32:
		return keeping(y, keepGE[int32])
	case kindInt64:
		return keeping(y, keepGE[int64])
	case kindUint8:
		return keeping(y, keepGE[uint8])
	case kindUint16:
		return keeping(y, keepGE[uint16])
	case kindUint32:
		return keeping(y, keepGE[uint32])
	case kindUint64:
		return keeping(y, keepGE[uint64])
	case kindFloat32:
		return keeping(y, keepGE[float32])
	}
	return keeping(y, keepGE[float64])
}

// keeping returns the loop of a comparison with the value at y.
func keeping[A Number](y cpu.Value, loop func(keep []uint8, a []A, y A)) keepFunc {
	return func(keep []uint8, a cpu.Values, _ int, _ []int32, _ int, _ bool) {
		loop(keep, sparse.SliceOf[A](a), *(*A)(y))
	}
}
