package apps

import (
	"github.com/hiveblas/hiveblas/apps/triangles"
	"github.com/hiveblas/hiveblas/matrix"
)

// ClusteringOptions are the settings of LocalClustering. See [triangles.ClusteringOptions].
type ClusteringOptions = triangles.ClusteringOptions

// ClusteringResult is the result of LocalClustering. See [triangles.ClusteringResult].
type ClusteringResult = triangles.ClusteringResult

// LocalClustering returns the local clustering coefficient of every vertex of g: the share of the
// pairs of its neighbours that are neighbours of each other (Watts, Strogatz, Nature 393, 1998).
// See [triangles.LocalClustering].
func LocalClustering[T comparable](g matrix.Source[T], opts ...ClusteringOptions) (*ClusteringResult, error) {
	return triangles.LocalClustering(g, opts...)
}

// SimilarityMeasure compares the sets of columns of two rows. See [triangles.SimilarityMeasure].
type SimilarityMeasure = triangles.SimilarityMeasure

// Jaccard is |x ∩ y| / |x ∪ y|: the default.
const Jaccard = triangles.Jaccard

// Overlap is |x ∩ y| / min(|x|, |y|).
const Overlap = triangles.Overlap

// Cosine is |x ∩ y| / √(|x|·|y|).
const Cosine = triangles.Cosine

// CommonNeighbours is |x ∩ y|.
const CommonNeighbours = triangles.CommonNeighbours

// SimilarityOptions are the settings of Similarity. See [triangles.SimilarityOptions].
type SimilarityOptions = triangles.SimilarityOptions

// Similarity returns for each row of an m×n matrix the Top other rows that are most similar by the
// columns that they share: an m×m matrix with their scores, ties by number. See
// [triangles.Similarity].
func Similarity[T comparable](a matrix.Source[T], opts ...SimilarityOptions) (*matrix.Matrix[float64], error) {
	return triangles.Similarity(a, opts...)
}

// TriangleOptions are the settings of TriangleCount. See [triangles.TriangleOptions].
type TriangleOptions = triangles.TriangleOptions

// TriangleCount returns the number of triangles of g: sets of three vertices joined by three edges.
// See [triangles.TriangleCount].
func TriangleCount[T comparable](g matrix.Source[T], opts ...TriangleOptions) (int64, error) {
	return triangles.TriangleCount(g, opts...)
}
