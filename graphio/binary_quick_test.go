//go:build !long

package graphio

import "testing"

func moreBinaryTypes(*testing.T) {}
