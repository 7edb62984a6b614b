package solve_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/internal/emulate"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
	"github.com/hiveblas/hiveblas/solve"
)

// grid returns the five-point stencil of side×side points, cold at the rim, with a wind along the
// rows, which makes the matrix unsymmetric, and a shift of the diagonal.
func grid[T solve.Real](side int, wind, shift T) *matrix.Matrix[T] {
	b := matrix.NewBuilder[T](side*side, side*side)
	for y := range side {
		for x := range side {
			p := y*side + x
			b.Add(p, p, 4+shift)
			if x > 0 {
				b.Add(p, p-1, -1-wind)
			}
			if x < side-1 {
				b.Add(p, p+1, -1+wind)
			}
			if y > 0 {
				b.Add(p, p-side, -1)
			}
			if y < side-1 {
				b.Add(p, p+side, -1)
			}
		}
	}
	return sure.Get(b.Build(nil))
}

// path returns the Laplacian of a path of n vertices: singular, with the vector of ones as its
// null space.
func path(n int) *matrix.Matrix[float64] {
	b := matrix.NewBuilder[float64](n, n)
	for v := 1; v < n; v++ {
		b.Add(v, v-1, -1)
		b.Add(v-1, v, -1)
		b.Add(v, v, 1)
		b.Add(v-1, v-1, 1)
	}
	return sure.Get(b.Build(semiring.Plus[float64]()))
}

// wave returns a vector without structure, of sum 0 up to a constant.
func wave[T solve.Real](n int) *matrix.Vector[T] {
	list := make([]T, n)
	for i := range list {
		list[i] = T(math.Sin(float64(3*i+1)) + .1*float64(i%7))
	}
	return sure.Get(matrix.VectorOf(list))
}

func times[T solve.Real](a matrix.Source[T], x *matrix.Vector[T]) *matrix.Vector[T] {
	m, _ := a.Dims()
	y := sure.Get(matrix.NewFullVector[T](m, 0))
	sure.Do(ops.MxV(y.Accum(semiring.Plus[T]()), semiring.PlusTimes[T](), a, x))
	return y
}

// distance returns ‖x − y‖/‖y‖.
func distance[T solve.Real](x, y *matrix.Vector[T]) float64 {
	a, b := sure.Get(x.Dense(0)), sure.Get(y.Dense(0))
	var d, all float64
	for i := range b {
		d += float64(a[i]-b[i]) * float64(a[i]-b[i])
		all += float64(b[i]) * float64(b[i])
	}
	return math.Sqrt(d / max(all, 1e-300))
}

type solver[T solve.Real] func(a matrix.Source[T], b *matrix.Vector[T], opts ...solve.Options[T]) (*solve.Result[T], error)

func solvers[T solve.Real]() map[string]solver[T] {
	return map[string]solver[T]{"CG": solve.CG[T], "MINRES": solve.MINRES[T], "GMRES": solve.GMRES[T], "BiCGSTAB": solve.BiCGSTAB[T], "LSQR": solve.LSQR[T]}
}

