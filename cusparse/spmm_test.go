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
	for _, n := range []int{1, 31, 32, 33, 64, 70, 330} {
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
