package ops_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// scattered returns an m×n matrix of about entries random floats. Their sums are not exact, so that
// a different order of a sum changes the result.
func scattered(m, n, entries int, seed uint64) *matrix.Matrix[float64] {
	r := rand.New(rand.NewPCG(seed, 1))
	b := matrix.NewBuilder[float64](m, n)
	for range entries {
		b.Add(r.IntN(m), r.IntN(n), r.NormFloat64()*1e3)
	}
	a, err := b.Build(semiring.Second[float64, float64]())
	if err != nil {
		panic(err)
	}
	return a
}

func scatteredVector(n, entries int) *matrix.Vector[float64] {
	v := matrix.NewVector[float64](n)
	if err := ops.ExtractRow(v, scattered(1, n, entries, 9), 0, ops.All()); err != nil {
		panic(err)
	}
	return v
}

// bitsOf returns a hash of a result. Equal hashes mean equal bits.
func bitsOf(ptr []int64, idx []int32, val []float64) string {
	h := fnv.New128a()
	for _, part := range []any{ptr, idx, val} {
		_ = binary.Write(h, binary.LittleEndian, part)
	}
	return string(h.Sum(nil))
}

// TestDeterminism checks that each method of every product gives the same bits for every number of
// threads.
func TestDeterminism(t *testing.T) {
	a, b := scattered(700, 600, 12000, 1), scattered(600, 900, 15000, 2)
	mask := scattered(700, 900, 20000, 3)
	full, err := matrix.FromDense(600, 40, sure.Get(scatteredVector(24000, 1<<20).Dense(0)))
	must(t, err)
	// Wide enough that Push divides the columns among any of the numbers of threads.
	wide := scattered(3000, 5000, 90000, 4)
	u, some := scatteredVector(3000, 60000), scatteredVector(3000, 300)
	pt := semiring.PlusTimes[float64]()
	matrixOf := func(m, n int, f func(c *matrix.Matrix[float64], o ...ops.Option) error) func(o ...ops.Option) (string, error) {
		return func(o ...ops.Option) (string, error) {
			c := matrix.New[float64](m, n)
			err := f(c, o...)
			return bitsOf(access.Store(c).Ptr, access.Rows(c.View()).Idx, access.Rows(c.View()).Val), err
		}
	}
	vectorOf := func(n int, f func(w *matrix.Vector[float64], o ...ops.Option) error) func(o ...ops.Option) (string, error) {
		return func(o ...ops.Option) (string, error) {
			w := matrix.NewVector[float64](n)
			err := f(w, o...)
			return bitsOf(nil, access.Rows(matrix.AsView(w)).Idx, access.Rows(matrix.AsView(w)).Val), err
		}
	}
	type run = func(o ...ops.Option) (string, error)
	cases := map[string]run{}
	for _, m := range []ops.Method{ops.Auto, ops.SPA, ops.Sorted, ops.Hash} {
		cases["MxM "+string(m)] = matrixOf(700, 900, func(c *matrix.Matrix[float64], o ...ops.Option) error {
			return ops.MxM(c, pt, a, b, append(o, ops.Using(m))...)
		})
		cases["MxM masked "+string(m)] = matrixOf(700, 900, func(c *matrix.Matrix[float64], o ...ops.Option) error {
			return ops.MxM(c.Masked(mask.Structure()), pt, a, b, append(o, ops.Using(m))...)
		})
		cases["MxM complement "+string(m)] = matrixOf(700, 900, func(c *matrix.Matrix[float64], o ...ops.Option) error {
			return ops.MxM(c.Masked(mask.Structure().Not()), pt, a, b, append(o, ops.Using(m))...)
		})
	}
	cases["MxM dot"] = matrixOf(700, 900, func(c *matrix.Matrix[float64], o ...ops.Option) error {
		return ops.MxM(c.Masked(mask), pt, a, b, append(o, ops.Using(ops.Dot))...)
	})
	cases["MxM spmm"] = matrixOf(700, 40, func(c *matrix.Matrix[float64], o ...ops.Option) error { return ops.MxM(c, pt, a, full, o...) })
	for _, m := range []ops.Method{ops.Auto, ops.Push, ops.Pull} {
		for name, v := range map[string]*matrix.Vector[float64]{"dense": u, "sparse": some} {
			cases["VxM "+name+string(m)] = vectorOf(5000, func(w *matrix.Vector[float64], o ...ops.Option) error {
				return ops.VxM(w, pt, v, wide, append(o, ops.Using(m))...)
			})
			cases["MxV "+name+string(m)] = vectorOf(5000, func(w *matrix.Vector[float64], o ...ops.Option) error {
				return ops.MxV(w, pt, wide.T(), v, append(o, ops.Using(m))...)
			})
		}
	}
	sum := func(o ...ops.Option) (string, error) {
		s, err := ops.ReduceScalar(semiring.Plus[float64](), wide, o...)
		return fmt.Sprint(s), err
	}
	cases["ReduceScalar"] = sum
	for name, f := range cases {
		want, err := f(ops.WithThreads(1))
		must(t, err)
		for k, threads := range atThreads(2, 3, 5, 16) {
			if !longtest.Takes(k+len(name), 4) {
				continue
			}
			got, err := f(ops.WithThreads(threads))
			must(t, err)
			if got != want {
				t.Errorf("%s with %d threads differs from one thread", name, threads)
			}
		}
	}
}

