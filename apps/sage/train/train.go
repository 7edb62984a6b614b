// Package train trains networks of GraphSAGE by back-propagation: on the host, on devices, and on
// groups of both. It reads classes and splits of vertices.
package train

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/hiveblas/hiveblas/apps/embed/links"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/apps/sage"
	"github.com/hiveblas/hiveblas/apps/sage/internal/neural"
	"github.com/hiveblas/hiveblas/apps/sage/internal/sampled"
	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/comm/spmd"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/philox"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// SAGESplit says which vertices train, validate and test.
type SAGESplit struct{ Train, Validate, Test []int }

// SAGEProgress is the state of training after an epoch.
type SAGEProgress struct {
	Epoch    int     // from 1
	Loss     float64 // mean over the epoch
	Accuracy float64 // of the training vertices, in the passes that trained; 0 without classes
	Validate float64 // accuracy of the validation vertices, or AUC of the validation links; NaN without
}

// SAGELinks are edges that the graph of a training lacks and that its embeddings are to predict, by
// dot products; see HoldOutLinks. Either may be nil.
type SAGELinks struct{ Validate, Test *links.LinkSet }

// SAGETrainOptions are the settings of TrainGraphSAGE.
type SAGETrainOptions struct {
	workflow.Run
	Aggregator sage.SAGEAggregator
	Heads      int   // of AggregateAttention, which divide the columns of each layer; 0 means 1
	Hidden     []int // columns h of each layer; nil means 64 and 64
	Samples    []int // as in SAGEOptions, for training; evaluation takes all neighbours
	Sampling   sage.SAGESampling
	Replace    bool
	Epochs     int     // 0 means 200
	Batch      int     // vertices, or pairs, of a step; 0 means all
	Rate       float64 // of Adam; 0 means 0.01
	Decay      float64 // of weights; 0 means 5e-4, negative none
	Dropout    float64 // of the inputs of layers; 0 means 0.5, negative none
	Patience   int     // epochs without a better validation after which training ends; 0 means 100
	Seed       uint64
	// Pairs is the number of pairs of vertices for each vertex and epoch of unsupervised training,
	// the second near the first by a random walk, each with Negatives other vertices. 0 means 5,
	// and Negatives 5.
	Pairs, Negatives int
	// Links makes the prediction of edges the goal of training without classes: the second vertex
	// of a pair is a target of an edge of the first, and the others are drawn uniformly. The
	// weights of the epoch with the largest AUC of the validation links are kept.
	Links *SAGELinks
	// Checkpoint is a file that is written after every Every epochs, 0 means 10, and at the end. If
	// it is there, training resumes from it, with the same result to the bit.
	Checkpoint string
	Every      int
	Each       func(SAGEProgress) error // called after each epoch; an error ends training. May be nil.
}

// SAGETraining is the result of TrainGraphSAGE.
type SAGETraining struct {
	Model    *sage.SAGEModel // of the best epoch on the validation vertices, of the last one without
	Epochs   int             // that ran, before a resumption included
	Best     int             // epoch of the model
	Loss     float64         // of the last epoch
	Validate float64         // accuracy of the model, or AUC of links; NaN without vertices or links
	Test     float64         // the same of the test
	TestMRR  float64         // mean reciprocal rank of the test links; NaN without
}

