package main

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/hiveblas/hiveblas/matrix"
)

// TestGradients: the solution agrees with gonum's, in fewer steps than points, and a matrix that is
// not positive definite is an error.
func TestGradients(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := run(&out, 16); err != nil {
		t.Fatal(err)
	}
	var middle, difference float64
	var steps int
	if _, err := fmt.Sscanf(out.String(), "middle %f after %d steps, %e from gonum's", &middle, &steps, &difference); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	if difference > 1e-8 || steps < 5 || steps > 256 || middle < 10 {
		t.Errorf("\n%s", &out)
	}
	zero := matrix.New[float64](3, 3)
	b, err := matrix.NewFullVector(3, 1.0)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := solve(zero, b, 1e-9); !errors.Is(err, errSteps) {
		t.Errorf("of the zero matrix: %v", err)
	}
}
