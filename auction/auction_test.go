package auction

import (
	"errors"
	"fmt"
	"math"
	"math/rand"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/matrix/gonummat"
	"github.com/hiveblas/hiveblas/semiring"
)

// grid is a small problem in full: NaN is a forbidden pair.
type grid struct {
	m, n     int
	c        []float64
	row, col []float64
}

func (g grid) at(i, j int) float64 {
	x := g.c[i*g.n+j]
	if g.row != nil {
		x += g.row[i]
	}
	if g.col != nil {
		x += g.col[j]
	}
	return x
}

// best tries all assignments; ok is false if none is allowed.
func (g grid) best(maximize bool) (value float64, ok bool) {
	sign := 1.0
	if maximize {
		sign = -1
	}
	h := g
	if g.m > g.n {
		h = grid{m: g.n, n: g.m, c: make([]float64, len(g.c))}
		for i := range g.m {
			for j := range g.n {
				h.c[j*g.m+i] = g.at(i, j)
			}
		}
	}
	value = math.Inf(1)
	used := make([]bool, h.n)
	var try func(i int, sum float64)
	try = func(i int, sum float64) {
		if i == h.m {
			ok = true
			value = min(value, sum)
			return
		}
		for j := range h.n {
			if x := h.at(i, j); !used[j] && !math.IsNaN(x) {
				used[j] = true
				try(i+1, sum+sign*x)
				used[j] = false
			}
		}
	}
	try(0, 0)
	return sign * value, ok
}

// problem returns the grid as a Problem, without the entries that equal def. If def is
// NaN, missing entries are forbidden.
func problem[T semiring.Number](t testing.TB, g grid, def float64) *Problem {
	t.Helper()
	b := matrix.NewBuilder[T](g.m, g.n)
	for i := range g.m {
		for j := range g.n {
			if x := g.c[i*g.n+j]; !math.IsNaN(x) && x != def {
				b.Add(i, j, T(x))
			}
		}
	}
	a := sure.Get(b.Build(nil))
	p := Sparse[T](a)
	if !math.IsNaN(def) {
		p = Implicit[T](a, T(def))
	}
	return p.WithOffsets(g.row, g.col)
}

func full[T semiring.Number](t testing.TB, g grid) *Problem {
	t.Helper()
	val := make([]T, len(g.c))
	for k, x := range g.c {
		val[k] = T(x)
	}
	a := sure.Get(matrix.FromDense(g.m, g.n, val))
	return Dense[T](a).WithOffsets(g.row, g.col)
}

// check tests that a result is an assignment of the grid, that its value is the sum of
// the costs, and that the gap bounds its distance from the optimum.
func check(t testing.TB, g grid, o Options, res *Result, want float64) {
	t.Helper()
	if len(res.Row) != g.m || len(res.Col) != g.n {
		t.Fatalf("%d rows and %d columns of %d×%d", len(res.Row), len(res.Col), g.m, g.n)
	}
	sum, pairs := 0.0, 0
	for i, j := range res.Row {
		if j < 0 {
			continue
		}
		if int(res.Col[j]) != i {
			t.Fatalf("row %d has column %d, which has row %d", i, j, res.Col[j])
		}
		x := g.at(i, int(j))
		if math.IsNaN(x) {
			t.Fatalf("row %d has column %d, which is forbidden", i, j)
		}
		sum += x
		pairs++
	}
	back := 0
	for _, i := range res.Col {
		if i >= 0 {
			back++
		}
	}
	if pairs != min(g.m, g.n) || back != pairs {
		t.Fatalf("%d pairs, %d of columns, want %d", pairs, back, min(g.m, g.n))
	}
	const tiny = 1e-9
	scale := max(1, math.Abs(want))
	if math.Abs(sum-res.Value) > tiny*scale {
		t.Fatalf("the value is %v, the pairs add up to %v", res.Value, sum)
	}
	if res.Integer && float64(res.Sum) != sum {
		t.Fatalf("the integer value is %d, the pairs add up to %v", res.Sum, sum)
	}
	missed := res.Value - want
	if o.Maximize {
		missed = -missed
	}
	if missed < -tiny*scale {
		t.Fatalf("the value %v is better than the best, %v", res.Value, want)
	}
	if res.Integer && missed > res.Gap || missed > res.Gap+tiny*scale {
		t.Fatalf("the value %v misses the best, %v, by more than the gap %v", res.Value, want, res.Gap)
	}
	if (o.Epsilon == 0 || o.Exact) && missed > tiny*scale {
		t.Fatalf("%s: the value is %v, want %v (gap %v)", res.Method, res.Value, want, res.Gap)
	}
	if (o.Epsilon == 0 || o.Exact) && res.Integer && res.Gap != 0 {
		t.Fatalf("%s: the gap of an optimum of integers is %v", res.Method, res.Gap)
	}
}