// TrainGraphSAGE trains a network of GraphSAGE by back-propagation. With classes, one for each
// vertex from 0 and −1 where unknown, it is supervised: a classifier over the embeddings, cross
// entropy over split.Train. Without classes, nil, it is the paper's unsupervised loss: embeddings
// of vertices that a random walk connects are to be alike, embeddings of vertices drawn in
// proportion to degree^¾ are not. opts.Links makes the prediction of edges the goal. split.Train
// nil means all vertices with a class.
//
// Each step takes a batch, chooses neighbours anew, and moves the weights by Adam; the gradient of
// an aggregation is a product with the transposed matrix of the chosen neighbours. After each epoch
// the validation vertices are classified, or the validation links predicted, with all neighbours;
// the best weights are kept, and opts.Patience ends training. All random numbers are functions of
// opts.Seed and the step, so that a run and its resumption from a checkpoint give the same weights,
// to the bit with the same BLAS and number of threads.
//
// If g is on a group, its ranks divide the rows of every layer, or the vertices of each batch where
// their trees are smaller than the graph. They add up the gradients of the weights in the order of
// ranks, and hold the same weights, which agree with the weights of one place to rounding. The
// process of rank 0 reads and writes opts.Checkpoint; opts.Each is called in every process. Ranks
// on devices that reach each other's memory train there by the kernels of one device. What these
// lack, and other groups of devices, train on the host, as the trace says. For links one place
// trains, on the host, and on a group every process does.
//
// Method Pipeline trains by operations where the graph lives, with the random numbers of the other
// forms: gradients are products with transposes, and losses and weights agree to rounding.
func TrainGraphSAGE[T semiring.Element](g matrix.Source[T], features matrix.Source[float32], classes []int32, split SAGESplit, opts ...SAGETrainOptions) (*SAGETraining, error) {
	return trainGraphSAGE(workflow.Inside(g), features, classes, split, opts)
}

func trainGraphSAGE(g rep.View, features matrix.Source[float32], classes []int32, split SAGESplit, opts []SAGETrainOptions) (*SAGETraining, error) {
	const app = "TrainGraphSAGE"
	o, err := workflow.Only(app, opts)
	if err != nil {
		return nil, err
	}
	n, err := workflow.Square(app, workflow.Pattern(g))
	if err != nil {
		return nil, err
	}
	if err := o.complete(); err != nil {
		return nil, err
	}
	group, grouped := g.Place().(*comm.Group)
	devices := workflow.GroupRows(o.Run, app, g.Place()) // a group of them
	if devices != nil && (!devices.Devices || o.Method == workflow.Pipeline) {
		devices = nil
	}
	if grouped && o.Method == workflow.Fused && devices == nil {
		return nil, &workflow.ParameterError{App: app, Arg: "the method", Got: "fused on a group that does not move the memory of devices",
			Want: "auto, or a group of GPUs by comm.Peers, nccl.Ranks or procs.Join"}
	}
	var on device.Runner
	if devices == nil || o.Method != workflow.Auto && o.Method != workflow.Fused {
		if on, err = workflow.FusedOn(o.Run, app, g.Place()); err != nil {
			return nil, err
		}
	}
	d, err := sampled.CheckFeatures(app, features, n)
	if err != nil {
		return nil, err
	}
	count, err := checkSplit(app, classes, &split, n)
	if err != nil {
		return nil, err
	}
	if classes != nil && o.Links != nil {
		return nil, &workflow.ParameterError{App: app, Arg: "the links", Got: "given beside classes", Want: "one of them"}
	}
	if (on != nil || devices != nil) && !o.fuses() {
		if o.Method == workflow.Fused {
			return nil, &workflow.ParameterError{App: app, Arg: "the method", Got: "fused for choices by weight, degree or walks, with AggregatePool, AggregateAttention or AggregateLSTM, for Links, or for more than 128 hidden columns", Want: "auto or pipeline"}
		}
		on, devices = nil, nil
	}
	workflow.Announce(o.Run, app, o.Aggregator.String())
	if devices != nil {
		res, err := trainOnGroup(devices, g, matrix.AsView[float32](features), classes, split, n, d, count, o)
		if res != nil || err != nil {
			return res, err
		}
	}
	if on != nil {
		var at *sampled.Graph
		if classes == nil { // the host draws pairs
			if at, err = sampled.NewGraph(app, g, o.Run, sampled.Rule(o.Sampling), o.Replace, o.Seed, neural.Aggregator(o.Aggregator)); err != nil {
				return nil, err
			}
		}
		return trainFused(on, g, matrix.AsView[float32](features), at, classes, split, n, d, count, o)
	}
	t := &sageTrainer{o: o, classes: classes, split: split, idle: grouped && !group.First()}
	t.net = neural.Random[float32](neural.Aggregator(o.Aggregator), o.Heads, d, o.Hidden, count, o.Seed)
	if err := t.begin(app, g, features, n); err != nil {
		return nil, err
	}
	return t.run()
}

