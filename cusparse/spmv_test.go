package cusparse

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// share sets how much of x a device keeps in shared memory, and from how many entries x is wide.
func share(d *Device, wide int64) { d.spmv = spmvTuning{wide: wide, bytes: 256, byteBytes: 64} }

// skewed returns a matrix with rows and columns of very different lengths and
// one row of every column.
func skewed[T semiring.Number](m, n int, seed uint64) *matrix.Matrix[T] {
	r := rand.New(rand.NewPCG(seed, 1))
	b := matrix.NewBuilder[T](m, n)
	for i := range m {
		if i%7 == 3 {
			continue // no entries
		}
		for range 1 + r.IntN(8) {
			b.Add(i, min(r.IntN(n), r.IntN(n)), T(r.IntN(5)))
		}
	}
	for j := range n {
		b.Add(m/2, j, 1)
	}
	a, err := b.Build(semiring.Plus[T]())
	if err != nil {
		panic(err)
	}
	return a
}

func checkSpMV[T semiring.Number](t *testing.T, d *Device, s semiring.Semiring[T, T, T], method ops.Method, want ops.Method) {
	t.Helper()
	a := skewed[T](700, 500, 5)
	x := sure.Get(matrix.NewFullVector[T](500, 0))
	for j := range 500 {
		sure.Do(x.Set(j, T(j%11)))
	}
	cpu, gpu := matrix.NewVector[T](700), matrix.NewVector[T](700, matrix.On(d))
	if err := ops.MxV(cpu, s, a, x); err != nil {
		t.Fatal(err)
	}
	var trace ops.Trace
	if want == ops.Relabelled && method == ops.Auto { // equal calls run alike, until another form is requested
		for range 3 {
			check(t, ops.MxV(gpu, s, a, x, ops.WithTrace(&trace)))
			if trace.Method != ops.Pull {
				t.Errorf("ran %s before relabelled was requested, want pull", trace.Method)
			}
		}
		check(t, ops.MxV(gpu, s, a, x, ops.Using(ops.Relabelled)))
	}
	check(t, ops.MxV(gpu, s, a, x, ops.Using(method), ops.WithTrace(&trace)))
	if trace.Method != want {
		t.Errorf("ran %s, want %s", trace.Method, want)
	}
	if !gpu.Equal(cpu) {
		t.Errorf("%s of %T by %s differs from the CPU's", s.Name(), *new(T), method)
	}
	checkMaskedSpMV(t, d, s, a, x, method)
}

// checkMaskedSpMV compares products with masks by presence and by value, complemented, listed and
// dense, with and without an accumulator and Replace.
func checkMaskedSpMV[T semiring.Number](t *testing.T, d *Device, s semiring.Semiring[T, T, T], a *matrix.Matrix[T], x *matrix.Vector[T], method ops.Method) {
	t.Helper()
	r := rand.New(rand.NewPCG(17, 1))
	m, _ := a.Dims()
	b := matrix.NewVectorBuilder[bool](m)
	for i := range m {
		if r.IntN(2) == 0 || i > 300 && i < 450 && i != m/2 {
			b.Add(i, r.IntN(3) > 0)
		}
	}
	mask, err := b.Build(nil)
	check(t, err)
	for k, format := range []matrix.Format{matrix.Bitmap, matrix.CSR} {
		check(t, mask.SetFormat(format))
		on := matrix.NewVector[bool](m, matrix.On(d))
		check(t, ops.AssignVector(on, mask, ops.All()))
		check(t, on.SetFormat(format))
		for way := range 8 {
			view := func(m *matrix.Vector[bool]) matrix.MaskView {
				v := m.MaskView()
				if way&1 != 0 {
					v = m.Structure()
				}
				if way&2 != 0 {
					v = v.Not()
				}
				return v
			}
			cpu, gpu := matrix.NewVector[T](m), matrix.NewVector[T](m, matrix.On(d))
			check(t, cpu.Set(5, 3))
			check(t, gpu.Set(5, 3))
			to := func(w *matrix.Vector[T], m *matrix.Vector[bool]) matrix.VectorTarget[T] {
				o := w.Masked(view(m))
				if way&4 != 0 {
					o = o.Accum(semiring.Plus[T]())
				} else if k == 0 {
					o = o.Replace()
				}
				return o
			}
			check(t, ops.MxV(to(cpu, mask), s, a, x))
			check(t, ops.MxV(to(gpu, on), s, a, x, ops.Using(method)))
			if !gpu.Equal(cpu) {
				t.Errorf("%s of %T by %s with mask %d, %s, differs from the CPU's", s.Name(), *new(T), method, way, format)
			}
		}
	}
}

