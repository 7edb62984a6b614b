//go:build long

package apps

import "testing"

func ssspOfMoreTypes(t *testing.T) {
	t.Run("uint64", func(t *testing.T) { ssspOnDevice[uint64](t, 7) })
}
