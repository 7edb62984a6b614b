//go:build long

package project

import (
	"math"
	"testing"

	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"pgregory.net/rapid"
)

func checkMoreCounts(t *testing.T) {
	checkCounts[uint8](t, 255, 256, 257, 512)
	checkCounts[int16](t, 32767, 32768, 65536)
	checkCounts[uint64](t, math.MaxInt)
}

func checkMoreProjections(t rapid.TB, s samples.Sample) {
	checkProjection[int64](t, s)
	checkProjection[float32](t, s)
}
