package cpu

import (
	"time"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/bench/internal/inputs"
	"github.com/hiveblas/hiveblas/matrix"
)

// oursLocalCluster is the mean of 8 queries on a prepared graph, of 8 sources each.
func oursLocalCluster(b *cpuBench, in, _ *input) (time.Duration, float64, error) {
	in.f64.IsSymmetric()
	c, err := apps.NewClusterer(in.f64, apps.Run{Threads: b.Threads})
	if err != nil {
		return 0, 0, err
	}
	rho := map[string]float64{"rmat16": 2e-6, "rmat20": inputs.LGCRho}[in.name] // supports of 1042 and 1050 on average
	var total time.Duration
	var check float64
	for _, v := range benchSources(in) {
		var p *matrix.Vector[float64]
		d, err := timed(func() error {
			res, err := c.Cluster([]int{v}, apps.LocalClusterOptions{Run: apps.Run{Threads: b.Threads}, Rho: rho})
			if err == nil {
				p = res.P
			}
			return err
		})
		if err != nil {
			return 0, 0, err
		}
		total, check = total+d, check+inputs.CheckVector(p)
	}
	return total / searches, check, nil
}
