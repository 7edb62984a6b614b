package apps

import (
	"github.com/hiveblas/hiveblas/apps/paths"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

// BFSOptions are the settings of BFS. See [paths.BFSOptions].
type BFSOptions = paths.BFSOptions

// BFSResult is the result of BFS. See [paths.BFSResult].
type BFSResult = paths.BFSResult

// BFS searches breadth-first from source along the edges of g. See [paths.BFS].
func BFS[T comparable](g matrix.Source[T], source int, opts ...BFSOptions) (*BFSResult, error) {
	return paths.BFS(g, source, opts...)
}

// DiameterOptions are the settings of Diameter. See [paths.DiameterOptions].
type DiameterOptions = paths.DiameterOptions

// DiameterResult is the result of Diameter. See [paths.DiameterResult].
type DiameterResult = paths.DiameterResult

// Diameter returns the diameter of g, the largest distance between two vertices of one connected
// component, or bounds of it. See [paths.Diameter].
func Diameter[T comparable](g matrix.Source[T], opts ...DiameterOptions) (*DiameterResult, error) {
	return paths.Diameter(g, opts...)
}

// SSSPOptions are the settings of SSSP. See [paths.SSSPOptions].
type SSSPOptions[T semiring.Number] = paths.SSSPOptions[T]

// SSSP returns the length of the shortest path from the nearest of the sources to every vertex;
// vertices that cannot be reached have no entry. See [paths.SSSP].
func SSSP[T semiring.Number](g matrix.Source[T], sources []int, opts ...SSSPOptions[T]) (*matrix.Vector[T], error) {
	return paths.SSSP(g, sources, opts...)
}

// VertexNominationOptions are the settings of VertexNomination. See
// [paths.VertexNominationOptions].
type VertexNominationOptions[T semiring.Number] = paths.VertexNominationOptions[T]

// Nomination is a vertex and its distance to the nearest seed. See [paths.Nomination].
type Nomination[T semiring.Number] = paths.Nomination[T]

// VertexNomination returns the distance of every vertex to the nearest seed, with edges followed
// from row to column. See [paths.VertexNomination].
func VertexNomination[T semiring.Number](g matrix.Source[T], seeds []int, opts ...VertexNominationOptions[T]) (*matrix.Vector[T], error) {
	return paths.VertexNomination(g, seeds, opts...)
}

// Rank lists the vertices of d by distance, nearest first, ties by number. See [paths.Rank].
func Rank[T semiring.Number](d *matrix.Vector[T]) []Nomination[T] {
	return paths.Rank(d)
}
