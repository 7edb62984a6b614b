package ops_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// smallCase is an operation on vectors of at most 1000 entries that reuses its destination.
type smallCase struct {
	name string
	run  func() error
}

// smallVector returns a vector of n positions with every step-th entry present.
func smallVector(n, step int, f matrix.Format) *matrix.Vector[float64] {
	if f == matrix.Full {
		full, err := matrix.NewFullVector(n, 1.5)
		if err != nil {
			panic(err)
		}
		return full
	}
	var idx []int
	var val []float64
	for i := 0; i < n; i += step {
		idx, val = append(idx, i), append(val, float64(i%7)-2)
	}
	v, err := matrix.VectorFromTuples(n, idx, val, nil)
	if err != nil {
		panic(err)
	}
	if err := v.SetFormat(f); err != nil {
		panic(err)
	}
	return v
}

func smallCases(n, step int, f matrix.Format) []smallCase {
	u, v := smallVector(n, step, f), smallVector(n, max(1, step-step/4), f)
	mask := smallVector(n, 10*step, matrix.CSR)
	few := smallVector(n, 10*step, matrix.CSR)
	w := smallVector(n, step, f)
	acc := smallVector(n, step, f)
	del := smallVector(n, step, f)
	grow := smallVector(n, step, f)
	level := smallVector(n, step, matrix.Bitmap)
	plus, times := semiring.Plus[float64](), semiring.Times[float64]()
	square := semiring.NewUnary("square", func(x float64) float64 { return x * x }, "x * x")
	positive := semiring.ValueGT(0.0)
	list := make([]int, 0, n/step)
	for i := 0; i < n; i += 10 * step {
		list = append(list, i)
	}
	some := ops.Of(list...)
	part := matrix.NewVector[float64](len(list))
	for i := range list {
		if err := part.Set(i, 1); err != nil {
			panic(err)
		}
	}
	id := semiring.Identity[float64]()
	return []smallCase{
		{"apply", func() error { return ops.Apply(w, square, u) }},
		{"apply-second", func() error { return ops.ApplySecond(w, times, u, 2.5) }},
		{"ewiseadd", func() error { return ops.EWiseAdd(w, plus, u, v) }},
		{"ewisemult", func() error { return ops.EWiseMult(w, times, u, v) }},
		{"select", func() error { return ops.Select(w, positive, u) }},
		{"assign-scalar-masked", func() error {
			return ops.AssignVectorScalar(level.Masked(mask.Structure()), 3, ops.All())
		}},
		{"assign-scalar-list", func() error { return ops.AssignVectorScalar(acc, 3, some) }},
		{"assign-vector", func() error { return ops.AssignVector(acc, part, some) }},
		{"extract", func() error { return ops.ExtractVector(part, u, some) }},
		{"reduce", func() error { _, err := ops.ReduceScalar(semiring.Plus[float64](), u); return err }},
		{"add-few", func() error { return ops.EWiseAdd(grow, plus, grow, few) }},
		{"accum-few", func() error { return ops.Apply(grow.Accum(plus), id, few) }},
		{"delete", func() error { return ops.Apply(del.Masked(few.Structure().Not()).Replace(), id, del) }},
	}
}

var smallShapes = []struct {
	name    string
	n, step int
	format  matrix.Format
}{
	{"list-10-of-100000", 100000, 10000, matrix.CSR},
	{"list-1000-of-100000", 100000, 100, matrix.CSR},
	{"bitmap-1000-of-2000", 2000, 2, matrix.Bitmap},
	{"full-1000", 1000, 1, matrix.Full},
}

func BenchmarkSmall(b *testing.B) {
	for _, s := range smallShapes {
		for _, c := range smallCases(s.n, s.step, s.format) {
			b.Run(fmt.Sprintf("%s/%s", s.name, c.name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if err := c.run(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// seldom is an element type of one test, for which no operation has kept memory.
type seldom float64

// TestFewEntriesTakeLittle: the steps of a search with few entries in its frontier allocate nothing
// of the size of the graph.
func TestFewEntriesTakeLittle(t *testing.T) {
	const n = 3_000_000
	var s ops.Steps
	a, err := matrix.FromTuples(n, n, []int{5, 5, 9, 2_000_000}, []int{9, 2_000_000, 7, 1}, []seldom{1, 2, 3, 4}, nil)
	s.Do(err)
	s.Do(a.SetFormat(matrix.CSR))
	reached, next := matrix.NewVector[seldom](n), matrix.NewVector[seldom](n)
	s.Do(reached.SetFormat(matrix.Bitmap))
	s.Do(next.Set(5, 1))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	steps := 0
	for ; s.NVals(next) > 0; steps++ {
		s.Do(ops.AssignVectorScalar(reached.Masked(next.Structure()), seldom(steps), ops.All()))
		s.Do(ops.VxM(next.Masked(reached.Structure().Not()).Replace(), semiring.PlusTimes[seldom](), next, a))
	}
	runtime.ReadMemStats(&after)
	if !s.OK() {
		t.Fatal(s.Err())
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > 1<<17 {
		t.Errorf("%d steps of %d positions allocate %d bytes", steps, n, got)
	}
	if steps != 3 || reached.NVals() != 5 {
		t.Errorf("%d steps reach %d vertices, want 3 and 5", steps, reached.NVals())
	}
}
