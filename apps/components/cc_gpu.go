package components

import (
	_ "embed"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/matrix"
)

//go:embed kernels/cc.cu
var ccText string

// ccSample is the number of vertices that hb_cc_guess looks at.
const ccSample = 1024

func init() { device.Describe("cc", device.AnyType(ccProgram)) }

func ccProgram() device.Program {
	return workflow.GraphProgram("cc", "connected components", ccText, map[string]any{"HB_CC_SAMPLE": ccSample})
}

// fusedComponents is ConnectedComponents on a device.
func fusedComponents(
	at device.Runner, a *matrix.View[bool], n int, o ComponentsOptions,
) (*Components, error) {
	workflow.Report(o.Run, "connected components", 0, 0)
	g, err := access.Operand(a, at)
	if err != nil {
		return nil, err
	}
	g.Pattern, g.Transposed = false, false // directions do not matter
	var label device.Store
	out := &Components{}
	ran := device.Ran{Method: "hook"}
	err = at.Run(workflow.Call(o.Run, "ConnectedComponents"), func(s *device.Session) {
		bothWays := !g.Symmetric && s.HasCols(g)
		rows := s.Rows(g)
		labels := s.NewFull(1, n, workflow.Int32Type)
		ran.Work = rows.Entries
		if n == 0 {
			label = s.Result(labels, 0)
			return
		}
		size, state := s.Alloc(4*int64(n)), s.Alloc(8*workflow.GraphState)
		code := s.Program("apps: cc", ccProgram)
		link := s.Kernel(code, "hb_cc_link")
		grid, block := workflow.ResidentGrid(s, link)
		result, resultAt := s.Results()
		compress := func() {
			s.Launch(s.Kernel(code, "hb_cc_compress"), grid, block, 0, int32(n), labels.Val)
		}
		hook := func(e device.View, symmetric bool) {
			s.Launch(link, grid, block, 0, int32(0), int32(n), e.Ptr, e.Idx, labels.Val, labels.Val, state, symmetric)
		}
		s.Launch(s.Kernel(code, "hb_cc_start"), grid, block, 0, int32(n), int32(0), int32(n), rows.Ptr,
			rows.Idx, labels.Val, size, state)
		compress()
		s.Launch(s.Kernel(code, "hb_cc_sample"), grid, block, 0, int32(0), int32(n), rows.Ptr, rows.Idx,
			labels.Val)
		compress()
		s.Blocks(s.Kernel(code, "hb_cc_guess"), 1, ccSample, int32(n), labels.Val, state)
		if bothWays { // the rows of the largest component can be skipped
			hook(rows, true)
			hook(s.Cols(g), true)
		} else {
			hook(rows, g.Symmetric)
		}
		compress()
		s.Launch(s.Kernel(code, "hb_cc_count"), grid, block, 0, int32(n), labels.Val, size,
			state, resultAt)
		s.Sync()
		out.Count, out.Largest = int(result[0]), result[1]
		label = s.Result(labels, int64(n))
	})
	if err != nil {
		return nil, err
	}
	out.Label = workflow.Placed[int32](at, n, label)
	workflow.TraceRan(o.Run, at, "ConnectedComponents", ran, int64(n))
	return out, nil
}
