package scan

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/hiveblas/hiveblas/internal/parallel"
)

// series is the state of ScanSeries after some windows. The vertices are divided into ranges, which
// threads share: what a window adds depends only on the past of each vertex, and on maxima over
// all.
type series struct {
	o      ScanSeriesOptions
	res    *ScanSeriesResult
	past   []seriesPast
	ranges []seriesRange
	number []int32 // scratch: 1 for a vertex with edges in the window
}

// seriesRange is what a range of vertices keeps and finds.
type seriesRange struct {
	recent [][]localCount // the statistics of the last Lag windows, by window modulo Lag
	found  []seriesFound  // in the windows of a batch
}

// seriesFound is the largest standardised statistic of a range in a window, the least vertex that
// has it, and the vertices above the threshold.
type seriesFound struct {
	best  float64
	at    int32
	above []ScanVertex
}

// take adds a standardised statistic.
func (f *seriesFound) take(v int32, x float64) {
	if x > f.best || x == f.best && v < f.at {
		f.best, f.at = x, v
	}
}

// seriesPast sums the statistics of a vertex in the recent windows.
type seriesPast struct {
	sum     int64
	squares wide
}

// localCount is the statistic of a vertex in a window. Vertices without edges have none.
type localCount struct {
	vertex int32
	count  int64
}

// Blocks of 2^seriesShift vertices are dealt to the ranges in turn.
const seriesShift = 6

func newSeries(e *TimedEdges, o ScanSeriesOptions, threads int) *series {
	s := &series{o: o, res: &ScanSeriesResult{Windows: []ScanWindow{}, Anomalies: []ScanAnomaly{}},
		past: make([]seriesPast, e.Vertices), number: make([]int32, e.Vertices)}
	s.ranges = make([]seriesRange, parallel.Share(threads, int64(len(e.Time)), int64(o.edges)))
	for r := range s.ranges {
		s.ranges[r].recent = make([][]localCount, o.Lag)
	}
	return s
}

// divide sorts the statistics of a window by ranges.
func (s *series) divide(w *seriesWindow) {
	count := len(s.ranges)
	if w.shares = [][]localCount{w.counts}; count == 1 {
		return
	}
	w.shares = make([][]localCount, count)
	for r := range w.shares {
		w.shares[r] = make([]localCount, 0, len(w.counts)/count*5/4+16)
	}
	for _, c := range w.counts {
		r := int(c.vertex) >> s.o.shift % count
		w.shares[r] = append(w.shares[r], c)
	}
	w.counts = nil
}

// extend adds the windows of a batch.
func (s *series) extend(batch []seriesWindow) {
	first := len(s.res.Windows)
	_ = parallel.Pieces(nil, len(s.ranges), len(s.ranges), func(_, r int) {
		own := &s.ranges[r]
		own.found = make([]seriesFound, len(batch))
		for k := range batch {
			t, now := first+k, batch[k].shares[r]
			if t >= s.o.Lag {
				own.found[k] = s.standardise(r, now)
			}
			slot := &own.recent[t%s.o.Lag]
			s.forget(*slot)
			s.learn(now)
			*slot = now
		}
	})
	for k := range batch {
		s.next(batch[k].ScanWindow, k)
	}
}

// next adds window k of a batch, from what the ranges have found.
func (s *series) next(w ScanWindow, k int) {
	t := len(s.res.Windows)
	if t >= s.o.Lag && len(s.past) > 0 {
		whole := seriesFound{best: math.Inf(-1), at: -1}
		for r := range s.ranges {
			if f := &s.ranges[r].found[k]; f.at >= 0 {
				whole.take(f.at, f.best)
			}
		}
		w.Locality, w.Vertex = whole.best, int(whole.at)
	}
	if t >= 2*s.o.Lag {
		var mean float64
		past := s.res.Windows[t-s.o.Lag:]
		for _, x := range past {
			mean += x.Locality
		}
		mean /= float64(s.o.Lag)
		var squares float64
		for _, x := range past {
			squares += (x.Locality - mean) * (x.Locality - mean)
		}
		w.Score = (w.Locality - mean) / max(math.Sqrt(squares/float64(s.o.Lag-1)), 1)
	}
	s.res.Windows = append(s.res.Windows, w)
	if w.Score > s.o.Threshold {
		s.res.Anomalies = append(s.res.Anomalies, ScanAnomaly{t, w.Score, s.outstanding(w, k)})
	}
}

