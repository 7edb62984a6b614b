// Package order orders vertices: topologically, along the edges, and for a small bandwidth by
// Cuthill and McKee.
package order

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// TopologicalOptions are the settings of TopologicalOrder.
type TopologicalOptions struct{ workflow.Run }

// Topological is the result of TopologicalOrder.
type Topological struct {
	Level *matrix.Vector[int32] // edges of the longest path to every vertex, where the graph lives
	Order []int                 // the vertices by level, within a level by number
	Depth int                   // number of levels
}

// A CycleError names a cycle of a graph that has to be without one.
type CycleError struct {
	App   string
	Cycle []int // its vertices in the order of the edges, the least one first; the first follows the last
}

func (e *CycleError) Error() string {
	const most = 8
	names := make([]string, 0, most+2)
	for _, v := range e.Cycle[:min(len(e.Cycle), most)] {
		names = append(names, fmt.Sprint(v))
	}
	if len(e.Cycle) > most {
		names = append(names, fmt.Sprintf("… (%d vertices)", len(e.Cycle)))
	} else if len(e.Cycle) > 0 {
		names = append(names, fmt.Sprint(e.Cycle[0]))
	}
	return fmt.Sprintf("%s: the graph has a cycle, %s, want one without; StronglyConnectedComponents finds the parts with cycles",
		e.App, strings.Join(names, " → "))
}

// TopologicalOrder returns the vertices of g in an order in which every edge leads forwards, and
// the level of each. TopologicalOrder returns a *CycleError if there is a cycle, such as a
// self-loop. Values are ignored.
//
// Vertices without an edge from the vertices left form the next level (Kahn, Communications of the
// ACM 5, 1962):
//
//	F = {v : d(v) = 0};   level⟨F⟩ = k;   d −= F +.pair A;   until F is empty
//
// O(vertices + edges) on the host with Method Auto, by one thread.
func TopologicalOrder[T comparable](g matrix.Source[T], opts ...TopologicalOptions) (*Topological, error) {
	return topologicalOrder(g, opts)
}

// topologicalOrder is TopologicalOrder of a graph with values of any type.
func topologicalOrder(g workflow.Operand, opts []TopologicalOptions) (*Topological, error) {
	const app = "TopologicalOrder"
	o, err := workflow.Only(app, opts)
	if err != nil {
		return nil, err
	}
	a, n, form, err := workflow.Begun(app, "topological order", g, o.Run)
	if err != nil {
		return nil, err
	}
	levelsOf := topologicalPipeline
	if form.Host {
		levelsOf = topologicalOnHost
	}
	res := &Topological{}
	if res.Level, err = levelsOf(a, n, o.Run); err != nil {
		return nil, err
	}
	if err := res.Level.Fetch(); err != nil {
		return nil, err
	}
	if res.Level.NVals() < int64(n) {
		if err := a.Fetch(); err != nil {
			return nil, err
		}
		level, err := res.Level.Dense(-1)
		if err != nil {
			return nil, err
		}
		return nil, &CycleError{app, cycleIn(a, level)}
	}
	level, err := res.Level.Dense(0)
	if err != nil {
		return nil, err
	}
	for _, l := range level {
		res.Depth = max(res.Depth, int(l)+1)
	}
	first := make([]int, res.Depth+1)
	for _, l := range level {
		first[l+1]++
	}
	for l := range res.Depth {
		first[l+1] += first[l]
	}
	res.Order = make([]int, n)
	for v, l := range level {
		res.Order[first[l]] = v
		first[l]++
	}
	return res, nil
}

// topologicalPipeline finds levels by operations, where a lives. Vertices on a cycle, and those
// behind one, have no entry.
func topologicalPipeline(a *matrix.View[bool], n int, run workflow.Run) (*matrix.Vector[int32], error) {
	with, here := workflow.With(run), matrix.On(a.Place())
	one, err := workflow.FullVector(a.Place(), n, true, with)
	if err != nil {
		return nil, err
	}
	degree, err := workflow.FullVector[int32](a.Place(), n, 0, with)
	if err != nil {
		return nil, err
	}
	level, first, lost := matrix.NewVector[int32](n, here), matrix.NewVector[int32](n, here), matrix.NewVector[int32](n, here)
	pair := semiring.PlusPair[int32]()
	var s ops.Steps
	s.Do(ops.VxM(degree.Accum(semiring.Plus[int32]()), pair, one.Pattern(), a, with))
	for k := int32(0); s.NVals(degree) > 0; k++ {
		workflow.Report(run, "topological order", level.NVals(), int64(n))
		s.Do(ops.Select(first, semiring.ValueEQ[int32](0), degree, with))
		if s.NVals(first) == 0 {
			break
		}
		s.Do(ops.AssignVectorScalar(level.Masked(first.Structure()), k, ops.All(), with))
		s.Do(ops.Apply(degree.Masked(first.Structure().Not()).Replace(), semiring.Identity[int32](), degree, with))
		s.Do(ops.VxM(lost.Masked(degree.Structure()).Replace(), pair, first.Pattern(), a, with))
		s.Do(ops.EWiseMult(degree.Masked(lost.Structure()), semiring.Minus[int32](), degree, lost, with))
	}
	return level, s.Err()
}

// topologicalOnHost finds levels by a queue.
func topologicalOnHost(a *matrix.View[bool], n int, run workflow.Run) (*matrix.Vector[int32], error) {
	g := workflow.RowsOf(a)
	degree, level := make([]int32, n), make([]int32, n)
	for _, w := range g.Idx {
		degree[w]++
	}
	queue := make([]int32, 0, n)
	for v, d := range degree {
		if d == 0 {
			queue = append(queue, int32(v))
		}
		level[v] = -1
	}
	for k := 0; k < len(queue); k++ {
		v := queue[k]
		level[v] = max(level[v], 0)
		for _, w := range g.Of(v) {
			if degree[w]--; degree[w] == 0 {
				level[w] = level[v] + 1 // the last edge comes from the last level before
				queue = append(queue, w)
			}
		}
	}
	workflow.Traced(run, "TopologicalOrder", "queue", n, int64(len(g.Idx)))
	if err := workflow.Expired(run); err != nil {
		return nil, err
	}
	return workflow.Present(level)
}

// cycleIn returns a cycle among the vertices of level −1, the least one first: each of them has an
// edge from another one.
func cycleIn(a *matrix.View[bool], level []int32) []int {
	back := workflow.RowsOf(a.T())
	at := make([]int, len(level)) // place on the walk, from 1
	v := int32(slices.Index(level, -1))
	var walk []int
	for at[v] == 0 {
		walk = append(walk, int(v))
		at[v] = len(walk)
		for _, u := range back.Of(v) {
			if level[u] < 0 {
				v = u
				break
			}
		}
	}
	cycle := walk[at[v]-1:]
	slices.Reverse(cycle)
	least := slices.Index(cycle, slices.Min(cycle))
	return slices.Concat(cycle[least:], cycle[:least])
}
