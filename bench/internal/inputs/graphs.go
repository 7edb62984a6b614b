package inputs

import (
	"context"
	"fmt"
	"runtime"
	"slices"

	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/internal/parallel"
)

// GPU is a graph and the data that cases derived from it.
type GPU struct {
	Graph   *gen.Graph
	Kept    map[string]any
	Closers []func() // called when no case needs the input any more
}

// shapes are the bipartite inputs: rows, columns, entries.
var shapes = map[string][3]int{
	"bipartite100k": {943, 1682, 100_000},
	"bipartite1m":   {6743, 13950, 1_000_000},
	"bipartite5m":   {34395, 20402, 5_000_000},
	"bipartite20m":  {138493, 26744, 20_000_000},
}

// MakeGPU makes the input of a name: directedN is R-MAT of scale N, edge factor 16, without
// duplicates and loops, labels as drawn; symmetricN has also the reverse of each edge; kron21 is
// symmetric R-MAT 21 of edge factor 22, 2M vertices and about 90M entries; factor18 is R-MAT 18 of
// edge factor 32, seed 1; uniformNxD has N vertices and D edges of each on average, ends drawn
// alike; sparseN is R-MAT N with edge factor 8; plantedN has N vertices of mean degree 17.6 and
// communities with mixing .3; the graphs of LassoSignal have values too, the graphs of FlowNetwork
// capacities; gridN, else, and squareN are a grid of N×N vertices, renumberedN is one with its
// vertices in any order, cubeN is gen.Grid3D; stencilN is gen.Diagonals27 of side N; the others are
// shapes. shrink makes them 2^shrink times smaller.
func MakeGPU(name string, shrink int) (*GPU, error) {
	in := &GPU{Kept: map[string]any{}}
	var scale, degree int
	rmat := func() gen.Tuples { return gen.RMAT(max(scale-shrink, 5), 16, gen.RMATOptions{}) }
	shape, bipartite := shapes[name]
	if signal, ok := LassoSignal(name, shrink); ok {
		in.Graph, in.Kept["values"] = signal.Graph, signal.Y
		return in, nil
	}
	if network, capacities, ok := FlowNetwork(name, shrink); ok {
		in.Graph, in.Kept["capacities"] = network, capacities
		return in, nil
	}
	switch {
	case bipartite:
		m, n := max(shape[0]>>(shrink/2), 32), max(shape[1]>>(shrink/2), 32)
		in.Graph = gen.CSR(gen.Bipartite(m, n, min(max(shape[2]>>shrink, 256), m*n/4), 1), gen.KeepLoops)
	case Scan(name, "directed%d", &scale):
		in.Graph = gen.CSR(rmat())
	case name == "factor18":
		in.Graph = gen.CSR(gen.RMAT(max(18-shrink, 5), 32, gen.RMATOptions{Seed: 1}))
	case Scan(name, "uniform%dx%d", &scale, &degree):
		n := max(scale>>shrink, 64)
		in.Graph = gen.CSR(gen.Edges(n, n*degree, 7))
	case name == "kron21":
		in.Graph = gen.CSR(gen.Symmetrise(gen.RMAT(max(21-shrink, 5), 22, gen.RMATOptions{})))
	case Scan(name, "grid%d", &scale):
		side := max(scale>>(shrink/2), 8)
		in.Graph = gen.CSR(gen.Grid2D(side, side))
	case Scan(name, "renumbered%d", &scale):
		side := max(scale>>(shrink/2), 8)
		in.Graph, _ = gen.Renamed(gen.CSR(gen.Grid2D(side, side)), 0, 1)
	case Scan(name, "square%d", &scale):
		side := max(scale>>(shrink/2), 8)
		in.Graph = gen.CSR(gen.Grid2D(side, side))
	case Scan(name, "cube%d", &scale):
		in.Graph = gen.Grid3D(max(scale>>(shrink/3), 4))
	case Scan(name, "stencil%d", &scale):
		in.Graph = gen.Diagonals27(max(scale>>(shrink/3), 4))
	case Scan(name, "symmetric%d", &scale):
		in.Graph = gen.CSR(gen.Symmetrise(rmat()))
	case Scan(name, "sparse%d", &scale):
		in.Graph = gen.CSR(gen.Symmetrise(gen.RMAT(max(scale-shrink, 5), 8, gen.RMATOptions{})))
	case Scan(name, "planted%d", &scale):
		n := max(scale>>shrink, 200)
		t, _ := gen.Planted(n, n*88/10, .3, 1)
		in.Graph = gen.CSR(gen.Symmetrise(t))
	default:
		return nil, fmt.Errorf("bench: no input is called %q", name)
	}
	return in, nil
}

// Kept returns the result of the first call of make with that key.
func Kept[T any](in *GPU, key string, make func() (T, error)) (T, error) {
	if v, ok := in.Kept[key]; ok {
		return v.(T), nil
	}
	v, err := make()
	if err == nil {
		in.Kept[key] = v
	}
	return v, err
}

// Values returns a value for each entry of g, computed from the hash of its position.
func Values[T any](g *gen.Graph, f func(hash uint64) T) []T {
	val := make([]T, g.NNZ())
	_ = parallel.Range(context.Background(), runtime.GOMAXPROCS(0), len(val), 1<<16, func(_, lo, hi int) {
		for p := lo; p < hi; p++ {
			val[p] = f(gen.Hash(uint64(p), 3))
		}
	})
	return val
}

// Unit maps a hash to (0, 1].
func Unit[T float32 | float64](hash uint64) T { return T(hash>>40+1) / (1 << 24) }

// ByDegree numbers the vertices of a square graph by falling number of edges,
// both ways counted: new[v] is the number of v.
func ByDegree(g *gen.Graph) (renumbered []int32) {
	n := g.NRows
	degree := make([]uint32, n)
	for i := range n {
		degree[i] += uint32(g.Ptr[i+1] - g.Ptr[i])
	}
	for _, j := range g.Idx {
		degree[j]++
	}
	order := make([]uint64, n)
	for v, d := range degree {
		order[v] = uint64(^d)<<32 | uint64(v)
	}
	slices.Sort(order)
	renumbered = make([]int32, n)
	for rank, key := range order {
		renumbered[uint32(key)] = int32(rank)
	}
	return renumbered
}

// TuplesOf lists the edges of g under new numbers; with lower, those that do
// not lead to a lower number become loops, which gen.CSR drops.
func TuplesOf(g *gen.Graph, renumbered []int32, lower bool) gen.Tuples {
	t := gen.Tuples{Rows: make([]int32, g.NNZ()), Cols: make([]int32, g.NNZ()), NRows: g.NRows, NCols: g.NCols}
	_ = parallel.Range(context.Background(), runtime.GOMAXPROCS(0), g.NRows, 1<<10, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			from := renumbered[i]
			for p := g.Ptr[i]; p < g.Ptr[i+1]; p++ {
				to := renumbered[g.Idx[p]]
				if lower && to > from {
					to = from
				}
				t.Rows[p], t.Cols[p] = from, to
			}
		}
	})
	return t
}
