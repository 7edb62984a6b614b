package gpu

import (
	"fmt"
	"math"
	"time"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/bench"
	"github.com/hiveblas/hiveblas/bench/internal/gpuside"
	"github.com/hiveblas/hiveblas/bench/internal/inputs"
)

// clustererOn is a Clusterer of a symmetric input on the device.
func clustererOn(b *gpuBench, in *inputs.GPU) (*apps.Clusterer, error) {
	return inputs.Kept(in, "clusterer", func() (*apps.Clusterer, error) {
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
func gpuLocalCluster(b *gpuBench, in *inputs.GPU) (*gpuPlan, error) {
	c, err := clustererOn(b, in)
	if err != nil {
		return nil, err
	}
	g, seed := in.Graph, inputs.SourcesOf(in.Graph, 1)[0]
	var best *apps.LocalClusterResult
	plan := &gpuPlan{bytes: func() float64 { return float64(best.Iterations) * (4*float64(g.NNZ()) + 100*float64(g.NRows)) }}
	for _, m := range []apps.ClusterMethod{apps.ClusterPush, apps.ClusterFISTA} {
		o := apps.LocalClusterOptions{Rho: 1 / (100 * float64(g.NNZ())), Epsilon: 1e-2, Method: m}
		var res *apps.LocalClusterResult
		plan.ours = append(plan.ours, gpuside.Contender{Name: m.String(), Once: true, Clock: b.dev.Time, Method: func() string { return m.String() }, Do: func() (err error) {
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
func gpuClusterBatch(b *gpuBench, in *inputs.GPU) (*gpuPlan, error) {
	c, err := clustererOn(b, in)
	if err != nil {
		return nil, err
	}
	queries := max(4096>>b.shrink, 4)
	seeds := inputs.SourcesOf(in.Graph, queries)
	o := apps.LocalClusterOptions{Rho: inputs.LGCRho * math.Pow(2, float64(b.shrink))}
	var all *apps.ClusterBatch
	plan := &gpuPlan{}
	plan.ours = []gpuside.Contender{{Name: "batch", Once: true, Clock: b.dev.Time, Do: func() (err error) {
		all, err = c.Batch(seeds, 0, o)
		return err
	}}}
	plan.others = []gpuside.Contender{{Name: "one at a time", Timed: func() (time.Duration, error) {
		const sample = 16
		took := make([]float64, min(sample, queries))
		for k := range took {
			d, err := gpuside.Wall(func() error { _, err := c.Cluster(seeds[k:k+1], o); return err })
			if err != nil {
				return 0, err
			}
			took[k] = float64(d)
		}
		return time.Duration(bench.QuartilesOf(took).Median * float64(queries)), nil
	}}}
	plan.check = func() (string, error) {
		plan.notes = func() []string {
			return []string{fmt.Sprintf("%d entries, %d iterations", all.P.NVals(), all.Iterations)}
		}
		return uncertain(all.KKT, 1e-3, all.Converged), nil
	}
	return plan, nil
}
