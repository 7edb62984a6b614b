package sets

import (
	"testing"

	"github.com/hiveblas/hiveblas/apps/internal/frontier"
	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
)

// Rounds of several threads find the set of the greedy order.
func TestIndependentSetByRounds(t *testing.T) {
	o := IndependentSetOptions{Seed: 3}
	samples.CompareWaves(t, func(g *workflow.Adjacency, run workflow.Run) ([]float64, error) {
		o := o
		o.Run = run
		return samples.SetFigures(independentInOrder(g, o))
	}, func(g *workflow.Adjacency, run workflow.Run, shares frontier.WaveShares) ([]float64, error) {
		o := o
		o.Run = run
		return samples.SetFigures(independentByRounds(g, o, shares))
	})
}
