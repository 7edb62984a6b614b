package chunked

import (
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
)

// sampled is how many rows Estimate looks at.
const sampled = 256

// Estimate returns about how many entries X ⊕.⊗ Y has, and a bound: no row has
// more than its products, nor than Y has columns. The estimate scales the bound
// by what it is worth in a sample of rows, whose entries are counted. It takes
// O(entries) of the factors, on the host.
func Estimate[A, B comparable](x matrix.Source[A], y matrix.Source[B], opts ...ops.Option) (about, bound int64, err error) {
	work, err := ops.Products(x, y, nil, opts...)
	if err != nil {
		return 0, 0, err
	}
	m, k := x.View().Dims()
	_, n := y.View().Dims()
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
