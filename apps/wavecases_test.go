package apps

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/matrix"
)

// sharesOfTests are shares of waves that give small graphs to several threads.
var sharesOfTests = []waveShares{{2, 1}, {1 << 10, 1 << 9}, {20, 5}, usualWaveShares}

// compareWaves reports where the form for several threads finds other figures than one thread does in
// order, on every number of threads.
func compareWaves(t *testing.T, order func(g *adjacency, run Run) ([]float64, error), shared func(g *adjacency, run Run, shares waveShares) ([]float64, error)) {
	compare := func(t rapid.TB, s sample) {
		g := rowsOf(matrix.AsView[bool](build[float64](t, s.both(), matrix.CSR).View().Pattern()))
		want, err := order(g, Run{Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		for k, shares := range sharesOfTests {
			for _, threads := range []int{1, 2, 3, 8, 16} {
				if (k+threads)%5 != 0 && !longtest.Enabled() {
					continue
				}
				got, err := shared(g, Run{Threads: threads}, shares)
				if err != nil {
					t.Fatal(err)
				}
				sameFigures(t, fmt.Sprintf("shares %d, %d threads", k, threads), got, want, 0)
			}
		}
	}
	t.Run("drawn", func(t *testing.T) {
		onGraphs(t, compare)
	})
	for name, s := range strongGraphs() {
		t.Run(name, func(t *testing.T) { compare(t, s) })
	}
}

func setFigures(v *matrix.Vector[bool], err error) (figures []float64, _ error) {
	if err != nil {
		return nil, err
	}
	for k := range v.All() {
		figures = append(figures, float64(k))
	}
	return figures, nil
}

func listFigures(list []int32) (figures []float64) {
	for _, x := range list {
		figures = append(figures, float64(x))
	}
	return figures
}
