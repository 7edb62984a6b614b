// Package lasso smooths values on a graph to piecewise constant ones: the sparse fused lasso, its
// path of penalties and batches of it, by parametric cuts.
package lasso

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

// FusedLassoOptions are the settings of FusedLasso.
type FusedLassoOptions struct {
	workflow.Run
	Lambda1 float64 // λ₁ ≥ 0, of differences over edges; +Inf gives the means of components
	Lambda2 float64 // λ₂ ≥ 0, of values
	// Undirected takes opposite entries of the graph, which must be equal, for one term. Without it
	// every entry is a term, so that a pair listed in both directions counts twice.
	Undirected bool
	// VertexWeights are the weights ν of the squares, positive and finite; nil means all 1.
	VertexWeights *matrix.Vector[float64]
	// Exact goes on until every region is proven. Else the solution ends at a relative duality gap
	// of 1e-8.
	Exact bool
}

// FusedLassoResult is the result of FusedLasso.
type FusedLassoResult struct {
	Lambda1   float64
	B         *matrix.Vector[float64] // the solution, where the graph lives
	Objective float64
	// Gap is the duality gap, by which the objective may be above the optimum, divided by the
	// objective.
	Gap     float64
	Regions int // components of vertices of equal value
	Zeros   int // vertices of value 0
	// Proven says that the regions are the regions of the optimum: flows within the capacities of
	// its edges make each region constant, and the flows over its border are at capacity. It holds
	// but for rounding.
	Proven     bool
	Iterations int // of the dual gradient
	Divided    int // vertices that divide and conquer solved
}

// FusedLasso smooths values on a graph: it returns the b with the least sum of squared errors,
// weighted differences along edges, and absolute values,
//
//	½ Σ ν(i) (y(i) − b(i))² + λ₁ Σ w(i,j) |b(i) − b(j)| + λ₂ Σ ν(i) |b(i)|
//
// with a term for each entry (i, j) of the graph g, which has the weight w ≥ 0 (see Undirected),
// and for the full vector y. Self-loops are ignored. The solution for λ₂ > 0 is the solution for λ₂
// = 0, moved towards 0 by up to λ₂ (Friedman, Hastie, Höfling, Tibshirani: Pathwise coordinate
// optimization, Ann. Appl. Stat. 2007), since vertex weights apply to the third sum too.
//
// With B the incidence matrix of the graph, an accelerated projected gradient
//
//	u ← clip(û + τ Bᵀ x̂, λ₁ w),  x = y − B u / ν
//
// solves the dual problem. From time to time, the regions of equal value that the flows u prove are
// frozen, and the iteration goes on with the others. What is left in the end is solved by minimum
// cuts. See docs/lasso.md. A graph on a device is solved there by fused kernels, which leave at
// most a small rest to the host. Method Pipeline iterates by operations over B where the graph
// lives, without freezing; only with Exact, or after 131,072 iterations, cuts on the host follow.
//
// FusedLasso returns a *ParameterError if a vertex has no entry in y or a number is NaN or
// infinite, and a *WeightError if the weight of an edge is negative, NaN or infinite.
func FusedLasso[T semiring.Number](g matrix.Source[T], y *matrix.Vector[float64], opts ...FusedLassoOptions) (*FusedLassoResult, error) {
	return fusedLasso(workflow.Inside(g), y, opts)
}

