package sparse

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"unsafe"
)

// The element types of the tests: one of each class, and others that the loops of their type move.
type (
	pair   struct{ A, B int32 } // 8 bytes, aligned to 4
	padded struct {
		A int64
		B int8
	}
	named struct {
		Name string
		List *[]int
	}
)

// TestLayout: a Values has the layout of a slice, and a Typed the layout of a Store.
func TestLayout(t *testing.T) {
	list := []string{"a", "b", "c"}
	v := ValuesOf(list[:2])
	if v.Len() != 2 || v.Cap() != 3 || v.Pointer() != unsafe.Pointer(&list[0]) {
		t.Errorf("the slice is seen as %d values with room for %d", v.Len(), v.Cap())
	}
	if back := SliceOf[string](v); len(back) != 2 || cap(back) != 3 || &back[0] != &list[0] {
		t.Error("the slice does not come back")
	}
	if unsafe.Sizeof(v) != unsafe.Sizeof(list) {
		t.Error("Values and slices differ in size")
	}
	layout[bool](t)
	layout[named](t)
	layout[struct{}](t)
	if s, w := reflect.TypeFor[Tuples[named]](), reflect.TypeFor[Block](); s.Size() != w.Size() {
		t.Error("Tuples and Block differ in size")
	}
}

func layout[T any](t *testing.T) {
	typed, store := reflect.TypeFor[Typed[T]](), reflect.TypeFor[Store]()
	if typed.Size() != store.Size() || typed.NumField() != store.NumField() {
		t.Fatalf("%v and %v differ", typed, store)
	}
	for k := range typed.NumField() {
		if f, g := typed.Field(k), store.Field(k); f.Name != g.Name || f.Offset != g.Offset || f.Type.Size() != g.Type.Size() {
			t.Errorf("field %s of %v is at %d, %s of Store at %d", f.Name, typed, f.Offset, g.Name, g.Offset)
		}
	}
}

// TestAsOfAnotherType: a store is not seen as one of another type.
func TestAsOfAnotherType(t *testing.T) {
	defer func() {
		if r := recover(); r == nil || !strings.Contains(fmt.Sprint(r), "float64") {
			t.Errorf("recovered %v", r)
		}
	}()
	As[int64](Untyped(EmptyOf[float64](2, 2)))
}

// TestMoves compares the loops of each type with loops over slices.
func TestMoves(t *testing.T) {
	text := func(k int) string { return strings.Repeat("x", k%7) }
	movesOfType(t, Bytes1, func(k int) bool { return k%3 == 0 })
	movesOfType(t, Bytes2, func(k int) int16 { return int16(k) })
	movesOfType(t, Bytes4, func(k int) float32 { return float32(k) / 3 })
	movesOfType(t, Bytes8, func(k int) float64 { return float64(k) / 3 })
	movesOfType(t, Bytes16, func(k int) [2]int64 { return [2]int64{int64(k), -int64(k)} })
	movesOfType(t, Other, func(k int) pair { return pair{int32(k), int32(-k)} })
	movesOfType(t, Bytes16, func(k int) padded { return padded{int64(k), int8(k)} })
	movesOfType(t, Other, func(k int) [3]int64 { return [3]int64{int64(k), 1, 2} })
	movesOfType(t, Other, func(k int) struct{} { return struct{}{} })
	movesOfType(t, Other, text)
	movesOfType(t, Other, func(k int) named { list := []int{k}; return named{text(k), &list} })
	movesOfType(t, Other, func(k int) any { return k % 5 })
}

