// Package sampled chooses neighbours for GraphSAGE and makes blocks of them, and checks its inputs.
package sampled

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/apps/sage/internal/neural"
	"github.com/hiveblas/hiveblas/internal/fresh"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/philox"
)

// Rule is the rule by which neighbours are chosen: a SAGESampling.
type Rule int

const (
	Uniform Rule = iota
	sampleByWeight
	sampleByDegree
	sampleByWalks
)

// String returns the name of the sampling on the command line.
func (s Rule) String() string {
	switch s {
	case Uniform:
		return "uniform"
	case sampleByWeight:
		return "weight"
	case sampleByDegree:
		return "degree"
	case sampleByWalks:
		return "walks"
	}
	return fmt.Sprintf("SAGESampling(%d)", int(s))
}

// The walks of SampleByWalks.
const (
	sageWalks      = 32 // from a vertex
	sageWalkLength = 2  // steps
)

// A Graph chooses neighbours. A choice depends on the seed, the round (an epoch of training), the
// layer and the vertex alone.
type Graph struct {
	Run      workflow.Run
	N        int
	Ptr      []int64
	Idx      []int32
	values   workflow.WeightReader
	Sampling Rule
	replace  bool
	seed     uint64
	gcn      bool
	ordered  bool    // neighbours have an order, and no weights
	place    []int32 // of a vertex among sources, −1 for none; for trees
}

// A Choice is the working memory of a choice.
type Choice struct {
	At      []int32
	Weight  []float64
	buffer  []float64
	keys    []sageKey
	draws   []philox.Key
	visited map[int32]int
}

type sageKey struct {
	key float64
	at  int32
}

// random returns random number k for a vertex and a layer.
func (g *Graph) random(v int32, round uint64, layer, k int) uint64 {
	return philox.Number(v, layer, round, k, g.seed)
}

// Choose sets c.at to the chosen neighbours of v in ascending order, and c.weight to their weights,
// which add up to 1. For an LSTM the order is random, and there are no weights. samples is −1 for
// all neighbours.
func (g *Graph) Choose(v int32, round uint64, layer, samples int, c *Choice) {
	c.At, c.Weight = c.At[:0], c.Weight[:0]
	row := g.Idx[g.Ptr[v]:g.Ptr[v+1]]
	switch {
	case len(row) == 0:
		c.At, c.Weight = append(c.At, v), append(c.Weight, 1)
	case g.Sampling == sampleByWalks:
		g.byWalks(v, round, layer, samples, c)
	case samples < 0 || !g.replace && len(row) <= samples:
		c.At = append(c.At, row...)
		c.Weight = append(c.Weight, g.weigh(v, c)...)
	case g.Sampling == Uniform && g.replace:
		for k := range samples {
			j, _ := philox.Below(g.random(v, round, layer, k), uint64(len(row)))
			c.At, c.Weight = append(c.At, row[j]), append(c.Weight, 1)
		}
	case g.Sampling == Uniform:
		c.At = philox.Choose(c.At, len(row), samples, func(k int) uint64 { return g.random(v, round, layer, k) })
		for k, j := range c.At {
			c.At[k], c.Weight = row[j], append(c.Weight, 1)
		}
	case g.replace:
		sums := g.weigh(v, c)
		for k := 1; k < len(sums); k++ {
			sums[k] += sums[k-1]
		}
		for k := range samples {
			x := philox.Unit(g.random(v, round, layer, k)) * sums[len(sums)-1]
			j, _ := slices.BinarySearch(sums, x)
			c.At, c.Weight = append(c.At, row[min(j, len(row)-1)]), append(c.Weight, 1)
		}
	default:
		c.At, c.draws = philox.ChooseByWeight(c.At, c.draws, g.weigh(v, c), samples, func(k int) uint64 { return g.random(v, round, layer, k) })
		for k, j := range c.At {
			c.At[k], c.Weight = row[j], append(c.Weight, 1)
		}
	}
	if g.gcn { // a vertex counts as much as the mean neighbour
		sum := 0.0
		for _, w := range c.Weight {
			sum += w
		}
		count := float64(len(c.At))
		c.At, c.Weight = append(c.At, v), append(c.Weight, sum/count)
	}
	if c.settle(); g.ordered {
		c.keys, c.Weight = g.arrange(v, c.At, c.keys), c.Weight[:0]
	}
}

