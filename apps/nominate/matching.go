package nominate

import (
	"fmt"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/apps/sgm"
	"github.com/hiveblas/hiveblas/internal/splitmix"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// NominateByMatchingOptions are the settings of NominateByMatching.
type NominateByMatchingOptions struct {
	// SGMOptions are the settings of each matching. Start must be AutoStart, and From nil.
	sgm.SGMOptions
	Restarts int // matchings; 0 means 16
}

// NominateByMatching ranks the vertices of b by how likely they are to correspond to the vertices
// of interest of a, given pairs of vertices that correspond. It matches the graphs Restarts times,
// the first time by the usual starts of SGM, then from random starts by the numbers of Seed. The
// score of a vertex w of b is the mean over the matchings and the vertices of interest v of
//
//	½·[w is matched with v] + ½·2c/(d(v) + d(w))
//
// where c is the number of entries of v's row in a that the matching takes to entries of w's row in
// b, and d the number of entries of a row: how often, and how strongly w is matched. The first term
// is vertex nomination by seeded matching of Patsolic, Park, Lyzinski, Priebe, "Vertex nomination
// via seeded graph matching", Statistical Analysis and Data Mining 13(3), 2020; the second ranks
// vertices that no restart matches. A matching without a disagreement is the last: no other is
// better.
//
// The vectors of the result have an entry for each vertex of b that is in no seed: Context is the
// first term, Content the second, from 0 to 1.
//
// Errors: the errors of sgm.SGM; *workflow.ParameterError for no vertex of interest, a vertex of
// interest that is a seed, and options; *matrix.IndexError for a vertex that is not in a. It takes
// the time of the matchings, and of the entries in the rows around the vertices of interest.
func NominateByMatching[T semiring.Float](a, b matrix.Source[T], interest []int, seeds []sgm.SeedPair, opts ...NominateByMatchingOptions) (*Nominations, error) {
	return byMatching(workflow.Pattern(a), workflow.Pattern(b), interest, seeds, opts, func(o sgm.SGMOptions) (*sgm.SGMResult, error) {
		return sgm.SGM(a, b, seeds, o)
	})
}

func byMatching(a, b *matrix.View[bool], interest []int, seeds []sgm.SeedPair, opts []NominateByMatchingOptions, match func(sgm.SGMOptions) (*sgm.SGMResult, error)) (*Nominations, error) {
	const app = "NominateByMatching"
	o, err := workflow.OnlyPipeline(app, opts)
	if err != nil {
		return nil, err
	}
	if o.Restarts == 0 {
		o.Restarts = 16
	}
	switch {
	case o.Restarts < 0:
		return nil, &workflow.ParameterError{App: app, Arg: "the number of restarts", Got: fmt.Sprint(o.Restarts), Want: "0 or more"}
	case o.Start != sgm.AutoStart || o.From != nil:
		return nil, &workflow.ParameterError{App: app, Arg: "the start", Got: "given", Want: "AutoStart without From"}
	}
	isSeed, err := nominable(a, b, interest, seeds)
	if err != nil {
		return nil, err
	}
	m := len(isSeed)
	workflow.Announce(o.Run, app, "seeded graph matching")
	all := matrix.NewVector[float64](m, matrix.On(b.Place()))
	if err := ops.AssignVectorScalar(all, 1, ops.All(), workflow.With(o.Run)); err != nil {
		return nil, err
	}
	degree, err := product(b, all, workflow.With(o.Run))
	if err != nil {
		return nil, err
	}
	often, strong := make([]float64, m), make([]float64, m)
	quiet := o.SGMOptions
	quiet.Progress = nil
	runs := 0
	for ; runs < o.Restarts; runs++ {
		workflow.Report(o.Run, "nominate", int64(runs), int64(o.Restarts))
		if runs > 0 {
			quiet.Start, quiet.Searches, quiet.Seed = sgm.RandomStart, -1, splitmix.At(uint64(runs), o.Seed)
		}
		res, err := match(quiet)
		if err != nil {
			return nil, err
		}
		if err := count(a, b, interest, res.Match, degree, often, strong, o.Run); err != nil {
			return nil, err
		}
		if res.After == 0 {
			runs++
			break
		}
	}
	workflow.Report(o.Run, "nominate", int64(o.Restarts), int64(o.Restarts))
	score := make([]float64, m)
	for w := range score {
		often[w] /= float64(runs * len(interest))
		strong[w] /= float64(runs * len(interest))
		score[w] = (often[w] + strong[w]) / 2
	}
	return nominations(isSeed, score, often, strong, b.Place(), o.Run)
}

// nominable checks the graphs and the vertices of interest, and returns which vertices of b are in
// a seed.
func nominable(a, b *matrix.View[bool], interest []int, seeds []sgm.SeedPair) ([]bool, error) {
	const app = "NominateByMatching"
	n, err := workflow.Square(app, a)
	if err != nil {
		return nil, err
	}
	m, err := workflow.Square(app, b)
	if err != nil {
		return nil, err
	}
	if _, err := marked(app, interest, n); err != nil {
		return nil, err
	}
	isSeed := make([]bool, m)
	of := map[int]bool{}
	for _, s := range seeds {
		if s.B >= 0 && s.B < m {
			isSeed[s.B] = true
		}
		of[s.A] = true
	}
	for _, v := range interest {
		if of[v] {
			return nil, workflow.AboutVertices(app, "the vertex of interest {0}", "a seed", "a vertex without a known partner", v)
		}
	}
	return isSeed, nil
}

// count adds, for each vertex of b, how often it is matched with a vertex of interest, and how much
// of the rows of both agrees: 2c over the sum of degrees, where c = B +.pair (P·(1ᵥ +.pair A)).
func count(a, b *matrix.View[bool], interest []int, match *matrix.Vector[int32], degree, often, strong []float64, run workflow.Run) error {
	with := workflow.With(run)
	n, _ := a.Dims()
	for _, v := range interest {
		if w, ok := match.At(v); ok {
			often[w]++
		}
		var s ops.Steps
		start, row := matrix.NewVector[float64](n, matrix.On(a.Place())), matrix.NewVector[float64](n, matrix.On(a.Place()))
		s.Do(start.Set(v, 1))
		s.Do(ops.VxM(row, semiring.PlusPair[float64](), start.Pattern(), a, with))
		if s.OK() {
			s.Do(row.Fetch())
		}
		if !s.OK() {
			return s.Err()
		}
		around := matrix.NewVectorBuilder[float64](len(degree))
		for u := range row.All() {
			if w, ok := match.At(u); ok {
				around.Add(int(w), 1)
			}
		}
		partners, err := around.Build(nil)
		if err != nil {
			return err
		}
		if err := partners.Move(b.Place()); err != nil {
			return err
		}
		common, err := product(b, partners, with)
		if err != nil {
			return err
		}
		for w, c := range common {
			if c > 0 {
				strong[w] += 2 * c / (float64(row.NVals()) + degree[w])
			}
		}
	}
	return nil
}

// product returns B +.pair x in full.
func product(b *matrix.View[bool], x *matrix.Vector[float64], with ops.Option) ([]float64, error) {
	y := matrix.NewVector[float64](x.Size(), matrix.On(b.Place()))
	if err := ops.MxV(y, semiring.PlusPair[float64](), b, x.Pattern(), with); err != nil {
		return nil, err
	}
	if err := y.Fetch(); err != nil {
		return nil, err
	}
	return y.Dense(0)
}
