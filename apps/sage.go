package apps

import (
	"io"

	"github.com/hiveblas/hiveblas/apps/sage"
	"github.com/hiveblas/hiveblas/apps/sage/train"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

// SAGEAggregator is the function by which GraphSAGE sums up the neighbours of a vertex. See
// [sage.SAGEAggregator].
type SAGEAggregator = sage.SAGEAggregator

// AggregateMean is the mean; its product with weights is put behind the product of the vertex.
const AggregateMean = sage.AggregateMean

// AggregatePool is the maximum of relu(h·Wp + b), in each component.
const AggregatePool = sage.AggregatePool

// AggregateGCN is the mean of the vertex and its neighbours, in place of both.
const AggregateGCN = sage.AggregateGCN

// A SAGELayer holds the weights of a layer for inputs of d columns. See [sage.SAGELayer].
type SAGELayer = sage.SAGELayer

// A SAGEModel is a trained or given network. See [sage.SAGEModel].
type SAGEModel = sage.SAGEModel

// SAGEOptions are the settings of GraphSAGE. See [sage.SAGEOptions].
type SAGEOptions = sage.SAGEOptions

// SAGEPrecision is the form of the numbers of GraphSAGE on a device. See [sage.SAGEPrecision].
type SAGEPrecision = sage.SAGEPrecision

// SAGEFloat32 is float32.
const SAGEFloat32 = sage.SAGEFloat32

// SAGETF32 is float32; products read 10 bits of its fraction.
const SAGETF32 = sage.SAGETF32

// SAGEFloat16 is IEEE 754 binary16: 11 bits, up to 65504.
const SAGEFloat16 = sage.SAGEFloat16

// SAGEBFloat16 is the upper half of float32: 8 bits.
const SAGEBFloat16 = sage.SAGEBFloat16

// SAGEResult is the result of GraphSAGE. See [sage.SAGEResult].
type SAGEResult = sage.SAGEResult

// GraphSAGE computes embeddings of vertices from the features of the vertices and of their
// neighbourhoods (Hamilton, Ying, Leskovec: Inductive representation learning on large graphs, NIPS
// 2017, algorithm 2; chapter 4 of Gunrock's HIVE report, 2018). See [sage.GraphSAGE].
func GraphSAGE[T semiring.Element](g matrix.Source[T], features matrix.Source[float32], model *SAGEModel, opts ...SAGEOptions) (*SAGEResult, error) {
	return sage.GraphSAGE(g, features, model, opts...)
}

// ReadSAGEModel reads a model that Write wrote, or a .npz file of NumPy with the same arrays. See
// [sage.ReadSAGEModel].
func ReadSAGEModel(r io.Reader, name string) (*SAGEModel, error) {
	return sage.ReadSAGEModel(r, name)
}

// FeatureOptions are the settings of ReadFeatures. See [sage.FeatureOptions].
type FeatureOptions = sage.FeatureOptions

// ReadFeatures reads features, or weights: .csv, a row on each line and numbers between commas,
// tabs or blanks, where a first line with a word is a header; .mtx, sparse or array; .npy, of one
// or two dimensions, in 16 to 64 bits. See [sage.ReadFeatures].
func ReadFeatures(r io.Reader, opts ...FeatureOptions) (*matrix.Matrix[float32], error) {
	return sage.ReadFeatures(r, opts...)
}

// ReadFeaturesFile reads the file at path as ReadFeatures does. See [sage.ReadFeaturesFile].
func ReadFeaturesFile(path string, opts ...FeatureOptions) (*matrix.Matrix[float32], error) {
	return sage.ReadFeaturesFile(path, opts...)
}

// ReadClasses reads classes of the n vertices of a graph as ReadScores reads scores: a class on
// each line, or lines “vertex class”; a first line of names of columns is skipped. See
// [train.ReadClasses].
func ReadClasses(r io.Reader, n int, opts ...ScoreFileOptions) (classes []int32, names []string, err error) {
	return train.ReadClasses(r, n, opts...)
}

// ReadSplit reads a split of the n vertices of a graph, in the same form, with the words train,
// validate and test. See [train.ReadSplit].
func ReadSplit(r io.Reader, n int, opts ...ScoreFileOptions) (SAGESplit, error) {
	return train.ReadSplit(r, n, opts...)
}

// SAGESampling is the way in which GraphSAGE chooses neighbours of a vertex. See
// [sage.SAGESampling].
type SAGESampling = sage.SAGESampling

// SampleUniform draws each neighbour with the same probability: the default.
const SampleUniform = sage.SampleUniform

// SampleByWeight draws in proportion to the value of the edge, which must be positive.
const SampleByWeight = sage.SampleByWeight

// SampleByDegree draws in proportion to the number of neighbours of the neighbour (importance
// sampling as in FastGCN).
const SampleByDegree = sage.SampleByDegree

// SampleByWalks takes the vertices that short random walks from the vertex visit most, weighted by
// their visits (as PinSage does).
const SampleByWalks = sage.SampleByWalks

// SAGESplit says which vertices train, validate and test. See [train.SAGESplit].
type SAGESplit = train.SAGESplit

// SAGEProgress is the state of training after an epoch. See [train.SAGEProgress].
type SAGEProgress = train.SAGEProgress

// SAGETrainOptions are the settings of TrainGraphSAGE. See [train.SAGETrainOptions].
type SAGETrainOptions = train.SAGETrainOptions

// SAGETraining is the result of TrainGraphSAGE. See [train.SAGETraining].
type SAGETraining = train.SAGETraining

// TrainGraphSAGE trains a network of GraphSAGE by back-propagation. See [train.TrainGraphSAGE].
func TrainGraphSAGE[T semiring.Element](g matrix.Source[T], features matrix.Source[float32], classes []int32, split SAGESplit, opts ...SAGETrainOptions) (*SAGETraining, error) {
	return train.TrainGraphSAGE(g, features, classes, split, opts...)
}
