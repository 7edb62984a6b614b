package centrality

import (
	_ "embed"
	"math"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

//go:embed kernels/pagerank.cu
var pageRankText string

func init() {
	device.Describe("pagerank", device.AnyType(
		func() device.Program { return pageRankProgram(workflow.DoubleType) },
		func() device.Program { return pageRankProgram(workflow.FloatType) }))
}

// pageRankProgram is the kernels for ranks of a type.
func pageRankProgram(t device.Type) device.Program {
	p := workflow.GraphProgram("pagerank", "PageRank", pageRankText, nil)
	p.Types = []device.Typedef{{Name: "HB_T", Type: t}}
	return p
}

// pageRankCode returns the kernels and the semiring of an iteration.
func pageRankCode(s *device.Session, t device.Type) (device.Code, device.Semiring) {
	code := s.Program("apps: pagerank "+t.Name, func() device.Program { return pageRankProgram(t) })
	return code, device.Semiring{
		Name: "plus_second",
		Add: device.Monoid{Identity: "((double)0)", Func: device.Func{
			Name: "plus", Text: "x + y", X: workflow.DoubleType, Y: workflow.DoubleType, Out: workflow.DoubleType, UsesX: true, UsesY: true}},
		Mul: device.Func{Name: "second", Text: "y", X: workflow.BoolType, Y: t, Out: workflow.DoubleType, UsesY: true},
	}
}

// sharesTo returns where a step writes the next shares: over the sums y, if they have their type.
func (o *PageRankOptions) sharesTo(share, y device.View) device.Buffer {
	if o.Single {
		return share.Val
	}
	return y.Val
}

// nextShare returns these shares, and gives back the other of the two.
func (o *PageRankOptions) nextShare(s *device.Session, share, y device.View) device.View {
	if o.Single {
		s.Drop(y)
		return share
	}
	s.Drop(share)
	return s.AllPresent(y)
}

// elements is the type of ranks on a device.
func (o *PageRankOptions) elements() device.Type {
	if o.Single {
		return workflow.FloatType
	}
	return workflow.DoubleType
}

// ranksOf returns ranks of float32 as float64.
func ranksOf(v *matrix.Vector[float32], o *PageRankOptions) (*matrix.Vector[float64], error) {
	ranks := matrix.NewVector[float64](v.Size(), matrix.On(v.Place()))
	return ranks, ops.Apply(ranks, semiring.Convert[float32, float64](), v, workflow.With(o.Run))
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
	res, t := &PageRankResult{}, o.elements()
	var found device.Store
	ran := device.Ran{Method: "pull"}
	err = at.Run(workflow.Call(o.Run, "PageRank"), func(s *device.Session) {
		g.Pattern = true
		rows, cols := s.Rows(g), s.Cols(g)
		code, plusSecond := pageRankCode(s, t)
		step := s.Kernel(code, "hb_pagerank_step")
		grid, block := workflow.ResidentGrid(s, step)
		rank, share := s.NewFull(1, n, t), s.NewFull(1, n, t)
		factor, partial := s.Alloc(int64(t.Size)*int64(n)), s.Alloc(16*int64(grid[0]))
		sums, state := s.Alloc(16), s.Zeros(16)
		result, resultAt := s.Results() // the change as a float64, the iterations
		s.Launch(s.Kernel(code, "hb_pagerank_start"), grid, block, 0, int32(n), rows.Ptr,
			o.Damping, rank.Val, share.Val, factor, partial, sums, state)
		batch := iterationsAhead(rows.Entries)
		for done := 0; done < o.MaxIterations && s.Err() == nil; {
			for k := 0; k < batch && done < o.MaxIterations && s.Err() == nil; k++ {
				y := s.Pull(plusSecond, cols, share)
				s.Launch(step, grid, block, 0, int32(n), o.Damping, o.Tolerance, y.Val, o.sharesTo(share, y),
					y.Present, factor, rank.Val, partial, sums, state, resultAt)
				share = o.nextShare(s, share, y)
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
	res.Converged = res.Change <= o.Tolerance
	if o.Single {
		if res.Rank, err = ranksOf(workflow.Placed[float32](at, n, found), &o); err != nil {
			return nil, err
		}
	} else {
		res.Rank = workflow.Placed[float64](at, n, found)
	}
	workflow.Report(o.Run, "pagerank", int64(res.Iterations), int64(o.MaxIterations))
	workflow.TraceRan(o.Run, at, "PageRank", ran, int64(n))
	return res, nil
}