// arrange puts neighbours of v into an order that is random for each seed and vertex. It is the
// same for all layers and rounds: two neighbours of v that are both chosen follow each other in the
// same order. keys is scratch, and returned for the next call.
func (g *Graph) arrange(v int32, list []int32, keys []sageKey) []sageKey {
	keys = keys[:0]
	for _, u := range list {
		x, _ := philox.Block(uint64(uint32(v))|uint64(uint32(u))<<32, 1<<60, g.seed)
		keys = append(keys, sageKey{philox.Unit(x), u})
	}
	slices.SortFunc(keys, func(a, b sageKey) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.at, b.at)) })
	for k := range keys {
		list[k] = keys[k].at
	}
	return keys
}

// weigh returns the weights of the neighbours of v.
func (g *Graph) weigh(v int32, c *Choice) []float64 {
	lo, hi := g.Ptr[v], g.Ptr[v+1]
	c.buffer = slices.Grow(c.buffer[:0], int(hi-lo))[:hi-lo]
	switch g.Sampling {
	case sampleByWeight:
		copy(c.buffer, g.values(slices.Clone(c.buffer), lo, hi))
	case sampleByDegree:
		for k, u := range g.Idx[lo:hi] {
			c.buffer[k] = float64(max(g.Ptr[u+1]-g.Ptr[u], 1))
		}
	default:
		for k := range c.buffer {
			c.buffer[k] = 1
		}
	}
	return c.buffer
}

// byWalks chooses the vertices that walks from v visit most.
func (g *Graph) byWalks(v int32, round uint64, layer, samples int, c *Choice) {
	if c.visited == nil {
		c.visited = map[int32]int{}
	}
	clear(c.visited)
	for k := range sageWalks {
		at := v
		for step := range sageWalkLength {
			lo, hi := g.Ptr[at], g.Ptr[at+1]
			if lo == hi {
				break
			}
			j, _ := philox.Below(g.random(v, round, layer, k*sageWalkLength+step), uint64(hi-lo))
			if at = g.Idx[lo+int64(j)]; at != v {
				c.visited[at]++
			}
		}
	}
	c.keys = c.keys[:0]
	for u, times := range c.visited {
		c.keys = append(c.keys, sageKey{-float64(times), u})
	}
	slices.SortFunc(c.keys, func(a, b sageKey) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.at, b.at)) })
	for _, k := range c.keys[:min(samples, len(c.keys))] {
		c.At, c.Weight = append(c.At, k.at), append(c.Weight, -k.key)
	}
	if len(c.At) == 0 { // all walks stay at v
		c.At, c.Weight = append(c.At, v), append(c.Weight, 1)
	}
}

// settle sorts a choice, adds up the weights of repeated vertices, and divides by their sum.
func (c *Choice) settle() {
	c.keys = c.keys[:0]
	sum := 0.0
	for k, u := range c.At {
		c.keys = append(c.keys, sageKey{c.Weight[k], u})
		sum += c.Weight[k]
	}
	slices.SortFunc(c.keys, func(a, b sageKey) int { return cmp.Compare(a.at, b.at) })
	c.At, c.Weight = c.At[:0], c.Weight[:0]
	for _, k := range c.keys {
		if last := len(c.At) - 1; last >= 0 && c.At[last] == k.at {
			c.Weight[last] += k.key / sum
			continue
		}
		c.At, c.Weight = append(c.At, k.at), append(c.Weight, k.key/sum)
	}
}

// sagePart is the choices of some targets.
type sagePart struct {
	count  []int64
	at     []int32
	weight []float64
}

