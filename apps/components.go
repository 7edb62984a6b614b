package apps

import (
	"github.com/hiveblas/hiveblas/apps/components"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

// ComponentsOptions are the settings of ConnectedComponents. See [components.ComponentsOptions].
type ComponentsOptions = components.ComponentsOptions

// Components is a partition of the vertices into connected components. See [components.Components].
type Components = components.Components

// ConnectedComponents returns the connected components of g; of a directed graph the weakly
// connected ones. See [components.ConnectedComponents].
func ConnectedComponents[T comparable](g matrix.Source[T], opts ...ComponentsOptions) (*Components, error) {
	return components.ConnectedComponents(g, opts...)
}

// StronglyConnectedComponents returns the strongly connected components of g: the largest sets of
// vertices in which a path leads from each vertex to each other one. See
// [components.StronglyConnectedComponents].
func StronglyConnectedComponents[T comparable](g matrix.Source[T], opts ...ComponentsOptions) (*Components, error) {
	return components.StronglyConnectedComponents(g, opts...)
}

// SpanningOptions are the settings of MinimumSpanningForest. See [components.SpanningOptions].
type SpanningOptions = components.SpanningOptions

// Spanning is the result of MinimumSpanningForest. See [components.Spanning].
type Spanning = components.Spanning

// MinimumSpanningForest returns the spanning forest of least weight of g: a tree for each connected
// component. See [components.MinimumSpanningForest].
func MinimumSpanningForest[T semiring.Number](g matrix.Source[T], opts ...SpanningOptions) (*Spanning, error) {
	return components.MinimumSpanningForest(g, opts...)
}
