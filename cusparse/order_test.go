package cusparse

import (
	"slices"
	"testing"
	"time"

	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/cusparse/space"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
)

// BenchmarkOrderOnGPU times, of R-MAT 20, the rows in the order of their degrees, and the matrix
// with rows and columns in that order.
func BenchmarkOrderOnGPU(b *testing.B) {
	d := realDevice(b)
	g := gen.CSR(gen.RMAT(20, 16, gen.RMATOptions{}))
	val := make([]float32, g.NNZ())
	a := sure.Get(matrix.FromCSR(g.NRows, g.NCols, g.Ptr, g.Idx, val))
	sure.Do(a.Move(d))
	o := sure.Get(access.Operand(a.View(), backend{d}))
	run := func(name string, fn func(f *frame, s *store)) {
		b.Run(name, func(b *testing.B) {
			var total time.Duration
			for n := range b.N + 2 {
				took, err := d.Time(func() error {
					f := d.begin(device.Call{})
					defer f.end()
					fn(f, f.here(o))
					return f.err
				})
				if err != nil {
					b.Fatal(err)
				}
				if n >= 2 {
					total += took
				}
			}
			b.ReportMetric(total.Seconds()*1e3/float64(b.N), "device-ms/op")
		})
	}
	run("exact order", func(f *frame, s *store) {
		f.orderOf(s, space.Degree)
		s.origin().dropForm("order " + space.Degree.String())
	})
	run("relabelled columns", func(f *frame, s *store) {
		f.relabel(s)
		s.origin().dropForm("relabelled")
	})
	run("rebuilt", func(f *frame, s *store) {
		perm := f.orderOf(s, space.Degree)
		list := f.newStore(1, s.m, sparse.Full, device.Type{Name: "hb_i32", Size: 4}, int64(s.m))
		list.val = perm
		v := device.Operand{Store: list, Vector: true}
		x := device.Indices{N: s.m, Values: &v}
		f.extract(s, x, x)
	})
}

// TestDiagonalsOfGridEmulated looks for the diagonals of a grid of 1024×32. Its rows that are 32
// apart all lack the same one.
func TestDiagonalsOfGridEmulated(t *testing.T) {
	d, _ := emulated(t)
	g := gen.CSR(gen.Grid2D(1024, 32))
	a := sure.Get(matrix.FromCSR(g.NRows, g.NCols, g.Ptr, g.Idx, make([]float32, g.NNZ())))
	check(t, a.Move(d))
	o := sure.Get(access.Operand(a.View(), backend{d}))
	f := d.begin(device.Call{})
	defer f.end()
	facts := f.factsOf(f.here(o))
	check(t, f.err)
	if want := []int32{-32, -1, 1, 32}; !slices.Equal(facts.diagonals, want) || facts.onDiagonals != 1 {
		t.Errorf("diagonals %v with %v of the sample, want %v with all", facts.diagonals, facts.onDiagonals, want)
	}
}
