package matrix_test

import (
	"errors"
	"testing"

	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"pgregory.net/rapid"
)

func init() { longtest.FewerChecks() }

// model is the reference implementation of a matrix: a map.
type model struct {
	m, n int
	at   map[matrix.Coord]int
}

func (o model) same(t *rapid.T, a *matrix.Matrix[int]) {
	t.Helper()
	if err := a.Inside().Stored().Check(a.Inside().Stored().Val.Len(), false); err != nil {
		t.Fatalf("invariant broken: %v", err)
	}
	if m, n := a.Dims(); m != o.m || n != o.n || a.NVals() != int64(len(o.at)) {
		t.Fatalf("%v, want %d×%d with %d entries", a, o.m, o.n, len(o.at))
	}
	prev := matrix.Coord{-1, 0}
	for c, v := range a.All() {
		if w, ok := o.at[c]; !ok || v != w {
			t.Fatalf("entry %v is %d, want %d (%v)", c, v, w, ok)
		}
		if c.Row < prev.Row || (c.Row == prev.Row && c.Col <= prev.Col) {
			t.Fatalf("entry %v after %v", c, prev)
		}
		prev = c
		if v, ok := a.At(c.Row, c.Col); !ok || v != o.at[c] {
			t.Fatalf("At%v is %d, %v", c, v, ok)
		}
	}
}

// dims draws small dimensions, including 0 and 1, medium ones, and MaxDim.
func dims(t *rapid.T) (m, n int) {
	side := rapid.OneOf(rapid.IntRange(0, 9), rapid.IntRange(4000, 5000), rapid.Just(matrix.MaxDim))
	return side.Draw(t, "rows"), side.Draw(t, "columns")
}

// index draws an index below n. For a large n the index is near one of the ends.
func index(t *rapid.T, n int) int {
	if n <= 40 {
		return rapid.IntRange(0, n-1).Draw(t, "index")
	}
	i := rapid.IntRange(-20, 19).Draw(t, "index")
	return (i + n) % n
}

// draw returns a random matrix and its model. A Builder makes the matrix from unordered tuples with
// duplicates.
func draw(t *rapid.T, m, n int) (*matrix.Matrix[int], model) {
	o := model{m, n, map[matrix.Coord]int{}}
	b := matrix.NewBuilder[int](m, n)
	if m > 0 && n > 0 {
		for range rapid.IntRange(0, 60).Draw(t, "tuples") {
			c, v := matrix.Coord{index(t, m), index(t, n)}, rapid.IntRange(-3, 3).Draw(t, "value")
			b.Add(c.Row, c.Col, v)
			if old, ok := o.at[c]; ok {
				v = 10*old + v // neither commutative nor associative, so that the order matters
			}
			o.at[c] = v
		}
	}
	a := sure.Get(b.Build(matrix.CombineFunc[int](func(x, y int) int { return 10*x + y })))
	return a, o
}

func small(o model) bool { return o.m <= 5000 && o.n <= 5000 && o.m*o.n <= 1<<16 }

// drawFormat converts a to a random format that supports its dimensions.
func drawFormat(t *rapid.T, a *matrix.Matrix[int], o model) {
	formats := []matrix.Format{matrix.Hypersparse}
	if o.m <= 5000 {
		formats = append(formats, matrix.CSR)
	}
	if small(o) {
		formats = append(formats, matrix.Bitmap)
	}
	sure.Do(a.SetFormat(rapid.SampledFrom(formats).Draw(t, "format")))
}

func TestPropertyBuilder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, n := dims(t)
		a, o := draw(t, m, n)
		o.same(t, a)
	})
}

