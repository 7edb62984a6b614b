package main

import (
	"bytes"
	"fmt"
	"testing"
)

// TestDeanonymise: nearly all of 300 people are named from 15 seeds, although 2 % of the edges are
// lost, and all without a loss.
func TestDeanonymise(t *testing.T) {
	t.Parallel()
	network, err := made(300)
	if err != nil {
		t.Fatal(err)
	}
	for lost, least := range map[float64]int{0: 300, 0.02: 290} {
		var out bytes.Buffer
		if err := run(&out, network, 15, lost); err != nil {
			t.Fatal(err)
		}
		right, all := 0, 0
		if _, err := fmt.Sscanf(out.String(), "%d of %d named", &right, &all); err != nil || all != 300 || right < least {
			t.Errorf("lost %v: %s(%v), want %d or more", lost, &out, err, least)
		}
	}
}
