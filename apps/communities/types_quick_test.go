//go:build !long

package communities

import (
	"testing"

	"github.com/hiveblas/hiveblas/apps/internal/samples"
)

func ofMoreTypes(*testing.T, samples.Sample, func(string) func(*CommunitiesResult, error)) {}