func TestPropertyBuilderDuplicates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, n := dims(t)
		if m == 0 || n == 0 {
			return
		}
		b := matrix.NewBuilder[int](m, n)
		seen := map[matrix.Coord]int{}
		for range rapid.IntRange(0, 30).Draw(t, "tuples") {
			c := matrix.Coord{index(t, m), index(t, n)}
			b.Add(c.Row, c.Col, 1)
			seen[c]++
		}
		_, err := b.Build(nil)
		var d *matrix.DuplicateError
		twice := false
		for _, k := range seen {
			twice = twice || k > 1
		}
		if errors.As(err, &d) != twice || (err != nil) != twice {
			t.Fatalf("got %v, duplicates: %v", err, twice)
		}
		if twice && seen[matrix.Coord{d.Row, d.Col}] < 2 {
			t.Fatalf("%v names an entry added once", d)
		}
	})
}

func TestPropertySetDelete(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, n := dims(t)
		a, o := draw(t, m, n)
		if m == 0 || n == 0 {
			return
		}
		drawFormat(t, a, o)
		for range rapid.IntRange(1, 20).Draw(t, "changes") {
			c, v := matrix.Coord{index(t, m), index(t, n)}, rapid.IntRange(-9, 9).Draw(t, "value")
			if rapid.Bool().Draw(t, "delete") {
				delete(o.at, c)
				if err := a.Delete(c.Row, c.Col); err != nil {
					t.Fatal(err)
				}
				if _, err := a.Value(c.Row, c.Col); !errors.Is(err, matrix.ErrNoEntry) {
					t.Fatalf("deleted entry gives %v", err)
				}
			} else {
				o.at[c] = v
				sure.Do(a.Set(c.Row, c.Col, v))
			}
			o.same(t, a)
		}
	})
}

func TestPropertyFormats(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, n := dims(t)
		a, o := draw(t, m, n)
		b := a.Clone()
		for range 4 {
			drawFormat(t, a, o)
			o.same(t, a)
			if !a.Equal(b) || !b.Equal(a) {
				t.Fatalf("%v differs from %v", a, b)
			}
		}
		o.same(t, b) // the clone is deep
		full := a.NVals() == int64(m)*int64(n)
		if err := a.SetFormat(matrix.Full); (err == nil) != full {
			t.Fatalf("SetFormat(Full) of %v: %v", a, err)
		}
	})
}

func TestPropertyTranspose(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, n := dims(t)
		if m == matrix.MaxDim || n == matrix.MaxDim { // avoid a CSR of 2³¹ offsets
			m, n = min(m, 1<<20), min(n, 1<<20)
		}
		a, o := draw(t, m, n)
		drawFormat(t, a, o)
		tr := model{n, m, map[matrix.Coord]int{}}
		for c, v := range o.at {
			tr.at[matrix.Coord{c.Col, c.Row}] = v
		}
		if r, c := a.T().Dims(); r != n || c != m {
			t.Fatalf("the transpose is %d×%d", r, c)
		}
		tr.same(t, access.FromStore(rowsOf(a.T())))
		o.same(t, access.FromStore(rowsOf(a.T().T())))
		o.same(t, access.FromStore(rowsOf(a.T().T())))
		p := rowsOf(a.T().Pattern())
		if err := p.Check(0, true); err != nil || p.NVals != a.NVals() {
			t.Fatalf("pattern of the transpose: %v", err)
		}
	})
}

func TestPropertyResize(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, n := dims(t)
		a, o := draw(t, m, n)
		drawFormat(t, a, o)
		m2, n2 := dims(t)
		for c := range o.at {
			if c.Row >= m2 || c.Col >= n2 {
				delete(o.at, c)
			}
		}
		if max(m2, n2) > 5000 { // the pinned format would take memory by position
			_ = a.SetFormat(matrix.Automatic)
		}
		sure.Do(a.Resize(m2, n2))
		o.m, o.n = m2, n2
		o.same(t, a)
	})
}

