//go:build !long

package project

import (
	"testing"

	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"pgregory.net/rapid"
)

func checkMoreCounts(*testing.T) {}

func checkMoreProjections(rapid.TB, samples.Sample) {}
