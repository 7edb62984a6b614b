package auction

import (
	"errors"
	"math"
	"math/rand"
	"slices"
	"testing"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/cusparse"
	"github.com/hiveblas/hiveblas/internal/emulate"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// deviceProblem returns a grid as costs on a device: all, or those other than def.
func deviceProblem[T semiring.Number](t testing.TB, d *cusparse.Device, g grid, def float64, dense bool) *Problem {
	t.Helper()
	var a *matrix.Matrix[T]
	var err error
	if dense {
		val := make([]T, len(g.c))
		for k, x := range g.c {
			val[k] = T(x)
		}
		a, err = matrix.FromDense(g.m, g.n, val)
	} else {
		b := matrix.NewBuilder[T](g.m, g.n)
		for k, x := range g.c {
			if !math.IsNaN(x) && x != def {
				b.Add(k/g.n, k%g.n, T(x))
			}
		}
		a, err = b.Build(nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	sure.Do(a.Move(d))
	p := Sparse[T](a)
	if !math.IsNaN(def) {
		p = Implicit[T](a, T(def))
	}
	return p.WithOffsets(g.row, g.col)
}

// onGPU solves a problem that lives on a device, with several values of ε.
func onGPU(t *testing.T, d *cusparse.Device, g grid, p *Problem, ran *int) {
	t.Helper()
	for _, o := range []Options{{}, {Epsilon: 2, Maximize: true}, {Epsilon: 0.25, Seed: 3}, {Epsilon: 0.25, NoScaling: true}} {
		o.Trace = func(tr ops.Trace) {
			if *ran++; tr.Place != d.String() {
				t.Errorf("ran on %q", tr.Place)
			}
		}
		want, ok := g.best(o.Maximize)
		res, err := Solve(p, o)
		if !ok {
			witnessed(t, g, err)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		check(t, g, o, res, want)
	}
}

func TestOnDevice(t *testing.T) {
	d := emulate.Shared(t)
	r := rand.New(rand.NewSource(6))
	ran := 0
	shapes, least := [][2]int{{0, 0}, {1, 1}, {1, 5}, {5, 1}, {3, 3}, {4, 7}, {7, 4}, {7, 7}}, 60
	if testing.Short() { // compute-sanitizer's racecheck takes minutes for all
		shapes, least = [][2]int{{3, 3}, {4, 7}}, 12
	}
	for _, shape := range shapes {
		small := random(r, shape[0], shape[1], func(r *rand.Rand) float64 { return float64(r.Intn(12) - 4) })
		onGPU(t, d, small, deviceProblem[int32](t, d, small, math.NaN(), true), &ran)
		onGPU(t, d, small, deviceProblem[int32](t, d, small, 0, false), &ran)
		onGPU(t, d, small, deviceProblem[float64](t, d, small, 3, false), &ran)
		floats := random(r, shape[0], shape[1], func(r *rand.Rand) float64 { return float64(float32(r.NormFloat64())) })
		floats.row, floats.col = make([]float64, shape[0]), make([]float64, shape[1])
		small.row, small.col = make([]float64, shape[0]), make([]float64, shape[1])
		for i := range small.row {
			floats.row[i], small.row[i] = r.NormFloat64(), float64(r.Intn(5))
		}
		for j := range small.col {
			floats.col[j], small.col[j] = r.NormFloat64(), float64(r.Intn(5))
		}
		onGPU(t, d, small, deviceProblem[int64](t, d, small, 1, false), &ran)
		onGPU(t, d, floats, deviceProblem[float64](t, d, floats, math.NaN(), true), &ran)
		onGPU(t, d, floats, deviceProblem[float32](t, d, floats, 0, false), &ran)
		for k := range small.c {
			if r.Intn(3) == 0 {
				small.c[k] = math.NaN()
			}
		}
		onGPU(t, d, small, deviceProblem[int32](t, d, small, math.NaN(), false), &ran)
	}
	if ran < least {
		t.Errorf("%d auctions ran on the device", ran)
	}
}

// The host solves problems that a device cannot, and the result says so.
func TestOnDeviceOrHost(t *testing.T) {
	d := emulate.Shared(t)
	for _, c := range []struct {
		reason string
		g      grid
		o      Options
		method string
	}{
		{"integers", grid{m: 2, n: 2, c: []float64{1, 2, 3, 5}}, Options{}, "auction"},
		{"floats with an ε", grid{m: 2, n: 2, c: []float64{1, 2.5, 3, 5}}, Options{Epsilon: 1. / 1024}, "auction"},
		{"floats, exactly", grid{m: 2, n: 2, c: []float64{1, 2.5, 3, 5}}, Options{}, "jonker-volgenant, on the host"},
		{"integers too large", grid{m: 2, n: 2, c: []float64{1, 2, 3, 1 << 50}}, Options{}, "jonker-volgenant, on the host"},
		{"paths are asked for", grid{m: 2, n: 2, c: []float64{1, 2, 3, 5}}, Options{Method: MethodJonkerVolgenant}, "jonker-volgenant, on the host"},
		{"nothing to assign", grid{m: 0, n: 2}, Options{}, "jonker-volgenant, on the host"},
	} {
		want, _ := c.g.best(false)
		res, err := Solve(deviceProblem[float64](t, d, c.g, math.NaN(), true), c.o)
		if err != nil {
			t.Fatal(err)
		}
		if check(t, c.g, c.o, res, want); res.Method != c.method {
			t.Errorf("%s: by %s, want %s", c.reason, res.Method, c.method)
		}
	}
	nan := deviceProblem[float64](t, d, grid{m: 1, n: 2, c: []float64{1, math.Inf(-1)}}, math.NaN(), true)
	var bad *CostError
	if _, err := Solve(nan, Options{}); !errors.As(err, &bad) || bad.Col != 1 {
		t.Errorf("−Inf gives the error %v", err)
	}
}

// graphs of the sizes that take more than one round, block and window.
func TestOnDeviceLarger(t *testing.T) {
	d := emulate.Shared(t)
	for _, c := range []struct {
		reason string
		a      *matrix.Matrix[int32]
		def    *int32
	}{
		{"ties, over a default", counts(6, 4), new(int32)},
		{"dense", uniform(70, 3), nil},
	} {
		t.Run(c.reason, func(t *testing.T) {
			problem := func() *Problem {
				if c.def != nil {
					return Implicit[int32](c.a, *c.def)
				}
				return Dense[int32](c.a)
			}
			host, err := JonkerVolgenant(problem(), Options{Maximize: true})
			if err != nil {
				t.Fatal(err)
			}
			sure.Do(c.a.Move(d))
			exact, err := Solve(problem(), Options{Maximize: true})
			if err != nil {
				t.Fatal(err)
			}
			if exact.Sum != host.Sum || exact.Gap != 0 || exact.Method != "auction" {
				t.Errorf("%s: %d, gap %v; want %d", exact.Method, exact.Sum, exact.Gap, host.Sum)
			}
			near, err := Solve(problem(), Options{Maximize: true, Epsilon: 1})
			if err != nil {
				t.Fatal(err)
			}
			n := float64(len(near.Row))
			if missed := float64(host.Sum - near.Sum); missed > near.Gap || missed < 0 || near.Gap > n {
				t.Errorf("misses the best by %v, gap %v, of %v rows", missed, near.Gap, n)
			}
			again, err := Solve(problem(), Options{Maximize: true, Epsilon: 1})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(near.Row, again.Row) || !slices.Equal(near.Prices, again.Prices) {
				t.Error("the same auction ended in another way")
			}
			warm, err := Solve(problem(), Options{Maximize: true, Prices: exact.Prices})
			if err != nil {
				t.Fatal(err)
			}
			if warm.Sum != host.Sum {
				t.Errorf("from prices: %d, want %d", warm.Sum, host.Sum)
			}
			batch, err := SolveBatch([]*Problem{problem(), problem().WithOffsets(make([]float64, len(near.Row)), nil)}, Options{Maximize: true, Epsilon: 1})
			if err != nil {
				t.Fatal(err)
			}
			for _, b := range batch {
				if !slices.Equal(b.Row, near.Row) {
					t.Error("an auction ends in another way in a batch")
				}
			}
		})
	}
}

// Costs on a group of devices: the first of them runs the auction.
func TestSolveOnGroup(t *testing.T) {
	d := emulate.Shared(t)
	ranks := sure.Get(comm.Local(3))
	at := sure.Get(comm.NewGroup(ranks, comm.At(d, d, d)))
	r := rand.New(rand.NewSource(4))
	val := make([]int32, 12*15)
	for k := range val {
		val[k] = r.Int31n(50)
	}
	for _, dense := range []bool{true, false} {
		c := sure.Get(matrix.FromDense(12, 15, val))
		if !dense {
			sure.Do(c.SetFormat(matrix.CSR))
		}
		problem := func() *Problem {
			if dense {
				return Dense(c)
			}
			return Sparse(c)
		}
		want, err := Solve(problem())
		if err != nil {
			t.Fatal(err)
		}
		sure.Do(c.Move(at))
		got, err := Solve(problem())
		if err != nil {
			t.Fatal(err)
		}
		if got.Value != want.Value || got.Method != "auction" {
			t.Errorf("dense %v: value %v by %s, want %v", dense, got.Value, got.Method, want.Value)
		}
		if _, err := SolveBatch([]*Problem{problem(), problem()}); err != nil {
			t.Error(err)
		}
	}
}
