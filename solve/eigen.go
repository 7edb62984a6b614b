package solve

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/lapack"
	lapacks "gonum.org/v1/gonum/lapack/gonum"

	"github.com/hiveblas/hiveblas/internal/splitmix"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
)

// Which eigenvalues Eigen finds.
type Which int

// The ends of the spectrum.
const (
	Largest   Which = iota // the algebraically largest, in descending order
	Smallest               // the algebraically smallest, in ascending order
	Magnitude              // the largest in magnitude, in descending order of magnitude
)

func (w Which) String() string {
	if names := []string{"largest", "smallest", "magnitude"}; w >= 0 && int(w) < len(names) {
		return names[w]
	}
	return fmt.Sprintf("Which(%d)", int(w))
}

// EigenOptions are the settings of Eigen. The zero value has the defaults.
type EigenOptions[T Real] struct {
	Which Which
	// Tolerance accepts a pair once ‖A·v − λv‖ ≤ max(Tolerance·|λ|, 4ε‖A‖) for the rounding ε of
	// the element type. 0 means 1e-8, or 1e-4 in float32.
	Tolerance     float64
	MaxProducts   int               // with A; 0 means 100 for each vertex, and at least 10 000
	Basis         int               // vectors kept at most; 0 means 2k + 10, and at least 20
	Start         *matrix.Vector[T] // nil: random numbers
	Seed          uint64            // of random numbers
	CheckSymmetry bool              // see Options
	// SkipCopies leaves out the search for further copies of eigenvalues: the products that show
	// that there is none. An eigenvalue of several vectors may then have too few.
	SkipCopies bool

	Context  context.Context
	Threads  int
	Trace    func(ops.Trace)
	Progress func(products, found int) // after each restart: pairs within the tolerance
}

// EigenResult is the result of Eigen.
type EigenResult[T Real] struct {
	Values    []float64
	Vectors   []*matrix.Vector[T] // of norm 1, orthogonal, at the place of the matrix
	Residuals []float64           // ‖A·v − λv‖ of each pair, as the iteration estimates it
	Products  int                 // with A
	Restarts  int
	Converged int // pairs within the tolerance
}

// Eigen finds the k extreme eigenvalues of a symmetric matrix A, n×n, and their vectors, by the
// Lanczos method with thick restarts and full orthogonalisation (Wu and Simon, SIAM Journal on
// Matrix Analysis and Applications 22, 2000):
//
//	A V = V T + β v eᵀ,   T = S Θ Sᵀ,   V ← V S
//
// An eigenvalue of several vectors stands as often in the result: once k pairs are found, Eigen
// continues from a random vector orthogonal to them until the next eigenvalue is known to be apart.
//
// A step is one product with A, and a dot product and a sum with each vector of the basis; memory
// is 2·Basis vectors. The smallest eigenvalues of a Laplacian of a grid or a road network lie close
// together for their spread, and take many steps. Eigen returns a *NotConvergedError with the pairs
// so far after MaxProducts, a *matrix.InvalidError if k is not within 1 … n, and errors as
// [MINRES].
func Eigen[T Real](a matrix.Source[T], k int, opts ...EigenOptions[T]) (*EigenResult[T], error) {
	if _, single := any(*new(T)).(float32); single {
		res, err := eigenOf[float32](a, k, opts)
		return any(res).(*EigenResult[T]), err
	}
	res, err := eigenOf[float64](a, k, opts)
	return any(res).(*EigenResult[T]), err
}