// Every solver finds a known solution, with each preconditioner that it takes.
func TestKnownSolutions(t *testing.T) {
	t.Parallel()
	for name, m := range solvers[float64]() {
		for _, c := range []struct {
			reason      string
			wind, shift float64
			symmetric   bool
			definite    bool
		}{
			{"symmetric positive definite", 0, 0, true, true},
			{"indefinite: some eigenvalues of the grid are below 1.3", 0, -1.3, true, false},
			{"unsymmetric", .4, .5, false, true},
		} {
			if name == "CG" && !(c.symmetric && c.definite) || name == "MINRES" && !c.symmetric || !c.definite && name == "BiCGSTAB" {
				continue
			}
			a := grid(14, c.wind, c.shift)
			want := wave[float64](196)
			b := times[float64](a, want)
			kinds := map[string]solve.Preconditioner[float64]{"none": nil}
			if name != "LSQR" && c.definite {
				kinds["Jacobi"] = sure.Get(solve.Jacobi[float64](a))
				kinds["LU"] = sure.Get(solve.IncompleteLU[float64](a))
				if c.symmetric {
					kinds["Cholesky"] = sure.Get(solve.IncompleteCholesky[float64](a))
				}
			}
			plain := 0
			for _, kind := range []string{"none", "Jacobi", "LU", "Cholesky"} {
				p, ok := kinds[kind]
				if !ok {
					continue
				}
				label := fmt.Sprintf("%s, %s, %s", name, c.reason, kind)
				var seen []float64
				res, err := m(a, b, solve.Options[float64]{Tolerance: 1e-12, Preconditioner: p, CheckSymmetry: c.symmetric, Restart: 196,
					Progress: func(k int, r float64) {
						if seen = append(seen, r); len(seen) != k {
							t.Errorf("%s: iteration %d after %d", label, k, len(seen)-1)
						}
					}})
				if err != nil {
					t.Errorf("%s: %v", label, err)
					continue
				}
				if d := distance(res.X, want); d > 1e-9 || res.Stopped != solve.Converged && name != "LSQR" {
					t.Errorf("%s: error %.2g after %d iterations, %v", label, d, res.Iterations, res.Stopped)
				}
				if len(res.History) != res.Iterations+1 || !slices.Equal(res.History[1:], seen) {
					t.Errorf("%s: history of %d after %d iterations", label, len(res.History), res.Iterations)
				}
				if kind == "none" {
					plain = res.Iterations
				} else if kind != "Jacobi" && res.Iterations > plain*3/5 {
					t.Errorf("%s: %d iterations, and %d without a preconditioner", label, res.Iterations, plain)
				}
			}
		}
	}
}

// The iterations of SciPy 1.17 at the same tolerance: cg, gmres with restart 30, bicgstab, on the
// grid of 32² with a right side of ones.
func TestIterationsOfSciPy(t *testing.T) {
	t.Parallel()
	a := grid[float64](32, 0, 0)
	b := sure.Get(matrix.NewFullVector(1024, 1.0))
	for name, want := range map[string]int{"CG": 59, "GMRES": 126, "BiCGSTAB": 42} {
		res, err := solvers[float64]()[name](a, b, solve.Options[float64]{Tolerance: 1e-8})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if d := res.Iterations - want; d < -2 || d > 2 {
			t.Errorf("%s: %d iterations, SciPy %d", name, res.Iterations, want)
		}
		if res.Residual > 1.01e-8*32 {
			t.Errorf("%s: residual %g", name, res.Residual)
		}
	}
}

// float32 reaches its own rounding.
func TestSingle(t *testing.T) {
	t.Parallel()
	a, want := grid[float32](14, 0, 0), wave[float32](196)
	b := times[float32](a, want)
	for name, m := range solvers[float32]() {
		res, err := m(a, b, solve.Options[float32]{Tolerance: 1e-5, Restart: 196})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if d := distance(res.X, want); d > 2e-3 {
			t.Errorf("%s: error %g", name, d)
		}
	}
	p := sure.Get(solve.IncompleteCholesky[float32](a))
	if res, err := solve.CG(a, b, solve.Options[float32]{Tolerance: 1e-5, Preconditioner: p}); err != nil || res.Iterations > 25 {
		t.Errorf("CG with IC(0): %v, %v", res, err)
	}
}

