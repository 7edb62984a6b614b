package apps

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
)

// TimedEdges are edges with time stamps, in any order. Repeated edges are allowed.
type TimedEdges struct {
	Vertices       int // of the graph: their numbers are 0, 1, …, Vertices−1
	Source, Target []int32
	Time           []float64
}

// ScanSeriesOptions are the settings of ScanSeries.
type ScanSeriesOptions struct {
	Run
	Window    float64 // length of a window in the unit of the time stamps; above 0
	Lag       int     // windows of the recent past, 2 or more; 0 means 20
	Hops      ScanHops
	Threshold float64 // score above which a window is an anomaly; 0 means 5
}

// ScanSeriesResult is the result of ScanSeries.
type ScanSeriesResult struct {
	Windows   []ScanWindow  // all of them in order, also those without edges
	Anomalies []ScanAnomaly // the windows with a score above the threshold, in order
}

// ScanWindow is one window of a series.
type ScanWindow struct {
	Start    float64 // the window is [Start, Start + length of a window)
	Edges    int64   // of its simple undirected graph
	Max      int64   // the scan statistic of that graph
	Locality float64 // the largest standardised statistic of a vertex; NaN in the first Lag windows
	Vertex   int     // the least vertex that has it; −1 in the first Lag windows
	Score    float64 // Locality standardised; NaN in the first 2·Lag windows
}

// ScanAnomaly is a window whose score is above the threshold.
type ScanAnomaly struct {
	Window int // its index in Windows
	Score  float64
	// Vertices are those with a standardised statistic above the threshold, the largest first; only
	// the vertex of the window if there is none.
	Vertices []ScanVertex
}

// ScanVertex is a vertex in an anomalous window.
type ScanVertex struct {
	Vertex   int
	Locality float64 // its standardised statistic
}

// scanWindows bounds the windows of a series.
const scanWindows = 1 << 24

// ScanSeries finds the windows of a series of edges in which the neighbourhood of some vertex has
// many more edges than in its recent past (Priebe, Conroy, Marchette, Park: Scan statistics on
// Enron graphs, 2005, section 3). Windows of equal length begin at the earliest time stamp. With
// Ψ(t, v) the statistic of ScanStatistics in the graph of window t, τ = Lag, and mean and deviation
// over the τ windows before t:
//
//	Ψ̃(t, v) = (Ψ(t, v) − mean Ψ(·, v)) / max(deviation Ψ(·, v), 1)
//	M̃(t)    = max over v of Ψ̃(t, v)
//	S(t)    = (M̃(t) − mean M̃) / max(deviation M̃, 1)
//
// The deviation divides by τ − 1. Windows with S(t) above the threshold are the anomalies. Ψ̃
// exists from window τ on, S from 2τ on, so the series must be longer than that to have anomalies.
//
// O(edges + windows + Σ ScanStatistics of the windows), and memory for the statistics of τ windows and
// for 4 bytes of each vertex and thread. Threads share the windows. The sums of the past are exact.
func ScanSeries(e *TimedEdges, opts ...ScanSeriesOptions) (*ScanSeriesResult, error) {
	const app = "ScanSeries"
	o, err := onlyPipeline(app, opts)
	if err != nil {
		return nil, err
	}
	if o.Lag == 0 {
		o.Lag = 20
	}
	if o.Threshold == 0 {
		o.Threshold = 5
	}
	switch {
	case !(o.Window > 0) || math.IsInf(o.Window, 1):
		return nil, &ParameterError{app, "the window", fmt.Sprint(o.Window), "a positive length, in the unit of the time stamps"}
	case o.Lag < 2:
		return nil, &ParameterError{app, "the lag", fmt.Sprint(o.Lag), "2 windows or more"}
	case !(o.Threshold > 0):
		return nil, &ParameterError{app, "the threshold", fmt.Sprint(o.Threshold), "a positive number"}
	}
	if err := o.Hops.check(app); err != nil {
		return nil, err
	}
	first, last, err := e.span(app)
	if err != nil {
		return nil, err
	}
	if len(e.Time) == 0 {
		return &ScanSeriesResult{Windows: []ScanWindow{}, Anomalies: []ScanAnomaly{}}, nil
	}
	count := math.Floor((last-first)/o.Window) + 1
	if !(count <= scanWindows) {
		return nil, &ParameterError{app, "the window", fmt.Sprintf("%v, for %.3g windows", o.Window, count),
			fmt.Sprintf("a length with at most %d windows", scanWindows)}
	}
	order, begin := e.byWindow(first, o.Window, int(count))
	s := newSeries(e.Vertices, o)
	threads := parallel.Threads(o.Threads)
	workers := min(threads, int(count))
	counters := make([]seriesCounter, workers)
	for from := 0; from < int(count); {
		to := min(from+4*workers, int(count))
		batch := make([]seriesWindow, to-from)
		_ = parallel.Pieces(nil, workers, len(batch), func(worker, k int) {
			c, t := &counters[worker], from+k
			if c.number == nil {
				c.number = make([]int32, e.Vertices)
			}
			batch[k] = c.count(o, max(1, threads/workers), e, order[begin[t]:begin[t+1]])
		})
		for k := range batch {
			b := &batch[k]
			o.report("scan series", int64(from+k), int64(count))
			if o.Trace != nil {
				for _, t := range b.traces {
					o.Trace(t)
				}
			}
			if b.err != nil {
				return nil, b.err
			}
			b.Start = first + float64(from+k)*o.Window
			s.next(b.ScanWindow, b.counts)
		}
		from = to
	}
	return s.res, nil
}

