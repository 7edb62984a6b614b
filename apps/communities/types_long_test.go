//go:build long

package communities

import (
	"testing"

	"github.com/hiveblas/hiveblas/apps/internal/samples"
)

func ofMoreTypes(t *testing.T, s samples.Sample, same func(string) func(*CommunitiesResult, error)) {
	ofType[int](t, s, same)
	ofType[int16](t, s, same)
	ofType[int64](t, s, same)
	ofType[uint](t, s, same)
	ofType[uint8](t, s, same)
	ofType[uint32](t, s, same)
}