func TestPropertyDiag(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, n := dims(t)
		if m == 0 || n == 0 {
			return
		}
		a, o := draw(t, m, n)
		k := rapid.IntRange(-min(m, 40)+1, min(n, 40)-1).Draw(t, "diagonal")
		v, err := matrix.Diagonal(a, k)
		if err != nil {
			t.Fatal(err)
		}
		count := 0
		for c, x := range o.at {
			if c.Col-c.Row != k {
				continue
			}
			count++
			if y, ok := v.At(min(c.Row, c.Col)); !ok || y != x {
				t.Fatalf("diagonal %d of %v: position %d is %d, %v, want %d", k, a, min(c.Row, c.Col), y, ok, x)
			}
		}
		if v.NVals() != int64(count) {
			t.Fatalf("diagonal %d has %d entries, want %d", k, v.NVals(), count)
		}
		if m > 5000 || n > 5000 {
			return
		}
		d, err := matrix.Diag(v, k)
		if err != nil {
			t.Fatal(err)
		}
		if w, err := matrix.Diagonal(d, k); err != nil || !v.Equal(w) {
			t.Fatalf("Diag(Diag) is %v, %v, want %v", w, err, v)
		}
	})
}

func TestPropertyEqual(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, n := rapid.IntRange(1, 6).Draw(t, "rows"), rapid.IntRange(1, 6).Draw(t, "columns")
		a, o := draw(t, m, n)
		b := a.Clone()
		drawFormat(t, b, o)
		if !a.Equal(b) {
			t.Fatal("a copy in another format differs")
		}
		c := matrix.Coord{index(t, m), index(t, n)}
		old, had := b.At(c.Row, c.Col)
		sure.Do(b.Set(c.Row, c.Col, old+1))
		if a.Equal(b) || b.Equal(a) {
			t.Fatalf("a change of entry %v, before %d, %v, does not affect Equal", c, old, had)
		}
	})
}

func TestPropertyVector(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.OneOf(rapid.IntRange(1, 9), rapid.Just(matrix.MaxDim)).Draw(t, "size")
		v, at := matrix.NewVector[int](n), map[int]int{}
		for range rapid.IntRange(0, 20).Draw(t, "changes") {
			i, x := index(t, n), rapid.IntRange(-9, 9).Draw(t, "value")
			var err error
			if rapid.Bool().Draw(t, "delete") {
				delete(at, i)
				err = v.Delete(i)
			} else {
				at[i] = x
				err = v.Set(i, x)
			}
			if err != nil {
				t.Fatal(err)
			}
			if n < 10 && rapid.Bool().Draw(t, "bitmap") {
				sure.Do(v.SetFormat(matrix.Bitmap))
			}
		}
		if v.NVals() != int64(len(at)) {
			t.Fatalf("%v, want %d entries", v, len(at))
		}
		for i, x := range v.All() {
			if y, ok := at[i]; !ok || x != y {
				t.Fatalf("entry %d is %d, want %d", i, x, y)
			}
		}
		w := v.Clone()
		sure.Do(w.Resize(n - 1))
		delete(at, n-1)
		if w.NVals() != int64(len(at)) || w.Size() != n-1 || v.Equal(w) {
			t.Fatalf("resized to %v", w)
		}
	})
}

func TestPropertyMarshal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, n := dims(t)
		a, o := draw(t, m, n)
		drawFormat(t, a, o)
		b, err := marshalled(a)
		if err != nil || a.Format() != b.Format() {
			t.Fatalf("%v came back as %v, %v", a, b, err)
		}
		o.same(t, b)
	})
}

// mustTuples builds a matrix of (row, column, value) triples.
func mustTuples[T comparable](t testing.TB, m, n int, rows, cols []int, vals []T) *matrix.Matrix[T] {
	t.Helper()
	a := sure.Get(matrix.FromTuples(m, n, rows, cols, vals, nil))
	return a
}

// rowsOf returns the entries of a view by rows.
func rowsOf[T comparable](v matrix.Operand[T]) *sparse.Typed[T] {
	return sparse.As[T](v.Inside().Rows())
}
