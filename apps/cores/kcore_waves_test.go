package cores

import (
	"testing"

	"github.com/hiveblas/hiveblas/apps/internal/frontier"
	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
)

// Waves of several threads find the core numbers that buckets find.
func TestCoresByWaves(t *testing.T) {
	samples.CompareWaves(t, func(g *workflow.Adjacency, run workflow.Run) ([]float64, error) {
		core, _, err := frontier.CoresOnHost(g, run)
		return samples.ListFigures(core), err
	}, func(g *workflow.Adjacency, run workflow.Run, shares frontier.WaveShares) ([]float64, error) {
		core, err := coresByWaves(g, run, shares)
		return samples.ListFigures(core), err
	})
}
