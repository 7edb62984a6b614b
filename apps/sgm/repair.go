package sgm

import (
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/matching"
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
	a, b, err := f.onHost()
	if err != nil {
		return t, 0, err
	}
	entries := limit / repairCost
	if limit%repairCost > 0 {
		entries++
	}
	found, err := matching.Improve(matching.Problem[T]{
		A: a, B: b, Like: f.likeHost, Known: f.known, Symmetric: f.symmetric, Free: f.rows, Ends: f.ends,
		Unit: f.unit, Seed: f.opts.Seed, Assignment: f.opts.assignment(0),
		Progress: func(attempt int64) { workflow.Report(f.opts.Run, "repair", attempt, 0) },
	}, f.whole(t), matching.Limit{Patience: patience, Work: entries})
	if err != nil {
		return t, 0, err
	}
	f.mending += repairCost * found.Work
	next := f.positions(found.Match)
	like, err := f.likeness(next)
	return next, found.Apart + f.mostLike - like, err
}
