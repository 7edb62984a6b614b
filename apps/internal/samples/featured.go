package samples

import (
	"math"
	"math/rand"
	"testing"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/matrix"
)

// A Featured graph is an Attributed as plain slices, for the oracle.
type Featured struct {
	Vertices, Edges [][]float64 // features
	From, To        []int
}

// Parts returns the arguments of NewAttributed.
func (g Featured) Parts(t testing.TB, f, h int) (vertices, edges *matrix.Matrix[float32], from, to []int32) {
	t.Helper()
	turn := func(rows [][]float64, f int) *matrix.Matrix[float32] {
		val := make([]float32, f*len(rows))
		for k, row := range rows {
			for i, x := range row {
				val[i*len(rows)+k] = float32(x)
			}
		}
		return Must[*matrix.Matrix[float32]](t)(matrix.FromDense(f, len(rows), val))
	}
	return turn(g.Vertices, f), turn(g.Edges, h), workflow.Numbers(g.From), workflow.Numbers(g.To)
}

// DrawFeatured draws a graph of n vertices and m edges with f and h features,
// multiple edges, loops and vertices without edges among them.
func DrawFeatured(rng *rand.Rand, n, m, f, h int, spread float64) Featured {
	g := Featured{}
	row := func(f int) []float64 {
		x := make([]float64, f)
		for i := range x {
			x[i] = float64(float32(rng.Float64() * spread))
		}
		return x
	}
	for range n {
		g.Vertices = append(g.Vertices, row(f))
	}
	for range m {
		from, to := rng.Intn(n), rng.Intn(n)
		if k := len(g.From); k > 0 && rng.Intn(4) == 0 {
			from, to = g.From[k-1], g.To[k-1] // a repeated edge
		}
		g.Edges, g.From, g.To = append(g.Edges, row(h)), append(g.From, from), append(g.To, to)
	}
	return g
}

// ClassifyNaively is the oracle: the formulas of the issue one by one, over
// all edges of both graphs, in float64.
func ClassifyNaively(data, pattern Featured, rounds int, corrected bool) [][]float64 {
	n, e, np, q := len(data.Vertices), len(data.Edges), len(pattern.Vertices), len(pattern.Edges)
	strongest := func(msg [][]float64, at []int, null [][]float64) [][]float64 {
		nulls := make([]float64, q)
		for p := range nulls {
			nulls[p] = colmax(null, p)
		}
		x := table(n, q, func(_, p int) float64 { return nulls[p] })
		for k, v := range at {
			for p := range q {
				x[v][p] = max(x[v][p], msg[k][p])
			}
		}
		return x
	}
	cv, mu := normprob(distances(data.Vertices, pattern.Vertices, 1)), normprob(distances(data.Vertices, pattern.Vertices, -1))
	ce, xe := normprob(distances(data.Edges, pattern.Edges, 1)), normprob(distances(data.Edges, pattern.Edges, -1))
	muAt := func(end []int) [][]float64 { return table(n, q, func(v, p int) float64 { return mu[v][end[p]] }) }
	fmax := strongest(xe, data.To, muAt(pattern.From))
	rmax := strongest(xe, data.From, muAt(pattern.To))
	for range rounds {
		vf := table(n, q, func(v, p int) float64 { return mu[v][pattern.To[p]] - fmax[v][p] })
		vr := table(n, q, func(v, p int) float64 { return mu[v][pattern.From[p]] - rmax[v][p] })
		back := data.From
		if corrected {
			back = data.To
		}
		fe := normprob(table(e, q, func(k, p int) float64 { return vr[data.From[k]][p] - ce[k][p] }))
		re := normprob(table(e, q, func(k, p int) float64 { return vf[back[k]][p] - ce[k][p] }))
		rmax, fmax = strongest(re, data.From, vf), strongest(fe, data.To, vr)
		mu = table(n, np, func(v, j int) float64 {
			sum := -cv[v][j]
			for p := range q {
				if pattern.To[p] == j {
					sum += fmax[v][p]
				}
				if pattern.From[p] == j {
					sum += rmax[v][p]
				}
			}
			return sum
		})
		mu = normprob(mu)
	}
	return mu
}

// table returns an m×n matrix of f.
func table(m, n int, f func(i, j int) float64) [][]float64 {
	x := make([][]float64, m)
	for i := range x {
		x[i] = make([]float64, n)
		for j := range x[i] {
			x[i][j] = f(i, j)
		}
	}
	return x
}

// colmax returns the largest number of a column.
func colmax(x [][]float64, j int) float64 {
	most := math.Inf(-1)
	for i := range x {
		most = max(most, x[i][j])
	}
	return most
}

// normprob returns logarithms of probabilities, which add up to 1 in each column.
func normprob(x [][]float64) [][]float64 {
	if len(x) == 0 {
		return x
	}
	lse := make([]float64, len(x[0]))
	for j := range lse {
		most, sum := colmax(x, j), 0.0
		for i := range x {
			sum += math.Exp(x[i][j] - most)
		}
		lse[j] = most + math.Log(sum)
	}
	return table(len(x), len(x[0]), func(i, j int) float64 { return x[i][j] - lse[j] })
}

// distances returns sign·‖x(i) − y(j)‖.
func distances(x, y [][]float64, sign float64) [][]float64 {
	return table(len(x), len(y), func(i, j int) float64 {
		sum := 0.0
		for k := range x[i] {
			sum += (x[i][k] - y[j][k]) * (x[i][k] - y[j][k])
		}
		return sign * math.Sqrt(sum)
	})
}

// SameBeliefs compares with the oracle, to 2e-5 of the largest magnitude; the
// columns must add up to 1.
func SameBeliefs(t testing.TB, what string, got *matrix.Matrix[float32], want [][]float64) {
	t.Helper()
	n, np := got.Dims()
	largest := 1.0
	for _, row := range want {
		for _, x := range row {
			largest = max(largest, math.Abs(x))
		}
	}
	if n != len(want) || got.NVals() != int64(n)*int64(np) {
		t.Fatalf("%s: %v, want %d rows, full", what, got, len(want))
	}
	sums := make([]float64, np)
	for at, x := range got.All() {
		if w := want[at.Row][at.Col]; !(math.Abs(float64(x)-w) <= 2e-5*largest) {
			t.Fatalf("%s: vertex %d for %d has %v, want %v", what, at.Row, at.Col, x, w)
		}
		sums[at.Col] += math.Exp(float64(x))
	}
	for j, sum := range sums {
		if n > 0 && math.Abs(sum-1) > 1e-4 {
			t.Errorf("%s: the probabilities of %d add up to %v", what, j, sum)
		}
	}
}
