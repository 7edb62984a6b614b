package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// Schedules of files are in the list of plans.
func TestScheduleFlag(t *testing.T) {
	const kernel = "HB_KERNEL hb_walk(hb_topology g, hb_items items, hb_op op) {}\n"
	file := write(t, "mine.cu", "//hb:schedule mine\n//hb:layouts ell\n"+kernel)
	list := succeed(t, "tune", "--list", "--schedule", file)
	if !strings.Contains(list, "\npull ell mine store\n") || strings.Contains(list, "csr mine") {
		t.Errorf("the list is %q …", list[:min(len(list), 500)])
	}
	for text, want := range map[string]string{
		kernel:                              "the schedule \"\" has no line //hb:schedule NAME; docs/schedules.md says what such a file has\n",
		"//hb:schedule vm\n" + kernel:       "has the name of another part of plans; give it another one; docs/",
		"//hb:schedule nothing\n":           "has no kernel hb_walk in its text",
		"//hb:schedule a\n//hb:threads x\n": "has the line 2",
	} {
		r := hiveblas(t, "tune", "--list", "--schedule", write(t, "bad.cu", text))
		if r.code != 1 || !strings.Contains(r.stderr, "bad.cu: ") || !strings.Contains(r.stderr, want) {
			t.Errorf("%q: exit %d, %q, want %q", text, r.code, r.stderr, want)
		}
	}
	emulated(t)
	strided := "../../examples/schedule/strided.cu"
	var ranks []string
	for _, plan := range []string{"pull csr vm", "pull csr strided"} {
		out := filepath.Join(t.TempDir(), "ranks.tsv")
		runInProcess(t, "run", "pagerank", karate, "--device", "gpu:0", "--plan", plan, "--schedule", strided, "-o", out)
		ranks = append(ranks, contents(t, out))
	}
	if ranks[0] == "" || ranks[0] != ranks[1] {
		t.Errorf("ranks are %q by vm, %q by a schedule of a file", ranks[0], ranks[1])
	}
	if r := hiveblas(t, "tune", "--list", "--schedule", "missing.cu"); r.code != 1 || !strings.Contains(r.stderr, "missing.cu") {
		t.Errorf("a missing file: exit %d, %q", r.code, r.stderr)
	}
}
