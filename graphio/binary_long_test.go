//go:build long

package graphio

import "testing"

func moreBinaryTypes(t *testing.T) {
	binaryTypes[int](t)
	binaryTypes[int16](t)
	binaryTypes[int64](t)
	binaryTypes[uint](t)
	binaryTypes[uint8](t)
	binaryTypes[uint32](t)
}
