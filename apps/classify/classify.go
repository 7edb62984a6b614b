// Package classify matches a pattern with features in a data graph: the workflow “application
// classification”, by belief propagation.
package classify

import (
	"fmt"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/matrix"
)

// ClassifyOptions are the settings of Classify.
type ClassifyOptions struct {
	workflow.Run
	// Iterations is the number of rounds of messages; 0 means as many as the
	// pattern has vertices, negative none.
	Iterations int
	// CorrectedGather takes the backward message of an edge from its target, as
	// the description of the method says, and not from its source, as the
	// original program does.
	CorrectedGather bool
	// Memory bounds the bytes of the distances between edges that are kept: 4 for
	// each edge of the data and edge of the pattern. 0 means no bound. Distances that
	// are not kept are computed again in every round, some edges of the pattern at a time.
	Memory int64
	// Trusted skips the check that the features are numbers of a usual size.
	Trusted bool
}

// Classify finds where the vertices of a pattern may be in a data graph, by loopy belief
// propagation over vertices and edges with features. Column j of the N×P result is the logarithm of
// a probability distribution over the N vertices of the data graph, for vertex j of the pattern.
//
// CV and CE are the Euclidean distances between the features of vertices (data × pattern) and
// edges, S and D the incidence matrices of the sources and targets of the data's edges, and
// normprob(X) = X − log Σ exp X in each column:
//
//	μ = normprob(−CV);   FMax = Dᵀ max.second normprob(−CE) ∨ colmax μ(:, src)
//	                     RMax = Sᵀ max.second normprob(−CE) ∨ colmax μ(:, dst)
//	repeat: VF = μ(:, dst) − FMax;   VR = μ(:, src) − RMax
//	        FE = normprob(S·VR − CE);   RE = normprob(S·VF − CE)
//	        RMax = Sᵀ max.second RE ∨ colmax VF
//	        FMax = Dᵀ max.second FE ∨ colmax VR
//	        μ = normprob(−CV + FMax onto dst + RMax onto src)
//
// src and dst are the ends of the pattern's edges. These are the semantics of PNNL's program as the
// HIVE report describes it, with the gather of RE by the source and the null cost of 0. That
// program also applies normprob to CV and CE, which adds a constant to each column that the next
// normprob removes.
//
// CE is the only array over the edges of both graphs, since the messages gather by the source
// alone: with W = Sᵀ log+.second −CE and M = Sᵀ max.second −CE, the sum over edges is log Σ exp(VR
// + W) over vertices, and the maximum of RE over the edges out of a vertex is VF + M. Time is
// O(E·Q·(f + iterations)) and memory 4·E·Q bytes (see Memory) and 4·N·(4Q + 3P), for E edges of the
// data and Q of the pattern.
//
// Features and messages are float32. Logarithms of sums are computed in float64 after subtracting
// the maximum, with exponentials that are right to 3e-10. Results differ from an all-float64
// computation by about 1e-5 of the largest magnitude.
//
// Both graphs live in the same place, which may be a GPU, and so does the result. Classify returns
// a *matrix.DimensionError if the numbers of features differ, and a *ParameterError if a feature is
// NaN or beyond ±1e15.
//
// HIVE workflow "application classification": Gunrock HIVE report, 2018, ch. 2.
func Classify(data, pattern *Attributed, opts ...ClassifyOptions) (*matrix.Matrix[float32], error) {
	o, err := workflow.Only("Classify", opts)
	if err != nil {
		return nil, err
	}
	const app = "Classify"
	if err := data.check(app, "the data", o.Trusted, o.Run); err != nil {
		return nil, err
	}
	if err := pattern.check(app, "the pattern", o.Trusted, o.Run); err != nil {
		return nil, err
	}
	for _, c := range []struct {
		what          string
		data, pattern *matrix.Matrix[float32]
	}{{"vertex", data.Vertices, pattern.Vertices}, {"edge", data.Edges, pattern.Edges}} {
		f, _ := c.data.Dims()
		if g, n := c.pattern.Dims(); f != g {
			return nil, &matrix.DimensionError{Op: app, Arg: "the " + c.what + " features of the pattern", Got: fmt.Sprintf("%d×%d", g, n),
				Want: fmt.Sprintf("%d×any", f), Remedy: "give the same features of both graphs, in the same order"}
		}
	}
	if o.Memory < 0 {
		return nil, &workflow.ParameterError{App: app, Arg: "memory", Got: fmt.Sprint(o.Memory), Want: "a number of bytes, or 0 for no bound"}
	}
	rounds := o.Iterations
	if n, _ := pattern.Dims(); rounds == 0 {
		rounds = n
	}
	workflow.Announce(o.Run, app, "belief propagation")
	workflow.Report(o.Run, "messages", 0, int64(max(rounds, 0)))
	at, err := workflow.FusedOn(o.Run, app, data.Place())
	if err != nil {
		return nil, err
	}
	if at != nil {
		return fusedClassify(at, data, pattern, max(rounds, 0), o)
	}
	b, err := newBeliefs(data, pattern, o)
	if err != nil {
		return nil, err
	}
	for k := range rounds {
		if err := b.round(); err != nil {
			return nil, err
		}
		workflow.Report(o.Run, "messages", int64(k+1), int64(rounds))
	}
	return b.result()
}

// ClassifyMemory estimates the bytes that Classify takes on the host, the graphs included: at
// least, without keeping distances, and with all of them. Both are 0 for a nil or zero graph.
func ClassifyMemory(data, pattern *Attributed) (least, all int64) {
	if data.incomplete() || pattern.incomplete() {
		return 0, 0
	}
	n, m := data.Dims()
	np, q := pattern.Dims()
	f, _ := data.Vertices.Dims()
	g, _ := data.Edges.Dims()
	const (
		incidences = 2*13 + 2*5 + 3*4 + 4 // of an edge: sources, targets, their transposes, lists of both and of pairs, pairs
		columns    = 2 * (20 + 4)         // of an edge: distances, their shares and maxima, lists, of two goroutines
	)
	edges, vertices := int64(m), int64(n)
	least = edges*(4*int64(g)+incidences+columns) + vertices*(4*int64(f)+4*(4*int64(q)+3*int64(np))+48)
	return least, least + 4*edges*int64(q)
}
