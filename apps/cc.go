package apps

import (
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// ComponentsOptions are the settings of ConnectedComponents.
type ComponentsOptions struct{ Run }

// Components is a partition of the vertices into connected components.
type Components struct {
	Label   *matrix.Vector[int32] // the least vertex of each vertex's component
	Count   int
	Largest int64 // vertices of the largest one
}

// ConnectedComponents returns the connected components of g; of a directed
// graph the weakly connected ones.
//
// FastSV (Zhang, Azad, Hu: FastSV, PP 2020): every vertex has a parent, and
// each round hooks trees to smaller ones through edges (min.second over A),
// hooks parents, and shortens by following grandparents:
//
//	m = A min.second gp;  p(p) min= m;  p min= m, gp;  gp = p(p)
//
// until no grandparent changes. O(edges · log vertices) in practice. The host hooks parents and
// follows grandparents. The fused form hooks trees edge by edge instead (Sutton, Ben-Nun, Barak,
// IPDPS 2018).
func ConnectedComponents[T comparable](g matrix.Source[T], opts ...ComponentsOptions) (*Components, error) {
	o, err := only("ConnectedComponents", opts)
	if err != nil {
		return nil, err
	}
	n, err := square("ConnectedComponents", g)
	if err != nil {
		return nil, err
	}
	a := g.View().Pattern()
	at, err := o.fused("ConnectedComponents", a.Place())
	if err != nil {
		return nil, err
	}
	if at != nil {
		return fusedComponents(at, a, n, o)
	}
	undirected := a.Symmetric() || a.Place() == nil && symmetric(a)
	ids := make([]int32, n)
	for i := range ids {
		ids[i] = int32(i)
	}
	parent, err := matrix.VectorOf(ids)
	if err != nil {
		return nil, err
	}
	gp, least, low := parent.Clone(), parent.Clone(), semiring.Min[int32]()
	with := o.with()
	var s ops.Steps
	s.Do(least.Move(a.Place()))
	for changed := n > 0; changed && s.OK(); {
		o.report("connected components", 0, 0)
		s.Do(ops.MxV(least.Accum(low), semiring.MinSecond[int32](), a, gp, with))
		if !undirected {
			s.Do(ops.VxM(least.Accum(low), semiring.MinFirst[int32](), gp, a, with))
		}
		s.Do(hook(parent, least))
		s.Do(ops.EWiseAdd(parent, low, parent, least, with))
		s.Do(ops.EWiseAdd(parent, low, parent, gp, with))
		next := matrix.NewVector[int32](n)
		s.Do(ops.ExtractVector(next, parent, indicesOf(parent), with))
		changed = !next.Equal(gp)
		gp = next
		s.Do(ops.Apply(least, semiring.Identity[int32](), gp, with))
	}
	if !s.OK() {
		return nil, s.Err()
	}
	c := countLabels(parent)
	return c, c.Label.Move(a.Place())
}

// hook does parent(parent(v)) min= least(v), with the minimum over all v. As an assignment it would
// repeat positions, which GraphBLAS leaves undefined.
func hook(parent, least *matrix.Vector[int32]) error {
	p, m := parent.Store().Val, least.Store().Val
	best := append([]int32(nil), p...)
	for v, to := range p {
		best[to] = min(best[to], m[v])
	}
	v, err := matrix.VectorOf(best)
	if err == nil {
		parent.SetStore(v.Store())
	}
	return err
}

func indicesOf(v *matrix.Vector[int32]) ops.Indices {
	list := make([]int, 0, v.NVals())
	for _, i := range v.All() {
		list = append(list, int(i))
	}
	return ops.Of(list...)
}

func countLabels(parent *matrix.Vector[int32]) *Components {
	size := make([]int64, parent.Size())
	c := &Components{Label: parent}
	for _, r := range parent.All() {
		if size[r] == 0 {
			c.Count++
		}
		size[r]++
		c.Largest = max(c.Largest, size[r])
	}
	return c
}

// symmetric reports whether the structure of a view is symmetric, and finds out if that is unknown.
func symmetric[T comparable](v matrix.View[T]) bool {
	rows, cols := &v.Rows().Structure, &v.Cols().Structure
	return rows.SameAs(cols)
}
