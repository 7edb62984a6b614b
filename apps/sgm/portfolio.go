package sgm

import (
	"math"
	"time"

	"github.com/hiveblas/hiveblas/internal/splitmix"
	"github.com/hiveblas/hiveblas/semiring"
)

// A plan says where a search starts, and how.
type plan struct {
	start SGMStart
	from  []int32    // a matching of positions to start from, or nil
	pairs []SeedPair // further pairs of the start
	seed  uint64
	dense bool    // the barycentre is written out
	bare  bool    // Â is 2A, without the +I
	equal bool    // steps ignore weights
	away  float64 // how far P is moved from the start to a random matching
}

const (
	// A search that leaves less than one disagreement in nearlyPart of those before is followed by
	// restarts searches that differ from it little; see next.
	restarts   = 3
	nearlyPart = 256
	// denseLimit is the number of vertices up to which the barycentre may be written out.
	denseLimit = 2048
	// Up to smallSearches follow while their work is below smallWork.
	smallSearches = 16
	smallWork     = 1 << 24
	// usualSearches is the work of all further searches over the work of the first.
	usualSearches = 2
)

// first is the plan of the first search.
func (p *candidates) first() (plan, error) {
	t, err := p.given()
	pl := p.usual(p.opts.Seed)
	pl.from = t
	return pl, err
}

// usual is the plan of a search from the start that the options name.
func (p *candidates) usual(seed uint64) plan {
	switch p.opts.Start {
	case AutoStart:
		return plan{start: SparseStart, seed: seed}
	case RandomStart:
		return plan{start: Barycentre, seed: seed, away: .5}
	}
	return plan{start: p.opts.Start, seed: seed}
}

// next is the plan of search k > 0, given the best result so far; ok is false if there is none.
func (p *candidates) next(k int, nearly bool) (pl plan, ok bool) {
	again := p.usual(splitmix.Mix(p.opts.Seed + uint64(k)))
	switch {
	case nearly && p.opts.Start == AutoStart && k == 2 && !p.seeded():
		again.start = Barycentre
		return again, true
	case nearly && k <= restarts:
		// The host breaks ties in one way, so that the same start gives the same steps.
		again.bare = k%2 == 1
		return again, true
	case p.opts.Start != AutoStart:
		return again, false
	case nearly:
		k -= restarts
	}
	if p.opts.From != nil {
		if k--; k == 0 {
			again.start = SparseStart
			return again, true
		}
	}
	if p.seeded() {
		return again, false
	}
	again.start = Barycentre
	small := p.n <= denseLimit
	switch {
	case k < 1:
		return again, false
	case k == 1:
	case k == 2 && small:
		again.dense, again.bare = true, true
	case k == 3 && small:
		again.dense = true
	default:
		again.dense, again.bare = small, small && k%2 == 0
		again.away = []float64{.5, .25, .75, .125}[k/2%4]
	}
	return again, true
}

// seeded reports whether all vertices are seeds, so that all starts are the same.
func (p *candidates) seeded() bool { return len(p.seeds) >= min(p.realA, p.realB) }

// portfolio looks for a matching by refinement, and if that leaves disagreements, by searches.
func (p *pairing[T]) portfolio(res *SGMResult) error {
	if p.opts.Start != AutoStart {
		return p.search(res, nil)
	}
	if _, err := p.given(); err != nil {
		return err
	}
	exact, refined, err := p.refined()
	if err != nil {
		return err
	}
	if exact != nil {
		return p.solved(exact, res)
	}
	return p.search(res, func() ([]*plan, error) {
		grown, err := p.grown()
		return append(grown, refined), err
	})
}

// solved stores a matching without a disagreement.
func (p *pairing[T]) solved(t []int32, res *SGMResult) (err error) {
	clock := time.Now()
	if res.Before, err = p.before(); err != nil {
		return err
	}
	if res.After, err = p.cost(t); err != nil {
		return err
	}
	res.Searches, res.Converged = 1, true
	res.PeakBytes = 2 * (bytesOf(p.a) + bytesOf(p.b)) // with the words
	res.Project += lap(&clock)
	return p.conclude(t, res)
}

