package sage

import (
	"slices"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/apps/sage/internal/neural"
	"github.com/hiveblas/hiveblas/apps/sage/internal/sampled"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// sagePipeline is GraphSAGE in operations where the graph lives. A layer maps the rows H of its
// sources to rows of its targets, the first sources; the entries of P, targets × sources, are the
// weights of the chosen neighbours:
//
//	mean   Z ← norm(relu([H·Wf, P·(H·Wa)]))
//	pool   Z ← norm(relu([H·Wf, (P max.second relu(H·Wp + 1⊗b))·Wa]))
//	GCN    Z ← norm(relu(P·(H·Wf)))
//
// norm divides the rows by their lengths, √(Z∘Z·1). Only the choice of neighbours, which
// depends on the seed, the layer and the vertex, is made on the host.
type sagePipeline struct {
	ops.Steps
	net   *neural.Net[float32]
	place matrix.Place
	with  ops.Option
}

// matrixF is a matrix of the network.
type matrixF = matrix.Matrix[float32]

func embedByOperations(app string, net *neural.Net[float32], at *sampled.Graph, features matrix.Source[float32], n int, place matrix.Place, o SAGEOptions) (*SAGEResult, error) {
	p := &sagePipeline{net: net, place: place, with: workflow.With(o.Run)}
	x := p.features(features, n)
	last := len(net.Layers) - 1
	rows := n
	if o.Vertices != nil {
		rows = len(o.Vertices)
	}
	z := p.matrix(rows, net.Layers[last].Width())
	trees := o.PerSource || o.Vertices != nil && sampled.TreeSize(rows, o.Samples, at, last+1) < float64(n)
	list := sampled.NumbersOrAll(o.Vertices, n)
	if !trees {
		z = p.layers(at, x, o.Samples)
		if o.Vertices != nil {
			z = p.rows(z, list)
		}
		list = nil
	}
	for batch := range slices.Chunk(list, o.Batch) {
		lo := rows - len(list)
		list = list[len(batch):]
		p.Do(ops.Assign(z, p.tree(at, x, batch, o), ops.Span(lo, lo+len(batch)), ops.All(), p.with))
		workflow.Report(o.Run, "GraphSAGE", int64(lo+len(batch)), int64(rows))
	}
	res := &SAGEResult{Embeddings: z}
	length := p.lengths(z)
	p.Do(ops.Select(length, semiring.ValueGT[float32](0), length, p.with))
	res.ZeroRows = rows - int(p.NVals(length))
	if net.Out != nil {
		res.Logits = p.affine(z, net.Out.Value, net.Bias.Value)
	}
	workflow.Report(o.Run, "GraphSAGE", int64(n), int64(n))
	return res, p.Err()
}

// layers computes all layers for all vertices.
func (p *sagePipeline) layers(g *sampled.Graph, h *matrixF, samples []int) *matrixF {
	var b *neural.Block[float32]
	for k := range p.net.Layers {
		if s := sampled.SamplesOf(samples, len(p.net.Layers)-1-k); b == nil || s >= 0 {
			var err error
			if b, _, err = sampled.BlockOf[float32](g, nil, 0, k, s); !p.Do(err) {
				return h
			}
		}
		h = p.layer(&p.net.Layers[k], h, b)
	}
	return h
}

// tree computes the rows of some vertices from the features of the vertices that their trees reach.
func (p *sagePipeline) tree(g *sampled.Graph, x *matrixF, vertices []int32, o SAGEOptions) *matrixF {
	layers := len(p.net.Layers)
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
		return p.matrix(len(vertices), p.net.Layers[layers-1].Width())
	}
	h := p.rows(x, at)
	for k, b := range blocks {
		h = p.layer(&p.net.Layers[k], h, b)
	}
	if !o.PerSource {
		h = p.rows(h, vertices)
	}
	return h
}

// layer maps the rows of the sources of a block to rows of its targets.
func (p *sagePipeline) layer(l *neural.Layer[float32], h *matrixF, b *neural.Block[float32]) *matrixF {
	chosen := p.matrix(b.Targets, b.Sources)
	own, err := matrix.FromTuples(b.Targets, b.Sources, rowNumbers(b.Ptr), b.Idx, b.Weights(), semiring.Plus[float32]())
	if p.Do(err) && p.Do(own.Move(p.place)) {
		chosen = own
	}
	var z *matrixF
	if p.net.GCN() {
		z = p.times(chosen, p.product(h, l.Self.Value))
	} else {
		var near *matrixF
		if p.net.Pools() {
			pooled := p.relu(p.affine(h, l.Pool.Value, l.PoolBias.Value))
			most := p.matrix(b.Targets, l.Pool.Value.Cols)
			p.Do(ops.MxM(most, semiring.MaxSecond[float32](), chosen.Pattern(), pooled, p.with))
			near = p.product(most, l.Neighbour.Value)
		} else {
			near = p.times(chosen, p.product(h, l.Neighbour.Value))
		}
		if b.Sources > b.Targets {
			targets := p.matrix(b.Targets, l.Input())
			p.Do(ops.Extract(targets, h, ops.Span(0, b.Targets), ops.All(), p.with))
			h = targets
		}
		z = p.matrix(b.Targets, l.Width())
		p.Do(ops.Concat(z, [][]matrix.Source[float32]{{p.product(h, l.Self.Value), near}}, p.with))
	}
	z = p.relu(z)
	scale, err := workflow.FullVector[float32](p.place, b.Targets, 1, p.with)
	p.Do(err)
	length := p.lengths(z)
	p.Do(ops.Select(length, semiring.ValueGT[float32](0), length, p.with))
	p.Do(ops.ApplyFirst(scale.Masked(length.Structure()), semiring.Div[float32](), 1, length, p.with))
	return p.scaled(z, scale)
}

