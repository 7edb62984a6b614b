package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// TestDenoise: the error falls by a factor of three, to a few regions, and the picture has a line
// for each row.
func TestDenoise(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := run(&out, 32, 0.3, 0.5); err != nil {
		t.Fatal(err)
	}
	var before, after float64
	var regions int
	if _, err := fmt.Sscanf(out.String(), "error %f measured, %f denoised, %d regions", &before, &after, &regions); err != nil {
		t.Fatal(err)
	}
	if before < .25 || before > .35 || after > before/3 || regions > 40 {
		t.Errorf("error %v, denoised %v, %d regions", before, after, regions)
	}
	if strings.Count(out.String(), "\n") != 33 {
		t.Errorf("picture:\n%s", &out)
	}
}
