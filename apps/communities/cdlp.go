package communities

import (
	"fmt"
	"sync/atomic"

	"github.com/hiveblas/hiveblas/apps/components"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// LabelPropagationOptions are the settings of LabelPropagation.
type LabelPropagationOptions struct {
	workflow.Run
	MaxIterations int // 0 means 10, as in Graphalytics
}

// LabelPropagationResult is the result of LabelPropagation.
type LabelPropagationResult struct {
	components.Components // by label: a community has the label of a vertex, not always one of its own
	Iterations            int
	Stable                bool // the last iteration changed no label
}

// LabelPropagation returns communities of g by synchronous label propagation, CDLP of the LDBC
// Graphalytics benchmark (Iosup et al., PVLDB 9, 2016; after Raghavan, Albert, Kumara, Physical
// Review E 76, 2007). Every vertex begins with its own label, and takes in each iteration the label
// that most of its neighbours have, the least one of several. A neighbour with edges in both
// directions counts twice in a directed graph. Values are ignored; a self-loop is a neighbour.
//
//	L(v, label(v)) = 1;   C = A +.pair L (+ Aᵀ +.pair L);   label(v) = least argmax over C(v, :)
//
// The row-wise argmax is the max of C·2³² − j. O(edges) an iteration on the host
// with Method Auto, which counts labels in an array: 8 bytes for each vertex and thread. The fused
// form counts in hash tables: 16 bytes for each entry, 32 in a directed graph.
func LabelPropagation[T comparable](g matrix.Source[T], opts ...LabelPropagationOptions) (*LabelPropagationResult, error) {
	return labelPropagation(g, opts)
}

// labelPropagation is LabelPropagation of a graph with values of any type.
func labelPropagation(g workflow.Operand, opts []LabelPropagationOptions) (*LabelPropagationResult, error) {
	const app = "LabelPropagation"
	o, err := workflow.Only(app, opts)
	if err != nil {
		return nil, err
	}
	a, n, form, err := workflow.Begun(app, "label propagation", g, o.Run)
	if err != nil {
		return nil, err
	}
	if o.MaxIterations < 0 {
		return nil, &workflow.ParameterError{App: app, Arg: "the number of iterations", Got: fmt.Sprint(o.MaxIterations), Want: "0 or more"}
	}
	if o.MaxIterations == 0 {
		o.MaxIterations = 10
	}
	workflow.Announce(o.Run, app, "label propagation")
	if form.Device != nil {
		return fusedPropagation(form.Device, a, n, o)
	}
	both := !access.Symmetric(a) && (a.Place() != nil || !workflow.Symmetric(a))
	propagate := propagatePipeline
	if form.Host {
		propagate = propagateOnHost
	}
	res := &LabelPropagationResult{}
	label, err := propagate(a, n, both, o, res)
	if err != nil {
		return nil, err
	}
	res.Label = label
	res.Count, res.Largest, err = workflow.CountLabels(label, workflow.With(o.Run))
	if err != nil {
		return nil, err
	}
	return res, nil
}

// mostThenLeast orders the labels j of a row by their count, the least first among equals.
func mostThenLeast() semiring.IndexOp[int64, int64] {
	return semiring.NewIndex("most_then_least", func(count int64, _, j int) int64 {
		return count<<32 - int64(j)
	}, "(x << 32) - j")
}

// labelOf is the label of the result of mostThenLeast.
func labelOf() semiring.UnaryOp[int64, int32] {
	return semiring.NewUnary("label_of", func(x int64) int32 { return int32(-x & 0xffffffff) },
		"(int)(-x & 0xffffffffLL)")
}

// propagatePipeline propagates labels by operations, where a lives.
func propagatePipeline(a *matrix.View[bool], n int, both bool, o LabelPropagationOptions, res *LabelPropagationResult) (*matrix.Vector[int32], error) {
	with, here := workflow.With(o.Run), matrix.On(a.Place())
	label, err := workflow.FullVector[int32](a.Place(), n, 0, with)
	if err != nil {
		return nil, err
	}
	var s ops.Steps
	s.Do(ops.ApplyIndex(label, semiring.RowIndex[int32](int32(0)), label, with))
	one, err := workflow.FullVector[int64](a.Place(), n, 1, with)
	if err != nil {
		return nil, err
	}
	best, next, changed := matrix.NewVector[int64](n, here), matrix.NewVector[int32](n, here), matrix.NewVector[bool](n, here)
	member, count := matrix.New[int64](n, n, here), matrix.New[int64](n, n, here)
	order, name := mostThenLeast(), labelOf()
	for res.Iterations < o.MaxIterations && !res.Stable && s.OK() {
		s.Do(ops.Scatter(member, semiring.Max[int64](), one, ops.All(), ops.ValuesOf(label), with))
		s.Do(ops.MxM(count, semiring.PlusPair[int64](), a, member.Pattern(), with))
		if both {
			s.Do(ops.MxM(count.Accum(semiring.Plus[int64]()), semiring.PlusPair[int64](), a.T(), member.Pattern(), with))
		}
		s.Do(ops.ApplyIndex(count, order, count, with))
		s.Do(ops.Reduce(best, semiring.Max[int64](), count, with))
		s.Do(ops.Apply(next, name, best, with)) // of vertices with neighbours
		s.Do(ops.EWiseMult(changed, semiring.Ne[int32](), next, label, with))
		moved, err := ops.ReduceScalar(semiring.Lor(), changed, with)
		s.Do(err)
		s.Do(ops.AssignVector(label.Masked(next.Structure()), next, ops.All(), with))
		res.Iterations, res.Stable = res.Iterations+1, !moved
		workflow.Report(o.Run, "label propagation", int64(res.Iterations), int64(o.MaxIterations))
	}
	return label, s.Err()
}

// propagateOnHost propagates labels by counting them in an array.
func propagateOnHost(a *matrix.View[bool], n int, both bool, o LabelPropagationOptions, res *LabelPropagationResult) (*matrix.Vector[int32], error) {
	sides := []*workflow.Adjacency{workflow.RowsOf(a)}
	if both {
		sides = append(sides, workflow.RowsOf(a.T()))
	}
	label, next := make([]int32, n), make([]int32, n)
	for v := range label {
		label[v] = int32(v)
	}
	type counter struct{ count, met []int32 }
	crew := make([]counter, parallel.Threads(o.Threads))
	for res.Iterations < o.MaxIterations && !res.Stable {
		var moved atomic.Bool
		err := parallel.Range(o.Context, o.Threads, n, 1<<10, func(k, lo, hi int) {
			c := &crew[k]
			if c.count == nil {
				c.count = make([]int32, n)
			}
			changed := false
			for v := lo; v < hi; v++ {
				most, best := int32(0), label[v]
				met := c.met[:0]
				for _, g := range sides {
					for _, u := range g.Of(int32(v)) {
						l := label[u]
						x := c.count[l] + 1
						c.count[l] = x
						if x == 1 {
							met = append(met, l)
						}
						if x > most || x == most && l < best {
							most, best = x, l
						}
					}
				}
				for _, l := range met {
					c.count[l] = 0
				}
				c.met = met
				next[v] = best
				changed = changed || best != label[v]
			}
			if changed {
				moved.Store(true)
			}
		})
		if err != nil {
			return nil, err
		}
		label, next = next, label
		res.Iterations, res.Stable = res.Iterations+1, !moved.Load()
		workflow.Report(o.Run, "label propagation", int64(res.Iterations), int64(o.MaxIterations))
	}
	workflow.Traced(o.Run, "LabelPropagation", "counts", n, int64(res.Iterations)*int64(len(sides[0].Idx)))
	if err := workflow.Expired(o.Run); err != nil {
		return nil, err
	}
	return matrix.VectorOf(label)
}
