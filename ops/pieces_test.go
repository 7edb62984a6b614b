package ops_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/race"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// atThreads returns counts of threads; for the race detector, which takes ten times as long, three.
func atThreads(counts ...int) []int {
	if race.Enabled {
		return []int{3}
	}
	return counts
}

// TestVectorPieces runs operations on vectors that are long enough to be divided, beside plain
// loops, at several numbers of threads.
func TestVectorPieces(t *testing.T) {
	t.Parallel()
	const n = 300_000
	rng := rand.New(rand.NewPCG(7, 7))
	list := make([]float64, n)
	for i := range list {
		list[i] = float64(rng.IntN(1000)) // with ties
	}
	x := sure.Get(matrix.VectorOf(slices.Clone(list)))
	perm := rng.Perm(n)
	byRank := make([]int, n)
	for i := range byRank {
		byRank[i] = i
	}
	slices.SortStableFunc(byRank, func(i, j int) int { return cmp.Compare(list[j], list[i]) })
	mask := matrix.NewVectorBuilder[bool](n)
	masked := make([]bool, n)
	for i := range masked {
		if masked[i] = rng.IntN(3) > 0; masked[i] {
			mask.Add(i, true)
		}
	}
	m := sure.Get(mask.Build(nil))
	fives, others := matrix.NewVectorBuilder[bool](n), matrix.NewVectorBuilder[float64](n)
	for i := range n {
		if i%5 == 0 {
			fives.Add(i, true)
		}
		if i%3 != 0 {
			others.Add(i, float64(i))
		}
	}
	small := sure.Get(fives.Build(nil))
	holes := sure.Get(others.Build(nil))
	sure.Do(holes.SetFormat(matrix.Bitmap))
	for _, f := range []matrix.Format{matrix.CSR, matrix.Bitmap} {
		sure.Do(small.SetFormat(f), m.SetFormat(f))
		for k, threads := range atThreads(1, 2, 3, 16) {
			if !longtest.Takes(k+int(f), 4) {
				continue
			}
			with := ops.WithThreads(threads)
			for _, k := range []int{0, 1, 10, 700, 70_000} {
				idx, val, err := ops.TopKVector(x, k, with)
				if err != nil || !slices.Equal(idx, byRank[:k]) || len(val) != k || k > 0 && val[k-1] != list[idx[k-1]] {
					t.Errorf("%d threads: the %d largest differ, %v", threads, k, err)
				}
			}
			for _, size := range []int{n, n / 2, n / 10, n / 30} {
				w := matrix.NewVector[float64](n)
				if err := w.Set(perm[0], -3); err != nil { // is overwritten
					t.Fatal(err)
				}
				part := sure.Get(matrix.VectorOf(slices.Clone(list[:size])))
				if err := ops.AssignVector(w, part, ops.Of(perm[:size]...), with); err != nil {
					t.Fatal(err)
				}
				if w.NVals() != int64(size) {
					t.Errorf("%d threads: %d entries after the assignment of %d", threads, w.NVals(), size)
				}
				for k, i := range perm[:size] {
					if v, ok := w.At(i); !ok || v != list[k] {
						t.Fatalf("%d threads: entry %d is %v %v, want %v", threads, i, v, ok, list[k])
					}
				}
			}
			for _, comp := range []bool{false, true} {
				w := matrix.NewVector[float64](n)
				view := m.Structure()
				if comp {
					view = view.Not()
				}
				if err := ops.Apply(w.Masked(view).Replace(), semiring.Ainv[float64](), x, with); err != nil {
					t.Fatal(err)
				}
				entries := int64(0)
				for i, in := range masked {
					v, ok := w.At(i)
					if ok != (in != comp) || ok && v != -list[i] {
						t.Fatalf("%d threads, complement %v: entry %d is %v %v", threads, comp, i, v, ok)
					}
					if ok {
						entries++
					}
				}
				if w.NVals() != entries {
					t.Errorf("%d threads: %d entries, want %d", threads, w.NVals(), entries)
				}
			}
			// Into a full vector, and into a bitmap, in place.
			for _, base := range []*matrix.Vector[float64]{x, holes} {
				w := base.Clone()
				err := errors.Join(ops.Apply(w.Masked(m.Structure()), semiring.Ainv[float64](), x, with),
					ops.AssignVectorScalar(w.Masked(small.Structure()), 7, ops.All(), with))
				if err != nil {
					t.Fatal(err)
				}
				entries := int64(0)
				for i := range n {
					want, has := base.At(i)
					if masked[i] {
						want, has = -list[i], true
					}
					if i%5 == 0 {
						want, has = 7, true
					}
					if has {
						entries++
					}
					if v, ok := w.At(i); ok != has || v != want {
						t.Fatalf("%d threads: entry %d is %v %v, want %v %v", threads, i, v, ok, want, has)
					}
				}
				if w.NVals() != entries {
					t.Errorf("%d threads: %d entries, want %d", threads, w.NVals(), entries)
				}
			}
			// Out of order, from a full vector and from a bitmap; and all.
			for _, base := range []*matrix.Vector[float64]{x, holes} {
				w, all := matrix.NewVector[float64](n/2), matrix.NewVector[float64](n)
				err := errors.Join(ops.ExtractVector(w, base, ops.Of(perm[:n/2]...), with), ops.ExtractVector(all, base, ops.All(), with))
				if err != nil || !all.Equal(base) {
					t.Fatalf("%d threads: a copy differs, %v", threads, err)
				}
				entries := int64(0)
				for p, i := range perm[:n/2] {
					want, has := base.At(i)
					if has {
						entries++
					}
					if v, ok := w.At(p); ok != has || v != want {
						t.Fatalf("%d threads: entry %d is %v %v, want %v %v", threads, p, v, ok, want, has)
					}
				}
				if w.NVals() != entries {
					t.Errorf("%d threads: %d entries, want %d", threads, w.NVals(), entries)
				}
			}
			w := matrix.NewVector[float64](n)
			if err := ops.AssignVectorScalar(w, 4, ops.All(), with); err != nil || w.NVals() != n {
				t.Errorf("%d threads: %d entries of %d, %v", threads, w.NVals(), n, err)
			}
			for i, v := range w.All() {
				if v != 4 {
					t.Fatalf("entry %d is %v", i, v)
				}
			}
		}
	}
}

