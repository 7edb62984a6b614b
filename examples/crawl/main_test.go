package main

import (
	"bytes"
	"fmt"
	"testing"
)

// TestCrawl: stochastic walks find twice as many relevant pages as blind ones, a larger share of
// those that they visit.
func TestCrawl(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := run(&out, 4000, 60); err != nil {
		t.Fatal(err)
	}
	var names [3]string
	var relevant, visited, scored [3]int
	text := bytes.NewReader(out.Bytes())
	for k := range 3 {
		if _, err := fmt.Fscanf(text, "%s %d relevant of %d visited, %d scored\n", &names[k], &relevant[k], &visited[k], &scored[k]); err != nil {
			t.Fatalf("%v\n%s", err, &out)
		}
	}
	if relevant[1] < 2*relevant[0] || relevant[1]*visited[0] < 2*relevant[0]*visited[1] || names[2] != "greedy" {
		t.Errorf("\n%s", &out)
	}
}
