package matrix_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// TestFailedBuildKeepsTuples: after a *DuplicateError the operator that the error asks for gives
// the matrix that it gives at once, by each way to sort.
func TestFailedBuildKeepsTuples(t *testing.T) {
	type tuple struct{ i, j, x int }
	minus := matrix.CombineFunc[int](func(x, y int) int { return 10*x - y }) // order matters
	for _, c := range []struct {
		reason string
		m, n   int
		list   []tuple
	}{
		{"unsorted", 4, 4, []tuple{{3, 1, 1}, {0, 2, 2}, {3, 1, 3}, {1, 1, 4}, {3, 1, 5}, {0, 2, 6}}},
		{"sorted", 4, 4, []tuple{{0, 0, 1}, {0, 0, 2}, {1, 1, 3}, {2, 0, 4}, {2, 0, 5}}},
		{"few in many rows", matrix.MaxDim, matrix.MaxDim, []tuple{{1 << 30, 7, 1}, {5, 5, 2}, {1 << 30, 7, 3}, {5, 5, 4}, {6, matrix.MaxDim - 1, 9}}},
	} {
		fill := func() *matrix.Builder[int] {
			b := matrix.NewBuilder[int](c.m, c.n)
			for _, e := range c.list {
				b.Add(e.i, e.j, e.x)
			}
			return b
		}
		want, err := fill().Build(minus)
		if err != nil {
			t.Fatal(c.reason, err)
		}
		b := fill()
		for range 2 { // the error is the same until there is an operator
			if a, err := b.Build(nil); a != nil || !errors.Is(err, matrix.ErrDuplicate) {
				t.Errorf("%s: Build(nil) = %v, %v", c.reason, a, err)
			}
		}
		if b.Len() != int64(len(c.list)) {
			t.Errorf("%s: %d tuples are left of %d", c.reason, b.Len(), len(c.list))
		}
		if a, err := b.Build(minus); err != nil || !a.Equal(want) {
			t.Errorf("%s: the second Build gives %v, %v, want %v", c.reason, a.Text(), err, want.Text())
		}
		if a, err := b.Build(nil); err != nil || a.NVals() != 0 || b.Len() != 0 {
			t.Errorf("%s: a Build did not empty the builder: %v, %v", c.reason, a, err)
		}
	}
}

// TestBuilderReportsOnce: one Build returns an error of Add or AddBlock; the next makes the matrix
// of the other tuples.
func TestBuilderReportsOnce(t *testing.T) {
	b := matrix.NewBuilder[int](3, 3)
	b.Add(0, 0, 1)
	b.AddBlock([]int32{1, 7, 2, -1}, []int32{1, 0, 2, 0}, []int{2, 3, 4, 5})
	b.Add(0, 9, 6)
	var bad *matrix.IndexError
	if _, err := b.Build(nil); !errors.As(err, &bad) || bad.Arg != "row" || bad.Index != 7 {
		t.Errorf("first Build: %v", err)
	}
	b.Add(2, 0, 7)
	a, err := b.Build(nil)
	if err != nil || a.Text() != "3×3 csr matrix of int, 4 entries\n  0 │ 0:1\n  1 │ 1:2\n  2 │ 0:7 2:4" {
		t.Errorf("second Build: %v, %v", a.Text(), err)
	}
	b.AddBlock([]int32{0}, []int32{0, 1}, []int{1})
	if _, err := b.Build(nil); !errors.Is(err, matrix.ErrInvalid) {
		t.Errorf("lists of two lengths: %v", err)
	}
	if _, err := b.Build(nil); err != nil {
		t.Errorf("again: %v", err)
	}
	v := matrix.NewVectorBuilder[int](2)
	v.Add(2, 1)
	v.Add(1, 8)
	if _, err := v.Build(nil); !errors.Is(err, matrix.ErrIndex) {
		t.Errorf("vector: %v", err)
	}
	if u, err := v.Build(nil); err != nil || u.NVals() != 1 {
		t.Errorf("vector again: %v, %v", u, err)
	}
	wrong := matrix.NewBuilder[int](-1, 2) // has no matrix to make
	for range 2 {
		if _, err := wrong.Build(nil); !errors.Is(err, matrix.ErrSize) {
			t.Errorf("invalid dimensions: %v", err)
		}
	}
}

