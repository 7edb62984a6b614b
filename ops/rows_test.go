package ops_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// TestNoAllocationPerRow: operations on a matrix of 2 to 4 entries a row allocate by threads and by
// results, not by rows: no address of a local variable goes to a kernel within a loop over rows.
func TestNoAllocationPerRow(t *testing.T) {
	const n = 20_000
	r := rand.New(rand.NewPCG(1, 2))
	var rows, cols []int
	var vals []float64
	for i := range n {
		for range 2 + r.IntN(3) {
			rows, cols, vals = append(rows, i), append(cols, r.IntN(n)), append(vals, r.Float64())
		}
	}
	plus, times := semiring.Plus[float64](), semiring.Times[float64]()
	a, err := matrix.FromTuples(n, n, rows, cols, vals, plus)
	must(t, err)
	mask, err := matrix.FromTuples(n, n, rows, cols, vals, plus)
	must(t, err)
	u, err := matrix.NewFullVector(n, 2.0)
	must(t, err)
	var even []int
	for i := 0; i < n; i += 2 {
		even = append(even, i)
	}
	sparse := matrix.NewVector[float64](n)
	must(t, ops.AssignVectorScalar(sparse, 1.5, ops.Of(even...)))

	own := semiring.NewBinary("own", func(x, y float64) float64 { return x * y })
	sum := semiring.NewMonoid(semiring.NewBinary("sum", func(x, y float64) float64 { return x + y }), 0)
	user := semiring.New(sum, own)
	kernels := user.WithKernels(semiring.Kernels[float64, float64, float64]{
		Dot: func(s float64, ci []int32, av, x []float64) float64 {
			for p, j := range ci {
				s += av[p] * x[j]
			}
			return s
		},
	})
	c, w := matrix.New[float64](n, n), matrix.NewVector[float64](n)
	cases := map[string]func() error{
		"EWiseAdd":       func() error { return ops.EWiseAdd(c, plus, a, mask) },
		"EWiseAdd user":  func() error { return ops.EWiseAdd(c, own, a, a.T()) },
		"EWiseMult":      func() error { return ops.EWiseMult(c, times, a, a.T()) },
		"EWiseMult user": func() error { return ops.EWiseMult(c, own, a, a.T()) },
		"Apply":          func() error { return ops.Apply(c, semiring.Ainv[float64](), a) },
		"Apply accum":    func() error { return ops.Apply(c.Accum(plus), semiring.Ainv[float64](), a) },
		"Apply masked":   func() error { return ops.Apply(c.Masked(mask.Structure()), semiring.Ainv[float64](), a) },
		"Select":         func() error { return ops.Select(c, semiring.ValueGT(0.5), a) },
		"Transpose":      func() error { return ops.Transpose(c, a) },
		"Reduce":         func() error { return ops.Reduce(w, plus, a) },
		"Reduce user":    func() error { return ops.Reduce(w, sum, a) },
		"Reduce columns": func() error { return ops.Reduce(w, plus, a.T()) },
		"Extract":        func() error { return ops.Extract(c, a, ops.All(), ops.All()) },
	}
	for name, s := range map[string]semiring.Semiring[float64, float64, float64]{
		"": semiring.PlusTimes[float64](), " min": semiring.MinPlus[float64](), " user": user, " kernels": kernels,
	} {
		cases["MxM"+name] = func() error { return ops.MxM(c, s, a, a) }
		cases["MxM masked"+name] = func() error { return ops.MxM(c.Masked(mask.Structure()), s, a, a, ops.Using(ops.Dot)) }
		cases["pull"+name] = func() error { return ops.MxV(w, s, a, u, ops.Using(ops.Pull)) }
		cases["pull of some"+name] = func() error { return ops.MxV(w, s, a, sparse, ops.Using(ops.Pull)) }
		cases["push"+name] = func() error { return ops.MxV(w, s, a, sparse, ops.Using(ops.Push)) }
	}
	for name, run := range cases {
		least := uint64(1 << 62)
		must(t, run()) // makes transposes, fills pools
		for range 3 {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if err := run(); err != nil {
				t.Fatal(fmt.Errorf("%s: %w", name, err))
			}
			runtime.ReadMemStats(&after)
			least = min(least, after.Mallocs-before.Mallocs)
		}
		if least > n/20 {
			t.Errorf("%s of %d rows makes %d allocations", name, n, least)
		}
	}
}
