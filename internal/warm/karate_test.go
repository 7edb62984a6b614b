package warm

import (
	"bytes"
	"testing"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/testdata"
)

// karate runs what the command line runs on a small graph at a place.
func karate(t testing.TB, at matrix.Place) {
	t.Helper()
	for _, symmetric := range []bool{false, true} {
		g, err := matrix.ReadMatrixMarket[float64](bytes.NewReader(testdata.Karate))
		if err != nil {
			t.Fatal(err)
		}
		if symmetric {
			g.IsSymmetric()
		}
		if err := g.Move(at); err != nil {
			t.Fatal(err)
		}
		check := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		for _, o := range []apps.ProjectionOptions{{}, {Weighting: apps.WeightCount, Onto: apps.OntoRows}, {Weighting: apps.WeightRatio}} {
			_, err = apps.Projection(g, o)
			check(err)
		}
		_, err = apps.VertexNomination(g, []int{0, 5}, apps.VertexNominationOptions[float64]{Unit: true})
		check(err)
		_, err = apps.BFS(g, 0, apps.BFSOptions{Parents: true})
		check(err)
		_, err = apps.SSSP(g, []int{0}, apps.SSSPOptions[float64]{})
		check(err)
		_, err = apps.PageRank(g, apps.PageRankOptions{})
		check(err)
		_, err = apps.ConnectedComponents(g, apps.ComponentsOptions{})
		check(err)
		_, err = apps.TriangleCount(g, apps.TriangleOptions{})
		check(err)
		_, err = apps.KTruss(g, 3, apps.KTrussOptions{})
		check(err)
	}
}
