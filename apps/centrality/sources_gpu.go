package centrality

import (
	_ "embed"
	"runtime"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/matrix"
)

//go:embed kernels/sources.cu
var sourcesText string

// sourceTuning are constants of kernels/sources.cu.
type sourceTuning struct {
	lanes int // sources of a batch
	long  int // entries of a row from which a block reads it
}

// longRow is the usual sourceTuning.long.
const longRow = 512

// levelSteps is the number of levels before the host looks for the first time.
const levelSteps = 8

// targetLanes is the number of targets of a batch of Closeness on a device.
const targetLanes = 64

// sourceLanes are the numbers of sources of a batch of Betweenness on a device.
var sourceLanes = [...]int{1, 8, 32}

func init() {
	device.Describe("betweenness", func(device.Type) (list []device.Program) {
		for _, lanes := range sourceLanes {
			list = append(list, sourcesProgram(sourceTuning{lanes, longRow}))
		}
		return list
	})
	device.Describe("closeness", device.AnyType(func() device.Program { return sourcesProgram(sourceTuning{targetLanes, longRow}) }))
}

func sourcesProgram(t sourceTuning) device.Program {
	mask, of := "hb_u32", "betweenness"
	if t.lanes == targetLanes {
		mask, of = "hb_u64", "closeness"
	}
	return workflow.GraphProgram("sources", of, sourcesText, map[string]any{"HB_LANES": t.lanes, "HB_MASK": mask, "HB_LONG": t.long})
}

// sourceSearch is a search from batches of vertices in a session.
type sourceSearch struct {
	s           *device.Session
	code        device.Code
	n, lanes    int
	out, in     device.View // the rows in the direction of the search and against it
	seen, masks device.Buffer
	list, state device.Buffer
	starts      device.Buffer
	wide        device.Buffer // the vertices with long rows
	sources     device.Buffer
	room, room2 int64
	grid, block [3]uint32
}

// newSourceSearch prepares searches along the entries of out.
func newSourceSearch(s *device.Session, out, in device.View, t sourceTuning, sources []int32) *sourceSearch {
	n := out.Rows
	q := &sourceSearch{s: s, n: n, lanes: t.lanes, out: out, in: in, code: s.Program(t, func() device.Program { return sourcesProgram(t) })}
	levels, item, mask := int64(t.lanes), int64(8), int64(4) // the items of a vertex, and bytes
	if t.lanes == targetLanes {
		levels, item, mask = 3, 16, 8
	}
	q.room, q.room2 = levels*int64(n), levels*(1+min(int64(n), 2*out.Entries/int64(t.long)))
	q.seen, q.masks = s.Alloc(mask*int64(n)), s.Alloc(3*mask*int64(n))
	q.list, q.starts, q.state = s.Alloc(item*(q.room+q.room2)), s.Alloc(16*int64(n+3)), s.Zeros(8*workflow.GraphState)
	q.wide, q.sources = s.Alloc(4*q.room2), s.Ints(sources)
	q.grid, q.block = workflow.ResidentGrid(s, s.Kernel(q.code, "hb_find"))
	q.launch("hb_find_wide", q.wide)
	return q
}

// launch queues a kernel. args follow the arguments that all kernels have.
func (q *sourceSearch) launch(name string, args ...any) {
	grid := q.grid
	if name == "hb_find_start" {
		grid[0] = 1
	}
	all := []any{int32(q.n), q.out.Ptr, q.out.Idx, q.in.Ptr, q.in.Idx, q.seen, q.masks, q.list, q.room, q.room2, q.starts, q.state}
	q.s.Launch(q.s.Kernel(q.code, name), grid, q.block, 0, append(all, args...)...)
}

// clear forgets masks.
func (q *sourceSearch) clear(b device.Buffer, arrays int) {
	mask := 4
	if q.lanes == targetLanes {
		mask = 8
	}
	q.s.Fill(b, 0, int64(arrays*mask*q.n))
}

// search searches from count sources from number lo on, calling level after each level is found. It
// returns the number of levels, and whether a count was too large.
func (q *sourceSearch) search(lo, count int, table device.Buffer, level func(result device.Buffer)) (levels int, over bool) {
	q.clear(q.seen, 1)
	q.clear(q.masks, 3)
	result, resultAt := q.s.Results()
	q.launch("hb_find_start", q.sources.At(4*int64(lo)), int32(count), table)
	q.s.Repeat(levelSteps, func() {
		q.launch("hb_find", q.wide, int32(count))
		level(resultAt)
	})
	q.s.Check()
	return int(result[1]), result[2] != 0
}

