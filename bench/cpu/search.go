package cpu

import (
	"math/rand/v2"
	"time"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/bench/internal/inputs"
	"github.com/hiveblas/hiveblas/internal/parallel"
)

// oursWalks walks uniformly from each vertex with edges. The check is the number of steps.
func oursWalks(b *cpuBench, in, _ *input) (time.Duration, float64, error) {
	starts := memo(in, "vertices with edges", func() []int { return inputs.WalkStarts(in.graph) })
	var steps int64
	d, err := timed(func() error {
		res, err := apps.GraphSearch(in.f64, nil, starts, apps.SearchOptions{Run: apps.Run{Threads: b.Threads}, Length: inputs.WalkLength})
		if err == nil {
			steps = res.Steps
		}
		return err
	})
	return d, float64(steps), err
}

// plainWalks is a loop over the walks, one after another, on each core. It marks the vertices that
// it visits too, in an array for each core.
func plainWalks(b *cpuBench, in, _ *input) (time.Duration, float64, error) {
	starts := memo(in, "vertices with edges", func() []int { return inputs.WalkStarts(in.graph) })
	threads := parallel.Threads(b.Threads)
	steps := make([]int64, threads)
	ptr, idx := in.graph.Ptr, in.graph.Idx
	d, err := timed(func() error {
		parallel.Do(threads, func(worker int) {
			rng := rand.New(rand.NewPCG(1, uint64(worker)))
			seen := make([]bool, in.graph.NRows)
			taken := int64(0)
			for k := worker; k < len(starts); k += threads {
				v := starts[k]
				seen[v] = true
				for range inputs.WalkLength - 1 {
					lo, hi := ptr[v], ptr[v+1]
					if lo == hi {
						break
					}
					v = int(idx[lo+rng.Int64N(hi-lo)])
					seen[v] = true
					taken++
				}
			}
			steps[worker] = taken
		})
		return nil
	})
	total := 0.0
	for _, s := range steps {
		total += float64(s)
	}
	return d, total, err
}
