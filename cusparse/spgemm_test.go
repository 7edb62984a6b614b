package cusparse

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/emu"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/race"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// scattered returns an m×n matrix in which each place is taken with the given
// probability: a third of the rows are empty, and row m/2 is full.
func scattered[T comparable](m, n int, density float64, seed uint64, value func(r *rand.Rand) T) *matrix.Matrix[T] {
	r := rand.New(rand.NewPCG(seed, 7))
	b := matrix.NewBuilder[T](m, n)
	for i := range m {
		p := density
		switch {
		case i == m/2:
			p = 1
		case i%3 == 1:
			continue
		}
		for j := range n {
			if r.Float64() < p {
				b.Add(i, j, value(r))
			}
		}
	}
	a, err := b.Build(nil)
	if err != nil {
		panic(err)
	}
	return a
}

func small[T semiring.Number](r *rand.Rand) T { return T(1 + r.IntN(3)) }

// shapes of m×k by k×n, with the densities of the factors.
var spgemmShapes = []struct {
	m, k, n int
	p, q    float64
}{
	{40, 60, 70, .3, .3},
	{1, 700, 90, .5, .3}, // one row
	{20, 20, 1, .5, .5},
	{9, 31, 32, .6, .9}, {9, 33, 33, .6, .9},
	{3, 300, 255, .5, .05}, {5, 40, 257, .9, .9},
	{12, 50, 1025, .2, .1},
	{30, 3, 300, .9, .9},
	{200, 90, 40, .02, .02}, // rows of few products
}

// spgemmLimited are the ways to cut up C that small problems do not lead to.
var spgemmLimited = []spgemmLimits{
	{}, {lean: true}, {columns: 64}, {columns: 64, blocked: true}, {columns: 64, window: 128, lean: true}, {columns: 32, window: 96}, {counter: 512, segment: 128}, {counter: 512, segment: 128, lean: true}, {chunk: 7},
	{apart: true}, {hashed: true}, {light: 40}, {light: 40, apart: true}, {light: 1000, hashed: true}, {light: 1000, apart: true},
}

// sameProduct multiplies on the device by every method and limit, and compares
// with the CPU.
func sameProduct[A, B, C comparable](t *testing.T, d *Device, s semiring.Semiring[A, B, C], a matrix.Source[A], b matrix.Source[B]) {
	t.Helper()
	m, _ := matrix.AsView[A](a).Dims()
	_, n := matrix.AsView[B](b).Dims()
	if m == 30 && !longtest.Takes(len(s.Name()), 4) { // one of many types
		return
	}
	defer func() { d.spgemm = spgemmLimits{} }()
	want := matrix.New[C](m, n)
	if err := ops.MxM(want, s, a, b); err != nil {
		t.Fatal(err)
	}
	run := func(method ops.Method, l spgemmLimits) ops.Trace {
		t.Helper()
		d.spgemm = l
		var trace ops.Trace
		got := matrix.New[C](m, n, matrix.On(d))
		if err := ops.MxM(got, s, a, b, ops.Using(method), ops.WithTrace(&trace)); err != nil {
			t.Fatalf("%s %+v: %v", method, l, err)
		}
		if !got.Equal(want) {
			t.Fatalf("%s %+v, which ran %s: got\n%v\nwant\n%v", method, l, trace.Method, got, want)
		}
		return trace
	}
	work := run(ops.Expand, spgemmLimits{}).Work
	limits := spgemmLimited
	if !longtest.Enabled() {
		limits = []spgemmLimits{{}, {columns: 64}, {chunk: 7}, {apart: true, light: 1000}, {hashed: true}}
	}
	for _, l := range limits {
		for _, method := range []ops.Method{ops.Auto, ops.Hash, ops.SPA} {
			trace := run(method, l)
			if trace.Work != work {
				t.Errorf("%s %+v: %d products, expand has %d", method, l, trace.Work, work)
			}
			if method == ops.SPA && trace.Method != ops.SPA {
				t.Errorf("%+v: %s ran, not spa", l, trace.Method)
			}
		}
	}
}

