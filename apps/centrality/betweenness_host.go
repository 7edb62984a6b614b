package centrality

import (
	"math"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/matrix"
)

// betweennessOnHost sums dependencies by searches from the sources.
func betweennessOnHost(a *matrix.View[bool], n int, sources []int32, scale float64, o BetweennessOptions) (*matrix.Vector[float64], error) {
	out, in := bothWays(a)
	sum, err := sumDependencies(out, in, sources, o)
	if err != nil {
		return nil, err
	}
	for v := range sum {
		sum[v] *= scale
	}
	workflow.Traced(o.Run, "Betweenness", "searches", n, int64(len(sources))*int64(len(out.Idx)))
	return matrix.VectorOf(sum)
}

// sumDependencies searches from sources, which the threads share.
func sumDependencies(out, in *workflow.Adjacency, sources []int32, o BetweennessOptions) ([]float64, error) {
	growth := int64(1)
	for v := range in.N {
		growth = max(growth, in.Degree(int32(v)))
	}
	crew := make([]*brandes, max(1, min(parallel.Threads(o.Threads), len(sources))))
	err := workflow.EachPiece(o.Run, "betweenness", len(sources), 1, func(k, lo, hi int) {
		if crew[k] == nil {
			crew[k] = newBrandes(out, in, float64(growth))
		}
		for _, source := range sources[lo:hi] {
			crew[k].search(source)
			crew[k].dependencies()
		}
	})
	if err != nil {
		return nil, err
	}
	sum := make([]float64, out.N)
	for _, w := range crew {
		if w == nil {
			continue
		}
		for v, x := range w.sum {
			sum[v] += x
		}
	}
	return sum, nil
}

// brandes sums dependencies on sources, one at a time. wave and after are 0 between levels, so that
// a pull adds up wave along all edges without a test.
//
// From the first level with a count above mostPaths on, a count is paths·2^(512·exponent) with
// paths from 1 to mostPaths: the levels are wide. Levels before have no exponents.
type brandes struct {
	out, in     *workflow.Adjacency
	sum         []float64
	level       []int32   // of the vertices found, from 1; 0 for others
	paths       []float64 // shortest paths from the source
	wave, after []float64
	order       []int32 // the vertices found, by level
	starts      []int   // of the levels in order

	growth   float64 // a bound of the growth of counts in a level: the largest in-degree
	wide     int     // the first wide level in starts
	exponent []int32 // nil until a level is wide; 0 in levels that are not
}

// noneWide is brandes.wide without wide levels.
const noneWide = math.MaxInt

func newBrandes(out, in *workflow.Adjacency, growth float64) *brandes {
	n := out.N
	return &brandes{out: out, in: in, growth: growth, sum: make([]float64, n), level: make([]int32, n), paths: make([]float64, n),
		wave: make([]float64, n), after: make([]float64, n), order: make([]int32, 0, n)}
}

// search counts the shortest paths from a source. A level is pulled along the edges into the
// vertices not found where they are fewer than twice the edges from the frontier.
func (b *brandes) search(source int32) {
	b.order, b.starts = append(b.order[:0], source), append(b.starts[:0], 0)
	b.level[source], b.paths[source], b.wide = 1, 1, noneWide
	left := int64(len(b.in.Idx)) - b.in.Degree(source) // edges into vertices not found
	bound := 1.0                                       // of the counts of a level
	for level := int32(2); ; level++ {
		lo := b.starts[len(b.starts)-1]
		hi := len(b.order)
		frontier := b.order[lo:hi]
		switch {
		case b.wide != noneWide:
			b.pushWide(frontier, level)
		case 2*b.out.Degrees(frontier) > left+int64(b.out.N):
			for _, v := range frontier {
				b.wave[v] = b.paths[v]
			}
			for v, l := range b.level {
				if l != 0 {
					continue
				}
				if paths := b.in.Along(int32(v), b.wave); paths != 0 {
					b.level[v], b.paths[v] = level, paths
					b.order = append(b.order, int32(v))
				}
			}
			for _, v := range frontier {
				b.wave[v] = 0
			}
		default:
			for _, v := range frontier {
				paths := b.paths[v]
				for _, w := range b.out.Of(v) {
					if b.level[w] == 0 {
						b.level[w], b.paths[w] = level, 0
						b.order = append(b.order, w)
					}
					if b.level[w] == level {
						b.paths[w] += paths
					}
				}
			}
		}
		if len(b.order) == hi {
			return
		}
		left -= b.in.Degrees(b.order[hi:])
		if bound *= b.growth; bound > mostPaths && b.wide == noneWide {
			bound = 0
			for _, v := range b.order[hi:] {
				bound = max(bound, b.paths[v])
			}
			if bound > mostPaths {
				b.wide = len(b.starts)
				b.widen(b.order[hi:])
			}
		}
		b.starts = append(b.starts, hi)
	}
}

