package main

import (
	"encoding/json"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/sure"
)

func TestReport(t *testing.T) {
	longtest.SkipInTurns(t, 2, 3)
	if testing.Short() {
		t.Skip("measures")
	}
	dir := filepath.Join(t.TempDir(), "results")
	figures := filepath.Join(t.TempDir(), "report.json")
	out := succeed(t, "report", "--quick", "--no-peers", "--quiet", "--device", "cpu", "--rounds", "1", "--only", "lgc seed rmat16,chunked movielens20m,growth vn", "--dir", dir, "--json", figures)
	if !strings.Contains(out, filepath.Join(dir, "REPORT.md")) {
		t.Errorf("printed %q", out)
	}
	text := sure.Get(os.ReadFile(filepath.Join(dir, "REPORT.md")))
	for _, want := range []string{"lgc seed rmat16", "block by block to a file", "A quick run", "not asked for"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	pictures, _ := filepath.Glob(filepath.Join(dir, "*.png"))
	if len(pictures) != 2 { // time and growth
		t.Errorf("pictures %v", pictures)
	}
	for _, path := range pictures {
		f := sure.Get(os.Open(path))
		if _, err := png.DecodeConfig(f); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		f.Close()
	}
	var got struct {
		Chunked []struct {
			What, Failed, Wrong string
			Entries             int64
			Ratio               *float64
			RSS                 uint64 `json:"peak_rss_bytes"`
		}
	}
	data := sure.Get(os.ReadFile(figures))
	if err := json.Unmarshal(data, &got); err != nil || len(got.Chunked) != 3 {
		t.Fatalf("%v, %+v", err, got)
	}
	inMemory, blocks := got.Chunked[1], got.Chunked[2]
	if inMemory.Failed+inMemory.Wrong+blocks.Failed+blocks.Wrong != "" || inMemory.Entries == 0 || inMemory.Entries != blocks.Entries || blocks.Ratio == nil || blocks.RSS == 0 {
		t.Errorf("%+v, %+v", inMemory, blocks)
	}
}

func TestReportUsage(t *testing.T) {
	for _, args := range [][]string{{"--rounds", "0"}, {"--most-scale", "25"}, {"--most-scale", "13"}, {"--only", "nothing"}, {"--device", "tpu"}} {
		if r := inside(append([]string{"report"}, args...)...); r.code != 2 || strings.Count(r.stderr, "\n") != 1 {
			t.Errorf("%v: exit %d, %s", args, r.code, r.stderr)
		}
	}
	t.Setenv("HIVEBLAS_CUDA", t.TempDir())
	dir := t.TempDir()
	if r := inside("report", "--device", "gpu", "--dir", dir); r.code != 1 || !strings.Contains(r.stderr, "--device cpu") {
		t.Errorf("exit %d, %s", r.code, r.stderr)
	}
	if made, _ := os.ReadDir(dir); len(made) > 0 {
		t.Errorf("%v was written", made)
	}
	if help := succeed(t, "report", "--help"); !strings.Contains(help, "vn 100 seeds rmat20") || !strings.Contains(help, "growth lgc") {
		t.Errorf("help:\n%s", help)
	}
}
