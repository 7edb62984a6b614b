package lgc

import (
	"fmt"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// The number of seeds of a tile by default.
const (
	tileHost   = 256
	tileDevice = 2048
)

// ClusterBatch is the result of Clusterer.Batch.
type ClusterBatch struct {
	P          *matrix.Matrix[float64] // k×n, sparse: row i is p around seed i
	KKT        float64                 // largest of the queries, see LocalClusterResult
	Iterations int                     // most of the queries
	Converged  bool                    // all of them
}

// Batch is LocalCluster around each of many seeds separately. The vectors of a tile of seeds are
// the rows of sparse matrices, and a step of all of them is one product of such a matrix with one
// of the graph's edges. The first call makes the latter, and a call with another alpha makes it
// anew: 12 bytes an edge. Queries that have converged leave the matrices. tile is the number of
// seeds at a time, 0 for the default; memory is about 60 bytes for each vertex that a query of a
// tile touches. Errors as LocalCluster. Batch ignores the setting Sweep.
//
// On a group the seeds are divided among the ranks, whole tiles of seeds for ClusterISTA and
// ClusterFISTA, because their steps depend on the tile. Each rank has the whole graph; the first
// call copies it there. The rows of P stay where they are computed. Method Pipeline divides the
// rows of the matrices in each operation instead.
func (c *Clusterer) Batch(seeds []int, tile int, opts ...LocalClusterOptions) (*ClusterBatch, error) {
	o, err := c.settings(opts)
	if err != nil {
		return nil, err
	}
	if c.rows != nil {
		return nil, &workflow.ParameterError{App: "LocalCluster", Arg: "the Clusterer", Got: "one that reads rows", Want: "one of NewClusterer for a batch"}
	}
	if err := c.checkSeeds(seeds, o.Run); err != nil {
		return nil, err
	}
	if tile < 0 {
		return nil, &workflow.ParameterError{App: "LocalCluster", Arg: "the tile", Got: fmt.Sprint(tile), Want: "a number of seeds, or 0"}
	}
	if b, err := c.batchByRanges(seeds, tile, o); b != nil || err != nil {
		return b, err
	}
	if tile == 0 {
		if tile = tileHost; c.place != nil {
			tile = tileDevice
		}
	}
	walk, err := c.walkFor(o)
	if err != nil {
		return nil, err
	}
	b := &ClusterBatch{P: matrix.New[float64](len(seeds), c.n, matrix.On(c.place)), Converged: true}
	for first := 0; first < len(seeds); first += tile {
		last := min(first+tile, len(seeds))
		if err := c.tile(b, walk, seeds, first, last, o); err != nil {
			return nil, err
		}
		workflow.Report(o.Run, "local clustering", int64(last), int64(len(seeds)))
	}
	return b, nil
}

// tile answers the queries first … last−1.
func (c *Clusterer) tile(b *ClusterBatch, walk *matrix.Matrix[float64], seeds []int, first, last int, o LocalClusterOptions) error {
	k, here, with := last-first, matrix.On(c.place), workflow.With(o.Run)
	rows, one := make([]int, k), make([]float64, k)
	for i := range k {
		rows[i], one[i] = i, 1/o.Rho
	}
	at, err := matrix.FromTuples(k, c.n, rows, seeds[first:last], one, nil)
	if err != nil {
		return err
	}
	byDegree, err := workflow.Diagonal(c.share, with)
	if err != nil {
		return err
	}
	start := matrix.New[float64](k, c.n, here)
	if err := ops.MxM(start, semiring.PlusTimes[float64](), at, byDegree, with); err != nil {
		return err
	}
	quiet := o // progress is reported by tile
	quiet.Progress = nil
	l := &descent{o: quiet, with: with, start: start}
	q := &queries{descent: l, n: c.n, place: c.place, live: rows}
	l.field = func() lgcField { return q.matrix(len(q.live)) }
	l.change = func(delta lgcField) (lgcField, error) {
		h := q.matrix(len(q.live))
		return h, ops.MxM(h, semiring.PlusTimes[float64](), delta.(lgcMatrix), walk, with)
	}
	l.settle = q.settle
	iterations, converged, err := l.run()
	if err != nil {
		return err
	}
	if err := q.gather(k); err != nil {
		return err
	}
	kkt, err := l.certify()
	if err != nil {
		return err
	}
	b.Iterations, b.KKT, b.Converged = max(b.Iterations, iterations), max(b.KKT, kkt), b.Converged && converged
	degrees, err := workflow.Diagonal(c.degree, with)
	if err != nil {
		return err
	}
	p := matrix.New[float64](k, c.n, here)
	var s ops.Steps
	s.Do(ops.MxM(p, semiring.PlusTimes[float64](), l.x.(lgcMatrix), degrees, with))
	s.Do(ops.ApplySecond(p, semiring.Times[float64](), p, o.unit(), with))
	if !s.OK() {
		return s.Err()
	}
	if k == len(seeds) {
		b.P = p
		return nil
	}
	return ops.Assign(b.P, p, ops.Span(first, last), ops.All(), with)
}

type lgcMatrix = *matrix.Matrix[float64]

// queries are the rows of a tile that have not converged. Most converge in a few steps and some in
// many, and every step reads the residuals of all that remain. Of 256 on R-MAT 16 a query takes 10
// steps on average and 21 at most.
type queries struct {
	*descent
	n     int
	place matrix.Place
	live  []int // the numbers of those in the matrices
	done  []settled
}

// settled are queries that have converged.
type settled struct {
	rows []int
	x    lgcMatrix
}

func (q *queries) matrix(rows int) lgcMatrix {
	return matrix.New[float64](rows, q.n, matrix.On(q.place))
}

// settle removes the queries without an entry in moving, once there are enough of them.
func (q *queries) settle(moving lgcField) (lgcField, error) {
	some := matrix.NewVector[float64](len(q.live), matrix.On(q.place))
	if err := ops.Reduce(some, semiring.Max[float64](), moving.(lgcMatrix), q.with); err != nil {
		return nil, err
	}
	left := some.NVals()
	if err := some.Err(); err != nil || left*settleBelow.of > int64(len(q.live))*settleBelow.part {
		return moving, err
	}
	var stay, gone, live, rows []int
	for k, v := range q.live {
		if _, ok := some.At(k); ok {
			stay, live = append(stay, k), append(live, v)
		} else {
			gone, rows = append(gone, k), append(rows, v)
		}
	}
	var s ops.Steps
	s.Do(some.Err())
	take := func(a lgcField, which []int) lgcMatrix {
		part := q.matrix(len(which))
		s.Do(ops.Extract(part, a.(lgcMatrix), ops.Of(which...), ops.All(), q.with))
		return part
	}
	q.done = append(q.done, settled{rows, take(q.x, gone)})
	q.x, q.g, moving = take(q.x, stay), take(q.g, stay), take(moving, stay)
	q.live = live
	return moving, s.Err()
}

// settleBelow is the part of the queries that may remain for the others to be removed: removal
// copies the rows that remain.
var settleBelow = struct{ part, of int64 }{3, 4}

// gather makes x the x of all k queries again.
func (q *queries) gather(k int) error {
	parts := append(q.done, settled{q.live, q.x.(lgcMatrix)})
	q.live = make([]int, k)
	if len(parts) == 1 {
		return nil
	}
	x := q.matrix(k)
	var s ops.Steps
	for _, p := range parts {
		s.Do(ops.Assign(x, p.x, ops.Of(p.rows...), ops.All(), q.with))
	}
	q.x = x
	return s.Err()
}

// batchWalk is own·I + sent·AD⁻¹, so that a product with it is the change of g.
type batchWalk struct {
	own, sent float64
	m         lgcMatrix
}

// walkFor returns the matrix of these options.
func (c *Clusterer) walkFor(o LocalClusterOptions) (lgcMatrix, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if w := c.walk; w.m != nil && w.own == o.own() && w.sent == o.sent() {
		return w.m, nil
	}
	here, with := matrix.On(c.place), workflow.With(o.Run)
	sent, own := matrix.NewVector[float64](c.n, here), matrix.NewVector[float64](c.n, here)
	m := matrix.New[float64](c.n, c.n, here)
	var s ops.Steps
	s.Do(ops.ApplySecond(sent, semiring.Times[float64](), c.share, o.sent(), with))
	s.Do(ops.ApplySecond(own, semiring.Second[float64, float64](), c.share, o.own(), with))
	bySent, err := workflow.Diagonal(sent, with)
	s.Do(err)
	byOwn, err := workflow.Diagonal(own, with)
	s.Do(err)
	s.Do(ops.MxM(m, semiring.PlusSecond[float64](), c.a, bySent, with))
	s.Do(ops.EWiseAdd(m, semiring.Plus[float64](), m, byOwn, with))
	if !s.OK() {
		return nil, s.Err()
	}
	c.walk = batchWalk{o.own(), o.sent(), m}
	return m, nil
}