func TestSpgemmShapesEmulated(t *testing.T) {
	t.Parallel()
	d, _ := emulated(t)
	testSpgemmShapes(t, d)
}

func testSpgemmShapes(t *testing.T, d *Device) {
	for x, c := range spgemmShapes {
		if !longtest.Takes(x, 4) {
			continue
		}
		t.Run(fmt.Sprintf("%dx%dx%d", c.m, c.k, c.n), func(t *testing.T) {
			a := scattered(c.m, c.k, c.p, uint64(x), small[float32])
			b := scattered(c.k, c.n, c.q, uint64(x)+100, small[float32])
			sameProduct(t, d, semiring.PlusTimes[float32](), a, b)
			sameProduct(t, d, semiring.PlusPair[int32](), a.Pattern(), b.Pattern())
		})
	}
}

// TestSpgemmWideEmulated has more columns than 16 bits name, and a first factor
// of so few entries that preparing the second is not worth while.
func TestSpgemmWideEmulated(t *testing.T) {
	t.Parallel()
	d, _ := emulated(t)
	s := semiring.PlusTimes[float32]()
	b := scattered(40, 70001, .02, 5, small[float32])
	for _, m := range []*matrix.Matrix[float32]{scattered(3, 40, .5, 1, small[float32]), scattered(1, 40, .1, 2, small[float32])} {
		if m.NVals() == 40 { // the row that is full
			for j := range 37 {
				check(t, m.Delete(0, j))
			}
		}
		rows, _ := m.Dims()
		want := matrix.New[float32](rows, 70001)
		check(t, ops.MxM(want, s, m, b))
		for _, l := range []spgemmLimits{{}, {columns: 8192, window: 16384}} {
			d.spgemm = l
			for _, method := range []ops.Method{ops.Auto, ops.SPA} {
				var trace ops.Trace
				got := matrix.New[float32](rows, 70001, matrix.On(d))
				check(t, ops.MxM(got, s, m, b, ops.Using(method), ops.WithTrace(&trace)))
				if !got.Equal(want) || trace.Method != ops.SPA {
					t.Errorf("%+v: %v: wrong", l, trace)
				}
			}
		}
	}
}

// TestSpgemmWiderEmulated has more columns than shared memory has bits.
func TestSpgemmWiderEmulated(t *testing.T) {
	t.Parallel()
	d, _ := emulated(t)
	d.spgemm = spgemmLimits{columns: 32768, window: 1 << 20}
	const n = 2_000_003
	r := rand.New(rand.NewPCG(4, 1))
	builder := matrix.NewBuilder[float32](40, n)
	for i := range 40 {
		for range 200 {
			builder.Add(i, r.IntN(n), 1)
		}
	}
	b, err := builder.Build(semiring.Plus[float32]())
	check(t, err)
	a := scattered(3, 40, .5, 1, small[float32])
	want, got := matrix.New[float32](3, n), matrix.New[float32](3, n, matrix.On(d))
	check(t, ops.MxM(want, semiring.PlusTimes[float32](), a, b))
	check(t, ops.MxM(got, semiring.PlusTimes[float32](), a, b, ops.Using(ops.SPA)))
	if !got.Equal(want) {
		t.Error("wrong")
	}
}

func TestSpgemmClassesEmulated(t *testing.T) {
	t.Parallel()
	d, _ := emulated(t)
	testSpgemmClasses(t, d)
}

