package solve_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/cusparse"
	"github.com/hiveblas/hiveblas/internal/emu"
	"github.com/hiveblas/hiveblas/internal/emulate"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
	"github.com/hiveblas/hiveblas/solve"
)

// pair is a lower triangular matrix and its transpose as dense arrays.
type pair[T solve.Real] struct {
	reason string
	n      int
	l      *matrix.Matrix[T]
}

// triangles returns lower triangular matrices with a large diagonal.
func triangles[T solve.Real](rng *rand.Rand) []pair[T] {
	one := func(reason string, n int, add func(i int, put func(j int))) pair[T] {
		b := matrix.NewBuilder[T](n, n)
		for i := range n {
			taken := map[int]bool{}
			var sum float64
			add(i, func(j int) {
				if x := rng.Float64() - .5; j >= 0 && j < i && !taken[j] {
					taken[j] = true
					sum += math.Abs(x)
					b.Add(i, j, T(x))
				}
			})
			b.Add(i, i, T(sum+.5))
		}
		return pair[T]{reason, n, sure.Get(b.Build(nil))}
	}
	return []pair[T]{
		one("no rows", 0, nil),
		one("one row", 1, func(int, func(int)) {}),
		one("diagonal: one level", 100, func(int, func(int)) {}),
		one("chain: a level for each row", 70, func(i int, put func(int)) { put(i - 1) }),
		one("grid of 24 columns", 480, func(i int, put func(int)) {
			put(i - 24)
			if i%24 > 0 {
				put(i - 1)
			}
		}),
		one("random rows", 300, func(i int, put func(int)) {
			for range rng.IntN(12) {
				put(rng.IntN(i + 1))
			}
		}),
		one("a hub: the last row is full, and one column", 400, func(i int, put func(int)) {
			put(0)
			for j := range i {
				if i == 399 {
					put(j)
				}
			}
		}),
		one("dense", 45, func(i int, put func(int)) {
			for j := range i {
				put(j)
			}
		}),
	}
}

// substituted solves a dense system in float64 by rows.
func substituted[T solve.Real](a *matrix.Matrix[T], upper, unit bool, b []T, columns int) []float64 {
	n, _ := a.Dims()
	dense := sure.Get(a.Dense(0))
	x := make([]float64, len(b))
	for k := range n {
		i := k
		if upper {
			i = n - 1 - k
		}
		for c := range columns {
			sum := float64(b[i*columns+c])
			for j := range n {
				if j != i {
					sum -= float64(dense[i*n+j]) * x[j*columns+c]
				}
			}
			if !unit {
				sum /= float64(dense[i*n+i])
			}
			x[i*columns+c] = sum
		}
	}
	return x
}

// checkTriangle solves with a vector and with matrices, and compares with the oracle.
func checkTriangle[T solve.Real](t *testing.T, label string, at matrix.Place, a *matrix.Matrix[T], tri *solve.Triangle[T], upper, unit bool, rng *rand.Rand) {
	t.Helper()
	n, _ := a.Dims()
	tolerance := 1e-12
	if _, single := any(T(0)).(float32); single {
		tolerance = 1e-4
	}
	random := func(columns int) []T {
		list := make([]T, n*columns)
		for i := range list {
			list[i] = T(rng.NormFloat64())
		}
		return list
	}
	compare := func(what string, got []T, want []float64) {
		t.Helper()
		for i := range want {
			if d := math.Abs(float64(got[i]) - want[i]); !(d <= tolerance*max(1, math.Abs(want[i]))) {
				t.Errorf("%s, %s: x[%d] is %v, want %v", label, what, i, got[i], want[i])
				return
			}
		}
	}
	b := random(1)
	v := sure.Get(matrix.VectorOf(b))
	sure.Do(v.Move(at))
	x, err := tri.Apply(v)
	if err != nil {
		t.Errorf("%s: %v", label, err)
		return
	}
	again := sure.Get(tri.Apply(v))
	if x.Place() != at || x.NVals() != int64(n) || !x.Equal(again) {
		t.Errorf("%s: the solution is at %v with %d entries, or two solutions differ", label, x.Place(), x.NVals())
	}
	compare("a vector", sure.Get(x.Dense(0)), substituted(a, upper, unit, b, 1))
	for _, columns := range []int{0, 1, 3, 8, 37} {
		b := random(columns)
		m := sure.Get(matrix.FromDense(n, columns, append([]T(nil), b...)))
		sure.Do(m.Move(at))
		x, err := tri.ApplyMatrix(m)
		if err != nil {
			t.Errorf("%s, %d columns: %v", label, columns, err)
			continue
		}
		if x.Place() != at || x.NVals() != int64(n*columns) {
			t.Errorf("%s, %d columns: the solution is at %v with %d entries", label, columns, x.Place(), x.NVals())
		}
		compare(fmt.Sprintf("%d columns", columns), sure.Get(x.Dense(0)), substituted(a, upper, unit, b, columns))
	}
}

