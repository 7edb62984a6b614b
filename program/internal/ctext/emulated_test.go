package ctext

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/emu"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/sure"
)

// writer writes random expressions in the variables of a bench. Their values are defined in C:
// there is no shift by the width, no division by zero or of the least integer by −1, and no float
// beyond the limits of an integer type.
type writer struct{ *rand.Rand }

func (w writer) pick(list ...string) string { return list[w.IntN(len(list))] }

// value writes a number of any type.
func (w writer) value(depth int) string {
	if w.IntN(3) == 0 {
		return w.float(depth)
	}
	return w.integer(depth)
}

// test writes a bool.
func (w writer) test(depth int) string {
	x := depth - 1
	switch w.IntN(6) {
	case 0:
		return fmt.Sprintf("(%s && %s)", w.value(x), w.value(x))
	case 1:
		return fmt.Sprintf("(%s || %s)", w.test(x), w.value(x))
	case 2:
		return "!" + w.value(x)
	case 3:
		return w.pick("b", "p.on", "isnan("+w.float(x)+")", "true")
	}
	return fmt.Sprintf("(%s %s %s)", w.value(x), w.pick("<", ">", "<=", ">=", "==", "!="), w.value(x))
}

func (w writer) integer(depth int) string {
	if depth <= 0 {
		return w.pick("b", "c", "s", "i", "l", "uc", "us", "u", "ul", "p.hops", "q.hops", "id", "1", "-3", "7u", "0x80000000", "100ll", "12ull", "2147483647", "4294967296")
	}
	x := depth - 1
	switch w.IntN(12) {
	case 0:
		return fmt.Sprintf("(%s %s (int)%d)", w.integer(x), w.pick("/", "%"), 1+w.IntN(100))
	case 1:
		return fmt.Sprintf("((unsigned)%s %s (%s | 1u))", w.integer(x), w.pick("/", "%"), w.pick("u", "us", "7u"))
	case 2:
		return fmt.Sprintf("(%s %s (%s & 31))", w.integer(x), w.pick("<<", ">>"), w.integer(x))
	case 3:
		return w.pick("- ", "~", "+ ") + w.integer(x)
	case 4:
		return fmt.Sprintf("(%s)%s", w.pick("int", "unsigned", "hb_i8", "hb_u16", "short", "long long", "hb_u64", "bool", "unsigned char", "hb_i32"), w.integer(x))
	case 5:
		return fmt.Sprintf("(%s ? %s : %s)", w.test(x), w.integer(x), w.integer(x))
	case 6:
		return fmt.Sprintf("%s((%s)%s, (%s)%s)", w.pick("min", "max"), "int", w.integer(x), w.pick("int", "unsigned"), w.integer(x))
	case 7:
		return fmt.Sprintf("(%s)fminf(fmaxf(%s, -100.5f), 100)", w.pick("int", "long long", "short"), w.float(x))
	case 8:
		return w.pick("abs((int)", "__popc((unsigned)", "__clz((int)", "__ffs((int)", "__float_as_int((float)") + w.integer(x) + ")"
	case 9:
		return w.test(x)
	}
	return fmt.Sprintf("(%s %s %s)", w.integer(x), w.pick("+", "-", "*", "&", "|", "^"), w.integer(x))
}

func (w writer) float(depth int) string {
	if depth <= 0 {
		return w.pick("f", "d", "p.far", "q.far", "0.5f", "1e-3", ".1f", "3.", "INFINITY", "1e30f", "0x1p-3")
	}
	x := depth - 1
	switch w.IntN(9) {
	case 0:
		return fmt.Sprintf("(%s / (fabs(%s) + 0.5f))", w.value(x), w.float(x))
	case 1:
		return "- " + w.float(x)
	case 2:
		return fmt.Sprintf("(%s)%s", w.pick("float", "double"), w.value(x))
	case 3:
		return fmt.Sprintf("(%s ? %s : %s)", w.test(x), w.float(x), w.value(x))
	case 4:
		return fmt.Sprintf("%s(%s)", w.pick("sqrt", "floor", "ceil", "trunc", "fabs", "rint", "round"), w.float(x))
	case 5:
		return fmt.Sprintf("%s(%s, %s)", w.pick("fminf", "fmaxf", "copysignf"), w.float(x), w.float(x))
	case 6:
		return fmt.Sprintf("fmaf(%s, %s, %s)", w.float(x), w.value(x), w.float(x))
	}
	return fmt.Sprintf("(%s %s %s)", w.float(x), w.pick("+", "-", "*"), w.value(x))
}

// undefined are the texts of tests whose values C does not define.
var undefined = []string{"1 << 32", "-8 >> 40", "(int)1e20", "(int)NAN", "(unsigned)-1.5", "(long long)-1e30", "(hb_u64)1e30", "false && 1 / (u - 3)", "true || 1 / (u - 3)",
	"p = {p.hops, p.far}; d = p.far * 10 + p.hops;"}

