package cusparse

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/cusparse/space"
	"github.com/hiveblas/hiveblas/internal/conformance"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/race"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// banded returns a matrix with entries on five diagonals, some of them missing, and a few
// elsewhere.
func banded[T semiring.Number](n int) *matrix.Matrix[T] {
	r := rand.New(rand.NewPCG(3, 1))
	b := matrix.NewBuilder[T](n, n)
	for i := range n {
		for _, d := range []int{-20, -1, 0, 1, 20} {
			if j := i + d; j >= 0 && j < n && r.IntN(10) > 0 {
				b.Add(i, j, T(1+r.IntN(4)))
			}
		}
		if r.IntN(30) == 0 {
			b.Add(i, (i+n/2)%n, 2)
		}
	}
	a, err := b.Build(semiring.Plus[T]())
	if err != nil {
		panic(err)
	}
	return a
}

// partial returns a vector with about one entry in `every`.
func partial[T semiring.Number](n, every int) *matrix.Vector[T] {
	x := matrix.NewVector[T](n)
	for j := range n {
		if every == 1 || (j*7)%every == 0 {
			if err := x.Set(j, T(1+j%3)); err != nil {
				panic(err)
			}
		}
	}
	return x
}

// testPlans compares products by the plans of a direction with the CPU's.
func testPlans[T semiring.Number](t *testing.T, d *Device, s semiring.Semiring[T, T, T], a *matrix.Matrix[T], every int, keep func(i int, p space.Plan) bool) {
	t.Helper()
	m, n := a.Dims()
	x := partial[T](n, every)
	if every == 1 {
		check(t, x.SetFormat(matrix.Full))
	}
	mask := partial[int8](m, 3)
	want, masked, few := matrix.NewVector[T](m), matrix.NewVector[T](m), matrix.NewVector[T](m)
	check(t, ops.MxV(want, s, a, x))
	check(t, ops.MxV(masked.Masked(mask.Structure().Not()).Replace(), s, a, x))
	check(t, ops.MxV(few.Masked(mask.Structure()), s, a, x))
	dev := matrix.On(d)
	at, there := matrix.New[T](m, n, dev), matrix.NewVector[T](n, dev)
	check(t, ops.Assign(at, a, ops.All(), ops.All()))
	check(t, ops.AssignVector(there, x, ops.All()))
	// Every plan that some operand allows. The product returns a *MethodError for a plan that this
	// operand refuses.
	facts := space.Facts{Rows: m, Cols: n, Entries: 1, Diagonals: 5, OnDiagonals: 1, FullX: every == 1, ListedMask: true, Constant: true, Exact: true, Result: 8,
		ReadsX: true, Shared: 1}
	ran := 0
	for _, direction := range []space.Direction{space.Pull, space.Push} {
		for i, p := range space.Points(direction, facts) {
			if !keep(i, p) {
				continue
			}
			got := matrix.NewVector[T](m, dev)
			var trace ops.Trace
			using := ops.Using(ops.Method(p.String()))
			if p.Direction == space.Pull && p.From == space.List {
				err := ops.MxV(got.Masked(mask.Structure()), s, at, there, using)
				if err != nil && !errors.Is(err, ops.ErrMethod) {
					t.Fatalf("%s: %v", p, err)
				}
				if err == nil && !got.Equal(few) {
					t.Fatalf("%s of %s: %v, want %v", p, s.Name(), got, few)
				}
				continue
			}
			err := ops.MxV(got, s, at, there, using, ops.WithTrace(&trace))
			if errors.Is(err, ops.ErrMethod) {
				continue
			}
			ran++
			if err != nil {
				t.Fatalf("%s: %v", p, err)
			}
			if !got.Equal(want) {
				t.Fatalf("%s of %s: %v, want %v", p, s.Name(), got, want)
			}
			if traced, err := space.Parse(trace.Plan); err != nil || traced.Schedule != p.Schedule {
				t.Errorf("%s ran %q", p, trace.Plan)
			}
			check(t, ops.MxV(got.Masked(mask.Structure().Not()).Replace(), s, at, there, using))
			if !got.Equal(masked) {
				t.Fatalf("%s of %s with a mask: %v, want %v", p, s.Name(), got, masked)
			}
		}
	}
	if ran == 0 {
		t.Errorf("no plan ran for %s", s.Name())
	}
}

func testWalks(t *testing.T, d *Device, every int) {
	keep := func(i int, p space.Plan) bool { return i%every == every/2 }
	for k, x := range []int{1, 2, 40} {
		if !longtest.Takes(k, 3) {
			continue
		}
		t.Run(fmt.Sprintf("skewed/%d", x), func(t *testing.T) {
			testPlans(t, d, semiring.PlusTimes[float64](), skewed[float64](300, 500, 5), x, keep)
			testPlans(t, d, semiring.MinPlus[int32](), skewed[int32](300, 500, 6), x, keep)
			testPlans(t, d, semiring.MaxMin[int8](), skewed[int8](300, 500, 7), x, keep)
		})
		t.Run(fmt.Sprintf("banded/%d", x), func(t *testing.T) {
			testPlans(t, d, semiring.PlusTimes[float32](), banded[float32](333), x, keep)
			testPlans(t, d, semiring.MinPlus[float64](), banded[float64](333), x, keep)
			testPlans(t, d, semiring.PlusMin[int16](), banded[int16](333), x, keep)
		})
	}
	t.Run("empty", func(t *testing.T) {
		testPlans(t, d, semiring.PlusTimes[float64](), matrix.New[float64](40, 30), 1, keep)
		testPlans(t, d, semiring.PlusTimes[float64](), matrix.New[float64](1, 1), 2, keep)
	})
}

