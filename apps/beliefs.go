package apps

import (
	"errors"
	"math"
	"sync"

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
// not depend on each other within a stage.
type beliefs struct {
	run     Run
	with    ops.Option // of an operation on a column
	workers int
	n       int // vertices of the data

	vertices, edges   *matrix.Matrix[float32] // features of the data
	pvertices, pedges *matrix.Matrix[float32] // those of the pattern, a row each
	pairs             *matrix.Matrix[bool]    // joined×E: the edges that join two vertices
	joined            sparse.Structure        // N×N: row v has the sources of the edges into v
	source, target    *matrix.Matrix[bool]    // E×N
	out, in           *matrix.Matrix[bool]    // their transposes
	line              sparse.Structure        // 1×N: a full row, listed

	cost, mu []column // −CV and μ, for each pattern vertex
	arcs     []*patternArc
}

// patternArc is the state of an edge of the pattern.
type patternArc struct {
	src, dst   int
	fmax, rmax column
	mass, back *matrix.Matrix[float32] // 1×N: log Σ exp −CE over the edges out of each vertex, and over those that back gathers by
	peak       column                  // max −CE over the edges out of each vertex
	near       *matrix.Matrix[float32] // max −CE over the edges of each pair, or nil: not kept
}

func newBeliefs(data, pattern *Attributed, opts ClassifyOptions) (*beliefs, error) {
	n, edges := data.Dims()
	np, q := pattern.Dims()
	threads := parallel.Threads(opts.Threads)
	b := &beliefs{run: opts.Run, n: n, workers: max(1, min(threads, max(q, np))), vertices: data.Vertices, edges: data.Edges,
		source: data.Source, target: data.Target, cost: make([]column, np), mu: make([]column, np), arcs: make([]*patternArc, q)}
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
	with := b.run.with()
	var s ops.Steps
	turned := func(a *matrix.Matrix[float32]) *matrix.Matrix[float32] {
		m, n := a.Dims()
		t := matrix.New[float32](n, m)
		s.Do(ops.Transpose(t, a, with))
		s.Do(t.SetFormat(matrix.CSR))
		return t
	}
	b.pvertices, b.pedges = turned(pattern.Vertices), turned(pattern.Edges)
	_, edges := data.Dims()
	b.out, b.in = matrix.New[bool](b.n, edges), matrix.New[bool](b.n, edges)
	s.Do(ops.Transpose(b.out, data.Source, with))
	s.Do(ops.Transpose(b.in, data.Target, with))
	if !s.OK() {
		return s.Err()
	}
	b.line = sparse.Structure{NRows: 1, NCols: b.n, NVals: int64(b.n), Ptr: []int64{0, int64(b.n)}, Idx: make([]int32, b.n)}
	for v := range b.line.Idx {
		b.line.Idx[v] = int32(v)
	}
	b.join(ends(data.Source), access.Rows(b.out.View()).Idx, ends(data.Target))
	return nil
}

// join finds which vertices are joined by edges, and by which: edges in the
// order of their sources, sorted by target, leave those of a pair together.
func (b *beliefs) join(from, bySource, to []int32) {
	at := make([]int64, b.n+1)
	for _, v := range to {
		at[v+1]++
	}
	for v := range b.n {
		at[v+1] += at[v]
	}
	edges := make([]int32, len(to))
	for _, e := range bySource {
		edges[at[to[e]]] = e
		at[to[e]]++
	}
	j := sparse.Structure{NRows: b.n, NCols: b.n, Ptr: make([]int64, b.n+1)}
	first := []int64{}
	for k, e := range edges {
		if k == 0 || to[e] != to[edges[k-1]] || from[e] != from[edges[k-1]] {
			first, j.Idx = append(first, int64(k)), append(j.Idx, from[e])
			j.Ptr[to[e]+1]++
		}
	}
	for v := range b.n {
		j.Ptr[v+1] += j.Ptr[v]
	}
	j.NVals = int64(len(j.Idx))
	b.joined = j
	b.pairs = access.FromStore((&sparse.Structure{NRows: len(j.Idx), NCols: len(edges), NVals: int64(len(edges)),
		Ptr: append(first, int64(len(edges))), Idx: edges}).Pattern())
}

// distances returns −√Σ(x−y)² between row k of pattern and each column of data.
func (b *beliefs) distances(pattern *matrix.Matrix[float32], k int, data *matrix.Matrix[float32]) (column, error) {
	f, n := data.Dims()
	if f == 0 || n == 0 {
		return matrix.NewFullVector[float32](n, 0)
	}
	var s ops.Steps
	one, squares := matrix.New[float32](1, f), matrix.New[float32](1, n)
	s.Do(ops.Extract(one, pattern, ops.Of(k), ops.All(), b.with))
	s.Do(one.SetFormat(matrix.CSR))
	s.Do(ops.MxM(squares, plusSquare, one, data, b.with))
	s.Do(ops.Apply(squares, minusRoot, squares, b.with))
	if !s.OK() {
		return nil, s.Err()
	}
	return access.VectorFromStore(access.Store(squares)), nil
}

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
	a.mass = b.row(mass)
	if a.back, a.peak = a.mass, backward; corrected {
		_, back, err := b.masses(b.in, near)
		s.Do(err)
		a.back, a.peak = b.row(back), nil
	}
	if !s.OK() {
		return s.Err()
	}
	total, err := b.logSumExp(mass)
	s.Do(err)
	forwardNull, err := ops.ReduceScalar(largest32, b.mu[a.dst], b.with)
	s.Do(err)
	backwardNull, err := ops.ReduceScalar(largest32, b.mu[a.src], b.with)
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
	peak, err := logZeros(b.n)
	if err != nil {
		return nil, err
	}
	return peak, ops.MxV(peak.Accum(largest32), maxSecond, at, x, b.with)
}

