package samples

import (
	"math"
	"testing"

	"github.com/hiveblas/hiveblas/matrix"
)

// Hubbed is a star beside a path, so that a row is cut into pieces, with edges in one direction and
// vertices without any.
func Hubbed(n int) Sample {
	s := Blank(n)
	for v := 1; v < n-3; v++ {
		s.Edges = append(s.Edges, Edge{From: 0, To: v, Weight: 1 + v%5})
		if v%3 > 0 {
			s.Edges = append(s.Edges, Edge{From: v, To: (7*v + 1) % n, Weight: 2})
		}
		if v%4 == 1 {
			s.Edges = append(s.Edges, Edge{From: v, To: 0, Weight: 1}, Edge{From: v, To: n - 2, Weight: 3})
		}
	}
	return s
}

// Rows64 returns a matrix as rows of float64.
func Rows64(a *matrix.Matrix[float32]) [][]float64 {
	m, n := a.Dims()
	t := make([][]float64, m)
	for i := range t {
		t[i] = make([]float64, n)
	}
	for c, x := range a.All() {
		t[c.Row][c.Col] = float64(x)
	}
	return t
}

// SameRows compares the rows of a matrix within a tolerance.
func SameRows(t *testing.T, what string, got *matrix.Matrix[float32], want [][]float64, tolerance float64) {
	t.Helper()
	have := Rows64(got)
	if len(have) != len(want) {
		t.Fatalf("%s: %d rows, want %d", what, len(have), len(want))
	}
	for i := range want {
		for j := range want[i] {
			if math.Abs(have[i][j]-want[i][j]) > tolerance {
				t.Fatalf("%s: row %d is %v, want %v", what, i, have[i], want[i])
			}
		}
	}
}

// DirectedHub has isolated vertices, a hub, and edges of one direction.
func DirectedHub() Sample {
	s := Blank(14)
	for v := 1; v < 9; v++ {
		s.Edges = append(s.Edges, Edge{From: 0, To: v, Weight: 1}, Edge{From: v, To: 0, Weight: 1}, Edge{From: v, To: (3*v + 1) % 12, Weight: 1})
	}
	return s
}
