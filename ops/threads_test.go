package ops_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// powerLaw returns a pattern-like n×n matrix of floats with very unequal degrees, with about the
// given number of entries, so that sums of different orders differ in their last bits.
func powerLaw(t *testing.T, n, entries int, seed uint64) *matrix.Matrix[float64] {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	pick := func() int { return int(float64(n) * math.Pow(rng.Float64(), 3)) }
	rows, cols, vals := make([]int, entries), make([]int, entries), make([]float64, entries)
	for p := range rows {
		rows[p], cols[p], vals[p] = pick(), pick(), rng.NormFloat64()
	}
	a := sure.Get(matrix.FromTuples(n, n, rows, cols, vals, matrix.CombineFunc[float64](math.Max)))
	return a
}

// TestThreads: operations that promise it give the same bits at any number of threads, also above
// the number of processors, for inputs that are large enough to be divided.
func TestThreads(t *testing.T) {
	t.Parallel()
	const n = 30_000
	type f64 = float64
	a, b := powerLaw(t, n, 600_000, 1), powerLaw(t, n, 300_000, 2)
	at := matrix.New[f64](n, n)
	if err := ops.Transpose(at, a); err != nil {
		t.Fatal(err)
	}
	wide := powerLaw(t, 3_000_000, 400_000, 3)
	rng := rand.New(rand.NewPCG(4, 4))
	vector := func(n int, share float64) *matrix.Vector[f64] {
		v := matrix.NewVectorBuilder[f64](n)
		for i := range n {
			if rng.Float64() < share {
				v.Add(i, rng.NormFloat64())
			}
		}
		u := sure.Get(v.Build(nil))
		return u
	}
	full, half, some, mask := vector(n, 1), vector(n, .5), vector(n, .2), vector(n, .4)
	wideSome := vector(3_000_000, .05)
	perm := ops.Of(rng.Perm(n)...)
	plus, minPlus := semiring.PlusTimes[f64](), semiring.MinPlus[f64]()
	toMatrix := func(run func(c *matrix.Matrix[f64], o ops.Option) error) func(o ops.Option) (any, error) {
		return func(o ops.Option) (any, error) {
			c := matrix.New[f64](n, n)
			err := run(c, o)
			return c, err
		}
	}
	toVector := func(n int, run func(w *matrix.Vector[f64], o ops.Option) error) func(o ops.Option) (any, error) {
		return func(o ops.Option) (any, error) {
			w := matrix.NewVector[f64](n)
			err := run(w, o)
			return w, err
		}
	}
	// scatter adds up 400000 numbers at places below n that repeat, by a power law.
	many := vector(400_000, 1)
	scatter := func(n int) func(o ops.Option) (any, error) {
		at := make([]int, 400_000)
		for k := range at {
			at[k] = int(float64(n) * math.Pow(rng.Float64(), 3))
		}
		return toVector(n, func(w *matrix.Vector[f64], o ops.Option) error {
			return ops.ScatterVector(w, semiring.Plus[f64](), many, ops.Of(at...), o)
		})
	}
	cases := map[string]func(o ops.Option) (any, error){
		"scatter to a vector": scatter(n), "scatter to 70 places": scatter(70), "scatter to one place": scatter(1),
		"assign x where a has entries": toMatrix(func(c *matrix.Matrix[f64], o ops.Option) error {
			return ops.AssignScalar(c.Masked(a.Structure()), 3, ops.All(), ops.All(), o)
		}),
		"transpose": toMatrix(func(c *matrix.Matrix[f64], o ops.Option) error {
			fresh := matrix.New[f64](n, n) // without the kept transpose
			if err := ops.Apply(fresh, semiring.Identity[f64](), a, o); err != nil {
				return err
			}
			return ops.Transpose(c, fresh, o)
		}),
		"extract": toMatrix(func(c *matrix.Matrix[f64], o ops.Option) error { return ops.Extract(c, a, perm, perm, o) }),
		"union": toMatrix(func(c *matrix.Matrix[f64], o ops.Option) error {
			return ops.EWiseAdd(c, semiring.Plus[f64](), a, b, o)
		}),
		"intersection": toMatrix(func(c *matrix.Matrix[f64], o ops.Option) error {
			return ops.EWiseMult(c, semiring.Times[f64](), a, b, o)
		}),
		"select": toMatrix(func(c *matrix.Matrix[f64], o ops.Option) error { return ops.Select(c, semiring.ValueGT(.1), a, o) }),
		"tril":   toMatrix(func(c *matrix.Matrix[f64], o ops.Option) error { return ops.Select(c, semiring.Tril[f64](-1), a, o) }),
		"masked": toMatrix(func(c *matrix.Matrix[f64], o ops.Option) error {
			return ops.Apply(c.Masked(b.Structure()), semiring.Identity[f64](), a, o)
		}),
		"product": toMatrix(func(c *matrix.Matrix[f64], o ops.Option) error {
			return ops.MxM(c.Masked(b.Structure()), plus, b, b, o)
		}),
		"rows": toVector(n, func(w *matrix.Vector[f64], o ops.Option) error { return ops.Reduce(w, semiring.Plus[f64](), a, o) }),
		// Exact, since float sums depend on the threads.
		"columns": toVector(n, func(w *matrix.Vector[f64], o ops.Option) error {
			return ops.Reduce(w, semiring.Min[f64](), b.T(), o)
		}),
		"sum": func(o ops.Option) (any, error) { return ops.ReduceScalar(semiring.Plus[f64](), a, o) },
	}
	for name, u := range map[string]*matrix.Vector[f64]{"full": full, "half": half, "some": some} {
		for _, method := range []ops.Method{ops.Push, ops.Pull} {
			for ring, s := range map[string]semiring.Semiring[f64, f64, f64]{"plus": plus, "min": minPlus, "max": semiring.MaxTimes[f64]()} {
				for masking, m := range map[string]matrix.Mask{"none": nil, "mask": mask.Structure(), "complement": mask.Structure().Not()} {
					cases[fmt.Sprintf("%s %v %s %s", method, ring, name, masking)] = toVector(n, func(w *matrix.Vector[f64], o ops.Option) error {
						if m != nil {
							return ops.VxM(w.Masked(m), s, u, a, o, ops.Using(method))
						}
						return ops.VxM(w, s, u, a, o, ops.Using(method))
					})
				}
			}
		}
	}
	cases["wide push"] = toVector(3_000_000, func(w *matrix.Vector[f64], o ops.Option) error {
		return ops.VxM(w, plus, wideSome, wide, o, ops.Using(ops.Push))
	})
	for name, run := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var want any
			for _, threads := range []int{1, 2, 3, 8, 16} {
				got, err := run(ops.WithThreads(threads))
				if err != nil {
					t.Fatal(err)
				}
				if threads == 1 {
					want = got
					continue
				}
				same := false
				switch x := got.(type) {
				case *matrix.Matrix[f64]:
					same = x.Equal(want.(*matrix.Matrix[f64]))
					if x.NVals() == 0 {
						t.Error("the result is empty")
					}
				case *matrix.Vector[f64]:
					same = x.Equal(want.(*matrix.Vector[f64]))
					if x.NVals() == 0 {
						t.Error("the result is empty")
					}
				default:
					same = x == want
				}
				if !same {
					t.Errorf("%d threads give another result than one", threads)
				}
			}
		})
	}
}
