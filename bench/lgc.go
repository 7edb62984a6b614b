package bench

import (
	"fmt"
	"math"
	"time"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/matrix"
)

// lgcRho gives an average support of 1050 vertices around a vertex of R-MAT 20.
const lgcRho = 1.4e-6

// clustererOn is a Clusterer of a symmetric input on the device.
func clustererOn(b *gpuBench, in *gpuInput) (*apps.Clusterer, error) {
	return kept(in, "clusterer", func() (*apps.Clusterer, error) {
		a, err := undirectedOn(b, in)
		if err != nil {
			return nil, err
		}
		return apps.NewClusterer(a, apps.Run{})
	})
}

// uncertain describes a violated certificate, "" if it holds.
func uncertain(kkt, epsilon float64, converged bool) string {
	if converged && kkt <= epsilon*1.001 {
		return ""
	}
	return fmt.Sprintf("the optimality conditions are violated by %v, converged %v", kkt, converged)
}

// gpuLocalCluster has a penalty so small that nearly all vertices are found.
func gpuLocalCluster(b *gpuBench, in *gpuInput) (*gpuPlan, error) {
	c, err := clustererOn(b, in)
	if err != nil {
		return nil, err
	}
	g, seed := in.graph, sourcesOf(in.graph, 1)[0]
	var best *apps.LocalClusterResult
	plan := &gpuPlan{bytes: func() float64 { return float64(best.Iterations) * (4*float64(g.NNZ()) + 100*float64(g.NRows)) }}
	for _, m := range []apps.ClusterMethod{apps.ClusterPush, apps.ClusterFISTA} {
		o := apps.LocalClusterOptions{Rho: 1 / (100 * float64(g.NNZ())), Epsilon: 1e-2, Method: m}
		var res *apps.LocalClusterResult
		plan.ours = append(plan.ours, gpuContender{name: m.String(), once: true, clock: b.dev.Time, method: func() string { return m.String() }, do: func() (err error) {
			res, err = c.Cluster([]int{seed}, o)
			best = res
			return err
		}})
		if m == apps.ClusterPush {
			plan.check = func() (string, error) {
				plan.notes = func() []string {
					return []string{fmt.Sprintf("support %d of %d, %d iterations", res.Support, g.NRows, res.Iterations)}
				}
				return uncertain(res.KKT, o.Epsilon, res.Converged), nil
			}
		}
	}
	return plan, nil
}

// gpuClusterBatch is 4096 queries at once; the other contender is a query by
// itself, 4096 times its median.
func gpuClusterBatch(b *gpuBench, in *gpuInput) (*gpuPlan, error) {
	c, err := clustererOn(b, in)
	if err != nil {
		return nil, err
	}
	queries := max(4096>>b.shrink, 4)
	seeds := sourcesOf(in.graph, queries)
	o := apps.LocalClusterOptions{Rho: lgcRho * math.Pow(2, float64(b.shrink))}
	var all *apps.ClusterBatch
	plan := &gpuPlan{}
	plan.ours = []gpuContender{{name: "batch", once: true, clock: b.dev.Time, do: func() (err error) {
		all, err = c.Batch(seeds, 0, o)
		return err
	}}}
	plan.others = []gpuContender{{name: "one at a time", timed: func() (time.Duration, error) {
		const sample = 16
		took := make([]float64, min(sample, queries))
		for k := range took {
			d, err := wall(func() error { _, err := c.Cluster(seeds[k:k+1], o); return err })
			if err != nil {
				return 0, err
			}
			took[k] = float64(d)
		}
		return time.Duration(QuartilesOf(took).Median * float64(queries)), nil
	}}}
	plan.check = func() (string, error) {
		plan.notes = func() []string {
			return []string{fmt.Sprintf("%d entries, %d iterations", all.P.NVals(), all.Iterations)}
		}
		return uncertain(all.KKT, 1e-3, all.Converged), nil
	}
	return plan, nil
}

// oursLocalCluster is the mean of 8 queries on a prepared graph, of 8 sources each.
func oursLocalCluster(b *cpuBench, in, _ *input) (time.Duration, float64, error) {
	in.f64.IsSymmetric()
	c, err := apps.NewClusterer(in.f64, apps.Run{Threads: b.Threads})
	if err != nil {
		return 0, 0, err
	}
	rho := map[string]float64{"rmat16": 2e-6, "rmat20": lgcRho}[in.name] // supports of 1042 and 1050 on average
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
		total, check = total+d, check+checkVector(p)
	}
	return total / searches, check, nil
}
