package cusparse

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/cusparse/space"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// spread is a device that looks at all matrices.
func spread(t *testing.T) *Device {
	d, _ := emulated(t)
	d.choice.floor = -1
	return d
}

// product multiplies on the device and on the host, compares, and returns the plan that ran.
func product(t *testing.T, d *Device, a *matrix.Matrix[float64], x *matrix.Vector[float64], o ...ops.Option) string {
	t.Helper()
	m, _ := a.Dims()
	want, got := matrix.NewVector[float64](m), matrix.NewVector[float64](m, matrix.On(d))
	check(t, ops.MxV(want, semiring.PlusTimes[float64](), a, x))
	var trace ops.Trace
	check(t, ops.MxV(got, semiring.PlusTimes[float64](), a, x, append(o, ops.WithTrace(&trace))...))
	if !got.Equal(want) {
		t.Errorf("%s: %v, want %v", trace.Plan, got, want)
	}
	return trace.Plan
}

func TestPrepare(t *testing.T) {
	d := spread(t)
	ctx := context.Background()
	a := banded[float64](600)
	x := partial[float64](600, 1)
	check(t, x.SetFormat(matrix.Full))
	if p := product(t, d, a, x); p != "pull dia vm store" {
		t.Errorf("ran %q, want dia for 64 uses", p)
	}
	check(t, Prepare(ctx, d, a, "", 1))
	if p := product(t, d, a, x); p != "pull csr tiles segmented" {
		t.Errorf("ran %q for one use, want tiles of csr", p)
	}
	check(t, Prepare(ctx, d, a, "pull sell wm order=degree", 0))
	if p := product(t, d, a, x); p != "pull sell wm store order=degree" {
		t.Errorf("ran %q, want the plan of Prepare", p)
	}
	// A transposed view has rows of its own.
	check(t, Prepare(ctx, d, a.T(), "pull sell vm", 0))
	// Operands that the plan does not suit take another.
	check(t, Prepare(ctx, d, a, "pull csr tiles relabelled", 0))
	if p := product(t, d, a, partial[float64](600, 2)); strings.Contains(p, "tiles") {
		t.Errorf("ran %q for a vector with holes", p)
	}
	check(t, Prepare(ctx, d, a, "", 0))
	for _, c := range []struct {
		plan string
		uses int
		want string
	}{
		{"pull csr vn", 0, "did you mean vm"}, {"pull csr vm append", 0, "clash"}, {"", -1, "-1 uses"},
	} {
		err := Prepare(ctx, d, a, c.plan, c.uses)
		var invalid *matrix.InvalidError
		if !errors.As(err, &invalid) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Prepare(%q, %d): %v, want %q", c.plan, c.uses, err, c.want)
		}
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if err := Prepare(cancelled, d, a, "pull dia vm", 0); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// formsOf returns the layouts that are kept with a matrix.
func formsOf(t *testing.T, d *Device, a *matrix.Matrix[float64]) map[string]*form {
	t.Helper()
	return storeOf[float64](t, d, a).forms
}

func storeOf[T comparable](t *testing.T, d *Device, a matrix.Operand[T]) *store {
	t.Helper()
	o, err := access.Operand(matrix.AsView(a), backend{d})
	check(t, err)
	f := d.begin(device.Call{})
	defer f.end()
	s := f.here(o)
	if f.err != nil {
		t.Fatal(f.err)
	}
	return s
}

// TestMethodsUnderPressure gives back what products with full and sparse matrices keep, and makes
// it again.
func TestMethodsUnderPressure(t *testing.T) {
	t.Parallel()
	d, _ := emulated(t)
	a, b := scattered(400, 300, .1, 3, small[float64]), scattered(300, 40, .3, 4, small[float64])
	full, err := matrix.NewFull(300, 8, 1.0)
	check(t, err)
	plus := semiring.PlusTimes[float64]()
	wantSparse, wantFull := matrix.New[float64](400, 40), matrix.New[float64](400, 8)
	check(t, ops.MxM(wantSparse, plus, a, b))
	check(t, ops.MxM(wantFull, plus, a, full))
	check(t, a.Move(d))
	check(t, b.Move(d))
	for round := range 2 {
		gotSparse, gotFull := matrix.New[float64](400, 40, matrix.On(d)), matrix.New[float64](400, 8, matrix.On(d))
		check(t, ops.MxM(gotSparse, plus, a, b, ops.Using(ops.SPA)))
		check(t, ops.MxM(gotFull, plus, a, full, ops.Using(ops.SpMM)))
		if !gotSparse.Equal(wantSparse) || !gotFull.Equal(wantFull) {
			t.Errorf("round %d: other products than on the host", round)
		}
		n, m := len(formsOf(t, d, a)), len(formsOf(t, d, b))
		if n == 0 || m == 0 {
			t.Fatalf("round %d: %d and %d forms are kept", round, n, m)
		}
		collect(2) // what was forgotten
		f := d.begin(device.Call{Op: "test"})
		d.Limit(d.Memory().InUse + 1<<10)
		block := f.alloc(4 << 10)
		d.Limit(0)
		if block == nil || f.err != nil {
			t.Errorf("round %d: %v", round, f.err)
		}
		f.end()
		if left := len(formsOf(t, d, a)) + len(formsOf(t, d, b)); left >= n+m {
			t.Errorf("round %d: all of %d forms are left", round, left)
		}
	}
}

// TestFormsUnderPressure allocates what only fits once layouts are given back, and products of a
// device without room for a layout.
func TestFormsUnderPressure(t *testing.T) {
	d := spread(t)
	ctx := context.Background()
	a := banded[float64](20000)
	x := partial[float64](20000, 1)
	check(t, x.SetFormat(matrix.Full))
	for _, plan := range []string{"pull ell vm", "pull sell vm", "pull coo cm"} {
		check(t, Prepare(ctx, d, a, plan, 0))
	}
	if n := len(formsOf(t, d, a)); n != 3 {
		t.Fatalf("%d forms are kept, want 3", n)
	}
	in := d.Memory().InUse
	d.Limit(in + 1<<20)
	defer d.Limit(0)
	big := matrix.NewVector[float64](300000, matrix.On(d)) // 2.4 MB
	check(t, ops.AssignVectorScalar(big, 1, ops.All()))
	left := formsOf(t, d, a)
	if _, ell := left["layout ell"]; ell || len(left) == 3 {
		t.Errorf("%d forms are left, the oldest among them: %t", len(left), ell)
	}
	if p := product(t, d, a, x, ops.Using("pull csr vm")); p != "pull csr vm store" {
		t.Errorf("ran %q", p)
	}

	// No room: another plan if it was chosen, a MethodError if it was forced.
	fresh := banded[float64](20000)
	check(t, Prepare(ctx, d, fresh, "", 0))
	for {
		s := storeOf[float64](t, d, a)
		if len(s.forms) == 0 {
			break
		}
		for key := range s.forms {
			d.mu.Lock()
			s.dropForm(key)
			d.mu.Unlock()
		}
	}
	product(t, d, fresh, x, ops.Using("pull csr tiles")) // what that keeps stays
	collect(2)
	d.Limit(d.Memory().InUse + 700<<10)
	got := matrix.NewVector[float64](20000, matrix.On(d))
	var wrong *ops.MethodError
	err := ops.MxV(got, semiring.PlusTimes[float64](), fresh, x, ops.Using("pull sell vm"))
	if !errors.As(err, &wrong) || !strings.Contains(err.Error(), "does not fit") {
		t.Errorf("forced: %v, want a MethodError", err)
	}
	if p := product(t, d, fresh, x); strings.Contains(p, "ell") {
		t.Errorf("chosen %q without room for it", p)
	}
}

// TestAppendedFrontier pushes twice: the second product takes the list that the first has appended.
func TestAppendedFrontier(t *testing.T) {
	d := spread(t)
	a := skewed[int32](300, 300, 5)
	x := partial[int32](300, 60)
	s := semiring.MinPlus[int32]()
	want := matrix.NewVector[int32](300)
	check(t, ops.VxM(want, s, x, a))
	check(t, ops.VxM(want, s, want, a))
	for _, second := range []string{"push csr twc from=list", "push csr vm append from=list", "push csr wm from=bitmap", "push csr expand"} {
		first := matrix.NewVector[int32](300, matrix.On(d))
		check(t, ops.VxM(first, s, x, a, ops.Using("push csr wm append from=list")))
		st := storeOf[int32](t, d, first)
		if st.frontier == nil || st.known() != int64(first.NVals()) || st.known() == 0 {
			t.Fatalf("no frontier of %d entries is kept", first.NVals())
		}
		check(t, ops.VxM(first, s, first, a, ops.Using(ops.Method(second))))
		if !first.Equal(want) {
			t.Errorf("%s: %v, want %v", second, first, want)
		}
	}
}

// TestFewRows multiplies under a mask that lists few rows.
func TestFewRows(t *testing.T) {
	d := spread(t)
	a := skewed[float64](400, 300, 5)
	x, mask := partial[float64](300, 1), partial[int8](400, 50)
	want, got := matrix.NewVector[float64](400), matrix.NewVector[float64](400, matrix.On(d))
	var trace ops.Trace
	check(t, ops.MxV(want.Masked(mask.Structure()), semiring.PlusTimes[float64](), a, x))
	check(t, ops.MxV(got.Masked(mask.Structure()), semiring.PlusTimes[float64](), a, x, ops.WithTrace(&trace)))
	if !got.Equal(want) {
		t.Errorf("%v, want %v", got, want)
	}
	if p, err := space.Parse(trace.Plan); err != nil || p.From != space.List {
		t.Errorf("ran %q, want the rows of the mask", trace.Plan)
	}
}