// scaled multiplies each row by a number.
func (p *sagePipeline) scaled(z *matrixF, scale *matrix.Vector[float32]) *matrixF {
	rows, cols := z.Dims()
	one, err := workflow.FullVector[float32](p.place, cols, 1, p.with)
	p.Do(err)
	by := p.matrix(rows, cols)
	p.Do(ops.Outer(by, semiring.PlusTimes[float32](), scale, one, p.with))
	p.Do(ops.EWiseMult(z, semiring.Times[float32](), z, by, p.with))
	return z
}

// lengths returns the L2 norms of the rows.
func (p *sagePipeline) lengths(z *matrixF) *matrix.Vector[float32] {
	rows, cols := z.Dims()
	squares, length := p.matrix(rows, cols), matrix.NewVector[float32](rows, matrix.On(p.place))
	p.Do(ops.EWiseMult(squares, semiring.Times[float32](), z, z, p.with))
	p.Do(ops.Reduce(length, semiring.Plus[float32](), squares, p.with))
	p.Do(ops.Apply(length, semiring.Sqrt[float32](), length, p.with))
	return length
}

// relu replaces negative values by 0.
func (p *sagePipeline) relu(z *matrixF) *matrixF {
	p.Do(ops.ApplySecond(z, semiring.Max[float32](), z, 0, p.with))
	return z
}

// affine returns h·W + 1⊗b.
func (p *sagePipeline) affine(h *matrixF, w, b neural.Panel[float32]) *matrixF {
	rows, _ := h.Dims()
	one, err := workflow.FullVector[float32](p.place, rows, 1, p.with)
	p.Do(err)
	bias, err := matrix.VectorOf(b.Val)
	p.Do(err)
	z := p.matrix(rows, w.Cols)
	if !p.OK() || !p.Do(bias.Move(p.place)) {
		return z
	}
	p.Do(ops.Outer(z, semiring.PlusTimes[float32](), one, bias, p.with))
	p.Do(ops.MxM(z.Accum(semiring.Plus[float32]()), semiring.PlusTimes[float32](), h, p.weights(w), p.with))
	return z
}

// product returns h·W.
func (p *sagePipeline) product(h *matrixF, w neural.Panel[float32]) *matrixF {
	return p.times(h, p.weights(w))
}

// times returns a·b.
func (p *sagePipeline) times(a, b *matrixF) *matrixF {
	rows, _ := a.Dims()
	_, cols := b.Dims()
	c := p.matrix(rows, cols)
	p.Do(ops.MxM(c, semiring.PlusTimes[float32](), a, b, p.with))
	return c
}

// rows returns some rows.
func (p *sagePipeline) rows(a *matrixF, list []int32) *matrixF {
	_, cols := a.Dims()
	c := p.matrix(len(list), cols)
	idx, err := matrix.VectorOf(list)
	if p.Do(err) {
		p.Do(ops.Extract(c, a, ops.ValuesOf(idx), ops.All(), p.with))
	}
	return c
}

// features returns the features at the place.
func (p *sagePipeline) features(features matrix.Source[float32], n int) *matrixF {
	x, err := sampled.FeaturesOf(features, n)
	if !p.Do(err) {
		return p.matrix(n, p.net.Layers[0].Input())
	}
	if x.Sparse != nil {
		return p.here(access.FromStore(x.Sparse))
	}
	return p.weights(x.Full)
}

// weights returns a panel as a matrix at the place.
func (p *sagePipeline) weights(w neural.Panel[float32]) *matrixF { return p.here(neural.AsMatrix(w)) }

func (p *sagePipeline) here(a *matrixF) *matrixF {
	p.Do(a.Move(p.place))
	return a
}

func (p *sagePipeline) matrix(rows, cols int) *matrixF {
	return matrix.New[float32](rows, cols, matrix.On(p.place))
}

// rowNumbers returns the row of each entry.
func rowNumbers(ptr []int64) []int32 {
	list := make([]int32, ptr[len(ptr)-1])
	for v := range len(ptr) - 1 {
		for k := ptr[v]; k < ptr[v+1]; k++ {
			list[k] = int32(v)
		}
	}
	return list
}