// TestMethodsAgree checks that the methods of a product add in the same order, for matrices with
// dense rows, some of them between two columns, listed or empty, which accumulators mark in
// different ways.
func TestMethodsAgree(t *testing.T) {
	mixed := matrix.NewBuilder[float64](300, 1000)
	for k := range 300 {
		from, to, step := 0, 0, 1
		switch k % 5 {
		case 1:
			from, to, step = k, k+150+k%7, 1+k%3
		case 2:
			from, to, step = k%64, 1000, 311
		case 3:
			to, step = 1000, 1+k%4
		case 4:
			from, to = 999-k%3, 1000
		}
		for j := from; j < to; j += step {
			mixed.Add(k, j, math.Sqrt(float64(k+j)))
		}
	}
	b, err := mixed.Build(semiring.Second[float64, float64]())
	must(t, err)
	pt := semiring.PlusTimes[float64]()
	scatters := pt.WithKernels(semiring.Kernels[float64, float64, float64]{
		Scatter: func(acc []float64, marks []uint64, a float64, ci []int32, bv []float64) {
			semiring.ScatterFn(acc, marks, a, ci, bv, pt.Mul().Apply, pt.Add().Op().Apply)
		},
	})
	for name, a := range map[string]*matrix.Matrix[float64]{
		"dense": scattered(200, 300, 5000, 1), "few": scattered(200, 300, 250, 2),
	} {
		for _, comp := range []bool{false, true} {
			mask := scattered(200, 1000, 60000, 3)
			var want *matrix.Matrix[float64]
			for _, m := range []ops.Method{ops.Sorted, ops.SPA, ops.Hash, ops.Auto} {
				c := matrix.New[float64](200, 1000)
				var dst matrix.Target[float64] = c
				if comp {
					dst = c.Masked(mask.Structure().Not())
				}
				must(t, ops.MxM(dst, pt, a, b, ops.Using(m)))
				d := matrix.New[float64](200, 1000)
				dst = d
				if comp {
					dst = d.Masked(mask.Structure().Not())
				}
				must(t, ops.MxM(dst, scatters, a, b, ops.Using(m)))
				if !sameBits(t, d, c) {
					t.Errorf("%s, complement %v: %s with a loop for Scatter alone differs", name, comp, m)
				}
				if want == nil {
					want = c
				} else if !sameBits(t, c, want) {
					t.Errorf("%s, complement %v: %s adds in another order", name, comp, m)
				}
				if comp {
					continue
				}
				sizes, _, err := ops.Sizes(a, b, nil)
				must(t, err)
				for i, n := range sizes {
					if ptr := access.Rows(c.View()).Ptr; n != ptr[i+1]-ptr[i] {
						t.Fatalf("%s: row %d has %d entries, Sizes says %d", name, i, ptr[i+1]-ptr[i], n)
					}
				}
			}
		}
	}
}

