package apps

import "testing"

// Rounds of several threads find the set of the greedy order.
func TestIndependentSetByRounds(t *testing.T) {
	o := IndependentSetOptions{Seed: 3}
	compareWaves(t, func(g *adjacency, run Run) ([]float64, error) {
		o := o
		o.Run = run
		return setFigures(independentInOrder(g, o))
	}, func(g *adjacency, run Run, shares waveShares) ([]float64, error) {
		o := o
		o.Run = run
		return setFigures(independentByRounds(g, o, shares))
	})
}
