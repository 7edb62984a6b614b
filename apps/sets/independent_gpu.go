package sets

import (
	_ "embed"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/matrix"
)

//go:embed kernels/mis.cu
var misText string

// Constants of kernels/mis.cu.
const (
	misLong  = 48 // entries from which a warp reads a row together
	misSteps = 12 // steps before the host looks for the first time
)

func init() { device.Describe("mis", device.AnyType(misProgram)) }

func misProgram() device.Program {
	return workflow.GraphProgram("mis", "an independent set", misText, map[string]any{"HB_MIS_LONG": misLong})
}

// fusedIndependent is MaximalIndependentSet on a device. The pattern has every edge in both
// directions.
func fusedIndependent(at device.Runner, a *matrix.View[bool], n int, o IndependentSetOptions) (*matrix.Vector[bool], error) {
	workflow.Report(o.Run, "independent set", 0, int64(n))
	g, err := access.Operand(a, at)
	if err != nil {
		return nil, err
	}
	g.Pattern = true
	var found device.Store
	var size int64
	ran := device.Ran{Method: "priorities"}
	err = at.Run(workflow.Call(o.Run, "MaximalIndependentSet"), func(s *device.Session) {
		rows := s.Rows(g)
		ran.Work = rows.Entries
		present := s.Alloc(int64(max(n, 1)))
		set := s.NewBitmap(n, workflow.BoolType, present)
		if n == 0 {
			found = s.Result(set, 0)
			return
		}
		list, from, status := s.Alloc(8*int64(n)), s.Alloc(8*int64(n)), s.Alloc(int64(n))
		state := s.Alloc(8 * workflow.GraphRoom)
		code := s.Program("apps: mis", misProgram)
		step := s.Kernel(code, "hb_mis_step")
		grid, block := workflow.ResidentGrid(s, step)
		result, resultAt := s.Results()
		s.Launch(s.Kernel(code, "hb_mis_start"), grid, block, 0, int32(n), rows.Ptr, rows.Idx, int32(o.Priority), list, from, status, state)
		workflow.ByTurns(s, misSteps, func(turn int32) {
			s.Launch(step, grid, block, 0, int32(n), rows.Ptr, rows.Idx, o.Seed, list, from, status, state, turn,
				resultAt)
		})
		size = result[1]
		s.Launch(s.Kernel(code, "hb_mis_result"), grid, block, 0, int32(n), status, present, set.Val)
		found = s.Result(set, size)
	})
	if err != nil {
		return nil, err
	}
	workflow.TraceRan(o.Run, at, "MaximalIndependentSet", ran, size)
	return workflow.Placed[bool](at, n, found), nil
}
