package project

import (
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/comm/spmd"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// projectByRanges divides the rows of a projection among the ranks of a group by their products.
// The result is nil if they are not divided.
func projectByRanges[T semiring.Number](a *matrix.View[T], o ProjectionOptions) (*matrix.Matrix[T], error) {
	switch o.Weighting {
	case WeightCount:
		return projectRows(matrix.AsView[bool](a.Pattern()), o, semiring.PlusPair[T]())
	case WeightRatio:
		return projectRows(a, o, RatioSemiring[T]())
	}
	return projectRows(a, o, semiring.PlusTimes[T]())
}

// projectRows computes the rows of each rank.
func projectRows[A comparable, T semiring.Number](a *matrix.View[A], o ProjectionOptions, product semiring.Semiring[A, A, T]) (*matrix.Matrix[T], error) {
	d, graph, err := workflow.DivideGraph(o.Run, "Projection", a.Inside(), 0, nil)
	if d == nil || err != nil {
		return nil, err
	}
	workflow.Report(o.Run, "project", 0, 0)
	factors := func(k int) (left, right *matrix.View[A]) {
		v := matrix.ViewOf[A](graph[k])
		if o.Onto == OntoRows {
			return v, v.T()
		}
		return v.T(), v
	}
	var work []int64
	err = d.Once(func() (err error) {
		left, right := factors(0)
		all := d.Run
		all.Threads, all.Trace = d.Threads(), nil
		work, err = rowProducts(left, right, all)
		return err
	})
	if err != nil {
		return nil, err
	}
	n := len(work) - 1
	cuts := spmd.CutByWork(work, d.Group.Size(), d.LeastRange())
	part, err := workflow.EachRange(d, cuts, func(k int, lo, hi int64, run workflow.Run) (*matrix.Matrix[T], error) {
		left, right := factors(k)
		return projectSpan(left, right, product, int(lo), int(hi), o.Diagonal, run)
	})
	if err != nil {
		return nil, err
	}
	p, err := workflow.RowsOn(d, n, n, cuts, part)
	if err != nil {
		return nil, err
	}
	if d.Run.Trace != nil {
		d.Traced(work[n], p.NVals(), spmd.Unevenness(cuts, func(lo, hi int64) int64 { return work[hi] - work[lo] }))
	}
	return p, nil
}

// projectSpan computes rows lo … hi−1 of a projection, where its factors are.
func projectSpan[A comparable, T semiring.Number](
	left, right *matrix.View[A], product semiring.Semiring[A, A, T], lo, hi int, diagonal bool, run workflow.Run,
) (*matrix.Matrix[T], error) {
	n, shared := left.Dims()
	at := matrix.On(left.Place())
	p := matrix.New[T](hi-lo, n, at)
	if lo == hi {
		return p, nil
	}
	own := matrix.New[A](hi-lo, shared, at)
	if err := ops.Extract(own, left, ops.Span(lo, hi), ops.All(), workflow.With(run)); err != nil {
		return nil, err
	}
	dst := p.Replace()
	if !diagonal && left.Place() == nil {
		dst = p.Masked(spanMask(lo, hi, n).Structure().Not())
	}
	if err := ops.MxM(dst, product, own, right, workflow.With(run)); err != nil {
		return nil, err
	}
	if !diagonal && left.Place() != nil { // an n×n mask saves nothing there
		return p, ops.Select(p, semiring.Offdiag[T](lo), p, workflow.With(run))
	}
	return p, nil
}

// rowProducts returns the products of the rows of a product of matrices, as prefix sums.
func rowProducts[A comparable](left, right *matrix.View[A], run workflow.Run) ([]int64, error) {
	n, shared := left.Dims()
	at := left.Place()
	length, products := matrix.NewVector[int64](shared, matrix.On(at)), matrix.NewVector[int64](n, matrix.On(at))
	var s ops.Steps
	s.Do(ops.Reduce(length, semiring.Plus[int64](), right.Pattern(), workflow.With(run)))
	s.Do(ops.MxV(products, semiring.PlusSecond[int64](), left.Pattern(), length, workflow.With(run)))
	s.Do(products.Move(nil))
	if !s.OK() {
		return nil, s.Err()
	}
	list, err := products.Dense(0)
	if err != nil {
		return nil, err
	}
	sums := make([]int64, n+1)
	for i, x := range list {
		sums[i+1] = sums[i] + x
	}
	return sums, nil
}

// spanMask returns the pattern of rows lo … hi−1 of the n×n identity.
func spanMask(lo, hi, n int) *matrix.Matrix[bool] {
	rows := hi - lo
	ptr, idx, val := make([]int64, rows+1), make([]int32, rows), make([]bool, rows)
	for i := range rows {
		ptr[i+1], idx[i], val[i] = int64(i+1), int32(lo+i), true
	}
	m, err := matrix.FromCSR(rows, n, ptr, idx, val)
	if err != nil {
		panic("apps: a part of the identity is not a valid matrix: " + err.Error())
	}
	return m
}
