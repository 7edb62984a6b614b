package rowsum

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Sums, relu and scaling equal loops in float64, for widths on both sides of the tiles.
func TestRows(t *testing.T) {
	testRows(t, wide)
	testRows(t, false)
}

func testRows(t *testing.T, wide bool) {
	rng := rand.New(rand.NewPCG(1, 2))
	const rows = 20
	for _, width := range []int{0, 1, 7, 8, 63, 64, 65, 128, 200} {
		for _, begin := range []int{0, 3} {
			x := Matrix{make([]float32, rows*(width+begin+2)), width + begin + 2}
			for i := range x.Val {
				x.Val[i] = float32(rng.NormFloat64())
			}
			for _, count := range []int{0, 1, 2, 33} {
				idx, val := make([]int32, count), make([]float32, count)
				for p := range idx {
					idx[p], val[p] = int32(rng.IntN(rows)), float32(rng.NormFloat64())
				}
				for _, v := range [][]float32{val, nil} {
					y := make([]float32, width)
					for j := range y {
						y[j] = 99
					}
					sum(wide, y, idx, v, x, begin)
					for j, got := range y {
						want := 0.0
						for p, r := range idx {
							w := 1 / float64(count)
							if v != nil {
								w = float64(v[p])
							}
							want += w * float64(x.Val[int(r)*x.Step+begin+j])
						}
						if math.Abs(float64(got)-want) > 1e-5 {
							t.Fatalf("width %d, begin %d, %d rows, weights %v: column %d is %v, want %v", width, begin, count, v != nil, j, got, want)
						}
					}
				}
			}
		}
		x := make([]float32, width+1)
		for i := range x {
			x[i] = float32(rng.NormFloat64())
		}
		if width > 7 {
			x[2], x[3], x[4], x[5] = float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.Copysign(0, -1))
		}
		old := append([]float32{}, x...)
		squares := 0.0
		for _, v := range x[:width] {
			if v > 0 {
				squares += float64(v) * float64(v)
			}
		}
		if got := relu(wide, x[:width]); !(math.Abs(got-squares) <= 1e-5*squares) && got != squares {
			t.Fatalf("width %d: the sum of squares is %v, want %v", width, got, squares)
		}
		scale(wide, x[:width], 3)
		for i, v := range old[:width] {
			want := float32(0)
			if v > 0 {
				want = 3 * v
			}
			if x[i] != want {
				t.Fatalf("width %d: 3·relu(%v) is %v", width, v, x[i])
			}
		}
		if x[width] != old[width] {
			t.Fatalf("width %d: an item behind the row changed", width)
		}
	}
}

// Sums of squares beyond float32 are in float64.
func TestReluRange(t *testing.T) {
	for _, v := range []float32{1e-30, 1e25} {
		x := make([]float32, 20)
		for i := range x {
			x[i] = v
		}
		if got, want := Relu(x), 20*float64(v)*float64(v); math.Abs(got-want) > 1e-9*want {
			t.Errorf("20 items of %v: %v, want %v", v, got, want)
		}
	}
}

// An index outside of the matrix panics, in place of a read of other memory.
func TestOutside(t *testing.T) {
	x := Matrix{make([]float32, 4*64), 64}
	for _, r := range []int32{4, -1, 1 << 30} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("row %d of 4 does not panic", r)
				}
			}()
			Sum(make([]float32, 64), []int32{0, r}, nil, x, 0)
		}()
	}
}
