package ctext

import (
	"math"
	"math/bits"
	"reflect"
)

// The functions that texts call. A function of floats has a form for double, and with the letter f
// for float; the first is also overloaded for float, as in CUDA C++. The float forms round the
// result of the double form.

var unaryFloats = map[string]func(float64) float64{
	"sqrt": math.Sqrt, "cbrt": math.Cbrt, "exp": math.Exp, "exp2": math.Exp2, "expm1": math.Expm1,
	"exp10": func(x float64) float64 { return math.Pow(10, x) },
	"log":   math.Log, "log2": math.Log2, "log10": math.Log10, "log1p": math.Log1p,
	"sin": math.Sin, "cos": math.Cos, "tan": math.Tan, "asin": math.Asin, "acos": math.Acos, "atan": math.Atan,
	"sinh": math.Sinh, "cosh": math.Cosh, "tanh": math.Tanh, "asinh": math.Asinh, "acosh": math.Acosh, "atanh": math.Atanh,
	"erf": math.Erf, "erfc": math.Erfc, "tgamma": math.Gamma,
	"lgamma": func(x float64) float64 { y, _ := math.Lgamma(x); return y },
	"floor":  math.Floor, "ceil": math.Ceil, "trunc": math.Trunc, "round": math.Round,
	"rint": math.RoundToEven, "nearbyint": math.RoundToEven, "fabs": math.Abs,
	"rsqrt": func(x float64) float64 { return 1 / math.Sqrt(x) },
}

var binaryFloats = map[string]func(x, y float64) float64{
	"pow": math.Pow, "hypot": math.Hypot, "atan2": math.Atan2, "fmod": math.Mod, "remainder": math.Remainder,
	"copysign": math.Copysign, "fmin": least[float64], "fmax": most[float64], "fdim": func(x, y float64) float64 {
		if x <= y {
			return 0
		}
		return x - y
	},
}

// least and most return the operand that is not NaN, if one is.
func least[T number](x, y T) T {
	if y < x || x != x {
		return y
	}
	return x
}

func most[T number](x, y T) T {
	if x < y || x != x {
		return y
	}
	return x
}

var floatTests = map[string]func(float64) bool{
	"isnan": math.IsNaN, "signbit": math.Signbit,
	"isinf":    func(x float64) bool { return math.IsInf(x, 0) },
	"isfinite": func(x float64) bool { return !math.IsInf(x, 0) && x == x },
}

// call returns a call of a function.
func (p *parser) call(name token, args []value) (value, error) {
	want := func(n int) error {
		if len(args) != n {
			return p.failAt(name.at, "the call has another number of arguments than the function", "see the manual of CUDA's math library")
		}
		for _, a := range args {
			if a.kind == reflect.Struct {
				return p.failAt(name.at, "an argument is a struct", "give one of its fields")
			}
		}
		return nil
	}
	base, single := name.text, false
	if n := len(base) - 1; n > 0 && base[n] == 'f' {
		if _, ok := unaryFloats[base[:n]]; ok {
			base, single = base[:n], true
		} else if _, ok := binaryFloats[base[:n]]; ok || base == "fmaf" {
			base, single = base[:n], true
		}
	}
	if f, ok := unaryFloats[base]; ok {
		if err := want(1); err != nil {
			return value{}, err
		}
		return floatCall(single || args[0].kind == reflect.Float32, args, func(x []func(*Frame) float64) func(*Frame) float64 {
			x0 := x[0]
			return func(fr *Frame) float64 { return f(x0(fr)) }
		}), nil
	}
	if f, ok := binaryFloats[base]; ok {
		if err := want(2); err != nil {
			return value{}, err
		}
		return floatCall(single || common(args[0].kind, args[1].kind) == reflect.Float32, args, func(x []func(*Frame) float64) func(*Frame) float64 {
			x0, x1 := x[0], x[1]
			return func(fr *Frame) float64 { return f(x0(fr), x1(fr)) }
		}), nil
	}
	if f, ok := floatTests[base]; ok {
		if err := want(1); err != nil {
			return value{}, err
		}
		x := codeOf[float64](convert(args[0], reflect.Float64))
		return computed(reflect.Bool, args[0].known, func(fr *Frame) bool { return f(x(fr)) }), nil
	}
	if c, ok := fixedCalls[base]; ok {
		if err := want(1); err != nil {
			return value{}, err
		}
		return c(args[0]), nil
	}
	switch base {
	case "min", "max":
		if err := want(2); err != nil {
			return value{}, err
		}
		return extreme(base == "min", args[0], args[1]), nil
	case "abs", "labs", "llabs":
		if err := want(1); err != nil {
			return value{}, err
		}
		return p.absolute(name, args[0])
	case "fma":
		if err := want(3); err != nil {
			return value{}, err
		}
		return fused(single || common(common(args[0].kind, args[1].kind), args[2].kind) == reflect.Float32, args), nil
	}
	return value{}, p.failAt(name.at, "the host knows no function "+name.text, "use CUDA's functions of numbers, or run the program on a device")
}

// allKnown reports whether all values are constants.
func allKnown(args []value) bool {
	for _, a := range args {
		if !a.known {
			return false
		}
	}
	return true
}

