package sets

import (
	"testing"

	"github.com/hiveblas/hiveblas/apps/internal/frontier"
	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
)

// Rounds of several threads find the set of the greedy order.
func TestIndependentSetByRounds(t *testing.T) {
	for _, p := range []SetPriority{RandomPriority, DegreePriority} {
		samples.CompareWaves(t, func(g *workflow.Adjacency, run workflow.Run) ([]float64, error) {
			return samples.SetFigures(independentInOrder(g, IndependentSetOptions{run, p, 3}))
		}, func(g *workflow.Adjacency, run workflow.Run, shares frontier.WaveShares) ([]float64, error) {
			return samples.SetFigures(independentByRounds(g, IndependentSetOptions{run, p, 3}, shares))
		})
	}
}