func movesOfType[T comparable](t *testing.T, class Class, value func(k int) T) {
	d := TypeOf[T]()
	if d.Size == 0 {
		class = Other
	}
	if d.Class != class || d != TypeOf[T]() || d.Size != int64(unsafe.Sizeof(value(0))) {
		t.Errorf("%v is of class %d and size %d, want %d", d, d.Class, d.Size, class)
	}
	r := rand.New(rand.NewPCG(1, uint64(d.Size)))
	same := func(what string, got Values, want []T) {
		t.Helper()
		if !slices.Equal(SliceOf[T](got), want) || !d.Equal(got, ValuesOf(want)) {
			t.Errorf("%v: %s gives %v, want %v", d, what, SliceOf[T](got), want)
		}
	}
	for n := range 40 {
		src, dst := make([]T, n), make([]T, 2*n)
		for k := range src {
			src[k], dst[k] = value(r.IntN(100)), value(r.IntN(100))
		}
		to, from := make([]int32, n), make([]int32, n)
		wideTo, wideFrom := make([]int64, n), make([]int64, n)
		for p, q := range r.Perm(2 * n)[:n] {
			to[p], wideTo[p], from[p] = int32(q), int64(q), int32(r.IntN(n))
			wideFrom[p] = int64(from[p])
		}
		check := func(what string, run func(v Values), each func(want []T)) {
			got, want := slices.Clone(dst), slices.Clone(dst)
			run(ValuesOf(got))
			each(want)
			same(what, ValuesOf(got), want)
		}
		s := ValuesOf(src)
		check("a scatter", func(v Values) { d.Move(v, to, s, nil) }, func(w []T) {
			for p, q := range to {
				w[q] = src[p]
			}
		})
		check("a gather", func(v Values) { d.Move(v, nil, s, from) }, func(w []T) {
			for p, q := range from {
				w[p] = src[q]
			}
		})
		check("both", func(v Values) { d.Move(v, to, s, from) }, func(w []T) {
			for p, q := range to {
				w[q] = src[from[p]]
			}
		})
		check("wide lists", func(v Values) { d.MoveWide(v, wideTo, s, wideFrom) }, func(w []T) {
			for p, q := range to {
				w[q] = src[from[p]]
			}
		})
		x := ValuesOf([]T{value(7)})
		check("FillAt", func(v Values) { d.FillAt(v, to, x) }, func(w []T) {
			for _, q := range to {
				w[q] = value7(x, src)
			}
		})
		check("FillAt nothing", func(v Values) { d.FillAt(v, nil, x) }, func([]T) {})
		same("Filled", d.Filled(int64(n), x), slices.Repeat(SliceOf[T](x), n))
		same("Append", d.Append(d.Clone(s), s), append(slices.Clone(src), src...))
		same("Zeroed", d.Zeroed(int64(n)), make([]T, n))
		keep := make([]uint8, n)
		d.Nonzero(keep, s)
		for p, v := range src {
			if (keep[p] != 0) != (v != *new(T)) {
				t.Errorf("%v: Nonzero of %v is %d", d, v, keep[p])
			}
		}
	}
}

func value7[T any](x Values, _ []T) T { return SliceOf[T](x)[0] }

// TestSlice: an empty part keeps the address of its array, no values have no part, and a part
// outside panics.
func TestSlice(t *testing.T) {
	d := TypeOf[int64]()
	v := ValuesOf([]int64{1, 2, 3})
	if e := d.Slice(v, 3, 3); e.Len() != 0 || e.Pointer() != v.Pointer() {
		t.Error("an empty part has an address of its own")
	}
	if !d.Slice(Values{}, 1, 2).None() || !d.Slice(v, 0, 0).Same(v) {
		t.Error("wrong part of no values")
	}
	for _, r := range [][2]int64{{-1, 2}, {2, 1}, {0, 4}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("a part %v of 3 values", r)
				}
			}()
			d.Slice(v, r[0], r[1])
		}()
	}
}

