package lasso

import (
	"math"
	"slices"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
)

// lassoSettings say how a solution changes between its parts.
type lassoSettings struct {
	first       int     // iterations before the first check
	more        float64 // of the iterations, until the next one
	turn        int     // iterations between two attempts of cuts
	work        int64   // arcs that a cut may read for each vertex; doubled after each attempt
	patience    int64   // factor of work for groups that leave other threads work
	certificate bool    // cuts solve the last hundredth only
}

// lassoDefaults are measured on a triangulated planar graph of 213k vertices, a space-time grid of
// 215k with sparse spikes and a grid of 512². Cuts of the large groups of planar graphs take .3 to
// 2.5 µs a vertex, cuts of the space-time grid (λ₁ = 6) over 50.
var lassoDefaults = lassoSettings{first: 50, more: .15, turn: 300, work: 60, patience: 8}

// lassoTolerance is the relative duality gap that ends a solution that need not be exact.
const lassoTolerance = 1e-8

// solve returns the solution for y, and its flow. It consumes y and the flow to start from, which
// may be nil.
func (l *lasso) solve(y []float64, o FusedLassoOptions, u []float64, how lassoSettings) (*FusedLassoResult, []float64, error) {
	res := &FusedLassoResult{Lambda1: o.Lambda1}
	threads := parallel.Threads(o.Threads)
	s, scale, bound := l.solution(y, o)
	most, slack := s.most, math.Inf(1)
	for _, x := range most {
		slack = min(slack, x)
	}
	if o.Lambda1 == 0 || bound == 0 || len(l.cap) == 0 {
		copy(s.b, y)
		return res, s.u, s.finish(res, o)
	}
	if u == nil {
		u = make([]float64, len(most))
	}
	p := &lassoPart{lassoEdges: lassoEdges{ptr: l.ptr, head: l.head, cap: most}, nu: l.nu, inv: l.inv,
		load: make([]float64, l.n), u: u, before: slices.Clone(u)}
	for v, x := range y {
		p.load[v] = l.nu[v] * x
	}
	p.restart()
	p.prepare(threads)
	total := int64(l.n)
	if err := s.drive(p, res, o, how, threads, scale, slack >= bound); err != nil {
		return nil, nil, err
	}
	workflow.Report(o.Run, "fused lasso", total, total)
	if o.Trace != nil {
		o.Trace(ops.Trace{Op: "FusedLasso", Method: "dual", NVals: total, Work: int64(res.Iterations)})
	}
	return res, s.u, s.finish(res, o)
}

// solution returns a solution in the making for y, the largest |y|, and a bound of all flows.
func (l *lasso) solution(y []float64, o FusedLassoOptions) (s *lassoSolution, scale, bound float64) {
	// No flow exceeds the deviation from the mean, which bounds infinite capacities.
	mean := 0.0
	for v, x := range y {
		mean += x * (l.nu[v] / l.weight)
		scale = max(scale, math.Abs(x))
	}
	for v, x := range y {
		bound += l.nu[v] * math.Abs(x-mean)
	}
	most := make([]float64, len(l.cap))
	for k, w := range l.cap {
		most[k] = min(o.Lambda1*w, bound)
	}
	return &lassoSolution{lasso: l, y: y, most: most, b: slices.Repeat([]float64{math.NaN()}, l.n),
		u: make([]float64, len(most)), proven: true}, scale, bound
}

// drive solves a part for λ₂ = 0. The limits of cuts are shares of its vertices. With free, no flow
// reaches a capacity, so that the first check may end it.
func (s *lassoSolution) drive(p *lassoPart, res *FusedLassoResult, o FusedLassoOptions, how lassoSettings, threads int, scale float64, free bool) error {
	total, done := int64(s.n), res.Iterations
	// Iterations go on while they freeze many vertices, and then up to as many as cuts may cost.
	check, until, limit := how.first, how.first, how.work
	if free {
		check = 0
	}
	for p != nil {
		for res.Iterations-done < check {
			if o.Context != nil && o.Context.Err() != nil {
				return o.Context.Err()
			}
			times := min(check-(res.Iterations-done), 1+(1<<22)/(len(p.head)+len(p.load)))
			p.iterate(times)
			res.Iterations += times
		}
		before, view := len(p.load), p.findCandidates()
		p = p.freeze(view, s.b, s.u, threads)
		if p == nil {
			break
		}
		left, now := len(p.load), res.Iterations-done
		workflow.Report(o.Run, "fused lasso", total-int64(left), total)
		if !o.Exact && s.takeMeans(p) {
			break
		}
		if !how.certificate && now >= until && 5*left > 4*before || 100*left < s.n {
			rest, err := p.split(o.Context, threads, s.b, s.u, scale, limit, how.patience)
			if err != nil {
				return err
			}
			res.Divided += left
			if rest != nil {
				res.Divided -= len(rest.load)
			}
			p = rest
			until, limit = max(2*until, now+how.turn), 2*limit
		}
		check = now + max(how.first, int(how.more*float64(now)), 1)
	}
	return nil
}

// lassoSolution is a solution for λ₂ = 0 in the making: its values, NaN where they are not final,
// and the flow.
type lassoSolution struct {
	*lasso
	y, most, b, u []float64
	proven        bool
}

