package sage

import (
	"testing"

	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/apps/sage/internal/neural"
	"github.com/hiveblas/hiveblas/matrix"
)

// Threads share the sums of neighbours and of sparse features.
func TestGraphSAGEByThreads(t *testing.T) {
	g := samples.Skewed(t, 9)
	n, _ := g.Dims()
	x := samples.DrawFeatures(t, n, 8, .3, matrix.CSR)
	for _, a := range []SAGEAggregator{AggregateMean, AggregateGCN, AggregateLSTM} {
		m := randomModel(a, 8, 6, 0, 1)
		samples.SameByThreads(t, a.String(), func(run workflow.Run) ([]float32, error) {
			res, err := GraphSAGE(g, x, m, SAGEOptions{Run: workflow.Tuned(run, neural.SumWork(1))})
			if err != nil {
				return nil, err
			}
			return res.Embeddings.Dense(0)
		})
	}
}
