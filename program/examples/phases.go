package examples

import (
	"math"

	"github.com/hiveblas/hiveblas/program"
	"github.com/hiveblas/hiveblas/semiring"
)

// Scores are the scores of a vertex by HITS.
type Scores struct{ Hub, Authority float64 }

// HITS returns hubs and authorities (Kleinberg, JACM 46(5), 1999): a vertex is a good authority if
// good hubs point to it, and a good hub if it points to good authorities. Each of both scores is
// determined up to a factor. An iteration has two phases, along the edges and against them.
func HITS(iterations int) program.Program[Scores, bool, float64] {
	type phase = program.Phase[Scores, bool, float64]
	return program.Program[Scores, bool, float64]{
		Name: "hits",
		Init: program.Init(func(program.Vertex) Scores { return Scores{1, 1} }, "{1, 1}"),
		Totals: []program.TotalFunc[Scores]{
			program.Total(func(_ program.Vertex, s Scores) float64 { return s.Hub * s.Hub }, "state.Hub * state.Hub"),
			program.Total(func(_ program.Vertex, s Scores) float64 { return s.Authority * s.Authority }, "state.Authority * state.Authority"),
		},
		Supersteps: iterations,
		Phases: []phase{{
			Name: "authorities", All: true, Everywhere: true, Sum: semiring.Plus[float64](),
			Send: program.Send(func(v program.Vertex, s Scores) float64 { return s.Hub / math.Sqrt(v.Total[0]) }, "state.Hub / sqrt(total[0])"),
			Apply: program.Apply(func(_ program.Vertex, s Scores, sum float64) (Scores, bool) {
				return Scores{s.Hub, sum}, true
			}, "state.Authority = sum;"),
		}, {
			Name: "hubs", Reverse: true, All: true, Everywhere: true, Sum: semiring.Plus[float64](),
			Send: program.Send(func(v program.Vertex, s Scores) float64 { return s.Authority / math.Sqrt(v.Total[1]) },
				"state.Authority / sqrt(total[1])"),
			Apply: program.Apply(func(_ program.Vertex, s Scores, sum float64) (Scores, bool) {
				return Scores{sum, s.Authority}, true
			}, "state.Hub = sum;"),
		}},
	}
}

// The states of Independent.
const (
	Undecided = int32(iota)
	Member
	Neighbour
)

// lot is the number that a vertex draws in a superstep of Independent, and lotText its text.
func lot(v program.Vertex) uint64 {
	return uint64(uint32(v.ID+1)*2654435761^uint32(v.Superstep+1)*2246822519)<<32 | uint64(uint32(v.ID))
}

const lotText = "(hb_u64)((hb_u32)(id + 1) * 2654435761u ^ (hb_u32)(superstep + 1) * 2246822519u) << 32 | (hb_u32)id"

// Independent returns a maximal independent set of an undirected graph (Luby, SIAM J. Comput.
// 15(4), 1986): an undecided vertex that draws a smaller number than its undecided neighbours
// becomes a Member, and the undecided neighbours of new members become Neighbours. An iteration has
// two phases: all undecided vertices send, and then the new members alone.
func Independent() program.Program[int32, bool, uint64] {
	type phase = program.Phase[int32, bool, uint64]
	return program.Program[int32, bool, uint64]{
		Name: "independent",
		Init: program.Init(func(program.Vertex) int32 { return Undecided }, "0"),
		Phases: []phase{{
			Name: "draw", Everywhere: true, Sum: semiring.Min[uint64](),
			Send: program.Send(func(v program.Vertex, _ int32) uint64 { return lot(v) }, lotText),
			Apply: program.Apply(func(v program.Vertex, state int32, least uint64) (int32, bool) {
				if state == Undecided && lot(v) < least {
					return Member, true
				}
				return state, false
			}, "active = state == 0 && ("+lotText+") < sum; if (active) state = 1;"),
		}, {
			Name: "leave", Everywhere: true, Sum: semiring.Max[uint64](),
			Send: program.Send(func(program.Vertex, int32) uint64 { return 1 }, "1"),
			Apply: program.Apply(func(_ program.Vertex, state int32, beside uint64) (int32, bool) {
				if state == Undecided && beside > 0 {
					state = Neighbour
				}
				return state, state == Undecided
			}, "if (state == 0 && sum > 0) state = 2; active = state == 0;"),
		}},
	}
}