// takeMeans reports whether the means of the candidate regions of a part, with the final values of
// the other vertices, are within the tolerance of the optimum, and takes them if so.
func (s *lassoSolution) takeMeans(p *lassoPart) bool {
	v := p.findCandidates()
	dual := 0.0 // ½ Σ ν y² − ½ Σ ν x²
	for i, x := range s.b {
		if !math.IsNaN(x) {
			dual += .5 * s.nu[i] * (s.y[i] - x) * (s.y[i] + x)
		}
	}
	gap := 0.0
	for i, x := range p.x {
		y, b := s.y[p.vertexName(int32(i))], v.value[v.region[i]]
		dual += .5 * p.nu[i] * (y - x) * (y + x)
		gap += .5 * p.nu[i] * (b - x) * (b - x)
		for k := p.ptr[i]; k < p.ptr[i+1]; k++ {
			d := b - v.value[v.region[p.head[k]]]
			gap += p.cap[k]*math.Abs(d) - p.u[k]*d
		}
	}
	// Flows over the border of the part are at capacity. They count only if the means agree with
	// their directions, so the gap of the whole is computed before it is trusted.
	if !(gap <= lassoTolerance*dual) {
		return false
	}
	b, u := slices.Clone(s.b), slices.Clone(s.u)
	for i := range p.x {
		b[p.vertexName(int32(i))] = v.value[v.region[i]]
	}
	for k, f := range p.u {
		u[p.edgeName(int32(k))] = f
	}
	if objective, gap := s.value(b, u, 0); !(gap <= lassoTolerance*objective) {
		return false
	}
	s.b, s.u, s.proven = b, u, false
	return true
}

// value returns the objective and the duality gap of values and a flow.
func (s *lassoSolution) value(b, u []float64, lambda2 float64) (objective, gap float64) {
	load := make([]float64, s.n)
	for v, x := range s.y {
		load[v] = s.nu[v] * x
	}
	for i := range int32(s.n) {
		for k := s.ptr[i]; k < s.ptr[i+1]; k++ {
			j := s.head[k]
			load[i] -= u[k]
			load[j] += u[k]
			if d := b[i] - b[j]; d != 0 {
				objective += s.most[k] * math.Abs(d)
				gap += s.most[k]*math.Abs(d) - u[k]*d
			}
		}
	}
	for v, x := range b {
		z := load[v] * s.inv[v]
		sign := max(min(z, lambda2), -lambda2)
		d, e := s.y[v]-x, x-(z-sign)
		objective += s.nu[v] * (.5*d*d + lambda2*math.Abs(x))
		gap += s.nu[v] * (.5*e*e + lambda2*math.Abs(x) - sign*x)
	}
	return objective, max(gap, 0)
}

// finish computes the values of the regions from y and the flows over their borders, in the order
// of the vertices, and the figures of the result.
func (s *lassoSolution) finish(res *FusedLassoResult, o FusedLassoOptions) (err error) {
	region, count := s.regions()
	if s.proven {
		sum, weight := make([]float64, s.n), make([]float64, s.n)
		for v, r := range region {
			sum[r] += s.nu[v] * s.y[v]
			weight[r] += s.nu[v]
		}
		for i := range int32(s.n) {
			for k := s.ptr[i]; k < s.ptr[i+1]; k++ {
				a, b := region[i], region[s.head[k]]
				switch {
				case a == b:
				case s.b[i] > s.b[s.head[k]]:
					sum[a] -= s.most[k]
					sum[b] += s.most[k]
				default:
					sum[a] += s.most[k]
					sum[b] -= s.most[k]
				}
			}
		}
		for v, r := range region {
			s.b[v] = sum[r] / weight[r]
		}
	}
	if o.Lambda2 > 0 {
		for v, x := range s.b {
			s.b[v] = soft(x, o.Lambda2)
		}
		_, count = s.regions()
	}
	for _, x := range s.b {
		if x == 0 {
			res.Zeros++
		}
	}
	squares := 0.0
	for v, x := range s.y {
		squares += .5 * s.nu[v] * x * x
	}
	var gap float64
	res.Regions, res.Proven = count, s.proven
	if res.Objective, gap = s.value(s.b, s.u, o.Lambda2); gap > 0 {
		res.Gap = gap / max(res.Objective, 1e-15*squares) // an objective of 0 is rounding
	}
	res.B, err = matrix.VectorOf(s.b)
	return err
}

// regions returns the first vertex of the region of each vertex, and the number of regions: the
// components of the edges between equal values.
func (s *lassoSolution) regions() (region []int32, count int) {
	region, count = make([]int32, s.n), s.n
	scale := 0.0
	for v, x := range s.b {
		region[v] = int32(v)
		scale = max(scale, math.Abs(x))
	}
	find := func(i int32) int32 {
		for region[i] != i {
			region[i] = region[region[i]]
			i = region[i]
		}
		return i
	}
	for i := range int32(s.n) {
		for k := s.ptr[i]; k < s.ptr[i+1]; k++ {
			if math.Abs(s.b[i]-s.b[s.head[k]]) <= lassoEqual*scale {
				if a, c := find(i), find(s.head[k]); a != c {
					region[max(a, c)] = min(a, c)
					count--
				}
			}
		}
	}
	for v := range region {
		region[v] = find(int32(v))
	}
	return region, count
}

// lassoEqual is the relative difference of values that count as equal.
const lassoEqual = 1e-10

// soft moves x towards 0 by up to λ.
func soft(x, lambda float64) float64 {
	switch {
	case x > lambda:
		return x - lambda
	case x < -lambda:
		return x + lambda
	}
	return 0
}
