package apps

import (
	"cmp"

	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// VertexNominationOptions are the settings of VertexNomination.
type VertexNominationOptions[T semiring.Number] struct {
	Run
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
// [SSSP]. Zero weights are edges; negative ones and NaN are a *WeightError. [Rank] orders the
// result. For an undirected graph give a symmetric matrix.
//
// HIVE workflow "vertex nomination": Gunrock HIVE report, 2018, ch. 12.
func VertexNomination[T semiring.Number](g matrix.Source[T], seeds []int, opts ...VertexNominationOptions[T]) (*matrix.Vector[T], error) {
	o, err := only("VertexNomination", opts)
	if err != nil {
		return nil, err
	}
	n, err := square("VertexNomination", g)
	if err != nil {
		return nil, err
	}
	if len(seeds) == 0 {
		return nil, &ParameterError{"VertexNomination", "the list of seeds", "empty", "at least one vertex"}
	}
	for _, v := range seeds {
		if err := vertex("VertexNomination", "seed", v, n); err != nil {
			return nil, err
		}
	}
	if !o.Unit {
		return SSSP(g, seeds, SSSPOptions[T]{Run: o.Run, Delta: o.Delta})
	}
	return hopsFrom[T](matrix.AsView[bool](matrix.AsView[T](g).Pattern()), n, seeds, o.Run)
}

// hopsFrom counts edges from the nearest of the seeds, in the form that the run chooses.
func hopsFrom[T semiring.Number](a matrix.View[bool], n int, seeds []int, run Run) (*matrix.Vector[T], error) {
	if w := run.byRows("VertexNomination", a.Place()); w != nil {
		return rowsHops[T](w, a, n, seeds, run)
	}
	at, err := run.fused("VertexNomination", a.Place())
	if err != nil {
		return nil, err
	}
	if at != nil {
		return fusedHops[T](at, a, n, seeds, run)
	}
	here := matrix.On(a.Place())
	dist := matrix.NewVector[T](n, here)
	frontier := matrix.NewVector[bool](n, here)
	var s ops.Steps
	s.Do(keepBitmap(dist, run.with()))
	for _, v := range seeds {
		s.Do(frontier.Set(v, true))
	}
	far := dist.Structure().Not()
	for hops := T(0); s.NVals(frontier) > 0; hops++ {
		run.report("vertex nomination", dist.NVals(), int64(n))
		s.Do(ops.AssignVectorScalar(dist.Masked(frontier.Structure()), hops, ops.All(), run.with()))
		s.Do(ops.VxM(frontier.Masked(far).Replace(), semiring.AnyPair[bool](), frontier.Pattern(), a, run.with()))
		if s.NVals(frontier) > 0 && hops+1 <= hops {
			return nil, tooManyHops(int64(hops))
		}
	}
	if !s.OK() {
		return nil, s.Err()
	}
	return dist, nil
}

// tooManyHops is the error of an element type that cannot count beyond most.
func tooManyHops(most int64) error {
	return &matrix.SizeError{Op: "VertexNomination", Arg: "number of hops", Got: most + 1, Limit: most}
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
