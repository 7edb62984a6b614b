// Package generate makes random and regular graphs of any size: R-MAT, uniform, planted partition,
// Watts–Strogatz, grid and bipartite.
//
// A [Graph] is a list of edges; each edge is a function of its number and the seed. Any part of the
// list can therefore be drawn by any goroutine, in any order, without the memory for the whole, and
// the same arguments give the same edges on every platform. Edges are as drawn: with repeated edges
// and loops, and of an undirected graph one direction. [Matrix] builds a matrix of them.
//
//	g, err := generate.RMAT(20, 16<<20, generate.RMATOptions{Seed: 1})
//	a, err := generate.Matrix[bool](g, generate.Undirected(), generate.Simple())
//
// The random numbers are splitmix64, used as a hash of the number. The command hiveblas generate
// writes these graphs to files.
package generate

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"reflect"
	"slices"
	"sort"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/internal/splitmix"
	"github.com/hiveblas/hiveblas/matrix"
)

// Graph is a list of edges that are drawn by their numbers. Its methods are safe for concurrent
// use.
type Graph struct {
	rows, cols int
	edges      int64
	draw       func(lo int64, src, dst []int32)
	device     *drawing // the same on a device; nil: the host draws for it
	community  func(v int) int
}

// Dims returns the number of rows and columns, which are the vertices but for [Bipartite].
func (g *Graph) Dims() (rows, cols int) {
	if g == nil {
		return 0, 0
	}
	return g.rows, g.cols
}

// Edges returns the number of edges.
func (g *Graph) Edges() int64 {
	if g == nil {
		return 0
	}
	return g.edges
}

// Draw fills src and dst, which have the same length, with the ends of the edges lo, lo+1, …. Edges
// outside 0 to Edges()−1 are an error. O(edges), and O(log n) an edge of Bipartite and Planted.
func (g *Graph) Draw(lo int64, src, dst []int32) error {
	switch {
	case g == nil || g.draw == nil:
		return &matrix.InvalidError{Op: "Graph.Draw", Reason: "the graph is nil or zero; make it with a function of package generate"}
	case len(src) != len(dst):
		return &matrix.InvalidError{Op: "Graph.Draw", Reason: fmt.Sprintf("%d sources and %d targets, want the same number", len(src), len(dst))}
	case lo < 0 || lo > g.edges-int64(len(src)):
		return &matrix.IndexError{Op: "Graph.Draw", Arg: "the last edge", Index: lo + int64(len(src)) - 1, Limit: g.edges}
	}
	g.draw(lo, src, dst)
	return nil
}

// Community returns the community of a vertex that [Planted] planted, −1 in other graphs and for no
// vertex.
func (g *Graph) Community(v int) int {
	if g == nil || g.community == nil || v < 0 || v >= g.rows {
		return -1
	}
	return g.community(v)
}

// A ParameterError is an argument out of range.
type ParameterError struct{ Generator, Arg, Got, Want string }

func (e *ParameterError) Error() string {
	return fmt.Sprintf("generate.%s: %s is %s, want %s", e.Generator, e.Arg, e.Got, e.Want)
}

// Is reports whether target is matrix.ErrInvalid.
func (e *ParameterError) Is(target error) bool { return target == matrix.ErrInvalid }

func parameterError(generator, arg string, got any, want string) error {
	return &ParameterError{generator, arg, fmt.Sprint(got), want}
}

// check verifies numbers of vertices and edges.
func check(generator string, n int, edges int64) error {
	switch {
	case n < 0 || n > matrix.MaxDim:
		return parameterError(generator, "the number of vertices", n, fmt.Sprintf("0 to %d", matrix.MaxDim))
	case edges < 0 || edges > 1<<56:
		return parameterError(generator, "the number of edges", edges, "0 to 2⁵⁶")
	case n == 0 && edges > 0:
		return parameterError(generator, "the number of edges", edges, "0 without vertices")
	}
	return nil
}

// hash is number x of the random stream called seed.
func hash(x, seed uint64) uint64 { return splitmix.At(x, splitmix.Mix(seed)) }

// boundedWord maps a random word to [0, n): bias below n/2⁶⁴.
func boundedWord(word, n uint64) uint64 {
	hi, _ := bits.Mul64(word, n)
	return hi
}

