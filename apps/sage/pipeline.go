package sage

import (
	"slices"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/apps/sage/internal/byops"
	"github.com/hiveblas/hiveblas/apps/sage/internal/neural"
	"github.com/hiveblas/hiveblas/apps/sage/internal/sampled"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
)

// sagePipeline is GraphSAGE in operations where the graph lives: the layers of byops. Only the
// choice of neighbours, which depends on the seed, the layer and the vertex, is made on the host.
type sagePipeline struct{ *byops.Net }

func embedByOperations(app string, net *neural.Net[float32], at *sampled.Graph, features matrix.Source[float32], n int, place matrix.Place, o SAGEOptions) (*SAGEResult, error) {
	p, with := sagePipeline{byops.New(net, place, o.Run)}, workflow.With(o.Run)
	input, err := sampled.FeaturesOf(features, n)
	if err != nil {
		return nil, err
	}
	x := p.Input(input)
	last := len(net.Layers) - 1
	rows := n
	if o.Vertices != nil {
		rows = len(o.Vertices)
	}
	z := p.Matrix(rows, net.Layers[last].Width())
	trees := o.PerSource || o.Vertices != nil && sampled.TreeSize(rows, o.Samples, at, last+1) < float64(n)
	list := sampled.NumbersOrAll(o.Vertices, n)
	if !trees {
		z = p.layers(at, x, o.Samples)
		if o.Vertices != nil {
			z = p.Rows(z, list)
		}
		list = nil
	}
	for batch := range slices.Chunk(list, o.Batch) {
		lo := rows - len(list)
		list = list[len(batch):]
		p.Do(ops.Assign(z, p.tree(at, x, batch, o), ops.Span(lo, lo+len(batch)), ops.All(), with))
		workflow.Report(o.Run, "GraphSAGE", int64(lo+len(batch)), int64(rows))
	}
	res := &SAGEResult{Embeddings: z}
	res.ZeroRows = p.ZeroRows(z)
	if net.Out != nil {
		res.Logits = p.Classify(z)
	}
	workflow.Report(o.Run, "GraphSAGE", int64(n), int64(n))
	return res, p.Err()
}

// layers computes all layers for all vertices.
func (p sagePipeline) layers(g *sampled.Graph, h *byops.Matrix, samples []int) *byops.Matrix {
	var b *neural.Block[float32]
	for k := range p.Layers {
		if s := sampled.SamplesOf(samples, len(p.Layers)-1-k); b == nil || s >= 0 {
			var err error
			if b, _, err = sampled.BlockOf[float32](g, nil, 0, k, s); !p.Do(err) {
				return h
			}
		}
		h = p.Layer(k, h, b).Out
	}
	return h
}

// tree computes the rows of some vertices from the features of the vertices that their trees reach.
func (p sagePipeline) tree(g *sampled.Graph, x *byops.Matrix, vertices []int32, o SAGEOptions) *byops.Matrix {
	layers := len(p.Layers)
	blocks, at := make([]*neural.Block[float32], layers), vertices
	var err error
	if o.PerSource {
		owners := vertices
		for k := layers - 1; k >= 0 && err == nil; k-- {
			blocks[k], at, owners, err = sampled.OwnBlock[float32](g, at, owners, k, sampled.SamplesOf(o.Samples, layers-1-k))
		}
	} else {
		targets := slices.Clone(vertices) // without repeats
		slices.Sort(targets)
		targets = slices.Compact(targets)
		back := make([]int32, len(vertices))
		for k, v := range vertices {
			i, _ := slices.BinarySearch(targets, v)
			back[k] = int32(i)
		}
		blocks, at, err = sampled.TreesOf[float32](g, targets, 0, layers, o.Samples)
		vertices = back
	}
	if !p.Do(err) {
		return p.Matrix(len(vertices), p.Layers[layers-1].Width())
	}
	h := p.Rows(x, at)
	for k, b := range blocks {
		h = p.Layer(k, h, b).Out
	}
	if !o.PerSource {
		h = p.Rows(h, vertices)
	}
	return h
}
