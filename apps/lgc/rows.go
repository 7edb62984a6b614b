package lgc

import (
	"fmt"
	"slices"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/mapped"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// rows is a graph on the host that queries read row by row.
type rows struct {
	*sparse.Structure
	read map[int32]bool // of a query: the rows that were checked
}

// NewLocalClusterer returns a Clusterer that reads only the rows of a graph that a query touches,
// in compressed sparse rows on the host, such as a mapped file (graphio.MapStructure). It takes
// O(1) time, and a query time in proportion to its support, its edges and the neighbours. Other
// graphs are prepared as by NewClusterer.
//
// Results equal results of NewClusterer, or are within the same Epsilon where NewClusterer changes
// to full vectors, if the graph is undirected and has no self-loops: to check that takes the whole
// graph. A query checks the rows of its support: a row that is out of order, beyond the graph or
// has a self-loop, and an edge within the support that lacks its reverse are a *ParameterError. An
// edge out of the support without its reverse, and self-loops of neighbours, are not seen. Volumes
// and conductances of a cluster of more than half of the edges count self-loops of the rest. Batch
// returns a *ParameterError.
func NewLocalClusterer[T comparable](g matrix.Source[T], opts ...workflow.Run) (*Clusterer, error) {
	return newLocalClusterer(g, opts)
}

func newLocalClusterer(g workflow.Operand, opts []workflow.Run) (*Clusterer, error) {
	if _, err := workflow.OnlyPipeline("NewLocalClusterer", opts); err != nil {
		return nil, err
	}
	n, err := workflow.Square("LocalCluster", g)
	if err != nil {
		return nil, err
	}
	a := workflow.Pattern(g)
	if a.Place() != nil {
		return newClusterer(g, opts)
	}
	s := &access.Rows(a).Structure
	if s.Format != sparse.CSR || len(s.Ptr) != n+1 {
		return newClusterer(g, opts)
	}
	return &Clusterer{n: n, a: a, volume: s.NVals, rows: &rows{Structure: s}}, nil
}

// forQuery returns a Clusterer for one query, with the degrees of the seeds.
func (c *Clusterer) forQuery(seeds []int, run workflow.Run) (*Clusterer, error) {
	q := &Clusterer{n: c.n, a: c.a, volume: c.volume, rows: &rows{c.rows.Structure, map[int32]bool{}},
		degree: matrix.NewVector[float64](c.n), share: matrix.NewVector[float64](c.n)}
	var at []int
	for _, v := range seeds {
		if v >= 0 && v < c.n { // checkSeeds reports others
			at = append(at, v)
		}
	}
	found, err := matrix.VectorFromTuples(c.n, at, make([]float64, len(at)), nil)
	if err != nil {
		return nil, err
	}
	return q, q.meet(found, workflow.With(run))
}

// meet adds the degrees of the vertices with an entry in v.
func (c *Clusterer) meet(v lgcVector, with ops.Option) error {
	var at []int
	for i := range v.All() {
		if _, known := c.degree.At(i); !known {
			at = append(at, i)
		}
	}
	c.rows.offsetsAhead(at)
	degrees := make([]float64, 0, len(at))
	for _, i := range at {
		d := c.rows.Ptr[i+1] - c.rows.Ptr[i]
		if d < 0 || d > int64(c.n) {
			return c.rows.damaged(i, "out of order: its offsets descend")
		}
		degrees = append(degrees, float64(d))
	}
	if len(at) == 0 {
		return nil
	}
	more, err := matrix.VectorFromTuples(c.n, at, degrees, nil)
	if err != nil {
		return err
	}
	var s ops.Steps
	plus := semiring.Plus[float64]()
	s.Do(ops.EWiseAdd(c.degree, plus, c.degree, more, with))
	s.Do(ops.Apply(more, reciprocal(), more, with))
	s.Do(ops.EWiseAdd(c.share, plus, c.share, more, with))
	return s.Err()
}

func (r *rows) damaged(row int, what string) error {
	return workflow.AboutVertices("LocalCluster", "the row of vertex {0}", what, "a sound row without self-loops; LocalCluster and hiveblas lgc --whole take and check whole graphs", row)
}

// near is the number of offsets between two that are read with them: 32 KB, of 8 to 512 KB the best
// (bench/results/2026-11-29-mapped-lgc-2core.txt).
const near = 4 << 10

// offsetsAhead starts to read the offsets of ascending rows, if they are in a file.
func (r *rows) offsetsAhead(at []int) {
	for k := 0; k < len(at); {
		first := k
		for k++; k < len(at) && at[k]-at[k-1] < near; k++ {
		}
		mapped.Ahead(r.Ptr[at[first] : at[k-1]+2])
	}
}

// ahead starts to read the rows of the entries of v, if they are in a file.
func (r *rows) ahead(v lgcVector) {
	for i := range v.All() {
		lo, hi := r.Ptr[i], r.Ptr[i+1]
		if !r.read[int32(i)] && 0 <= lo && lo <= hi && hi <= int64(len(r.Idx)) {
			mapped.Ahead(r.Idx[lo:hi])
		}
	}
}

// check checks the rows of the entries of v that were not read yet.
func (r *rows) check(v lgcVector) error {
	r.ahead(v)
	for i := range v.All() {
		if r.read[int32(i)] {
			continue
		}
		lo, hi := r.Ptr[i], r.Ptr[i+1]
		if lo < 0 || hi < lo || hi > int64(len(r.Idx)) {
			return r.damaged(i, "outside the file")
		}
		last := int32(-1)
		for _, w := range r.Idx[lo:hi] {
			switch {
			case w <= last || int(w) >= r.NCols:
				return r.damaged(i, fmt.Sprintf("out of order: column %d after %d", w, last))
			case int(w) == i:
				return r.damaged(i, "one with a self-loop")
			}
			last = w
		}
		r.read[int32(i)] = true
	}
	return nil
}

// undirected returns a *ParameterError if an edge between rows that were read lacks its reverse.
func (r *rows) undirected() error {
	for v := range r.read {
		for _, w := range r.Idx[r.Ptr[v]:r.Ptr[v+1]] {
			if !r.read[w] {
				continue
			}
			if _, back := slices.BinarySearch(r.Idx[r.Ptr[w]:r.Ptr[w+1]], v); !back {
				return workflow.AboutVertices("LocalCluster", "the graph", "directed: there is an edge from {0} to {1} and none back",
					"undirected; graphio.Symmetrise reads it so", int(v), int(w))
			}
		}
	}
	return nil
}
