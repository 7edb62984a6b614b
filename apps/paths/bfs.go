// Package paths searches for shortest paths: breadth-first search, shortest paths by weights,
// distances to the nearest of some seeds (vertex nomination), and the diameter.
package paths

import (
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// BFSOptions are the settings of BFS.
type BFSOptions struct {
	workflow.Run
	Parents bool // also find a parent of each vertex
}

// BFSResult is the result of BFS. Vertices that cannot be reached have no entry.
type BFSResult struct {
	Level    *matrix.Vector[int32] // edges on the way from the source
	Parent   *matrix.Vector[int32] // the vertex before; the source is its own. nil unless asked for
	Reached  int64                 // vertices reached, with the source
	MaxLevel int32
}

// BFS searches breadth-first from source along the edges of g:
//
//	level⟨frontier⟩ = depth;   frontier⟨¬level⟩ = frontier any.pair A
//
// until the frontier is empty. In each step VxM chooses whether the frontier pushes to its
// neighbours or the unvisited vertices pull from theirs (Beamer, Asanović, Patterson:
// Direction-optimizing breadth-first search, SC 2012). Pulling needs the transpose; VxM uses one
// that g keeps ([matrix.Matrix.IsSymmetric] provides it for undirected graphs) and makes one where
// that pays. Parents are the least-numbered ones (min.secondi), so they do not depend on threads;
// on the host a pass over the finished levels finds them. On a GPU the operations are a recorded
// loop, and the fused form takes the same decisions with kernels of its own. On a group of devices
// it divides the vertices, and the ranks gather the frontier in each step. O(edges +
// vertices·depth).
func BFS[T comparable](g matrix.Source[T], source int, opts ...BFSOptions) (*BFSResult, error) {
	return breadthFirst(g, source, opts)
}

// byDirection is the algorithm of the searches by operations: ops.VxM pushes or pulls each step.
const byDirection = "direction-optimising"

// breadthFirst is BFS of a graph with values of any type.
func breadthFirst(g workflow.Operand, source int, opts []BFSOptions) (*BFSResult, error) {
	o, err := workflow.Only("BFS", opts)
	if err != nil {
		return nil, err
	}
	n, err := workflow.Square("BFS", g)
	if err != nil {
		return nil, err
	}
	if err := workflow.Vertex("BFS", "source", source, n); err != nil {
		return nil, err
	}
	a := workflow.Pattern(g)
	form, err := workflow.Choose(o.Run, "BFS", a.Place())
	switch {
	case err != nil:
		return nil, err
	case form.Rows != nil:
		return rowsBFS(form.Rows, a, n, source, o)
	case form.Device != nil:
		return fusedBFS(form.Device, a, n, source, o)
	}
	workflow.Announce(o.Run, "BFS", byDirection)
	here := matrix.On(a.Place())
	res := &BFSResult{Level: matrix.NewVector[int32](n, here)}
	var s ops.Steps
	s.Do(workflow.KeepBitmap(res.Level, workflow.With(o.Run)))
	byLevel := o.Parents && !form.Host // parents are found level by level
	if byLevel {
		res.Parent = matrix.NewVector[int32](n, here)
		s.Do(res.Parent.Set(source, int32(source)))
		s.Do(workflow.KeepBitmap(res.Parent, workflow.With(o.Run)))
	}
	frontier := matrix.NewVector[bool](n, here)
	s.Do(frontier.Set(source, true))
	found := matrix.NewVector[int32](n, here) // parents of the frontier
	unvisited, with := res.Level.Structure().Not(), workflow.With(o.Run)
	// The views are made once: a long path has a step for each vertex.
	var (
		levels matrix.VectorTarget[int32] = res.Level.Masked(frontier.Structure())
		next   matrix.VectorTarget[bool]  = frontier.Masked(unvisited).Replace()
		from   matrix.VectorSource[bool]  = frontier.Pattern()
		edges  matrix.Source[bool]        = a
	)
	advance := func(in ops.Option) {
		if !byLevel {
			s.Do(ops.VxM(next, semiring.AnyPair[bool](), from, edges, in))
			return
		}
		s.Do(ops.VxM(found.Masked(unvisited).Replace(), semiring.MinSecondi[int32](0), from, edges, in))
		s.Do(ops.AssignVector(res.Parent.Masked(found.Structure()), found, ops.All(), in))
		s.Do(ops.Apply(frontier, semiring.OneOp[int32, bool](), found, in))
	}
	if a.Place() == nil {
		for depth := int32(0); s.NVals(frontier) > 0; depth++ {
			workflow.Report(o.Run, "breadth-first search", res.Level.NVals(), int64(n))
			res.MaxLevel = depth
			s.Do(ops.AssignVectorScalar(levels, depth, ops.All(), with))
			advance(with)
		}
	} else { // the device runs the loop to its end
		depth := matrix.ScalarOf[int32](0, here)
		for in := range s.While(frontier, with, workflow.Passing(o.Run, "breadth-first search")) {
			s.Do(ops.AssignVectorFrom(levels, depth, ops.All(), in))
			advance(in)
			s.Do(ops.ApplySecond(depth, semiring.Plus[int32](), depth, 1, in))
		}
		passes, err := depth.Value()
		s.Do(err)
		res.MaxLevel = passes - 1
	}
	if res.Reached = s.NVals(res.Level); !s.OK() {
		return nil, s.Err()
	}
	if o.Parents && !byLevel {
		res.Parent, err = leastParents(a, res.Level, source, o.Run)
	}
	return res, err
}
