package triangles

import (
	_ "embed"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/matrix"
)

//go:embed kernels/hubs.cu
var hubsText string

func init() { device.Describe("tc", device.AnyType(hubsProgram)) }

func hubsProgram() device.Program {
	return device.Program{
		File: "hubs", Of: "edges towards hubs", Parts: []string{"common"}, Body: hubsText,
	}
}

// fusedTowardsHubs is towardsHubs on a device.
func fusedTowardsHubs(
	at device.Runner, a *matrix.View[bool], n int, run workflow.Run,
) (*matrix.Matrix[bool], error) {
	g, err := access.Operand(a, at)
	if err != nil {
		return nil, err
	}
	var found device.Store
	err = at.Run(workflow.Call(run, "TriangleCount"), func(s *device.Session) {
		g.Pattern = true
		rows := s.Rows(g)
		keep := s.Alloc(max(rows.Entries, 1))
		s.Each(s.Kernel(s.Program("apps: hubs", hubsProgram), "hb_towards_hubs"), rows.Entries,
			rows.Entries, int32(n), rows.Ptr, rows.Idx, keep)
		found = s.Result(s.Selected(rows, keep), -1)
	})
	if err != nil {
		return nil, err
	}
	l := matrix.New[bool](n, n, matrix.On(at.Place()))
	access.SetRemote(l, found)
	return l, nil
}