// TestCollector: the collector sees values with pointers in all memory of stores.
func TestCollector(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	value := func(k int) named {
		list := []int{k, k}
		return named{strings.Repeat(fmt.Sprint(k), 3), &list}
	}
	right := func(k int, v named) bool {
		return v.Name == strings.Repeat(fmt.Sprint(k), 3) && slices.Equal(*v.List, []int{k, k})
	}
	const m, n, each = 300, 200, 7
	block := Tuples[named]{}
	for k := range m * each { // in no order
		i, j := k*31%m, k*17%n
		block.Row, block.Col = append(block.Row, int32(i)), append(block.Col, int32(j))
		block.Val = append(block.Val, value(i*n+j))
	}
	st, err := Built(m, n, []Tuples[named]{block}, func(x, _ named) named { return x }, 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := Untyped(st)
	for _, f := range []Format{CSR, Bitmap, Hypersparse} {
		back := s.Convert(f).Transpose(2).Transpose(1).Own().ToHyper()
		runtime.GC()
		list := As[named](back)
		for k := range list.Vecs() {
			for p := list.Ptr[k]; p < list.Ptr[k+1]; p++ {
				if at := list.RowID(k)*n + int(list.Idx[p]); !right(at, list.Val[p]) {
					t.Fatalf("%v: the value at %d is %v", f, at, list.Val[p])
				}
			}
		}
	}
}

// TestBuildAgainstMap: duplicates are combined from left to right, whatever moves the values.
func TestBuildAgainstMap(t *testing.T) {
	built(t, func(k int) int64 { return int64(k) }, func(x, y int64) int64 { return 3*x - y })
	built(t, func(k int) string { return fmt.Sprint(k % 10) }, func(x, y string) string { return x + y })
	built(t, func(k int) [3]int32 { return [3]int32{int32(k)} }, func(x, y [3]int32) [3]int32 { return [3]int32{2*x[0] - y[0], x[1] + 1} })
}

func built[T comparable](t *testing.T, value func(k int) T, dup func(x, y T) T) {
	r := rand.New(rand.NewPCG(5, 6))
	for round := range 60 {
		m, n, count := 1+r.IntN(40), 1+r.IntN(40), r.IntN(800)
		if round%5 == 0 {
			m, n = 1<<30, 1<<29
		}
		want := map[[2]int32]T{}
		var blocks []Tuples[T]
		for k := range count {
			if k%100 == 0 {
				blocks = append(blocks, Tuples[T]{})
			}
			i, j, v := int32(r.IntN(m)), int32(r.IntN(n)), value(k)
			if m > 1<<20 {
				i, j = i%20, j%20
			}
			b := &blocks[len(blocks)-1]
			b.Row, b.Col, b.Val = append(b.Row, i), append(b.Col, j), append(b.Val, v)
			if old, ok := want[[2]int32{i, j}]; ok {
				v = dup(old, v)
			}
			want[[2]int32{i, j}] = v
		}
		st, err := Built(m, n, blocks, dup, 1+round%3, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := st.Check(len(st.Val), false); err != nil || int(st.NVals) != len(want) {
			t.Fatalf("%d×%d: %d entries of %d (%v)", m, n, st.NVals, len(want), err)
		}
		for k := range st.Vecs() {
			for p := st.Ptr[k]; p < st.Ptr[k+1]; p++ {
				if at := [2]int32{int32(st.RowID(k)), st.Idx[p]}; st.Val[p] != want[at] {
					t.Fatalf("%d×%d: entry %v is %v, want %v", m, n, at, st.Val[p], want[at])
				}
			}
		}
	}
}

// TestUnder: the type under a named type is its built-in type, under int, uint and uintptr the type
// of 64 bits, and under other types the type itself; a store is a store of each of these types.
func TestUnder(t *testing.T) {
	type metre float64
	type length metre
	type pair [2]int32
	for _, c := range []struct{ of, want *Type }{
		{TypeOf[metre](), TypeOf[float64]()},
		{TypeOf[length](), TypeOf[float64]()},
		{TypeOf[float64](), TypeOf[float64]()},
		{TypeOf[int](), TypeOf[int64]()},
		{TypeOf[uint](), TypeOf[uint64]()},
		{TypeOf[pair](), TypeOf[pair]()},
		{TypeOf[string](), TypeOf[string]()},
		{TypeOf[uintptr](), TypeOf[uint64]()},
	} {
		if got := c.of.Under(); got != c.want {
			t.Errorf("%v has %v below it, want %v", c.of, got, c.want)
		}
	}
	if Same(TypeOf[float64](), TypeOf[int64]()) || !Same(TypeOf[metre](), TypeOf[length]()) {
		t.Error("float64 is the same as int64, or two names of float64 are not the same")
	}
	s := Untyped(Of(Structure{NRows: 1, NCols: 1, Ptr: []int64{0, 1}, Idx: []int32{0}, NVals: 1}, []metre{2.5}))
	if got := As[float64](s).Val[0]; got != 2.5 {
		t.Errorf("2.5 m is read as %v", got)
	}
	if got := As[length](s).Val[0]; got != 2.5 {
		t.Errorf("2.5 m is read as %v of another name", got)
	}
	defer func() {
		if recover() == nil {
			t.Error("a store of float64 is used as one of int64, without a panic")
		}
	}()
	As[int64](s)
}
