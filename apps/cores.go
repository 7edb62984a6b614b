package apps

import (
	"github.com/hiveblas/hiveblas/apps/cores"
	"github.com/hiveblas/hiveblas/matrix"
)

// CoreOptions are the settings of CoreNumbers. See [cores.CoreOptions].
type CoreOptions = cores.CoreOptions

// Cores is the result of CoreNumbers. See [cores.Cores].
type Cores = cores.Cores

// CoreNumbers returns the core number of every vertex of g: the largest k such that the vertex is
// in the k-core, the largest subgraph in which every vertex has k or more neighbours (Seidman,
// Social Networks 5, 1983). See [cores.CoreNumbers].
func CoreNumbers[T comparable](g matrix.Source[T], opts ...CoreOptions) (*Cores, error) {
	return cores.CoreNumbers(g, opts...)
}

// KTrussOptions are the settings of KTruss. See [cores.KTrussOptions].
type KTrussOptions = cores.KTrussOptions

// KTruss returns the k-truss of g, k ≥ 3: the largest subgraph in which every edge is in at least
// k−2 triangles of the subgraph. See [cores.KTruss].
func KTruss[T comparable](g matrix.Source[T], k int, opts ...KTrussOptions) (*matrix.Matrix[int64], error) {
	return cores.KTruss(g, k, opts...)
}
