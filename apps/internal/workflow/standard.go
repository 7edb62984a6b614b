package workflow

import (
	"bytes"
	"slices"

	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// Degrees returns the number of edges of some vertices.
func (a *Adjacency) Degrees(list []int32) (sum int64) {
	for _, v := range list {
		sum += a.Degree(v)
	}
	return sum
}

// Along returns Σ x over the columns of row v.
func (a *Adjacency) Along(v int32, x []float64) float64 {
	row := a.Of(v)
	var s0, s1, s2, s3 float64
	for ; len(row) >= 4; row = row[4:] {
		s0 += x[row[0]]
		s1 += x[row[1]]
		s2 += x[row[2]]
		s3 += x[row[3]]
	}
	for _, w := range row {
		s0 += x[w]
	}
	return (s0 + s1) + (s2 + s3)
}

// Present returns the numbers of a list that are not negative.
func Present(list []int32) (*matrix.Vector[int32], error) {
	if !slices.ContainsFunc(list, func(x int32) bool { return x < 0 }) {
		return matrix.VectorOf(list)
	}
	var at []int
	var val []int32
	for k, x := range list {
		if x >= 0 {
			at, val = append(at, k), append(val, x)
		}
	}
	return matrix.VectorFromTuples(len(list), at, val, nil)
}

// CountLabels returns the number of labels and the vertices of the largest one, from the vertices
// of each label: size(label(v)) += 1.
func CountLabels(label *matrix.Vector[int32], with ops.Option) (count int, largest int64, err error) {
	n, plus := label.Size(), semiring.Plus[int32]()
	if n == 0 {
		return 0, 0, nil
	}
	size := matrix.NewVector[int32](n, matrix.On(label.Place()))
	one, err := FullVector[int32](label.Place(), n, 1, with)
	if err != nil {
		return 0, 0, err
	}
	defer Discard(size, one)
	if err := ops.ScatterVector(size, plus, one, ops.ValuesOf(label), with); err != nil {
		return 0, 0, err
	}
	most, err := ops.ReduceScalar(semiring.Max[int32](), size, with)
	if err != nil {
		return 0, 0, err
	}
	return int(size.NVals()), int64(most), size.Err()
}

// Symmetric reports whether the structure of a view is symmetric, and finds out if that is unknown.
func Symmetric[T comparable](v *matrix.View[T]) bool {
	rows, cols := &access.Rows(v).Structure, &access.Cols(v).Structure
	return rows.SameAs(cols)
}

// PresentVector returns a vector with the values where present is 1, which is at count positions.
// It copies present.
func PresentVector[T comparable](present []uint8, count int64, val []T) *matrix.Vector[T] {
	n := len(present)
	st := &sparse.Typed[T]{Structure: sparse.Structure{NRows: 1, NCols: n, Format: sparse.Bitmap,
		NVals: count, Present: bytes.Clone(present)}, Val: val}
	if count == int64(n) {
		st.Format, st.Present = sparse.Full, nil
	}
	return access.VectorFromStore(st)
}

// Diagonal returns the matrix with v on its diagonal, where v lives.
func Diagonal[T comparable](v *matrix.Vector[T], with ops.Option) (*matrix.Matrix[T], error) {
	if v.Place() == nil {
		return matrix.Diag(v, 0)
	}
	d := matrix.New[T](v.Size(), v.Size(), matrix.On(v.Place()))
	return d, ops.Scatter(d, semiring.Any[T](), v, ops.All(), ops.All(), with)
}

// DegreesOf returns the number of entries of each row, 0 for empty ones.
func DegreesOf(b *matrix.Matrix[bool], n int, run Run) (*matrix.Vector[int64], error) {
	d, err := FullVector(b.Place(), n, int64(0), With(run))
	if err != nil {
		return nil, err
	}
	plus := semiring.Plus[int64]()
	return d, ops.Reduce(d.Accum(plus), plus, b.Pattern(), With(run))
}

// What the host kernels of the standard set share.

// Adjacency is the structure of a square matrix on the host. The columns of row v ascend.
type Adjacency struct {
	N   int
	Ptr []int64
	Idx []int32
}

// Of returns the columns of row v.
func (a *Adjacency) Of(v int32) []int32 { return a.Idx[a.Ptr[v]:a.Ptr[v+1]] }

// Degree returns the number of columns of row v.
func (a *Adjacency) Degree(v int32) int64 { return a.Ptr[v+1] - a.Ptr[v] }

// Loopless returns the number of columns of row v but v itself.
func (a *Adjacency) Loopless(v int32) int64 {
	if _, loop := slices.BinarySearch(a.Of(v), v); loop {
		return a.Degree(v) - 1
	}
	return a.Degree(v)
}

// RowsOf returns the rows of a pattern on the host.
func RowsOf(a *matrix.View[bool]) *Adjacency {
	s := &access.Rows(a).Structure
	return &Adjacency{s.NRows, RowOffsets(s), s.Idx}
}

// Workflows of the host with a form for all threads take it from standardThreads on, for
// standardWork vertices and edges.
const (
	StandardThreads = 4
	StandardWork    = 1 << 18
)

// Shared reports whether all threads work on a graph of n vertices with so many entries.
func Shared(r Run, n, entries int) bool {
	return parallel.Threads(r.Threads) >= StandardThreads && n+entries >= StandardWork
}

// Expired returns the error of the context.
func Expired(r Run) error {
	if r.Context == nil {
		return nil
	}
	return r.Context.Err()
}

// Announce names the algorithm of a workflow to Trace, before its operations and kernels.
func Announce(r Run, app, algorithm string) {
	if r.Trace != nil {
		r.Trace(ops.Trace{Op: app, Name: algorithm})
	}
}

// Traced reports the kernel of a workflow to Trace.
func Traced(r Run, app, kernel string, n int, work int64) {
	if r.Trace != nil {
		r.Trace(ops.Trace{Op: app, Method: ops.Method(kernel), NVals: int64(n), Work: work})
	}
}

// Begun is the start of every workflow of the standard set: it checks the settings and the graph,
// reports the stage, and chooses the form.
func Begun(app, stage string, g Operand, run Run) (a *matrix.View[bool], n int, form Form, err error) {
	if !forms[app].Device { // an error that comes before errors of the graph
		err = run.notFused(app)
	}
	if err == nil {
		n, err = Square(app, g)
	}
	if err != nil {
		return a, 0, form, err
	}
	Report(run, stage, 0, int64(n))
	if a, err = Pattern(g), Expired(run); err == nil {
		form, err = Choose(run, app, a.Place())
	}
	return a, n, form, err
}

// BegunUndirected is Begun for an undirected graph: the pattern has every edge in both directions.
func BegunUndirected(app, stage string, g Operand, run Run) (a *matrix.View[bool], n int, form Form, err error) {
	if a, n, form, err = Begun(app, stage, g, run); err == nil {
		a, err = UndirectedPattern(g, run, n)
	}
	return a, n, form, err
}

// EachPiece calls f for the pieces of a loop over n items, and reports how many are done.
func EachPiece(r Run, stage string, n, grain int, f func(worker, lo, hi int)) error {
	return parallel.Range(r.Context, r.Threads, n, grain, func(w, lo, hi int) {
		f(w, lo, hi)
		if w == 0 {
			Report(r, stage, int64(hi), int64(n))
		}
	})
}

// UndirectedPattern returns g as the pattern of an undirected graph, edges in
// both directions.
func UndirectedPattern(g Operand, run Run, n int) (*matrix.View[bool], error) {
	a := Pattern(g)
	if access.Symmetric(a) || a.Place() == nil && Symmetric(a) {
		return a, nil
	}
	both := matrix.New[bool](n, n, matrix.On(a.Place()))
	err := ops.EWiseAdd[bool](both, semiring.Lor(), a, a.T(), With(run))
	return matrix.AsView[bool](both.Pattern()), err
}