func fusedLasso(g rep.View, y *matrix.Vector[float64], opts []FusedLassoOptions) (*FusedLassoResult, error) {
	o, n, err := checkLasso(g, opts)
	if err != nil {
		return nil, err
	}
	values, err := (&lasso{n: n}).values("y", y)
	if err != nil {
		return nil, err
	}
	list, err := lassos(g, o, lassoJobs{{values, o.Lambda1}})
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

// FusedLassoPath returns the solutions of FusedLasso for several λ₁, in the order given; Lambda1 of
// the options is ignored. On the host each solution starts from the flow of the solution for the
// next smaller λ₁. A device solves together the parts that the first iterations of each leave. The
// ranks of a group take ranges of λ₁, the smallest of each without a start; the solutions agree
// with the solutions of one place to the tolerance.
func FusedLassoPath[T semiring.Number](g matrix.Source[T], y *matrix.Vector[float64], lambdas []float64, opts ...FusedLassoOptions) ([]*FusedLassoResult, error) {
	return fusedLassoPath(workflow.Inside(g), y, lambdas, opts)
}

func fusedLassoPath(g rep.View, y *matrix.Vector[float64], lambdas []float64, opts []FusedLassoOptions) ([]*FusedLassoResult, error) {
	o, n, err := checkLasso(g, opts)
	if err != nil {
		return nil, err
	}
	order := make([]int, len(lambdas))
	for k, x := range lambdas {
		if !(x >= 0) {
			return nil, &workflow.ParameterError{App: "FusedLasso", Arg: "λ₁", Got: fmt.Sprint(x), Want: "0 or more"}
		}
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(lambdas[a], lambdas[b]) })
	o.Lambda1 = 0
	values, err := (&lasso{n: n}).values("y", y)
	if err != nil {
		return nil, err
	}
	jobs := make(lassoJobs, len(lambdas))
	for q, k := range order {
		jobs[q] = lassoJob{values, lambdas[k]}
	}
	found, err := lassos(g, o, jobs)
	if err != nil {
		return nil, err
	}
	list := make([]*FusedLassoResult, len(lambdas))
	for q, k := range order {
		list[k] = found[q]
	}
	return list, nil
}

// FusedLassoBatch returns the solutions of FusedLasso for several observations on one graph: the
// columns of the full n×k matrix ys. Threads solve different columns, and so do the ranks of a
// group.
func FusedLassoBatch[T semiring.Number](g matrix.Source[T], ys *matrix.Matrix[float64], opts ...FusedLassoOptions) ([]*FusedLassoResult, error) {
	return fusedLassoBatch(workflow.Inside(g), ys, opts)
}

func fusedLassoBatch(g rep.View, ys *matrix.Matrix[float64], opts []FusedLassoOptions) ([]*FusedLassoResult, error) {
	o, n, err := checkLasso(g, opts)
	if err != nil {
		return nil, err
	}
	columns, err := (&lasso{n: n}).columns(ys)
	if err != nil {
		return nil, err
	}
	jobs := make(lassoJobs, len(columns))
	for k, y := range columns {
		jobs[k] = lassoJob{y, o.Lambda1}
	}
	return lassos(g, o, jobs)
}

// lassoJobs are the solutions wanted of one graph: of one y by ascending λ₁, or of several.
type lassoJobs []lassoJob

// path reports whether the jobs share one y.
func (j lassoJobs) path() bool {
	return len(j) > 0 && len(j[0].y) > 0 && !slices.ContainsFunc(j, func(x lassoJob) bool { return &x.y[0] != &j[0].y[0] })
}

