package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The JSON of a command has what its text has.
func TestJSONHasTheText(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	list := filepath.Join(dir, "g.tsv")
	if err := os.WriteFile(list, []byte("ann\tbob\t2.5\nbob\tcid\t3\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if got := succeed(t, "head", list, "--ids", "renumber", "--count", "1", "--json"); !strings.Contains(got, `"edges":[{"source":"ann","target":"bob","weight":2.5}]`) {
		t.Errorf("head: %s", got)
	}
	if got := succeed(t, "head", karate, "--count", "1", "--json"); !strings.Contains(got, `"edges":[{"source":0,"target":1}]`) {
		t.Errorf("head of a pattern: %s", got)
	}
	for _, args := range []string{"pagerank", "cc --sizes", "hits", "vn --seeds 0", "nominate --seeds 0", "scan", "betweenness", "search --method uniform --scores " + scoresOf(t, dir)} {
		got := report(t, append(strings.Fields(args), karate)...)
		if list, ok := got["top"].([]any); !ok || len(list) == 0 || len(list) > 10 {
			t.Errorf("%s: top is %v", args, got["top"])
		}
	}
	plans := object1(t, succeed(t, "tune", "--list", "--json"))
	if list, ok := plans["plans"].([]any); !ok || len(list) < 100 {
		t.Errorf("tune --list: %v", plans["plans"])
	}
}

func scoresOf(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "scores.txt")
	var text strings.Builder
	for v := range 34 {
		fmt.Fprintln(&text, v)
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// A file of --machine must exist and parse, also where no GPU needs it, and --only names a case.
func TestNamedThings(t *testing.T) {
	t.Parallel()
	bad := filepath.Join(t.TempDir(), "bad.json")
	if err := os.WriteFile(bad, []byte("{"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"pagerank --machine /nope " + karate, 1, "/nope"},
		{"pagerank --machine " + bad + " " + karate, 1, bad},
		{"bench cpu --only nonsense", 2, "--help lists them"},
		{"bench gpu --only nonsense", 2, "--help lists them"},
		{"bench cores --only nonsense", 2, "--help lists them"},
	} {
		if r := hiveblas(t, strings.Fields(c.args)...); r.code != c.code || !strings.Contains(r.stderr, c.want) {
			t.Errorf("%s: exit %d, %s", c.args, r.code, r.stderr)
		}
	}
}