// WholeBlock returns the block of all vertices with all neighbours, for SampleUniform. It shares
// the lists of the graph if these are what it needs.
func WholeBlock[F workflow.Real](g *Graph) *neural.Block[F] {
	b := &neural.Block[F]{Targets: g.N, Sources: g.N, Ptr: g.Ptr, Idx: g.Idx}
	const grain = 1 << 10
	threads := g.Run.Threads
	ptr := fresh.Make[int64](int64(g.N) + 1) // first the lengths of rows
	ptr[0] = 0
	_ = parallel.Range(nil, threads, g.N, grain, func(_, lo, hi int) {
		for v := lo; v < hi; v++ {
			row := g.Idx[g.Ptr[v]:g.Ptr[v+1]]
			ptr[v+1] = int64(len(row))
			if len(row) == 0 {
				ptr[v+1] = 1
			} else if _, own := slices.BinarySearch(row, int32(v)); g.gcn && !own {
				ptr[v+1]++
			}
		}
	})
	parallel.Sum(threads, ptr)
	total := ptr[g.N]
	if total == int64(len(g.Idx)) && !g.gcn && !g.ordered {
		return b
	}
	b.Ptr, b.Idx = ptr, fresh.Make[int32](total)
	if g.gcn {
		b.Weight = fresh.Make[F](total)
	}
	_ = parallel.Range(nil, threads, g.N, grain, func(_, lo, hi int) {
		var keys []sageKey
		for v := lo; v < hi; v++ {
			row, out := g.Idx[g.Ptr[v]:g.Ptr[v+1]], b.Idx[ptr[v]:ptr[v+1]]
			own := len(row) == len(out)
			if own {
				copy(out, row)
			} else {
				at, _ := slices.BinarySearch(row, int32(v))
				copy(out, row[:at])
				out[at] = int32(v)
				copy(out[at+1:], row[at:])
			}
			if g.ordered {
				keys = g.arrange(int32(v), out, keys)
			}
			if !g.gcn {
				continue
			}
			// A vertex counts as much as a neighbour, and twice if it is its own.
			share := 1 / F(len(row)+1)
			for k, u := range out {
				w := share
				if own && int(u) == v {
					w *= 2
				}
				b.Weight[ptr[v]+int64(k)] = w
			}
		}
	})
	return b
}

// BlockOf returns the block of a layer for targets, nil for all vertices, and its sources, nil for
// all vertices. The targets are the first sources.
func BlockOf[F workflow.Real](g *Graph, targets []int32, round uint64, layer, samples int) (*neural.Block[F], []int32, error) {
	if targets == nil && samples < 0 && g.Sampling == Uniform {
		return WholeBlock[F](g), nil, nil
	}
	b, err := ChosenOf[F](g, targets, round, layer, samples)
	if err != nil {
		return nil, nil, err
	}
	var sources []int32
	if targets != nil {
		sources = g.renumber(targets, b.Idx)
		b.Sources = len(sources)
	}
	return b, sources, nil
}

// ChosenOf returns the neighbours that targets choose, nil for all vertices. All vertices are
// sources.
func ChosenOf[F workflow.Real](g *Graph, targets []int32, round uint64, layer, samples int) (*neural.Block[F], error) {
	count := g.N
	if targets != nil {
		count = len(targets)
	}
	const grain = 1 << 10
	parts := make([]sagePart, (count+grain-1)/grain)
	scratch := make([]Choice, parallel.Threads(g.Run.Threads)+1)
	err := parallel.Pieces(g.Run.Context, g.Run.Threads, len(parts), func(id, p int) {
		c, part := &scratch[id], &parts[p]
		for k := p * grain; k < min((p+1)*grain, count); k++ {
			v := int32(k)
			if targets != nil {
				v = targets[k]
			}
			g.Choose(v, round, layer, samples, c)
			part.count = append(part.count, int64(len(c.At)))
			part.at, part.weight = append(part.at, c.At...), append(part.weight, c.Weight...)
		}
	})
	if err != nil {
		return nil, err
	}
	first := make([]int64, len(parts)+1) // entry of each part
	for p := range parts {
		first[p+1] = first[p] + int64(len(parts[p].at))
	}
	total := first[len(parts)]
	b := &neural.Block[F]{Targets: count, Sources: g.N, Ptr: fresh.Make[int64](int64(count) + 1), Idx: fresh.Make[int32](total)}
	weighted := slices.ContainsFunc(parts, func(p sagePart) bool { return len(p.weight) > 0 })
	if weighted {
		b.Weight = fresh.Make[F](total)
	}
	b.Ptr[0] = 0
	return b, parallel.Pieces(g.Run.Context, g.Run.Threads, len(parts), func(_, p int) {
		part, at := &parts[p], first[p]
		copy(b.Idx[at:], part.at)
		for k, w := range part.weight {
			b.Weight[at+int64(k)] = F(w)
		}
		for k, n := range part.count {
			at += n
			b.Ptr[p*grain+k+1] = at
		}
	})
}

