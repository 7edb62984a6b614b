package apps

import (
	"github.com/hiveblas/hiveblas/apps/lgc"
	"github.com/hiveblas/hiveblas/matrix"
)

// ClusterBatch is the result of Clusterer.Batch. See [lgc.ClusterBatch].
type ClusterBatch = lgc.ClusterBatch

// ClusterMethod is the method of the minimisation. See [lgc.ClusterMethod].
type ClusterMethod = lgc.ClusterMethod

// ClusterPush takes an exact coordinate step at every vertex with too large a residual, all at
// once: the fewest products.
const ClusterPush = lgc.ClusterPush

// ClusterISTA takes proximal gradient steps of length 1/L = 1.
const ClusterISTA = lgc.ClusterISTA

// ClusterFISTA adds the momentum for strong convexity α to these steps: the fewest steps where α
// is small.
const ClusterFISTA = lgc.ClusterFISTA

// LocalClusterOptions are the settings of LocalCluster. See [lgc.LocalClusterOptions].
type LocalClusterOptions = lgc.LocalClusterOptions

// LocalClusterResult is the result of LocalCluster. See [lgc.LocalClusterResult].
type LocalClusterResult = lgc.LocalClusterResult

// A Cut is a set of vertices and the size of its boundary. See [lgc.Cut].
type Cut = lgc.Cut

// LocalCluster finds the vertices around seeds by ℓ1-regularised PageRank. See
// [lgc.LocalCluster].
func LocalCluster[T comparable](g matrix.Source[T], seeds []int, opts ...LocalClusterOptions) (*LocalClusterResult, error) {
	return lgc.LocalCluster(g, seeds, opts...)
}

// A Clusterer is a graph prepared for local clustering: checked, with its degrees. See
// [lgc.Clusterer].
type Clusterer = lgc.Clusterer

// NewClusterer checks a graph and counts its degrees. See [lgc.NewClusterer].
func NewClusterer[T comparable](g matrix.Source[T], opts ...Run) (*Clusterer, error) {
	return lgc.NewClusterer(g, opts...)
}