// standardised returns the statistic of a vertex relative to its past.
func (s *series) standardised(v int32, count int64) float64 {
	p, tau := &s.past[v], int64(s.o.Lag)
	// τ·(count − mean) and τ(τ−1)·variance are integers.
	variance := p.squares.times(uint64(tau)).minus(square64(p.sum)).float() / float64(tau) / float64(tau-1)
	return float64(count*tau-p.sum) / float64(tau) / max(math.Sqrt(variance), 1)
}

// standardise returns what range r finds in a window. A vertex without edges in the window has the
// statistic 0, and the value 0 or less.
func (s *series) standardise(r int, now []localCount) seriesFound {
	f := seriesFound{best: math.Inf(-1), at: -1}
	for _, c := range now {
		s.number[c.vertex] = 1
		x := s.standardised(c.vertex, c.count)
		if f.take(c.vertex, x); x > s.o.Threshold {
			f.above = append(f.above, ScanVertex{int(c.vertex), x})
		}
	}
	if f.best <= 0 { // a vertex without edges may have more
		block := 1 << s.o.shift
		for lo := r * block; lo < len(s.past); lo += len(s.ranges) * block {
			for v := lo; v < min(lo+block, len(s.past)); v++ {
				if s.number[v] == 0 {
					f.take(int32(v), s.standardised(int32(v), 0))
				}
			}
		}
	}
	for _, c := range now {
		s.number[c.vertex] = 0
	}
	return f
}

// outstanding lists the vertices of an anomaly, window k of a batch.
func (s *series) outstanding(w ScanWindow, k int) []ScanVertex {
	var list []ScanVertex
	for r := range s.ranges {
		list = append(list, s.ranges[r].found[k].above...)
	}
	slices.SortFunc(list, func(a, b ScanVertex) int {
		return cmp.Or(cmp.Compare(b.Locality, a.Locality), cmp.Compare(a.Vertex, b.Vertex))
	})
	if len(list) == 0 {
		list = append(list, ScanVertex{w.Vertex, w.Locality})
	}
	return list
}

// learn adds a window to the recent past, forget removes one.
func (s *series) learn(now []localCount) {
	for _, c := range now {
		p := &s.past[c.vertex]
		p.sum, p.squares = p.sum+c.count, p.squares.plus(square64(c.count))
	}
}

func (s *series) forget(then []localCount) {
	for _, c := range then {
		p := &s.past[c.vertex]
		p.sum, p.squares = p.sum-c.count, p.squares.minus(square64(c.count))
	}
}

// wide is a number of 128 bits.
type wide struct{ hi, lo uint64 }

func square64(x int64) wide {
	hi, lo := bits.Mul64(uint64(x), uint64(x)) // x ≥ 0
	return wide{hi, lo}
}

func (x wide) plus(y wide) wide {
	lo, carry := bits.Add64(x.lo, y.lo, 0)
	hi, _ := bits.Add64(x.hi, y.hi, carry)
	return wide{hi, lo}
}

func (x wide) minus(y wide) wide {
	lo, borrow := bits.Sub64(x.lo, y.lo, 0)
	hi, _ := bits.Sub64(x.hi, y.hi, borrow)
	return wide{hi, lo}
}

func (x wide) times(k uint64) wide {
	hi, lo := bits.Mul64(x.lo, k)
	return wide{hi + x.hi*k, lo}
}

func (x wide) float() float64 { return float64(x.hi)*(1<<64) + float64(x.lo) }
