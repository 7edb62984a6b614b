package bench

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/hiveblas/hiveblas/bench/peers"
)

// Contender is one method for a task. Run runs it once and times itself; [peers.Peer.Run] returns
// such a result.
type Contender struct {
	Name string
	Run  func() (peers.Result, error)
	// Aside says that it is another form of the first contender, and no peer.
	Aside bool
}

// Quartiles are the 25 %, 50 % and 75 % points of a sample.
type Quartiles struct {
	Lower, Median, Upper float64
}

// QuartilesOf returns the quartiles of a sample, which it does not change; NaN for an empty one.
// Points between two order statistics are interpolated linearly (definition 7 of Hyndman and Fan,
// "Sample quantiles in statistical packages", 1996, doi:10.2307/2684934), so the median of an even
// number is the mean of the middle two.
func QuartilesOf(sample []float64) Quartiles {
	s := slices.Clone(sample)
	slices.Sort(s)
	return Quartiles{quantile(s, .25), quantile(s, .5), quantile(s, .75)}
}

// quantile is the p quantile of a sorted sample. gonum's own interpolation puts the order
// statistics at k/n, which makes the median of three the mean of two of them; here it serves to
// read the two that definition 7 interpolates.
func quantile(sorted []float64, p float64) float64 {
	n := float64(len(sorted))
	if n == 0 {
		return math.NaN()
	}
	at := p * (n - 1)
	order := func(k float64) float64 { return stat.Quantile((k+.5)/n, stat.Empirical, sorted, nil) }
	low := order(math.Floor(at))
	return low + (at-math.Floor(at))*(order(math.Ceil(at))-low)
}

// Comparison is what [Interleave] measured.
type Comparison struct {
	Names []string
	Aside []bool // see Contender
	// Ms holds the time of each contender (first index) in each round.
	Ms [][]float64
	// Results holds each contender's last result.
	Results []peers.Result
	// Died holds the error of each contender that died; it has no further rounds.
	Died []error
}

// Settle is the pause before each run: OpenMP threads may spin for some milliseconds
// after their work, which slows the next run on the same processors (SpMV of R-MAT 18:
// 9 ms instead of 6).
const Settle = 30 * time.Millisecond

// Interleave runs every contender once uncounted and then once in each round; round r begins with
// contender r modulo their number. Garbage is collected before each run, so that no contender pays
// for another's. It stops at the first error, except that it continues without a contender other
// than the first that died ([peers.ErrDied]).
func Interleave(rounds int, contenders ...Contender) (*Comparison, error) {
	return Pace{Rounds: rounds, Warm: 1, Before: func() {
		time.Sleep(Settle)
		runtime.GC()
	}}.Interleave(contenders...)
}

// Pace says how often contenders run.
type Pace struct {
	Rounds int           // counted
	Warm   int           // uncounted rounds before them
	Budget time.Duration // no round begins after so long, but for the first three; 0 sets no end
	Before func()        // called before each run
}

// Interleave runs contenders in turn at pace p; see the function [Interleave].
func (p Pace) Interleave(contenders ...Contender) (*Comparison, error) {
	if p.Rounds < 1 || len(contenders) == 0 {
		return nil, fmt.Errorf("bench: Interleave(%d rounds, %d contenders): at least one of each is needed",
			p.Rounds, len(contenders))
	}
	n := len(contenders)
	c := &Comparison{Ms: make([][]float64, n), Results: make([]peers.Result, n), Died: make([]error, n)}
	for _, contender := range contenders {
		c.Names, c.Aside = append(c.Names, contender.Name), append(c.Aside, contender.Aside)
	}
	start := time.Now()
	for round := -p.Warm; round < p.Rounds; round++ {
		if p.Budget > 0 && round >= min(3, p.Rounds) && time.Since(start) > p.Budget {
			break
		}
		for k := range n {
			i := (k + max(round, 0)) % n
			if c.Died[i] != nil {
				continue
			}
			if p.Before != nil {
				p.Before()
			}
			result, err := contenders[i].Run()
			if errors.Is(err, peers.ErrDied) && i > 0 {
				c.Died[i], c.Ms[i] = err, nil
				continue
			}
			if err != nil {
				return nil, fmt.Errorf("bench: %s: %w", contenders[i].Name, err)
			}
			c.Results[i] = result
			if round >= 0 {
				c.Ms[i] = append(c.Ms[i], result.Ms)
			}
		}
	}
	return c, nil
}

func (c *Comparison) dead(i int) bool { return i < len(c.Died) && c.Died[i] != nil }

// Time returns the quartiles of a contender's times in milliseconds.
func (c *Comparison) Time(i int) Quartiles { return QuartilesOf(c.times(i)) }

// Times returns the times of a contender, nil if there is no such contender.
func (c *Comparison) times(i int) []float64 {
	if c == nil || i < 0 || i >= len(c.Ms) {
		return nil
	}
	return c.Ms[i]
}

// Ratio returns the quartiles, over the rounds, of the time of contender i divided by the time of
// contender j.
func (c *Comparison) Ratio(i, j int) Quartiles {
	x, y := c.times(i), c.times(j)
	ratio := make([]float64, min(len(x), len(y)))
	for r := range ratio {
		ratio[r] = x[r] / y[r]
	}
	return QuartilesOf(ratio)
}

// Best returns the peer with the least median time, or -1 without one.
func (c *Comparison) Best() int {
	best := -1
	if c == nil {
		return best
	}
	for i := 1; i < len(c.Names); i++ {
		if c.dead(i) || len(c.Aside) > i && c.Aside[i] {
			continue
		}
		if best < 0 || c.Time(i).Median < c.Time(best).Median {
			best = i
		}
	}
	return best
}

// Agree returns an error that names each contender with a check figure that differs from the first
// one's by more than the relative tolerance, or is not a number. A comparison is invalid if its
// contenders do not agree.
func (c *Comparison) Agree(tolerance float64) error {
	if c == nil || len(c.Results) == 0 {
		return errors.New("bench: the comparison has no results; make one with Interleave")
	}
	var errs []error
	want := c.Results[0].Check
	for i, result := range c.Results {
		if c.dead(i) {
			continue
		}
		if !(math.Abs(result.Check-want) <= tolerance*max(1, math.Abs(want))) {
			errs = append(errs, fmt.Errorf("bench: %s finds %v where %s finds %v", c.Names[i], result.Check, c.Names[0], want))
		}
	}
	return errors.Join(errs...)
}
