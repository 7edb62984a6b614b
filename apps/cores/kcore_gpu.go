package cores

import (
	_ "embed"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/matrix"
)

//go:embed kernels/kcore.cu
var coreText string

// Constants of kernels/kcore.cu, which measurements vary.
var (
	coreChunk = 128 // entries of an item of the queue
	coreAlone = 64  // items up to which one block continues without a launch
	coreSteps = 64  // steps before the host looks for the first time
)

func init() { device.Describe("kcore", device.AnyType(coreProgram)) }

func coreProgram() device.Program {
	return workflow.GraphProgram("kcore", "core numbers", coreText, map[string]any{
		"HB_CORE_CHUNK": coreChunk, "HB_CORE_ALONE": coreAlone,
	})
}

// fusedCores is CoreNumbers on a device. The pattern has every edge in both directions.
func fusedCores(at device.Runner, a *matrix.View[bool], n int, run workflow.Run) (*Cores, error) {
	workflow.Report(run, "core numbers", 0, int64(n))
	g, err := access.Operand(a, at)
	if err != nil {
		return nil, err
	}
	g.Pattern = true
	c := &Cores{}
	var found device.Store
	ran := device.Ran{Method: "peel"}
	err = at.Run(workflow.Call(run, "CoreNumbers"), func(s *device.Session) {
		rows := s.Rows(g)
		ran.Work = rows.Entries
		degree := s.NewFull(1, n, workflow.Int32Type)
		if n == 0 {
			found = s.Result(degree, 0)
			return
		}
		queue, state := s.Alloc(8*(int64(n)+rows.Entries/int64(coreChunk))), s.Alloc(8*workflow.GraphRoom)
		code := s.Program("apps: kcore", coreProgram)
		step := s.Kernel(code, "hb_core_step")
		grid, block := workflow.ResidentGrid(s, step)
		result, resultAt := s.Results()
		s.Launch(s.Kernel(code, "hb_core_start"), grid, block, 0, int32(n), rows.Ptr, rows.Idx, degree.Val, state)
		workflow.ByTurns(s, coreSteps, func(turn int32) {
			s.Launch(step, grid, block, 0, int32(n), rows.Ptr, rows.Idx, degree.Val, queue, state, turn,
				resultAt)
		})
		c.Max, c.Inner = int32(result[1]), result[2]
		found = s.Result(degree, int64(n))
	})
	if err != nil {
		return nil, err
	}
	c.Number = workflow.Placed[int32](at, n, found)
	workflow.TraceRan(run, at, "CoreNumbers", ran, int64(n))
	return c, nil
}
