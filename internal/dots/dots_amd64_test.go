package dots

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestRows compares the loops with plain ones bit for bit, with and without prefetches: rows of 0
// to 40 and of 1000 entries, at any place of the arrays, with zeros, infinities and NaN.
func TestRows(t *testing.T) {
	if !Available {
		t.Skip("no AVX")
	}
	for _, ahead := range []bool{true, false} {
		testRows[float64](t, ahead)
		testRows[float32](t, ahead)
	}
}

func testRows[T Float](t *testing.T, ahead bool) {
	r := rand.New(rand.NewPCG(1, 2))
	x := make([]T, 300)
	value := func() T {
		switch r.IntN(60) {
		case 0:
			return 0
		case 1:
			return T(math.Copysign(0, -1))
		case 2:
			return T(math.Inf(1 - 2*r.IntN(2)))
		case 3:
			return T(math.NaN())
		}
		return T(r.NormFloat64())
	}
	for j := range x {
		x[j] = value()
	}
	for range 300 {
		rows := r.IntN(60)
		ptr := []int64{0}
		for range rows + 2 {
			n := r.IntN(41)
			switch r.IntN(20) {
			case 0:
				n = 0
			case 1:
				n = 1000
			}
			ptr = append(ptr, ptr[len(ptr)-1]+int64(n))
		}
		ci, av := make([]int32, ptr[len(ptr)-1]), make([]T, ptr[len(ptr)-1])
		for p := range ci {
			ci[p], av[p] = int32(r.IntN(len(x))), value()
		}
		ptr = ptr[1 : rows+2] // rows within the arrays
		y := make([]T, rows+1)
		y[rows] = 7
		check := func(name string, want func(ci []int32, av []T) T) {
			t.Helper()
			for i := range y[:rows] {
				got, want := y[i], want(ci[ptr[i]:ptr[i+1]], av[ptr[i]:ptr[i+1]])
				if math.Float64bits(float64(got)) != math.Float64bits(float64(want)) && (got == got || want == want) {
					t.Fatalf("%T, %s, row of %d, prefetches %v: %v, want %v", T(0), name, ptr[i+1]-ptr[i], ahead, got, want)
				}
			}
			if y[rows] != 7 {
				t.Fatalf("%s writes after the last row", name)
			}
		}
		plusTimes(y[:rows], ptr, ci, av, x, ahead)
		check("PlusTimes", func(ci []int32, av []T) T { return sum4(len(ci), func(p int) T { return av[p] * x[ci[p]] }) })
		plusSecond(y[:rows], ptr, ci, x, ahead)
		check("PlusSecond", func(ci []int32, av []T) T { return sum4(len(ci), func(p int) T { return x[ci[p]] }) })
		most := T(math.Inf(1))
		minPlus(y[:rows], most, ptr, ci, av, x, ahead)
		for i := range y {
			y[i] += 0 // without the sign of a zero
		}
		check("MinPlus", func(ci []int32, av []T) T {
			s := most
			for p, j := range ci {
				if v := av[p] + x[j]; v < s {
					s = v
				}
			}
			return s + 0
		})
	}
}

// sum4 is the order of package semiring: four sums; the last terms are added to their total.
func sum4[T Float](n int, term func(p int) T) T {
	var s [4]T
	whole := n &^ 3
	for p := range whole {
		s[p%4] += term(p)
	}
	total := (s[0] + s[1]) + (s[2] + s[3])
	for p := whole; p < n; p++ {
		total += term(p)
	}
	return total
}

// TestArguments panics, as the Go loops do, where offsets reach beyond the arrays.
func TestArguments(t *testing.T) {
	if !Available {
		t.Skip("no AVX")
	}
	for name, f := range map[string]func(){
		"indices": func() { PlusSecond(make([]float64, 1), []int64{0, 3}, make([]int32, 2), make([]float64, 1)) },
		"values": func() {
			PlusTimes(make([]float64, 1), []int64{0, 3}, make([]int32, 3), make([]float64, 2), make([]float64, 1))
		},
		"offsets": func() {
			MinPlus(make([]float64, 2), 0, []int64{0, 3}, make([]int32, 3), make([]float64, 3), make([]float64, 1))
		},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}
