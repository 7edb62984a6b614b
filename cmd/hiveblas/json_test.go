package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/internal/sure"
)

// The JSON of a command has what its text has.
func TestJSONHasTheText(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	list := filepath.Join(dir, "g.tsv")
	sure.Do(os.WriteFile(list, []byte("ann\tbob\t2.5\nbob\tcid\t3\n"), 0o666))
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
	sure.Do(os.WriteFile(path, []byte(text.String()), 0o666))
	return path
}

// A file of --machine must exist and parse, also where no GPU needs it. A name that another program
// has now says so.
func TestNamedThings(t *testing.T) {
	t.Parallel()
	bad := filepath.Join(t.TempDir(), "bad.json")
	sure.Do(os.WriteFile(bad, []byte("{"), 0o666))
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"pagerank --machine /nope " + karate, 1, "/nope"},
		{"pagerank --machine " + bad + " " + karate, 1, bad},
		{"cc --device foo " + karate, 2, "want auto, cpu, gpu, gpu:N, gpus, gpu:N,M or ranks:P"},
		{"bench cpu --only nonsense", 2, "hiveblas bench is a command of its own: hiveblas-bench cpu --only nonsense; go install"},
	} {
		if r := hiveblas(t, strings.Fields(c.args)...); r.code != c.code || !strings.Contains(r.stderr, c.want) {
			t.Errorf("%s: exit %d, %s", c.args, r.code, r.stderr)
		}
	}
}

// Messages name vertices, files and formats as the user knows them.
func TestMessagesName(t *testing.T) {
	t.Parallel()
	list := filepath.Join(t.TempDir(), "g.tsv")
	sure.Do(os.WriteFile(list, []byte("ann\tbob\t-2\nbob\tann\t-2\n"), 0o666))
	for _, command := range []string{"vn --seeds ann", "maxflow --source ann --sink bob", "louvain", "pagerank --weighted"} {
		if r := hiveblas(t, append(strings.Fields(command), list, "--ids", "renumber")...); r.code != 1 || !strings.Contains(r.stderr, "edge from ann to bob: its weight is -2") {
			t.Errorf("%s: exit %d, %s", command, r.code, r.stderr)
		}
	}
	if r := hiveblas(t, "info", ""); r.code != 2 || !strings.Contains(r.stderr, "the name of an input file is empty") {
		t.Errorf("info of no name: exit %d, %s", r.code, r.stderr)
	}
	if r := processWith(t, strings.NewReader("ann\tbob\n"), "head", "-", "--ids", "renumber"); r.code != 1 || !strings.Contains(r.stderr, "--format names the format of the input") {
		t.Errorf("a list on standard input: exit %d, %s", r.code, r.stderr)
	}
}