// sameBits reports whether two matrices have the same entries, with the same bits.
func sameBits(t *testing.T, a, b *matrix.Matrix[float64]) bool {
	t.Helper()
	ap, ai, av, err := a.CSR()
	must(t, err)
	bp, bi, bv, err := b.CSR()
	must(t, err)
	return slices.Equal(ap, bp) && slices.Equal(ai, bi) &&
		slices.EqualFunc(av, bv, func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) })
}

// TestMethodChoice checks that a forced method runs, and the method that Auto selects.
func TestMethodChoice(t *testing.T) {
	const n = 2000
	pt := semiring.PlusTimes[float64]()
	var trace ops.Trace
	tr := ops.WithTrace(&trace)
	ran := func(reason string, want ops.Method, err error) {
		t.Helper()
		must(t, err)
		if trace.Method != want || trace.Place != "cpu" {
			t.Errorf("%s: %v, want %s on cpu", reason, trace, want)
		}
		trace = ops.Trace{}
	}
	fresh := func() *matrix.Matrix[float64] { return scattered(n, n, 20000, 1) }
	c, w := func() *matrix.Matrix[float64] { return matrix.New[float64](n, n) }, func() *matrix.Vector[float64] { return matrix.NewVector[float64](n) }
	full, err := matrix.NewFullVector(n, 1.0)
	must(t, err)
	frontier := scatteredVector(n, 3)
	ran("A·u of a full vector, rows available", ops.Pull, ops.MxV(w(), pt, fresh(), full, tr))
	ran("u·A of a sparse frontier, rows available", ops.Push, ops.VxM(w(), pt, frontier, fresh(), tr))
	ran("u·A of a full vector, rows available", ops.Push, ops.VxM(w(), pt, full, fresh(), tr))
	both := fresh()
	ran("A·u of a sparse vector pushes and makes the transpose", ops.Push, ops.MxV(w(), pt, both, frontier, tr))
	ran("A·u of a full vector, both orientations available", ops.Pull, ops.MxV(w(), pt, both, full, tr))
	ran("u·A of a full vector, both orientations available", ops.Pull, ops.VxM(w(), pt, full, both, tr))
	ran("u·A of a sparse frontier, both orientations available", ops.Push, ops.VxM(w(), pt, frontier, both, tr))
	ran("forced push", ops.Push, ops.MxV(w(), pt, both, full, tr, ops.Using(ops.Push)))
	ran("forced pull", ops.Pull, ops.VxM(w(), pt, frontier, both, tr, ops.Using(ops.Pull)))

	ran("A·B without a mask", ops.SPA, ops.MxM(c(), pt, both, both, tr))
	thin := scattered(n, n, 20, 5)
	ran("few mask entries, transpose available", ops.Dot, ops.MxM(c().Masked(thin), pt, both, both, tr))
	ran("as many mask entries as products", ops.SPA, ops.MxM(c().Masked(scattered(n, n, 400000, 6)), pt, both, both, tr))
	ran("complemented mask", ops.SPA, ops.MxM(c().Masked(thin.Structure().Not()), pt, both, both, tr))
	dense, err := matrix.NewFull(n, 4, 1.0)
	must(t, err)
	ran("few entries of an outer product", ops.Dot, ops.Outer(c().Masked(thin), pt, full, full, tr))
	ran("all entries of an outer product", ops.SpMM, ops.Outer(c().Masked(thin.Structure().Not()), pt, full, full, tr))
	ran("full second operand", ops.SpMM, ops.MxM(matrix.New[float64](n, 4), pt, both, dense, tr))
	for _, m := range []ops.Method{ops.SPA, ops.Sorted, ops.Hash, ops.Dot} {
		ran("forced", m, ops.MxM(c().Masked(thin), pt, both, both, tr, ops.Using(m)))
	}

	d := c()
	must(t, ops.EWiseAdd(d, semiring.Plus[float64](), both, thin, tr))
	if trace.Op != "EWiseAdd" || trace.Name != "plus" || trace.NVals != d.NVals() {
		t.Errorf("trace %+v of a sum with %d entries", trace, d.NVals())
	}
	must(t, ops.Apply(d.Masked(thin.Structure()).Replace(), semiring.Identity[float64](), d, tr))
	if trace.NVals != thin.NVals() || trace.NVals != d.NVals() {
		t.Errorf("trace counts %d entries, the destination has %d", trace.NVals, d.NVals())
	}
}

