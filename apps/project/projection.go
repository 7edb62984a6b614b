// Package project projects bipartite graphs onto one side, whole or in blocks larger than memory,
// and matches the two sides.
package project

import (
	"context"
	"errors"
	"fmt"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/chunked"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// Weighting is what an edge of a projection counts.
type Weighting int

// The weightings. A(k,u) is the weight of neighbour k for vertex u.
const (
	WeightDot   Weighting = iota // Σ A(k,u)·A(k,v)
	WeightCount                  // number of shared neighbours k
	WeightRatio                  // Σ A(k,u) / (A(k,u) + A(k,v)); not symmetric
)

// Side is what a graph is projected onto.
type Side int

// The sides of a bipartite graph given as a matrix of rows by columns.
const (
	OntoColumns Side = iota // AᵀA: columns that share rows
	OntoRows                // AAᵀ: rows that share columns
)

// ProjectionOptions are the settings of Projection.
type ProjectionOptions struct {
	workflow.Run
	Onto      Side
	Weighting Weighting
	Diagonal  bool // keep the diagonal: each vertex with itself
	// Blocks are the options of ProjectionTo's product, such as budgets of memory. Projection
	// does not compute in blocks and refuses them.
	Blocks []chunked.Option
}

// Projection connects the vertices of one side of a bipartite graph that share
// neighbours on the other: for an m×n matrix A the n×n matrix
//
//	P⟨¬I⟩ = Aᵀ ⊕.⊗ A
//
// or, onto rows, the m×m matrix of Aᵀ in place of A. ⊕ is +; ⊗ counts,
// multiplies the weights, or takes the share w₁/(w₁+w₂) of the first (0 where
// both are 0), which is a user-defined semiring. A directed graph is the
// bipartite graph of its sources and targets.
//
// Work is the sum of the squared row lengths of A, or of its columns; memory
// the result. On the host a symmetric result is computed by its upper triangle and mirrored,
// if the triangle has a product or more for each pair of vertices; Method Pipeline
// computes all of it. More possible shared neighbours than T can count are a
// *matrix.SizeError, and ratios of integers a *ParameterError. Dot products of
// integers wrap around on overflow. A result that a device cannot hold
// is computed there block by block and lives on the host.
//
// On a group each rank has the whole of A and computes rows of P with about the same number of
// products. They stay where they are computed, and nothing but A is sent. A beyond the GatherLimit
// of the group, and Method Pipeline, leave it to the product of the group.
//
// HIVE workflow "graph projections": Gunrock HIVE report, 2018, ch. 9.
func Projection[T semiring.Number](a matrix.Source[T], opts ...ProjectionOptions) (*matrix.Matrix[T], error) {
	o, err := workflow.OnlyPipeline("Projection", opts)
	if err != nil {
		return nil, err
	}
	if o.Blocks != nil {
		return nil, &workflow.ParameterError{App: "Projection", Arg: "Blocks", Got: fmt.Sprintf("%d options", len(o.Blocks)), Want: "none; ProjectionTo computes in blocks"}
	}
	left, right, err := projected(a, o)
	if err != nil {
		return nil, err
	}
	if p, err := projectByRanges(matrix.AsView[T](a), o); p != nil || err != nil {
		return p, err
	}
	if p, err := projectTriangle(right, leastTriangle, o); p != nil || err != nil {
		return p, err
	}
	n, _ := left.Dims()
	place := matrix.AsView[T](a).Place()
	p := matrix.New[T](n, n, matrix.On(place))
	dst := p.Replace()
	if !o.Diagonal && place == nil {
		dst = p.Masked(identityMask(n).Structure().Not())
	}
	workflow.Report(o.Run, "project", 0, 0)
	switch o.Weighting {
	case WeightDot:
		err = ops.MxM(dst, semiring.PlusTimes[T](), left, right, workflow.With(o.Run))
	case WeightCount:
		err = ops.MxM(dst, semiring.PlusPair[T](), left.Pattern(), right.Pattern(), workflow.With(o.Run))
	case WeightRatio:
		err = ops.MxM(dst, RatioSemiring[T](), left, right, workflow.With(o.Run))
	}
	if err == nil && !o.Diagonal && place != nil { // an n×n mask saves nothing there
		err = ops.Select(p, semiring.Offdiag[T](0), p, workflow.With(o.Run))
	}
	if place != nil && errors.Is(err, device.ErrMemory) {
		p = matrix.New[T](n, n)
		_, err = ProjectionTo(chunked.Into(p), a, o)
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// ProjectionTo computes [Projection] block by block into sink, for results that are larger than a
// device or than memory; see package chunked. It runs where a lives, unless Blocks names another
// place.
func ProjectionTo[T semiring.Number](sink chunked.Sink[T], a matrix.Source[T], opts ...ProjectionOptions) (*chunked.Report, error) {
	o, err := workflow.OnlyPipeline("ProjectionTo", opts)
	if err != nil {
		return nil, err
	}
	if sink == nil {
		return nil, &workflow.ParameterError{App: "ProjectionTo", Arg: "the sink", Got: "nil", Want: "one of package chunked"}
	}
	left, right, err := projected(a, o)
	if err != nil {
		return nil, err
	}
	ctx := o.Context
	if ctx == nil {
		ctx = context.Background()
	}
	n, _ := left.Dims()
	workflow.Announce(o.Run, "ProjectionTo", "blocks")
	workflow.Report(o.Run, "project", 0, int64(n))
	plan := []chunked.Option{chunked.On(matrix.AsView[T](a).Place()), chunked.Threads(o.Threads), chunked.WithProgress(func(p chunked.Progress) {
		workflow.Report(o.Run, "project", int64(p.Rows), int64(p.AllRows))
	})}
	if !o.Diagonal {
		plan = append(plan, chunked.OffDiagonal())
	}
	how := append(plan, o.Blocks...)
	switch o.Weighting {
	case WeightCount:
		return chunked.MxM(ctx, sink, semiring.PlusPair[T](), left.Pattern(), right.Pattern(), how...)
	case WeightRatio:
		return chunked.MxM(ctx, sink, RatioSemiring[T](), left, right, how...)
	}
	return chunked.MxM(ctx, sink, semiring.PlusTimes[T](), left, right, how...)
}

// projected checks a projection and returns its factors.
func projected[T semiring.Number](a matrix.Source[T], opts ProjectionOptions) (left, right *matrix.View[T], err error) {
	if err := workflow.Usable("Projection", "the graph", a); err != nil {
		return left, right, err
	}
	left, right = matrix.AsView[T](a).T(), matrix.AsView[T](a)
	switch opts.Onto {
	case OntoColumns:
	case OntoRows:
		left, right = right, left
	default:
		return left, right, &workflow.ParameterError{App: "Projection", Arg: "the side", Got: fmt.Sprint(int(opts.Onto)), Want: "OntoColumns or OntoRows"}
	}
	_, shared := left.Dims()
	switch opts.Weighting {
	case WeightDot:
	case WeightCount:
		if most := workflow.LargestCount[T](); int64(shared) > most {
			err = &matrix.SizeError{Op: "Projection", Arg: fmt.Sprintf("largest count, in a matrix of %T", *new(T)), Got: int64(shared), Limit: most}
		}
	case WeightRatio:
		if T(1)/2 == 0 {
			err = &workflow.ParameterError{App: "Projection", Arg: "the element type", Got: fmt.Sprintf("%T", *new(T)), Want: "a float for ratio weights"}
		}
	default:
		err = &workflow.ParameterError{App: "Projection", Arg: "the weighting", Got: fmt.Sprint(int(opts.Weighting)), Want: "WeightDot, WeightCount or WeightRatio"}
	}
	return left, right, err
}

// RatioSemiring sums x / (x + y), 0 where x is 0.
func RatioSemiring[T semiring.Number]() semiring.Semiring[T, T, T] {
	ratio := semiring.NewBinary("ratio", func(x, y T) T {
		if x == 0 {
			return 0
		}
		return x / (x + y)
	}, "x == 0 ? 0 : x / (x + y)")
	s := semiring.New(semiring.Plus[T](), ratio)
	return s.WithKernels(semiring.Kernels[T, T, T]{
		Scatter: func(acc []T, marks []uint64, a T, ci []int32, bv []T) {
			semiring.ScatterFn(acc, marks, a, ci, bv,
				func(x, y T) T {
					if x == 0 {
						return 0
					}
					return x / (x + y)
				},
				func(x, y T) T { return x + y })
		},
		ScatterAll: func(acc []T, a T, ci []int32, bv []T) {
			semiring.ScatterAllFn(acc, a, ci, bv,
				func(x, y T) T {
					if x == 0 {
						return 0
					}
					return x / (x + y)
				},
				func(x, y T) T { return x + y })
		},
	})
}

// identityMask returns the n×n identity pattern.
func identityMask(n int) *matrix.Matrix[bool] {
	ptr, idx, val := make([]int64, n+1), make([]int32, n), make([]bool, n)
	for i := range n {
		ptr[i+1], idx[i], val[i] = int64(i+1), int32(i), true
	}
	m, err := matrix.FromCSR(n, n, ptr, idx, val)
	if err != nil {
		panic("apps: identity is not a valid matrix: " + err.Error())
	}
	return m
}
