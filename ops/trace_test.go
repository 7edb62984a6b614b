package ops_test

import (
	"testing"

	"github.com/hiveblas/hiveblas/internal/race"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// TestTraceMethod checks the method in the trace of the square of a path (few products a row), of a
// clique (many products a row), and of a clique in a matrix too wide for an accumulator.
func TestTraceMethod(t *testing.T) {
	if race.Enabled {
		t.Skip("the choice is made by one goroutine; 125M products are slow under the detector")
	}
	graph := func(n int, edge func(b *matrix.Builder[float64])) *matrix.Matrix[float64] {
		b := matrix.NewBuilder[float64](n, n)
		edge(b)
		a := sure.Get(b.Build(nil))
		return a
	}
	clique := func(n int) func(b *matrix.Builder[float64]) {
		return func(b *matrix.Builder[float64]) {
			for i := range n {
				for j := range n {
					b.Add(i, j, 1)
				}
			}
		}
	}
	for _, c := range []struct {
		reason string
		a      *matrix.Matrix[float64]
		want   ops.Method
	}{
		{"two products a row", graph(5000, func(b *matrix.Builder[float64]) {
			for i := range 4999 {
				b.Add(i, i+1, 1)
			}
		}), ops.Sorted},
		{"1600 products a row", graph(40, clique(40)), ops.SPA},
		{"many products, 2³⁰ columns", graph(1<<30, clique(500)), ops.Hash},
	} {
		m, n := c.a.Dims()
		got := ops.Trace{}
		if err := ops.MxM(matrix.New[float64](m, n), semiring.PlusTimes[float64](), c.a, c.a, ops.WithTrace(&got)); err != nil {
			t.Fatal(err)
		}
		if got.Method != c.want {
			t.Errorf("%s: the trace says %q, want %q", c.reason, got.Method, c.want)
		}
	}
}
