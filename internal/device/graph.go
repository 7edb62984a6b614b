package device

// Graph is a Backend that also runs whole traversals of graphs, where the
// steps of a pipeline of operations would each wait for the one before. A
// graph is a square matrix, an edge from row to column; values are read by
// SSSP alone. Package apps has checked sources, weights and parameters.
//
// A traversal stops between batches of its steps once Call.Context has ended.
type Graph interface {
	Backend

	// BFS finds the number of edges from the nearest of the sources to every
	// vertex, and with parents the least-numbered vertex before each; a source
	// is its own.
	BFS(c Call, a Operand, sources []int32, parents bool) (Levels, error)
	// SSSP finds the length of the shortest path from any of the sources to
	// every vertex that can be reached. delta, of the elements' type, is the
	// width of the distance buckets. Elements have 32 or 64 bits.
	SSSP(c Call, a Operand, sources []int32, delta Scalar) (Store, Ran, error)
	// Components finds the least vertex of the component of each vertex, edges
	// counting in both directions.
	Components(c Call, a Operand) (Labels, error)
	// PageRank finds the stationary distribution of a walk over the edges, as
	// doubles.
	PageRank(c Call, a Operand, w Walk) (Ranks, error)
	// TowardsHubs returns the pattern of the edges that lead to a vertex of more
	// out-edges, or of as many and a higher number.
	TowardsHubs(c Call, a Operand) (Store, error)
}

// Levels is what BFS found. Vertices that were not reached have no entry.
type Levels struct {
	Level, Parent Store // of hb_i32; Parent is nil unless asked for
	Reached       int64
	MaxLevel      int32
	Ran           Ran
}

// Labels is what Components found.
type Labels struct {
	Label   Store // full, of hb_i32
	Count   int64
	Largest int64
	Ran     Ran
}

// Walk is what PageRank computes: with probability Damping an edge is
// followed, until Σ|change| is at most Tolerance.
type Walk struct {
	Damping, Tolerance float64
	MaxIterations      int
}

// Ranks is what PageRank found.
type Ranks struct {
	Rank       Store // full
	Iterations int
	Change     float64
	Ran        Ran
}

// Matcher is a Backend that also matches a pattern graph in a data graph, both
// with features, as apps.Classify does.
type Matcher interface {
	Backend
	// Match returns the beliefs, data vertices × pattern vertices, full, as
	// floats. Package apps has checked the graphs.
	Match(c Call, m Matching) (Store, Ran, error)
}

// Features is a graph with features; see apps.Attributed for the shapes.
type Features struct{ Vertices, Edges, Source, Target Operand }

// Matching is what Match computes.
type Matching struct {
	Data, Pattern Features
	Rounds        int
	Corrected     bool
	Memory        int64 // bytes for distances of edges, 0: any
}
