package components

import (
	_ "embed"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/matrix"
)

//go:embed kernels/scc.cu
var sccText string

// Constants of kernels/scc.cu, which measurements vary.
var (
	sccChunk = 128 // entries of an item of the queue
	sccAlone = 64  // items up to which one block continues without a launch
	sccSteps = 32  // steps before the host looks for the first time
)

func init() { device.Describe("scc", device.AnyType(sccProgram)) }

func sccProgram() device.Program {
	return workflow.GraphProgram("scc", "strongly connected components", sccText, map[string]any{
		"HB_SCC_CHUNK": sccChunk, "HB_SCC_ALONE": sccAlone,
	})
}

// fusedStrong is StronglyConnectedComponents on a device.
func fusedStrong(at device.Runner, a *matrix.View[bool], n int, run workflow.Run) (*Components, error) {
	workflow.Report(run, "strongly connected components", 0, int64(n))
	g, err := access.Operand(a, at)
	if err != nil {
		return nil, err
	}
	g.Pattern = true
	c := &Components{}
	var found device.Store
	ran := device.Ran{Method: "pivot and colours"}
	err = at.Run(workflow.Call(run, "StronglyConnectedComponents"), func(s *device.Session) {
		rows := s.Rows(g)
		ran.Work = rows.Entries
		label := s.NewFull(1, n, workflow.Int32Type)
		if n == 0 {
			found = s.Result(label, 0)
			return
		}
		cols := rows
		if !g.Symmetric {
			cols = s.Cols(g)
		}
		room := 2*int64(n) + 2*rows.Entries/int64(sccChunk) + 2
		queue, state := s.Alloc(16*room), s.Alloc(8*workflow.GraphRoom)
		colour, mark, size := s.Alloc(4*int64(n)), s.Alloc(4*int64(n)), s.Alloc(4*int64(n))
		code := s.Program("apps: scc", sccProgram)
		step := s.Kernel(code, "hb_scc_step")
		grid, block := workflow.ResidentGrid(s, step)
		result, resultAt := s.Results()
		s.Launch(s.Kernel(code, "hb_scc_start"), grid, block, 0, int32(n), label.Val, mark, size, state)
		workflow.ByTurns(s, sccSteps, func(turn int32) {
			s.Launch(step, grid, block, 0, int32(n), rows.Ptr, rows.Idx, cols.Ptr, cols.Idx, room,
				label.Val, colour, mark, queue, state, turn, resultAt)
		})
		s.Launch(s.Kernel(code, "hb_scc_count"), grid, block, 0, int32(n), label.Val, size, state, resultAt)
		s.Sync()
		c.Count, c.Largest = int(result[1]), result[2]
		found = s.Result(label, int64(n))
	})
	if err != nil {
		return nil, err
	}
	c.Label = workflow.Placed[int32](at, n, found)
	workflow.TraceRan(run, at, "StronglyConnectedComponents", ran, int64(n))
	return c, nil
}