// masses returns max x and log Σ exp x over the edges at each vertex, −∞ where
// there are none; at is N×E.
func (b *beliefs) masses(at *matrix.Matrix[bool], x column) (peak, mass column, err error) {
	sums, err := matrix.NewFullVector(b.n, noTerms)
	if err != nil {
		return nil, nil, err
	}
	peak, mass = matrix.NewVector[float32](b.n), matrix.NewVector[float32](b.n)
	var s ops.Steps
	s.Do(ops.MxV(sums.Accum(addSums), logSumSecond, at, x, b.with))
	s.Do(ops.Apply(peak, sumTop, sums, b.with))
	s.Do(ops.Apply(mass, sumLog, sums, b.with))
	return peak, mass, s.Err()
}

// row returns a column as a 1×N matrix.
func (b *beliefs) row(x column) *matrix.Matrix[float32] {
	if x == nil || x.Size() != b.n {
		return nil
	}
	return access.FromStore(&sparse.Store[float32]{Structure: b.line, Val: x.Dense(0)})
}

// logZeros returns n times −∞, the logarithm of 0.
func logZeros(n int) (column, error) { return matrix.NewFullVector(n, float32(math.Inf(-1))) }

// closest returns the matrix of the least distances over the edges of a pair,
// negated: row v has the sources of edges into v.
func (b *beliefs) closest(near column) (*matrix.Matrix[float32], error) {
	best := matrix.NewVector[float32](len(b.joined.Idx))
	if err := ops.MxV(best, maxSecond, b.pairs, near, b.with); err != nil {
		return nil, err
	}
	val := access.VectorStore(best).Val
	return access.FromStore(&sparse.Store[float32]{Structure: b.joined, Val: val}), nil
}

