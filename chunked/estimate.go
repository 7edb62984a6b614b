package chunked

import (
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
)

// sampled is the number of rows that Estimate samples.
const sampled = 256

// Estimate returns an estimate of the number of entries of X ⊕.⊗ Y, and a bound: no row has more
// entries than products, nor than Y has columns. The estimate scales the bound by the ratio of
// entries to bound in a sample of rows. It takes O(entries) of the factors, on the host.
func Estimate[A, B comparable](x matrix.Source[A], y matrix.Source[B], opts ...ops.Option) (about, bound int64, err error) {
	work, err := ops.Products(x, y, nil, opts...)
	if err != nil {
		return 0, 0, err
	}
	m, k := matrix.AsView[A](x).Dims()
	_, n := matrix.AsView[B](y).Dims()
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
	rows := matrix.New[A](len(list), k)
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
