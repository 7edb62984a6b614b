//go:build long

package semiring_test

import "testing"

func moreIntegerLaws(t *testing.T) {
	integerLaws[int8](t, "int8")
	integerLaws[int16](t, "int16")
	integerLaws[uint16](t, "uint16")
	integerLaws[int32](t, "int32")
	integerLaws[uint32](t, "uint32")
	integerLaws[uint64](t, "uint64")
}
