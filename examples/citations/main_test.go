package main

import (
	"bytes"
	"fmt"
	"testing"
)

// TestCitations: nine papers in ten get the right one of four subjects.
func TestCitations(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := run(&out, 400, 40); err != nil {
		t.Fatal(err)
	}
	var accuracy float64
	if _, err := fmt.Sscanf(out.String(), "accuracy %f on 320 papers, trained on 40", &accuracy); err != nil || accuracy < 0.85 {
		t.Errorf("%v\n%s", err, &out)
	}
}
