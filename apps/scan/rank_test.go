package scan

import (
	"cmp"
	"slices"
	"testing"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// Vertices are numbered by descending degree, vertices of equal degree in their order.
func TestRankByDegree(t *testing.T) {
	g := gen.CSR(gen.Symmetrise(gen.RMAT(14, 4, gen.RMATOptions{})))
	rows := &sparse.Structure{NRows: g.NRows, NCols: g.NCols, NVals: g.NNZ(), Ptr: g.Ptr, Idx: g.Idx}
	want := make([]int32, g.NRows)
	for v := range want {
		want[v] = int32(v)
	}
	slices.SortStableFunc(want, func(x, y int32) int {
		return cmp.Compare(g.Ptr[y+1]-g.Ptr[y], g.Ptr[x+1]-g.Ptr[x])
	})
	for _, threads := range []int{1, 2, 3, 8} {
		r, err := rankByDegree(rows, g.NRows, workflow.Run{Threads: threads})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(r.order, want) {
			t.Fatalf("%d threads: another order than a sort", threads)
		}
		if r.ptr[g.NRows] != g.NNZ() {
			t.Fatalf("%d threads: %d edges, want %d", threads, r.ptr[g.NRows], g.NNZ())
		}
	}
}
