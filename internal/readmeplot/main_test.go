package main

import (
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/hiveblas/hiveblas/internal/sure"
)

func TestRun(t *testing.T) {
	dir := t.TempDir()
	table, out := filepath.Join(dir, "table.json"), filepath.Join(dir, "p.png")
	for text, ok := range map[string]bool{
		`{"rows": [{"case": "spmv", "ours_ms": 2, "peers_ms": {"SciPy 1.10": 4, "built-in": null, "SuiteSparse:GraphBLAS 7": 1}}]}`: true,
		`{"rows": [{"case": "spmv", "ours_ms": 2, "peers_ms": {"SciPy 1.10": null}}]}`:                                              false,
		`{"rows": 3}`: false,
	} {
		sure.Do(os.WriteFile(table, []byte(text), 0o666))
		if err := run(table, out); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
		if !ok {
			continue
		}
		f := sure.Get(os.Open(out))
		if m, err := png.Decode(f); err != nil || m.Bounds().Dx() < 400 {
			t.Errorf("the picture: %v", err)
		}
		f.Close()
	}
}
