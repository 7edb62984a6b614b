package classify

import (
	"errors"
	"math"
	"slices"
	"sync"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// A column is a value for each vertex of the data.
type column = *matrix.Vector[float32]

// beliefs is the state of Classify. The columns of pattern vertices and edges are vectors over the
// data's vertices. One goroutine computes each column: patterns have tens of edges, and columns do
// not depend on each other within a stage. On a group one goroutine computes all, because the ranks
// call collectives in the same order.
type beliefs struct {
	run     workflow.Run
	with    ops.Option // of an operation on a column
	workers int
	n       int // vertices of the data
	place   matrix.Place

	vertices, edges   *matrix.Matrix[float32] // features of the data
	pvertices, pedges *matrix.Matrix[float32] // of the pattern, a row each
	from, to          *matrix.Vector[int32]   // source and target of each edge of the data
	out, in           *matrix.Matrix[bool]    // N×E: the edges out of and into each vertex
	joined            sparse.Structure        // on the host, N×N: row v has the sources of the edges into v
	pair              *matrix.Vector[int32]   // on the host: the entry of joined of each edge

	cost, mu []column // −CV and μ, for each pattern vertex
	arcs     []*patternArc
}

// patternArc is the state of an edge of the pattern.
type patternArc struct {
	src, dst   int
	fmax, rmax column
	mass, back column                  // log Σ exp −CE over the edges out of each vertex, and over those that back gathers by
	peak       column                  // max −CE over the edges out of each vertex
	near       *matrix.Matrix[float32] // N×N: max −CE over the edges from column to row, or nil: not kept
}

func newBeliefs(data, pattern *Attributed, opts ClassifyOptions) (*beliefs, error) {
	n, edges := data.Dims()
	np, q := pattern.Dims()
	threads := parallel.Threads(opts.Threads)
	b := &beliefs{run: opts.Run, n: n, place: data.Place(), workers: max(1, min(threads, max(q, np))),
		vertices: data.Vertices, edges: data.Edges, cost: make([]column, np), mu: make([]column, np), arcs: make([]*patternArc, q)}
	if _, group := b.place.(*comm.Group); group {
		b.workers = 1
	}
	b.with = ops.WithOptions(ops.WithThreads(max(1, threads/b.workers)), ops.WithContext(opts.Context), ops.WithTraces(oneByOne(opts.Trace)))
	if err := b.arrange(data, pattern); err != nil {
		return nil, err
	}
	err := b.forEach(np, func(j int) (err error) {
		if b.cost[j], err = b.distances(b.pvertices, j, b.vertices); err != nil {
			return err
		}
		b.mu[j], err = b.normprob(b.cost[j])
		return err
	})
	if err != nil {
		return nil, err
	}
	kept := q
	if opts.Memory > 0 && edges > 0 {
		kept = int(min(int64(q), opts.Memory/(4*int64(edges))))
	}
	src, dst := ends(pattern.Source), ends(pattern.Target)
	return b, b.forEach(q, func(p int) error {
		b.arcs[p] = &patternArc{src: int(src[p]), dst: int(dst[p])}
		return b.start(p, p < kept, opts.CorrectedGather)
	})
}

// oneByOne serialises calls of f.
func oneByOne(f func(ops.Trace)) func(ops.Trace) {
	if f == nil {
		return nil
	}
	var mu sync.Mutex
	return func(t ops.Trace) {
		mu.Lock()
		defer mu.Unlock()
		f(t)
	}
}

// forEach calls f with the numbers below n, in several goroutines.
func (b *beliefs) forEach(n int, f func(k int) error) error {
	errs := make([]error, n)
	if err := parallel.Pieces(b.run.Context, b.workers, n, func(_, k int) { errs[k] = f(k) }); err != nil {
		return err
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// ends returns the vertex of each edge in an incidence matrix.
func ends(a *matrix.Matrix[bool]) []int32 { return access.Rows(a.View()).Idx }

// arrange makes the matrices that all columns share.
func (b *beliefs) arrange(data, pattern *Attributed) error {
	with, here := workflow.With(b.run), matrix.On(b.place)
	var s ops.Steps
	turned := func(a *matrix.Matrix[float32]) *matrix.Matrix[float32] {
		m, n := a.Dims()
		t := matrix.New[float32](n, m, here)
		s.Do(ops.Transpose(t, a, with))
		s.Do(t.SetFormat(matrix.CSR))
		return t
	}
	b.pvertices, b.pedges = turned(pattern.Vertices), turned(pattern.Edges)
	_, edges := data.Dims()
	vertex, err := workflow.FullVector(b.place, b.n, true, with)
	s.Do(err)
	incident := func(end *matrix.Matrix[bool]) (*matrix.Matrix[bool], *matrix.Vector[int32]) {
		at, list := matrix.New[bool](b.n, edges, here), matrix.NewVector[int32](edges, here)
		s.Do(ops.Transpose(at, end, with))
		if s.OK() {
			s.Do(ops.MxV(list, semiring.AnySecondi[int32](0), end.Pattern(), vertex.Pattern(), with))
		}
		return at, list
	}
	b.out, b.from = incident(data.Source)
	b.in, b.to = incident(data.Target)
	if s.OK() && b.place == nil {
		s.Do(b.join())
	}
	return s.Err()
}

// join finds the pairs of vertices that edges join.
func (b *beliefs) join() error {
	j := matrix.New[bool](b.n, b.n)
	one, err := matrix.NewFullVector(b.to.Size(), true)
	if err != nil {
		return err
	}
	if err := ops.Scatter(j, semiring.Any[bool](), one, ops.ValuesOf(b.to), ops.ValuesOf(b.from), workflow.With(b.run)); err != nil {
		return err
	}
	if err := j.SetFormat(matrix.CSR); err != nil {
		return err
	}
	b.joined = access.Store(j).Structure
	from, err := b.from.Dense(0)
	if err != nil {
		return err
	}
	to, err := b.to.Dense(0)
	if err != nil {
		return err
	}
	pair := make([]int32, len(to))
	for e, v := range to {
		lo, hi := b.joined.Span(int(v))
		at, _ := slices.BinarySearch(b.joined.Idx[lo:hi], from[e])
		pair[e] = int32(lo) + int32(at)
	}
	b.pair, err = matrix.VectorOf(pair)
	return err
}

// distances returns −√Σ(x−y)² between row k of pattern and each column of data.
func (b *beliefs) distances(pattern *matrix.Matrix[float32], k int, data *matrix.Matrix[float32]) (column, error) {
	f, n := data.Dims()
	if f == 0 || n == 0 {
		return workflow.FullVector[float32](b.place, n, 0, b.with)
	}
	var s ops.Steps
	here := matrix.On(b.place)
	one, squares, row := matrix.New[float32](1, f, here), matrix.New[float32](1, n, here), b.vector(n)
	s.Do(ops.Extract(one, pattern, ops.Of(k), ops.All(), b.with))
	s.Do(one.SetFormat(matrix.CSR))
	s.Do(ops.MxM(squares, plusSquare(), one, data, b.with))
	s.Do(ops.ExtractRow(row, squares, 0, ops.All(), b.with))
	s.Do(ops.Apply(row, minusRoot(), row, b.with))
	return row, s.Err()
}

// vector returns an empty vector where the data lives.
func (b *beliefs) vector(n int) column { return matrix.NewVector[float32](n, matrix.On(b.place)) }

// start initialises arc p.
func (b *beliefs) start(p int, keep, corrected bool) error {
	a := b.arcs[p]
	near, err := b.distances(b.pedges, p, b.edges)
	if err != nil {
		return err
	}
	var s ops.Steps
	toward, err := b.peaks(b.in, near)
	s.Do(err)
	backward, mass, err := b.masses(b.out, near)
	s.Do(err)
	a.mass = mass
	if a.back, a.peak = mass, backward; corrected {
		a.peak = nil
		_, a.back, err = b.masses(b.in, near)
		s.Do(err)
	}
	if !s.OK() {
		return s.Err()
	}
	total, err := b.logSumExp(mass)
	s.Do(err)
	forwardNull, err := ops.ReduceScalar(semiring.Max[float32](), b.mu[a.dst], b.with)
	s.Do(err)
	backwardNull, err := ops.ReduceScalar(semiring.Max[float32](), b.mu[a.src], b.with)
	s.Do(err)
	a.fmax, err = b.strongest(toward, total, backwardNull)
	s.Do(err)
	a.rmax, err = b.strongest(backward, total, forwardNull)
	s.Do(err)
	if keep && s.OK() {
		a.near, err = b.closest(near)
	}
	return errors.Join(s.Err(), err)
}

// peaks returns max x over the edges at each vertex, −∞ where there are none;
// at is N×E.
func (b *beliefs) peaks(at *matrix.Matrix[bool], x column) (column, error) {
	peak, err := workflow.FullVector(b.place, b.n, minusInf, b.with)
	if err != nil {
		return nil, err
	}
	return peak, ops.MxV(peak.Accum(semiring.Max[float32]()), semiring.MaxSecond[float32](), at, x, b.with)
}

// masses returns max x and log Σ exp x over the edges at each vertex, −∞ where
// there are none; at is N×E.
func (b *beliefs) masses(at *matrix.Matrix[bool], x column) (peak, mass column, err error) {
	sums, err := workflow.FullVector(b.place, b.n, noTerms, b.with)
	if err != nil {
		return nil, nil, err
	}
	peak, mass = b.vector(b.n), b.vector(b.n)
	var s ops.Steps
	s.Do(ops.MxV(sums.Accum(addSums()), logSumSecond(), at, x, b.with))
	s.Do(ops.Apply(peak, sumTop(), sums, b.with))
	s.Do(ops.Apply(mass, sumLog(), sums, b.with))
	return peak, mass, s.Err()
}

// closest returns the matrix of the least distances over the edges of a pair, negated: row v has
// the sources of edges into v. On the host all results share their structure, which would take as
// much memory as the values and more time.
func (b *beliefs) closest(near column) (*matrix.Matrix[float32], error) {
	if b.place != nil {
		best := matrix.New[float32](b.n, b.n, matrix.On(b.place))
		return best, ops.Scatter(best, semiring.Max[float32](), near, ops.ValuesOf(b.to), ops.ValuesOf(b.from), b.with)
	}
	best := matrix.NewVector[float32](int(b.joined.NVals))
	if err := ops.ScatterVector(best, semiring.Max[float32](), near, ops.ValuesOf(b.pair), b.with); err != nil {
		return nil, err
	}
	val := access.VectorStore(best).Val
	return access.FromStore(&sparse.Typed[float32]{Structure: b.joined, Val: val}), nil
}

// round sends messages along all edges of the pattern and adds them up.
func (b *beliefs) round() error {
	if err := b.forEach(len(b.arcs), b.send); err != nil {
		return err
	}
	return b.forEach(len(b.mu), func(j int) (err error) {
		mu := b.vector(b.n)
		var s ops.Steps
		s.Do(ops.Apply(mu, semiring.Identity[float32](), b.cost[j], b.with))
		for _, a := range b.arcs {
			if a.dst == j {
				s.Do(ops.EWiseAdd(mu, semiring.Plus[float32](), mu, a.fmax, b.with))
			}
			if a.src == j {
				s.Do(ops.EWiseAdd(mu, semiring.Plus[float32](), mu, a.rmax, b.with))
			}
		}
		if !s.OK() {
			return s.Err()
		}
		b.mu[j], err = b.normprob(mu)
		return err
	})
}

// send replaces FMax and RMax of an edge of the pattern.
func (b *beliefs) send(p int) error {
	a := b.arcs[p]
	near := a.near
	if near == nil {
		d, err := b.distances(b.pedges, p, b.edges)
		if err == nil {
			near, err = b.closest(d)
		}
		if err != nil {
			return err
		}
	}
	vf, vr := b.vector(b.n), b.vector(b.n)
	var s ops.Steps
	s.Do(ops.EWiseMult(vf, semiring.Minus[float32](), b.mu[a.dst], a.fmax, b.with))
	s.Do(ops.EWiseMult(vr, semiring.Minus[float32](), b.mu[a.src], a.rmax, b.with))
	forward, forwardNull, err := b.levels(vf, a.back)
	s.Do(err)
	backward, backwardNull, err := b.levels(vr, a.mass)
	s.Do(err)
	if !s.OK() {
		return s.Err()
	}
	if a.peak != nil {
		s.Do(ops.EWiseMult(vf, semiring.Plus[float32](), vf, a.peak, b.with))
		a.rmax, err = b.strongest(vf, forward, forwardNull)
		s.Do(err)
	} else { // against the direction of the edges, without a transpose
		a.rmax, err = workflow.FullVector(b.place, b.n, forwardNull, b.with)
		s.Do(err)
		s.Do(ops.ApplySecond(vf, semiring.Minus[float32](), vf, float32(forward), b.with))
		if s.OK() {
			s.Do(ops.VxM(a.rmax.Accum(semiring.Max[float32]()), semiring.MaxPlus[float32](), vf, near, b.with, ops.Using(ops.Push)))
		}
	}
	if a.fmax, err = workflow.FullVector(b.place, b.n, backwardNull, b.with); err != nil {
		return err
	}
	s.Do(ops.ApplySecond(vr, semiring.Minus[float32](), vr, float32(backward), b.with))
	s.Do(ops.MxV(a.fmax.Accum(semiring.Max[float32]()), semiring.MaxPlus[float32](), near, vr, b.with, ops.Using(ops.Pull)))
	return s.Err()
}

// levels returns log Σ exp over the messages along all edges, and the largest
// message of a vertex.
func (b *beliefs) levels(v, mass column) (sum float64, null float32, err error) {
	sums := b.vector(b.n)
	if err := ops.EWiseMult(sums, semiring.Plus[float32](), v, mass, b.with); err != nil {
		return 0, 0, err
	}
	if sum, err = b.logSumExp(sums); err != nil {
		return 0, 0, err
	}
	null, err = ops.ReduceScalar(semiring.Max[float32](), v, b.with)
	return sum, null, err
}

// strongest returns the larger of best − sum and null.
func (b *beliefs) strongest(best column, sum float64, null float32) (column, error) {
	v, err := workflow.FullVector(b.place, b.n, null, b.with)
	if err != nil || math.IsInf(sum, -1) { // no messages at all
		return v, err
	}
	return v, ops.ApplySecond(v.Accum(semiring.Max[float32]()), semiring.Minus[float32](), best, float32(sum), b.with)
}

// logSumExp returns log Σ exp x, −∞ of no entries.
func (b *beliefs) logSumExp(x column) (float64, error) {
	top, err := ops.ReduceScalar(semiring.Max[float32](), x, b.with)
	if err != nil || math.IsInf(float64(top), -1) {
		return math.Inf(-1), err
	}
	share := matrix.NewVector[float64](x.Size(), matrix.On(b.place))
	if err := ops.ApplySecond(share, expMinus(), x, top, b.with); err != nil {
		return 0, err
	}
	sum, err := ops.ReduceScalar(semiring.Plus[float64](), share, b.with)
	return float64(top) + math.Log(sum), err
}

// normprob returns x − log Σ exp x.
func (b *beliefs) normprob(x column) (column, error) {
	sum, err := b.logSumExp(x)
	if err != nil {
		return nil, err
	}
	y := b.vector(x.Size())
	return y, ops.ApplySecond(y, semiring.Minus[float32](), x, float32(sum), b.with)
}

// result returns μ as a matrix, a column for each vertex of the pattern.
func (b *beliefs) result() (*matrix.Matrix[float32], error) {
	if b.place == nil {
		val := make([]float32, b.n*len(b.mu))
		for j, mu := range b.mu {
			list, err := mu.Dense(0)
			if err != nil {
				return nil, err
			}
			for v, x := range list {
				val[v*len(b.mu)+j] = x
			}
		}
		return matrix.FromDense(b.n, len(b.mu), val)
	}
	all, plus := matrix.New[float32](b.n, len(b.mu), matrix.On(b.place)), semiring.Plus[float32]()
	for j, mu := range b.mu {
		cols, err := workflow.FullVector(b.place, b.n, int32(j), b.with)
		if err != nil {
			return nil, err
		}
		if err := ops.Scatter(all.Accum(plus), plus, mu, ops.All(), ops.ValuesOf(cols), b.with); err != nil {
			return nil, err
		}
	}
	return all, all.SetFormat(matrix.Full)
}

// expMinus is exp(x − y) in float64, for x ≤ y.
func expMinus() semiring.BinaryOp[float32, float32, float64] {
	return semiring.NewBinary("exp_minus", func(x, y float32) float64 { return expBelow(float64(x) - float64(y)) }, "exp((double)x - (double)y)")
}

// minusRoot is −√x.
func minusRoot() semiring.UnaryOp[float32, float32] {
	return semiring.NewUnary("minus_root", func(x float32) float32 { return -float32(math.Sqrt(float64(x))) }, "-sqrtf(x)")
}

// plusSquare sums (x − y)², which loses nothing where x and y are close, as
// x² + y² − 2xy would.
func plusSquare() semiring.Semiring[float32, float32, float32] {
	return semiring.New(semiring.Plus[float32](), semiring.NewBinary("squared_difference", func(x, y float32) float32 { return (x - y) * (x - y) }, "(x - y) * (x - y)")).
		WithKernels(semiring.Kernels[float32, float32, float32]{
			Axpy: func(y []float32, a float32, b []float32) {
				semiring.AxpyFn(y, a, b, func(x, y float32) float32 { return (x - y) * (x - y) }, func(x, y float32) float32 { return x + y })
			},
		})
}
