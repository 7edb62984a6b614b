package cusparse

import (
	"errors"
	"math"
	"testing"

	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// TestAlgebraOnDevice: products of vectors, traces, grids of tiles and their parts on a device are
// those on the host, and operations that run on the host alone say so.
func TestAlgebraOnDevice(t *testing.T) {
	t.Parallel()
	d, _ := emulated(t)
	defer d.Close()
	build := func(at matrix.Place) (a, tiled *matrix.Matrix[int64], inner, trace int64, parts [2]*matrix.Matrix[int64]) {
		t.Helper()
		u, v := matrix.NewVector[int64](6, matrix.On(at)), matrix.NewVector[int64](6, matrix.On(at))
		a, tiled = matrix.New[int64](6, 6, matrix.On(at)), matrix.New[int64](12, 18, matrix.On(at))
		var s ops.Steps
		for i := range 5 {
			s.Do(u.Set(i, int64(i+2)))
			s.Do(v.Set(i+1, int64(10-i)))
		}
		ring := semiring.PlusTimes[int64]()
		s.Do(ops.Outer(a, ring, u, v))
		s.Do(ops.Tile(tiled, a, 2, 3))
		var err error
		inner, err = ops.Inner(ring, u, v)
		s.Do(err)
		trace, err = ops.DiagonalSum(semiring.Plus[int64](), a)
		s.Do(err)
		parts = [2]*matrix.Matrix[int64]{matrix.New[int64](12, 7, matrix.On(at)), matrix.New[int64](12, 11, matrix.On(at))}
		s.Do(ops.Split([][]matrix.Target[int64]{{parts[0], parts[1]}}, tiled))
		if !s.OK() {
			t.Fatal(s.Err())
		}
		return a, tiled, inner, trace, parts
	}
	a, tiled, inner, trace, parts := build(nil)
	b, tiledB, innerB, traceB, partsB := build(d)
	if b.Place() != matrix.Place(d) {
		t.Error("the result is not on the device")
	}
	if !b.Equal(a) || !tiledB.Equal(tiled) || innerB != inner || traceB != trace || !partsB[0].Equal(parts[0]) || !partsB[1].Equal(parts[1]) {
		t.Errorf("the device differs: inner %d and %d, trace %d and %d", innerB, inner, traceB, trace)
	}
	if inner != trace || inner == 0 {
		t.Errorf("u·v = %d, trace of u⊗v %d", inner, trace)
	}
	top := matrix.New[int64](6, 6, matrix.On(d))
	if err := ops.TopK(top, b, 1); !errors.Is(err, ops.ErrPlace) {
		t.Errorf("TopK to a device: %v", err)
	}
	host, want := matrix.New[int64](6, 6), matrix.New[int64](6, 6)
	if err := errors.Join(ops.TopK(host, b, 2), ops.TopK(want, a, 2)); err != nil || !host.Equal(want) || host.NVals() != 10 {
		t.Errorf("TopK from a device: %d entries, %v", host.NVals(), err)
	}
}

// power is a result of Pow at the limits of integers.
type power[T semiring.Number] struct{ x, y, want T }

// testPowers compares Pow on the host and on a device with the right values.
func testPowers[T semiring.Number](t *testing.T, d *Device, list []power[T]) {
	t.Helper()
	x, y := make([]T, len(list)), make([]T, len(list))
	for k, p := range list {
		x[k], y[k] = p.x, p.y
		if got := semiring.Pow[T]().Apply(p.x, p.y); got != p.want {
			t.Errorf("%T: %v to %v is %v, want %v", p.x, p.x, p.y, got, p.want)
		}
	}
	u, err := matrix.VectorOf(x)
	v, err2 := matrix.VectorOf(y)
	w := matrix.NewVector[T](len(list), matrix.On(d))
	sure.Do(err, err2, ops.EWiseMult(w, semiring.Pow[T](), u, v))
	for k, got := range w.All() {
		if p := list[k]; got != p.want {
			t.Errorf("%T on the device: %v to %v is %v, want %v", p.x, p.x, p.y, got, p.want)
		}
	}
}

// testConversion compares Convert of floats on the host and on a device with the right values.
func testConversion[C semiring.Number](t *testing.T, d *Device, from []float64, want []C) {
	t.Helper()
	for k, x := range from {
		if got := semiring.Convert[float64, C]().Apply(x); got != want[k] {
			t.Errorf("%v as a %T is %v, want %v", x, got, got, want[k])
		}
	}
	u, err := matrix.VectorOf(from)
	w := matrix.NewVector[C](len(from), matrix.On(d))
	here := matrix.NewVector[C](len(from))
	sure.Do(err, ops.Apply(w, semiring.Convert[float64, C](), u), ops.Apply(here, semiring.Convert[float64, C](), u))
	for _, v := range []*matrix.Vector[C]{w, here} {
		for k, got := range v.All() {
			if got != want[k] {
				t.Errorf("%v: %v as a %T is %v, want %v", v.Place(), from[k], got, got, want[k])
			}
		}
	}
}

// TestSaturation: powers and conversions beyond the integers of a type have one value, on the host
// and on a device.
func TestSaturation(t *testing.T) {
	t.Parallel()
	d, _ := emulated(t)
	defer d.Close()
	const most, least = math.MaxInt64, math.MinInt64
	testPowers(t, d, []power[int64]{
		{3, 40, most}, {-3, 41, least}, {-3, 40, most}, {3, 39, 4052555153018976267}, {0, -1, most}, {0, 0, 1},
		{2, 62, 1 << 62}, {2, 63, most}, {-2, 63, least}, {-2, 64, most}, {least, 1, least}, {least, 2, most},
		{1, least, 1}, {-1, -3, -1}, {-1, least, 1}, {2, -1, 0}, {-7, -2, 0}, {most, 1, most}, {1, most, 1}, {-1, most, -1},
		{3037000500, 2, most}, {3037000499, 2, 9223372030926249001}, {0, most, 0},
	})
	testPowers(t, d, []power[int8]{{3, 5, 127}, {-3, 5, -128}, {2, 6, 64}, {-2, 7, -128}, {-128, 127, -128}})
	testPowers(t, d, []power[uint64]{{2, 64, math.MaxUint64}, {2, 63, 1 << 63}, {0, 0, 1}, {math.MaxUint64, 1, math.MaxUint64}, {1 << 32, 2, math.MaxUint64}})
	testPowers(t, d, []power[uint8]{{2, 7, 128}, {2, 8, 255}, {0, 200, 0}})
	from := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 300, -300, 126.9, -127.9, 0x1p63, -0x1p63, 0x1p64, -0.5, 5e9}
	testConversion(t, d, from, []int64{0, most, least, 300, -300, 126, -127, most, least, most, 0, 5e9})
	testConversion(t, d, from, []int8{0, 127, -128, 127, -128, 126, -127, 127, -128, 127, 0, 127})
	testConversion(t, d, from, []int32{0, math.MaxInt32, math.MinInt32, 300, -300, 126, -127, math.MaxInt32, math.MinInt32, math.MaxInt32, 0, math.MaxInt32})
	testConversion(t, d, from, []uint64{0, math.MaxUint64, 0, 300, 0, 126, 0, 1 << 63, 0, math.MaxUint64, 0, 5e9})
	testConversion(t, d, from, []uint8{0, 255, 0, 255, 0, 126, 0, 255, 0, 255, 0, 255})
}