// share maps a random word to [0, 1).
func share(word uint64) float64 { return float64(word>>11) / (1 << 53) }

// RMATOptions refines [RMAT].
type RMATOptions struct {
	// A, B, C are the probabilities of the quadrants top-left, top-right and bottom-left;
	// bottom-right takes the rest. All zero means 0.57, 0.19, 0.19, as in Graph500.
	A, B, C float64
	Seed    uint64
}

// RMAT draws edges of a recursive-matrix graph with 2^scale vertices, scale at most 30: each edge
// walks down scale levels of quadrants. Low numbers have the high degrees; see [Scrambled].
//
// Level l of edge e uses half a word (the low half for even l) of random number e·⌈scale/2⌉+⌊l/2⌋;
// the probabilities are rounded down to multiples of 2⁻³².
//
// Source: Chakrabarti, Zhan, Faloutsos, "R-MAT: a recursive model for graph mining", SDM 2004,
// doi:10.1137/1.9781611972740.43.
func RMAT(scale int, edges int64, o RMATOptions) (*Graph, error) {
	if scale < 0 || scale > 30 {
		return nil, parameterError("RMAT", "the scale", scale, "0 to 30")
	}
	if o.A == 0 && o.B == 0 && o.C == 0 {
		o.A, o.B, o.C = 0.57, 0.19, 0.19
	}
	if !(o.A >= 0 && o.B >= 0 && o.C >= 0 && o.A+o.B+o.C <= 1) {
		return nil, parameterError("RMAT", "A, B, C", fmt.Sprint(o.A, " ", o.B, " ", o.C), "probabilities with a sum of at most 1")
	}
	n := 1 << scale
	if err := check("RMAT", n, edges); err != nil {
		return nil, err
	}
	a := uint64(o.A * (1 << 32))
	ab := a + uint64(o.B*(1<<32))
	abc := ab + uint64(o.C*(1<<32))
	words, state := uint64(scale+1)/2, splitmix.Mix(o.Seed)
	on := &drawing{function: "hb_draw_rmat", constants: []uint64{uint64(scale), words, state, a, ab, abc}}
	return &Graph{rows: n, cols: n, edges: edges, device: on, draw: func(lo int64, src, dst []int32) {
		for k := range src {
			var row, col, word uint64
			at := (uint64(lo) + uint64(k)) * words
			for l := range scale {
				if l&1 == 0 {
					word = splitmix.At(at+uint64(l)/2, state)
				} else {
					word >>= 32
				}
				r := word & (1<<32 - 1)
				// Sign bits instead of branches: the quadrant is unpredictable.
				down := (ab - 1 - r) >> 63
				right := (a-1-r)>>63 ^ down ^ (abc-1-r)>>63
				row, col = row<<1|down, col<<1|right
			}
			src[k], dst[k] = int32(row), int32(col)
		}
	}}, nil
}

// Uniform draws edges between n vertices, both ends uniform and independent (Gilbert's and Erdős
// and Rényi's model with repetition).
func Uniform(n int, edges int64, seed uint64) (*Graph, error) {
	if err := check("Uniform", n, edges); err != nil {
		return nil, err
	}
	state := splitmix.Mix(seed)
	on := &drawing{function: "hb_draw_uniform", constants: []uint64{uint64(n), state}}
	return &Graph{rows: n, cols: n, edges: edges, device: on, draw: func(lo int64, src, dst []int32) {
		for k := range src {
			e := 2 * (uint64(lo) + uint64(k))
			src[k] = int32(boundedWord(splitmix.At(e, state), uint64(n)))
			dst[k] = int32(boundedWord(splitmix.At(e+1, state), uint64(n)))
		}
	}}, nil
}

