package gen

import (
	"math"
	"slices"

	"github.com/hiveblas/hiveblas/internal/splitmix"
)

// Signal is a graph with an edge for each pair of neighbours, from the lower vertex to the higher
// one, and a noisy value for each vertex, constant on patches but for the noise: an input of the
// fused lasso.
type Signal struct {
	*Graph
	Y []float64
}

// stream draws random numbers in order.
type stream struct{ seed, next uint64 }

func newStream(seed uint64) *stream { return &stream{seed: splitmix.Mix(seed)} }

func (s *stream) word() uint64 {
	s.next++
	return splitmix.At(s.next, s.seed)
}

// share draws from [0, 1), below from 0…n−1, and normal from the standard normal distribution.
func (s *stream) share() float64        { return float64(s.word()>>11) / (1 << 53) }
func (s *stream) below(n int) int       { return int(below(s.word(), uint64(n))) }
func (s *stream) chance(p float64) bool { return s.share() < p }
func (s *stream) normal() float64 {
	a, b := s.share(), s.share()
	return math.Sqrt(-2*math.Log(1-a)) * math.Cos(2*math.Pi*b)
}

// edgeList collects edges from lower to higher vertices.
type edgeList struct{ rows, cols []int32 }

func (e *edgeList) add(i, j int) {
	e.rows, e.cols = append(e.rows, int32(min(i, j))), append(e.cols, int32(max(i, j)))
}

func (e *edgeList) graph(n int) *Graph { return CSR(Tuples{e.rows, e.cols, n, n}) }

// lattice adds the edges of a side×side grid with probability p, and diagonals with probability d:
// with both, of each cell one of the two.
func (e *edgeList) lattice(s *stream, side int, p, d float64, both bool) {
	for i := range side {
		for j := range side {
			v := i*side + j
			if j+1 < side && s.chance(p) {
				e.add(v, v+1)
			}
			if i+1 < side && s.chance(p) {
				e.add(v, v+side)
			}
			switch {
			case i+1 == side || j+1 == side || !s.chance(d):
			case both && s.chance(.5):
				e.add(v+1, v+side)
			default:
				e.add(v, v+side+1)
			}
		}
	}
}

// patches returns values that are constant on the cells of random vertices of a graph: levels
// between −3 and 3, with noise of deviation .7.
func patches(s *stream, g *Graph) []float64 {
	const cells = 60
	both := CSR(Symmetrise(tuples(g)))
	y, queue := slices.Repeat([]float64{math.NaN()}, g.NRows), make([]int32, 0, g.NRows)
	for range min(cells, g.NRows) {
		v := s.below(g.NRows)
		y[v] = 6*s.share() - 3
		queue = append(queue, int32(v))
	}
	for k := 0; k < len(queue); k++ {
		for _, u := range both.Row(int(queue[k])) {
			if math.IsNaN(y[u]) {
				y[u] = y[queue[k]]
				queue = append(queue, u)
			}
		}
	}
	for v, x := range y {
		if math.IsNaN(x) {
			x = 0
		}
		y[v] = x + .7*s.normal()
	}
	return y
}

// tuples lists the entries of a graph.
func tuples(g *Graph) Tuples {
	t := Tuples{Rows: make([]int32, 0, g.NNZ()), Cols: slices.Clone(g.Idx), NRows: g.NRows, NCols: g.NCols}
	for i := range g.NRows {
		for range g.Row(i) {
			t.Rows = append(t.Rows, int32(i))
		}
	}
	return t
}

// GridSignal is a side×side picture of boxes with noise of deviation .7.
func GridSignal(side int, seed uint64) Signal {
	s, e := newStream(seed), &edgeList{}
	e.lattice(s, side, 1, 0, false)
	y := make([]float64, side*side)
	for range 40 {
		i0, j0 := s.below(side), s.below(side)
		h, w, level := side/16+s.below(side/4+1), side/16+s.below(side/4+1), 6*s.share()-3
		for i := i0; i < min(side, i0+h); i++ {
			for j := j0; j < min(side, j0+w); j++ {
				y[i*side+j] = level
			}
		}
	}
	for v := range y {
		y[v] += .7 * s.normal()
	}
	return Signal{e.graph(side * side), y}
}

// PlanarSignal is a triangulated grid of about n vertices without a twelfth of its edges, as dense
// as road meshes (2.76 edges a vertex): patches, and outliers of up to 20 at every hundredth
// vertex.
func PlanarSignal(n int, seed uint64) Signal {
	s, e := newStream(seed), &edgeList{}
	side := int(math.Round(math.Sqrt(float64(n))))
	e.lattice(s, side, .921, .921, true)
	g := e.graph(side * side)
	y := patches(s, g)
	for v := range y {
		if s.chance(.01) {
			y[v] += 20 * s.share()
		}
	}
	return Signal{g, y}
}

// TaxiSignal has the shape of the counts of taxi rides of the workflow's report: a road network of
// 67×67 crossings, 1.8 edges each, in so many layers of time, with short local events over noise of
// a deviation that differs by crossing.
func TaxiSignal(layers int, seed uint64) Signal {
	const side = 67
	const n = side * side
	s, road, e := newStream(seed), &edgeList{}, &edgeList{}
	road.lattice(s, side, .86, .09, false)
	for t := range layers {
		for k := range road.rows {
			e.add(t*n+int(road.rows[k]), t*n+int(road.cols[k]))
		}
		if t+1 < layers {
			for v := range n {
				e.add(t*n+v, (t+1)*n+v)
			}
		}
	}
	deviation := make([]float64, n)
	for v := range deviation {
		deviation[v] = 2 * math.Exp(s.normal())
	}
	y := make([]float64, n*layers)
	for v := range y {
		y[v] = deviation[v%n] * s.normal()
	}
	for range 60 {
		i0, j0, t0 := s.below(side), s.below(side), s.below(max(layers, 1))
		h, w, long, level := 2+s.below(12), 2+s.below(12), 1+s.below(8), 3+20*s.share()
		if s.chance(.5) {
			level = -level
		}
		for t := t0; t < min(layers, t0+long); t++ {
			for i := i0; i < min(side, i0+h); i++ {
				for j := j0; j < min(side, j0+w); j++ {
					y[t*n+i*side+j] += level
				}
			}
		}
	}
	return Signal{e.graph(n * layers), y}
}

// RMATSignal has patches on the undirected R-MAT graph of a scale and edge factor 16.
func RMATSignal(scale int, seed uint64) Signal {
	t := RMAT(scale, 16, RMATOptions{Seed: seed})
	for k, i := range t.Rows {
		t.Rows[k], t.Cols[k] = min(i, t.Cols[k]), max(i, t.Cols[k])
	}
	g := CSR(t)
	return Signal{g, patches(newStream(seed), g)}
}
