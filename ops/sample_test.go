package ops_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
)

// TestSample: a sample has k entries of each longer row, all of a shorter one, with their values,
// and is the same at any number of threads.
func TestSample(t *testing.T) {
	t.Parallel()
	for _, shape := range [][3]int{{1, 1, 1}, {7, 30, 100}, {900, 50, 9000}, {100000, 5, 40}, {4, 4, 0}} {
		m, n := shape[0], shape[1]
		b := matrix.NewBuilder[float64](m, n)
		for at := range ties(t, m, n, shape[2]).All() {
			b.Add(at.Row, at.Col, float64(1+at.Row*n+at.Col))
		}
		a := sure.Get(b.Build(nil))
		for _, k := range []int{0, 1, 3, 1000} {
			for name, draw := range map[string]func(c *matrix.Matrix[float64], threads int) error{
				"Sample": func(c *matrix.Matrix[float64], threads int) error {
					return ops.Sample(c, a, k, 5, ops.WithThreads(threads))
				},
				"SampleWeighted": func(c *matrix.Matrix[float64], threads int) error {
					return ops.SampleWeighted(c, a, k, 5, ops.WithThreads(threads))
				},
			} {
				c, again := matrix.New[float64](m, n), matrix.New[float64](m, n)
				sure.Do(draw(c, 1), draw(again, 3))
				if !c.Equal(again) {
					t.Errorf("%v %s: threads change the sample", shape, name)
				}
				got := rowsOf(c)
				for i, r := range rowsOf(a) {
					if len(got[i]) != min(k, len(r)) {
						t.Fatalf("%v %s(%d): row %d has %d entries of %d", shape, name, k, i, len(got[i]), len(r))
					}
				}
				for at, x := range c.All() {
					if y, ok := a.At(at.Row, at.Col); !ok || x != y {
						t.Fatalf("%v %s: %v at %v is no entry of a", shape, name, x, at)
					}
				}
			}
		}
	}
}

// TestSampleLaw compares the frequencies of 20000 equal rows with the probabilities: with k = 2 of
// 4 entries, each pair of Sample has 1/6, and SampleWeighted follows draws one by one.
func TestSampleLaw(t *testing.T) {
	t.Parallel()
	const rows = 20000
	weight := []float64{1, 2, 3, 4}
	b := matrix.NewBuilder[float64](rows, 4)
	for i := range rows {
		for j, w := range weight {
			b.Add(i, j, w)
		}
	}
	a := sure.Get(b.Build(nil))
	for name, c := range map[string]struct {
		draw func(c *matrix.Matrix[float64]) error
		p    func(i, j int) float64
	}{
		"uniform": {func(c *matrix.Matrix[float64]) error { return ops.Sample(c, a, 2, 77) }, func(_, _ int) float64 { return 1. / 6 }},
		"weighted": {func(c *matrix.Matrix[float64]) error { return ops.SampleWeighted(c, a, 2, 77) }, func(i, j int) float64 {
			x, y := weight[i], weight[j]
			return x/10*y/(10-x) + y/10*x/(10-y)
		}},
	} {
		s := matrix.New[float64](rows, 4)
		if err := c.draw(s); err != nil {
			t.Fatal(err)
		}
		count := map[[2]int]int{}
		for _, r := range rowsOf(s) {
			count[[2]int{r[0].col, r[1].col}]++
		}
		chi := 0.0
		for i := range 4 {
			for j := i + 1; j < 4; j++ {
				want := rows * c.p(i, j)
				chi += math.Pow(float64(count[[2]int{i, j}])-want, 2) / want
			}
		}
		if chi > 20.5 { // 0.1 % for 5 degrees of freedom
			t.Errorf("%s: pairs %v, χ² = %.1f", name, count, chi)
		}
	}
}

func TestSampleErrors(t *testing.T) {
	t.Parallel()
	a := sure.Get(matrix.FromTuples(2, 2, []int{0, 1}, []int{1, 0}, []float64{1, -1}, nil))
	c := matrix.New[float64](2, 2)
	for _, err := range []error{ops.Sample(c, a, -1, 0), ops.SampleWeighted(c, a, 1, 0)} {
		if !errors.Is(err, matrix.ErrInvalid) {
			t.Errorf("error %v, want an InvalidError", err)
		}
	}
	if err := ops.Sample(matrix.New[float64](3, 2), a, 1, 0); !errors.Is(err, matrix.ErrDimension) {
		t.Errorf("error %v, want a DimensionError", err)
	}
}

// Two neighbours of each vertex, the same for the same seed.
func ExampleSample() {
	a, err := matrix.FromTuples(2, 5, []int{0, 0, 0, 0, 1}, []int{0, 1, 2, 4, 3}, []float64{1, 2, 3, 4, 5}, nil)
	if err != nil {
		panic(err)
	}
	c := matrix.New[float64](2, 5)
	if err := ops.Sample(c, a, 2, 42); err != nil {
		panic(err)
	}
	for at, x := range c.All() {
		fmt.Println(at.Row, at.Col, x)
	}
	// Output:
	// 0 1 2
	// 0 4 4
	// 1 3 5
}
