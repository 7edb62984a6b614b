package cusparse

import (
	_ "embed"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/cusparse/internal/tuned"
	"github.com/hiveblas/hiveblas/cusparse/space"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

//go:embed testdata/cusparse.cc
var fakeVendor string

// withVendor compiles a library with the functions of cuSPARSE, which multiplies on the host, and
// makes it the library that devices open.
func withVendor(t *testing.T) {
	t.Helper()
	emulated(t) // skips the test without g++
	dir := t.TempDir()
	source, lib := filepath.Join(dir, "cusparse.cc"), filepath.Join(dir, "libcusparse.so.12")
	check(t, os.WriteFile(source, []byte(fakeVendor), 0o600))
	if out, err := exec.Command("g++", "-shared", "-fPIC", "-O1", "-o", lib, source).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Setenv("HIVEBLAS_CUSPARSE", lib)
}

// vendorCase is a matrix on a device and a full vector.
func vendorCase(t *testing.T, d *Device) (a *matrix.Matrix[float64], x *matrix.Vector[float64]) {
	t.Helper()
	d.choice.floor = -1
	a, x = skewed[float64](73, 73, 5), partial[float64](73, 1)
	check(t, x.SetFormat(matrix.Full))
	check(t, a.Move(d))
	return a, x
}

// ranBy multiplies and returns the plan that ran.
func ranBy(t *testing.T, d *Device, a *matrix.Matrix[float64], x *matrix.Vector[float64], opts ...ops.Option) string {
	t.Helper()
	var trace ops.Trace
	host, w, want := a.Clone(), matrix.NewVector[float64](73, matrix.On(d)), matrix.NewVector[float64](73)
	check(t, host.Move(nil))
	check(t, ops.MxV(want, semiring.PlusTimes[float64](), host, x))
	check(t, ops.MxV(w, semiring.PlusTimes[float64](), a, x, append(opts, ops.WithTrace(&trace))...))
	if !w.Equal(want) {
		t.Errorf("%s: %v, want %v", trace.Plan, w, want)
	}
	return trace.Plan
}

const vendorPlan = "pull csr cusparse store"

// TestVendorByChoice: the search times cuSPARSE, products take it where the search has kept it, and
// do not where it is forbidden, is not there, or does not have the product.
func TestVendorByChoice(t *testing.T) {
	withVendor(t)
	d, _ := emulated(t)
	a, x := vendorCase(t, d)
	if plan := ranBy(t, d, a, x); plan == vendorPlan {
		t.Error("cuSPARSE was chosen without a search")
	}
	u := tunerOf(t, d, a)
	facts, _, err := u.facts(space.Pull)
	check(t, err)
	vendor, err := space.Parse(vendorPlan)
	check(t, err)
	if !facts.Vendor || vendor.Legal(facts) != nil {
		t.Fatalf("cuSPARSE is not in the space of %+v", facts)
	}
	if timing, plan, err := u.time(vendorPlan); err != nil || timing.Time <= 0 || plan != vendorPlan {
		t.Errorf("%v, %q, %v", timing, plan, err)
	}
	keepPlan(t, d, a, vendor)
	if plan := ranBy(t, d, a, x); plan != vendorPlan {
		t.Errorf("after the search the product ran by %q", plan)
	}
	masked, w := partial[int8](73, 2), matrix.NewVector[float64](73, matrix.On(d))
	var trace ops.Trace
	check(t, ops.MxV(w.Masked(masked.Structure()), semiring.PlusTimes[float64](), a, x, ops.WithTrace(&trace)))
	if trace.Plan == vendorPlan {
		t.Error("cuSPARSE was chosen for a product with a mask")
	}
	check(t, ops.MxV(w, semiring.MinPlus[float64](), a, x, ops.WithTrace(&trace)))
	if trace.Plan == vendorPlan {
		t.Error("cuSPARSE was chosen for min_plus")
	}
	d.noVendor = true
	if plan := ranBy(t, d, a, x); plan == vendorPlan {
		t.Error("cuSPARSE was chosen although it is forbidden")
	}
	err = ops.MxV(w, semiring.PlusTimes[float64](), a, x, ops.Using(ops.Method(vendorPlan)))
	if !errors.Is(err, ops.ErrMethod) {
		t.Errorf("a forbidden plan by name: %v", err)
	}
	t.Setenv("HIVEBLAS_CUSPARSE", "off")
	d, _ = emulated(t)
	a, x = vendorCase(t, d)
	keepPlan(t, d, a, vendor)
	w = matrix.NewVector[float64](73, matrix.On(d))
	if plan := ranBy(t, d, a, x); plan == vendorPlan {
		t.Error("cuSPARSE was chosen although it is not there")
	}
	if err := ops.MxV(w, semiring.PlusTimes[float64](), a, x, ops.Using(ops.Method(vendorPlan))); !errors.Is(err, driver.ErrNoCusparse) {
		t.Errorf("a plan without its library: %v", err)
	}
}

// TestVendorOfColumns is TestVendorByChoice for products with full matrices, with the whole search.
func TestVendorOfColumns(t *testing.T) {
	withVendor(t)
	d, _ := emulated(t)
	a, _ := vendorCase(t, d)
	found, err := Tune(t.Context(), d, a, TuneOptions{Op: "mxm", Columns: 5})
	check(t, err)
	if len(found.Ranking) != 2 || found.Ranking[0].Err != nil || found.Ranking[1].Err != nil || found.Vendor == 0 || found.Bound == 0 {
		t.Fatalf("%+v", found)
	}
	b, err := matrix.NewFull[float64](73, 5, 2)
	check(t, err)
	product := func() string {
		var trace ops.Trace
		c := matrix.New[float64](73, 5, matrix.On(d))
		check(t, ops.MxM(c, semiring.PlusTimes[float64](), a, b, ops.WithTrace(&trace)))
		host, want := a.Clone(), matrix.New[float64](73, 5)
		check(t, host.Move(nil))
		check(t, ops.MxM(want, semiring.PlusTimes[float64](), host, b))
		if !c.Equal(want) {
			t.Errorf("%s: %v, want %v", trace.Method, c, want)
		}
		return string(trace.Method)
	}
	if method := product(); method != found.Ranking[0].Method {
		t.Errorf("the product ran by %s, and the search found %s", method, found.Ranking[0].Method)
	}
	u := tunerOf(t, d, a)
	_, print, err := u.facts(space.Pull)
	check(t, err)
	for _, method := range []string{methodVendor, methodColumns} {
		check(t, d.plans().Keep(map[string]string{tuned.ColumnsKey(print, 5, 8): method}))
		if got := product(); got != method {
			t.Errorf("the product ran by %s, want %s", got, method)
		}
	}
	check(t, d.plans().Keep(map[string]string{tuned.ColumnsKey(print, 5, 8): methodVendor}))
	d.noVendor = true
	if method := product(); method != methodColumns {
		t.Errorf("with cuSPARSE forbidden the product ran by %s", method)
	}
	if found, err = Tune(t.Context(), d, a, TuneOptions{Op: "mxm", Columns: 5, Dry: true}); err != nil || len(found.Ranking) != 1 {
		t.Errorf("the search with cuSPARSE forbidden: %+v, %v", found, err)
	}
	if _, err := Tune(t.Context(), d, a, TuneOptions{Op: "mxm", Columns: -1}); err == nil {
		t.Error("a negative number of columns")
	}
}
