package ops_test

import (
	"math"
	"testing"

	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// TestSelectLarge selects by value from matrices and vectors that span several parallel pieces:
// rows that cross the boundary of a piece, empty rows at a boundary, long rows, and all formats of
// a vector.
func TestSelectLarge(t *testing.T) {
	keep := semiring.ValueGT(0.5)
	lengths := map[string]func(i int) int{
		"rows of 100":            func(int) int { return 100 },
		"rows that end a piece":  func(i int) int { return []int{1 << 13, 1 << 13, 0, 0}[i%4] },
		"empty first and last":   func(i int) int { return []int{0, 40000, 0, 3}[i%4] * min(1, 40-i-1) },
		"one row over all":       func(i int) int { return 50000 * max(0, 1-i) },
		"more than half of none": func(i int) int { return i % 2 * 3000 },
	}
	const rows, cols = 40, 50000
	for name, length := range lengths {
		b := matrix.NewBuilder[float64](rows, cols)
		want := map[[2]int]float64{}
		for i := range rows {
			for j := range length(i) {
				x := float64((i*7919+j*104729)%1000) / 1000
				b.Add(i, j, x)
				if x > 0.5 {
					want[[2]int{i, j}] = x
				}
			}
		}
		a := sure.Get(b.Build(nil))
		for _, threads := range []int{1, 3} {
			c := matrix.New[float64](rows, cols)
			if err := ops.Select(c, keep, a, ops.WithThreads(threads)); err != nil {
				t.Fatal(err)
			}
			if err := access.Store(c).Check(len(access.Store(c).Val), false); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if c.NVals() != int64(len(want)) {
				t.Errorf("%s: %d entries, want %d", name, c.NVals(), len(want))
			}
			for i, r := range c.Rows() {
				for p, j := range r.Cols {
					if x, ok := want[[2]int{i, int(j)}]; !ok || x != r.Vals[p] {
						t.Fatalf("%s: entry (%d, %d) is %v, want %v, %v", name, i, j, r.Vals[p], x, ok)
					}
				}
			}
		}
	}
	for _, format := range []matrix.Format{matrix.Full, matrix.Bitmap, matrix.CSR} {
		for _, bound := range []float64{-1, 0.05, 0.5, 2} { // all, nearly all, half, none
			val := make([]float64, 100_000)
			for i := range val {
				val[i] = float64(i*7919%1000) / 1000
			}
			v := sure.Get(matrix.VectorOf(val))
			sure.Do(v.SetFormat(format))
			w := matrix.NewVector[float64](len(val))
			if err := ops.Select(w, semiring.ValueGT(bound), v); err != nil {
				t.Fatal(err)
			}
			n := int64(0)
			for i, x := range val {
				if x > bound {
					n++
				}
				if got, ok := w.At(i); ok != (x > bound) || ok && got != x {
					t.Fatalf("%v > %v: entry %d is %v, %v, want %v", format, bound, i, got, ok, x)
				}
			}
			if w.NVals() != n {
				t.Errorf("%v > %v: %d entries, want %d", format, bound, w.NVals(), n)
			}
		}
	}
}

// TestPullAlikeLarge runs Pull with any.pair over more rows than one batch: empty rows, and rows of
// every length within and beyond their leading columns, under masks of all kinds, on a CSR and on a
// hypersparse matrix, before and after the matrix changes.
func TestPullAlikeLarge(t *testing.T) {
	const m, n = 5000, 3000
	pair := semiring.AnyPair[bool]()
	for _, step := range []int{1, 40} { // every row, or every 40th: hypersparse
		b := matrix.NewBuilder[float64](m, n)
		for i := 0; i < m; i += step {
			for e := range (i / step) % 13 {
				b.Add(i, (i*31+e*e*977+e)%n, 1)
			}
		}
		a := sure.Get(b.Build(semiring.First[float64, float64]()))
		if got := a.Format() == matrix.Hypersparse; got != (step == 40) {
			t.Fatalf("format %v", a.Format())
		}
		u, some := matrix.NewVector[bool](n), matrix.NewVector[bool](m)
		for j := 0; j < n; j += 7 {
			set(t, u, j)
		}
		for i := range m {
			if i%3 != 0 {
				set(t, some, i)
			}
		}
		for range 2 {
			for _, uf := range []matrix.Format{matrix.CSR, matrix.Bitmap} {
				for _, mf := range []matrix.Format{matrix.CSR, matrix.Bitmap} {
					sure.Do(u.SetFormat(uf), some.SetFormat(mf))
					for name, mask := range map[string]func(w *matrix.Vector[bool]) matrix.VectorTarget[bool]{
						"no mask": func(w *matrix.Vector[bool]) matrix.VectorTarget[bool] { return w },
						"a mask": func(w *matrix.Vector[bool]) matrix.VectorTarget[bool] {
							return w.Masked(some.Structure()).Replace()
						},
						"the rest": func(w *matrix.Vector[bool]) matrix.VectorTarget[bool] {
							return w.Masked(some.Structure().Not()).Replace()
						},
					} {
						w := matrix.NewVector[bool](m)
						if err := ops.MxV(mask(w), pair, a.Pattern(), u.Pattern(), ops.Using(ops.Pull), ops.WithThreads(3)); err != nil {
							t.Fatal(err)
						}
						var want int64
						for i, cols := range a.Rows() {
							_, is := some.At(i)
							met := name == "no mask" || is == (name == "a mask")
							hit := false
							for j := range cols.All() {
								_, has := u.At(j)
								hit = hit || has
							}
							if met = met && hit; met {
								want++
							}
							if _, got := w.At(i); got != met {
								t.Fatalf("%v, %s, vector %v, mask %v: row %d is %t, want %t", a.Format(), name, uf, mf, i, got, met)
							}
						}
						if w.NVals() != want {
							t.Errorf("%v, %s: %d entries, want %d", a.Format(), name, w.NVals(), want)
						}
					}
				}
			}
			for i := 0; i < m; i += step { // change the leading columns of all rows
				sure.Do(a.Set(i, (i*17)%5, 1))
			}
		}
	}
}

func set(t *testing.T, v *matrix.Vector[bool], i int) {
	t.Helper()
	sure.Do(v.Set(i, true))
}

// TestRowLengths multiplies and sums rows of every length up to 50. The values include negative
// ones, infinities, NaN of both signs, and −0. Code that processes several entries at once must not
// read the next row, and must not let a sign or a NaN affect the result where it has no effect.
func TestRowLengths(t *testing.T) {
	t.Run("float64", func(t *testing.T) { testRowLengths[float64](t) })
	t.Run("float32", func(t *testing.T) { testRowLengths[float32](t) })
}

func testRowLengths[T float32 | float64](t *testing.T) {
	inf, nan := T(math.Inf(1)), T(math.NaN())
	kinds := map[string][]T{
		"positive": {3, 1, 4, 1.5, 9},
		"negative": {-3, -1, -4, -1.5, -9},
		"mixed":    {3, -1, 0, 4, -1.5},
		"zeros":    {0, T(math.Copysign(0, -1)), 2},
		"infinite": {inf, 2, inf, -inf, 5},
		"nan":      {nan, 2, -nan, 7, T(math.Copysign(math.NaN(), -1))},
		"all nan":  {nan, -nan},
	}
	const rows, cols = 120, 50
	for name, values := range kinds {
		b := matrix.NewBuilder[T](rows, cols)
		for i := range rows {
			for j := range (i * 7) % (cols + 1) {
				b.Add(i, j, values[(i+j)%len(values)])
			}
		}
		a := sure.Get(b.Build(nil))
		xs := make([]T, cols)
		for j := range xs {
			xs[j] = T(j%3) / 2
		}
		x := sure.Get(matrix.VectorOf(xs))
		least, most := matrix.NewVector[T](rows), matrix.NewVector[T](rows)
		dots, sums := matrix.NewVector[T](rows), matrix.NewVector[T](rows)
		pull := ops.Using(ops.Pull)
		sure.Do(
			ops.MxV(least, semiring.MinPlus[T](), a, x, pull), ops.MxV(most, semiring.MaxPlus[T](), a, x, pull),
			ops.MxV(dots, semiring.PlusTimes[T](), a, x, pull), ops.Reduce(sums, semiring.Plus[T](), a))
		for i, row := range a.Rows() {
			want := [4]T{inf, -inf, 0, 0}
			for j, v := range row.All() {
				if p := v + xs[j]; p == p {
					want[0], want[1] = min(want[0], p), max(want[1], p)
				}
				want[2] += v * xs[j]
				want[3] += v
			}
			for k, w := range []*matrix.Vector[T]{least, most, dots, sums} {
				got, ok := w.At(i)
				if ok != (row.Len() > 0) || ok && got != want[k] && (got == got || want[k] == want[k]) {
					t.Errorf("%s, row %d of %d entries, %s: %v %t, want %v", name, i, row.Len(), []string{"min.plus", "max.plus", "plus.times", "plus"}[k], got, ok, want[k])
				}
			}
		}
	}
}

// A complemented mask of a few entries: in front, at the end, in runs, absent from the vector.
func TestDeleteFewLarge(t *testing.T) {
	t.Parallel()
	const n, k = 100_000, 20_000
	idx, val := make([]int, k), make([]float64, k)
	for i := range idx {
		idx[i], val[i] = 5*i+i%3, float64(i)
	}
	for name, gone := range map[string][]int{
		"first":     {0},
		"last":      {k - 1},
		"ends":      {0, 1, 2, k - 2, k - 1},
		"a run":     {700, 701, 702, 703},
		"spread":    {3, 1000, 1001, 9999, 15000},
		"all apart": {},
	} {
		w := sure.Get(matrix.VectorFromTuples(n, idx, val, nil))
		sure.Do(w.SetFormat(matrix.CSR))
		s, deleted := matrix.NewVector[bool](n), map[int]bool{}
		for _, p := range gone {
			deleted[idx[p]] = true
		}
		for _, at := range []int{4, 9*5 + 3, n - 1} { // no entries of w
			deleted[at] = true
		}
		for at := range deleted {
			sure.Do(s.Set(at, true))
		}
		pattern := matrix.NewVector[bool](n)
		if err := ops.Apply(pattern.Masked(s.Structure().Not()), semiring.Identity[bool](), w.Pattern()); err != nil {
			t.Fatal(name, err)
		}
		if err := ops.Apply(w.Masked(s.Structure().Not()).Replace(), semiring.Identity[float64](), w); err != nil {
			t.Fatal(name, err)
		}
		if w.NVals() != int64(k-len(gone)) || pattern.NVals() != w.NVals() {
			t.Errorf("%s: %d and %d entries remain, want %d", name, w.NVals(), pattern.NVals(), k-len(gone))
		}
		for i, at := range idx {
			x, ok := w.At(at)
			if p, has := pattern.At(at); ok == deleted[at] || ok && x != val[i] || has != ok || has && !p {
				t.Errorf("%s: entry %d is %v %v, in the pattern %v %v", name, at, x, ok, p, has)
			}
		}
	}
}
