package sets

import (
	"testing"

	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
)

// Ranks fall with the degree, and few degrees share one.
func TestDegreeRank(t *testing.T) {
	for _, c := range []struct {
		degree int64
		rank   uint8
	}{{0, 63}, {1, 62}, {31, 32}, {32, 31}, {47, 31}, {48, 30}, {63, 30}, {64, 29}, {1<<20 + 1<<19, 0}, {1<<20 + 1<<19 - 1, 1}, {1<<31 - 1, 0}} {
		if got := degreeRank(c.degree); got != c.rank {
			t.Errorf("degree %d: rank %d, want %d", c.degree, got, c.rank)
		}
	}
}

// On a skewed graph all forms find the same set by degree, which is larger than the random one.
func TestIndependentSetByDegreeOnDevice(t *testing.T) {
	d := samples.RealOrEmulated(t)
	host, there := samples.Skewed(t, 10), samples.Skewed(t, 10)
	sure.Do(there.Move(d.Device))
	for seed := range int64(3) {
		set := func(g *matrix.Matrix[float64], m workflow.Method, p SetPriority) *matrix.Vector[bool] {
			return samples.Must[*matrix.Vector[bool]](t)(MaximalIndependentSet(g, IndependentSetOptions{workflow.Run{Method: m}, p, seed}))
		}
		want := set(host, workflow.Auto, DegreePriority)
		samples.SameVector(t, "pipeline", nil, set(host, workflow.Pipeline, DegreePriority), want)
		samples.SameVector(t, "pipeline on a device", d.Device, set(there, workflow.Pipeline, DegreePriority), want)
		samples.SameVector(t, "fused", d.Device, set(there, workflow.Fused, DegreePriority), want)
		if random := set(host, workflow.Auto, RandomPriority); want.NVals() <= random.NVals() {
			t.Errorf("seed %d: %d vertices by degree, %d at random", seed, want.NVals(), random.NVals())
		}
	}
}
