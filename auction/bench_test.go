package auction

import (
	"fmt"
	"math/rand"
	"testing"

	"github.com/hiveblas/hiveblas/matrix"
)

// uniform returns an n×n matrix of uniform integers below 1000.
func uniform(n int, seed int64) *matrix.Matrix[int32] {
	r := rand.New(rand.NewSource(seed))
	val := make([]int32, n*n)
	for k := range val {
		val[k] = int32(r.Intn(1000))
	}
	a, err := matrix.FromDense(n, n, val)
	if err != nil {
		panic(err)
	}
	return a
}

func BenchmarkDense(b *testing.B) {
	for _, n := range []int{1000, 2000, 4000} {
		a := uniform(n, 1)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				res, err := JonkerVolgenant(Dense[int32](a), Options{})
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(res.Value, "value")
				b.ReportMetric(float64(res.Bids), "steps")
				b.ReportMetric(float64(res.Rounds), "searches")
				b.ReportMetric(res.Seconds.Read*1e3, "read-ms")
				b.ReportMetric(res.Seconds.Paths*1e3, "paths-ms")
			}
		})
	}
}