// span checks the edges and returns the first and the last time.
func (e *TimedEdges) span(app string) (first, last float64, err error) {
	bad := func(arg, got, want string) (float64, float64, error) {
		return 0, 0, &ParameterError{app, arg, got, want}
	}
	switch {
	case e == nil:
		return bad("the edges", "nil", "a list")
	case e.Vertices < 0 || e.Vertices > matrix.MaxDim:
		return 0, 0, &matrix.SizeError{Op: app, Arg: "the number of vertices", Got: int64(e.Vertices), Limit: matrix.MaxDim}
	case len(e.Source) != len(e.Target) || len(e.Source) != len(e.Time):
		return bad("the edges", fmt.Sprintf("%d sources, %d targets and %d times", len(e.Source), len(e.Target), len(e.Time)), "the same number of each")
	}
	first, last = math.Inf(1), math.Inf(-1)
	for k, t := range e.Time {
		if math.IsNaN(t) || math.IsInf(t, 0) {
			return bad(fmt.Sprintf("the time of edge %d", k), fmt.Sprint(t), "a finite number")
		}
		for side, v := range [2]int32{e.Source[k], e.Target[k]} {
			if int(v) < 0 || int(v) >= e.Vertices {
				return 0, 0, vertex(app, []string{"source", "target"}[side]+" of an edge", int(v), e.Vertices)
			}
		}
		first, last = min(first, t), max(last, t)
	}
	return first, last, nil
}

// byWindow returns the indices of the edges by windows: those of window t are
// order[begin[t]:begin[t+1]].
func (e *TimedEdges) byWindow(first, window float64, count int) (order, begin []int) {
	at := func(t float64) int { return int(math.Floor((t - first) / window)) }
	begin = make([]int, count+1)
	for _, t := range e.Time {
		begin[at(t)+1]++
	}
	for t := range count {
		begin[t+1] += begin[t]
	}
	order = make([]int, len(e.Time))
	next := slices.Clone(begin)
	for k, t := range e.Time {
		w := at(t)
		order[next[w]] = k
		next[w]++
	}
	return order, begin
}

