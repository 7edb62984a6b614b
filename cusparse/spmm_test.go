package cusparse

import (
	"testing"

	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// TestSpMM multiplies by full matrices of widths around a warp's, with rows
// that are cut into several tasks.
func TestSpMM(t *testing.T) {
	d, _ := emulated(t)
	testSpMM(t, d)
	defer func() { d.gridY = 0 }()
	d.gridY = 2 // more columns than a grid has blocks, as classify has edges
	testSpMM(t, d)
}

func testSpMM(t *testing.T, d *Device) {
	a := skewed[float64](90, 700, 3) // one row of 700 entries: three tasks
	for _, n := range []int{1, 3, 5, 8, 16, 17, 31, 32, 33, 64, 70, 330} {
		b := sure.Get(matrix.NewFull(700, n, 1.0))
		for i := range 700 {
			sure.Do(b.Set(i, i%n, float64(i%5)))
		}
		for _, s := range []semiring.Semiring[float64, float64, float64]{semiring.PlusTimes[float64](), semiring.MinPlus[float64]()} {
			cpu, gpu := matrix.New[float64](90, n), matrix.New[float64](90, n, matrix.On(d))
			if err := ops.MxM(cpu, s, a, b); err != nil {
				t.Fatal(err)
			}
			var trace ops.Trace
			if err := ops.MxM(gpu, s, a, b, ops.WithTrace(&trace)); err != nil {
				t.Fatal(err)
			}
			if trace.Method != ops.SpMM || !gpu.Equal(cpu) {
				t.Errorf("%s with %d columns by %s differs from the CPU's", s, n, trace.Method)
			}
		}
	}
}

// TestOuterOfFull multiplies a full column and a full row, of one entry for each entry of the
// result.
func TestOuterOfFull(t *testing.T) {
	d, _ := emulated(t)
	u, v := make([]int32, 300), make([]int32, 9)
	for i := range u {
		u[i] = int32(i % 11)
	}
	for j := range v {
		v[j] = int32(j)
	}
	run := func(at matrix.Place) []*matrix.Matrix[int64] {
		x, y := sure.Get(matrix.VectorOf(u)), sure.Get(matrix.VectorOf(v))
		sure.Do(x.Move(at), y.Move(at))
		is := semiring.NewBinary("is", func(x, y int32) int64 {
			if x == y {
				return 1
			}
			return 0
		}, "x == y ? 1 : 0")
		difference := semiring.NewBinary("difference", func(x, y int32) int64 { return int64(x - y) }, "(hb_i64)(x - y)")
		var list []*matrix.Matrix[int64]
		for _, s := range []semiring.Semiring[int32, int32, int64]{semiring.New(semiring.Any[int64](), is), semiring.New(semiring.Plus[int64](), difference)} {
			c := matrix.New[int64](300, 9, matrix.On(at))
			var trace ops.Trace
			if err := ops.Outer(c, s, x, y, ops.WithTrace(&trace)); err != nil || at != nil && trace.Method != ops.SpMM {
				t.Fatalf("%v, by %s", err, trace.Method)
			}
			list = append(list, c)
		}
		return list
	}
	want := run(nil)
	for k, got := range run(d) {
		if !got.Equal(want[k]) || got.NVals() != 2700 {
			t.Errorf("%d: got %v, want %v", k, got, want[k])
		}
	}
}