func everyTriangle[T solve.Real](t *testing.T, at matrix.Place) {
	rng := rand.New(rand.NewPCG(3, 8))
	for _, p := range triangles[T](rng) {
		a := p.l.Clone()
		transpose := matrix.New[T](p.n, p.n)
		sure.Do(ops.Transpose(transpose, a))
		sure.Do(a.Move(at))
		for _, unit := range []bool{false, true} {
			use := a
			if unit { // nothing of the diagonal may be read
				use = matrix.New[T](p.n, p.n, matrix.On(at))
				sure.Do(ops.Select(use, semiring.Tril[T](-1), a))
			}
			lower, err := solve.NewTriangle(use, solve.TriangleOptions{Unit: unit})
			if err != nil {
				t.Errorf("%s: %v", p.reason, err)
				continue
			}
			checkTriangle(t, p.reason+", lower", at, p.l, lower, false, unit, rng)
			upper, err := solve.NewTriangle(use.T(), solve.TriangleOptions{Unit: unit, Upper: true})
			if err != nil {
				t.Errorf("%s: %v", p.reason, err)
				continue
			}
			checkTriangle(t, p.reason+", upper", at, transpose, upper, true, unit, rng)
			if lower.Levels() != upper.Levels() {
				t.Errorf("%s: %d levels, the transpose has %d", p.reason, lower.Levels(), upper.Levels())
			}
			if want, ok := map[string]int{"no rows": 0, "one row": 1, "diagonal: one level": 1, "chain: a level for each row": 70,
				"grid of 24 columns": 43, "dense": 45}[p.reason]; ok && lower.Levels() != want {
				t.Errorf("%s: %d levels, want %d", p.reason, lower.Levels(), want)
			}
		}
	}
}

// Triangles of all shapes solve as dense substitution does, on the host and on a device.
func TestTriangles(t *testing.T) {
	t.Parallel()
	for where, at := range map[string]matrix.Place{"host": nil, "device": emulate.Shared(t)} {
		t.Run(where+" float64", func(t *testing.T) { everyTriangle[float64](t, at) })
		t.Run(where+" float32", func(t *testing.T) { everyTriangle[float32](t, at) })
	}
}

// Right sides without some entries, and with numbers that are not finite: these spread to the rows
// that read them, and to no others.
func TestTriangleRightSides(t *testing.T) {
	t.Parallel()
	for where, at := range map[string]matrix.Place{"host": nil, "device": emulate.Shared(t)} {
		a := sure.Get(matrix.FromTuples(3, 3, []int{0, 1, 1, 2}, []int{0, 0, 1, 2}, []float64{2, 1, 1, 4}, nil))
		sure.Do(a.Move(at))
		l := sure.Get(solve.NewTriangle(a))
		b := matrix.NewVector[float64](3)
		sure.Do(b.Set(0, 6))
		sure.Do(b.Move(at))
		x := sure.Get(sure.Get(l.Apply(b)).Dense(7))
		if x[0] != 3 || x[1] != -3 || x[2] != 0 {
			t.Errorf("%s: a sparse right side gives %v, want 3, -3, 0", where, x)
		}
		all := math.Float64frombits(math.MaxUint64) // the value that the kernel polls for
		bad := sure.Get(matrix.VectorOf([]float64{all, 5, math.Inf(1)}))
		sure.Do(bad.Move(at))
		x = sure.Get(sure.Get(l.Apply(bad)).Dense(7))
		if !math.IsNaN(x[0]) || !math.IsNaN(x[1]) || !math.IsInf(x[2], 1) {
			t.Errorf("%s: a right side of NaN, 5, ∞ gives %v", where, x)
		}
		m := sure.Get(matrix.FromTuples(3, 2, []int{0}, []int{1}, []float64{6}, nil))
		sure.Do(m.Move(at))
		x = sure.Get(sure.Get(l.ApplyMatrix(m)).Dense(7))
		if x[0] != 0 || x[1] != 3 || x[3] != -3 || x[5] != 0 {
			t.Errorf("%s: a sparse matrix gives %v", where, x)
		}
	}
}

