package apps

import (
	"io"

	"github.com/hiveblas/hiveblas/apps/search"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

// SearchRule is the rule by which a walk of GraphSearch chooses the next neighbour. See
// [search.SearchRule].
type SearchRule = search.SearchRule

// SearchUniform draws a neighbour, each with the same probability: the default.
const SearchUniform = search.SearchUniform

// SearchGreedy takes the neighbour of the largest weight, of several the first.
const SearchGreedy = search.SearchGreedy

// SearchStochastic draws a neighbour in proportion to its weight.
const SearchStochastic = search.SearchStochastic

// SearchOptions are the settings of GraphSearch. See [search.SearchOptions].
type SearchOptions = search.SearchOptions

// A SearchBlock holds consecutive walks. See [search.SearchBlock].
type SearchBlock = search.SearchBlock

// A SearchPoint is what the walks of a search have found after each has taken a number of steps.
// See [search.SearchPoint].
type SearchPoint = search.SearchPoint

// SearchResult is the result of GraphSearch. See [search.SearchResult].
type SearchResult = search.SearchResult

// GraphSearch walks over a graph from each start and reports what the walks meet: the method of
// chapter 5 of Gunrock's HIVE report (2018), which looks for many vertices of high score quickly.
// See [search.GraphSearch].
func GraphSearch[T semiring.Element](g matrix.Source[T], scores *Scores, starts []int, opts ...SearchOptions) (*SearchResult, error) {
	return search.GraphSearch(g, scores, starts, opts...)
}

// BinaryWalks returns a function for SearchOptions.Each that writes walks to w as little-endian
// uint32: the length of a walk for each, with 0xFFFFFFFF after its end. See [search.BinaryWalks].
func BinaryWalks(w io.Writer) func(SearchBlock) error {
	return search.BinaryWalks(w)
}

// TextWalks returns a function for SearchOptions.Each that writes a line for each walk to w: its
// vertices, separated by tabs, by name if name is not nil. See [search.TextWalks].
func TextWalks(w io.Writer, name func(vertex int) string) func(SearchBlock) error {
	return search.TextWalks(w, name)
}

// Scores are the scores of vertices for GraphSearch: a vector, or a function that is called for
// vertices when walks first need them. See [search.Scores].
type Scores = search.Scores

// VertexScores are the scores of a vector. See [search.VertexScores].
func VertexScores(v *matrix.Vector[float64]) *Scores {
	return search.VertexScores(v)
}

// ScoreFunc are scores by a function, such as a classifier of texts, which sets scores[k] to the
// score of vertices[k]. See [search.ScoreFunc].
func ScoreFunc(batch int, f func(vertices []int, scores []float64) error) *Scores {
	return search.ScoreFunc(batch, f)
}

// A ScoreError names a vertex with a score that GraphSearch cannot use. See [search.ScoreError].
type ScoreError = search.ScoreError
