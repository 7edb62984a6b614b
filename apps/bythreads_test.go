package apps

import (
	"reflect"
	"testing"

	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/matrix"
)

// sameByThreads runs a workflow on several numbers of threads, whose results must be equal, bit for
// bit, and returns that of one thread.
func sameByThreads[R any](t *testing.T, name string, run func(run Run) (R, error)) R {
	t.Helper()
	var first R
	for k, threads := range []int{1, 2, 3, 8, 16} {
		res, err := run(Run{Threads: threads})
		if err != nil {
			t.Fatalf("%s, %d threads: %v", name, threads, err)
		}
		if k == 0 {
			first = res
		} else if !reflect.DeepEqual(first, res) {
			t.Errorf("%s: %d threads differ from one", name, threads)
		}
	}
	return first
}

// withValue sets a variable to a value until the test ends.
func withValue[T any](t *testing.T, variable *T, value T) {
	old := *variable
	*variable = value
	t.Cleanup(func() { *variable = old })
}

// skewed returns an undirected R-MAT graph of 2^scale vertices with weights from 0 to 1.
func skewed(t *testing.T, scale int) *matrix.Matrix[float64] {
	t.Helper()
	g := gen.CSR(gen.Symmetrise(gen.RMAT(scale, 8, gen.RMATOptions{})))
	return must[*matrix.Matrix[float64]](t)(matrix.FromCSR(g.NRows, g.NCols, g.Ptr, g.Idx, gen.UniformFloats(g, 1, true)))
}

// Sums of weights, and of ones, have an order of their own. The numbers of communities may be
// beyond the number of vertices.
func TestModularityByThreads(t *testing.T) {
	withValue(t, &blockWork, 100)
	g := skewed(t, 9)
	n, _ := g.Dims()
	few, large := make([]int32, n), make([]int32, n)
	for v := range few {
		few[v] = int32(v % 16)
		large[v] = few[v] * 1e8
	}
	membership, other := vectorOf(t, few), vectorOf(t, large)
	q := sameByThreads(t, "weights", func(run Run) (float64, error) {
		return Modularity(g, membership, ModularityOptions{Run: run})
	})
	if same := must[float64](t)(Modularity(g, other)); q != same || q == 0 {
		t.Errorf("modularity %v, with other numbers of the communities %v", q, same)
	}
	sameByThreads(t, "ones", func(run Run) (float64, error) {
		return Modularity(g.Pattern(), membership, ModularityOptions{Run: run})
	})
}

// Threads share the sums of neighbours and of sparse features.
func TestGraphSAGEByThreads(t *testing.T) {
	withValue(t, &sumWork, 1)
	g := skewed(t, 9)
	n, _ := g.Dims()
	x := drawFeatures(t, n, 8, .3, matrix.CSR)
	for _, a := range []SAGEAggregator{AggregateMean, AggregateGCN} {
		m := randomModel(a, 8, 6, 0, 1)
		sameByThreads(t, a.String(), func(run Run) ([]float32, error) {
			res, err := GraphSAGE(g, x, m, SAGEOptions{Run: run})
			if err != nil {
				return nil, err
			}
			return res.Embeddings.Dense(0)
		})
	}
}
