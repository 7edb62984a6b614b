// Package examples holds graph programs of the papers that package program follows, each a few
// lines of functions:
//
//	res, err := program.Run(ctx, graph.Pattern(), examples.BFS(source))
//
// The lines between the braces of each program are what a user writes; a test holds their numbers
// to those that Medusa prints for the same algorithms (Zhong and He, IEEE TPDS 25(6), 2014, table
// 6).
package examples

import (
	"fmt"
	"math"
	"slices"

	"github.com/hiveblas/hiveblas/program"
	"github.com/hiveblas/hiveblas/semiring"
)

// Unreached is the level of a vertex that a breadth-first search does not reach.
const Unreached = int32(-1)

// BFS returns breadth-first search from a source: the state of a vertex is its level.
func BFS(source int) program.Program[int32, bool, int32] {
	return program.Program[int32, bool, int32]{
		Name:  "bfs",
		Init:  program.Value(Unreached),
		Seeds: program.At(source, int32(0)),
		Send:  program.Send(func(_ program.Vertex, level int32) int32 { return level + 1 }, "state + 1"),
		Sum:   semiring.Any[int32](),
		Apply: program.Apply(func(_ program.Vertex, _, sum int32) (int32, bool) { return sum, true }, "state = sum;"),
		Skip:  program.Skip(func(level int32) bool { return level >= 0 }, "state >= 0"),
	}
}

// SSSP returns shortest paths from a source along weights that are not negative: the state of a
// vertex is its distance, +Inf if it cannot be reached or is farther than the largest T. A width of
// more than 0 settles distances in buckets of that width, as delta-stepping does; with 0, every
// improvement is sent at once (Bellman–Ford).
func SSSP[T semiring.Float](source int, width T) program.Program[T, T, T] {
	p := program.Program[T, T, T]{
		Name:     "sssp",
		Init:     program.Value(T(math.Inf(1))),
		Seeds:    program.At(source, T(0)),
		Gather:   program.GatherOf(semiring.MinPlus[T]()),
		Sum:      semiring.Min[T](),
		Apply:    program.Apply(func(_ program.Vertex, d, sum T) (T, bool) { return min(d, sum), sum < d }, relax),
		Priority: program.Priority(func(d T) float64 { return float64(d) }, "state"),
		Width:    float64(width),

		Idempotent: true,
	}
	if width <= 0 {
		p.Priority = program.PriorityFunc[T]{}
	}
	return p
}

// relax keeps the smaller of a state and a sum.
const relax = "active = sum < state; if (active) state = sum;"

// Rank is the state of a vertex in PageRank: its rank now and one superstep ago.
type Rank struct{ Rank, Last float64 }

// PageRank returns PageRank with damping d until the ranks change by at most tolerance in sum. As
// in apps.PageRank, a vertex without out-edges gives its rank to all.
func PageRank(d, tolerance float64) program.Program[Rank, bool, float64] {
	return program.Program[Rank, bool, float64]{
		Name: "pagerank",
		Init: program.Init(func(v program.Vertex) Rank { return Rank{1 / float64(v.N), 0} }, "{1.0 / n, 0}"),
		Send: program.Send(func(v program.Vertex, r Rank) float64 { return r.Rank / float64(v.Degree) }, "state.Rank / degree"),
		Sum:  semiring.Plus[float64](),
		Apply: program.Apply(func(v program.Vertex, r Rank, sum float64) (Rank, bool) {
			return Rank{d*sum + (d*v.Total[0]+1-d)/float64(v.N), r.Rank}, true
		}, fmt.Sprintf("state = {%[1]v * sum + (%[1]v * total[0] + 1 - %[1]v) / n, state.Rank};", d)),
		Everywhere: true,
		Totals: []program.TotalFunc[Rank]{
			program.Total(func(v program.Vertex, r Rank) float64 { return r.Rank * float64(1-min(v.Degree, 1)) }, "state.Rank * (degree == 0)"),
			program.Total(func(_ program.Vertex, r Rank) float64 { return math.Abs(r.Rank - r.Last) }, "fabs(state.Rank - state.Last)"),
		},
		Halt: func(_ int, total []float64) bool { return total[1] <= tolerance },
	}
}

// HCC returns connected components of an undirected graph by smallest labels (Kang et al., ICDM
// 2009): the state of a vertex becomes the least vertex of its component.
func HCC() program.Program[int32, bool, int32] {
	return program.Program[int32, bool, int32]{
		Name:  "hcc",
		Init:  program.Init(func(v program.Vertex) int32 { return v.ID }, "id"),
		Send:  program.Send(func(_ program.Vertex, label int32) int32 { return label }, "state"),
		Sum:   semiring.Min[int32](),
		Apply: program.Apply(func(_ program.Vertex, l, sum int32) (int32, bool) { return min(l, sum), sum < l }, relax),

		Idempotent: true,
	}
}