// testSpgemmClasses has rows of products at both ends of each class, of one row of B or of many,
// with columns that meet often or never, for keys of 32 and of 64 bits.
func testSpgemmClasses(t *testing.T, d *Device) {
	r := rand.New(rand.NewPCG(8, 3))
	for _, n := range []int{300, 1 << 25} {
		a, b := matrix.NewBuilder[float64](120, 2000), matrix.NewBuilder[float64](2000, n)
		next, row := 0, 0
		add := func(lengths ...int) { // a row of A, and what it takes of B
			for _, l := range lengths {
				a.Add(row, next, float64(1+r.IntN(3)))
				for j := range l {
					b.Add(next, j*(n/300)+r.IntN(n/300), float64(1+r.IntN(3)))
				}
				next++
			}
			row += 1 + row%2 // every other row is empty
		}
		for _, products := range []int{1, 2, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257} {
			add(products)
			add(products/2, 0, products-products/2)
			add(append(make([]int, 35), products-products/3, products/3)...)
		}
		add(200, 100, 90, 80, 40) // 510 products, of 200 columns if they are few
		add(200, 100, 90, 80, 40, 2)
		add(200, 100, 90, 80, 40, 3)
		am, bm := sure.Get(a.Build(nil)), sure.Get(b.Build(nil))
		if n == 300 {
			sameProduct(t, d, semiring.PlusTimes[float64](), am, bm)
			sameProduct(t, d, semiring.PlusPair[int32](), am.Pattern(), bm.Pattern())
			continue
		}
		m, _ := am.Dims()
		want := matrix.New[float64](m, n)
		check(t, ops.MxM(want, semiring.PlusTimes[float64](), am, bm))
		for _, d.spgemm = range []spgemmLimits{{}, {apart: true}, {hashed: true}} {
			got := matrix.New[float64](m, n, matrix.On(d))
			check(t, ops.MxM(got, semiring.PlusTimes[float64](), am, bm, ops.Using(ops.Hash)))
			if !got.Equal(want) {
				t.Errorf("%+v: wrong", d.spgemm)
			}
		}
		d.spgemm = spgemmLimits{}
	}
}

func TestSpgemmPlacedEmulated(t *testing.T) {
	t.Parallel()
	d, _ := emulated(t)
	testSpgemmPlaced(t, d)
}

// testSpgemmPlaced has rows of many products over columns far apart. Their sums are made in the
// result.
func testSpgemmPlaced(t *testing.T, d *Device) {
	defer func() { d.spgemm = spgemmLimits{} }()
	for _, n := range []int{1000, 1024, 1153, 4099} {
		d.spgemm = spgemmLimits{columns: 32}
		a, b := scattered(30, 90, .7, 1, small[float64]), scattered(90, n, .02, 2, small[float64])
		want, got := matrix.New[float64](30, n), matrix.New[float64](30, n, matrix.On(d))
		check(t, ops.MxM(want, semiring.PlusTimes[float64](), a, b))
		check(t, ops.MxM(got, semiring.PlusTimes[float64](), a, b))
		if !got.Equal(want) {
			t.Errorf("%d columns: wrong", n)
		}
	}
	ran := false
	for _, m := range d.modules {
		ran = ran || m.kernels["hb_spgemm_placed"] != nil
	}
	if !ran {
		t.Error("no sums were made in the result")
	}
}

// interval is the largest element of the fast methods, large is too large.
type interval struct{ Lo, Hi float64 }

type large struct{ A, B, C int64 }

func TestSpgemmTypesEmulated(t *testing.T) {
	if race.Enabled {
		t.Skip("one goroutine: TestTwoGoroutines is for the race detector")
	}
	t.Parallel()
	d, _ := emulated(t)
	a := scattered(30, 50, .4, 1, small[int64])
	b := scattered(50, 80, .3, 2, small[int64])
	ap, bp := a.Pattern(), b.Pattern()
	convert := func(m *matrix.Matrix[int64]) *matrix.Matrix[float64] {
		out := matrix.New[float64](m.Dims())
		check(t, ops.Apply(out, semiring.NewUnary("convert", func(x int64) float64 { return float64(x) }, "x"), m))
		return out
	}
	af, bf := convert(a), convert(b)
	sameProduct(t, d, semiring.PlusTimes[int64](), a, b)
	sameProduct(t, d, semiring.MinPlus[float64](), af, bf)
	sameProduct(t, d, semiring.LorLand(), ap, bp)
	sameProduct(t, d, semiring.AnyPair[bool](), ap, bp)
	sameProduct(t, d, semiring.PlusFirst[int64](), a, bp)
	sameProduct(t, d, semiring.PlusSecond[float64](), ap, bf)
	sameProduct(t, d, semiring.PlusPair[float64](), ap, bp)
	sameProduct(t, d, semiring.PlusPair[uint8](), ap, bp)
	// A pattern with a value that is read.
	sameProduct(t, d, semiring.New(semiring.Plus[int32](), semiring.NewBinary("both", func(x, y bool) int32 {
		if x && y {
			return 3
		}
		return 1
	}, "x && y ? 3 : 1")), ap, bp)
	// Operators of other names and sizes.
	sameProduct(t, d, semiring.New(semiring.Plus[float64](), semiring.NewBinary("mixed", func(x int64, y float64) float64 { return float64(x) - y }, "x - y")), a, bf)
	meet := semiring.NewMonoid(semiring.NewBinary("meet", func(x, y interval) interval {
		return interval{max(x.Lo, y.Lo), min(x.Hi, y.Hi)}
	}, "C{x.Lo > y.Lo ? x.Lo : y.Lo, x.Hi < y.Hi ? x.Hi : y.Hi}"), interval{-1e9, 1e9})
	sameProduct(t, d, semiring.New(meet, semiring.NewBinary("span", func(x int64, y float64) interval {
		return interval{float64(x), y + 9}
	}, "C{(double)x, y + 9}")), a, bf)
}

