//go:build long

package semiring_test

import "testing"

func checkMoreNumbers(t *testing.T) {
	checkNumbers[int8](t)
	checkNumbers[uint8](t)
	checkNumbers[int16](t)
	checkNumbers[uint32](t)
	checkNumbers[int64](t)
	checkNumbers[uint64](t)
	checkNumbers[float32](t)
}
