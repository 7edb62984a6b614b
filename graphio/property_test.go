package graphio

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/hiveblas/hiveblas/graphio/internal/build"
	"github.com/hiveblas/hiveblas/graphio/internal/core"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
)

func init() { longtest.FewerChecks() }

// sides of matrices: small ones, medium ones and the largest.
func drawSide(t *rapid.T, name string, least int) int {
	return rapid.OneOf(rapid.IntRange(least, 9), rapid.IntRange(4000, 5000), rapid.Just(matrix.MaxDim)).Draw(t, name)
}

// drawIndex draws an index below n. For a large n the index is near one of the ends.
func drawIndex(t *rapid.T, n int) int {
	if n <= 40 {
		return rapid.IntRange(0, n-1).Draw(t, "index")
	}
	return (rapid.IntRange(-20, 19).Draw(t, "index") + n) % n
}

// drawMatrix returns a random m×n matrix in a random format, and its entries.
func drawMatrix(t *rapid.T, m, n int) (*matrix.Matrix[int], map[matrix.Coord]int) {
	at := map[matrix.Coord]int{}
	a := matrix.New[int](m, n)
	if m > 0 && n > 0 {
		for range rapid.IntRange(0, 60).Draw(t, "entries") {
			c, v := matrix.Coord{Row: drawIndex(t, m), Col: drawIndex(t, n)}, rapid.IntRange(-3, 3).Draw(t, "value")
			at[c] = v
			sure.Do(a.Set(c.Row, c.Col, v))
		}
	}
	formats := []matrix.Format{matrix.Hypersparse}
	if m <= 5000 {
		formats = append(formats, matrix.CSR)
		if n <= 5000 && m*n <= 1<<16 {
			formats = append(formats, matrix.Bitmap)
		}
	}
	sure.Do(a.SetFormat(rapid.SampledFrom(formats).Draw(t, "format")))
	return a, at
}

func TestPropertyRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, _ := drawMatrix(t, drawSide(t, "rows", 0), drawSide(t, "columns", 0))
		roundTrip(t, a)
	})
}

// The union with the transpose has the smaller of two entries, and with an operator the entry above
// the diagonal before the one below.
func TestPropertySymmetrise(t *testing.T) {
	e := elementFor[int]()
	first := duplicatesOf(t, matrix.CombineFunc[int](func(x, y int) int { return 10*x + y }))
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.OneOf(rapid.IntRange(1, 9), rapid.IntRange(4000, 100000)).Draw(t, "side")
		a, at := drawMatrix(t, n, n)
		smaller, combined := map[matrix.Coord]int{}, map[matrix.Coord]int{}
		for c, v := range at {
			mirror := matrix.Coord{Row: c.Col, Col: c.Row}
			least, both := v, v
			if w, ok := at[mirror]; ok && c != mirror {
				least, both = min(v, w), 10*v+w
				if c.Row > c.Col {
					both = 10*w + v
				}
			}
			smaller[c], smaller[mirror] = least, least
			combined[c], combined[mirror] = both, both
		}
		st := a.Inside().Rows()
		equals(t, "smaller", matrix.OfInside[int](core.Inside(build.Symmetrise(st, e, nil, 2))), n, smaller)
		equals(t, "combined", matrix.OfInside[int](core.Inside(build.Symmetrise(st, e, first, 2))), n, combined)
	})
}

// duplicatesOf returns the operator of Duplicates.
func duplicatesOf(t *testing.T, op matrix.Combiner[int]) func(v sparse.Values, to, from []int64) {
	t.Helper()
	combine, err := optionsFor[int]([]ReadOption{Duplicates(op)}).Combiner("test")
	if err != nil {
		t.Fatal(err)
	}
	return combine
}

// equals compares an n×n matrix with its entries.
func equals(t *rapid.T, what string, a *matrix.Matrix[int], n int, want map[matrix.Coord]int) {
	t.Helper()
	if err := stored(a).Check(len(stored(a).Val), false); err != nil {
		t.Fatalf("%s: invariant broken: %v", what, err)
	}
	if m, k := a.Dims(); m != n || k != n || a.NVals() != int64(len(want)) {
		t.Fatalf("%s: %v, want %d×%d with %d entries", what, a, n, n, len(want))
	}
	for c, v := range a.All() {
		if w, ok := want[c]; !ok || v != w {
			t.Fatalf("%s: entry %v is %d, want %d (%v)", what, c, v, w, ok)
		}
	}
}