// begin prepares the training of a new network on the host, by ranges of a group, or by operations.
func (t *sageTrainer) begin(app string, g rep.View, features matrix.Source[float32], n int) error {
	o := t.o
	t.best = t.net.Values()
	t.state.Validate, t.state.bestLoss = math.NaN(), math.Inf(1)
	divided := false
	if o.Links == nil && o.Method != workflow.Pipeline {
		var err error
		if divided, err = divideTraining(t, g, matrix.AsView[float32](features), n); err != nil {
			return err
		}
	}
	if !divided {
		var err error
		if t.x, err = sampled.FeaturesOf(features, n); err != nil {
			return err
		}
		if t.graph, err = sampled.NewGraph(app, g, o.Run, sampled.Rule(o.Sampling), o.Replace, o.Seed, neural.Aggregator(o.Aggregator)); err != nil {
			return err
		}
	}
	t.entries, t.whole = int64(len(t.graph.Idx)), *t.graph
	t.whole.Sampling = sampled.Uniform
	if group, ok := g.Place().(*comm.Group); ok && o.Method == workflow.Pipeline {
		t.division = &workflow.Division{Session: spmd.Begin(o.Context, group, app), Run: o.Run}
	}
	if err := t.resume(); err != nil {
		return err
	}
	if o.Method == workflow.Pipeline {
		t.operations = newPipeline(t, g.Place())
	}
	return nil
}

// complete sets the defaults and checks the settings.
func (o *SAGETrainOptions) complete() error {
	const app = "TrainGraphSAGE"
	zero := func(x *int, to int) {
		if *x == 0 {
			*x = to
		}
	}
	if o.Hidden == nil {
		o.Hidden = []int{64, 64}
	}
	zero(&o.Epochs, 200)
	zero(&o.Patience, 100)
	zero(&o.Every, 10)
	zero(&o.Pairs, 5)
	zero(&o.Negatives, 5)
	for _, f := range []struct {
		x  *float64
		to float64
	}{{&o.Rate, .01}, {&o.Decay, 5e-4}, {&o.Dropout, .5}} {
		if *f.x == 0 {
			*f.x = f.to
		}
	}
	o.Decay, o.Dropout = max(o.Decay, 0), max(o.Dropout, 0)
	bad := func(arg string, got any, want string) error {
		return &workflow.ParameterError{App: app, Arg: arg, Got: fmt.Sprint(got), Want: want}
	}
	switch {
	case o.Aggregator < sage.AggregateMean || o.Aggregator > sage.AggregateLSTM:
		return bad("the aggregator", o.Aggregator, "AggregateMean, AggregatePool, AggregateGCN, AggregateAttention or AggregateLSTM")
	case o.Heads != 0 && o.Aggregator != sage.AggregateAttention:
		return bad("the heads", o.Heads, "0 for an aggregator without attention")
	case len(o.Hidden) == 0 || slices.Min(o.Hidden) < 1 || slices.Max(o.Hidden) > 1<<16:
		return bad("the hidden columns", o.Hidden, "1 to 65536 for each layer, one layer or more")
	case o.Epochs < 0:
		return bad("the number of epochs", o.Epochs, "1 or more, or 0 for 200")
	case o.Batch < 0:
		return bad("the batch", o.Batch, "1 or more, or 0 for all")
	case !(o.Rate > 0 && o.Rate <= math.MaxFloat64):
		return bad("the rate", o.Rate, "a positive number, or 0 for 0.01")
	case !(o.Decay <= math.MaxFloat64):
		return bad("the decay", o.Decay, "a finite number")
	case !(o.Dropout < 1):
		return bad("the dropout", o.Dropout, "a probability below 1")
	case o.Patience < 0 || o.Every < 0 || o.Pairs < 0 || o.Negatives < 0:
		return bad("the patience, the interval of checkpoints, the pairs or the negatives", "negative", "1 or more, or 0 for the default")
	}
	if err := neural.CheckHeads(app, o.Heads, o.Hidden...); err != nil {
		return err
	}
	return sampled.CheckSamples(app, o.Samples, sampled.Rule(o.Sampling), len(o.Hidden))
}