// lassos solves jobs where the graph is.
func lassos(g rep.View, o FusedLassoOptions, jobs lassoJobs) ([]*FusedLassoResult, error) {
	place := g.Place()
	if list, err := lassosByRanges(g, o, jobs); list != nil || err != nil {
		return list, err
	}
	at, err := workflow.FusedOn(o.Run, "FusedLasso", place)
	if err != nil {
		return nil, err
	}
	if at != nil {
		return fusedLassos(at, g, o, jobs)
	}
	l, err := newLasso(g, o)
	if err != nil {
		return nil, err
	}
	var list []*FusedLassoResult
	if o.Method == workflow.Pipeline {
		list, err = l.byOperations(jobs, o, place)
	} else {
		list, err = l.solveAll(jobs, o)
	}
	if err != nil {
		return nil, err
	}
	for _, res := range list {
		if err := res.B.Move(place); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// solveAll solves jobs on the host.
func (l *lasso) solveAll(jobs lassoJobs, o FusedLassoOptions) ([]*FusedLassoResult, error) {
	if jobs.path() {
		return l.path(jobs, o)
	}
	list, errs := make([]*FusedLassoResult, len(jobs)), make([]error, len(jobs))
	threads := parallel.Threads(o.Threads)
	each := o
	each.Threads, each.Progress, each.Trace = max(1, threads/max(len(jobs), 1)), nil, nil
	var done atomic.Int64
	var mu sync.Mutex
	err := parallel.Pieces(o.Context, threads, len(jobs), func(_, c int) {
		own := each
		own.Lambda1 = jobs[c].lambda
		list[c], _, errs[c] = l.solve(jobs[c].y, own, nil, lassoDefaults)
		mu.Lock()
		workflow.Report(o.Run, "fused lasso, observations", done.Add(1), int64(len(jobs)))
		mu.Unlock()
	})
	return list, errors.Join(append(errs, err)...)
}

// path solves the jobs of one y. Each starts from the flow of the one before.
func (l *lasso) path(jobs lassoJobs, o FusedLassoOptions) ([]*FusedLassoResult, error) {
	list := make([]*FusedLassoResult, len(jobs))
	var u []float64
	last := 0.0
	for k, job := range jobs {
		// An edge at capacity is likely to stay there.
		for e, f := range u {
			if math.Abs(f) >= last*l.cap[e] {
				u[e] = math.Copysign(math.MaxFloat64, f)
			}
		}
		o.Lambda1 = job.lambda
		if math.IsInf(o.Lambda1, 1) {
			u = nil
		}
		for e, f := range u {
			u[e] = max(min(f, o.Lambda1*l.cap[e]), -o.Lambda1*l.cap[e])
		}
		var err error
		if list[k], u, err = l.solve(job.y, o, u, lassoDefaults); err != nil {
			return nil, err
		}
		if last = o.Lambda1; last == 0 {
			u = nil
		}
	}
	return list, nil
}

// columns returns the columns of a full matrix.
func (l *lasso) columns(ys *matrix.Matrix[float64]) ([][]float64, error) {
	const app = "FusedLasso"
	if err := workflow.Usable(app, "the values", ys); err != nil {
		return nil, err
	}
	n, k := ys.Dims()
	if n != l.n {
		return nil, &matrix.DimensionError{Op: app, Arg: "the observations", Got: fmt.Sprintf("%d×%d", n, k),
			Want: fmt.Sprintf("%d×k", l.n), Remedy: "give a row for each vertex of the graph and a column for each observation"}
	}
	if ys.NVals() != int64(n)*int64(k) {
		return nil, &workflow.ParameterError{App: app, Arg: "the matrix of observations", Got: fmt.Sprintf("%d entries", ys.NVals()), Want: "an entry at each position"}
	}
	columns := make([][]float64, k)
	for c := range columns {
		columns[c] = make([]float64, n)
	}
	entries, err := ys.AllChecked()
	if err != nil {
		return nil, err
	}
	for at, x := range entries {
		if !(math.Abs(x) <= lassoMost) {
			return nil, workflow.AboutVertices(app, fmt.Sprintf("observation %d of vertex {0}", at.Col), fmt.Sprint(x), "a number between -1e100 and 1e100", at.Row)
		}
		columns[at.Col][at.Row] = x
	}
	return columns, nil
}

// lasso is a graph with what its solutions have in common.
type lasso struct {
	lassoEdges // of capacity w
	n          int
	nu, inv    []float64
	weight     float64 // Σ ν
}

const lassoWeightWanted = "a finite weight of 0 or more"

// checkLasso checks the options and the shape of the graph, and returns its vertices.
func checkLasso(g rep.View, opts []FusedLassoOptions) (o FusedLassoOptions, n int, err error) {
	const app = "FusedLasso"
	if o, err = workflow.Only(app, opts); err != nil {
		return o, 0, err
	}
	if n, err = workflow.Square(app, workflow.Pattern(g)); err != nil {
		return o, 0, err
	}
	switch {
	case !(o.Lambda1 >= 0):
		return o, 0, &workflow.ParameterError{App: app, Arg: "λ₁", Got: fmt.Sprint(o.Lambda1), Want: "0 or more"}
	case !(o.Lambda2 >= 0) || math.IsInf(o.Lambda2, 1):
		return o, 0, &workflow.ParameterError{App: app, Arg: "λ₂", Got: fmt.Sprint(o.Lambda2), Want: "a finite number of 0 or more"}
	}
	workflow.Report(o.Run, "fused lasso", 0, int64(n))
	return o, n, nil
}

func newLasso(g rep.View, o FusedLassoOptions) (*lasso, error) {
	const app = "FusedLasso"
	n, err := workflow.Square(app, workflow.Pattern(g))
	if err != nil {
		return nil, err
	}
	p, err := workflow.PairsOf(app, lassoWeightWanted, g, o.Run, func(x float64) bool { return x >= 0 && x <= math.MaxFloat64 })
	if err != nil {
		return nil, err
	}
	l := &lasso{n: n, nu: slices.Repeat([]float64{1}, n), inv: slices.Repeat([]float64{1}, n), weight: float64(n)}
	l.ptr = append(make([]int32, 0, n+1), 0)
	l.head, l.cap = make([]int32, 0, len(p.Head)/2), make([]float64, 0, len(p.Head)/2)
	for v := range int32(n) {
		for a := p.Ptr[v]; a < p.Ptr[v+1]; a++ {
			if p.Head[a] < v {
				continue
			}
			w, back := p.Value[a], p.Value[p.Sister[a]]
			switch {
			case !o.Undirected:
				w += back
			case w == 0:
				w = back
			case back != 0 && back != w:
				return nil, &workflow.WeightError{App: app, Row: int(v), Col: int(p.Head[a]), Got: fmt.Sprint(w),
					Want: fmt.Sprintf("%v as the opposite edge, since the graph is undirected", back)}
			}
			l.head, l.cap = append(l.head, p.Head[a]), append(l.cap, w)
		}
		l.ptr = append(l.ptr, int32(len(l.head)))
	}
	if o.VertexWeights != nil {
		if l.nu, err = l.weights(o.VertexWeights); err != nil {
			return nil, err
		}
		l.weight = 0
		for v, x := range l.nu {
			l.inv[v] = 1 / x
			l.weight += x
		}
	}
	return l, nil
}

// Values and weights between lassoLeast and lassoMost have squares and sums within float64.
const (
	lassoLeast = 1e-100
	lassoMost  = 1e100
)

// weights returns the weights of the vertices on the host.
func (l *lasso) weights(v *matrix.Vector[float64]) ([]float64, error) {
	nu, err := l.values("the vertex weights", v)
	if err != nil {
		return nil, err
	}
	for v, x := range nu {
		if !(x >= lassoLeast) {
			return nil, workflow.AboutVertices("FusedLasso", "the weight of vertex {0}", fmt.Sprint(x), "a positive number, 1e-100 or more", v)
		}
	}
	return nu, nil
}

// values returns the values of a full vector on the host.
func (l *lasso) values(arg string, y *matrix.Vector[float64]) ([]float64, error) {
	const app = "FusedLasso"
	if y == nil {
		return nil, &workflow.ParameterError{App: app, Arg: arg, Got: "nil", Want: "a vector with a value for each vertex"}
	}
	if err := y.Err(); err != nil {
		return nil, err
	}
	if y.Size() != l.n {
		return nil, &matrix.DimensionError{Op: app, Arg: arg, Got: fmt.Sprintf("of %d vertices", y.Size()),
			Want: fmt.Sprintf("of %d vertices, as the graph", l.n), Remedy: "give a value for each vertex of the graph"}
	}
	entries, err := y.AllChecked()
	if err != nil {
		return nil, err
	}
	list, next := make([]float64, l.n), 0
	for v, x := range entries {
		if v != next {
			break
		}
		if !(math.Abs(x) <= lassoMost) {
			return nil, workflow.AboutVertices(app, fmt.Sprintf("entry {0} of %s", arg), fmt.Sprint(x), "a number between -1e100 and 1e100", v)
		}
		list[v] = x
		next++
	}
	if next < l.n {
		return nil, workflow.AboutVertices(app, arg, "without an entry for vertex {0}", "a value for each vertex", next)
	}
	return list, nil
}