// Singular systems: with a solution all are solved; without one MINRES and LSQR say so, and leave
// the part of b along the null space.
func TestSingular(t *testing.T) {
	t.Parallel()
	const n = 60
	a := path(n)
	b := times[float64](a, wave[float64](n))
	for _, name := range []string{"CG", "MINRES", "LSQR", "GMRES"} {
		res, err := solvers[float64]()[name](a, b, solve.Options[float64]{Tolerance: 1e-9, Restart: n})
		if err != nil || res.Residual > 1e-7 {
			t.Errorf("%s: %v, residual %v", name, err, res)
		}
	}
	off := matrix.NewVector[float64](n)
	sure.Do(off.Set(0, 1)) // the mean is 1/n, so the least residual is 1/√n
	for _, name := range []string{"MINRES", "LSQR"} {
		res, err := solvers[float64]()[name](a, off, solve.Options[float64]{Tolerance: 1e-10})
		if err != nil || res.Stopped != solve.LeastSquares || math.Abs(res.Residual-1/math.Sqrt(n)) > 1e-6 {
			t.Errorf("%s without a solution: %v, %+v", name, err, res)
		}
	}
	// Of the solutions LSQR finds the one of mean 0.
	res := sure.Get(solve.LSQR(a, b, solve.Options[float64]{Tolerance: 1e-12}))
	if mean := sure.Get(ops.ReduceScalar[float64](semiring.Plus[float64](), res.X)) / n; math.Abs(mean) > 1e-9 {
		t.Errorf("LSQR found the solution of mean %g", mean)
	}
}

// Least squares and damping by formula: A is 2n×n, with a diagonal d above and one e below, so that
// x(i) = (d b + e c)/(d² + e² + damping²).
func TestLeastSquares(t *testing.T) {
	t.Parallel()
	const n = 30
	b := matrix.NewBuilder[float64](2*n, n)
	right := make([]float64, 2*n)
	for i := range n {
		b.Add(i, i, 1+.1*float64(i))
		b.Add(n+i, i, .5)
		right[i], right[n+i] = math.Cos(float64(i)), math.Sin(float64(i))
	}
	a := sure.Get(b.Build(nil))
	for _, damping := range []float64{0, .7} {
		res, err := solve.LSQR(a, sure.Get(matrix.VectorOf(right)), solve.Options[float64]{Damping: damping, Tolerance: 1e-13})
		if err != nil || res.Stopped != solve.LeastSquares {
			t.Errorf("damping %v: %v, %+v", damping, err, res)
			continue
		}
		for i, x := range res.X.All() {
			d := 1 + .1*float64(i)
			if want := (d*right[i] + .5*right[n+i]) / (d*d + .25 + damping*damping); math.Abs(x-want) > 1e-10 {
				t.Errorf("damping %v: x(%d) is %g, want %g", damping, i, x, want)
			}
		}
	}
}

// A condition number of 10¹²: the diagonal preconditioner removes it.
func TestIllConditioned(t *testing.T) {
	t.Parallel()
	const n = 200
	b := matrix.NewBuilder[float64](n, n)
	scale := func(i int) float64 { return math.Pow(10, 6*float64(i)/n) }
	for i := range n {
		b.Add(i, i, 4*scale(i)*scale(i))
		if i > 0 {
			b.Add(i, i-1, scale(i)*scale(i-1))
			b.Add(i-1, i, scale(i)*scale(i-1))
		}
	}
	a := sure.Get(b.Build(nil))
	want := wave[float64](n)
	right := times[float64](a, want)
	p := sure.Get(solve.Jacobi[float64](a))
	for _, name := range []string{"CG", "MINRES", "GMRES", "BiCGSTAB"} {
		res, err := solvers[float64]()[name](a, right, solve.Options[float64]{Tolerance: 1e-14, Preconditioner: p})
		if err != nil && !errors.As(err, new(*solve.NotConvergedError)) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if d := res.Residual; d > 1e-11*2e12 {
			t.Errorf("%s: residual %g after %d", name, d, res.Iterations)
		}
	}
	var e *solve.NotConvergedError
	res, err := solve.CG(a, right, solve.Options[float64]{Tolerance: 1e-12, MaxIterations: 50})
	if !errors.As(err, &e) || res == nil || res.Stopped != solve.Limit || e.Iterations != 50 || res.Iterations != 50 || e.Residual <= e.Want {
		t.Errorf("50 iterations without a preconditioner: %v, %+v", err, res)
	}
}

