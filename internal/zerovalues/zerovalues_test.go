package zerovalues

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// listedFunction is a row of the generated table: an instantiated function.
type listedFunction struct {
	name string
	f    any
}

// listedType is a row of the generated table: an instantiated type; the test calls its methods.
type listedType struct {
	name string
	t    reflect.Type
}

// TestTable: the tables list every exported function and type, and the build tag long adds the
// second table.
func TestTable(t *testing.T) {
	files, err := Tables("../..")
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for name, want := range files {
		have, err := os.ReadFile(name)
		if err != nil || !bytes.Equal(have, want) {
			t.Errorf("%s does not list the exported functions and types (%v); run go run ./internal/gen", name, err)
		}
		if longtest.AllTypes || name == "table_test.go" {
			rows += bytes.Count(want, []byte("\n\t{\"")) + bytes.Count(want, []byte("\n\t\t{\""))
		}
	}
	if n := len(functions) + len(types); n != rows || n == 0 {
		t.Errorf("the test calls %d of %d rows", n, rows)
	}
}

// left are functions that the test does not call, with the reason.
var left = map[string]string{
	"cpu.Run":         "measures for minutes",
	"collectives.Run": "measures for seconds",
	"cpu.Cores":       "measures for minutes",
	"gpu.Run":         "measures for minutes",
	"idioms.Run":      "measures for minutes",
	"report.New":      "measures for minutes",
	"report.SGM":      "measures for minutes",
	"bench.Triad":     "allocates and measures",
}

// innerLoop matches the loops of users' semirings. The lengths of their slices must agree, which a
// call per row does not check: they get zero values alone.
var innerLoop = regexp.MustCompile(`^semiring\..*Fn$`)

// limit is the time of one call. None of them has work to do.
const limit = 20 * time.Second

// TestZeroValues calls every function and method with zero values for all arguments, and for one
// argument at a time beside ordinary ones. Names in pending panic today; every other call returns.
func TestZeroValues(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"HIVEBLAS_CACHE", "XDG_CACHE_HOME", "HOME"} {
		t.Setenv(name, filepath.Join(t.TempDir(), "cache"))
	}
	panics := map[string]string{}
	called := 0
	call := func(name string, f reflect.Value, receiver []func() reflect.Value) {
		for _, args := range argumentLists(f.Type(), receiver, innerLoop.MatchString(name)) {
			called++
			if why := try(f, args); why != "" && panics[name] == "" {
				panics[name] = fmt.Sprintf("%s\n%s", describe(f.Type(), args), why)
			}
		}
	}
	for _, x := range functions {
		if left[x.name] == "" {
			call(x.name, reflect.ValueOf(x.f), nil)
		}
	}
	for _, x := range types {
		for _, r := range receivers(x.t) {
			for m := range r.t.NumMethod() {
				method := r.t.Method(m)
				name := x.name + "." + method.Name
				if left[name] == "" && !r.skip(method) {
					call(name, method.Func, []func() reflect.Value{r.make})
				}
			}
		}
	}
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for name := range panics {
			if !yield(name) {
				return
			}
		}
	}) {
		if !slices.Contains(pending, name) {
			t.Errorf("%s panics:\n%s", name, panics[name])
		}
	}
	for _, name := range pending {
		if panics[name] == "" {
			t.Errorf("%s no longer panics: remove it from pending", name)
		}
	}
	t.Logf("%d calls; %d functions and methods panic", called, len(panics))
}

// receiver is a way to make the receiver of methods.
type receiver struct {
	t    reflect.Type
	make func() reflect.Value
	skip func(m reflect.Method) bool
}

// receivers returns the zero value of t for its value methods, and for the pointer methods a nil
// pointer and a pointer to a zero value. Error types get no nil pointer, because only errors call
// their methods; promoted methods get none either.
func receivers(t reflect.Type) []receiver {
	never := func(reflect.Method) bool { return false }
	if t.Kind() == reflect.Interface {
		return nil
	}
	p := reflect.PointerTo(t)
	isValue := func(m reflect.Method) bool { _, ok := t.MethodByName(m.Name); return ok }
	promoted := func(m reflect.Method) bool {
		for k := range t.NumField() {
			if f := t.Field(k); f.Anonymous {
				of := f.Type
				if of.Kind() != reflect.Pointer && of.Kind() != reflect.Interface {
					of = reflect.PointerTo(of)
				}
				if _, ok := of.MethodByName(m.Name); ok {
					return true
				}
			}
		}
		return false
	}
	list := []receiver{
		{t, func() reflect.Value { return reflect.Zero(t) }, never},
		{p, func() reflect.Value { return reflect.New(t) }, isValue},
	}
	if !p.Implements(reflect.TypeFor[error]()) {
		list = append(list, receiver{p, func() reflect.Value { return reflect.Zero(p) }, func(m reflect.Method) bool {
			return isValue(m) || t.Kind() == reflect.Struct && promoted(m)
		}})
	}
	return list
}

