package paths

import (
	"cmp"
	"reflect"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// VertexNominationOptions are the settings of VertexNomination.
type VertexNominationOptions[T semiring.Number] struct {
	workflow.Run
	Unit  bool // count edges instead of adding up weights
	Delta T    // see SSSPOptions
}

// Nomination is a vertex and its distance to the nearest seed.
type Nomination[T semiring.Number] struct {
	Vertex   int
	Distance T
}

// VertexNomination returns the distance of every vertex to the nearest seed,
// with edges followed from row to column: the seeds are the sources of one
// search for shortest paths over min.plus,
//
//	d = min over seeds s, paths s→v, of the sum of the weights
//
// Vertices that no seed reaches have no entry. Weights and distances too large for T are as in
// [SSSP]. Zero weights are edges. VertexNomination returns a *WeightError if a weight is negative
// or NaN. [Rank] orders the result. For an undirected graph give a symmetric matrix.
//
// HIVE workflow "vertex nomination": Gunrock HIVE report, 2018, ch. 12.
func VertexNomination[T semiring.Number](g matrix.Source[T], seeds []int, opts ...VertexNominationOptions[T]) (*matrix.Vector[T], error) {
	o, err := workflow.Only("VertexNomination", opts)
	if err != nil {
		return nil, err
	}
	if o.Unit {
		d, err := unitDistances(workflow.Pattern(g), sparse.TypeOf[T](), seeds, o.Run)
		return access.VectorAs[T](d), err
	}
	if _, err := nominating(workflow.Pattern(g), seeds); err != nil {
		return nil, err
	}
	return SSSP(g, seeds, SSSPOptions[T]{Run: o.Run, Delta: o.Delta})
}

// nominating checks the graph and the seeds, and returns the vertices of the graph.
func nominating(g *matrix.View[bool], seeds []int) (n int, err error) {
	if n, err = workflow.Square("VertexNomination", g); err != nil {
		return 0, err
	}
	if len(seeds) == 0 {
		return 0, &workflow.ParameterError{App: "VertexNomination", Arg: "the list of seeds", Got: "empty", Want: "at least one vertex"}
	}
	for _, v := range seeds {
		if err := workflow.Vertex("VertexNomination", "seed", v, n); err != nil {
			return 0, err
		}
	}
	return n, nil
}

// unitDistances is VertexNomination by numbers of edges. The distances have the built-in type below
// t.
func unitDistances(g *matrix.View[bool], t *sparse.Type, seeds []int, run workflow.Run) (rep.View, error) {
	n, err := nominating(g, seeds)
	if err != nil {
		return rep.View{}, err
	}
	hops, deepest, err := hopsFrom(g, n, seeds, run)
	if err != nil {
		return rep.View{}, err
	}
	switch sparse.GoType(t.Under()).Kind() {
	case reflect.Int8:
		return hopsAs[int8](hops, deepest, run)
	case reflect.Int16:
		return hopsAs[int16](hops, deepest, run)
	case reflect.Int64:
		return hopsAs[int64](hops, deepest, run)
	case reflect.Uint8:
		return hopsAs[uint8](hops, deepest, run)
	case reflect.Uint16:
		return hopsAs[uint16](hops, deepest, run)
	case reflect.Uint32:
		return hopsAs[uint32](hops, deepest, run)
	case reflect.Uint64:
		return hopsAs[uint64](hops, deepest, run)
	case reflect.Float32:
		return hopsAs[float32](hops, deepest, run)
	case reflect.Float64:
		return hopsAs[float64](hops, deepest, run)
	}
	return hops.Inside(), nil // int32
}

// hopsAs returns numbers of hops as numbers of type T; the largest is deepest.
func hopsAs[T semiring.Number](hops *matrix.Vector[int32], deepest int64, run workflow.Run) (rep.View, error) {
	if most := workflow.LargestCount[T](); deepest > most {
		return rep.View{}, &matrix.SizeError{Op: "VertexNomination", Arg: "number of hops", Got: most + 1, Limit: most}
	}
	d := matrix.NewVector[T](hops.Size(), matrix.On(hops.Place()))
	err := ops.Apply(d, semiring.Convert[int32, T](), hops, workflow.With(run))
	if err == nil && hops.Inside().Pinned() {
		err = d.SetFormat(hops.Format())
	}
	return d.Inside(), err
}

// hopsFrom counts edges from the nearest of the seeds, in the form that the run chooses, and
// returns the largest number too.
func hopsFrom(a *matrix.View[bool], n int, seeds []int, run workflow.Run) (dist *matrix.Vector[int32], deepest int64, err error) {
	form, err := workflow.Choose(run, "VertexNomination", a.Place())
	switch {
	case err != nil:
		return nil, 0, err
	case form.Rows != nil:
		return rowsHops(form.Rows, a, n, seeds, run)
	case form.Device != nil:
		return fusedHops(form.Device, a, n, seeds, run)
	}
	workflow.Announce(run, "VertexNomination", byDirection)
	here := matrix.On(a.Place())
	dist = matrix.NewVector[int32](n, here)
	frontier := matrix.NewVector[bool](n, here)
	var s ops.Steps
	s.Do(workflow.KeepBitmap(dist, workflow.With(run)))
	for _, v := range seeds {
		s.Do(frontier.Set(v, true))
	}
	far := dist.Structure().Not()
	for hops := int32(0); s.NVals(frontier) > 0; hops++ {
		deepest = int64(hops)
		workflow.Report(run, "vertex nomination", dist.NVals(), int64(n))
		s.Do(ops.AssignVectorScalar(dist.Masked(frontier.Structure()), hops, ops.All(), workflow.With(run)))
		s.Do(ops.VxM(frontier.Masked(far).Replace(), semiring.AnyPair[bool](), frontier.Pattern(), a, workflow.With(run)))
	}
	if !s.OK() {
		return nil, 0, s.Err()
	}
	return dist, deepest, nil
}

// Rank lists the vertices of d by distance, nearest first, ties by number.
func Rank[T semiring.Number](d *matrix.Vector[T]) []Nomination[T] {
	if d == nil {
		return nil
	}
	list := make([]Nomination[T], 0, d.NVals())
	for v, x := range d.All() {
		list = append(list, Nomination[T]{v, x})
	}
	parallel.SortStable(0, list, func(a, b Nomination[T]) int { return cmp.Compare(a.Distance, b.Distance) })
	return list
}
