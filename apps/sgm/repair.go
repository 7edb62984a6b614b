package sgm

import (
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/matching"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// A repair ends after a number of attempts in vain: fewer where another search may follow.
const (
	repairs    = 480
	fewRepairs = 48
	repairCost = 3 // of an entry that a repair reads, in entries of a step
)

// repair improves a matching by local search on the host until patience attempts in a row are in
// vain or its work exceeds a limit, whichever is first. It returns the matching and its
// disagreements.
func (f *relaxation[T]) repair(t []int32, patience int, limit int64) ([]int32, float64, error) {
	var s ops.Steps
	host := func(a *matrix.View[T]) *matrix.View[T] {
		if f.place == nil || !s.OK() {
			return a
		}
		copied := f.matrix(f.n, f.n)
		s.Do(ops.Apply(copied, semiring.Identity[T](), a, f.with))
		s.Do(copied.Move(nil))
		return copied.View()
	}
	a, b := host(f.a), host(f.b)
	if !s.OK() {
		return t, 0, s.Err()
	}
	entries := limit / repairCost
	if limit%repairCost > 0 {
		entries++
	}
	found, err := matching.Improve(matching.Problem[T]{
		A: a, B: b, Symmetric: f.symmetric, Free: f.rows, Ends: f.ends,
		Unit: f.unit, Seed: f.opts.Seed, Assignment: f.opts.assignment(0),
		Progress: func(attempt int64) { workflow.Report(f.opts.Run, "repair", attempt, 0) },
	}, f.whole(t), matching.Limit{Patience: patience, Work: entries})
	if err != nil {
		return t, 0, err
	}
	f.mending += repairCost * found.Work
	return f.positions(found.Match), found.Apart, nil
}
