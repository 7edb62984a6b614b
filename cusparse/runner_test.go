package cusparse

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
)

var int64Type, _ = device.TypeOf[int64]()

// countdown is a program of another package: it adds the entries of each row,
// and counts a number down to 0.
func countdown() device.Program {
	return device.Program{File: "countdown", Of: "a test", Parts: []string{"common"},
		Types:   []device.Typedef{{Name: "HB_T", Type: int64Type}},
		Defines: map[string]any{"HB_BY": 2},
		Body: `
HB_KERNEL hb_test_sum(hb_i64 entries, hb_i32 n, const hb_i64 *ptr, const HB_T *val, hb_u64 *sums) {
	HB_EACH(p, entries) atomicAdd(sums + hb_run_of(ptr, n, p), (hb_u64)val[p]);
}
HB_KERNEL hb_test_step(hb_i64 *left, hb_i64 *result) {
	if (*left == 0) return;
	result[1] += 1;
	*left -= HB_BY;
	if (*left == 0) result[0] = 1;
}
`}
}

// dropped counts its drops.
type dropped struct {
	b     device.Buffer
	drops *int
}

func (d *dropped) Drop() {
	d.b.Release()
	*d.drops++
}

func TestSession(t *testing.T) { testSession(t, func() *Device { d, _ := emulated(t); return d }()) }

// TestSessionOnGPU runs a program of another package on a GPU.
func TestSessionOnGPU(t *testing.T) { testSession(t, realDevice(t)) }

func testSession(t *testing.T, d *Device) {
	b := matrix.NewBuilder[int64](3, 3)
	for _, e := range [][3]int{{0, 0, 5}, {0, 2, 6}, {2, 1, 7}} {
		b.Add(e[0], e[1], int64(e[2]))
	}
	a, err := b.Build(nil)
	check(t, err)
	check(t, a.Move(d))
	o, err := access.Operand(a.View(), backend{d})
	check(t, err)
	drops, sums, steps := 0, make([]int64, 3), int64(0)
	var found device.Store
	err = backend{d}.Run(device.Call{Op: "test"}, func(s *device.Session) {
		code := s.Program("test", countdown)
		rows := s.Rows(o)
		at := s.Zeros(24)
		s.Each(s.Kernel(code, "hb_test_sum"), rows.Entries, rows.Entries, int32(rows.Rows),
			rows.Ptr, rows.Val, at)
		s.Download(unsafe.Pointer(&sums[0]), at, 24)
		scan := s.Scan(at, 3, 8)
		if got := []int64{s.Read(scan, 1), s.Read(scan, 3)}; !slices.Equal(got, []int64{11, 18}) {
			t.Errorf("sums of the scan: %v", got)
		}
		sorted, places := s.Sort(at, 3, 8, 8)
		first := s.Read(places, 0) & (1<<32 - 1)
		if got := []int64{s.Read(sorted, 0), s.Read(sorted, 2), first}; !slices.Equal(got, []int64{0, 11, 1}) {
			t.Errorf("sorted: %v", got)
		}
		number := int64(200)
		left := s.Upload(unsafe.Pointer(&number), 8)
		results, resultsAt := s.Results()
		s.Repeat(8, func() {
			s.Blocks(s.Kernel(code, "hb_test_step"), 1, 1, left, resultsAt)
		})
		steps = results[1]
		s.Kept(o, "test", func() device.Dropper { return &dropped{s.Retain(s.Alloc(100)), &drops} })
		s.Kept(o, "test", func() device.Dropper {
			t.Error("Kept creates what it has kept")
			return nil
		})
		full := s.NewFull(1, 3, int64Type)
		s.Copy(full.Val, at, 24)
		found = s.Result(full, 3)
		s.Drop(s.NewFull(100, 100, int64Type))
		if s.HasCols(o) {
			t.Error("the transpose exists before it is made")
		}
		if cols := s.Cols(o); cols.Entries != 3 || !s.HasCols(o) {
			t.Errorf("the transpose has %d entries", cols.Entries)
		}
	})
	check(t, err)
	if !slices.Equal(sums, []int64{11, 0, 7}) || steps != 100 {
		t.Errorf("sums %v after %d steps", sums, steps)
	}
	v := matrix.NewVector[int64](3, matrix.On(d))
	v.Inside().SetRemote(found)
	if got := sure.Get(v.Dense(-1)); !slices.Equal(got, sums) {
		t.Errorf("the result is %v", got)
	}
	o.Store.Drop()
	if drops != 1 {
		t.Errorf("dropped %d times with the matrix", drops)
	}
}