// OwnBlock is blockOf for trees with choices of their own: owners are the roots of the trees that
// the targets belong to, and every choice is a separate source.
func OwnBlock[F workflow.Real](g *Graph, targets, owners []int32, layer, samples int) (*neural.Block[F], []int32, []int32, error) {
	const grain = 1 << 10
	parts := make([]sagePart, (len(targets)+grain-1)/grain)
	scratch := make([]Choice, parallel.Threads(g.Run.Threads)+1)
	err := parallel.Pieces(g.Run.Context, g.Run.Threads, len(parts), func(id, p int) {
		c, part := &scratch[id], &parts[p]
		for k := p * grain; k < min((p+1)*grain, len(targets)); k++ {
			g.Choose(targets[k], uint64(owners[k])+1, layer, samples, c)
			part.count = append(part.count, int64(len(c.At)))
			part.at, part.weight = append(part.at, c.At...), append(part.weight, c.Weight...)
		}
	})
	if err != nil {
		return nil, nil, nil, err
	}
	b := &neural.Block[F]{Targets: len(targets), Ptr: make([]int64, 1, len(targets)+1)}
	sources, from := slices.Clone(targets), slices.Clone(owners)
	for _, part := range parts {
		for _, k := range part.count {
			owner := owners[len(b.Ptr)-1]
			b.Ptr = append(b.Ptr, b.Ptr[len(b.Ptr)-1]+k)
			for range k {
				b.Idx = append(b.Idx, int32(len(from)))
				from = append(from, owner)
			}
		}
		sources = append(sources, part.at...)
		for _, w := range part.weight {
			b.Weight = append(b.Weight, F(w))
		}
	}
	b.Sources = len(sources)
	return b, sources, from, nil
}

// renumber replaces vertices by their places in the list of targets and the vertices that follow
// them, which it returns.
func (g *Graph) renumber(targets, idx []int32) []int32 {
	if g.place == nil {
		g.place = make([]int32, g.N)
		for v := range g.place {
			g.place[v] = -1
		}
	}
	sources := slices.Clone(targets)
	for k, v := range targets {
		g.place[v] = int32(k)
	}
	for k, v := range idx {
		if g.place[v] < 0 {
			g.place[v] = int32(len(sources))
			sources = append(sources, v)
		}
		idx[k] = g.place[v]
	}
	for _, v := range sources {
		g.place[v] = -1
	}
	return sources
}

// TreesOf returns the blocks of all layers for targets without repeats, the first layer first, and
// the vertices that enter by their features. samples counts from the targets outwards; nil takes
// all.
func TreesOf[F workflow.Real](g *Graph, targets []int32, round uint64, layers int, samples []int) ([]*neural.Block[F], []int32, error) {
	blocks := make([]*neural.Block[F], layers)
	at := targets
	for k := layers - 1; k >= 0; k-- {
		var err error
		if blocks[k], at, err = BlockOf[F](g, at, round, k, SamplesOf(samples, layers-1-k)); err != nil {
			return nil, nil, err
		}
	}
	return blocks, at, nil
}

// SamplesOf returns the number of samples at a distance from the targets, −1 for all.
func SamplesOf(samples []int, distance int) int {
	if samples == nil {
		return -1
	}
	return samples[distance]
}
