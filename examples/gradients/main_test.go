package main

import (
	"bytes"
	"fmt"
	"testing"
)

// TestGradients: the solution agrees with gonum's, in fewer steps than points, and in still fewer
// with incomplete factors.
func TestGradients(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := run(&out, 16); err != nil {
		t.Fatal(err)
	}
	var middle, difference float64
	var steps, fewer int
	if _, err := fmt.Sscanf(out.String(), "middle %f after %d steps, %e from gonum's; %d steps", &middle, &steps, &difference, &fewer); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	if difference > 1e-8 || steps < 5 || steps > 256 || middle < 10 || fewer > steps*3/4 {
		t.Errorf("\n%s", &out)
	}
}