// A device gives the same bits whatever the order of its threads and blocks.
func TestTriangleOrders(t *testing.T) {
	t.Parallel()
	list := triangles[float64](rand.New(rand.NewPCG(3, 8)))
	list = append(list[4:7:7], pair[float64]{"a large grid", 3600, grid[float64](60, 0, 0)})
	sure.Do(ops.Select(list[3].l, semiring.Tril[float64](0), list[3].l))
	var want []*matrix.Vector[float64]
	for k, o := range []emu.Option{emu.Devices(1), emu.Reversed(), emu.Shuffled(1), emu.Shuffled(2)} {
		_, with, err := emulate.Driver(o)
		emulate.Needed(t, err)
		dev := sure.Get(cusparse.Open(0, with...))
		for i, p := range list {
			a, b := p.l.Clone(), wave[float64](p.n)
			sure.Do(a.Move(dev))
			sure.Do(b.Move(dev))
			x := sure.Get(sure.Get(solve.NewTriangle(a)).Apply(b))
			sure.Do(x.Move(nil))
			if k == 0 {
				want = append(want, x)
			} else if !x.Equal(want[i]) {
				t.Errorf("%s, order %d: the solution differs", p.reason, k)
			}
		}
		sure.Do(dev.Close())
	}
}

// What NewTriangle and its methods refuse.
func TestTriangleErrors(t *testing.T) {
	t.Parallel()
	device := emulate.Shared(t)
	full := sure.Get(matrix.FromDense(2, 2, []float64{1, 2, 3, 4}))
	lower := sure.Get(matrix.FromTuples(2, 2, []int{0, 1, 1}, []int{0, 0, 1}, []float64{1, 3, 4}, nil))
	var side *solve.TriangularError
	if _, err := solve.NewTriangle(full); !errors.As(err, &side) || side.Row != 0 || side.Col != 1 || side.Upper {
		t.Errorf("a full matrix as a lower triangle: %v", err)
	}
	if _, err := solve.NewTriangle(lower, solve.TriangleOptions{Upper: true}); !errors.As(err, &side) || side.Row != 1 || side.Col != 0 || !side.Upper {
		t.Errorf("a lower triangle as an upper one: %v", err)
	}
	var pivot *solve.PivotError
	for _, c := range []struct {
		reason string
		x      float64
	}{{"zero", 0}, {"NaN", math.NaN()}, {"infinite", math.Inf(-1)}} {
		bad := lower.Clone()
		sure.Do(bad.Set(1, 1, c.x))
		if _, err := solve.NewTriangle(bad); !errors.As(err, &pivot) || pivot.Row != 1 {
			t.Errorf("a pivot that is %s: %v", c.reason, err)
		}
		if _, err := solve.NewTriangle(bad, solve.TriangleOptions{Unit: true}); err != nil {
			t.Errorf("a unit triangle with a stored pivot that is %s: %v", c.reason, err)
		}
	}
	if _, err := solve.NewTriangle(matrix.New[float64](2, 2)); !errors.As(err, &pivot) || pivot.Row != 0 {
		t.Errorf("no pivots: %v", err)
	}
	if _, err := solve.NewTriangle[float64](nil); !errors.Is(err, matrix.ErrInvalid) {
		t.Errorf("nil: %v", err)
	}
	if _, err := solve.NewTriangle(matrix.New[float64](2, 3)); !errors.Is(err, matrix.ErrDimension) {
		t.Errorf("2×3: %v", err)
	}
	if _, err := solve.NewTriangle(lower, solve.TriangleOptions{Threads: -1}); !errors.Is(err, matrix.ErrInvalid) {
		t.Errorf("negative threads: %v", err)
	}
	var place *solve.PlaceError
	spread := lower.Clone()
	sure.Do(spread.Move(sure.Get(comm.LocalGroup(2))))
	if _, err := solve.NewTriangle(spread); !errors.As(err, &place) || !place.Spread {
		t.Errorf("on a group: %v", err)
	}
	l := sure.Get(solve.NewTriangle(lower))
	if _, err := l.Apply(wave[float64](3)); !errors.Is(err, matrix.ErrDimension) {
		t.Errorf("a right side of 3: %v", err)
	}
	if _, err := l.Apply(nil); !errors.Is(err, matrix.ErrInvalid) {
		t.Errorf("a right side of nil: %v", err)
	}
	if _, err := l.ApplyMatrix(nil); !errors.Is(err, matrix.ErrInvalid) {
		t.Errorf("a matrix of nil: %v", err)
	}
	if _, err := l.ApplyMatrix(matrix.New[float64](3, 2)); !errors.Is(err, matrix.ErrDimension) {
		t.Errorf("a matrix of 3 rows: %v", err)
	}
	if _, err := l.Apply(matrix.NewVector[float64](2, matrix.On(device))); !errors.As(err, &place) || place.Place != device || place.Factors != nil {
		t.Errorf("a vector on a device: %v", err)
	}
	if _, err := l.ApplyMatrix(matrix.New[float64](2, 2, matrix.On(device))); !errors.As(err, &place) {
		t.Errorf("a matrix on a device: %v", err)
	}
}

