package apps

import "testing"

// Waves of several threads find the core numbers that buckets find.
func TestCoresByWaves(t *testing.T) {
	compareWaves(t, func(g *adjacency, run Run) ([]float64, error) {
		core, _, err := coresOnHost(g, run)
		return listFigures(core), err
	}, func(g *adjacency, run Run, shares waveShares) ([]float64, error) {
		core, err := coresByWaves(g, run, shares)
		return listFigures(core), err
	})
}
