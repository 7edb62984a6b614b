package cusparse

import (
	"math/rand/v2"
	"testing"

	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// hubs returns an m×n matrix of mean entries a row, with rows and columns of many and of none.
func hubs[T comparable](m, n int, mean float64, seed uint64, value func(r *rand.Rand) T) *matrix.Matrix[T] {
	r := rand.New(rand.NewPCG(seed, 17))
	b := matrix.NewBuilder[T](m, n)
	for i := range m {
		for j := range n {
			p := mean / float64(n)
			switch {
			case i%7 == 3 || j%11 == 5:
				p = 0
			case i == m/2 || j == n/2:
				p = .9
			case i%13 == 0 || j%17 == 0:
				p *= 6
			}
			if r.Float64() < p {
				b.Add(i, j, value(r))
			}
		}
	}
	return sure.Get(b.Build(nil))
}

// sameMasked multiplies under a mask on the device by dot products, for all limits, and compares
// with the CPU.
func sameMasked[A, B, C comparable](t *testing.T, d *Device, s semiring.Semiring[A, B, C], a matrix.Source[A], b matrix.Source[B], mask matrix.Mask) {
	t.Helper()
	m, _ := matrix.AsView[A](a).Dims()
	_, n := matrix.AsView[B](b).Dims()
	if (m == 60 && n == 70 || m == 80 && n == 80) && !longtest.Takes(len(s.Name()), 4) { // one of many types
		return
	}
	defer func() { d.masked = maskedLimits{} }()
	want := matrix.New[C](m, n)
	check(t, ops.MxM(want.Masked(mask), s, a, b))
	if want.NVals() == 0 {
		t.Error("the product has no entries")
	}
	limits := []maskedLimits{{}, {work: 32}, {bits: 128, parts: 3, wide: true, work: 32}}
	if longtest.Enabled() {
		limits = append(limits, maskedLimits{bits: 128, work: 32}, maskedLimits{parts: 3}, maskedLimits{wide: true, work: 32}, maskedLimits{bits: 128, parts: 5, work: 100})
	}
	for _, d.masked = range limits {
		var trace ops.Trace
		got := matrix.New[C](m, n, matrix.On(d))
		check(t, ops.MxM(got.Masked(mask), s, a, b, ops.Using(ops.Dot), ops.WithTrace(&trace)))
		if !got.Equal(want) || trace.Method != ops.Dot {
			t.Errorf("%+v, %v: got %d entries, want %d, or other values", d.masked, trace, got.NVals(), want.NVals())
		}
	}
}

func TestMaskedEmulated(t *testing.T) {
	t.Parallel()
	d, _ := emulated(t)
	testMasked(t, d)
}

func testMasked(t *testing.T, d *Device) {
	for x, c := range []struct {
		m, k, n       int
		p, q, entries float64
		reason        string
	}{
		{60, 90, 70, 30, 30, 20, "owners of much work on both sides"},
		{200, 100, 150, 12, 14, 5, "owners of little work"},
		{80, 60, 90, 3, 4, 20, "rows of at most 8 entries"},
		{30, 3000, 40, 1800, 2000, 20, "rows that a warp takes"},
		{40, 1, 50, 1, 1, 25, "an outer product"},
		{1, 500, 300, 200, 100, 100, "one row"},
	} {
		if !longtest.Takes(x, 3) {
			continue
		}
		t.Run(c.reason, func(t *testing.T) {
			seed := 10 * uint64(x)
			a, b := hubs(c.m, c.k, c.p, seed, small[int64]), hubs(c.k, c.n, c.q, seed+1, small[int64])
			mask := hubs(c.m, c.n, c.entries, seed+2, func(*rand.Rand) bool { return true })
			if c.k == 1 {
				a, b = scattered(c.m, 1, .9, seed, small[int64]), scattered(1, c.n, .9, seed, small[int64])
			}
			check(t, mask.SetFormat(matrix.CSR))
			sameMasked(t, d, semiring.PlusTimes[int64](), a, b, mask.Structure())
			sameMasked(t, d, semiring.PlusPair[int32](), a.Pattern(), b.Pattern(), mask.Structure())
			at, bt := matrix.New[int64](c.k, c.m), matrix.New[int64](c.n, c.k)
			check(t, ops.Transpose(at, a))
			check(t, ops.Transpose(bt, b))
			for _, format := range []matrix.Format{matrix.Hypersparse, matrix.Bitmap} {
				for _, x := range []*matrix.Matrix[int64]{a, b, at, bt} {
					check(t, x.SetFormat(format))
				}
				check(t, mask.SetFormat(matrix.Hypersparse))
				sameMasked(t, d, semiring.MinPlus[int64](), a, b, mask.Structure())
				sameMasked(t, d, semiring.PlusPair[int64](), at.Pattern().T(), bt.Pattern().T(), mask.Structure())
			}
		})
	}
}

func TestMaskedTypesEmulated(t *testing.T) {
	t.Parallel()
	d, _ := emulated(t)
	a, b := hubs(60, 90, 30, 1, small[int64]), hubs(90, 70, 30, 2, small[int64])
	mask := hubs(60, 70, 20, 3, func(r *rand.Rand) bool { return r.IntN(2) > 0 })
	check(t, mask.SetFormat(matrix.CSR))
	where := mask.Structure()
	sameMasked(t, d, semiring.LorLand(), a.Pattern(), b.Pattern(), mask) // by value
	sameMasked(t, d, semiring.AnyPair[bool](), a.Pattern(), b.Pattern(), where)
	sameMasked(t, d, semiring.PlusFirst[int64](), a, b.Pattern(), where)
	sameMasked(t, d, semiring.PlusSecond[int64](), a.Pattern(), b, where)
	sameMasked(t, d, semiring.PlusPair[uint8](), a.Pattern(), b.Pattern(), where)
	sameMasked(t, d, semiring.MaxMin[int64](), a, b, where)
	sameMasked(t, d, semiring.MinFirstj[int64](0), a.Pattern(), b.Pattern(), where)
	sameMasked(t, d, semiring.New(semiring.Plus[float64](), semiring.NewBinary("mixed", func(x, y int64) float64 { return float64(x) - 2*float64(y) }, "(double)x - 2 * (double)y")), a, b, where)
	meet := semiring.NewMonoid(semiring.NewBinary("meet", func(x, y interval) interval {
		return interval{max(x.Lo, y.Lo), min(x.Hi, y.Hi)}
	}, "C{x.Lo > y.Lo ? x.Lo : y.Lo, x.Hi < y.Hi ? x.Hi : y.Hi}"), interval{-1e9, 1e9})
	sameMasked(t, d, semiring.New(meet, semiring.NewBinary("span", func(x, y int64) interval {
		return interval{float64(x), float64(y) + 9}
	}, "C{(double)x, (double)y + 9}")), a, b, where)
	sum := semiring.NewMonoid(semiring.NewBinary("sum", func(x, y large) large { return large{x.A + y.A, x.B + y.B, x.C + y.C} },
		"C{x.A + y.A, x.B + y.B, x.C + y.C}"), large{})
	sameMasked(t, d, semiring.New(sum, semiring.NewBinary("three", func(x, y int64) large { return large{x, y, x * y} }, "C{x, y, x * y}")), a, b, where)
	// Both operands have one structure: its rows are owners for both.
	c := hubs(80, 80, 30, 4, small[int64])
	self := hubs(80, 80, 30, 5, func(*rand.Rand) bool { return true })
	check(t, self.SetFormat(matrix.CSR))
	minus := semiring.New(semiring.Plus[int64](), semiring.NewBinary("minus", func(x, y int64) int64 { return x - 3*y }, "x - 3 * y"))
	sameMasked(t, d, minus, c, c.T(), self.Structure())
	sameMasked(t, d, semiring.PlusFirst[int64](), c, c.Pattern().T(), self.Structure())
	sameMasked(t, d, semiring.PlusPair[int64](), c.Pattern(), c.Pattern().T(), self.Structure())
	for range 2 {
		sameMasked(t, d, minus, c.T(), c, self.Structure())
	}
}