// Factors on a device solve as the factors of the host do, in as many iterations.
func TestFactorsOnDevice(t *testing.T) {
	t.Parallel()
	device := emulate.Shared(t)
	host := grid(17, .3, .2)
	symmetric := grid(17, 0.0, 0)
	b := wave[float64](17 * 17)
	for _, c := range []struct {
		name    string
		a       *matrix.Matrix[float64]
		factors func(matrix.Source[float64], ...solve.IncompleteOptions) (solve.Preconditioner[float64], error)
		solver  solver[float64]
	}{
		{"IC(0)", symmetric, solve.IncompleteCholesky[float64], solve.CG[float64]},
		{"ILU(0)", host, solve.IncompleteLU[float64], solve.BiCGSTAB[float64]},
		{"Gauss and Seidel", host, func(a matrix.Source[float64], _ ...solve.IncompleteOptions) (solve.Preconditioner[float64], error) {
			l := matrix.New[float64](17*17, 17*17, matrix.On(matrix.AsView(a).Place()))
			sure.Do(ops.Select(l, semiring.Tril[float64](0), a))
			return solve.NewTriangle(l)
		}, solve.GMRES[float64]},
	} {
		var results []*solve.Result[float64]
		for _, at := range []matrix.Place{nil, device} {
			a := c.a.Clone()
			sure.Do(a.Move(at))
			p := sure.Get(c.factors(a))
			res, err := c.solver(a, b, solve.Options[float64]{Tolerance: 1e-10, Preconditioner: p})
			if err != nil {
				t.Fatalf("%s at %v: %v", c.name, at, err)
			}
			sure.Do(res.X.Move(nil))
			results = append(results, res)
		}
		if d := distance(results[1].X, results[0].X); d > 1e-8 || math.Abs(float64(results[1].Iterations-results[0].Iterations)) > 1 {
			t.Errorf("%s: %d iterations on the device, %d on the host, solutions differ by %g", c.name, results[1].Iterations, results[0].Iterations, d)
		}
	}
}
