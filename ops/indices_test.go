package ops_test

import (
	"errors"
	"testing"

	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
)

// Lists that threads share are checked whole, and the error names the first bad index.
func TestLongLists(t *testing.T) {
	const n = 200_000
	u := sure.Get(matrix.VectorOf(make([]float64, n)))
	for _, bad := range [][]int{nil, {0}, {n - 1}, {131072, 40000, 199999}, {65536, 65535}, {32768}} {
		list, values, first := make([]int, n), make([]int32, n), n
		for i := range list {
			list[i] = (i*7 + 3) % n
		}
		for k, p := range bad {
			list[p] = []int{n, -1, 1 << 31}[k]
			first = min(first, p)
		}
		for i := range values {
			values[i] = int32(list[i])
		}
		v := sure.Get(matrix.VectorOf(values))
		for _, threads := range []int{1, 2, 3, 16} {
			for name, idx := range map[string]ops.Indices{"list": ops.Of(list...), "vector": ops.ValuesOf(v)} {
				w := matrix.NewVector[float64](n)
				err := ops.ExtractVector(w, u, idx, ops.WithThreads(threads))
				var index *matrix.IndexError
				switch {
				case bad == nil && (err != nil || w.NVals() != n):
					t.Errorf("%s, %d threads: %d entries, %v", name, threads, w.NVals(), err)
				case bad != nil && (!errors.As(err, &index) || index.Index != int64(map[string]int{"list": list[first], "vector": int(values[first])}[name])):
					t.Errorf("%s of bad indices at %v, %d threads: %v, want the index at %d", name, bad, threads, err, first)
				}
			}
		}
	}
}