// Grid is the undirected grid of height×width vertices, each joined to its four neighbours. Vertex
// (y, x) has number y·width+x.
func Grid(height, width int) (*Graph, error) {
	if height < 0 || width < 0 || width > 0 && height > matrix.MaxDim/width {
		return nil, parameterError("Grid", "the grid", fmt.Sprintf("%d×%d", height, width), fmt.Sprintf("at most %d vertices", matrix.MaxDim))
	}
	h, w := int64(height), int64(width)
	if h*w == 0 {
		return &Graph{draw: func(int64, []int32, []int32) {}}, nil
	}
	// A row has an edge right and one down at each x, without the right one of its end; the last
	// row has right ones only.
	row := 2*w - 1
	on := &drawing{function: "hb_draw_grid", constants: []uint64{uint64(h), uint64(w)}}
	return &Graph{rows: height * width, cols: height * width, edges: (h-1)*row + w - 1, device: on, draw: func(lo int64, src, dst []int32) {
		for k := range src {
			e := lo + int64(k)
			y := min(e/row, h-1)
			at := e - y*row
			x, down := at/2, at&1 == 1 || at == row-1
			if y == h-1 {
				x, down = at, false
			}
			v := y*w + x
			src[k], dst[k] = int32(v), int32(v+1)
			if down {
				dst[k] = int32(v + w)
			}
		}
	}}, nil
}

// WattsStrogatz is the undirected ring of n vertices, each joined to the k that follow it, where
// the far end of an edge moves to a uniform vertex with probability p. k is below n.
//
// Source: Watts, Strogatz, "Collective dynamics of small-world networks", Nature 393 (1998),
// doi:10.1038/30918.
func WattsStrogatz(n, k int, p float64, seed uint64) (*Graph, error) {
	switch {
	case n < 0 || n > matrix.MaxDim:
		return nil, check("WattsStrogatz", n, 0)
	case k < 0 || k >= max(n, 1):
		return nil, parameterError("WattsStrogatz", "k", k, fmt.Sprintf("0 to %d", max(n, 1)-1))
	case !(p >= 0 && p <= 1):
		return nil, parameterError("WattsStrogatz", "p", p, "a probability")
	}
	limit, state := uint64(p*(1<<32)), splitmix.Mix(seed)
	on := &drawing{function: "hb_draw_ring", constants: []uint64{uint64(n), uint64(k), limit, state}}
	return &Graph{rows: n, cols: n, edges: int64(n) * int64(k), device: on, draw: func(lo int64, src, dst []int32) {
		for x := range src {
			e := uint64(lo) + uint64(x)
			i := e / uint64(k)
			j := (i + e%uint64(k) + 1) % uint64(n)
			if word := splitmix.At(e, state); word>>32 < limit {
				j = boundedWord(splitmix.Mix(word), uint64(n))
			}
			src[x], dst[x] = int32(i), int32(j)
		}
	}}, nil
}

// Planted draws edges of an undirected graph; its vertices form the given number of communities, of
// sizes that differ by at most one. The first end of an edge is uniform, the second a uniform
// vertex with probability mixing, and else one of the same community. [Graph.Community] tells the
// community of a vertex; consecutive numbers belong together, see [Scrambled].
//
// Source: Condon, Karp, "Algorithms for graph partitioning on the planted partition model", Random
// Structures and Algorithms 18 (2001),
// doi:10.1002/1098-2418(200103)18:2<116::AID-RSA1001>3.0.CO;2-2.
func Planted(n int, edges int64, communities int, mixing float64, seed uint64) (*Graph, error) {
	if err := check("Planted", n, edges); err != nil {
		return nil, err
	}
	switch {
	case communities < 1 || communities > max(n, 1):
		return nil, parameterError("Planted", "the number of communities", communities, fmt.Sprintf("1 to %d", max(n, 1)))
	case !(mixing >= 0 && mixing <= 1):
		return nil, parameterError("Planted", "the mixing", mixing, "a probability")
	}
	first := func(c int) int { return int(int64(c) * int64(n) / int64(communities)) }
	community := func(v int) int {
		return sort.Search(communities, func(c int) bool { return first(c+1) > v })
	}
	state := splitmix.Mix(seed)
	return &Graph{rows: n, cols: n, edges: edges, community: community, draw: func(lo int64, src, dst []int32) {
		for k := range src {
			e := 3 * (uint64(lo) + uint64(k))
			u := int(boundedWord(splitmix.At(e, state), uint64(n)))
			from, to := 0, n
			if share(splitmix.At(e+1, state)) >= mixing {
				c := community(u)
				from, to = first(c), first(c+1)
			}
			src[k], dst[k] = int32(u), int32(from+int(boundedWord(splitmix.At(e+2, state), uint64(to-from))))
		}
	}}, nil
}