// TestReduceLongRows: a device sums few long rows, in pieces, and the columns of a tall matrix as
// the host does. Rows without entries have no sum.
func TestReduceLongRows(t *testing.T) {
	t.Parallel()
	d, _ := emulated(t)
	defer d.Close()
	for _, full := range []bool{true, false} {
		const m, n = 3, 9001
		b := matrix.NewBuilder[int64](m, n)
		for i := range m {
			for j := range n {
				if full || i != 1 && (i+j)%3 > 0 {
					b.Add(i, j, int64(i*j%1000-300))
				}
			}
		}
		a := sure.Get(b.Build(nil))
		if !full {
			sure.Do(a.SetFormat(matrix.Bitmap))
		}
		tall := matrix.New[int64](n, m)
		sure.Do(ops.Transpose(tall, a))
		want := matrix.NewVector[int64](m)
		sure.Do(ops.Reduce(want, semiring.Plus[int64](), a), a.Move(d), tall.Move(d))
		for name, x := range map[string]matrix.Source[int64]{"rows": a, "columns": tall.T()} {
			got := matrix.NewVector[int64](m, matrix.On(d))
			if err := ops.Reduce(got, semiring.Plus[int64](), x); err != nil || !got.Equal(want) {
				t.Errorf("full %v, %s: %v, got %v, want %v", full, name, err, got, want)
			}
		}
	}
}

