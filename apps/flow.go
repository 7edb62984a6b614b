package apps

import (
	"github.com/hiveblas/hiveblas/apps/flow"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

// MaxFlowOptions are the settings of MaxFlow. See [flow.MaxFlowOptions].
type MaxFlowOptions = flow.MaxFlowOptions

// MaxFlowResult is the result of MaxFlow. See [flow.MaxFlowResult].
type MaxFlowResult = flow.MaxFlowResult

// An UnboundedFlowError says that a path of infinite capacities leads from the source to the sink.
// See [flow.UnboundedFlowError].
type UnboundedFlowError = flow.UnboundedFlowError

// MaxFlow returns a maximum flow from vertex source to vertex sink of the directed graph g; entry
// (i, j) is the capacity of the edge from i to j: 0 or more, or +Inf. See [flow.MaxFlow].
func MaxFlow[T semiring.Number](g matrix.Source[T], source int, sink int, opts ...MaxFlowOptions) (*MaxFlowResult, error) {
	return flow.MaxFlow(g, source, sink, opts...)
}
