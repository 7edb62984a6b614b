package paths

import (
	_ "embed"
	"runtime"
	"unsafe"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/rep"
)

//go:embed kernels/sssp.cu
var ssspText string

//go:embed kernels/relax.cu
var relaxText string

// Constants of kernels/sssp.cu.
const (
	ssspChunk = 64 // entries of an item of the queue
	ssspSteps = 24 // steps before the host looks for the first time
)

// ssspFits reports whether atomics lower values of the element type.
func ssspFits(t device.Type) bool { return t.Number() && t.Size >= 4 }

func ssspProgram(t device.Type) device.Program {
	_, most := t.Limits()
	p := workflow.GraphProgram("sssp", "shortest paths over "+t.Go, relaxText+ssspText,
		map[string]any{"HB_MAX": most, "HB_SSSP_CHUNK": ssspChunk})
	p.Types = []device.Typedef{{Name: "HB_T", Type: t}}
	return p
}

// weightsAt reads the weights of edges on a device, by a program with kernels/relax.cu.
func weightsAt(s *device.Session, code device.Code, typ device.Type, of *arithmetic, g device.Operand) (w edgeWeights) {
	rows := s.Rows(g)
	if rows.Entries == 0 {
		return w
	}
	if rows.Val.Addr == 0 { // a pattern
		return edgeWeights{longest: of.one}
	}
	most, bad, limit := s.Zeros(8), s.Zeros(8), of.most
	s.Each(s.Kernel(code, "hb_weights"), rows.Entries, rows.Entries, rows.Val, device.Scalar{Type: typ, P: unsafe.Pointer(&limit)},
		!typ.Float(), most, bad)
	s.Download(unsafe.Pointer(&w.longest), most, int64(typ.Size))
	w.bad = s.Read(bad, 0)
	runtime.KeepAlive(limit)
	return w
}

type ssspKey struct{ elements string }

// weightsOn reads the weights on a device.
func weightsOn(at device.Runner, a rep.View, of *arithmetic, run workflow.Run) (w edgeWeights, err error) {
	g, err := a.Operand(at)
	if err != nil {
		return w, err
	}
	typ, err := of.onDevice()
	if err != nil {
		return w, err
	}
	err = at.Run(workflow.Call(run, "SSSP"), func(s *device.Session) {
		w = weightsAt(s, s.Program(ssspKey{typ.Name}, func() device.Program { return ssspProgram(typ) }), typ, of, g)
	})
	return w, err
}

// fusedSSSP is SSSP on a device.
func fusedSSSP(
	at device.Runner, a rep.View, n int, vertices []int, of *arithmetic, delta number, run workflow.Run,
) (dist rep.View, err error) {
	workflow.Report(run, "shortest paths", 0, int64(n))
	g, err := a.Operand(at)
	if err != nil {
		return dist, err
	}
	typ, err := of.onDevice()
	if err != nil {
		return dist, err
	}
	reached := int64(0)
	var found device.Store
	ran := device.Ran{Method: "near-far"}
	sources := workflow.Numbers(vertices)
	err = at.Run(workflow.Call(run, "SSSP"), func(s *device.Session) {
		e := workflow.EdgesOf(s, g)
		if e == nil {
			return
		}
		ran.Work = e.Out.Entries
		code := s.Program(ssspKey{typ.Name}, func() device.Program { return ssspProgram(typ) })
		present := s.Alloc(int64(n))
		dist := s.NewBitmap(n, typ, present)
		room := int64(n) + e.Out.Entries/ssspChunk + 1
		queue, far := s.Alloc(16*room), s.Alloc(8*int64(n))
		flags, bounds, state := s.Alloc(12*((int64(n)+31)/32)), s.Alloc(8*int64(typ.Size)),
			s.Alloc(8*workflow.GraphRoom)
		from := s.Ints(sources)
		step := s.Kernel(code, "hb_sssp_step")
		grid, block := workflow.ResidentGrid(s, step)
		result, resultAt := s.Results()
		width := device.Scalar{Type: typ, P: unsafe.Pointer(&delta)}
		s.Launch(s.Kernel(code, "hb_sssp_start"), grid, block, 0, int32(n), width, dist.Val,
			flags, bounds, state)
		s.Blocks(s.Kernel(code, "hb_sssp_sources"), 1, workflow.GraphBlock, e.Out.Ptr, from,
			int32(len(sources)), dist.Val, flags, queue, state)
		workflow.ByTurns(s, ssspSteps, func(turn int32) {
			s.Launch(step, grid, block, 0, int32(n), e.Out.Ptr, e.Out.Idx, e.Out.Val, room,
				dist.Val, present, queue, far, flags, bounds, state, turn, resultAt)
		})
		runtime.KeepAlive(sources)
		reached = result[1]
		found = s.Result(dist, reached)
	})
	if err != nil {
		return dist, err
	}
	dist = of.vector(n, at.Place())
	dist.SetRemote(found)
	workflow.TraceRan(run, at, "SSSP", ran, reached)
	return dist, nil
}
