package apps

import (
	"github.com/hiveblas/hiveblas/apps/communities"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

// LabelPropagationOptions are the settings of LabelPropagation. See
// [communities.LabelPropagationOptions].
type LabelPropagationOptions = communities.LabelPropagationOptions

// LabelPropagationResult is the result of LabelPropagation. See
// [communities.LabelPropagationResult].
type LabelPropagationResult = communities.LabelPropagationResult

// LabelPropagation returns communities of g by synchronous label propagation, CDLP of the LDBC
// Graphalytics benchmark (Iosup et al., PVLDB 9, 2016; after Raghavan, Albert, Kumara, Physical
// Review E 76, 2007). See [communities.LabelPropagation].
func LabelPropagation[T comparable](g matrix.Source[T], opts ...LabelPropagationOptions) (*LabelPropagationResult, error) {
	return communities.LabelPropagation(g, opts...)
}

// CommunitiesOptions are the settings of Communities. See [communities.CommunitiesOptions].
type CommunitiesOptions = communities.CommunitiesOptions

// CommunitiesResult is a partition of the vertices into communities. See
// [communities.CommunitiesResult].
type CommunitiesResult = communities.CommunitiesResult

// Communities partitions the vertices of an undirected graph into communities of large modularity.
// See [communities.Communities].
func Communities[T semiring.Element](g matrix.Source[T], opts ...CommunitiesOptions) (*CommunitiesResult, error) {
	return communities.Communities(g, opts...)
}

// ModularityOptions are the settings of Modularity. See [communities.ModularityOptions].
type ModularityOptions = communities.ModularityOptions

// Modularity returns the modularity of a partition of the vertices of an undirected graph. See
// [communities.Modularity].
func Modularity[T semiring.Element](g matrix.Source[T], membership *matrix.Vector[int32], opts ...ModularityOptions) (float64, error) {
	return communities.Modularity(g, membership, opts...)
}