// fusedDependencies sums the dependencies on sources on a device. It stops at a batch with a count
// of paths that float64 does not hold, and returns the sources left.
func fusedDependencies(at device.Runner, a *matrix.View[bool], n int, sources []int32, o BetweennessOptions) (total *matrix.Vector[float64], left []int32, err error) {
	g, err := access.Operand(a, at)
	if err != nil {
		return nil, nil, err
	}
	g.Pattern = true
	t := workflow.Tuning(o.Run, sourceTuning{long: longRow})
	for k := len(sourceLanes) - 1; t.lanes == 0 && k >= 0; k-- {
		if k == 0 || len(sources) > sourceLanes[k-1] {
			t.lanes = sourceLanes[k]
		}
	}
	var found device.Store
	ran := device.Ran{Method: "searches"}
	err = at.Run(workflow.Call(o.Run, "Betweenness"), func(s *device.Session) {
		sums := s.NewFull(1, n, workflow.DoubleType)
		s.Fill(sums.Val, 0, 8*int64(n))
		left = nil
		if n > 0 {
			out, in := s.Rows(g), s.Cols(g)
			ran.Work = int64(len(sources)) * out.Entries
			for t.lanes > 1 && 17*int64(n)*int64(t.lanes) > s.Room() {
				t.lanes = map[int]int{32: 8, 8: 1}[t.lanes]
			}
			q := newSourceSearch(s, out, in, t, sources)
			table := s.Alloc(8 * int64(n) * int64(t.lanes))
			for lo := 0; lo < len(sources) && s.Err() == nil; lo += t.lanes {
				workflow.Report(o.Run, "betweenness", int64(lo), int64(len(sources)))
				levels, over := q.search(lo, min(t.lanes, len(sources)-lo), table, func(result device.Buffer) { q.launch("hb_count", table, result) })
				if over {
					left = sources[lo:]
					break
				}
				q.clear(q.masks, 3)
				for depth := levels - 1; depth > 0; depth-- {
					q.launch("hb_depend", int32(depth), int32(levels), table, sums.Val)
					if depth%1024 == 0 {
						s.Sync()
						s.Check()
					}
				}
			}
			s.Sync()
			runtime.KeepAlive(sources)
		}
		found = s.Result(sums, int64(n))
	})
	if err != nil {
		return nil, nil, err
	}
	workflow.TraceRan(o.Run, at, "Betweenness", ran, int64(n))
	return workflow.Placed[float64](at, n, found), left, nil
}

// fusedDistances sums distances on a device.
func fusedDistances(at device.Runner, a *matrix.View[bool], n int, targets []int32, o ClosenessOptions) (*ClosenessResult, error) {
	g, err := access.Operand(a, at)
	if err != nil {
		return nil, err
	}
	g.Pattern = true
	t := workflow.Tuning(o.Run, sourceTuning{targetLanes, longRow})
	t.lanes = targetLanes
	var stores [3]device.Store
	ran := device.Ran{Method: "bits"}
	err = at.Run(workflow.Call(o.Run, "Closeness"), func(s *device.Session) {
		var sums [3]device.View
		for k, typ := range []device.Type{workflow.LongType, workflow.LongType, workflow.DoubleType} {
			sums[k] = s.NewFull(1, n, typ)
			s.Fill(sums[k].Val, 0, 8*int64(n))
		}
		if n > 0 {
			out, in := s.Cols(g), s.Rows(g) // from a target against the edges
			ran.Work = int64((len(targets)+targetLanes-1)/targetLanes) * out.Entries
			q := newSourceSearch(s, out, in, t, targets)
			for lo := 0; lo < len(targets) && s.Err() == nil; lo += targetLanes {
				workflow.Report(o.Run, "closeness", int64(lo), int64(len(targets)))
				q.search(lo, min(targetLanes, len(targets)-lo), device.Buffer{}, func(result device.Buffer) {
					q.launch("hb_arrive", sums[0].Val, sums[1].Val, sums[2].Val, result)
				})
			}
			s.Sync()
			runtime.KeepAlive(targets)
		}
		for k := range stores {
			stores[k] = s.Result(sums[k], int64(n))
		}
	})
	if err != nil {
		return nil, err
	}
	workflow.TraceRan(o.Run, at, "Closeness", ran, int64(n))
	return &ClosenessResult{Reached: workflow.Placed[int64](at, n, stores[0]), Distances: workflow.Placed[int64](at, n, stores[1]),
		Harmonic: workflow.Placed[float64](at, n, stores[2])}, nil
}
