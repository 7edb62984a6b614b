//go:build !long

package auction

import "testing"

func solveMore(*testing.T, grid) {}
