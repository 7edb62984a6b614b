package warm_test

import (
	"bytes"
	"testing"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/testdata"
)

// karate runs the apps on a small graph at a place, except lgc, which ends early
// on a device that returns made-up numbers.
func karate(t testing.TB, at matrix.Place) {
	t.Helper()
	for _, symmetric := range []bool{false, true} {
		for _, a := range apps.List[float64]() {
			for k, use := range a.Use {
				if a.Name == "lgc" {
					continue
				}
				g := sure.Get(graphio.ReadMatrixMarket[float64](bytes.NewReader(testdata.Karate)))
				if symmetric {
					g.IsSymmetric()
				}
				sure.Do(g.Move(at))
				if _, err := use(g, apps.Run{}); err != nil {
					t.Fatalf("%s, use %d: %v", a.Name, k, err)
				}
			}
		}
	}
}