// emulated runs a kernel on one array by the emulator.
func emulated(t *testing.T, source string, words []uint64) {
	t.Helper()
	e, err := emu.New()
	if err == nil {
		_, err = emu.NewCompiler()
	}
	if errors.Is(err, emu.ErrUnavailable) {
		t.Skip(err)
	}
	c := sure.Get(e.Open(0))
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	sure.Do(c.Bind())
	image, err := sure.Get(emu.NewCompiler()).Compile(source, "texts.cu", "sm_90")
	if err != nil {
		t.Fatal(err)
	}
	f := sure.Get(c.Function(sure.Get(c.Load(image)), "texts"))
	size := uint64(8 * len(words))
	p := sure.Get(c.Alloc(size))
	sure.Do(c.Launch(f, [3]uint32{1, 1, 1}, [3]uint32{1, 1, 1}, 0, 0, []unsafe.Pointer{unsafe.Pointer(&p)}))
	sure.Do(c.ToHost(unsafe.Pointer(&words[0]), p, size, 0))
}

// rows are the values of the variables of a bench, as they stand in C.
var rows = []map[string]string{
	{"b": "true", "c": "-100", "s": "30000", "i": "2147483647", "l": "-9223372036854775807ll - 1", "uc": "200", "us": "65535", "u": "3", "ul": "18446744073709551615ull",
		"f": "0.1f", "d": "0.1", "p.far": "2.5", "p.hops": "7", "p.on": "false", "q.far": "-1", "q.hops": "9", "q.on": "false", "id": "5"},
	{"b": "false", "c": "127", "s": "-32768", "i": "-2147483647 - 1", "l": "9223372036854775807ll", "uc": "0", "us": "1", "u": "4294967295u", "ul": "0",
		"f": "16777217.0f", "d": "1e300", "p.far": "INFINITY", "p.hops": "-1", "p.on": "true", "q.far": "0", "q.hops": "0", "q.on": "true", "id": "0"},
	{"b": "true", "c": "0", "s": "-7", "i": "-7", "l": "4294967303ll", "uc": "9", "us": "300", "u": "2147483648u", "ul": "4294967296ull",
		"f": "-2.5f", "d": "NAN", "p.far": "-0.3", "p.hops": "100000", "p.on": "true", "q.far": "1e-20", "q.hops": "-2147483647 - 1", "q.on": "false", "id": "123456"},
}

// kernel writes the kernel that computes all texts for all rows.
func kernel(t *testing.T, expressions, statements []string) string {
	var b strings.Builder
	b.Write(sure.Get(os.ReadFile("../../../cusparse/kernels/prelude.cu")))
	b.WriteString(`
struct V { double far; int hops; bool on; };
typedef float M;
struct variables { bool b; hb_i8 c; hb_i16 s; hb_i32 i; hb_i64 l; hb_u8 uc; hb_u16 us; hb_u32 u; hb_u64 ul; float f; double d; V p, q; hb_i32 id; };
#define INTEGER(type, tag) HB_DEVICE void hb_keep(hb_u64 *o, type x) { o[0] = tag; o[1] = (hb_u64)(hb_i64)x; }
`)
	for k, name := range map[reflect.Kind]string{reflect.Bool: "bool", reflect.Int8: "hb_i8", reflect.Int16: "hb_i16", reflect.Int32: "hb_i32", reflect.Int64: "hb_i64",
		reflect.Uint8: "hb_u8", reflect.Uint16: "hb_u16", reflect.Uint32: "hb_u32", reflect.Uint64: "hb_u64"} {
		fmt.Fprintf(&b, "INTEGER(%s, %d)\n", name, k)
	}
	fmt.Fprintf(&b, "INTEGER(long, %d)\nINTEGER(unsigned long, %d)\n", reflect.Int64, reflect.Uint64)
	fmt.Fprintf(&b, "HB_DEVICE void hb_keep(hb_u64 *o, float x) { o[0] = %d; o[1] = (hb_u32)__float_as_int(x); }\n", reflect.Float32)
	fmt.Fprintf(&b, "HB_DEVICE void hb_keep(hb_u64 *o, double x) { o[0] = %d; o[1] = (hb_u64)__double_as_longlong(x); }\n", reflect.Float64)
	names := ""
	for name := range strings.FieldsSeq("b c s i l uc us u ul f d p id") {
		names += "auto " + name + " = hb_v." + name + "; "
	}
	names += "const V q = hb_v.q; "
	for k, text := range expressions {
		fmt.Fprintf(&b, "static __device__ __attribute__((noinline)) void hb_text_%d(hb_u64 *o, const variables &hb_v) { %sauto hb_x = (%s); hb_keep(o, hb_x); }\n", k, names, text)
	}
	for k, text := range statements {
		fmt.Fprintf(&b, "static __device__ __attribute__((noinline)) void hb_text_%d(hb_u64 *o, const variables &hb_v) { %s{ %s; } hb_keep(o, d); }\n", len(expressions)+k, names, text)
	}
	b.WriteString("extern \"C\" __global__ void texts(hb_u64 *o) {\n")
	for _, row := range rows {
		b.WriteString("{ variables v;\n")
		for name, x := range row {
			fmt.Fprintf(&b, "v.%s = %s;\n", name, x)
		}
		for k := range len(expressions) + len(statements) {
			fmt.Fprintf(&b, "hb_text_%d(o, v); o += 2;\n", k)
		}
		b.WriteString("}\n")
	}
	return b.String() + "}\n"
}