// checkSplit checks classes and the split, completes it, and returns the number of classes, 0 for
// unsupervised training.
func checkSplit(app string, classes []int32, split *SAGESplit, n int) (int, error) {
	if classes != nil && len(classes) != n {
		return 0, &matrix.DimensionError{Op: app, Arg: "the classes", Got: fmt.Sprintf("of %d vertices", len(classes)),
			Want: fmt.Sprintf("of %d vertices, as the graph", n), Remedy: "give a class for each vertex, −1 where it is unknown"}
	}
	count := 0
	for v, c := range classes {
		if c < -1 || c >= 1<<20 {
			return 0, workflow.AboutVertices(app, "the class of vertex {0}", fmt.Sprint(c), "0 to 1048575, or −1 for unknown", v)
		}
		count = max(count, int(c)+1)
	}
	if classes != nil && count == 0 {
		return 0, &workflow.ParameterError{App: app, Arg: "the classes", Got: "−1 for all vertices", Want: "a class for some of them, or nil for unsupervised training"}
	}
	if split.Train == nil {
		for v := range n {
			if classes == nil || classes[v] >= 0 && !slices.Contains(split.Validate, v) && !slices.Contains(split.Test, v) {
				split.Train = append(split.Train, v)
			}
		}
	}
	for k, list := range [][]int{split.Train, split.Validate, split.Test} {
		for _, v := range list {
			if err := workflow.Vertex(app, []string{"a training vertex", "a validation vertex", "a test vertex"}[k], v, n); err != nil {
				return 0, err
			}
			if classes != nil && classes[v] < 0 {
				return 0, workflow.AboutVertices(app, "the class", "unknown for vertex {0} of the split", "a class for each vertex of the split", v)
			}
		}
	}
	if len(split.Train) == 0 {
		return 0, &workflow.ParameterError{App: app, Arg: "the training vertices", Got: "none", Want: "one or more"}
	}
	return count, nil
}

// sageState is the state of training that a checkpoint holds beside the parameters.
type sageState struct {
	SAGETraining
	steps    int64 // of Adam
	bestLoss float64
}

// A sageTrainer is a training on the host, by ranges of a group, or by operations.
type sageTrainer struct {
	o       SAGETrainOptions
	graph   *sampled.Graph
	entries int64         // of the graph
	whole   sampled.Graph // with all neighbours, for evaluation
	x       neural.Input[float32]
	block   *neural.Block[float32] // of whole, nil until it is needed
	classes []int32
	split   SAGESplit
	net     *neural.Net[float32]
	best    map[string][]float32
	state   sageState
	team    *sageTeam // the division among the ranks of a group; nil on one place
	idle    bool      // another process writes the checkpoint

	division   *workflow.Division // of the processes that train together; nil on one place
	operations *trainPipeline     // computes steps and embeddings; nil unless the method is Pipeline
}

// run trains from the state on.
func (t *sageTrainer) run() (*SAGETraining, error) {
	ctx := t.o.Context
	if ctx == nil {
		ctx = context.Background()
	}
	s := &t.state
	for s.Epochs < t.o.Epochs && s.Epochs-s.Best < t.o.Patience {
		if err := ctx.Err(); err != nil {
			return nil, t.stop(err)
		}
		loss, right, err := t.epoch(uint64(s.Epochs))
		if err != nil {
			return nil, err
		}
		s.Epochs++
		s.Loss = loss
		p := SAGEProgress{Epoch: s.Epochs, Loss: loss, Validate: math.NaN()}
		if !t.validates() {
			s.Best, t.best = s.Epochs, nil
		} else {
			accuracy, loss, err := t.validate()
			if err != nil {
				return nil, err
			}
			p.Validate = accuracy
			if !(accuracy < s.Validate) && (accuracy != s.Validate || loss < s.bestLoss) {
				s.Best, s.Validate, s.bestLoss, t.best = s.Epochs, accuracy, loss, t.net.Values()
			}
		}
		if t.classes != nil {
			p.Accuracy = float64(right) / float64(len(t.split.Train))
		}
		workflow.Report(t.o.Run, fmt.Sprintf("training, loss %.4f", loss), int64(s.Epochs), int64(t.o.Epochs))
		if t.o.Checkpoint != "" && (s.Epochs%t.o.Every == 0 || s.Epochs == t.o.Epochs || s.Epochs-s.Best >= t.o.Patience) {
			if err := t.save(); err != nil {
				return nil, err
			}
		}
		if t.o.Each != nil {
			if err := t.o.Each(p); err != nil {
				return nil, t.stop(err)
			}
		}
	}
	if t.best != nil {
		for _, p := range t.net.All {
			copy(p.Value.Val, t.best[p.Name])
		}
	}
	res := s.SAGETraining
	if err := t.test(&res); err != nil {
		return nil, err
	}
	res.Model = new(sage.SAGEModel)
	res.Model.SetInside(t.net)
	if t.team != nil {
		t.team.done(res.Epochs)
	} else if t.o.Trace != nil && t.operations == nil {
		method := ops.Method("trees")
		if t.usesAllVertices(len(t.split.Train)) {
			method = "layers"
		}
		t.o.Trace(ops.Trace{Op: "TrainGraphSAGE", Method: method, Work: int64(res.Epochs)})
	}
	return &res, nil
}

