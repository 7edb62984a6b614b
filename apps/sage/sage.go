// Package sage embeds vertices by features and neighbours: GraphSAGE, and the files of features and
// models. Package train, below it, trains the models.
package sage

import (
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/apps/sage/internal/neural"
	"github.com/hiveblas/hiveblas/apps/sage/internal/sampled"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// SAGEAggregator is the function by which GraphSAGE sums up the neighbours of a vertex.
type SAGEAggregator int

const (
	// AggregateMean is the mean; its product with weights is put behind the product of the vertex.
	AggregateMean SAGEAggregator = iota
	// AggregatePool is the maximum of relu(h·Wp + b), in each component.
	AggregatePool
	// AggregateGCN is the mean of the vertex and its neighbours, in place of both.
	AggregateGCN
	// AggregateAttention weighs each neighbour by its row and the row of the vertex, and puts the
	// sum behind the product of the vertex: graph attention (GAT).
	AggregateAttention
	// AggregateLSTM reads the neighbours one by one, in an order that is random for each seed and
	// vertex, and puts the product of its last state with weights behind the product of the vertex.
	AggregateLSTM
)

// String returns the name of the aggregator on the command line.
func (a SAGEAggregator) String() string {
	switch a {
	case AggregateMean:
		return "mean"
	case AggregatePool:
		return "pool"
	case AggregateGCN:
		return "gcn"
	case AggregateAttention:
		return "attention"
	case AggregateLSTM:
		return "lstm"
	}
	return fmt.Sprintf("SAGEAggregator(%d)", int(a))
}

// A SAGELayer holds the weights of a layer for inputs of d columns. All matrices are full.
type SAGELayer struct {
	Self      *matrix.Matrix[float32] // d×h: of the vertex; of the mean with AggregateGCN
	Neighbour *matrix.Matrix[float32] // d×h, p×h with AggregatePool and AggregateLSTM: of the neighbours; nil with AggregateGCN
	Pool      *matrix.Matrix[float32] // d×p, with AggregatePool
	PoolBias  []float32               // p, with AggregatePool
	// AttendSelf and AttendNeighbour are vectors of h numbers, with AggregateAttention. The score
	// of a neighbour is the product of the vertex's row of h·Wa with AttendSelf plus the product of
	// the neighbour's row with AttendNeighbour.
	AttendSelf, AttendNeighbour []float32
	// Gates (d×4p), Recurrent (p×4p) and GateBias (4p numbers), with AggregateLSTM, are the weights
	// of the row of a neighbour and of the state, and the bias. Their columns belong to the input
	// gate, the forget gate, the new content and the output gate of p components.
	Gates, Recurrent *matrix.Matrix[float32]
	GateBias         []float32
}

// A SAGEModel is a trained or given network. The output of a layer has h columns for the vertex and
// h for its neighbours, or only h with AggregateGCN, and is the input of the next layer.
type SAGEModel struct {
	Aggregator SAGEAggregator
	Heads      int // of AggregateAttention, into which the h columns of a layer are divided; 0 is 1
	Layers     []SAGELayer
	Classifier *matrix.Matrix[float32] // columns of the last output × classes; nil without
	Bias       []float32               // of the classes
	Classes    []string                // the name of each class; nil if they have only numbers
}

// SAGESampling is the way in which GraphSAGE chooses neighbours of a vertex.
type SAGESampling int

const (
	// SampleUniform draws each neighbour with the same probability: the default.
	SampleUniform SAGESampling = iota
	// SampleByWeight draws in proportion to the value of the edge, which must be positive.
	SampleByWeight
	// SampleByDegree draws in proportion to the number of neighbours of the neighbour (importance
	// sampling as in FastGCN).
	SampleByDegree
	// SampleByWalks takes the vertices that short random walks from the vertex visit most, weighted
	// by their visits (as PinSage does). They need not be neighbours.
	SampleByWalks
)

// String returns the name of the sampling on the command line.
func (s SAGESampling) String() string { return sampled.Rule(s).String() }

// SAGEOptions are the settings of GraphSAGE.
type SAGEOptions struct {
	workflow.Run
	// Samples is the number of neighbours to choose for each vertex: of the vertices asked for, of
	// their neighbours, and so on, one number for each layer. nil takes all neighbours.
	Samples  []int
	Sampling SAGESampling
	Replace  bool   // draw with replacement, as the HIVE report does
	Seed     uint64 // of the choices
	Vertices []int  // to embed; nil for all
	// PerSource draws the samples of each vertex's tree anew, as the HIVE report does, in place of
	// one choice for a vertex and a layer. It needs Samples. A device has it for SampleUniform; if
	// features are sparse, a first layer of pools or of rows wider than a warp's runs on the host.
	PerSource bool
	Batch     int // of trees that the host computes together; 0 means 4096
	// FeatureMemory is the bytes of a device's memory that features may take, 0 for what is free.
	// Larger ones stay in host memory and are copied in pieces, through pinned memory, in each
	// call.
	FeatureMemory int64
	// Precision is the precision of features, weights and hidden rows on a device; the host has
	// only SAGEFloat32. Sums and embeddings are in float32.
	Precision SAGEPrecision

	// part is the range of all vertices that a device of a group embeds, where Vertices is nil; 0
	// and 0 for all.
	part struct{ from, to int }
}

// embeds returns the number of vertices to embed of n.
func (o *SAGEOptions) embeds(n int) int {
	switch {
	case o.Vertices != nil:
		return len(o.Vertices)
	case o.part.to > 0:
		return o.part.to - o.part.from
	}
	return n
}

// SAGEPrecision is the form of the numbers of GraphSAGE on a device.
type SAGEPrecision int

const (
	// SAGEFloat32 is float32.
	SAGEFloat32 = SAGEPrecision(device.Float32)
	// SAGETF32 is float32; products read 10 bits of its fraction.
	SAGETF32 = SAGEPrecision(device.TF32)
	// SAGEFloat16 is IEEE 754 binary16: 11 bits, up to 65504.
	SAGEFloat16 = SAGEPrecision(device.Float16)
	// SAGEBFloat16 is the upper half of float32: 8 bits.
	SAGEBFloat16 = SAGEPrecision(device.BFloat16)
)

// String returns the name of the precision on the command line.
func (p SAGEPrecision) String() string {
	switch p {
	case SAGEFloat32:
		return "fp32"
	case SAGETF32:
		return "tf32"
	case SAGEFloat16:
		return "fp16"
	case SAGEBFloat16:
		return "bf16"
	}
	return fmt.Sprintf("SAGEPrecision(%d)", int(p))
}

// SAGEResult is the result of GraphSAGE.
type SAGEResult struct {
	Embeddings *matrix.Matrix[float32] // a row for each vertex, in the given order
	Logits     *matrix.Matrix[float32] // a column for each class; nil without a classifier
	ZeroRows   int                     // embeddings without a positive component
	// Pieces is the number of pieces in which features were copied to a device; 0 if they fitted
	// there, and on the host.
	Pieces int
}

// GraphSAGE computes embeddings of vertices from the features of the vertices and of their
// neighbourhoods (Hamilton, Ying, Leskovec: Inductive representation learning on large graphs, NIPS
// 2017, algorithm 2; chapter 4 of Gunrock's HIVE report, 2018). A layer with the mean is
//
//	h ← norm(relu([h·Wf, mean over chosen neighbours of h·Wa]))
//
// where norm divides a row by its L2 norm, and leaves a row of zeros. A vertex without neighbours
// is its own neighbour. AggregateAttention takes a weighted sum in place of the mean (Veličković et
// al.: Graph attention networks, ICLR 2018): with X = h·Wa, the weight of neighbour u of v is the
// softmax, over the chosen neighbours, of leaky(X(v)·aₗ + X(u)·aᵣ) with slope 0.2 below 0; a head
// has its part of the columns. AggregateLSTM takes the last state of an LSTM over the rows h of the
// neighbours (section 3.3 of the paper) in place of the mean of the rows: with [i, f, g, o] the
// columns of u·Wx + h·Wh + b, the state becomes c ← σ(f)∘c + σ(i)∘tanh(g), h ← σ(o)∘tanh(c). The
// order of the neighbours depends on the seed and the vertex; a neighbour counts once, however
// often it was drawn, and weights do not count. On a device both run as products of matrices.
// features has a row for each vertex, and may be sparse.
//
// The choice of neighbours depends on the seed, the layer and the vertex: all that need a vertex in
// a layer see the same choice, as in the paper's algorithm. If all vertices are wanted, or so many
// that their trees would be larger than the graph, layers are computed for all vertices: a product
// with the weights of both parts, then means of chosen neighbours, relu and norm, row by row.
// Otherwise GraphSAGE computes the trees of batches of vertices. Both give the same embeddings, to
// rounding. Method Pipeline computes both as products of matrices where the graph lives, and
// chooses neighbours on the host. With PerSource the choice also depends on the root of the tree,
// and GraphSAGE computes the trees of all wanted vertices.
//
// The ranks of a group on the host have rows of every layer, or vertices where trees are computed;
// those on devices have vertices. Embeddings are on the rank that computes them.
//
// GraphSAGE returns a *matrix.DimensionError with both shapes if shapes do not fit. O(vertices × d
// × h + chosen × h) a layer. Dense products run by gonum, or by OpenBLAS if it is on the system
// and the program imports apps/sage/openblas.
func GraphSAGE[T semiring.Element](g matrix.Source[T], features matrix.Source[float32], model *SAGEModel, opts ...SAGEOptions) (*SAGEResult, error) {
	return graphSAGE(workflow.Inside(g), features, model, opts)
}

func graphSAGE(g rep.View, features matrix.Source[float32], model *SAGEModel, opts []SAGEOptions) (*SAGEResult, error) {
	const app = "GraphSAGE"
	o, err := workflow.Only(app, opts)
	if err != nil {
		return nil, err
	}
	n, err := workflow.Square(app, workflow.Pattern(g))
	if err != nil {
		return nil, err
	}
	place := g.Place()
	d, err := sampled.CheckFeatures(app, features, n)
	if err != nil {
		return nil, err
	}
	net, err := netOf(app, model, d)
	if err != nil {
		return nil, err
	}
	if err := o.complete(app, n, len(net.Layers)); err != nil {
		return nil, err
	}
	workflow.Announce(o.Run, app, model.Aggregator.String())
	if res, err := sageByRanges(app, g, matrix.AsView[float32](features), model, net, n, o); res != nil || err != nil {
		return res, err
	}
	on, err := workflow.FusedOn(o.Run, app, place)
	if err != nil {
		return nil, err
	}
	if on != nil && (net.Attends() || net.Recurs()) {
		name := map[bool]string{true: " with AggregateAttention", false: " with AggregateLSTM"}[net.Attends()]
		if o.Method == workflow.Fused {
			return nil, &workflow.ParameterError{App: app, Arg: "the method", Got: "fused" + name, Want: "auto or pipeline"}
		}
		if o.Precision != SAGEFloat32 {
			return nil, &workflow.ParameterError{App: app, Arg: "the precision", Got: o.Precision.String() + name, Want: "SAGEFloat32"}
		}
		on, o.Method = nil, workflow.Pipeline
	}
	if o.PerSource && on != nil && !o.fusesOwn(net, 4*matrix.AsView[float32](features).NVals() > int64(n)*int64(d)) {
		if o.Method == workflow.Fused {
			return nil, &workflow.ParameterError{App: app, Arg: "the method", Got: "fused with PerSource, for choices other than uniform or for sparse features and a first layer of pools or wide rows",
				Want: "auto or pipeline"}
		}
		on = nil
	}
	if on == nil && o.part.to > 0 { // the host takes lists
		o.Vertices = make([]int, 0, o.part.to-o.part.from)
		for v := o.part.from; v < o.part.to; v++ {
			o.Vertices = append(o.Vertices, v)
		}
	}
	if on == nil && o.Precision != SAGEFloat32 {
		return nil, &workflow.ParameterError{App: app, Arg: "the precision", Got: o.Precision.String() + " on the host", Want: "SAGEFloat32, or a graph on a device and the fused method"}
	}
	var at *sampled.Graph
	if on == nil || o.Sampling != SampleUniform {
		if at, err = sampled.NewGraph(app, g, o.Run, sampled.Rule(o.Sampling), o.Replace, o.Seed, net.Aggregator); err != nil {
			return nil, err
		}
	}
	workflow.Report(o.Run, "GraphSAGE", 0, int64(n))
	if on != nil {
		res, err := fusedSAGE(on, g, matrix.AsView[float32](features), net, n, at, o)
		if err == nil {
			workflow.Report(o.Run, "GraphSAGE", int64(n), int64(n))
		}
		return res, err
	}
	if o.Method == workflow.Pipeline {
		return embedByOperations(app, net, at, features, n, place, o)
	}
	return sageOnHost(app, net, at, features, n, place, o)
}

// complete sets the default of the batch and checks the settings.
func (o *SAGEOptions) complete(app string, n, layers int) error {
	if o.Batch == 0 {
		o.Batch = 4096
	}
	if o.Batch < 0 {
		return &workflow.ParameterError{App: app, Arg: "the batch", Got: fmt.Sprint(o.Batch), Want: "1 or more, or 0 for 4096"}
	}
	if o.FeatureMemory < 0 {
		return &workflow.ParameterError{App: app, Arg: "the memory of features", Got: fmt.Sprint(o.FeatureMemory), Want: "a number of bytes, or 0 for what is free"}
	}
	if err := sampled.CheckSamples(app, o.Samples, sampled.Rule(o.Sampling), layers); err != nil {
		return err
	}
	for _, v := range o.Vertices {
		if err := workflow.Vertex(app, "a vertex", v, n); err != nil {
			return err
		}
	}
	if o.PerSource && o.Samples == nil {
		return &workflow.ParameterError{App: app, Arg: "the option PerSource", Got: "set without samples", Want: "numbers of samples, or unset: all neighbours are the same for all"}
	}
	if o.Precision < SAGEFloat32 || o.Precision > SAGEBFloat16 {
		return &workflow.ParameterError{App: app, Arg: "the precision", Got: o.Precision.String(), Want: "SAGEFloat32, SAGETF32, SAGEFloat16 or SAGEBFloat16"}
	}
	return nil
}

// sageOnHost computes on the host, and moves the result to the place of the graph.
func sageOnHost(app string, net *neural.Net[float32], at *sampled.Graph, features matrix.Source[float32], n int, place matrix.Place, o SAGEOptions) (*SAGEResult, error) {
	x, err := sampled.FeaturesOf(features, n)
	if err != nil {
		return nil, err
	}
	z, method, err := embedOnHost(net, at, x, n, o)
	if err != nil {
		return nil, err
	}
	res := &SAGEResult{Embeddings: neural.AsMatrix(z), ZeroRows: zeroRows(z, o.Threads)}
	if net.Out != nil {
		res.Logits = neural.AsMatrix(net.Classify(z, o.Run))
	}
	workflow.Report(o.Run, "GraphSAGE", int64(n), int64(n))
	if o.Trace != nil {
		o.Trace(ops.Trace{Op: app, Method: ops.Method(method), NVals: int64(z.Rows) * int64(z.Cols)})
	}
	if err := res.Embeddings.Move(place); err != nil || res.Logits == nil {
		return res, err
	}
	return res, res.Logits.Move(place)
}

// embedOnHost embeds by layers of all vertices, by trees of the vertices asked for, or by trees of
// their own, and returns which.
func embedOnHost(net *neural.Net[float32], at *sampled.Graph, x neural.Input[float32], n int, o SAGEOptions) (z neural.Panel[float32], method string, err error) {
	method = "layers"
	if o.PerSource {
		method = "own trees"
		z, err = embedOwnTrees(net, at, x, o)
	} else if o.Vertices != nil && sampled.TreeSize(len(o.Vertices), o.Samples, at, len(net.Layers)) < float64(n) {
		method = "trees"
		z, err = embedTrees(net, at, x, o)
	} else {
		z, err = embedAll(net, at, x, o.Samples, 0, o.Run)
		if err == nil && o.Vertices != nil {
			all := z
			z = neural.NewPanel[float32](len(o.Vertices), all.Cols)
			for k, v := range o.Vertices {
				copy(neural.Row(z, k), neural.Row(all, v))
			}
		}
	}
	return z, method, err
}

// zeroRows returns the number of rows without a number other than 0.
func zeroRows(z neural.Panel[float32], threads int) int {
	var count atomic.Int64
	_ = parallel.Range(nil, threads, z.Rows, 1<<10, func(_, lo, hi int) {
		n := 0
		for v := lo; v < hi; v++ {
			if !slices.ContainsFunc(neural.Row(z, v), func(y float32) bool { return y != 0 }) {
				n++
			}
		}
		count.Add(int64(n))
	})
	return int(count.Load())
}
