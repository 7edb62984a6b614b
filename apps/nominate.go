package apps

import (
	"github.com/hiveblas/hiveblas/apps/nominate"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

// ContextScore is how NominateVertices scores vertices by the graph around the seeds. See
// [nominate.ContextScore].
type ContextScore = nominate.ContextScore

// ContextDistance is 1/d, d the number of edges from the nearest seed: the default.
const ContextDistance = nominate.ContextDistance

// ContextSeeds is the number of seeds with an edge to the vertex, the context of Coppersmith and
// Priebe.
const ContextSeeds = nominate.ContextSeeds

// ContextCommonNeighbours is the sum over the seeds of the columns that a seed and the vertex
// share.
const ContextCommonNeighbours = nominate.ContextCommonNeighbours

// ContextPageRank is the rank of a walk that restarts at the seeds.
const ContextPageRank = nominate.ContextPageRank

// NominateOptions are the settings of NominateVertices. See [nominate.NominateOptions].
type NominateOptions = nominate.NominateOptions

// Nominations is the result of NominateVertices. See [nominate.Nominations].
type Nominations = nominate.Nominations

// NominateVertices ranks the vertices of g that are not seeds by how likely they are to be like the
// seeds: by their context, which is the graph around the seeds, and by their content. See
// [nominate.NominateVertices].
func NominateVertices[T comparable](g matrix.Source[T], seeds []int, opts ...NominateOptions) (*Nominations, error) {
	return nominate.NominateVertices(g, seeds, opts...)
}

// NominateByMatchingOptions are the settings of NominateByMatching. See [nominate.NominateByMatchingOptions].
type NominateByMatchingOptions = nominate.NominateByMatchingOptions

// NominateByMatching ranks the vertices of b by how likely they are to correspond to the vertices of
// interest of a, given pairs of vertices that correspond. See [nominate.NominateByMatching].
func NominateByMatching[T semiring.Float](a matrix.Source[T], b matrix.Source[T], interest []int, seeds []SeedPair, opts ...NominateByMatchingOptions) (*Nominations, error) {
	return nominate.NominateByMatching(a, b, interest, seeds, opts...)
}
