package apps

import (
	"fmt"

	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// ClusterBatch is what Clusterer.Batch found.
type ClusterBatch struct {
	P          *matrix.Matrix[float64] // k×n, sparse: row i is p around seed i
	KKT        float64                 // largest of the queries, see LocalClusterResult
	Iterations int                     // most of the queries
	Converged  bool                    // all of them
}

// Batch is LocalCluster around each of many seeds by itself. The vectors of a
// tile of seeds are the rows of sparse matrices, and a step of all of them is
// one product of such a matrix with AD⁻¹, which is made at the first call and
// kept: 12 bytes an edge. tile is the number of seeds at a time, 0 for the usual
// one; memory is about 60 bytes for each vertex that a query of a tile touches.
// Errors as LocalCluster; opts.Sweep is not heeded.
func (c *Clusterer) Batch(seeds []int, tile int, opts LocalClusterOptions) (*ClusterBatch, error) {
	o, err := c.settings(opts)
	if err != nil {
		return nil, err
	}
	if err := c.checkSeeds(seeds, o.Run); err != nil {
		return nil, err
	}
	if tile < 0 {
		return nil, &ParameterError{"LocalCluster", "the tile", fmt.Sprint(tile), "a number of seeds, or 0"}
	}
	if tile == 0 {
		if tile = 256; c.place != nil {
			tile = 2048
		}
	}
	walk, err := c.walk()
	if err != nil {
		return nil, err
	}
	b := &ClusterBatch{P: matrix.New[float64](len(seeds), c.n, matrix.On(c.place)), Converged: true}
	for first := 0; first < len(seeds); first += tile {
		last := min(first+tile, len(seeds))
		if err := c.tile(b, walk, seeds, first, last, o); err != nil {
			return nil, err
		}
		o.report("local clustering", int64(last), int64(len(seeds)))
	}
	return b, nil
}

// tile answers the queries first … last−1.
func (c *Clusterer) tile(b *ClusterBatch, walk *matrix.Matrix[float64], seeds []int, first, last int, o LocalClusterOptions) error {
	k, here, with := last-first, matrix.On(c.place), o.with()
	field := func() lgcField { return matrix.New[float64](k, c.n, here) }
	rows, one := make([]int, k), make([]float64, k)
	for i := range k {
		rows[i], one[i] = i, o.Alpha
	}
	at, err := matrix.FromTuples(k, c.n, rows, seeds[first:last], one, nil)
	if err != nil {
		return err
	}
	byDegree, err := diagonal(c.share)
	if err != nil {
		return err
	}
	quiet := o // progress is told by tiles
	quiet.Progress = nil
	l := &descent{o: quiet, with: with, field: field, start: field(), spread: func(dst, x lgcField) error {
		return ops.MxM(dst.(*matrix.Matrix[float64]), semiring.PlusTimes[float64](), x.(*matrix.Matrix[float64]), walk, with)
	}}
	if err := ops.MxM(l.start.(*matrix.Matrix[float64]), semiring.PlusTimes[float64](), at, byDegree, with); err != nil {
		return err
	}
	iterations, converged, err := l.run()
	if err != nil {
		return err
	}
	kkt, err := l.certify()
	if err != nil {
		return err
	}
	b.Iterations, b.KKT, b.Converged = max(b.Iterations, iterations), max(b.KKT, kkt), b.Converged && converged
	degrees, err := diagonal(c.degree)
	if err != nil {
		return err
	}
	x := l.x.(*matrix.Matrix[float64])
	p := matrix.New[float64](k, c.n, here)
	if err := ops.MxM(p, semiring.PlusTimes[float64](), x, degrees, with); err != nil {
		return err
	}
	if k == len(seeds) {
		b.P = p
		return nil
	}
	return ops.Assign(b.P, p, ops.Span(first, last), ops.All(), with)
}

// walkMatrix returns AD⁻¹.
func (c *Clusterer) walkMatrix() (*matrix.Matrix[float64], error) {
	d, err := diagonal(c.share)
	if err != nil {
		return nil, err
	}
	walk := matrix.New[float64](c.n, c.n, matrix.On(c.place))
	return walk, ops.MxM(walk, semiring.PlusSecond[float64](), c.a, d)
}

// diagonal returns the matrix with v on its diagonal, where v lives.
func diagonal(v *matrix.Vector[float64]) (*matrix.Matrix[float64], error) {
	d, err := matrix.Diag(v, 0)
	if err != nil {
		return nil, err
	}
	return d, d.Move(v.Place())
}
