package communities

import (
	"fmt"
	"math"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

// ModularityOptions are the settings of Modularity.
type ModularityOptions struct {
	workflow.Run
	Resolution float64 // γ; 0 means 1
}

// Modularity returns the modularity of a partition of the vertices of an undirected graph,
//
//	Q = Σ_uv [ A(u,v)/2m − γ k(u)k(v)/(2m)² ] δ(c(u), c(v)),   k = A1,  2m = Σ A
//
// (Newman, Girvan: Finding and evaluating community structure in networks, Phys. Rev. E 69, 2004; γ
// by Reichardt, Bornholdt, Phys. Rev. E 74, 2006). membership gives the community of each vertex by
// any numbers ≥ 0; a vertex without an entry, or beyond the end, is a community of its own.
// Self-loops and weights are as in Communities: A has twice the weight of a loop on its diagonal. A
// graph without weight has modularity 0.
//
// Sums are exact, of weights that are rounded as in Communities unless they are integers of sum
// below 2⁵². Modularity returns a *ParameterError if the number of a community is negative or the
// graph is directed, a *WeightError if a weight is negative, infinite or NaN, and a
// *matrix.DimensionError if there are more entries than vertices. O(vertices + entries), on the
// host.
func Modularity[T semiring.Element](g matrix.Source[T], membership *matrix.Vector[int32], opts ...ModularityOptions) (float64, error) {
	return modularityOf(g, membership, opts)
}

// modularityOf is Modularity of a graph with values of any type.
func modularityOf(g workflow.Operand, membership *matrix.Vector[int32], opts []ModularityOptions) (float64, error) {
	const app = "Modularity"
	o, err := workflow.OnlyPipeline(app, opts)
	if err != nil {
		return 0, err
	}
	n, err := workflow.Square(app, g)
	if err != nil {
		return 0, err
	}
	if o.Resolution == 0 {
		o.Resolution = 1
	}
	if !(o.Resolution > 0 && o.Resolution <= math.MaxFloat64) {
		return 0, &workflow.ParameterError{App: app, Arg: "the resolution", Got: fmt.Sprint(o.Resolution), Want: "a positive number"}
	}
	part, _, err := membershipOf(app, "the membership", membership, n)
	if err != nil {
		return 0, err
	}
	l, err := levelGraphOf(app, g, o.Run)
	if err != nil {
		return 0, err
	}
	return l.modularity(o.Run, part, o.Resolution), nil
}
