package paths

import (
	_ "embed"
	"runtime"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/matrix"
)

//go:embed kernels/bfs.cu
var bfsText string

// Constants of kernels/bfs.cu.
const (
	bfsChunk = 256 // entries of an item of the queue
	bfsSteps = 5   // steps before the host looks for the first time
)

func bfsProgram() device.Program {
	return workflow.GraphProgram("bfs", "breadth-first search", bfsText, map[string]any{"HB_BFS_CHUNK": bfsChunk})
}

// searchResult is the result of a breadth-first search on a device. Vertices that
// were not reached have no entry.
type searchResult struct {
	level, parent device.Store // of int32; parent is nil unless requested
	reached       int64
	maxLevel      int32
	ran           device.Ran
}

// searchLevels finds the number of edges from the nearest of the sources to
// every vertex, and with parents the least-numbered vertex before each.
func searchLevels(
	at device.Runner, c device.Call, a device.Operand, sources []int32, parents bool,
) (searchResult, error) {
	var out searchResult
	err := at.Run(c, func(s *device.Session) {
		e := workflow.EdgesOf(s, a)
		if e == nil {
			return
		}
		code := s.Program("apps: bfs", bfsProgram)
		prepare(e, s, code)
		n, words := e.Out.Rows, int32(e.Words)
		present := s.Alloc(int64(n))
		level := s.NewBitmap(n, workflow.Int32Type, present)
		visited, state := s.Alloc(8*e.Words), s.Alloc(8*workflow.GraphRoom)
		queue := s.Alloc(8 * (int64(n) + e.Out.Entries/bfsChunk + 1))
		var spare device.Buffer
		if e.In.Ptr.Addr != 0 {
			spare = s.Alloc(8 * int64(n))
		}
		step := s.Kernel(code, "hb_bfs_step")
		grid, block := workflow.ResidentGrid(s, step)
		result, resultAt := s.Results()
		s.Launch(s.Kernel(code, "hb_bfs_start"), grid, block, 0,
			int32(n), e.Out.Ptr, e.Idle, words, sources[0], visited, level.Val, present, queue, state)
		if len(sources) > 1 {
			s.Blocks(s.Kernel(code, "hb_bfs_sources"), 1, workflow.GraphBlock,
				e.Out.Ptr, s.Ints(sources), int32(len(sources)), visited, level.Val, present,
				queue, state)
		}
		workflow.ByTurns(s, bfsSteps, func(turn int32) {
			s.Launch(step, grid, block, 0, words, e.Out.Ptr, e.Out.Idx, e.In.Ptr, e.In.Idx, e.First,
				e.Heads, visited, level.Val, present, queue, spare, state, turn,
				resultAt)
		})
		runtime.KeepAlive(sources)
		out = searchResult{reached: result[1], maxLevel: int32(result[2]),
			ran: device.Ran{Method: "push", Work: e.Out.Entries}}
		if result[3] > 0 {
			out.ran.Method = "push+pull"
		}
		if parents {
			parent := s.NewBitmap(n, workflow.Int32Type, present)
			s.Launch(s.Kernel(code, "hb_bfs_parents_pull"), grid, block, 0,
				int32(n), e.In.Ptr, e.In.Idx, level.Val, state, parent.Val)
			s.Launch(s.Kernel(code, "hb_bfs_parents_push"), grid, block, 0,
				e.Out.Ptr, e.Out.Idx, level.Val, queue, state, parent.Val)
			out.parent = s.Result(parent, out.reached)
		}
		out.level = s.Result(level, out.reached)
	})
	return out, err
}

// prepare makes what breadth-first search keeps.
func prepare(e *workflow.Edges, s *device.Session, code device.Code) {
	n := int64(e.Out.Rows)
	if e.Idle.Addr == 0 {
		e.Words = 8 * ((n + 255) / 256)
		idle := s.Alloc(4 * e.Words)
		s.Blocks(s.Kernel(code, "hb_bfs_idle"), (32*e.Words+workflow.GraphBlock-1)/workflow.GraphBlock, workflow.GraphBlock,
			int32(n), e.Out.Ptr, e.In.Ptr, idle, int32(e.Words))
		if s.Err() == nil {
			e.Idle = s.Retain(idle)
		}
	}
	if e.In.Ptr.Addr != 0 && e.First.Addr == 0 {
		first, heads := s.Alloc(16*n), s.Alloc(4*32*e.Words)
		s.Blocks(s.Kernel(code, "hb_bfs_first"), (8*32*e.Words+workflow.GraphBlock-1)/workflow.GraphBlock, workflow.GraphBlock,
			int32(n), int32(e.Words), e.Out.Ptr, e.In.Ptr, e.In.Idx, first, heads)
		if s.Err() == nil {
			e.First, e.Heads = s.Retain(first), s.Retain(heads)
		}
	}
}

// fusedBFS is BFS on a device.
func fusedBFS(
	at device.Runner, a *matrix.View[bool], n, source int, o BFSOptions,
) (*BFSResult, error) {
	workflow.Report(o.Run, "breadth-first search", 0, int64(n))
	g, err := access.Operand(a, at)
	if err != nil {
		return nil, err
	}
	found, err := searchLevels(at, workflow.Call(o.Run, "BFS"), g, []int32{int32(source)}, o.Parents)
	if err != nil {
		return nil, err
	}
	res := &BFSResult{
		Level: workflow.Placed[int32](at, n, found.level), Reached: found.reached, MaxLevel: found.maxLevel,
	}
	if o.Parents {
		res.Parent = workflow.Placed[int32](at, n, found.parent)
	}
	workflow.TraceRan(o.Run, at, "BFS", found.ran, found.reached)
	return res, nil
}

// fusedHops counts edges from the nearest of the seeds on a device.
func fusedHops(
	at device.Runner, a *matrix.View[bool], n int, seeds []int, run workflow.Run,
) (*matrix.Vector[int32], int64, error) {
	workflow.Report(run, "vertex nomination", 0, int64(n))
	g, err := access.Operand(a, at)
	if err != nil {
		return nil, 0, err
	}
	found, err := searchLevels(at, workflow.Call(run, "VertexNomination"), g, workflow.Numbers(seeds), false)
	if err != nil {
		return nil, 0, err
	}
	workflow.TraceRan(run, at, "BFS", found.ran, found.reached)
	return workflow.Placed[int32](at, n, found.level), int64(found.maxLevel), nil
}
