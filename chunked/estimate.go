package chunked

import (
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
)

// sampled is the number of rows that Estimate samples.
const sampled = 256

// Estimate returns an estimate of the number of entries of X ⊕.⊗ Y, and a bound: no row has more
// entries than products, nor than Y has columns. The estimate scales the bound by the ratio of
// entries to bound in a sample of rows. It takes O(entries) of the factors, on the host.
func Estimate[A, B comparable](x matrix.Source[A], y matrix.Source[B], opts ...ops.Option) (about, bound int64, err error) {
	return estimate(patternOf(x), patternOf(y), opts)
}

// patternOf returns the structure of a factor, which may be nil.
func patternOf(a interface{ Inside() rep.View }) (p matrix.Source[bool]) {
	if a == nil {
		return nil
	}
	v := a.Inside()
	v.Matrix = v.Pattern()
	return matrix.ViewOf[bool](v)
}

// mostEntries returns bounds of the entries of each row of a product.
func mostEntries(x, y rep.View, opts ...ops.Option) ([]int64, error) {
	m, _ := x.Dims()
	_, n := y.Dims()
	x.Matrix, y.Matrix = x.Pattern(), y.Pattern()
	work, err := ops.Products(matrix.ViewOf[bool](x), matrix.ViewOf[bool](y), nil, opts...)
	if err != nil {
		return nil, err
	}
	sizes := make([]int64, m)
	for i, w := range work.All() {
		sizes[i] = min(w, int64(n))
	}
	return sizes, nil
}

// estimate is Estimate of structures.
func estimate(x, y matrix.Source[bool], opts []ops.Option) (about, bound int64, err error) {
	work, err := ops.Products(x, y, nil, opts...)
	if err != nil {
		return 0, 0, err
	}
	m, k := x.Inside().Dims()
	_, n := y.Inside().Dims()
	var list []int
	var inSample int64
	step := max(m/sampled, 1)
	for i, w := range work.All() {
		most := min(w, int64(n))
		bound += most
		if i%step == step/2 {
			list = append(list, i)
			inSample += most
		}
	}
	if inSample == 0 {
		return bound, bound, work.Err()
	}
	rows := matrix.New[bool](len(list), k)
	if err := ops.Extract(rows, x, ops.Of(list...), ops.All(), opts...); err != nil {
		return 0, 0, err
	}
	sizes, _, err := ops.Sizes(rows, y, nil, opts...)
	if err != nil {
		return 0, 0, err
	}
	var entries int64
	for _, s := range sizes {
		entries += s
	}
	return int64(float64(bound) * float64(entries) / float64(inSample)), bound, nil
}
