//go:build long

package auction

import "testing"

func solveMore(t *testing.T, g grid) {
	solveAll(t, g, full[uint8](t, g))
	solveAll(t, g, full[uint64](t, g))
}