// Bipartite draws entries of a rows×cols matrix in the shape of “users rate items”: row k is drawn
// with a weight of 1/√(k+1+rows/150), column k with 1/(k+1+cols/512), independently; see
// [Scrambled]. It keeps 8 bytes a row and a column.
func Bipartite(rows, cols int, edges int64, seed uint64) (*Graph, error) {
	for _, n := range []int{rows, cols} {
		if err := check("Bipartite", n, edges); err != nil {
			return nil, err
		}
	}
	rowSum := sums(rows, func(k int) uint64 { return uint64((1 << 32) / math.Sqrt(float64(k+1+rows/150))) })
	colSum := sums(cols, func(k int) uint64 { return (1 << 32) / uint64(k+1+cols/512) })
	state := splitmix.Mix(seed)
	return &Graph{rows: rows, cols: cols, edges: edges, draw: func(lo int64, src, dst []int32) {
		for k := range src {
			e := 2 * (uint64(lo) + uint64(k))
			src[k] = pick(rowSum, splitmix.At(e, state))
			dst[k] = pick(colSum, splitmix.At(e+1, state))
		}
	}}, nil
}

// sums returns the inclusive sums of n weights, which are at least 1.
func sums(n int, weight func(k int) uint64) []uint64 {
	all := make([]uint64, n)
	var total uint64
	for k := range all {
		total += max(weight(k), 1)
		all[k] = total
	}
	return all
}

// pick returns an index by the weights of sums and a random word.
func pick(sums []uint64, word uint64) int32 {
	k, _ := slices.BinarySearch(sums, boundedWord(word, sums[len(sums)-1])+1)
	return int32(k)
}

// Scrambled is g with its vertices renamed by a random permutation, which takes no memory: a
// Feistel network of four rounds on the bits of a number, repeated until the result is below n.
// Rows and columns of a bipartite graph have permutations of their own.
func Scrambled(g *Graph, seed uint64) *Graph {
	if g == nil || g.draw == nil {
		return g
	}
	rows := permutation(g.rows, hash(0, seed))
	cols := rows
	if g.rows != g.cols {
		cols = permutation(g.cols, hash(1, seed))
	}
	out := *g
	out.draw = func(lo int64, src, dst []int32) {
		g.draw(lo, src, dst)
		for k := range src {
			src[k], dst[k] = rows.permuted(src[k]), cols.permuted(dst[k])
		}
	}
	switch {
	case g.device == nil:
	case g.device.scrambled != nil || g.rows != g.cols: // the kernels have one permutation
		out.device = nil
	default:
		on := *g.device
		on.scrambled = &rows
		out.device = &on
	}
	if g.community != nil {
		out.community = func(v int) int { return g.community(int(rows.inverse(int32(v)))) }
	}
	return &out
}

// feistel is a permutation of 0…n−1.
type feistel struct {
	n    uint32
	half uint // bits of a half
	keys [4]uint64
}

func permutation(n int, seed uint64) feistel {
	f := feistel{n: uint32(n), half: uint(bits.Len(uint(max(n-1, 1)))+1) / 2}
	for r := range f.keys {
		f.keys[r] = hash(uint64(r), seed)
	}
	return f
}

func (f *feistel) permuted(v int32) int32 {
	x, mask := uint32(v), uint32(1)<<f.half-1
	for {
		l, r := x>>f.half, x&mask
		for _, key := range f.keys {
			l, r = r, l^uint32(splitmix.Mix(key+uint64(r)))&mask
		}
		if x = l<<f.half | r; x < f.n {
			return int32(x)
		}
	}
}

func (f *feistel) inverse(v int32) int32 {
	x, mask := uint32(v), uint32(1)<<f.half-1
	for {
		l, r := x>>f.half, x&mask
		for k := len(f.keys) - 1; k >= 0; k-- {
			l, r = r^uint32(splitmix.Mix(f.keys[k]+uint64(l)))&mask, l
		}
		if x = l<<f.half | r; x < f.n {
			return int32(x)
		}
	}
}

// A MatrixOption configures [Matrix].
type MatrixOption func(*matrixOptions)

type matrixOptions struct {
	undirected, simple bool
	place              matrix.Place
	ctx                context.Context
	pieceKeys          int64 // in place of the constant, if not 0
}

// Undirected adds the opposite direction of each edge.
func Undirected() MatrixOption { return func(o *matrixOptions) { o.undirected = true } }