// TestTuplesRoundTrip: FromTuples takes what Tuples returns, and lists of other integers.
func TestTuplesRoundTrip(t *testing.T) {
	a := sure.Get(matrix.FromTuples(3, 4, []int{2, 0, 2}, []int{1, 3, 0}, []float64{1, 2, 3}, nil))
	rows, cols, vals, _ := a.Tuples()
	if b, err := matrix.FromTuples(3, 4, rows, cols, vals, nil); err != nil || !b.Equal(a) {
		t.Errorf("from []int32: %v, %v", b, err)
	}
	type vertex int64
	if b, err := matrix.FromTuples(3, 4, []vertex{0}, []vertex{3}, []float64{2}, nil); err != nil || b.NVals() != 1 {
		t.Errorf("from a named type: %v, %v", b, err)
	}
	for _, c := range []struct {
		rows, cols []int64
		arg        string
		index      int64
	}{
		{[]int64{0, 3}, []int64{9, 9}, "column", 9},
		{[]int64{0, math.MinInt64}, []int64{0, 9}, "row", math.MinInt64},
		{[]int64{1, 1}, []int64{0, 1 << 32}, "column", 1 << 32},
	} {
		var bad *matrix.IndexError
		if _, err := matrix.FromTuples(3, 4, c.rows, c.cols, []int{1, 2}, nil); !errors.As(err, &bad) || bad.Arg != c.arg || bad.Index != c.index {
			t.Errorf("%v, %v: %v", c.rows, c.cols, err)
		}
	}
	if v, err := matrix.VectorFromTuples(5, []int32{4, 1}, []int{8, 9}, nil); err != nil || fmt.Sprint(sure.Get(v.Dense(0))) != "[0 9 0 0 8]" {
		t.Errorf("vector: %v, %v", v, err)
	}
}

// TestPinsSurvive: Resize, Clone and Clear keep the format that SetFormat pinned, and operations on
// the result write it.
func TestPinsSurvive(t *testing.T) {
	for _, c := range []struct{ pin, want matrix.Format }{
		{matrix.CSR, matrix.CSR}, {matrix.Hypersparse, matrix.Hypersparse}, {matrix.Bitmap, matrix.Bitmap}, {matrix.Full, matrix.Bitmap},
	} {
		for name, change := range map[string]func(a *matrix.Matrix[int]) *matrix.Matrix[int]{
			"Resize": func(a *matrix.Matrix[int]) *matrix.Matrix[int] {
				sure.Do(a.Resize(5, 6))
				return a
			},
			"Clear":         func(a *matrix.Matrix[int]) *matrix.Matrix[int] { a.Clear(); return a },
			"Clone, Resize": func(a *matrix.Matrix[int]) *matrix.Matrix[int] { b := a.Clone(); _ = b.Resize(5, 6); return b },
		} {
			a, _ := matrix.NewFull(4, 4, 1)
			sure.Do(a.SetFormat(c.pin))
			a = change(a)
			if a.Format() != c.want {
				t.Errorf("%v after %s is %v", c.pin, name, a.Format())
			}
			if err := ops.Apply(a, semiring.Ainv[int](), a); err != nil || a.Format() != c.want {
				t.Errorf("%v after %s and Apply is %v, %v", c.pin, name, a.Format(), err)
			}
		}
	}
	v, _ := matrix.NewFullVector(4, 1)
	if err := errors.Join(v.SetFormat(matrix.Bitmap), v.Resize(6)); err != nil || v.Format() != matrix.Bitmap || v.Clone().Format() != matrix.Bitmap {
		t.Errorf("a pinned vector of 6 is %v, %v", v.Format(), err)
	}
	if v.Clear(); v.Format() != matrix.Bitmap {
		t.Errorf("a pinned vector after Clear is %v", v.Format())
	}
	big := matrix.New[int](2, 2)
	_ = big.SetFormat(matrix.Bitmap)
	if err := big.Resize(1<<20, 1<<20); !errors.Is(err, matrix.ErrSize) || big.NVals() != 0 {
		t.Errorf("a bitmap of 2⁴⁰ positions: %v", err)
	}
	if m, n := big.Dims(); m != 2 || n != 2 {
		t.Errorf("a refused Resize left %d×%d", m, n)
	}
}

// TestDiagOutside: a diagonal outside the matrix is a vector of size 0.
func TestDiagOutside(t *testing.T) {
	a, _ := matrix.NewFull(3, 5, 1)
	for k, want := range map[int]int{-2: 1, 4: 1, 0: 3, -3: 0, 5: 0, 99: 0, math.MaxInt: 0, math.MinInt: 0} {
		if v, err := matrix.Diagonal(a, k); err != nil || v.Size() != want || v.NVals() != int64(want) {
			t.Errorf("diagonal %d: %v, %v, want %d", k, v, err, want)
		}
	}
}

