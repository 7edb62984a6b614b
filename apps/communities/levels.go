package communities

import (
	"fmt"
	"math"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/fresh"
	"github.com/hiveblas/hiveblas/internal/parallel"
)

// draftTolerance is the least tolerance of the sweeps of the first pass of several.
const draftTolerance = 3e-4

// A graphLevel is the graph of a level of a hierarchy, on the host or on a device. P is a partition
// of its vertices: a number for each, −1 for vertices without edges. The zero P is none.
type graphLevel[P any, L any] interface {
	comparable
	// vertices returns the number of vertices with edges.
	vertices() int
	// singles returns the partition into single vertices, numbered as the vertices are.
	singles() P
	// begin returns compose(member, start), or member without a start.
	begin(member, start P) P
	// modularity returns the modularity of a partition.
	modularity(part P) float64
	// move moves vertices, from the communities start or from single vertices, until a sweep gains
	// less than tolerance, or for as many sweeps as the options say, which capped reports. It
	// numbers the communities.
	move(start P, seed uint64, level int, tolerance float64) (communities P, count int, capped bool, err error)
	// stay numbers the communities that the last move began with, and returns to these.
	stay(start P) (communities P, count int)
	// refine splits the communities of the last move, or stay, and numbers the parts.
	refine() (parts P, count int, err error)
	// connected splits communities into connected ones.
	connected(communities P) (pieces P, count int)
	// contract makes a vertex of each part.
	contract(parts P, count int) (L, error)
	// project returns the communities of the vertices of the next level.
	project(parts, communities P, count int) P
	// compose returns of[member(v)], −1 where member is.
	compose(member, of P) P
	// drop frees the level.
	drop()
}

// A hierarchy is the result of passes over the levels of a graph.
type hierarchy[P any] struct {
	part       P   // the communities
	levels     []P // after each level of the last pass
	passes     int
	modularity float64
	capped     bool // the number of sweeps ended a level
}

// allPasses makes passes over the levels of a graph until one gains nothing.
func allPasses[P any, L graphLevel[P, L]](g L, o *CommunitiesOptions, start P) (h hierarchy[P], err error) {
	h.part, h.modularity = start, math.Inf(-1)
	for number := 0; number < o.Passes; number++ {
		next, err := onePass(g, o, h.part, number)
		if err != nil {
			return h, err
		}
		q := h.modularity
		if number > 0 && next.modularity <= q {
			break
		}
		next.passes, next.capped = number+1, next.capped || h.capped
		if h = next; h.modularity < q+o.Tolerance {
			break
		}
	}
	return h, nil
}

// onePass makes one hierarchy from the communities start, the zero P for single vertices.
func onePass[P any, L graphLevel[P, L]](g L, o *CommunitiesOptions, start P, number int) (h hierarchy[P], err error) {
	first := g
	member := g.singles() // the vertex of the level, −1 of a vertex without edges
	h.part = g.begin(member, start)
	h.modularity = g.modularity(h.part)
	least := 0.0
	if number == 0 && o.Passes > 1 { // the next pass goes on
		least = draftTolerance
	}
	level := start
	for k := 0; k < o.MaxLevels; k++ {
		workflow.Report(o.Run, fmt.Sprintf("communities: pass %d, level %d", number+1, k+1), int64(k), 0)
		seed := o.RandomSeed + uint64(number)<<32 + uint64(k)
		communities, count, capped, err := g.move(level, seed, k, max(o.toleranceOf(k), least))
		if err != nil {
			return h, err
		}
		h.capped = h.capped || capped
		q := g.modularity(communities)
		gain, last := q-h.modularity, k+1 == o.MaxLevels
		if gain < 0 { // moves made at the same time can lose
			communities, count = g.stay(level)
			q, last = h.modularity, true
		}
		vertices, parts := communities, count
		if o.Leiden {
			if vertices, parts, err = g.refine(); err != nil {
				return h, err
			}
			last = last || o.shrinksLittle(parts, g.vertices())
			if last || parts == g.vertices() { // no two vertices are in one part
				communities, count = g.connected(communities)
				vertices, parts = communities, count
				q = g.modularity(communities)
			}
		}
		h.part, h.modularity = g.compose(member, communities), q
		last = last || count == g.vertices() || o.shrinksLittle(parts, g.vertices()) || !o.Leiden && gain < o.Tolerance && k > 0
		if last {
			h.levels = append(h.levels, h.part)
			break
		}
		member = g.compose(member, vertices)
		h.levels = append(h.levels, member)
		next, err := g.contract(vertices, parts)
		if err != nil {
			return h, err
		}
		level = g.project(vertices, communities, parts)
		if k > 0 {
			g.drop()
		}
		g = next
	}
	if g != first {
		g.drop()
	}
	if len(h.levels) == 0 {
		h.levels = append(h.levels, h.part)
	}
	return h, nil
}

