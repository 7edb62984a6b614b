package apps

import (
	"github.com/hiveblas/hiveblas/apps/project"
	"github.com/hiveblas/hiveblas/chunked"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

// MatchingOptions are the settings of BipartiteMatching. See [project.MatchingOptions].
type MatchingOptions = project.MatchingOptions

// Matching is a set of entries, at most one in each row and column. See [project.Matching].
type Matching = project.Matching

// BipartiteMatching returns a matching of the most entries of an m×n matrix: a bipartite graph
// between its rows and its columns. See [project.BipartiteMatching].
func BipartiteMatching[T comparable](a matrix.Source[T], opts ...MatchingOptions) (*Matching, error) {
	return project.BipartiteMatching(a, opts...)
}

// Weighting is what an edge of a projection counts. See [project.Weighting].
type Weighting = project.Weighting

// WeightDot is a value of Weighting. See [project.WeightDot].
const WeightDot = project.WeightDot

// WeightCount is a value of Weighting. See [project.WeightCount].
const WeightCount = project.WeightCount

// WeightRatio is a value of Weighting. See [project.WeightRatio].
const WeightRatio = project.WeightRatio

// Side is what a graph is projected onto. See [project.Side].
type Side = project.Side

// OntoColumns is a value of Side. See [project.OntoColumns].
const OntoColumns = project.OntoColumns

// OntoRows is a value of Side. See [project.OntoRows].
const OntoRows = project.OntoRows

// ProjectionOptions are the settings of Projection. See [project.ProjectionOptions].
type ProjectionOptions = project.ProjectionOptions

// Projection connects the vertices of one side of a bipartite graph that share neighbours on the
// other. See [project.Projection].
func Projection[T semiring.Number](a matrix.Source[T], opts ...ProjectionOptions) (*matrix.Matrix[T], error) {
	return project.Projection(a, opts...)
}

// ProjectionTo computes [Projection] block by block into sink, for results that are larger than a
// device or than memory; see package chunked. See [project.ProjectionTo].
func ProjectionTo[T semiring.Number](sink chunked.Sink[T], a matrix.Source[T], opts ...ProjectionOptions) (*chunked.Report, error) {
	return project.ProjectionTo(sink, a, opts...)
}

// RatioSemiring sums x / (x + y), 0 where x is 0. See [project.RatioSemiring].
func RatioSemiring[T semiring.Number]() semiring.Semiring[T, T, T] {
	return project.RatioSemiring[T]()
}
