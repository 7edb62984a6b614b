package semiring_test

import (
	"math"
	"runtime"
	"testing"

	"github.com/hiveblas/hiveblas/internal/cpu"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/semiring"
)

// TestVectorsRoundAlike: Axpy, sums and multiples with vector instructions have the bits of a loop,
// special values included.
func TestVectorsRoundAlike(t *testing.T) {
	t.Parallel()
	if runtime.GOARCH != "amd64" {
		t.Skip("loops everywhere else")
	}
	special := []float64{math.Inf(1), math.Inf(-1), math.NaN(), 0, math.Copysign(0, -1), math.MaxFloat64, math.SmallestNonzeroFloat64, 1}
	scales := append([]float64{1.0 / 3, -2.75}, special...)
	check := func(name string, length int, scale, got, want float64) {
		if math.Float64bits(got) != math.Float64bits(want) && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("%s of %d values by %v: %v, want %v", name, length, scale, got, want)
		}
	}
	for _, length := range []int{0, 1, 15, 16, 17, 31, 64, 67} {
		for _, scale := range scales {
			b, y := make([]float64, length), make([]float64, length+3)
			for p := range b {
				b[p], y[p] = 1/float64(p+3), -float64(p)/7
				if p%5 == 4 {
					b[p], y[p] = special[p/5%len(special)], special[p/7%len(special)]
				}
			}
			times := cpu.TypedKernels[float64, float64, float64](semiring.PlusTimes[float64]().Inside().Semiring)
			second := semiring.PlusSecond[float64]().Inside().Semiring
			sums, multiples := make([]float64, length), make([]float64, length)
			cpu.TypedBinary[float64, float64, float64](semiring.Plus[float64]().Op().Inside().Binary).Zip(sums, b, y)
			scaling := cpu.TypedBinary[float64, float64, float64](semiring.Times[float64]().Op().Inside().Binary)
			scaling.BindX(multiples, &scale, b)
			for p := range b {
				check("plus", length, scale, sums[p], b[p]+y[p])
				check("first bound", length, scale, multiples[p], scale*b[p])
			}
			scaling.BindY(multiples, y[:length], &scale)
			for p := range b {
				check("second bound", length, scale, multiples[p], y[p]*scale)
			}
			x, z := append([]float64(nil), y...), append([]float64(nil), y...)
			times.Axpy(x, &scale, b)
			second.Axpy(sparse.ValuesOf(z), nil, sparse.ValuesOf(b))
			for p := range y {
				if p < length {
					product := scale * b[p]
					check("times", length, scale, x[p], y[p]+product)
					check("second", length, scale, z[p], y[p]+b[p])
				} else if x[p] != y[p] || z[p] != y[p] {
					t.Errorf("%d values: position %d has changed", length, p)
				}
			}
			narrow(t, length, float32(scale), b, y, cpu.TypedKernels[float32, float32, float32](semiring.PlusTimes[float32]().Inside().Semiring))
		}
	}
}

func narrow(t *testing.T, length int, scale float32, b, y []float64, k *cpu.KernelsOf[float32, float32, float32]) {
	t.Helper()
	b32, y32 := make([]float32, len(b)), make([]float32, len(y))
	for p, x := range b {
		b32[p] = float32(x)
	}
	for p, x := range y {
		y32[p] = float32(x)
	}
	x := append([]float32(nil), y32...)
	k.Axpy(x, &scale, b32)
	for p, got := range x {
		want := y32[p]
		if p < length {
			product := scale * b32[p]
			want += product
		}
		if math.Float32bits(got) != math.Float32bits(want) && !(got != got && want != want) {
			t.Errorf("times of %d float32 by %v: %v, want %v", length, scale, got, want)
		}
	}
}