// witnessed tests, by counting, that an error proves that no assignment exists.
func witnessed(t testing.TB, g grid, err error) {
	t.Helper()
	var e *InfeasibleError
	if !errors.As(err, &e) || !errors.Is(err, ErrInfeasible) {
		t.Fatalf("the error is %v, want an InfeasibleError", err)
	}
	others := map[int]bool{}
	set := e.Rows
	if g.m > g.n {
		set = e.Cols
	}
	for k, x := range set {
		if k > 0 && set[k-1] >= x {
			t.Fatalf("the witness %v is not ascending", set)
		}
		for y := range max(g.m, g.n) {
			if g.m > g.n && !math.IsNaN(g.at(y, int(x))) || g.m <= g.n && !math.IsNaN(g.at(int(x), y)) {
				others[y] = true
			}
		}
	}
	if len(others) >= len(set) || len(others) != e.Have {
		t.Fatalf("the witness %v has %d partners, said to be %d", set, len(others), e.Have)
	}
}

// solvers are the methods that all tests run.
var solvers = []struct {
	name string
	o    Options
}{
	{"paths", Options{Method: MethodJonkerVolgenant}},
	{"auto", Options{}},
	{"auction, exact", Options{Method: MethodAuction}},
	{"auction, 1/16", Options{Method: MethodAuction, Epsilon: 1. / 16}},
	{"auction, 3", Options{Method: MethodAuction, Epsilon: 3}},
	{"Jacobi, exact", Options{Method: MethodAuction, Bidding: Jacobi, Seed: 5}},
	{"Jacobi, 1/16", Options{Method: MethodAuction, Bidding: Jacobi, Epsilon: 1. / 16}},
	{"auction, 1/16 from the start", Options{Method: MethodAuction, Epsilon: 1. / 16, NoScaling: true}},
	{"Jacobi, exact from the start", Options{Method: MethodAuction, Bidding: Jacobi, NoScaling: true}},
	{"Jacobi, 3, then exact", Options{Method: MethodAuction, Bidding: Jacobi, Epsilon: 3, Exact: true}},
}

// solveAll solves a problem by every method, minimising and maximising.
func solveAll(t *testing.T, g grid, p *Problem) {
	t.Helper()
	for _, maximize := range []bool{false, true} {
		want, ok := g.best(maximize)
		for _, s := range solvers {
			o := s.o
			o.Maximize = maximize
			res, err := Solve(p, o)
			if !ok {
				witnessed(t, g, err)
				continue
			}
			if err != nil {
				t.Fatalf("%s: %v", s.name, err)
			}
			check(t, g, o, res, want)
		}
	}
}

// shapes of problems small enough to try all assignments.
var shapes = [][2]int{{0, 0}, {0, 4}, {4, 0}, {1, 1}, {1, 5}, {5, 1}, {2, 2}, {3, 3}, {3, 5}, {5, 3}, {6, 6}, {4, 7}, {7, 4}, {7, 7}}

