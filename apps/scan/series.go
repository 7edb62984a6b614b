package scan

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/fresh"
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
	workflow.Run
	Window    float64 // length of a window in the unit of the time stamps; above 0
	Lag       int     // windows of the recent past, 2 or more; 0 means 20
	Hops      ScanHops
	Threshold float64 // score above which a window is an anomaly; 0 means 5

	edges, shift int // 0 but in tests: seriesEdges and seriesShift
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

// ScanAnomaly is a window with a score above the threshold.
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

// seriesEdges is the number of edges that a thread must have to divide them.
const seriesEdges = 1 << 14

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
// O(edges + windows + Σ ScanStatistics of the windows), and memory for the statistics of τ windows
// and for 4 bytes of each vertex and thread. Threads share the windows. The sums of the past are
// exact.
func ScanSeries(e *TimedEdges, opts ...ScanSeriesOptions) (*ScanSeriesResult, error) {
	const app = "ScanSeries"
	o, err := workflow.OnlyPipeline(app, opts)
	if err != nil {
		return nil, err
	}
	if o.Lag == 0 {
		o.Lag = 20
	}
	if o.Threshold == 0 {
		o.Threshold = 5
	}
	o.edges, o.shift = cmp.Or(o.edges, seriesEdges), cmp.Or(o.shift, seriesShift)
	switch {
	case !(o.Window > 0) || math.IsInf(o.Window, 1):
		return nil, &workflow.ParameterError{App: app, Arg: "the window", Got: fmt.Sprint(o.Window), Want: "a positive length, in the unit of the time stamps"}
	case o.Lag < 2:
		return nil, &workflow.ParameterError{App: app, Arg: "the lag", Got: fmt.Sprint(o.Lag), Want: "2 windows or more"}
	case !(o.Threshold > 0):
		return nil, &workflow.ParameterError{App: app, Arg: "the threshold", Got: fmt.Sprint(o.Threshold), Want: "a positive number"}
	}
	if err := o.Hops.check(app); err != nil {
		return nil, err
	}
	workflow.Announce(o.Run, app, "scan statistics of windows")
	first, last, err := e.span(app, o.Threads, o.edges)
	if err != nil {
		return nil, err
	}
	if len(e.Time) == 0 {
		return &ScanSeriesResult{Windows: []ScanWindow{}, Anomalies: []ScanAnomaly{}}, nil
	}
	count := math.Floor((last-first)/o.Window) + 1
	if !(count <= scanWindows) {
		return nil, &workflow.ParameterError{App: app, Arg: "the window", Got: fmt.Sprintf("%v, for %.3g windows", o.Window, count),
			Want: fmt.Sprintf("a length with at most %d windows", scanWindows)}
	}
	threads := parallel.Threads(o.Threads)
	order, begin := e.byWindow(first, o.Window, int(count), threads, o.edges)
	s := newSeries(e, o, threads)
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
			s.divide(&batch[k])
		})
		for k := range batch {
			b := &batch[k]
			workflow.Report(o.Run, "scan series", int64(from+k), int64(count))
			if o.Trace != nil {
				for _, t := range b.traces {
					o.Trace(t)
				}
			}
			if b.err != nil {
				return nil, b.err
			}
			b.Start = first + float64(from+k)*o.Window
		}
		s.extend(batch)
		from = to
	}
	return s.res, nil
}

// span checks the edges and returns the first and the last time. A thread gets grain edges or more.
func (e *TimedEdges) span(app string, threads, grain int) (first, last float64, err error) {
	bad := func(arg, got, want string) (float64, float64, error) {
		return 0, 0, &workflow.ParameterError{App: app, Arg: arg, Got: got, Want: want}
	}
	switch {
	case e == nil:
		return bad("the edges", "nil", "a list")
	case e.Vertices < 0 || e.Vertices > matrix.MaxDim:
		return 0, 0, &matrix.SizeError{Op: app, Arg: "the number of vertices", Got: int64(e.Vertices), Limit: matrix.MaxDim}
	case len(e.Source) != len(e.Target) || len(e.Source) != len(e.Time):
		return bad("the edges", fmt.Sprintf("%d sources, %d targets and %d times", len(e.Source), len(e.Target), len(e.Time)), "the same number of each")
	}
	type part struct {
		first, last float64
		err         error
	}
	parts := make([]part, (len(e.Time)+grain-1)/grain)
	_ = parallel.Range(nil, threads, len(e.Time), grain, func(_, lo, hi int) {
		p := part{first: math.Inf(1), last: math.Inf(-1)}
		for k := lo; k < hi && p.err == nil; k++ {
			t := e.Time[k]
			if math.IsNaN(t) || math.IsInf(t, 0) {
				_, _, p.err = bad(fmt.Sprintf("the time of edge %d", k), fmt.Sprint(t), "a finite number")
			}
			for side, v := range [2]int32{e.Source[k], e.Target[k]} {
				if p.err == nil && uint(v) >= uint(e.Vertices) {
					p.err = workflow.Vertex(app, []string{"source", "target"}[side]+" of an edge", int(v), e.Vertices)
				}
			}
			p.first, p.last = min(p.first, t), max(p.last, t)
		}
		parts[lo/grain] = p
	})
	first, last = math.Inf(1), math.Inf(-1)
	for _, p := range parts {
		if p.err != nil {
			return 0, 0, p.err
		}
		first, last = min(first, p.first), max(last, p.last)
	}
	return first, last, nil
}

// byWindow returns the indices of the edges by windows: window t has order[begin[t]:begin[t+1]], in
// ascending order.
func (e *TimedEdges) byWindow(first, window float64, count, threads, grain int) (order []int, begin []int64) {
	n := len(e.Time)
	parts := parallel.Share(threads, int64(n), int64(max(grain, count)))
	cut := func(w int) int { return int(int64(n) * int64(w) / int64(parts)) }
	counts, at := make([][]int64, parts), fresh.Make[int32](int64(n)) // at is the window of each edge
	_ = parallel.Pieces(nil, parts, parts, func(_, w int) {
		counts[w] = make([]int64, count)
		for k := cut(w); k < cut(w+1); k++ {
			at[k] = int32(math.Floor((e.Time[k] - first) / window))
			counts[w][at[k]]++
		}
	})
	order, begin = make([]int, n), make([]int64, count+1)
	parallel.Offsets(parts, counts, begin)
	_ = parallel.Pieces(nil, parts, parts, func(_, w int) {
		for k := cut(w); k < cut(w+1); k++ {
			next := &counts[w][at[k]]
			order[*next] = k
			*next++
		}
	})
	return order, begin
}

// seriesWindow is a window with the statistics of its graph alone.
type seriesWindow struct {
	ScanWindow
	counts []localCount
	shares [][]localCount // the counts by ranges of vertices
	traces []ops.Trace
	err    error
}

// seriesCounter is the scratch memory of a thread: the number of a vertex within a window, from 1.
type seriesCounter struct{ number []int32 }

// count returns the statistics of the graph of a window. It renumbers the vertices so that the cost
// does not depend on the others.
func (c *seriesCounter) count(o ScanSeriesOptions, threads int, e *TimedEdges, list []int) seriesWindow {
	w := seriesWindow{ScanWindow: ScanWindow{Locality: math.NaN(), Vertex: -1, Score: math.NaN()}}
	if w.err = workflow.Expired(o.Run); w.err != nil {
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