// Simple leaves loops out.
func Simple() MatrixOption { return func(o *matrixOptions) { o.simple = true } }

// On makes the matrix at a place: a device, or a group. On a device, and on a group of devices,
// each makes its own rows: R-MAT, uniform and Watts–Strogatz graphs and grids, scrambled or not,
// with the entries of a matrix of the host. Memory there is 4 bytes and the size of T an edge, 24
// bytes a row, and 3.5 GB of scratch for pieces of 2²⁷ edges, each drawing the whole graph; no host
// memory is used. All other graphs and places are made on the host and then moved.
func On(p matrix.Place) MatrixOption { return func(o *matrixOptions) { o.place = p } }

// WithContext makes [Matrix] return the error of ctx soon after ctx is done.
func WithContext(ctx context.Context) MatrixOption { return func(o *matrixOptions) { o.ctx = ctx } }

// Matrix returns the adjacency matrix of g, with 1 or true for each edge however often it is drawn.
// It needs about 12 bytes and twice the size of T an edge, on the host; see [On].
func Matrix[T matrix.Element](g *Graph, opts ...MatrixOption) (*matrix.Matrix[T], error) {
	var o matrixOptions
	for _, opt := range opts {
		if opt != nil {
			opt(&o)
		}
	}
	m, n := g.Dims()
	if o.undirected && m != n {
		return nil, &matrix.InvalidError{Op: "generate.Matrix", Reason: fmt.Sprintf("Undirected wants a square matrix, and this one is %d×%d", m, n)}
	}
	if g != nil && g.draw == nil {
		return nil, g.Draw(0, nil, nil)
	}
	if o.place == nil {
		return drawnOnHost[T](g, o)
	}
	if t, err := device.TypeOf[T](); err == nil && g != nil && g.device != nil && m > 0 && onDevices(o.place) {
		return drawnOn[T](g, o, t)
	}
	a, err := drawnOnHost[T](g, o)
	if err != nil {
		return nil, err
	}
	return a, a.Move(o.place)
}

// onDevices reports whether a place is a device, or a group with all ranks of this process on
// devices.
func onDevices(p matrix.Place) bool {
	g, ok := p.(*comm.Group)
	if !ok {
		return device.Of(p) != nil
	}
	for k := range g.Ranks() {
		if device.Of(g.PlaceOf(k)) == nil {
			return false
		}
	}
	return g.Size() > 0
}

// drawnOnHost makes the matrix in host memory.
func drawnOnHost[T matrix.Element](g *Graph, o matrixOptions) (*matrix.Matrix[T], error) {
	m, n := g.Dims()
	const piece = 1 << 16
	pieces := int((g.Edges() + piece - 1) / piece)
	blocks := make([][2][]int32, pieces)
	err := parallel.Pieces(o.ctx, 0, pieces, func(_, p int) {
		lo := int64(p) * piece
		size := int(min(piece, g.edges-lo))
		src, dst := make([]int32, size, 2*size), make([]int32, size, 2*size)
		g.draw(lo, src, dst)
		if o.simple {
			keep := 0
			for k := range src {
				if src[k] != dst[k] {
					src[keep], dst[keep] = src[k], dst[k]
					keep++
				}
			}
			src, dst = src[:keep], dst[:keep]
		}
		if o.undirected {
			one := len(src)
			src = append(src, dst...)
			dst = append(dst, src[:one]...)
		}
		blocks[p] = [2][]int32{src, dst}
	})
	if err != nil {
		return nil, err
	}
	b := matrix.NewBuilder[T](m, n)
	for _, block := range blocks {
		b.AddBlock(block[0], block[1], ones[T](len(block[0])))
	}
	return b.Build(matrix.CombineFunc[T](func(x, _ T) T { return x }))
}

// ones returns n values of 1 or true.
func ones[T matrix.Element](n int) []T {
	return sparse.Filled(n, one[T]())
}

// one returns 1 or true.
func one[T matrix.Element]() (v T) {
	switch x := reflect.ValueOf(&v).Elem(); {
	case x.Kind() == reflect.Bool:
		x.SetBool(true)
	case x.CanInt():
		x.SetInt(1)
	case x.CanUint():
		x.SetUint(1)
	default:
		x.SetFloat(1)
	}
	return v
}
