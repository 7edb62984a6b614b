package apps

import (
	"math"
	"time"

	"github.com/hiveblas/hiveblas/internal/splitmix"
	"github.com/hiveblas/hiveblas/semiring"
)

// A plan says where a search starts, and how.
type plan struct {
	start SGMStart
	from  []int32 // a matching of positions to start from, or nil
	seed  uint64
	dense bool    // the barycentre is written out
	bare  bool    // Â is 2A, without the +I
	away  float64 // how far P is moved from the start to a random matching
}

const (
	// A search that leaves less than one disagreement in nearlyPart of those before is repeated with
	// ties broken in other ways, up to restarts times.
	restarts   = 3
	nearlyPart = 256
	// denseLimit is the number of vertices up to which the barycentre may be written out.
	denseLimit = 2048
	// Up to smallSearches follow while their work is below smallWork.
	smallSearches = 16
	smallWork     = 1 << 24
	// usualSearches is the work of all further searches over that of the first.
	usualSearches = 1
)

// first is the plan of the first search.
func (p *pairing[T]) first() (plan, error) {
	t, err := p.given()
	pl := plan{start: p.opts.Start, from: t, seed: p.opts.Seed}
	if pl.start == AutoStart {
		pl.start = SparseStart
	}
	return pl, err
}

// next is the plan of search k > 0, given the best result so far; ok is false if there is none.
func (p *pairing[T]) next(k int, nearly bool) (pl plan, ok bool) {
	again := plan{start: p.opts.Start, seed: splitmix.Mix(p.opts.Seed + uint64(k))}
	switch {
	case p.opts.Start != AutoStart:
		return again, nearly && k <= restarts
	case nearly && k <= restarts && p.opts.From == nil:
		again.start = SparseStart
		return again, true
	case nearly:
		k -= restarts
	}
	if p.opts.From != nil {
		if k--; k == 0 {
			again.start = SparseStart
			return again, true
		}
	}
	if len(p.seeds) >= min(p.realA, p.realB) {
		return again, false // all starts are the same
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

// portfolio searches from one start after the other, repairs the best matching and writes it down.
func (p *pairing[T]) portfolio(res *SGMResult) error {
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
	best, climbing := f, f.work
	allowed := max(p.allowed(p.opts.Searches, usualSearches, f.work), 0)
	for k, spent := 1, int64(0); res.After > 0 && p.opts.Searches >= 0; k++ {
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
		other := &SGMResult{}
		found, err := f.run(other)
		if err != nil {
			return err
		}
		spent, climbing = spent+f.work+f.mending, climbing+f.work
		same := other.After == res.After && pl.start == Barycentre
		if res.better(other, k) {
			t, best = found, f
		}
		if same && spent >= smallWork {
			break
		}
	}
	if res.After > 0 && p.opts.Repair >= 0 {
		clock := time.Now()
		if t, res.After, err = best.repair(t, repairs, max(p.allowed(p.opts.Repair, 1, climbing), smallRepair)); err != nil {
			return err
		}
		res.Project += lap(&clock)
	}
	return best.conclude(t, res)
}

// allowed returns a multiple of some work; 0 means the usual one.
func (p *pairing[T]) allowed(multiple, usual float64, work int64) int64 {
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

// run climbs, projects P to a matching and repairs that for a while. As long as a round leaves no
// more than half of the disagreements of the round before, the next one climbs from its matching.
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
		after, err := f.disagreements(next)
		if err != nil {
			return nil, err
		}
		if after > 0 && f.opts.Repair >= 0 {
			limit := max(f.allowed(f.opts.Repair, 1, f.work)-f.mending, smallRepair)
			if next, after, err = f.repair(next, fewRepairs, limit); err != nil {
				return nil, err
			}
		}
		before := res.After
		if t == nil || after < res.After {
			t, res.After = next, after
		}
		res.Project += lap(&clock)
		again := round == 0 && f.early || round > 0 && after <= before/2
		if !again || after == 0 || len(res.Iterations) >= f.opts.MaxIterations {
			break
		}
		if err := f.enter(t); err != nil {
			return nil, err
		}
		res.Converged = false
	}
	clock := time.Now()
	res.Before, err = f.distance(f.a, f.b)
	res.PeakBytes = max(res.PeakBytes, f.peak)
	res.Project += lap(&clock)
	return t, err
}

// smallRepair is the work that a repair may do whatever the search before it did, some milliseconds.
const smallRepair = 1 << 20

// newSearch puts a relaxation at the start of a plan.
func newSearch[T semiring.Float](p *pairing[T], pl plan) (*relaxation[T], error) {
	q := *p
	q.opts.Start, q.opts.Seed = pl.start, pl.seed
	f := &relaxation[T]{pairing: &q, sums: sums[T]{p.a.Place(), p.opts.with()}, loop: 1}
	if pl.bare {
		f.loop = 0
	}
	for _, step := range []func() error{f.encode, f.compare, f.orient, f.begin} {
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
