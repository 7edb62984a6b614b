package communities

import (
	_ "embed"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/matrix"
)

//go:embed kernels/cdlp.cu
var cdlpText string

// Constants of kernels/cdlp.cu.
const (
	cdlpChunk = 256 // entries of an item
	cdlpAhead = 5   // iterations before the host looks
)

func init() { device.Describe("cdlp", device.AnyType(cdlpProgram)) }

func cdlpProgram() device.Program {
	return workflow.GraphProgram("cdlp", "label propagation", cdlpText, map[string]any{"HB_CDLP_CHUNK": cdlpChunk})
}

// fusedPropagation is LabelPropagation on a device. Options are complete.
func fusedPropagation(at device.Runner, a *matrix.View[bool], n int, o LabelPropagationOptions) (*LabelPropagationResult, error) {
	workflow.Report(o.Run, "label propagation", 0, int64(o.MaxIterations))
	g, err := access.Operand(a, at)
	if err != nil {
		return nil, err
	}
	g.Pattern = true
	res := &LabelPropagationResult{}
	var found device.Store
	ran := device.Ran{Method: "tables"}
	err = at.Run(workflow.Call(o.Run, "LabelPropagation"), func(s *device.Session) {
		label := s.NewFull(1, n, workflow.Int32Type)
		if n == 0 {
			res.Iterations, res.Stable = 1, true
			found = s.Result(label, 0)
			return
		}
		type side struct {
			device.View
			other device.Buffer // row offsets of the other side
			items device.Buffer
		}
		items := func(v device.View) device.Buffer { return s.Alloc(8 * (int64(n) + v.Entries/cdlpChunk)) }
		rows := s.Rows(g)
		sides := []side{{View: rows, items: items(rows)}}
		entries := rows.Entries
		if !g.Symmetric {
			cols := s.Cols(g)
			sides[0].other = cols.Ptr
			sides = append(sides, side{cols, rows.Ptr, items(cols)})
			entries *= 2
		}
		table := 8 * entries // bytes of the keys, and of the counts
		keys, counts := s.Alloc(max(table, 8)), s.Alloc(max(table, 8))
		best, size, state := s.Alloc(8*int64(n)), s.Zeros(4*int64(n)), s.Alloc(8*workflow.GraphState)
		code := s.Program("apps: cdlp", cdlpProgram)
		count := s.Kernel(code, "hb_cdlp_count")
		grid, block := workflow.ResidentGrid(s, count)
		launch := func(name string, args ...any) { s.Launch(s.Kernel(code, name), grid, block, 0, args...) }
		result, resultAt := s.Results()
		launch("hb_cdlp_start", int32(n), label.Val, best, state)
		for k, v := range sides {
			launch("hb_cdlp_items", int32(n), v.Ptr, v.items, int32(k), state)
		}
		for queued := 0; queued < o.MaxIterations && s.Err() == nil && !res.Stable; {
			for range min(cdlpAhead, o.MaxIterations-queued) {
				s.Fill(keys, 0xff, table)
				s.Fill(counts, 0, table)
				for k, v := range sides {
					launch("hb_cdlp_count", v.Ptr, v.Idx, v.other, v.items, int32(k), label.Val, keys, counts, best, state)
				}
				launch("hb_cdlp_update", int32(n), label.Val, best, state, resultAt)
				queued++
			}
			s.Sync()
			s.Check()
			res.Iterations, res.Stable = int(result[1]), result[2] != 0
			workflow.Report(o.Run, "label propagation", int64(res.Iterations), int64(o.MaxIterations))
		}
		ran.Work = int64(res.Iterations) * entries
		launch("hb_cdlp_sizes", int32(n), label.Val, size, state, resultAt)
		s.Sync()
		res.Count, res.Largest = int(result[0]), result[3]
		found = s.Result(label, int64(n))
	})
	if err != nil {
		return nil, err
	}
	res.Label = workflow.Placed[int32](at, n, found)
	workflow.TraceRan(o.Run, at, "LabelPropagation", ran, int64(n))
	return res, nil
}
