//go:build !long

package paths

import (
	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"pgregory.net/rapid"
)

func checkMoreSSSP(rapid.TB, samples.Sample) {}