func eigenOf[T Real](a any, k int, opts any) (*EigenResult[T], error) {
	const op = "Eigen"
	o, err := only(op, opts.([]EigenOptions[T]))
	if err != nil {
		return nil, err
	}
	source, _ := a.(matrix.Source[T])
	v, _, n, err := checked(op, source, false)
	if err != nil {
		return nil, err
	}
	if o.Start != nil {
		if err := fits(op, "Start", o.Start, n); err != nil {
			return nil, err
		}
	}
	eps := epsilon[T]()
	if o.Tolerance == 0 {
		if o.Tolerance = 1e-8; eps > 1e-8 {
			o.Tolerance = 1e-4
		}
	}
	if o.MaxProducts == 0 {
		o.MaxProducts = max(10_000, 100*n)
	}
	if o.Basis == 0 {
		o.Basis = max(20, 2*k+10)
	}
	invalid := func(format string, args ...any) (*EigenResult[T], error) {
		return nil, &matrix.InvalidError{Op: op, Reason: fmt.Sprintf(format, args...)}
	}
	switch {
	case k < 1 || k > n:
		return invalid("k is %d, want 1 … %d, the order of the matrix", k, n)
	case !(o.Tolerance > 0) || math.IsInf(o.Tolerance, 1):
		return invalid("Tolerance is %v, want a positive number", o.Tolerance)
	case o.MaxProducts < 1:
		return invalid("MaxProducts is %d, want 1 or more", o.MaxProducts)
	case o.Basis < k+2 && o.Basis < n:
		return invalid("Basis is %d, want at least k + 2 = %d", o.Basis, k+2)
	case o.Which < Largest || o.Which > Magnitude:
		return invalid("Which is %d, want Largest, Smallest or Magnitude", int(o.Which))
	}
	with := ops.WithOptions(ops.WithThreads(o.Threads), ops.WithContext(o.Context), ops.WithTraces(o.Trace))
	if o.Trace != nil {
		o.Trace(ops.Trace{Op: op, Name: "Lanczos"})
	}
	s := spaceOf[T](v, nil, o.Threads, with)
	if o.CheckSymmetry {
		if e, found := s.asymmetry(); found {
			e.Method = op
			return nil, &e
		}
	}
	l := &lanczos{space: s, n: n, k: k, width: min(o.Basis, n), most: o.MaxProducts, which: o.Which,
		tolerance: o.Tolerance, eps: eps, once: o.SkipCopies, state: o.Seed, progress: o.Progress}
	if o.Start != nil {
		l.run(s.given(o.Start))
	} else {
		l.run(l.randomVector())
	}
	if l.failed != nil && s.OK() {
		return nil, l.failed
	}
	res := &EigenResult[T]{Products: l.products, Restarts: l.restarts, Converged: l.found,
		Values: l.theta[:min(k, len(l.theta))], Residuals: l.residual[:min(k, len(l.theta))]}
	for i := range res.Values {
		res.Vectors = append(res.Vectors, l.basis.row(i).(*matrix.Vector[T]))
	}
	if err := s.Err(); err != nil {
		return nil, err
	}
	if !l.done {
		worst := slices.Max(res.Residuals)
		return res, &NotConvergedError{op, l.products, worst, l.bound(res.Values[len(res.Values)-1])}
	}
	return res, nil
}

// lanczos is the state of Eigen.
type lanczos struct {
	space
	n, k, width, most int
	which             Which
	tolerance, eps    float64
	once              bool // no search for copies
	state, drawn      uint64
	progress          func(products, found int)

	basis    frame // its first count rows
	count    int
	t        [][]float64 // symmetric, of the order of the basis
	norm     float64     // the largest |θ| that was met, for ‖A‖
	theta    []float64   // Ritz values, the wanted ones first
	residual []float64
	products int
	restarts int
	found    int
	done     bool
	failed   error
}

// randomVector returns numbers between −1 and 1.
func (l *lanczos) randomVector() vec {
	return l.random(l.n, func() float64 {
		l.drawn++
		return float64(int64(splitmix.At(l.drawn, l.state))) / (1 << 63)
	})
}

// bound is the residual at which a pair is accepted.
func (l *lanczos) bound(theta float64) float64 {
	return max(l.tolerance*math.Abs(theta), 4*l.eps*l.norm)
}

// orthogonalise makes w orthogonal to the basis and returns the norm that is left. It first
// subtracts the known coefficients h, and adds to these what else it subtracts. A pass over the
// basis that takes more than half of the norm is repeated (Daniel, Gragg, Kaufman and Stewart,
// Mathematics of Computation 30, 1976).
func (l *lanczos) orthogonalise(w vec, h []float64) (left float64) {
	l.basis.subtract(w, h)
	left = norm(l, w)
	for pass := 0; l.OK(); pass++ {
		more := l.basis.dots(w)
		l.basis.subtract(w, more)
		for i := range h {
			h[i] += more[i]
		}
		before := left
		if left = norm(l, w); pass == 2 || !(left < before/2) {
			break
		}
	}
	return left
}

// extend adds w to the basis after orthogonalise; with a norm of rounding only, a random vector in
// its place. It returns the norm of w, 0 for a random vector.
func (l *lanczos) extend(w vec, left float64) float64 {
	beta := left
	for try := 0; left <= 4*l.eps*max(l.norm, math.SmallestNonzeroFloat32) || !(left > 0); try++ {
		if !l.OK() || try > 3 || l.count == l.n {
			return 0
		}
		beta, w = 0, l.randomVector()
		l.scale(w, 1/norm(l, w)*max(l.norm, 1))
		left = l.orthogonalise(w, nil)
	}
	l.scale(w, 1/left)
	l.basis.put(w)
	l.count++
	return beta
}