// dependencies adds the dependencies on the source of the search to sum, and forgets the search.
// The wave of a vertex is (1 + dependency) / paths.
func (b *brandes) dependencies() {
	last := b.order[len(b.order):] // the level after
	for d := len(b.starts) - 1; d > 0; d-- {
		lo, hi := b.starts[d], len(b.order)
		if d+1 < len(b.starts) {
			hi = b.starts[d+1]
		}
		list := b.order[lo:hi]
		switch {
		case d+1 >= b.wide: // this level or the one after is wide
			b.dependWide(list, last, d >= b.wide)
		case 3*b.in.Degrees(last) < b.out.Degrees(list): // push
			for _, w := range last {
				x := b.wave[w]
				for _, v := range b.in.Of(w) {
					b.after[v] += x
				}
			}
			for _, v := range list {
				b.settle(v, b.after[v])
			}
			for _, w := range last {
				for _, v := range b.in.Of(w) {
					b.after[v] = 0
				}
				b.wave[w] = 0
			}
		default:
			for _, v := range list {
				// settled below: a wave of this level must not be seen by the next vertex
				b.after[v] = b.out.Along(v, b.wave)
			}
			for _, v := range list {
				b.settle(v, b.after[v])
				b.after[v] = 0
			}
			for _, w := range last {
				b.wave[w] = 0
			}
		}
		last = list
	}
	for _, w := range last {
		b.wave[w] = 0
	}
	for _, v := range b.order {
		b.level[v] = 0
	}
	if b.wide < len(b.starts) {
		for _, v := range b.order[b.starts[b.wide]:] {
			b.exponent[v] = 0
		}
	}
}

// settle adds the dependency of a vertex; after is the sum of the waves of its successors.
func (b *brandes) settle(v int32, after float64) {
	paths := b.paths[v]
	b.sum[v] += after * paths
	b.wave[v] = 1/paths + after
}

// widen gives the counts of a level exponents.
func (b *brandes) widen(list []int32) {
	if b.exponent == nil {
		b.exponent = make([]int32, b.out.N)
	}
	for _, v := range list {
		if b.paths[v] > mostPaths {
			b.paths[v] /= mostPaths
			b.exponent[v]++
		}
	}
}

// pushWide counts the paths to the vertices of a wide level.
func (b *brandes) pushWide(frontier []int32, level int32) {
	hi := len(b.order)
	for _, v := range frontier {
		from := wideCount{b.paths[v], int64(b.exponent[v])}
		for _, w := range b.out.Of(v) {
			if b.level[w] == 0 {
				b.level[w], b.paths[w] = level, 0
				b.order = append(b.order, w)
			}
			if b.level[w] == level {
				sum := wideCount{b.paths[w], int64(b.exponent[w])}.plus(from)
				b.paths[w], b.exponent[w] = sum.x, int32(sum.e)
			}
		}
	}
	b.widen(b.order[hi:])
}

// dependWide adds the dependencies of the vertices in list, a level of the search, and clears the
// waves of last, the next level. The path counts of list or of last are wide: a count has an
// exponent of its own. wide says that the counts of list are; the wave of a vertex is then
// 1 + its dependency, otherwise (1 + its dependency) / its path count.
func (b *brandes) dependWide(list, last []int32, wide bool) {
	for _, v := range list {
		next, after := b.level[v]+1, 0.0
		for _, w := range b.out.Of(v) {
			if b.level[w] == next {
				ratio := b.paths[v] / b.paths[w]
				if e := int(b.exponent[v]) - int(b.exponent[w]); e != 0 {
					ratio = math.Ldexp(ratio, 512*e)
				}
				after += ratio * b.wave[w]
			}
		}
		b.sum[v] += after
		if b.wave[v] = 1 + after; !wide {
			b.wave[v] /= b.paths[v]
		}
	}
	for _, w := range last {
		b.wave[w] = 0
	}
}
