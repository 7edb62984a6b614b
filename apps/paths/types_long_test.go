//go:build long

package paths

import (
	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"pgregory.net/rapid"
)

func checkMoreSSSP(t rapid.TB, s samples.Sample) {
	checkSSSP[int64](t, s)
	checkSSSP[float32](t, s)
}
