package ctext

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
)

// pair is a struct of the tests.
var pair = &Type{Kind: reflect.Struct, Size: 16, Fields: []Field{{"far", reflect.Float64, 0}, {"hops", reflect.Int32, 8}, {"on", reflect.Bool, 12}}}

// bench has a variable of each kind.
type bench struct {
	layout Layout
	frame  *Frame
	vars   []Var
}

func newBench() *bench {
	b := &bench{frame: NewFrame(NewWatch(nil))}
	for _, v := range []struct {
		name string
		of   *Type
	}{{"b", Number(reflect.Bool)}, {"c", Number(reflect.Int8)}, {"s", Number(reflect.Int16)}, {"i", Number(reflect.Int32)},
		{"l", Number(reflect.Int64)}, {"uc", Number(reflect.Uint8)}, {"us", Number(reflect.Uint16)}, {"u", Number(reflect.Uint32)},
		{"ul", Number(reflect.Uint64)}, {"f", Number(reflect.Float32)}, {"d", Number(reflect.Float64)}, {"p", pair}, {"q", pair}} {
		at, _ := b.layout.Place(v.of)
		b.vars = append(b.vars, Var{v.name, v.of, at, v.name == "q"})
	}
	return b
}

func (b *bench) text(s string) Text {
	return Text{Part: "apply", Text: s, Vars: b.vars, Types: map[string]*Type{"V": pair, "M": Number(reflect.Float32)}}
}

func (b *bench) set() {
	at := func(name string) Place {
		for _, v := range b.vars {
			if v.Name == name {
				return v.At
			}
		}
		return 0
	}
	*At[bool](b.frame, at("b")) = true
	*At[int8](b.frame, at("c")) = -100
	*At[int16](b.frame, at("s")) = 30000
	*At[int32](b.frame, at("i")) = math.MaxInt32
	*At[int64](b.frame, at("l")) = math.MinInt64
	*At[uint8](b.frame, at("uc")) = 200
	*At[uint16](b.frame, at("us")) = 65535
	*At[uint32](b.frame, at("u")) = 3
	*At[uint64](b.frame, at("ul")) = math.MaxUint64
	*At[float32](b.frame, at("f")) = 0.1
	*At[float64](b.frame, at("d")) = 0.1
	*At[float64](b.frame, at("p")) = 2.5
	*At[int32](b.frame, at("p")+8) = 7
	*At[float64](b.frame, at("q")) = -1
	*At[int32](b.frame, at("q")+8) = 9
}