// The edges of what is solved.
func TestEdges(t *testing.T) {
	t.Parallel()
	for name, m := range solvers[float64]() {
		none := matrix.New[float64](0, 0)
		if res, err := m(none, matrix.NewVector[float64](0)); err != nil || res.X.Size() != 0 || res.Stopped != solve.Converged {
			t.Errorf("%s of 0 unknowns: %v, %+v", name, err, res)
		}
		one := sure.Get(matrix.FromDense(1, 1, []float64{4}))
		eight := sure.Get(matrix.VectorOf([]float64{8}))
		res, err := m(one, eight)
		if err != nil {
			t.Errorf("%s of 1 unknown: %v", name, err)
		} else if x, _ := res.X.At(0); math.Abs(x-2) > 1e-12 {
			t.Errorf("%s of 1 unknown: %v, %+v", name, x, res)
		}
		a := grid[float64](6, 0, 0)
		res, err = m(a, matrix.NewVector[float64](36), solve.Options[float64]{Start: wave[float64](36)})
		if name != "LSQR" && (err != nil || res.Iterations != 0 || distance(res.X, sure.Get(matrix.NewFullVector(36, 0.0))) != 0) {
			t.Errorf("%s of a right side of 0: %v, %+v", name, err, res)
		}
		res, err = m(a, times[float64](a, wave[float64](36)), solve.Options[float64]{Start: wave[float64](36)})
		if err != nil || res.Iterations != 0 {
			t.Errorf("%s from the solution: %v, %+v", name, err, res)
		}
		unit := matrix.NewVector[float64](36)
		sure.Do(unit.Set(7, 1))
		res, err = m(a, unit, solve.Options[float64]{Tolerance: 1e-11, Restart: 36})
		if err != nil || distance(times[float64](a, res.X), unit) > 1e-9 || res.X.NVals() != 36 {
			t.Errorf("%s of a sparse right side: %v", name, err)
		}
		bad := wave[float64](36)
		sure.Do(bad.Set(3, math.NaN()))
		var broken *solve.BreakdownError
		if _, err := m(a, bad); !errors.As(err, &broken) {
			t.Errorf("%s with NaN in b: %v", name, err)
		}
		c := a.Clone()
		sure.Do(c.Set(3, 3, math.NaN()))
		if res, err := m(c, unit); !errors.As(err, &broken) || res == nil {
			t.Errorf("%s with NaN in A: %v", name, err)
		}
		if _, err := m(nil, unit); !errors.Is(err, matrix.ErrInvalid) {
			t.Errorf("%s of nil: %v", name, err)
		}
		if _, err := m(a, nil); !errors.Is(err, matrix.ErrInvalid) {
			t.Errorf("%s of b = nil: %v", name, err)
		}
		if _, err := m(a, eight); !errors.Is(err, matrix.ErrDimension) {
			t.Errorf("%s of a short b: %v", name, err)
		}
		if _, err := m(a, unit, solve.Options[float64]{Start: eight}); !errors.Is(err, matrix.ErrDimension) {
			t.Errorf("%s of a short start: %v", name, err)
		}
		if _, err := m(a, unit, solve.Options[float64]{Tolerance: -1}); !errors.Is(err, matrix.ErrInvalid) {
			t.Errorf("%s with a negative tolerance: %v", name, err)
		}
		if _, err := m(a, unit, solve.Options[float64]{}, solve.Options[float64]{}); !errors.Is(err, matrix.ErrInvalid) {
			t.Errorf("%s with two options: %v", name, err)
		}
		if _, err := m(matrix.New[float64](2, 1), sure.Get(matrix.VectorOf([]float64{1, 1}))); name != "LSQR" && !errors.Is(err, matrix.ErrDimension) {
			t.Errorf("%s of 2×1: %v", name, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		res, err = m(a, wave[float64](36), solve.Options[float64]{Context: ctx, Tolerance: 1e-14, Progress: func(k int, _ float64) {
			if k == 2 {
				cancel()
			}
		}})
		if !errors.Is(err, context.Canceled) || res == nil || res.Iterations != 2 {
			t.Errorf("%s cancelled after two iterations: %v, %+v", name, err, res)
		}
	}
}

// Matrices that a method does not take.
func TestUnfit(t *testing.T) {
	t.Parallel()
	b := wave[float64](36)
	var indefinite *solve.IndefiniteError
	if _, err := solve.CG(grid[float64](6, 0, -4.2), b); !errors.As(err, &indefinite) {
		t.Errorf("CG of an indefinite matrix: %v", err)
	}
	negative := grid[float64](6, 0, -20)
	p := sure.Get(solve.Jacobi[float64](negative))
	for name, m := range solvers[float64]() {
		if name != "CG" && name != "MINRES" {
			continue
		}
		indefinite = nil
		if _, err := m(grid[float64](6, 0, 0), b, solve.Options[float64]{Preconditioner: p}); !errors.As(err, &indefinite) || indefinite.What == "the matrix" {
			t.Errorf("%s with a negative preconditioner: %v", name, err)
		}
		var asymmetric *solve.AsymmetryError
		_, err := m(grid(6, .5, 0), b, solve.Options[float64]{CheckSymmetry: true})
		if !errors.As(err, &asymmetric) || asymmetric.Entry-asymmetric.Not != 1 && asymmetric.Entry-asymmetric.Not != -1 {
			t.Errorf("%s of an unsymmetric matrix: %v", name, err)
		}
	}
	var broken *solve.BreakdownError
	// A nilpotent matrix: the Krylov space of e₁ never reaches the solution.
	shift := sure.Get(matrix.FromTuples(2, 2, []int{0}, []int{1}, []float64{1}, nil))
	first := sure.Get(matrix.VectorOf([]float64{0, 1}))
	for _, name := range []string{"GMRES", "BiCGSTAB"} {
		if _, err := solvers[float64]()[name](shift, first); !errors.As(err, &broken) {
			t.Errorf("%s of a singular matrix: %v", name, err)
		}
	}
	var pivot *solve.PivotError
	for name, make := range map[string]func(matrix.Source[float64], ...solve.IncompleteOptions) (solve.Preconditioner[float64], error){
		"IncompleteCholesky": solve.IncompleteCholesky[float64], "IncompleteLU": solve.IncompleteLU[float64],
		"Jacobi": func(a matrix.Source[float64], _ ...solve.IncompleteOptions) (solve.Preconditioner[float64], error) {
			return solve.Jacobi(a)
		},
	} {
		if _, err := make(shift); !errors.As(err, &pivot) || pivot.Row != 0 {
			t.Errorf("%s without a diagonal: %v", name, err)
		}
		if _, err := make(nil); !errors.Is(err, matrix.ErrInvalid) {
			t.Errorf("%s of nil: %v", name, err)
		}
	}
	if _, err := solve.IncompleteCholesky(negative); !errors.As(err, &pivot) || pivot.Pivot >= 0 {
		t.Errorf("IC(0) of a negative matrix: %v", err)
	}
	if _, err := solve.IncompleteCholesky(negative, solve.IncompleteOptions{Shift: -1}); !errors.Is(err, matrix.ErrInvalid) {
		t.Errorf("a negative shift: %v", err)
	}
}

// The factors equal A where A has entries, and dense factors where nothing fills in: of a
// tridiagonal matrix they solve exactly. The shift makes a pivot positive.
func TestFactors(t *testing.T) {
	t.Parallel()
	const n = 40
	b := matrix.NewBuilder[float64](n, n)
	for i := range n {
		b.Add(i, i, 3)
		if i > 0 {
			b.Add(i, i-1, -1)
			b.Add(i-1, i, -1.5)
		}
	}
	a := sure.Get(b.Build(nil))
	want := wave[float64](n)
	z, err := sure.Get(solve.IncompleteLU[float64](a)).Apply(times[float64](a, want))
	if err != nil || distance(z, want) > 1e-13 {
		t.Errorf("ILU(0) of a tridiagonal matrix: %v", err)
	}
	s := path(n)
	sure.Do(s.Set(0, 0, 2))
	z, err = sure.Get(solve.IncompleteCholesky[float64](s)).Apply(times[float64](s, want))
	if err != nil || distance(z, want) > 1e-11 {
		t.Errorf("IC(0) of a tridiagonal matrix: %v, %g", err, distance(z, want))
	}
	// Kershaw's matrix (Journal of Computational Physics 26, 1978) is positive definite, and IC(0)
	// has a negative pivot.
	k := sure.Get(matrix.FromDense(4, 4, []float64{3, -2, 0, 2, -2, 3, -2, 0, 0, -2, 3, -2, 2, 0, -2, 3}))
	sure.Do(ops.Select(k, semiring.ValueNE(0.0), k))
	var pivot *solve.PivotError
	if _, err := solve.IncompleteCholesky(k); !errors.As(err, &pivot) || pivot.Row != 3 || math.Abs(pivot.Pivot+5) > 1e-12 {
		t.Errorf("Kershaw's matrix: %v", err)
	}
	p, err := solve.IncompleteCholesky(k, solve.IncompleteOptions{Shift: 1})
	if err != nil {
		t.Fatal(err)
	}
	ones := sure.Get(matrix.NewFullVector(4, 1.0))
	if res, err := solve.CG(k, ones, solve.Options[float64]{Tolerance: 1e-12, Preconditioner: p}); err != nil || distance(times[float64](k, res.X), ones) > 1e-10 {
		t.Errorf("Kershaw's matrix with a shift: %v", err)
	}
	if _, err := p.Apply(wave[float64](5)); err == nil {
		t.Error("a vector of another size was taken")
	}
}

// Solvers run on a device and on a group, with equal solutions up to rounding. Factors of the host
// are not for vectors elsewhere, and there are none on a group.
func TestPlaces(t *testing.T) {
	t.Parallel()
	host := grid[float64](9, 0, 0)
	right := wave[float64](81)
	places := map[string]matrix.Place{"group": sure.Get(comm.LocalGroup(3)), "device": emulate.Shared(t)}
	for where, at := range places {
		a := host.Clone()
		sure.Do(a.Move(at))
		jacobi, err := solve.Jacobi(a)
		if err != nil {
			t.Fatal(where, err)
		}
		for name, m := range solvers[float64]() {
			o := solve.Options[float64]{Tolerance: 1e-10}
			if name == "CG" {
				o.Preconditioner, o.CheckSymmetry = jacobi, true
			}
			res, err := m(a, right, o)
			if err != nil {
				t.Errorf("%s on a %s: %v", name, where, err)
				continue
			}
			if res.X.Place() != at {
				t.Errorf("%s on a %s: the solution is at %v", name, where, res.X.Place())
			}
			sure.Do(res.X.Move(nil))
			if d := distance(times[float64](host, res.X), right); d > 1e-9 {
				t.Errorf("%s on a %s: residual %g", name, where, d)
			}
		}
		pairs, err := solve.Eigen(a, 3, solve.EigenOptions[float64]{Tolerance: 1e-9})
		if err != nil || math.Abs(pairs.Values[0]-(4+4*math.Cos(math.Pi/10))) > 1e-9 {
			t.Errorf("Eigen on a %s: %v, %+v", where, err, pairs)
		}
		var e *solve.PlaceError
		_, err = solve.IncompleteLU(a)
		if group := where == "group"; errors.As(err, &e) != group || group && !e.Spread || !group && err != nil {
			t.Errorf("ILU(0) on a %s: %v", where, err)
		}
		p := sure.Get(solve.IncompleteCholesky(host))
		if _, err := solve.CG(a, right, solve.Options[float64]{Preconditioner: p}); !errors.As(err, &e) {
			t.Errorf("IC(0) of the host on a %s: %v", where, err)
		}
	}
}

// The number of threads does not change a bit.
func TestThreads(t *testing.T) {
	t.Parallel()
	a, b := grid[float64](150, 0, 0), wave[float64](22500)
	one := sure.Get(solve.CG(a, b, solve.Options[float64]{Threads: 1}))
	for _, threads := range []int{2, 3} {
		if res := sure.Get(solve.CG(a, b, solve.Options[float64]{Threads: threads})); !res.X.Equal(one.X) || !slices.Equal(res.History, one.History) {
			t.Errorf("%d threads differ", threads)
		}
	}
}
