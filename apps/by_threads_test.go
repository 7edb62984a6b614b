package apps

import (
	"testing"

	"github.com/hiveblas/hiveblas/apps/communities"
	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
)

// Sums of weights, and of ones, have an order of their own. The numbers of communities may be
// beyond the number of vertices.
func TestModularityByThreads(t *testing.T) {
	g := samples.Skewed(t, 9)
	n, _ := g.Dims()
	few, large := make([]int32, n), make([]int32, n)
	for v := range few {
		few[v] = int32(v % 16)
		large[v] = few[v] * 1e8
	}
	membership, other := samples.VectorOf(t, few), samples.VectorOf(t, large)
	q := samples.SameByThreads(t, "weights", func(run workflow.Run) (float64, error) {
		return communities.Modularity(g, membership, communities.ModularityOptions{Run: workflow.Tuned(run, workflow.BlockWork(100))})
	})
	if same := samples.Must[float64](t)(communities.Modularity(g, other, communities.ModularityOptions{Run: workflow.Tuned(workflow.Run{}, workflow.BlockWork(100))})); q != same || q == 0 {
		t.Errorf("modularity %v, with other numbers of the communities %v", q, same)
	}
	samples.SameByThreads(t, "ones", func(run workflow.Run) (float64, error) {
		return communities.Modularity(g.Pattern(), membership, communities.ModularityOptions{Run: workflow.Tuned(run, workflow.BlockWork(100))})
	})
}