// search searches from one start after the other, repairs the best matching and stores it in the
// result. further, which may be nil, returns plans to follow the first search, nil for none.
func (p *pairing[T]) search(res *SGMResult, further func() ([]*plan, error)) error {
	pl, err := p.first()
	if err != nil {
		return err
	}
	f, err := newSearch(p, pl)
	if err != nil {
		return err
	}
	t, err := f.run(res)
	if err != nil {
		return err
	}
	res.Searches = 1
	best, all, first := f, f.done(), f.work
	agreed, more := false, int64(0) // agreed: two starts end with as many disagreements
	if further != nil && res.After > 0 && p.opts.Searches >= 0 {
		plans, err := further()
		if err != nil {
			return err
		}
		for _, pl := range plans {
			if pl == nil || res.After == 0 || agreed && pl.from != nil {
				continue
			}
			if f, err = newSearch(p, *pl); err != nil {
				return err
			}
			f.earlier = all
			other := &SGMResult{}
			found, err := f.run(other)
			if err != nil {
				return err
			}
			all, agreed, more = f.done(), agreed || other.After == res.After, more+f.work+f.mending
			if res.better(other, res.Searches) {
				t, best = found, f
			}
		}
	}
	allowed := max(p.allowed(p.opts.Searches, usualSearches, first), 0)
	for k, spent := 1, int64(0); res.After > 0 && p.opts.Searches >= 0 && !(agreed && more >= smallWork); k++ {
		if spent >= max(allowed, smallWork) || spent >= allowed && k > smallSearches {
			break
		}
		pl, ok := p.next(k, res.nearly())
		if !ok {
			break
		}
		q := *p
		q.opts.Seed = pl.seed
		if f, err = newSearch(&q, pl); err != nil {
			return err
		}
		f.earlier = all
		other := &SGMResult{}
		found, err := f.run(other)
		if err != nil {
			return err
		}
		spent, all = spent+f.work+f.mending, f.done()
		same := other.After == res.After && pl.start == Barycentre
		if res.better(other, res.Searches) {
			t, best = found, f
		}
		if same && spent >= smallWork {
			break
		}
	}
	best.earlier = effort{all.searches - 1, all.work - best.work, all.mending - best.mending}
	if t, err = best.finish(t, res); err != nil {
		return err
	}
	res.effort = best.done()
	res.PeakBytes = max(res.PeakBytes, best.peak)
	return p.conclude(t, res)
}

// finish repairs the best matching for long. As long as that removes an eighth of the
// disagreements, it climbs from the result and repairs again.
func (f *relaxation[T]) finish(t []int32, res *SGMResult) ([]int32, error) {
	for res.After > 0 && f.repairs() && f.left(1) > 0 {
		clock := time.Now()
		before := res.After
		var err error
		if t, res.After, err = f.repair(t, repairs, f.left(1)); err != nil {
			return nil, err
		}
		res.Project += lap(&clock)
		if !(res.After < before*7/8) || res.After == 0 {
			break
		}
		if err := f.enter(t); err != nil {
			return nil, err
		}
		more := &SGMResult{}
		best, err := f.climb(more)
		if err != nil {
			return nil, err
		}
		for _, it := range more.Iterations {
			it.SearchNumber = res.Searches - 1
			res.Iterations = append(res.Iterations, it)
		}
		clock = time.Now()
		next, err := f.project(best)
		if err != nil {
			return nil, err
		}
		after, err := f.cost(next)
		if err != nil {
			return nil, err
		}
		if after <= res.After {
			t, res.After = next, after
		}
		res.Project += lap(&clock)
	}
	return t, nil
}

// allowed returns a multiple of some work; 0 means the usual one.
func (p *candidates) allowed(multiple, usual float64, work int64) int64 {
	if multiple == 0 {
		multiple = usual
	}
	if x := multiple * float64(work); x < math.MaxInt64 {
		return int64(x)
	}
	return math.MaxInt64
}

