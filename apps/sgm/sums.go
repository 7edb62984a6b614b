package sgm

import (
	"math"

	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// sums are the reductions of SGM, which run where its graphs live and add up in
// float64 for every T.
type sums[T semiring.Float] struct {
	place matrix.Place
	with  ops.Option
}

func (f sums[T]) matrix(m, n int) *matrix.Matrix[T] {
	return matrix.New[T](m, n, matrix.On(f.place))
}

func (f sums[T]) wide(m, n int) *matrix.Matrix[float64] {
	return matrix.New[float64](m, n, matrix.On(f.place))
}

// ones returns the m×n matrix with a 1 at each (from, to).
func (f sums[T]) ones(m, n int, from, to []int32) (*matrix.Matrix[T], error) {
	one := make([]T, len(from))
	for k := range one {
		one[k] = 1
	}
	b := matrix.NewBuilder[T](m, n)
	b.AddBlock(append([]int32(nil), from...), append([]int32(nil), to...), one)
	return b.BuildOn(f.place, nil)
}

// permutation returns the matrix with a 1 at each (k, t[k]).
func (f sums[T]) permutation(t []int32) (*matrix.Matrix[T], error) {
	from := make([]int32, len(t))
	for k := range from {
		from[k] = int32(k)
	}
	return f.ones(len(t), len(t), from, t)
}

// times returns X ⊕.⊗ Y over plus.times.
func (f sums[T]) times(x, y matrix.Source[T]) (*matrix.Matrix[T], error) {
	m, _ := matrix.AsView[T](x).Dims()
	_, n := matrix.AsView[T](y).Dims()
	xy := f.matrix(m, n)
	return xy, ops.MxM(xy, semiring.PlusTimes[T](), x, y, f.with)
}

// trace returns ⟨X, Y⟩ = tr(XᵀY).
func (f sums[T]) trace(x, y matrix.Source[T]) (float64, error) {
	times := semiring.NewBinary("times_wide", func(x, y T) float64 { return float64(x) * float64(y) }, "(double)x * (double)y")
	both := f.wide(matrix.AsView[T](x).Dims())
	if err := ops.EWiseMult(both, times, x, y, f.with); err != nil {
		return 0, err
	}
	return ops.ReduceScalar(semiring.Plus[float64](), both, f.with)
}

// part adds up the entries of some rows and columns, nil for all.
func (f sums[T]) part(a *matrix.View[T], rows, cols []int) (float64, error) {
	m, n := a.Dims()
	pick := func(list []int, size *int) ops.Indices {
		if list == nil {
			return ops.All()
		}
		*size = len(list)
		return ops.Of(list...)
	}
	i, j := pick(rows, &m), pick(cols, &n)
	p, w := f.matrix(m, n), f.wide(m, n)
	if err := ops.Extract(p, a, i, j, f.with); err != nil {
		return 0, err
	}
	if err := ops.Apply(w, semiring.Convert[T, float64](), p, f.with); err != nil {
		return 0, err
	}
	return ops.ReduceScalar(semiring.Plus[float64](), w, f.with)
}

// differences returns |X − Y|.
func (f sums[T]) differences(x, y matrix.Source[T]) (*matrix.Matrix[float64], error) {
	apart := semiring.NewBinary("apart", func(x, y T) float64 { return math.Abs(float64(x) - float64(y)) }, "fabs((double)x - (double)y)")
	d := f.wide(matrix.AsView[T](x).Dims())
	return d, ops.EWiseUnion(d, apart, x, 0, y, 0, f.with)
}

// distance returns Σ|X − Y|.
func (f sums[T]) distance(x, y matrix.Source[T]) (float64, error) {
	d, err := f.differences(x, y)
	if err != nil {
		return 0, err
	}
	return ops.ReduceScalar(semiring.Plus[float64](), d, f.with)
}
