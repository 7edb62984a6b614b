package cpu

import (
	"time"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/bench/internal/inputs"
	"github.com/hiveblas/hiveblas/matrix"
)

// oursClassify runs Classify; its peer is NumPy, by the same formulas over arrays of edges.
func oursClassify(b *cpuBench, in, _ *input) (time.Duration, float64, error) {
	data, err := inputs.Attributed(in.tuples, 1)
	if err != nil {
		return 0, 0, err
	}
	pattern, err := inputs.ACPattern()
	if err != nil {
		return 0, 0, err
	}
	var mu *matrix.Matrix[float32]
	d, err := timed(func() (err error) {
		mu, err = apps.Classify(data, pattern, apps.ClassifyOptions{Run: apps.Run{Threads: b.Threads}, Trusted: true})
		return err
	})
	if err != nil {
		return 0, 0, err
	}
	return d, inputs.CheckMatrix(mu), nil
}
