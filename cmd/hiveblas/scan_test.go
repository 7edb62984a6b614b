package main

import (
	"strings"
	"testing"
)

// TestScanWithoutScores: a series that ends before its first score says so.
func TestScanWithoutScores(t *testing.T) {
	series := write(t, "series.tsv", "0 1 0\n1 0 1.5\n0 1 4\n1 2 5\n2 0 9.9\n")
	for _, c := range []struct {
		window, want string
	}{
		{"2", ""}, // windows 0 to 4
		{"2.5", "the series has 4 windows, and scores begin with window 4: no anomaly can be found"},
	} {
		res := hiveblas(t, "scan", "--time-column", "3", "--window", c.window, "--lag", "2", "--quiet", series)
		if res.code != 0 || (c.want == "") != (res.stderr == "") || !strings.Contains(res.stderr, c.want) {
			t.Errorf("window %s: exit %d, %q, want %q", c.window, res.code, res.stderr, c.want)
		}
	}
}