// expressionTests are values of expressions, by C's rules, for the variables of set.
var expressionTests = map[string]float64{
	"1 + 2 * 3": 7, "(1 + 2) * 3": 9, "7 / 2": 3, "-7 / 2": -3, "-7 % 3": -1, "7.0 / 2": 3.5, "1 << 4 | 3": 19, "6 & 3 ^ 1": 3,
	"i + 1": math.MinInt32, "l - 1": math.MaxInt64, "u - 4": math.MaxUint32, "-u": math.MaxUint32 - 2, "ul + 2": 1,
	"c + c": -200, "(hb_i8)(c + c)": 56, "uc + uc": 400, "us + 1": 65536, "s * s": 900000000, "(short)(s + s)": -5536,
	"-1 < u": 0, "-1 < (int)u": 1, "l < u": 1, "l < ul": 1, "-1ll < u": 1, "c < uc": 1, "b + b": 2, "!b": 0, "!f": 0, "~0": -1, "~0u": math.MaxUint32,
	"f == 0.1f": 1, "f == 0.1": 0, "f == d": 0, "(double)f == f": 1, "f + 0.2f": float64(float32(0.1) + float32(0.2)), "f * 3": float64(float32(0.1) * 3),
	"f * 3.0": float64(float32(0.1)) * 3, "16777216.0f + 1": 16777216, "16777216.0 + 1": 16777217, "1e10f * 1e30f": math.Inf(1),
	"1u << 31": 1 << 31, "1 << 31": math.MinInt32, "1 << 32": 0, "-8 >> 1": -4, "-8 >> 40": -1, "-8u >> 1": 0x7ffffffc, "1ull << 40": 1 << 40,
	"0x10": 16, "010": 8, "0b101": 5, "0xffffffff": math.MaxUint32, "2147483648": 2147483648, "2147483647 + 1": math.MinInt32, "0x1p-3": .125, ".5e1": 5,
	"1.": 1, "0xful": 15, "true + 1": 2, "i > 3 ? 10 : 20.5": 10, "b ? c : uc": -100, "b ? c : ul": math.MaxUint64 - 99,
	"false && 1 / (u - 3)": 0, "true || 1 / (u - 3)": 1, "p.far + p.hops": 9.5, "(p.far < q.far ? p : q).hops": 9, "V{1, 2}.hops": 2,
	"(int)3.9": 3, "(int)-3.9": -3, "(int)1e20": math.MaxInt32, "(int)NAN": 0, "(unsigned)-1.5": 0, "(long long)-1e30": math.MinInt64,
	"(hb_u64)1e30": math.MaxUint64, "(bool)0.5": 1, "(hb_u8)257": 1, "unsigned(7)": 7, "float(1) / 3": float64(float32(1) / 3), "static_cast<double>(1) / 4": .25,
	"(unsigned long long)c": math.MaxUint64 - 99, "(unsigned char)c": 156, "(M)d == f": 1, "(i, 4)": 4,
	"min(3, 4u)": 3, "max(-1, 4u)": math.MaxUint32, "min(NAN, 4.0f)": 4, "max(2.5f, 2.0)": 2.5, "abs(c)": 100, "abs(-2.5f)": 2.5, "fabsf(-1)": 1,
	"sqrt(2.25f)": 1.5, "sqrtf(2)": float64(float32(math.Sqrt2)), "sqrt(2.0)": math.Sqrt2, "floorf(-1.5f)": -2, "round(2.5)": 3, "rint(2.5)": 2,
	"powf(2, 10)": 1024, "pow(2.0, -1)": .5, "fmod(7.0, 4)": 3, "isinf(INFINITY)": 1, "isnan(NAN)": 1, "isfinite(1.0f)": 1, "signbit(-0.0)": 1,
	"fma(2.0, 3.0, 1.0)": 7, "__popc(0xf0f0)": 8, "__clz(1)": 31, "__ffs(8)": 4, "__ffs(0)": 0, "__ffsll(0)": 0, "__float_as_int(1.0f)": 0x3f800000,
	"INFINITY": math.Inf(1), "hypot(3.0, 4)": 5, "erff(0)": 0, "/* a comment */ 3": 3, "fminf(NAN, 2)": 2,
	"INT_MIN - 1": math.MaxInt32, "UINT_MAX + 1": 0, "LLONG_MAX + 1": math.MinInt64, "LLONG_MIN": math.MinInt64, "ULLONG_MAX + 2": 1, "INT_MAX": math.MaxInt32,
	"FLT_MAX": math.MaxFloat32, "FLT_MIN": 0x1p-126, "FLT_EPSILON": 0x1p-23, "DBL_MAX": math.MaxFloat64, "DBL_MIN": 0x1p-1022, "DBL_EPSILON": 0x1p-52,
}