// A hostLevel is a level on the host.
type hostLevel struct {
	g *levelGraph
	o *CommunitiesOptions
	m *localMoving
}

func (h *hostLevel) vertices() int {
	n := 0
	for _, k := range h.g.degree {
		if k > 0 {
			n++
		}
	}
	return n
}

func (h *hostLevel) singles() []int32 {
	member := make([]int32, h.g.n)
	for v := range member {
		member[v] = -1
		if h.g.degree[v] > 0 {
			member[v] = int32(v)
		}
	}
	return member
}

func (h *hostLevel) begin(member, start []int32) []int32 {
	if start == nil {
		return member
	}
	return h.compose(member, start)
}

func (h *hostLevel) modularity(part []int32) float64 {
	return h.g.modularity(h.o.Run, part, h.o.Resolution)
}

func (h *hostLevel) move(start []int32, seed uint64, level int, tolerance float64) ([]int32, int, bool, error) {
	settings := *h.o
	settings.RandomSeed = seed
	h.m = newLocalMoving(h.g, &settings, level)
	h.m.start(start)
	var sweeps sweeper = h.m
	name := "local moving"
	switch {
	case h.o.Method == workflow.Pipeline:
		name = "local moving by operations"
		if err := h.m.byOperations(); err != nil {
			return nil, 0, false, err
		}
	case h.o.Nondeterministic:
		sweeps, name = newMovingAtOnce(h.m), "local moving at once"
	}
	capped, err := runSweeps(sweeps, h.o.Sweeps, tolerance)
	if err != nil {
		return nil, 0, false, err
	}
	workflow.Traced(h.o.Run, "Communities", name, h.g.n, int64(len(h.g.idx)))
	communities, count := numbered(h.o.Threads, h.m.label, h.g.degree)
	return communities, count, capped, nil
}

func (h *hostLevel) stay(start []int32) ([]int32, int) {
	h.m.start(start)
	return numbered(h.o.Threads, h.m.label, h.g.degree)
}

func (h *hostLevel) refine() ([]int32, int, error) {
	refine := h.m.refine
	if h.o.Nondeterministic {
		refine = newMovingAtOnce(h.m).refine
	}
	split, err := refine()
	if err != nil {
		return nil, 0, err
	}
	parts, count := numbered(h.o.Threads, split, h.g.degree)
	return parts, count, nil
}

func (h *hostLevel) connected(communities []int32) ([]int32, int) {
	return h.g.connected(h.o.Threads, communities)
}

func (h *hostLevel) contract(parts []int32, count int) (*hostLevel, error) {
	next, err := h.g.contract(parts, count, h.o.Run)
	return &hostLevel{g: next, o: h.o}, err
}

func (h *hostLevel) project(parts, communities []int32, count int) []int32 {
	level := make([]int32, count)
	for v, c := range parts {
		if c >= 0 {
			level[c] = communities[v]
		}
	}
	return level
}

func (h *hostLevel) compose(member, of []int32) []int32 {
	out := fresh.Make[int32](int64(len(member)))
	_ = parallel.Range(nil, h.o.Threads, len(member), workflow.RowGrain, func(_, lo, hi int) {
		for v, k := range member[lo:hi] {
			out[lo+v] = -1
			if k >= 0 {
				out[lo+v] = of[k]
			}
		}
	})
	return out
}

func (h *hostLevel) drop() {}
