package apps

import (
	"slices"

	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
)

// What the host kernels of the standard set share.

// adjacency is the structure of a square matrix on the host. The columns of row v ascend.
type adjacency struct {
	n   int
	ptr []int64
	idx []int32
}

// of returns the columns of row v.
func (a *adjacency) of(v int32) []int32 { return a.idx[a.ptr[v]:a.ptr[v+1]] }

// degree returns the number of columns of row v.
func (a *adjacency) degree(v int32) int64 { return a.ptr[v+1] - a.ptr[v] }

// loopless returns the number of columns of row v but v itself.
func (a *adjacency) loopless(v int32) int64 {
	if _, loop := slices.BinarySearch(a.of(v), v); loop {
		return a.degree(v) - 1
	}
	return a.degree(v)
}

// rowsOf returns the rows of a pattern on the host.
func rowsOf(a matrix.View[bool]) *adjacency {
	s := &access.Rows(a).Structure
	return &adjacency{s.NRows, rowOffsets(s), s.Idx}
}

// hostKernel reports whether a workflow with a kernel for the host uses it: with Method Auto, for a
// graph on the host. Method Pipeline runs the operations, and so does a graph on a device.
func (r Run) hostKernel(a matrix.View[bool]) bool { return r.Method == Auto && a.Place() == nil }

// Workflows of the host with a form for all threads take it from standardThreads on, for
// standardWork vertices and edges.
const (
	standardThreads = 4
	standardWork    = 1 << 18
)

// shared reports whether all threads work on a graph of n vertices with so many entries.
func (r Run) shared(n, entries int) bool {
	return parallel.Threads(r.Threads) >= standardThreads && n+entries >= standardWork
}

// expired returns the error of the context.
func (r Run) expired() error {
	if r.Context == nil {
		return nil
	}
	return r.Context.Err()
}

// traced reports the kernel of a workflow to Trace.
func (r Run) traced(app, kernel string, n int, work int64) {
	if r.Trace != nil {
		r.Trace(ops.Trace{Op: app, Method: ops.Method(kernel), NVals: int64(n), Work: work})
	}
}

// begun is the start of every workflow of the standard set: it checks the settings and the graph,
// and reports the stage.
func begun(app, stage string, g operand, run Run) (a matrix.View[bool], n int, err error) {
	if err := run.notFused(app); err != nil {
		return a, 0, err
	}
	return opened(app, stage, g, run)
}

// begunFused is begun for workflows with a fused form. It returns the device that runs it, nil for
// another form.
func begunFused(app, stage string, g operand, run Run) (a matrix.View[bool], n int, at device.Runner, err error) {
	if a, n, err = opened(app, stage, g, run); err == nil {
		at, err = run.fused(app, a.Place())
	}
	return a, n, at, err
}

// opened is begun without the check of the method.
func opened(app, stage string, g operand, run Run) (a matrix.View[bool], n int, err error) {
	if n, err = square(app, g); err != nil {
		return a, 0, err
	}
	run.report(stage, 0, int64(n))
	return pattern(g), n, run.expired()
}

// begunUndirected is begun for an undirected graph: the pattern has every edge in both directions.
func begunUndirected(app, stage string, g operand, run Run) (a matrix.View[bool], n int, err error) {
	if a, n, err = begun(app, stage, g, run); err == nil {
		a, err = undirectedPattern(g, run, n)
	}
	return a, n, err
}

// begunUndirectedFused is begunFused for an undirected graph.
func begunUndirectedFused(app, stage string, g operand, run Run) (a matrix.View[bool], n int, at device.Runner, err error) {
	if a, n, at, err = begunFused(app, stage, g, run); err == nil {
		a, err = undirectedPattern(g, run, n)
	}
	return a, n, at, err
}

// brought is begun for workflows that compute on the host: it brings the graph there.
func brought(app, stage string, g operand, run Run) (matrix.View[bool], int, error) {
	a, n, err := begun(app, stage, g, run)
	if err == nil {
		err = fetch(g.Inside())
	}
	return a, n, err
}

// eachPiece calls f for the pieces of a loop over n items, and reports how many are done.
func (r Run) eachPiece(stage string, n, grain int, f func(worker, lo, hi int)) error {
	return parallel.Range(r.Context, r.Threads, n, grain, func(w, lo, hi int) {
		f(w, lo, hi)
		if w == 0 {
			r.report(stage, int64(hi), int64(n))
		}
	})
}
