package apps

import (
	"github.com/hiveblas/hiveblas/apps/sets"
	"github.com/hiveblas/hiveblas/matrix"
)

// ColourOrder is the order in which Colouring takes vertices. See [sets.ColourOrder].
type ColourOrder = sets.ColourOrder

// LargestFirst takes vertices by descending degree, ties at random: the default.
const LargestFirst = sets.LargestFirst

// SmallestLast takes them in the reverse of the order in which a vertex of least degree is removed
// again and again: at most one colour more than the largest core number.
const SmallestLast = sets.SmallestLast

// RandomOrder takes them at random.
const RandomOrder = sets.RandomOrder

// ColouringOptions are the settings of Colouring. See [sets.ColouringOptions].
type ColouringOptions = sets.ColouringOptions

// ColouringResult is the result of Colouring. See [sets.ColouringResult].
type ColouringResult = sets.ColouringResult

// Colouring gives every vertex of g a colour that none of its neighbours has, the least one in a
// given order of the vertices. See [sets.Colouring].
func Colouring[T comparable](g matrix.Source[T], opts ...ColouringOptions) (*ColouringResult, error) {
	return sets.Colouring(g, opts...)
}

// IndependentSetOptions are the settings of MaximalIndependentSet. See
// [sets.IndependentSetOptions].
type IndependentSetOptions = sets.IndependentSetOptions

// MaximalIndependentSet returns a maximal independent set of g: vertices without an edge between
// two of them, to which no vertex can be added. See [sets.MaximalIndependentSet].
func MaximalIndependentSet[T comparable](g matrix.Source[T], opts ...IndependentSetOptions) (*matrix.Vector[bool], error) {
	return sets.MaximalIndependentSet(g, opts...)
}
