package apps

import (
	"github.com/hiveblas/hiveblas/apps/order"
	"github.com/hiveblas/hiveblas/matrix"
)

// OrderOptions are the settings of ReverseCuthillMcKee. See [order.OrderOptions].
type OrderOptions = order.OrderOptions

// ReverseCuthillMcKee returns an order of the vertices in which neighbours stand near each other:
// element k is the vertex at position k, so that ops.Extract by it for rows and columns makes the
// band of the matrix narrow. See [order.ReverseCuthillMcKee].
func ReverseCuthillMcKee[T comparable](g matrix.Source[T], opts ...OrderOptions) ([]int32, error) {
	return order.ReverseCuthillMcKee(g, opts...)
}

// TopologicalOptions are the settings of TopologicalOrder. See [order.TopologicalOptions].
type TopologicalOptions = order.TopologicalOptions

// Topological is the result of TopologicalOrder. See [order.Topological].
type Topological = order.Topological

// A CycleError names a cycle of a graph that has to be without one. See [order.CycleError].
type CycleError = order.CycleError

// TopologicalOrder returns the vertices of g in an order in which every edge leads forwards, and
// the level of each. See [order.TopologicalOrder].
func TopologicalOrder[T comparable](g matrix.Source[T], opts ...TopologicalOptions) (*Topological, error) {
	return order.TopologicalOrder(g, opts...)
}
