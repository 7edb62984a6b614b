package auction

import (
	"fmt"
	"testing"

	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// counts returns the common-neighbour counts of an R-MAT graph and the same graph
// renumbered: the costs of seeded matching.
func counts(scale, edgeFactor int) *matrix.Matrix[int32] {
	g := gen.CSR(gen.Symmetrise(gen.RMAT(scale, edgeFactor, gen.RMATOptions{})))
	val := make([]int32, len(g.Idx))
	for k := range val {
		val[k] = 1
	}
	a, err := matrix.FromCSR(g.NRows, g.NCols, g.Ptr, g.Idx, val)
	if err != nil {
		panic(err)
	}
	c := matrix.New[int32](g.NRows, g.NCols)
	if err := ops.MxM(c, semiring.PlusPair[int32](), a.Pattern(), a.Pattern()); err != nil {
		panic(err)
	}
	return c
}

func BenchmarkCounts(b *testing.B) {
	for _, c := range []struct{ scale, factor int }{{10, 8}, {12, 8}, {14, 4}} {
		a := counts(c.scale, c.factor)
		for _, s := range []struct {
			name string
			o    Options
		}{
			{"paths", Options{Method: MethodJonkerVolgenant}},
			{"gs1", Options{Method: MethodAuction, Epsilon: 1}},
			{"gsx", Options{Method: MethodAuction}},
			{"ja1", Options{Method: MethodAuction, Epsilon: 1, Bidding: Jacobi}},
			{"jax", Options{Method: MethodAuction, Bidding: Jacobi}},
		} {
			s.o.Maximize = true
			b.Run(fmt.Sprintf("%d/%s", c.scale, s.name), func(b *testing.B) {
				for b.Loop() {
					res, err := Solve(Implicit[int32](a, 0), s.o)
					if err != nil {
						b.Fatal(err)
					}
					b.ReportMetric(float64(a.NVals()), "nnz")
					b.ReportMetric(res.Value, "value")
					b.ReportMetric(res.Gap, "gap")
					b.ReportMetric(float64(res.Bids), "bids")
					b.ReportMetric(float64(res.Rounds), "rounds")
					b.ReportMetric(float64(res.Phases), "phases")
					b.ReportMetric(res.Seconds.Bid*1e3, "bid-ms")
					b.ReportMetric(res.Seconds.Paths*1e3, "paths-ms")
				}
			})
		}
	}
}