// kept returns the value of a number as hb_keep keeps it.
func kept(v value, f *Frame) uint64 {
	switch wide(v.kind) {
	case reflect.Int32:
		if v.kind == reflect.Bool {
			v = convert(v, reflect.Int32)
		}
		return uint64(int64(codeOf[int32](v)(f)))
	case reflect.Uint32:
		return uint64(codeOf[uint32](v)(f))
	case reflect.Int64:
		return uint64(codeOf[int64](v)(f))
	case reflect.Uint64:
		return codeOf[uint64](v)(f)
	case reflect.Float32:
		return uint64(math.Float32bits(codeOf[float32](v)(f)))
	}
	return math.Float64bits(codeOf[float64](v)(f))
}

// alike reports whether two values of a kind are equal: any NaN is, and zeros of either sign.
func alike(k reflect.Kind, x, y uint64) bool {
	switch k {
	case reflect.Float32:
		a, b := math.Float32frombits(uint32(x)), math.Float32frombits(uint32(y))
		return a == b || a != a && b != b
	case reflect.Float64:
		a, b := math.Float64frombits(x), math.Float64frombits(y)
		return a == b || a != a && b != b
	}
	return x == y
}

// TestAgainstEmulator compares types and values of the texts of the other tests, and of random
// expressions, with the same texts as CUDA C on the emulator.
func TestAgainstEmulator(t *testing.T) {
	t.Parallel()
	defined := func(m map[string]float64) []string {
		return slices.DeleteFunc(slices.Sorted(maps.Keys(m)), func(s string) bool { return slices.Contains(undefined, s) })
	}
	expressions, statements := defined(expressionTests), defined(statementTests)
	w := writer{rand.New(rand.NewPCG(7, uint64(longtest.Turn())))}
	many := 300
	if longtest.Enabled() {
		many = 2000
	}
	for range many {
		expressions = append(expressions, w.value(1+w.IntN(4)))
	}
	all := slices.Concat(expressions, statements)
	want := make([]uint64, 2*len(all)*len(rows))
	emulated(t, kernel(t, expressions, statements), want)
	for r, row := range rows {
		for k, text := range all {
			b := newBench()
			b.vars = append(b.vars, Var{"id", Number(reflect.Int32), sure1(b.layout.Place(Number(reflect.Int32))), false})
			setRow(b, row)
			at := 2 * (r*len(all) + k)
			kind, got := reflect.Float64, uint64(0)
			if k < len(expressions) {
				p := sure.Get(newParser(&b.layout, b.text(text)))
				v, err := p.assignment()
				if err == nil && p.is(",") {
					continue // the brackets of a list
				}
				if err = errors.Join(err, p.end()); err != nil {
					t.Fatalf("%s: %v", text, err)
				}
				kind, got = v.kind, kept(v, b.frame)
			} else {
				code, err := b.layout.Statements(b.text(text))
				if err != nil {
					t.Fatalf("%s: %v", text, err)
				}
				code(b.frame)
				got = math.Float64bits(*At[float64](b.frame, b.vars[10].At))
			}
			if uint64(kind) != want[at] || !alike(kind, got, want[at+1]) {
				t.Errorf("row %d: %s is %v %x, and on the emulator %v %x", r, text, kind, got, reflect.Kind(want[at]), want[at+1])
			}
		}
	}
}

func sure1(at Place, _ bool) Place { return at }

// setRow gives the variables their values in a row.
func setRow(b *bench, row map[string]string) {
	for name, text := range row {
		l := b.layout
		p := sure.Get(newParser(&l, Text{Text: name, Vars: b.vars}))
		p.scopes[0]["q"] = variable(pair, uintptr(b.vars[12].At), false)
		x := sure.Get(p.assignment())
		y := sure.Get(sure.Get(newParser(&l, Text{Text: text})).assignment())
		convert(y, x.kind).into(x.at)(b.frame)
	}
}
