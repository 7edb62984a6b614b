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

// hubTile is the number of entries that a warp takes at a time, in kernels/hubs.cu.
const hubTile = 256

func init() { device.Describe("tc", device.AnyType(hubsProgram)) }

func hubsProgram() device.Program {
	return device.Program{
		File: "hubs", Of: "edges towards hubs", Body: hubsText, Defines: map[string]any{"HB_HUB_TILE": hubTile},
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
		keep, degree := s.Alloc(max(rows.Entries, 1)), s.Alloc(4*max(int64(n), 1))
		code := s.Program("apps: hubs", hubsProgram)
		s.Each(s.Kernel(code, "hb_hub_degrees"), int64(n), int64(n), rows.Ptr, degree)
		if rows.Entries > 0 {
			towards := s.Kernel(code, "hb_towards_hubs")
			grid, block := workflow.ResidentGrid(s, towards)
			s.Launch(towards, grid, block, 0, rows.Entries, int64(n), rows.Ptr, rows.Idx, degree, keep)
		}
		found = s.Result(s.Selected(rows, keep), -1)
	})
	if err != nil {
		return nil, err
	}
	l := matrix.New[bool](n, n, matrix.On(at.Place()))
	access.SetRemote(l, found)
	return l, nil
}
