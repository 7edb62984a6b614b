package workflow

import (
	_ "embed"
	"maps"
	"math"

	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

var FloatType, _ = device.TypeOf[float32]()

// Real is the arithmetic of medians.
type Real interface{ float32 | float64 }

// Fused forms: kernels that run a whole app on a device, where the operations
// of a pipeline would wait for each other. A fused form is in a file *_gpu.go
// with its kernels in kernels/*.cu and an entry in List. Results live where the
// graph does.

// Constants of the backend's kernels/queue.cu.
const (
	GraphBlock = device.Threads // threads of a block
	GraphState = 16             // numbers of a side of the state that steps of a loop share
	GraphRoom  = 3 * GraphState // numbers of the whole state
)

// GraphProgram returns a program of queue.cu and text.
func GraphProgram(file, of, text string, defines map[string]any) device.Program {
	all := map[string]any{"HB_GRAPH_BLOCK": GraphBlock, "HB_GRAPH_STATE": GraphState}
	maps.Copy(all, defines)
	return device.Program{File: file, Of: of, Parts: []string{"queue"}, Body: text, Defines: all}
}

// ByTurns queues steps until the device ends the loop. Each gets the number of its side of the
// state, 0 and 1 alternately, from 0 on; see queue.cu.
func ByTurns(s *device.Session, first int, step func(turn int32)) {
	turn := int32(0)
	s.Repeat(first, func() {
		step(turn)
		turn = 1 - turn
	})
}

// ResidentGrid returns the launch shape of a kernel with all blocks on the device at once.
func ResidentGrid(s *device.Session, k device.Kernel) (grid, block [3]uint32) {
	return [3]uint32{s.Resident(k, GraphBlock), 1, 1}, [3]uint32{GraphBlock, 1, 1}
}

// Placed returns a store as a vector of length n.
func Placed[T comparable](at device.Backend, n int, s device.Store) *matrix.Vector[T] {
	v := matrix.NewVector[T](n, matrix.On(at.Place()))
	v.Inside().SetRemote(s)
	return v
}

// TraceRan traces a fused form as an operation of that name.
func TraceRan(r Run, at device.Backend, op string, ran device.Ran, nvals int64) {
	if r.Trace != nil {
		r.Trace(ops.Trace{Op: op, Method: ops.Method(ran.Method), Place: at.Place().String(),
			Work: ran.Work, NVals: nvals})
	}
}

// Call describes a fused form of an app to the backend.
func Call(r Run, app string) device.Call {
	return device.Call{Context: r.Context, Op: app, Trace: r.Trace != nil}
}

// Numbers converts a list of vertices.
func Numbers(vertices []int) []int32 {
	list := make([]int32, len(vertices))
	for k, v := range vertices {
		list[k] = int32(v)
	}
	return list
}

// OperandAt returns a matrix as an operand on a device.
func OperandAt[T comparable](s *ops.Steps, at device.Backend, a *matrix.Matrix[T]) device.Operand {
	o, err := access.Operand(a.View(), at)
	s.Do(err)
	return o
}

// int32Type and the others are element types of results.
var (
	Int32Type, _  = device.TypeOf[int32]()
	LongType, _   = device.TypeOf[int64]()
	DoubleType, _ = device.TypeOf[float64]()
	Uint8Type, _  = device.TypeOf[uint8]()
	Uint32Type, _ = device.TypeOf[uint32]()
	Uint64Type, _ = device.TypeOf[uint64]()
)

// Edges is what is kept with a matrix for searches over it.
type Edges struct {
	Out, In  device.View // CSR by source and by target; in is zero without a transpose
	searches int

	// Of breadth-first search; see kernels/bfs.cu.
	Words              int64 // of a bitmap of vertices
	Idle, First, Heads device.Buffer
}

// Drop frees the buffers.
func (e *Edges) Drop() {
	e.Idle.Release()
	e.First.Release()
	e.Heads.Release()
	e.Out.Release()
	e.In.Release()
	*e = Edges{}
}

// Pushes is the number of searches over a directed matrix after which its
// transpose pays: making it takes as long as about so many searches save
// (R-MAT 22 on an H200: 1.7 ms pushing, 0.17 ms with pulls).
const Pushes = 8

// EdgesOf returns what is kept for searches over an operand, nil after an
// error. It makes the transpose once that pays.
func EdgesOf(s *device.Session, o device.Operand) *Edges {
	o.Pattern = false
	key := "apps: edges"
	if o.Transposed && !o.Symmetric {
		key = "apps: edges of the transpose"
	}
	kept := s.Kept(o, key, func() device.Dropper { return &Edges{Out: s.RetainView(s.Rows(o))} })
	e, ok := kept.(*Edges)
	if !ok {
		return nil
	}
	if e.In.Ptr.Addr == 0 {
		switch {
		case o.Symmetric:
			e.In = s.RetainView(e.Out)
		case s.HasCols(o) || e.searches >= Pushes:
			e.In = s.RetainView(s.Cols(o))
		}
		if e.In.Ptr.Addr != 0 {
			e.Idle.Release() // a transpose gives more idle vertices
			e.Idle = device.Buffer{}
		}
	}
	e.searches++
	if s.Err() != nil {
		return nil
	}
	return e
}

var BoolType, _ = device.TypeOf[bool]()

// AsInt64s returns the cuts of a division as int64.
func AsInt64s(list []int) []int64 {
	out := make([]int64, len(list))
	for k, x := range list {
		out[k] = int64(x)
	}
	return out
}

// LargestCount returns the count up to which T holds every one exactly.
func LargestCount[T semiring.Number]() int64 {
	if T(1)/2 == 0 {
		return int64(min(uint64(semiring.MaxValue[T]()), math.MaxInt64))
	}
	n := int64(1)
	for T(T(n)+1) != T(n) {
		n *= 2
	}
	return n
}

//go:embed kernels/philox.cu
var PhiloxText string