// TestArgOnDevice: columns of the best entries on a device equal the columns on the host.
func TestArgOnDevice(t *testing.T) {
	t.Parallel()
	d, _ := emulated(t)
	defer d.Close()
	values := []float32{1, 1, -2, float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), 0, 3}
	b, whole := matrix.NewBuilder[float32](40, 30), matrix.NewBuilder[uint8](40, 5)
	for i := range 40 {
		for j := range 30 {
			if i%7 != 0 && (3*i+5*j)%11 < 3 {
				b.Add(i, j, values[(i*j+i/9)%len(values)])
			}
			if i == 7 && j < 3 { // a row without a number
				b.Add(i, 4*j+3, values[3])
			}
			if j < 5 {
				whole.Add(i, j, uint8(i*j*37))
			}
		}
	}
	a, c := sure.Get(b.Build(nil)), sure.Get(whole.Build(nil))
	mask := sure.Get(matrix.NewFullVector(40, true))
	for i := range 10 {
		sure.Do(mask.Delete(4 * i))
	}
	run := func(at matrix.Place) (all []*matrix.Vector[int32]) {
		sure.Do(a.Move(at), c.Move(at))
		vector := func(n int) *matrix.Vector[int32] {
			v := matrix.NewVector[int32](n, matrix.On(at))
			all = append(all, v)
			return v
		}
		masked := vector(40)
		for k, err := range []error{
			ops.ArgMax(vector(40), a), ops.ArgMin(vector(40), a), ops.ArgMax(vector(30), a.T()), ops.ArgMin(vector(30), a.T()),
			ops.ArgMax(vector(40), c), ops.ArgMin(vector(40), c),
			ops.ArgMax(masked, c), ops.ArgMin(masked.Masked(mask.Structure()).Accum(semiring.Plus[int32]()), c),
		} {
			if err != nil {
				t.Errorf("%d at %v: %v", k, at, err)
			}
		}
		return all
	}
	want := run(nil)
	for k, got := range run(d) {
		if got.Place() != matrix.Place(d) || !got.Equal(want[k]) {
			t.Errorf("%d: got %v, want %v", k, got, want[k])
		}
	}
}

// TestSetOnDevice: Set and Delete change vectors with contents on a device, of any format.
func TestSetOnDevice(t *testing.T) {
	t.Parallel()
	d, _ := emulated(t)
	defer d.Close()
	run := func(at matrix.Place, n int, full bool) *matrix.Vector[int32] {
		list, v := matrix.NewVector[int32](n, matrix.On(at)), matrix.NewVector[int32](n, matrix.On(at))
		sure.Do(list.Set(1, 5), list.Set(n-1, 6))
		if full {
			sure.Do(ops.AssignVectorScalar(v, 7, ops.All()))
		} else {
			sure.Do(ops.Apply(v, semiring.Ainv[int32](), list))
		}
		if err := errors.Join(v.Set(0, 1), v.Delete(1)); err != nil {
			t.Errorf("%d at %v: %v", n, at, err)
		}
		sure.Do(ops.Apply(v, semiring.Ainv[int32](), v))
		return v
	}
	for _, n := range []int{9, 5000} {
		for _, full := range []bool{true, false} {
			if got, want := run(d, n, full), run(nil, n, full); !got.Equal(want) || got.Place() != matrix.Place(d) {
				t.Errorf("%d, full %v: got %v, want %v", n, full, got, want)
			}
		}
	}
}
