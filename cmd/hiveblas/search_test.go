package main

import (
	"path/filepath"
	"testing"
)

// Operations alone take the same walks.
func TestSearchByOperations(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	scores := write(t, "scores.txt", "1 2\n33 5\n7 1\n")
	for _, rule := range []string{"uniform", "greedy", "stochastic"} {
		walks := func(name string, more ...string) string {
			out := filepath.Join(dir, rule+name)
			succeed(t, append([]string{"search", karate, "--scores", scores, "--method", rule, "--length", "9", "--restart", ".1", "-o", out}, more...)...)
			return contents(t, out)
		}
		if want, got := walks("a.tsv"), walks("b.tsv", "--pipeline"); got != want || want == "" {
			t.Errorf("%s: the walks by operations are\n%swant\n%s", rule, got, want)
		}
	}
}