// checkBools compares a product over bool. Tiles read its vector as bits.
func checkBools(t *testing.T, d *Device, method ops.Method) {
	t.Helper()
	r := rand.New(rand.NewPCG(8, 1))
	b := matrix.NewBuilder[bool](700, 500)
	for i := range 700 {
		for range 1 + r.IntN(5) {
			b.Add(i, min(r.IntN(500), r.IntN(500)), r.IntN(2) == 0)
		}
	}
	a, err := b.Build(semiring.Lor())
	check(t, err)
	x, err := matrix.NewFullVector(500, false)
	check(t, err)
	for j := 0; j < 500; j += 3 {
		check(t, x.Set(j, true))
	}
	cpu, gpu := matrix.NewVector[bool](700), matrix.NewVector[bool](700, matrix.On(d))
	check(t, ops.MxV(cpu, semiring.LorLand(), a, x))
	check(t, ops.MxV(gpu, semiring.LorLand(), a, x, ops.Using(method)))
	if !gpu.Equal(cpu) {
		t.Errorf("lor_land by %s differs from the CPU's", method)
	}
}

// TestSpMV compares the plans of SpMV with the CPU: few lanes a row, tiles, tiles with hot columns
// in shared memory, and relabelled columns. Values are small whole numbers, so every order of
// summing gives the same.
func TestSpMV(t *testing.T) {
	d, _ := emulated(t)
	testSpMV(t, d)
}

func testSpMV(t *testing.T, d *Device) {
	was, tuning := d.choice, d.spmv
	t.Cleanup(func() { d.choice, d.spmv = was, tuning })
	for k, c := range []struct {
		name         string
		floor, wide  int64
		method, want ops.Method
	}{
		{"small", 1 << 20, 1 << 30, ops.Auto, ops.Pull},
		{"forced", 1 << 20, 1 << 30, ops.Pull, ops.Pull},
		{"tiles", 0, 1 << 30, "pull csr tiles", ops.Pull},
		{"wide", 0, 0, "pull csr tiles", ops.Pull},
		{"hot", 0, 0, "pull csr tiles hot", ops.Pull},
		{"relabelled", 0, 1 << 30, "pull csr tiles relabelled", ops.Relabelled},
		{"relabelled and hot", 0, 0, ops.Relabelled, ops.Relabelled},
		{"automatic, after relabelled was requested", 0, 0, ops.Auto, ops.Relabelled},
	} {
		if !longtest.Takes(k/2, 4) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			share(d, c.wide)
			d.choice.floor, d.choice.head = c.floor, c.floor
			checkSpMV(t, d, semiring.PlusTimes[float32](), c.method, c.want)
			checkSpMV(t, d, semiring.PlusTimes[float64](), c.method, c.want)
			checkSpMV(t, d, semiring.MinPlus[int32](), c.method, c.want)
			checkSpMV(t, d, semiring.PlusTimes[int8](), c.method, c.want)
			checkBools(t, d, c.method)
			checkSpMV(t, d, semiring.New(semiring.Max[int64](), semiring.NewBinary("x-y", func(x, y int64) int64 { return x - y }, "x - y")), c.method, c.want)
		})
	}
}

// TestRelabelledDeclines forces relabelled where it cannot run: an error, and
// the destination is unchanged.
func TestRelabelledDeclines(t *testing.T) {
	d, _ := emulated(t)
	a := skewed[float32](30, 20, 5)
	x, err := matrix.NewFullVector(20, true)
	check(t, err)
	w := matrix.NewVector[float32](30, matrix.On(d))
	check(t, w.Set(3, 7))
	var wrong *ops.MethodError
	err = ops.MxV(w, semiring.PlusPair[float32](), a.Pattern(), x.Pattern(), ops.Using(ops.Relabelled)) // reads no values of x
	if v, ok := w.At(3); !errors.As(err, &wrong) || wrong.Method != ops.Relabelled || w.NVals() != 1 || !ok || v != 7 {
		t.Errorf("error %v, destination %v", err, w.Text())
	}
}

// TestSpMVPattern multiplies patterns, with ⊗ that reads them and that does
// not.
func TestSpMVPattern(t *testing.T) {
	d, _ := emulated(t)
	share(d, 0)
	a := skewed[float32](300, 200, 9)
	x := sure.Get(matrix.NewFullVector(200, float32(3)))
	u := sure.Get(matrix.NewFullVector(200, true))
	for _, method := range []ops.Method{ops.Pull, ops.Relabelled} {
		t.Run(fmt.Sprint(method), func(t *testing.T) {
			cpu, gpu := matrix.NewVector[float32](300), matrix.NewVector[float32](300, matrix.On(d))
			if err := ops.MxV(cpu, semiring.PlusSecond[float32](), a.Pattern(), x); err != nil {
				t.Fatal(err)
			}
			if err := ops.MxV(gpu, semiring.PlusSecond[float32](), a.Pattern(), x, ops.Using(method)); err != nil {
				t.Fatal(err)
			}
			if !gpu.Equal(cpu) {
				t.Error("plus_second differs")
			}
			reach, there := matrix.NewVector[bool](300), matrix.NewVector[bool](300, matrix.On(d))
			if err := ops.MxV(reach, semiring.LorLand(), a.Pattern(), u); err != nil {
				t.Fatal(err)
			}
			if err := ops.MxV(there, semiring.LorLand(), a.Pattern(), u, ops.Using(method)); err != nil {
				t.Fatal(err)
			}
			if !there.Equal(reach) {
				t.Error("lor_land of a pattern differs")
			}
		})
	}
}