// Products of dense matrices, in all forms, equal the results of three loops.
func TestSessionGemm(t *testing.T) {
	d, _ := emulated(t)
	const m, n, k = 3, 5, 4
	number := func(i int) float32 { return float32(i%7) - 3 }
	list := func(n int) []float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = number(i * 3)
		}
		return x
	}
	for flags := range 8 {
		ta, tb, beta := flags&1 > 0, flags&2 > 0, float32(flags>>2)
		g := device.Gemm{M: m, N: n, K: k, StepA: k + 2, StepB: n + 1, StepC: n + 3, TransA: ta, TransB: tb, Beta: beta}
		if ta {
			g.StepA = m + 2
		}
		if tb {
			g.StepB = k + 1
		}
		a, b, c := list(40), list(40), list(m*(n+3))
		before := slices.Clone(c)
		check(t, backend{d}.Run(device.Call{}, func(s *device.Session) {
			g.A, g.B, g.C = s.Upload(unsafe.Pointer(&a[0]), 160), s.Upload(unsafe.Pointer(&b[0]), 160), s.Upload(unsafe.Pointer(&c[0]), 4*int64(len(c)))
			s.Gemm(g)
			s.Download(unsafe.Pointer(&c[0]), g.C, 4*int64(len(c)))
		}))
		at := func(x []float32, i, j, step int, transposed bool) float32 {
			if transposed {
				i, j = j, i
			}
			return x[i*step+j]
		}
		for i, got := range c {
			want := before[i]
			if row, col := i/g.StepC, i%g.StepC; col < n {
				want *= beta
				for p := range k {
					want += at(a, row, p, g.StepA, ta) * at(b, p, col, g.StepB, tb)
				}
			}
			if got != want {
				t.Fatalf("%+v: item %d is %v, want %v", g, i, got, want)
			}
		}
	}
	for _, bad := range []device.Gemm{{M: -1}, {M: 2, N: 2, K: 2, StepA: 1, StepB: 2, StepC: 2}, {M: 1, N: 1, K: 1, StepA: 1, StepB: 1, StepC: 1, Input: device.Float16, Output: device.BFloat16}} {
		if err := (backend{d}).Run(device.Call{}, func(s *device.Session) { s.Gemm(bad) }); err == nil {
			t.Errorf("%+v is computed", bad)
		}
	}
}

// Read-backs of any size leave the numbers of Results alone.
func TestResultsStayDuringDownloads(t *testing.T) {
	d, _ := emulated(t)
	check(t, backend{d}.Run(device.Call{}, func(s *device.Session) {
		numbers, _ := s.Results()
		for _, n := range []int64{8, 2048, 2056, 4096, 65000, 65536, 70000} {
			to := make([]byte, n)
			b := s.Alloc(n)
			s.Fill(b, 7, n)
			if s.Download(unsafe.Pointer(&to[0]), b, n); to[n-1] != 7 || numbers[0] != 0 || numbers[3] != 0 {
				t.Errorf("after %d bytes, the last %d: %v", n, to[n-1], numbers)
			}
		}
	}))
}

// Errors of a session are sticky, name the operation, and leave the device usable.
func TestSessionErrors(t *testing.T) {
	d, e := emulated(t)
	program := func(p device.Program) func(s *device.Session) {
		return func(s *device.Session) {
			k := s.Kernel(s.Program(p.File, func() device.Program { return p }), "hb_test_step")
			s.Blocks(k, 1, 1, s.Zeros(8), s.Zeros(8))
			s.Sync()
		}
	}
	part, text := countdown(), countdown()
	part.Parts, part.File = []string{"nowhere"}, "part"
	text.Body, text.File = "HB_KERNEL hb_test_step(hb_i64 *x) { *x = undeclared; }\n", "text"
	for reason, c := range map[string]struct {
		use  func(s *device.Session)
		want string
	}{
		"an unknown part":            {program(part), `test on`},
		"text that does not compile": {program(text), "undeclared"},
		"a kernel that is not there": {
			func(s *device.Session) { s.Kernel(s.Program("test", countdown), "hb_other") }, "hb_other",
		},
		"an error of the app": {
			func(s *device.Session) { s.Fail(errors.New("no way")) }, "no way",
		},
		"more memory than any device": {
			func(s *device.Session) { s.Alloc(1 << 60) }, "out of device memory",
		},
	} {
		err := backend{d}.Run(device.Call{Op: "test"}, c.use)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", reason, err, c.want)
		}
	}
	var compile *driver.CompileError
	if err := (backend{d}).Run(device.Call{}, program(text)); !errors.As(err, &compile) {
		t.Errorf("text that does not compile: %v", err)
	}
	good := countdown()
	for n := 1; ; n++ {
		fault := e.FailAfter("Launch", n, driver.Error{Call: "Launch", Code: 999,
			Name: "CUDA_ERROR_UNKNOWN"})
		err := backend{d}.Run(device.Call{Op: "test"}, program(good))
		fired := fault.Fired()
		fault.Cancel()
		if !fired {
			check(t, err)
			break
		}
		if err == nil {
			t.Errorf("launch %d fails without an error", n)
		}
	}
}
