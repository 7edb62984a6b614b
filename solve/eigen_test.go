package solve_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
	"github.com/hiveblas/hiveblas/solve"
)

// gridEigenvalues are the eigenvalues of grid(side, 0, 0), ascending: 4 − 2cos(iπ/(side+1)) −
// 2cos(jπ/(side+1)), most of them twice.
func gridEigenvalues(side int) (list []float64) {
	for i := 1; i <= side; i++ {
		for j := 1; j <= side; j++ {
			h := math.Pi / float64(side+1)
			list = append(list, 4-2*math.Cos(float64(i)*h)-2*math.Cos(float64(j)*h))
		}
	}
	slices.Sort(list)
	return list
}

// checkPairs checks values, the residuals of the pairs, and that vectors are orthonormal.
func checkPairs[T solve.Real](t *testing.T, label string, a matrix.Source[T], res *solve.EigenResult[T], want []float64, within float64) {
	t.Helper()
	if len(res.Values) != len(want) || len(res.Vectors) != len(want) {
		t.Errorf("%s: %d values, want %d", label, len(res.Values), len(want))
		return
	}
	for i, v := range res.Vectors {
		if math.Abs(res.Values[i]-want[i]) > within {
			t.Errorf("%s: eigenvalue %d is %.12g, want %.12g", label, i, res.Values[i], want[i])
		}
		r := times(a, v)
		sure.Do(ops.ApplyFirst(r.Accum(semiring.Plus[T]()), semiring.Times[T](), T(-res.Values[i]), v))
		if d := math.Sqrt(float64(sure.Get(ops.Inner(semiring.PlusTimes[T](), r, r)))); d > within {
			t.Errorf("%s: residual %g of eigenvalue %d", label, d, i)
		}
		for j, w := range res.Vectors[:i+1] {
			unit := 0.0
			if i == j {
				unit = 1
			}
			if d := float64(sure.Get(ops.Inner(semiring.PlusTimes[T](), v, w))); math.Abs(d-unit) > within {
				t.Errorf("%s: vectors %d and %d have the product %g", label, i, j, d)
			}
		}
	}
}

// Known eigenvalues at each end of the spectrum, with their repetitions.
func TestEigenOfGrid(t *testing.T) {
	t.Parallel()
	const side = 20
	a, all := grid[float64](side, 0, 0), gridEigenvalues(side)
	descending := slices.Clone(all)
	slices.Reverse(descending)
	for _, k := range []int{1, 4, 7} {
		for which, want := range map[solve.Which][]float64{solve.Largest: descending, solve.Smallest: all, solve.Magnitude: descending} {
			res, err := solve.Eigen(a, k, solve.EigenOptions[float64]{Which: which, CheckSymmetry: true})
			if err != nil {
				t.Errorf("%d %v: %v", k, which, err)
				continue
			}
			checkPairs(t, which.String(), a, res, want[:k], 1e-7)
		}
	}
	single := grid[float32](side, 0, 0)
	res, err := solve.Eigen(single, 3, solve.EigenOptions[float32]{})
	if err != nil {
		t.Fatal(err)
	}
	checkPairs(t, "float32", single, res, descending[:3], 5e-3)
}

// Matrices where the Krylov space of one vector ends early.
func TestEigenRepeated(t *testing.T) {
	t.Parallel()
	identity := sure.Get(matrix.Identity[float64](30))
	res, err := solve.Eigen(identity, 3)
	if err != nil {
		t.Fatal(err)
	}
	checkPairs(t, "identity", identity, res, []float64{1, 1, 1}, 1e-12)

	zero := matrix.New[float64](5, 5)
	if res, err = solve.Eigen(zero, 2); err != nil {
		t.Fatal(err)
	}
	checkPairs(t, "zero", zero, res, []float64{0, 0}, 0x1p-40)

	// Three paths: the eigenvalue 0 has three vectors.
	p := path(25)
	apart := sure.Get(matrix.Identity[float64](3))
	parts := matrix.New[float64](75, 75)
	sure.Do(ops.Kronecker(parts, semiring.Times[float64](), apart, p))
	if res, err = solve.Eigen(parts, 5, solve.EigenOptions[float64]{Which: solve.Smallest}); err != nil {
		t.Fatal(err)
	}
	next := 2 - 2*math.Cos(math.Pi/25)
	checkPairs(t, "three paths", parts, res, []float64{0, 0, 0, next, next}, 1e-7)

	one := sure.Get(matrix.FromDense(1, 1, []float64{-3}))
	if res, err = solve.Eigen(one, 1); err != nil {
		t.Fatal(err)
	}
	checkPairs(t, "1×1", one, res, []float64{-3}, 1e-14)
}

