package cpu

import (
	"time"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/bench/internal/inputs"
	"github.com/hiveblas/hiveblas/bench/internal/reference"
	"github.com/hiveblas/hiveblas/matrix"
)

// atOnceCases are communities whose vertices move at once, with the usual tolerance and with those
// of Fast, beside loops that do the same. The modularities differ a little.
func atOnceCases() (cases []cpuCase) {
	for _, in := range []string{"planted200k", "rmat18", "data/soc-Slashdot0902"} {
		for _, fast := range []bool{false, true} {
			for _, leiden := range []bool{false, true} {
				o := apps.CommunitiesOptions{Nondeterministic: true, Fast: fast, Leiden: leiden}
				c := cpuCase{name: "louvain", input: in, bar: 1, tolerance: .02, rounds: 5, ours: communitiesOf(o, undirected), rival: communitiesByHand(leiden)}
				if leiden {
					c.name = "leiden"
				}
				if c.name += " at once " + in; fast {
					c.name, c.bar = c.name+", fast", .8
				}
				cases = append(cases, c)
			}
		}
	}
	return cases
}

// undirected marks a graph as undirected.
func undirected(a *matrix.Matrix[inputs.F64]) *matrix.Matrix[inputs.F64] {
	a.IsSymmetric()
	return a
}

// communitiesByHand is communities by plain loops. The figure is the modularity.
func communitiesByHand(leiden bool) ours {
	return func(b *cpuBench, in, _ *input) (time.Duration, float64, error) {
		var part []int32
		d, _ := timed(func() error {
			part = reference.Communities(plainGraph(in), leiden, b.Threads)
			return nil
		})
		membership, err := matrix.VectorOf(part)
		if err != nil {
			return 0, 0, err
		}
		q, err := apps.Modularity(inputs.Bare(in.f64).Pattern(), membership)
		return d, q, err
	}
}