// floatCall returns a call of a function of floats, in the single form or in the double form.
func floatCall(single bool, args []value, call func(x []func(*Frame) float64) func(*Frame) float64) value {
	x := make([]func(*Frame) float64, len(args))
	for i, a := range args {
		if single {
			a = convert(a, reflect.Float32)
		}
		x[i] = codeOf[float64](convert(a, reflect.Float64))
	}
	code := call(x)
	if single {
		return computed(reflect.Float32, allKnown(args), func(f *Frame) float32 { return float32(code(f)) })
	}
	return computed(reflect.Float64, allKnown(args), code)
}

// fused returns x·y + z, rounded once.
func fused(single bool, args []value) value {
	return floatCall(single, args, func(x []func(*Frame) float64) func(*Frame) float64 {
		a, b, c := x[0], x[1], x[2]
		if !single {
			return func(f *Frame) float64 { return math.FMA(a(f), b(f), c(f)) }
		}
		return func(f *Frame) float64 { return toOdd(a(f)*b(f), c(f)) }
	})
}

// toOdd returns x + y rounded to odd, so that rounding it to float32 rounds the exact sum.
func toOdd(x, y float64) float64 {
	s := x + y
	t := s - x
	if rest := (x - (s - t)) + (y - t); rest != 0 && !math.IsInf(s, 0) && rest == rest {
		if b := math.Float64bits(s); b&1 == 0 {
			if (rest > 0) == (s > 0) {
				return math.Float64frombits(b + 1)
			}
			return math.Float64frombits(b - 1)
		}
	}
	return s
}

// extreme returns the minimum or the maximum of two numbers.
func extreme(min bool, x, y value) value {
	k := common(x.kind, y.kind)
	x, y = convert(x, k), convert(y, k)
	switch k {
	case reflect.Int32:
		return extremeOf[int32](min, x, y)
	case reflect.Uint32:
		return extremeOf[uint32](min, x, y)
	case reflect.Int64:
		return extremeOf[int64](min, x, y)
	case reflect.Uint64:
		return extremeOf[uint64](min, x, y)
	case reflect.Float32:
		return extremeOf[float32](min, x, y)
	}
	return extremeOf[float64](min, x, y)
}

func extremeOf[T number](min bool, x, y value) value {
	p, q := codeOf[T](x), codeOf[T](y)
	if min {
		return computed(x.kind, x.known && y.known, func(f *Frame) T { return least(p(f), q(f)) })
	}
	return computed(x.kind, x.known && y.known, func(f *Frame) T { return most(p(f), q(f)) })
}

// absolute returns the absolute value of a number.
func (p *parser) absolute(name token, v value) (value, error) {
	k := wide(v.kind)
	if name.text != "abs" {
		k = reflect.Int64
	}
	v = convert(v, k)
	switch k {
	case reflect.Int32:
		return absoluteOf[int32](v), nil
	case reflect.Int64:
		return absoluteOf[int64](v), nil
	case reflect.Float32, reflect.Float64:
		return p.call(token{nameToken, "fabs", name.at}, []value{v})
	}
	return value{}, p.failAt(name.at, "abs is of signed numbers", "leave it out, or convert the number to int or long long")
}

func absoluteOf[T int32 | int64](v value) value {
	x := codeOf[T](v)
	return computed(v.kind, v.known, func(f *Frame) T {
		k := x(f)
		return max(k, -k)
	})
}

// fixedCalls are functions with arguments of one type.
var fixedCalls = map[string]func(value) value{
	"__popc":               fixed(reflect.Uint32, reflect.Int32, func(x uint32) int32 { return int32(bits.OnesCount32(x)) }),
	"__popcll":             fixed(reflect.Uint64, reflect.Int32, func(x uint64) int32 { return int32(bits.OnesCount64(x)) }),
	"__clz":                fixed(reflect.Uint32, reflect.Int32, func(x uint32) int32 { return int32(bits.LeadingZeros32(x)) }),
	"__clzll":              fixed(reflect.Uint64, reflect.Int32, func(x uint64) int32 { return int32(bits.LeadingZeros64(x)) }),
	"__ffs":                fixed(reflect.Uint32, reflect.Int32, func(x uint32) int32 { return int32((bits.TrailingZeros32(x) + 1) % 33) }),
	"__ffsll":              fixed(reflect.Uint64, reflect.Int32, func(x uint64) int32 { return int32((bits.TrailingZeros64(x) + 1) % 65) }),
	"__brev":               fixed(reflect.Uint32, reflect.Uint32, bits.Reverse32),
	"__brevll":             fixed(reflect.Uint64, reflect.Uint64, bits.Reverse64),
	"__float_as_int":       fixed(reflect.Float32, reflect.Int32, func(x float32) int32 { return int32(math.Float32bits(x)) }),
	"__float_as_uint":      fixed(reflect.Float32, reflect.Uint32, math.Float32bits),
	"__int_as_float":       fixed(reflect.Int32, reflect.Float32, func(x int32) float32 { return math.Float32frombits(uint32(x)) }),
	"__uint_as_float":      fixed(reflect.Uint32, reflect.Float32, math.Float32frombits),
	"__double_as_longlong": fixed(reflect.Float64, reflect.Int64, func(x float64) int64 { return int64(math.Float64bits(x)) }),
	"__longlong_as_double": fixed(reflect.Int64, reflect.Float64, func(x int64) float64 { return math.Float64frombits(uint64(x)) }),
}

func fixed[A, B any](from, to reflect.Kind, call func(A) B) func(value) value {
	return func(v value) value {
		x := codeOf[A](convert(v, from))
		return computed(to, v.known, func(f *Frame) B { return call(x(f)) })
	}
}