// stop ends a training by an error of this process, for the other processes too.
func (t *sageTrainer) stop(err error) error {
	if t.division == nil {
		return err
	}
	return t.division.Once(func() error { return err })
}

// evaluate classifies vertices with all neighbours and returns the accuracy and the mean loss.
func (t *sageTrainer) evaluate(vertices []int) (accuracy, loss float64, err error) {
	if t.team != nil {
		return t.team.evaluate(vertices)
	}
	z, err := t.embeddings()
	if err != nil {
		return 0, 0, err
	}
	some, class := t.net.Kept.Panel(len(vertices), z.Cols), make([]int32, len(vertices))
	for k, v := range vertices {
		copy(neural.Row(some, k), neural.Row(z, v))
		class[k] = t.classes[v]
	}
	loss, right, err := neural.CrossEntropy(t.net.Classify(some, t.o.Run), class, len(class), t.o.Run)
	return float64(right) / float64(len(vertices)), loss, err
}

// embeddings returns the embeddings of all vertices with all neighbours.
func (t *sageTrainer) embeddings() (z neural.Panel[float32], err error) {
	if t.operations != nil {
		return t.operations.embeddings()
	}
	t.net.Kept.Reset()
	t.net.Training = false
	tapes, err := t.net.Record(t.blocks(), t.x, t.o.Run, nil)
	if err != nil {
		return z, err
	}
	return tapes[len(tapes)-1].Out, nil
}

// blocks returns the blocks of all vertices with all neighbours.
func (t *sageTrainer) blocks() []*neural.Block[float32] {
	if t.block == nil {
		t.block = sampled.WholeBlock[float32](&t.whole)
	}
	return slices.Repeat([]*neural.Block[float32]{t.block}, len(t.net.Layers))
}

// usesAllVertices reports whether a step for so many targets computes layers of all vertices: all
// neighbours are taken, and the trees would be larger than the graph.
func (t *sageTrainer) usesAllVertices(targets int) bool {
	return t.o.Samples == nil && t.graph.Sampling == sampled.Uniform && sampled.TreeSize(targets, nil, t.graph, len(t.net.Layers)) >= float64(t.graph.N)
}

// order returns the training vertices in the order of an epoch.
func (t *sageTrainer) order(epoch uint64) []int {
	train := slices.Clone(t.split.Train)
	for k := len(train) - 1; k > 0; k-- { // Fisher and Yates
		x, _ := philox.Block(uint64(k), epoch|1<<62, t.o.Seed)
		j, _ := philox.Below(x, uint64(k+1))
		train[k], train[j] = train[j], train[k]
	}
	return train
}

