package components

import (
	_ "embed"
	"math"
	"math/bits"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/matrix"
)

//go:embed kernels/msf.cu
var msfText string

// Constants of kernels/msf.cu.
const (
	msfSample = 1024 // weights of hb_msf_pivot, and its threads
	msfParts  = 256  // blocks of hb_msf_weight, which fix the order of the sum
	msfSteps  = 6    // rounds before the host looks for the first time

	msfLarge = 1 << 30 // bytes of a list for which there may be no room
)

// lightEdges is the number of edges for each vertex that take part first on a device.
type lightEdges float64

const usualLightEdges = lightEdges(2)

func init() {
	device.Describe("msf", func(t device.Type) []device.Program { return []device.Program{msfProgram(t)} })
}

type msfKey struct{ elements string }

func msfProgram(t device.Type) device.Program {
	p := workflow.GraphProgram("msf", "spanning forests over "+t.Go, msfText,
		map[string]any{"HB_MSF_SAMPLE": msfSample, "HB_MSF_PARTS": msfParts})
	p.Types = []device.Typedef{{Name: "HB_T", Type: t}}
	return p
}

// fusedForest is MinimumSpanningForest on a device. It returns nil if a weight is NaN or there is
// no room for the edges.
func fusedForest(at device.Runner, g workflow.Operand, n int, o SpanningOptions) (*Spanning, error) {
	workflow.Report(o.Run, "spanning forest", 0, int64(n))
	a, err := g.Inside().Operand(at)
	if err != nil {
		return nil, err
	}
	light, sign := float64(workflow.Tuning(o.Run, usualLightEdges)), 1.0
	if o.Maximum {
		sign = -1
	}
	var found device.Store
	res, ran := &Spanning{}, device.Ran{Method: "Borůvka"}
	err = at.Run(workflow.Call(o.Run, "MinimumSpanningForest"), func(s *device.Session) {
		rows := s.Rows(a)
		ran.Work = rows.Entries
		typ := rows.Type
		if rows.Val.Addr == 0 {
			typ = workflow.DoubleType
		}
		code := s.Program(msfKey{typ.Name}, func() device.Program { return msfProgram(typ) })
		room := rows.Entries
		if a.Symmetric {
			room /= 2
		}
		if list := 32 * max(room, 1); list > msfLarge && list > s.Room() {
			return
		}
		label, up := s.Alloc(4*int64(n+1)), s.Alloc(4*int64(n+1))
		best, link, forest := s.Alloc(8*int64(n+1)), s.Alloc(8*int64(n+1)), s.Alloc(16*int64(n+1))
		items, state, pivot := s.Alloc(32*max(room, 1)), s.Zeros(8*workflow.GraphState), s.Alloc(8)
		filter, join, compress, choose := s.Kernel(code, "hb_msf_filter"), s.Kernel(code, "hb_msf_join"), s.Kernel(code, "hb_msf_compress"),
			s.Kernel(code, "hb_msf_choose")
		list := s.Kernel(code, "hb_msf_list")
		grid, block := workflow.ResidentGrid(s, filter)
		listGrid, _ := workflow.ResidentGrid(s, list)
		rounds := func(heavy bool) []int64 {
			result, resultAt := s.Results()
			s.Launch(list, listGrid, block, 0, int32(n), rows.Ptr, rows.Idx, rows.Val, sign, a.Symmetric, heavy, pivot, label, best, items, state)
			workflow.ByTurns(s, msfSteps, func(turn int32) {
				s.Launch(choose, grid, block, 0, label, best, link, items, room, state, turn)
				s.Launch(join, grid, block, 0, int32(n), label, up, best, link, forest, state, turn)
				s.Launch(compress, grid, block, 0, int32(n), label, up, best, link, state, turn)
				s.Launch(filter, grid, block, 0, label, best, items, room, state, turn, resultAt)
			})
			return result
		}
		s.Launch(s.Kernel(code, "hb_msf_start"), grid, block, 0, int32(n), label, best, link)
		first := light * float64(n)
		sampled := rows.Val.Addr != 0 && float64(room) > 2*first
		if sampled {
			s.Blocks(s.Kernel(code, "hb_msf_pivot"), 1, msfSample, rows.Entries, rows.Val, sign, int32(first/float64(room)*msfSample), pivot)
		} else {
			s.Fill(pivot, 0xff, 8)
		}
		result := rounds(false)
		if s.Err() == nil && result[2] != 0 {
			return
		}
		if sampled {
			s.Fill(state, 0, 16) // the numbers of edges in both lists
			result = rounds(true)
		}
		edges := result[1]
		for _, b := range []device.Buffer{items, label, up, best, link} {
			s.Free(b)
		}
		res.Edges, res.Trees = int(edges), n-int(edges)
		out, weight := forestRows(s, code, rows, a.Symmetric, edges, forest, sign)
		res.Weight, found = weight, s.Result(out, 2*edges)
	})
	if err != nil || found == nil {
		return nil, err
	}
	res.Forest = matrix.New[float64](n, n, matrix.On(at.Place()))
	res.Forest.Inside().SetRemote(found)
	workflow.TraceRan(o.Run, at, "MinimumSpanningForest", ran, 2*int64(res.Edges))
	return res, nil
}

// forestRows makes the matrix of a number of edges, and adds up their weights.
func forestRows(s *device.Session, code device.Code, rows device.View, symmetric bool, edges int64, forest device.Buffer, sign float64) (out device.View, weight float64) {
	n, entries := rows.Rows, 2*edges
	if symmetric {
		keep := s.Zeros(max(rows.Entries, 1))
		s.Each(s.Kernel(code, "hb_msf_mark"), entries, edges, rows.Ptr, rows.Idx, forest, keep)
		kept := s.Selected(rows, keep)
		out = s.NewCSR(n, n, workflow.DoubleType, kept.Ptr, kept.Idx, entries)
		s.Each(s.Kernel(code, "hb_msf_values"), entries, entries, kept.Val, out.Val)
	} else {
		shift, keys := int32(bits.Len(uint(n))), s.Alloc(8*max(entries, 1))
		s.Each(s.Kernel(code, "hb_msf_keys"), edges, edges, forest, shift, keys)
		sorted, places := s.Sort(keys, entries, 8, int(2*shift))
		out = s.NewCSR(n, n, workflow.DoubleType, s.Alloc(8*int64(n+1)), s.Alloc(4*max(entries, 1)), entries)
		s.Each(s.Kernel(code, "hb_msf_rows"), int64(n)+1, int32(n), entries, sorted, places, forest, shift, sign, out.Ptr, out.Idx, out.Val)
	}
	result, resultAt := s.Results()
	s.Blocks(s.Kernel(code, "hb_msf_weight"), msfParts, workflow.GraphBlock, entries, out.Val, s.Alloc(8*msfParts), s.Zeros(8*workflow.GraphState), resultAt)
	s.Sync()
	return out, math.Float64frombits(uint64(result[0]))
}