// argumentLists returns the argument lists to call a function of type f with. The first parameters
// are receivers.
func argumentLists(f reflect.Type, fixed []func() reflect.Value, zeroOnly bool) (lists [][]reflect.Value) {
	n := f.NumIn()
	variadic := f.IsVariadic()
	full := func(choose func(p int, t reflect.Type) reflect.Value) (args []reflect.Value) {
		for p := range n {
			t := f.In(p)
			if p < len(fixed) {
				args = append(args, fixed[p]())
				continue
			}
			if variadic && p == n-1 {
				t = t.Elem()
			}
			args = append(args, choose(p, t))
		}
		return args
	}
	zero := func(_ int, t reflect.Type) reflect.Value { return reflect.Zero(t) }
	all := full(zero)
	lists = append(lists, all)
	if variadic {
		lists = append(lists, all[:n-1])
	}
	if zeroOnly {
		return lists
	}
	lists = append(lists, full(func(_ int, t reflect.Type) reflect.Value { return append(hollow(t), reflect.Zero(t))[0] }))
	for p := len(fixed); p < n; p++ {
		t := f.In(p)
		if variadic && p == n-1 {
			t = t.Elem()
		}
		for _, odd := range append(hollow(t), reflect.Zero(t)) {
			lists = append(lists, full(func(q int, t reflect.Type) reflect.Value {
				if q == p {
					return odd
				}
				return ordinary(t)
			}))
		}
	}
	if len(fixed) > 0 { // a zero receiver beside ordinary arguments
		lists = append(lists, full(func(_ int, t reflect.Type) reflect.Value { return ordinary(t) }))
	}
	return lists
}

// hollow returns values that a comparison with nil does not find: a pointer to a zero value, an
// interface that holds a nil pointer, one that holds a zero struct. A nil pointer of a type with
// value receivers is not among them: Go itself panics.
func hollow(t reflect.Type) (list []reflect.Value) {
	switch {
	case t.Kind() == reflect.Pointer:
		return []reflect.Value{reflect.New(t.Elem())}
	case t.Kind() != reflect.Interface || t.NumMethod() == 0:
		return nil
	}
	kinds := map[reflect.Kind]bool{}
	for _, x := range types {
		of := x.t
		if !of.Implements(t) {
			of = reflect.PointerTo(of)
		}
		if of.Implements(t) && !of.Implements(reflect.TypeFor[error]()) && !kinds[of.Kind()] {
			kinds[of.Kind()] = true
			list = append(list, reflect.Zero(of).Convert(t))
		}
	}
	return list
}

// sources returns ordinary values, made anew for each call.
func sources() []any {
	return []any{
		context.Background(), io.Reader(strings.NewReader("")), io.Discard,
		matrix.New[float64](3, 3), matrix.NewVector[float64](3), matrix.New[bool](3, 3), matrix.NewVector[bool](3),
		semiring.PlusTimes[float64](), semiring.Plus[float64](), semiring.Minus[float64](), semiring.Abs[float64](), semiring.Tril[float64](0),
		semiring.LorLand(), semiring.Lor(), semiring.Eq[bool](), semiring.Lnot(), semiring.Tril[bool](0),
		semiring.NewIndex("index", func(x float64, _, _ int) float64 { return x }),
		semiring.NewIndex("index", func(x bool, _, _ int) bool { return x }),
		ops.All(),
	}
}

// ordinary returns a value of t that a function accepts.
func ordinary(t reflect.Type) reflect.Value {
	for _, x := range sources() {
		v := reflect.ValueOf(x)
		if v.Type() == t {
			return v
		}
		if t.Kind() == reflect.Interface && t.NumMethod() > 0 && v.Type().Implements(t) {
			return v.Convert(t)
		}
	}
	switch t.Kind() {
	case reflect.Func:
		return reflect.MakeFunc(t, func([]reflect.Value) (out []reflect.Value) {
			for k := range t.NumOut() {
				out = append(out, reflect.Zero(t.Out(k)))
			}
			return out
		})
	case reflect.String:
		return reflect.ValueOf("name").Convert(t)
	case reflect.Slice:
		return reflect.MakeSlice(t, 1, 1)
	}
	return reflect.Zero(t)
}

// try calls f and returns how it panicked, or that it hangs, or "".
func try(f reflect.Value, args []reflect.Value) string {
	result := make(chan string, 1)
	go func() {
		defer func() {
			if v := recover(); v != nil {
				result <- fmt.Sprintf("panic: %v\n%s", v, frames(debug.Stack()))
			}
		}()
		f.Call(args)
		result <- ""
	}()
	select {
	case why := <-result:
		return why
	case <-time.After(limit):
		return fmt.Sprintf("no return within %v", limit)
	}
}

var frame = regexp.MustCompile(`hiveblas/([a-z/]+/[a-z0-9_]+\.go:\d+)`)

// frames returns the lines of hiveblas in a stack, from the panic outwards.
func frames(stack []byte) string {
	_, after, _ := bytes.Cut(stack, []byte("panic("))
	var lines []string
	for _, m := range frame.FindAllSubmatch(after, 4) {
		if !bytes.Contains(m[1], []byte("zerovalues")) {
			lines = append(lines, string(m[1]))
		}
	}
	return strings.Join(lines, " < ")
}

func describe(f reflect.Type, args []reflect.Value) string {
	var parts []string
	for _, a := range args {
		text := "nil"
		switch {
		case a.Kind() == reflect.Interface && a.IsNil():
		case a.Kind() == reflect.Interface:
			text = fmt.Sprintf("%s(%v)", a.Elem().Type(), isZero(a.Elem()))
		default:
			text = fmt.Sprintf("%s(%v)", a.Type(), isZero(a))
		}
		parts = append(parts, strings.ReplaceAll(text, module, ""))
	}
	return "called with " + strings.Join(parts, ", ")
}

func isZero(v reflect.Value) string {
	if v.IsZero() {
		return "zero"
	}
	return "not zero"
}