// values draw costs; NaN forbids.
var values = []struct {
	reason string
	draw   func(r *rand.Rand) float64
}{
	{"all equal", func(*rand.Rand) float64 { return 3 }},
	{"ties everywhere", func(r *rand.Rand) float64 { return float64(r.Intn(2)) }},
	{"small", func(r *rand.Rand) float64 { return float64(r.Intn(20)) }},
	{"negative", func(r *rand.Rand) float64 { return float64(r.Intn(40) - 30) }},
	{"near 2⁴⁰", func(r *rand.Rand) float64 { return float64(int64(1)<<40 - r.Int63n(1000)) }},
	{"of ±2⁴⁰", func(r *rand.Rand) float64 { return float64(r.Int63n(1<<41) - 1<<40) }},
	{"floats", func(r *rand.Rand) float64 { return r.NormFloat64() }},
	{"floats of many sizes", func(r *rand.Rand) float64 { return math.Ldexp(r.NormFloat64(), r.Intn(40)-20) }},
	{"few floats", func(r *rand.Rand) float64 { return 0.1 * float64(r.Intn(3)) }},
}

func random(r *rand.Rand, m, n int, draw func(*rand.Rand) float64) grid {
	g := grid{m: m, n: n, c: make([]float64, m*n)}
	for k := range g.c {
		g.c[k] = draw(r)
	}
	return g
}

func TestSolveTriesAll(t *testing.T) {
	for _, v := range values {
		t.Run(v.reason, func(t *testing.T) {
			r := rand.New(rand.NewSource(1))
			for _, shape := range shapes {
				for range 4 {
					g := random(r, shape[0], shape[1], v.draw)
					if r.Intn(2) == 0 {
						offset := func(n int) []float64 {
							list := make([]float64, n)
							for k := range list {
								list[k] = float64(r.Intn(9) - 4)
								if r.Intn(8) == 0 {
									list[k] += 0.5
								}
							}
							return list
						}
						g.row, g.col = offset(g.m), offset(g.n)
					}
					solveAll(t, g, full[float64](t, g))
					def := v.draw(r)
					for k := range g.c {
						if r.Intn(3) != 0 {
							g.c[k] = def
						}
					}
					solveAll(t, g, problem[float64](t, g, def))
					for k := range g.c {
						if r.Intn(2) != 0 {
							g.c[k] = math.NaN()
						}
					}
					solveAll(t, g, problem[float64](t, g, math.NaN()))
				}
			}
		})
	}
}

func TestTypes(t *testing.T) {
	r := rand.New(rand.NewSource(2))
	for range 20 {
		g := random(r, 5, 6, func(r *rand.Rand) float64 { return float64(r.Intn(90)) })
		solveAll(t, g, full[int8](t, g))
		solveAll(t, g, full[int64](t, g))
		solveMore(t, g)
		solveAll(t, g, full[float32](t, g))
		solveAll(t, g, problem[uint16](t, g, 7))
		solveAll(t, g, problem[int](t, g, 3))
		dense := mat.NewDense(g.m, g.n, g.c)
		solveAll(t, g, DenseMat(dense))
		wide := mat.NewDense(g.m, g.n+2, nil)
		wide.Copy(dense)
		solveAll(t, g, DenseMat(wide.Slice(0, g.m, 0, g.n)))
		solveAll(t, g, DenseMat(mat.DenseCopyOf(dense.T()).T()))
	}
}

func TestViews(t *testing.T) {
	r := rand.New(rand.NewSource(3))
	g := random(r, 4, 6, func(r *rand.Rand) float64 { return float64(r.Intn(9)) })
	turned := grid{m: 6, n: 4, c: make([]float64, 24)}
	a := matrix.New[int32](4, 6)
	for i := range 4 {
		for j := range 6 {
			turned.c[j*4+i] = g.c[i*6+j]
			sure.Do(a.Set(i, j, int32(g.c[i*6+j])))
		}
	}
	for _, f := range []matrix.Format{matrix.CSR, matrix.Hypersparse, matrix.Bitmap, matrix.Full} {
		sure.Do(a.SetFormat(f))
		solveAll(t, g, Dense[int32](a))
		solveAll(t, turned, Dense[int32](a.T()))
		solveAll(t, turned, Implicit[int32](a.T(), 0))
	}
}