// Partner is the state of a vertex in Matching. Done says that it is matched, with vertex To.
type Partner struct {
	ID, To int32
	Done   bool
}

// Matching returns a maximal matching of an undirected graph, such as a bipartite one (MBM).
//
// An edge has a random priority that both ends know. In each superstep an unmatched vertex points
// along its best edge to an unmatched vertex; two vertices that point at each other match (locally
// dominant edges: Preis, STACS 1999). O(log vertices) supersteps are expected.
func Matching() program.Program[Partner, bool, uint64] {
	return program.Program[Partner, bool, uint64]{
		Name: "matching",
		Init: program.Init(func(v program.Vertex) Partner { return Partner{v.ID, -1, false} }, "{id, -1, false}"),
		Gather: program.Gather(func(src, dst Partner, _ bool) uint64 {
			if src.To == dst.ID && dst.To == src.ID {
				return uint64(src.ID)
			}
			return uint64(uint32(src.ID+dst.ID)*0x9e3779b1|1)<<32 | uint64(src.ID)
		}, "(src.To == dst.ID && dst.To == src.ID ? 0ull : (hb_u64)((hb_u32)(src.ID + dst.ID) * 0x9e3779b1u | 1u) << 32) | (hb_u32)src.ID"),
		Sum: semiring.Min[uint64](),
		Apply: program.Apply(func(_ program.Vertex, p Partner, sum uint64) (Partner, bool) {
			return Partner{p.ID, int32(sum), sum>>32 == 0}, sum>>32 > 0
		}, "state = {state.ID, (hb_i32)sum, sum >> 32 == 0}; active = sum >> 32 > 0;"),
		Skip: program.Skip(func(p Partner) bool { return p.Done }, "state.Done"),
	}
}

// Label is the state of a vertex in LabelPropagation: its label, and when it last changed.
type Label struct{ Label, Changed int32 }

// LabelPropagation returns communities by labels (Raghavan, Albert, Kumara, Physical Review E 76,
// 2007): a vertex takes the label that most of its neighbours have, of several the least. Half of
// the vertices move in a superstep, chosen by a hash, so that neighbours do not exchange labels
// forever. The run ends when no label has changed for two supersteps, or after the given number.
func LabelPropagation(supersteps int) program.Program[Label, bool, int32] {
	return program.Program[Label, bool, int32]{
		Name:     "labels",
		Init:     program.Init(func(v program.Vertex) Label { return Label{v.ID, 0} }, "{id, 0}"),
		Send:     program.Send(func(_ program.Vertex, l Label) int32 { return l.Label }, "state.Label"),
		Messages: program.Messages(func(_ program.Vertex, l Label, labels []int32) int32 { return most(l.Label, labels) }, mostCUDA),
		Apply: program.Apply(func(v program.Vertex, l Label, sum int32) (Label, bool) {
			if sum != l.Label && (uint32(v.ID)*0x9e3779b1>>31 == uint32(v.Superstep)&1) {
				l = Label{sum, int32(v.Superstep)}
			}
			return l, true
		}, "if (sum != state.Label && (hb_u32)id * 0x9e3779b1u >> 31 == ((hb_u32)superstep & 1)) state = {sum, superstep};"),
		Totals: []program.TotalFunc[Label]{program.Total(func(v program.Vertex, l Label) float64 {
			return float64(max(0, 2-int32(v.Superstep)+l.Changed))
		}, "fmax(0.0, 2.0 - superstep + state.Changed)")},
		Halt:       func(superstep int, total []float64) bool { return superstep > 0 && total[0] == 0 },
		Supersteps: supersteps,
	}
}

// mostCUDA is most as text.
const mostCUDA = `messages.sort();
	sum = state.Label;
	hb_i64 many = 0;
	for (hb_i64 k = 0, next = 0; k < messages.len(); k = next) {
		while (next < messages.len() && messages[next] == messages[k]) next++;
		if (next - k > many || next - k == many && messages[k] == state.Label) {
			sum = messages[k];
			many = next - k;
		}
	}`

// most returns the most frequent of some labels: its own if that is one of them, else the least.
func most(own int32, labels []int32) int32 {
	slices.Sort(labels)
	best, many := own, 0
	for len(labels) > 0 {
		l, n := labels[0], 1
		for n < len(labels) && labels[n] == l {
			n++
		}
		if n > many || n == many && l == own {
			best, many = l, n
		}
		labels = labels[n:]
	}
	return best
}