// TestWalks runs plans on the emulator.
func TestWalks(t *testing.T) {
	if race.Enabled {
		t.Skip("one goroutine: TestTwoGoroutines is for the race detector")
	}
	t.Parallel()
	every := 499
	if longtest.Enabled() {
		every = 401
	}
	d, _ := emulated(t)
	testWalks(t, d, every)
}

// TestWalksOnGPU runs every plan on a GPU.
func TestWalksOnGPU(t *testing.T) {
	every := 401
	if longtest.Enabled() {
		every = 7
	}
	testWalks(t, realDevice(t), every)
}

// TestRelabelled runs pulls over a matrix with its columns by degree, beside every layout and a
// schedule of each kind.
func TestRelabelled(t *testing.T) {
	t.Parallel()
	d, _ := emulated(t)
	plans := map[string]bool{}
	for _, text := range []string{
		"pull csr vm relabelled", "pull csr twce relabelled", "pull csr strict relabelled", "pull csr vm order=degree relabelled",
		"pull coo em relabelled", "pull ell vm relabelled", "pull sell vm order=log relabelled",
		"pull csr16 wm relabelled",
	} {
		p, err := space.Parse(text)
		check(t, err)
		plans[p.String()] = true
	}
	keep := func(_ int, p space.Plan) bool { return plans[p.String()] }
	testPlans(t, d, semiring.PlusTimes[float64](), skewed[float64](300, 500, 5), 1, keep)
	testPlans(t, d, semiring.MinPlus[int32](), banded[int32](333), 1, keep)
	testPlans(t, d, semiring.PlusTimes[float64](), matrix.New[float64](40, 30), 1, keep)
	// Prepare makes the copy and the layout; the product then takes the plan.
	a, x := skewed[float64](300, 500, 5), partial[float64](500, 1)
	want, got := matrix.NewVector[float64](300), matrix.NewVector[float64](300, matrix.On(d))
	check(t, x.SetFormat(matrix.Full))
	check(t, ops.MxV(want, semiring.PlusTimes[float64](), a, x))
	check(t, a.Move(d))
	const plan = "pull sell vm store relabelled"
	check(t, Prepare(context.Background(), d, a, plan, 0))
	var trace ops.Trace
	check(t, ops.MxV(got, semiring.PlusTimes[float64](), a, x, ops.WithTrace(&trace)))
	if trace.Plan != plan || !got.Equal(want) {
		t.Errorf("the prepared product ran %q: %v, want %v", trace.Plan, got, want)
	}
}

// TestPlanErrors reads the errors of plans that cannot run.
func TestPlanErrors(t *testing.T) {
	d, _ := emulated(t)
	a, x := skewed[float64](300, 500, 5), partial[float64](500, 1)
	y := matrix.NewVector[float64](300, matrix.On(d))
	for _, c := range []struct{ plan, want string }{
		{"pull csr twx", "did you mean twc?"},
		{"pull csr vm append", "pull and append clash"},
		{"pull csr vm segmented", "vm and segmented clash"},
		{"pull csr emv", "emv and csr clash"},
		{"pull dia vm", "dia and matrix clash"}, {"pull csr expand", "pull and expand clash"},
		{"pull csr vm block=100", "power of two"}, {"push csr vm relabelled", "push and relabelled clash"},
		{"pull dia vm relabelled", "dia and relabelled clash"}, {"pull csr vm hot", "vm and hot clash"},
		{"sideways", "is no part of a plan"},
		{"csr vm", "needs a direction"},
	} {
		err := ops.MxV(y, semiring.PlusTimes[float64](), a, x, ops.Using(ops.Method(c.plan)))
		var method *ops.MethodError
		if !errors.As(err, &method) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want a MethodError with %q", c.plan, err, c.want)
		}
	}
}

// planned is the kit's backend of a device. Its products of matrices and vectors take another plan
// each time.
type planned struct{ slowly }

func (b planned) Skip(name string) string {
	if !strings.HasPrefix(name, "MxV/") && !strings.HasPrefix(name, "VxM/") {
		return "not a product of a matrix and a vector"
	}
	return b.slowly.Skip(name)
}

func (planned) Every() int { return 1 }

func (planned) Budget() int { return 1 }

func testConformancePlans(t *testing.T, d *Device) {
	r := rand.New(rand.NewPCG(1, 7))
	d.choice = choice{floor: -1, rotate: func(dir space.Direction, f space.Facts) (space.Plan, bool) {
		points := slices.DeleteFunc(space.Points(dir, f), func(p space.Plan) bool {
			return !p.Deterministic(f) || p.Schedule == space.Tiles || dir == space.Pull && r.IntN(4) == 0
		})
		if len(points) == 0 {
			return space.Plan{}, false
		}
		return points[r.IntN(len(points))], true
	}}
	conformance.Run(t, planned{slowly{on{d}}})
}

// TestConformancePlans runs the kit's products of matrices and vectors by random plans.
func TestConformancePlans(t *testing.T) {
	longtest.SkipInTurns(t, 1, 3)
	if race.Enabled {
		t.Skip("one goroutine: TestTwoGoroutines is for the race detector")
	}
	t.Parallel()
	d, _ := emulated(t)
	testConformancePlans(t, d)
}

// TestConformancePlansOnGPU does so on a GPU.
func TestConformancePlansOnGPU(t *testing.T) { testConformancePlans(t, realDevice(t)) }
