package ops_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

func init() { longtest.FewerChecks() }

type ints = *matrix.Matrix[int64]

// dims draws a dimension, including 0 and 1.
func dims(t *rapid.T, name string) int { return rapid.IntRange(0, 12).Draw(t, name) }

// sparseInts draws an m×n matrix in any format.
func sparseInts(t *rapid.T, name string, m, n int) ints {
	b := matrix.NewBuilder[int64](m, n)
	full := rapid.IntRange(0, 7).Draw(t, name+" is full") == 0
	keep := rapid.IntRange(0, 100).Draw(t, name+" percent")
	for i := range m {
		for j := range n {
			if full || rapid.IntRange(0, 99).Draw(t, "at") < keep {
				b.Add(i, j, rapid.Int64Range(-4, 4).Draw(t, "value"))
			}
		}
	}
	a, err := b.Build(nil)
	must(t, err)
	format := rapid.SampledFrom([]matrix.Format{matrix.CSR, matrix.Hypersparse, matrix.Bitmap}).Draw(t, name+" format")
	if full {
		format = matrix.Full
	}
	must(t, a.SetFormat(format))
	return a
}

type fataler interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

func must(t fataler, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func times(t fataler, m, n int, a, b matrix.Source[int64], opts ...ops.Option) ints {
	t.Helper()
	c := matrix.New[int64](m, n)
	must(t, ops.MxM(c, semiring.PlusTimes[int64](), a, b, opts...))
	return c
}

func same(t fataler, law string, x, y ints) {
	t.Helper()
	if !x.Equal(y) {
		t.Fatalf("%s:\n%v\n%v", law, listing(x), listing(y))
	}
}

func listing[T comparable](a *matrix.Matrix[T]) (list []any) {
	for c, x := range a.All() {
		list = append(list, []any{c.Row, c.Col, x})
	}
	return list
}

// TestLaws draws random matrices and checks algebraic laws that hold exactly over the integers.
func TestLaws(t *testing.T) {
	plus := semiring.Plus[int64]()
	t.Run("associative", rapid.MakeCheck(func(t *rapid.T) {
		m, k, l, n := dims(t, "m"), dims(t, "k"), dims(t, "l"), dims(t, "n")
		a, b, c := sparseInts(t, "a", m, k), sparseInts(t, "b", k, l), sparseInts(t, "c", l, n)
		same(t, "(AB)C = A(BC)", times(t, m, n, times(t, m, l, a, b), c), times(t, m, n, a, times(t, k, n, b, c)))
	}))
	t.Run("transposed", rapid.MakeCheck(func(t *rapid.T) {
		m, k, n := dims(t, "m"), dims(t, "k"), dims(t, "n")
		a, b := sparseInts(t, "a", m, k), sparseInts(t, "b", k, n)
		transposed := matrix.New[int64](n, m)
		must(t, ops.Transpose(transposed, times(t, m, n, a, b)))
		same(t, "(AB)ᵀ = BᵀAᵀ", transposed, times(t, n, m, b.T(), a.T()))
	}))
	t.Run("distributive", rapid.MakeCheck(func(t *rapid.T) {
		m, k, n := dims(t, "m"), dims(t, "k"), dims(t, "n")
		a, b, c := sparseInts(t, "a", m, k), sparseInts(t, "b", k, n), sparseInts(t, "c", k, n)
		bc, left := matrix.New[int64](k, n), times(t, m, n, a, b)
		must(t, ops.EWiseAdd(bc, plus, b, c))
		must(t, ops.MxM(left.Accum(plus), semiring.PlusTimes[int64](), a, c))
		same(t, "AB + AC = A(B + C)", left, times(t, m, n, a, bc))
	}))
	t.Run("masked", rapid.MakeCheck(func(t *rapid.T) {
		m, k, n := dims(t, "m"), dims(t, "k"), dims(t, "n")
		a, b, mask := sparseInts(t, "a", m, k), sparseInts(t, "b", k, n), sparseInts(t, "mask", m, n)
		view := mask.MaskView()
		if rapid.Bool().Draw(t, "structural") {
			view = mask.Structure()
		}
		if rapid.Bool().Draw(t, "complement") {
			view = view.Not()
		}
		within, after := matrix.New[int64](m, n), matrix.New[int64](m, n)
		must(t, ops.MxM(within.Masked(view), semiring.PlusTimes[int64](), a, b))
		must(t, ops.Apply(after.Masked(view), semiring.Identity[int64](), times(t, m, n, a, b)))
		same(t, "masking within and after", within, after)
	}))
	t.Run("vectors are columns", rapid.MakeCheck(func(t *rapid.T) {
		m, n := dims(t, "m"), 1+dims(t, "n")
		a, b := sparseInts(t, "a", m, n), sparseInts(t, "b", n, 1)
		u, w := matrix.NewVector[int64](n), matrix.NewVector[int64](m)
		must(t, ops.ExtractRow(u, b.T(), 0, ops.All()))
		must(t, ops.MxV(w, semiring.PlusTimes[int64](), a, u))
		column := matrix.NewVector[int64](m)
		must(t, ops.ExtractRow(column, times(t, m, 1, a, b).T(), 0, ops.All()))
		if !column.Equal(w) {
			t.Fatalf("Au = %v, the column of AB is %v", sure.Get(w.Dense(-99)), sure.Get(column.Dense(-99)))
		}
		back := matrix.NewVector[int64](m)
		must(t, ops.VxM(back, semiring.PlusTimes[int64](), u, a.T()))
		if !back.Equal(w) {
			t.Fatalf("uAᵀ = %v, Au = %v", sure.Get(back.Dense(-99)), sure.Get(w.Dense(-99)))
		}
	}))
	t.Run("extract undoes assign", rapid.MakeCheck(func(t *rapid.T) {
		m, n := dims(t, "m"), dims(t, "n")
		rows := rapid.Permutation(indices(m)).Draw(t, "rows")
		cols := rapid.Permutation(indices(n)).Draw(t, "cols")
		rows, cols = rows[:rapid.IntRange(0, m).Draw(t, "p")], cols[:rapid.IntRange(0, n).Draw(t, "q")]
		c, a := sparseInts(t, "c", m, n), sparseInts(t, "a", len(rows), len(cols))
		must(t, ops.Assign(c, a, ops.Of(rows...), ops.Of(cols...)))
		back := matrix.New[int64](len(rows), len(cols))
		must(t, ops.Extract(back, c, ops.Of(rows...), ops.Of(cols...)))
		same(t, "C(I,J) after C(I,J) = A", back, a)
	}))
	t.Run("kronecker of products", rapid.MakeCheck(func(t *rapid.T) {
		small := func(name string) int { return rapid.IntRange(0, 4).Draw(t, name) }
		m, k, n, p, q, r := small("m"), small("k"), small("n"), small("p"), small("q"), small("r")
		a, c := sparseInts(t, "a", m, k), sparseInts(t, "c", k, n)
		b, d := sparseInts(t, "b", p, q), sparseInts(t, "d", q, r)
		kron := func(m, n int, a, b ints) ints {
			x := matrix.New[int64](m, n)
			must(t, ops.Kronecker(x, semiring.Times[int64](), a, b))
			return x
		}
		same(t, "(A⊗B)(C⊗D) = AC⊗BD", times(t, m*p, n*r, kron(m*p, k*q, a, b), kron(k*q, n*r, c, d)),
			kron(m*p, n*r, times(t, m, n, a, c), times(t, p, r, b, d)))
	}))
	t.Run("sums", rapid.MakeCheck(func(t *rapid.T) {
		m, n := dims(t, "m"), dims(t, "n")
		a := sparseInts(t, "a", m, n)
		total, err := ops.ReduceScalar(plus, a)
		must(t, err)
		for name, by := range map[string]matrix.Source[int64]{"rows": a, "columns": a.T()} {
			size, _ := matrix.AsView[int64](by).Dims()
			w := matrix.NewVector[int64](size)
			must(t, ops.Reduce(w, plus, by))
			if sum, err := ops.ReduceScalar(plus, w); err != nil || sum != total {
				t.Fatalf("the sum by %s is %d, that of all %d: %v", name, sum, total, err)
			}
		}
	}))
}

func indices(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}