func (r *SGMResult) nearly() bool { return r.After > 0 && r.After*nearlyPart <= r.Before }

// better adds search k to the result, and reports whether it is the best so far.
func (r *SGMResult) better(other *SGMResult, k int) bool {
	for _, it := range other.Iterations {
		it.SearchNumber = k
		r.Iterations = append(r.Iterations, it)
	}
	r.Searches++
	r.PeakBytes = max(r.PeakBytes, other.PeakBytes)
	r.Project += other.Project
	if other.After >= r.After {
		return false
	}
	r.After, r.Converged = other.After, other.Converged
	return true
}

// run climbs, projects P to a matching and repairs that for a while. As long as a round removes an
// eighth of the disagreements of the round before, the next one climbs from its matching.
func (f *relaxation[T]) run(res *SGMResult) (t []int32, err error) {
	for round := 0; ; round++ {
		best, err := f.climb(res)
		if err != nil {
			return nil, err
		}
		clock := time.Now()
		next, err := f.project(best)
		if err != nil {
			return nil, err
		}
		after, err := f.cost(next)
		if err != nil {
			return nil, err
		}
		if limit := f.left(2); after > 0 && f.repairs() && limit > 0 {
			if next, after, err = f.repair(next, fewRepairs, limit); err != nil {
				return nil, err
			}
		}
		before := res.After
		if t == nil || after < res.After {
			t, res.After = next, after
		}
		res.Project += lap(&clock)
		again := round == 0 && f.early || round > 0 && after < before*7/8
		if !again || after == 0 || len(res.Iterations) >= f.opts.MaxIterations {
			break
		}
		if err := f.enter(t); err != nil {
			return nil, err
		}
		res.Converged = false
	}
	clock := time.Now()
	res.Before, err = f.before()
	res.PeakBytes = max(res.PeakBytes, f.peak)
	res.Project += lap(&clock)
	return t, err
}

// An effort is the work of searches, in entries: of their steps, and of the repairs between and
// after them.
type effort struct {
	searches      int
	work, mending int64
}

// done is the effort of this search and of the searches before it.
func (f *relaxation[T]) done() effort {
	return effort{f.earlier.searches + 1, f.earlier.work + f.work, f.earlier.mending + f.mending}
}

// left returns the work that repairs may do now: they may take as much as the steps of all searches
// so far, times Repair, less what they have taken. Repairs between searches get half of it, so that
// the last repair, of the best matching, has the other half. Without a common account repairs read
// more than twice the entries of the steps (ca-GrQc permuted, 1049 seeds).
func (f *relaxation[T]) left(share int64) int64 {
	all := f.done()
	allowed := f.allowed(f.opts.Repair, 1, all.work) / share
	return max(allowed, int64(all.searches)*f.small) - all.mending
}

// repairs reports whether matchings are repaired. The repair counts the edges of padding, so that
// adopted padding goes without.
func (f *relaxation[T]) repairs() bool { return f.opts.Repair >= 0 && !f.adopts() }

// smallRepair is the work that repairs may do for any search, about a tenth of a second.
const smallRepair = 1 << 25

// newSearch puts a relaxation at the start of a plan.
func newSearch[T semiring.Float](p *pairing[T], pl plan) (*relaxation[T], error) {
	q := *p
	q.opts.Start, q.opts.Seed = pl.start, pl.seed
	q.adopt(pl.pairs)
	f := &relaxation[T]{pairing: &q, loop: 1, equal: pl.equal}
	if pl.bare {
		f.loop = 0
	}
	for _, step := range []func() error{f.encode, f.orient, f.begin} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	if pl.from != nil {
		return f, f.enter(pl.from)
	}
	if pl.dense && f.spread != nil {
		if err := f.writeOut(); err != nil {
			return nil, err
		}
	}
	if pl.away > 0 {
		return f, f.stray(pl.away)
	}
	return f, nil
}
