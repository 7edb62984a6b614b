package gpuside

import (
	"time"

	"github.com/hiveblas/hiveblas/bench"
	"github.com/hiveblas/hiveblas/bench/peers"
)

// CopyBytes is the size of the copy that measures the bandwidth.
const CopyBytes = 1 << 30

// Contender is one method for a case.
type Contender struct {
	Name    string
	Prepare func() error // once, before the first run; may be nil
	Do      func() error // one run
	After   func()       // after each run that is not repeated, untimed; may be nil
	failed  func()       // called if it cannot run; may be nil
	Clock   func(func() error) (time.Duration, error)
	Once    bool          // not repeated within one measurement
	Method  func() string // the method used, after the first run; may be nil

	// timed, instead of do and clock, runs once and times itself.
	Timed func() (time.Duration, error)
}

// Wall measures by the host's clock.
func Wall(fn func() error) (time.Duration, error) {
	start := time.Now()
	err := fn()
	return time.Since(start), err
}

// Run times reps runs, and returns the time of one.
func (g *Contender) run(reps int) (time.Duration, error) {
	if g.Timed != nil {
		return g.Timed()
	}
	took, err := g.Clock(func() error {
		for range reps {
			if err := g.Do(); err != nil {
				return err
			}
		}
		return nil
	})
	if g.After != nil {
		g.After()
	}
	return took / time.Duration(reps), err
}

// Start prepares, runs once untimed, calls then and runs again. It returns the time of
// the second run.
func (g *Contender) Start(then func() error) (took time.Duration, err error) {
	defer func() {
		if err != nil && g.failed != nil {
			g.failed()
		}
	}()
	if g.Prepare != nil {
		if err := g.Prepare(); err != nil {
			return 0, err
		}
	}
	after := g.After
	g.After = nil
	_, err = g.run(1)
	g.After = after
	if err == nil && then != nil {
		err = then()
	}
	if after != nil {
		after()
	}
	if err != nil {
		return 0, err
	}
	return g.run(1)
}

// measured is the least total time of the runs between two events; short runs are
// repeated to reach it.
const measured = 2 * time.Millisecond

func (g *Contender) Contender(one time.Duration) bench.Contender {
	reps := 1
	if !g.Once && g.Timed == nil {
		reps = int(min(max(measured/max(one, time.Microsecond), 1), 50))
	}
	return bench.Contender{Name: g.Name, Run: func() (peers.Result, error) {
		took, err := g.run(reps)
		return peers.Result{Ms: took.Seconds() * 1e3}, err
	}}
}
