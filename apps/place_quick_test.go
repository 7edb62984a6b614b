//go:build !long

package apps

import "testing"

func ssspOfMoreTypes(*testing.T) {}
