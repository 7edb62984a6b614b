package apps

import (
	"github.com/hiveblas/hiveblas/apps/centrality"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

// BetweennessOptions are the settings of Betweenness. See [centrality.BetweennessOptions].
type BetweennessOptions = centrality.BetweennessOptions

// BetweennessResult is the result of Betweenness. See [centrality.BetweennessResult].
type BetweennessResult = centrality.BetweennessResult

// Betweenness returns the betweenness centrality of every vertex of g: over all pairs of other
// vertices s, t, the sum of the share of shortest paths from s to t that pass through the vertex.
// See [centrality.Betweenness].
func Betweenness[T comparable](g matrix.Source[T], opts ...BetweennessOptions) (*BetweennessResult, error) {
	return centrality.Betweenness(g, opts...)
}

// CentralityOptions are the settings of HITS, EigenvectorCentrality and KatzCentrality. See
// [centrality.CentralityOptions].
type CentralityOptions = centrality.CentralityOptions

// CentralityResult is the result of EigenvectorCentrality and KatzCentrality. See
// [centrality.CentralityResult].
type CentralityResult = centrality.CentralityResult

// HITSResult is the result of HITS. See [centrality.HITSResult].
type HITSResult = centrality.HITSResult

// HITS returns how good a hub and an authority every vertex of g is: a hub has edges to
// authorities, and an authority edges from hubs (Kleinberg, Journal of the ACM 46, 1999). See
// [centrality.HITS].
func HITS[T comparable](g matrix.Source[T], opts ...CentralityOptions) (*HITSResult, error) {
	return centrality.HITS(g, opts...)
}

// EigenvectorCentrality returns the eigenvector of the largest eigenvalue of Aᵀ, of Euclidean
// norm 1 (Bonacich, Journal of Mathematical Sociology 2, 1972): a vertex is as central as those
// with edges to it in sum. See [centrality.EigenvectorCentrality].
func EigenvectorCentrality[T comparable](g matrix.Source[T], opts ...CentralityOptions) (*CentralityResult, error) {
	return centrality.EigenvectorCentrality(g, opts...)
}

// KatzCentrality returns, of Euclidean norm 1, the number of walks that end in every vertex, a walk
// of k edges counted αᵏ times (Katz, Psychometrika 18, 1953). See [centrality.KatzCentrality].
func KatzCentrality[T comparable](g matrix.Source[T], opts ...CentralityOptions) (*CentralityResult, error) {
	return centrality.KatzCentrality(g, opts...)
}

// ClosenessOptions are the settings of Closeness. See [centrality.ClosenessOptions].
type ClosenessOptions = centrality.ClosenessOptions

// ClosenessResult is the result of Closeness, of every vertex. See [centrality.ClosenessResult].
type ClosenessResult = centrality.ClosenessResult

// Closeness returns two centralities of every vertex of g by its distances d to the r vertices that
// it reaches, along edges from row to column. See [centrality.Closeness].
func Closeness[T comparable](g matrix.Source[T], opts ...ClosenessOptions) (*ClosenessResult, error) {
	return centrality.Closeness(g, opts...)
}

// PageRankOptions are the settings of PageRank. See [centrality.PageRankOptions].
type PageRankOptions = centrality.PageRankOptions

// PageRankResult is the result of PageRank. See [centrality.PageRankResult].
type PageRankResult = centrality.PageRankResult

// PageRank returns the stationary distribution of a walk that follows an edge of g with probability
// d and jumps anywhere otherwise, and always from a vertex without out-edges (Page et al., 1999).
// See [centrality.PageRank].
func PageRank[T comparable](g matrix.Source[T], opts ...PageRankOptions) (*PageRankResult, error) {
	return centrality.PageRank(g, opts...)
}

// WeightedPageRank is PageRank of a walk that follows an edge with a probability in proportion to
// its value w. See [centrality.WeightedPageRank].
func WeightedPageRank[T semiring.Number](g matrix.Source[T], opts ...PageRankOptions) (*PageRankResult, error) {
	return centrality.WeightedPageRank(g, opts...)
}
