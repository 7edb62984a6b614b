//go:build long

package semiring_test

import "testing"

func computesMore(t *testing.T) {
	computes[int8](t)
	computes[int32](t)
	computes[int64](t)
	computes[uint16](t)
	computes[uint64](t)
	computes[uintptr](t)
	computes[float64](t)
	computes[count](t)
	computes[word](t)
}
