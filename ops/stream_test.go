package ops_test

import (
	"fmt"
	"testing"

	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/stream"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// TestPastTheCaches: operations that store results past the caches have the same results as
// operations that do not, for values of 1 to 8 bytes.
func TestPastTheCaches(t *testing.T) {
	for k, of := range []func(*testing.T){pastTheCaches[int8], pastTheCaches[uint16], pastTheCaches[float32], pastTheCaches[float64]} {
		if longtest.Takes(k, 4) {
			of(t)
		}
	}
}

func pastTheCaches[T semiring.Number](t *testing.T) {
	const m, n = 37, 911 // 33707 values: several pieces, which end within a line
	full := func(seed, m, n int) *matrix.Matrix[T] {
		val := make([]T, m*n)
		for i := range val {
			x := T(0)
			for range (i*7919+seed*104729)%97 + 1 {
				x++
			}
			val[i] = x
		}
		a := sure.Get(matrix.FromDense(m, n, val))
		return a
	}
	a, b := full(1, m, n), full(2, m, n)
	listed := matrix.New[T](m, n)
	even := semiring.NewSelect("even", func(_ T, i, j int) bool { return (i+j)%2 == 0 })
	if err := ops.Select(listed, even, a); err != nil {
		t.Fatal(err)
	}
	bitmap := listed.Clone()
	sure.Do(listed.SetFormat(matrix.CSR))
	sure.Do(bitmap.SetFormat(matrix.Bitmap))
	plus, times := semiring.Plus[T](), semiring.Times[T]()
	// Its rows, and the rows of the product, have more entries than one buffer.
	wide := full(4, n, m*n/50)
	sure.Do(wide.SetFormat(matrix.CSR))
	double := semiring.NewUnary("double", func(x T) T { return x + x })
	cases := map[string]func(c *matrix.Matrix[T], with ops.Option) error{
		"apply":           func(c *matrix.Matrix[T], with ops.Option) error { return ops.Apply(c, double, a, with) },
		"apply listed":    func(c *matrix.Matrix[T], with ops.Option) error { return ops.Apply(c, double, listed, with) },
		"apply bitmap":    func(c *matrix.Matrix[T], with ops.Option) error { return ops.Apply(c, double, bitmap, with) },
		"add":             func(c *matrix.Matrix[T], with ops.Option) error { return ops.EWiseAdd(c, plus, a, b, with) },
		"add a listed":    func(c *matrix.Matrix[T], with ops.Option) error { return ops.EWiseAdd(c, plus, a, listed, with) },
		"add to a listed": func(c *matrix.Matrix[T], with ops.Option) error { return ops.EWiseAdd(c, plus, listed, b, with) },
		"multiply":        func(c *matrix.Matrix[T], with ops.Option) error { return ops.EWiseMult(c, times, a, b, with) },
		"select":          func(c *matrix.Matrix[T], with ops.Option) error { return ops.Select(c, even, a, with) },
		"assign": func(c *matrix.Matrix[T], with ops.Option) error {
			return ops.AssignScalar(c, 3, ops.All(), ops.All(), with)
		},
		"dense product": func(c *matrix.Matrix[T], with ops.Option) error {
			square := full(3, m, n)
			return ops.MxM(c, semiring.PlusTimes[T](), listed, square.T(), with)
		},
		"product": func(c *matrix.Matrix[T], with ops.Option) error {
			return ops.MxM(c, semiring.PlusTimes[T](), listed, wide, with)
		},
		"in place": func(c *matrix.Matrix[T], with ops.Option) error {
			if err := ops.Apply(c, double, a, with); err != nil {
				return err
			}
			if err := ops.EWiseAdd(c, plus, c, b, with); err != nil {
				return err
			}
			if err := ops.Apply(c, double, c, with); err != nil {
				return err
			}
			return ops.EWiseAdd(c.Accum(plus), plus, b, a, with)
		},
	}
	for name, run := range cases {
		for _, threads := range []int{1, 3} {
			cols := n
			switch name {
			case "dense product":
				cols = m
			case "product":
				_, cols = wide.Dims()
			}
			want, got := matrix.New[T](m, cols), matrix.New[T](m, cols)
			if err := run(want, ops.WithThreads(threads)); err != nil {
				t.Fatal(name, err)
			}
			stream.From(1, func() {
				for range 2 { // the second into the storage of the first
					if err := run(got, ops.WithThreads(threads)); err != nil {
						t.Fatal(name, err)
					}
				}
			})
			if at := fmt.Sprintf("%T %s, %d threads", *new(T), name, threads); want.NVals() == 0 || got.NVals() != want.NVals() {
				t.Errorf("%s: %d entries, want %d", at, got.NVals(), want.NVals())
			}
			if !got.Equal(want) {
				t.Errorf("%T %s, %d threads: results differ", *new(T), name, threads)
			}
			stream.From(1, func() {
				if copied := got.Clone(); !copied.Equal(want) {
					t.Errorf("%T %s: a copy differs", *new(T), name)
				}
			})
		}
	}
}

// TestAssignScalarInPlace: the values of a full destination are set in place, and its copies keep
// theirs.
func TestAssignScalarInPlace(t *testing.T) {
	a := sure.Get(matrix.FromDense(2, 3, []float64{1, 2, 3, 4, 5, 6}))
	before := a.Clone()
	same := matrix.New[float64](2, 3)
	if err := ops.Apply(same, semiring.Identity[float64](), a); err != nil {
		t.Fatal(err)
	}
	if err := ops.AssignScalar(a, 7, ops.All(), ops.All()); err != nil {
		t.Fatal(err)
	}
	want := sure.Get(matrix.NewFull(2, 3, 7.))
	if !a.Equal(want) || before.Equal(a) || !before.Equal(same) {
		t.Errorf("%v, its copies %v and %v", a, before, same)
	}
	v := sure.Get(matrix.VectorOf([]bool{true, false, true}))
	if err := ops.AssignVectorScalar(v, false, ops.All()); err != nil {
		t.Fatal(err)
	}
	for i, x := range v.All() {
		if x {
			t.Errorf("%d is true", i)
		}
	}
}