// TestConcurrentReaders runs operations on shared operands from several goroutines, which compute
// the derived forms of the operands concurrently.
func TestConcurrentReaders(t *testing.T) {
	for range 3 {
		a := scattered(300, 300, 4000, 7)
		must(t, a.SetFormat(matrix.Bitmap))
		u, mask := scatteredVector(300, 200), scattered(300, 300, 3000, 8)
		pt := semiring.PlusTimes[float64]()
		var results [8]*matrix.Matrix[float64]
		var wg sync.WaitGroup
		for g := range results {
			wg.Go(func() {
				c, w := matrix.New[float64](300, 300), matrix.NewVector[float64](300)
				count := matrix.New[int64](300, 300)
				err := errors.Join(
					ops.MxM(c.Masked(mask), pt, a, a.T(), ops.WithThreads(2)),
					ops.MxM(count, semiring.PlusPair[int64](), a.Pattern().T(), a.Pattern()),
					ops.MxV(w, pt, a, u), ops.VxM(w, pt, u, a, ops.Using(ops.Pull)),
					ops.Reduce(w, semiring.Plus[float64](), a.T()),
					ops.EWiseAdd(c.Masked(mask.MaskView().Not()), semiring.Plus[float64](), a, a.T()))
				if err != nil {
					t.Error(err)
				}
				results[g] = c
			})
		}
		wg.Wait()
		for _, c := range results[1:] {
			if !c.Equal(results[0]) {
				t.Error("readers of one matrix got different results")
			}
		}
	}
}

