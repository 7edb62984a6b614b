package centrality

import (
	_ "embed"
	"math"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/matrix"
)

//go:embed kernels/pagerank.cu
var pageRankText string

func init() { device.Describe("pagerank", device.AnyType(pageRankProgram)) }

func pageRankProgram() device.Program {
	p := workflow.GraphProgram("pagerank", "PageRank", pageRankText, nil)
	p.Types = []device.Typedef{{Name: "HB_T", Type: workflow.DoubleType}}
	return p
}

// plusSecond is the semiring of an iteration of PageRank.
var plusSecond = device.Semiring{
	Name: "plus_second",
	Add: device.Monoid{Identity: "((double)0)", Func: device.Func{
		Name: "plus", Text: "x + y", X: workflow.DoubleType, Y: workflow.DoubleType, Out: workflow.DoubleType, UsesX: true,
		UsesY: true}},
	Mul: device.Func{Name: "second", Text: "y", X: workflow.BoolType, Y: workflow.DoubleType, Out: workflow.DoubleType,
		UsesY: true},
}

// iterationsAhead returns how many iterations of PageRank are queued before
// the host looks whether they have converged: enough to take longer than the
// look, and few enough that surplus iterations cost little.
func iterationsAhead(entries int64) int { return int(min(max((4<<20)/(entries+1), 1), 16)) }

// fusedPageRank is PageRank on a device. Options are complete.
func fusedPageRank(
	at device.Runner, a *matrix.View[bool], n int, o PageRankOptions,
) (*PageRankResult, error) {
	workflow.Report(o.Run, "pagerank", 0, int64(o.MaxIterations))
	g, err := access.Operand(a, at)
	if err != nil {
		return nil, err
	}
	res := &PageRankResult{}
	var found device.Store
	ran := device.Ran{Method: "pull"}
	err = at.Run(workflow.Call(o.Run, "PageRank"), func(s *device.Session) {
		g.Pattern = true
		rows, cols := s.Rows(g), s.Cols(g)
		code := s.Program("apps: pagerank", pageRankProgram)
		step := s.Kernel(code, "hb_pagerank_step")
		grid, block := workflow.ResidentGrid(s, step)
		rank, share := s.NewFull(1, n, workflow.DoubleType), s.NewFull(1, n, workflow.DoubleType)
		factor, partial := s.Alloc(8*int64(n)), s.Alloc(16*int64(grid[0]))
		sums, state := s.Alloc(16), s.Zeros(16)
		result, resultAt := s.Results() // the change as a float64, the iterations
		s.Launch(s.Kernel(code, "hb_pagerank_start"), grid, block, 0, int32(n), rows.Ptr,
			o.Damping, rank.Val, share.Val, factor, partial, sums, state)
		batch := iterationsAhead(rows.Entries)
		for done := 0; done < o.MaxIterations && s.Err() == nil; {
			for k := 0; k < batch && done < o.MaxIterations && s.Err() == nil; k++ {
				y := s.Pull(plusSecond, cols, share)
				s.Launch(step, grid, block, 0, int32(n), o.Damping, o.Tolerance, y.Val,
					y.Present, factor, rank.Val, partial, sums, state, resultAt)
				s.Drop(share)
				share = s.AllPresent(y)
				done++
			}
			s.Sync()
			res.Change, res.Iterations = math.Float64frombits(uint64(result[0])), int(result[1])
			if res.Change <= o.Tolerance {
				break
			}
		}
		ran.Work = int64(res.Iterations) * rows.Entries
		found = s.Result(rank, int64(n))
	})
	if err != nil {
		return nil, err
	}
	res.Rank, res.Converged = workflow.Placed[float64](at, n, found), res.Change <= o.Tolerance
	workflow.Report(o.Run, "pagerank", int64(res.Iterations), int64(o.MaxIterations))
	workflow.TraceRan(o.Run, at, "PageRank", ran, int64(n))
	return res, nil
}