// All eigenvalues of small random matrices equal gonum's, at every end.
func TestEigenBesideGonum(t *testing.T) {
	t.Parallel()
	for _, n := range []int{2, 5, 24, 50} {
		sym := mat.NewSymDense(n, nil)
		b := matrix.NewBuilder[float64](n, n)
		for i := range n {
			for j := i; j < n; j++ {
				if x := math.Sin(float64(1 + 7*i*i + 13*j)); x > .3 {
					sym.SetSym(i, j, x)
					b.Add(i, j, x)
					if i != j {
						b.Add(j, i, x)
					}
				}
			}
		}
		a := sure.Get(b.Build(nil))
		var e mat.EigenSym
		if !e.Factorize(sym, false) {
			t.Fatal("gonum finds no eigenvalues")
		}
		want := e.Values(nil)
		for _, k := range []int{1, min(6, n), n} {
			res, err := solve.Eigen(a, k, solve.EigenOptions[float64]{Which: solve.Smallest})
			if err != nil {
				t.Errorf("n = %d, k = %d: %v", n, k, err)
				continue
			}
			checkPairs(t, "smallest", a, res, want[:k], 1e-7)
		}
		byMagnitude := slices.SortedFunc(slices.Values(want), func(x, y float64) int {
			if math.Abs(x) > math.Abs(y) {
				return -1
			}
			return 1
		})
		res, err := solve.Eigen(a, min(4, n), solve.EigenOptions[float64]{Which: solve.Magnitude})
		if err != nil {
			t.Errorf("n = %d: %v", n, err)
			continue
		}
		checkPairs(t, "magnitude", a, res, byMagnitude[:min(4, n)], 1e-7)
	}
}

// The number of threads, and with it the form of the basis, does not change a bit.
func TestEigenThreads(t *testing.T) {
	t.Parallel()
	a := grid[float64](60, 0, 0)
	one := sure.Get(solve.Eigen(a, 3, solve.EigenOptions[float64]{Threads: 1}))
	for _, threads := range []int{2, 4, 5, 8} {
		res := sure.Get(solve.Eigen(a, 3, solve.EigenOptions[float64]{Threads: threads}))
		if !slices.Equal(res.Values, one.Values) || !res.Vectors[2].Equal(one.Vectors[2]) || res.Products != one.Products {
			t.Errorf("%d threads: %v, want %v", threads, res.Values, one.Values)
		}
	}
}

func TestEigenErrors(t *testing.T) {
	t.Parallel()
	a := grid[float64](12, 0, 0)
	var limit *solve.NotConvergedError
	res, err := solve.Eigen(a, 4, solve.EigenOptions[float64]{Which: solve.Smallest, MaxProducts: 25})
	if !errors.As(err, &limit) || res == nil || len(res.Values) != 4 || res.Converged == 4 {
		t.Errorf("25 products: %v, %+v", err, res)
	}
	for _, o := range []solve.EigenOptions[float64]{{Tolerance: -1}, {Basis: 4}, {MaxProducts: -1}, {Which: 7}} {
		if _, err := solve.Eigen(a, 4, o); !errors.Is(err, matrix.ErrInvalid) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	for _, k := range []int{0, -1, 145} {
		if _, err := solve.Eigen(a, k); !errors.Is(err, matrix.ErrInvalid) {
			t.Errorf("k = %d: %v", k, err)
		}
	}
	if _, err := solve.Eigen[float64](nil, 1); !errors.Is(err, matrix.ErrInvalid) {
		t.Errorf("nil: %v", err)
	}
	if _, err := solve.Eigen(matrix.New[float64](2, 3), 1); !errors.Is(err, matrix.ErrDimension) {
		t.Errorf("2×3: %v", err)
	}
	if _, err := solve.Eigen(a, 2, solve.EigenOptions[float64]{Start: wave[float64](3)}); !errors.Is(err, matrix.ErrDimension) {
		t.Errorf("a short start: %v", err)
	}
	var asymmetric *solve.AsymmetryError
	if _, err := solve.Eigen(grid(5, .5, 0), 1, solve.EigenOptions[float64]{CheckSymmetry: true}); !errors.As(err, &asymmetric) {
		t.Errorf("an unsymmetric matrix: %v", err)
	}
	var broken *solve.BreakdownError
	bad := a.Clone()
	sure.Do(bad.Set(3, 3, math.Inf(1)))
	if _, err := solve.Eigen(bad, 1); !errors.As(err, &broken) {
		t.Errorf("an infinite entry: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := solve.Eigen(a, 2, solve.EigenOptions[float64]{Which: solve.Smallest, Context: ctx, Progress: func(products, _ int) { cancel() }}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
