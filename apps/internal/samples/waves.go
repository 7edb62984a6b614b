package samples

import (
	"fmt"
	"testing"

	"github.com/hiveblas/hiveblas/apps/internal/frontier"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/matrix"
	"pgregory.net/rapid"
)

// SharesOfTests are shares of waves that give small graphs to several threads.
var SharesOfTests = []frontier.WaveShares{{Narrow: 2, Grain: 1}, {Narrow: 1 << 10, Grain: 1 << 9}, {Narrow: 20, Grain: 5}, frontier.UsualWaveShares}

// CompareWaves reports where the form for several threads finds other figures than one thread does
// in order, on every number of threads.
func CompareWaves(t *testing.T, order func(g *workflow.Adjacency, run workflow.Run) ([]float64, error), shared func(g *workflow.Adjacency, run workflow.Run, shares frontier.WaveShares) ([]float64, error)) {
	compare := func(t rapid.TB, s Sample) {
		g := workflow.RowsOf(matrix.AsView[bool](Build[float64](t, s.Both(), matrix.CSR).View().Pattern()))
		want, err := order(g, workflow.Run{Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		for k, shares := range SharesOfTests {
			for _, threads := range []int{1, 2, 3, 8, 16} {
				if (k+threads)%5 != 0 && !longtest.Enabled() {
					continue
				}
				got, err := shared(g, workflow.Run{Threads: threads}, shares)
				if err != nil {
					t.Fatal(err)
				}
				SameFigures(t, fmt.Sprintf("shares %d, %d threads", k, threads), got, want, 0)
			}
		}
	}
	t.Run("drawn", func(t *testing.T) {
		OnGraphs(t, compare)
	})
	for name, s := range StrongGraphs() {
		t.Run(name, func(t *testing.T) { compare(t, s) })
	}
}

func SetFigures(v *matrix.Vector[bool], err error) (figures []float64, _ error) {
	if err != nil {
		return nil, err
	}
	for k := range v.All() {
		figures = append(figures, float64(k))
	}
	return figures, nil
}

func ListFigures(list []int32) (figures []float64) {
	for _, x := range list {
		figures = append(figures, float64(x))
	}
	return figures
}
