package cpu

import (
	"time"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/bench/internal/reference"
)

// forestCases are the rows of strong components, of directed R-MAT and of rings in a chain, whose
// pipeline takes a round for each ring, and of spanning forests, which have no pipeline.
func forestCases() []cpuCase {
	return []cpuCase{
		{name: "strong components directed18", bar: .9, input: "directed18", peer: []string{"scc"}, rounds: 9,
			ours: strongBy(byDefault), pipeline: strongBy(byOperations), rival: strongBy(byHand)},
		{name: "strong components directed20", bar: .9, input: "directed20", peer: []string{"scc"}, rounds: 5,
			ours: strongBy(byDefault), pipeline: strongBy(byOperations), rival: strongBy(byHand)},
		{name: "strong components rings20000", bar: .9, input: "rings20000", peer: []string{"scc"}, rounds: 5,
			ours: strongBy(byDefault), rival: strongBy(byHand)},
		{name: "spanning forest weighted18", bar: .8, input: "weighted18", peer: []string{"spanning"}, rounds: 5,
			ours: oursSpanning, rival: spanningByHand},
		{name: "spanning forest weighteduniform18", bar: .8, input: "weighteduniform18", peer: []string{"spanning"}, rounds: 5,
			ours: oursSpanning, rival: spanningByHand},
	}
}

// strongBy measures with the transpose present.
func strongBy(by contender) ours {
	return func(b *cpuBench, in, _ *input) (d time.Duration, check float64, err error) {
		ptr, idx, _, err := in.f64.CSC()
		if err != nil {
			return 0, 0, err
		}
		if by == byHand {
			var label []int32
			d, _ = timed(func() error {
				label = reference.Strong(plainGraph(in), reference.Graph{Ptr: ptr, Idx: idx}, b.Threads)
				return nil
			})
			size := make([]float64, len(label))
			count, largest := 0.0, 0.0
			for _, l := range label {
				if size[l]++; size[l] == 1 {
					count++
				}
				largest = max(largest, size[l])
			}
			return d, count*1e6 + largest, nil
		}
		var c *apps.Components
		d, err = timed(func() error {
			c, err = apps.StronglyConnectedComponents(in.f64, apps.ComponentsOptions{Run: by.run(b)})
			return err
		})
		if err != nil {
			return 0, 0, err
		}
		return d, float64(c.Count)*1e6 + float64(c.Largest), nil
	}
}

// rings are the edges of n rings of ten vertices in a chain. Vertices have numbers in random order.
func rings(n int) gen.Tuples {
	const size = 10
	t := gen.Tuples{NRows: n * size, NCols: n * size}
	name := gen.Permutation(n*size, 1)
	for v := range n * size {
		t.Rows = append(t.Rows, name[v])
		t.Cols = append(t.Cols, name[v-v%size+(v+1)%size])
		if v+size < n*size {
			t.Rows = append(t.Rows, name[v])
			t.Cols = append(t.Cols, name[v+size])
		}
	}
	return t
}

func oursSpanning(b *cpuBench, in, _ *input) (time.Duration, float64, error) {
	in.f64.IsSymmetric()
	var forest *apps.Spanning
	d, err := timed(func() (err error) {
		forest, err = apps.MinimumSpanningForest(in.f64, apps.SpanningOptions{Run: byDefault.run(b)})
		return err
	})
	if err != nil {
		return 0, 0, err
	}
	return d, forest.Weight, nil
}

func spanningByHand(b *cpuBench, in, _ *input) (time.Duration, float64, error) {
	var total float64
	d, err := timed(func() error {
		total, _ = reference.Spanning(plainGraph(in), in.val, b.Threads)
		return nil
	})
	return d, total, err
}
