package sets

import (
	_ "embed"
	"runtime"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/matrix"
)

//go:embed kernels/colour.cu
var colourText string

// colourTuning are constants of kernels/colour.cu.
type colourTuning struct {
	short    int   // entries of a row that one thread colours, at most 31
	tries    int   // tries in vain of a step if each vertex that waits has a warp or a thread
	fewTries int   // tries in vain of a step otherwise
	window   int   // words of the colours that a warp collects in shared memory, at most 32
	patience int32 // tries in vain of a warp with a vertex whose predecessors have warps or colours
}

var usualColours = colourTuning{short: 31, tries: 64, fewTries: 4, window: 32, patience: 1 << 16}

// colourSteps is the number of steps before the host looks for the first time.
const colourSteps = 2

func init() {
	device.Describe("colour", device.AnyType(func() device.Program { return colourProgram(usualColours) }))
}

func colourProgram(t colourTuning) device.Program {
	return workflow.GraphProgram("colour", "colours of vertices", colourText, map[string]any{
		"HB_COLOUR_SHORT": t.short, "HB_COLOUR_TRIES": t.tries, "HB_COLOUR_FEW_TRIES": t.fewTries,
		"HB_COLOUR_WINDOW": t.window, "HB_COLOUR_UNROLL": 8, "HB_COLOUR_RESIDENT": 6,
	})
}

// fusedColouring is Colouring on a device. The pattern has every edge in both directions.
func fusedColouring(at device.Runner, a *matrix.View[bool], n int, o ColouringOptions) (*ColouringResult, error) {
	workflow.Report(o.Run, "colouring", 0, int64(n))
	var last []int32
	var err error
	if o.Order == SmallestLast {
		if last, err = smallestLast(a, n, o); err != nil {
			return nil, err
		}
	}
	g, err := access.Operand(a, at)
	if err != nil {
		return nil, err
	}
	g.Pattern = true
	res, ran, t := &ColouringResult{}, device.Ran{Method: "shortcuts"}, workflow.Tuning(o.Run, usualColours)
	var found device.Store
	err = at.Run(workflow.Call(o.Run, "Colouring"), func(s *device.Session) {
		rows := s.Rows(g)
		ran.Work = rows.Entries
		colour := s.NewFull(1, n, workflow.Int32Type)
		if n == 0 {
			found = s.Result(colour, 0)
			return
		}
		var key device.Buffer
		if o.Order == SmallestLast {
			key = s.Ints(last)
		} else {
			key = s.Alloc(4 * int64(n))
		}
		vertices, entries := 4*int64(n), 4*max(rows.Entries, 1)
		known, most, left, wide, rank := s.Alloc(2*vertices), s.Alloc(vertices), s.Alloc(vertices), s.Alloc(vertices), s.Alloc(vertices)
		list, items := s.Alloc(entries), s.Alloc(8*vertices)
		more, state := s.Zeros(4*(rows.Entries/32+2)), s.Zeros(8*workflow.GraphRoom)
		code := s.Program(t, func() device.Program { return colourProgram(t) })
		step, wideKernel, first := s.Kernel(code, "hb_colour_step"), s.Kernel(code, "hb_colour_wide"), s.Kernel(code, "hb_colour_first")
		grid, block := workflow.ResidentGrid(s, step)
		result, resultAt := s.Results()
		order := map[ColourOrder]int32{SmallestLast: 0, LargestFirst: 1, RandomOrder: 2}[o.Order]
		s.Launch(s.Kernel(code, "hb_colour_start"), grid, block, 0, int32(n), rows.Ptr, rows.Idx, order, o.Seed, key, known, most, wide, rank,
			state, resultAt)
		firstGrid, _ := workflow.ResidentGrid(s, first)
		begin := func(always int32) {
			s.Launch(first, firstGrid, block, 0, int32(n), rows.Ptr, rows.Idx, order, o.Seed, key, known, more, most, items, colour.Val, always,
				state, resultAt)
		}
		begin(0)
		s.Sync()
		if long := result[3]; long > 0 {
			s.Launch(s.Kernel(code, "hb_colour_lists"), grid, block, 0, rows.Ptr, rows.Idx, o.Seed, key, known, most, left, list, wide, state)
			wideGrid, _ := workflow.ResidentGrid(s, wideKernel)
			var places device.Buffer
			if long > int64(wideGrid[0])*workflow.GraphBlock/32 {
				_, places = s.Sort(rank, long, 4, 32)
			}
			patience := int32(t.tries)
			if o.Order == LargestFirst && s.Together() {
				patience = t.patience
			}
			s.Launch(wideKernel, wideGrid, block, 0, int32(n), rows.Ptr, rows.Idx, known, more, most, left, list, wide, places, patience,
				items, colour.Val, state)
			begin(1)
		}
		workflow.ByTurns(s, colourSteps, func(turn int32) {
			s.Launch(step, grid, block, 0, int32(n), rows.Ptr, rows.Idx, known, more, most, left, list, items, colour.Val, state, turn, resultAt)
		})
		runtime.KeepAlive(last)
		res.Count = int(result[1])
		found = s.Result(colour, int64(n))
	})
	if err != nil {
		return nil, err
	}
	res.Colour = workflow.Placed[int32](at, n, found)
	workflow.TraceRan(o.Run, at, "Colouring", ran, int64(n))
	return res, nil
}