// run finds the pairs. kept is the number of Ritz vectors at the front of the basis.
func (l *lanczos) run(start vec) {
	l.basis = l.frame(l.n)
	l.extend(start, norm(l, start))
	border := []float64{} // of the kept Ritz vectors with the next vector
	again := false        // the search for copies has begun
	for l.OK() {
		last := l.fillBasis(border)
		if l.failed != nil || !l.OK() {
			return
		}
		s := l.project(last)
		if l.failed != nil {
			return
		}
		l.found = 0
		for l.found < l.k && l.found < len(l.theta) && l.residual[l.found] <= l.bound(l.theta[l.found]) {
			l.found++
		}
		if l.progress != nil {
			l.progress(l.products, l.found)
		}
		if len(l.theta) == l.n { // the basis is complete
			l.found = l.k
		}
		l.done = l.found == l.k && (len(l.theta) == l.n || l.once || again && l.apart())
		if l.done || l.products >= l.most {
			l.rotate(s, min(l.k, len(l.theta)))
			return
		}
		l.restarts++
		keep := min(l.k+(l.width-l.k)/3, l.width-2)
		border = make([]float64, keep)
		next := l.randomVector
		if l.found == l.k && !again { // further copies
			again, keep, border = true, l.k, make([]float64, l.k)
		} else {
			beyond := l.basis.row(len(l.theta))
			next = func() vec { return beyond }
			for i := range border {
				border[i] = last * s[i][len(s)-1]
			}
		}
		l.rotate(s, keep)
		w := next()
		l.extend(w, l.orthogonalise(w, nil))
	}
}

// apart reports whether the pair after the wanted ones is known to be no better.
func (l *lanczos) apart() bool {
	if l.k >= len(l.theta) {
		return true
	}
	next, last := l.theta[l.k], l.theta[l.k-1]
	if l.residual[l.k] <= l.bound(next) {
		return true
	}
	gap := 0.0
	switch l.which {
	case Largest:
		gap = last - next
	case Smallest:
		gap = next - last
	default:
		gap = math.Abs(last) - math.Abs(next)
	}
	return l.residual[l.k] < gap
}

// fillBasis takes Lanczos steps until the basis is full. The kept Ritz vectors have border with the
// vector after them. It returns the norm of the vector beyond the basis.
func (l *lanczos) fillBasis(border []float64) (last float64) {
	kept := len(border)
	l.t = make([][]float64, l.width)
	for i := range l.t {
		l.t[i] = make([]float64, l.width)
	}
	for i, x := range border {
		l.t[i][i], l.t[i][kept], l.t[kept][i] = l.theta[i], x, x
	}
	for j := kept; j < l.width && l.OK(); j++ {
		w := l.zeros(l.n)
		l.multiply(w, l.basis.row(j))
		l.products++
		h := make([]float64, j+1) // what A adds to a vector along those before it
		if j == kept {
			copy(h, border)
		} else {
			h[j-1] = last
		}
		h[j] = l.dot(l.basis.row(j), w)
		left := l.orthogonalise(w, h)
		if x := h[j]; math.IsNaN(x) || math.IsInf(x, 0) {
			l.failed = &BreakdownError{"Eigen", l.products, "a product is not finite; the matrix has such numbers, or numbers overflow"}
			return 0
		}
		for i := range j + 1 {
			l.t[i][j], l.t[j][i] = h[i], h[i]
		}
		l.norm = max(l.norm, math.Abs(h[j]), left)
		if last = l.extend(w, left); l.count < min(j+2, l.width) && l.OK() {
			l.failed = &BreakdownError{"Eigen", l.products, "no vector orthogonal to the basis was found"}
		}
		if l.failed != nil {
			return 0
		}
	}
	return last
}

// project finds the Ritz values and their residuals, ordered by Which, and returns the eigenvectors
// of T in that order, in rows.
func (l *lanczos) project(last float64) [][]float64 {
	values, vectors, ok := symmetricEigen(l.t)
	if !ok {
		l.failed = &BreakdownError{"Eigen", l.products, "the eigenvalues of the projected matrix were not found"}
		return nil
	}
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		x, y := values[i], values[j]
		switch l.which {
		case Largest:
			return cmp.Compare(y, x)
		case Smallest:
			return cmp.Compare(x, y)
		}
		return cmp.Compare(math.Abs(y), math.Abs(x))
	})
	s := make([][]float64, len(order))
	l.theta, l.residual = make([]float64, len(order)), make([]float64, len(order))
	for to, from := range order {
		l.theta[to], s[to] = values[from], vectors[from]
		l.norm = max(l.norm, math.Abs(values[from]))
		l.residual[to] = math.Abs(last * s[to][len(order)-1])
	}
	return s
}

// rotate replaces the basis by the first keep Ritz vectors.
func (l *lanczos) rotate(s [][]float64, keep int) {
	l.basis, l.count = l.basis.rotated(s[:keep]), keep
}

// symmetricEigen returns the eigenvalues of a small symmetric matrix in ascending order, and its
// eigenvectors in rows. ok is false if the iteration of LAPACK fails.
func symmetricEigen(t [][]float64) (values []float64, vectors [][]float64, ok bool) {
	n := len(t)
	a, values := slices.Concat(t...), make([]float64, n)
	work := make([]float64, max(1, 3*n-1))
	if ok = (lapacks.Implementation{}).Dsyev(lapack.EVCompute, blas.Upper, n, a, max(1, n), values, work, len(work)); !ok {
		return nil, nil, false
	}
	vectors = make([][]float64, n)
	for j := range vectors { // column j of a
		vectors[j] = make([]float64, n)
		for i := range n {
			vectors[j][i] = a[i*n+j]
		}
	}
	return values, vectors, true
}