func TestExpressions(t *testing.T) {
	t.Parallel()
	for text, want := range expressionTests {
		b := newBench()
		b.set()
		code, err := Compute[float64](&b.layout, b.text(text), reflect.Float64)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := code(b.frame); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
		if err := b.frame.watch.Err(); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// statementTests are statements, and the value that they leave in d.
var statementTests = map[string]float64{
	"d = 3": 3, "d = u = 4": 4, "d += 2; d *= 2;": 4.2, "c += 300; d = c": -56, "uc++; d = uc": 201, "d = uc++ + 0": 200, "d = ++uc": 201, "b = 5; d = b": 1,
	"i -= 1; d = i--; d += i": 2*math.MaxInt32 - 3, "u <<= 2; d = u": 12, "if (f < d) d = 1; else d = 2;": 2, "if (b) { d = 1; } else if (u) d = 2;": 1,
	"d = 0; for (int k = 0; k < 10; k++) { if (k == 3) continue; if (k == 6) break; d += k; }": 12, "d = 0; while (d < 5) d++;": 5, "d = 0; do { d += 2; } while (d < 5);": 6,
	"d = 0; for (int k = 0, j = 10; k < j; k++, j--) d += 1;": 5, "p = {p.hops, p.far}; d = p.far * 10 + p.hops;": 72, "V x = p; x.far++; d = x.far": 3.5,
	"p = q; d = p.far": -1, "V x; d = x.far + x.hops": 0, "auto x = p; x.hops += 3; d = x.hops": 10, "const V &x = p; p.hops = 2; d = x.hops": 2, "const float x = 1, y = 2; d = x + y": 3,
	"float x{3}; d = x": 3, "p.on = p.hops; d = p.on": 1, "d = (p.hops = 4) + 1": 5, "; d = 1;;": 1, "{ float d = 3; d++; } d = 2": 2,
	"d = 0; for (;;) { if (++d == 7) break; }": 7, "V x = {1, 2, true}; p = x.on ? x : p; d = p.hops": 2, "p = {}; d = p.far + p.hops": 0,
	"int x = 1; { int x = 2; x++; } d = x": 1, "d = p.far++; d += p.far": 6, "unsigned long long x = -1; d = x >> 60": 15,
}

func TestStatements(t *testing.T) {
	t.Parallel()
	for text, want := range statementTests {
		b := newBench()
		b.set()
		code, err := b.layout.Statements(b.text(text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		code(b.frame)
		if got := *At[float64](b.frame, b.vars[10].At); math.Abs(got-want) > 1e-12 || b.frame.watch.Err() != nil {
			t.Errorf("%s: %v, want %v, %v", text, got, want, b.frame.watch.Err())
		}
	}
}

// TestErrors: texts that do not compile, and texts that fail when they run.
func TestErrors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"d = wieght": "knows no name wieght", "d = 1 +": "not complete", "q.far = 1": "const", "3 = d": "no variable", "d = p": "struct", "p = 3": "struct",
		"p + 1": "operand is a struct", "d = p.near": "no such field", "d.x = 1": "before the point is a number", "d = f % 2": "of integers", "d = 1 / 0": "divided by zero",
		"d = 1 % 0": "divided by zero", "d = 1 << f": "shifts", "d = ~f": "~ is of integers", "d = foo(1)": "no function foo", "d = sqrt(1, 2)": "number of arguments",
		"d = *p": "pointers", "d = p[0]": "arrays", "float x[3]": "arrays", "switch (1) {}": "switch", "return": "does not return", "d = total[0]": "no totals", "break;": "outside of a loop",
		"int x y": "no \";\"", "int i; int i;": "declared twice", "d = 1x": "not one of C", "d = 99999999999999999999": "not one of C", "d = 9223372036854775808": "larger than long long", "d = 1 @ 2": "no part of C",
		"d = (1": "no \")\"", "if b d = 1": "no \"(\"", "d = 1 /* x": "does not end", "d = 1 // x": "runs to the end", "auto x;": "has no value", "p = {1, 2, 3, 4}": "more values",
		"d = sizeof(d)": "sizeof", "float double x": "two types", "short long x": "no type of C", "d = abs(u)": "signed", "int &x = 3;": "reference", "d = " + strings.Repeat("(", 500): "levels",
		"while (b)": "missing", "do d++;": "no while", "float;": "name of a variable",
	} {
		b := newBench()
		_, err := b.layout.Statements(b.text(text))
		var bad *Error
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), want) || bad.Part != "apply" || bad.Remedy == "" {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	for text, want := range map[string]string{"i = 1 / (u - 3)": "divided by zero", "i = 1; i %= u - 3": "divided by zero", "for (;;) i++;": "iterations", "while (true) { while (i) ; }": "iterations"} {
		b := newBench()
		b.set()
		code, err := b.layout.Statements(b.text(text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		code(b.frame)
		if err := b.frame.watch.Err(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// FuzzStatements: a text compiles or is an error; what compiles ends.
func FuzzStatements(f *testing.F) {
	for _, text := range []string{"d = i + 1", "for (int k = 0; k < 10; k++) { if (k == 3) continue; d += k; }", "p = {1, 2}; p.far++", "d = min(u, 3) ? c : fabsf(f)",
		"const V &x = p; d = (x.far < 1 ? p : q).hops", "do { b = !b; } while (b && 0x1fp3 > 2)", "unsigned long long x{3}, y; y = x << 3 >> (short)c"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		b := newBench()
		b.set()
		code, err := b.layout.Statements(b.text(text))
		if err != nil {
			var bad *Error
			if !errors.As(err, &bad) || bad.Reason == "" || bad.Remedy == "" {
				t.Fatalf("%q: %T %v", text, err, err)
			}
			return
		}
		b.frame.watch.err.Store(&Error{}) // loops end soon
		code(b.frame)
	})
}
