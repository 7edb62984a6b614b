package centrality

import (
	"math"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// betweennessAt sums dependencies where a lives: by the kernels of a device, else by operations.
func betweennessAt(a *matrix.View[bool], n int, sources []int32, scale float64, o BetweennessOptions) (total *matrix.Vector[float64], err error) {
	batch := o.Batch
	if batch == 0 {
		batch = 32
	}
	with := workflow.With(o.Run)
	if at := device.Of(a.Place()); at != nil && o.Method != workflow.Pipeline {
		total, sources, err = fusedDependencies(at, a, n, sources, o)
	} else {
		total, err = workflow.FullVector(a.Place(), n, 0.0, with)
	}
	if err != nil {
		return nil, err
	}
	var s ops.Steps
	for lo := 0; lo < len(sources) && s.OK(); lo += batch {
		workflow.Report(o.Run, "betweenness", int64(lo), int64(len(sources)))
		part := sources[lo:min(lo+batch, len(sources))]
		fit, err := addDependencies(total, a, part, floatCounts(), with)
		if s.Do(err); err == nil && !fit {
			_, err = addDependencies(total, a, part, wideCounts(), with)
			s.Do(err)
		}
	}
	s.Do(ops.ApplySecond(total, semiring.Times[float64](), total, scale, with))
	return total, s.Err()
}

// pathCounting are the operators on counts of paths of type C.
type pathCounting[C comparable] struct {
	one   C
	plus  semiring.Monoid[C]
	first semiring.BinaryOp[C, bool, C]
	// settle makes a sum of counts a count; it is not Valid where all sums are.
	settle semiring.UnaryOp[C, C]
	share  semiring.BinaryOp[float64, C, C] // x ÷ count
	times  semiring.BinaryOp[C, C, float64] // share × count
	most   semiring.UnaryOp[C, float64]     // the count, +Inf beyond float64
}

// mostPaths is the largest count of paths without an exponent. A sum of 2³¹ such counts, and 1
// divided by it, are normal numbers of float64.
const mostPaths = 0x1p512

func floatCounts() pathCounting[float64] {
	return pathCounting[float64]{
		one: 1, plus: semiring.Plus[float64](), first: semiring.First[float64, bool](),
		share: semiring.Div[float64](), times: semiring.Times[float64]().Op(), most: semiring.Identity[float64](),
	}
}

// A wideCount is x·2^(512·e): 0, or x between 1 and mostPaths, in sums up to 2³¹ times as large.
type wideCount struct {
	x float64
	e int64
}

// plus adds counts. The lesser one is below half the last digit of the other if their exponents
// differ by 2 or more.
func (c wideCount) plus(d wideCount) wideCount {
	switch {
	case c.x == 0:
		return d
	case d.x == 0 || c.e > d.e+1:
		return c
	case d.e > c.e+1:
		return d
	case c.e == d.e:
		return wideCount{c.x + d.x, c.e}
	case c.e > d.e:
		return wideCount{c.x + d.x/mostPaths, c.e}
	}
	return wideCount{c.x/mostPaths + d.x, d.e}
}

func (c wideCount) settled() wideCount {
	if c.x > mostPaths {
		return wideCount{c.x / mostPaths, c.e + 1}
	}
	return c
}

// shareOf is x ÷ c, for x from 1 to mostPaths.
func (c wideCount) shareOf(x float64) wideCount {
	if x < c.x {
		return wideCount{x / c.x * mostPaths, -c.e - 1}
	}
	return wideCount{x / c.x, -c.e}
}

// times is c·d, which float64 holds.
func (c wideCount) times(d wideCount) float64 {
	if c.e+d.e < -4 {
		return 0
	}
	return math.Ldexp(c.x*0x1p-256*(d.x*0x1p-256), int(512*(c.e+d.e+1)))
}

// The limit, its inverse and the square root of that in CUDA text: hexadecimal floats need C++17.
const (
	cudaMost  = "1.3407807929942597e+154"
	cudaLeast = "7.458340731200207e-155"
	cudaRoot  = "8.636168555094445e-78"
)

// wideCounts counts paths by wideCount.
func wideCounts() pathCounting[wideCount] {
	return pathCounting[wideCount]{
		one: wideCount{1, 0},
		plus: semiring.NewMonoid(semiring.NewBinary("add_paths", wideCount.plus,
			"x.x == 0 ? y : y.x == 0 || x.e > y.e + 1 ? x : y.e > x.e + 1 ? y : x.e == y.e ? C{x.x + y.x, x.e} : "+
				"x.e > y.e ? C{x.x + y.x * "+cudaLeast+", x.e} : C{x.x * "+cudaLeast+" + y.x, y.e}"), wideCount{}),
		first: semiring.First[wideCount, bool](),
		settle: semiring.NewUnary("settle_paths", wideCount.settled,
			"x.x > "+cudaMost+" ? C{x.x * "+cudaLeast+", x.e + 1} : x"),
		share: semiring.NewBinary("share_of_paths", func(x float64, c wideCount) wideCount { return c.shareOf(x) },
			"x < y.x ? C{x / y.x * "+cudaMost+", -y.e - 1} : C{x / y.x, -y.e}"),
		times: semiring.NewBinary("times_paths", wideCount.times,
			"x.e + y.e < -4 ? 0.0 : ldexp(x.x * "+cudaRoot+" * (y.x * "+cudaRoot+"), (int)(512 * (x.e + y.e + 1)))"),
		most: semiring.NewUnary("no_limit", func(wideCount) float64 { return 0 }, "0.0"),
	}
}

// addDependencies adds to total, for each vertex, its dependencies on a batch of sources (Brandes).
// A source has no dependency on itself. If the counts of paths do not fit in C, addDependencies
// adds nothing and returns false.
func addDependencies[C comparable](
	total *matrix.Vector[float64], a *matrix.View[bool], sources []int32, of pathCounting[C], with ops.Option,
) (fit bool, err error) {
	k, n, here := len(sources), total.Size(), matrix.On(total.Place())
	plus := semiring.Plus[float64]()
	start := matrix.NewBuilder[C](k, n)
	for row, v := range sources {
		start.Add(row, int(v), of.one)
	}
	first, err := start.Build(nil)
	var s ops.Steps
	s.Do(err)
	if !s.OK() {
		return false, s.Err()
	}
	s.Do(first.Move(total.Place()))
	fresh := func() *matrix.Matrix[C] { return matrix.New[C](k, n, here) }
	forward := semiring.New(of.plus, of.first)
	paths, frontier := fresh(), first
	s.Do(ops.Apply(paths, semiring.Identity[C](), first, with))
	var levels []*matrix.Matrix[C]
	for s.OK() {
		next := fresh()
		s.Do(ops.MxM(next.Masked(paths.Structure().Not()).Replace(), forward, frontier, a, with))
		if s.NVals(next) == 0 {
			break
		}
		if of.settle.Valid() {
			s.Do(ops.Apply(next, of.settle, next, with))
		}
		s.Do(ops.EWiseAdd(paths, of.plus, paths, next, with))
		levels, frontier = append(levels, next), next
	}
	counts := matrix.New[float64](k, n, here)
	s.Do(ops.Apply(counts, of.most, paths, with))
	most, err := ops.ReduceScalar(semiring.Max[float64](), counts, with)
	if s.Do(err); !s.OK() || most > mostPaths {
		return false, s.Err()
	}
	share, w := matrix.New[float64](k, n, here), fresh()
	s.Do(ops.AssignScalar(share, 1, ops.All(), ops.All(), with)) // 1 + Δ
	for d := len(levels) - 1; s.OK() && d > 0; d-- {
		s.Do(ops.EWiseMult(w.Masked(levels[d].Structure()).Replace(), of.share, share, paths, with))
		s.Do(ops.MxM(w.Masked(levels[d-1].Structure()).Replace(), forward, w, a.T(), with))
		s.Do(ops.EWiseMult(share.Accum(plus), of.times, w, paths, with))
	}
	s.Do(ops.Reduce(total.Accum(plus), plus, share.T(), with))
	s.Do(ops.ApplySecond(total, semiring.Minus[float64](), total, float64(k), with))
	return true, s.Err()
}