// allocated returns the bytes that f allocates.
func allocated(t *testing.T, f func() error) uint64 {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	must(t, f())
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestWideMatrices checks that operations on matrices of 2³¹−1 rows and columns allocate memory in
// proportion to the entries, not to the dimensions.
func TestWideMatrices(t *testing.T) {
	const wide = matrix.MaxDim
	const limit = 1 << 20
	pt, plus := semiring.PlusTimes[float64](), semiring.Plus[float64]()
	a, b := scattered(wide, wide, 300, 1), scattered(wide, wide, 300, 2)
	tall, short := scattered(wide, 10, 300, 3), scattered(10, wide, 300, 4)
	few := scattered(10, 10, 30, 5)
	dense, err := matrix.NewFull(10, 3, 1.0)
	must(t, err)
	u, v := scatteredVector(wide, 200), scatteredVector(10, 8)
	m := func(m, n int) *matrix.Matrix[float64] { return matrix.New[float64](m, n) }
	w := func(n int) *matrix.Vector[float64] { return matrix.NewVector[float64](n) }
	all := ops.All()
	for name, f := range map[string]func() error{
		"MxM":              func() error { return ops.MxM(m(wide, wide), pt, a, b) },
		"MxM sorted":       func() error { return ops.MxM(m(wide, wide), pt, a, b, ops.Using(ops.Sorted)) },
		"MxM hash":         func() error { return ops.MxM(m(wide, wide), pt, a, b, ops.Using(ops.Hash)) },
		"MxM masked":       func() error { return ops.MxM(m(wide, wide).Masked(a), pt, a, b) },
		"MxM complement":   func() error { return ops.MxM(m(wide, wide).Masked(a.MaskView().Not()), pt, a, b) },
		"MxM transposed":   func() error { return ops.MxM(m(wide, wide), pt, a.T(), b.T()) },
		"MxM outer":        func() error { return ops.MxM(m(wide, wide), pt, tall, short) },
		"MxM inner masked": func() error { return ops.MxM(m(10, 10).Masked(few), pt, short, tall) },
		"MxM wide":         func() error { return ops.MxM(m(10, wide), pt, few, short) },
		"MxM full":         func() error { return ops.MxM(m(wide, 3), pt, tall, dense) },
		"MxM positional": func() error {
			return ops.MxM(matrix.New[int64](wide, wide), semiring.MinSecondi[int64](0), a.Pattern(), b.Pattern())
		},
		"MxV":            func() error { return ops.MxV(w(wide), pt, a, u) },
		"MxV masked":     func() error { return ops.MxV(w(wide).Masked(u.Structure()), pt, a, u) },
		"MxV tall":       func() error { return ops.MxV(w(wide), pt, tall, v) },
		"MxV short":      func() error { return ops.MxV(w(10), pt, short, u) },
		"VxM":            func() error { return ops.VxM(w(wide), pt, u, a) },
		"VxM short":      func() error { return ops.VxM(w(wide), pt, v, short) },
		"EWiseAdd":       func() error { return ops.EWiseAdd(m(wide, wide), plus, a, b.T()) },
		"EWiseMult":      func() error { return ops.EWiseMult(m(wide, wide).Accum(plus), plus, a, b) },
		"Apply":          func() error { return ops.Apply(m(wide, wide).Masked(b.MaskView().Not()), semiring.Abs[float64](), a) },
		"Select":         func() error { return ops.Select(m(wide, wide), semiring.Tril[float64](0), a) },
		"Reduce rows":    func() error { return ops.Reduce(w(wide), plus, a) },
		"Reduce columns": func() error { return ops.Reduce(w(wide), plus, scattered(wide, wide, 300, 1).T()) },
		"Transpose":      func() error { return ops.Transpose(m(wide, wide), a) },
		"Extract":        func() error { return ops.Extract(m(3, 2), a, ops.Of(5, 1<<30, 7), ops.Of(wide-1, 0)) },
		"Extract all":    func() error { return ops.Extract(m(wide, wide), a, all, all) },
		"Assign":         func() error { return ops.Assign(m(wide, wide), few, ops.Span(1000, 1010), ops.Span(1<<30, 1<<30+10)) },
		"AssignScalar":   func() error { return ops.AssignScalar(m(wide, wide).Masked(a.Structure()), 1, all, all) },
		"Kronecker": func() error {
			return ops.Kronecker(m(1<<30, 1<<30), plus, scattered(1<<15, 1<<15, 20, 1), scattered(1<<15, 1<<15, 20, 1))
		},
	} {
		if got := allocated(t, f); got > limit {
			t.Errorf("%s allocates %d bytes for a few hundred entries", name, got)
		}
	}
}

// TestCancel checks that cancelling a context stops a running product and leaves the destination
// unchanged.
func TestCancel(t *testing.T) {
	a := scattered(4000, 4000, 200000, 1)
	ctx, cancel := context.WithCancel(context.Background())
	var once sync.Once
	mul := semiring.NewBinary("cancelling", func(x, y float64) float64 { once.Do(cancel); return x * y })
	c := scattered(4000, 4000, 10, 2)
	before := c.Clone()
	err := ops.MxM(c, semiring.New(semiring.Plus[float64](), mul), a, a, ops.WithContext(ctx))
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v, want %v", err, context.Canceled)
	}
	if !c.Equal(before) {
		t.Error("the destination of a cancelled product has changed")
	}
}
