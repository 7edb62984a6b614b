package inputs

import (
	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/internal/workload"
	"github.com/hiveblas/hiveblas/matrix"
)

var (
	SageReport = workload.Network{Features: 64, Hidden: 16, Out: 64}    // of the report: an output of 64 + 64 columns
	SageWide   = workload.Network{Features: 128, Hidden: 128, Out: 128} // of a network of a larger graph
)

// SageFeatures draws features. A share of them is not 0.
func SageFeatures(n, d int, share float64) (*matrix.Matrix[float32], error) {
	if share == 1 {
		return workload.Floats(n, d, 39, 1)
	}
	ptr, idx, val := make([]int64, 1, n+1), []int32{}, []float32{}
	for v := range n {
		for c := range d {
			if Unit[float64](gen.Hash(uint64(v*d+c), 36)) <= share {
				idx, val = append(idx, int32(c)), append(val, 1)
			}
		}
		ptr = append(ptr, int64(len(idx)))
	}
	return matrix.FromCSR(n, d, ptr, idx, val)
}