// round sends messages along all edges of the pattern and adds them up.
func (b *beliefs) round() error {
	if err := b.forEach(len(b.arcs), b.send); err != nil {
		return err
	}
	return b.forEach(len(b.mu), func(j int) (err error) {
		mu := matrix.NewVector[float32](b.n)
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
	vf, vr := matrix.NewVector[float32](b.n), matrix.NewVector[float32](b.n)
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
		a.rmax, err = matrix.NewFullVector(b.n, forwardNull)
		s.Do(err)
		s.Do(ops.ApplySecond(vf, semiring.Minus[float32](), vf, float32(forward), b.with))
		if s.OK() {
			s.Do(ops.VxM(a.rmax.Accum(largest32), semiring.MaxPlus[float32](), vf, near, b.with, ops.Using(ops.Push)))
		}
	}
	if a.fmax, err = matrix.NewFullVector(b.n, backwardNull); err != nil {
		return err
	}
	s.Do(ops.ApplySecond(vr, semiring.Minus[float32](), vr, float32(backward), b.with))
	s.Do(ops.MxV(a.fmax.Accum(largest32), semiring.MaxPlus[float32](), near, vr, b.with, ops.Using(ops.Pull)))
	return s.Err()
}

// levels returns log Σ exp over the messages along all edges, and the largest
// message of a vertex.
func (b *beliefs) levels(v column, mass *matrix.Matrix[float32]) (sum float64, null float32, err error) {
	all := matrix.NewVector[expSum](1)
	if err := ops.MxV(all, logSumPlus, mass, v, b.with, ops.Using(ops.Pull)); err != nil {
		return 0, 0, err
	}
	if null, err = ops.ReduceScalar(largest32, v, b.with); err != nil {
		return 0, 0, err
	}
	total, _ := all.At(0)
	return total.log(), null, nil
}

// strongest returns the larger of best − sum and null.
func (b *beliefs) strongest(best column, sum float64, null float32) (column, error) {
	v, err := matrix.NewFullVector(b.n, null)
	if err != nil || math.IsInf(sum, -1) { // no messages at all
		return v, err
	}
	return v, ops.ApplySecond(v.Accum(largest32), semiring.Minus[float32](), best, float32(sum), b.with)
}

// logSumExp returns log Σ exp x, −∞ of no entries.
func (b *beliefs) logSumExp(x column) (float64, error) {
	top, err := ops.ReduceScalar(largest32, x, b.with)
	if err != nil || math.IsInf(float64(top), -1) {
		return math.Inf(-1), err
	}
	share := matrix.NewVector[float64](x.Size())
	if err := ops.ApplySecond(share, expMinus, x, top, b.with); err != nil {
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
	y := matrix.NewVector[float32](x.Size())
	return y, ops.ApplySecond(y, semiring.Minus[float32](), x, float32(sum), b.with)
}

// result returns μ as a matrix, a column for each vertex of the pattern.
func (b *beliefs) result() (*matrix.Matrix[float32], error) {
	val := make([]float32, b.n*len(b.mu))
	for j, mu := range b.mu {
		for v, x := range mu.Dense(0) {
			val[v*len(b.mu)+j] = x
		}
	}
	return matrix.FromDense(b.n, len(b.mu), val)
}

// The operators of Classify.
var (
	largest32 = semiring.Max[float32]()
	maxSecond = semiring.MaxSecond[float32]()
	// expMinus is exp(x − y) in float64, for x ≤ y.
	expMinus = semiring.NewBinary("exp_minus", func(x, y float32) float64 { return expBelow(float64(x) - float64(y)) }, "exp((double)x - (double)y)")
	// minusRoot is −√x.
	minusRoot = semiring.NewUnary("minus_root", func(x float32) float32 { return -float32(math.Sqrt(float64(x))) }, "-sqrtf(x)")
	// plusSquare sums (x − y)², which loses nothing where x and y are close, as
	// x² + y² − 2xy would.
	plusSquare = semiring.New(semiring.Plus[float32](), semiring.NewBinary("squared_difference", func(x, y float32) float32 { return (x - y) * (x - y) }, "(x - y) * (x - y)")).
			WithKernels(semiring.Kernels[float32, float32, float32]{
			Axpy: func(y []float32, a float32, b []float32) {
				semiring.AxpyFn(y, a, b, func(x, y float32) float32 { return (x - y) * (x - y) }, func(x, y float32) float32 { return x + y })
			},
		})
)
