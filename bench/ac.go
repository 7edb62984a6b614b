package bench

import (
	"fmt"
	"math"
	"time"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/matrix"
)

// The features of the HIVE application classification data: reals and counts
// of a vertex and of an edge.
const (
	vertexReals, vertexCounts = 10, 3
	edgeReals, edgeCounts     = 10, 7
)

// attributed makes features for the edges of t and their ends.
func attributed(t gen.Tuples, seed uint64) (*apps.Attributed, error) {
	vertices, err := matrix.FromDense(vertexReals+vertexCounts, t.NRows, gen.Features(t.NRows, vertexReals, vertexCounts, seed))
	if err != nil {
		return nil, err
	}
	edges, err := matrix.FromDense(edgeReals+edgeCounts, t.Len(), gen.Features(t.Len(), edgeReals, edgeCounts, seed+1))
	if err != nil {
		return nil, err
	}
	return apps.NewAttributed(vertices, edges, t.Rows, t.Cols)
}

// acPattern is a pattern of 10 vertices and 20 edges.
func acPattern() (*apps.Attributed, error) { return attributed(gen.Edges(10, 20, 5), 6) }

// acSmall is in the shape of georgiyData: 1000 vertices and 20135 edges.
func acSmall(shrink int) gen.Tuples {
	return gen.Edges(max(1000>>shrink, 20), max(20135>>shrink, 100), 1)
}

// acRMAT is in the shape of the HIVE report's rmat18: 262145 vertices, of
// which the last has no edges, and 2008660 edges.
func acRMAT(shrink int) gen.Tuples {
	t := gen.RMAT(max(18-shrink, 4), 8, gen.RMATOptions{})
	m := min(t.Len(), 2_008_660>>shrink)
	return gen.Tuples{Rows: t.Rows[:m], Cols: t.Cols[:m], NRows: t.NRows + 1, NCols: t.NCols + 1}
}

// acBytes is what a matching reads and writes at least: of each edge, its
// distances and a row of messages in every round; the features once.
func acBytes(t gen.Tuples) float64 {
	const rounds, q = 10.0, 20.0
	return float64(t.Len())*(4*17+rounds*(8*q+8)) + rounds*float64(t.NRows)*4*10*q
}

// oursClassify runs Classify; its peer is NumPy, by the same formulas over arrays of edges.
func oursClassify(b *cpuBench, in, _ *input) (time.Duration, float64, error) {
	data, err := attributed(in.tuples, 1)
	if err != nil {
		return 0, 0, err
	}
	pattern, err := acPattern()
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
	return d, checkMatrix(mu), nil
}

// gpuClassify measures a whole matching of graphs that live on the device, from the call to its
// end. The host's result is the check.
func gpuClassify(tuples func(shrink int) gen.Tuples) func(b *gpuBench, in *gpuInput) (*gpuPlan, error) {
	return func(b *gpuBench, _ *gpuInput) (*gpuPlan, error) {
		t := tuples(b.shrink)
		data, err := attributed(t, 1)
		if err != nil {
			return nil, err
		}
		pattern, err := acPattern()
		if err != nil {
			return nil, err
		}
		want, err := apps.Classify(data, pattern, apps.ClassifyOptions{Trusted: true})
		if err != nil {
			return nil, err
		}
		for _, g := range []*apps.Attributed{data, pattern} {
			if err := g.Move(b.dev); err != nil {
				return nil, err
			}
		}
		var r ran
		var mu *matrix.Matrix[float32]
		match := func(run apps.Run) (err error) {
			mu, err = apps.Classify(data, pattern, apps.ClassifyOptions{Run: run, Trusted: true})
			return err
		}
		plan := &gpuPlan{bytes: func() float64 { return acBytes(t) }}
		plan.ours = []gpuContender{{name: "hiveblas", once: true, clock: b.dev.Time, method: r.method, do: func() error { return match(apps.Run{}) }}}
		plan.check = func() (string, error) {
			plan.notes = where(b, mu.Place())
			if err := match(r.run()); err != nil {
				return "", err
			}
			n, np := want.Dims()
			for v := range n {
				for j := range np {
					x, _ := mu.At(v, j)
					if y, _ := want.At(v, j); math.Abs(float64(x-y)) > 1e-3*math.Max(1, math.Abs(float64(y))) {
						return fmt.Sprintf("vertex %d for %d has %v, want %v", v, j, x, y), nil
					}
				}
			}
			return "", nil
		}
		return plan, nil
	}
}
