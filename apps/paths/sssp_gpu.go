package paths

import (
	_ "embed"
	"runtime"
	"unsafe"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
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
func weightsAt[T semiring.Number](s *device.Session, code device.Code, typ device.Type, g device.Operand) (w edgeWeights[T]) {
	rows := s.Rows(g)
	if rows.Entries == 0 {
		return w
	}
	if rows.Val.Addr == 0 { // a pattern
		return edgeWeights[T]{longest: 1}
	}
	most, bad, limit := s.Zeros(8), s.Zeros(8), semiring.MaxValue[T]()
	s.Each(s.Kernel(code, "hb_weights"), rows.Entries, rows.Entries, rows.Val, device.Scalar{Type: typ, P: unsafe.Pointer(&limit)},
		T(1)/2 == 0, most, bad)
	s.Download(unsafe.Pointer(&w.longest), most, int64(typ.Size))
	w.bad = s.Read(bad, 0)
	runtime.KeepAlive(limit)
	return w
}

type ssspKey struct{ elements string }

// weightsOn reads the weights on a device.
func weightsOn[T semiring.Number](at device.Runner, a matrix.View[T], run workflow.Run) (w edgeWeights[T], err error) {
	g, err := access.Operand(a, at)
	if err != nil {
		return w, err
	}
	typ, err := device.TypeOf[T]()
	if err != nil {
		return w, err
	}
	err = at.Run(workflow.Call(run, "SSSP"), func(s *device.Session) {
		w = weightsAt[T](s, s.Program(ssspKey{typ.Name}, func() device.Program { return ssspProgram(typ) }), typ, g)
	})
	return w, err
}

// fusedSSSP is SSSP on a device.
func fusedSSSP[T semiring.Number](
	at device.Runner, a matrix.View[T], n int, vertices []int, delta T, run workflow.Run,
) (*matrix.Vector[T], error) {
	workflow.Report(run, "shortest paths", 0, int64(n))
	g, err := access.Operand(a, at)
	if err != nil {
		return nil, err
	}
	typ, err := device.TypeOf[T]()
	if err != nil {
		return nil, err
	}
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
		found = s.Result(dist, result[1])
	})
	if err != nil {
		return nil, err
	}
	dist := workflow.Placed[T](at, n, found)
	workflow.TraceRan(run, at, "SSSP", ran, dist.NVals())
	return dist, nil
}