// series is the state of ScanSeries after some windows.
type series struct {
	o      ScanSeriesOptions
	res    *ScanSeriesResult
	past   []seriesPast
	recent [][]localCount // the statistics of the last Lag windows, by window modulo Lag
	number []int32        // scratch: of a vertex within its window, from 1
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

func newSeries(n int, o ScanSeriesOptions) *series {
	return &series{o: o, res: &ScanSeriesResult{Windows: []ScanWindow{}, Anomalies: []ScanAnomaly{}},
		past: make([]seriesPast, n), recent: make([][]localCount, o.Lag), number: make([]int32, n)}
}

// next adds a window and its statistics.
func (s *series) next(w ScanWindow, now []localCount) {
	t := len(s.res.Windows)
	if t >= s.o.Lag {
		s.standardise(&w, now)
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
		s.res.Anomalies = append(s.res.Anomalies, ScanAnomaly{t, w.Score, s.outstanding(w, now)})
	}
	s.forget(s.recent[t%s.o.Lag])
	s.recent[t%s.o.Lag] = now
	s.learn(now)
}

// seriesWindow is a window with the statistics of its graph alone.
type seriesWindow struct {
	ScanWindow
	counts []localCount
	traces []ops.Trace
	err    error
}

// seriesCounter is the scratch memory of a thread: the number of a vertex within a window, from 1.
type seriesCounter struct{ number []int32 }

// count returns the statistics of the graph of a window, whose vertices are renumbered so that the
// cost does not depend on the others.
func (c *seriesCounter) count(o ScanSeriesOptions, threads int, e *TimedEdges, list []int) seriesWindow {
	w := seriesWindow{ScanWindow: ScanWindow{Locality: math.NaN(), Vertex: -1, Score: math.NaN()}}
	if w.err = o.expired(); w.err != nil {
		return w
	}
	add := func(v int32) int32 {
		if c.number[v] == 0 {
			w.counts = append(w.counts, localCount{vertex: v})
			c.number[v] = int32(len(w.counts))
		}
		return c.number[v] - 1
	}
	source, target := make([]int32, 0, 2*len(list)), make([]int32, 0, 2*len(list))
	for _, k := range list {
		if u, v := e.Source[k], e.Target[k]; u != v {
			x, y := add(u), add(v)
			source, target = append(source, x, y), append(target, y, x)
		}
	}
	for _, n := range w.counts {
		c.number[n.vertex] = 0
	}
	if len(w.counts) == 0 {
		return w
	}
	b := matrix.NewBuilder[bool](len(w.counts), len(w.counts))
	b.AddBlock(source, target, slices.Repeat([]bool{true}, len(source)))
	g, err := b.Build(matrix.CombineFunc[bool](func(x, _ bool) bool { return x }))
	if err != nil {
		w.err = err
		return w
	}
	run := o.Run
	run.Threads, run.Progress = threads, nil // progress counts windows
	if o.Trace != nil {
		run.Trace = func(t ops.Trace) { w.traces = append(w.traces, t) }
	}
	res, err := ScanStatistics(g, ScanOptions{run, o.Hops})
	if err != nil {
		w.err = err
		return w
	}
	w.Edges, w.Max = res.Edges, res.Max
	for k, x := range res.Statistic.All() {
		w.counts[k].count = x
	}
	return w
}

// standardised returns the statistic of a vertex relative to its past.
func (s *series) standardised(v int32, count int64) float64 {
	p, tau := &s.past[v], int64(s.o.Lag)
	// τ·(count − mean) and τ(τ−1)·variance are integers.
	variance := p.squares.times(uint64(tau)).minus(square64(p.sum)).float() / float64(tau) / float64(tau-1)
	return float64(count*tau-p.sum) / float64(tau) / max(math.Sqrt(variance), 1)
}

// standardise sets Locality and Vertex of a window. A vertex without edges in the window has the
// statistic 0, and the value 0 if it has no edges in the recent past either.
func (s *series) standardise(w *ScanWindow, now []localCount) {
	if len(s.past) == 0 {
		return
	}
	best, at := math.Inf(-1), int32(-1)
	take := func(v int32, x float64) {
		if x > best || x == best && v < at {
			best, at = x, v
		}
	}
	for _, c := range now {
		s.number[c.vertex] = 1
		take(c.vertex, s.standardised(c.vertex, c.count))
	}
	if best <= 0 { // a vertex without edges may have more
		for v := range s.past {
			if s.number[v] == 0 {
				take(int32(v), s.standardised(int32(v), 0))
			}
		}
	}
	for _, c := range now {
		s.number[c.vertex] = 0
	}
	w.Locality, w.Vertex = best, int(at)
}

// outstanding lists the vertices of an anomaly.
func (s *series) outstanding(w ScanWindow, now []localCount) []ScanVertex {
	var list []ScanVertex
	for _, c := range now {
		if x := s.standardised(c.vertex, c.count); x > s.o.Threshold {
			list = append(list, ScanVertex{int(c.vertex), x})
		}
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