func TestInfinityForbids(t *testing.T) {
	inf := math.Inf(1)
	res, err := Solve(DenseMat(mat.NewDense(2, 2, []float64{1, 5, 2, inf})), Options{})
	if err != nil || res.Value != 7 {
		t.Errorf("got %v, %v, want 7", res, err)
	}
	if res, err = Solve(DenseMat(mat.NewDense(2, 2, []float64{1, -5, -2, -inf})), Options{Maximize: true}); err != nil || res.Value != -7 {
		t.Errorf("got %v, %v, want -7", res, err)
	}
	a := sure.Get(matrix.FromTuples(2, 2, []int{0, 0, 1}, []int{0, 1, 0}, []float64{1, 5, 2}, nil))
	if res, err = Solve(DenseMat(gonummat.AsMat(a)), Options{}); err != nil || res.Value != 7 {
		t.Errorf("a matrix of gonummat without an entry: %v, %v, want 7", res, err)
	}
	_, err = Solve(DenseMat(mat.NewDense(2, 2, []float64{1, inf, 2, inf})), Options{})
	g := grid{m: 2, n: 2, c: []float64{1, math.NaN(), 2, math.NaN()}}
	witnessed(t, g, err)
}

func TestBadCosts(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	dense := func(c ...float64) *Problem { return DenseMat(mat.NewDense(2, 2, c)) }
	huge := sure.Get(matrix.FromDense(1, 1, []uint64{1 << 63}))
	wide := sure.Get(matrix.FromDense(2, 2, []int64{1 << 61, 0, 0, 1 << 61}))
	empty := matrix.New[float64](2, 2)
	for _, c := range []struct {
		reason string
		p      *Problem
		o      Options
		want   error
	}{
		{"NaN", dense(1, 2, nan, 4), Options{}, ErrCost},
		{"NaN first", dense(nan, 2, 3, 4), Options{}, ErrCost},
		{"−Inf", dense(1, 2, -inf, 4), Options{}, ErrCost},
		{"+Inf, maximising", dense(1, 2, inf, 4), Options{Maximize: true}, ErrCost},
		{"a default of NaN", Implicit[float64](empty, nan), Options{}, ErrCost},
		{"a default of Inf", Implicit[float64](empty, inf), Options{}, ErrCost},
		{"an offset of NaN", dense(1, 2, 3, 4).WithOffsets([]float64{0, nan}, nil), Options{}, ErrCost},
		{"an offset of Inf", dense(1, 2, 3, 4).WithOffsets(nil, []float64{inf, 0}), Options{}, ErrCost},
		{"too few offsets", dense(1, 2, 3, 4).WithOffsets([]float64{0}, nil), Options{}, matrix.ErrDimension},
		{"beyond 62 bits", Dense[uint64](huge), Options{}, ErrCost},
		{"sums beyond 62 bits", Dense[int64](wide), Options{}, ErrOverflow},
		{"a negative ε", dense(1, 2, 3, 4), Options{Epsilon: -1}, ErrParameter},
		{"an ε of NaN", dense(1, 2, 3, 4), Options{Epsilon: nan}, ErrParameter},
		{"no such method", dense(1, 2, 3, 4), Options{Method: 7}, ErrParameter},
		{"too few prices", dense(1, 2, 3, 4), Options{Prices: []float64{1}}, ErrParameter},
		{"a price of NaN", dense(1, 2, 3, 4), Options{Prices: []float64{1, nan}}, ErrParameter},
		{"no problem", nil, Options{}, ErrParameter},
		{"no matrix", Dense[int32](nil), Options{}, ErrParameter},
		{"no gonum matrix", DenseMat(nil), Options{}, ErrParameter},
		{"a bad matrix", Sparse[int32](matrix.New[int32](-1, 2)), Options{}, matrix.ErrSize},
	} {
		if _, err := Solve(c.p, c.o); !errors.Is(err, c.want) {
			t.Errorf("%s: the error is %v, want %v", c.reason, err, c.want)
		} else if err.Error() == "" || err.Error() == fmt.Sprint(c.want) {
			t.Errorf("%s: the error says nothing: %v", c.reason, err)
		}
	}
	var at *CostError
	if _, err := Solve(dense(1, 2, nan, 4), Options{}); !errors.As(err, &at) || at.Row != 1 || at.Col != 0 {
		t.Errorf("NaN is reported at %+v, want row 1, column 0", at)
	}
}
