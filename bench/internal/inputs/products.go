package inputs

import (
	"unsafe"

	"github.com/hiveblas/hiveblas/bench/gen"
)

func WidthOf[T any]() int { return int(unsafe.Sizeof(*new(T))) }

// Flipped returns the transpose of a graph and its values.
func Flipped[T any](g *gen.Graph, val []T) (*gen.Graph, []T) {
	t := &gen.Graph{NRows: g.NCols, NCols: g.NRows, Ptr: make([]int64, g.NCols+1), Idx: make([]int32, g.NNZ())}
	for _, j := range g.Idx {
		t.Ptr[j+1]++
	}
	for j := range g.NCols {
		t.Ptr[j+1] += t.Ptr[j]
	}
	at, out := append([]int64(nil), t.Ptr...), make([]T, g.NNZ())
	for i := range g.NRows {
		for p := g.Ptr[i]; p < g.Ptr[i+1]; p++ {
			j := g.Idx[p]
			t.Idx[at[j]], out[at[j]] = int32(i), val[p]
			at[j]++
		}
	}
	return t, out
}
