package main

import (
	"bytes"
	"io"
	"path/filepath"
	"sync"
	"testing"

	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/progress"
)

// Reading, sorting and writing show how much is done of how much.
func TestProgressOfStages(t *testing.T) {
	real := testMachine.Display
	t.Cleanup(func() { testMachine.Display = real })
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if code := run([]string{"generate", "uniform", "--vertices", "3000", "--edges", "20000", "--max-weight", "90", "--quiet", "-o", at("g.tsv")}, io.Discard, io.Discard); code != 0 {
		t.Fatalf("generate: exit code %d", code)
	}
	in := at("g.tsv")
	dup := []string{"--duplicates", "min"}
	for _, c := range []struct {
		reason string
		args   []string
		stages []string
	}{
		{"generated edges", []string{"generate", "uniform", "--vertices", "3000", "--edges", "90000", "-o", at("h.tsv")}, []string{"write h.tsv"}},
		{"lines of a matrix", append([]string{"convert", in, at("a.tsv")}, dup...), []string{"read g.tsv", "sort g.tsv", "write a.tsv"}},
		{"Matrix Market", append([]string{"convert", in, at("a.mtx")}, dup...), []string{"read g.tsv", "sort g.tsv", "write a.mtx"}},
		{"the binary form", append([]string{"convert", in, at("a.hgb")}, dup...), []string{"read g.tsv", "sort g.tsv", "write a.hgb"}},
		{"SciPy's form, from Matrix Market", []string{"convert", at("a.mtx"), at("a.npz")}, []string{"read a.mtx", "sort a.mtx", "write a.npz"}},
		{"GraphML", []string{"convert", at("a.hgb"), at("a.graphml")}, []string{"read a.hgb", "write a.graphml"}},
		{"edges by weight", []string{"sort", at("a.hgb"), "-o", at("b.tsv")}, []string{"read a.hgb", "sort", "write b.tsv"}},
		{"a vector", []string{"pagerank", at("a.hgb"), "--top", "0", "-o", at("r.tsv")}, []string{"read a.hgb", "write r.tsv"}},
	} {
		t.Run(c.reason, func(t *testing.T) {
			type share struct{ done, total int64 }
			var mu sync.Mutex
			var screen bytes.Buffer
			most := map[string]share{}
			testMachine.Display = func(io.Writer, bool) *progress.Display {
				return progress.Recording(&screen, func(what string, done, total int64) {
					mu.Lock()
					defer mu.Unlock()
					if done < 0 || total > 0 && done > total {
						t.Errorf("%s: %d of %d", what, done, total)
					}
					if total > 0 && done >= most[what].done {
						most[what] = share{done, total}
					}
				})
			}
			var stdout, stderr bytes.Buffer
			if code := run(c.args, &stdout, &stderr); code != 0 {
				t.Fatalf("exit code %d: %s", code, &stderr)
			}
			for _, s := range c.stages {
				if m := most[s]; m.total == 0 || 2*m.done < m.total {
					t.Errorf("%s: %d of %d at the end, of stages %v", s, m.done, m.total, most)
				}
			}
		})
	}
}
