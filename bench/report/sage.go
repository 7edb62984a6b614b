package report

import (
	"fmt"
	"time"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/bench/internal/inputs"
	"github.com/hiveblas/hiveblas/internal/workload"
	"github.com/hiveblas/hiveblas/matrix"
)

// searchTask is a walk of 128 vertices from each vertex of a graph in the shape of the report's.
func searchTask(b *reportBench, rule apps.SearchRule, scale, factor int) (*reportTask, error) {
	s := b.shrunk(scale)
	g := gen.CSR(gen.Symmetrise(gen.RMAT(s, factor, gen.RMATOptions{})))
	list := make([]float64, g.NRows)
	for v := range list {
		list[v] = inputs.Unit[float64](gen.Hash(uint64(v), 51))
	}
	v, err := matrix.VectorOf(list)
	if err != nil {
		return nil, err
	}
	scores := apps.VertexScores(v)
	in := symmetricRMAT(s, factor)
	in.Parameters += "; a walk of 128 vertices from each vertex, " + rule.String()
	t := &reportTask{input: in.of(g), files: graphFile(g, nil)}
	t.ready = func(at matrix.Place, with apps.Run) (reportRun, error) {
		a, err := ones[float32](g, at)
		if err != nil {
			return nil, err
		}
		return func(clock func(func() error) (time.Duration, error), look bool) (o outcome, err error) {
			var res *apps.SearchResult
			o.took, err = clock(func() (err error) {
				res, err = apps.GraphSearch(a, scores, nil, apps.SearchOptions{Run: with, Rule: rule, Length: 128})
				return err
			})
			if err != nil || !look {
				return o, err
			}
			o.result = fmt.Sprintf("%d steps, %d vertices", res.Steps, res.Distinct)
			o.check = float64(res.Steps) + float64(res.Distinct)
			return o, nil
		}, nil
	}
	t.peers = map[string]peerCall{}
	return t, nil
}

// sageTask is the inference of the report on a graph of the size of pokec, with edges drawn alike:
// layers of 128+128 columns, its defaults, and samples of each vertex's tree, or one sample for a
// vertex and a layer.
func sageTask(b *reportBench, features, samples int, perSource bool) (*reportTask, error) {
	n, degree := max(1632803>>b.shrink, 64), 27
	g := gen.CSR(gen.Edges(n, n*degree, 7))
	shape := workload.Network{Features: features, Hidden: 128, Out: 128}
	m, err := shape.Model()
	if err != nil {
		return nil, err
	}
	in := Input{Generator: "uniform ends", Parameters: fmt.Sprintf("n=%d, %d edges each; %d features, 128+128 and 128+128 columns, %d×%d samples", n, degree, features, samples, samples), Seed: 7}
	t := &reportTask{input: in.of(g), files: graphFile(g, nil), tolerance: 1e-5,
		slow: perSource && features*samples > 640}
	t.ready = func(at matrix.Place, with apps.Run) (reportRun, error) {
		a, err := ones[float32](g, at)
		if err != nil {
			return nil, err
		}
		x, err := workload.Floats(n, features, 39, 1)
		if err != nil {
			return nil, err
		}
		if err := x.Move(at); err != nil {
			return nil, err
		}
		return func(clock func(func() error) (time.Duration, error), look bool) (o outcome, err error) {
			var res *apps.SAGEResult
			o.took, err = clock(func() (err error) {
				res, err = apps.GraphSAGE(a, x, m, apps.SAGEOptions{Run: with, Samples: []int{samples, samples}, Replace: true, PerSource: perSource})
				return err
			})
			if err != nil {
				return o, err
			}
			defer res.Embeddings.Clear()
			if !look {
				return o, nil
			}
			if err := res.Embeddings.Fetch(); err != nil {
				return o, err
			}
			for _, y := range res.Embeddings.All() {
				o.check += float64(y)
			}
			o.result = fmt.Sprintf("%d×%d, %d rows of zeros", n, 256, res.ZeroRows)
			return o, nil
		}, nil
	}
	t.peers = map[string]peerCall{}
	return t, nil
}
