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

// coreTuning are constants of kernels/kcore.cu.
type coreTuning struct {
	chunk int // entries of an item of the queue
	kept  int // entries of rows that a warp removes without the queue, at a time
	chain int // times that a warp removes what it has found, before it queues the rest
}

var usualCores = coreTuning{chunk: 128, kept: 256, chain: 32}

// coreSteps is the number of steps before the host looks for the first time.
const coreSteps = 64

func init() {
	device.Describe("kcore", device.AnyType(func() device.Program { return coreProgram(usualCores) }))
}

func coreProgram(t coreTuning) device.Program {
	return workflow.GraphProgram("kcore", "core numbers", coreText, map[string]any{
		"HB_CORE_CHUNK": t.chunk, "HB_CORE_KEPT": t.kept, "HB_CORE_CHAIN": t.chain,
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
	ran, t := device.Ran{Method: "peel"}, workflow.Tuning(run, usualCores)
	err = at.Run(workflow.Call(run, "CoreNumbers"), func(s *device.Session) {
		rows := s.Rows(g)
		ran.Work = rows.Entries
		degree := s.NewFull(1, n, workflow.Int32Type)
		if n == 0 {
			found = s.Result(degree, 0)
			return
		}
		queue, state := s.Alloc(8*(int64(n)+rows.Entries/int64(t.chunk))), s.Zeros(8*workflow.GraphRoom)
		code := s.Program(t, func() device.Program { return coreProgram(t) })
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