// epoch trains once over the training vertices.
func (t *sageTrainer) epoch(epoch uint64) (loss float64, right int, err error) {
	train := t.split.Train
	if t.classes == nil || t.o.Batch > 0 && t.o.Batch < len(train) || !t.usesAllVertices(len(train)) {
		train = t.order(epoch)
	}
	batch := t.o.Batch
	if batch == 0 {
		batch = len(train)
	}
	for part := range slices.Chunk(train, batch) {
		var l float64
		var r int
		if t.team != nil {
			l, r, err = t.team.step(part, epoch)
		} else {
			l, r, err = t.step(part, epoch)
		}
		if err != nil {
			return 0, 0, err
		}
		loss, right = loss+l*float64(len(part))/float64(len(train)), right+r
		if c := t.o.Context; c != nil && c.Err() != nil {
			return 0, 0, t.stop(c.Err())
		}
	}
	if t.team != nil { // these are of the ranks of this process
		return t.team.sum(loss, right)
	}
	if t.operations != nil {
		return loss, right, t.operations.Store()
	}
	return loss, right, nil
}

// isIdentity reports whether a list is 0, 1, … n−1.
func isIdentity(list []int32, n int) bool {
	for k, v := range list {
		if int(v) != k {
			return false
		}
	}
	return len(list) == n
}

// step trains on a batch.
func (t *sageTrainer) step(batch []int, epoch uint64) (loss float64, right int, err error) {
	targets, pairs := t.targets(batch, epoch)
	gradients := t.gradients
	if t.operations != nil {
		gradients = t.operations.gradients
	}
	if loss, right, err = gradients(targets, pairs); err != nil {
		return 0, 0, err
	}
	t.state.steps++
	if t.operations != nil {
		t.operations.Adam(t.o.Rate, t.o.Decay, t.state.steps)
		return loss, right, t.operations.Err()
	}
	return loss, right, t.net.Adam(t.o.Rate, t.o.Decay, t.state.steps, t.o.Run)
}

// targets returns the vertices whose embeddings enter the loss of a batch, and without classes
// their pairs.
func (t *sageTrainer) targets(batch []int, epoch uint64) (targets []int32, pairs []sagePair) {
	if t.classes == nil {
		return t.pairs(batch, epoch)
	}
	for _, v := range batch {
		targets = append(targets, int32(v))
	}
	return targets, nil
}

// classesOf returns the classes of targets.
func (t *sageTrainer) classesOf(targets []int32) []int32 {
	class := make([]int32, len(targets))
	for k, v := range targets {
		class[k] = t.classes[v]
	}
	return class
}

// gradients computes the loss of targets and adds the gradients of the parameters.
func (t *sageTrainer) gradients(targets []int32, pairs []sagePair) (loss float64, right int, err error) {
	step := uint64(t.state.steps)
	n := t.net
	n.Kept.Reset()
	n.Training = true
	var tapes []*neural.Tape[float32]
	var masks [][]float32
	all := t.usesAllVertices(len(targets))
	if all {
		t.x.Transpose(t.o.Run) // once for all steps
		tapes, masks, err = tapeBlocks(n, t.blocks(), nil, t.x, step, t.o)
	} else {
		tapes, masks, err = tapeTrees(n, t.graph, t.x, targets, step, t.o)
	}
	if err != nil {
		return 0, 0, err
	}
	z := tapes[len(tapes)-1].Out
	some := all && !isIdentity(targets, t.graph.N) // rows of z, which may repeat
	if some {
		whole := z
		z = n.Kept.Panel(len(targets), whole.Cols)
		for k, v := range targets {
			copy(neural.Row(z, k), neural.Row(whole, int(v)))
		}
	}
	var g neural.Panel[float32]
	if t.classes != nil {
		class, logits := t.classesOf(targets), n.Classify(z, t.o.Run)
		if loss, right, err = neural.CrossEntropy(logits, class, len(class), t.o.Run); err != nil {
			return 0, 0, err
		}
		g = n.Unclassify(z, logits, t.o.Run)
	} else {
		loss, g = alike(z, pairs, alikeCount(pairs), t.likeness())
	}
	if some {
		part := g
		g = n.Kept.Panel(t.graph.N, part.Cols)
		clear(g.Val)
		for k, v := range targets {
			neural.Axpy(1, neural.Row(part, k), neural.Row(g, int(v)))
		}
	}
	return loss, right, n.Untape(tapes, masks, g, t.o.Run)
}
