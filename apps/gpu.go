package apps

import (
	"maps"

	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
)

// Fused forms: kernels that run a whole app on a device, where the operations
// of a pipeline would wait for each other. A fused form is in a file *_gpu.go
// with its kernels in kernels/*.cu and an entry in List. Results live where the
// graph does.

// Constants of the backend's kernels/queue.cu.
const (
	graphBlock = device.Threads // threads of a block
	graphState = 16             // numbers of a side of the state that steps of a loop share
	graphRoom  = 3 * graphState // numbers of the whole state
)

// graphProgram returns a program of queue.cu and text.
func graphProgram(file, of, text string, defines map[string]any) device.Program {
	all := map[string]any{"HB_GRAPH_BLOCK": graphBlock, "HB_GRAPH_STATE": graphState}
	maps.Copy(all, defines)
	return device.Program{File: file, Of: of, Parts: []string{"queue"}, Body: text, Defines: all}
}

// byTurns queues steps until the device ends the loop. Each gets the number of its side of the
// state, 0 and 1 alternately, from 0 on; see queue.cu.
func byTurns(s *device.Session, first int, step func(turn int32)) {
	turn := int32(0)
	s.Repeat(first, func() {
		step(turn)
		turn = 1 - turn
	})
}

// residentGrid returns the launch shape of a kernel whose blocks are all on
// the device at once.
func residentGrid(s *device.Session, k device.Kernel) (grid, block [3]uint32) {
	return [3]uint32{s.Resident(k, graphBlock), 1, 1}, [3]uint32{graphBlock, 1, 1}
}

// placed returns a store as a vector of length n.
func placed[T comparable](at device.Backend, n int, s device.Store) *matrix.Vector[T] {
	v := matrix.NewVector[T](n, matrix.On(at.Place()))
	v.Inside().SetRemote(s)
	return v
}

// traceRan traces a fused form as an operation of that name.
func (r Run) traceRan(at device.Backend, op string, ran device.Ran, nvals int64) {
	if r.Trace != nil {
		r.Trace(ops.Trace{Op: op, Method: ops.Method(ran.Method), Place: at.Place().String(),
			Work: ran.Work, NVals: nvals})
	}
}

// call describes a fused form of an app to the backend.
func (r Run) call(app string) device.Call {
	return device.Call{Context: r.Context, Op: app, Trace: r.Trace != nil}
}

// numbers converts a list of vertices.
func numbers(vertices []int) []int32 {
	list := make([]int32, len(vertices))
	for k, v := range vertices {
		list[k] = int32(v)
	}
	return list
}

// operandAt returns a matrix as an operand on a device.
func operandAt[T comparable](s *ops.Steps, at device.Backend, a *matrix.Matrix[T]) device.Operand {
	o, err := access.Operand(a.View(), at)
	s.Do(err)
	return o
}

// int32Type and the others are element types of results.
var (
	int32Type, _  = device.TypeOf[int32]()
	longType, _   = device.TypeOf[int64]()
	doubleType, _ = device.TypeOf[float64]()
	uint8Type, _  = device.TypeOf[uint8]()
	uint32Type, _ = device.TypeOf[uint32]()
	uint64Type, _ = device.TypeOf[uint64]()
)

// edges is what is kept with a matrix for searches over it.
type edges struct {
	out, in  device.View // CSR by source and by target; in is zero without a transpose
	searches int

	// Of breadth-first search; see kernels/bfs.cu.
	words              int64 // of a bitmap of vertices
	idle, first, heads device.Buffer
}

// Drop frees the buffers.
func (e *edges) Drop() {
	e.idle.Release()
	e.first.Release()
	e.heads.Release()
	e.out.Release()
	e.in.Release()
	*e = edges{}
}

// pushes is the number of searches over a directed matrix after which its
// transpose pays: making it takes as long as about so many searches save
// (R-MAT 22 on an H200: 1.7 ms pushing, 0.17 ms with pulls).
const pushes = 8

// edgesOf returns what is kept for searches over an operand, nil after an
// error. It makes the transpose once that pays.
func edgesOf(s *device.Session, o device.Operand) *edges {
	o.Pattern = false
	key := "apps: edges"
	if o.Transposed && !o.Symmetric {
		key = "apps: edges of the transpose"
	}
	kept := s.Kept(o, key, func() device.Dropper { return &edges{out: s.RetainView(s.Rows(o))} })
	e, ok := kept.(*edges)
	if !ok {
		return nil
	}
	if e.in.Ptr.Addr == 0 {
		switch {
		case o.Symmetric:
			e.in = s.RetainView(e.out)
		case s.HasCols(o) || e.searches >= pushes:
			e.in = s.RetainView(s.Cols(o))
		}
		if e.in.Ptr.Addr != 0 {
			e.idle.Release() // a transpose gives more idle vertices
			e.idle = device.Buffer{}
		}
	}
	e.searches++
	if s.Err() != nil {
		return nil
	}
	return e
}