// TestNilNamesTheMethod: a method of a nil matrix or vector that returns an error names itself.
func TestNilNamesTheMethod(t *testing.T) {
	var a *matrix.Matrix[int]
	var v *matrix.Vector[int]
	for name, err := range map[string]error{
		"Matrix.Set": a.Set(0, 0, 1), "Matrix.Delete": a.Delete(0, 0), "Matrix.Resize": a.Resize(1, 1),
		"Matrix.SetFormat": a.SetFormat(matrix.CSR), "Matrix.Fetch": a.Fetch(), "Matrix.Move": a.Move(nil),
		"Vector.Set": v.Set(0, 1), "Vector.Delete": v.Delete(0), "Vector.Resize": v.Resize(1),
		"Vector.SetFormat": v.SetFormat(matrix.CSR), "Vector.Fetch": v.Fetch(), "Vector.Move": v.Move(nil),
		"Matrix.Value":      second(a.Value(0, 0)),
		"Matrix.Dense":      second(a.Dense(0)),
		"matrix.Diagonal":   second(matrix.Diagonal(a, 0)),
		"Matrix.AllChecked": second(a.AllChecked()),
		"Vector.Value":      second(v.Value(0)),
		"Vector.Dense":      second(v.Dense(0)),
		"Vector.AllChecked": second(v.AllChecked()),
		"Matrix.CSR":        func() error { _, _, _, err := a.CSR(); return err }(),
		"Matrix.CSC":        func() error { _, _, _, err := a.CSC(); return err }(),
		"Matrix.Tuples":     func() error { _, _, _, err := a.Tuples(); return err }(),
	} {
		what := " is nil; make it with"
		if !errors.Is(err, matrix.ErrInvalid) || !strings.HasPrefix(err.Error(), name+": ") || !strings.Contains(err.Error(), what) {
			t.Errorf("nil %s: %v", name, err)
		}
	}
	a.Clear()
	v.Clear()
	if _, ok := a.At(0, 0); ok || a.Clone() != nil || a.NVals() != 0 {
		t.Error("a nil matrix has entries")
	}
}

func second[T any](_ T, err error) error { return err }

// TestView: At, Row and All of a view give the entries of the matrix, its transpose or its pattern,
// in every format.
func TestView(t *testing.T) {
	for _, f := range []matrix.Format{matrix.CSR, matrix.Hypersparse, matrix.Bitmap} {
		a, err := matrix.FromTuples(3, 4, []int{0, 2, 2, 1}, []int{3, 1, 0, 3}, []float64{1, 2, 3, 4}, nil)
		sure.Do(err, a.SetFormat(f))
		list := func(v *matrix.View[float64]) (out []string) {
			for c, x := range v.All() {
				if y, ok := v.At(c.Row, c.Col); !ok || y != x {
					t.Errorf("%v: At(%d, %d) = %v, %v, want %v", f, c.Row, c.Col, y, ok, x)
				}
				out = append(out, fmt.Sprint(c.Row, c.Col, x))
			}
			var rows []string
			m, _ := v.Dims()
			for i := range m {
				for j, x := range v.Row(i) {
					rows = append(rows, fmt.Sprint(i, j, x))
				}
			}
			if !slices.Equal(rows, out) {
				t.Errorf("%v: rows %v, all %v", f, rows, out)
			}
			return out
		}
		if got := fmt.Sprint(list(a.View())); got != "[0 3 1 1 3 4 2 0 3 2 1 2]" {
			t.Errorf("%v: %v", f, got)
		}
		if got := fmt.Sprint(list(a.T())); got != "[0 2 3 1 2 2 3 0 1 3 1 4]" {
			t.Errorf("%v transposed: %v", f, got)
		}
		p, n := a.T().Pattern(), 0
		for c, x := range p.All() {
			if _, ok := p.At(c.Row, c.Col); !x || !ok {
				t.Errorf("%v: the pattern has %v at %v", f, x, c)
			}
		}
		for j, x := range p.Row(3) {
			if n++; !x || j > 1 {
				t.Errorf("%v: the pattern has %v in column %d of row 3", f, x, j)
			}
		}
		if _, ok := p.At(0, 0); ok || n != 2 {
			t.Errorf("%v: %d entries in row 3 of the pattern", f, n)
		}
		if _, ok := a.View().At(-1, 0); ok || len(slices.Collect(keys(a.View().Row(9)))) != 0 {
			t.Errorf("%v: there are entries outside", f)
		}
	}
	for range ((*matrix.View[int])(nil)).All() {
		t.Error("an empty view has entries")
	}
}

func keys[V any](seq func(func(int, V) bool)) func(func(int) bool) {
	return func(yield func(int) bool) { seq(func(k int, _ V) bool { return yield(k) }) }
}