// TestRowPieces compares operations on rows of very unlike lengths at several numbers of threads.
func TestRowPieces(t *testing.T) {
	t.Parallel()
	const n = 30_000
	a := powerLaw(t, n, 400_000, 11)
	positive := matrix.New[float64](n, n)
	if err := ops.Apply(positive, semiring.Abs[float64](), a); err != nil {
		t.Fatal(err)
	}
	type results struct {
		top, values, sampled *matrix.Matrix[float64]
		columns              *matrix.Matrix[int32]
		arg                  *matrix.Vector[int32]
	}
	run := func(threads int) (r results) {
		with := ops.WithThreads(threads)
		r = results{matrix.New[float64](n, n), matrix.New[float64](n, n), matrix.New[float64](n, n), matrix.New[int32](n, n), matrix.NewVector[int32](n)}
		err := errors.Join(ops.TopK(r.top, a, 3, with), ops.Sort(r.values, r.columns, a, cmp.Less[float64], with),
			ops.SampleWeighted(r.sampled, positive, 5, 3, with), ops.ArgMax(r.arg, a, with))
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	want := run(1)
	for _, threads := range []int{2, 3, 16} {
		if r := run(threads); !r.top.Equal(want.top) || !r.values.Equal(want.values) || !r.sampled.Equal(want.sampled) ||
			!r.columns.Equal(want.columns) || !r.arg.Equal(want.arg) {
			t.Errorf("%d threads: results differ from those of one", threads)
		}
	}
	// The error names the first value that is no weight.
	b := positive.Clone()
	rows, cols, _, err := b.Tuples()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []int{len(rows) - 1, 200_000, 100_000} {
		sure.Do(b.Set(int(rows[p]), int(cols[p]), -1))
	}
	var wrong *matrix.InvalidError
	err = ops.SampleWeighted(matrix.New[float64](n, n), b, 5, 3, ops.WithThreads(8))
	if place := fmt.Sprintf("(%d, %d)", rows[100_000], cols[100_000]); !errors.As(err, &wrong) || !strings.Contains(err.Error(), place) {
		t.Errorf("error %v, want one of %s", err, place)
	}
}

// TestAssignPieces compares assignments with unordered rows and columns at several numbers of
// threads, and with a result by positions.
func TestAssignPieces(t *testing.T) {
	t.Parallel()
	const n, part = 3000, 2000
	c, b := powerLaw(t, n, 60_000, 12), powerLaw(t, part, 50_000, 13)
	rng := rand.New(rand.NewPCG(8, 8))
	rows, cols := rng.Perm(n)[:part], rng.Perm(n)[:part]
	want := slices.Repeat([]float64{0}, n*n)
	for at, x := range c.All() {
		want[at.Row*n+at.Col] = x
	}
	for _, i := range rows {
		for _, j := range cols {
			want[i*n+j] = 0
		}
	}
	for at, x := range b.All() {
		want[rows[at.Row]*n+cols[at.Col]] = x
	}
	for _, threads := range []int{1, 2, 3, 16} {
		got := c.Clone()
		if err := ops.Assign(got, b, ops.Of(rows...), ops.Of(cols...), ops.WithThreads(threads)); err != nil {
			t.Fatal(err)
		}
		if list, err := got.Dense(0); err != nil || !slices.Equal(list, want) {
			t.Errorf("%d threads: the result differs, %v", threads, err)
		}
		list := rng.Perm(n)
		list[n-1] = list[7]
		err := ops.AssignVectorScalar(matrix.NewVector[int](n), 1, ops.Of(list...), ops.WithThreads(threads))
		if place := fmt.Sprintf("lists %d twice, at 7 and %d", list[7], n-1); err == nil || !strings.Contains(err.Error(), place) {
			t.Errorf("%d threads: error %v, want %q", threads, err, place)
		}
	}
}

// Inner products of large full vectors have the bits of the product and its sum, at every number of
// threads and of ranks.
func TestInnerOfFullVectors(t *testing.T) {
	t.Parallel()
	const n = 3*65536 + 17
	r := rand.New(rand.NewPCG(3, 9))
	u, v := make([]float64, n), make([]float64, n)
	for i := range u {
		u[i], v[i] = r.Float64()-.4, r.Float64()
	}
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	x := sure.Get(matrix.VectorFromTuples(n, all, u, nil))
	y := sure.Get(matrix.VectorFromTuples(n, all, v, nil))
	for _, w := range []*matrix.Vector[float64]{x, y} {
		sure.Do(w.SetFormat(matrix.Full))
	}
	product := matrix.NewVector[float64](n)
	if err := ops.EWiseMult(product, semiring.Times[float64](), x, y); err != nil {
		t.Fatal(err)
	}
	want, err := ops.ReduceScalar(semiring.Plus[float64](), product)
	if err != nil {
		t.Fatal(err)
	}
	for _, threads := range []int{1, 2, 3, 8} {
		var trace ops.Trace
		got, err := ops.Inner(semiring.PlusTimes[float64](), x, y, ops.WithThreads(threads), ops.WithTrace(&trace))
		if err != nil || math.Float64bits(got) != math.Float64bits(want) || trace.Method != "chunks" {
			t.Errorf("%d threads, by %q: %v, %v, want %v", threads, trace.Method, got, err, want)
		}
	}
	for _, p := range []int{1, 2, 3, 7} {
		g := sure.Get(comm.LocalGroup(p))
		a, b := x.Clone(), y.Clone()
		sure.Do(a.Move(g))
		sure.Do(b.Move(g))
		if got, err := ops.Inner(semiring.PlusTimes[float64](), a, b); err != nil || math.Float64bits(got) != math.Float64bits(want) {
			t.Errorf("%d ranks: %v, %v, want %v", p, got, err, want)
		}
	}
	least := math.Inf(1)
	for i := range u {
		least = min(least, u[i]+v[i])
	}
	if got, err := ops.Inner(semiring.MinPlus[float64](), x, y); err != nil || got != least {
		t.Errorf("min.plus: %v, %v, want %v", got, err, least)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := ops.Inner(semiring.PlusTimes[float64](), x, y, ops.WithContext(ctx)); !errors.Is(err, context.Canceled) {
		t.Error("cancelled:", err)
	}
	sure.Do(y.SetFormat(matrix.Bitmap), y.Delete(5))
	if got, err := ops.Inner(semiring.PlusTimes[float64](), x, y); err != nil || math.Abs(got-want+u[5]*v[5]) > 1e-9 {
		t.Errorf("without an entry: %v, %v, want about %v", got, err, want-u[5]*v[5])
	}
}
