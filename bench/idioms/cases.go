package idioms

import (
	"fmt"
	"math"
	"time"

	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/bench/internal/inputs"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

// idioms lists the rows: the algorithms of the GraphBLAS user guide, statements that must cost what
// their entries cost, and small operations.
func idioms() []idiom {
	list := []idiom{
		{name: "bfs levels", make: onGraph(bfsLevelsIdiom)},
		{name: "bfs parents", make: onGraph(bfsParentsIdiom)},
		{name: "bfs levels, path of 10000", make: onPath(10_000)},
		// Twice the path takes twice the time: results leave CSR by themselves.
		{name: "bfs levels, path of 10000 over 5000", ratio: 2.5, make: pathGrowth},
		{name: "sssp bellman-ford", make: ssspIdiom},
		{name: "pagerank, 20 iterations", make: onGraph(pageRankIdiom)},
		{name: "k-core", ratio: 4, make: onGraph(kCoreIdiom)},
		{name: "maximal independent set", make: onGraph(misIdiom)},
		{name: "betweenness, 8 sources", make: onGraph(betweennessIdiom)},
		{name: "conjugate gradients, 20×20 grid", ratio: 12, make: func(*idiomInput) (*idiomRun, error) { return gradientsIdiom(20) }},
	}
	for _, c := range []struct {
		kept string
		w, s int
	}{{"1000 entries", 1000, 10}, {"1000 entries", 1000, 500}, {"18346 entries", 18346, 100}, {"all entries", 36692, 100}} {
		list = append(list, idiom{name: fmt.Sprintf("delete where s is true, w of %s, s of %d, n = 36692", c.kept, c.s),
			most: perEntry(c.w + c.s), make: func(*idiomInput) (*idiomRun, error) { return deleteIdiom(36692, c.w, c.s) }})
	}
	for _, k := range []int{10, 1000, 10_000} {
		list = append(list, idiom{name: fmt.Sprintf("full += sparse of %d, n = 36692", k), most: perEntry(k),
			make: func(*idiomInput) (*idiomRun, error) { return fullPlusIdiom(36692, k) }})
	}
	for _, n := range []int{10_000, 100_000, 1_000_000} {
		for _, form := range []string{"half", "full"} {
			list = append(list, idiom{name: fmt.Sprintf("masked assign of 10, %s, n = %d", form, n), most: perEntry(10), allocs: smallAllocs,
				make: func(*idiomInput) (*idiomRun, error) { return maskedAssignIdiom(n, 10, form == "full") }})
		}
	}
	return append(list, smallIdioms()...)
}

// smallAllocs is the most allocations of a small operation that reuses the storage of its result.
const smallAllocs = 6

// perEntry is the bar of small operations: 1 µs, and 5 ns for each entry.
func perEntry(n int) time.Duration { return time.Microsecond + time.Duration(5*n) }

// onGraph makes a case of an algorithm on the graph of the table.
func onGraph(run func(g *gen.Graph, a *matrix.View[bool]) (*idiomRun, error)) func(*idiomInput) (*idiomRun, error) {
	return func(in *idiomInput) (*idiomRun, error) {
		a, err := patternOf(in.graph)
		if err != nil {
			return nil, err
		}
		return run(in.graph, a)
	}
}

// patternOf returns the edges of an undirected graph.
func patternOf(g *gen.Graph) (*matrix.View[bool], error) {
	a, err := matrix.FromCSR(g.NRows, g.NCols, g.Ptr, g.Idx, inputs.Values(g, func(uint64) bool { return true }))
	if err != nil {
		return (*matrix.View[bool])(nil), err
	}
	a.IsSymmetric()
	return matrix.AsView[bool](a.Pattern()), nil
}

// pathGraph is the undirected path of n vertices.
func pathGraph(n int) *gen.Graph { return gen.CSR(gen.Grid2D(1, n)) }

func onPath(n int) func(*idiomInput) (*idiomRun, error) {
	return func(*idiomInput) (*idiomRun, error) {
		g := pathGraph(n)
		a, err := patternOf(g)
		if err != nil {
			return nil, err
		}
		return bfsLevelsIdiom(g, a)
	}
}

// pathGrowth compares ours on a path with ours on one of half the length.
func pathGrowth(in *idiomInput) (*idiomRun, error) {
	long, err := onPath(10_000)(in)
	if err != nil {
		return nil, err
	}
	short, err := onPath(5_000)(in)
	if err != nil {
		return nil, err
	}
	half := long.loop
	return &idiomRun{ours: long.ours, loop: func() { half(); _ = short.ours() }, agree: long.agree}, nil
}

// busiest returns the vertex of the largest degree, a source that reaches much.
func busiest(g *gen.Graph) int {
	best := 0
	for v := range g.NRows {
		if len(g.Row(v)) > len(g.Row(best)) {
			best = v
		}
	}
	return best
}

// agree compares a vector with what a loop found: want(i) and whether position i has an entry.
// Figures may differ by tolerance, relative to the larger.
func agree[T semiring.Number](name string, v *matrix.Vector[T], tolerance float64, want func(i int) (T, bool)) error {
	entries := int64(0)
	for i := range v.Size() {
		x, ok := want(i)
		if ok {
			entries++
		}
		got, have := v.At(i)
		if have != ok || ok && !(math.Abs(float64(got)-float64(x)) <= tolerance*math.Max(1, math.Abs(float64(x)))) {
			return fmt.Errorf("%s(%d) is %v (an entry: %t), the loop finds %v (%t)", name, i, got, have, x, ok)
		}
	}
	if v.NVals() != entries {
		return fmt.Errorf("%s has %d entries, the loop finds %d", name, v.NVals(), entries)
	}
	return nil
}
