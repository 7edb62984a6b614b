package ops_test

import (
	"math"
	"testing"

	"github.com/hiveblas/hiveblas/internal/conformance"
	"github.com/hiveblas/hiveblas/internal/race"
)

// TestConformance compares the CPU with the oracles of every operation.
func TestConformance(t *testing.T) { conformance.Run(t, host{}) }

// host is the CPU. It runs few cases of each kind under the race detector, which takes ten times as
// long.
type host struct{ conformance.Host }

func (host) Budget() int {
	if race.Enabled {
		return 2
	}
	return math.MaxInt
}

func (host) Parallel() bool { return true }