func TestSpgemmLargeElementEmulated(t *testing.T) {
	d, _ := emulated(t)
	sum := semiring.NewMonoid(semiring.NewBinary("sum", func(x, y large) large { return large{x.A + y.A, x.B + y.B, x.C + y.C} },
		"C{x.A + y.A, x.B + y.B, x.C + y.C}"), large{})
	s := semiring.New(sum, semiring.NewBinary("three", func(x, y int64) large { return large{x, y, x * y} }, "C{x, y, x * y}"))
	a := scattered(20, 30, .4, 1, small[int64])
	b := scattered(30, 20, .3, 2, small[int64])
	var trace ops.Trace
	got, want := matrix.New[large](20, 20, matrix.On(d)), matrix.New[large](20, 20)
	check(t, ops.MxM(want, s, a, b))
	if err := ops.MxM(got, s, a, b, ops.Using(ops.SPA)); !errors.Is(err, ops.ErrMethod) || got.NVals() != 0 {
		t.Errorf("elements of 24 bytes by spa: error %v, %d entries; want a *MethodError and no change", err, got.NVals())
	}
	check(t, ops.MxM(got, s, a, b, ops.WithTrace(&trace)))
	if !got.Equal(want) || trace.Method != ops.Expand {
		t.Errorf("%v: got %v, want %v", trace, got, want)
	}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestSpgemmCountsEmulated counts beyond what 8 and 16 bits hold, and beyond
// what the type of the result holds. The largest, 3 s on the emulator, is
// in one turn of four.
func TestSpgemmCountsEmulated(t *testing.T) {
	if race.Enabled {
		t.Skip("one goroutine: TestTwoGoroutines is for the race detector")
	}
	t.Parallel()
	d, _ := emulated(t)
	one := func(*rand.Rand) bool { return true }
	for _, k := range []int{255, 256, 65600} {
		if k > 256 && !longtest.Enabled() && longtest.Turn()%4 != 1 {
			continue
		}
		a := scattered(2, k, .02, uint64(k), one) // row 1 is full
		b := matrix.NewBuilder[bool](k, 65)
		for i := range k {
			b.Add(i, 7, true)
			if i%5 == 0 {
				b.Add(i, 64, true)
			}
		}
		bm, err := b.Build(nil)
		check(t, err)
		t.Run(fmt.Sprint(k), func(t *testing.T) {
			sameProduct(t, d, semiring.PlusPair[int64](), a.Pattern(), bm.Pattern())
			if k < 1000 {
				sameProduct(t, d, semiring.PlusPair[uint8](), a.Pattern(), bm.Pattern())
				sameProduct(t, d, semiring.PlusPair[float32](), a.Pattern(), bm.Pattern())
			}
		})
	}
}

func TestSpgemmOperandsEmulated(t *testing.T) {
	t.Parallel()
	d, _ := emulated(t)
	a := scattered(40, 30, .3, 3, small[float64])
	s := semiring.PlusTimes[float64]()
	sameProduct(t, d, s, a.T(), a)
	sameProduct(t, d, s, a, a.T())
	sameProduct(t, d, semiring.PlusPair[int32](), a.Pattern().T(), a.Pattern())
	// Few rows of many.
	const far = 1<<31 - 1
	rows, inner, cols := []int{0, 5, far - 1, 1 << 20}, []int{3, 4, 1 << 30, far - 1}, []int{0, 1, 1 << 25, far - 2}
	build := func(m, n int, i, j []int) *matrix.Matrix[float64] {
		b := matrix.NewBuilder[float64](m, n)
		for x, r := range i {
			for y, c := range j {
				if (x+y)%3 != 1 {
					b.Add(r, c, float64(x+2*y))
				}
			}
		}
		out, err := b.Build(nil)
		check(t, err)
		return out
	}
	h, g := build(far, far, rows, inner), build(far, far, append(inner[1:], 77), cols)
	var trace ops.Trace
	for _, method := range []ops.Method{ops.Auto, ops.Hash, ops.Expand} {
		got, want := matrix.New[float64](far, far, matrix.On(d)), matrix.New[float64](far, far)
		check(t, ops.MxM(want, s, h, g))
		check(t, ops.MxM(got, s, h, g, ops.Using(method), ops.WithTrace(&trace)))
		if !got.Equal(want) {
			t.Errorf("%s: got %v, want %v", method, got, want)
		}
		if method != ops.Expand && trace.Method != ops.Hash {
			t.Errorf("%s: %s ran", method, trace.Method)
		}
	}
	// A listed first factor by a hypersparse one that is narrow.
	wide := scattered(30, 90, .5, 4, small[float64])
	thin := build(90, 70, []int{1, 2, 50, 89}, []int{0, 8, 9, 40, 69})
	check(t, thin.SetFormat(matrix.Hypersparse))
	sameProduct(t, d, s, wide, thin)
	check(t, wide.SetFormat(matrix.Hypersparse))
	sameProduct(t, d, s, wide, thin)
}

func TestSpgemmMaskEmulated(t *testing.T) {
	t.Parallel()
	d, _ := emulated(t)
	a := scattered(60, 60, .3, 3, small[float64])
	mask := scattered(60, 60, .02, 9, small[float64])
	s := semiring.PlusTimes[float64]()
	for _, method := range []ops.Method{ops.Auto, ops.Hash, ops.SPA, ops.Expand} {
		for _, comp := range []bool{false, true} {
			view := mask.Structure()
			if comp {
				view = view.Not()
			}
			got, want := matrix.New[float64](60, 60, matrix.On(d)), matrix.New[float64](60, 60)
			var trace ops.Trace
			check(t, ops.MxM(want.Masked(view), s, a, a))
			check(t, ops.MxM(got.Masked(view), s, a, a, ops.Using(method), ops.WithTrace(&trace)))
			if !got.Equal(want) {
				t.Errorf("%s, complement %v: got %v, want %v", method, comp, got, want)
			}
		}
	}
}

// TestSpgemmPrepared looks at what is kept with the second factor.
func TestSpgemmPreparedEmulated(t *testing.T) {
	d, _ := emulated(t)
	a := scattered(40, 60, .3, 3, small[float64])
	b := scattered(60, 50, .3, 4, small[float64])
	multiply := func() {
		c := matrix.New[float64](40, 50, matrix.On(d))
		check(t, ops.MxM(c, semiring.PlusTimes[float64](), a, b, ops.Using(ops.SPA)))
		n := matrix.New[int32](40, 50, matrix.On(d))
		check(t, ops.MxM(n, semiring.PlusPair[int32](), a.Pattern(), b.Pattern(), ops.Using(ops.SPA)))
	}
	multiply()
	st, err := access.RemoteOn(b, backend{d})
	check(t, err)
	k := st.(*store).forms["spgemm"]
	if k == nil {
		t.Fatal("nothing is kept")
	}
	p, ok := k.dropper.(*prepared)
	if !ok || p.packed == nil || p.seg == nil || p.cuts == nil {
		t.Fatalf("kept: %+v", p)
	}
	packed, seg := p.packed, p.seg
	multiply()
	if p.packed != packed || p.seg != seg {
		t.Error("made again for the same factor")
	}
	before := d.Memory().InUse
	st.Drop()
	if d.Memory().InUse >= before || p.packed != nil {
		t.Error("not dropped with the factor")
	}
}

// TestSpgemmFailsEmulated lets every launch and allocation of a product fail.
func TestSpgemmFailsEmulated(t *testing.T) {
	a := scattered(40, 60, .3, 3, small[float64])
	b := scattered(60, 50, .3, 4, small[float64])
	for k, method := range []ops.Method{ops.SPA, ops.Hash, ops.Expand} {
		if !longtest.Takes(k, 3) {
			continue
		}
		for call, fault := range map[string]driver.Error{"Launch": emu.LaunchFailed, "AllocAsync": emu.OutOfMemory} {
			d, e := emulated(t)
			for n := 1; failsAt(t, d, e, method, call, n, fault, a, b); n++ {
			}
			leaks(t, d, e)
		}
	}
}

// failsAt lets the n-th call fail and reports whether there was one.
func failsAt(t *testing.T, d *Device, e *emu.Emulator, method ops.Method, call string, n int, with driver.Error, a, b *matrix.Matrix[float64]) bool {
	s := semiring.PlusTimes[float64]()
	x, y := a.Clone(), b.Clone()
	want, c := matrix.New[float64](40, 50), matrix.New[float64](40, 50)
	check(t, ops.MxM(want, s, x, y))
	check(t, c.Set(3, 4, 5))
	check(t, c.Move(d))
	trim(d)
	fault := e.FailAfter(call, n, with)
	err := ops.MxM(c, s, x, y, ops.Using(method))
	fault.Cancel()
	if !fault.Fired() {
		check(t, err)
		return false
	}
	var typed *driver.Error
	switch v, ok := c.At(3, 4); {
	case err == nil && call == "Launch": // memory is asked for twice
		t.Fatalf("%s: %s %d failed without an error", method, call, n)
	case err != nil && !errors.As(err, &typed):
		t.Fatalf("%s: %s %d: %v", method, call, n, err)
	case err != nil && (!ok || v != 5 || c.NVals() != 1):
		t.Fatalf("%s: %s %d failed and the destination changed: %v", method, call, n, c)
	}
	again := matrix.New[float64](40, 50, matrix.On(d))
	check(t, ops.MxM(again, s, x, y, ops.Using(method)))
	if !again.Equal(want) {
		t.Fatalf("%s: after %s %d failed: %v, want %v", method, call, n, again, want)
	}
	return true
}

// trim gives back what the pool keeps.
func trim(d *Device) {
	f := d.begin(device.Call{})
	defer f.end()
	d.pool.trim()
}

// leaks checks that all memory comes back once nothing refers to it.
func leaks(t *testing.T, d *Device, e *emu.Emulator) {
	t.Helper()
	for range 100 {
		runtime.GC()
		if d.Memory().InUse == 0 {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	trim(d)
	if n, bytes := e.Live(); n != 0 {
		t.Errorf("%d blocks of %d bytes are left", n, bytes)
	}
}

func TestSpgemmMemoryEmulated(t *testing.T) {
	a := scattered(300, 300, .3, 3, small[float64])
	s := semiring.PlusTimes[float64]()
	want := matrix.New[float64](300, 300)
	check(t, ops.MxM(want, s, a, a))
	for _, method := range []ops.Method{ops.Auto, ops.SPA, ops.Hash, ops.Expand} {
		d, e := emulated(t, emu.Memory(1<<20))
		c := matrix.New[float64](300, 300, matrix.On(d))
		check(t, c.Set(3, 4, 5))
		var lack *MemoryError
		if err := ops.MxM(c, s, a, a, ops.Using(method)); !errors.As(err, &lack) || !errors.Is(err, ErrMemory) || lack.Asked == 0 {
			t.Fatalf("%s: error %v, want a *MemoryError", method, err)
		}
		if v, ok := c.At(3, 4); !ok || v != 5 || c.NVals() != 1 {
			t.Fatalf("%s: the destination changed: %v", method, c)
		}
		little := scattered(20, 20, .3, 3, small[float64])
		x, y := matrix.New[float64](20, 20, matrix.On(d)), matrix.New[float64](20, 20)
		check(t, ops.MxM(x, s, little, little))
		check(t, ops.MxM(y, s, little, little))
		if !x.Equal(y) {
			t.Errorf("%s: the device is not usable", method)
		}
		st, err := access.RemoteOn(a, backend{d})
		check(t, err)
		st.Drop()
		runtime.KeepAlive(e)
	}
}

// TestExpandInBatches holds few products at a time.
func TestExpandInBatchesEmulated(t *testing.T) {
	d, _ := emulated(t, emu.Memory(40<<20))
	a := scattered(120, 120, .5, 3, small[float64])
	want, got := matrix.New[float64](120, 120), matrix.New[float64](120, 120, matrix.On(d))
	s := semiring.PlusTimes[float64]()
	check(t, ops.MxM(want, s, a, a))
	check(t, ops.MxM(got, s, a, a, ops.Using(ops.Expand)))
	if !got.Equal(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestCommonColumnsEmulated counts what rows have in common at the entries of
// the matrix itself.
func TestCommonColumnsEmulated(t *testing.T) {
	t.Parallel()
	d, _ := emulated(t)
	one := func(*rand.Rand) bool { return true }
	tall := matrix.NewBuilder[bool](70000, 70000) // columns beyond 16 bits, and owners of much work
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 40 {
		for j := range 60 {
			if i != j && r.IntN(4) > 0 {
				tall.Add(i*1000, j*1000, true)
			}
		}
		tall.Add(i*1000, 69999-i, true)
	}
	for i := range 300 { // columns of the same frequency: not all are packed
		for j := range 3 {
			tall.Add(40000+i, (i*223+j*23311)%40000, true)
		}
	}
	far, err := tall.Build(semiring.Lor())
	check(t, err)
	for name, a := range map[string]*matrix.Matrix[bool]{
		"dense": scattered(90, 90, .6, 1, one), "thin": scattered(150, 150, .04, 2, one), "wide": far, "one": scattered(1, 1, 1, 3, one),
		"hub": scattered(1300, 1300, .01, 4, one),
	} {
		n, _ := a.Dims()
		if a.Format() != matrix.CSR {
			check(t, a.SetFormat(matrix.CSR))
		}
		for range 2 { // made, and kept
			got, want := matrix.New[int64](n, n, matrix.On(d)), matrix.New[int64](n, n)
			check(t, ops.MxM(want.Masked(a.Structure()), semiring.PlusPair[int64](), a.Pattern(), a.Pattern().T()))
			check(t, ops.MxM(got.Masked(a.Structure()), semiring.PlusPair[int64](), a.Pattern(), a.Pattern().T(), ops.Using(ops.Dot)))
			if !got.Equal(want) {
				t.Errorf("%s: wrong counts", name)
			}
			u8, w8 := matrix.New[uint8](n, n, matrix.On(d)), matrix.New[uint8](n, n)
			check(t, ops.MxM(w8.Masked(a.Structure()), semiring.PlusPair[uint8](), a.Pattern(), a.Pattern().T()))
			check(t, ops.MxM(u8.Masked(a.Structure()), semiring.PlusPair[uint8](), a.Pattern(), a.Pattern().T(), ops.Using(ops.Dot)))
			if !u8.Equal(w8) {
				t.Errorf("%s: wrong counts of 8 bits", name)
			}
		}
		st, err := access.RemoteOn(a, backend{d})
		check(t, err)
		k := st.(*store).forms["triangles"]
		if k == nil {
			t.Errorf("%s: another method ran", name)
		} else if p, ok := k.dropper.(*triangles); !ok || p.packed == nil {
			t.Errorf("%s: %v is kept", name, p)
		}
	}
}
