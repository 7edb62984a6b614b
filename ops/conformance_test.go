package ops_test

import (
	"testing"

	"github.com/hiveblas/hiveblas/internal/conformance"
)

// TestConformance holds the CPU to the oracles of every operation.
func TestConformance(t *testing.T) { conformance.Run(t, conformance.Host{}) }
